/* What a simulation is after something was refused or has failed: as it was before. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene_yaml.h>
#include <perp/sim.h>

typedef struct world {
    perp_scene *scene;
    perp_model *model;
} world;

static perp_error error;

static void good(perp_status status)
{
    if (status != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

/* `source` is the name of an example, or YAML text (anything with a line break). */
static world open_world(const char *source, const char *model)
{
    static perp_diagnostics diagnostics;
    world w = {0};
    char setting[64], path[512];
    snprintf(setting, sizeof setting, "run.model=%s", model ? model : "");
    snprintf(path, sizeof path, "%s/examples/%.100s/scene.yaml", PERP_SOURCE_DIR, source);
    const char *const settings[] = {setting};
    const perp_scene_load_options options = {.settings = settings, .setting_count = model ? 1 : 0};
    memset(&diagnostics, 0, sizeof diagnostics);
    if (strchr(source, '\n')) {
        perp_scene_load_text(source, strlen(source), "test", NULL, &options, &w.scene, &diagnostics);
    } else {
        perp_scene_load_file(path, &options, &w.scene, &diagnostics);
    }
    if (!w.scene) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    good(perp_model_build(w.scene, NULL, &w.model, &error));
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
    good(perp_sim_create(model, NULL, &sim, &error));
    return sim;
}

/* ---- failed steps -------------------------------------------------------------------------------------------------
 */

enum { MOST = 32 };

static void read_commands(const world *w, const perp_sim *sim, double *commands)
{
    for (int j = 0; j < w->scene->joint_count; j++) {
        commands[j] = perp_sim_command(sim, j);
    }
}

/* Every joint to its command and a jump; every drive at a rate. */
static void lead(const world *w, perp_sim *sim, const double *commands, double jump)
{
    for (int j = 0; j < w->scene->joint_count; j++) {
        perp_sim_set_command(sim, j, commands[j] + jump, NULL); /* refused where there is no control */
    }
    for (int b = 0; b < w->scene->body_count; b++) {
        for (unsigned k = 0; k < 6 && w->scene->bodies[b].kind == PERP_BODY_DRIVEN; k++) {
            if (w->scene->bodies[b].driven_mask & (1u << k)) {
                good(perp_sim_set_drive_rate(sim, b, 1u << k, jump == 0.0 ? 0.01 : fmin(1e308, jump / w->scene->run.h),
                                             &error));
            }
        }
    }
}

static void same_places(const world *w, const perp_sim *sim, perp_kinematics *kinematics)
{
    perp_kinematics_update(w->model, perp_sim_state(sim)->q, kinematics);
    for (int b = 0; b < w->scene->body_count; b++) {
        const perp_pose pose = perp_sim_pose(sim, b);
        assert_memory_equal(&pose, &kinematics->pose[b], sizeof pose);
    }
}

/* After a step that fails the next one is that of a clone in which none has failed. */
static int fails_and_goes_on(const world *w, perp_sim *sim, double jump, perp_kinematics *kinematics)
{
    perp_sim *clone = NULL, *saved = NULL;
    double commands[MOST];
    const int contacts = perp_sim_info(sim)->contact_count, elements = perp_sim_info(sim)->element_count;
    good(perp_sim_clone(sim, &clone, &error));
    read_commands(w, sim, commands);
    lead(w, sim, commands, jump);
    const bool failed = perp_sim_step(sim, &error) != PERP_STATUS_OK;
    if (failed) {
        assert_int_equal(perp_sim_steps(sim), perp_sim_steps(clone));
        assert_memory_equal(perp_sim_state(sim)->q, perp_sim_state(clone)->q, (size_t)w->model->nq * sizeof(double));
        assert_int_equal(perp_sim_info(sim)->contact_count, contacts);
        assert_int_equal(perp_sim_info(sim)->element_count, elements);
        same_places(w, sim, kinematics);
        good(perp_sim_clone(sim, &saved, &error)); /* so is a save */
        perp_sim *const all[] = {sim, clone, saved};
        perp_status status[3];
        for (int i = 0; i < 3; i++) {
            lead(w, all[i], commands, 0.0);
            status[i] = perp_sim_step(all[i], NULL);
        }
        for (int i = 0; i < 3; i += 2) {
            assert_int_equal(status[i], status[1]);
            assert_true(perp_sim_hash(all[i]).value == perp_sim_hash(clone).value);
            assert_int_equal(perp_sim_info(all[i])->event_count, perp_sim_info(clone)->event_count);
        }
    }
    perp_sim_free(saved);
    perp_sim_free(clone);
    return failed;
}

static void test_failed_steps(void **state)
{
    (void)state;
    const char *const scenes[] = {"pusher-2d", "gripper-2d", "three-finger-grasp", "sphere-roll",
                                  "four-bar",  "pivot",      "tweezers-pawl",      "driven-fence"};
    const double jumps[] = {1e308, 0.3, -0.3, 0.05};
    int failed = 0, compliant = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        for (int k = 0; k < perp_rung_count(); k++) {
            const perp_rung *rung = perp_rung_at(k);
            perp_sim *sim = NULL;
            world w = open_world(scenes[i], rung->name);
            perp_kinematics *kinematics = NULL;
            assert_true(w.scene->joint_count <= MOST);
            good(perp_kinematics_create(w.model, NULL, &kinematics, &error));
            if (rung->step && perp_sim_create(w.model, NULL, &sim, NULL) == PERP_STATUS_OK) {
                for (int n = 0; n < 4 && perp_sim_step(sim, NULL) == PERP_STATUS_OK; n++) {
                    const int more = fails_and_goes_on(&w, sim, jumps[n], kinematics);
                    failed += more;
                    compliant += rung->takes & PERP_TAKES_COMPLIANCE ? more : 0;
                }
            }
            perp_sim_free(sim);
            perp_kinematics_free(kinematics);
            close_world(&w);
        }
    }
    assert_true(failed > 100 && compliant > 5); /* else nothing was tested */
}

/* ---- refusals -----------------------------------------------------------------------------------------------------
 */

static void test_settings_are_copied(void **state)
{
    (void)state;
    world w = open_world("pusher-2d", "qs-qp");
    char *name = malloc(8);
    assert_non_null(name);
    memcpy(name, "dyn-ncp", 8);
    perp_run_settings run = w.scene->run;
    run.model = name;
    perp_sim_settings settings = perp_sim_settings_default();
    settings.run = &run;
    perp_sim *sim = NULL, *clone = NULL;
    good(perp_sim_create(w.model, &settings, &sim, &error));
    memcpy(name, "unknown", 8);
    free(name);
    good(perp_sim_clone(sim, &clone, &error));
    good(perp_sim_step(clone, &error));
    perp_sim_free(clone);
    perp_sim_free(sim);
    close_world(&w);
}

static const char BALLS[] = "perp: 1\n"
                            "bodies:\n"
                            "  %s: {mass: %s, shapes: [{sphere: 0.1}], pose: {position: [0, 0, 1]}}\n"
                            "run: {model: dyn-ncp, h: 0.01, until: 1, prediction: %s}\n";

static world ball(const char *name, const char *mass, const char *prediction)
{
    char text[500];
    snprintf(text, sizeof text, BALLS, name, mass, prediction);
    return open_world(text, NULL);
}

static void test_saves_of_others(void **state)
{
    (void)state;
    world own = ball("ball", "1", "exact");
    world others[] = {ball("ball", "2", "exact"), ball("bell", "1", "exact"), ball("ball", "1", "taylor")};
    perp_sim *sim = create(own.model);
    const size_t size = perp_sim_save(sim, NULL, 0);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    perp_sim_save(sim, bytes, size);
    for (int i = 0; i < 3; i++) {
        perp_sim *other = create(others[i].model);
        const perp_hash hash = perp_sim_hash(other);
        assert_int_equal(perp_sim_restore(other, bytes, size, NULL), PERP_STATUS_BAD_INPUT);
        assert_true(perp_sim_hash(other).value == hash.value);
        perp_sim_free(other);
        close_world(&others[i]);
    }
    free(bytes);
    perp_sim_free(sim);
    close_world(&own);
}

static void test_states_and_forces_that_are_none(void **state)
{
    (void)state;
    world w = ball("ball", "1", "exact");
    perp_sim *sim = create(w.model);
    double q[7] = {0, 0, 1, 1, 0, 0, 0}, v[6] = {0};
    assert_int_equal(perp_sim_set_state(sim, 1e300, q, v, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "too large"));
    q[3] = 0.0;
    assert_int_equal(perp_sim_set_state(sim, 0.0, q, v, &error), PERP_STATUS_BAD_INPUT);
    q[3] = 1.1;
    assert_int_equal(perp_sim_set_state(sim, 0.0, q, v, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "`ball`"));
    const perp_vec3 much = {1e308, 0, 0}, none = {0, 0, 0}, at = {0, 0, 1};
    good(perp_sim_apply(sim, 0, at, much, none, &error));
    assert_int_equal(perp_sim_apply(sim, 0, at, much, none, &error), PERP_STATUS_BAD_INPUT);
    good(perp_sim_apply(sim, 0, at, (perp_vec3){-1e308, 0, 0}, none, &error));
    assert_int_equal(perp_sim_apply(sim, 0, (perp_vec3){0, 1e300, 0}, much, none, &error), PERP_STATUS_BAD_INPUT);
    good(perp_sim_step(sim, &error));
    assert_true(perp_sim_state(sim)->v[0] == 0.0 && fabs(perp_sim_state(sim)->v[2] + 0.0981) < 1e-15);
    perp_sim_free(sim);
    close_world(&w);
}

/* A rate goes on from a new state; a command is the new place. */
static void test_rates_go_on(void **state)
{
    (void)state;
    static const char text[] = "perp: 1\n"
                               "planar: true\n"
                               "bodies:\n"
                               "  a: {mass: 1}\n"
                               "  b: {mass: 1}\n"
                               "joints:\n"
                               "  ja: {type: prismatic, parent: world, child: a, axis: [1, 0], control: velocity}\n"
                               "  jb: {type: prismatic, parent: world, child: b, axis: [1, 0], control: position}\n"
                               "run: {model: kinematic, h: 0.01, until: 1}\n";
    world w = open_world(text, NULL);
    perp_sim *sim = create(w.model);
    good(perp_sim_set_command(sim, 0, 2.0, &error));
    good(perp_sim_set_command(sim, 1, 0.5, &error));
    good(perp_sim_step(sim, &error));
    const double q[2] = {3.0, 4.0}, v[2] = {0.0, 0.0};
    good(perp_sim_set_state(sim, 0.0, q, v, &error));
    good(perp_sim_step(sim, &error));
    assert_true(fabs(perp_sim_state(sim)->q[0] - 3.02) < 1e-15 && perp_sim_state(sim)->q[1] == 4.0);
    assert_true(perp_sim_command(sim, 0) == 2.0 && perp_sim_command(sim, 1) == 4.0);
    perp_sim_free(sim);
    close_world(&w);
}

/* Memory that a state needs and does not get is said once, there. */
static void test_memory_refused_outside_a_step(void **state)
{
    (void)state;
    enum { DISCS = 60 };
    char text[DISCS * 100 + 300] = "perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n";
    for (int i = 0; i < DISCS; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  d%d: {mass: 1, shapes: [{disc: 0.1}], pose: {position: [%d, 0]}}\n", i, i);
    }
    strcat(text, "run: {model: qs-qp, h: 0.01, until: 1}\n");
    world w = open_world(text, "kinematic");
    perp_sim_settings settings = perp_sim_settings_default();
    perp_sim *sim = create(w.model);
    good(perp_sim_step(sim, &error));
    settings.memory = perp_sim_memory(sim);
    perp_sim_free(sim);
    good(perp_sim_create(w.model, &settings, &sim, &error));
    double q[3 * DISCS] = {0}, v[3 * DISCS] = {0};
    for (int i = 0; i < DISCS; i++) {
        q[3 * i] = 0.2 * i;
    }
    assert_int_equal(perp_sim_set_state(sim, 0.0, q, v, &error), PERP_STATUS_CAPACITY);
    for (int i = 0; i < DISCS; i++) {
        q[3 * i] = i;
    }
    good(perp_sim_set_state(sim, 0.0, q, v, &error));
    good(perp_sim_step(sim, &error));
    perp_sim_free(sim);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_steps),    cmocka_unit_test(test_settings_are_copied),
        cmocka_unit_test(test_saves_of_others), cmocka_unit_test(test_states_and_forces_that_are_none),
        cmocka_unit_test(test_rates_go_on),     cmocka_unit_test(test_memory_refused_outside_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
