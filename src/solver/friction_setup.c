/* The scaled problem and the memory of the methods for Coulomb friction. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/slice.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Lengths of the arrays: of the scaled problem, and of the point as given. */
typedef struct sizes {
    int n, contacts, rows, slacks, equations, bounds;
    int hessian, held, dofs, jacobian, equality_entries;
} sizes;

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void lay_out_problem(perp_friction_workspace *f, const sizes *z, perp_slice *s)
{
    const size_t n = (size_t)z->n, e = (size_t)z->equations, contacts = (size_t)z->contacts, rows = (size_t)z->rows;
    const size_t m = rows + (size_t)z->bounds;
    double **by_unknown[] = {&f->dof_scale,      &f->g,
                             &f->held_g,         &f->lower,
                             &f->upper,          &f->point.x,
                             &f->point.y_lower,  &f->point.y_upper,
                             &f->joined.x,       &f->joined.y_lower,
                             &f->joined.y_upper, &f->solved.x,
                             &f->rd_change,      &f->centre_x};
    double **by_row[] = {&f->row_scale, &f->offset, &f->free_offset, &f->point.y, &f->joined.y};
    double **by_equation[] = {&f->equation_scale, &f->equality_target, &f->point.y_equality, &f->joined.y_equality,
                              &f->solved.z};
    double **by_slack[] = {&f->u,        &f->du,    &f->t,      &f->z,       &f->natural,
                           &f->argument, &f->fixed, &f->change, &f->weighed, &f->solved.y};
    perp_slice_cut_each(s, n, sizeof by_unknown / sizeof *by_unknown, by_unknown);
    perp_slice_cut_each(s, rows, sizeof by_row / sizeof *by_row, by_row);
    perp_slice_cut_each(s, e, sizeof by_equation / sizeof *by_equation, by_equation);
    perp_slice_cut_each(s, m, sizeof by_slack / sizeof *by_slack, by_slack);
    perp_slice_cut_each(s, n + e, 2, (double **[]){&f->residual, &f->correction});
    f->held_hessian = perp_slice_cut(s, (size_t)z->held, sizeof(double));
    f->row_of = perp_slice_cut(s, rows, sizeof(int));
    f->row_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    f->dof_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    f->normal_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    f->quadratic = perp_slice_cut(s, contacts, sizeof(bool));
    f->lag = perp_slice_cut(s, contacts, sizeof(int));
    f->hessian = perp_slice_cut(s, (size_t)z->hessian, sizeof(double));
    f->jacobian = perp_slice_cut(s, (size_t)z->jacobian, sizeof(double));
    f->normal_jacobian = perp_slice_cut(s, (size_t)z->dofs, sizeof(double));
    f->equality_values = perp_slice_cut(s, (size_t)z->equality_entries, sizeof(double));
    f->along = perp_slice_cut(s, 4 * m, sizeof(double));
}

static void lay_out_dense(perp_friction_workspace *f, const sizes *z, perp_slice *s)
{
    const size_t m = (size_t)z->slacks + (size_t)z->bounds;
    f->w = perp_slice_cut(s, m * m, sizeof(double));
    f->matrix = perp_slice_cut(s, m * m, sizeof(double));
    f->q = perp_slice_cut(s, m, sizeof(double));
    f->pivots = perp_slice_cut(s, m, sizeof(int));
    f->block_b = perp_slice_cut(s, 3 * m, sizeof(double));
    f->block_g = perp_slice_cut(s, 3 * m, sizeof(double));
}

static perp_status refuse(perp_status status, const sizes *z, perp_error *error)
{
    return perp_fail(
        error, status,
        status == PERP_STATUS_CAPACITY
            ? "the workspace is too small for a friction problem of %d unknowns and %d contacts: reserve it"
            : "no memory for a friction problem of %d unknowns and %d contacts",
        z->n, z->contacts);
}

typedef void (*layout)(perp_friction_workspace *f, const sizes *z, perp_slice *s);

static perp_status hold(perp_friction_workspace *f, layout lay_out, perp_kkt_buffer *buffer, const sizes *z,
                        perp_error *error)
{
    perp_slice count = {NULL, 0};
    lay_out(f, z, &count);
    const perp_status status = perp_kkt_hold(&f->convex->kkt, buffer, count.bytes);
    if (status != PERP_STATUS_OK) {
        return refuse(status, z, error);
    }
    perp_slice give = {buffer->data, 0};
    lay_out(f, z, &give);
    return PERP_STATUS_OK;
}

/* ---- the problem with bodies ------------------------------------------------------------------------------------ */

static sizes measure(const perp_contact_friction *problem)
{
    const perp_contact_qp *p = problem->system;
    sizes z = {.n = p->n, .contacts = p->contact_count, .equations = p->equality_count};
    z.rows = p->contact_count > 0 ? p->row_start[p->contact_count] : 0;
    z.dofs = p->contact_count > 0 ? p->dof_start[p->contact_count] : 0;
    z.equality_entries = p->equality_count > 0 ? p->equality_start[p->equality_count] : 0;
    for (int k = 0; k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        z.hessian += p->hessian ? size * size : 0;
        z.held += size * size;
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        z.jacobian += rows * (p->dof_start[i + 1] - p->dof_start[i]);
        z.slacks += rows > 1 && problem->mu[i] >= FRICTIONLESS ? rows : 1;
    }
    for (int j = 0; j < p->n; j++) {
        z.bounds += (p->lower && p->lower[j] > -INFINITY) + (p->upper && p->upper[j] < INFINITY);
    }
    return z;
}

static double head_scale(const perp_friction_workspace *f, int contact, int rows)
{
    return rows > 1 ? 1.0 / f->contact->mu[contact] : 1.0;
}

/* S of all contacts from D: rows of a contact's H so that the trace of S H D D H'S is their number. */
static void scale_rows(perp_friction_workspace *f)
{
    const perp_contact_qp *p = f->contact->system;
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = f->row_start[i], rows = f->row_start[i + 1] - start;
        const int given = p->row_start[i + 1] - p->row_start[i];
        const int columns = p->dof_start[i + 1] - p->dof_start[i], *dofs = p->dofs + p->dof_start[i];
        double trace = 0.0;
        for (int r = 0; r < rows; r++) {
            const double head = r == 0 ? head_scale(f, i, rows) : 1.0;
            double sum = 0.0;
            for (int k = 0; k < columns; k++) {
                const double entry = jacobian[(ptrdiff_t)r * columns + k] * f->dof_scale[dofs[k]];
                sum += entry * entry;
            }
            trace += head * head * sum;
        }
        const double c = trace > 0.0 && isfinite(trace) ? sqrt(rows / trace) : 1.0;
        for (int r = 0; r < rows; r++) {
            f->row_scale[start + r] = r == 0 ? c * head_scale(f, i, rows) : c;
        }
        jacobian = columns > 0 ? jacobian + (ptrdiff_t)given * columns : jacobian;
    }
    for (int i = 0; i < p->equality_count; i++) {
        double sum = 0.0;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            const double entry = p->equality_values[k] * f->dof_scale[p->equality_dofs[k]];
            sum += entry * entry;
        }
        f->equation_scale[i] = sum > 0.0 && isfinite(sum) ? 1.0 / sqrt(sum) : 1.0;
    }
}

/* The largest velocity and force of the data, in the units of S and D. */
static void measure_units(const perp_friction_workspace *f, double *velocity, double *force)
{
    const perp_contact_qp *p = f->contact->system;
    *velocity = *force = 0.0;
    for (int i = 0; i < f->row_start[p->contact_count]; i++) {
        *velocity = fmax(*velocity, fabs(f->row_scale[i] * p->offset[f->row_of[i]]));
    }
    for (int i = 0; i < p->equality_count; i++) {
        *velocity = fmax(*velocity, fabs(f->equation_scale[i] * p->equality_target[i]));
    }
    for (int j = 0; j < p->n; j++) {
        *force = fmax(*force, fabs(f->dof_scale[j] * p->g[j]));
        if (p->lower && isfinite(p->lower[j])) {
            *velocity = fmax(*velocity, fabs(p->lower[j] / f->dof_scale[j]));
        }
        if (p->upper && isfinite(p->upper[j])) {
            *velocity = fmax(*velocity, fabs(p->upper[j] / f->dof_scale[j]));
        }
    }
}

/* |H_j|^2 into `sums`: what holds an unknown without inertia. */
static void measure_columns(const perp_contact_qp *p, double *sums)
{
    const double *jacobian = p->jacobian;
    memset(sums, 0, (size_t)p->n * sizeof *sums);
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int *dofs = p->dofs + p->dof_start[i];
        for (int r = 0; r < rows && columns > 0; r++, jacobian += columns) {
            for (int k = 0; k < columns; k++) {
                sums[dofs[k]] += jacobian[k] * jacobian[k];
            }
        }
    }
}

/* A_jj into `diagonal`; unknowns without inertia or stiffness all count as the one that contacts hold most, max
 * |H_j|^2, in proportion to those that have some. Each by its own |H_j|^2 takes an unknown that rounding alone holds
 * for the unit of force; with a floor against that it solves as many (1,771 of 1,800 quasistatic problems of the
 * sweep's seeds 1, 77 and 78, this 1,775, of which the 5 more are of seed 77, which it was chosen on). Returns whether
 * A is zero. */
static bool measure_inertia(const perp_contact_qp *p, const double *columns, double *diagonal)
{
    const double *h = p->hessian;
    double most = 0.0, logs = 0.0, widest = 0.0;
    int some = 0;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size; i++) {
            diagonal[first + i] = h ? h[(ptrdiff_t)i * size + i] : 0.0;
            most = fmax(most, diagonal[first + i]);
        }
        h = h ? h + (ptrdiff_t)size * size : NULL;
    }
    for (int j = 0; j < p->n; j++) {
        widest = fmax(widest, columns[j]);
    }
    for (int j = 0; j < p->n; j++) { /* not those that rounding alone moves: one of 1e-32 would set the scale of all */
        if (diagonal[j] > NO_STIFFNESS * most && columns[j] > NO_STIFFNESS * widest) {
            int stiff = 0, wide = 0;
            frexp(diagonal[j], &stiff);
            frexp(columns[j], &wide);
            logs += stiff - wide;
            some++;
        }
    }
    const double mean = some > 0 ? ldexp(1.0, (int)(logs / some)) : most > 0.0 ? most / fmax(widest, DBL_MIN) : 1.0;
    const double held = mean * (widest > 0.0 ? widest : 1.0);
    for (int j = 0; j < p->n; j++) {
        diagonal[j] = diagonal[j] > NO_STIFFNESS * most ? diagonal[j] : held;
    }
    return most == 0.0;
}

/* What an entry of 1 amounts to on the average. */
static double mean_scale(int count, const double *scale)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += scale[i];
    }
    return count > 0 ? sum / count : 0.0;
}

/* D, S and the units. With inertia or stiffness velocities and forces have one unit, else one each. Data far below 1
 * counts as that: the residual does not look at it more closely. */
static void choose_scales(perp_friction_workspace *f)
{
    const perp_contact_qp *p = f->contact->system;
    double velocity = 0.0, force = 0.0;
    measure_columns(p, f->residual);
    const bool weightless = measure_inertia(p, f->residual, f->g);
    for (int j = 0; j < p->n; j++) {
        f->dof_scale[j] = 1.0 / sqrt(f->g[j]);
    }
    scale_rows(f);
    measure_units(f, &velocity, &force);
    velocity = fmax(velocity, LITTLE_DATA * mean_scale(f->row_start[p->contact_count], f->row_scale));
    force = fmax(force, LITTLE_DATA * mean_scale(p->n, f->dof_scale));
    velocity = velocity > 0.0 ? velocity : 1.0;
    force = force > 0.0 ? force : 1.0;
    f->velocity = weightless ? velocity : fmax(velocity, force);
    f->force = weightless ? force : f->velocity;
}

static void scale_contacts(perp_friction_workspace *f)
{
    const perp_contact_qp *p = f->contact->system;
    const double *from = p->jacobian;
    double *to = f->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = f->row_start[i], rows = f->row_start[i + 1] - start;
        const int given = p->row_start[i + 1] - p->row_start[i];
        const int columns = p->dof_start[i + 1] - p->dof_start[i], *dofs = p->dofs + p->dof_start[i];
        for (int r = 0; r < rows; r++) {
            f->offset[start + r] = f->row_scale[start + r] * p->offset[f->row_of[start + r]] / f->velocity;
            for (int k = 0; k < columns; k++) {
                *to++ = f->row_scale[start + r] * from[(ptrdiff_t)r * columns + k] * f->dof_scale[dofs[k]];
            }
        }
        from = columns > 0 ? from + (ptrdiff_t)given * columns : from;
    }
}

static void scale_bodies(perp_friction_workspace *f)
{
    const perp_contact_qp *p = f->contact->system;
    const double *d = f->dof_scale, *h = p->hessian;
    double *to = f->hessian;
    for (int k = 0; h && k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                *to++ = f->velocity / f->force * (d[first + i] * d[first + j]) * *h++;
            }
        }
    }
    for (int j = 0; j < p->n; j++) {
        f->g[j] = d[j] * p->g[j] / f->force;
        f->lower[j] = p->lower ? p->lower[j] / (f->velocity * d[j]) : -INFINITY;
        f->upper[j] = p->upper ? p->upper[j] / (f->velocity * d[j]) : INFINITY;
    }
    for (int i = 0; i < p->equality_count; i++) {
        f->equality_target[i] = f->equation_scale[i] * p->equality_target[i] / f->velocity;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            f->equality_values[k] = f->equation_scale[i] * p->equality_values[k] * d[p->equality_dofs[k]];
        }
    }
}

static void choose_rows(perp_friction_workspace *f, int contacts, const int *given_start, const double *mu)
{
    f->row_start[0] = 0;
    for (int i = 0; i < contacts; i++) {
        const int start = f->row_start[i], given = given_start[i + 1] - given_start[i];
        const int rows = given > 1 && mu[i] >= FRICTIONLESS ? given : 1;
        for (int r = 0; r < rows; r++) {
            f->row_of[start + r] = given_start[i] + r;
        }
        f->row_start[i + 1] = start + rows;
        f->quadratic[i] = rows > 1;
    }
}

/* The convex workspace on the scaled problem, and the factors of its unsymmetric matrices. */
static perp_status set_up_convex(perp_friction_workspace *f, const sizes *z, perp_error *error)
{
    const perp_status status = perp_convex_setup(f->convex, &f->scaled, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_status held = perp_kkt_lu_setup(&f->lu, &f->convex->kkt);
    return held == PERP_STATUS_OK ? held : refuse(held, z, error);
}

perp_status perp_friction_setup_contact(perp_friction_workspace *f, const perp_contact_friction *problem,
                                        perp_error *error)
{
    const perp_contact_qp *p = problem->system;
    const sizes z = measure(problem);
    perp_status status = hold(f, lay_out_problem, &f->memory, &z, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    f->contact = problem;
    f->local = NULL;
    f->has_sparse = false;
    choose_rows(f, p->contact_count, p->row_start, problem->mu);
    choose_scales(f);
    scale_contacts(f);
    scale_bodies(f);
    f->scaled = *p;
    f->scaled.hessian = p->hessian ? f->hessian : NULL;
    f->scaled.g = f->g;
    f->scaled.row_start = f->scaled.slack_start = f->row_start;
    f->scaled.jacobian = f->jacobian;
    f->scaled.rays = NULL;
    f->scaled.offset = f->offset;
    f->scaled.quadratic = f->quadratic;
    f->scaled.equality_values = f->equality_values;
    f->scaled.equality_target = f->equality_target;
    f->scaled.lower = p->lower ? f->lower : NULL;
    f->scaled.upper = p->upper ? f->upper : NULL;
    return set_up_convex(f, &z, error);
}

/* ---- the dense problem ------------------------------------------------------------------------------------------ */

/* Rows of S W S and S q, with the trace of a contact's block its number of rows. */
static void scale_dense(perp_friction_workspace *f)
{
    const perp_friction *p = f->local;
    const int size = p->contacts * p->dim, m = f->row_start[p->contacts];
    double most = 0.0;
    for (int i = 0; i < p->contacts; i++) {
        const int start = f->row_start[i], rows = f->row_start[i + 1] - start;
        const double head = rows > 1 ? 1.0 / p->mu[i] : 1.0;
        double trace = 0.0;
        for (int r = 0; r < rows; r++) {
            const ptrdiff_t row = f->row_of[start + r];
            trace += (r == 0 ? head * head : 1.0) * p->w[row * size + row];
        }
        const double c = trace > 0.0 && isfinite(trace) ? sqrt(rows / trace) : 1.0;
        for (int r = 0; r < rows; r++) {
            f->row_scale[start + r] = r == 0 ? c * head : c;
            most = fmax(most, fabs(f->row_scale[start + r] * p->q[f->row_of[start + r]]));
        }
    }
    f->velocity = f->force = most > 0.0 && isfinite(most) ? most : 1.0;
    for (int i = 0; i < m; i++) {
        const double *row = p->w + (ptrdiff_t)f->row_of[i] * size;
        for (int j = 0; j < m; j++) {
            f->w[(ptrdiff_t)i * m + j] = f->row_scale[i] * f->row_scale[j] * row[f->row_of[j]];
        }
        f->q[i] = f->offset[i] = f->row_scale[i] * p->q[f->row_of[i]] / f->velocity;
    }
}

perp_status perp_friction_setup_local(perp_friction_workspace *f, const perp_friction *problem, perp_error *error)
{
    sizes z = {.contacts = problem->contacts, .rows = problem->contacts * problem->dim};
    for (int i = 0; i < problem->contacts; i++) {
        z.slacks += problem->mu[i] >= FRICTIONLESS ? problem->dim : 1;
    }
    perp_status status = hold(f, lay_out_problem, &f->memory, &z, error);
    if (status == PERP_STATUS_OK) {
        status = hold(f, lay_out_dense, &f->dense_memory, &z, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    f->contact = NULL;
    f->local = problem;
    for (int i = 0; i <= problem->contacts; i++) {
        f->dof_start[i] = i * problem->dim; /* for a moment: the rows as given */
    }
    choose_rows(f, problem->contacts, f->dof_start, problem->mu);
    memset(f->dof_start, 0, (size_t)(problem->contacts + 1) * sizeof *f->dof_start);
    scale_dense(f);
    f->scaled = (perp_contact_qp){.contact_count = problem->contacts,
                                  .row_start = f->row_start,
                                  .dof_start = f->dof_start,
                                  .dofs = f->dof_start, /* none of these and of the next: there are no bodies */
                                  .jacobian = f->offset,
                                  .slack_start = f->row_start,
                                  .offset = f->offset,
                                  .quadratic = f->quadratic};
    status = set_up_convex(f, &z, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    f->sparse.kkt.may_grow = f->convex->kkt.may_grow;
    status = perp_friction_sparse_look(&f->sparse, problem->contacts, f->row_start, f->w, &f->has_sparse);
    if (status != PERP_STATUS_OK) {
        return refuse(status, &z, error);
    }
    return f->has_sparse ? perp_friction_sparse_setup(&f->sparse, error) : PERP_STATUS_OK;
}
