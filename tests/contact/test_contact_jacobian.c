/* Jacobians against the model's own, against differences of gaps, and against power. */
#include "contact_test.h"

enum {
    SPATIAL = 1u << PERP_SHAPE_SPHERE | 1u << PERP_SHAPE_CAPSULE | 1u << PERP_SHAPE_POINT | 1u << PERP_SHAPE_BOX |
              1u << PERP_SHAPE_CYLINDER | 1u << PERP_SHAPE_ELLIPSOID,
    PLANAR = 1u << PERP_SHAPE_DISC | 1u << PERP_SHAPE_CAPSULE | 1u << PERP_SHAPE_POINT | 1u << PERP_SHAPE_BOX |
             1u << PERP_SHAPE_POLYGON,
    MOST = 64
};

static void open_random(contact_world *w, uint64_t seed, double *v)
{
    const bool planar = seed % 3 == 0;
    world_open_scene(w, random_scene(seed, planar, planar ? PLANAR : SPATIAL));
    assert_true(w->model->nv <= MOST);
    random_state(w, seed, v);
    world_build(w);
}

/* Rows x nv of the model: d . (J_b - J_a), witness by witness. Entries are equal, bit by bit but for the sign of zero,
 * because the same products are summed in the same order. */
static void test_equals_point_jacobians(void **state)
{
    (void)state;
    int shared = 0, contacts = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        contact_world w;
        double v[MOST];
        open_random(&w, seed, v);
        const int nv = w.model->nv, rows = w.set->rows;
        for (int i = 0; i < w.set->count; i++) {
            const perp_contact *c = &w.set->contacts[i];
            double compact[3 * MOST], of_a[3 * MOST], of_b[3 * MOST], sparse[3 * MOST] = {0};
            perp_point_jacobian(w.model, w.kinematics, c->a, c->point_a, compact);
            perp_jacobian_expand(w.model, c->a, 3, compact, of_a);
            perp_point_jacobian(w.model, w.kinematics, c->b, c->point_b, compact);
            perp_jacobian_expand(w.model, c->b, 3, compact, of_b);
            const int n = w.set->dof_start[i + 1] - w.set->dof_start[i];
            const double *block = w.set->jacobian + rows * w.set->dof_start[i];
            const int *dofs, *dofs_b;
            const int chains = perp_body_dofs(w.model, c->a, &dofs) + perp_body_dofs(w.model, c->b, &dofs_b);
            shared += n < chains;
            for (int r = 0; r < rows; r++) {
                for (int k = 0; k < n; k++) {
                    sparse[r * nv + w.set->dofs[w.set->dof_start[i] + k]] = block[r * n + k];
                }
            }
            const perp_vec3 directions[3] = {c->normal, c->t, c->o};
            for (int r = 0; r < rows; r++) {
                for (int d = 0; d < nv; d++) {
                    const perp_vec3 column = {of_b[d] - of_a[d], of_b[nv + d] - of_a[nv + d],
                                              of_b[2 * nv + d] - of_a[2 * nv + d]};
                    assert_true(sparse[r * nv + d] == perp_vec3_dot(directions[r], column));
                }
            }
            contacts++;
        }
        world_close(&w);
    }
    assert_true(contacts > 300 && shared > 20);
}

/* The smallest gap of two shapes, and how much the next one or a tie is away from it. */
static double smallest_of(const perp_contact_set *set, const perp_contact *c, int *index, double *clear)
{
    double least = INFINITY, next = INFINITY;
    for (int k = 0; k < set->count; k++) {
        const perp_contact *other = &set->contacts[k];
        if (other->a == c->a && other->b == c->b && other->shape_a == c->shape_a && other->shape_b == c->shape_b) {
            if (other->phi < least) {
                next = least;
                least = other->phi;
                *index = k;
            } else if (other->phi < next) {
                next = other->phi;
            }
        }
    }
    *clear = next - least;
    return least;
}

static double gap_at(contact_world *w, const perp_contact *c, const double *q, bool *good)
{
    int index = -1;
    double clear = 0.0;
    perp_kinematics_update(w->model, q, w->kinematics);
    assert_int_equal(perp_contact_set_build(w->set, w->kinematics, NULL), PERP_STATUS_OK);
    const double gap = smallest_of(w->set, c, &index, &clear);
    *good = *good && index >= 0 && !w->set->contacts[index].tie;
    return gap;
}

/* d phi / dt = (J v)_n for the nearest points of every two shapes, away from ties.
 *
 * Central difference at 1e-5 s: speeds are about 1 m/s, so the truncation is below 1e-10 phi''' / 6, some 1e-9 for
 * bodies that turn at 1 rad/s, and the rounding 1e-16 / 1e-5. A part of a concave polygon that overlaps another shape
 * has its depth at the end of an edge, which is no point of a body's own: those are left to test_contact_narrow. What
 * remains are configurations within 1e-5 m of a change of features, where phi'' jumps: those whose one-sided rates
 * differ by more than 1e-3 (phi'' above 100 m/s^2) are left out, and counted. */
static void test_rate_of_gaps(void **state)
{
    (void)state;
    const double h = 1e-5;
    int tested = 0, left = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        contact_world w;
        double v[MOST], ahead[MOST + 16], behind[MOST + 16], rates[1000];
        perp_contact contacts[300];
        open_random(&w, seed, v);
        perp_configuration_integrate(w.model, w.state.q, v, h, ahead);
        perp_configuration_integrate(w.model, w.state.q, v, -h, behind);
        const int count = w.set->count, rows = w.set->rows;
        assert_true(count <= 300);
        perp_contact_velocity(w.set, v, rates);
        memcpy(contacts, w.set->contacts, (size_t)count * sizeof(perp_contact));
        for (int i = 0; i < count; i++) {
            const perp_contact *c = &contacts[i];
            int index = -1;
            double clear;
            world_build(&w);
            bool good = !c->tie;
            const double now = smallest_of(w.set, c, &index, &clear);
            const bool clipped = w.scene->bodies[c->a].shapes[c->shape_a].kind == PERP_SHAPE_POLYGON ||
                                 w.scene->bodies[c->b].shapes[c->shape_b].kind == PERP_SHAPE_POLYGON;
            if (index != i || clear < 1e-3 || c->phi > w.scene->margin - 1e-3 || (clipped && c->phi < 0.0)) {
                continue;
            }
            const double after = gap_at(&w, c, ahead, &good), before = gap_at(&w, c, behind, &good);
            const double bend = fabs((after - now) - (now - before)) / h;
            if (!good || bend > 1e-3) {
                left++;
                continue;
            }
            const double rate = (after - before) / (2 * h);
            if (fabs(rate - rates[rows * i]) > 1e-6) {
                char text[64];
                perp_contact_feature_text(c, text, sizeof text);
                print_error("seed %d, %s %s: %s, phi %g\n", (int)seed,
                            perp_shape_kind_name(w.scene->bodies[c->a].shapes[c->shape_a].kind),
                            perp_shape_kind_name(w.scene->bodies[c->b].shapes[c->shape_b].kind), text, c->phi);
            }
            NEAR(rate, rates[rows * i], 1e-6);
            tested++;
        }
        world_close(&w);
    }
    print_message("%d gaps, %d left out\n", tested, left);
    assert_true(tested > 200 && left * 5 < tested);
}

/* ---- points that are not the nearest -------------------------------------------------------------------------------
 */

/* Sine of the tilt of a body's surface at a contact against the plane square to the normal: what a witness can rise by
 * while it slides over the surface. 1 where it is not derived here (round lines and rims, cut polygons). */
static double tilt_of(const contact_world *w, int body, int shape_index, int feature, perp_vec3 normal, perp_vec3 point)
{
    const perp_shape *shape = &w->scene->bodies[body].shapes[shape_index];
    const perp_feature_kind kind = perp_feature_kind_of(feature);
    const int index = perp_feature_index(feature);
    const double c = cos(shape->pose.angle), s = sin(shape->pose.angle);
    const perp_mat3 flat = {{c, -s, 0, s, c, 0, 0, 0, 1}}, solid = perp_quat_to_mat3(shape->pose.pose.rotation);
    const perp_mat3 r = perp_mat3_mul(&w->kinematics->rotation[body], w->model->planar ? &flat : &solid);
    const perp_vec3 axes[3] = {{r.m[0], r.m[3], r.m[6]}, {r.m[1], r.m[4], r.m[7]}, {r.m[2], r.m[5], r.m[8]}};
    if (shape->kind == PERP_SHAPE_SPHERE || shape->kind == PERP_SHAPE_DISC || shape->kind == PERP_SHAPE_POINT ||
        shape->kind == PERP_SHAPE_ELLIPSOID) {
        return 0.0; /* the normal is the surface's own */
    }
    if (shape->kind == PERP_SHAPE_BOX) {
        if (kind == PERP_FEATURE_CORNER) {
            return 0.0; /* a point of the body, that does not slide */
        }
        if (kind == PERP_FEATURE_FACE) {
            return perp_vec3_norm(perp_vec3_cross(normal, axes[index / 2]));
        }
        return fabs(perp_vec3_dot(normal, axes[w->model->planar ? index % 2 : index / 4]));
    }
    if (shape->kind == PERP_SHAPE_CYLINDER && kind == PERP_FEATURE_FACE) {
        return perp_vec3_norm(perp_vec3_cross(normal, axes[2]));
    }
    if (shape->kind == PERP_SHAPE_CYLINDER && kind == PERP_FEATURE_SIDE) {
        const perp_vec3 position = perp_mat3_mul_vec(&w->kinematics->rotation[body], shape->pose.pose.position);
        const perp_vec3 d = perp_vec3_sub(perp_vec3_sub(point, w->kinematics->pose[body].position), position);
        const perp_vec3 radial = perp_vec3_normalise(perp_vec3_add_scaled(d, -perp_vec3_dot(d, axes[2]), axes[2]));
        return perp_vec3_norm(perp_vec3_cross(normal, radial));
    }
    return 1.0;
}

/* The contact of the same label, or NULL. */
static const perp_contact *same_label(const perp_contact_set *set, const perp_contact *c)
{
    for (int k = 0; k < set->count; k++) {
        if (perp_contact_same(&set->contacts[k], c)) {
            return &set->contacts[k];
        }
    }
    return NULL;
}

/* Speed at which a witness slides over its body: its own velocity less that of the material point. */
static double slide_of(const contact_world *w, int body, perp_vec3 point, perp_vec3 before, perp_vec3 after, double h)
{
    const perp_twist twist = w->kinematics->twist[body];
    const perp_vec3 arm = perp_vec3_sub(point, w->kinematics->pose[body].position);
    const perp_vec3 material = perp_vec3_add(twist.linear, perp_vec3_cross(twist.angular, arm));
    return perp_vec3_norm(perp_vec3_sub(perp_vec3_scale(0.5 / h, perp_vec3_sub(after, before)), material));
}

typedef struct rate_tally {
    int tested, derived, sliding, left;
} rate_tally;

/* Contact i at three times: |d phi / dt - (J v)_n| against 1e-6 and, for each body, tilt times sliding speed. */
static void check_rate(const contact_world *w, const perp_contact *now, const perp_contact *before,
                       const perp_contact *after, double row, rate_tally *tally)
{
    const double h = 1e-5, bend = fabs((after->phi - now->phi) - (now->phi - before->phi)) / h;
    if (now->tie || before->tie || after->tie || bend > 1e-3) {
        tally->left++;
        return;
    }
    const double rate = (after->phi - before->phi) / (2 * h);
    const double tilt_a = tilt_of(w, now->a, now->shape_a, now->feature_a, now->normal, now->point_a);
    const double tilt_b = tilt_of(w, now->b, now->shape_b, now->feature_b, now->normal, now->point_b);
    const double allowed = 1e-6 + tilt_a * slide_of(w, now->a, now->point_a, before->point_a, after->point_a, h) +
                           tilt_b * slide_of(w, now->b, now->point_b, before->point_b, after->point_b, h);
    if (!(fabs(rate - row) <= allowed)) {
        char text[64];
        perp_contact_feature_text(now, text, sizeof text);
        print_error("%s %s: %s, phi %g, tilts %g %g\n",
                    perp_shape_kind_name(w->scene->bodies[now->a].shapes[now->shape_a].kind),
                    perp_shape_kind_name(w->scene->bodies[now->b].shapes[now->shape_b].kind), text, now->phi, tilt_a,
                    tilt_b);
    }
    NEAR(rate, row, allowed);
    tally->tested++;
    tally->derived += tilt_a < 1.0 && tilt_b < 1.0;
    tally->sliding += fabs(rate - row) > 1e-3;
}

/* Every point whose label lasts, nearest or not: the rate of its gap is row 0 but for what a tilted surface adds where
 * the witness slides over it. Steps and what is left out as above. */
static void test_rate_of_all_points(void **state)
{
    (void)state;
    const double h = 1e-5;
    rate_tally tally = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        contact_world w;
        double v[MOST], moved[MOST + 16], rates[1000];
        static perp_contact sets[3][300];
        int counts[3];
        open_random(&w, seed, v);
        assert_true(w.set->count <= 300);
        perp_contact_velocity(w.set, v, rates);
        for (int k = -1; k <= 1; k++) {
            perp_configuration_integrate(w.model, w.state.q, v, k * h, moved);
            perp_kinematics_update(w.model, k == 0 ? w.state.q : moved, w.kinematics);
            assert_int_equal(perp_contact_set_build(w.set, w.kinematics, NULL), PERP_STATUS_OK);
            counts[k + 1] = w.set->count < 300 ? w.set->count : 300;
            memcpy(sets[k + 1], w.set->contacts, (size_t)counts[k + 1] * sizeof(perp_contact));
        }
        perp_kinematics_update(w.model, w.state.q, w.kinematics);
        perp_kinematics_velocity(w.model, v, w.kinematics);
        const perp_contact_set behind = {.count = counts[0], .contacts = sets[0]};
        const perp_contact_set ahead = {.count = counts[2], .contacts = sets[2]};
        for (int i = 0; i < counts[1]; i++) {
            const perp_contact *before = same_label(&behind, &sets[1][i]), *after = same_label(&ahead, &sets[1][i]);
            if (before && after) {
                check_rate(&w, &sets[1][i], before, after, rates[w.set->rows * i], &tally);
            }
        }
        world_close(&w);
    }
    print_message(
        "%d points, %d of them with both tilts derived, %d whose gap has another rate than row 0, %d left out\n",
        tally.tested, tally.derived, tally.sliding, tally.left);
    assert_true(tally.derived > 200 && tally.sliding > 20 && tally.left * 5 < tally.tested);
}

/* A driven body's own motion: with only the prescribed velocities filled, row 0 is what it adds to the gap. */
static void test_driven(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w,
               "bodies:\n"
               "  pusher: {driven: {x: {rate: 0.3}, z: {offset: 0.5}, ry: {rate: 2}}, shapes: [{box: [0.2, 1, 1]}]}\n"
               "  ball: {mass: 1, pose: {position: [0.205, 0, 0.7]}, shapes: [{sphere: 0.1}]}\n");
    assert_int_equal(w.set->count, 1);
    double v[16] = {0}, out[3];
    perp_prescribed_rate(w.model, PERP_PRESCRIBE_DRIVEN, 0.0, v);
    perp_contact_velocity(w.set, v, out);
    /* a's witness is 0.2 above the pusher's origin and turns forward with 2 * 0.2 */
    NEAR(w.set->contacts[0].phi, 0.005, 1e-14);
    NEAR(out[0], -(0.3 + 2 * 0.2), 1e-14);
    const double h = 1e-3;
    perp_prescribed_velocity(w.model, PERP_PRESCRIBE_DRIVEN, 0.0, h, v);
    perp_contact_velocity(w.set, v, out);
    const double predicted = w.set->contacts[0].phi + h * out[0];
    perp_prescribed_configuration(w.model, PERP_PRESCRIBE_DRIVEN, h, w.state.q);
    world_build(&w);
    NEAR(w.set->contacts[0].phi, predicted, 3e-6); /* second order: (2 rad/s * 1e-3 s)^2 * 0.3 m = 1.2e-6 m */
    world_close(&w);
}

/* Two bodies of one tree: the common ancestor moves both witnesses alike, but for the gap between them. */
static void test_common_ancestor(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "contacts: {margin: 1}\n"
                   "bodies:\n"
                   "  torso: {mass: 1, inertia: [1, 1, 1], pose: {position: [5, 6, 7]}}\n"
                   "  left: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 0.1}]}\n"
                   "  right: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 0.1}]}\n"
                   "joints:\n"
                   "  l: {type: prismatic, parent: torso, child: left, anchor: [1, 0.2, 0], axis: [0, 1, 0]}\n"
                   "  r: {type: prismatic, parent: torso, child: right, anchor: [1, -0.2, 0], axis: [0, 1, 0]}\n");
    assert_int_equal(w.set->count, 1);
    assert_int_equal(w.set->dof_start[1], 8);
    /* n = -y, t = +x, o = n x t = +z; witnesses at (1, 0.1, 0) and (1, -0.1, 0) of the torso */
    const double rows[3][8] = {{0, 0, 0, 0, 0, 0, 1, -1}, {0, 0, 0, 0, 0, 0.2, 0, 0}, {0, 0, 0, -0.2, 0, 0, 0, 0}};
    for (int r = 0; r < 3; r++) {
        for (int d = 0; d < 8; d++) {
            NEAR(w.set->jacobian[8 * r + d], rows[r][d], 1e-14);
        }
    }
    world_close(&w);
}

/* The power of contact forces: r . (J v) = (J' r) . v, and the generalised force is that of the two wrenches. */
static void test_force(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        contact_world w;
        double v[MOST], r[1000], rates[1000], force[MOST], expected[MOST];
        open_random(&w, seed, v);
        perp_random random = {seed};
        const int nv = w.model->nv, rows = w.set->rows;
        for (int d = 0; d < nv; d++) {
            force[d] = expected[d] = 0.25; /* what is there stays */
        }
        for (int i = 0; i < w.set->count; i++) {
            const perp_contact *c = &w.set->contacts[i];
            perp_vec3 f = {0, 0, 0};
            const perp_vec3 directions[3] = {c->normal, c->t, c->o}, none = {0, 0, 0};
            for (int k = 0; k < rows; k++) {
                r[rows * i + k] = uniform(&random, -1, 1);
                f = perp_vec3_add_scaled(f, r[rows * i + k], directions[k]);
            }
            perp_add_wrench(w.model, w.kinematics, c->b, c->point_b, f, none, expected);
            perp_add_wrench(w.model, w.kinematics, c->a, c->point_a, perp_vec3_scale(-1, f), none, expected);
        }
        perp_contact_add_force(w.set, r, force);
        perp_contact_velocity(w.set, v, rates);
        double power = 0.0, contact_power = 0.0, size = 1.0;
        for (int d = 0; d < nv; d++) {
            NEAR(force[d], expected[d], 1e-12 * (1 + w.set->count));
            power += (force[d] - 0.25) * v[d];
            size += fabs((force[d] - 0.25) * v[d]);
        }
        for (int i = 0; i < rows * w.set->count; i++) {
            contact_power += r[i] * rates[i];
        }
        NEAR(contact_power, power, 1e-13 * size * (1 + w.set->count));
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_point_jacobians), cmocka_unit_test(test_rate_of_gaps),
        cmocka_unit_test(test_rate_of_all_points),     cmocka_unit_test(test_driven),
        cmocka_unit_test(test_common_ancestor),        cmocka_unit_test(test_force),
    };
    return cmocka_run_group_tests_name("contact jacobian", tests, NULL, NULL);
}
