/* Scenes built in C: copies, defaults, resolution, warnings, complaints, memory, capacity. The rules of validation have
 * files of their own, test_rules_*.c. */
#include "scene_rules.h"

#include "failing_allocator.h"
#include "scene/scene_memory.h"

/* ---- warnings ---------------------------------------------------------------------------------------------------- */

static void test_warnings(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    perp_body body = sound_body(scene, "cup");
    body.pose.pose.rotation = (perp_quat){0.72, 0.0, 0.7, 0.0}; /* |q| = 1.0042 */
    add_body(scene, body);
    add_body(scene, fixed_body("ground"));
    add_force(scene, (perp_force){.body = "ground"});
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.command_set = true; /* but no control */
    joint.stiffness = 5.0;
    add_hinge(scene, joint);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    assert_true(scene->validated);
    assert_int_equal(diagnostics.errors, 0);
    assert_int_equal(diagnostics.warnings, 4);
    assert_string_equal(diagnostics.items[0].path, "bodies.cup.pose.quat_wxyz");
    assert_non_null(strstr(diagnostics.items[0].message, "normalised"));
    assert_string_equal(diagnostics.items[1].path, "joints.hinge.stiffness");
    assert_string_equal(diagnostics.items[2].path, "joints.hinge.command");
    assert_string_equal(diagnostics.items[3].path, "forces.0.body");
    assert_non_null(strstr(diagnostics.items[3].message, "moves nothing"));
    const perp_quat q = scene->bodies[0].pose.pose.rotation;
    const double length = sqrt(0.72 * 0.72 + 0.7 * 0.7);
    assert_true(fabs(q.w - 0.72 / length) < 1e-15 && fabs(q.y - 0.7 / length) < 1e-15 && q.x == 0 && q.z == 0);
    assert_int_equal(validate(scene), PERP_STATUS_OK); /* it is unit now */
    assert_int_equal(diagnostics.warnings, 3);
    perp_scene_free(scene);
}

/* ---- all errors at once ------------------------------------------------------------------------------------------ */

static void test_all_errors_at_once(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    scene->gravity.z = NAN;
    scene->friction = -1.0;
    scene->run.rays = 3;
    perp_shape shapes[2] = {shape_of(PERP_SHAPE_SPHERE), shape_of(PERP_SHAPE_BOX)};
    shapes[0].radius = -1.0;
    shapes[1].friction = perp_set(-1.0);
    perp_body body = sound_body(scene, "cup");
    body.mass = perp_set(-2.0);
    body.com.x = NAN;
    body.shapes = shapes;
    body.shape_count = 2;
    add_body(scene, body);
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.parent = "nobody";
    joint.pitch = 1.0;
    add_hinge(scene, joint);
    static const char *const expected[] = {
        "gravity",         "joints.hinge.parent", "bodies.cup.shapes.0.sphere", "bodies.cup.shapes.1.friction",
        "bodies.cup.mass", "bodies.cup.com",      "joints.hinge.pitch",         "contacts.friction",
        "run.rays",
    };
    assert_int_equal(validate(scene), PERP_STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.errors, COUNT(expected));
    for (int i = 0; i < COUNT(expected); i++) {
        assert_string_equal(diagnostics.items[i].path, expected[i]);
    }
    perp_error error;
    perp_diagnostics_first_error(&diagnostics, PERP_STATUS_BAD_INPUT, &error);
    assert_string_equal(error.path, "gravity");
    perp_scene_free(scene);

    scene = new_scene(false); /* more than the list holds are counted */
    for (int i = 0; i < 30; i++) {
        char name[8];
        snprintf(name, sizeof name, "b%d", i);
        add_body(scene, perp_body_default(name));
    }
    assert_int_equal(validate(scene), PERP_STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.errors, 30);
    assert_int_equal(diagnostics.count, PERP_DIAGNOSTICS_PER_SEVERITY);
    perp_scene_free(scene);
}

/* What was complained of before (by a reader of files) is not complained of again, nor what lies in it. */
static void test_earlier_complaints(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    perp_body body = sound_body(scene, "cup");
    body.mass = perp_set(-1.0);
    add_body(scene, body);
    body.name = "cups";
    add_body(scene, body);
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_scene_report(scene, &diagnostics, PERP_SEVERITY_ERROR, "bodies.cup", "unreadable");
    assert_int_equal(perp_scene_validate(scene, &diagnostics), PERP_STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.errors, 2);
    assert_string_equal(diagnostics.items[1].path, "bodies.cups.mass"); /* another body, though its name begins alike */
    perp_scene_free(scene);
}

static void locate_line(const void *context, const char *path, const char **file, int *line, int *column)
{
    *file = context;
    *line = (int)strlen(path);
    *column = 7;
}

/* A scene that came from a file says where. */
static void test_places_in_a_file(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    scene->locate = locate_line;
    scene->locate_context = "s.yaml";
    scene->run.rays = 3;
    assert_int_equal(validate(scene), PERP_STATUS_BAD_INPUT);
    assert_string_equal(diagnostics.items[0].file, "s.yaml");
    assert_int_equal(diagnostics.items[0].line, 8); /* strlen("run.rays") */
    assert_int_equal(diagnostics.items[0].column, 7);
    perp_scene_free(scene);
}

/* ---- copying and resolving --------------------------------------------------------------------------------------- */

/* The scene owns copies: what the caller does afterwards to his own is nothing to it. */
static void test_scene_owns_copies(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    char name[] = "cup", shape_name[] = "rim", child[] = "cup", joint_name[] = "hinge", model[] = "kinematic";
    double times[] = {0, 1}, values[] = {0, 2};
    perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.name = shape_name;
    shape.points = points;
    perp_body body = sound_body(scene, name);
    body.shapes = &shape;
    body.shape_count = 1;
    add_body(scene, body);
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.name = joint_name;
    joint.child = child;
    joint.control = PERP_CONTROL_POSITION;
    joint.command_set = true;
    joint.command = (perp_drive){.knot_count = 2, .times = times, .values = values};
    add_joint(scene, joint);
    assert_int_equal(perp_scene_set_model(scene, model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_set_name(scene, name, NULL), PERP_STATUS_OK);
    memset(name, 'x', 3);
    memset(shape_name, 'x', 3);
    memset(child, 'x', 3);
    memset(joint_name, 'x', 5);
    memset(model, 'x', 9);
    memset(points, 0xff, sizeof points);
    memset(times, 0xff, sizeof times);
    memset(values, 0xff, sizeof values);
    memset(&shape, 0xff, sizeof shape);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    assert_string_equal(scene->bodies[0].name, "cup");
    assert_string_equal(scene->bodies[0].shapes[0].name, "rim");
    assert_true(scene->bodies[0].shapes[0].points[3].z == 1.0);
    assert_string_equal(scene->name, "cup");
    assert_string_equal(scene->run.model, "kinematic");
    assert_true(perp_drive_value(&scene->joints[0].command, 0.5) == 1.0);
    assert_int_equal(perp_scene_find_body(scene, "cup"), 0);
    assert_int_equal(perp_scene_find_joint(scene, "hinge"), 0);
    assert_int_equal(perp_scene_find_joint(scene, "cup"), -1);
    perp_scene_free(scene);
}

static void test_defaults(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        perp_scene *scene = new_scene(planar);
        assert_string_equal(scene->name, "");
        assert_true(scene->gravity.x == 0.0);
        assert_true(scene->gravity.y == (planar ? -9.81 : 0.0) && scene->gravity.z == (planar ? 0.0 : -9.81));
        assert_true(scene->margin == 0.02 && scene->friction == 0.5);
        assert_true(scene->compliance.stiffness.count == 1 && scene->compliance.stiffness.values[0] == 1e4);
        assert_true(scene->compliance.damping.count == 1 && scene->compliance.damping.values[0] == 10.0);
        assert_true(scene->compliance.elements == 1 && scene->compliance.size == 0.01);
        assert_true(scene->compliance.gamma == 1e-4 && scene->compliance.stiffness_scale == 1.0);
        assert_true(scene->compliance.law == PERP_LAW_KELVIN_VOIGT && !scene->compliance.tangential_rigid);
        assert_string_equal(scene->run.model, "qs-qp");
        assert_true(scene->run.h == 0.01 && scene->run.until == 1.0 && scene->run.smoothing == 0.0);
        assert_true(scene->run.rays == 4 && scene->run.tolerance == 1e-8 && isinf(scene->run.substep_tolerance));
        assert_true(scene->run.time_scale == 1.0 && scene->run.threads == 1 && scene->run.cone == PERP_CONE_UNSET);
        assert_true(scene->run.prediction == PERP_PREDICTION_EXACT && !scene->run.steps_set);
        assert_int_equal(validate(scene), PERP_STATUS_OK); /* an empty scene is a scene */
        assert_int_equal(perp_scene_find_body(scene, "cup"), -1);
        perp_scene_free(scene);
    }
    const perp_body body = perp_body_default("cup");
    assert_true(body.joint == -1 && body.free_mask == PERP_COMPONENT_ALL && body.kind == PERP_BODY_FREE);
    const perp_joint joint = perp_joint_default("hinge", PERP_JOINT_BALL);
    assert_true(joint.parent_body == -1 && joint.child_body == -1 && joint.kind == PERP_JOINT_BALL);
    perp_scene_free(NULL);
}

static bool is_unit_along(perp_vec3 v, double x, double y, double z)
{
    return fabs(v.x - x) < 1e-15 && fabs(v.y - y) < 1e-15 && fabs(v.z - z) < 1e-15;
}

/* Names become indices, pairs are ordered as the bodies are, directions become unit. */
static void test_resolves(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    add_two(scene);
    perp_shape plane = shape_of(PERP_SHAPE_PLANE);
    plane.normal = perp_vec3_make(0, 0, 5);
    plane.offset = 0.25; /* stays: the plane is normal . x = offset with the unit normal */
    perp_body ground = fixed_body("ground");
    ground.shapes = &plane;
    ground.shape_count = 1;
    add_body(scene, ground);
    perp_joint joint = hinge_of(PERP_JOINT_PRISMATIC);
    joint.parent = "pot";
    joint.axis = perp_vec3_make(0, -3e-200, 4e-200);
    joint.position_set = true;
    joint.position[0] = 0.3;
    add_hinge(scene, joint);
    add_loop(scene, (perp_loop){.name = "grip", .kind = PERP_LOOP_POINT, .a = "arm", .b = "world"});
    add_force(scene, (perp_force){.body = "pot"});
    perp_pair pair = pair_of("ground", "cup");
    pair.direction_count = 1;
    pair.directions[0] = perp_vec3_make(3, 4, 0);
    pair.tangent_set = true;
    pair.tangent = perp_vec3_make(0, 0, -1e50);
    pair.compliance_set = true;
    pair.compliance.set = PERP_COMPLIANCE_GAMMA | PERP_COMPLIANCE_LAW;
    pair.compliance.gamma = 0.5;
    pair.compliance.law = PERP_LAW_HUNT_CROSSLEY;
    scene->compliance.elements = 3;
    scene->compliance.size = 0.7;
    add_pair(scene, pair);
    assert_int_equal(perp_scene_add_exclusion(scene, "arm", "pot", NULL), PERP_STATUS_OK);
    for (int again = 0; again < 2; again++) { /* twice is harmless */
        assert_int_equal(validate(scene), PERP_STATUS_OK);
        assert_int_equal(diagnostics.count, 0);
        assert_true(is_unit_along(scene->bodies[2].shapes[0].normal, 0, 0, 1));
        assert_true(scene->bodies[2].shapes[0].offset == 0.25);
        assert_true(is_unit_along(scene->joints[0].axis, 0, -0.6, 0.8));
        assert_int_equal(scene->joints[0].parent_body, 1);
        assert_int_equal(scene->joints[0].child_body, 3);
        assert_int_equal(scene->bodies[3].joint, 0);
        assert_int_equal(scene->bodies[0].joint, -1);
        assert_true(perp_drive_value(&scene->joints[0].command, 9.0) == 0.3); /* no command: holds the position */
        assert_int_equal(scene->loops[0].body_a, 3);
        assert_int_equal(scene->loops[0].body_b, -1);
        assert_int_equal(scene->forces[0].body_index, 1);
        assert_int_equal(scene->pairs[0].body_a, 0);
        assert_int_equal(scene->pairs[0].body_b, 2);
        assert_true(is_unit_along(scene->pairs[0].directions[0], 0.6, 0.8, 0));
        assert_true(is_unit_along(scene->pairs[0].tangent, 0, 0, -1));
        assert_true(scene->pairs[0].compliance.gamma == 0.5 && scene->pairs[0].compliance.elements == 3);
        assert_true(scene->pairs[0].compliance.law == PERP_LAW_HUNT_CROSSLEY);
        assert_true(scene->pairs[0].compliance.size == 0.7 && scene->pairs[0].compliance.stiffness.values[0] == 1e4);
        assert_int_equal(scene->exclusions[0].body_a, 1);
        assert_int_equal(scene->exclusions[0].body_b, 3);
    }
    add_body(scene, sound_body(scene, "lid")); /* an addition asks for another check */
    assert_false(scene->validated);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    assert_int_equal(perp_scene_find_body(scene, "lid"), 4);
    perp_scene_free(scene);
}

/* A planar placement gets its rotation from its angle, and a default axis for what turns. */
static void test_resolves_planar(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(true);
    perp_body body = sound_body(scene, "cup");
    body.pose.angle = 20.0; /* kept unwrapped */
    body.pose.pose.rotation = (perp_quat){0, 0, 0, 0};
    body.pose.pose.position.z = 3.0;
    add_body(scene, body);
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.axis_set = false;
    joint.axis = perp_vec3_make(0, 0, 0);
    add_hinge(scene, joint);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    const perp_placement *pose = &scene->bodies[0].pose;
    assert_true(pose->angle == 20.0 && pose->pose.position.z == 0.0);
    assert_true(fabs(pose->pose.rotation.w - cos(10.0)) < 1e-15 && fabs(pose->pose.rotation.z - sin(10.0)) < 1e-15);
    assert_true(is_unit_along(scene->joints[0].axis, 0, 0, 1));
    perp_scene_free(scene);
}

static void test_names_of_kinds(void **state)
{
    (void)state;
    assert_string_equal(perp_shape_kind_name(PERP_SHAPE_HALFPLANE), "halfplane");
    assert_string_equal(perp_joint_kind_name(PERP_JOINT_PRISMATIC), "prismatic");
    for (int i = 0; i < PERP_SHAPE_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(perp_shape_kind_name((perp_shape_kind)i), perp_shape_kind_name((perp_shape_kind)j));
        }
    }
    for (int i = 0; i < PERP_JOINT_COUNT; i++) {
        assert_string_not_equal(perp_joint_kind_name((perp_joint_kind)i), "unknown");
    }
    assert_string_equal(perp_shape_kind_name((perp_shape_kind)PERP_SHAPE_COUNT), "unknown");
    assert_string_equal(perp_joint_kind_name(PERP_JOINT_COUNT), "unknown");
    static const int sizes[PERP_JOINT_COUNT][2] = {
        [PERP_JOINT_REVOLUTE] = {1, 1}, [PERP_JOINT_PRISMATIC] = {1, 1}, [PERP_JOINT_BALL] = {4, 3},
        [PERP_JOINT_PLANAR] = {3, 3},   [PERP_JOINT_SCREW] = {1, 1},     [PERP_JOINT_FIXED] = {0, 0},
    };
    for (int i = 0; i < PERP_JOINT_COUNT; i++) {
        assert_int_equal(perp_joint_position_size((perp_joint_kind)i), sizes[i][0]);
        assert_int_equal(perp_joint_velocity_size((perp_joint_kind)i), sizes[i][1]);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Adds something of everything; the first status that is not OK. */
static perp_status add_everything(perp_scene *scene, int size, perp_error *error)
{
    const double times[] = {0, 1, 2}, values[] = {0, 2, 1};
    const perp_sine sines[] = {{1, 2, 3}};
    perp_shape shape = shape_of(PERP_SHAPE_SPHERE);
    shape.name = "rim";
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < size && status == PERP_STATUS_OK; i++) {
        char name[16], child[16];
        snprintf(name, sizeof name, "body%d", i);
        snprintf(child, sizeof child, "link%d", i);
        perp_body body = perp_body_default(name);
        body.kind = PERP_BODY_DRIVEN;
        body.driven_mask = PERP_COMPONENT_X | PERP_COMPONENT_Y;
        body.drives[0] =
            (perp_drive){.knot_count = 3, .times = times, .values = values, .interpolation = PERP_INTERPOLATE_CUBIC};
        body.drives[1] = (perp_drive){.sine_count = 1, .sines = sines};
        body.shapes = &shape;
        body.shape_count = 1;
        status = perp_scene_add_body(scene, &body, error);
        perp_body link = perp_body_default(child);
        status = status ? status : perp_scene_add_body(scene, &link, error);
        perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
        joint.name = child;
        joint.parent = name;
        joint.child = child;
        joint.control = PERP_CONTROL_POSITION;
        joint.command_set = true;
        joint.command = body.drives[0];
        status = status ? status : perp_scene_add_joint(scene, &joint, error);
        perp_loop loop = {.name = name, .kind = PERP_LOOP_POINT, .a = name, .b = "world"};
        status = status ? status : perp_scene_add_loop(scene, &loop, error);
        perp_force force = {.body = child};
        status = status ? status : perp_scene_add_force(scene, &force, error);
        perp_pair pair = pair_of(name, child);
        status = status ? status : perp_scene_add_pair(scene, &pair, error);
        status = status ? status : perp_scene_add_exclusion(scene, name, child, error);
    }
    status = status ? status : perp_scene_set_name(scene, "everything", error);
    return status ? status : perp_scene_set_model(scene, "kinematic", error);
}

static perp_status build_everything(perp_scene *scene, int size, perp_error *error)
{
    perp_status status = add_everything(scene, size, error);
    if (status == PERP_STATUS_OK) {
        status = validate(scene);
        perp_diagnostics_first_error(&diagnostics, status, error);
    }
    return status;
}

/* Builds with the request number `fail_at` failing; true if that request was never made. Whatever fails gives
 * OUT_OF_MEMORY with a sentence, leaves what was added whole, and leaks nothing. */
static bool builds_with_failure(int size, int fail_at)
{
    failing_allocator f = {.grants = fail_at, .once = true};
    const perp_allocator allocator = allocator_of(&f);
    perp_error error;
    memset(&error, 0, sizeof error);
    perp_scene *scene = NULL;
    perp_status status = perp_scene_create(false, &allocator, &scene, &error);
    if (status == PERP_STATUS_OK) {
        status = build_everything(scene, size, &error);
        assert_int_equal(scene->validated, status == PERP_STATUS_OK);
        for (int i = 0; i < scene->body_count; i++) {
            assert_non_null(scene->bodies[i].name);
            assert_true(scene->bodies[i].shape_count == 0 || scene->bodies[i].shapes[0].name);
            assert_true(scene->bodies[i].drives[0].knot_count == 0 || scene->bodies[i].drives[0].values);
            assert_true(scene->bodies[i].drives[1].sine_count == 0 || scene->bodies[i].drives[1].sines);
        }
    } else {
        assert_null(scene);
    }
    assert_int_equal(status, f.requests > fail_at ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_OK);
    if (status != PERP_STATUS_OK) {
        assert_int_equal(error.status, PERP_STATUS_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "out of memory"));
    }
    perp_scene_free(scene);
    assert_int_equal(f.standing, 0);
    return status == PERP_STATUS_OK;
}

/* A scene asks for memory in chunks, so its size decides which copy or which table meets a chunk's end: many sizes. */
static void test_every_allocation_fails(void **state)
{
    (void)state;
    int failures = 0;
    for (int size = 0; size < 60; size++) {
        for (int fail_at = 0; !builds_with_failure(size, fail_at); fail_at++) {
            failures++;
        }
    }
    assert_true(failures > 60 * 3);
}

/* Fills the arena with cache lines until it would have to grow; returns how many went in. */
static int fill(perp_arena *arena, int most)
{
    int lines = 0;
    while (lines < most && perp_arena_push(arena, 1, 64)) {
        lines++;
    }
    return lines;
}

/* A scene whose arena has a fresh chunk and may not grow beyond it. */
static perp_scene *confined_scene(void)
{
    perp_scene *scene = new_scene(false);
    assert_int_equal(add_everything(scene, 10, NULL), PERP_STATUS_OK);
    perp_arena *arena = &scene->memory->arena;
    for (const size_t total = arena->total; arena->total == total;) {
        assert_non_null(perp_arena_push(arena, 1, 1));
    }
    arena->limit = arena->total;
    return scene;
}

/* What does not fit whole is not added, though the list has room for it. */
static void test_what_does_not_fit_is_not_added(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    add_two(scene);
    perp_arena *arena = &scene->memory->arena;
    arena->limit = arena->total;
    fill(arena, INT_MAX);
    perp_shape shape = shape_of(PERP_SHAPE_SPHERE);
    perp_body body = sound_body(scene, "lid");
    body.shapes = &shape;
    body.shape_count = 1;
    assert_int_equal(perp_scene_add_body(scene, &body, NULL), PERP_STATUS_OUT_OF_MEMORY);
    assert_int_equal(scene->body_count, 2);
    perp_scene_free(scene);
}

/* A check with room for 0, 1, 2, .. cache lines, so that each of its requests is the first that finds none: it leaves
 * the scene unchecked, also if it was checked before, and can be tried again. */
static void test_validation_without_memory(void **state)
{
    (void)state;
    perp_scene *scene = confined_scene();
    const int room = fill(&scene->memory->arena, 1 << 20);
    perp_scene_free(scene);
    assert_true(room > 100);
    bool succeeded = false;
    for (int left = 0; left <= room && !succeeded; left++) {
        scene = confined_scene();
        assert_int_equal(fill(&scene->memory->arena, room - left), room - left);
        scene->validated = left % 2; /* as after an earlier check */
        const perp_status status = validate(scene);
        succeeded = status == PERP_STATUS_OK;
        assert_int_equal(scene->validated, succeeded);
        if (!succeeded) {
            assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
            assert_int_equal(diagnostics.errors, 1);
            assert_non_null(strstr(diagnostics.items[0].message, "out of memory"));
            assert_true(left < 100);
            scene->memory->arena.limit = SIZE_MAX;
            assert_int_equal(validate(scene), PERP_STATUS_OK);
        }
        assert_int_equal(perp_scene_find_body(scene, "link9"), 19);
        perp_scene_free(scene);
    }
    assert_true(succeeded);
}

/* Exactly PERP_SCENE_MAX_BODIES (and _PAIRS) fit; the next is refused and changes nothing. */
static void test_capacity(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(true);
    const perp_body body = fixed_body("b");
    for (int i = 0; i < PERP_SCENE_MAX_BODIES; i++) {
        if (perp_scene_add_body(scene, &body, NULL) != PERP_STATUS_OK) {
            fail_msg("body %d was refused", i);
        }
    }
    perp_error error;
    assert_int_equal(perp_scene_add_body(scene, &body, &error), PERP_STATUS_CAPACITY);
    assert_non_null(strstr(error.message, "100000"));
    assert_int_equal(scene->body_count, PERP_SCENE_MAX_BODIES);
    assert_string_equal(scene->bodies[PERP_SCENE_MAX_BODIES - 1].name, "b");
    perp_scene_free(scene);

    scene = new_scene(true);
    const perp_pair pair = pair_of("a", "b");
    for (int i = 0; i < PERP_SCENE_MAX_PAIRS; i++) {
        assert_int_equal(perp_scene_add_pair(scene, &pair, NULL), PERP_STATUS_OK);
    }
    assert_int_equal(perp_scene_add_pair(scene, &pair, &error), PERP_STATUS_CAPACITY);
    assert_int_equal(scene->pair_count, PERP_SCENE_MAX_PAIRS);
    perp_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_all_errors_at_once),
        cmocka_unit_test(test_earlier_complaints),
        cmocka_unit_test(test_places_in_a_file),
        cmocka_unit_test(test_scene_owns_copies),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_resolves),
        cmocka_unit_test(test_resolves_planar),
        cmocka_unit_test(test_names_of_kinds),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_validation_without_memory),
        cmocka_unit_test(test_what_does_not_fit_is_not_added),
        cmocka_unit_test(test_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
