#include "trace/state_view.h"

#include <string.h>

static bool lists_body(const perp_link *link)
{
    return link->motion == PERP_MOTION_FLOATING || link->motion == PERP_MOTION_FLOATING_PLANAR;
}

static unsigned component_bit(const perp_link *link, int i)
{
    static const unsigned planar_bits[3] = {PERP_COMPONENT_X, PERP_COMPONENT_Y, PERP_COMPONENT_RZ};
    return link->motion == PERP_MOTION_FLOATING_PLANAR ? planar_bits[i] : 1u << i;
}

/* Free components keep the order vx vy vz wx wy wz, so the k-th bit that is set belongs to v[k]; the others are 0. */
static void fill_body(const perp_link *link, const perp_state *state, state_entry *entry)
{
    const bool planar = link->motion == PERP_MOTION_FLOATING_PLANAR;
    entry->is_body = true;
    entry->nq = link->q_count;
    entry->nv = planar ? 3 : 6;
    memcpy(entry->q, state->q + link->q_start, (size_t)entry->nq * sizeof(double));
    const double *v = state->v + link->v_start;
    for (int i = 0; i < entry->nv; i++) {
        entry->v[i] = link->components & component_bit(link, i) ? *v++ : 0.0;
    }
}

static void fill_joint(const perp_link *link, const perp_state *state, state_entry *entry)
{
    entry->is_body = false;
    entry->nq = link->q_count;
    entry->nv = link->v_count;
    memcpy(entry->q, state->q + link->q_start, (size_t)entry->nq * sizeof(double));
    memcpy(entry->v, state->v + link->v_start, (size_t)entry->nv * sizeof(double));
}

bool perp_state_next(const perp_model *model, const perp_state *state, int *cursor, state_entry *entry)
{
    const perp_scene *scene = model->scene;
    for (; *cursor < model->body_count; *cursor += 1) {
        const perp_link *link = &model->links[*cursor];
        if (lists_body(link)) {
            entry->name = scene->bodies[*cursor].name;
            fill_body(link, state, entry);
            *cursor += 1;
            return true;
        }
    }
    for (; *cursor < model->body_count + scene->joint_count; *cursor += 1) {
        const int joint = *cursor - model->body_count;
        if (perp_joint_position_size(scene->joints[joint].kind) > 0) {
            entry->name = scene->joints[joint].name;
            fill_joint(&model->links[model->joint_body[joint]], state, entry);
            *cursor += 1;
            return true;
        }
    }
    return false;
}

const char *perp_state_ending(int nq, bool rates, int k)
{
    static const char *const planar[] = {".x", ".y", ".theta"};
    static const char *const ball[2][4] = {{".qw", ".qx", ".qy", ".qz"}, {".rx", ".ry", ".rz"}};
    static const char *const spatial[2][7] = {{".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"},
                                              {".x", ".y", ".z", ".rx", ".ry", ".rz"}};
    return nq == 7 ? spatial[rates][k] : nq == 4 ? ball[rates][k] : nq == 3 ? planar[k] : "";
}

void perp_state_put(const perp_model *model, int cursor, const double *q, const double *v, perp_state *state)
{
    const int index = cursor - 1;
    const bool is_body = index < model->body_count;
    const perp_link *link = &model->links[is_body ? index : model->joint_body[index - model->body_count]];
    double *to = state->v + link->v_start;
    memcpy(state->q + link->q_start, q, (size_t)link->q_count * sizeof *q);
    if (!is_body) {
        memcpy(to, v, (size_t)link->v_count * sizeof *v);
        return;
    }
    for (int i = 0; i < (link->motion == PERP_MOTION_FLOATING_PLANAR ? 3 : 6); i++) {
        if (link->components & component_bit(link, i)) {
            *to++ = v[i];
        }
    }
}
