/* Room for slip: what keeps sliding bodies on the surface on dyn-qp.
 *
 * Anitescu's rows u_n + phi / h >= mu |u_t| part what slides at mu |u_t|. With inertia that is a launch, whatever h: a
 * block that is set on a plane at 2 m/s flies up at 1 m/s where mu = 0.5. Coulomb's law has u_n + phi / h + mu |u_t| in
 * the cone instead (De Saxce and Feng), where the slip of the answer makes the problem no longer convex. With an
 * expected slip s in its place it stays convex,
 *
 *     u_n + phi / h + mu s >= mu |u_t|,
 *
 * and a contact parts, or overlaps, only by what it slips more, or less, than s (Cadoux 2009; Castro and others' lagged
 * model has s of the last step). mu s >= 0 leaves v = 0 among the motions, so contacts add no energy.
 *
 * s is what is left of the slip without contact forces, after friction has taken mu times what the contact would
 * approach; for a body that slides without turning that is Coulomb's answer. Slips that gravity makes in one step are
 * none that matter, and there Anitescu's rows stay: with room for them a cube that fingers hold would creep out.
 *
 * At impacts s may be off by as much as the slip itself; a box that lands on a corner was then thrown about farther
 * than without room. There the step is solved again, with s of its answer, until what is left lifts or overlaps by no
 * more than gravity moves a body in the step: gaps are off by h^2. */
#include "linalg/dense.h"
#include "step/convex/convex_step.h"
#include "step/common/dynamic.h"
#include "step/common/tolerances.h"

#include <string.h>

/* u of contact i at x, from its rows of the Jacobian; returns those of the next contact. */
static const double *contact_velocity(const contact_step *step, int i, const double *jacobian, const double *x,
                                      double u[4])
{
    const perp_contact_qp *p = &step->system;
    const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start, first = p->row_start[i];
    for (int r = first; r < p->row_start[i + 1]; r++, jacobian += columns) {
        double sum = p->offset[r];
        for (int k = 0; k < columns; k++) {
            sum += jacobian[k] * x[p->dofs[start + k]];
        }
        u[r - first] = sum;
    }
    return jacobian;
}

/* How fast Anitescu's law parts a contact of velocity u: mu |u_t|, with rays the largest part of it along one. */
static double parting_of(const convex_step *c, const contact_step *step, int i, const double *ray, const double *u)
{
    const int rows = step->row_start[i + 1] - step->row_start[i];
    double most = 0.0;
    if (c->cone[i]) {
        return step->mu[i] * hypot(u[1], u[2]);
    }
    for (int k = c->slack_start[i]; k < c->slack_start[i + 1] && rows > 1; k++, ray += rows) {
        most = fmax(most, -(ray[1] * u[1] + (rows > 2 ? ray[2] * u[2] : 0.0)));
    }
    return most;
}

static ptrdiff_t ray_entries(const convex_step *c, const contact_step *step, int i)
{
    return (ptrdiff_t)(step->row_start[i + 1] - step->row_start[i]) * (c->slack_start[i + 1] - c->slack_start[i]);
}

/* x of the step without contacts, limits and loops. */
static void free_motion(const contact_step *step, double *x)
{
    const perp_contact_qp *p = &step->system;
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count; b++) {
        const int start = p->block_start[b], size = p->block_start[b + 1] - start;
        int failed;
        memcpy(step->mass_scratch, block, (size_t)(size * size) * sizeof *block);
        for (int i = start; i < start + size; i++) {
            x[i] = -p->g[i];
        }
        if (perp_cholesky_factor(size, step->mass_scratch, size, &failed) == PERP_STATUS_OK) {
            perp_cholesky_solve(size, step->mass_scratch, size, x + start);
        } else {
            memset(x + start, 0, (size_t)size * sizeof *x);
        }
        block += (ptrdiff_t)size * size;
    }
}

/* m/s^2: the acceleration of free fall, as it is in the time of the run. */
static double fall(const contact_step *step)
{
    return perp_vec3_norm(step->model->scene->gravity) / perp_dynamic_mass_scale(step);
}

/* step->room from what slides at the step's begin; false: nothing does. From rest a slip doubles in the second step of
 * a constant force and grows by less in later ones: more than twice what it was is not expected. */
static bool expect(contact_step *step)
{
    const convex_step *c = step->own;
    const double *jacobian = step->system.jacobian, *ray = c->ray;
    const double gained = step->h * fall(step);
    double *x = step->scratch;
    bool slides = false;
    for (int i = 0; i < step->system.contact_count; ray += ray_entries(c, step, i), i++) {
        const double begin = parting_of(c, step, i, ray, step->offset + step->row_start[i]);
        step->room[i] = !perp_step_is_support(step, i) && begin > fmax(gained, SLIPS * step->mu[i]) ? 2.0 * begin : 0.0;
        slides = slides || step->room[i] > 0.0;
    }
    if (!slides) {
        return false;
    }
    free_motion(step, x);
    ray = c->ray;
    for (int i = 0; i < step->system.contact_count; ray += ray_entries(c, step, i), i++) {
        double u[4];
        jacobian = contact_velocity(step, i, jacobian, x, u);
        const double taken = step->mu[i] * step->mu[i] * fmax(0.0, -u[0]);
        step->room[i] = fmin(step->room[i], fmax(0.0, parting_of(c, step, i, ray, u) - taken));
    }
    return true;
}

/* As `mode` of a contact has it. */
static bool carries(const contact_step *step, int i, double force_unit)
{
    return step->force[step->row_start[i]] > CARRIES * force_unit;
}

/* Does some contact part, or overlap for its room, by more than matters? */
static bool misjudged(const contact_step *step)
{
    const convex_step *c = step->own;
    const double gained = step->h * fall(step), deepest = OVERLAP_SHOWS * step->length_unit / step->h;
    for (int i = 0; i < step->system.contact_count; i++) {
        const double high = fmax(gained, LIFT_OF_SLIP * c->parting[i]),
                     deep = fmin(fmax(gained, LIFT_OF_SLIP * step->room[i]), deepest);
        if ((carries(step, i, step->force_unit) && c->parting[i] > 0.0 && c->ending[i] > high) ||
            (step->room[i] > 0.0 && c->ending[i] < -deep)) {
            return true;
        }
    }
    return false;
}

void perp_convex_step_note_lift(contact_step *step)
{
    for (int i = 0; i < step->system.contact_count; i++) {
        const perp_contact *contact = &step->contacts->contacts[step->set_index[i]];
        const double unit = step->islands[perp_step_island_of_contact(step, i)].force;
        if (!carries(step, i, unit) || !(step->layer[i] > 0.0)) {
            continue; /* a layer is of slip alone: what restitution throws is not in it */
        }
        const double speed = fmax(0.0, (step->layer[i] - fmax(0.0, contact->phi)) / step->h);
        const double height = step->layer[i] + (fall(step) > 0.0 ? 0.5 * speed * speed / fall(step) : 0.0);
        if (height > step->info->lift.height) {
            step->info->lift = (perp_lift){.height = height, .contact = *contact};
        }
    }
}

/* A contact's room for the next answer: the slip of the last one, and twice the way there where bodies overlap, since
 * with more friction there is less slip. With much friction it may go to and fro, so that it stays between what has
 * parted and what has overlapped. Other contacts change that: where the slip is farther off than some times what is
 * left between the two, one of them is of what others were before, and that side is forgotten. */
static double next_room(convex_step *c, int i, double room)
{
    static const double FARTHER = 8.0;
    const double change = c->parting[i] - room;
    if (change >= 0.0) {
        c->room_low[i] = room;
        c->room_high[i] = FARTHER * (c->room_high[i] - room) > change ? c->room_high[i] : INFINITY;
    } else {
        c->room_high[i] = room;
        c->room_low[i] = FARTHER * (room - c->room_low[i]) > -change ? c->room_low[i] : 0.0;
    }
    const double next = room + (change < 0.0 ? 2.0 : 1.0) * change;
    const bool between = next >= c->room_low[i] && next < c->room_high[i];
    return between ? next : 0.5 * (c->room_low[i] + c->room_high[i]);
}

/* What carries no force and does not overlap has room enough. `none`: where it has not settled, Anitescu's own rows. */
static void correct_rooms(contact_step *step, bool none)
{
    convex_step *c = step->own;
    for (int i = 0; i < step->system.contact_count; i++) {
        if (none) {
            step->room[i] = 0.0;
        } else if (carries(step, i, step->force_unit) || c->ending[i] < 0.0) {
            step->room[i] = next_room(c, i, step->room[i]);
        }
    }
    perp_convex_step_fill(c, step);
}

/* Less room may leave no motion; then Anitescu's law, which has none, has none either. Case 513 of the dynamic sweep
 * settles in 16 to 40 rounds for most of its time. */
perp_status perp_convex_step_solve_sliding(contact_step *step, perp_error *error)
{
    enum { AGAIN = 40 }; /* of 287 such steps of 40 thrown boxes 94 took one, 253 at most three, all seven */
    convex_step *c = step->own;
    perp_status status = step->free_count > 0 ? perp_convex_step_begin(step, error) : PERP_STATUS_OK;
    if (status != PERP_STATUS_OK || step->free_count == 0) {
        return status;
    }
    if (expect(step)) {
        perp_convex_step_fill(c, step);
    }
    for (int i = 0; i < step->system.contact_count; i++) {
        c->room_low[i] = 0.0;
        c->room_high[i] = INFINITY;
    }
    status = perp_convex_step_answer(step, error);
    for (int k = 0; k <= AGAIN && status == PERP_STATUS_OK && misjudged(step); k++) {
        correct_rooms(step, k == AGAIN);
        status = perp_convex_step_answer(step, error);
    }
    return status;
}
