/* Saves tell simulations apart by every number of their scene: each number of a text that has all keys is changed, one
 * after the other, and whatever is still a scene refuses the save of the first. */
#include <ctype.h>
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

/* Numbers behind `perp`, `until` and `threads` change no bit of a simulation. */
static const char SPATIAL[] =
    "perp: 1\n"
    "gravity: [0.1, 0.2, -9.81]\n"
    "bodies:\n"
    "  floor: {fixed: true, pose: {position: [0.1, 0.2, -0.3], rpy: [0.1, 0.2, 0.3]}, shapes: [{plane: {normal: [0.1, "
    "0.2, 1.5], offset: -5.0}}]}\n"
    "  belt: {driven: {x: {offset: 0.1, rate: 0.2, sines: [{amplitude: 0.3, omega: 0.4, phase: 0.5}]}, rz: {times: "
    "[0.1, "
    "0.4], values: [0.3, 0.4], interpolate: cubic}}, shapes: [{hole: {radius: 0.5, length: 0.7}, pose: {position: "
    "[0.1, "
    "7.0, 0.3]}}]}\n"
    "  ball: {density: 100.0, pose: {position: [0.1, -7.0, 0.3]}, velocity: {linear: [0.1, 0.2, 0.3], angular: [0.4, "
    "0.5, 0.6]}, shapes: [{sphere: 0.1, density: 200.0, friction: 0.3, pose: {position: [0.1, 0.2, 0.3]}}, {box: [0.1, "
    "0.2, 0.3], pose: {rpy: [0.1, 0.2, 0.3]}}, {capsule: {radius: 0.1, length: 0.2}}, {cylinder: {radius: 0.1, length: "
    "0.2}}, {ellipsoid: [0.1, 0.2, 0.3]}]}\n"
    "  arm: {mass: 2.0, inertia: [0.2, 0.3, 0.4, 0.01, 0.02, 0.03], com: [0.1, 0.2, 0.3], pose: {position: [0.1, 0.2, "
    "5.0]}}\n"
    "  hand: {mass: 1.0, inertia: [0.2, 0.3, 0.4]}\n"
    "  gem: {density: 100.0, pose: {position: [9.0, 0.2, 0.3]}, shapes: [{mesh: {points: [[0.1, 0.2, 0.3], [1.1, 0.2, "
    "0.3], [0.1, 1.2, 0.3], [0.1, 0.2, 1.3]], scale: 0.5}}]}\n"
    "joints:\n"
    "  a: {type: screw, parent: world, child: arm, anchor: [0.1, 0.2, 0.3], axis: [0.1, 0.2, 0.3], limits: [-9.0, "
    "9.0], "
    "position: 0.3, velocity: 0.4, pitch: 0.01, control: impedance, stiffness: 10.0, damping: 2.0, armature: 0.3, "
    "effort: 50.0, command: {offset: 0.1, rate: 0.2}}\n"
    "  b: {type: revolute, parent: arm, child: hand, anchor: [0.1, 0.2, 0.3], axis: [0.1, 0.2, 0.3], mimic: {joint: a, "
    "ratio: 2.0, offset: 0.1}}\n"
    "forces:\n"
    "  - {body: ball, point: [0.1, 0.2, 0.3], force: [0.1, {offset: 0.2, rate: 0.1}, 0.3], torque: [0.1, 0.2, 0.3]}\n"
    "contacts:\n"
    "  margin: 0.01\n"
    "  friction: 0.4\n"
    "  pairs: {\"floor ball\": {friction: 0.2, friction_directions: [[0.1, 0.2, 0.3]], tangent: [0.1, 0.2, 0.3], "
    "restitution: 0.1, compliance: {stiffness: 20000.0}}}\n"
    "compliance: {stiffness: [10000.0, 9000.0, 8000.0], damping: [10.0, 9.0, 8.0], elements: 2, size: 0.02, gamma: "
    "0.001, stiffness_scale: 2.0}\n"
    "run: {model: compliant, h: 0.001, tolerance: 1.0e-7, substep_tolerance: 0.5}\n";

static const char PLANAR[] =
    "perp: 1\n"
    "planar: true\n"
    "gravity: [0.1, -9.81]\n"
    "bodies:\n"
    "  floor: {fixed: true, pose: {position: [0.1, 0.2], angle: 0.3}, shapes: [{halfplane: {normal: [0.1, 0.2], "
    "offset: "
    "-9.0}}]}\n"
    "  part: {density: 100.0, velocity: {linear: [0.1, 0.2], angular: 0.3}, shapes: [{polygon: [[0.1, 0.1], [1.1, "
    "0.1], "
    "[0.6, 0.9]], pose: {position: [0.1, 0.2], angle: 0.3}}, {disc: 0.2}], "
    "support: {friction: 0.3}}\n"
    "  one: {mass: 1.0, inertia: 0.2, com: [0.1, 0.2], pose: {position: [6.1, 0.2], angle: 0.1}, support: {friction: "
    "0.3, normal: 2.0, points: [[0.1, 0.2, 0.5], [0.3, 0.4, 0.5]]}}\n"
    "  two: {mass: 1.0, inertia: 0.2, pose: {position: [8.1, 0.2]}}\n"
    "joints:\n"
    "  a: {type: revolute, parent: world, child: one, anchor: [6.1, 0.2], control: torque, effort: 3.0, command: 1.5}\n"
    "  b: {type: prismatic, parent: world, child: two, axis: [0.1, 0.2], damping: 0.1}\n"
    "tendons: {cord: {joints: {a: 0.02, b: -0.05}, length: 0.0}}\n"
    "run: {model: dyn-lcp, h: 0.001, rays: 6, time_scale: 0.5}\n";

static const char SMOOTHED[] = "perp: 1\nplanar: true\nbodies: {disc: {mass: 1.0, shapes: [{disc: 0.2}]}}\n"
                               "run: {model: quasidynamic, smoothing: 0.01}\n";

static const char LOOPED[] =
    "perp: 1\nplanar: true\nbodies: {a: {mass: 1.0, inertia: 0.2}, b: {mass: 1.0, inertia: 0.2}}\n"
    "loops: {pin: {type: point, a: a, b: b, anchor_a: [0.1, 0.2], anchor_b: [0.1, 0.2]}}\n"
    "run: {model: dyn-ncp}\n";

typedef struct world {
    perp_scene *scene;
    perp_model *model;
    perp_sim *sim;
} world;

static bool open_text(const char *text, world *w)
{
    perp_diagnostics diagnostics = {0};
    perp_scene_load_options options = {0};
    perp_error error;
    memset(w, 0, sizeof *w);
    return perp_scene_load_text(text, strlen(text), "test", NULL, &options, &w->scene, &diagnostics) ==
               PERP_STATUS_OK &&
           perp_model_build(w->scene, NULL, &w->model, &error) == PERP_STATUS_OK &&
           perp_sim_create(w->model, NULL, &w->sim, &error) == PERP_STATUS_OK;
}

static void close_world(world *w)
{
    perp_sim_free(w->sim);
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

/* 1: another simulation, which refused the save; 0: it took it; -1: this is no scene. */
static int refuses(const char *text, const void *bytes, size_t size)
{
    world w;
    perp_error error;
    int answer = -1;
    if (open_text(text, &w)) {
        answer = perp_sim_restore(w.sim, bytes, size, &error) == PERP_STATUS_BAD_INPUT;
    }
    close_world(&w);
    return answer;
}

static bool starts_number(const char *text, const char *at)
{
    const char *digit = at + (*at == '-');
    return isdigit((unsigned char)*digit) && at > text && strchr(" [", at[-1]) != NULL;
}

static void every_number_counts(const char *text)
{
    world w;
    assert_true(open_text(text, &w));
    const size_t size = perp_sim_save(w.sim, NULL, 0), length = strlen(text);
    void *bytes = malloc(size);
    char *changed = malloc(length + 64);
    assert_true(bytes && changed);
    perp_sim_save(w.sim, bytes, size);
    assert_int_equal(refuses(text, bytes, size), 0);
    int numbers = 0;
    for (const char *at = text + strlen("perp: 1"); *at; at++) {
        if (!starts_number(text, at)) {
            continue;
        }
        char *end;
        const double value = strtod(at, &end);
        const double others[] = {value + 0.0625, value - 0.0625, 1.25 * value, 0.75 * value, value + 2.0};
        int answer = -1;
        for (size_t k = 0; k < sizeof others / sizeof *others && answer < 0; k++) {
            const int head = (int)(at - text);
            snprintf(changed, length + 64, "%.*s%.17g%s", head, text, others[k], end);
            answer = refuses(changed, bytes, size);
        }
        if (answer != 1) {
            fail_msg("%s: %.60s", answer == 0 ? "this number does not count" : "no other number will do", at);
        }
        numbers++;
        at = end - 1;
    }
    assert_true(numbers > 0);
    free(changed);
    free(bytes);
    close_world(&w);
}

static void test_every_number_counts(void **state)
{
    (void)state;
    every_number_counts(SPATIAL);
    every_number_counts(PLANAR);
    every_number_counts(SMOOTHED);
    every_number_counts(LOOPED);
}

/* What is a word: each of the first becomes the second. */
static void test_words_count(void **state)
{
    (void)state;
    static const char *const words[][3] = {
        {SPATIAL, "cubic", "linear"},
        {SPATIAL, "gem: {", "Gem: {"},
        {SPATIAL, "margin: 0.01", "exclude: [[ball, belt]]"},
        {SPATIAL, "gamma: 0.001", "law: hunt-crossley"},
        {SPATIAL, "gamma: 0.001", "tangential: rigid"},
        {SPATIAL, "effort: 50.0", "gravity_compensation: true"},
        {SPATIAL, "torque: [", "frame: body, torque: ["},
        {SPATIAL, "gem: {", "gem: {free: [x, y, z], "},
        {SPATIAL, "{sphere: 0.1", "{name: tip, sphere: 0.1"},
        {PLANAR, "rays: 6", "prediction: taylor"},
        {PLANAR, "control: torque, effort: 3.0", "control: velocity"},
        {LOOPED, "type: point", "type: weld"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *text = words[i][0], *at = strstr(text, words[i][1]);
        assert_non_null(at);
        char changed[8000];
        world w;
        assert_true(open_text(text, &w));
        const size_t size = perp_sim_save(w.sim, NULL, 0);
        void *bytes = malloc(size);
        assert_non_null(bytes);
        perp_sim_save(w.sim, bytes, size);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, words[i][2], at + strlen(words[i][1]));
        if (refuses(changed, bytes, size) != 1) {
            fail_msg("`%s` instead of `%s`: %d", words[i][2], words[i][1], refuses(changed, bytes, size));
        }
        free(bytes);
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number_counts),
        cmocka_unit_test(test_words_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
