/* A full query at the poses of a list of configurations: the initial one, every body moved and turned by up to 20 um
 * and 20 urad (joints: by up to 20 urad or um) from it, so that from query to query everything moves a little.
 *
 *   ours     perp_contact_set_build after perp_kinematics_update: gaps, manifolds, frames, friction, Jacobians
 *   MuJoCo   mj_collision after mj_kinematics and mj_comPos: gaps and frames; its Jacobians come later and are not
 * timed ODE      dSpaceCollide and dCollide after every geom's pose was set: contacts of shapes that overlap
 *
 * Kinematics are not timed for any of them; each makes its own bounding boxes inside what is timed.
 */
#include "contact_queries.h"

#include "mujoco_peer.h"
#include "ode_scene.h"

#include <perp/contact.h>

#include <stdlib.h>
#include <string.h>

enum { POOL = 8, MAX_SAMPLES = 4000 };

const char *const query_engine_names[ENGINE_COUNT] = {"ours", "MuJoCo", "ODE"};
const char *const query_engine_keys[ENGINE_COUNT] = {"ours", "mujoco", "ode"};

typedef struct subject {
    perp_scene *scene;
    perp_model *model;
    perp_kinematics *kinematics;
    perp_contact_model *contact_model;
    perp_contact_set *set;
    mujoco_peer peer;
    ode_scene *ode;
    double *q, *qpos; /* POOL configurations of each */
} subject;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_contact: %s: %s\n", what, why);
    exit(1);
}

static double *reals(size_t count)
{
    double *r = calloc(count + 1, sizeof *r);
    if (!r) {
        die("out of memory", "stopping");
    }
    return r;
}

static void fill_pool(const char *name, subject *s)
{
    const size_t nq = (size_t)s->model->nq, nq_mj = (size_t)s->peer.m->nq;
    perp_state state;
    perp_random random = {20260101};
    s->q = reals(POOL * nq);
    s->qpos = reals(POOL * nq_mj);
    if (perp_state_create(s->model, NULL, &state, NULL) != PERP_STATUS_OK) {
        die(name, "out of memory");
    }
    for (size_t i = 0; i < POOL; i++) {
        for (int d = 0; d < s->model->nv; d++) {
            state.v[d] = perp_random_uniform(&random, -4e-6, 4e-6);
        }
        perp_configuration_integrate(s->model, state.q, state.v, 1.0, s->q + i * nq);
        mujoco_peer_set(&s->peer, s->q + i * nq, state.v);
        memcpy(s->qpos + i * nq_mj, s->peer.d->qpos, nq_mj * sizeof(double));
    }
    perp_state_free(&state);
}

static void open_subject(const char *name, subject *s)
{
    perp_error error;
    char message[500];
    if (perp_model_build(s->scene, NULL, &s->model, &error) != PERP_STATUS_OK ||
        perp_kinematics_create(s->model, NULL, &s->kinematics, &error) != PERP_STATUS_OK ||
        perp_contact_model_build(s->model, NULL, &s->contact_model, &error) != PERP_STATUS_OK ||
        perp_contact_set_create(s->contact_model, NULL, NULL, &s->set, &error) != PERP_STATUS_OK) {
        die(name, error.message);
    }
    if (!mujoco_peer_open_with_shapes(&s->peer, s->model, message, sizeof message)) {
        die(name, message);
    }
    s->ode = ode_scene_open(s->model);
    if (!s->ode) {
        die(name, "ODE could not take the scene");
    }
    fill_pool(name, s);
}

static void close_subject(subject *s)
{
    ode_scene_close(s->ode);
    mujoco_peer_close(&s->peer);
    free(s->q);
    free(s->qpos);
    perp_contact_set_free(s->set);
    perp_contact_model_free(s->contact_model);
    perp_kinematics_free(s->kinematics);
    perp_model_free(s->model);
    perp_scene_free(s->scene);
}

/* ---- one query ----------------------------------------------------------------------------------------------------
 */

static int query_ours(const char *name, subject *s, double *seconds)
{
    perp_error error;
    const double start = timing_now();
    if (perp_contact_set_build(s->set, s->kinematics, &error) != PERP_STATUS_OK) {
        die(name, error.message);
    }
    *seconds = timing_now() - start;
    return s->set->count;
}

static int query_mujoco(const char *name, subject *s, int i, double *seconds)
{
    mjModel *m = s->peer.m;
    mjData *d = s->peer.d;
    memcpy(d->qpos, s->qpos + (size_t)i * (size_t)m->nq, (size_t)m->nq * sizeof(double));
    mj_kinematics(m, d);
    mj_comPos(m, d);
    const double start = timing_now();
    mj_collision(m, d);
    *seconds = timing_now() - start;
    if (d->warning[mjWARN_CONTACTFULL].number > 0) {
        die(name, "MuJoCo's list of contacts was too short");
    }
    return d->ncon;
}

static int query_ode(subject *s, double *seconds)
{
    ode_scene_move(s->ode, s->kinematics);
    const double start = timing_now();
    const int count = ode_scene_collide(s->ode);
    *seconds = timing_now() - start;
    return count;
}

static double deepest_of_mujoco(const subject *s)
{
    double least = 0.0;
    for (int i = 0; i < s->peer.d->ncon; i++) {
        least = s->peer.d->contact[i].dist < least ? s->peer.d->contact[i].dist : least;
    }
    return least;
}

query_row query_measure(const char *name, perp_scene *scene, int samples)
{
    static double seconds[ENGINE_COUNT][MAX_SAMPLES];
    samples = samples > MAX_SAMPLES ? MAX_SAMPLES : samples;
    subject s = {.scene = scene};
    open_subject(name, &s);
    query_row row = {
        .name = name, .bodies = s.model->body_count, .nv = s.model->nv, .samples = samples, .margin = scene->margin};
    for (int k = -POOL; k < samples; k++) { /* one round of the pool to warm up */
        const int i = (k + POOL) % POOL, at = k < 0 ? 0 : k;
        perp_kinematics_update(s.model, s.q + (size_t)i * (size_t)s.model->nq, s.kinematics);
        const int counts[ENGINE_COUNT] = {query_ours(name, &s, &seconds[ENGINE_OURS][at]),
                                          query_mujoco(name, &s, i, &seconds[ENGINE_MUJOCO][at]),
                                          query_ode(&s, &seconds[ENGINE_ODE][at])};
        if (k == -POOL) {
            row.deepest[ENGINE_OURS] = s.set->smallest_gap;
            row.deepest[ENGINE_MUJOCO] = deepest_of_mujoco(&s);
        }
        row.grew = k >= 0 && (row.grew || s.set->grew);
        for (query_engine e = 0; k >= 0 && e < ENGINE_COUNT; e++) {
            row.contacts[e] += (double)counts[e] / samples;
        }
    }
    for (query_engine e = 0; e < ENGINE_COUNT; e++) {
        row.time[e] = timing_summary(seconds[e], samples);
    }
    close_subject(&s);
    return row;
}
