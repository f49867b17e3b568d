/* The Newton matrix D_z + D_f (G' + shift I), dense or on the pattern of the Jacobian with its diagonal. */
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "solver/mcp_newton.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* ---- assembly ---------------------------------------------------------------------------------------------------- */

static void assemble_dense(perp_newton_core *c, double shift)
{
    const int n = c->n;
    memset(c->matrix, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        double *row = c->matrix + (ptrdiff_t)i * n;
        for (int j = 0; !c->has_pattern && c->slope_f[i] != 0.0 && j < n; j++) {
            row[j] = c->slope_f[i] * c->jacobian[(ptrdiff_t)i * n + j];
        }
        row[i] += c->slope_z[i] + c->slope_f[i] * shift;
    }
    for (int j = 0; c->has_pattern && j < n; j++) {
        for (int k = c->column_starts[j]; k < c->column_starts[j + 1]; k++) {
            const int i = c->row_indices[k];
            c->matrix[(ptrdiff_t)i * n + j] += c->slope_f[i] * c->jacobian[k];
        }
    }
}

static void assemble_sparse(perp_newton_core *c, double shift)
{
    const int n = c->n;
    for (int j = 0; j < n; j++) {
        c->matrix[c->diagonal[j]] = 0.0; /* every other entry is one of the Jacobian's */
        for (int k = c->column_starts[j]; k < c->column_starts[j + 1]; k++) {
            c->matrix[c->place[k]] = c->slope_f[c->row_indices[k]] * c->jacobian[k];
        }
        c->matrix[c->diagonal[j]] += c->slope_z[j] + c->slope_f[j] * shift;
    }
}

bool perp_newton_factor(perp_newton_core *c, double shift)
{
    c->factorisations++;
    if (!c->door) {
        assemble_dense(c, shift + c->proximal);
        return perp_lu_factor(c->n, c->matrix, c->n, c->pivots, NULL) == PERP_STATUS_OK;
    }
    assemble_sparse(c, shift + c->proximal);
    const perp_status status = c->door->factor(c->factors, c->matrix, !c->factored_before);
    c->factored_before = c->factored_before || status == PERP_STATUS_OK;
    return status == PERP_STATUS_OK;
}

bool perp_newton_solve(perp_newton_core *c, double *b)
{
    if (!c->door) {
        perp_lu_solve(c->n, c->matrix, c->n, c->pivots, b);
    } else if (c->n > 0 && c->door->solve(c->factors, b) != PERP_STATUS_OK) {
        return false;
    }
    for (int i = 0; i < c->n; i++) {
        if (!isfinite(b[i])) {
            return false;
        }
    }
    return true;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

void perp_newton_gradient(perp_newton_core *c)
{
    const int n = c->n;
    for (int i = 0; i < n; i++) {
        c->work[i] = c->slope_f[i] * c->now.equation[i];
        c->gradient[i] = c->slope_z[i] * c->now.equation[i] + c->proximal * c->work[i];
    }
    for (int i = 0; !c->has_pattern && i < n; i++) {
        for (int j = 0; c->work[i] != 0.0 && j < n; j++) {
            c->gradient[j] += c->jacobian[(ptrdiff_t)i * n + j] * c->work[i];
        }
    }
    for (int j = 0; c->has_pattern && j < n; j++) {
        for (int k = c->column_starts[j]; k < c->column_starts[j + 1]; k++) {
            c->gradient[j] += c->jacobian[k] * c->work[c->row_indices[k]];
        }
    }
}

double perp_newton_jacobian_size(const perp_newton_core *c)
{
    return fmax(JACOBIAN_LEAST, perp_vector_largest((int)perp_newton_jacobian_length(c), c->jacobian));
}

void perp_newton_linearise(perp_newton_core *c, double shift)
{
    const int n = c->n;
    const double diagonal = c->proximal + shift;
    if (c->has_pattern) {
        memset(c->linear_m, 0, (size_t)n * (size_t)n * sizeof(double));
        for (int j = 0; j < n; j++) {
            for (int k = c->column_starts[j]; k < c->column_starts[j + 1]; k++) {
                c->linear_m[(ptrdiff_t)c->row_indices[k] * n + j] = c->jacobian[k];
            }
        }
    } else {
        memcpy(c->linear_m, c->jacobian, (size_t)n * (size_t)n * sizeof(double));
    }
    for (int i = 0; i < n; i++) {
        double *row = c->linear_m + (ptrdiff_t)i * n;
        row[i] += diagonal;
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            sum += row[j] * c->now.z[j];
        }
        const double pull = c->proximal > 0.0 ? c->proximal * (c->now.z[i] - c->centre[i]) : 0.0;
        c->linear_q[i] = c->now.f[i] + pull - sum;
    }
}
