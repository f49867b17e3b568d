/* contact_order.h - lists of contacts in the order of contact sets: by bodies and shapes, then points of a manifold. */
#ifndef PERP_SRC_STEP_CONTACT_ORDER_H
#define PERP_SRC_STEP_CONTACT_ORDER_H

#include <perp/step.h>

/* That order, up to the points of one manifold. */
int perp_contact_compare_pairs(const perp_contact *x, const perp_contact *y);
/* The contact of a list in that order that is the same as `contact`; -1: none. `hint`, 0 at first, goes on to its
 * manifold for what comes after it in the order. */
int perp_contact_find(const perp_contact *list, int count, const perp_contact *contact, int *hint);

/* A pass over two lists of records that meets every manifold once: it is at records from[k] to end[k] - 1 of list k,
 * none where that list does not have the manifold. Begin with the lists set and all else 0. */
typedef struct manifold_pass {
    const perp_contact_record *list[2];
    int count[2], from[2], end[2];
} manifold_pass;

/* False where both lists are at their end. */
bool perp_manifold_next(manifold_pass *pass);
/* Where list k has this contact in the manifold at hand; -1: nowhere. */
int perp_manifold_find(const manifold_pass *pass, int k, const perp_contact *contact);

#endif
