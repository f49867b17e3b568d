#include "base/hash.h"
#include "model/model_private.h"
#include "model/state.h"

#include <assert.h>
#include <string.h>

static void initial_floating(const perp_model *model, int b, double *q, double *v)
{
    const perp_body *body = &model->scene->bodies[b];
    const perp_link *link = &model->links[b];
    double *x = q + link->q_start;
    x[0] = link->home.position.x;
    x[1] = link->home.position.y;
    if (model->planar) {
        x[2] = body->pose.angle;
    } else {
        x[2] = link->home.position.z;
        perp_quat_store(link->home.rotation, x + 3);
    }
    const perp_twist twist = body->velocity_set ? body->velocity : (perp_twist){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const double rates[6] = {twist.linear.x,  twist.linear.y,  twist.linear.z,
                             twist.angular.x, twist.angular.y, twist.angular.z};
    double *rate = v + link->v_start;
    for (int k = 0; k < 6; k++) {
        if (link->components & (1u << k)) {
            *rate++ = rates[k];
        }
    }
}

static void initial_joint(const perp_model *model, int b, double *q, double *v)
{
    const perp_link *link = &model->links[b];
    const perp_joint *joint = &model->scene->joints[link->joint];
    /* of a joint that mimics another, what is not written was resolved */
    const bool position = joint->position_set || joint->mimic, velocity = joint->velocity_set || joint->mimic;
    for (int k = 0; k < link->q_count; k++) {
        q[link->q_start + k] = position ? joint->position[k] : 0.0;
    }
    if (link->motion == PERP_MOTION_BALL) {
        const perp_quat at = joint->position_set ? perp_quat_load(joint->position) : perp_quat_identity();
        perp_quat_store(perp_quat_normalise(at), q + link->q_start);
    }
    for (int k = 0; k < link->v_count; k++) {
        v[link->v_start + k] = velocity ? joint->velocity[k] : 0.0;
    }
}

void perp_model_initial(const perp_model *model, double *q, double *v)
{
    for (int b = 0; b < model->body_count; b++) {
        if (model->links[b].joint >= 0) {
            initial_joint(model, b, q, v);
        } else if (model->links[b].motion != PERP_MOTION_FIXED) {
            initial_floating(model, b, q, v);
        }
    }
}

perp_status perp_state_create(const perp_model *model, const perp_allocator *allocator, perp_state *state,
                              perp_error *error)
{
    assert(model && state);
    *state = (perp_state){.allocator = allocator ? *allocator : perp_allocator_default()};
    /* One block: q, then v. One double more, so that a scene without coordinates asks for something too. */
    const size_t size = ((size_t)model->nq + (size_t)model->nv + 1) * sizeof(double);
    double *block = state->allocator.allocate(state->allocator.context, size);
    if (!block) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the state");
    }
    memset(block, 0, size);
    state->q = block;
    state->v = block + model->nq;
    perp_model_initial(model, state->q, state->v);
    perp_prescribed_configuration(model, PERP_PRESCRIBE_POSITION, 0.0, state->q);
    perp_prescribed_rate(model, PERP_PRESCRIBE_POSITION, 0.0, state->v);
    return PERP_STATUS_OK;
}

void perp_state_free(perp_state *state)
{
    if (state->q) {
        state->allocator.release(state->allocator.context, state->q);
    }
    state->q = state->v = NULL;
}

void perp_state_copy(const perp_model *model, perp_state *to, const perp_state *from)
{
    to->t = from->t;
    memcpy(to->q, from->q, (size_t)model->nq * sizeof(double));
    memcpy(to->v, from->v, (size_t)model->nv * sizeof(double));
}

void perp_state_hash(const perp_model *model, const perp_state *state, perp_hash *hash)
{
    perp_hash_reals(hash, &state->t, 1);
    perp_hash_reals(hash, state->q, (size_t)model->nq);
    perp_hash_reals(hash, state->v, (size_t)model->nv);
}
