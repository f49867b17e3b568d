#include "lcp_test.h"

#include "farkas_check.h"

void assert_near_(double a, double b, double tolerance, const char *text, const char *file, int line)
{
    if (!(fabs(a - b) <= tolerance)) {
        print_error("%s = %.17g is not %.17g within %g\n", text, a, b, tolerance);
        _fail(file, line);
    }
}

static void *new_array(int count, size_t size)
{
    void *array = calloc((size_t)count + 1, size);
    assert_non_null(array);
    return array;
}

case_of new_case(int n)
{
    case_of c = {.n = n};
    c.m = new_array(n * n, sizeof(double));
    double **vectors[] = {&c.q, &c.lower, &c.upper, &c.z, &c.w};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = new_array(n, sizeof(double));
    }
    c.ray = new_array(2 * n, sizeof(double));
    c.free = new_array(n, sizeof(bool));
    c.basis = new_array(n, sizeof(int));
    for (int i = 0; i < n; i++) {
        c.upper[i] = INFINITY;
    }
    return c;
}

void free_case(case_of *c)
{
    free(c->m);
    free(c->q);
    free(c->lower);
    free(c->upper);
    free(c->z);
    free(c->w);
    free(c->ray);
    free(c->free);
    free(c->basis);
}

perp_lcp lcp_of(const case_of *c)
{
    const perp_lcp r = {c->n, c->m, c->q};
    return r;
}

perp_mlcp mlcp_of(const case_of *c)
{
    const perp_mlcp r = {c->n, c->m, c->q, c->free};
    return r;
}

perp_mcp mcp_of(const case_of *c)
{
    const perp_mcp r = {c->n, c->m, c->q, c->lower, c->upper};
    return r;
}

perp_lcp_solution solution_of(const case_of *c)
{
    const perp_lcp_solution r = {c->z, c->w, c->ray, c->basis};
    return r;
}

perp_lcp_workspace *new_workspace(int n)
{
    perp_lcp_workspace *workspace;
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_workspace_create(n, NULL, &workspace, NULL));
    return workspace;
}

perp_status lemke_alone(const perp_lcp *problem, const perp_lcp_settings *settings, perp_lcp_workspace *workspace,
                        perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error)
{
    perp_lcp_settings own = settings ? *settings : perp_lcp_settings_default();
    own.method = "lemke";
    return perp_lcp_solve(problem, &own, workspace, solution, info, error);
}

/* max(min(z - lower, F), z - upper) in long double: the natural map as a formula of minima and maxima. */
double judge(const case_of *c, const double *z)
{
    long double worst = 0.0L;
    for (int i = 0; i < c->n; i++) {
        long double f = c->q[i], size = fabsl(f);
        for (int j = c->n - 1; j >= 0; j--) {
            const long double term = (long double)c->m[i * c->n + j] * z[j];
            f += term;
            size += fabsl(term);
        }
        const long double lower = c->free[i] ? -INFINITY : c->lower[i], upper = c->free[i] ? INFINITY : c->upper[i];
        const long double error = fabsl(fmaxl(fminl(z[i] - lower, f), z[i] - upper)) / (1.0L + size);
        worst = error >= worst || isnan((double)z[i]) ? error : worst;
    }
    return (double)worst;
}

void assert_proof(const case_of *c)
{
    double *bounds = new_array(2 * c->n, sizeof(double));
    for (int i = 0; i < c->n; i++) {
        bounds[i] = c->free[i] ? -INFINITY : c->lower[i];
        bounds[c->n + i] = c->free[i] ? INFINITY : c->upper[i];
    }
    assert_true(farkas_holds(c->n, c->m, c->q, bounds, bounds + c->n, c->ray));
    free(bounds);
}

case_of nearly_singular(perp_random *random, int n, int k, bool signs, double *z)
{
    case_of c = new_case(n);
    const double shift = ldexp(1.0, -k), size = ldexp(1.0, (int)perp_random_uniform(random, 0.0, 21.0));
    double sign[8];
    for (int i = 0; i < n; i++) {
        sign[i] = signs && perp_random_uniform(random, 0.0, 1.0) < 0.5 ? -1.0 : 1.0;
        z[i] = sign[i] * (size + floor(perp_random_uniform(random, 1.0, 4.0)));
        c.m[i * n + i] += shift;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            const double weight = j == i - 1 ? 1.0 : floor(perp_random_uniform(random, 0.0, 3.0));
            c.m[i * n + i] += weight;
            c.m[j * n + j] += weight;
            c.m[i * n + j] = c.m[j * n + i] = -weight * sign[i] * sign[j];
        }
    }
    for (int i = 0; i < n; i++) { /* the integer part cancels first: every partial sum is exact */
        double whole = 0.0;
        for (int j = 0; j < n; j++) {
            whole -= (i == j ? c.m[i * n + i] - shift : c.m[i * n + j]) * z[j];
        }
        c.q[i] = whole - shift * z[i];
    }
    return c;
}

case_of murty(int n)
{
    case_of c = new_case(n);
    for (int i = 0; i < n; i++) {
        c.q[i] = -1.0;
        for (int j = 0; j <= i; j++) {
            c.m[i * n + j] = i == j ? 1.0 : 2.0;
        }
    }
    return c;
}

case_of fathi(int n)
{
    case_of l = murty(n), c = murty(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) {
                sum += l.m[i * n + k] * l.m[j * n + k];
            }
            c.m[i * n + j] = sum;
        }
    }
    free_case(&l);
    return c;
}

case_of bimatrix(void)
{
    static const double m[16] = {0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0};
    case_of c = new_case(4);
    memcpy(c.m, m, sizeof m);
    for (int i = 0; i < 4; i++) {
        c.q[i] = -1.0;
    }
    return c;
}
