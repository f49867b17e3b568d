/* What contacts do to the energy of a step: compliant.h.
 *
 * With x = v+ - v~ and d the rates of deformation, all at q+, bodies and elements have
 *
 *     1/2 v+'M v+ - 1/2 v~'M v~      = h v+'(other forces + Gamma'lambda) - 1/2 x'M x
 *     1/2 delta+'K delta+ - (before) = h lambda'd - h d'C d - h^2/2 d'K d
 *
 * (where springs do not see the tilt tau of a step, d is less than their rate by that, and K delta+ tau is added) so
 * that contacts add h lambda . (Gamma v+ + d) less the three squares. Along the tangents that is friction's work
 * against slip, never positive; along the normal it is lambda_n (h Gamma_n v+ - Psi(q+) - delta_n), and what a contact
 * that appears in touch is given counts too, as what goes with a contact that disappears. */
#include "step/compliant/compliant.h"
#include "step/common/tolerances.h"

/* 1/2 x'M x of the free degrees of freedom, by tree into s->lost too, and of v~ into `before`. */
static double inertial_square(contact_step *step, double *before)
{
    compliant_step *s = step->own;
    const perp_model *model = step->model;
    const double scale = 0.5 * perp_dynamic_mass_scale(step);
    double square = 0.0;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        const double *mass = step->mass + tree->mass_start;
        s->lost[k] = 0.0;
        for (int r = 0; r < tree->v_count; r++) {
            const int i = tree->v_start + r, row = step->free_of_dof[i];
            for (int c = 0; c < tree->v_count && row >= 0; c++) {
                const int j = tree->v_start + c, column = step->free_of_dof[j];
                if (column >= 0) {
                    const double m = scale * mass[r * tree->v_count + c];
                    s->lost[k] += m * s->speed * s->speed * s->point.x[row] * s->point.x[column];
                    *before += m * step->inertia.v_drifted[i] * step->inertia.v_drifted[j];
                }
            }
        }
        square += s->lost[k];
    }
    return square;
}

/* h lambda . (Gamma v+ + d) of element i less its own squares; what it had, K/2 delta^2, is added to `before`. */
static double element_work(const contact_step *step, int i, double normal_velocity, double *before)
{
    const compliant_step *s = step->own;
    const compliant_patch *patch = &s->patches[s->patch_of[i]];
    const compliant_material *m = &patch->material;
    const double *y = s->point.y + s->row_start[i], *u = s->u + s->row_start[i];
    const double *delta = s->deformation + 3 * (ptrdiff_t)i, *d = s->point.x + step->free_count + s->soft_start[i];
    const double damping = m->hunt_crossley ? fmax(0.0, -step->contacts->contacts[patch->contact].phi) : 1.0;
    const bool moves = s->by_rates || s->at_begin; /* u has the whole velocity, not only what is beyond v_k */
    double work = step->force_unit * y[0] * (s->speed * u[0] - s->slack[i] + (moves ? 0.0 : normal_velocity));
    for (int r = 1; r < m->rows; r++) {
        work += step->force_unit * s->speed * y[r] * u[r];
    }
    for (int r = 0; r < m->soft; r++) {
        const double rate_r = s->speed * d[r] + (r == 0 ? s->tilt[i] : 0.0); /* of the spring */
        for (int k = 0; k < m->soft; k++) {
            const double stiffness = m->stiffness[r * m->rows + k];
            const double rate_k = s->speed * d[k] + (k == 0 ? s->tilt[i] : 0.0);
            work -= damping * m->damping[r * m->rows + k] * s->speed * s->speed * d[r] * d[k];
            work -= 0.5 * step->h * stiffness * rate_r * rate_k;
            work += r == 0 ? s->tilt[i] * stiffness * (delta[k] + step->h * rate_k) : 0.0;
            *before += 0.5 * stiffness * delta[r] * delta[k];
        }
    }
    const double given = s->by_rates ? 0.0 : s->adopted[i];
    return step->h * work + m->stiffness[0] * given * (delta[0] - 0.5 * given);
}

double perp_compliant_deformed(const contact_step *step, const compliant_patch *patch, int e, int r)
{
    const compliant_step *s = step->own;
    const int i = patch->first + e;
    const double rate = s->speed * s->point.x[step->free_count + s->soft_start[i] + r];
    return s->deformation[3 * (ptrdiff_t)i + r] + step->h * (rate + (r == 0 ? s->tilt[i] : 0.0));
}

/* Of delta+_n of an element that carries no force, what it has of the tilt that its spring does not see: on a surface
 * that would be where it was, but it goes with its patch. */
static double carried_up(const contact_step *step, const compliant_patch *patch, int i)
{
    const compliant_step *s = step->own;
    const double depth = fmax(0.0, -step->contacts->contacts[patch->contact].phi);
    const double damping = patch->material.damping[0] * (patch->material.hunt_crossley ? depth : 1.0);
    const double whole = damping + step->h * patch->material.stiffness[0];
    return whole > 0.0 ? step->h * s->tilt[i] * damping / whole : 0.0;
}

double perp_compliant_laid_anew(const contact_step *step, const compliant_patch *patch, int e)
{
    const compliant_step *s = step->own;
    const int i = patch->first + e;
    const double phi = step->contacts->contacts[patch->contact].phi, plus = perp_compliant_deformed(step, patch, e, 0);
    const bool loaded = s->point.y[s->row_start[i]] > 0.0;
    if (!s->by_rates && !s->at_begin) { /* never stretched: a damper that carries over a gap leaves no spring */
        return fmax(loaded ? 0.0 : plus - carried_up(step, patch, i), -phi - s->recess[i]);
    }
    /* the element's velocity less that of its contact */
    const double tilt = s->speed * (s->u[s->row_start[i]] - s->point.x[step->free_count + s->soft_start[i]]) -
                        s->slack[i] - step->velocity[(ptrdiff_t)step->contacts->rows * patch->contact];
    return plus + (loaded ? step->h * (tilt - s->tilt[i]) : 0.0);
}

double perp_compliant_laying(const contact_step *step, const compliant_patch *patch)
{
    const compliant_material *m = &patch->material;
    double energy = 0.0;
    for (int e = 0; e < m->elements; e++) {
        const double plus = perp_compliant_deformed(step, patch, e, 0),
                     change = perp_compliant_laid_anew(step, patch, e) - plus;
        energy += m->stiffness[0] * change * (plus + 0.5 * change);
        for (int r = 1; r < m->soft; r++) {
            energy += m->stiffness[r] * change * perp_compliant_deformed(step, patch, e, r);
        }
    }
    return energy;
}

static double patch_growth(const contact_step *step, int k, double *before)
{
    const compliant_step *s = step->own;
    const compliant_patch *patch = &s->patches[k];
    const double normal_velocity = step->velocity[(ptrdiff_t)step->contacts->rows * patch->contact];
    double growth = 0.0;
    for (int e = 0; e < patch->material.elements; e++) {
        growth += element_work(step, patch->first + e, normal_velocity, before);
    }
    const double laying = perp_compliant_laying(step, patch);
    return growth + (s->by_rates ? fmin(0.0, laying) : laying); /* by rates only what takes energy is laid anew */
}

double perp_compliant_patch_growth(const contact_step *step, int k)
{
    double before = 0.0;
    return patch_growth(step, k, &before);
}

double perp_compliant_growth(contact_step *step, double *before)
{
    const compliant_step *s = step->own;
    double growth = -s->left_behind;
    *before = 0.0;
    perp_contact_velocity(step->contacts, step->v, step->velocity);
    for (int k = 0; k < s->patch_count; k++) {
        growth += patch_growth(step, k, before);
    }
    return growth - inertial_square(step, before);
}

bool perp_compliant_grows(contact_step *step)
{
    double before = 0.0;
    const double growth = perp_compliant_growth(step, &before);
    return growth > ENERGY_ROUNDING * (before + step->force_unit * step->length_unit);
}
