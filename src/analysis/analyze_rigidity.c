/* Is the rigid model valid at a state? Dupont and Yamajako's "Stability of frictional contact in constrained rigid-body
 * dynamics", Theorem 4.1, in their order: the rigid model has one answer; which contacts carry force in it; D, the
 * derivative of normal accelerations by normal forces of these, is a P-matrix; and with springs and dampers in place of
 * rigid contacts the forces settle (rigidity_stability.h). docs/analyze.md has the extensions: rolling contacts,
 * constraints, dependent normals. */
#include "analysis/rigidity_stability.h"
#include "analysis/tolerances.h"
#include "sim/sim.h"
#include "step/common/contact_step.h"

#include <perp/linalg.h>
#include <perp/solver.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is judged, and on whose word. */
typedef struct rigidity_case {
    analysis_point *point;
    perp_run_result answer; /* of `instant` */
    bool own_answer;        /* made here; else the analysis point's */
    const char *answers;    /* who says what the contacts do, for sentences */
    const double *rate;     /* NULL: not known */
    int count;
    rigidity_contact *contacts;
    double *velocity;   /* rows x contacts of the set, m/s */
    bool none, several; /* the rigid model has no answer; more than one */
    bool cut;           /* there may be more: a certificate's work was not enough */
    rigidity_matrix rows;
    double *d;
    rigidity_boundary_layer layer;
    bool borderline, unknown;
} rigidity_case;

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

static bool must_end(perp_status status)
{
    return status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED;
}

/* ---- which contacts, and what they do ---------------------------------------------------------------------------- */

/* The way a contact goes, on its friction directions; where it is at rest and about to slip, against its friction. */
static void set_kind(rigidity_contact *c, const perp_contact_record *r, bool slides, bool about_to)
{
    const perp_contact *contact = &r->contact;
    const double sign = slides ? 1.0 : -1.0, *w = slides ? r->slip : r->ft;
    double size = 0.0;
    c->directions = contact->friction > 0.0 ? contact->direction_count : 0;
    for (int k = 0; k < c->directions; k++) {
        const perp_vec3 d = contact->directions[k];
        c->along[k] = sign * (w[0] * perp_vec3_dot(d, contact->t) + w[1] * perp_vec3_dot(d, contact->o));
        size = hypot(size, c->along[k]);
    }
    c->kind = c->directions == 0 ? RIGIDITY_SMOOTH : slides || about_to ? RIGIDITY_SLIDE : RIGIDITY_ROLL;
    for (int k = 0; k < c->directions && c->kind == RIGIDITY_SLIDE; k++) {
        c->along[k] /= size;
    }
}

/* m/s along the friction directions, which may be fewer than the tangent plane has. */
static double slip_of(const perp_contact_record *r)
{
    double size = 0.0;
    for (int k = 0; k < r->contact.direction_count; k++) {
        const perp_vec3 d = r->contact.directions[k];
        size = hypot(size, r->slip[0] * perp_vec3_dot(d, r->contact.t) + r->slip[1] * perp_vec3_dot(d, r->contact.o));
    }
    return size;
}

static void add_contact(rigidity_case *c, int index, const perp_contact_record *r)
{
    rigidity_contact *next = &c->contacts[c->count++];
    *next = (rigidity_contact){.index = index, .mu = r->contact.friction, .fn = r->fn};
    set_kind(next, r, slip_of(r) > STILL, r->mode == PERP_CONTACT_LIMIT);
}

static int force_count(const perp_contact_record *records, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += records[i].mode != PERP_CONTACT_OPEN ? 1 : 0;
    }
    return sum;
}

/* Of several answers the one with most contacts in force, so that what there is to judge is judged. */
static void take_answer(rigidity_case *c)
{
    const perp_run_result *a = &c->answer;
    const perp_instant_solution *best = &a->solutions[0];
    for (int i = 1; i < a->solution_count; i++) {
        const perp_instant_solution *s = &a->solutions[i];
        best = force_count(s->contacts, s->contact_count) > force_count(best->contacts, best->contact_count) ? s : best;
    }
    for (int i = 0; i < best->contact_count; i++) {
        if (best->contacts[i].mode != PERP_CONTACT_OPEN) {
            add_contact(c, i, &best->contacts[i]);
        }
    }
    c->rate = best->rate;
    c->several = a->solution_count > 1 || best->vertex_count > 1 || best->ray_count > 0;
}

/* What contacts move at, m/s along their rows. */
static perp_status find_velocities(rigidity_case *c, perp_error *error)
{
    const analysis_point *point = c->point;
    const perp_contact_set *set = point->set;
    double *v = ANALYSIS_NEW(point, double, point->model->nv);
    c->velocity = ANALYSIS_NEW(point, double, (ptrdiff_t)set->rows * set->count);
    if (!v || !c->velocity) {
        return out_of_memory(error);
    }
    memcpy(v, point->state->v, (size_t)point->model->nv * sizeof *v);
    perp_prescribed_rate(point->model, PERP_PRESCRIBE_POSITION, point->state->t, v);
    perp_contact_velocity(set, v, c->velocity);
    return PERP_STATUS_OK;
}

/* Touches and neither parts nor closes, so that `instant` speaks of it. */
static bool is_active(const rigidity_case *c, int i)
{
    const perp_contact_set *set = c->point->set;
    return fabs(set->contacts[i].phi) <= TOUCHING && fabs(c->velocity[(ptrdiff_t)set->rows * i]) <= STILL;
}

/* Where there is no answer. */
static void take_active(rigidity_case *c)
{
    const perp_contact_set *set = c->point->set;
    for (int i = 0; i < set->count; i++) {
        const double *u = c->velocity + (ptrdiff_t)set->rows * i;
        if (is_active(c, i)) {
            add_contact(c, i,
                        &(perp_contact_record){.contact = set->contacts[i],
                                               .slip = {u[1], set->rows > 2 ? u[2] : 0.0},
                                               .mode = PERP_CONTACT_STICK});
        }
    }
}

/* By the forces of the next step. */
static void take_step(rigidity_case *c)
{
    const perp_analysis *a = c->point->analysis;
    const perp_contact_set *set = c->point->set;
    for (int i = 0; i < a->contact_count; i++) {
        for (int k = 0; k < set->count; k++) {
            if (a->contacts[i].mode != PERP_CONTACT_OPEN &&
                perp_contact_same(&a->contacts[i].contact, &set->contacts[k])) {
                add_contact(c, k, &a->contacts[i]);
            }
        }
    }
}

/* Without friction the accelerations are those of a strictly convex problem, and are the only ones. */
static bool touches_with_friction(const perp_contact_set *set)
{
    bool any = false;
    for (int i = 0; i < set->count; i++) {
        const perp_contact *c = &set->contacts[i];
        any = any || (c->phi <= TOUCHING && c->friction > 0.0 && c->direction_count > 0);
    }
    return any;
}

static perp_status ask_instant(rigidity_case *c, perp_error *error)
{
    c->own_answer = strcmp(c->point->rung->name, "instant") != 0;
    if (!c->own_answer) {
        c->answer = c->point->instant;
        return PERP_STATUS_OK;
    }
    analysis_point *point = c->point;
    contact_step *asked = point->answering ? point->answering->step.workspace : NULL;
    if (asked) { /* the next step is judged by where something is left out */
        asked->unless_left_out = point->stepped == PERP_STATUS_OK;
        asked->search_work = point->options.work;
    }
    const perp_status status = perp_analysis_instant(point, "instant", &c->answer, error);
    c->cut = asked && c->answer.partial && touches_with_friction(point->set);
    return status;
}

static bool has_force(const perp_contact_record *records, int count, const perp_contact *contact)
{
    for (int i = 0; i < count; i++) {
        if (records[i].mode != PERP_CONTACT_OPEN && perp_contact_same(&records[i].contact, contact)) {
            return true;
        }
    }
    return false;
}

/* A contact that bears force in the next step and touches at the state, but parts there by the little that the steps
 * before have left of its velocity: `instant`, which has it open, does not speak of what goes on. NULL: there is none.
 */
static const perp_contact *find_missed(const rigidity_case *c)
{
    const analysis_point *point = c->point;
    const perp_analysis *a = point->analysis;
    const bool none = c->answer.solution_count == 0; /* for what touches there is a proof, whatever steps do there */
    for (int k = 0; k < point->set->count && point->stepped == PERP_STATUS_OK; k++) {
        const perp_contact *contact = &point->set->contacts[k];
        bool known = (none && is_active(c, k)) || !has_force(a->contacts, a->contact_count, contact);
        for (int i = 0; i < c->answer.solution_count && !known; i++) {
            const perp_instant_solution *s = &c->answer.solutions[i];
            known = has_force(s->contacts, s->contact_count, contact);
        }
        if (!known && fabs(contact->phi) <= TOUCHES_IN_A_RUN * perp_step_size_of_two(point->next->step.workspace,
                                                                                     contact->a, contact->b)) {
            return contact;
        }
    }
    return NULL;
}

static perp_status judge_step(rigidity_case *c, const char *why, perp_error *error)
{
    c->answers = "the next step";
    take_step(c);
    return perp_analysis_reason(c->point, -1, error, "rigidity is judged by the forces of the next step: %s", why);
}

static perp_status judge_missed(rigidity_case *c, const perp_contact *missed, perp_error *error)
{
    const perp_body *bodies = c->point->model->scene->bodies;
    char feature[64], why[512];
    perp_contact_feature_text(missed, feature, sizeof feature);
    snprintf(why, sizeof why, "contact `%.120s %.120s %s` is in force there, and counts as open at this instant",
             bodies[missed->a].name, bodies[missed->b].name, feature);
    return judge_step(c, why, error);
}

/* Nothing is so near that `instant`, or the next step in its place, could have it in force; and without contacts and
 * loops the accelerations are those of a strictly convex problem about joint limits, which rest meets: there is one
 * answer. */
static bool is_clear(const analysis_point *point)
{
    const contact_step *step = point->stepped == PERP_STATUS_OK ? point->next->step.workspace : NULL;
    bool clear = step && step->loop_row_count == 0;
    for (int i = 0; i < point->set->count && clear; i++) {
        const perp_contact *c = &point->set->contacts[i];
        const double size = fmax(step->length_unit, perp_step_size_of_two(step, c->a, c->b));
        clear = c->phi > TOUCHES_IN_A_RUN * size;
    }
    return clear;
}

/* `instant` speaks of states that rigid bodies can be in, to 1e-9 m and m/s; where this is none, as in the middle of a
 * run, the next step does. */
static perp_status find_contacts(rigidity_case *c, perp_error *error)
{
    analysis_point *point = c->point;
    perp_error why = {0};
    for (int i = 0; i < point->set->count; i++) {
        if (perp_contact_is_support(&point->set->contacts[i])) {
            c->unknown = true;
            return perp_analysis_reason(
                point, -1, error,
                "rigidity: a body rests on a support, whose load is given and does not answer to motions; the "
                "test is not made for that");
        }
    }
    if (is_clear(point)) {
        return PERP_STATUS_OK;
    }
    c->contacts = ANALYSIS_NEW(point, rigidity_contact, point->set->count + 1);
    if (!c->contacts) {
        return out_of_memory(error);
    }
    const perp_status status = ask_instant(c, &why);
    if (must_end(status)) {
        return perp_fail(error, status, "%s", why.message);
    }
    c->answers = "`instant`";
    if (status != PERP_STATUS_OK || c->answer.left_out[0] != '\0') {
        const char *text = c->answer.left_out[0] != '\0' ? c->answer.left_out : why.message;
        c->cut = false;
        if (point->stepped == PERP_STATUS_OK) {
            return judge_step(c, text, error);
        }
        if (status != PERP_STATUS_OK) {
            c->unknown = true;
            return perp_analysis_reason(point, -1, error, "rigidity: %s", why.message);
        }
    }
    const perp_status moves = find_velocities(c, error);
    if (moves != PERP_STATUS_OK) {
        return moves;
    }
    const perp_contact *missed = find_missed(c);
    if (missed) {
        c->cut = false;
        return judge_missed(c, missed, error);
    }
    if (c->answer.solution_count > 0) {
        take_answer(c);
        return PERP_STATUS_OK;
    }
    c->none = true;
    take_active(c);
    return PERP_STATUS_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Index in the analysis' contacts, where it is added if the next step does not have it. */
static int index_in_analysis(analysis_point *point, const perp_contact *contact)
{
    perp_analysis *a = point->analysis;
    for (int i = 0; i < a->contact_count; i++) {
        if (perp_contact_same(&a->contacts[i].contact, contact)) {
            return i;
        }
    }
    perp_contact_record *longer = ANALYSIS_NEW(point, perp_contact_record, a->contact_count + 1);
    if (!longer) {
        return -1;
    }
    if (a->contact_count > 0) {
        memcpy(longer, a->contacts, (size_t)a->contact_count * sizeof *longer);
    }
    longer[a->contact_count].contact = *contact;
    a->contacts = longer;
    return a->contact_count++;
}

/* D, its eigenvalues, and their contacts into the analysis. */
static perp_status put_matrix(rigidity_case *c, perp_error *error)
{
    analysis_point *point = c->point;
    perp_rigidity *out = &point->analysis->rigidity;
    const int n = c->count;
    int *contacts = ANALYSIS_NEW(point, int, n);
    double *eigenvalues = ANALYSIS_NEW(point, double, 4 * (size_t)n), *parts = eigenvalues + 2 * (ptrdiff_t)n;
    c->d = PERP_ARENA_NEW(point->arena, double, (size_t)n *(size_t)n);
    if (!contacts || !eigenvalues || !c->d) {
        return out_of_memory(error);
    }
    for (int i = 0; i < n; i++) {
        contacts[i] = index_in_analysis(point, &point->set->contacts[c->contacts[i].index]);
        if (contacts[i] < 0) {
            return out_of_memory(error);
        }
        for (int k = 0; k < n; k++) {
            c->d[i * n + k] = perp_rigidity_entry(&c->rows, i, k);
        }
    }
    out->count = n;
    out->contacts = contacts;
    out->D = c->d;
    if (point->options.verdicts_only) {
        return PERP_STATUS_OK;
    }
    const perp_status status = perp_general_eigenvalues(n, c->d, n, parts, parts + n, &point->allocator, error);
    for (int i = 0; i < n; i++) {
        eigenvalues[2 * i] = parts[i];
        eigenvalues[2 * i + 1] = parts[n + i];
    }
    out->eigenvalues = eigenvalues;
    return status;
}

/* Contacts whose minors may all be tried: of a certificate as many as its work allows. */
static int pmatrix_most(const analysis_point *point)
{
    int n = PMATRIX_MOST;
    while (point->answering && n > 1 && ldexp((double)n * n * n, n) > point->options.work) {
        n--;
    }
    return n;
}

static perp_status say_too_many(rigidity_case *c, perp_error *error)
{
    analysis_point *point = c->point;
    const int most = pmatrix_most(point);
    char longer[80] = "";
    if (most < c->count && c->count <= PMATRIX_MOST) {
        point->cut = true;
        snprintf(longer, sizeof longer, "; `perp analyze --at %.17g` looks longer", point->state->t);
    }
    return perp_analysis_reason(point, -1, error,
                                "rigidity: whether D of %d contacts is a P-matrix takes up to 2^%d determinants, "
                                "which are tried up to %d contacts; quicker tests do not decide%s",
                                c->count, c->count, most, longer);
}

static perp_status test_shifted(rigidity_case *c, double shift, perp_pmatrix_result *result, perp_error *error)
{
    const int n = c->count;
    perp_pmatrix_settings settings = perp_pmatrix_settings_default();
    double *d = PERP_ARENA_NEW(c->point->arena, double, (size_t)n *(size_t)n);
    if (!d) {
        return out_of_memory(error);
    }
    memcpy(d, c->d, (size_t)n * (size_t)n * sizeof *d);
    for (int i = 0; i < n; i++) {
        double size = 0.0; /* of the sums that row i and column i are */
        for (int k = 0; k < n; k++) {
            size = fmax(size, fmax(fabs(c->d[i * n + k]), fabs(c->d[k * n + i])));
        }
        d[i * n + i] += shift * size;
    }
    settings.max_n = pmatrix_most(c->point);
    settings.cancel = c->point->options.cancel;
    return perp_pmatrix_test(n, d, &settings, &c->point->allocator, result, error);
}

/* More on the diagonal never makes a P-matrix none: so D is one whatever rounding has done where it is one with less,
 * and is none where it is none with more. Where normals depend on each other the determinant of D is 0 and nothing else
 * is wrong if it is one with more. */
static perp_status test_pmatrix(rigidity_case *c, perp_error *error)
{
    perp_rigidity *out = &c->point->analysis->rigidity;
    perp_pmatrix_result less, more = {0};
    bool dependent = false;
    perp_status status = test_shifted(c, -D_ROUNDING, &less, error);
    if (status == PERP_STATUS_OK && less.verdict != PERP_PMATRIX_P) {
        status = test_shifted(c, D_ROUNDING, &more, error);
        status =
            status == PERP_STATUS_OK ? perp_rigidity_normals_depend(c->point, &c->rows, &dependent, error) : status;
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (less.verdict == PERP_PMATRIX_P || more.verdict == PERP_PMATRIX_NOT_P) {
        out->p_matrix = less.verdict == PERP_PMATRIX_P ? PERP_ANSWER_YES : PERP_ANSWER_NO;
        return PERP_STATUS_OK;
    }
    c->borderline = more.verdict == PERP_PMATRIX_P && (dependent || less.verdict == PERP_PMATRIX_NOT_P);
    c->unknown = !c->borderline;
    if (c->unknown) {
        return say_too_many(c, error);
    }
    return perp_analysis_reason(
        c->point, -1, error,
        dependent ? "rigidity: the normals of the contacts depend on each other, so that the determinant of D is 0: "
                    "rigid bodies leave open how they share a load"
                  : "rigidity: a principal minor of D is 0 to rounding: it is a P-matrix or not by the last digits");
}

static perp_status build(rigidity_case *c, perp_error *error)
{
    perp_status status = perp_rigidity_rows(c->point, c->rate, c->count, c->contacts, &c->rows, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < c->count; i++) {
        if (perp_boundary_layer_is_rigid_along(c->point, &c->contacts[i])) {
            perp_rigidity_hold(&c->rows, i);
        }
    }
    perp_rigidity_take_held_away(&c->rows);
    status = perp_boundary_layer_make(c->point, &c->rows, &c->layer, error);
    for (int i = 0; i < c->count; i++) {
        perp_rigidity_hold(&c->rows, i);
    }
    perp_rigidity_take_held_away(&c->rows);
    status = status == PERP_STATUS_OK ? put_matrix(c, error) : status;
    status = status == PERP_STATUS_OK ? test_pmatrix(c, error) : status;
    return status == PERP_STATUS_OK ? perp_boundary_layer_judge(c->point, &c->layer, error) : status;
}

/* ---- verdict ----------------------------------------------------------------------------------------------------- */

static perp_status say_unstable(rigidity_case *c, perp_error *error)
{
    const rigidity_boundary_layer *layer = &c->layer;
    char remedy[128] = "no damping mends that";
    if (layer->has_kappa_min) {
        snprintf(remedy, sizeof remedy, "it takes c^2/k above %.6g kg, and it is %.6g", layer->kappa_min, layer->kappa);
    }
    return perp_analysis_reason(c->point, -1, error,
                                "rigidity: contact forces are not stable: with springs and dampers they grow as "
                                "exp(%.4g t), at %.4g rad/s; %s",
                                layer->growth, layer->frequency, remedy);
}

static perp_status put_stability(rigidity_case *c, perp_error *error)
{
    perp_rigidity *out = &c->point->analysis->rigidity;
    const rigidity_boundary_layer *layer = &c->layer;
    out->has_kappa = true;
    out->kappa = layer->kappa;
    if (layer->undecided) {
        c->unknown = true;
        return perp_analysis_reason(c->point, -1, error,
                                    "rigidity: a contact slides whose stiffness or damping couples its normal with its "
                                    "tangents, and the two are not in proportion: its stability is not decided");
    }
    out->has_kappa_min = layer->has_kappa_min;
    out->kappa_min = layer->kappa_min;
    switch (layer->stable) {
    case RIGIDITY_UNSTABLE:
        out->stable = PERP_ANSWER_NO;
        return PERP_STATUS_OK;
    case RIGIDITY_STABLE:
        out->stable = PERP_ANSWER_YES;
        return PERP_STATUS_OK;
    case RIGIDITY_UNDAMPED:
        out->stable = PERP_ANSWER_YES;
        c->borderline = true;
        return perp_analysis_reason(c->point, -1, error,
                                    "rigidity: no contact has a damper: forces ring on, and neither grow nor decay");
    case RIGIDITY_MARGINAL:
        c->borderline = true;
        return perp_analysis_reason(
            c->point, -1, error, "rigidity: contact forces grow or decay by the last digits: %.3g 1/s", layer->growth);
    }
    return PERP_STATUS_OK;
}

/* The first that fails, in the paper's order. */
static perp_status decide(rigidity_case *c, perp_error *error)
{
    perp_rigidity *out = &c->point->analysis->rigidity;
    out->verdict = PERP_VERDICT_INVALID;
    if (c->none) {
        return perp_analysis_reason(c->point, -1, error, "rigidity: rigid bodies have no answer here: %s",
                                    c->answer.why_none[0] ? c->answer.why_none : "no forces go with the accelerations");
    }
    if (c->several) {
        return perp_analysis_reason(
            c->point, -1, error,
            "rigidity: rigid bodies have more than one answer here (%d%s); D is that of the one "
            "with most contacts in force",
            c->answer.solution_count, c->answer.solution_count > 1 ? "" : ", a set of motions");
    }
    if (c->count == 0 && !c->cut) {
        out->verdict = PERP_VERDICT_NO_CONTACT;
        return PERP_STATUS_OK;
    }
    if (out->p_matrix == PERP_ANSWER_NO) {
        return perp_analysis_reason(c->point, -1, error,
                                    "rigidity: D is not a P-matrix: there are loads with no answer or several");
    }
    if (out->stable == PERP_ANSWER_NO) {
        return say_unstable(c, error);
    }
    out->verdict = c->unknown || c->cut ? PERP_VERDICT_UNKNOWN
                   : c->borderline      ? PERP_VERDICT_BORDERLINE
                                        : PERP_VERDICT_VALID;
    if (!c->cut) {
        return PERP_STATUS_OK;
    }
    c->point->cut = true;
    return perp_analysis_reason(c->point, -1, error,
                                "rigidity: one answer of `instant` was found; whether it has others takes more work "
                                "than a certificate has: `perp analyze --at %.17g` looks longer",
                                c->point->state->t);
}

perp_status perp_analyze_rigidity(analysis_point *point, perp_error *error)
{
    rigidity_case c = {.point = point};
    perp_error why = {0};
    perp_status status = find_contacts(&c, error);
    if (status == PERP_STATUS_OK && !c.unknown && c.count > 0) {
        status = build(&c, &why);
        status = status == PERP_STATUS_OK ? put_stability(&c, &why) : status;
        if (must_end(status)) {
            status = perp_fail(error, status, "%s", why.message);
        } else if (status != PERP_STATUS_OK) {
            c.unknown = true;
            status = perp_analysis_reason(point, -1, error, "rigidity: %s", why.message);
        }
    }
    if (status == PERP_STATUS_OK && !(c.unknown && c.count == 0)) {
        status = decide(&c, error);
    }
    if (c.own_answer) {
        perp_run_result_free(&c.answer);
    }
    return status;
}
