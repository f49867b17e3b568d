/* perp_scene_validate: names, then bodies and joints, then what refers to them, then settings.
 *
 * Joints are linked to their bodies first, because what a body may state depends on whether a joint moves it. */
#include "base/mat3.h"
#include "scene/loop_links.h"
#include "scene/validator.h"
#include "scene/tolerances.h"

#include <stdio.h>
#include <string.h>

static bool is_world(const char *name)
{
    return !name || strcmp(name, "world") == 0;
}

/* The body whose name is nearest to a wrong one, if one is near; not sought for the thousandth wrong name. */
static const char *nearest_body(const validator *v, const char *name)
{
    perp_nearest nearest = perp_nearest_begin(name);
    for (int i = 0; i < v->scene->body_count && v->diagnostics->errors < PERP_DIAGNOSTICS_PER_SEVERITY; i++) {
        perp_nearest_offer(&nearest, v->scene->bodies[i].name);
    }
    return nearest.name;
}

/* Index of the body called `name`, -1 for the world if that is allowed, -2 after an error. */
static int resolve_body(validator *v, const char *key, const char *name, bool world_allowed)
{
    if (is_world(name)) {
        if (!world_allowed) {
            perp_validator_error(v, key, "%s%s%s must name a body%s", key ? "`" : "", key ? key : "this",
                                 key ? "`" : "", name ? ", not the world" : "");
        }
        return world_allowed ? -1 : -2;
    }
    const int index = perp_scene_find_body(v->scene, name);
    if (index < 0) {
        const char *nearest = nearest_body(v, name);
        perp_validator_error(v, key, "there is no body `%s`%s%s%s", name, nearest ? "; did you mean `" : "",
                             nearest ? nearest : "", nearest ? "`?" : "");
        return -2;
    }
    return index;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static void index_name(validator *v, perp_name_table *table, const char *kind, const char *name, int index)
{
    if (perp_name_table_add(table, name, index) != index) {
        const size_t mark = perp_validator_enter(v, "%s.%s", kind, name);
        perp_validator_error(v, NULL, "there are two %s called `%s`", kind, name);
        perp_validator_leave(v, mark);
    }
}

static void index_names(validator *v)
{
    perp_scene *scene = v->scene;
    struct perp_scene_memory *memory = scene->memory;
    perp_name_table loop_names, tendon_names;
    if (!perp_name_table_init(&memory->body_names, &memory->arena, (size_t)scene->body_count) ||
        !perp_name_table_init(&memory->joint_names, &memory->arena, (size_t)scene->joint_count) ||
        !perp_name_table_init(&loop_names, &memory->arena, (size_t)scene->loop_count) ||
        !perp_name_table_init(&tendon_names, &memory->arena, (size_t)scene->loop_count)) {
        v->out_of_memory = true;
        return;
    }
    for (int i = 0; i < scene->body_count; i++) {
        index_name(v, &memory->body_names, "bodies", scene->bodies[i].name, i);
    }
    for (int i = 0; i < scene->joint_count; i++) {
        index_name(v, &memory->joint_names, "joints", scene->joints[i].name, i);
    }
    for (int i = 0; i < scene->loop_count; i++) {
        const bool tendon = scene->loops[i].kind == PERP_LOOP_JOINTS;
        if (!scene->loops[i].mimic) { /* which has the name of its joint */
            index_name(v, tendon ? &tendon_names : &loop_names, tendon ? "tendons" : "loops", scene->loops[i].name, i);
        }
    }
}

/* A state lists free and driven bodies and joints by name, so those must differ; a body that a joint moves is not
 * listed and may share its joint's name. */
static void check_listed_names(validator *v)
{
    const perp_scene *scene = v->scene;
    for (int i = 0; i < scene->joint_count; i++) {
        const int body = perp_scene_find_body(scene, scene->joints[i].name);
        if (body >= 0 && scene->bodies[body].joint < 0 && scene->bodies[body].kind != PERP_BODY_FIXED) {
            const size_t mark = perp_validator_enter(v, "joints.%s", scene->joints[i].name);
            perp_validator_error(v, NULL, "a body that is not moved by a joint is also called `%s`; rename one of them",
                                 scene->joints[i].name);
            perp_validator_leave(v, mark);
        }
    }
}

/* ---- the tree -------------------------------------------------------------------------------------------------- */

static void link_joint(validator *v, int index)
{
    perp_scene *scene = v->scene;
    perp_joint *joint = &scene->joints[index];
    const size_t mark = perp_validator_enter(v, "joints.%s", joint->name);
    joint->parent_body = resolve_body(v, "parent", joint->parent, true);
    joint->child_body = resolve_body(v, "child", joint->child, false);
    v->child_lost = v->child_lost || joint->child_body < 0;
    if (joint->child_body >= 0) {
        perp_body *child = &scene->bodies[joint->child_body];
        if (joint->child_body == joint->parent_body) {
            perp_validator_error(v, "child", "a joint connects two different bodies");
            joint->child_body = -2;
            v->child_lost = true;
        } else if (child->joint >= 0 && child->joint != index) {
            perp_validator_error(v, "child",
                                 "`%s` is already the child of joint `%s`; close the loop with `loops:` instead",
                                 child->name, scene->joints[child->joint].name);
            joint->child_body = -2;
        } else if (child->kind != PERP_BODY_FREE || child->free_set) {
            perp_validator_error(v, "child", "`%s` is moved by this joint, so it cannot be %s too", child->name,
                                 child->kind == PERP_BODY_FIXED    ? "`fixed`"
                                 : child->kind == PERP_BODY_DRIVEN ? "`driven`"
                                                                   : "given `free` components");
        } else {
            child->joint = index;
        }
    }
    perp_validator_leave(v, mark);
}

/* Following parents from any body must end at the world or at a body without a joint. `seen` marks the walk that last
 * visited a body, so that every body is visited at most twice and a ring is reported once. */
static void check_cycles(validator *v)
{
    perp_scene *scene = v->scene;
    int *seen = PERP_ARENA_NEW(&scene->memory->arena, int, (size_t)scene->body_count);
    if (!seen) {
        v->out_of_memory = true;
        return;
    }
    for (int start = 0; start < scene->body_count; start++) {
        int body = start;
        while (body >= 0 && scene->bodies[body].joint >= 0 && seen[body] == 0) {
            seen[body] = start + 1;
            body = scene->joints[scene->bodies[body].joint].parent_body;
        }
        if (body >= 0 && scene->bodies[body].joint >= 0 && seen[body] == start + 1) {
            const perp_joint *joint = &scene->joints[scene->bodies[body].joint];
            const size_t mark = perp_validator_enter(v, "joints.%s", joint->name);
            perp_validator_error(v, "parent",
                                 "the joints form a ring through `%s`; a tree must start at the world or at a "
                                 "body without a joint (use `loops:` to close a chain)",
                                 scene->bodies[body].name);
            perp_validator_leave(v, mark);
        }
    }
}

static void validate_tree(validator *v)
{
    for (int i = 0; i < v->scene->body_count; i++) {
        v->scene->bodies[i].joint = -1;
    }
    for (int i = 0; i < v->scene->joint_count; i++) {
        link_joint(v, i);
    }
    check_cycles(v);
    check_listed_names(v);
}

/* ---- loops, forces, contacts ------------------------------------------------------------------------------------ */

static void validate_loop(validator *v, perp_loop *loop)
{
    if (loop->kind == PERP_LOOP_JOINTS) {
        if (!loop->mimic) {
            perp_validate_name(v, loop->name, "tendon");
        }
        perp_validate_terms(v, loop);
        return;
    }
    perp_validate_name(v, loop->name, "loop");
    if (loop->kind != PERP_LOOP_POINT && loop->kind != PERP_LOOP_WELD) {
        perp_validator_error(v, "type", "`type` must be `point` or `weld`");
    }
    loop->body_a = resolve_body(v, "a", loop->a, loop->a != NULL);
    loop->body_b = resolve_body(v, "b", loop->b, loop->b != NULL);
    if (loop->body_a == loop->body_b && loop->body_a > -2) {
        perp_validator_error(v, "b", "a loop closes between two different bodies");
    }
    perp_validate_vector(v, "anchor_a", loop->anchor_a);
    perp_validate_vector(v, "anchor_b", loop->anchor_b);
}

static void validate_force(validator *v, perp_force *force)
{
    force->body_index = resolve_body(v, "body", force->body, false);
    if (force->body_index >= 0 && v->scene->bodies[force->body_index].kind != PERP_BODY_FREE) {
        perp_validator_warning(v, "body", "a force on a %s body moves nothing",
                               v->scene->bodies[force->body_index].kind == PERP_BODY_FIXED ? "fixed" : "driven");
    }
    perp_validate_vector(v, "point", force->point);
    for (int i = 0; i < 3; i++) {
        char key[16];
        snprintf(key, sizeof key, "force.%d", i);
        perp_validate_drive(v, key, &force->force[i]);
        snprintf(key, sizeof key, "torque.%d", i);
        perp_validate_drive(v, key, &force->torque[i]);
    }
}

static void validate_tensor(validator *v, const char *key, const perp_tensor *tensor, bool may_vanish)
{
    const int n = v->scene->planar ? 2 : 3;
    if (tensor->count != 1 && tensor->count != n && tensor->count != n * n) {
        perp_validator_error(v, key, "write one number, %d numbers or a %d x %d matrix", n, n, n);
        return;
    }
    const bool matrix = tensor->count == n * n;
    for (int i = 0; i < tensor->count; i++) {
        const bool diagonal = !matrix || i % (n + 1) == 0;
        if (!isfinite(tensor->values[i]) || (diagonal && tensor->values[i] < 0.0) ||
            (diagonal && !may_vanish && tensor->values[i] == 0.0)) {
            perp_validator_error(v, key, "`%s` must be finite and %s", key, may_vanish ? "not negative" : "positive");
            return;
        }
    }
    for (int i = 0; matrix && i < n; i++) {
        for (int j = 0; j < i; j++) {
            const double a = tensor->values[n * i + j], b = tensor->values[n * j + i];
            if (fabs(a - b) > MATRIX_AS_WRITTEN * (fabs(a) + fabs(b))) {
                perp_validator_error(v, key, "`%s` must be symmetric, but entries (%d, %d) and (%d, %d) differ", key, i,
                                     j, j, i);
                return;
            }
        }
    }
    if (matrix) {
        perp_mat3 m = {{0}};
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                m.m[3 * i + j] = tensor->values[n * i + j];
            }
        }
        m.m[8] = n == 2 ? m.m[0] : m.m[8]; /* a harmless third eigenvalue in the plane */
        double values[3];
        perp_mat3_symmetric_eigen(&m, values, NULL);
        if (values[0] < (may_vanish ? -MATRIX_AS_WRITTEN : EIGENVALUE_ROUNDING) * values[2]) {
            perp_validator_error(v, key, "`%s` must be positive %s; its least eigenvalue is %g", key,
                                 may_vanish ? "semidefinite" : "definite", values[0]);
        }
    }
}

static void validate_compliance(validator *v, const perp_compliance *c)
{
    const size_t mark = perp_validator_enter(v, "compliance");
    validate_tensor(v, "stiffness", &c->stiffness, false);
    validate_tensor(v, "damping", &c->damping, true);
    if (c->elements < 1 || c->elements > 100) {
        perp_validator_error(v, "elements", "`elements` must lie between 1 and 100, but is %d", c->elements);
    }
    perp_validate_real(v, "size", c->size, RANGE_NOT_NEGATIVE);
    perp_validate_real(v, "gamma", c->gamma, RANGE_NOT_NEGATIVE);
    perp_validate_real(v, "stiffness_scale", c->stiffness_scale, RANGE_POSITIVE);
    perp_validator_leave(v, mark);
}

/* What a pair leaves unset it takes from the scene. */
static void inherit_compliance(perp_compliance *pair, const perp_compliance *scene)
{
    const unsigned set = pair->set;
    const perp_compliance own = *pair;
    *pair = *scene;
    pair->set = set;
    pair->stiffness = set & PERP_COMPLIANCE_STIFFNESS ? own.stiffness : pair->stiffness;
    pair->damping = set & PERP_COMPLIANCE_DAMPING ? own.damping : pair->damping;
    pair->elements = set & PERP_COMPLIANCE_ELEMENTS ? own.elements : pair->elements;
    pair->size = set & PERP_COMPLIANCE_SIZE ? own.size : pair->size;
    pair->law = set & PERP_COMPLIANCE_LAW ? own.law : pair->law;
    pair->tangential_rigid = set & PERP_COMPLIANCE_TANGENTIAL ? own.tangential_rigid : pair->tangential_rigid;
    pair->gamma = set & PERP_COMPLIANCE_GAMMA ? own.gamma : pair->gamma;
    pair->stiffness_scale = set & PERP_COMPLIANCE_SCALE ? own.stiffness_scale : pair->stiffness_scale;
}

/* Orders the two bodies as they are in the scene; false after an error. */
static bool resolve_two(validator *v, const char *a, const char *b, int *body_a, int *body_b)
{
    const int i = resolve_body(v, NULL, a, false);
    const int j = resolve_body(v, NULL, b, false);
    if (i < 0 || j < 0) {
        return false;
    }
    if (i == j) {
        perp_validator_error(v, NULL, "names the same body twice");
        return false;
    }
    *body_a = i < j ? i : j;
    *body_b = i < j ? j : i;
    return true;
}

static void validate_pair(validator *v, perp_pair *pair)
{
    pair->body_a = pair->body_b = -1;
    resolve_two(v, pair->a, pair->b, &pair->body_a, &pair->body_b);
    perp_validate_optional(v, "friction", pair->friction, RANGE_NOT_NEGATIVE);
    const bool fits = pair->direction_count >= 0 && pair->direction_count <= 2;
    if (!fits) {
        perp_validator_error(v, "friction_directions", "give one or two directions, not %d", pair->direction_count);
    }
    for (int i = 0; fits && i < pair->direction_count; i++) {
        char key[40];
        snprintf(key, sizeof key, "friction_directions.%d", i);
        perp_validate_direction(v, key, &pair->directions[i]);
    }
    if (pair->tangent_set) {
        perp_validate_direction(v, "tangent", &pair->tangent);
    }
    if (!(pair->restitution >= 0.0 && pair->restitution <= 1.0)) {
        perp_validator_error(v, "restitution", "`restitution` must lie between 0 and 1, but is %g", pair->restitution);
    }
    inherit_compliance(&pair->compliance, &v->scene->compliance);
    if (pair->compliance_set) {
        validate_compliance(v, &pair->compliance);
    }
}

static void validate_contacts(validator *v)
{
    perp_scene *scene = v->scene;
    validate_compliance(v, &scene->compliance);
    const size_t mark = perp_validator_enter(v, "contacts");
    perp_validate_real(v, "margin", scene->margin, RANGE_NOT_NEGATIVE);
    perp_validate_real(v, "friction", scene->friction, RANGE_NOT_NEGATIVE);
    for (int i = 0; i < scene->pair_count; i++) {
        perp_pair *pair = &scene->pairs[i];
        const size_t inner = perp_validator_enter(v, "pairs.%s %s", pair->a ? pair->a : "", pair->b ? pair->b : "");
        validate_pair(v, pair);
        for (int j = 0; j < i && pair->body_a >= 0; j++) {
            if (scene->pairs[j].body_a == pair->body_a && scene->pairs[j].body_b == pair->body_b) {
                perp_validator_error(v, NULL, "this pair was given before as `%s %s`", scene->pairs[j].a,
                                     scene->pairs[j].b);
                break;
            }
        }
        perp_validator_leave(v, inner);
    }
    for (int i = 0; i < scene->exclusion_count; i++) {
        const size_t inner = perp_validator_enter(v, "exclude.%d", i);
        perp_exclusion *e = &scene->exclusions[i];
        resolve_two(v, e->a, e->b, &e->body_a, &e->body_b);
        perp_validator_leave(v, inner);
    }
    perp_validator_leave(v, mark);
}

/* ---- run settings ----------------------------------------------------------------------------------------------- */

static void validate_run(validator *v)
{
    const perp_run_settings *run = &v->scene->run;
    const size_t mark = perp_validator_enter(v, "run");
    const bool h = perp_validate_real(v, "h", run->h, RANGE_NOT_NEGATIVE);
    const bool until = perp_validate_real(v, "until", run->until, RANGE_NOT_NEGATIVE);
    if (run->steps_set && run->until_set) {
        perp_validator_error(v, "steps", "give `until` or `steps`, not both");
    } else if (run->steps_set && (run->steps < 0 || run->steps > 1000000000)) {
        perp_validator_error(v, "steps", "`steps` must lie between 0 and 1e9, but is %d", run->steps);
    } else if (!run->steps_set && h && until && run->h > 0.0 && !(run->until / run->h < 1e9)) {
        perp_validator_error(v, "until", "`until` is %g steps of h = %g; at most 1e9 are allowed", run->until / run->h,
                             run->h);
    }
    perp_validate_real(v, "smoothing", run->smoothing, RANGE_NOT_NEGATIVE);
    if (run->rays < 4 || run->rays > 1024 || run->rays % 2 != 0) {
        perp_validator_error(v, "rays", "`rays` must be an even number from 4 to 1024, but is %d", run->rays);
    }
    perp_validate_real(v, "tolerance", run->tolerance, RANGE_POSITIVE);
    if (!(run->substep_tolerance > 0.0)) {
        perp_validator_error(v, "substep_tolerance", "`substep_tolerance` must be positive (.inf: never split a step)");
    }
    perp_validate_real(v, "time_scale", run->time_scale, RANGE_POSITIVE);
    if (run->threads < 1 || run->threads > 1024) {
        perp_validator_error(v, "threads", "`threads` must lie between 1 and 1024, but is %d", run->threads);
    }
    perp_validator_leave(v, mark);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void validate_objects(validator *v)
{
    perp_scene *scene = v->scene;
    for (int i = 0; i < scene->body_count; i++) {
        const size_t mark = perp_validator_enter(v, "bodies.%s", scene->bodies[i].name);
        perp_validate_body(v, &scene->bodies[i]);
        perp_validator_leave(v, mark);
    }
    perp_validate_joints(v);
    for (int i = 0; i < scene->loop_count; i++) {
        const perp_loop *loop = &scene->loops[i];
        const size_t mark =
            perp_validator_enter(v, "%s.%s%s", perp_loop_section(loop), loop->name, perp_loop_part(loop));
        validate_loop(v, &scene->loops[i]);
        perp_validator_leave(v, mark);
    }
    for (int i = 0; i < scene->force_count; i++) {
        const size_t mark = perp_validator_enter(v, "forces.%d", i);
        validate_force(v, &scene->forces[i]);
        perp_validator_leave(v, mark);
    }
}

perp_status perp_scene_validate(perp_scene *scene, perp_diagnostics *diagnostics)
{
    validator v = {.scene = scene, .diagnostics = diagnostics, .earlier = diagnostics->count};
    scene->validated = false;
    index_names(&v);
    if (!v.out_of_memory) {
        perp_validate_vector(&v, "gravity", scene->gravity);
        validate_tree(&v);
        validate_objects(&v);
        validate_contacts(&v);
        validate_run(&v);
    }
    if (v.out_of_memory) {
        perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, NULL, 0, 0, "", "out of memory while checking a scene");
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    scene->validated = diagnostics->errors == 0;
    return scene->validated ? PERP_STATUS_OK : PERP_STATUS_BAD_INPUT;
}
