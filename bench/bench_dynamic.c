/* Steps of the dynamic rungs beside MuJoCo (Newton, pyramids and elliptic cones) and ODE (dWorldStep, dWorldQuickStep):
 * a stack of 10 cubes for a minute, and an arm that holds a cube beside nine others for two seconds, h = 0.01 s.
 *
 * Times are the processor's, of whole steps with collisions, the first 500 of them: where a stack has fallen down,
 * steps are cheap. What the engines solve is not the same: contact is rigid here and in ODE, soft in MuJoCo; so beside
 * each time stands what came of it. `law` is how well our steps meet their own law, the largest of balance,
 * complementarity and cone over the run; the peers have no such number. `depth` is how far bodies are in each other at
 * the end and `drift` how far the farthest cube is from where it stood: nothing pushes it.
 *
 * Then single steps as friction problems (W, q, mu) for perp's solver and Siconos' NSGS, NSN-AC and ADMM, all to 1e-8
 * as perp_friction_residual measures, cold, the fastest of three. */
#include "dynamic_problem.h"
#include "mujoco_peer.h"
#include "ode_world.h"
#include "options.h"
#include "siconos_friction.h"
#include "timing.h"

#include <perp/scene_yaml.h>
#include <perp/solver.h>
#include <perp/sim.h>
#include <perp/step.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERP_SOURCE_DIR
#define PERP_SOURCE_DIR "."
#endif

enum { MOST_STEPS = 6000, TIMED = 500, MOST_ROWS = 32, NAME = 48, REPETITIONS = 3, CUBES = 10 };
static const double H = 0.01, TOLERANCE = 1e-8, LIMIT_SECONDS = 5.0;

typedef struct row {
    char scene[NAME], engine[NAME], stop[NAME];
    int steps, contacts;
    double mean, median, worst; /* s */
    double law;                 /* NaN: not ours */
    double depth, drift;        /* m */
} row;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_dynamic: %s: %s\n", what, why);
    exit(1);
}

/* MuJoCo's own would write a file; what matters is asked for where it can happen. */
static void ignore_warning(const char *message)
{
    (void)message;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

typedef struct setup {
    const char *name;
    perp_scene *scene;
    perp_model *model;
    perp_state start, later; /* later: where the problem for the solvers is taken */
    int steps, later_step;
} setup;

static perp_scene *stack_scene(void)
{
    static perp_diagnostics diagnostics;
    char text[2000];
    int length =
        snprintf(text, sizeof text,
                 "perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n");
    for (int i = 0; i < CUBES; i++) {
        length +=
            snprintf(text + length, sizeof text - (size_t)length,
                     "  cube%d: {mass: 0.1, pose: {position: [0, 0, %.3f]}, shapes: [{box: [0.05, 0.05, 0.05]}]}\n", i,
                     0.025 + 0.05 * i);
    }
    snprintf(text + length, sizeof text - (size_t)length, "contacts: {friction: 0.5, margin: 0.01}\n");
    perp_scene *scene = NULL;
    if (perp_scene_load_text(text, strlen(text), "stack", ".", NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        die("stack", diagnostics.items[0].message);
    }
    return scene;
}

static perp_scene *arm_scene(void)
{
    static perp_diagnostics diagnostics;
    static const char *const settings[] = {"joints.finger_left.command=0.015", "joints.finger_right.command=0.015"};
    const perp_scene_load_options options = {.settings = settings, .setting_count = 2};
    perp_scene *scene = NULL;
    if (perp_scene_load_file(PERP_SOURCE_DIR "/bench/scenes/arm-and-cubes-at-work.yaml", &options, &scene,
                             &diagnostics) != PERP_STATUS_OK) {
        die("arm", diagnostics.items[0].message);
    }
    return scene;
}

static setup open_setup(const char *name, perp_scene *scene, int steps, int later_step)
{
    setup s = {.name = name, .scene = scene, .steps = steps, .later_step = later_step};
    if (perp_model_build(scene, NULL, &s.model, NULL) != PERP_STATUS_OK ||
        perp_state_create(s.model, NULL, &s.start, NULL) != PERP_STATUS_OK ||
        perp_state_create(s.model, NULL, &s.later, NULL) != PERP_STATUS_OK) {
        die(name, "out of memory");
    }
    return s;
}

static void close_setup(setup *s)
{
    perp_state_free(&s->start);
    perp_state_free(&s->later);
    perp_model_free(s->model);
    perp_scene_free(s->scene);
}

static bool is_cube(const setup *s, int body)
{
    return strncmp(s->scene->bodies[body].name, "cube", 4) == 0;
}

static double farther(double drift, const double *now, const double *start)
{
    return fmax(drift, sqrt(pow(now[0] - start[0], 2) + pow(now[1] - start[1], 2) + pow(now[2] - start[2], 2)));
}

/* ---- engines ----------------------------------------------------------------------------------------------------- */

typedef struct clock_log {
    setup *s;
    double last, samples[TIMED];
    int count, contacts;
    double depth;
} clock_log;

static clock_log log_of;

static void start_clock(setup *s)
{
    log_of.s = s;
    log_of.count = 0;
    log_of.last = timing_processor();
}

static void stop_clock(void)
{
    const double now = timing_processor();
    if (log_of.count < TIMED) {
        log_of.samples[log_of.count] = now - log_of.last;
    }
    log_of.count++;
    log_of.last = now;
}

static void take_times(row *r)
{
    const int timed = log_of.count < TIMED ? log_of.count : TIMED;
    double sum = 0.0;
    r->steps = log_of.count;
    for (int i = 0; i < timed; i++) {
        sum += log_of.samples[i];
        r->worst = fmax(r->worst, log_of.samples[i]);
    }
    r->mean = timed > 0 ? sum / timed : NAN;
    r->median = timed > 0 ? timing_summary(log_of.samples, timed).median : NAN;
}

static bool watch(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    clock_log *c = context;
    if (step == 0) {
        c->last = timing_processor();
        return true;
    }
    stop_clock();
    setup *s = c->s;
    if (step == s->later_step) {
        memcpy(s->later.q, state->q, (size_t)s->model->nq * sizeof(double));
        memcpy(s->later.v, state->v, (size_t)s->model->nv * sizeof(double));
        s->later.t = state->t;
    }
    c->contacts = c->contacts > info->contact_count ? c->contacts : info->contact_count;
    c->depth = info->residuals.penetration;
    c->last = timing_processor();
    return true;
}

static row measure_ours(setup *s, const char *rung, perp_cone cone)
{
    row r = {0};
    perp_run_settings settings = s->scene->run;
    perp_state state = {0};
    perp_run_result result = {0};
    perp_error error = {0};
    settings.model = rung;
    settings.model_set = true;
    settings.cone = cone;
    settings.h = H;
    settings.steps_set = true;
    settings.steps = s->steps;
    settings.tolerance = TOLERANCE;
    if (perp_state_create(s->model, NULL, &state, NULL) != PERP_STATUS_OK) {
        die(rung, "out of memory");
    }
    start_clock(s);
    log_of.contacts = 0;
    const perp_status status = perp_run(s->model, &settings, NULL, watch, &log_of, &state, &result, &error);
    snprintf(r.engine, sizeof r.engine, "%s%s", rung, cone == PERP_CONE_QUADRATIC ? ", cone" : "");
    snprintf(r.stop, sizeof r.stop, "%s", status == PERP_STATUS_OK ? "" : error.code ? error.code : "stopped");
    take_times(&r);
    r.contacts = log_of.contacts;
    r.law = fmax(result.residuals.balance, fmax(result.residuals.complementarity, result.residuals.cone));
    r.depth = log_of.depth;
    for (int b = 0; b < s->model->body_count; b++) {
        if (is_cube(s, b)) {
            const int at = s->model->links[b].q_start;
            r.drift = farther(r.drift, state.q + at, s->start.q + at);
        }
    }
    perp_run_result_free(&result);
    perp_state_free(&state);
    return r;
}

/* Springs of joints as MuJoCo's own: the stiffness explicit, the damping implicit. Commands are constant. */
static void add_springs(const setup *s, mujoco_peer *peer)
{
    double *command = calloc((size_t)s->model->nv + 1, sizeof *command);
    if (!command) {
        die("MuJoCo", "out of memory");
    }
    perp_command(s->model, 0.0, command);
    for (int i = 0; i < s->scene->joint_count; i++) {
        const perp_joint *joint = &s->scene->joints[i];
        if (joint->control == PERP_CONTROL_IMPEDANCE) {
            const int body = peer->body[joint->child_body], at = peer->m->body_jntadr[body];
            peer->m->jnt_stiffness[at] = joint->stiffness;
            peer->m->qpos_spring[peer->m->jnt_qposadr[at]] = command[s->model->links[joint->child_body].v_start];
            peer->m->dof_damping[peer->m->jnt_dofadr[at]] = joint->damping;
        }
    }
    free(command);
}

/* MuJoCo lets a body touch its joint's parent where that does not move, which nobody else does: such a parent touches
 * nothing. */
static void leave_out_bases(const setup *s, mujoco_peer *peer)
{
    for (int i = 0; i < s->scene->joint_count; i++) {
        const int base = s->scene->joints[i].parent_body;
        for (int k = 0; k < peer->m->ngeom && base >= 0 && s->scene->bodies[base].kind == PERP_BODY_FIXED; k++) {
            if (peer->m->geom_bodyid[k] == peer->body[base]) {
                peer->m->geom_contype[k] = peer->m->geom_conaffinity[k] = 0;
            }
        }
    }
}

static row measure_mujoco(setup *s, bool elliptic)
{
    row r = {.law = NAN};
    mujoco_peer peer;
    char message[256];
    if (!mujoco_peer_open_with_shapes(&peer, s->model, message, sizeof message)) {
        die("MuJoCo", message);
    }
    if (!mujoco_peer_make_room(&peer, 1000, 1e-5)) {
        die("MuJoCo", "no room");
    }
    add_springs(s, &peer);
    leave_out_bases(s, &peer);
    peer.m->opt.timestep = H;
    peer.m->opt.solver = mjSOL_NEWTON;
    peer.m->opt.cone = elliptic ? mjCONE_ELLIPTIC : mjCONE_PYRAMIDAL;
    peer.m->opt.tolerance = TOLERANCE;
    for (int i = 0; i < peer.m->ngeom; i++) {
        peer.m->geom_friction[3 * i] = s->scene->friction;
    }
    mujoco_peer_set(&peer, s->start.q, s->start.v);
    start_clock(s);
    for (int i = 0; i < s->steps; i++) {
        mj_step(peer.m, peer.d);
        stop_clock();
        r.contacts = r.contacts > peer.d->ncon ? r.contacts : peer.d->ncon;
        log_of.last = timing_processor();
    }
    if (peer.d->warning[mjWARN_CNSTRFULL].number + peer.d->warning[mjWARN_CONTACTFULL].number > 0) {
        die("MuJoCo", "contacts were dropped");
    }
    take_times(&r);
    for (int i = 0; i < peer.d->ncon; i++) {
        r.depth = fmax(r.depth, -peer.d->contact[i].dist);
    }
    for (int b = 0; b < s->model->body_count; b++) {
        if (is_cube(s, b)) {
            r.drift =
                farther(r.drift, peer.d->xpos + 3 * (ptrdiff_t)peer.body[b], s->start.q + s->model->links[b].q_start);
        }
    }
    snprintf(r.engine, sizeof r.engine, "MuJoCo, %s", elliptic ? "elliptic" : "pyramids");
    mujoco_peer_close(&peer);
    return r;
}

static row measure_ode(setup *s, bool quick)
{
    row r = {.law = NAN};
    ode_world *world = ode_world_open(s->model, H);
    if (!world) {
        die("ODE", "the scene was refused");
    }
    start_clock(s);
    for (int i = 0; i < s->steps; i++) {
        const int contacts = ode_world_step(world, quick);
        stop_clock();
        r.contacts = r.contacts > contacts ? r.contacts : contacts;
        log_of.last = timing_processor();
    }
    take_times(&r);
    r.depth = ode_world_depth(world);
    for (int b = 0; b < s->model->body_count; b++) {
        perp_vec3 at;
        if (is_cube(s, b) && ode_world_position(world, b, &at)) {
            const double now[3] = {at.x, at.y, at.z};
            r.drift = farther(r.drift, now, s->start.q + s->model->links[b].q_start);
        }
    }
    snprintf(r.engine, sizeof r.engine, "ODE, %s", quick ? "quickstep" : "step");
    ode_world_close(world);
    return r;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void print_row(setup *s, row r, row *rows, int *count)
{
    snprintf(r.scene, sizeof r.scene, "%s", s->name);
    printf("  %-14s %-18s %5d %8d %10.1f %10.1f %10.1f ", r.scene, r.engine, r.steps, r.contacts, 1e6 * r.mean,
           1e6 * r.median, 1e6 * r.worst);
    isnan(r.law) ? printf("%10s", "-") : printf("%10.1e", r.law);
    printf(" %10.1e %10.1e  %s\n", r.depth, r.drift, r.stop);
    fflush(stdout);
    if (*count < MOST_ROWS) {
        rows[(*count)++] = r;
    }
}

static void measure_setup(setup *s, row *rows, int *count)
{
    print_row(s, measure_ours(s, "dyn-lcp", PERP_CONE_UNSET), rows, count);
    print_row(s, measure_ours(s, "dyn-ncp", PERP_CONE_UNSET), rows, count);
    print_row(s, measure_ours(s, "dyn-qp", PERP_CONE_UNSET), rows, count);
    print_row(s, measure_ours(s, "dyn-qp", PERP_CONE_QUADRATIC), rows, count);
    print_row(s, measure_mujoco(s, false), rows, count);
    print_row(s, measure_mujoco(s, true), rows, count);
    print_row(s, measure_ode(s, false), rows, count);
    print_row(s, measure_ode(s, true), rows, count);
}

static void write_json(const char *path, const row *rows, int count)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die(path, "cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n");
    fprintf(out, "  \"steps\": [\n");
    for (int i = 0; i < count; i++) {
        const row *r = &rows[i];
        fprintf(out,
                "    {\"scene\": \"%s\", \"engine\": \"%s\", \"steps\": %d, \"contacts\": %d, \"mean_us\": %.3f, "
                "\"median_us\": %.3f, \"worst_us\": %.3f, \"depth_m\": %.3e, \"drift_m\": %.3e, \"stop\": \"%s\"",
                r->scene, r->engine, r->steps, r->contacts, 1e6 * r->mean, 1e6 * r->median, 1e6 * r->worst, r->depth,
                r->drift, r->stop);
        if (!isnan(r->law)) {
            fprintf(out, ", \"law\": %.3e", r->law);
        }
        fprintf(out, i + 1 < count ? "},\n" : "}\n");
    }
    fprintf(out, "  ]}\n");
    if (ferror(out) | fclose(out)) {
        die(path, "cannot be written");
    }
}

/* ---- single steps as problems ------------------------------------------------------------------------------------ */

static void print_answer(const char *scene, const char *solver, double seconds, double residual)
{
    printf("  %-14s %-18s ", scene, solver);
    residual <= TOLERANCE ? printf("%10.1f", 1e6 * seconds) : printf("%10s", "-");
    printf(" %10.1e\n", residual);
    fflush(stdout);
}

static void solve_ours(const char *name, friction_case *c, const perp_friction *local)
{
    const perp_contact_qp *q = &c->system;
    const size_t n = (size_t)q->n, rows = (size_t)q->row_start[q->contact_count];
    double *memory = calloc(n + 2 * rows + 1, sizeof *memory), fastest = INFINITY;
    perp_convex_point point = {.x = memory, .y = memory + n};
    perp_friction_workspace *workspace = NULL;
    perp_friction_settings settings = perp_friction_settings_default();
    perp_friction_info info;
    settings.tolerance = TOLERANCE;
    settings.minimum_norm = false;
    if (!memory || perp_friction_workspace_create(NULL, &workspace, NULL) != PERP_STATUS_OK ||
        perp_contact_friction_reserve(&c->problem, workspace, NULL) != PERP_STATUS_OK) {
        die(name, "out of memory");
    }
    for (int i = 0; i < REPETITIONS; i++) {
        const double start = timing_processor();
        if (perp_contact_friction_solve(&c->problem, &settings, workspace, &point, &info, NULL) != PERP_STATUS_OK) {
            die(name, "refused");
        }
        fastest = fmin(fastest, timing_processor() - start);
    }
    double *r = memory + n + rows;
    friction_case_to_local(c, point.y, r);
    print_answer(name, "perp", fastest, perp_friction_residual(local, r));
    perp_friction_workspace_free(workspace);
    free(memory);
}

static void solve_setup(const setup *s, const perp_state *state, const char *when)
{
    char name[NAME];
    friction_case *c = friction_case_create();
    perp_friction local;
    snprintf(name, sizeof name, "%s, %s", s->name, when);
    dynamic_problem_make(s->model, state, H, c);
    if (!friction_case_local(c, &local)) {
        die(name, "no local form");
    }
    solve_ours(name, c, &local);
    for (int k = 0; k < SICONOS_FRICTION_METHODS && siconos_friction_available(); k++) {
        const siconos_friction_request request = {(siconos_friction_method)k, TOLERANCE, LIMIT_SECONDS, REPETITIONS,
                                                  perp_friction_residual};
        double *r = calloc((size_t)(local.contacts * local.dim) + 1, sizeof *r);
        if (!r) {
            die(name, "out of memory");
        }
        const siconos_friction_answer answer = siconos_friction_solve(&local, &request, r);
        print_answer(name, siconos_friction_name(request.method), answer.seconds, answer.residual);
        free(r);
    }
    friction_case_free(c);
}

int main(int argc, char **argv)
{
    static row rows[MOST_ROWS];
    int count = 0;
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 1, 1});
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("MuJoCo %s\n", mj_versionString());
    mju_user_warning = ignore_warning;
    setup stack = open_setup("stack", stack_scene(), MOST_STEPS, 1), arm = open_setup("arm", arm_scene(), 200, 100);
    printf("  %-14s %-18s %5s %8s %10s %10s %10s %10s %10s %10s\n", "scene", "engine", "steps", "contacts", "mean us",
           "median us", "worst us", "law", "depth m", "drift m");
    measure_setup(&stack, rows, &count);
    measure_setup(&arm, rows, &count);
    printf("\n  %-14s %-18s %10s %10s\n", "problem", "solver", "us", "residual");
    solve_setup(&stack, &stack.start, "start");
    solve_setup(&arm, &arm.start, "start");
    solve_setup(&arm, &arm.later, "1 s");
    close_setup(&stack);
    close_setup(&arm);
    if (options.json) {
        write_json(options.json, rows, count);
    }
    return 0;
}
