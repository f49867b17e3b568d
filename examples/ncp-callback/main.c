/* A bead on a rubber band hangs over a bowl: a nonlinear complementarity problem of one's own, by a callback.
 *
 * The bead at (x, y) weighs m g, the band pulls it to its anchor with (k + c r^2) r, and the bowl y = x^2 / 2 pushes it
 * with a normal force p along its gradient (-x, 1) where they touch:
 *
 *     x, y free    (k + c r^2) (x - anchor_x) + p x = 0
 *                  (k + c r^2) (y - anchor_y) + m g - p = 0
 *     0 <= p  _|_  y - x^2 / 2 >= 0
 */
#include <perp/linalg.h>
#include <perp/solver.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct bead {
    double weight;             /* N */
    double k, c;               /* N/m, N/m^3 */
    double anchor_x, anchor_y; /* m */
} bead;

enum { X, Y, P, UNKNOWNS };

/* F, and its Jacobian row by row unless the solver does without it this time. */
static bool evaluate(void *context, const double *z, double *f, double *jacobian)
{
    const bead *b = context;
    const double dx = z[X] - b->anchor_x, dy = z[Y] - b->anchor_y, stiffness = b->k + b->c * (dx * dx + dy * dy);
    f[X] = stiffness * dx + z[P] * z[X];
    f[Y] = stiffness * dy + b->weight - z[P];
    f[P] = z[Y] - 0.5 * z[X] * z[X];
    if (jacobian) {
        const double rows[UNKNOWNS][UNKNOWNS] = {
            {stiffness + 2.0 * b->c * dx * dx + z[P], 2.0 * b->c * dx * dy, z[X]},
            {2.0 * b->c * dx * dy, stiffness + 2.0 * b->c * dy * dy, -1.0},
            {-z[X], 1.0, 0.0},
        };
        for (int k = 0; k < UNKNOWNS * UNKNOWNS; k++) {
            jacobian[k] = rows[k / UNKNOWNS][k % UNKNOWNS];
        }
    }
    return true; /* false where F is not defined: the step would be shortened */
}

/* A wrong derivative is the usual mistake; differences find it. */
static void check_jacobian(const perp_nonlinear_mcp *problem)
{
    const double z[UNKNOWNS] = {0.3, 0.7, 2.0};
    double work[64];
    int row, column;
    if (perp_nonlinear_mcp_jacobian_work(problem) <= sizeof work / sizeof *work) {
        const double error = perp_nonlinear_mcp_jacobian_error(problem, z, work, &row, &column);
        printf("the Jacobian %s differences of F\n", error < 1e-6 ? "agrees with" : "contradicts");
    }
}

static bool hang(bead *b, perp_mcp_newton_workspace *workspace, const perp_nonlinear_mcp *problem)
{
    double z[UNKNOWNS], f[UNKNOWNS];
    perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
    perp_mcp_newton_solution solution = {z, f};
    perp_mcp_newton_info info;
    perp_error error;
    const double start[UNKNOWNS] = {b->anchor_x, b->anchor_y, 0.0};
    settings.start = start;
    settings.tolerance = 1e-10;
    if (perp_mcp_newton(problem, &settings, workspace, &solution, &info, &error) != PERP_STATUS_OK) {
        printf("%s\n", error.message);
        return false;
    }
    printf("%s: bead of %4.1f N at (%.6f, %.6f) m, bowl pushes with p = %.6f N, gap %.6f m\n",
           perp_outcome_name(info.outcome), b->weight, z[X], z[Y], z[P], f[P]);
    return info.outcome == PERP_OUTCOME_SOLVED && info.residual <= settings.tolerance;
}

int main(void)
{
    bead b = {.k = 20.0, .c = 5.0, .anchor_x = 1.0, .anchor_y = 1.0};
    static const double lower[UNKNOWNS] = {-INFINITY, -INFINITY, 0.0};
    const perp_nonlinear_mcp problem = {.n = UNKNOWNS, .lower = lower, .evaluate = evaluate, .context = &b};
    perp_mcp_newton_workspace *workspace;
    perp_error error;
    check_jacobian(&problem);
    if (perp_mcp_newton_workspace_create(&problem, NULL, NULL, &workspace, &error) != PERP_STATUS_OK) {
        printf("%s\n", error.message);
        return EXIT_FAILURE;
    }
    bool solved = true;
    for (int k = 0; k < 3; k++) { /* the lightest hangs free, the others lie on the bowl */
        b.weight = 5.0 + 10.0 * k;
        solved = hang(&b, workspace, &problem) && solved;
    }
    perp_mcp_newton_workspace_free(workspace);
    return solved ? EXIT_SUCCESS : EXIT_FAILURE;
}
