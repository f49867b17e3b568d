#include "siconos_lcp.h"

#ifdef PERP_BENCH_SICONOS

#include "timing.h"

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct siconos_lcp {
    int capacity;
    double *columns, *q, *w;
};

siconos_lcp *siconos_lcp_create(int n)
{
    siconos_lcp *s = calloc(1, sizeof *s);
    if (s) {
        s->capacity = n;
        s->columns = calloc((size_t)n * (size_t)n, sizeof *s->columns);
        s->q = calloc((size_t)n, sizeof *s->q);
        s->w = calloc((size_t)n, sizeof *s->w);
    }
    if (s && (!s->columns || !s->q || !s->w)) {
        siconos_lcp_free(s);
        s = NULL;
    }
    return s;
}

void siconos_lcp_free(siconos_lcp *s)
{
    if (s) {
        free(s->columns);
        free(s->q);
        free(s->w);
        free(s);
    }
}

/* The solver says on standard output that it met a ray, whatever its verbosity; that would stand between our figures.
 * Returns what unmute needs, negative if nothing was muted. */
static int mute(void)
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    if (kept >= 0 && nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
    }
    if (nowhere >= 0) {
        close(nowhere);
    }
    return kept;
}

static void unmute(int kept)
{
    fflush(stdout);
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
}

bool siconos_lcp_solve(siconos_lcp *s, int n, const double *m, const double *q, double *z, double *seconds)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            s->columns[k * n + i] = m[i * n + k];
        }
    }
    memcpy(s->q, q, (size_t)n * sizeof *q);
    memset(z, 0, (size_t)n * sizeof *z);
    memset(s->w, 0, (size_t)n * sizeof *s->w);
    NumericsMatrix *matrix = NM_create_from_data(NM_DENSE, n, n, s->columns);
    SolverOptions *options = solver_options_create(SICONOS_LCP_LEMKE);
    LinearComplementarityProblem problem = {.size = n, .M = matrix, .q = s->q};
    int info = -1;
    const int kept = mute();
    const double start = timing_now();
    lcp_lexicolemke(&problem, z, s->w, &info, options);
    *seconds = timing_now() - start;
    unmute(kept);
    solver_options_delete(options);
    free(options);
    matrix->matrix0 = NULL; /* the numbers are ours */
    NM_clear(matrix);
    free(matrix);
    return info == 0;
}

bool siconos_lcp_available(void)
{
    return true;
}

#else

siconos_lcp *siconos_lcp_create(int n)
{
    (void)n;
    return 0;
}

void siconos_lcp_free(siconos_lcp *s)
{
    (void)s;
}

bool siconos_lcp_solve(siconos_lcp *s, int n, const double *m, const double *q, double *z, double *seconds)
{
    (void)s, (void)n, (void)m, (void)q, (void)z, (void)seconds;
    return false;
}

bool siconos_lcp_available(void)
{
    return false;
}

#endif
