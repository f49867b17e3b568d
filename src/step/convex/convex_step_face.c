/* The smallest motion. Without inertia a step may have many answers that differ in v alone: a particle on a
 * frictionless plane may go anywhere. All of them share A v and have the same forces y as multipliers; they are the v
 * with
 *
 *     A v = A v*,  C v = d,  s_k = 0 where the ray k bears force, s >= 0 elsewhere
 *
 * where a cone's y inside of it asks for s = 0, on its edge for s along the opposite edge, and where y = 0 for s in the
 * cone. Of these the one with the least v'W v is taken, W being the mass matrix: the paper's "lazy" system. It does not
 * depend on what the solver started from.
 *
 * A small proximal term in the first problem would be cheaper, but it shifts the forces, and with a cone or a spring in
 * the problem it is exact only in the limit. */
#include "step/convex/convex_step.h"
#include "step/common/determined.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <assert.h>
#include <string.h>

typedef struct face_builder {
    const contact_step *step;
    convex_step *c;
    int contacts, rows, dofs, slacks, equations;
    ptrdiff_t jacobian, rays, entries;
} face_builder;

/* ---- equations --------------------------------------------------------------------------------------------------- */

/* Ends the equation whose entries stand at the end of the list: their sum with x is `target`. */
static void end_equation(face_builder *f, double target)
{
    convex_step *c = f->c;
    c->face_target[f->equations++] = target;
    c->face_equality_start[f->equations] = (int)f->entries;
}

/* combination (rows) of the rows of contact i of the step's problem, plus offset, is 0. */
static void add_equation(face_builder *f, int i, const double *jacobian, const double *combination, double offset)
{
    const perp_contact_qp *p = &f->c->qp;
    const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
    const int rows = p->row_start[i + 1] - p->row_start[i];
    assert(rows <= 4); /* n, t, o, turning */
    for (int k = 0; k < columns; k++) {
        double sum = 0.0;
        for (int r = 0; r < rows; r++) {
            sum += combination[r] * jacobian[(ptrdiff_t)r * columns + k];
        }
        f->c->face_equality_dofs[f->entries] = p->dofs[start + k]; /* zeros too: equations of a pair look alike then */
        f->c->face_values[f->entries++] = sum;
    }
    end_equation(f, -offset);
}

/* A v = A v*, and the loops. */
static void add_given(face_builder *f)
{
    convex_step *c = f->c;
    const perp_contact_qp *p = &c->qp;
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            double sum = 0.0, size = 0.0;
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++, block++) {
                if (*block != 0.0) {
                    c->face_equality_dofs[f->entries] = k;
                    c->face_values[f->entries++] = *block;
                    sum += *block * c->point.x[k];
                    size = fmax(size, fabs(*block));
                }
            }
            if (size > 0.0) {
                for (ptrdiff_t k = c->face_equality_start[f->equations]; k < f->entries; k++) {
                    c->face_values[k] /= size;
                }
                end_equation(f, sum / size);
            }
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            c->face_equality_dofs[f->entries] = p->equality_dofs[k];
            c->face_values[f->entries++] = p->equality_values[k];
        }
        end_equation(f, c->target[i]);
    }
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Of the `count` slacks of contact i those for which `keep` holds stay inequalities. */
static void add_contact(face_builder *f, int i, const double *jacobian, const double *ray, int count, const bool *keep)
{
    convex_step *c = f->c;
    const perp_contact_qp *p = &c->qp;
    const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
    const int before = f->slacks;
    for (int k = 0; k < count; k++) {
        if (keep[k]) {
            memcpy(c->face_ray + f->rays, ray + (ptrdiff_t)k * rows, (size_t)rows * sizeof(double));
            c->face_offset[f->slacks++] = c->offset[c->slack_start[i] + k];
            f->rays += rows;
        }
    }
    if (f->slacks == before) {
        return;
    }
    memcpy(c->face_jacobian + f->jacobian, jacobian, (size_t)(rows * columns) * sizeof(double));
    memcpy(c->face_dofs + f->dofs, p->dofs + p->dof_start[i], (size_t)columns * sizeof(int));
    f->jacobian += (ptrdiff_t)rows * columns;
    c->face_cone[f->contacts] = c->cone[i] && f->slacks - before == count;
    c->face_row_start[++f->contacts] = f->rows += rows;
    c->face_dof_start[f->contacts] = f->dofs += columns;
    c->face_slack_start[f->contacts] = f->slacks;
}

/* The equation that combines the rows of a cone by `weight`. */
static void add_combination(face_builder *f, int i, const double *jacobian, const double *ray, const double *weight,
                            int count)
{
    const double *offset = f->c->offset + f->c->slack_start[i];
    double row[4] = {0.0, 0.0, 0.0, 0.0}, sum = 0.0;
    for (int k = 0; k < count; k++) {
        for (int r = 0; r < count; r++) {
            row[r] += weight[k] * ray[k * count + r];
        }
        sum += weight[k] * offset[k];
    }
    add_equation(f, i, jacobian, row, sum);
}

/* Rows of the equations that hold while the force stays in the cone's inside, or on its edge: there s is along the
 * opposite edge, so that s_0 + t . s = 0 and what of s is square to the direction t of the force is 0. */
static void add_cone(face_builder *f, int i, const double *jacobian, const double *ray)
{
    convex_step *c = f->c;
    const double *y = c->point.y + c->slack_start[i];
    const int count = c->slack_start[i + 1] - c->slack_start[i];
    const double length = perp_convex_length(y + 1, count - 1);
    const bool none = y[0] <= CARRIES, edge = !none && y[0] - length <= ON_EDGE * y[0];
    const bool keep[4] = {none || edge, none, none, none};
    assert(count == 3 || count == 4); /* cones of two are the smoothed law's, which has one answer */
    for (int k = 0; k < count && !none && !edge; k++) {
        double unit[4] = {0.0, 0.0, 0.0, 0.0};
        unit[k] = 1.0;
        add_combination(f, i, jacobian, ray, unit, count);
    }
    if (edge) {
        double t[3] = {y[1] / length, y[2] / length, count > 3 ? y[3] / length : 0.0};
        add_combination(f, i, jacobian, ray, (const double[4]){1.0, t[0], t[1], t[2]}, count);
        if (count == 3) {
            add_combination(f, i, jacobian, ray, (const double[4]){0.0, -t[1], t[0], 0.0}, count);
        } else {
            perp_vec3 across, along;
            perp_tangents(perp_vec3_make(t[0], t[1], t[2]), &across, &along);
            add_combination(f, i, jacobian, ray, (const double[4]){0.0, across.x, across.y, across.z}, count);
            add_combination(f, i, jacobian, ray, (const double[4]){0.0, along.x, along.y, along.z}, count);
        }
    }
    add_contact(f, i, jacobian, ray, count, keep);
}

static void add_rays(face_builder *f, int i, const double *jacobian, const double *ray)
{
    convex_step *c = f->c;
    const int rows = c->qp.row_start[i + 1] - c->qp.row_start[i], start = c->slack_start[i];
    const int count = c->slack_start[i + 1] - start;
    bool *keep = c->face_keep;
    int bearing = 0;
    for (int k = 0; k < count; k++) {
        keep[k] = c->point.y[start + k] <= CARRIES;
        bearing += !keep[k];
    }
    const bool sticks = rows > 1 && bearing >= rows; /* so many rays are met by u = 0 alone */
    for (int r = 0; r < rows && sticks; r++) {
        const double row[3] = {r == 0, r == 1, r == 2};
        add_equation(f, i, jacobian, row, f->step->offset[c->qp.row_start[i] + r] * f->step->h / f->step->length_unit);
    }
    for (int k = 0; k < count; k++) {
        if (sticks) {
            keep[k] = false; /* all rays are 0 with u */
        } else if (!keep[k]) {
            add_equation(f, i, jacobian, ray + (ptrdiff_t)k * rows, c->offset[start + k]);
        }
    }
    add_contact(f, i, jacobian, ray, count, keep);
}

static void build(face_builder *f)
{
    convex_step *c = f->c;
    const perp_contact_qp *p = &c->qp;
    const double *jacobian = p->jacobian, *ray = c->ray;
    c->face_row_start[0] = c->face_dof_start[0] = c->face_slack_start[0] = c->face_equality_start[0] = 0;
    perp_step_metric(f->step, c->face_hessian);
    memset(c->face_g, 0, (size_t)p->n * sizeof(double));
    add_given(f);
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        if (c->cone[i]) {
            add_cone(f, i, jacobian, ray);
        } else {
            add_rays(f, i, jacobian, ray);
        }
        jacobian += (ptrdiff_t)rows * (p->dof_start[i + 1] - p->dof_start[i]);
        ray += (ptrdiff_t)rows * (c->slack_start[i + 1] - c->slack_start[i]);
    }
    c->face = (perp_contact_qp){.n = p->n,
                                .block_count = p->block_count,
                                .block_start = p->block_start,
                                .hessian = c->face_hessian,
                                .g = c->face_g,
                                .contact_count = f->contacts,
                                .row_start = c->face_row_start,
                                .dof_start = c->face_dof_start,
                                .dofs = c->face_dofs,
                                .jacobian = c->face_jacobian,
                                .slack_start = c->face_slack_start,
                                .rays = c->face_ray,
                                .offset = c->face_offset,
                                .quadratic = c->face_cone,
                                .equality_count = f->equations,
                                .equality_start = c->face_equality_start,
                                .equality_dofs = c->face_equality_dofs,
                                .equality_values = c->face_values,
                                .equality_target = c->face_target,
                                .lower = p->lower,
                                .upper = p->upper};
}

/* A limit that bears force is met exactly: what holds of it is an equation. */
static void add_limits(face_builder *f)
{
    convex_step *c = f->c;
    const perp_contact_qp *p = &c->qp;
    for (int i = 0; i < p->n && p->lower; i++) {
        const bool low = isfinite(p->lower[i]) && c->point.y_lower[i] > CARRIES;
        const bool high = isfinite(p->upper[i]) && c->point.y_upper[i] > CARRIES;
        if (low || high) {
            c->face_equality_dofs[f->entries] = i;
            c->face_values[f->entries++] = 1.0;
            end_equation(f, low ? p->lower[i] : p->upper[i]);
        }
    }
    c->face.equality_count = f->equations;
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

static double largest_difference(int n, const double *x, const double *y)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(x[i] - (y ? y[i] : 0.0)));
    }
    return largest;
}

static void swap_motions(convex_step *c)
{
    double *x = c->point.x;
    c->point.x = c->face_point.x;
    c->face_point.x = x;
}

/* To start from: the motion at hand, and no force at what is not an equation, since most of it stays out of reach. */
static void make_start(face_builder *f)
{
    convex_step *c = f->c;
    const size_t n = (size_t)c->face.n;
    memcpy(c->face_point.x, c->point.x, n * sizeof(double));
    memset(c->face_point.y, 0, (size_t)f->slacks * sizeof(double));
    memset(c->face_point.y_equality, 0, (size_t)f->equations * sizeof(double));
    memset(c->face_point.y_lower, 0, n * sizeof(double));
    memset(c->face_point.y_upper, 0, n * sizeof(double));
}

static perp_status solve_face(contact_step *step, const perp_convex_point *warm, perp_convex_info *info,
                              perp_error *error)
{
    convex_step *c = step->own;
    perp_convex_settings settings = perp_convex_settings_default();
    settings.warm = warm; /* read before it is written */
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED * step->settings->tolerance);
    settings.minimum_norm = false;
    perp_status status = perp_contact_qp_reserve(&c->face, c->face_solver, error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_qp_solve(&c->face, &settings, c->face_solver, &c->face_point, info, error);
    }
    step->info->iterations += status == PERP_STATUS_OK ? info->iterations : 0;
    return status;
}

static bool is_usable(const perp_convex_info *info)
{
    return info->outcome == PERP_OUTCOME_SOLVED || info->outcome == PERP_OUTCOME_ILL_CONDITIONED ||
           info->outcome == PERP_OUTCOME_ITERATION_LIMIT;
}

/* The smallest motion on the face into face_point.x, and then point.x if it meets the law as well. */
static perp_status search(contact_step *step, face_builder *f, double before, bool *found, perp_error *error)
{
    convex_step *c = step->own;
    perp_convex_info info;
    make_start(f);
    const perp_status status = solve_face(step, &c->face_point, &info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    swap_motions(c);
    *found = is_usable(&info) && perp_convex_step_law(step) <= fmax(2.0 * before, 0.1 * step->settings->tolerance);
    if (!*found) {
        swap_motions(c);
    }
    return PERP_STATUS_OK;
}

/* Do the face's equations alone leave no other motion? If not, face_way is one that they allow. */
static bool is_determined(const contact_step *step)
{
    const convex_step *c = step->own;
    const int n = c->face.n;
    if (n > CONVEX_DETERMINED) {
        return false;
    }
    memset(c->face_square, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < c->face.equality_count; i++) {
        const int start = c->face_equality_start[i];
        perp_determined_add(n, c->face_equality_start[i + 1] - start, c->face_equality_dofs + start,
                            c->face_values + start, c->face_square);
    }
    return perp_determined_is_one(n, c->face_square, c->face_square + (ptrdiff_t)n * n, c->face_way);
}

/* Is there another motion a little along face_way, this way or that? */
static bool goes_along(contact_step *step)
{
    convex_step *c = step->own;
    bool goes = false;
    for (int side = 0; side < 2 && !goes; side++) {
        for (int i = 0; i < step->system.n; i++) {
            c->face_point.x[i] = c->point.x[i] + (side == 0 ? A_LITTLE : -A_LITTLE) * c->face_way[i];
        }
        swap_motions(c);
        goes = perp_convex_step_law(step) <= step->settings->tolerance;
        swap_motions(c);
    }
    return goes;
}

perp_status perp_convex_step_smallest(contact_step *step, perp_error *error)
{
    convex_step *c = step->own;
    const int n = step->system.n;
    const bool moves = largest_difference(n, c->point.x, NULL) > AT_REST; /* nothing is smaller than no motion */
    bool found = !moves;
    const double before = perp_convex_step_law(step);
    face_builder f = {.step = step, .c = c};
    build(&f);
    add_limits(&f);
    if (is_determined(step)) {
        return PERP_STATUS_OK;
    }
    const perp_status status = moves ? search(step, &f, before, &found, error) : PERP_STATUS_OK;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!found) {
        step->info->fallbacks[PERP_FALLBACK_ANY_MOTION]++;
        return PERP_STATUS_OK;
    }
    step->info->several =
        step->info->several || (moves && largest_difference(n, c->face_point.x, c->point.x) > TWO_MOTIONS);
    step->info->several = step->info->several || (n <= CONVEX_DETERMINED && goes_along(step));
    return status;
}
