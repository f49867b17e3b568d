#include "convex_scenes.h"

#include <perp/base.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUBES = 10, ARM = 7, FINGERS = 2, ROBOT = ARM + FINGERS, GROUND = -1, LINK = 100, RAYS = 4 };

static const double STEP = 0.05, HALF = 0.05, GRAVITY = 9.81, MU = 0.5;

/* Things: the ground, cube k, or LINK + k for the link that joint k moves. The normal points from a to b. */
typedef struct touch {
    int a, b;
    perp_vec3 point, normal; /* the point moves with b */
    double gap;              /* m */
} touch;

struct convex_bin {
    perp_random random;
    perp_vec3 positions[CUBES];
    double masses[CUBES];
    perp_vec3 joint_axes[ARM], joint_positions[ARM], finger_axis;
    double stiffness[ROBOT], command[ROBOT]; /* N m/rad or N/m; velocity of the command */
    int touch_count;
    touch touches[CONVEX_BIN_MAX_CONTACTS];
};

static double uniform(perp_random *r, double low, double high)
{
    return perp_random_uniform(r, low, high);
}

static perp_vec3 random_vector(perp_random *r, double size)
{
    const double x = uniform(r, -size, size), y = uniform(r, -size, size);
    return perp_vec3_make(x, y, uniform(r, -size, size));
}

static perp_random seeded(uint64_t seed, int index)
{
    perp_random mixing = {seed};
    perp_random r = {perp_random_bits(&mixing) ^ ((uint64_t)index * 0x9E3779B97F4A7C15u)};
    perp_random_bits(&r);
    return r;
}

/* Half of the gaps are exactly shut. */
static double resting_gap(perp_random *r)
{
    const double gap = uniform(r, 0.0, 2e-4);
    return uniform(r, 0.0, 1.0) < 0.5 ? 0.0 : gap;
}

/* ---- the bin ----------------------------------------------------------------------------------------------------- */

convex_bin *convex_bin_create(void)
{
    convex_bin *bin = calloc(1, sizeof *bin);
    if (!bin) {
        fprintf(stderr, "convex_scenes: out of memory\n");
        exit(2);
    }
    return bin;
}

void convex_bin_free(convex_bin *bin)
{
    free(bin);
}

static void add_touch(convex_bin *bin, int a, int b, perp_vec3 point, perp_vec3 normal)
{
    const double gap = resting_gap(&bin->random);
    if (bin->touch_count < CONVEX_BIN_MAX_CONTACTS) {
        bin->touches[bin->touch_count++] = (touch){a, b, point, normal, gap};
    }
}

/* The four corners of the lower face of cube b, turned by `yaw`. */
static void rest_on(convex_bin *bin, int a, int b, double yaw)
{
    for (int corner = 0; corner < 4; corner++) {
        const double x = corner == 0 || corner == 3 ? -HALF : HALF, y = corner < 2 ? -HALF : HALF;
        const perp_vec3 arm = {cos(yaw) * x - sin(yaw) * y, sin(yaw) * x + cos(yaw) * y, -HALF};
        add_touch(bin, a, b, perp_vec3_add(bin->positions[b], arm), perp_vec3_make(0, 0, 1));
    }
}

/* Points of a vertical face of cube b that meets a, whose outward normal is `normal`. */
static void face(convex_bin *bin, int a, int b, perp_vec3 normal, int points)
{
    const perp_vec3 side = perp_vec3_make(-normal.y, normal.x, 0);
    for (int k = 0; k < points; k++) {
        perp_vec3 at = perp_vec3_add_scaled(bin->positions[b], -HALF, normal);
        at = perp_vec3_add_scaled(at, k % 2 ? 0.6 * HALF : -0.6 * HALF, side);
        at.z += k < 2 ? 0.6 * HALF : -0.6 * HALF;
        add_touch(bin, a, b, at, normal);
    }
}

static void place_cubes(convex_bin *bin, double *yaw)
{
    perp_random *r = &bin->random;
    for (int i = 0; i < CUBES; i++) {
        const int below = i < 7 ? GROUND : i - 7;
        bin->masses[i] = uniform(r, 0.3, 1.0);
        yaw[i] = uniform(r, -0.2, 0.2);
        if (below == GROUND) {
            const double x = 0.101 * (i % 4) + uniform(r, 0, 1e-3), y = (i < 4 ? 0.0 : 0.15) + uniform(r, 0, 1e-2);
            bin->positions[i] = perp_vec3_make(x, y, HALF);
        } else {
            bin->positions[i] = bin->positions[below];
            bin->positions[i].z += 2.0 * HALF;
            bin->positions[i].x += uniform(r, -0.01, 0.01);
            bin->positions[i].y += uniform(r, -0.01, 0.01);
        }
    }
}

/* An arm above the cubes; its fingers hold cube 9 along `finger_axis`, and link 5 touches cube 3 from above. */
static void place_robot(convex_bin *bin)
{
    perp_random *r = &bin->random;
    const double turn = uniform(r, 0.0, 6.28);
    for (int j = 0; j < ARM; j++) {
        const perp_vec3 axis = j % 2 ? perp_vec3_make(0, 1, 0) : perp_vec3_make(0, 0, 1);
        bin->joint_axes[j] = perp_vec3_normalise(perp_vec3_add(axis, random_vector(r, 0.2)));
        bin->joint_positions[j] =
            perp_vec3_add(perp_vec3_make(-0.5 + 0.1 * j, 0.0, 0.2 + 0.3 * sin(0.5 * j)), random_vector(r, 0.05));
    }
    bin->finger_axis = perp_vec3_make(cos(turn), sin(turn), 0);
    for (int j = 0; j < ROBOT; j++) {
        bin->stiffness[j] = j < ARM ? uniform(r, 500.0, 1500.0) : uniform(r, 1000.0, 3000.0);
        bin->command[j] = uniform(r, -0.1, 0.1);
    }
    bin->command[ARM] = bin->command[ARM + 1] = uniform(r, 0.01, 0.05); /* both close */
}

void convex_bin_start(convex_bin *bin, uint64_t seed, int index)
{
    double yaw[CUBES];
    memset(bin, 0, sizeof *bin);
    bin->random = seeded(seed, index);
    perp_random *r = &bin->random;
    place_cubes(bin, yaw);
    place_robot(bin);
    for (int i = 0; i < CUBES; i++) {
        rest_on(bin, i < 7 ? GROUND : i - 7, i, yaw[i]);
    }
    for (int i = 0; i < 3; i++) { /* neighbours in the front row */
        const double tilt = uniform(r, -0.05, 0.05);
        face(bin, i, i + 1, perp_vec3_make(cos(tilt), sin(tilt), 0), uniform(r, 0, 1) < 0.5 ? 2 : 4);
    }
    face(bin, LINK + ARM, CUBES - 1, bin->finger_axis, 4);
    face(bin, LINK + ARM + 1, CUBES - 1, perp_vec3_scale(-1.0, bin->finger_axis), 4);
    const int pressing = 1 + (int)uniform(r, 0.0, 3.0);
    for (int k = 0; k < pressing; k++) {
        perp_vec3 at = perp_vec3_add(bin->positions[3], random_vector(r, 0.6 * HALF));
        at.z = bin->positions[3].z + HALF;
        add_touch(bin, LINK + 5, 3, at, perp_vec3_make(0, 0, -1));
    }
}

/* Velocity of a thing's point along a direction, as coefficients of the unknowns. */
static void add_velocity(const convex_bin *bin, int thing, perp_vec3 point, perp_vec3 d, double sign, double *row)
{
    if (thing >= LINK) {
        const int first = 6 * CUBES, joint = thing - LINK;
        for (int j = 0; j <= joint && j < ARM; j++) {
            const perp_vec3 arm = perp_vec3_sub(point, bin->joint_positions[j]);
            row[first + j] += sign * perp_vec3_dot(d, perp_vec3_cross(bin->joint_axes[j], arm));
        }
        if (joint >= ARM) {
            row[first + joint] += (joint == ARM ? sign : -sign) * perp_vec3_dot(d, bin->finger_axis);
        }
    } else if (thing != GROUND) {
        const perp_vec3 arm = perp_vec3_cross(perp_vec3_sub(point, bin->positions[thing]), d);
        const double values[6] = {d.x, d.y, d.z, arm.x, arm.y, arm.z};
        for (int k = 0; k < 6; k++) {
            row[6 * thing + k] += sign * values[k];
        }
    }
}

static void fill_rays(bool quadratic, double mu, double rays[3 * RAYS])
{
    const double cone[9] = {1, 0, 0, 0, mu, 0, 0, 0, mu}, four[12] = {1, mu, 0, 1, 0, mu, 1, -mu, 0, 1, 0, -mu};
    memcpy(rays, quadratic ? cone : four, (quadratic ? 9 : 12) * sizeof *rays);
}

static int thing_dofs(int thing, int *dofs)
{
    if (thing == GROUND) {
        return 0;
    }
    const int count = thing < LINK ? 6 : thing - LINK < ARM ? thing - LINK + 1 : ARM + 1;
    for (int k = 0; k < count; k++) {
        dofs[k] = thing < LINK ? 6 * thing + k : 6 * CUBES + (k < ARM ? k : thing - LINK);
    }
    return count;
}

static void add_row(const convex_bin *bin, const touch *k, bool quadratic, convex_case *c)
{
    const bool swapped = k->a != GROUND && k->a > k->b; /* a link is behind every cube */
    double full[3][CONVEX_BIN_N] = {{0}}, jacobian[3 * 24], rays[3 * RAYS];
    int dofs[24];
    perp_vec3 directions[3] = {k->normal, {0, 0, 0}, {0, 0, 0}};
    perp_tangents(k->normal, &directions[1], &directions[2]);
    int count = thing_dofs(swapped ? k->b : k->a, dofs);
    count += thing_dofs(swapped ? k->a : k->b, dofs + count);
    for (int i = 0; i < 3; i++) {
        add_velocity(bin, k->a, k->point, directions[i], -1.0, full[i]);
        add_velocity(bin, k->b, k->point, directions[i], 1.0, full[i]);
        for (int j = 0; j < count; j++) {
            jacobian[i * count + j] = full[i][dofs[j]];
        }
    }
    fill_rays(quadratic, MU, rays);
    const convex_contact contact = {3, count, quadratic ? 3 : RAYS, dofs, jacobian, rays, quadratic};
    convex_case_add_contact(c, &contact);
    for (int j = 0; j < (quadratic ? 1 : RAYS); j++) {
        convex_case_offset(c, c->qp.contact_count - 1)[j] = k->gap / STEP;
    }
}

/* Mass of a cube and the free velocity that gravity gives it. */
static void fill_cube(double mass, double *block, double *g)
{
    for (int k = 0; k < 6 && block; k++) {
        block[7 * k] = k < 3 ? mass : mass * 4.0 * HALF * HALF / 6.0;
    }
    g[2] = STEP * mass * GRAVITY;
}

/* Upright forces that carry the cubes, and the robot's answer to them: with v = 0 the proof of a solution, for rays. */
static void prove_bin(const convex_bin *bin, convex_case *c)
{
    double weights[CUBES], forces[CONVEX_BIN_MAX_CONTACTS] = {0};
    const int slacks = c->qp.quadratic ? 3 : RAYS;
    for (int i = CUBES - 1; i >= 0; i--) { /* what stands on i comes behind it */
        double moment_x = 0.0, moment_y = 0.0;
        weights[i] = STEP * bin->masses[i] * GRAVITY;
        for (int k = 0; k < bin->touch_count; k++) {
            const touch *t = &bin->touches[k];
            if (t->a == i && forces[k] > 0.0) {
                weights[i] += forces[k];
                moment_x += forces[k] * (t->point.x - bin->positions[i].x);
                moment_y += forces[k] * (t->point.y - bin->positions[i].y);
            }
        }
        const touch *first = &bin->touches[4 * i]; /* its four corners stand first, in order */
        const perp_vec3 u = perp_vec3_scale(0.5, perp_vec3_sub(first[1].point, first[0].point));
        const perp_vec3 v = perp_vec3_scale(0.5, perp_vec3_sub(first[3].point, first[0].point));
        const double square = HALF * HALF;
        const double p = (moment_x * u.x + moment_y * u.y) / (weights[i] * square);
        const double q = (moment_x * v.x + moment_y * v.y) / (weights[i] * square);
        for (int k = 0; k < 4; k++) {
            const double su = k == 0 || k == 3 ? -1.0 : 1.0, sv = k < 2 ? -1.0 : 1.0;
            forces[4 * i + k] = 0.25 * weights[i] * (1.0 + su * p) * (1.0 + sv * q);
        }
    }
    for (int k = 0; k < bin->touch_count; k++) {
        for (int j = 0; j < slacks; j++) {
            c->y[slacks * k + j] = slacks == 3 ? (j ? 0.0 : forces[k]) : 0.25 * forces[k];
        }
    }
    for (int j = 0; j < ROBOT; j++) {
        const int dof = 6 * CUBES + j;
        c->x_dual[dof] = -c->qp.g[dof] / (STEP * STEP * bin->stiffness[j]);
    }
}

void convex_bin_make(const convex_bin *bin, bool quadratic, bool quasidynamic, convex_case *c)
{
    int sizes[CUBES + 1];
    for (int i = 0; i <= CUBES; i++) {
        sizes[i] = i < CUBES ? 6 : ROBOT;
    }
    convex_case_start(c, sizes, CUBES + 1);
    double *g = convex_case_g(c);
    for (int i = 0; i < CUBES; i++) {
        fill_cube(bin->masses[i], quasidynamic ? convex_case_block(c, i) : NULL, g + 6 * i);
    }
    for (int j = 0; j < ROBOT; j++) {
        convex_case_block(c, CUBES)[j * (ROBOT + 1)] = STEP * STEP * bin->stiffness[j];
        g[6 * CUBES + j] = -STEP * STEP * bin->stiffness[j] * bin->command[j];
    }
    for (int k = 0; k < bin->touch_count; k++) {
        add_row(bin, &bin->touches[k], quadratic, c);
    }
    convex_case_finish(c, true, false);
    prove_bin(bin, c);
    c->family = "bin";
    c->curvature = quasidynamic ? "strict" : "semidefinite";
    c->primal_unique = quasidynamic;
}

void convex_bin_advance(convex_bin *bin, const double *v)
{
    for (int k = 0; k < bin->touch_count; k++) {
        touch *t = &bin->touches[k];
        double row[CONVEX_BIN_N] = {0}, rate = 0.0;
        add_velocity(bin, t->a, t->point, t->normal, -1.0, row);
        add_velocity(bin, t->b, t->point, t->normal, 1.0, row);
        for (int i = 0; i < CONVEX_BIN_N; i++) {
            rate += row[i] * v[i];
        }
        t->gap = fmax(0.0, t->gap + STEP * rate);
        t->point = perp_vec3_add_scaled(t->point, STEP, perp_vec3_make(v[6 * t->b], v[6 * t->b + 1], v[6 * t->b + 2]));
    }
    for (int i = 0; i < CUBES; i++) {
        bin->positions[i] =
            perp_vec3_add_scaled(bin->positions[i], STEP, perp_vec3_make(v[6 * i], v[6 * i + 1], v[6 * i + 2]));
    }
    for (int j = 0; j < ROBOT; j++) { /* what the robot did not follow stays commanded */
        const double lag = bin->command[j] - v[6 * CUBES + j];
        bin->command[j] += 0.1 * lag + uniform(&bin->random, -0.005, 0.005);
        if (j < ARM) {
            bin->joint_positions[j] = perp_vec3_add(bin->joint_positions[j], random_vector(&bin->random, 5e-4));
        }
    }
}

/* ---- towers and piles -------------------------------------------------------------------------------------------- */

typedef struct growth {
    convex_case *c;
    perp_random random;
    bool quadratic;
} growth;

static void start_cubes(growth *w, int cubes)
{
    int *sizes = calloc((size_t)cubes, sizeof *sizes);
    if (!sizes) {
        fprintf(stderr, "convex_scenes: out of memory\n");
        exit(2);
    }
    for (int i = 0; i < cubes; i++) {
        sizes[i] = 6;
    }
    convex_case_start(w->c, sizes, cubes);
    free(sizes);
    for (int i = 0; i < cubes; i++) {
        double *g = convex_case_g(w->c) + 6 * i;
        const double mass = uniform(&w->random, 0.3, 1.0);
        fill_cube(mass, convex_case_block(w->c, i), g);
        for (int k = 0; k < 3; k++) { /* a velocity that it comes with */
            g[k] -= mass * uniform(&w->random, -0.05, 0.05);
        }
    }
}

/* Between cubes a < b (or the ground and b), at `arm_a` and `arm_b` from their centres. */
static void add_cube_touch(growth *w, int a, int b, perp_vec3 arm_a, perp_vec3 arm_b, perp_vec3 normal)
{
    double jacobian[36], rays[3 * RAYS];
    int dofs[12];
    const int half = a == GROUND ? 0 : 6, count = half + 6;
    perp_vec3 directions[3] = {normal, {0, 0, 0}, {0, 0, 0}};
    perp_tangents(normal, &directions[1], &directions[2]);
    for (int k = 0; k < 6; k++) {
        dofs[k] = 6 * a + k;
        dofs[half + k] = 6 * b + k;
    }
    for (int i = 0; i < 3; i++) {
        const perp_vec3 d = directions[i], on_a = perp_vec3_cross(arm_a, d), on_b = perp_vec3_cross(arm_b, d);
        const double of_a[6] = {-d.x, -d.y, -d.z, -on_a.x, -on_a.y, -on_a.z};
        const double of_b[6] = {d.x, d.y, d.z, on_b.x, on_b.y, on_b.z};
        memcpy(jacobian + i * count, of_a, sizeof of_a);
        memcpy(jacobian + i * count + half, of_b, sizeof of_b);
    }
    fill_rays(w->quadratic, MU, rays);
    const convex_contact contact = {3, count, w->quadratic ? 3 : RAYS, dofs, jacobian, rays, w->quadratic};
    convex_case_add_contact(w->c, &contact);
    const double gap = resting_gap(&w->random) / STEP;
    for (int j = 0; j < (w->quadratic ? 1 : RAYS); j++) {
        convex_case_offset(w->c, w->c->qp.contact_count - 1)[j] = gap;
    }
}

static void add_face(growth *w, int a, int b)
{
    for (int corner = 0; corner < 4; corner++) {
        const double x = corner == 0 || corner == 3 ? -HALF : HALF, y = corner < 2 ? -HALF : HALF;
        add_cube_touch(w, a, b, perp_vec3_make(x, y, HALF), perp_vec3_make(x, y, -HALF), perp_vec3_make(0, 0, 1));
    }
}

/* v = 0 is feasible, and H positive definite: y = 0 with v = -H^-1 g. */
static void prove_cubes(growth *w)
{
    convex_case *c = w->c;
    convex_case_finish(c, true, false);
    for (int i = 0; i < c->qp.n; i++) {
        c->x_dual[i] = -c->qp.g[i];
    }
    convex_case_solve_hessian(c, c->x_dual, c->x_dual);
    c->primal_unique = true;
    c->curvature = "strict";
}

void convex_tower_make(convex_case *c, int cubes, uint64_t seed, bool quadratic)
{
    growth w = {c, seeded(seed, cubes), quadratic};
    start_cubes(&w, cubes);
    for (int i = 0; i < cubes; i++) {
        add_face(&w, i % 10 ? i - 1 : GROUND, i);
    }
    prove_cubes(&w);
    c->family = "tower";
}

/* Layers of (side - level)^2 cubes, each on the four below it; those of the lowest on the ground. Normals lean by up to
 * a tenth. */
void convex_pile_make(convex_case *c, int cubes, uint64_t seed, bool quadratic)
{
    growth w = {c, seeded(seed, cubes), quadratic};
    int side = 1, room = 1;
    while (room < cubes) {
        side++;
        room += side * side;
    }
    start_cubes(&w, cubes);
    int first = 0, lower = 0; /* of this layer and of the one below */
    for (int level = 0; first < cubes; level++) {
        const int width = side - level;
        for (int i = first; i < first + width * width && i < cubes; i++) {
            if (level == 0) {
                add_face(&w, GROUND, i);
                continue;
            }
            for (int k = 0; k < 4; k++) {
                const int column = (i - first) % width + k % 2, row = (i - first) / width + k / 2;
                const double x = k % 2 ? 0.5 * HALF : -0.5 * HALF, y = k / 2 ? 0.5 * HALF : -0.5 * HALF;
                const perp_vec3 lean = random_vector(&w.random, 0.1);
                add_cube_touch(&w, lower + row * (width + 1) + column, i, perp_vec3_make(-x, -y, HALF),
                               perp_vec3_make(x, y, -HALF), perp_vec3_normalise(perp_vec3_make(lean.x, lean.y, 1.0)));
            }
        }
        lower = first;
        first += width * width;
    }
    prove_cubes(&w);
    c->family = "pile";
}
