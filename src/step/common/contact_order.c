#include "step/common/contact_order.h"

static int compare(int x, int y)
{
    return (x > y) - (x < y);
}

int perp_contact_compare_pairs(const perp_contact *x, const perp_contact *y)
{
    int order = compare(x->a, y->a);
    order = order ? order : compare(x->b, y->b);
    order = order ? order : compare(x->shape_a, y->shape_a);
    return order ? order : compare(x->shape_b, y->shape_b);
}

int perp_contact_find(const perp_contact *list, int count, const perp_contact *contact, int *hint)
{
    while (*hint < count && perp_contact_compare_pairs(&list[*hint], contact) < 0) {
        ++*hint;
    }
    for (int k = *hint; k < count && perp_contact_compare_pairs(&list[k], contact) == 0; k++) {
        if (perp_contact_same(&list[k], contact)) {
            return k;
        }
    }
    return -1;
}

bool perp_manifold_next(manifold_pass *pass)
{
    const perp_contact *first = NULL;
    for (int k = 0; k < 2; k++) {
        pass->from[k] = pass->end[k];
        const perp_contact *c = pass->from[k] < pass->count[k] ? &pass->list[k][pass->from[k]].contact : NULL;
        first = !first || (c && perp_contact_compare_pairs(c, first) < 0) ? c : first;
    }
    for (int k = 0; k < 2; k++) {
        while (pass->end[k] < pass->count[k] &&
               perp_contact_compare_pairs(&pass->list[k][pass->end[k]].contact, first) == 0) {
            pass->end[k]++;
        }
    }
    return first != NULL;
}

int perp_manifold_find(const manifold_pass *pass, int k, const perp_contact *contact)
{
    for (int i = pass->from[k]; i < pass->end[k]; i++) {
        if (perp_contact_same(&pass->list[k][i].contact, contact)) {
            return i;
        }
    }
    return -1;
}
