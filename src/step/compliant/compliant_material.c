/* From the compliance that a scene gives to two bodies to one element of a contact between them. */
#include "step/compliant/compliant.h"

/* A tensor over (n, t, o) as a matrix of one element. */
static perp_mat3 matrix_of(const perp_tensor *tensor, bool planar, int elements)
{
    const int n = planar ? 2 : 3;
    perp_mat3 m = {{0}};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (tensor->count == n * n) {
                m.m[3 * i + j] = 0.5 * (tensor->values[n * i + j] + tensor->values[n * j + i]) / elements;
            } else if (i == j) {
                m.m[3 * i + j] = tensor->values[tensor->count == 1 ? 0 : i];
            }
        }
    }
    return m;
}

/* B' m B, with the axes of a contact's rows in (n, t, o) as the columns of B: they have length 1 and are at right
 * angles, so that diag(a, b, b) stays as it is, to the last digit. */
static void onto_rows(const perp_tensor *tensor, const compliant_material *of, const perp_contact *c, bool planar,
                      double scale, double *out)
{
    const int rows = of->rows;
    const double *values = tensor->values;
    if (tensor->count == 1 || (tensor->count == 3 && !planar && values[1] == values[2]) ||
        (tensor->count == 2 && planar)) {
        for (int r = 0; r < rows; r++) {
            out[r * rows + r] = scale * values[tensor->count > 1 && r > 0 ? 1 : 0];
        }
        return;
    }
    const perp_mat3 matrix = matrix_of(tensor, planar, of->elements), *m = &matrix;
    perp_vec3 axis[3] = {{1.0, 0.0, 0.0}};
    for (int r = 1; r < rows; r++) {
        const perp_vec3 d = c->directions[r - 1];
        axis[r] = perp_vec3_make(0.0, perp_vec3_dot(d, c->t), perp_vec3_dot(d, c->o));
    }
    for (int r = 0; r < rows; r++) {
        for (int s = 0; s < rows; s++) {
            out[r * rows + s] = scale * perp_vec3_dot(axis[r], perp_mat3_mul_vec(m, axis[s]));
        }
    }
}

/* Rigid, one foot of contact_step.h: what deforms is its height, which the load holds at 0. */
static compliant_material support_of(const perp_contact *c)
{
    return (compliant_material){
        .rows = perp_contact_row_count(c), .soft = 1, .load = c->load, .mu = c->friction, .side = 1, .elements = 1};
}

compliant_material perp_compliant_material(const perp_scene *scene, const perp_contact *c)
{
    if (perp_contact_is_support(c)) {
        return support_of(c);
    }
    const bool own = c->pair >= 0 && scene->pairs[c->pair].compliance_set;
    const perp_compliance *given = own ? &scene->pairs[c->pair].compliance : &scene->compliance;
    compliant_material m = {.rows = 1 + c->direction_count,
                            .hunt_crossley = given->law == PERP_LAW_HUNT_CROSSLEY,
                            .mu = c->friction,
                            .side = given->elements,
                            .elements = scene->planar ? given->elements : given->elements * given->elements,
                            .size = given->size};
    m.gamma = given->gamma / m.elements; /* the patch's: more elements do not make more friction */
    m.soft = given->tangential_rigid ? 1 : m.rows;
    onto_rows(&given->stiffness, &m, c, scene->planar, 1.0 / given->stiffness_scale, m.stiffness);
    onto_rows(&given->damping, &m, c, scene->planar, 1.0 / sqrt(given->stiffness_scale), m.damping);
    return m;
}

double perp_compliant_radius(const compliant_material *m, double fn)
{
    const double limit = m->mu * fmax(0.0, fn);
    return sqrt(limit * (limit + 2.0 * m->gamma));
}

void perp_compliant_offset(const compliant_material *m, bool planar, int e, double offset[2])
{
    const int along = planar ? e : e / m->side, across = planar ? 0 : e % m->side;
    offset[0] = m->size * ((along + 0.5) / m->side - 0.5);
    offset[1] = planar ? 0.0 : m->size * ((across + 0.5) / m->side - 0.5);
}

double perp_compliant_tangential_energy(const compliant_material *m, const double *deformation)
{
    double energy = 0.0;
    for (int r = 1; r < m->soft; r++) {
        for (int k = 1; k < m->soft; k++) {
            energy += 0.5 * m->stiffness[r * m->rows + k] * deformation[r] * deformation[k];
        }
    }
    return energy;
}
