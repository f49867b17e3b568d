/* A body between its contacts, in numbers. */
#include "analysis/closure_body.h"
#include "analysis/tolerances.h"
#include "linalg/vector.h"
#include "scene/shape_kinds.h"
#include "scene/cone.h"
#include "step/common/rung_cone.h"

#include <math.h>
#include <string.h>

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

/* ---- its size ---------------------------------------------------------------------------------------------------- */

static bool sphere_of_shape(const perp_shape *s, bool planar, perp_vec3 *center, double *radius)
{
    int count;
    const perp_vec3 *corners = perp_shape_corners(s, &count);
    *center = s->pose.pose.position;
    *radius = 0.0;
    switch (s->kind) {
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_DISC:
        *radius = s->radius;
        return true;
    case PERP_SHAPE_CAPSULE:
        *radius = 0.5 * s->length + s->radius;
        return true;
    case PERP_SHAPE_CYLINDER:
        *radius = hypot(0.5 * s->length, s->radius);
        return true;
    case PERP_SHAPE_BOX:
        *radius = 0.5 * (planar ? hypot(s->size.x, s->size.y) : perp_vec3_norm(s->size));
        return true;
    case PERP_SHAPE_ELLIPSOID:
        *radius = fmax(s->size.x, fmax(s->size.y, s->size.z));
        return true;
    case PERP_SHAPE_POINT:
        return true;
    case PERP_SHAPE_MESH:
    case PERP_SHAPE_POLYGON: {
        perp_vec3 low = corners[0], high = corners[0];
        for (int i = 1; i < count; i++) {
            low = perp_vec3_make(fmin(low.x, corners[i].x), fmin(low.y, corners[i].y), fmin(low.z, corners[i].z));
            high = perp_vec3_make(fmax(high.x, corners[i].x), fmax(high.y, corners[i].y), fmax(high.z, corners[i].z));
        }
        const perp_vec3 middle = perp_vec3_scale(0.5, perp_vec3_add(low, high));
        for (int i = 0; i < count; i++) {
            *radius = fmax(*radius, perp_vec3_norm(perp_vec3_sub(corners[i], middle)));
        }
        const perp_mat3 rotation = perp_quat_to_mat3(s->pose.pose.rotation);
        *center = perp_vec3_add(s->pose.pose.position, perp_mat3_mul_vec(&rotation, middle));
        return true;
    }
    case PERP_SHAPE_NONE:
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_HALFPLANE:
    case PERP_SHAPE_HOLE:
        return false;
    }
    return false;
}

bool perp_closure_sphere(const perp_scene *scene, int body, perp_vec3 *center, double *radius)
{
    const perp_body *b = &scene->bodies[body];
    bool any = false;
    for (int i = 0; i < b->shape_count; i++) {
        perp_vec3 c;
        double r;
        if (!sphere_of_shape(&b->shapes[i], scene->planar, &c, &r)) {
            continue;
        }
        const perp_vec3 apart = any ? perp_vec3_sub(c, *center) : perp_vec3_make(0.0, 0.0, 0.0);
        const double distance = perp_vec3_norm(apart);
        if (!any || distance + *radius <= r) {
            *center = c;
            *radius = r;
        } else if (distance + r > *radius) {
            const double both = 0.5 * (distance + r + *radius);
            *center = perp_vec3_add_scaled(*center, (both - *radius) / distance, apart);
            *radius = both;
        }
        any = true;
    }
    return any;
}

/* About the centre of mass: the root of the mean square distance of its mass, which is sqrt(J / m) in the plane. */
static double gyration(const perp_model *model, int body)
{
    const perp_link *link = &model->links[body];
    const double trace =
        model->planar ? 2.0 * link->inertia.m[8] : link->inertia.m[0] + link->inertia.m[4] + link->inertia.m[8];
    return link->mass > 0.0 ? sqrt(0.5 * trace / link->mass) : 0.0;
}

static void set_size(const analysis_point *point, closure_body *out)
{
    const perp_model *model = point->model;
    const int b = out->body;
    perp_vec3 middle = {0.0, 0.0, 0.0};
    double radius = 0.0;
    const bool bounded = perp_closure_sphere(model->scene, b, &middle, &radius);
    const double of_mass = gyration(model, b);
    out->size = bounded && radius > 0.0 ? radius : point->set->scene_size;
    out->length = of_mass > 0.0 ? of_mass : out->size;
    out->center = point->kinematics->com[b];
    if (model->links[b].mass <= 0.0) {
        out->center = perp_vec3_add(point->kinematics->pose[b].position,
                                    perp_mat3_mul_vec(&point->kinematics->rotation[b], middle));
    }
}

/* ---- what it can do ---------------------------------------------------------------------------------------------- */

static bool is_given(const analysis_point *point, int dof)
{
    const perp_dof_role role = point->model->role[dof];
    return role == PERP_DOF_PRESCRIBED ||
           (role == PERP_DOF_IMPEDANCE && (point->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION));
}

/* Motions of the body by the rates of what moves it: columns of length 1, and that length before. */
typedef struct closure_columns {
    int count;
    int *dof;
    double (*motion)[WRENCH_MOST], *length;
} closure_columns;

static bool set_columns(const analysis_point *point, const closure_body *b, perp_arena *arena, closure_columns *out)
{
    const int *dofs;
    const int n = perp_body_dofs(point->model, b->body, &dofs);
    double *jacobian = PERP_ARENA_NEW(arena, double, 6 * (size_t)n);
    *out = (closure_columns){.dof = PERP_ARENA_NEW(arena, int, (size_t)n),
                             .motion = perp_arena_push(arena, (size_t)n, sizeof *out->motion),
                             .length = PERP_ARENA_NEW(arena, double, (size_t)n)};
    if (!jacobian || !out->dof || !out->motion || !out->length) {
        return false;
    }
    perp_frame_jacobian(point->model, point->kinematics, b->body, b->center, jacobian);
    for (int k = 0; k < n; k++) {
        double *m = out->motion[out->count];
        for (int i = 0; i < 6; i++) {
            m[i] = jacobian[i * n + k] * (i < 3 ? 1.0 : b->length);
        }
        const double size = sqrt(perp_vector_dot(6, m, m));
        for (int i = 0; i < 6 && size > 0.0; i++) {
            m[i] /= size;
        }
        if (!is_given(point, dofs[k])) {
            out->dof[out->count] = dofs[k];
            out->length[out->count++] = size;
        }
    }
    return true;
}

static void take_out(double *x, const double *along)
{
    const double part = perp_vector_dot(6, x, along);
    for (int i = 0; i < 6; i++) {
        x[i] -= part * along[i];
    }
}

/* An orthonormal basis of the columns' span; the axes themselves where that is everything. */
static bool set_basis(const analysis_point *point, const closure_columns *columns, perp_arena *arena, closure_body *b)
{
    double(*left)[WRENCH_MOST] = perp_arena_push(arena, (size_t)columns->count, sizeof *left);
    if (!left) {
        return false;
    }
    memcpy(left, columns->motion, (size_t)columns->count * sizeof *left);
    for (b->dimensions = 0; b->dimensions < WRENCH_MOST; b->dimensions++) {
        double *next = b->basis[b->dimensions], most = 0.0;
        int best = -1;
        for (int k = 0; k < columns->count; k++) {
            for (int i = 0; i < 2 * b->dimensions; i++) { /* twice is enough for orthogonality to rounding */
                take_out(left[k], b->basis[i % b->dimensions]);
            }
            const double size = perp_vector_dot(6, left[k], left[k]);
            best = size > most ? k : best;
            most = fmax(size, most);
        }
        if (most <= MOTION_RANK * MOTION_RANK) {
            break;
        }
        for (int i = 0; i < 6; i++) {
            next[i] = left[best][i] / sqrt(most);
        }
    }
    static const int planar_axes[] = {0, 1, 5};
    if (b->dimensions == (point->model->planar ? 3 : 6)) {
        memset(b->basis, 0, sizeof b->basis);
        for (int k = 0; k < b->dimensions; k++) {
            b->basis[k][point->model->planar ? planar_axes[k] : k] = 1.0;
        }
    }
    return true;
}

/* ---- what its contacts can do ------------------------------------------------------------------------------------ */

static void set_wrench(const closure_body *b, perp_vec3 at, perp_vec3 force, double *w)
{
    const perp_vec3 moment = perp_vec3_scale(1.0 / b->length, perp_vec3_cross(perp_vec3_sub(at, b->center), force));
    const double all[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    for (int k = 0; k < b->dimensions; k++) {
        w[k] = perp_vector_dot(6, b->basis[k], all);
    }
}

static bool set_contacts(const analysis_point *point, perp_arena *arena, closure_body *b)
{
    const perp_contact_set *set = point->set;
    wrench_cone *cones = PERP_ARENA_NEW(arena, wrench_cone, (size_t)set->count);
    int *contacts = PERP_ARENA_NEW(arena, int, (size_t)set->count);
    b->nearly = -1;
    for (int i = 0; i < set->count && cones && contacts; i++) {
        const perp_contact *c = &set->contacts[i];
        if (c->a != b->body && c->b != b->body) {
            continue;
        }
        if (perp_contact_is_support(c)) { /* its friction is no cone: its load is given */
            b->supported = true;
            continue;
        }
        if (c->phi > CLOSURE_TOUCHES * b->size) {
            const bool near = c->phi <= CLOSURE_NEARLY_TOUCHES * b->size;
            b->nearly = near && (b->nearly < 0 || c->phi < set->contacts[b->nearly].phi) ? i : b->nearly;
            continue;
        }
        const double sign = c->b == b->body ? 1.0 : -1.0;
        const perp_vec3 at = c->b == b->body ? c->point_b : c->point_a;
        wrench_cone *cone = &cones[b->cones.count];
        cone->mu = c->friction;
        cone->directions = c->friction > 0.0 ? c->direction_count : 0;
        set_wrench(b, at, perp_vec3_scale(sign, c->normal), cone->normal);
        for (int k = 0; k < cone->directions; k++) {
            set_wrench(b, at, perp_vec3_scale(sign, c->directions[k]), cone->tangent[k]);
        }
        contacts[b->cones.count++] = i;
    }
    b->cones.cones = cones;
    b->cones.dimensions = b->dimensions;
    b->contacts = contacts;
    return cones && contacts;
}

static bool set_sections(const analysis_point *point, perp_arena *arena, closure_body *b)
{
    const perp_cone cone = perp_rung_cone(point->rung, point->settings);
    const int rays = point->settings->rays, count = cone == PERP_CONE_UNSET ? 0 : perp_cone_corner_count(cone, rays);
    double(*corners)[2] = perp_arena_push(arena, (size_t)count, sizeof *corners);
    for (int j = 0; j < count && corners; j++) {
        perp_cone_corner(cone, rays, j, corners[j]);
    }
    b->cones.corner_count = count;
    b->cones.corners = (const double(*)[2])corners;
    return corners != NULL;
}

/* ---- what loads it ----------------------------------------------------------------------------------------------- */

/* Generalised forces of weight, of what is applied and of springs at the state's time, at rest; `most` is as large as
 * any of their parts. */
static bool loads_of(const analysis_point *point, perp_arena *arena, double **load, double **most)
{
    const perp_model *model = point->model;
    const size_t nv = (size_t)model->nv;
    const double *q = point->state->q;
    double *part = PERP_ARENA_NEW(arena, double, nv);
    *load = PERP_ARENA_NEW(arena, double, nv);
    *most = PERP_ARENA_NEW(arena, double, nv);
    if (!part || !*load || !*most) {
        return false;
    }
    perp_gravity_force(model, point->kinematics, *load);
    perp_applied_force(model, point->kinematics, point->state->t, part);
    for (int k = 0; k < model->nv; k++) {
        (*most)[k] = fabs((*load)[k]) + fabs(part[k]);
        (*load)[k] += part[k];
    }
    perp_command(model, point->state->t, part);
    for (int k = 0; k < model->nv; k++) {
        if (model->role[k] == PERP_DOF_IMPEDANCE) {
            const double at = q[model->dof_q[k]], stiffness = model->stiffness[k];
            const perp_optional effort = model->scene->joints[model->dof_joint[k]].effort;
            const double spring = stiffness * (part[k] - at);
            (*load)[k] += effort.set ? fmax(-effort.value, fmin(effort.value, spring)) : spring;
            (*most)[k] += stiffness * (fabs(part[k]) + fabs(at));
        }
    }
    return true;
}

/* x with A x = b, of a symmetric positive definite A that is overwritten. */
static void solve(int n, double a[WRENCH_MOST][WRENCH_MOST], double *x)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            const double factor = a[i][k] / a[k][k];
            for (int j = k; j < n; j++) {
                a[i][j] -= factor * a[k][j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] -= a[k][j] * x[j];
        }
        x[k] /= a[k][k];
    }
}

/* The wrench that does the same work as the generalised forces on all motions of the body. */
static bool set_load(const analysis_point *point, const closure_columns *columns, perp_arena *arena, closure_body *b)
{
    double *load, *most, a[WRENCH_MOST][WRENCH_MOST] = {{0.0}}, scale = 0.0, left = 0.0;
    double(*rows)[WRENCH_MOST] = perp_arena_push(arena, (size_t)columns->count, sizeof *rows);
    if (!rows || !loads_of(point, arena, &load, &most)) {
        return false;
    }
    const int n = b->dimensions;
    for (int k = 0; k < columns->count; k++) {
        if (columns->length[k] == 0.0) {
            b->undone = b->undone || fabs(load[columns->dof[k]]) > BALANCE_LEFT * most[columns->dof[k]];
            continue;
        }
        const double force = load[columns->dof[k]] / columns->length[k];
        scale = fmax(scale, most[columns->dof[k]] / columns->length[k]);
        for (int i = 0; i < n; i++) {
            rows[k][i] = perp_vector_dot(6, b->basis[i], columns->motion[k]);
        }
        for (int i = 0; i < n; i++) {
            b->load[i] += rows[k][i] * force;
            for (int j = 0; j < n; j++) {
                a[i][j] += rows[k][i] * rows[k][j];
            }
        }
    }
    solve(n, a, b->load);
    for (int k = 0; k < columns->count; k++) {
        const double force = columns->length[k] > 0.0 ? load[columns->dof[k]] / columns->length[k] : 0.0;
        left = fmax(left, fabs(force - perp_vector_dot(n, rows[k], b->load)));
    }
    const double size = sqrt(perp_vector_dot(n, b->load, b->load));
    b->undone = b->undone || left > BALANCE_LEFT * scale;
    b->loaded = size > LOAD_ROUNDING * scale;
    return true;
}

static bool stands_at_limit(const analysis_point *point, int body)
{
    const perp_model *model = point->model;
    const int *dofs;
    const int n = perp_body_dofs(model, body, &dofs);
    bool any = false;
    for (int k = 0; k < n; k++) {
        const int q = model->dof_q[dofs[k]];
        if (q >= 0) {
            const double at = point->state->q[q], low = model->limit_low[dofs[k]], high = model->limit_high[dofs[k]];
            const double near = CLOSURE_TOUCHES * fmin(high - low, 1.0);
            any = any || at <= low + near || at >= high - near;
        }
    }
    return any;
}

/* -------------------------------------------------------------------------------------------------------------------
 */

bool perp_closure_touches(const analysis_point *point, int body)
{
    bool any = false;
    for (int i = 0; i < point->set->count; i++) {
        any = any || point->set->contacts[i].a == body || point->set->contacts[i].b == body;
    }
    return any && point->model->links[body].tree >= 0;
}

perp_status perp_closure_body(analysis_point *point, int body, perp_arena *arena, closure_body *out, bool *there,
                              perp_error *error)
{
    closure_columns columns;
    *out = (closure_body){.body = body};
    *there = false;
    if (!perp_closure_touches(point, body)) {
        return PERP_STATUS_OK;
    }
    set_size(point, out);
    if (!set_columns(point, out, arena, &columns) || !set_basis(point, &columns, arena, out)) {
        return out_of_memory(error);
    }
    if (out->dimensions == 0) {
        return PERP_STATUS_OK;
    }
    if (!set_contacts(point, arena, out) || !set_sections(point, arena, out)) {
        return out_of_memory(error);
    }
    *there = out->cones.count > 0;
    if (*there && !set_load(point, &columns, arena, out)) {
        return out_of_memory(error);
    }
    out->limited = *there && stands_at_limit(point, body);
    return PERP_STATUS_OK;
}
