#include "mcp_made.h"

#include <math.h>

bool made_evaluate(void *context, const double *z, double *f, double *jacobian)
{
    const made *m = context;
    for (int i = 0; i < m->n; i++) {
        const double e = exp(fmin(z[i], 100.0)), value = m->shape == MADE_CUBIC ? z[i] * z[i] * z[i] : e;
        f[i] = m->offset[i] + m->c[i] * value;
        for (int j = 0; j < m->n; j++) {
            f[i] += m->a[i][j] * z[j];
        }
        for (int j = 0; jacobian && j < m->n; j++) {
            const double slope = m->shape == MADE_CUBIC ? 3.0 * z[i] * z[i] : e;
            jacobian[i * m->n + j] = m->a[i][j] + (i == j ? m->c[i] * slope : 0.0);
        }
    }
    return true;
}

/* Monotone: B B' of any rank plus something skew. Else entries of either sign. */
static void make_matrix(made *m, perp_random *random, bool monotone)
{
    double b[MADE_LARGEST][MADE_LARGEST];
    const int rank = 1 + (int)perp_random_uniform(random, 0.0, m->n);
    for (int i = 0; i < m->n; i++) {
        for (int j = 0; j < m->n; j++) {
            b[i][j] = perp_random_uniform(random, -1.0, 1.0);
        }
    }
    for (int i = 0; i < m->n; i++) {
        for (int j = 0; j < m->n; j++) {
            m->a[i][j] = monotone ? (i < j ? b[i][j] : (i > j ? -b[j][i] : 0.0)) : b[i][j];
            for (int k = 0; monotone && k < rank; k++) {
                m->a[i][j] += b[i][k] * b[j][k] / rank;
            }
        }
    }
}

static void make_bounds(made *m, perp_random *random, int i)
{
    const double kind = perp_random_uniform(random, 0.0, 1.0), where = perp_random_uniform(random, 0.0, 1.0);
    m->lower[i] = kind < 0.6 ? 0.0 : -INFINITY;
    m->upper[i] = kind < 0.4 || (kind >= 0.53 && kind < 0.8) ? INFINITY : (kind >= 0.5 && kind < 0.53 ? 0.0 : 1.5);
    double z = perp_random_uniform(random, kind < 0.6 ? 0.0 : -1.0, 1.0);
    z = where < 0.35 && m->lower[i] > -INFINITY ? m->lower[i] : z;
    z = where > 0.65 && m->upper[i] < INFINITY ? m->upper[i] : z;
    m->solution[i] = fmin(fmax(z, m->lower[i]), m->upper[i]);
}

made made_case(uint64_t seed, made_shape shape, bool monotone)
{
    perp_random random = {seed * 7 + 3};
    made m = {.n = 1 + (int)(seed % MADE_LARGEST), .shape = shape};
    double f[MADE_LARGEST];
    make_matrix(&m, &random, monotone);
    for (int i = 0; i < m.n; i++) {
        m.c[i] = perp_random_uniform(&random, 0.0, 1.0);
        make_bounds(&m, &random, i);
    }
    made_evaluate(&m, m.solution, f, NULL);
    for (int i = 0; i < m.n; i++) {
        double slack = perp_random_uniform(&random, 0.0, 1.0);
        slack = slack < 0.1 ? 0.0 : slack;
        const bool low = m.solution[i] == m.lower[i], high = m.solution[i] == m.upper[i];
        m.offset[i] = (low ? slack : (high ? -slack : 0.0)) - f[i];
    }
    return m;
}

perp_nonlinear_mcp made_problem(made *m)
{
    return (perp_nonlinear_mcp){
        .n = m->n, .lower = m->lower, .upper = m->upper, .evaluate = made_evaluate, .context = m};
}
