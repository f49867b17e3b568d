/* Validity of rigidity, against the full-order model (full_order.h): bodies at rest on planes that pass beneath them,
 * in equilibrium with loads that put a given force on every contact. Some contacts slide, some roll, with or without
 * springs along the surface.
 *
 *   D            is what pushing at the contacts of the judge's model does, to 1e-9
 *   p_matrix     is true where all principal minors are positive
 *   stable       says whether a disturbance of the full-order model decays
 *   valid        is both of a state that the rigid model has one answer for; `invalid` lacks one of the three
 *
 * States whose damping is within 1 % (of c^2/k) of where the full-order model changes, and those in which it does not
 * tell within 120,000 steps, are counted and not judged. */
#include "full_order.h"
#include "sweep.h"

#include <perp/perp.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 6000, PLANAR_ROD = 0, TWO_WALLS, MIXED, PINNED, TRIPOD, FAMILIES };
enum { VALID, NOT_P, UNSTABLE, SEVERAL, BORDERLINE, UNKNOWN, ON_BOUNDARY };

static const double D_ERROR = 1e-9;

typedef struct rigidity_scene {
    perp_random random;
    full_model m;
    double centre[FULL_BODIES][3]; /* world */
    bool rigid_tangents;
    char text[TEXT];
    int length;
} rigidity_scene;

static double between(rigidity_scene *s, double low, double high)
{
    return perp_random_uniform(&s->random, low, high);
}

static bool chance(rigidity_scene *s, double of)
{
    return between(s, 0.0, 1.0) < of;
}

static void put(rigidity_scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(rigidity_scene *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    s->length += vsnprintf(s->text + s->length, (size_t)(TEXT - s->length), format, arguments);
    va_end(arguments);
    if (s->length >= TEXT) {
        fprintf(stderr, "sweep_rigidity: a text is too long\n");
        exit(2);
    }
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* The frame of a contact as the scene format has it. */
static void put_frame(const rigidity_scene *s, full_contact *c)
{
    const double *n = c->normal;
    if (s->m.planar) {
        const double t[3] = {n[1], -n[0], 0.0};
        memcpy(c->tangent[0], t, sizeof t);
        return;
    }
    const perp_vec3 normal = perp_vec3_make(n[0], n[1], n[2]);
    const perp_vec3 e = fabs(n[0]) > 0.9 ? perp_vec3_make(0.0, 1.0, 0.0) : perp_vec3_make(1.0, 0.0, 0.0);
    const perp_vec3 along = perp_vec3_add_scaled(e, -perp_vec3_dot(e, normal), normal);
    const perp_vec3 t = perp_vec3_scale(1.0 / perp_vec3_norm(along), along), o = perp_vec3_cross(normal, t);
    const double both[2][3] = {{t.x, t.y, t.z}, {o.x, o.y, o.z}};
    memcpy(c->tangent, both, sizeof both);
}

static void draw_contact(rigidity_scene *s, full_contact *c, bool rolls)
{
    const double angle = between(s, 0.0, 6.283185307);
    c->kind = !rolls ? FULL_SLIDES : s->rigid_tangents ? FULL_ROLLS_RIGID : FULL_ROLLS;
    c->mu = between(s, rolls ? 0.8 : 0.0, 2.5);
    c->slip[0] = s->m.planar ? (chance(s, 0.5) ? 1.0 : -1.0) : cos(angle);
    c->slip[1] = s->m.planar ? 0.0 : sin(angle);
    c->fn = between(s, 0.5, 4.0);
    for (int k = 0; k < (s->m.planar ? 1 : 2) && rolls; k++) {
        c->ft[k] = between(s, -0.4, 0.4) * c->mu * c->fn;
    }
}

/* A place on a body, and a plane there that the rest of the body is on the right side of. */
static void draw_place(rigidity_scene *s, full_contact *c, double angle)
{
    const double turn = between(s, -0.9, 0.9), reach = between(s, 0.5, 1.2);
    if (s->m.planar) {
        c->place[0] = reach * cos(angle);
        c->place[1] = reach * sin(angle);
        c->normal[0] = -cos(angle + turn);
        c->normal[1] = -sin(angle + turn);
    } else {
        const double height = between(s, 0.3, 0.9), tilt = between(s, 0.0, 0.6);
        const double place[3] = {reach * cos(angle), reach * sin(angle), -height};
        const double normal[3] = {-sin(tilt) * cos(angle + turn), -sin(tilt) * sin(angle + turn), cos(tilt)};
        memcpy(c->place, place, sizeof place);
        memcpy(c->normal, normal, sizeof normal);
    }
    put_frame(s, c);
}

static void draw_materials(rigidity_scene *s)
{
    const double kappa = pow(10.0, between(s, -2.5, 0.7)), along = between(s, 0.2, 2.0);
    const double k = 1.0, damping = sqrt(kappa * k), share = chance(s, 0.5) ? along : between(s, 0.1, 3.0);
    for (int i = 0; i < s->m.contact_count; i++) {
        full_contact *c = &s->m.contacts[i];
        c->stiffness[0] = k;
        c->stiffness[1] = along * k;
        c->damping[0] = damping;
        c->damping[1] = share * damping; /* often in proportion */
    }
}

static void draw_bodies(rigidity_scene *s, int count)
{
    s->m.body_count = count;
    for (int i = 0; i < count; i++) {
        s->m.mass[i] = between(s, 0.5, 2.0);
        for (int k = 0; k < 3; k++) { /* a body's: the largest is less than the others together */
            s->m.inertia[i][k] = between(s, 0.2, 0.35) * s->m.mass[i];
        }
        s->m.inertia[i][2] = s->m.planar ? between(s, 0.1, 0.6) * s->m.mass[i] : s->m.inertia[i][2];
    }
}

static void draw_model(rigidity_scene *s, int family)
{
    full_model *m = &s->m;
    const double first = between(s, 0.0, 6.283185307);
    m->planar = family != TRIPOD;
    s->rigid_tangents = family != MIXED && family != TRIPOD ? true : chance(s, 0.3);
    m->pinned = family == PINNED;
    draw_bodies(s, family == PINNED ? 2 : 1);
    m->contact_count = family == PLANAR_ROD ? 1 : family == TRIPOD ? 1 + (int)(perp_random_bits(&s->random) % 3) : 2;
    for (int i = 0; i < m->contact_count; i++) {
        full_contact *c = &m->contacts[i];
        c->body = family == PINNED ? i : 0;
        draw_contact(s, c, (family == MIXED && i == 1) || (family == TRIPOD && i > 0 && chance(s, 0.4)));
        draw_place(s, c, first + (m->planar ? between(s, 1.5, 4.5) : 2.0943951) * i);
    }
    if (m->pinned) {
        for (int k = 0; k < 2; k++) {
            m->pin[0][k] = between(s, -0.8, 0.8);
            m->pin[1][k] = between(s, -0.8, 0.8);
            s->centre[1][k] = m->pin[0][k] - m->pin[1][k];
        }
    }
    draw_materials(s);
}

/* ---- as a scene -------------------------------------------------------------------------------------------------- */

static void put_vector(rigidity_scene *s, const double v[3])
{
    put(s, s->m.planar ? "[%.17g, %.17g" : "[%.17g, %.17g, %.17g", v[0], v[1], v[2]);
    put(s, "]");
}

static void put_plane(rigidity_scene *s, int i)
{
    const full_contact *c = &s->m.contacts[i];
    const double *centre = s->centre[c->body];
    double velocity[3], offset = 0.0;
    for (int k = 0; k < 3; k++) {
        offset += c->normal[k] * (centre[k] + c->place[k]);
        velocity[k] =
            c->kind == FULL_SLIDES ? -0.5 * (c->slip[0] * c->tangent[0][k] + c->slip[1] * c->tangent[1][k]) : 0.0;
    }
    put(s, "  plane%d: {driven: {x: {rate: %.17g}, y: {rate: %.17g}", i, velocity[0], velocity[1]);
    if (!s->m.planar) {
        put(s, ", z: {rate: %.17g}", velocity[2]);
    }
    put(s, "}, shapes: [{%s: {normal: ", s->m.planar ? "halfplane" : "plane");
    put_vector(s, c->normal);
    put(s, ", offset: %.17g}}]}\n", offset);
}

/* Body 1 of two is the child of a joint: its origin is the pin. */
static void put_body(rigidity_scene *s, int body)
{
    const full_model *m = &s->m;
    const bool child = m->pinned && body == 1;
    put(s, "  body%d: {mass: %.17g, inertia: ", body, m->mass[body]);
    if (m->planar) {
        put(s, "%.17g", m->inertia[body][2]);
    } else {
        put_vector(s, m->inertia[body]);
    }
    const double com[3] = {child ? -m->pin[1][0] : 0.0, child ? -m->pin[1][1] : 0.0, 0.0};
    put(s, ", com: ");
    put_vector(s, com);
    put(s, ", shapes: [");
    for (int i = 0, count = 0; i < m->contact_count; i++) {
        const full_contact *c = &m->contacts[i];
        if (c->body == body) {
            const double at[3] = {c->place[0] + com[0], c->place[1] + com[1], c->place[2] + com[2]};
            put(s, "%s{point: {}, pose: {position: ", count++ > 0 ? ", " : "");
            put_vector(s, at);
            put(s, "}}");
        }
    }
    put(s, "]}\n");
}

static void put_loads(rigidity_scene *s)
{
    put(s, "forces:\n");
    for (int i = 0; i < s->m.body_count; i++) {
        const bool child = s->m.pinned && i == 1;
        const double com[3] = {child ? -s->m.pin[1][0] : 0.0, child ? -s->m.pin[1][1] : 0.0, 0.0};
        double force[3], moment[3];
        full_order_load(&s->m, i, force, moment);
        put(s, "  - {body: body%d, point: ", i);
        put_vector(s, com);
        put(s, ", force: ");
        put_vector(s, force);
        put(s, ", torque: ");
        if (s->m.planar) {
            put(s, "%.17g", moment[2]);
        } else {
            put_vector(s, moment);
        }
        put(s, "}\n");
    }
}

static void write_scene(rigidity_scene *s)
{
    const full_model *m = &s->m;
    const full_contact *any = &m->contacts[0];
    put(s, "perp: 1\nplanar: %s\ngravity: %s\nbodies:\n", m->planar ? "true" : "false",
        m->planar ? "[0, 0]" : "[0, 0, 0]");
    for (int i = 0; i < m->contact_count; i++) {
        put_plane(s, i);
    }
    for (int i = 0; i < m->body_count; i++) {
        put_body(s, i);
    }
    if (m->pinned) {
        put(s, "joints: {pin: {type: revolute, parent: body0, child: body1, anchor: [%.17g, %.17g]}}\n", m->pin[0][0],
            m->pin[0][1]);
    }
    put_loads(s);
    put(s, "contacts:\n  margin: 1e-4\n  pairs:\n");
    for (int i = 0; i < m->contact_count; i++) {
        put(s, "    plane%d body%d: {friction: %.17g}\n", i, m->contacts[i].body, m->contacts[i].mu);
    }
    const char *comma = "";
    put(s, "  exclude: [");
    for (int a = 0; a < m->contact_count; a++) {
        for (int b = 0; b < a; b++) {
            put(s, "%s[plane%d, plane%d]", comma, b, a);
            comma = ", ";
        }
        for (int b = 0; b < m->body_count; b++) {
            if (b != m->contacts[a].body) {
                put(s, "%s[plane%d, body%d]", comma, a, b);
                comma = ", ";
            }
        }
    }
    put(s, "]\ncompliance: {stiffness: [%.17g, %.17g, %.17g], damping: [%.17g, %.17g, %.17g], tangential: %s}\n",
        any->stiffness[0], any->stiffness[1], any->stiffness[1], any->damping[0], any->damping[1], any->damping[1],
        s->rigid_tangents ? "rigid" : "compliant");
    put(s, "run: {model: instant, rays: 16}\n");
}

/* Every place touches its own plane alone, and the others' from the right side, by more than a little. */
static bool is_clear(const rigidity_scene *s)
{
    const full_model *m = &s->m;
    for (int i = 0; i < m->contact_count; i++) {
        for (int k = 0; k < m->contact_count; k++) {
            const full_contact *plane = &m->contacts[i], *other = &m->contacts[k];
            double gap = 0.0;
            for (int j = 0; j < 3; j++) {
                gap += plane->normal[j] * (other->place[j] - plane->place[j]);
            }
            if (i != k && plane->body == other->body && gap < 0.02) {
                return false;
            }
        }
    }
    return true;
}

static void draw(uint64_t seed, int index, rigidity_scene *s)
{
    *s = (rigidity_scene){.random = {sweep_mix(seed, index)}};
    do {
        memset(&s->m, 0, sizeof s->m);
        draw_model(s, index % FAMILIES);
    } while (!is_clear(s));
    write_scene(s);
}

/* ---- the judge --------------------------------------------------------------------------------------------------- */

static double determinant(int n, double a[FULL_CONTACTS][FULL_CONTACTS])
{
    if (n == 0) {
        return 1.0;
    }
    double sum = 0.0;
    for (int k = 0; k < n; k++) { /* along the first row */
        double minor[FULL_CONTACTS][FULL_CONTACTS];
        for (int i = 1; i < n; i++) {
            for (int j = 0, to = 0; j < n; j++) {
                if (j != k) {
                    minor[i - 1][to++] = a[i][j];
                }
            }
        }
        sum += (k % 2 == 0 ? 1.0 : -1.0) * a[0][k] * determinant(n - 1, minor);
    }
    return sum;
}

/* The least principal minor. */
static double least_minor(int n, double d[FULL_CONTACTS][FULL_CONTACTS])
{
    double least = INFINITY;
    for (int set = 1; set < 1 << n; set++) {
        double a[FULL_CONTACTS][FULL_CONTACTS];
        int rows[FULL_CONTACTS], count = 0;
        for (int i = 0; i < n; i++) {
            if (set >> i & 1) {
                rows[count++] = i;
            }
        }
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < count; k++) {
                a[i][k] = d[rows[i]][rows[k]];
            }
        }
        least = fmin(least, determinant(count, a));
    }
    return least;
}

/* Which contact of the model is contact i of D. */
static int find_contact(const perp_analysis *a, int i)
{
    const perp_contact *c = &a->contacts[a->rigidity.contacts[i]].contact;
    return atoi(a->model->scene->bodies[c->a].name + strlen("plane"));
}

static bool says(const perp_analysis *a, const char *words)
{
    bool found = false;
    for (int i = 0; i < a->reason_count; i++) {
        found = found || strstr(a->reasons[i].text, words);
    }
    return found;
}

static void check_matrix(const rigidity_scene *s, const perp_analysis *a, sweep_case *result)
{
    const perp_rigidity *r = &a->rigidity;
    double d[FULL_CONTACTS][FULL_CONTACTS] = {{0.0}};
    full_order_push(&s->m, d);
    if (r->count != s->m.contact_count) {
        sweep_fail(result, "D speaks of %d contacts of %d", r->count, s->m.contact_count);
        return;
    }
    for (int i = 0; i < r->count; i++) {
        for (int k = 0; k < r->count; k++) {
            const double want = d[find_contact(a, i)][find_contact(a, k)], found = r->D[i * r->count + k];
            if (!(fabs(want - found) <= D_ERROR * (1.0 + fabs(want)))) {
                sweep_fail(result, "D[%d][%d] is %.12g and not %.12g", i, k, found, want);
            }
        }
    }
    const double least = least_minor(r->count, d);
    if (fabs(least) > D_ERROR && r->p_matrix != (least > 0.0 ? PERP_ANSWER_YES : PERP_ANSWER_NO)) {
        sweep_fail(result, "p_matrix is wrong: the least principal minor is %.3g", least);
    }
}

/* False: within 1 % of where it changes, or it does not tell. */
static bool check_stability(const rigidity_scene *s, const perp_analysis *a, sweep_case *result)
{
    const perp_rigidity *r = &a->rigidity;
    const full_fate fate = full_order_run(&s->m, 1.0, 1);
    const full_fate said = r->stable == PERP_ANSWER_YES ? FULL_DECAYS : FULL_GROWS;
    if (fate == said) {
        return true;
    }
    const full_fate less = full_order_run(&s->m, sqrt(0.99), 2), more = full_order_run(&s->m, sqrt(1.01), 3);
    if (fate == FULL_UNDECIDED || less != fate || more != fate) {
        return false;
    }
    sweep_fail(result, "stable is %s, but the full-order model %s (kappa %.6g, kappa_min %.6g)",
               r->stable == PERP_ANSWER_YES ? "true" : "false", fate == FULL_GROWS ? "grows" : "decays", r->kappa,
               r->has_kappa_min ? r->kappa_min : -1.0);
    return true;
}

static bool has_rolling(const full_model *m)
{
    bool any = false;
    for (int i = 0; i < m->contact_count; i++) {
        any = any || m->contacts[i].kind != FULL_SLIDES;
    }
    return any;
}

static int kind_of(const perp_analysis *a)
{
    const perp_rigidity *r = &a->rigidity;
    switch (r->verdict) {
    case PERP_VERDICT_VALID:
        return VALID;
    case PERP_VERDICT_BORDERLINE:
        return BORDERLINE;
    case PERP_VERDICT_INVALID:
        return says(a, "more than one answer") ? SEVERAL : r->p_matrix == PERP_ANSWER_NO ? NOT_P : UNSTABLE;
    default:
        return UNKNOWN;
    }
}

static void judge(const rigidity_scene *s, const perp_analysis *a, sweep_case *result)
{
    const perp_rigidity *r = &a->rigidity;
    result->kind = kind_of(a);
    if (result->kind == SEVERAL && has_rolling(&s->m)) {
        return; /* D is that of one of them, in which what rolls here may slide */
    }
    check_matrix(s, a, result);
    if (result->failed || r->stable == PERP_ANSWER_UNKNOWN) {
        return;
    }
    if (!check_stability(s, a, result)) {
        result->kind = ON_BOUNDARY;
        return;
    }
    const bool sound = r->p_matrix == PERP_ANSWER_YES && r->stable == PERP_ANSWER_YES;
    const bool good = r->verdict == PERP_VERDICT_VALID     ? sound
                      : r->verdict == PERP_VERDICT_INVALID ? !sound || result->kind == SEVERAL
                                                           : true;
    if (!good) {
        sweep_fail(result, "the verdict does not follow from what it rests on");
    }
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static rigidity_scene s;
    static perp_diagnostics diagnostics;
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_sim *sim = NULL;
    perp_analysis *analysis = NULL;
    perp_error error = {0};
    perp_analyze_options options = perp_analyze_options_default();
    options.certificates = PERP_CERTIFY_RIGIDITY;
    memset(&diagnostics, 0, sizeof diagnostics);
    draw(seed, index, &s);
    perp_status status = perp_scene_load_text(s.text, (size_t)s.length, "drawn", NULL, NULL, &scene, &diagnostics);
    if (status != PERP_STATUS_OK) {
        perp_diagnostics_first_error(&diagnostics, status, &error);
    }
    status = status == PERP_STATUS_OK ? perp_model_build(scene, NULL, &model, &error) : status;
    status = status == PERP_STATUS_OK ? perp_sim_create(model, NULL, &sim, &error) : status;
    status = status == PERP_STATUS_OK ? perp_analyze(sim, &options, &analysis, &error) : status;
    if (status != PERP_STATUS_OK) {
        sweep_fail(result, "no analysis: %s", error.message);
    } else {
        judge(&s, analysis, result);
    }
    perp_analysis_free(analysis);
    perp_sim_free(sim);
    perp_model_free(model);
    perp_scene_free(scene);
}

static void show(uint64_t seed, int index)
{
    static rigidity_scene s;
    draw(seed, index, &s);
    fputs(s.text, stdout);
}

const sweep the_sweep = {
    .name = "rigidity",
    .checks =
        "validity of rigidity at random states of five scenes (a rod on a floor, between two walls, with one end "
        "rolling on springs or rigid, two bodies on a pin, a body in space on one to three planes): D is what pushing "
        "does, to 1e-9, P-matrix by all minors, and forces are stable where a disturbance of the full-order model, "
        "integrated, decays; within 1 % of where that changes is not judged",
    .full = 500,
    .sample = 25,
    .chunk = 25,
    .kinds = {"valid", "no P-matrix", "unstable", "several answers", "borderline", "unknown", "on the boundary"},
    .run = run,
    .show = show,
};
