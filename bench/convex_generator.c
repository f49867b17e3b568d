#include "convex_generator_scene.h"

#include <string.h>

static const char *const family_names[FAMILY_COUNT] = {"pile", "faces", "wedge", "reach"};
static const char *const curvature_names[CURVATURE_COUNT] = {"strict", "mixed", "semidefinite", "flat"};

/* ---- a problem from its solution --------------------------------------------------------------------------------- */

static double force(scene *s)
{
    return s->load * uniform(s, 0.05, 1.0);
}

/* A force in the cone: mostly inside of it, sometimes on its surface or zero. */
static void draw_force(scene *s, int slacks, bool quadratic, double *y)
{
    const int manner = below(s, 6);
    if (!quadratic) {
        for (int k = 0; k < slacks; k++) {
            y[k] = manner == 0 || happens(s, 0.3) ? 0.0 : force(s);
        }
        return;
    }
    double norm = 0.0;
    for (int k = 1; k < slacks; k++) {
        y[k] = uniform(s, -1.0, 1.0);
        norm = hypot(norm, y[k]);
    }
    y[0] = manner == 0 ? 0.0 : force(s);
    for (int k = 1; k < slacks; k++) {
        y[k] *= norm > 0.0 ? y[0] / norm * (manner == 1 ? 1.0 - 1e-15 : uniform(s, 0.0, 0.99)) : 0.0;
    }
}

/* With the relative motion given, the gap that lets the contact slide (or stick, where nothing moves), and a force that
 * goes with it; or a larger gap and no force. */
static void close_contact(scene *s, int slacks, bool quadratic, double active, const double *moving, double *offset,
                          double *y)
{
    double least = moving[0], tangential = 0.0, largest = 0.0;
    for (int k = 0; k < slacks; k++) {
        largest = fmax(largest, fabs(moving[k]));
        least = fmin(least, moving[k]);
        tangential = k ? hypot(tangential, moving[k]) : 0.0;
    }
    const bool still = largest < 1e-13;
    double gap = still ? 0.0 : quadratic ? tangential - moving[0] : -least;
    const bool touching = happens(s, active);
    gap += touching ? 0.0 : uniform(s, 0.0, 0.5);
    for (int k = 0; k < slacks; k++) {
        offset[k] = quadratic && k > 0 ? 0.0 : gap;
        y[k] = 0.0;
    }
    if (!touching) {
        return;
    }
    if (still || (quadratic && tangential < 1e-13)) {
        draw_force(s, slacks, quadratic, y);
    } else if (quadratic) {
        y[0] = happens(s, 0.1) ? 0.0 : force(s);
        for (int k = 1; k < slacks; k++) {
            y[k] = -y[0] * moving[k] / tangential;
        }
    } else {
        for (int k = 0; k < slacks; k++) {
            y[k] = moving[k] + gap < 1e-14 * (1.0 + largest) && !happens(s, 0.15) ? force(s) : 0.0;
        }
    }
}

/* Slack and force complementary at random, with no mechanics behind the offset. */
static void draw_pair(scene *s, int slacks, bool quadratic, const double *moving, double *offset, double *y)
{
    double slack[MAX_RAYS] = {0};
    const int manner = below(s, 4); /* force, slack, both on the surface, both zero */
    draw_force(s, slacks, quadratic, y);
    for (int k = 0; k < slacks; k++) {
        slack[k] = manner == 1 || (!quadratic && y[k] == 0.0 && happens(s, 0.7)) ? uniform(s, 0.0, 1.0) : 0.0;
        y[k] = manner == 1 || manner == 3 ? 0.0 : y[k];
    }
    if (quadratic && manner == 1) {
        for (int k = 1; k < slacks; k++) {
            slack[k] *= 0.5 * slack[0];
        }
    } else if (quadratic && manner == 2 && slacks > 1) {
        double norm = 0.0;
        for (int k = 1; k < slacks; k++) {
            norm = hypot(norm, y[k]);
        }
        const double scale = uniform(s, 0.1, 1.0);
        slack[0] = norm > 0.0 ? scale : 0.0;
        y[0] = norm > 0.0 ? norm : y[0];
        for (int k = 1; k < slacks; k++) {
            slack[k] = norm > 0.0 ? -scale * y[k] / norm : 0.0;
        }
    }
    for (int k = 0; k < slacks; k++) {
        offset[k] = slack[k] - moving[k];
    }
}

/* Limits around x, some of which hold it. */
static void draw_limits(scene *s, convex_case *c)
{
    double *lower, *upper;
    convex_case_bounds(c, &lower, &upper);
    for (int j = 0; j < s->n; j++) {
        const bool robot = j >= s->robot_dof[0] && j < s->robot_dof[0] + s->joint_count;
        if (!happens(s, robot ? 0.6 : 0.05) || (s->falling && s->falling[j] != 0.0)) {
            continue;
        }
        const int manner = below(s, 5);
        const double x = c->x[j];
        lower[j] = manner == 0 || manner == 4 ? x : x - uniform(s, 0.0, 1.0);
        upper[j] = manner == 1 || manner == 4 ? x : manner == 2 ? INFINITY : x + uniform(s, 0.0, 1.0);
        c->y_lower[j] = manner == 0 && happens(s, 0.8) ? force(s) : 0.0;
        c->y_upper[j] = (manner == 1 && happens(s, 0.8)) || manner == 4 ? force(s) : 0.0;
    }
}

/* g = A'y + C'y_equality + y_lower - y_upper - H x */
static void balance(convex_case *c, const double *x)
{
    double *g = convex_case_g(c), hx[CONVEX_MAX_N] = {0}, sum[CONVEX_MAX_N] = {0};
    convex_case_hessian(c, x, hx);
    convex_case_add_transposed(c, c->y, c->y_equality, sum);
    for (int i = 0; i < c->qp.n; i++) {
        g[i] = (double)((long double)sum[i] + c->y_lower[i] - c->y_upper[i] - hx[i]);
    }
}

static void close_loops(scene *s, convex_case *c)
{
    for (int e = 0; e < c->qp.equality_count; e++) {
        long double sum = 0.0L;
        for (int k = c->qp.equality_start[e]; k < c->qp.equality_start[e + 1]; k++) {
            sum += (long double)c->qp.equality_values[k] * c->x[c->qp.equality_dofs[k]];
        }
        *convex_case_target(c, e) = (double)sum;
        c->y_equality[e] = s->load * uniform(s, -1.0, 1.0);
    }
}

static void make_from_solution(scene *s, convex_case *c)
{
    double moving[CONVEX_MAX_CONTACTS * MAX_RAYS];
    const bool plain = happens(s, 0.15);
    const double active = s->family == FACES ? 1.0 : uniform(s, 0.2, 1.0);
    scene_draw_motion(s, c->x);
    convex_case_rows(c, c->x, moving);
    for (int i = 0; i < c->qp.contact_count; i++) {
        const int first = c->qp.slack_start[i], slacks = c->qp.slack_start[i + 1] - first;
        const bool quadratic = c->qp.quadratic && c->qp.quadratic[i];
        if (plain) {
            draw_pair(s, slacks, quadratic, moving + first, convex_case_offset(c, i), c->y + first);
        } else {
            close_contact(s, slacks, quadratic, active, moving + first, convex_case_offset(c, i), c->y + first);
        }
    }
    close_loops(s, c);
    if (s->bounded) {
        draw_limits(s, c);
    }
    balance(c, c->x);
    memcpy(c->x_dual, c->x, (size_t)c->qp.n * sizeof *c->x);
    c->kkt = true;
}

/* ---- a problem as physics gives it ------------------------------------------------------------------------------- */

/* A motion along which every contact opens, by at least 1e-3 of the largest velocity: steps along the rows that open
 * least. False where none was found. */
static bool find_opening(const convex_case *c, double *u, double *margin)
{
    const perp_contact_qp *q = &c->qp;
    double moving[CONVEX_MAX_CONTACTS * MAX_RAYS], y[CONVEX_MAX_CONTACTS * MAX_RAYS + 1];
    for (int step = 0; step < 400; step++) {
        convex_case_rows(c, u, moving);
        double least = INFINITY, size = 0.0;
        for (int i = 0; i < q->n; i++) {
            size = fmax(size, fabs(u[i]));
        }
        memset(y, 0, sizeof y);
        for (int i = 0; i < q->contact_count; i++) {
            const int first = q->slack_start[i], slacks = q->slack_start[i + 1] - first;
            const bool quadratic = q->quadratic && q->quadratic[i];
            double depth = moving[first], norm = 0.0;
            int worst = 0;
            for (int k = 1; k < slacks; k++) {
                norm = hypot(norm, moving[first + k]);
                worst = moving[first + k] < moving[first + worst] ? k : worst;
            }
            depth = quadratic ? depth - norm : moving[first + worst];
            least = fmin(least, depth);
            if (depth > 0.01 * size) {
                continue;
            }
            for (int k = 0; k < slacks; k++) {
                y[first + k] = quadratic ? (k == 0 ? 1.0 : norm > 0.0 ? -moving[first + k] / norm : 0.0) : k == worst;
            }
        }
        if (size > 0.0 && least >= 1e-3 * size) {
            for (int i = 0; i < q->n; i++) {
                u[i] /= size;
            }
            *margin = 0.99 * least / size;
            return true;
        }
        convex_case_add_transposed(c, y, y + CONVEX_MAX_CONTACTS * MAX_RAYS, u);
    }
    return false;
}

/* Gravity and commands where H carries them; where it does not, the forces of y. */
static void draw_physical_g(scene *s, convex_case *c)
{
    double *g = convex_case_g(c), need[CONVEX_MAX_N];
    const double h = happens(s, 0.5) ? 0.01 : 0.1;
    balance(c, c->x_dual); /* x_dual = 0 */
    for (int b = 0; b < c->qp.block_count; b++) {
        const int first = c->qp.block_start[b], size = c->qp.block_start[b + 1] - first;
        const double *block = convex_case_block(c, b);
        bool zero = !c->qp.hessian;
        for (int i = 0; i < size && !zero; i++) {
            zero = !(block[i * size + i] > 0.0);
        }
        for (int i = 0; i < size && !zero; i++) {
            need[first + i] = 0.0;
        }
        for (int i = 0; i < size * size && !zero; i++) { /* in the range of H: a free velocity or a command */
            need[first + i / size] += block[i] * (i % size == (s->planar ? 1 : 2) ? 9.81 * h : 0.3);
        }
        for (int i = 0; i < size && !zero; i++) {
            g[first + i] += need[first + i];
            c->x_dual[first + i] = i == (s->planar ? 1 : 2) ? -9.81 * h : -0.3;
        }
    }
}

static bool make_physical(scene *s, convex_case *c)
{
    const bool cones = convex_case_has_cones(c);
    const double closed = s->family == FACES ? 1.0 : uniform(s, 0.0, 1.0);
    if (cones && (c->qp.equality_count > 0 || s->bounded || !find_opening(c, c->x, &c->margin))) {
        memset(c->x, 0, (size_t)c->qp.n * sizeof *c->x);
        return false;
    }
    for (int i = 0; i < c->qp.contact_count; i++) {
        const int first = c->qp.slack_start[i], slacks = c->qp.slack_start[i + 1] - first;
        const bool quadratic = c->qp.quadratic && c->qp.quadratic[i];
        const double gap = happens(s, closed) ? 0.0 : uniform(s, 0.0, 0.5), y = force(s);
        for (int k = 0; k < slacks; k++) {
            convex_case_offset(c, i)[k] = quadratic && k > 0 ? 0.0 : gap;
            c->y[first + k] = quadratic && k > 0 ? 0.0 : y;
        }
        c->margin = quadratic ? fmin(c->margin, y) : c->margin;
    }
    if (s->bounded) {
        draw_limits(s, c); /* around zero, which is feasible */
    }
    draw_physical_g(s, c);
    return true;
}

/* ---- infeasible -------------------------------------------------------------------------------------------------- */

/* A contradiction that is added to a problem: rows before it is finished, constants after. */
typedef struct conflict {
    int manner;
    int contact, equality, dof; /* what it contradicts; the added one is the last */
    int used[4], used_count;    /* manner 3: the contacts that are combined */
    double weight;              /* manner 2: the factor between the two rows */
} conflict;

static int draw_dofs(scene *s, int most, int *dofs, double *values)
{
    bool taken[CONVEX_MAX_N] = {false};
    const int count = 1 + below(s, most < s->n ? most : s->n);
    int found = 0;
    for (int i = 0; i < count; i++) {
        taken[below(s, s->n)] = true;
    }
    for (int d = 0; d < s->n; d++) {
        if (taken[d] && !(s->falling && s->falling[d] != 0.0)) {
            dofs[found] = d;
            values[found++] = happens(s, 0.3) ? 1.0 : uniform(s, -1.0, 1.0);
        }
    }
    return found;
}

/* Rows that close loops: some once more (times a power of two), all consistent until a conflict says otherwise. */
static void add_loops(scene *s, convex_case *c, int wanted)
{
    int dofs[8], count = 0;
    double values[8];
    for (int e = 0; e < wanted; e++) {
        const bool again = e > 0 && count > 0 && happens(s, 0.3);
        if (!again) {
            count = draw_dofs(s, 6, dofs, values);
        }
        const double factor = again ? (happens(s, 0.5) ? -2.0 : 0.5) : 1.0;
        for (int k = 0; k < count; k++) {
            values[k] *= factor;
        }
        if (count > 0) {
            convex_case_add_equality(c, count, dofs, values, 0.0);
        }
    }
}

/* The row -A'y over some contacts that share unknowns, so that y and this row balance. */
static void add_combination(scene *s, convex_case *c, conflict *f)
{
    double sum[CONVEX_MAX_N] = {0}, values[CONVEX_MAX_N];
    int dofs[CONVEX_MAX_N], count = 0;
    convex_case view = *c;
    convex_case_finish(&view, false, false);
    f->used_count = 1 + below(s, view.qp.contact_count < 4 ? view.qp.contact_count : 4);
    for (int k = 0; k < f->used_count; k++) {
        f->used[k] = below(s, view.qp.contact_count);
        const int first = view.qp.slack_start[f->used[k]], slacks = view.qp.slack_start[f->used[k] + 1] - first;
        const bool quadratic = view.qp.quadratic && view.qp.quadratic[f->used[k]];
        for (int i = 0; i < slacks; i++) {
            view.y[first + i] = quadratic && i > 0 ? 0.3 : 1.0;
        }
    }
    convex_case_add_transposed(&view, view.y, view.y_equality, sum);
    for (int d = 0; d < view.qp.n; d++) {
        if (fabs(sum[d]) > 1e-14) {
            dofs[count] = d;
            values[count++] = -sum[d];
        }
    }
    if (count == 0) {
        dofs[count] = 0;
        values[count++] = 0.0;
    }
    scene_add_plain_row(c, count, dofs, values);
}

static void add_conflict(scene *s, convex_case *c, conflict *f)
{
    int dofs[8];
    double values[8], one = 1.0;
    f->manner = below(s, 5);
    if (f->manner == 0) {
        f->contact = below(s, s->touch_count);
        scene_add_touch(s, &s->touches[f->contact], -1.0, c);
    } else if (f->manner == 1) {
        f->dof = below(s, s->n);
        scene_add_plain_row(c, 1, &f->dof, &one);
        s->bounded = true;
    } else if (f->manner == 3) {
        add_combination(s, c, f);
    } else {
        const int count = draw_dofs(s, 6, dofs, values);
        f->equality = c->qp.equality_count;
        convex_case_add_equality(c, count, dofs, values, 0.0);
        f->weight = happens(s, 0.5) ? -2.0 : 0.5;
        for (int k = 0; k < count; k++) {
            values[k] *= f->manner == 2 ? f->weight : -1.0;
        }
        if (f->manner == 2) {
            convex_case_add_equality(c, count, dofs, values, 0.0);
        } else {
            scene_add_plain_row(c, count, dofs, values);
        }
    }
}

static void clear_multipliers(convex_case *c)
{
    const size_t n = (size_t)c->qp.n, slacks = (size_t)c->qp.slack_start[c->qp.contact_count];
    memset(c->y, 0, slacks * sizeof *c->y);
    memset(c->y_equality, 0, (size_t)c->qp.equality_count * sizeof *c->y);
    memset(c->y_lower, 0, n * sizeof *c->y);
    memset(c->y_upper, 0, n * sizeof *c->y);
}

static void contradict_contacts(convex_case *c, const conflict *f, double margin)
{
    const int last = c->qp.contact_count - 1, slacks = c->qp.slack_start[last + 1] - c->qp.slack_start[last];
    const bool quadratic = c->qp.quadratic && c->qp.quadratic[last];
    const double *first_offset = convex_case_offset(c, f->contact);
    for (int k = 0; k < slacks; k++) {
        if (quadratic && k > 0) {
            continue;
        }
        convex_case_offset(c, last)[k] = -first_offset[k] - margin;
        c->y[c->qp.slack_start[last] + k] = c->y[c->qp.slack_start[f->contact] + k] = 1.0;
    }
}

static void contradict_combination(convex_case *c, const conflict *f, double margin)
{
    const int last = c->qp.contact_count - 1;
    long double sum = 0.0L;
    for (int i = 0; i < f->used_count; i++) {
        const int first = c->qp.slack_start[f->used[i]], slacks = c->qp.slack_start[f->used[i] + 1] - first;
        const bool quadratic = c->qp.quadratic && c->qp.quadratic[f->used[i]];
        for (int k = 0; k < slacks; k++) {
            c->y[first + k] = quadratic && k > 0 ? 0.3 : 1.0;
        }
    }
    for (int k = 0; k < c->qp.slack_start[last]; k++) {
        sum += (long double)c->qp.offset[k] * c->y[k];
    }
    c->y[c->qp.slack_start[last]] = 1.0;
    *convex_case_offset(c, last) = (double)-sum - margin;
}

/* Constants that cannot be met, and the Farkas vector. The problem was balanced before, so that its dual is feasible.
 */
static void contradict(scene *s, convex_case *c, const conflict *f)
{
    const double margin = log_uniform(s, 0.01, 1.0);
    const int last = c->qp.contact_count - 1, e = f->equality;
    double *lower, *upper;
    convex_case_bounds(c, &lower, &upper);
    clear_multipliers(c);
    c->claim = CONVEX_INFEASIBLE;
    c->kkt = false;
    switch (f->manner) {
    case 0: /* a contact from the other side as well, nearer */
        contradict_contacts(c, f, margin);
        break;
    case 1: /* a row against a joint's limit */
        lower[f->dof] = -INFINITY;
        upper[f->dof] = -*convex_case_offset(c, last) - margin;
        c->y[c->qp.slack_start[last]] = c->y_upper[f->dof] = 1.0;
        break;
    case 2: /* a loop that is closed twice, at two places */
        *convex_case_target(c, e + 1) = f->weight * *convex_case_target(c, e) - margin;
        c->y_equality[e] = f->weight;
        c->y_equality[e + 1] = -1.0;
        break;
    case 3:
        contradict_combination(c, f, margin);
        break;
    default: /* a row against a loop */
        *convex_case_offset(c, last) = *convex_case_target(c, e) - margin;
        c->y[c->qp.slack_start[last]] = c->y_equality[e] = 1.0;
        break;
    }
}

/* ---- unbounded --------------------------------------------------------------------------------------------------- */

/* Some bodies without a Hessian move as one, and every contact that would stop them is turned out of the way. */
static void let_fall(scene *s, double *direction)
{
    const perp_vec3 linear = happens(s, 0.5) ? perp_vec3_scale(-1.0, up(s)) : random_vector(s, s->planar);
    const perp_vec3 angular = happens(s, 0.5) ? perp_vec3_make(0, 0, 0) : scene_random_turn(s);
    const double share = uniform(s, 0.0, 1.0);
    const int at_least = below(s, s->body_count);
    for (int i = 0; i < s->body_count; i++) {
        if (i == at_least || happens(s, share)) {
            s->bodies[i].weightless = true;
            scene_set_twist(s, i, linear, angular, direction);
        }
    }
    for (int i = 0; i < s->touch_count; i++) {
        touch *k = &s->touches[i];
        perp_vec3 relative = {0, 0, 0};
        double *parts[3] = {&relative.x, &relative.y, &relative.z};
        for (int axis = 0; axis < (s->planar ? 2 : 3); axis++) {
            double row[CONVEX_MAX_N] = {0};
            bool touched[CONVEX_MAX_N];
            const perp_vec3 e = {axis == 0, axis == 1, axis == 2};
            scene_add_velocity(s, k->a, k->point, e, -1.0, row, touched);
            scene_add_velocity(s, k->b, k->point, e, 1.0, row, touched);
            for (int d = 0; d < s->n; d++) {
                *parts[axis] += row[d] * direction[d];
            }
        }
        const double speed = perp_vec3_norm(relative), opening = perp_vec3_dot(relative, k->normal);
        const double sliding = sqrt(fmax(0.0, speed * speed - opening * opening));
        if (speed > 1e-9 && opening < 1.01 * k->mu * sliding + 1e-9) {
            k->normal = perp_vec3_normalise(relative);
        }
    }
    s->falling = direction;
}

/* g'd = -slope from a balanced problem: y'A d >= 0 is undone along d. */
static void tilt(scene *s, convex_case *c, const double *direction)
{
    double *g = convex_case_g(c), square = 0.0, size = 0.0, largest = 0.0, slope = 0.0;
    for (int i = 0; i < c->qp.n; i++) {
        square += direction[i] * direction[i];
        size = fmax(size, fabs(direction[i]));
        largest = fmax(largest, fabs(g[i]));
        slope += g[i] * direction[i];
    }
    const double wanted = -size * uniform(s, 0.1, 1.0) * (1.0 + 0.1 * largest);
    for (int i = 0; i < c->qp.n; i++) {
        g[i] += (wanted - slope) * direction[i] / square;
    }
    memcpy(c->direction, direction, (size_t)c->qp.n * sizeof *direction);
    c->claim = CONVEX_UNBOUNDED;
    c->kkt = false;
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static double draw_scene(scene *s, uint64_t seed, int index)
{
    perp_random mixing = {seed};
    memset(s, 0, sizeof *s);
    s->random.state = perp_random_bits(&mixing) ^ ((uint64_t)index * 0x9E3779B97F4A7C15u);
    perp_random_bits(&s->random);
    s->planar = happens(s, 0.25);
    s->family = (family)below(s, FAMILY_COUNT);
    const int kind = below(s, 20);
    s->curvature = kind < 9 ? STRICT : kind < 12 ? MIXED : kind < 19 ? SEMIDEFINITE : FLAT;
    s->symmetric = s->family == FACES && happens(s, 0.5);
    s->load = happens(s, 0.5) ? 1.0 : log_uniform(s, 1e-2, 1e3);
    scene_choose_sizes(s);
    if (s->body_count == 0 && s->family != REACH) {
        s->family = REACH;
    }
    const double decades = happens(s, 0.3) ? 0.0 : uniform(s, 0.0, 8.0);
    scene_make_bodies(s, decades);
    scene_make_robots(s);
    scene_make_touches(s);
    return decades;
}

/* H is positive definite: it factors, and the generator meant it to. */
static bool is_unique(const scene *s, const convex_case *c)
{
    double x[CONVEX_MAX_N];
    return s->curvature == STRICT && s->falling == NULL && convex_case_solve_hessian(c, c->qp.g, x);
}

void convex_generator_make(convex_case *c, uint64_t seed, int index)
{
    scene s;
    double direction[CONVEX_MAX_N] = {0};
    conflict f = {0};
    const double decades = draw_scene(&s, seed, index);
    const int lot = below(&s, 10);
    const convex_claim claim = lot == 0                       ? CONVEX_INFEASIBLE
                               : lot == 1 && s.body_count > 0 ? CONVEX_UNBOUNDED
                                                              : CONVEX_SOLVABLE;
    if (claim == CONVEX_UNBOUNDED) {
        let_fall(&s, direction);
    }
    scene_make_hessian(&s, c, decades);
    for (int i = 0; i < s.touch_count; i++) {
        scene_add_touch(&s, &s.touches[i], 1.0, c);
    }
    add_loops(&s, c, happens(&s, 0.25) ? 1 + below(&s, 6) : 0);
    s.bounded = happens(&s, s.joint_count > 0 ? 0.5 : 0.1);
    if (claim == CONVEX_INFEASIBLE) {
        add_conflict(&s, c, &f);
    }
    convex_case_finish(c, s.curvature != FLAT, s.bounded);
    c->family = family_names[s.family];
    c->curvature = curvature_names[s.curvature];
    const bool physical = claim == CONVEX_SOLVABLE && happens(&s, 0.35) && make_physical(&s, c);
    if (!physical) {
        make_from_solution(&s, c);
    }
    if (claim == CONVEX_INFEASIBLE) {
        contradict(&s, c, &f);
    } else if (claim == CONVEX_UNBOUNDED) {
        tilt(&s, c, direction);
    }
    c->primal_unique = claim == CONVEX_SOLVABLE && is_unique(&s, c);
}
