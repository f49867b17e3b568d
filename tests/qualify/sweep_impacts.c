/* Random impacts: what contacts do in a step takes energy out of it. Bodies in random poses and motions, free or in
 * mechanisms of two, meet a floor and each other; the step begins with all gaps >= 0 and has no driven body, spring or
 * restitution. Then
 *
 *     v+' M v+  <=  v_free' M v_free,     M at the step's begin, v_free of the same step without contacts:
 *
 * forces r >= 0 at gaps do the work r (u_n - phi / h) <= 0 on v+ and friction never a positive one. The scene without
 * contacts is the same text with every pair of bodies excluded. */
#include <perp/perp.h>
#include <perp/scene_yaml.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

enum { MAX_BODIES = 6, MAX_TEXT = 8000, DRAWS = 1000 };

typedef struct impact {
    char text[MAX_TEXT]; /* the scene but for `exclude` and `run` */
    int length;
    int bodies; /* floor included */
    char names[2 * MAX_BODIES + 1][16];
    bool planar;
    double h;
} impact;

static void put(impact *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(impact *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    s->length += vsnprintf(s->text + s->length, (size_t)(MAX_TEXT - s->length), format, arguments);
    va_end(arguments);
}

static int pick(perp_random *random, int count)
{
    return (int)(perp_random_bits(random) % (uint64_t)count);
}

static void put_shape(impact *s, perp_random *random)
{
    const double a = perp_random_uniform(random, 0.02, 0.08), b = perp_random_uniform(random, 0.02, 0.12);
    const int kind = pick(random, s->planar ? 4 : 5);
    static const char *const planar[] = {"disc: %.6f", "box: [%.6f, %.6f]", "capsule: {radius: %.6f, length: %.6f}",
                                         "polygon: [[%.6f, 0], [0, %.6f], [-0.03, -0.02]]"};
    static const char *const spatial[] = {"sphere: %.6f", "box: [%.6f, %.6f, 0.05]",
                                          "capsule: {radius: %.6f, length: %.6f}",
                                          "cylinder: {radius: %.6f, length: %.6f}", "ellipsoid: [%.6f, %.6f, 0.04]"};
    char shape[120];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(shape, sizeof shape, s->planar ? planar[kind] : spatial[kind], a, b);
#pragma GCC diagnostic pop
    put(s, "    shapes: [{%s}]\n", shape);
}

static void put_free_body(impact *s, perp_random *random, int i)
{
    const double x = perp_random_uniform(random, -0.2, 0.2), y = perp_random_uniform(random, -0.2, 0.2);
    const double z = perp_random_uniform(random, 0.03, 0.3);
    double v[6];
    for (int k = 0; k < 6; k++) {
        v[k] = k < 3 ? perp_random_uniform(random, -3.0, 3.0) : perp_random_uniform(random, -15.0, 15.0);
    }
    snprintf(s->names[s->bodies], sizeof *s->names, "b%d", i);
    put(s, "  %s:\n    mass: %.6f\n", s->names[s->bodies++], perp_random_uniform(random, 0.1, 3.0));
    if (s->planar) {
        put(s, "    pose: {position: [%.6f, %.6f], angle: %.6f}\n", x, z, perp_random_uniform(random, -3.0, 3.0));
        put(s, "    velocity: {linear: [%.6f, %.6f], angular: %.6f}\n", v[0], v[1] - 2.0, v[5]);
    } else {
        put(s, "    pose: {position: [%.6f, %.6f, %.6f], rpy: [%.6f, %.6f, 0.3]}\n", x, y, z,
            perp_random_uniform(random, -3.0, 3.0), perp_random_uniform(random, -1.5, 1.5));
        put(s, "    velocity: {linear: [%.6f, %.6f, %.6f], angular: [%.6f, %.6f, %.6f]}\n", v[0], v[1], v[2] - 2.0,
            v[3], v[4], v[5]);
    }
    put_shape(s, random);
}

/* Every third body or so carries another one on a hinge. */
static void put_children(impact *s, perp_random *random, int free_bodies)
{
    char joints[1500];
    int length = 0;
    joints[0] = '\0';
    for (int i = 0; i < free_bodies; i++) {
        if (pick(random, 3) != 0) {
            continue;
        }
        snprintf(s->names[s->bodies], sizeof *s->names, "c%d", i);
        put(s, "  %s:\n    mass: 0.4\n", s->names[s->bodies++]);
        put_shape(s, random);
        length += snprintf(
            joints + length, sizeof joints - (size_t)length,
            "  j%d: {type: revolute, parent: b%d, child: c%d, anchor: [0.1, 0.05%s], velocity: %.6f%s}\n", i, i, i,
            s->planar ? "" : ", 0", perp_random_uniform(random, -9.0, 9.0), s->planar ? "" : ", axis: [0.2, 1, 0.4]");
    }
    if (length > 0) {
        put(s, "joints:\n%s", joints);
    }
}

static void draw(impact *s, perp_random *random)
{
    *s = (impact){.planar = pick(random, 3) == 0, .h = pow(10.0, perp_random_uniform(random, -3.0, -1.5))};
    const int count = 1 + pick(random, MAX_BODIES - 1);
    put(s, "perp: 1\nplanar: %s\n", s->planar ? "true" : "false");
    put(s, "bodies:\n  floor: {fixed: true, shapes: [{%s}]}\n",
        s->planar ? "halfplane: {normal: [0.1, 1], offset: 0}" : "plane: {normal: [0, 0.1, 1], offset: 0}");
    snprintf(s->names[s->bodies++], sizeof *s->names, "floor");
    for (int i = 0; i < count; i++) {
        put_free_body(s, random, i);
    }
    put_children(s, random, count);
    put(s, "contacts:\n  friction: %.6f\n", pick(random, 8) == 0 ? 0.0 : perp_random_uniform(random, 0.0, 1.2));
}

typedef struct outcome {
    perp_status status;
    perp_error error;
    double energy; /* of v+ with M at the begin */
    double gap;    /* the smallest at the begin */
    bool touched;
} outcome;

static bool note_gap(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    outcome *o = context;
    (void)state;
    for (int i = 0; i < info->contact_count; i++) {
        if (step == 0) {
            o->gap = fmin(o->gap, info->contacts[i].contact.phi);
        }
        o->touched = o->touched || info->contacts[i].mode != PERP_CONTACT_OPEN;
    }
    return step > 0 || o->gap >= 0.0;
}

static double energy_of(const perp_model *model, const double *q, const double *v)
{
    perp_kinematics *kinematics = NULL;
    double *mass = calloc((size_t)model->mass_size + 1, sizeof *mass), energy = 0.0;
    if (mass && perp_kinematics_create(model, NULL, &kinematics, NULL) == PERP_STATUS_OK) {
        perp_kinematics_update(model, q, kinematics);
        perp_mass_matrix(model, kinematics, mass);
    }
    for (int k = 0; k < model->tree_count && mass; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = 0; i < tree->v_count * tree->v_count; i++) {
            energy += 0.5 * mass[tree->mass_start + i] * v[tree->v_start + i / tree->v_count] *
                      v[tree->v_start + i % tree->v_count];
        }
    }
    perp_kinematics_free(kinematics);
    free(mass);
    return energy;
}

static const struct {
    const char *model, *cone;
} RUNGS[] = {
    {"dyn-lcp", "rays"}, {"dyn-ncp", "quadratic"}, {"dyn-ncp", "box"}, {"dyn-qp", "rays"}, {"dyn-qp", "quadratic"}};
enum { RUNG_COUNT = sizeof RUNGS / sizeof *RUNGS };

static int scene_text(const impact *s, int rung, bool contacts, char *text, size_t size)
{
    int length = snprintf(text, size, "%s", s->text);
    if (!contacts) {
        length += snprintf(text + length, size - (size_t)length, "  exclude: [");
        for (int a = 0; a < s->bodies; a++) {
            for (int b = a + 1; b < s->bodies; b++) {
                length += snprintf(text + length, size - (size_t)length, "%s[%s, %s]", a + b > 1 ? ", " : "",
                                   s->names[a], s->names[b]);
            }
        }
        length += snprintf(text + length, size - (size_t)length, "]\n");
    }
    return length + snprintf(text + length, size - (size_t)length, "run: {model: %s, cone: %s, h: %.9f, steps: 1}\n",
                             RUNGS[rung].model, RUNGS[rung].cone, s->h);
}

static bool step_once(const impact *s, int rung, bool contacts, outcome *o)
{
    static perp_diagnostics diagnostics;
    static char text[2 * MAX_TEXT];
    const int length = scene_text(s, rung, contacts, text, sizeof text);
    const perp_scene_load_options options = {0};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state = {0};
    perp_run_result result = {0};
    *o = (outcome){.gap = INFINITY};
    memset(&diagnostics, 0, sizeof diagnostics);
    bool good =
        perp_scene_load_text(text, (size_t)length, "impact", NULL, &options, &scene, &diagnostics) == PERP_STATUS_OK &&
        perp_model_build(scene, NULL, &model, NULL) == PERP_STATUS_OK &&
        perp_state_create(model, NULL, &state, NULL) == PERP_STATUS_OK;
    double *q = good ? malloc((size_t)model->nq * sizeof *q) : NULL;
    good = good && q;
    if (good) {
        memcpy(q, state.q, (size_t)model->nq * sizeof *q);
        o->status = perp_run(model, &scene->run, NULL, note_gap, o, &state, &result, &o->error);
        o->energy = energy_of(model, q, state.v);
        perp_run_result_free(&result);
    }
    free(q);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    return good;
}

/* The first drawing whose bodies do not overlap. */
static bool find(uint64_t seed, int index, impact *s, outcome *o)
{
    perp_random random = {sweep_mix(seed, index)};
    for (int i = 0; i < DRAWS; i++) {
        draw(s, &random);
        if (!step_once(s, index % RUNG_COUNT, true, o)) {
            return false;
        }
        if (o->gap >= 0.0 && o->touched) {
            return true;
        }
        if (o->gap >= 0.0 && o->status != PERP_STATUS_OK) {
            return true;
        }
    }
    return false;
}

static void show(uint64_t seed, int index)
{
    static impact s;
    static char text[2 * MAX_TEXT];
    outcome o;
    find(seed, index, &s, &o);
    scene_text(&s, index % RUNG_COUNT, true, text, sizeof text);
    fputs(text, stdout);
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static impact s;
    outcome with, without;
    result->kind = index % RUNG_COUNT;
    if (!find(seed, index, &s, &with)) {
        sweep_fail(result, "no scene was drawn");
    } else if (with.status != PERP_STATUS_OK) {
        sweep_miss(result, "%s: %s", perp_status_name(with.status), with.error.message);
    } else if (!step_once(&s, index % RUNG_COUNT, false, &without) || without.status != PERP_STATUS_OK) {
        sweep_fail(result, "the step without contacts: %s", without.error.message);
    } else if (!(with.energy <= without.energy * (1.0 + 1e-9))) {
        sweep_fail(result, "kinetic energy %.17g J, without contacts %.17g J", with.energy, without.energy);
    }
}

const sweep the_sweep = {
    .name = "impacts",
    .checks =
        "random impacts of 1 .. 5 bodies and mechanisms on the dynamic rungs: the kinetic energy after the step is at "
        "most that of the step without contacts, to 1e-9 of it",
    .full = 100000,
    .sample = 200,
    .chunk = 2500,
    .kinds = {"dyn-lcp", "dyn-ncp", "dyn-ncp box", "dyn-qp rays", "dyn-qp quadratic"},
    .run = run,
    .show = show,
};
