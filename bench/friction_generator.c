#include "friction_generator_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const family_names[FRICTION_FAMILIES] = {"stack", "wall",    "wedge", "grasp", "pile",
                                                            "arch",  "incline", "dense", "robot", "push"};
static const double STEP = 0.01, GRAVITY = 9.81; /* s, m/s^2 */

static double *zeros(int count)
{
    double *r = calloc((size_t)count + 1, sizeof *r);
    if (!r) {
        fprintf(stderr, "friction_generator: out of memory\n");
        exit(2);
    }
    return r;
}

static double length(const double *x, int count)
{
    double r = 0.0;
    for (int i = 0; i < count; i++) {
        r = hypot(r, x[i]);
    }
    return r;
}

/* ---- a problem from its solution --------------------------------------------------------------------------------- */

typedef struct manner {
    double load;   /* scale of the forces */
    double active; /* how many of the contacts that could carry do */
    bool belts;    /* surfaces move under the contacts, each as it likes */
    bool strict;   /* no force of a contact that sticks is zero or at the limit */
} manner;

/* A rigid motion about the origin. */
typedef struct twist {
    perp_vec3 linear, angular;
} twist;

/* Along the floor, or anywhere. */
static twist draw_twist(friction_scene *s)
{
    twist t = {friction_random_vector(s), friction_random_vector(s)};
    if (s->planar) {
        t.angular = perp_vec3_make(0, 0, uniform(s, -1.0, 1.0));
    }
    if (happens(s, 0.5)) {
        t.linear = perp_vec3_add_scaled(t.linear, -perp_vec3_dot(t.linear, s->floor), s->floor);
        t.angular = perp_vec3_scale(s->planar ? 0.0 : perp_vec3_dot(t.angular, s->floor), s->floor);
    }
    t.angular = happens(s, 0.4) ? perp_vec3_make(0, 0, 0) : t.angular;
    return t;
}

/* Bodies rest, move as one, or each on its own; the last is that one motion (zero where all rest). */
static twist draw_motion(friction_scene *s, double *v)
{
    const twist common = draw_twist(s);
    const double resting = happens(s, 0.25) ? 1.0 : happens(s, 0.3) ? 0.0 : uniform(s, 0.0, 0.9);
    const double together = happens(s, 0.4) ? 1.0 : uniform(s, 0.0, 1.0);
    for (int i = 0; i < s->body_count; i++) {
        if (!happens(s, resting)) {
            const twist own = happens(s, together) ? common : draw_twist(s);
            friction_scene_set_twist(s, i, own.linear, own.angular, v);
        }
    }
    for (int j = s->body_count * s->dof; j < s->n; j++) {
        v[j] = happens(s, resting) ? 0.0 : uniform(s, -1.0, 1.0);
    }
    return resting < 1.0 ? common : (twist){{0, 0, 0}, {0, 0, 0}};
}

/* A force in the cone: inside of it, on its surface, or zero. */
static void draw_sticking(friction_scene *s, const manner *m, double mu, int rows, double *r)
{
    const int where = m->strict ? 9 : below(s, 10);
    double tangent[2] = {uniform(s, -1.0, 1.0), uniform(s, -1.0, 1.0)};
    const double norm = length(tangent, rows - 1);
    r[0] = where == 0 ? 0.0 : m->load * uniform(s, 0.05, 1.0);
    const double part = where == 1 ? 1.0 - 1e-15 : uniform(s, 0.0, 0.98);
    for (int k = 1; k < rows; k++) {
        r[k] = norm > 0.0 ? mu * r[0] * part * tangent[k - 1] / norm : 0.0;
    }
}

/* What the law asks of a contact that is shut and moves with u along it. */
static void draw_force(friction_scene *s, const manner *m, double mu, int rows, const double *u, double *r)
{
    const double along = length(u + 1, rows - 1);
    if (rows == 1 || mu == 0.0) {
        r[0] = !m->strict && happens(s, 0.05) ? 0.0 : m->load * uniform(s, 0.05, 1.0);
    } else if (along > 0.0) {
        r[0] = m->load * uniform(s, 0.05, 1.0);
        for (int k = 1; k < rows; k++) {
            r[k] = -mu * r[0] * u[k] / along;
        }
    } else {
        draw_sticking(s, m, mu, rows, r);
    }
}

/* With the bodies' relative motion H v and that of the surface: a contact whose bodies come apart is open. One whose
 * bodies approach was apart by what they come nearer, so that it shuts, or by more. Thus w is never against the
 * contacts: gaps, and the motion of what is commanded. Forces follow from whether it slips. */
static void draw_contact(friction_scene *s, const manner *m, double mu, int rows, const double *moving, double *w,
                         double *r)
{
    double u[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < rows; k++) {
        u[k] = moving[k] + w[k];
    }
    if (m->belts && happens(s, 0.5)) { /* whatever the bodies do: it is shut, and may be carried along */
        const bool carried = happens(s, 0.5);
        for (int k = 0; k < rows; k++) {
            w[k] = k == 0 || carried ? -moving[k] : 0.0;
            u[k] = moving[k] + w[k];
        }
    }
    const double size = length(moving, rows) + length(w, rows);
    if (length(u + 1, rows - 1) <= 1e-6 * size) { /* nothing but rounding: it sticks */
        for (int k = 1; k < rows; k++) {
            w[k] = -moving[k];
            u[k] = 0.0;
        }
    }
    if (u[0] > 1e-12 * size) {
        w[0] += happens(s, 0.5) ? 0.0 : uniform(s, 0.0, 0.5);
        return;
    }
    w[0] = -moving[0];
    if (!happens(s, m->active)) {
        w[0] += !m->strict && happens(s, 0.1) ? 0.0 : uniform(s, 0.01, 0.5);
        return;
    }
    draw_force(s, m, mu, rows, u, r);
}

/* w = -c at the contacts with what is commanded to move by c. */
static void command(const friction_scene *s, const twist *c, friction_case *f)
{
    for (int i = 0; i < s->touch_count; i++) {
        const friction_touch *k = &s->touches[i];
        perp_vec3 directions[3] = {k->normal, {-k->normal.y, k->normal.x, 0.0}, {0, 0, 0}};
        if (!s->planar) {
            perp_tangents(k->normal, &directions[1], &directions[2]);
        }
        const perp_vec3 velocity = perp_vec3_add(c->linear, perp_vec3_cross(c->angular, k->point));
        for (int row = 0; row < k->rows && k->held; row++) {
            convex_case_offset(f->base, i)[row] = -perp_vec3_dot(directions[row], velocity);
        }
    }
}

/* Limits around 0, some of which hold what moves towards them: of most joints and of few other unknowns. */
static void draw_limits(friction_scene *s, double load, friction_case *c)
{
    double *lower, *upper;
    convex_case_bounds(c->base, &lower, &upper);
    for (int j = 0; j < s->n; j++) {
        if (!happens(s, j >= s->body_count * s->dof ? 0.6 : 0.05)) {
            continue;
        }
        const double v = c->solution.x[j], force = happens(s, 0.2) ? 0.0 : load * uniform(s, 0.05, 1.0);
        const int which = below(s, 4); /* both beyond it, one of them open, held by one */
        const bool below_it = v < 0.0 || (v == 0.0 && happens(s, 0.5));
        lower[j] = which == 3 && below_it ? v : fmin(v, 0.0) - uniform(s, 0.0, 1.0);
        upper[j] = which == 3 && !below_it ? v : which == 1 ? INFINITY : fmax(v, 0.0) + uniform(s, 0.0, 1.0);
        c->solution.y_lower[j] = which == 3 && below_it ? force : 0.0;
        c->solution.y_upper[j] = which == 3 && !below_it ? force : 0.0;
    }
}

/* Two joints geared to each other, as they move already: C v = 0. */
static void add_loops(friction_scene *s, friction_case *c, const double *v)
{
    const int joints = s->n - s->body_count * s->dof, loops = joints < 3 ? 0 : 1 + below(s, joints / 3);
    for (int e = 0; e < loops; e++) {
        const int first = s->body_count * s->dof + below(s, joints - 1);
        const int dofs[2] = {first, first + 1 + below(s, s->n - first - 1)};
        const bool moving = fabs(v[dofs[0]]) > 1e-2 && fabs(v[dofs[1]]) > 1e-2;
        const double values[2] = {1.0, moving ? -v[dofs[0]] / v[dofs[1]] : uniform(s, -2.0, 2.0)};
        if (moving || (v[dofs[0]] == 0.0 && v[dofs[1]] == 0.0)) {
            convex_case_add_equality(c->base, 2, dofs, values, 0.0);
        }
    }
}

static void load_loops(friction_scene *s, double load, friction_case *c)
{
    for (int e = 0; e < c->system.equality_count; e++) {
        c->solution.y_equality[e] = load * uniform(s, -1.0, 1.0);
    }
}

/* f = H'r + C'y_equality + y_lower - y_upper - A v */
static void balance(friction_case *c)
{
    const perp_convex_point *p = &c->solution;
    double *f = convex_case_g(c->base), *sum = zeros(c->system.n), *av = zeros(c->system.n);
    convex_case_add_transposed(c->base, p->y, p->y_equality, sum);
    if (c->system.hessian) {
        convex_case_hessian(c->base, p->x, av);
    }
    for (int i = 0; i < c->system.n; i++) {
        f[i] = (double)((long double)sum[i] + p->y_lower[i] - p->y_upper[i] - av[i]);
    }
    free(sum);
    free(av);
}

/* What a case that is made from its solution starts from. */
typedef struct plan {
    const double *v;
    twist hand; /* the motion of what is commanded and no body */
    friction_inertia inertia;
    bool limits;
} plan;

/* The scene is assembled, and loops are there. */
static void make_known(friction_scene *s, const manner *m, const plan *p, friction_case *c)
{
    friction_case_finish(c, p->inertia != FRICTION_NOTHING, p->limits);
    memcpy(c->solution.x, p->v, (size_t)s->n * sizeof *p->v);
    double *moving = zeros(c->system.row_start[c->system.contact_count]);
    convex_case_rows(c->base, c->solution.x, moving);
    command(s, &p->hand, c);
    for (int i = 0; i < c->system.contact_count; i++) {
        const int first = c->system.row_start[i];
        draw_contact(s, m, c->mu[i], c->system.row_start[i + 1] - first, moving + first, convex_case_offset(c->base, i),
                     c->solution.y + first);
    }
    load_loops(s, m->load, c);
    if (p->limits) {
        draw_limits(s, m->load, c);
    }
    balance(c);
    c->proof = FRICTION_KNOWN;
    free(moving);
}

/* ---- a time step ------------------------------------------------------------------------------------------------- */

/* How far u is inside of K*, and the direction of r that opens it most. */
static double depth_of(double mu, int rows, const double *u, double *r)
{
    const double along = rows > 1 && mu > 0.0 ? length(u + 1, rows - 1) : 0.0;
    r[0] = 1.0;
    for (int k = 1; k < rows; k++) {
        r[k] = along > 0.0 ? -mu * u[k] / along : 0.0;
    }
    return u[0] - (along > 0.0 ? mu * along : 0.0);
}

/* A motion along which every contact opens by at least 1e-3 of the largest velocity: steps along the rows that open
 * least, from bodies that fly apart. */
static bool find_opening(const friction_scene *s, const friction_case *c, double *v)
{
    const perp_contact_qp *q = &c->system;
    double *u = zeros(q->row_start[q->contact_count]), *r = zeros(q->row_start[q->contact_count]);
    bool found = false;
    for (int i = 0; i < s->body_count; i++) {
        const perp_vec3 p = s->bodies[i].position;
        const perp_vec3 apart =
            s->planar ? perp_vec3_make(0.1 * p.x, p.y, 0) : perp_vec3_make(0.1 * p.x, 0.1 * p.y, p.z);
        memcpy(v + i * s->dof, &apart, (s->planar ? 2 : 3) * sizeof *v);
    }
    for (int step = 0; step < 150 && !found; step++) {
        double size = 0.0, least = INFINITY;
        for (int i = 0; i < q->n; i++) {
            size = fmax(size, fabs(v[i]));
        }
        convex_case_rows(c->base, v, u);
        for (int i = 0; i < q->contact_count; i++) {
            const int first = q->row_start[i], rows = q->row_start[i + 1] - first;
            const double depth = depth_of(c->mu[i], rows, u + first, r + first);
            least = fmin(least, depth);
            for (int k = 0; k < rows; k++) {
                r[first + k] *= depth < 0.02 * size || size == 0.0 ? 0.3 : 0.0;
            }
        }
        found = least > 1e-3 * size && size > 0.0;
        if (!found) {
            convex_case_add_transposed(c->base, r, NULL, v);
        }
    }
    free(u);
    free(r);
    return found;
}

/* Fast enough that w does not matter: H v + w strictly inside of every K*. */
static void scale_opening(friction_case *c, double *v)
{
    const perp_contact_qp *q = &c->system;
    double *u = zeros(q->row_start[q->contact_count]), direction[3], scale = 1.0;
    convex_case_rows(c->base, v, u);
    for (int i = 0; i < q->contact_count; i++) {
        const int first = q->row_start[i], rows = q->row_start[i + 1] - first;
        const double depth = depth_of(c->mu[i], rows, u + first, direction);
        scale = fmax(scale, (c->mu[i] * length(q->offset + first + 1, rows - 1) - q->offset[first] + 0.01) / depth);
    }
    for (int i = 0; i < q->n; i++) {
        v[i] *= scale;
    }
    free(u);
}

/* f = -A v_before - h (gravity and what fingers press with). */
static void load_step(friction_scene *s, friction_case *c, double squeeze, const double *before)
{
    double *f = convex_case_g(c->base);
    const perp_vec3 up = friction_up(s);
    memset(f, 0, (size_t)s->n * sizeof *f);
    if (before) {
        convex_case_hessian(c->base, before, f);
    }
    for (int j = 0; j < s->n; j++) {
        f[j] = -f[j];
    }
    for (int i = 0; i < s->body_count; i++) {
        double *at = f + i * s->dof;
        at[0] += STEP * GRAVITY * s->bodies[i].mass * up.x;
        at[1] += STEP * GRAVITY * s->bodies[i].mass * up.y;
        if (!s->planar) {
            at[2] += STEP * GRAVITY * s->bodies[i].mass * up.z;
        }
    }
    for (int i = 0; i < s->touch_count && squeeze > 0.0; i++) {
        const friction_touch *k = &s->touches[i];
        if (k->a >= 0 && k->a < s->body_count && s->bodies[k->a].driven) {
            double *at = f + k->a * s->dof;
            at[0] -= STEP * squeeze * k->normal.x;
            at[1] -= STEP * squeeze * k->normal.y;
            if (!s->planar) {
                at[2] -= STEP * squeeze * k->normal.z;
            }
        }
    }
}

/* False where no motion opens all contacts: the case is then to be assembled again. */
static bool make_step(friction_scene *s, friction_case *c)
{
    friction_case_finish(c, true, false);
    if (!find_opening(s, c, c->solution.x)) {
        return false;
    }
    const int rows = c->system.row_start[c->system.contact_count], kind = below(s, 4); /* rest, pushed, gaps, impact */
    const double speed = kind == 0 ? 0.0 : pow(10.0, uniform(s, -2.0, 0.5)), restitution = uniform(s, 0.0, 1.0);
    double *before = zeros(c->system.n), *u = zeros(rows);
    draw_motion(s, before);
    for (int j = 0; j < s->n; j++) {
        before[j] *= speed;
    }
    convex_case_rows(c->base, before, u);
    for (int i = 0; i < c->system.contact_count; i++) {
        const int first = c->system.row_start[i];
        double *w = convex_case_offset(c->base, i);
        w[0] = kind == 2 && happens(s, 0.5) ? uniform(s, 0.0, 0.02) / STEP : 0.0;
        w[0] += kind == 3 && u[first] < 0.0 ? restitution * u[first] : 0.0;
    }
    load_step(s, c, s->family == FRICTION_GRASP ? pow(10.0, uniform(s, 0.0, 3.0)) : 0.0, before);
    scale_opening(c, c->solution.x);
    c->proof = FRICTION_REACHABLE;
    free(before);
    free(u);
    return true;
}

/* ---- cases by number --------------------------------------------------------------------------------------------- */

static perp_random seeded(uint64_t seed, int index, uint64_t purpose)
{
    perp_random random = {seed};
    random.state = perp_random_bits(&random) ^ ((uint64_t)index * 0x9E3779B97F4A7C15u) ^ purpose;
    perp_random_bits(&random);
    return random;
}

/* About half below 20, a tail up to `most`. */
static int draw_contacts(friction_scene *s, int most)
{
    const double part = pow(uniform(s, 0.0, 1.0), 1.2);
    return (int)exp(part * log(most + 0.99));
}

static void start_scene(friction_scene *s, const friction_family *families, int count)
{
    s->family = families[below(s, count)];
    s->planar = happens(s, 0.25);
    s->even = happens(s, 0.2);
    s->decades = happens(s, 0.35) ? uniform(s, 0.0, 6.0) : 0.5;
    s->slope = uniform(s, 0.02, 1.2);
    s->width = 0;
    const int most = s->family == FRICTION_DENSE ? 60 : s->family == FRICTION_ROBOT ? 80 : FRICTION_MAX_CONTACTS;
    friction_scene_build(s, draw_contacts(s, most));
    friction_scene_roughen(s);
}

static manner draw_manner(friction_scene *s)
{
    const double load = pow(10.0, uniform(s, -1.0, 1.5)), active = happens(s, 0.3) ? 1.0 : uniform(s, 0.2, 1.0);
    return (manner){load, active, happens(s, 0.03), false};
}

void friction_generator_make(friction_case *c, uint64_t seed, int index)
{
    static const friction_family families[] = {FRICTION_STACK, FRICTION_STACK, FRICTION_WALL,    FRICTION_WEDGE,
                                               FRICTION_WEDGE, FRICTION_GRASP, FRICTION_GRASP,   FRICTION_PILE,
                                               FRICTION_PILE,  FRICTION_ARCH,  FRICTION_INCLINE, FRICTION_INCLINE,
                                               FRICTION_DENSE, FRICTION_ROBOT, FRICTION_ROBOT,   FRICTION_PUSH};
    static friction_scene s;
    s.random = seeded(seed, index, 0xC0);
    start_scene(&s, families, sizeof families / sizeof *families);
    const manner m = draw_manner(&s);
    const bool step = happens(&s, 0.5), limits = happens(&s, s.robot_count > 0 ? 0.5 : 0.05);
    const bool loops = s.robot_count > 0 && happens(&s, 0.3);
    const perp_random before = s.random;
    friction_scene_assemble(&s, FRICTION_MASSES, c);
    if (!m.belts && step && make_step(&s, c)) {
        c->family = family_names[s.family];
        return;
    }
    s.random = before;
    friction_scene_assemble(&s, FRICTION_MASSES, c);
    c->family = m.belts ? "belts" : family_names[s.family];
    double *v = zeros(s.n);
    const twist common = draw_motion(&s, v), other = draw_twist(&s);
    const plan p = {v, happens(&s, 0.25) ? other : common, FRICTION_MASSES, limits};
    if (loops) {
        add_loops(&s, c, v);
    }
    make_known(&s, &m, &p, c);
    free(v);
}

/* ---- without inertia --------------------------------------------------------------------------------------------- */

/* What a hand takes along: all that is driven, touches it, or touches what it takes along. */
static void mark_carried(const friction_scene *s, bool *carried)
{
    for (int i = 0; i < s->body_count; i++) {
        carried[i] = s->bodies[i].driven;
    }
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < s->touch_count; i++) {
            const friction_touch *k = &s->touches[i];
            const bool a = k->a >= 0 && k->a < s->body_count, b = k->b >= 0 && k->b < s->body_count;
            const bool by_a = k->held || (a && carried[k->a]), by_b = b && carried[k->b];
            if (b && by_a && !carried[k->b]) {
                more = carried[k->b] = true;
            } else if (a && by_b && !carried[k->a]) {
                more = carried[k->a] = true;
            }
        }
    }
}

/* Only what is driven or commanded, and what it takes along, moves: anything else that slips would need a load that is
 * at its limit to the last bit. Pushers and hands take all bodies along; elsewhere some bodies become driven. */
static twist draw_command(friction_scene *s, double *v)
{
    const twist rest = {{0, 0, 0}, {0, 0, 0}};
    const bool led = s->family == FRICTION_PUSH || s->family == FRICTION_GRASP;
    bool carried[FRICTION_MAX_BODIES];
    twist hand = draw_twist(s);
    if (s->family == FRICTION_PUSH) { /* ahead, and along the floor */
        hand.linear = perp_vec3_make(fabs(hand.linear.x), s->planar ? 0.0 : 0.3 * hand.linear.y, 0.0);
        hand.angular = happens(s, 0.5) || s->planar ? rest.angular : perp_vec3_make(0, 0, 0.2 * hand.angular.z);
    }
    const bool moves = happens(s, 0.65);
    const double driven = led || !moves ? 0.0 : uniform(s, 0.05, 0.6);
    mark_carried(s, carried);
    for (int i = 0; i < s->body_count; i++) {
        if (led && moves && carried[i]) {
            friction_scene_set_twist(s, i, hand.linear, hand.angular, v);
        } else if (happens(s, driven)) {
            const twist own = draw_twist(s);
            s->bodies[i].driven = true;
            friction_scene_set_twist(s, i, own.linear, own.angular, v);
        }
    }
    for (int j = s->body_count * s->dof; j < s->n; j++) {
        v[j] = moves ? uniform(s, -1.0, 1.0) : 0.0;
    }
    return moves ? hand : rest;
}

/* Without stiffness what is driven follows its command exactly: v_j = d_j. */
static void add_position_control(const friction_scene *s, const double *v, friction_case *c)
{
    const double one = 1.0;
    for (int j = 0; j < s->n; j++) {
        if (j >= s->body_count * s->dof || s->bodies[j / s->dof].driven) {
            convex_case_add_equality(c->base, 1, &j, &one, v[j]);
        }
    }
}

void friction_generator_make_quasistatic(friction_case *c, uint64_t seed, int index)
{
    static const friction_family families[] = {
        FRICTION_GRASP, FRICTION_GRASP, FRICTION_GRASP, FRICTION_WEDGE,   FRICTION_WEDGE, FRICTION_PUSH, FRICTION_PUSH,
        FRICTION_PUSH,  FRICTION_STACK, FRICTION_PILE,  FRICTION_INCLINE, FRICTION_ARCH,  FRICTION_ROBOT};
    static friction_scene s;
    s.random = seeded(seed, index, 0x57A71C);
    start_scene(&s, families, sizeof families / sizeof *families);
    manner m = draw_manner(&s);
    m.strict = true; /* a load at the limit of what can be held has no solution once it is rounded */
    m.active = s.family == FRICTION_PUSH || s.family == FRICTION_GRASP ? 1.0 : m.active; /* nothing is left behind */
    const friction_inertia inertia = happens(&s, 0.6) ? FRICTION_DRIVES : FRICTION_NOTHING;
    const bool limits = happens(&s, s.robot_count > 0 ? 0.4 : 0.05), loops = s.robot_count > 0 && happens(&s, 0.2);
    double *v = zeros(s.n);
    const plan p = {v, draw_command(&s, v), inertia, limits && inertia == FRICTION_DRIVES};
    friction_scene_assemble(&s, inertia, c);
    c->family = m.belts ? "belts" : family_names[s.family];
    if (inertia == FRICTION_NOTHING) {
        add_position_control(&s, v, c);
    } else if (loops) {
        add_loops(&s, c, v);
    }
    make_known(&s, &m, &p, c);
    free(v);
}

/* ---- for measuring ----------------------------------------------------------------------------------------------- */

static void make_measured(friction_case *c, friction_family family, int contacts, uint64_t seed, int step,
                          const double *before)
{
    static friction_scene s;
    s.random = seeded(seed, contacts, 0xBE);
    s.family = family;
    s.planar = s.even = false;
    s.decades = 0.5;
    s.width = 1 + (int)cbrt(contacts / 4.0); /* about as high as it is wide */
    friction_scene_build(&s, contacts);
    for (int i = 0; i < s.touch_count; i++) {
        s.touches[i].mu = 0.5;
    }
    friction_scene_assemble(&s, FRICTION_MASSES, c);
    friction_case_finish(c, true, false);
    load_step(&s, c, 0.0, before);
    perp_random push = seeded(seed, step, 0x9054);
    for (int i = 0; i < s.body_count; i++) {
        for (int k = 0; k < 3; k++) { /* a tenth of the weight, along and across */
            convex_case_g(c->base)[6 * i + k] +=
                0.1 * STEP * GRAVITY * s.bodies[i].mass * perp_random_uniform(&push, -1.0, 1.0);
        }
    }
    c->family = family_names[family];
}

void friction_generator_make_stack_step(friction_case *c, int contacts, uint64_t seed, int step, const double *before)
{
    make_measured(c, FRICTION_STACK, contacts, seed, step, before);
}

void friction_generator_make_pile_step(friction_case *c, int contacts, uint64_t seed, int step, const double *before)
{
    make_measured(c, FRICTION_PILE, contacts, seed, step, before);
}
