/* A step of the quasistatic rungs: on every example, and on stacks of 10, 100 and 1,000 cubes that a finger pushes,
 * with one step of MuJoCo on the same stack beside it.
 *
 * Times are those that a run reports: a whole step, contacts included. Every run is repeated and each figure is the
 * smallest of the repetitions, which do the same work bit for bit; so "worst" is the costliest step, not the moment in
 * which the machine was busy. How a stack's cost grows is judged by the processor's time in the median step. MuJoCo's
 * step is its own: soft contacts, velocities, h = 0.01 s; what the two compute is not the same, what they cost may be
 * compared. */
#include "mujoco_peer.h"
#include "options.h"
#include "timing.h"

#include <perp/scene_yaml.h>
#include <perp/sim.h>
#include <perp/step.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef PERP_SOURCE_DIR
#define PERP_SOURCE_DIR "."
#endif

enum { MOST_ROWS = 400, STACKS = 3, NAME = 48, MOST_STEPS = 1000 };

typedef struct row {
    char example[NAME], rung[NAME], stop[NAME];
    int steps;
    double mean, median, worst; /* s */
    double busy;                /* s: median of the processor's time in a step */
} row;

typedef struct stack_row {
    int cubes, contacts;
    row ours;
    double mujoco; /* s, median of its steps; NaN: it refused the stack */
    int mujoco_contacts;
} stack_row;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_quasistatic: %s: %s\n", what, why);
    exit(1);
}

/* MuJoCo's own would write a file; what matters is asked for where it can happen. */
static void ignore_warning(const char *message)
{
    (void)message;
}

/* ---- our steps --------------------------------------------------------------------------------------------------- */

static void take_run(row *r, const perp_run_result *result, const perp_error *error, perp_status status)
{
    const perp_timing *t = &result->timing;
    const bool first = r->steps == 0;
    r->steps = result->steps;
    r->mean = first ? 1e-6 * t->step_mean_us : fmin(r->mean, 1e-6 * t->step_mean_us);
    r->median = first ? 1e-6 * t->step_median_us : fmin(r->median, 1e-6 * t->step_median_us);
    r->worst = first ? 1e-6 * t->step_max_us : fmin(r->worst, 1e-6 * t->step_max_us);
    const char *reason = status == PERP_STATUS_OK ? "" : error->code ? error->code : perp_status_name(status);
    snprintf(r->stop, sizeof r->stop, "%s", reason);
}

/* The processor's time in each step: what a step costs on a machine that others use too. */
typedef struct busy_clock {
    double last, samples[MOST_STEPS];
    int count;
} busy_clock;

static double busy_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool watch_clock(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    busy_clock *c = context;
    const double now = busy_now();
    (void)state;
    (void)info;
    if (step > 0 && c->count < MOST_STEPS) {
        c->samples[c->count++] = now - c->last;
    }
    c->last = now;
    return true;
}

/* False where the settings do not fit the rung. */
static bool measure(const perp_model *model, const perp_rung *rung, int repetitions, row *r, int *contacts)
{
    perp_run_settings settings = model->scene->run;
    settings.model = rung->name;
    settings.cone = PERP_CONE_UNSET;
    memset(r, 0, sizeof *r);
    snprintf(r->rung, sizeof r->rung, "%s", rung->name);
    if (perp_run_check(&settings, NULL) != PERP_STATUS_OK) {
        return false;
    }
    for (int i = 0; i < repetitions; i++) {
        perp_state state;
        perp_run_result result = {0};
        perp_error error = {0};
        if (perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK) {
            die("state", "out of memory");
        }
        static busy_clock clock;
        clock.count = 0;
        const perp_status status = perp_run(model, &settings, NULL, watch_clock, &clock, &state, &result, &error);
        take_run(r, &result, &error, status);
        if (clock.count > 0) {
            const double busy = timing_summary(clock.samples, clock.count).median;
            r->busy = i == 0 ? busy : fmin(r->busy, busy);
        }
        *contacts = result.contact_count;
        perp_run_result_free(&result);
        perp_state_free(&state);
    }
    return true;
}

static bool is_quasistatic(const char *name)
{
    return strncmp(name, "qs-", 3) == 0 || strcmp(name, "quasidynamic") == 0;
}

static void print_row(const row *r)
{
    printf("  %-16s %-18s %5d %10.1f %10.1f %10.1f  %s\n", r->example, r->rung, r->steps, 1e6 * r->mean,
           1e6 * r->median, 1e6 * r->worst, r->stop);
}

/* ---- examples ---------------------------------------------------------------------------------------------------- */

static int measure_example(const char *name, int repetitions, row *rows)
{
    static perp_diagnostics diagnostics;
    char path[512];
    perp_scene *scene;
    perp_model *model;
    int count = 0, contacts;
    memset(&diagnostics, 0, sizeof diagnostics);
    snprintf(path, sizeof path, PERP_SOURCE_DIR "/examples/%s/scene.yaml", name);
    if (perp_scene_load_file(path, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        return 0; /* an example without a scene */
    }
    if (!is_quasistatic(scene->run.model) || perp_model_build(scene, NULL, &model, NULL) != PERP_STATUS_OK) {
        perp_scene_free(scene);
        return 0;
    }
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i);
        if (rung->step && is_quasistatic(rung->name) && measure(model, rung, repetitions, &rows[count], &contacts)) {
            snprintf(rows[count].example, NAME, "%s", name);
            print_row(&rows[count++]);
        }
    }
    perp_model_free(model);
    perp_scene_free(scene);
    return count;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int measure_examples(int repetitions, row *rows)
{
    struct dirent **entries;
    const int found = scandir(PERP_SOURCE_DIR "/examples", &entries, NULL, by_name);
    int count = 0;
    printf("  %-16s %-18s %5s %10s %10s %10s\n", "example", "rung", "steps", "mean us", "median us", "worst us");
    for (int i = 0; i < found; i++) {
        if (entries[i]->d_name[0] != '.' && count + perp_rung_count() <= MOST_ROWS) {
            count += measure_example(entries[i]->d_name, repetitions, rows + count);
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static void add(perp_scene *scene, const char *name, const perp_shape *shape, double height)
{
    perp_body body = perp_body_default(name);
    body.kind = shape->kind == PERP_SHAPE_PLANE ? PERP_BODY_FIXED : PERP_BODY_FREE;
    body.shapes = shape;
    body.shape_count = 1;
    if (shape->kind == PERP_SHAPE_BOX) {
        body.mass = perp_set(0.1);
        body.pose_set = true;
        body.pose.pose.position.z = height;
    }
    if (shape->kind == PERP_SHAPE_SPHERE) {
        body.mass = perp_set(0.01); /* MuJoCo wants mass behind a joint; its way is level */
    }
    if (perp_scene_add_body(scene, &body, NULL) != PERP_STATUS_OK) {
        die("stack", "out of memory");
    }
}

/* examples/cube-stack with any number of cubes. */
static perp_scene *stack_scene(int cubes, int steps)
{
    static perp_diagnostics diagnostics;
    static const double times[2] = {0.0, 1.0}, values[2] = {0.0, 0.06};
    const perp_shape plane = {.kind = PERP_SHAPE_PLANE, .normal = {0, 0, 1}, .pose = perp_placement_default()};
    const perp_shape ball = {.kind = PERP_SHAPE_SPHERE, .radius = 0.01, .pose = perp_placement_default()};
    const perp_shape cube = {.kind = PERP_SHAPE_BOX, .size = {0.05, 0.05, 0.05}, .pose = perp_placement_default()};
    perp_scene *scene;
    if (perp_scene_create(false, NULL, &scene, NULL) != PERP_STATUS_OK) {
        die("stack", "out of memory");
    }
    add(scene, "ground", &plane, 0.0);
    add(scene, "finger", &ball, 0.0);
    for (int i = 0; i < cubes; i++) {
        char name[32];
        snprintf(name, sizeof name, "cube%d", i);
        add(scene, name, &cube, 0.025 + 0.05 * i);
    }
    perp_joint push = perp_joint_default("push", PERP_JOINT_PRISMATIC);
    push.child = "finger";
    push.anchor = perp_vec3_make(-0.036, 0, 0.02); /* 1 mm before the cube */
    push.axis_set = true;
    push.axis = perp_vec3_make(1, 0, 0);
    push.control = PERP_CONTROL_IMPEDANCE;
    push.stiffness = 2000.0;
    push.command_set = true;
    push.command = (perp_drive){.knot_count = 2, .times = times, .values = values};
    scene->margin = 0.01;
    scene->friction = 0.5;
    scene->run.h = 0.01;
    scene->run.steps_set = true;
    scene->run.steps = steps;
    if (perp_scene_add_joint(scene, &push, NULL) != PERP_STATUS_OK ||
        perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        die("stack", diagnostics.items[0].message);
    }
    return scene;
}

static double time_mujoco(mujoco_peer *peer, int steps)
{
    double *samples = calloc((size_t)steps, sizeof *samples);
    if (!samples) {
        die("stack", "out of memory");
    }
    for (int i = 0; i < steps; i++) {
        const double started = timing_now();
        mj_step(peer->m, peer->d);
        samples[i] = timing_now() - started;
    }
    if (peer->d->warning[mjWARN_CNSTRFULL].number + peer->d->warning[mjWARN_CONTACTFULL].number > 0) {
        die("MuJoCo", "contacts were dropped");
    }
    const double median = timing_summary(samples, steps).median;
    free(samples);
    return median;
}

static void measure_mujoco(const perp_model *model, int steps, stack_row *r)
{
    mujoco_peer peer;
    perp_state state;
    char message[256];
    if (perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK) {
        die("stack", "out of memory");
    }
    if (!mujoco_peer_open_with_shapes(&peer, model, message, sizeof message)) {
        die("MuJoCo", message);
    }
    r->mujoco = NAN;
    /* 16 rows a cube, four contacts with pyramids of four sides, and some more: 5.4 kB times the square of the number
     * of cubes, 2 GB at 630, so that 1,000 are refused. Its margin is smaller than ours, since it makes constraints of
     * all contacts within. */
    if (mujoco_peer_make_room(&peer, 18 * r->cubes + 100, 1e-5)) {
        peer.m->opt.timestep = model->scene->run.h;
        mujoco_peer_set(&peer, state.q, state.v);
        r->mujoco = time_mujoco(&peer, steps);
        r->mujoco_contacts = peer.d->ncon;
    }
    mujoco_peer_close(&peer);
    perp_state_free(&state);
}

static void measure_stacks(int repetitions, stack_row rows[STACKS])
{
    static const int sizes[STACKS] = {10, 100, 1000}, steps = 20;
    const perp_rung *rung = perp_rung_find("qs-qp");
    printf("  %-10s %9s %12s %12s %12s %14s %16s\n", "stack", "contacts", "mean us", "median us", "worst us",
           "busy us/cube", "MuJoCo step us");
    for (int i = 0; i < STACKS; i++) {
        stack_row *r = &rows[i];
        perp_scene *scene = stack_scene(sizes[i], steps);
        perp_model *model;
        if (perp_model_build(scene, NULL, &model, NULL) != PERP_STATUS_OK ||
            !measure(model, rung, repetitions, &r->ours, &r->contacts)) {
            die("stack", "refused");
        }
        r->cubes = sizes[i];
        measure_mujoco(model, steps, r);
        printf("  %-10d %9d %12.1f %12.1f %12.1f %14.2f ", r->cubes, r->contacts, 1e6 * r->ours.mean,
               1e6 * r->ours.median, 1e6 * r->ours.worst, 1e6 * r->ours.busy / r->cubes);
        isnan(r->mujoco) ? printf("%16s", "refused") : printf("%16.1f", 1e6 * r->mujoco);
        printf("  %s\n", r->ours.stop);
        fflush(stdout);
        perp_model_free(model);
        perp_scene_free(scene);
    }
    printf("  processor time of a cube in the median step over that in the stack of %d: ", sizes[0]);
    for (int i = 1; i < STACKS; i++) {
        const double share = (double)sizes[0] / sizes[i];
        printf("%s%.2f", i > 1 ? ", " : "", share * rows[i].ours.busy / rows[0].ours.busy);
        isnan(rows[i].mujoco) ? printf(" (MuJoCo -)")
                              : printf(" (MuJoCo %.2f)", share * rows[i].mujoco / rows[0].mujoco);
    }
    printf("\n");
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void json_row(FILE *out, const row *r)
{
    fprintf(out, "\"rung\": \"%s\", \"steps\": %d, \"mean_us\": %.3f, \"median_us\": %.3f, \"worst_us\": %.3f, ",
            r->rung, r->steps, 1e6 * r->mean, 1e6 * r->median, 1e6 * r->worst);
    fprintf(out, "\"busy_us\": %.3f, \"stop\": \"%s\"", 1e6 * r->busy, r->stop);
}

static void write_json(const char *path, const row *rows, int count, const stack_row *stacks)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die(path, "cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"examples\": [\n");
    for (int i = 0; i < count; i++) {
        fprintf(out, "    {\"example\": \"%s\", ", rows[i].example);
        json_row(out, &rows[i]);
        fprintf(out, i + 1 < count ? "},\n" : "}\n");
    }
    fprintf(out, "  ], \"stacks\": [\n");
    for (int i = 0; i < STACKS; i++) {
        fprintf(out, "    {\"cubes\": %d, \"contacts\": %d, ", stacks[i].cubes, stacks[i].contacts);
        if (!isnan(stacks[i].mujoco)) {
            fprintf(out, "\"mujoco_us\": %.3f, \"mujoco_contacts\": %d, ", 1e6 * stacks[i].mujoco,
                    stacks[i].mujoco_contacts);
        }
        json_row(out, &stacks[i].ours);
        fprintf(out, i + 1 < STACKS ? "},\n" : "}\n");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die(path, "cannot be written");
    }
}

int main(int argc, char **argv)
{
    static row rows[MOST_ROWS];
    static stack_row stacks[STACKS];
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 5, 20});
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("MuJoCo %s\n", mj_versionString());
    mju_user_warning = ignore_warning;
    const int count = measure_examples(options.samples, rows);
    fflush(stdout);
    measure_stacks(options.samples < 3 ? options.samples : 3, stacks);
    if (options.json) {
        write_json(options.json, rows, count, stacks);
    }
    return 0;
}
