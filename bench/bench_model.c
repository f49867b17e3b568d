/* Kinematics, Jacobians and mass matrix, next to MuJoCo on the same tree, in the same process, at the same q.
 *
 * Four things are timed:
 *   ours               perp_kinematics_update (poses, centres of mass, motion axes), perp_mass_matrix
 *   ours + Jacobians   and perp_frame_jacobian of every body at its origin, on the degrees of freedom it depends on
 *   MuJoCo             mj_kinematics, mj_comPos (motion axes), mj_crb
 *   MuJoCo + Jacobians and mj_jacBody of every body, which is dense
 * MuJoCo's three calls compute no Jacobian, so the fair pairs are the first with the third and the second with the
 * fourth. What the project promises is harder: the second not slower than the third.
 *
 * A sample is the mean over BLOCK evaluations, because reading the clock costs as much as a small part of one. The four
 * take turns, block by block and in rotating order, so that a slow phase of the machine meets all of them. MuJoCo reads
 * its qpos from the prepared list (d->qpos is pointed at it), so that no copying is timed on either side.
 */
#include "mujoco_peer.h"
#include "options.h"
#include "timing.h"

#include <perp/model.h>
#include <perp/scene_yaml.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERP_SOURCE_DIR
#define PERP_SOURCE_DIR "."
#endif

enum { BLOCK = 16 };

typedef enum variant { OURS, OURS_JACOBIANS, MUJOCO, MUJOCO_JACOBIANS, VARIANTS } variant;
static const char *const variant_names[VARIANTS] = {"ours", "ours + Jacobians", "MuJoCo", "MuJoCo + Jacobians"};
static const char *const variant_keys[VARIANTS] = {"ours", "ours_jacobians", "mujoco", "mujoco_jacobians"};

typedef struct subject {
    const char *name;
    int blocks;           /* of configurations in the pool */
    bool dense_jacobians; /* mj_jacBody is timed: not where its zeros would fill the memory */
    perp_scene *scene;
    perp_model *model;
    perp_kinematics *kinematics;
    mujoco_peer peer;
    double *own_qpos; /* MuJoCo's, put back before its data are deleted */
    double *q, *qpos; /* pools: nq and m->nq per configuration */
    double *mass, *jacobians, *jacobians_mj;
    timing_stats time[VARIANTS];                            /* s per evaluation */
    double pose_residual, mass_residual, jacobian_residual; /* relative; jacobian -1: not compared */
} subject;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_model: %s: %s\n", what, why);
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

/* ---- scenes ---------------------------------------------------------------------------------------------------- */

static perp_scene *load_scene(const char *path)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    if (perp_scene_load_file(path, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        char line[1200] = "";
        if (diagnostics.count > 0) {
            perp_diagnostic_format(&diagnostics.items[0], line, sizeof line);
        }
        die(path, line);
    }
    return scene;
}

/* The boxes of arm-gripper-and-boxes.yaml, many of them and nothing else. */
static perp_scene *boxes_scene(int count)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    perp_status status = perp_scene_create(false, NULL, &scene, NULL);
    for (int i = 0; i < count && status == PERP_STATUS_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "box%d", i);
        perp_shape shape = {.kind = PERP_SHAPE_BOX, .size = {0.06, 0.08, 0.1}, .pose = perp_placement_default()};
        perp_body body = perp_body_default(name);
        body.mass = perp_set(0.3);
        body.shapes = &shape;
        body.shape_count = 1;
        body.pose.pose.position = perp_vec3_make(0.1 * (i % 32), 0.1 * (i / 32), 0.05);
        status = perp_scene_add_body(scene, &body, NULL);
    }
    if (status != PERP_STATUS_OK || perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        die("boxes", "the scene was refused");
    }
    return scene;
}

/* ---- what is timed ---------------------------------------------------------------------------------------------- */

static void evaluate_ours(subject *s, int i)
{
    perp_kinematics_update(s->model, s->q + (size_t)i * (size_t)s->model->nq, s->kinematics);
    perp_mass_matrix(s->model, s->kinematics, s->mass);
}

static void evaluate_our_jacobians(subject *s)
{
    double *out = s->jacobians;
    for (int b = 0; b < s->model->body_count; b++) {
        const int *dofs;
        perp_frame_jacobian(s->model, s->kinematics, b, s->kinematics->pose[b].position, out);
        out += 6 * perp_body_dofs(s->model, b, &dofs);
    }
}

static void evaluate_mujoco(subject *s, int i)
{
    mjModel *m = s->peer.m;
    mjData *d = s->peer.d;
    d->qpos = s->qpos + (size_t)i * (size_t)m->nq;
    mj_kinematics(m, d);
    mj_comPos(m, d);
    mj_crb(m, d);
}

/* Into one buffer, which stays in the cache: writing all of them out would only burden MuJoCo's side. */
static void evaluate_mujoco_jacobians(subject *s)
{
    const mjModel *m = s->peer.m;
    for (int b = 1; b < m->nbody; b++) {
        mj_jacBody(m, s->peer.d, s->jacobians_mj, s->jacobians_mj + 3 * m->nv, b);
    }
}

static void evaluate(subject *s, variant which, int i)
{
    switch (which) {
    case OURS_JACOBIANS:
        evaluate_ours(s, i);
        evaluate_our_jacobians(s);
        break;
    case MUJOCO:
        evaluate_mujoco(s, i);
        break;
    case MUJOCO_JACOBIANS:
        evaluate_mujoco(s, i);
        evaluate_mujoco_jacobians(s);
        break;
    default:
        evaluate_ours(s, i);
        break;
    }
}

static bool is_timed(const subject *s, variant which)
{
    return which != MUJOCO_JACOBIANS || s->dense_jacobians;
}

static void time_subject(subject *s, int samples)
{
    double *times[VARIANTS];
    for (int k = 0; k < VARIANTS; k++) {
        times[k] = reals((size_t)samples);
    }
    const int warm_up = samples / 20;
    for (int n = -warm_up; n < samples; n++) {
        const int first = (n + warm_up) % s->blocks * BLOCK;
        for (int turn = 0; turn < VARIANTS; turn++) {
            const variant which = (variant)((turn + n + warm_up) % VARIANTS);
            if (!is_timed(s, which)) {
                continue;
            }
            const double start = timing_now();
            for (int i = first; i < first + BLOCK; i++) {
                evaluate(s, which, i);
            }
            if (n >= 0) {
                times[which][n] = (timing_now() - start) / BLOCK;
            }
        }
    }
    for (int k = 0; k < VARIANTS; k++) {
        s->time[k] = timing_summary(times[k], samples);
        free(times[k]);
    }
}

/* ---- do they compute the same? --------------------------------------------------------------------------------- */

static void note(double *worst, double difference, double size)
{
    if (!(difference <= *worst * size)) { /* NaN is noted too */
        *worst = difference / size;
    }
}

static double largest(const double *x, int count)
{
    double size = 0.0;
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(x[i]));
    }
    return size;
}

static void compare_arrays(double *worst, const double *ours, const double *theirs, int count, double size)
{
    for (int i = 0; i < count; i++) {
        note(worst, fabs(ours[i] - theirs[i]), size);
    }
}

static void compare_poses(subject *s)
{
    const mjData *d = s->peer.d;
    const double size = largest(d->xpos, 3 * s->peer.m->nbody);
    for (int b = 0; b < s->model->body_count; b++) {
        const perp_vec3 p = s->kinematics->pose[b].position;
        const double position[3] = {p.x, p.y, p.z};
        compare_arrays(&s->pose_residual, position, d->xpos + 3 * s->peer.body[b], 3, size);
        compare_arrays(&s->pose_residual, s->kinematics->rotation[b].m, d->xmat + 9 * s->peer.body[b], 9, 1.0);
    }
}

static void our_mass_times(const subject *s, const double *x, double *product)
{
    for (int t = 0; t < s->model->tree_count; t++) {
        const perp_tree *tree = &s->model->trees[t];
        const double *block = s->mass + tree->mass_start;
        for (int i = 0; i < tree->v_count; i++) {
            double sum = 0.0;
            for (int j = 0; j < tree->v_count; j++) {
                sum += block[i * tree->v_count + j] * x[tree->v_start + j];
            }
            product[tree->v_start + i] = sum;
        }
    }
}

/* Column by column, relative to the column's largest entry. Trees do not mix, so one product takes the column k of all
 * of them: no matrix of nv x nv is needed. */
static void compare_mass(subject *s)
{
    const int nv = s->model->nv;
    double *unit = reals((size_t)nv), *ours = reals((size_t)nv), *theirs = reals((size_t)nv);
    int columns = 0;
    for (int t = 0; t < s->model->tree_count; t++) {
        columns = s->model->trees[t].v_count > columns ? s->model->trees[t].v_count : columns;
    }
    for (int k = 0; k < columns; k++) {
        memset(unit, 0, (size_t)nv * sizeof *unit);
        for (int t = 0; t < s->model->tree_count; t++) {
            if (k < s->model->trees[t].v_count) {
                unit[s->model->trees[t].v_start + k] = 1.0;
            }
        }
        our_mass_times(s, unit, ours);
        mujoco_peer_mass_times(&s->peer, unit, theirs);
        for (int t = 0; t < s->model->tree_count; t++) {
            const int start = s->model->trees[t].v_start, n = s->model->trees[t].v_count;
            if (k < n) {
                compare_arrays(&s->mass_residual, ours + start, theirs + start, n, largest(theirs + start, n));
            }
        }
    }
    free(unit);
    free(ours);
    free(theirs);
}

static void compare_jacobians(subject *s)
{
    const int nv = s->model->nv, nv_mj = s->peer.m->nv;
    double *ours = reals(6 * (size_t)nv), *theirs = reals(6 * (size_t)nv);
    const double *sparse = s->jacobians;
    for (int b = 0; b < s->model->body_count; b++) {
        const int *dofs;
        perp_jacobian_expand(s->model, b, 6, sparse, ours);
        sparse += 6 * perp_body_dofs(s->model, b, &dofs);
        mj_jacBody(s->peer.m, s->peer.d, s->jacobians_mj, s->jacobians_mj + 3 * nv_mj, s->peer.body[b]);
        for (int row = 0; row < 6; row++) {
            mujoco_peer_project(&s->peer, s->jacobians_mj + row * nv_mj, theirs + row * nv);
        }
        compare_arrays(&s->jacobian_residual, ours, theirs, 6 * nv, fmax(1.0, largest(theirs, 6 * nv)));
    }
    free(ours);
    free(theirs);
}

static void compare(subject *s)
{
    double *zero = reals((size_t)s->model->nv);
    s->jacobian_residual = s->dense_jacobians ? 0.0 : -1.0;
    const int step = s->dense_jacobians ? 1 : BLOCK;
    for (int i = 0; i < s->blocks * BLOCK; i += step) {
        evaluate(s, OURS_JACOBIANS, i);
        evaluate(s, MUJOCO, i);
        s->peer.d->qpos = s->own_qpos;
        mujoco_peer_set(&s->peer, s->q + (size_t)i * (size_t)s->model->nq, zero); /* the map between coordinates */
        compare_poses(s);
        compare_mass(s);
        if (s->dense_jacobians) {
            compare_jacobians(s);
        }
    }
    free(zero);
}

/* ---- a subject's life ------------------------------------------------------------------------------------------- */

/* Random configurations: the initial one moved by up to 2 in every coordinate. */
static void fill_pools(subject *s)
{
    const size_t nq = (size_t)s->model->nq, nq_mj = (size_t)s->peer.m->nq, count = (size_t)s->blocks * BLOCK;
    perp_state state;
    perp_random random = {20260101};
    s->q = reals(count * nq);
    s->qpos = reals(count * nq_mj);
    if (perp_state_create(s->model, NULL, &state, NULL) != PERP_STATUS_OK) {
        die(s->name, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        for (int d = 0; d < s->model->nv; d++) {
            state.v[d] = perp_random_uniform(&random, -2.0, 2.0);
        }
        perp_configuration_integrate(s->model, state.q, state.v, 1.0, s->q + i * nq);
        mujoco_peer_set(&s->peer, s->q + i * nq, state.v);
        memcpy(s->qpos + i * nq_mj, s->peer.d->qpos, nq_mj * sizeof(double));
    }
    perp_state_free(&state);
}

static void open_subject(subject *s)
{
    perp_error error;
    char message[500];
    if (perp_model_build(s->scene, NULL, &s->model, &error) != PERP_STATUS_OK ||
        perp_kinematics_create(s->model, NULL, &s->kinematics, &error) != PERP_STATUS_OK) {
        die(s->name, error.message);
    }
    if (!mujoco_peer_open(&s->peer, s->model, message, sizeof message)) {
        die(s->name, message);
    }
    s->own_qpos = s->peer.d->qpos;
    s->mass = reals((size_t)s->model->mass_size);
    s->jacobians = reals(6 * (size_t)s->model->chain_start[s->model->body_count]);
    s->jacobians_mj = reals(6 * (size_t)s->peer.m->nv);
    fill_pools(s);
}

static void close_subject(subject *s)
{
    s->peer.d->qpos = s->own_qpos;
    mujoco_peer_close(&s->peer);
    free(s->q);
    free(s->qpos);
    free(s->mass);
    free(s->jacobians);
    free(s->jacobians_mj);
    perp_kinematics_free(s->kinematics);
    perp_model_free(s->model);
    perp_scene_free(s->scene);
}

/* ---- report ----------------------------------------------------------------------------------------------------- */

static double ratio(const subject *s, variant ours, variant theirs)
{
    return s->time[ours].median / s->time[theirs].median;
}

static void print_subject(const subject *s)
{
    printf("\n%s: %d bodies, %d degrees of freedom\n", s->name, s->model->body_count, s->model->nv);
    printf("  %-20s %10s %10s %10s   us per evaluation\n", "", "min", "median", "p99");
    for (int k = 0; k < VARIANTS; k++) {
        if (is_timed(s, (variant)k)) {
            const timing_stats *t = &s->time[k];
            printf("  %-20s %10.3f %10.3f %10.3f\n", variant_names[k], 1e6 * t->min, 1e6 * t->median, 1e6 * t->p99);
        }
    }
    printf("  ratio of medians: ours / MuJoCo %.2f;  ours + Jacobians / MuJoCo %.2f", ratio(s, OURS, MUJOCO),
           ratio(s, OURS_JACOBIANS, MUJOCO));
    if (s->dense_jacobians) {
        printf(";  both with Jacobians %.2f", ratio(s, OURS_JACOBIANS, MUJOCO_JACOBIANS));
    }
    printf("\n  largest relative difference: poses %.1e, mass matrix %.1e", s->pose_residual, s->mass_residual);
    if (s->dense_jacobians) {
        printf(", Jacobians %.1e", s->jacobian_residual);
    }
    printf("\n");
}

static void json_subject(FILE *out, const subject *s)
{
    fprintf(out, "    {\"name\": \"%s\", \"bodies\": %d, \"nv\": %d,\n", s->name, s->model->body_count, s->model->nv);
    for (int k = 0; k < VARIANTS; k++) {
        if (is_timed(s, (variant)k)) {
            fprintf(out, "     \"%s\": {\"min_us\": %.4f, \"median_us\": %.4f, \"p99_us\": %.4f},\n", variant_keys[k],
                    1e6 * s->time[k].min, 1e6 * s->time[k].median, 1e6 * s->time[k].p99);
        }
    }
    if (s->dense_jacobians) {
        fprintf(out, "     \"difference_jacobians\": %.3e,\n", s->jacobian_residual);
    }
    fprintf(out, "     \"difference_poses\": %.3e, \"difference_mass\": %.3e}", s->pose_residual, s->mass_residual);
}

static void write_json(const char *path, const subject *subjects, int count)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die(path, "cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"mujoco\": \"%s\", \"subjects\": [\n", mj_versionString());
    for (int i = 0; i < count; i++) {
        json_subject(out, &subjects[i]);
        fprintf(out, i + 1 < count ? ",\n" : "\n");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die(path, "cannot be written");
    }
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){100, 4000, INT_MAX});
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("MuJoCo %s; samples of %d evaluations, %d samples\n", mj_versionString(), BLOCK, options.samples);

    subject subjects[] = {
        {.name = "arm with gripper and 10 free bodies",
         .blocks = 16,
         .dense_jacobians = true,
         .scene = load_scene(PERP_SOURCE_DIR "/bench/scenes/arm-gripper-and-boxes.yaml")},
        {.name = "arm with gripper",
         .blocks = 16,
         .dense_jacobians = true,
         .scene = load_scene(PERP_SOURCE_DIR "/bench/scenes/arm-gripper.yaml")},
        {.name = "1000 free bodies", .blocks = 2, .scene = boxes_scene(1000)},
    };
    const int count = (int)(sizeof subjects / sizeof subjects[0]);
    for (int i = 0; i < count; i++) {
        open_subject(&subjects[i]);
        compare(&subjects[i]);
        time_subject(&subjects[i], i == 2 ? options.samples / 10 : options.samples);
        print_subject(&subjects[i]);
    }
    if (options.json) {
        write_json(options.json, subjects, count);
    }
    for (int i = 0; i < count; i++) {
        close_subject(&subjects[i]);
    }
    return 0;
}
