#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "siconos_friction.h"

#include <math.h>

const char *siconos_friction_name(siconos_friction_method method)
{
    static const char *const names[SICONOS_FRICTION_METHODS] = {"NSGS", "NSN-AC", "ADMM"};
    return names[method];
}

#ifdef PERP_BENCH_SICONOS

#include "timing.h"

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool siconos_friction_available(void)
{
    return true;
}

/* What the child leaves for its parent. */
typedef struct shared {
    siconos_friction_answer answer;
    double r[];
} shared;

static NumericsMatrix *make_matrix(const perp_friction *p, bool blocks)
{
    const int size = p->contacts * p->dim;
    NumericsMatrix *m = NM_create(NM_SPARSE, size, size);
    NM_triplet_alloc(m, size);
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < size; k++) {
            const double value = p->w[(size_t)i * (size_t)size + (size_t)k];
            if (value != 0.0 || i == k) {
                NM_entry(m, i, k, value);
            }
        }
    }
    CSparseMatrix *columns = NM_csc(m);
    if (!blocks) {
        return m;
    }
    NumericsMatrix *r = NM_create(NM_SPARSE_BLOCK, size, size);
    r->matrix1 = SBM_new();
    SBM_from_csparse(p->dim, columns, r->matrix1);
    return r;
}

static int nonzero_count(const perp_friction *p)
{
    const size_t size = (size_t)(p->contacts * p->dim);
    int r = 0;
    for (size_t i = 0; i < size * size; i++) {
        r += p->w[i] != 0.0;
    }
    return r;
}

/* About as many iterations as the time allows, by measured times of one: 1e-6 s a contact and 2e-9 s a nonzero for
 * NSGS, 4e-8 s a nonzero and 1e-5 s for ADMM. NSN-AC factors in each of its iterations, and stalls rather than crawls:
 * it has its default. */
static int iterations(const perp_friction *p, const siconos_friction_request *request, int usual)
{
    const double nonzeros = nonzero_count(p);
    const double each = request->method == SICONOS_NSGS   ? 2e-9 * nonzeros + 1e-6 * p->contacts
                        : request->method == SICONOS_ADMM ? 4e-8 * nonzeros + 1e-5
                                                          : INFINITY;
    const double fitting = fmin(1e6, request->limit_seconds / each);
    return fitting > usual ? (int)fitting : usual;
}

static const int ids[SICONOS_FRICTION_METHODS] = {SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_NSN_AC,
                                                  SICONOS_FRICTION_3D_ADMM};

/* One run from `r`, with ever smaller tolerances. */
static siconos_friction_answer solve_once(const perp_friction *p, const siconos_friction_request *request,
                                          FrictionContactProblem *problem, double *r, double *u)
{
    siconos_friction_answer answer = {.ended = true};
    for (double tolerance = request->target;; tolerance *= 0.01) {
        SolverOptions *options = solver_options_create(ids[request->method]);
        options->dparam[SICONOS_DPARAM_TOL] = tolerance;
        options->iparam[SICONOS_IPARAM_MAX_ITER] = iterations(p, request, options->iparam[SICONOS_IPARAM_MAX_ITER]);
        const double start = timing_processor();
        const int info = fc3d_driver(problem, r, u, options);
        answer.seconds += timing_processor() - start;
        answer.claimed = info == 0;
        answer.residual = request->residual(p, r);
        solver_options_delete(options);
        free(options);
        if (info != 0 || answer.residual <= request->target || tolerance <= 1e-14) {
            return answer;
        }
    }
}

static void solve(const perp_friction *p, const siconos_friction_request *request, shared *out)
{
    const size_t size = (size_t)(p->contacts * p->dim);
    double *memory = calloc(3 * size + (size_t)p->contacts + 1, sizeof *memory);
    if (!memory) {
        _exit(1);
    }
    double *q = memory, *start = q + size, *u = start + size, *mu = u + size;
    memcpy(q, p->q, size * sizeof *q);
    memcpy(start, out->r, size * sizeof *start);
    memcpy(mu, p->mu, (size_t)p->contacts * sizeof *mu);
    for (int i = 0; i < request->repetitions; i++) {
        FrictionContactProblem problem = {3, p->contacts, make_matrix(p, request->method == SICONOS_NSGS), q, mu};
        memcpy(out->r, start, size * sizeof *start);
        memset(u, 0, size * sizeof *u);
        const siconos_friction_answer answer = solve_once(p, request, &problem, out->r, u);
        const double seconds = i > 0 ? fmin(out->answer.seconds, answer.seconds) : answer.seconds;
        out->answer = answer;
        out->answer.seconds = seconds;
        if (answer.seconds > 0.05 * request->limit_seconds) { /* repeating is against what disturbs short times */
            break;
        }
    }
}

/* A contact that slips. */
static void warm_up(const siconos_friction_request *request, shared *scratch)
{
    static const double w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1.0, 1.0, 0.0}, mu = 0.5;
    const perp_friction small = {1, 3, w, q, &mu};
    siconos_friction_request once = *request;
    once.repetitions = 1;
    solve(&small, &once, scratch);
}

/* Ends this process after so many seconds of its own work: a busy machine takes nothing from a solver. */
static void stop_after(double seconds)
{
    const long micro = (long)(1e6 * seconds);
    const struct itimerval limit = {.it_value = {micro / 1000000, micro % 1000000}};
    setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends it */
}

/* Waits for the child, at most so long: it may also hang without working. */
static void wait_for(pid_t child, double seconds)
{
    const double end = timing_now() + seconds;
    for (long pause = 50000;; pause = pause < 5000000 ? 2 * pause : pause) { /* ns */
        if (waitpid(child, NULL, WNOHANG) == child) {
            return;
        }
        if (timing_now() > end) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
            return;
        }
        nanosleep(&(struct timespec){0, pause}, NULL);
    }
}

siconos_friction_answer siconos_friction_solve(const perp_friction *problem, const siconos_friction_request *request,
                                               double *r)
{
    const size_t count = (size_t)(problem->contacts * problem->dim), bytes = sizeof(shared) + count * sizeof *r;
    siconos_friction_answer none = {.seconds = request->limit_seconds, .residual = INFINITY};
    shared *common = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED) {
        return none;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO); /* it talks, whatever its verbosity */
        dup2(nowhere, STDERR_FILENO);
        warm_up(request, common);
        common->answer.ended = false;
        memcpy(common->r, r, count * sizeof *r);
        stop_after(1.25 * request->limit_seconds + 0.1); /* the rest for W and the repetitions */
        solve(problem, request, common);
        _exit(0);
    }
    if (child > 0) {
        wait_for(child, 60.0 * (request->limit_seconds + 0.5));
    }
    if (common->answer.ended) {
        none = common->answer;
        memcpy(r, common->r, count * sizeof *r);
    }
    munmap(common, bytes);
    return none;
}

#else

bool siconos_friction_available(void)
{
    return false;
}

siconos_friction_answer siconos_friction_solve(const perp_friction *problem, const siconos_friction_request *request,
                                               double *r)
{
    (void)problem, (void)r;
    return (siconos_friction_answer){.seconds = request->limit_seconds, .residual = INFINITY};
}

#endif
