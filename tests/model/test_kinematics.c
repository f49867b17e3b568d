/* Poses against their definition, twists against finite differences, invariances. */
#include "base/mat3.h"
#include "model_test.h"

#include <math.h>
#include <string.h>

static perp_pose translation(perp_vec3 x)
{
    perp_pose r = {perp_quat_identity(), x};
    return r;
}

/* parent o T(anchor + s) o R(joint) o T(-anchor) o home, multiplied out as the header writes it. */
static perp_pose pose_by_definition(const test_world *world, int body)
{
    const perp_link *link = &world->model->links[body];
    const double *q = world->q + link->q_start;
    if (link->motion == PERP_MOTION_FLOATING) {
        perp_pose r = {{q[3], q[4], q[5], q[6]}, {q[0], q[1], q[2]}};
        return r;
    }
    if (link->motion == PERP_MOTION_FLOATING_PLANAR) {
        perp_pose r = {perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), q[2]), {q[0], q[1], 0}};
        return r;
    }
    perp_vec3 s = {0, 0, 0};
    perp_quat turn = perp_quat_identity();
    switch (link->motion) {
    case PERP_MOTION_REVOLUTE:
        turn = perp_quat_from_axis_angle(link->axis, q[0]);
        break;
    case PERP_MOTION_PRISMATIC:
        s = perp_vec3_scale(q[0], link->axis);
        break;
    case PERP_MOTION_SCREW:
        turn = perp_quat_from_axis_angle(link->axis, q[0]);
        s = perp_vec3_scale(link->pitch * q[0], link->axis);
        break;
    case PERP_MOTION_BALL:
        turn = (perp_quat){q[0], q[1], q[2], q[3]};
        break;
    case PERP_MOTION_PLANAR: {
        perp_vec3 t, o;
        perp_tangents(link->axis, &t, &o);
        s = perp_vec3_add(perp_vec3_scale(q[0], t), perp_vec3_scale(q[1], o));
        turn = perp_quat_from_axis_angle(link->axis, q[2]);
        break;
    }
    default:
        break;
    }
    const perp_pose turned = {turn, {0, 0, 0}};
    perp_pose pose = link->parent >= 0 ? pose_by_definition(world, link->parent) : perp_pose_identity();
    pose = perp_pose_mul(pose, translation(perp_vec3_add(link->anchor, s)));
    pose = perp_pose_mul(pose, turned);
    pose = perp_pose_mul(pose, translation(perp_vec3_scale(-1.0, link->anchor)));
    return perp_pose_mul(pose, link->home);
}

/* Rounding: at most 12 links, each a handful of operations on numbers of order one, so 1e-13 is generous. */
static void test_poses_by_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        test_world world;
        world_random(&world, seed);
        const perp_kinematics *k = world.kinematics;
        for (int b = 0; b < world.model->body_count; b++) {
            const perp_pose expected = pose_by_definition(&world, b);
            const perp_mat3 matrix = perp_quat_to_mat3(expected.rotation);
            NEAR_ARRAY(&k->pose[b].position.x, &expected.position.x, 3, 1e-13);
            NEAR_ARRAY(k->rotation[b].m, matrix.m, 9, 1e-13);
            const perp_mat3 own = perp_quat_to_mat3(k->pose[b].rotation);
            NEAR_ARRAY(own.m, matrix.m, 9, 1e-13);
            const perp_vec3 com = perp_pose_apply(expected, world.model->links[b].com);
            NEAR_ARRAY(&k->com[b].x, &com.x, 3, 1e-13);
        }
        for (int t = 0; t < world.model->tree_count; t++) {
            assert_memory_equal(&k->reference[t], &k->pose[world.model->trees[t].root].position, sizeof(perp_vec3));
        }
        world_close(&world);
    }
}

static void body_position(test_world *world, const double *q, void *context, double *values)
{
    (void)q;
    const int b = *(const int *)context;
    memcpy(values, &world->kinematics->pose[b].position, 3 * sizeof(double));
    memcpy(values + 3, world->kinematics->rotation[b].m, 9 * sizeof(double));
}

/* Twist = (dp/dt, the axial vector of dR/dt R'). */
static void test_twists_by_difference(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        test_world world;
        world_random(&world, seed);
        for (int b = 0; b < world.model->body_count; b++) {
            double rate[12];
            path_derivative(&world, world.v, body_position, &b, 12, rate);
            perp_mat3 r_dot;
            memcpy(r_dot.m, rate + 3, sizeof r_dot.m);
            const perp_mat3 back = perp_mat3_transpose(&world.kinematics->rotation[b]);
            const perp_mat3 spin = perp_mat3_mul(&r_dot, &back);
            const double expected[6] = {rate[0], rate[1], rate[2], spin.m[7], spin.m[2], spin.m[3]};
            const perp_twist twist = world.kinematics->twist[b];
            const double actual[6] = {twist.linear.x,  twist.linear.y,  twist.linear.z,
                                      twist.angular.x, twist.angular.y, twist.angular.z};
            NEAR_ARRAY(actual, expected, 6, DERIVATIVE_TOLERANCE);
        }
        world_close(&world);
    }
}

/* Updating to another configuration and back leaves no trace: no state hides in the scratch. */
static void test_update_has_no_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        test_world world;
        world_random(&world, seed);
        const size_t bodies = (size_t)world.model->body_count;
        perp_pose before[SPEC_BODIES];
        perp_twist twist[SPEC_BODIES];
        memcpy(before, world.kinematics->pose, bodies * sizeof(perp_pose));
        memcpy(twist, world.kinematics->twist, bodies * sizeof(perp_twist));
        double q[MAX_N], v[MAX_N] = {0};
        perp_configuration_integrate(world.model, world.q, world.v, 0.7, q);
        world_update(&world, q, v);
        world_update(&world, world.q, world.v);
        assert_memory_equal(before, world.kinematics->pose, bodies * sizeof(perp_pose));
        assert_memory_equal(twist, world.kinematics->twist, bodies * sizeof(perp_twist));
        world_close(&world);
    }
}

/* ---- the same physics in other words ----------------------------------------------------------------------------- */

/* map[d]: the dof of `to` that is the dof d of `from`; bodies are matched by name. */
static void match(const test_world *from, const test_world *to, int *v_map, int *q_map, int *body_map)
{
    for (int b = 0; b < from->model->body_count; b++) {
        const int other = perp_scene_find_body(to->scene, from->scene->bodies[b].name);
        assert_true(other >= 0);
        const perp_link *x = &from->model->links[b], *y = &to->model->links[other];
        body_map[b] = other;
        assert_int_equal(x->motion, y->motion);
        for (int i = 0; i < x->v_count; i++) {
            v_map[x->v_start + i] = y->v_start + i;
        }
        for (int i = 0; i < x->q_count; i++) {
            q_map[x->q_start + i] = y->q_start + i;
        }
    }
}

typedef struct dynamics {
    double mass[MAX_N * MAX_N], bias[MAX_N], gravity[MAX_N], applied[MAX_N];
} dynamics;

static void evaluate(test_world *world, dynamics *out)
{
    static double packed[MAX_N * MAX_N];
    world_update(world, world->q, world->v);
    perp_mass_matrix(world->model, world->kinematics, packed);
    perp_mass_matrix_expand(world->model, packed, out->mass);
    perp_bias_force(world->model, world->kinematics, world->v, out->bias);
    perp_gravity_force(world->model, world->kinematics, out->gravity);
    perp_applied_force(world->model, world->kinematics, 0.3, out->applied);
}

/* Sums run in another order: a few hundred roundings of numbers up to about 100. */
#define SAME 1e-12

static void test_relabelled_scene(void **state)
{
    (void)state;
    static scene_spec spec;
    static dynamics one, two;
    for (uint64_t seed = 0; seed < 60; seed++) {
        test_world a, b;
        spec_random(&spec, seed, SPEC_WORLD_FRAME | (seed % 4 == 3 ? SPEC_PLANAR : 0u));
        world_open(&a, spec_build(&spec, 0), seed);
        world_open(&b, spec_build(&spec, seed + 1), seed);
        int v_map[MAX_N], q_map[MAX_N], body_map[SPEC_BODIES];
        match(&a, &b, v_map, q_map, body_map);
        const int nv = a.model->nv;
        for (int i = 0; i < a.model->nq; i++) {
            b.q[q_map[i]] = a.q[i];
        }
        for (int i = 0; i < nv; i++) {
            b.v[v_map[i]] = a.v[i];
        }
        evaluate(&a, &one);
        evaluate(&b, &two);
        for (int i = 0; i < a.model->body_count; i++) {
            assert_memory_equal(&a.kinematics->pose[i], &b.kinematics->pose[body_map[i]], sizeof(perp_pose));
        }
        for (int i = 0; i < nv; i++) {
            NEAR(two.bias[v_map[i]], one.bias[i], SAME * (1 + fabs(one.bias[i])));
            NEAR(two.gravity[v_map[i]], one.gravity[i], SAME * (100 + fabs(one.gravity[i])));
            NEAR(two.applied[v_map[i]], one.applied[i], SAME * (100 + fabs(one.applied[i])));
            for (int j = 0; j < nv; j++) {
                NEAR(two.mass[v_map[i] * nv + v_map[j]], one.mass[i * nv + j], SAME * (1 + fabs(one.mass[i * nv + j])));
            }
        }
        world_close(&a);
        world_close(&b);
    }
}

/* Turns the floating rates of `v` by a rotation; joint rates stay. */
static void turn_rates(const perp_model *model, const perp_mat3 *rotation, const double *v, double *out)
{
    memcpy(out, v, (size_t)model->nv * sizeof(double));
    for (int b = 0; b < model->body_count; b++) {
        if (model->links[b].motion == PERP_MOTION_FLOATING) {
            for (int part = 0; part < 2; part++) {
                const double *x = v + model->links[b].v_start + 3 * part;
                const perp_vec3 y = perp_mat3_mul_vec(rotation, perp_vec3_make(x[0], x[1], x[2]));
                memcpy(out + model->links[b].v_start + 3 * part, &y, sizeof y);
            }
        }
    }
}

static void move_scene(scene_spec *spec, perp_pose move)
{
    for (int i = 0; i < spec->body_count; i++) {
        bool jointed = false;
        for (int j = 0; j < spec->joint_count; j++) {
            jointed |= spec->joints[j].child == spec->names[i];
        }
        if (!jointed) {
            spec->bodies[i].pose.pose = perp_pose_mul(move, spec->bodies[i].pose.pose);
        }
    }
    spec->gravity = perp_quat_rotate(move.rotation, spec->gravity);
    for (int i = 0; i < spec->force_count; i++) {
        spec->forces[i].in_body_frame = true; /* in both scenes */
    }
}

/* The whole scene moved by a rigid motion: M, c and forces turn with the floating rates and are else the same. */
static void test_moved_scene(void **state)
{
    (void)state;
    static scene_spec spec;
    static dynamics one, two;
    for (uint64_t seed = 0; seed < 60; seed++) {
        perp_random random = {seed};
        const perp_pose move = random_pose(&random, false);
        const perp_mat3 rotation = perp_quat_to_mat3(move.rotation);
        test_world a, b;
        spec_random(&spec, seed, SPEC_BASE);
        move_scene(&spec, perp_pose_identity());
        world_open(&a, spec_build(&spec, 0), seed);
        move_scene(&spec, move);
        world_open(&b, spec_build(&spec, 0), seed);
        memcpy(b.q, a.q, sizeof a.q);
        for (int i = 0; i < a.model->body_count; i++) {
            if (a.model->links[i].motion == PERP_MOTION_FLOATING) {
                double *q = b.q + a.model->links[i].q_start;
                const perp_pose pose = {{q[3], q[4], q[5], q[6]}, {q[0], q[1], q[2]}};
                const perp_pose moved = perp_pose_mul(move, pose);
                memcpy(q, &moved.position, sizeof moved.position);
                memcpy(q + 3, &moved.rotation, sizeof moved.rotation);
            }
        }
        const int nv = a.model->nv;
        turn_rates(a.model, &rotation, a.v, b.v);
        evaluate(&a, &one);
        evaluate(&b, &two);
        for (int i = 0; i < a.model->body_count; i++) {
            const perp_pose expected = perp_pose_mul(move, a.kinematics->pose[i]);
            NEAR_ARRAY(&b.kinematics->pose[i].position.x, &expected.position.x, 3, 1e-13);
        }
        double turned[MAX_N], product[MAX_N], momentum[MAX_N];
        turn_rates(a.model, &rotation, one.bias, turned);
        NEAR_ARRAY(two.bias, turned, nv, SAME);
        turn_rates(a.model, &rotation, one.gravity, turned);
        NEAR_ARRAY(two.gravity, turned, nv, SAME);
        turn_rates(a.model, &rotation, one.applied, turned);
        NEAR_ARRAY(two.applied, turned, nv, SAME);
        dense_times(one.mass, a.v, nv, nv, product);
        turn_rates(a.model, &rotation, product, turned);
        dense_times(two.mass, b.v, nv, nv, momentum);
        NEAR_ARRAY(momentum, turned, nv, SAME);
        world_close(&a);
        world_close(&b);
    }
}

/* ---- the mirror image y -> -y ---------------------------------------------------------------------------------- */

static perp_vec3 mirrored(perp_vec3 a)
{
    return perp_vec3_make(a.x, -a.y, a.z);
}

static perp_quat mirrored_rotation(perp_quat q)
{
    perp_quat r = {q.w, -q.x, q.y, -q.z}; /* its axis is an axial vector */
    return r;
}

static void mirror_joint(perp_joint *joint)
{
    joint->anchor = mirrored(joint->anchor);
    joint->axis = mirrored(joint->axis);
    /* The mirror image of a turn about n by a is the turn about -Sn by a. A planar joint keeps Sn, for its tangents,
     * and counts its angle the other way instead. */
    if (joint->kind == PERP_JOINT_REVOLUTE || joint->kind == PERP_JOINT_SCREW) {
        joint->axis = perp_vec3_scale(-1.0, joint->axis);
    }
    joint->pitch = -joint->pitch;
}

static void mirror_scene(scene_spec *spec)
{
    spec->gravity = mirrored(spec->gravity);
    for (int i = 0; i < spec->body_count; i++) {
        perp_body *body = &spec->bodies[i];
        body->pose.pose.position = mirrored(body->pose.pose.position);
        body->pose.pose.rotation = mirrored_rotation(body->pose.pose.rotation);
        body->com = mirrored(body->com);
        body->inertia[3] = -body->inertia[3]; /* xy */
        body->inertia[5] = -body->inertia[5]; /* yz */
        for (int k = 0; k < body->shape_count; k++) {
            perp_pose *pose = &spec->shapes[i][k].pose.pose;
            pose->position = mirrored(pose->position);
            pose->rotation = mirrored_rotation(pose->rotation);
        }
    }
    for (int i = 0; i < spec->joint_count; i++) {
        mirror_joint(&spec->joints[i]);
    }
}

static const double axial[7] = {1, -1, 1, 1, -1, 1, -1}; /* x y z qw qx qy qz; and wx wy wz are -1 1 -1 */

/* The mirror image's coordinates are these signs times the original's. */
static void mirror_signs(const perp_model *model, double *q_sign, double *v_sign)
{
    for (int i = 0; i < model->nq; i++) {
        q_sign[i] = 1;
    }
    for (int i = 0; i < model->nv; i++) {
        v_sign[i] = 1;
    }
    static const double twist[6] = {1, -1, 1, -1, 1, -1};
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        double *q = q_sign + link->q_start, *v = v_sign + link->v_start;
        if (link->motion == PERP_MOTION_FLOATING) {
            memcpy(q, axial, 7 * sizeof(double));
            for (int i = 0, k = 0; i < 6; i++) {
                if (link->components & (1u << i)) {
                    v[k++] = twist[i];
                }
            }
        } else if (link->motion == PERP_MOTION_BALL) {
            memcpy(q, axial + 3, 4 * sizeof(double));
            memcpy(v, twist + 3, 3 * sizeof(double));
        } else if (link->motion == PERP_MOTION_PLANAR) {
            /* t starts from e_x, its own mirror image, unless n is near e_x; then from e_y, which is reversed. */
            const bool from_y = fabs(link->axis.x) > 0.9;
            q[0] = v[0] = from_y ? -1 : 1;
            q[1] = v[1] = from_y ? 1 : -1;
            q[2] = v[2] = -1;
        }
    }
}

static void test_mirrored_scene(void **state)
{
    (void)state;
    static scene_spec spec;
    static dynamics one, two;
    for (uint64_t seed = 0; seed < 100; seed++) {
        test_world a, b;
        spec_random(&spec, seed, 0);
        spec.force_count = 0;
        world_open(&a, spec_build(&spec, 0), seed);
        mirror_scene(&spec);
        world_open(&b, spec_build(&spec, 0), seed);
        double q_sign[MAX_N], v_sign[MAX_N];
        mirror_signs(a.model, q_sign, v_sign);
        const int nv = a.model->nv;
        for (int i = 0; i < a.model->nq; i++) {
            b.q[i] = q_sign[i] * a.q[i];
        }
        for (int i = 0; i < nv; i++) {
            b.v[i] = v_sign[i] * a.v[i];
        }
        evaluate(&a, &one);
        evaluate(&b, &two);
        for (int i = 0; i < a.model->body_count; i++) {
            const perp_vec3 expected = mirrored(a.kinematics->com[i]);
            NEAR_ARRAY(&b.kinematics->com[i].x, &expected.x, 3, 1e-13);
        }
        for (int i = 0; i < nv; i++) {
            NEAR(two.bias[i], v_sign[i] * one.bias[i], SAME * (1 + fabs(one.bias[i])));
            NEAR(two.gravity[i], v_sign[i] * one.gravity[i], SAME * (100 + fabs(one.gravity[i])));
            for (int j = 0; j < nv; j++) {
                NEAR(two.mass[i * nv + j], v_sign[i] * v_sign[j] * one.mass[i * nv + j], SAME);
            }
        }
        world_close(&a);
        world_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poses_by_definition),  cmocka_unit_test(test_twists_by_difference),
        cmocka_unit_test(test_update_has_no_memory), cmocka_unit_test(test_relabelled_scene),
        cmocka_unit_test(test_moved_scene),          cmocka_unit_test(test_mirrored_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
