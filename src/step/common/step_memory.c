#include "step/common/step_memory.h"

#include <limits.h>

void perp_memory_put_contact(memory_writer *w, const perp_contact *c)
{
    const int keys[] = {c->a, c->b, c->shape_a, c->shape_b, c->feature_a, c->feature_b};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        perp_memory_put(w, keys[i]);
    }
}

perp_contact perp_memory_take_contact(memory_reader *r)
{
    perp_contact c = {0};
    int *const keys[] = {&c.a, &c.b, &c.shape_a, &c.shape_b, &c.feature_a, &c.feature_b};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        *keys[i] = perp_memory_take_int(r, INT_MIN, INT_MAX);
    }
    return c;
}
