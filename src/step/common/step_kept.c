#include "step/common/step_kept.h"

#include "step/common/contact_order.h"

#include <string.h>

perp_status perp_kept_open(step_kept *kept, const contact_step *step, int width, perp_error *error)
{
    const int nv = step->model->nv;
    const block_array arrays[] = {PERP_ARRAY(kept->has, nv), PERP_ARRAY(kept->x, nv), PERP_ARRAY(kept->y_lower, nv),
                                  PERP_ARRAY(kept->y_upper, nv), PERP_ARRAY(kept->y_loop, step->loop_row_count)};
    kept->width = width;
    return perp_block_arrays(&step->allocator, &kept->fixed, arrays, sizeof arrays / sizeof *arrays, error);
}

void perp_kept_close(step_kept *kept, const contact_step *step)
{
    perp_block_free(&step->allocator, &kept->fixed);
    perp_block_free(&step->allocator, &kept->block[0]);
    perp_block_free(&step->allocator, &kept->block[1]);
}

/* The half that is not in use, with room for so many contacts; false where there is no memory. */
static bool open_half(step_kept *kept, const contact_step *step, int count, perp_contact **contact, double **value)
{
    const int half = 1 - kept->half, larger = count + count / 2 + 8;
    const int capacity = count <= kept->capacity[half] ? kept->capacity[half] : larger;
    const block_array arrays[] = {PERP_ARRAY(*contact, capacity),
                                  PERP_ARRAY(*value, (size_t)capacity * (size_t)kept->width)};
    const bool held = perp_block_arrays(&step->allocator, &kept->block[half], arrays, sizeof arrays / sizeof *arrays,
                                        NULL) == PERP_STATUS_OK;
    kept->capacity[half] = held ? capacity : 0;
    return held;
}

static void change_half(step_kept *kept, int count, perp_contact *contact, double *value)
{
    kept->half = 1 - kept->half;
    kept->count = count;
    kept->contact = contact;
    kept->value = value;
}

void perp_kept_accept_motion(step_kept *kept, const contact_step *step)
{
    for (int i = 0; i < step->free_count; i++) {
        const int dof = step->dof_of_free[i];
        if (step->parts.accepted[step->tree_of_free[i]]) {
            kept->has[dof] = true;
            kept->x[dof] = step->x[i];
            kept->y_lower[dof] = step->y_lower[i];
            kept->y_upper[dof] = step->y_upper[i];
        }
    }
    for (int i = 0; i < step->system.equality_count; i++) {
        if (step->parts.accepted[step->tree_of_free[step->equality_dofs[step->equality_start[i]]]]) {
            kept->y_loop[step->loop_row[i]] = step->y_equality[i];
        }
    }
}

/* Is a kept contact of trees that have a newer one? */
static bool is_old(const contact_step *step, const perp_contact *c)
{
    const int a = step->model->links[c->a].tree, b = step->model->links[c->b].tree;
    return (step->moved[c->a] && step->parts.accepted[a]) || (step->moved[c->b] && step->parts.accepted[b]);
}

void perp_kept_accept(step_kept *kept, const contact_step *step,
                      void (*put)(const contact_step *step, int i, double *value))
{
    const int width = kept->width, system = step->system.contact_count;
    perp_contact *contact;
    double *value;
    perp_kept_accept_motion(kept, step);
    if (!open_half(kept, step, kept->count + system, &contact, &value)) {
        memset(kept->has, 0, (size_t)step->model->nv * sizeof *kept->has);
        kept->count = 0;
        return;
    }
    int count = 0;
    for (int old = 0, i = 0; old < kept->count || i < system;) {
        if (i < system && !step->parts.accepted[step->tree_of_free[step->dofs[step->dof_start[i]]]]) {
            i++;
            continue;
        }
        if (old < kept->count && is_old(step, &kept->contact[old])) {
            old++;
            continue;
        }
        const perp_contact *now = i < system ? &step->records[step->set_index[i]].contact : NULL;
        if (now && (old == kept->count || perp_contact_compare_pairs(now, &kept->contact[old]) < 0)) {
            contact[count] = *now;
            put(step, i++, value + (ptrdiff_t)count++ * width);
        } else {
            contact[count] = kept->contact[old];
            memcpy(value + (ptrdiff_t)count++ * width, kept->value + (ptrdiff_t)old++ * width,
                   (size_t)width * sizeof *value);
        }
    }
    change_half(kept, count, contact, value);
}

bool perp_kept_has(const step_kept *kept, const contact_step *step)
{
    bool all = step->free_count > 0;
    for (int i = 0; i < step->free_count && all; i++) {
        all = kept->has[step->dof_of_free[i]];
    }
    return all;
}

void perp_kept_read_motion(const step_kept *kept, const contact_step *step, double speed, perp_convex_point *to)
{
    for (int i = 0; i < step->free_count; i++) {
        const int dof = step->dof_of_free[i];
        to->x[i] = kept->x[dof] / speed;
        to->y_lower[i] = kept->y_lower[dof] / step->force_unit;
        to->y_upper[i] = kept->y_upper[dof] / step->force_unit;
    }
    for (int i = step->free_count; i < step->system.n; i++) { /* feet are down when a step begins */
        to->x[i] = to->y_lower[i] = to->y_upper[i] = 0.0;
    }
    for (int i = 0; i < step->system.equality_count; i++) {
        to->y_equality[i] = kept->y_loop[step->loop_row[i]] / step->force_unit;
    }
}

const double *perp_kept_find(const step_kept *kept, const contact_step *step, int i, int *hint)
{
    const int k = perp_contact_find(kept->contact, kept->count, &step->contacts->contacts[step->set_index[i]], hint);
    return k >= 0 ? kept->value + (ptrdiff_t)k * kept->width : NULL;
}

/* ---- in a log ---------------------------------------------------------------------------------------------------- */

void perp_kept_put_motion(const step_kept *kept, const contact_step *step, memory_writer *w)
{
    for (int i = 0; i < step->model->nv; i++) {
        if (!step->prescribed[i]) {
            perp_memory_put(w, kept->has[i]);
            perp_memory_put_reals(w, (const double[3]){kept->x[i], kept->y_lower[i], kept->y_upper[i]}, 3);
        }
    }
    perp_memory_put_reals(w, kept->y_loop, step->loop_row_count);
}

void perp_kept_take_motion(step_kept *kept, const contact_step *step, memory_reader *r)
{
    for (int i = 0; i < step->model->nv; i++) {
        if (!step->prescribed[i]) {
            kept->has[i] = perp_memory_take_int(r, 0, 1) == 1;
            kept->x[i] = perp_memory_take(r);
            kept->y_lower[i] = perp_memory_take(r);
            kept->y_upper[i] = perp_memory_take(r);
        }
    }
    perp_memory_take_reals(r, kept->y_loop, step->loop_row_count);
}

void perp_kept_put(const step_kept *kept, const contact_step *step, memory_writer *w)
{
    perp_kept_put_motion(kept, step, w);
    perp_memory_put(w, kept->count);
    for (int i = 0; i < kept->count; i++) {
        perp_memory_put_contact(w, &kept->contact[i]);
        perp_memory_put_reals(w, kept->value + (ptrdiff_t)i * kept->width, kept->width);
    }
}

bool perp_kept_take(step_kept *kept, const contact_step *step, memory_reader *r)
{
    perp_kept_take_motion(kept, step, r);
    /* a contact takes more than one number, so that a count that the file cannot hold takes no memory either */
    const int count = perp_memory_take_int(r, 0, (int)fmin(1e9, (double)r->count));
    perp_contact *contact;
    double *value;
    r->out_of_memory = r->good && !open_half(kept, step, count, &contact, &value);
    if (!r->good || r->out_of_memory) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        contact[i] = perp_memory_take_contact(r);
        perp_memory_take_reals(r, value + (ptrdiff_t)i * kept->width, kept->width);
    }
    change_half(kept, count, contact, value);
    return r->good;
}
