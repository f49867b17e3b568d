/* A simulation that is stepped, steered and saved moves as a run does, to the bit, on every rung. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"

#include <perp/scene_yaml.h>
#include <perp/sim.h>

typedef struct world {
    perp_scene *scene;
    perp_model *model;
} world;

static perp_error error;

/* `source` is the name of an example, or YAML text (anything with a line break). */
static world open_world(const char *source, const char *model)
{
    static perp_diagnostics diagnostics;
    world w = {0};
    char setting[64];
    snprintf(setting, sizeof setting, "run.model=%s", model ? model : "");
    const char *const settings[] = {setting};
    perp_scene_load_options options = {.settings = settings, .setting_count = model ? 1 : 0};
    memset(&diagnostics, 0, sizeof diagnostics);
    if (strchr(source, '\n')) {
        perp_scene_load_text(source, strlen(source), "test", NULL, &options, &w.scene, &diagnostics);
    } else {
        char path[512];
        snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, source);
        perp_scene_load_file(path, &options, &w.scene, &diagnostics);
    }
    if (!w.scene) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    assert_int_equal(perp_model_build(w.scene, NULL, &w.model, &error), PERP_STATUS_OK);
    return w;
}

static void close_world(world *w)
{
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

static perp_sim *create(const perp_model *model)
{
    perp_sim *sim = NULL;
    if (perp_sim_create(model, NULL, &sim, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return sim;
}

static void step(perp_sim *sim)
{
    if (perp_sim_step(sim, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

static void good(perp_status status)
{
    if (status != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

static void near_(double actual, double expected, double tolerance, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("line %d: %.17g is not %.17g to %g", line, actual, expected, tolerance);
    }
}
#define NEAR(actual, expected, tolerance) near_((actual), (expected), (tolerance), __LINE__)

static const char *const SCENES[] = {
    "pusher-2d", "gripper-2d", "arm-reach", "three-finger-grasp", "driven-fence", "sphere-roll", "four-bar", "pivot",
    "bounce", "domino",
    /* fingers of which one mimics the other */
    "perp: 1\nplanar: true\nbodies:\n"
    "  left: {mass: 0.1, inertia: 0.001, pose: {position: [-0.061, 0]}, shapes: [{disc: 0.01}]}\n"
    "  right: {mass: 0.1, inertia: 0.001, pose: {position: [0.062, 0]}, shapes: [{disc: 0.01}]}\n"
    "  box: {mass: 0.2, inertia: 0.001, free: [x], shapes: [{box: [0.1, 0.1]}]}\n"
    "joints:\n"
    "  l: {type: prismatic, parent: world, child: left, axis: [1, 0], control: impedance, stiffness: 200, command: "
    "{rate: 0.05}}\n"
    "  r: {type: prismatic, parent: world, child: right, axis: [1, 0], mimic: {joint: l, ratio: -1}}\n"
    "run: {h: 0.005}\n"};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES, STEPS = 12 };

/* Calls `each` with every scene on every rung that takes steps. */
static void on_every_rung(void (*each)(const world *w, int steps))
{
    for (int i = 0; i < SCENE_COUNT; i++) {
        for (int k = 0; k < perp_rung_count(); k++) {
            if (!perp_rung_at(k)->step) {
                continue;
            }
            world w = open_world(SCENES[i], perp_rung_at(k)->name);
            if (perp_run_check(&w.scene->run, &error) == PERP_STATUS_OK) {
                const int steps = perp_run_steps(&w.scene->run);
                each(&w, steps < STEPS ? steps : STEPS);
            }
            close_world(&w);
        }
    }
}

/* ---- runs ---------------------------------------------------------------------------------------------------------
 */

static void steps_as_a_run(const world *w, int steps)
{
    perp_run_settings settings = w->scene->run;
    perp_state state;
    perp_run_result result;
    settings.steps_set = true;
    settings.steps = steps;
    good(perp_state_create(w->model, NULL, &state, &error));
    const perp_status status = perp_run(w->model, &settings, NULL, NULL, NULL, &state, &result, &error);
    perp_sim *sim = create(w->model);
    perp_status last = PERP_STATUS_OK;
    for (int k = 0; k < steps && last == PERP_STATUS_OK; k++) {
        last = perp_sim_step(sim, &error);
    }
    assert_int_equal(last, status);
    assert_int_equal(perp_sim_steps(sim), result.steps);
    assert_true(perp_sim_hash(sim).value == result.hash.value);
    assert_memory_equal(perp_sim_state(sim)->q, state.q, (size_t)w->model->nq * sizeof(double));
    const perp_step_info *info = perp_sim_info(sim);
    if (status == PERP_STATUS_OK) {
        assert_int_equal(info->contact_count, result.contact_count);
        for (int i = 0; i < info->contact_count; i++) {
            assert_true(info->contacts[i].fn == result.contacts[i].fn);
        }
    }
    perp_sim_free(sim);
    perp_run_result_free(&result);
    perp_state_free(&state);
}

static void test_steps_as_a_run(void **state)
{
    (void)state;
    on_every_rung(steps_as_a_run);
}

/* ---- saving -------------------------------------------------------------------------------------------------------
 */

/* As many steps as there are, at most `most`. */
static int go(perp_sim *sim, int most)
{
    int taken = 0;
    while (taken < most && perp_sim_step(sim, &error) == PERP_STATUS_OK) {
        taken++;
    }
    return taken;
}

static void saves(const world *w, int steps)
{
    perp_sim *sim = create(w->model), *clone = NULL;
    const int half = go(sim, steps / 2);
    const size_t size = perp_sim_save(sim, NULL, 0);
    unsigned char *bytes = malloc(size), *again = malloc(size);
    assert_true(bytes && again);
    assert_int_equal(perp_sim_save(sim, bytes, size - 1), size);
    assert_int_equal(perp_sim_save(sim, bytes, size), size);
    good(perp_sim_clone(sim, &clone, &error));
    assert_int_equal(perp_sim_save(clone, again, size), size);
    assert_memory_equal(bytes, again, size);
    assert_int_equal(perp_sim_info(clone)->contact_count, perp_sim_info(sim)->contact_count);
    const perp_step_info *as = perp_sim_info(sim), *like = perp_sim_info(clone);
    assert_int_equal(like->loop_count, as->loop_count);
    for (int i = 0; i < as->loop_count; i++) {
        assert_true(as->loops != like->loops && like->loops[i].count == as->loops[i].count);
        assert_memory_equal(like->loops[i].force, as->loops[i].force, sizeof as->loops[i].force);
    }
    const int rest = go(sim, steps - half);
    const perp_hash hash = perp_sim_hash(sim);
    assert_int_equal(go(clone, steps - half), rest);
    assert_true(perp_sim_hash(clone).value == hash.value);
    good(perp_sim_restore(sim, bytes, size, &error));
    assert_int_equal(perp_sim_steps(sim), half);
    assert_int_equal(go(sim, steps - half), rest);
    assert_true(perp_sim_hash(sim).value == hash.value);
    bytes[size / 2] ^= 1; /* what is not a save is refused, and changes nothing */
    assert_int_equal(perp_sim_restore(sim, bytes, size, &error), PERP_STATUS_BAD_INPUT);
    assert_int_equal(perp_sim_restore(sim, bytes, size - 8, &error), PERP_STATUS_BAD_INPUT);
    assert_int_equal(perp_sim_restore(sim, bytes, 3, &error), PERP_STATUS_BAD_INPUT);
    assert_true(perp_sim_hash(sim).value == hash.value);
    free(bytes);
    free(again);
    perp_sim_free(clone);
    perp_sim_free(sim);
}

static void test_saves(void **state)
{
    (void)state;
    on_every_rung(saves);
}

/* A finger on a spring leans on a box that friction holds, to and fro; where springs are followed exactly it pushes the
 * box along. */
/* Memory as it may be found: every byte is `*context`. */
static void *allocate_filled(void *context, size_t size)
{
    void *memory = malloc(size);
    return memory ? memset(memory, *(const unsigned char *)context, size) : NULL;
}

static void release_filled(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static unsigned char *save_in_memory_of(const world *w, int steps, unsigned char fill, size_t *size)
{
    const perp_allocator allocator = {allocate_filled, release_filled, &fill};
    perp_sim_settings settings = perp_sim_settings_default();
    settings.allocator = &allocator;
    perp_sim *sim = NULL;
    good(perp_sim_create(w->model, &settings, &sim, &error));
    go(sim, steps);
    *size = perp_sim_save(sim, NULL, 0);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    perp_sim_save(sim, bytes, *size);
    perp_sim_free(sim);
    return bytes;
}

/* A save holds the state and nothing of the memory and the time that it was made in. */
static void saves_repeat(const world *w, int steps)
{
    size_t sizes[2];
    unsigned char *one = save_in_memory_of(w, steps, 0x55, &sizes[0]);
    unsigned char *other = save_in_memory_of(w, steps, 0xaa, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(one, other, sizes[0]);
    free(one);
    free(other);
}

static void test_saves_repeat(void **state)
{
    (void)state;
    on_every_rung(saves_repeat);
}

static const char LEANING[] =
    "perp: 1\nplanar: true\nbodies:\n"
    "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}\n"
    "  box: {mass: 1, pose: {position: [0, 0.05]}, shapes: [{box: [0.1, 0.1]}]}\n"
    "  finger: {mass: 0.1, pose: {position: [-0.0605, 0.03]}, shapes: [{disc: 0.01}]}\n"
    "joints:\n"
    "  push: {type: prismatic, parent: world, child: finger, axis: [1, 0], control: impedance, stiffness: 200,\n"
    "         damping: 2, command: {sines: [{amplitude: 0.006, omega: 9}]}%s}\n"
    "contacts: {friction: 0.8, exclude: [[ground, finger]]}\n"
    "compliance: {stiffness: 1.0e5, damping: 100}\n"
    "run: {h: 0.002, steps: 200}\n";

/* 100 steps, and from a save of there 100 more: in the same simulation, in a new one, and in one that has gone on. A
 * straight run has the same bits; returns them. */
static perp_hash saves_between_hundreds(const char *rung, const char *effort)
{
    char text[sizeof LEANING + 32];
    snprintf(text, sizeof text, LEANING, effort);
    world w = open_world(text, rung);
    perp_sim *sim = create(w.model), *other = create(w.model);
    perp_state last;
    perp_run_result run;
    good(perp_state_create(w.model, NULL, &last, &error));
    good(perp_run(w.model, &w.scene->run, NULL, NULL, NULL, &last, &run, &error));
    assert_int_equal(go(sim, 100), 100);
    const size_t size = perp_sim_save(sim, NULL, 0);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(perp_sim_save(sim, bytes, size), size);
    for (int i = 0; i < 4; i++) { /* the first goes straight on; the last two begin elsewhere */
        perp_sim *one = i < 2 ? sim : other;
        if (i > 0) {
            good(perp_sim_restore(one, bytes, size, &error));
        }
        assert_int_equal(go(one, 100), 100);
        assert_true(perp_sim_hash(one).value == run.hash.value);
        assert_memory_equal(perp_sim_state(one)->q, last.q, (size_t)w.model->nq * sizeof(double));
        assert_memory_equal(perp_sim_state(one)->v, last.v, (size_t)w.model->nv * sizeof(double));
    }
    if (strcmp(rung, "compliant") == 0) { /* which friction has held all along, by its springs */
        assert_true(fabs(last.q[0]) < 1e-4 && last.q[0] != 0.0);
        for (int i = 0; i < run.event_count; i++) {
            assert_true(run.events[i].a != 0 || run.events[i].to != PERP_CONTACT_SLIDE); /* 0 is the ground */
        }
    }
    const perp_hash hash = run.hash;
    free(bytes);
    perp_run_result_free(&run);
    perp_state_free(&last);
    perp_sim_free(other);
    perp_sim_free(sim);
    close_world(&w);
    return hash;
}

/* On every rung; with a spring that gives way at half of what it comes to, which those with springs notice. */
static void test_save_between_hundreds(void **state)
{
    (void)state;
    int rungs = 0, limited = 0;
    for (int k = 0; k < perp_rung_count(); k++) {
        if (perp_rung_at(k)->step) {
            const perp_hash plain = saves_between_hundreds(perp_rung_at(k)->name, "");
            const perp_hash gives = saves_between_hundreds(perp_rung_at(k)->name, ", effort: 0.6");
            limited += plain.value != gives.value;
            rungs++;
        }
    }
    assert_int_equal(rungs, 13);
    assert_int_equal(limited, 8);
}

/* A save is good for another reading of the scene, and not for other settings. */
static void test_saves_of_other_readings(void **state)
{
    (void)state;
    world one = open_world("pivot", "compliant"), two = open_world("pivot", "compliant"),
          other = open_world("pivot", "dyn-ncp");
    perp_sim *a = create(one.model), *b = create(two.model), *c = create(other.model);
    unsigned char bytes[1 << 16];
    good(perp_sim_apply(a, 0, (perp_vec3){0, 0, 0}, (perp_vec3){0, 0, 0}, (perp_vec3){0, 0, 0}, &error));
    step(a);
    good(perp_sim_apply(a, 1, (perp_vec3){0, 0, 0}, (perp_vec3){0.1, 0, 0}, (perp_vec3){0, 0, 0}, &error));
    const size_t size = perp_sim_save(a, bytes, sizeof bytes);
    assert_true(size <= sizeof bytes);
    good(perp_sim_restore(b, bytes, size, &error));
    assert_int_equal(perp_sim_restore(c, bytes, size, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "settings"));
    perp_sim_free(a);
    close_world(&one);
    a = create(two.model);
    good(perp_sim_restore(a, bytes, size, &error));
    step(a);
    step(b);
    assert_true(perp_sim_hash(a).value == perp_sim_hash(b).value);
    perp_sim_free(a);
    perp_sim_free(b);
    perp_sim_free(c);
    close_world(&two);
    close_world(&other);
}

/* ---- steering -----------------------------------------------------------------------------------------------------
 */

static const char SLIDER[] = "perp: 1\n"
                             "planar: true\n"
                             "gravity: [0, 0]\n"
                             "bodies:\n"
                             "  cart: {mass: 2, shapes: [{box: [0.2, 0.2]}]}\n"
                             "  hand: {driven: {x: 1}, shapes: [{disc: 0.1}]}\n"
                             "  puck: {mass: 0.5, shapes: [{disc: 0.05}], pose: {position: [0, 3]}}\n"
                             "joints:\n"
                             "  rail: {type: prismatic, parent: world, child: cart, axis: [1, 0], position: 0.1,\n"
                             "    control: %s}\n"
                             "run: {model: dyn-ncp, h: 0.01, until: 1}\n";

static world slider(const char *control, const char *more)
{
    char text[2000];
    char controlled[200];
    snprintf(controlled, sizeof controlled, "%s%s", control, more);
    snprintf(text, sizeof text, SLIDER, controlled);
    return open_world(text, NULL);
}

static void test_positions_go_straight_to_their_command(void **state)
{
    (void)state;
    world w = slider("position", "");
    perp_sim *sim = create(w.model);
    const int rail = perp_scene_find_joint(w.scene, "rail");
    const perp_link *link = &w.model->links[w.model->joint_body[rail]];
    step(sim);
    assert_true(perp_sim_state(sim)->q[link->q_start] == 0.1);
    good(perp_sim_set_command(sim, rail, 0.3, &error));
    assert_true(perp_sim_command(sim, rail) == 0.1); /* until the step */
    step(sim);
    assert_true(perp_sim_state(sim)->q[link->q_start] == 0.3);
    NEAR(perp_sim_state(sim)->v[link->v_start], 20.0, 1e-9);
    assert_true(perp_sim_command(sim, rail) == 0.3);
    step(sim);
    assert_true(perp_sim_state(sim)->q[link->q_start] == 0.3 && perp_sim_state(sim)->v[link->v_start] == 0.0);
    good(perp_sim_set_command_rate(sim, rail, -2.0, &error));
    step(sim);
    step(sim);
    NEAR(perp_sim_state(sim)->q[link->q_start], 0.26, 1e-15);
    NEAR(perp_sim_state(sim)->v[link->v_start], -2.0, 1e-12);
    perp_sim_free(sim);
    close_world(&w);
}

/* 1/2 k x^2 and m x'' = k (u - x): the spring's command, by hand with the implicit rule of the rung. */
static void test_springs_follow_their_command(void **state)
{
    (void)state;
    world w = slider("impedance", ", stiffness: 50, command: 0.1");
    perp_sim *sim = create(w.model);
    const int rail = perp_scene_find_joint(w.scene, "rail");
    const perp_link *link = &w.model->links[w.model->joint_body[rail]];
    const double h = 0.01, k = 50.0, m = 2.0;
    double x = 0.1, v = 0.0;
    for (int i = 0; i < 20; i++) {
        const double u = 0.1 + 0.02 * i;
        good(perp_sim_set_command(sim, rail, u, &error));
        step(sim);
        v = (m * v + h * k * (u - x)) / (m + h * h * k);
        x += h * v;
        NEAR(perp_sim_state(sim)->q[link->q_start], x, 1e-12);
        NEAR(perp_sim_energy(sim).springs, 0.5 * k * (u - x) * (u - x), 1e-12);
        NEAR(perp_sim_energy(sim).kinetic, 0.5 * m * v * v + 0.0, 1e-12);
    }
    perp_sim_free(sim);
    close_world(&w);
}

static void test_driven_bodies_are_led(void **state)
{
    (void)state;
    world w = slider("position", "");
    perp_sim *sim = create(w.model);
    const int hand = perp_scene_find_body(w.scene, "hand");
    good(perp_sim_set_drive(sim, hand, PERP_COMPONENT_Y, 0.02, &error)); /* the scene drives x only */
    good(perp_sim_set_drive_rate(sim, hand, PERP_COMPONENT_RZ, 3.0, &error));
    step(sim);
    step(sim);
    const perp_pose pose = perp_sim_pose(sim, hand);
    NEAR(pose.position.x, 1.0, 0.0);
    NEAR(pose.position.y, 0.02, 0.0);
    NEAR(perp_sim_state(sim)->q[w.model->links[hand].q_start + 2], 0.06, 1e-15);
    unsigned char bytes[1 << 14];
    const size_t size = perp_sim_save(sim, bytes, sizeof bytes);
    assert_true(size <= sizeof bytes);
    step(sim);
    const perp_hash hash = perp_sim_hash(sim);
    perp_sim *other = create(w.model);
    good(perp_sim_restore(other, bytes, size, &error));
    step(other);
    assert_true(perp_sim_hash(other).value == hash.value);
    perp_sim_free(other);
    perp_sim_free(sim);
    close_world(&w);
}

/* Forces act during one step, add up, and turn what they do not pull at its centre. */
static void test_wrenches(void **state)
{
    (void)state;
    world w = slider("position", "");
    perp_sim *sim = create(w.model);
    const int puck = perp_scene_find_body(w.scene, "puck");
    const int v = w.model->links[puck].v_start;
    const double m = 0.5, inertia = 0.5 * m * 0.05 * 0.05, h = 0.01;
    good(perp_sim_apply(sim, puck, (perp_vec3){0.02, 3, 0}, (perp_vec3){0, 1, 0}, (perp_vec3){0, 0, 0.001}, &error));
    good(perp_sim_apply(sim, puck, (perp_vec3){0, 3, 0}, (perp_vec3){2, 0, 0}, (perp_vec3){0, 0, 0}, &error));
    for (int i = 0; i < 2; i++) { /* and nothing in the second */
        step(sim);
        NEAR(perp_sim_state(sim)->v[v], h * 2 / m, 1e-15);
        NEAR(perp_sim_state(sim)->v[v + 1], h * 1 / m, 1e-15);
        NEAR(perp_sim_state(sim)->v[v + 2], h * (0.02 * 1 + 0.001) / inertia, 1e-12);
    }
    perp_sim_free(sim);
    close_world(&w);
}

/* From the state of a run onwards as a run that begins there; what is prescribed stays where it was put. */
static void test_states(void **state)
{
    (void)state;
    world w = open_world("sphere-roll", "dyn-ncp");
    perp_sim *sim = create(w.model), *other = create(w.model);
    perp_state at;
    perp_run_result result;
    perp_run_settings settings = w.scene->run;
    good(perp_state_create(w.model, NULL, &at, &error));
    go(sim, 5);
    perp_state_copy(w.model, &at, perp_sim_state(sim));
    good(perp_sim_set_state(other, at.t, at.q, at.v, &error));
    settings.steps_set = true;
    settings.steps = 6;
    good(perp_run(w.model, &settings, NULL, NULL, NULL, &at, &result, &error));
    assert_int_equal(go(other, 6), 6);
    assert_memory_equal(perp_sim_state(other)->q, at.q, (size_t)w.model->nq * sizeof(double));
    assert_true(perp_sim_state(other)->t == at.t);
    at.q[0] = NAN;
    assert_int_equal(perp_sim_set_state(other, at.t, at.q, at.v, &error), PERP_STATUS_BAD_INPUT);
    assert_true(isfinite(perp_sim_state(other)->q[0]));
    perp_run_result_free(&result);
    perp_state_free(&at);
    perp_sim_free(sim);
    perp_sim_free(other);
    close_world(&w);

    w = slider("position", "");
    sim = create(w.model);
    const perp_link *cart = &w.model->links[perp_scene_find_body(w.scene, "cart")];
    const perp_link *hand = &w.model->links[perp_scene_find_body(w.scene, "hand")];
    good(perp_state_create(w.model, NULL, &at, &error));
    at.q[cart->q_start] = -0.4;
    at.q[hand->q_start + 1] = 0.7;
    good(perp_sim_set_state(sim, 2.0, at.q, at.v, &error));
    step(sim);
    assert_true(perp_sim_state(sim)->q[cart->q_start] == -0.4 && perp_sim_state(sim)->q[hand->q_start + 1] == 0.7);
    assert_true(perp_sim_state(sim)->q[hand->q_start] == 1.0);
    NEAR(perp_sim_state(sim)->t, 2.01, 1e-15);
    perp_state_free(&at);
    perp_sim_free(sim);
    close_world(&w);
}

static const char DRIVEN_IN_SPACE[] = "perp: 1\n"
                                      "bodies:\n"
                                      "  tray: {driven: {z: 0.5}, shapes: [{box: [1, 1, 0.1]}]}\n"
                                      "run: {model: kinematic, h: 0.01, until: 1}\n";

static void test_rotations_of_driven_bodies_stay(void **state)
{
    (void)state;
    world w = open_world(DRIVEN_IN_SPACE, NULL);
    perp_sim *sim = create(w.model);
    const perp_quat turns[] = {perp_quat_exp((perp_vec3){0.4, -0.9, 1.3}), perp_quat_exp((perp_vec3){0, M_PI / 2, 0}),
                               perp_quat_exp((perp_vec3){0, 0, -3.0})};
    for (int i = 0; i < 3; i++) {
        const double q[7] = {1, 2, 3, turns[i].w, turns[i].x, turns[i].y, turns[i].z}, v[6] = {0};
        good(perp_sim_set_state(sim, 0.0, q, v, &error));
        step(sim);
        const perp_quat now = perp_sim_pose(sim, 0).rotation;
        const double dot = now.w * q[3] + now.x * q[4] + now.y * q[5] + now.z * q[6];
        NEAR(fabs(dot), 1.0, 1e-14);
    }
    perp_sim_free(sim);
    close_world(&w);
}

static void test_refusals(void **state)
{
    (void)state;
    world w = slider("position", "");
    perp_sim *sim = create(w.model);
    const perp_vec3 zero = {0, 0, 0};
    const int puck = perp_scene_find_body(w.scene, "puck"), hand = perp_scene_find_body(w.scene, "hand");
    const struct {
        perp_status status;
        const char *word;
    } refused[] = {
        {perp_sim_set_command(sim, 0, NAN, &error), "finite"},
        {perp_sim_set_command(sim, 7, 0.0, &error), "no joint"},
        {perp_sim_set_drive(sim, puck, PERP_COMPONENT_X, 0.0, &error), "not driven"},
        {perp_sim_set_drive(sim, hand, PERP_COMPONENT_Z, 0.0, &error), "component"},
        {perp_sim_set_drive(sim, hand, PERP_COMPONENT_X | PERP_COMPONENT_Y, 0.0, &error), "component"},
        {perp_sim_set_drive(sim, hand, PERP_COMPONENT_X, INFINITY, &error), "finite"},
        {perp_sim_set_drive(sim, -1, PERP_COMPONENT_X, 0.0, &error), "no body"},
        {perp_sim_apply(sim, 9, zero, zero, zero, &error), "no body"},
        {perp_sim_apply(sim, puck, zero, (perp_vec3){0, 0, 1}, zero, &error), "plane"},
        {perp_sim_apply(sim, puck, zero, (perp_vec3){NAN, 0, 0}, zero, &error), "finite"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(refused[i].status, PERP_STATUS_BAD_INPUT);
    }
    step(sim);
    perp_sim_free(sim);
    close_world(&w);
    w = open_world("rod-two-walls", "instant");
    sim = create(w.model);
    assert_int_equal(perp_sim_step(sim, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "no steps"));
    perp_sim_free(sim);
    close_world(&w);
}

/* ---- laws and observers -------------------------------------------------------------------------------------------
 */

typedef struct pd {
    int joint, calls, stop_at;
} pd;

static bool lead_halfway(void *context, perp_sim *sim)
{
    pd *p = context;
    const perp_state *s = perp_sim_state(sim);
    perp_sim_set_command(sim, p->joint, s->q[0] + 0.5 * (0.6 - s->q[0]), NULL);
    return p->calls++ != p->stop_at;
}

static bool count(void *context, int step_number, const perp_state *state, const perp_step_info *info)
{
    int *seen = context;
    assert_int_equal(step_number, *seen);
    assert_true(state->t >= 0.0 && info->memory);
    return ++*seen < 7;
}

static void test_laws_and_observers(void **state)
{
    (void)state;
    world w = slider("position", "");
    perp_sim *sim = create(w.model);
    pd law = {.joint = 0, .stop_at = -1};
    int seen = 0;
    perp_sim_on_step(sim, lead_halfway, &law);
    good(perp_sim_observe(sim, count, &seen, &error));
    assert_int_equal(seen, 1);
    for (int i = 0; i < 5; i++) {
        step(sim);
    }
    NEAR(perp_sim_state(sim)->q[0], 0.6 - 0.5 / 32, 1e-12);
    assert_int_equal(perp_sim_step(sim, &error), PERP_STATUS_CANCELLED); /* by the observer, after the step */
    assert_int_equal(perp_sim_steps(sim), 6);
    good(perp_sim_observe(sim, NULL, NULL, &error));
    law.stop_at = law.calls;
    const perp_hash hash = perp_sim_hash(sim);
    assert_int_equal(perp_sim_step(sim, &error), PERP_STATUS_CANCELLED); /* by the law, before it */
    assert_int_equal(perp_sim_steps(sim), 6);
    assert_true(perp_sim_hash(sim).value == hash.value);
    perp_sim_free(sim);
    close_world(&w);
}

/* ---- energy -------------------------------------------------------------------------------------------------------
 */

/* Against 1/2 v'M v, and the fall of the centre of mass. */
static void test_energy(void **state)
{
    (void)state;
    world w = open_world("arm-reach", "dyn-ncp");
    perp_sim *sim = create(w.model);
    perp_kinematics *kinematics;
    good(perp_kinematics_create(w.model, NULL, &kinematics, &error));
    double *packed = calloc((size_t)w.model->mass_size, sizeof *packed);
    double *mass = calloc((size_t)(w.model->nv * w.model->nv), sizeof *mass);
    assert_true(packed && mass);
    for (int i = 0; i < 5; i++) {
        step(sim);
        const perp_state *s = perp_sim_state(sim);
        perp_kinematics_update(w.model, s->q, kinematics);
        perp_mass_matrix(w.model, kinematics, packed);
        perp_mass_matrix_expand(w.model, packed, mass);
        double kinetic = 0.0, gravity = 0.0;
        for (int k = 0; k < w.model->nv * w.model->nv; k++) {
            kinetic += 0.5 * s->v[k / w.model->nv] * mass[k] * s->v[k % w.model->nv];
        }
        for (int b = 0; b < w.model->body_count; b++) {
            gravity += w.model->links[b].mass * 9.81 * kinematics->com[b].z;
        }
        const perp_energy energy = perp_sim_energy(sim);
        NEAR(energy.kinetic, kinetic, 1e-12 * (1.0 + kinetic));
        NEAR(energy.gravity, gravity, 1e-9 * (1.0 + fabs(gravity)));
    }
    free(packed);
    free(mass);
    perp_kinematics_free(kinematics);
    perp_sim_free(sim);
    close_world(&w);
}

/* ---- memory -------------------------------------------------------------------------------------------------------
 */

static void keeps_to_its_memory(const world *w, int steps)
{
    failing_allocator f = {.grants = INT32_MAX};
    const perp_allocator allocator = allocator_of(&f);
    perp_sim_settings settings = perp_sim_settings_default();
    settings.allocator = &allocator;
    perp_sim *sim = NULL;
    good(perp_sim_create(w->model, &settings, &sim, &error));
    const int taken = go(sim, steps);
    const perp_hash hash = perp_sim_hash(sim);
    settings.memory = perp_sim_memory(sim);
    perp_sim_free(sim);
    assert_int_equal(f.standing, 0);

    good(perp_sim_create(w->model, &settings, &sim, &error));
    const int requests = f.requests;
    assert_int_equal(go(sim, steps), taken);
    assert_true(perp_sim_hash(sim).value == hash.value);
    assert_int_equal(f.requests, requests);
    perp_sim_free(sim);

    settings.memory = settings.memory / 4;
    perp_status status = perp_sim_create(w->model, &settings, &sim, &error);
    while (status == PERP_STATUS_OK && perp_sim_steps(sim) < steps) {
        status = perp_sim_step(sim, &error);
    }
    assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_CAPACITY ||
                (taken < steps && status != PERP_STATUS_OUT_OF_MEMORY));
    perp_sim_free(sim);
    assert_int_equal(f.standing, 0);
}

static void test_memory(void **state)
{
    (void)state;
    on_every_rung(keeps_to_its_memory);
}

static void test_contact_budget(void **state)
{
    (void)state;
    world w = open_world("cube-stack", "qs-qp");
    perp_sim_settings settings = perp_sim_settings_default();
    settings.max_contacts = 3;
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(w.model, &settings, &sim, &error), PERP_STATUS_CAPACITY);
    assert_null(sim);
    settings.size = 1;
    assert_int_equal(perp_sim_create(w.model, &settings, &sim, &error), PERP_STATUS_BAD_INPUT);
    close_world(&w);
}

/* Whatever request fails, nothing is kept. */
static void test_no_memory(void **state)
{
    (void)state;
    world w = open_world("pivot", "compliant");
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    for (int grants = 0; status != PERP_STATUS_OK; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        perp_sim_settings settings = perp_sim_settings_default();
        settings.allocator = &allocator;
        perp_sim *sim = NULL, *clone = NULL;
        status = perp_sim_create(w.model, &settings, &sim, &error);
        status = status == PERP_STATUS_OK ? perp_sim_step(sim, &error) : status;
        status = status == PERP_STATUS_OK ? perp_sim_clone(sim, &clone, &error) : status;
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
        perp_sim_free(clone);
        perp_sim_free(sim);
        assert_int_equal(f.standing, 0);
    }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_as_a_run),
        cmocka_unit_test(test_saves),
        cmocka_unit_test(test_saves_repeat),
        cmocka_unit_test(test_save_between_hundreds),
        cmocka_unit_test(test_saves_of_other_readings),
        cmocka_unit_test(test_positions_go_straight_to_their_command),
        cmocka_unit_test(test_springs_follow_their_command),
        cmocka_unit_test(test_driven_bodies_are_led),
        cmocka_unit_test(test_wrenches),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_rotations_of_driven_bodies_stay),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_laws_and_observers),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_contact_budget),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
