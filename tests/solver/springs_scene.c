#include "problem/checks.h"
#include "solver/friction_soft.h"
#include "springs_scene.h"

#include <perp/problem.h>
#include <perp/solver.h>

#include <math.h>

double springs_draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

void springs_add_body(springs_scene *scene, double mass, double turn)
{
    for (int k = 0; k < 6; k++) {
        scene->inertia[scene->bodies][k][k] = k < 3 ? mass : turn;
        scene->lower[6 * scene->bodies + k] = -INFINITY;
        scene->upper[6 * scene->bodies + k] = INFINITY;
    }
    scene->bodies++;
}

/* The velocity along `axis` of a point at `arm` of a body. */
static void fill_row(const double axis[3], const double arm[3], double sign, double row[6])
{
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        row[k] = sign * axis[k];
        row[3 + k] = sign * (arm[l] * axis[m] - arm[m] * axis[l]);
    }
}

springs_contact *springs_add_contact(springs_scene *scene, const int body[2], const double arms[2][3],
                                     const double axes[3][3], double mu)
{
    springs_contact *c = &scene->contact[scene->contacts++];
    *c = (springs_contact){.body = {body[0], body[1]}, .rows = 3, .mu = mu};
    for (int r = 0; r < 3; r++) {
        fill_row(axes[r], arms[0], 1.0, c->jacobian[0][r]);
        fill_row(axes[r], arms[1], -1.0, c->jacobian[1][r]);
    }
    return c;
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* Unknowns of contact i in ascending order, then its own where it gives way. */
static void put_contact(const springs_scene *scene, int i, bool soft, springs_problem *p, double **entry)
{
    const springs_contact *c = &scene->contact[i];
    const int count = c->body[1] < 0 ? 1 : 2, swap = count > 1 && c->body[0] > c->body[1] ? 1 : 0;
    const int own = soft ? c->rows : 0, columns = 6 * count + own;
    int *dofs = p->dofs + p->dof_start[i];
    for (int k = 0; k < columns; k++) {
        dofs[k] =
            k < 6 * count ? 6 * c->body[(k / 6) ^ swap] + k % 6 : 6 * scene->bodies + p->row_start[i] + k - 6 * count;
    }
    for (int r = 0; r < c->rows; r++) {
        p->offset[p->row_start[i] + r] = c->offset[r];
        for (int k = 0; k < columns; k++) {
            *(*entry)++ = k < 6 * count ? c->jacobian[(k / 6) ^ swap][r][k % 6] : (k - 6 * count == r ? 1.0 : 0.0);
        }
    }
    p->mu[i] = c->mu;
    p->dof_start[i + 1] = p->dof_start[i] + columns;
    p->row_start[i + 1] = p->row_start[i] + c->rows;
}

static void put_bodies(const springs_scene *scene, springs_problem *p)
{
    memcpy(p->hessian, scene->inertia, sizeof scene->inertia[0] * (size_t)scene->bodies);
    for (int j = 0; j < 6 * scene->bodies; j++) {
        p->block_start[j / 6] = j - j % 6;
        p->g[j] = -scene->load[j];
        p->lower[j] = scene->lower[j];
        p->upper[j] = scene->upper[j];
    }
    p->block_start[scene->bodies] = 6 * scene->bodies;
}

static void put_compliance(const springs_scene *scene, double stiffness, springs_problem *p)
{
    double *block = p->hessian + 36 * (ptrdiff_t)scene->bodies;
    for (int i = 0; i < scene->contacts; i++) {
        const int rows = scene->contact[i].rows;
        for (int k = 0; k < rows * rows; k++) {
            *block++ = k % (rows + 1) != 0 ? 0.0 : k == 0 ? stiffness : 0.01 * stiffness;
        }
        p->block_start[scene->bodies + i + 1] = p->block_start[scene->bodies + i] + rows;
    }
    for (int r = 0; r < p->row_start[scene->contacts]; r++) {
        const int j = 6 * scene->bodies + r;
        p->g[j] = 0.0;
        p->lower[j] = -INFINITY;
        p->upper[j] = INFINITY;
    }
}

void springs_assemble(const springs_scene *scene, double stiffness, springs_problem *p)
{
    static const int loop_start[] = {0, 2};
    const bool soft = stiffness > 0.0;
    double *entry = p->jacobian;
    p->row_start[0] = p->dof_start[0] = 0;
    put_bodies(scene, p);
    for (int i = 0; i < scene->contacts; i++) {
        put_contact(scene, i, soft, p, &entry);
    }
    if (soft) {
        put_compliance(scene, stiffness, p);
    }
    p->system = (perp_contact_qp){.n = 6 * scene->bodies + (soft ? p->row_start[scene->contacts] : 0),
                                  .block_count = scene->bodies + (soft ? scene->contacts : 0),
                                  .block_start = p->block_start,
                                  .hessian = p->hessian,
                                  .g = p->g,
                                  .contact_count = scene->contacts,
                                  .row_start = p->row_start,
                                  .slack_start = p->row_start,
                                  .dof_start = p->dof_start,
                                  .dofs = p->dofs,
                                  .jacobian = p->jacobian,
                                  .offset = p->offset};
    if (scene->bounded) {
        p->system.lower = p->lower;
        p->system.upper = p->upper;
    }
    if (scene->loop) {
        p->system.equality_count = 1;
        p->system.equality_start = loop_start;
        p->system.equality_dofs = scene->loop_dof;
        p->system.equality_values = scene->loop_value;
        p->system.equality_target = &scene->loop_target;
    }
    p->problem = (perp_contact_friction){&p->system, p->mu};
    assert_int_equal(perp_contact_friction_check(&p->problem, NULL), PERP_STATUS_OK);
}

static void point_to(springs_answer *a)
{
    *a = (springs_answer){.solved = false};
    a->point = (perp_convex_point){a->v, a->force, a->loop, a->lower, a->upper};
}

perp_friction_springs_settings springs_settings(const springs_scene *scene)
{
    static double ones[SPRINGS_N];
    for (int j = 0; j < SPRINGS_N; j++) {
        ones[j] = 1.0;
    }
    return (perp_friction_springs_settings){.velocity_tolerance = 1e-13,
                                            .velocity_enough = 1e-10,
                                            .force_tolerance = 1e-11,
                                            .force_enough = 1e-10,
                                            .polygon = scene->polygon.count > 0 ? &scene->polygon : NULL,
                                            .weight = ones};
}

void springs_solve_with(const springs_scene *scene, const perp_friction_springs_settings *settings,
                        springs_answer *answer)
{
    static springs_problem p;
    perp_friction_soft_workspace *workspace = NULL;
    springs_assemble(scene, 0.0, &p);
    point_to(answer);
    assert_int_equal(perp_friction_soft_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_springs_reserve(&p.problem, workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_springs_solve(&p.problem, settings, workspace, &answer->point, &answer->info, NULL),
                     PERP_STATUS_OK);
    answer->solved = answer->info.solved;
    perp_friction_soft_workspace_free(workspace);
}

void springs_solve(const springs_scene *scene, springs_answer *answer)
{
    const perp_friction_springs_settings settings = springs_settings(scene);
    springs_solve_with(scene, &settings, answer);
}

bool springs_solve_soft(const springs_scene *scene, double stiffness, springs_answer *answer)
{
    static springs_problem p;
    const perp_friction_settings settings = {.size = sizeof settings, .tolerance = 1e-9};
    perp_friction_soft_workspace *workspace = NULL;
    perp_friction_info info;
    springs_assemble(scene, stiffness, &p);
    point_to(answer);
    assert_int_equal(perp_friction_soft_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_soft_reserve(&p.problem, workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_soft_solve(&p.problem, &settings, workspace, &answer->point, &info, NULL),
                     PERP_STATUS_OK);
    answer->solved = info.outcome == PERP_OUTCOME_SOLVED;
    perp_friction_soft_workspace_free(workspace);
    return answer->solved;
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

void springs_velocity(const springs_scene *scene, int i, const double *v, double u[3])
{
    const springs_contact *c = &scene->contact[i];
    for (int r = 0; r < 3; r++) {
        u[r] = r < c->rows ? c->offset[r] : 0.0;
        for (int k = 0; k < 12 && r < c->rows; k++) {
            u[r] += c->body[k / 6] < 0 ? 0.0 : c->jacobian[k / 6][r][k % 6] * v[6 * c->body[k / 6] + k % 6];
        }
    }
}

int springs_row(const springs_scene *scene, int i)
{
    int row = 0;
    for (int k = 0; k < i; k++) {
        row += scene->contact[k].rows;
    }
    return row;
}

/* max { d . direction : d in D } */
static double support(const perp_friction_polygon *polygon, int rows, const double direction[2])
{
    double most = polygon->count > 0 && rows > 2 ? -INFINITY : hypot(direction[0], direction[1]);
    for (int j = 0; j < polygon->count && rows > 2; j++) {
        most = fmax(most, polygon->corner[j][0] * direction[0] + polygon->corner[j][1] * direction[1]);
    }
    return most;
}

/* 0 <= fn _|_ u_n >= 0, ft in mu fn D, and no other force of mu fn D takes more power from the slip: -u_t is in the
 * normal cone of mu fn D at ft. */
static double contact_violation(const springs_scene *scene, int i, const springs_answer *answer)
{
    enum { DIRECTIONS = 720 };
    const springs_contact *c = &scene->contact[i];
    const double *r = answer->force + springs_row(scene, i);
    double u[3], off;
    springs_velocity(scene, i, answer->v, u);
    off = fmax(fmax(-r[0], -u[0]), fabs(fmin(r[0], u[0])));
    if (c->rows == 1) {
        return off;
    }
    const double friction[2] = {r[1], c->rows > 2 ? r[2] : 0.0}, against[2] = {-u[1], -u[2]};
    for (int k = 0; k < DIRECTIONS; k++) { /* those of D's edges among them, for 4, 8 and 16 corners and the box */
        const double angle = 6.283185307179586 * k / DIRECTIONS, d[2] = {cos(angle), sin(angle)};
        off = fmax(off, friction[0] * d[0] + friction[1] * d[1] -
                            c->mu * r[0] * (c->rows > 2 ? support(&scene->polygon, 3, d) : 1.0));
    }
    const double power = friction[0] * against[0] + friction[1] * against[1];
    return fmax(off, fabs(c->mu * r[0] * support(&scene->polygon, c->rows, against) - power));
}

/* A v - load - J'r - C'y - y_lower + y_upper of unknown j. */
static double balance(const springs_scene *scene, const springs_answer *answer, int j)
{
    double sum = -scene->load[j] - (scene->bounded ? answer->lower[j] - answer->upper[j] : 0.0);
    for (int k = 0; k < 6; k++) {
        sum += scene->inertia[j / 6][j % 6][k] * answer->v[j - j % 6 + k];
    }
    for (int i = 0; i < scene->contacts; i++) {
        const springs_contact *c = &scene->contact[i];
        for (int k = 0; k < 2 * c->rows; k++) {
            const double force = answer->force[springs_row(scene, i) + k / 2];
            sum -= c->body[k % 2] == j / 6 ? c->jacobian[k % 2][k / 2][j % 6] * force : 0.0;
        }
    }
    for (int k = 0; k < 2 && scene->loop; k++) {
        sum -= scene->loop_dof[k] == j ? scene->loop_value[k] * answer->loop[0] : 0.0;
    }
    return sum;
}

static double bound_violation(const springs_scene *scene, const springs_answer *answer, int j)
{
    const double above = answer->v[j] - scene->lower[j], below = scene->upper[j] - answer->v[j];
    return fmax(fmax(fabs(fmin(answer->lower[j], above)), fabs(fmin(answer->upper[j], below))),
                fmax(-fmin(answer->lower[j], answer->upper[j]), -fmin(above, below)));
}

double springs_violation(const springs_scene *scene, const springs_answer *answer)
{
    double worst = 0.0;
    for (int j = 0; j < 6 * scene->bodies; j++) {
        worst = fmax(worst, fabs(balance(scene, answer, j)));
        worst = scene->bounded ? fmax(worst, bound_violation(scene, answer, j)) : worst;
    }
    for (int i = 0; i < scene->contacts; i++) {
        worst = fmax(worst, contact_violation(scene, i, answer));
    }
    if (scene->loop) {
        worst = fmax(worst, fabs(scene->loop_value[0] * answer->v[scene->loop_dof[0]] +
                                 scene->loop_value[1] * answer->v[scene->loop_dof[1]] - scene->loop_target));
    }
    return worst;
}
