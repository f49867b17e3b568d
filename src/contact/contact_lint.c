/* contact_lint.c - what is allowed but looks unintended, as far as shapes and contacts tell.
 *
 * Bodies that penetrate at the start: deeper than DEEP_AT_START of the scene's size.
 *
 * The margin: a commanded body that covers more than it in one step meets what no contact warned of, and so do two of
 * them that come towards each other. A body's largest speed is taken at the corners of its shapes' boxes, at the run's
 * steps (at most 1000 of them, evenly spread); what counts is the sum of the two largest speeds of bodies that are not
 * welded together. It is not asked whether the two head for each other: that would take every pair of bodies, and most
 * commands turn around some day.
 *
 * Lengths in millimetres: a large part of a machine is below 5 m, so 5 "m" and more are believed of a body that moves
 * only if it is as heavy as foam (10 kg/m^3, planar 0.1 kg/m^2) and not above 100 t, which a density makes of it, and
 * of bodies without mass only if half of the scene's shapes are smaller. Fixed bodies may be large: floors and walls
 * are.
 *
 * Where contacts are springs: the default stiffness and gamma are meant for parts of 0.1 to 1 kg.
 *
 * Without inertia a body needs something that carries it in every step. Bodies that touch within the margin, or are
 * joined, are an island; it is carried if one of them is jointed, looped or locked, if a force acts on one, or if one
 * may touch a fixed or driven body that could push it up or hold it by friction. That errs on the silent side: the run
 * itself says exactly what is not held.
 */
#include "contact/contact_lint.h"
#include "contact/contact_private.h"
#include "contact/tolerances.h"
#include "scene/shape_kinds.h"

#include <stdio.h>
#include <string.h>

static const double large = 5.0;   /* m */
static const double heavy = 1.0e5; /* kg */

typedef struct lint {
    const perp_contact_model *contact_model;
    const perp_scene *scene;
    perp_diagnostics *diagnostics;
    perp_state state;
    perp_kinematics *kinematics;
    perp_contact_set *set;
    double *v;     /* nv */
    int *island;   /* body_count */
    bool *carried; /* body_count + 1; the last is of no island */
} lint;

/* ---- penetration ------------------------------------------------------------------------------------------------- */

static void report_penetration(const lint *l, const perp_contact *deepest)
{
    const bool place_at_b = l->contact_model->model->links[deepest->b].tree >= 0;
    const char *here = l->scene->bodies[place_at_b ? deepest->b : deepest->a].name;
    const char *there = l->scene->bodies[place_at_b ? deepest->a : deepest->b].name;
    char path[256];
    snprintf(path, sizeof path, "bodies.%s.pose", here);
    perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                      "`%s` begins %.3g m deep inside `%s`; move it out, or list the two in contacts.exclude", here,
                      -deepest->phi, there);
}

static void lint_penetration(const lint *l)
{
    const double tolerance = DEEP_AT_START * l->set->scene_size;
    for (int i = 0; i < l->set->count;) {
        const perp_contact *first = &l->set->contacts[i], *deepest = first;
        for (; i < l->set->count && l->set->contacts[i].a == first->a && l->set->contacts[i].b == first->b; i++) {
            deepest = l->set->contacts[i].phi < deepest->phi ? &l->set->contacts[i] : deepest;
        }
        if (deepest->phi < -tolerance) {
            report_penetration(l, deepest);
        }
    }
}

/* ---- margin ------------------------------------------------------------------------------------------------------ */

/* A number of two digits that is not below x. */
static double round_up(double x)
{
    const double unit = pow(10.0, floor(log10(x)) - 1.0);
    return unit * ceil(x / unit * (1.0 - TWO_DIGITS));
}

/* The pace that commands have at time t; false if they lead to no finite place. */
static bool pace_at(const lint *l, double t, contact_pace *p)
{
    const perp_model *model = l->contact_model->model;
    perp_prescribed_configuration(model, PERP_PRESCRIBE_POSITION_IMPEDANCE, t, l->state.q);
    for (int d = 0; d < model->nv; d++) {
        l->v[d] = 0.0;
    }
    perp_prescribed_velocity(model, PERP_PRESCRIBE_POSITION_IMPEDANCE, t, t + l->scene->run.h, l->v);
    perp_kinematics_update(model, l->state.q, l->kinematics);
    perp_kinematics_velocity(model, l->v, l->kinematics);
    if (perp_contact_place(l->set, l->kinematics, NULL) != PERP_STATUS_OK) {
        return false;
    }
    *p = perp_contact_pace(l->set, l->kinematics);
    return true;
}

static void report_margin(const lint *l, const contact_pace *p, double reach)
{
    const double h = l->scene->run.h, margin = l->scene->margin;
    const char *first = l->scene->bodies[p->first].name;
    if (p->second < 0) {
        perp_scene_report(
            l->scene, l->diagnostics, PERP_SEVERITY_WARNING, "contacts.margin",
            "`%s` moves up to %.3g m in one step of %g s, farther than the margin of %g m, so it can meet "
            "what is not listed yet; a margin of %g m would do",
            first, reach, h, margin, round_up(reach));
    } else {
        perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, "contacts.margin",
                          "`%s` and `%s` together move up to %.3g m in one step of %g s, farther than the margin of "
                          "%g m, so two bodies can meet that are not listed yet; a margin of %g m would do",
                          first, l->scene->bodies[p->second].name, reach, h, margin, round_up(reach));
    }
}

static void lint_margin(const lint *l)
{
    const perp_run_settings *run = &l->scene->run;
    const double steps = run->steps_set ? run->steps : floor(run->until / run->h + 0.5);
    const double samples = fmin(steps, fmax(20.0, fmin(1000.0, 1e6 / (l->contact_model->model->body_count + 1))));
    contact_pace most = {.first = -1, .second = -1}, now;
    for (int s = 0; s < samples && pace_at(l, floor(s * (steps / samples)) * run->h, &now); s++) {
        if (now.first_speed + now.second_speed > most.first_speed + most.second_speed) {
            most = now;
        }
    }
    const double reach = (most.first_speed + most.second_speed) * run->h;
    if (most.first >= 0 && isfinite(reach) && reach > l->scene->margin * (1.0 + REACH_AS_WRITTEN)) {
        report_margin(l, &most, reach);
    }
}

/* True where something that has a shape to meet others with is driven or commanded. */
static bool is_commanded(const perp_contact_model *cm)
{
    const perp_model *model = cm->model;
    for (int b = 0; b < model->body_count; b++) {
        const int *dofs;
        const int count = cm->part_start[b] < cm->part_start[b + 1] ? perp_body_dofs(model, b, &dofs) : 0;
        for (int k = 0; k < count; k++) {
            if (model->role[dofs[k]] != PERP_DOF_PASSIVE) {
                return true;
            }
        }
    }
    return false;
}

/* ---- millimetres ------------------------------------------------------------------------------------------------- */

/* The sides of the shape's own box, m; zero: a point or unbounded. */
static perp_vec3 shape_sides(const perp_shape *shape, bool planar)
{
    const perp_shape_traits *traits = perp_shape_traits_of(shape->kind);
    return traits->sides ? traits->sides(shape, planar) : perp_vec3_make(0.0, 0.0, 0.0);
}

static double shape_extent(const perp_shape *shape, bool planar)
{
    const perp_vec3 sides = shape_sides(shape, planar);
    return fmax(sides.x, fmax(sides.y, sides.z));
}

/* Mass over the volume (planar: area) of the shapes; 0 without mass, infinite without volume. Shapes that overlap count
 * twice, which errs on the light side by a factor that foam leaves room for. */
static double mean_density(const lint *l, int b)
{
    const perp_body *body = &l->scene->bodies[b];
    double volume = 0.0;
    for (int s = 0; s < body->shape_count; s++) {
        perp_mass_properties unit;
        if (perp_shape_mass_properties(&body->shapes[s], l->scene->planar, &unit) == PERP_STATUS_OK) {
            volume += unit.mass;
        }
    }
    return l->contact_model->model->links[b].mass / volume;
}

typedef struct lengths {
    int shapes, small;      /* bounded ones, and of those the ones below `large` */
    int light, light_shape; /* the largest shape of a moving body with an unlikely weight; -1: none */
    int bare, bare_shape;   /* the largest shape of a body without mass */
    bool believed;          /* some large moving body has a likely weight */
} lengths;

static void look_at_body(const lint *l, int b, lengths *all, double *light_extent, double *bare_extent)
{
    const perp_body *body = &l->scene->bodies[b];
    const double mass = l->contact_model->model->links[b].mass;
    const double foam = l->scene->planar ? 0.1 : 10.0;
    for (int s = 0; s < body->shape_count; s++) {
        const double extent = shape_extent(&body->shapes[s], l->scene->planar);
        if (extent <= 0.0) {
            continue;
        }
        all->shapes++;
        all->small += extent < large;
        if (extent < large) {
            continue;
        }
        const bool weighed = body->kind != PERP_BODY_FIXED && mass > 0.0;
        if (weighed && mean_density(l, b) >= foam && (l->scene->planar || mass <= heavy)) {
            all->believed = true;
        } else if (weighed && extent > *light_extent) {
            *light_extent = extent;
            all->light = b;
            all->light_shape = s;
        } else if (!weighed && extent > *bare_extent) {
            *bare_extent = extent;
            all->bare = b;
            all->bare_shape = s;
        }
    }
}

static void lint_lengths(const lint *l)
{
    lengths all = {.light = -1, .bare = -1};
    double light_extent = 0.0, bare_extent = 0.0;
    for (int b = 0; b < l->scene->body_count; b++) {
        look_at_body(l, b, &all, &light_extent, &bare_extent);
    }
    char path[256];
    if (all.light >= 0 && !all.believed) {
        snprintf(path, sizeof path, "bodies.%s.shapes.%d", l->scene->bodies[all.light].name, all.light_shape);
        perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                          "`%s` is %g m large and weighs %.2g kg (%.2g %s); lengths are in metres: were millimetres "
                          "meant?",
                          l->scene->bodies[all.light].name, light_extent,
                          l->contact_model->model->links[all.light].mass, mean_density(l, all.light),
                          l->scene->planar ? "kg/m^2" : "kg/m^3");
    } else if (all.bare >= 0 && !all.believed && 2 * all.small < all.shapes) {
        snprintf(path, sizeof path, "bodies.%s.shapes.%d", l->scene->bodies[all.bare].name, all.bare_shape);
        perp_scene_report(
            l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
            "`%s` is %g m large, and %d of the scene's %d shapes are %g m or more; lengths are in metres: were "
            "millimetres meant?",
            l->scene->bodies[all.bare].name, bare_extent, all.shapes - all.small, all.shapes, large);
    }
}

/* ---- compliance -------------------------------------------------------------------------------------------------- */

/* The shortest side of a body's bounded shapes; infinite: it has none. */
static double thickness(const lint *l, int b)
{
    const perp_body *body = &l->scene->bodies[b];
    double least = INFINITY;
    for (int s = 0; s < body->shape_count; s++) {
        const perp_vec3 sides = shape_sides(&body->shapes[s], l->scene->planar);
        const double shortest = fmin(sides.x, l->scene->planar ? sides.y : fmin(sides.y, sides.z));
        least = shortest > 0.0 ? fmin(least, shortest) : least;
    }
    return least;
}

/* The least mu > 0 of its shapes; infinite: it is smooth. */
static double least_friction(const lint *l, int b)
{
    const perp_contact_model *cm = l->contact_model;
    double least = INFINITY;
    for (int i = cm->part_start[b]; i < cm->part_start[b + 1]; i++) {
        least = cm->parts[i].friction > 0.0 ? fmin(least, cm->parts[i].friction) : least;
    }
    return least;
}

/* What `c` makes of a body that rests on one contact point; `said` of gamma and of the depth. */
static void lint_body(const lint *l, int b, double mu, const perp_compliance *c, const char *key, bool said[2])
{
    static const double WIDER = 0.01, DEEP = 0.05; /* of mu times the weight; of the thickness */
    const double weight = l->contact_model->model->links[b].mass * perp_vec3_norm(l->scene->gravity);
    const int elements = l->scene->planar ? c->elements : c->elements * c->elements, n = l->scene->planar ? 2 : 3;
    const double stiffness = c->stiffness.values[0] / c->stiffness_scale * (c->stiffness.count == n * n ? 1 : elements);
    const double share = c->gamma / (mu * weight), depth = weight / stiffness, wall = thickness(l, b);
    const char *const name = l->scene->bodies[b].name;
    char path[512];
    if (share > WIDER && isfinite(mu) && !said[0]) {
        snprintf(path, sizeof path, "%s.gamma", key);
        perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                          "gamma of %g N widens the friction cone by more than 1 %%: `%s` weighs %.2g N, and mu times "
                          "that is %.2g N; 0 is Coulomb's own",
                          c->gamma, name, weight, mu * weight);
        said[0] = true;
    }
    if (depth > DEEP * wall && c->law == PERP_LAW_KELVIN_VOIGT && !said[1]) {
        snprintf(path, sizeof path, "%s.stiffness", key);
        perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                          "`%s` weighs %.2g N and sinks in by %.2g m on one contact point, and is %.2g m thick; a "
                          "stiffness of %.2g N/m would make that 1 %%",
                          name, weight, depth, wall, 100.0 * c->stiffness.values[0] * depth / wall);
        said[1] = true;
    }
}

/* Does it float? */
static bool floats(const lint *l, int b)
{
    return l->scene->bodies[b].kind == PERP_BODY_FREE && l->contact_model->model->links[b].joint < 0;
}

/* Does it float, with a weight that something has to carry? */
static bool falls(const lint *l, int b)
{
    const perp_link *link = &l->contact_model->model->links[b];
    const perp_vec3 g = l->scene->gravity;
    const bool down = ((link->components & PERP_COMPONENT_X) && g.x != 0.0) ||
                      ((link->components & PERP_COMPONENT_Y) && g.y != 0.0) ||
                      ((link->components & PERP_COMPONENT_Z) && g.z != 0.0);
    return floats(l, b) && link->mass > 0.0 && down;
}

/* Has it a weight that contacts have to carry? */
static bool weighs(const lint *l, int b)
{
    return falls(l, b) && l->contact_model->part_start[b] < l->contact_model->part_start[b + 1];
}

/* A patch is a square of `size` about each contact point: what is beyond the body carries no force, and the springs
 * are fewer than they seem. */
static void lint_patch(const lint *l, int b, const perp_compliance *c, const char *key, bool *said)
{
    const perp_body *body = &l->scene->bodies[b];
    double extent = 0.0;
    for (int s = 0; s < body->shape_count; s++) {
        extent = fmax(extent, shape_extent(&body->shapes[s], l->scene->planar));
    }
    if (*said || !floats(l, b) || c->elements < 2 || extent <= 0.0 || c->size <= extent) {
        return;
    }
    char path[512];
    snprintf(path, sizeof path, "%s.size", key);
    perp_scene_report(l->scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                      "a patch of %g m is larger than `%s`, which is %.3g m: elements beyond it carry nothing; a size "
                      "of %.2g m would be a tenth of it",
                      c->size, body->name, extent, 0.1 * extent);
    *said = true;
}

/* Springs so soft that bodies sink in visibly, and a gamma that is not small: each once for the scene's own values, and
 * once for every pair's, whose bodies are not looked at with the scene's. */
static void lint_compliance(const lint *l)
{
    bool said[2] = {false, false}, patch = false;
    for (int b = 0; b < l->scene->body_count; b++) {
        bool own = false;
        for (int p = 0; p < l->scene->pair_count; p++) {
            const perp_pair *pair = &l->scene->pairs[p];
            own = own || (pair->compliance_set && (pair->body_a == b || pair->body_b == b));
        }
        if (!own && weighs(l, b)) {
            lint_body(l, b, least_friction(l, b), &l->scene->compliance, "compliance", said);
        }
        if (!own) {
            lint_patch(l, b, &l->scene->compliance, "compliance", &patch);
        }
    }
    for (int p = 0; p < l->scene->pair_count; p++) {
        const perp_pair *pair = &l->scene->pairs[p];
        const int bodies[2] = {pair->body_a, pair->body_b};
        char key[300];
        snprintf(key, sizeof key, "contacts.pairs.%s %s.compliance", pair->a, pair->b);
        said[0] = said[1] = patch = false;
        for (int i = 0; i < 2 && pair->compliance_set; i++) {
            const double mu = pair->friction.set ? pair->friction.value : least_friction(l, bodies[i]);
            if (weighs(l, bodies[i])) {
                lint_body(l, bodies[i], mu > 0.0 ? mu : INFINITY, &pair->compliance, key, said);
            }
            lint_patch(l, bodies[i], &pair->compliance, key, &patch);
        }
    }
}

/* ---- balance ----------------------------------------------------------------------------------------------------- */

/* Could contact c carry what moves of it, if the other side stands? */
static bool could_carry(const lint *l, const perp_contact *c, const int *island)
{
    if ((island[c->a] < 0) == (island[c->b] < 0)) {
        return false;
    }
    const double up = -perp_vec3_dot(c->normal, l->scene->gravity) * (island[c->b] >= 0 ? 1.0 : -1.0);
    return c->friction > 0.0 || up > 0.0;
}

/* By island: is there anything that may carry it? */
static void find_carried(const lint *l, const int *island, bool *carried)
{
    const perp_scene *scene = l->scene;
    for (int i = 0; i < l->set->count; i++) {
        const perp_contact *c = &l->set->contacts[i];
        if (could_carry(l, c, island)) {
            carried[island[c->a] >= 0 ? island[c->a] : island[c->b]] = true;
        }
    }
    for (int b = 0; b < scene->body_count; b++) {
        if (island[b] >= 0 && !falls(l, b)) {
            carried[island[b]] = true;
        }
    }
    for (int i = 0; i < scene->force_count; i++) {
        const int b = scene->forces[i].body_index;
        carried[b >= 0 && island[b] >= 0 ? island[b] : scene->body_count] = true;
    }
    for (int i = 0; i < scene->loop_count; i++) {
        const int ends[2] = {scene->loops[i].body_a, scene->loops[i].body_b};
        for (int k = 0; k < 2; k++) {
            carried[ends[k] >= 0 && island[ends[k]] >= 0 ? island[ends[k]] : scene->body_count] = true;
        }
    }
}

static void lint_air(const lint *l)
{
    const perp_scene *scene = l->scene;
    int first = -1, count = 0;
    perp_contact_islands(l->set, INFINITY, l->island);
    memset(l->carried, 0, ((size_t)scene->body_count + 1) * sizeof *l->carried);
    find_carried(l, l->island, l->carried);
    for (int b = 0; b < scene->body_count; b++) {
        if (falls(l, b) && l->island[b] >= 0 && !l->carried[l->island[b]]) {
            first = count++ == 0 ? b : first;
        }
    }
    if (count == 0) {
        return;
    }
    char path[256], more[40] = "";
    snprintf(path, sizeof path, "bodies.%s.pose", scene->bodies[first].name);
    if (count > 1) {
        snprintf(more, sizeof more, " (and %d more)", count - 1);
    }
    perp_scene_report(scene, l->diagnostics, PERP_SEVERITY_WARNING, path,
                      "`%s`%s is in the air: nothing within the margin of %g m carries its %.3g N, and model `%s` has "
                      "no inertia to let it fall; begin in contact, or take quasidynamic or dyn-ncp",
                      scene->bodies[first].name, more, scene->margin,
                      l->contact_model->model->links[first].mass * perp_vec3_norm(scene->gravity), scene->run.model);
}

/* On a support nothing but the given load presses. */
static void lint_supports(const lint *l)
{
    const perp_scene *scene = l->scene;
    const double gravity = perp_vec3_norm(scene->gravity);
    for (int b = 0; b < scene->body_count && gravity > 0.0; b++) {
        if (scene->bodies[b].support.set) {
            perp_scene_report(scene, l->diagnostics, PERP_SEVERITY_WARNING, "gravity",
                              "`%s` has a `support`, so the scene is seen from above, and gravity of %g m/s^2 acts in "
                              "its plane; on a level table it is [0, 0]",
                              scene->bodies[b].name, gravity);
            return;
        }
    }
}

/* Seen from above there is a table below the plane, and friction with it is what a pushed part feels most. */
static void lint_seen_from_above(const lint *l)
{
    const perp_scene *scene = l->scene;
    if (!scene->planar || perp_vec3_norm(scene->gravity) > 0.0) {
        return;
    }
    for (int b = 0; b < scene->body_count; b++) {
        bool loaded = false;
        for (int i = 0; i < scene->force_count; i++) {
            loaded = loaded || scene->forces[i].body_index == b;
        }
        if (!loaded && !scene->bodies[b].support.set && floats(l, b) &&
            l->contact_model->part_start[b] < l->contact_model->part_start[b + 1]) {
            perp_scene_report(scene, l->diagnostics, PERP_SEVERITY_WARNING, "gravity",
                              "without gravity in the plane nothing resists the sliding of `%s`, and model `%s` has no "
                              "inertia, so that the least motion is taken; for a table below it give the body a "
                              "`support: {friction: 0.4}`, or take quasidynamic or dyn-ncp",
                              scene->bodies[b].name, scene->run.model);
            return;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

static perp_status begin(lint *l, const perp_allocator *allocator, perp_error *error)
{
    const perp_model *model = l->contact_model->model;
    const perp_allocator from = allocator ? *allocator : perp_allocator_default();
    perp_status status = perp_state_create(model, &from, &l->state, error);
    if (status == PERP_STATUS_OK) {
        status = perp_kinematics_create(model, &from, &l->kinematics, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_contact_set_create(l->contact_model, NULL, &from, &l->set, error);
    }
    if (status == PERP_STATUS_OK) {
        const size_t bodies = (size_t)model->body_count + 1;
        l->v = from.allocate(from.context, ((size_t)model->nv + 1) * sizeof *l->v);
        l->island = l->v ? from.allocate(from.context, bodies * sizeof *l->island) : NULL;
        l->carried = l->island ? from.allocate(from.context, bodies * sizeof *l->carried) : NULL;
        status = l->carried ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    }
    return status;
}

static void finish(lint *l, const perp_allocator *allocator)
{
    const perp_allocator from = allocator ? *allocator : perp_allocator_default();
    void *const blocks[] = {l->v, l->island, l->carried};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (blocks[i]) {
            from.release(from.context, blocks[i]);
        }
    }
    perp_contact_set_free(l->set);
    perp_kinematics_free(l->kinematics);
    perp_state_free(&l->state);
}

perp_status perp_contact_lint(const perp_contact_model *contact_model, const perp_contact_lint_rung *rung,
                              const perp_allocator *allocator, perp_diagnostics *diagnostics)
{
    const perp_model *model = contact_model->model;
    lint l = {.contact_model = contact_model, .scene = model->scene, .diagnostics = diagnostics};
    perp_error error = {.status = PERP_STATUS_OK};
    perp_status status = begin(&l, allocator, &error);
    if (status == PERP_STATUS_OK) {
        perp_kinematics_update(model, l.state.q, l.kinematics);
        status = perp_contact_set_build(l.set, l.kinematics, &error);
    }
    if (status == PERP_STATUS_OK) {
        lint_penetration(&l);
        if (rung->balance) { /* before the margin's samples move the bodies */
            lint_air(&l);
        }
        if (rung->steps && is_commanded(contact_model)) {
            lint_margin(&l);
        }
    } else if (status != PERP_STATUS_OUT_OF_MEMORY) {
        perp_scene_report(l.scene, diagnostics, PERP_SEVERITY_ERROR, error.path[0] ? error.path : "contacts",
                          "at the start: %s", error.message);
    }
    if (status != PERP_STATUS_OUT_OF_MEMORY) {
        lint_lengths(&l);
        lint_supports(&l);
        if (rung->compliant) {
            lint_compliance(&l);
        }
        if (rung->balance) {
            lint_seen_from_above(&l);
        }
    }
    finish(&l, allocator);
    return status;
}
