/* full_order.h - bodies on compliant contacts, integrated: Dupont and Yamajako's full-order model, and with springs
 * along the tangents where contacts roll. In maximal coordinates, by Runge and Kutta's method of fourth order; no
 * matrix of contacts is made and no eigenvalue is found.
 *
 * Bodies begin at rest in equilibrium, so that what moves is the fast motion alone, and whether it grows or decays is
 * seen. Contacts press with lambda = -(K Phi + C dPhi/dt), on springs K / e and dampers C / sqrt(e), with e so small
 * that Phi changes nothing else; friction is mu lambda_n against a slip that goes on. */
#ifndef PERP_TESTS_QUALIFY_FULL_ORDER_H
#define PERP_TESTS_QUALIFY_FULL_ORDER_H

#include <stdbool.h>

enum { FULL_BODIES = 2, FULL_CONTACTS = 4, FULL_DOFS = 6 * FULL_BODIES, FULL_ROWS = 3 * FULL_CONTACTS, FULL_HELD = 8 };

typedef enum full_kind { FULL_SLIDES, FULL_ROLLS, FULL_ROLLS_RIGID } full_kind;

typedef struct full_contact {
    int body;
    full_kind kind;
    double place[3];                 /* from the body's centre, where the state begins */
    double normal[3];                /* into the body */
    double tangent[2][3];            /* the second 0 in the plane */
    double mu, slip[2];              /* SLIDES: of length 1, along the tangents */
    double fn, ft[2];                /* N, in equilibrium; ft of what rolls */
    double stiffness[2], damping[2]; /* along n, along the tangents */
} full_contact;

typedef struct full_model {
    bool planar;
    int body_count, contact_count;
    double mass[FULL_BODIES], inertia[FULL_BODIES][3]; /* principal, along the axes */
    bool pinned;                                       /* bodies 0 and 1, in the plane */
    double pin[FULL_BODIES][3];                        /* from their centres */
    full_contact contacts[FULL_CONTACTS];
} full_model;

typedef enum full_fate { FULL_UNDECIDED, FULL_GROWS, FULL_DECAYS } full_fate;

/* What becomes of a disturbance that `seed` draws, with all dampers times `scale`. */
full_fate full_order_run(const full_model *model, double scale, unsigned seed);
/* d[i][k]: the normal acceleration at contact i that 1 N at contact k makes with the friction that goes with it, by
 * pushing; contacts that roll hold. */
void full_order_push(const full_model *model, double d[FULL_CONTACTS][FULL_CONTACTS]);
/* Force and moment about its centre that keep body i in equilibrium with the contacts' forces. */
void full_order_load(const full_model *model, int i, double force[3], double moment[3]);

#endif
