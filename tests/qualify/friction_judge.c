#include "friction_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

static real *zeros(int count)
{
    real *r = calloc((size_t)count + 1, sizeof *r);
    if (!r) {
        fprintf(stderr, "friction_judge: out of memory\n");
        exit(2);
    }
    return r;
}

static real norm(const real *x, int count)
{
    real square = 0.0L;
    for (int i = 0; i < count; i++) {
        square += x[i] * x[i];
    }
    return sqrtl(square);
}

/* On {mu fn >= |ft|}; mu = 0 is the half-line of the normal. */
static void project(real mu, int rows, const real *y, real *p)
{
    const real along = norm(y + 1, rows - 1);
    memset(p, 0, (size_t)rows * sizeof *p);
    if (mu == 0.0L || rows == 1) {
        p[0] = fmaxl(0.0L, y[0]);
    } else if (along <= mu * y[0]) {
        memcpy(p, y, (size_t)rows * sizeof *p);
    } else if (mu * along > -y[0]) {
        p[0] = (y[0] + mu * along) / (1.0L + mu * mu);
        for (int k = 1; k < rows; k++) {
            p[k] = mu * p[0] * y[k] / along;
        }
    }
}

/* One contact's errors, as velocities, made the largest in `v`. */
static void judge_law(real mu, int rows, const real *r, const real *u, real rho, real scale, friction_verdict *v)
{
    real z[3], y[3], p[3], error[3], power = 0.0L;
    const real slip = rows > 1 ? norm(u + 1, rows - 1) : 0.0L;
    mu = rows > 1 ? mu : 0.0L;
    for (int k = 0; k < rows; k++) {
        z[k] = u[k] + (k == 0 ? mu * slip : 0.0L);
        y[k] = r[k] - rho * z[k];
    }
    project(mu, rows, y, p);
    for (int k = 0; k < rows; k++) {
        error[k] = (r[k] - p[k]) / rho;
        power += r[k] * (mu == 0.0L && k > 0 ? 0.0L : z[k]);
    }
    const real law = norm(error, rows), along = rows > 1 ? norm(r + 1, rows - 1) : 0.0L;
    const real size = norm(r, rows) + rho * norm(z, mu == 0.0L ? 1 : rows) + rho * law;
    const real outside = fmaxl(0.0L, (along - mu * r[0]) / sqrtl(1.0L + mu * mu)); /* of the cone's surface */
    const real cone = r[0] < 0.0L && mu * along < -r[0] ? norm(r, rows) : outside;
    v->law = fmax(v->law, (double)(law / scale));
    v->cone = fmax(v->cone, (double)(cone / rho / scale));
    v->law = fmax(v->law, (double)(-u[0] / scale)); /* which a large mu would hide */
    v->approach = fmax(v->approach, (double)(-u[0] / scale));
    v->power = fmax(v->power, size > 0.0L ? (double)(fabsl(power) / size / scale) : 0.0);
    if (!isfinite((double)law)) {
        v->law = INFINITY;
    }
}

/* a_j: the diagonal of A, where it is zero its largest entry, where that is zero too 1. */
static real *weights(const perp_contact_qp *s)
{
    real *a = zeros(s->n), most = 0.0L;
    const double *block = s->hessian;
    for (int b = 0; b < s->block_count && block; b++) {
        const int first = s->block_start[b], size = s->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            a[first + i] = block[i * size + i];
            most = fmaxl(most, a[first + i]);
        }
        block += size * size;
    }
    for (int j = 0; j < s->n; j++) {
        a[j] = a[j] > 0.0L ? a[j] : most > 0.0L ? most : 1.0L;
    }
    return a;
}

/* r += A v, and |A||v| on `sizes`. */
static void add_stiffness(const perp_contact_qp *s, const double *v, real *r, real *sizes)
{
    const double *block = s->hessian;
    for (int b = 0; b < s->block_count && block; b++) {
        const int first = s->block_start[b], size = s->block_start[b + 1] - first;
        for (int i = 0; i < size * size; i++) {
            const real term = (real)block[i] * v[first + i % size];
            r[first + i / size] += term;
            sizes[first + i / size] += fabsl(term);
        }
        block += size * size;
    }
}

/* The contacts' laws, each by the largest of its rows; r loses H'y, and `sizes` gains |H'y|. */
static void judge_contacts(const perp_contact_friction *problem, const perp_convex_point *point, const real *a, real *r,
                           real *sizes, friction_verdict *verdict)
{
    const perp_contact_qp *s = problem->system;
    const double *jacobian = s->jacobian;
    for (int i = 0; i < s->contact_count; i++) {
        const int first = s->row_start[i], rows = s->row_start[i + 1] - first;
        const int count = s->dof_start[i + 1] - s->dof_start[i];
        const int *dofs = s->dofs + s->dof_start[i];
        real u[3] = {0.0L}, force[3] = {0.0L}, give = 0.0L, scale = 0.0L;
        for (int k = 0; k < rows; k++) {
            u[k] = s->offset[first + k];
            real size = fabsl(u[k]);
            force[k] = point->y[first + k];
            for (int j = 0; j < count; j++) {
                const real entry = jacobian[k * count + j];
                u[k] += entry * point->x[dofs[j]];
                size += fabsl(entry * point->x[dofs[j]]);
                r[dofs[j]] -= entry * force[k];
                sizes[dofs[j]] += fabsl(entry * force[k]);
                give += k == 0 ? entry * entry / a[dofs[j]] : 0.0L;
            }
            scale = fmaxl(scale, 1.0L + size);
        }
        judge_law(problem->mu[i], rows, force, u, give > 0.0L ? 1.0L / give : 1.0L, scale, verdict);
        jacobian += rows * count;
    }
}

/* Bounds are contacts without friction; all force of an infinite one is an error. */
static void judge_bounds(const perp_contact_qp *s, const perp_convex_point *point, const real *a, real *r, real *sizes,
                         friction_verdict *verdict)
{
    for (int side = 0; side < 2; side++) {
        const double *bound = side ? s->upper : s->lower, *y = side ? point->y_upper : point->y_lower;
        const real sign = side ? -1.0L : 1.0L;
        for (int j = 0; bound && j < s->n; j++) {
            const real force = y[j], gap = sign * ((real)point->x[j] - bound[j]);
            r[j] -= sign * force;
            sizes[j] += fabsl(force);
            if (isinf(bound[j])) {
                verdict->law = fmax(verdict->law, (double)(fabsl(force) / a[j]));
                continue;
            }
            judge_law(0.0L, 1, &force, &gap, a[j], 1.0L + fabsl((real)bound[j]) + fabsl((real)point->x[j]), verdict);
        }
    }
}

friction_verdict judge_contact_friction(const perp_contact_friction *problem, const perp_convex_point *point)
{
    const perp_contact_qp *s = problem->system;
    friction_verdict v = {0};
    real *r = zeros(s->n), *sizes = zeros(s->n), *a = weights(s);
    for (int j = 0; j < s->n; j++) {
        r[j] = s->g[j];
        sizes[j] = fabsl(r[j]);
    }
    add_stiffness(s, point->x, r, sizes);
    judge_contacts(problem, point, a, r, sizes, &v);
    judge_bounds(s, point, a, r, sizes, &v);
    for (int e = 0; e < s->equality_count; e++) {
        real sum = -(real)s->equality_target[e], size = fabsl(sum);
        for (int k = s->equality_start[e]; k < s->equality_start[e + 1]; k++) {
            const int dof = s->equality_dofs[k];
            const real value = s->equality_values[k];
            sum += value * point->x[dof];
            size += fabsl(value * point->x[dof]);
            r[dof] -= value * point->y_equality[e];
            sizes[dof] += fabsl(value * point->y_equality[e]);
        }
        v.constraint = fmax(v.constraint, (double)(fabsl(sum) / (1.0L + size)));
        v.constraint = isfinite((double)sum) ? v.constraint : INFINITY;
    }
    for (int j = 0; j < s->n; j++) {
        v.balance = isfinite((double)r[j]) ? fmax(v.balance, (double)(fabsl(r[j]) / (1.0L + sizes[j]))) : INFINITY;
    }
    free(sizes);
    free(r);
    free(a);
    return v;
}

double judge_verdict_residual(const friction_verdict *verdict)
{
    return fmax(verdict->balance, fmax(verdict->law, verdict->constraint));
}

/* With e the law's error and y = r - rho z: Moreau's P(y) = r - rho e and rho z - rho e = P(y) - y lie in the cone and
 * its dual and are orthogonal. So r is within rho |e| of its cone, z within |e| of the dual one (whose normal part is
 * at least mu |ut|), and |r.z| <= |e| (|r| + rho |z| + rho |e|). */
bool judge_verdict_coherent(const friction_verdict *v)
{
    const double most = 1.001 * v->law + 1e-11; /* r / rho, up to 1e7 scales, cancels to 1e-19 of itself */
    return v->cone <= most && v->approach <= most && v->power <= most;
}

double judge_friction(const perp_friction *problem, const double *r)
{
    const int size = problem->contacts * problem->dim, dim = problem->dim;
    friction_verdict v = {0};
    for (int i = 0; i < problem->contacts; i++) {
        real u[3] = {0.0L}, force[3] = {0.0L}, scale = 0.0L;
        for (int k = 0; k < dim; k++) {
            const double *row = problem->w + (size_t)(i * dim + k) * (size_t)size;
            u[k] = problem->q[i * dim + k];
            force[k] = r[i * dim + k];
            real terms = fabsl(u[k]);
            for (int j = 0; j < size; j++) {
                u[k] += (real)row[j] * r[j];
                terms += fabsl((real)row[j] * r[j]);
            }
            scale = fmaxl(scale, 1.0L + terms);
        }
        const real normal = problem->w[(size_t)(i * dim) * (size_t)size + (size_t)(i * dim)];
        judge_law(problem->mu[i], dim, force, u, normal > 0.0L ? 1.0L / normal : 1.0L, scale, &v);
    }
    return v.law;
}

/* ---- proofs ------------------------------------------------------------------------------------------------------ */

enum { MAX_BLOCK = 16 };

static bool positive_definite(const double *block, int size)
{
    real a[MAX_BLOCK][MAX_BLOCK];
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            real sum = block[i * size + j];
            for (int k = 0; k < j; k++) {
                sum -= a[i][k] * a[j][k];
            }
            if (i == j && !(sum > 1e-16L * block[i * size + i])) {
                return false;
            }
            a[i][j] = i == j ? sqrtl(sum) : sum / a[j][j];
        }
    }
    return true;
}

static bool inertia_holds(const perp_contact_qp *s)
{
    const double *block = s->hessian;
    for (int b = 0; b < s->block_count; b++) {
        const int size = s->block_start[b + 1] - s->block_start[b];
        if (!block || size > MAX_BLOCK || !positive_definite(block, size)) {
            return false;
        }
        block += size * size;
    }
    return true;
}

static bool opens(const friction_case *c)
{
    const perp_contact_qp *s = &c->system;
    const double *jacobian = s->jacobian;
    for (int i = 0; i < s->contact_count; i++) {
        const int first = s->row_start[i], rows = s->row_start[i + 1] - first;
        const int count = s->dof_start[i + 1] - s->dof_start[i];
        real u[3] = {0.0L};
        for (int k = 0; k < rows; k++) {
            u[k] = s->offset[first + k];
            for (int j = 0; j < count; j++) {
                u[k] += (real)jacobian[k * count + j] * c->solution.x[s->dofs[s->dof_start[i] + j]];
            }
        }
        if (!(u[0] - c->mu[i] * norm(u + 1, rows - 1) > 1e-9L)) {
            return false;
        }
        jacobian += rows * count;
    }
    return s->equality_count == 0 && !s->lower && !s->upper;
}

bool judge_friction_proof(const friction_case *c)
{
    if (c->inertial && !inertia_holds(&c->system)) {
        return false;
    }
    if (c->proof == FRICTION_REACHABLE) {
        return c->inertial && opens(c);
    }
    const friction_verdict v = judge_contact_friction(&c->problem, &c->solution);
    return judge_verdict_residual(&v) <= 1e-9; /* rounding of w and r, with r / rho up to 1e6 scales */
}
