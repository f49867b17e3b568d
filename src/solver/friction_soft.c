/* Coulomb friction of contacts that give way, in the unknowns of bodies alone.
 *
 * Contact i has unknowns d of its own, as many as rows, which nothing else moves: u = J v + w + d and a d + f = r. At a
 * given v it is one contact alone, u = a^-1 r + (s - a^-1 f), whose force is a function of s = J v + w; and where a =
 * diag(a_n, a_t, a_t)
 *
 *     r_n = max(0, f_n - a_n s_n),   r_t = f_t - a_t s_t, cut to the length mu r_n,
 *
 * since u_t = (r_t - (f_t - a_t s_t)) / a_t is then against r_t where it was cut, else 0. What is left are the balances
 * of bodies, A v + f - J'r(J v + w) - C'y = 0 between their bounds and C v = c, by semismooth Newton: Omega = -dr/ds is
 * the weight of contact_kkt.h. So contacts cost an evaluation each and their share of the assembly, and factors are
 * those of the bodies, however many contacts two bodies have.
 *
 * Bounds: with the diagonal c of A the residual of an unknown is x - mid(lower, x - F / c, upper); where x - F / c is
 * out of them, Newton's row is x = the bound and F its multiplier. */
#include "solver/friction_soft.h"

#include "problem/natural_map.h"
#include "solver/contact_kkt_lu.h"
#include "solver/slice.h"

#include <perp/solver.h>

#include <float.h>
#include <math.h>
#include <string.h>

struct perp_friction_soft_workspace {
    perp_kkt kkt;
    perp_kkt_lu lu;
    perp_kkt_buffer memory;
    const perp_contact_friction *given;
    perp_contact_qp bodies; /* the contacts on unknowns of bodies */
    int *dof_start, *dofs;
    double *jacobian;
    double *stiffness;   /* by contact 2: a_n, a_t */
    bool *coupled;       /* by contact: a is not diag(a_n, a_t, a_t) */
    const double *block; /* a of contacts, rows x rows each */
    const double *load;  /* f of contacts, by row */

    double *inertia, *stiff_equation;  /* A_jj; by equation 1 / (C diag(A)^-1 C')_ii */
    double *v, *y, *trial_v, *trial_y; /* of bodies; of equations */
    double *force, *omega;             /* of contacts at the point that was looked at last */
    double *balance, *open;            /* F; C v - c */
    double *step, *diagonal;           /* bodies and equations */
    double size, unit_size;            /* what the merit is to be compared with; that of 1 on what moves least */
    bool slips;                        /* Omega is not symmetric */
    int iterations, factorisations;
};

/* ---- the workspace ----------------------------------------------------------------------------------------------- */

perp_status perp_friction_soft_workspace_create(const perp_allocator *allocator,
                                                perp_friction_soft_workspace **workspace, perp_error *error)
{
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    *workspace = own.allocate(own.context, sizeof **workspace);
    if (!*workspace) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a workspace of soft friction");
    }
    **workspace = (perp_friction_soft_workspace){0};
    perp_kkt_init(&(*workspace)->kkt, &own);
    (*workspace)->lu.kkt = &(*workspace)->kkt;
    return PERP_STATUS_OK;
}

void perp_friction_soft_workspace_free(perp_friction_soft_workspace *workspace)
{
    if (!workspace) {
        return;
    }
    const perp_allocator own = workspace->kkt.allocator;
    perp_kkt_lu_free(&workspace->lu);
    perp_kkt_free(&workspace->kkt);
    if (workspace->memory.data) {
        own.release(own.context, workspace->memory.data);
    }
    own.release(own.context, workspace);
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static int contact_rows(const perp_contact_qp *p)
{
    return p->contact_count > 0 ? p->row_start[p->contact_count] : 0;
}

/* The last blocks are those of contacts, in order, with 1 in the rows of its contact alone. */
static bool is_soft(const perp_contact_friction *problem)
{
    const perp_contact_qp *p = problem->system;
    const int first = p->block_count - p->contact_count;
    if (first < 0 || !p->hessian || (p->lower == NULL) != (p->upper == NULL) ||
        p->block_start[first] != p->n - contact_rows(p)) {
        return false;
    }
    for (int i = 0; i < p->equality_count; i++) { /* ascending in a row */
        if (p->equality_start[i + 1] > p->equality_start[i] &&
            p->equality_dofs[p->equality_start[i + 1] - 1] >= p->block_start[first]) {
            return false;
        }
    }
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int begin = p->block_start[first + i], *dofs = p->dofs + p->dof_start[i];
        if (rows > 3 || columns < rows || p->block_start[first + i + 1] - begin != rows) {
            return false;
        }
        for (int k = 0; k < columns - rows; k++) {
            if (dofs[k] >= p->block_start[first]) {
                return false;
            }
        }
        for (int r = 0; r < rows; r++) {
            const double *own = jacobian + (ptrdiff_t)(r + 1) * columns - rows;
            const bool bound =
                (p->lower && p->lower[begin + r] > -INFINITY) || (p->upper && p->upper[begin + r] < INFINITY);
            for (int k = 0; k < rows; k++) {
                if (own[k] != (k == r ? 1.0 : 0.0) || dofs[columns - rows + k] != begin + k || bound) {
                    return false;
                }
            }
        }
        jacobian += (ptrdiff_t)rows * columns;
    }
    return true;
}

static void lay_out(perp_friction_soft_workspace *f, perp_slice *s)
{
    const perp_contact_qp *p = f->given->system;
    const size_t contacts = (size_t)p->contact_count, rows = (size_t)contact_rows(p), n = (size_t)p->n - rows;
    const size_t dofs = contacts > 0 ? (size_t)p->dof_start[contacts] - rows : 0, e = (size_t)p->equality_count;
    f->dof_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    f->dofs = perp_slice_cut(s, dofs, sizeof(int));
    f->jacobian = perp_slice_cut(s, 3 * dofs, sizeof(double));
    f->stiffness = perp_slice_cut(s, 2 * contacts, sizeof(double));
    f->coupled = perp_slice_cut(s, contacts, sizeof(bool));
    double **of_bodies[] = {&f->inertia, &f->v, &f->trial_v, &f->balance};
    double **of_equations[] = {&f->stiff_equation, &f->y, &f->trial_y, &f->open};
    for (int k = 0; k < 4; k++) {
        *of_bodies[k] = perp_slice_cut(s, n, sizeof(double));
        *of_equations[k] = perp_slice_cut(s, e, sizeof(double));
    }
    f->force = perp_slice_cut(s, rows, sizeof(double));
    f->omega = perp_slice_cut(s, 9 * contacts, sizeof(double));
    f->step = perp_slice_cut(s, n + e, sizeof(double));
    f->diagonal = perp_slice_cut(s, n + e, sizeof(double));
}

/* a of contacts, and A_jj of bodies; false where a is not definite along a row, or a body has no inertia. */
static bool take_stiffness(perp_friction_soft_workspace *f)
{
    static const double ROUNDED = 1e-14; /* axes that were turned; what it changes is judged with the rest */
    const perp_contact_qp *p = f->given->system;
    const double *block = p->hessian;
    f->unit_size = DBL_MAX;
    for (int b = 0; b < f->bodies.block_count; b++) {
        const int first = p->block_start[b], size = p->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            f->inertia[first + i] = block[(ptrdiff_t)i * size + i];
            if (!(f->inertia[first + i] > 0.0)) {
                return false;
            }
            f->unit_size = fmin(f->unit_size, 1.0 / f->inertia[first + i]);
        }
        block += (ptrdiff_t)size * size;
    }
    f->block = block;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        f->stiffness[2 * i] = block[0];
        f->stiffness[2 * i + 1] = rows > 1 ? block[rows + 1] : block[0];
        const double largest = fmax(block[0], f->stiffness[2 * i + 1]);
        f->coupled[i] = false;
        for (int k = 0; k < rows * rows; k++) {
            const int row = k / rows, column = k % rows;
            const double own = row == column ? f->stiffness[2 * i + (row > 0 ? 1 : 0)] : 0.0;
            f->coupled[i] = f->coupled[i] || !(fabs(block[k] - own) <= ROUNDED * largest);
            if (row == column && !(block[k] > 0.0)) {
                return false;
            }
        }
        block += (ptrdiff_t)rows * rows;
    }
    return true;
}

/* J without the unknowns of contacts. */
static void cut_contacts(perp_friction_soft_workspace *f)
{
    const perp_contact_qp *p = f->given->system;
    const double *from = p->jacobian;
    double *to = f->jacobian;
    f->dof_start[0] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], given = p->dof_start[i + 1] - p->dof_start[i];
        const int columns = given - rows;
        memcpy(f->dofs + f->dof_start[i], p->dofs + p->dof_start[i], (size_t)columns * sizeof(int));
        f->dof_start[i + 1] = f->dof_start[i] + columns;
        for (int r = 0; r < rows; r++, from += given, to += columns) {
            memcpy(to, from, (size_t)columns * sizeof(double));
        }
    }
}

static void measure_equations(perp_friction_soft_workspace *f)
{
    const perp_contact_qp *p = &f->bodies;
    for (int i = 0; i < p->equality_count; i++) {
        double sum = 0.0;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += p->equality_values[k] * p->equality_values[k] / f->inertia[p->equality_dofs[k]];
        }
        f->stiff_equation[i] = sum > 0.0 ? 1.0 / sum : 0.0;
    }
}

/* Memory and the problem on bodies; `taken` where it is one of this kind. */
static perp_status set_up(perp_friction_soft_workspace *f, const perp_contact_friction *problem, bool *taken,
                          perp_error *error)
{
    const perp_contact_qp *p = problem->system;
    *taken = is_soft(problem);
    if (!*taken) {
        return PERP_STATUS_OK;
    }
    f->given = problem;
    perp_slice count = {NULL, 0};
    lay_out(f, &count);
    perp_status status = perp_kkt_hold(&f->kkt, &f->memory, count.bytes);
    if (status == PERP_STATUS_OK) {
        perp_slice give = {f->memory.data, 0};
        lay_out(f, &give);
        f->bodies = *p;
        f->bodies.n = p->n - contact_rows(p);
        f->bodies.block_count = p->block_count - p->contact_count;
        f->bodies.dof_start = f->dof_start;
        f->bodies.dofs = f->dofs;
        f->bodies.jacobian = f->jacobian;
        f->load = p->g + f->bodies.n;
        cut_contacts(f);
        status = perp_kkt_analyse(&f->kkt, &f->bodies, error);
    }
    if (status == PERP_STATUS_OK) {
        perp_kkt_set_base(&f->kkt, &f->bodies, 1.0, 0.0);
        status = perp_kkt_lu_setup(&f->lu, &f->kkt);
    }
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status,
                         status == PERP_STATUS_CAPACITY ? "the workspace is too small for %d soft contacts: reserve it"
                                                        : "no memory for %d soft contacts",
                         p->contact_count);
    }
    *taken = take_stiffness(f);
    if (*taken) {
        measure_equations(f);
    }
    return PERP_STATUS_OK;
}

perp_status perp_friction_soft_reserve(const perp_contact_friction *problem, perp_friction_soft_workspace *workspace,
                                       perp_error *error)
{
    bool taken;
    workspace->kkt.may_grow = true;
    const perp_status status = set_up(workspace, problem, &taken, error);
    workspace->kkt.may_grow = false;
    return status;
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Forces of contacts at v, with their weights, off the balance. */
static void add_contacts(perp_friction_soft_workspace *f, const double *v)
{
    const perp_contact_qp *p = &f->bodies;
    const double *jacobian = f->jacobian, *block = f->block;
    double *omega = f->omega;
    f->slips = false;
    for (int i = 0; i < p->contact_count; i++) {
        const int row = p->row_start[i], rows = p->row_start[i + 1] - row;
        const int *dofs = f->dofs + f->dof_start[i], columns = f->dof_start[i + 1] - f->dof_start[i];
        double s[3], *r = f->force + row;
        for (int k = 0; k < rows; k++) {
            double sum = p->offset[row + k];
            for (int c = 0; c < columns; c++) {
                sum += jacobian[(ptrdiff_t)k * columns + c] * v[dofs[c]];
            }
            s[k] = sum;
        }
        const double mu = f->given->mu[i], *load = f->load + row;
        const bool slips = f->coupled[i]
                               ? perp_friction_soft_coupled(rows, block, mu, load, s, r, omega)
                               : perp_friction_soft_plain(rows, f->stiffness + 2 * (ptrdiff_t)i, mu, load, s, r, omega);
        f->slips = f->slips || slips;
        if (r[0] != 0.0) {
            for (int c = 0; c < columns; c++) {
                double sum = 0.0;
                for (int k = 0; k < rows; k++) {
                    sum += jacobian[(ptrdiff_t)k * columns + c] * r[k];
                }
                f->balance[dofs[c]] -= sum;
            }
        }
        omega += (ptrdiff_t)rows * rows;
        block += (ptrdiff_t)rows * rows;
        jacobian += (ptrdiff_t)rows * columns;
    }
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

/* Of unknown j at v its bound that holds it, or v itself where none does. */
static double held_at(const perp_friction_soft_workspace *f, const double *v, int j, bool *held)
{
    const perp_contact_qp *p = &f->bodies;
    const double free = v[j] - f->balance[j] / f->inertia[j];
    *held = p->lower && (free < p->lower[j] || free > p->upper[j]);
    return !*held ? v[j] : free < p->lower[j] ? p->lower[j] : p->upper[j];
}

/* F, forces and weights at a point; returns the merit, an energy. */
static double look(perp_friction_soft_workspace *f, const double *v, const double *y)
{
    const perp_contact_qp *p = &f->bodies;
    const double *block = p->hessian;
    double merit = 0.0;
    f->size = f->unit_size;
    for (int b = 0; b < p->block_count; b++) {
        const int first = p->block_start[b], size = p->block_start[b + 1] - first;
        for (int i = 0; i < size; i++, block += size) {
            double sum = p->g[first + i];
            for (int k = 0; k < size; k++) {
                sum += block[k] * v[first + k];
            }
            f->balance[first + i] = sum;
            f->size += sum * sum / f->inertia[first + i];
        }
    }
    add_contacts(f, v);
    for (int i = 0; i < p->equality_count; i++) {
        double sum = -p->equality_target[i];
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            f->balance[p->equality_dofs[k]] -= p->equality_values[k] * y[i];
            sum += p->equality_values[k] * v[p->equality_dofs[k]];
        }
        f->open[i] = sum;
        merit += f->stiff_equation[i] * sum * sum;
    }
    for (int j = 0; j < p->n; j++) {
        bool held;
        const double to = held_at(f, v, j, &held), off = held ? v[j] - to : f->balance[j] / f->inertia[j];
        merit += f->inertia[j] * off * off;
    }
    return merit;
}

/* Newton's direction from the point that was looked at. */
static bool find_step(perp_friction_soft_workspace *f)
{
    static const double HOLDS = 1e16, RELAXED = 1e-14; /* of A_jj; of an equation's response */
    const perp_contact_qp *p = &f->bodies;
    for (int j = 0; j < p->n; j++) {
        bool held;
        const double to = held_at(f, f->v, j, &held);
        f->diagonal[j] = held ? HOLDS * f->inertia[j] : 0.0;
        f->step[j] = held ? f->diagonal[j] * (to - f->v[j]) : -f->balance[j];
    }
    for (int i = 0; i < p->equality_count; i++) {
        f->diagonal[p->n + i] = f->stiff_equation[i] > 0.0 ? -RELAXED / f->stiff_equation[i] : -1.0;
        f->step[p->n + i] = -f->open[i];
    }
    f->factorisations++;
    if (f->slips) {
        perp_kkt_lu_assemble(&f->lu, p, f->omega, f->diagonal);
        perp_kkt_lu_factor(&f->lu);
        perp_kkt_lu_solve(&f->lu, f->step);
    } else {
        perp_kkt_assemble(&f->kkt, p, f->omega, f->diagonal);
        perp_kkt_factor(&f->kkt);
        perp_kkt_solve(&f->kkt, f->step);
    }
    for (int k = 0; k < p->n + p->equality_count; k++) {
        if (!isfinite(f->step[k])) {
            return false;
        }
    }
    return true;
}

/* What the balance has along the step: without slip it is the derivative of an energy that is convex. */
static double slope(const perp_friction_soft_workspace *f)
{
    double sum = 0.0;
    for (int j = 0; j < f->bodies.n; j++) {
        sum += f->balance[j] * f->step[j];
    }
    return sum;
}

/* So far along the step from f->v; returns the merit there. */
static double look_along(perp_friction_soft_workspace *f, double length)
{
    const perp_contact_qp *p = &f->bodies;
    for (int j = 0; j < p->n; j++) {
        f->trial_v[j] = f->v[j] + length * f->step[j];
        if (p->lower && f->diagonal[j] > 0.0 && length == 1.0) { /* exactly */
            f->trial_v[j] = f->trial_v[j] > 0.5 * (p->lower[j] + p->upper[j]) ? p->upper[j] : p->lower[j];
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        f->trial_y[i] = f->y[i] - length * f->step[p->n + i];
    }
    return look(f, f->trial_v, f->trial_y);
}

/* All of the step if that is nearer or still leads down, else to where the energy is least along it: by secants through
 * points beyond it, as the slope rises ever more steeply where contacts close, else by halves. The merit alone would
 * not do: where contacts are stiff it rises a thousandfold on the way to a point that is nearer. Returns the merit
 * there, where forces and F are. */
static double search(perp_friction_soft_workspace *f, double merit)
{
    enum { MOST = 25 };
    static const double FLAT = 0.05, NEARER = 0.9;
    const double first = slope(f);
    double reached = look_along(f, 1.0), low = 0.0, high = 1.0, above = slope(f), beyond = 1.0, there = above;
    if (reached <= NEARER * merit || !(above > 0.0) || !(first < 0.0)) {
        return reached;
    }
    for (int k = 0; k < MOST; k++) {
        const double guess = high - above * (beyond - high) / (there - above);
        const double length = guess > low && guess < high ? guess : 0.5 * (low + high);
        reached = look_along(f, length);
        const double here = slope(f);
        if (fabs(here) <= FLAT * -first) {
            break;
        }
        if (here < 0.0) {
            low = length;
        } else {
            beyond = high;
            there = above;
            high = length;
            above = here;
        }
    }
    return reached;
}

/* Without what makes Omega unsymmetric, normal forces in friction: its step leads down. */
static void make_symmetric(perp_friction_soft_workspace *f)
{
    double *omega = f->omega;
    for (int i = 0; i < f->bodies.contact_count; i++) {
        const int rows = f->bodies.row_start[i + 1] - f->bodies.row_start[i];
        for (int r = 1; r < rows; r++) {
            omega[r * rows] = omega[r] = 0.0;
        }
        if (rows > 2) {
            omega[5] = omega[7] = 0.5 * (omega[5] + omega[7]);
        }
        omega += (ptrdiff_t)rows * rows;
    }
    f->slips = false;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void put_point(const perp_friction_soft_workspace *f, perp_convex_point *to)
{
    const perp_contact_qp *p = &f->bodies;
    for (int j = 0; j < p->n; j++) {
        bool held;
        held_at(f, f->v, j, &held);
        to->x[j] = f->v[j];
        if (p->lower) {
            to->y_lower[j] = held ? fmax(0.0, f->balance[j]) : 0.0;
            to->y_upper[j] = held ? fmax(0.0, -f->balance[j]) : 0.0;
        }
    }
    const double *block = f->block;
    for (int i = 0; i < p->contact_count; i++) {
        const int first = p->row_start[i], rows = p->row_start[i + 1] - first;
        perp_friction_soft_yield(rows, f->coupled[i], block, f->force + first, f->load + first, to->x + p->n + first);
        block += (ptrdiff_t)rows * rows;
        for (int r = first; r < first + rows; r++) {
            to->y[r] = f->force[r];
            if (p->lower) {
                to->y_lower[p->n + r] = to->y_upper[p->n + r] = 0.0;
            }
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        to->y_equality[i] = f->y[i];
    }
}

static void take_start(perp_friction_soft_workspace *f, const perp_convex_point *warm)
{
    for (int j = 0; j < f->bodies.n; j++) {
        f->v[j] = warm && isfinite(warm->x[j]) ? warm->x[j] : 0.0;
    }
    for (int i = 0; i < f->bodies.equality_count; i++) {
        f->y[i] = warm && isfinite(warm->y_equality[i]) ? warm->y_equality[i] : 0.0;
    }
}

/* Does the class's residual take the point that was looked at for solved? It costs more than a step. */
static bool judge(const perp_friction_soft_workspace *f, const perp_friction_settings *settings,
                  perp_convex_point *solution, perp_friction_info *info)
{
    double near;
    put_point(f, solution);
    info->parts = perp_contact_friction_evaluate_with(f->given, solution, settings->relative ? 0.0 : 1.0, &near);
    info->residual = perp_contact_friction_residual_largest(info->parts);
    return info->residual <= settings->tolerance && near <= PERP_NEAR;
}

static void take_trial(perp_friction_soft_workspace *f)
{
    double *const v = f->v, *const y = f->y;
    f->v = f->trial_v;
    f->y = f->trial_y;
    f->trial_v = v;
    f->trial_y = y;
}

/* Goes on until steps no longer help, whatever the tolerance: Newton's last step gains more than what a caller that
 * iterates around it would have to. */
static bool run(perp_friction_soft_workspace *f, const perp_friction_settings *settings, perp_convex_point *solution,
                perp_friction_info *info)
{
    enum { MOST = 30 };
    static const double ROUNDING = 1e-26, NEAR = 1e-16, HELPS = 1e-2; /* of squares of forces */
    const int most = settings->max_iterations > 0 ? settings->max_iterations : MOST;
    take_start(f, settings->warm);
    double merit = look(f, f->v, f->y), before = INFINITY, largest = 0.0;
    for (int k = 0; k <= most && isfinite(merit); k++) {
        largest = fmax(largest, merit); /* what forces came to: rounding is that of these */
        const bool settled =
            merit <= ROUNDING * f->size || (merit <= NEAR * fmax(largest, f->size) && merit > HELPS * before);
        if ((settled || k == most) && judge(f, settings, solution, info)) {
            return true;
        }
        if (k == most || (settings->cancel && *settings->cancel) || !find_step(f)) {
            return false;
        }
        if (f->slips && !(slope(f) < 0.0)) {
            make_symmetric(f);
            if (!find_step(f)) {
                return false;
            }
        }
        f->iterations++;
        before = merit;
        merit = search(f, merit);
        take_trial(f);
    }
    return false;
}

perp_status perp_friction_soft_solve(const perp_contact_friction *problem, const perp_friction_settings *settings,
                                     perp_friction_soft_workspace *workspace, perp_convex_point *solution,
                                     perp_friction_info *info, perp_error *error)
{
    const perp_friction_settings chosen = settings ? *settings : perp_friction_settings_default();
    bool taken;
    *info = (perp_friction_info){
        .outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "soft", .tried_count = 1, .tried = {"soft"}};
    info->residual = INFINITY;
    const perp_status status = set_up(workspace, problem, &taken, error);
    if (status != PERP_STATUS_OK || !taken) {
        return status;
    }
    workspace->iterations = workspace->factorisations = 0;
    if (run(workspace, &chosen, solution, info)) {
        info->outcome = PERP_OUTCOME_SOLVED;
        info->minimum_norm = true;
    }
    info->iterations = workspace->iterations;
    info->factorisations = workspace->factorisations;
    return PERP_STATUS_OK;
}
