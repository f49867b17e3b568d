/* Explanations: the run's last step, solved again with one thing changed. The changed scene shares all but its pairs
 * and forces with the run's, and perp_run_continue takes the one step, so that an answer is exactly what a run of an
 * edited scene would have given. */
#include "base/settings_size.h"

#include <perp/sim.h>
#include "analysis/explain_flip.h"
#include "analysis/tolerances.h"
#include "base/hash.h"
#include "step/common/rung_cone.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A state of the run and what going on from it takes. */
typedef struct moment {
    int step; /* -1: none yet */
    perp_state state;
    double *memory;
    size_t memory_count, memory_capacity;
} moment;

struct perp_explainer {
    perp_allocator allocator;
    perp_explain_options options;
    const perp_model *model;
    perp_run_settings settings;
    const perp_rung *rung;
    double t_start;
    double work; /* left */
    moment moments[2];
    int newest;                    /* of the moments; the other is the one before */
    bool several;                  /* the newest has other answers too */
    perp_element_record *elements; /* of the newest */
    int element_count, element_capacity;
    perp_kinematics *kinematics;
    perp_contact_model *contact_model;
    perp_contact_set *set;
    double *velocity; /* of `set`: J v */
    int velocity_capacity;
    /* the changed scene: `pairs` has room for one more, `forces` for two */
    perp_scene scene;
    perp_model changed;
    perp_pair *pairs;
    perp_force *forces;
    perp_state trial;
    perp_explanation *held; /* whose held_by is wanted of the next solve; NULL: not asked for */
};

const char *perp_flip_kind_name(perp_flip_kind kind)
{
    static const char *const names[] = {
        [PERP_FLIP_FRICTION] = "friction", [PERP_FLIP_SQUEEZE] = "squeeze", [PERP_FLIP_SIDEWAYS] = "sideways"};
    return names[kind];
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void *take(perp_explainer *e, size_t bytes)
{
    return e->allocator.allocate(e->allocator.context, bytes);
}

static void release(perp_explainer *e, void *memory)
{
    if (memory) {
        e->allocator.release(e->allocator.context, memory);
    }
}

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an explanation");
}

/* The scene to be changed: the run's, with arrays of its own for what changes. */
static perp_status copy_scene(perp_explainer *e, perp_error *error)
{
    const perp_scene *scene = e->model->scene;
    const size_t pairs = (size_t)scene->pair_count, forces = (size_t)scene->force_count;
    e->pairs = take(e, (pairs + 1) * sizeof *e->pairs);
    e->forces = take(e, (forces + 2) * sizeof *e->forces);
    if (!e->pairs || !e->forces) {
        return out_of_memory(error);
    }
    if (forces > 0) {
        memcpy(e->forces, scene->forces, forces * sizeof *e->forces);
    }
    e->scene = *scene;
    e->scene.pairs = e->pairs;
    e->scene.forces = e->forces;
    e->changed = *e->model;
    e->changed.scene = &e->scene;
    return PERP_STATUS_OK;
}

static perp_status make_parts(perp_explainer *e, perp_error *error)
{
    const perp_allocator *const allocator = &e->allocator;
    perp_status status = copy_scene(e, error);
    for (int i = 0; i < 2 && status == PERP_STATUS_OK; i++) {
        e->moments[i].step = -1;
        status = perp_state_create(e->model, allocator, &e->moments[i].state, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(e->model, allocator, &e->trial, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_kinematics_create(e->model, allocator, &e->kinematics, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_contact_model_build(e->model, allocator, &e->contact_model, error);
    }
    return status == PERP_STATUS_OK ? perp_contact_set_create(e->contact_model, NULL, allocator, &e->set, error)
                                    : status;
}

perp_status perp_explainer_create(const perp_model *model, const perp_run_settings *settings,
                                  const perp_explain_options *options, perp_explainer **explainer, perp_error *error)
{
    const perp_explain_options chosen = options ? *options : perp_explain_options_default();
    const perp_allocator allocator = chosen.allocator ? *chosen.allocator : perp_allocator_default();
    *explainer = NULL;
    perp_status status = PERP_CHECK_SIZE(perp_explain_options, &chosen, error);
    status = status == PERP_STATUS_OK ? perp_run_check(settings, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_explainer *e = allocator.allocate(allocator.context, sizeof *e);
    if (!e) {
        return out_of_memory(error);
    }
    memset(e, 0, sizeof *e);
    e->allocator = allocator;
    e->options = chosen;
    e->work = chosen.work;
    e->model = model;
    e->settings = *settings;
    e->settings.steps_set = true;
    e->rung = perp_rung_find(settings->model);
    status = make_parts(e, error);
    if (status != PERP_STATUS_OK) {
        perp_explainer_free(e);
        return status;
    }
    *explainer = e;
    return PERP_STATUS_OK;
}

void perp_explainer_free(perp_explainer *e)
{
    if (!e) {
        return;
    }
    perp_state *const states[] = {&e->moments[0].state, &e->moments[1].state, &e->trial};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (states[i]->q) {
            perp_state_free(states[i]);
        }
    }
    release(e, e->moments[0].memory);
    release(e, e->moments[1].memory);
    release(e, e->elements);
    perp_contact_set_free(e->set);
    perp_contact_model_free(e->contact_model);
    perp_kinematics_free(e->kinematics);
    release(e, e->velocity);
    release(e, e->pairs);
    release(e, e->forces);
    release(e, e);
}

/* ---- following the run ------------------------------------------------------------------------------------------- */

static bool hold_memory(perp_explainer *e, moment *m, size_t count)
{
    if (count > m->memory_capacity) {
        double *larger = take(e, 2 * count * sizeof *larger);
        if (!larger) {
            return false;
        }
        release(e, m->memory);
        m->memory = larger;
        m->memory_capacity = 2 * count;
    }
    m->memory_count = count;
    return true;
}

static bool hold_elements(perp_explainer *e, const perp_step_info *info)
{
    if (info->element_count > e->element_capacity) {
        perp_element_record *larger = take(e, 2 * (size_t)info->element_count * sizeof *larger);
        if (!larger) {
            return false;
        }
        release(e, e->elements);
        e->elements = larger;
        e->element_capacity = 2 * info->element_count;
    }
    e->element_count = info->element_count;
    if (info->element_count > 0) {
        memcpy(e->elements, info->elements, (size_t)info->element_count * sizeof *e->elements);
    }
    return true;
}

/* The moment that the next state goes to, the older of the two. */
static moment *next_moment(perp_explainer *e, int step, const perp_state *state)
{
    e->newest = 1 - e->newest;
    moment *m = &e->moments[e->newest];
    m->step = step;
    perp_state_copy(e->model, &m->state, state);
    return m;
}

bool perp_explainer_observe(void *explainer, int step, const perp_state *state, const perp_step_info *info)
{
    perp_explainer *e = explainer;
    moment *m = next_moment(e, step, state);
    e->t_start = step == 0 ? state->t : e->t_start;
    /* a set is spoken of by its smallest rates, several sets by nothing */
    e->several = info->answer ? info->answer->solution_count > 1 : info->several;
    if (!hold_elements(e, info) || !hold_memory(e, m, perp_run_memory_save(info->memory, NULL, 0))) {
        m->step = -1;
        return false;
    }
    perp_run_memory_save(info->memory, m->memory, m->memory_count);
    return true;
}

bool perp_explainer_resume(perp_explainer *e, const perp_run_start *start, const perp_state *state)
{
    moment *m = next_moment(e, start->step, state);
    e->t_start = start->t_start;
    if (!hold_memory(e, m, start->memory_count)) {
        m->step = -1;
        return false;
    }
    if (start->memory_count > 0) {
        memcpy(m->memory, start->memory, start->memory_count * sizeof *m->memory);
    }
    return true;
}

/* ---- solving the step again -------------------------------------------------------------------------------------- */

static void change_friction(perp_explainer *e, const perp_contact *c, double mu)
{
    const perp_scene *scene = e->model->scene;
    const int pair = c->pair >= 0 ? c->pair : scene->pair_count;
    e->scene.pair_count = c->pair >= 0 ? scene->pair_count : scene->pair_count + 1;
    if (c->pair < 0) {
        e->pairs[pair] =
            (perp_pair){.a = scene->bodies[c->a].name, .b = scene->bodies[c->b].name, .body_a = c->a, .body_b = c->b};
    }
    e->pairs[pair].friction = perp_set(mu);
}

static perp_force constant_force(const perp_model *model, int body, perp_vec3 point, perp_vec3 force)
{
    return (perp_force){.body = model->scene->bodies[body].name,
                        .point = point,
                        .force = {{.offset = force.x}, {.offset = force.y}, {.offset = force.z}},
                        .body_index = body};
}

static void change_forces(perp_explainer *e, const perp_explanation *x, perp_vec3 on_b)
{
    perp_force *more = e->forces + e->model->scene->force_count;
    e->scene.force_count = e->model->scene->force_count + 2;
    more[0] = constant_force(e->model, x->a, x->at_a, perp_vec3_scale(-1.0, on_b));
    more[1] = constant_force(e->model, x->b, x->at_b, on_b);
}

static void unchange(perp_explainer *e)
{
    const perp_scene *scene = e->model->scene;
    e->scene.pair_count = scene->pair_count;
    e->scene.force_count = scene->force_count;
    if (scene->pair_count > 0) {
        memcpy(e->pairs, scene->pairs, (size_t)scene->pair_count * sizeof *e->pairs);
    }
}

static double friction_used(const perp_explainer *e, const perp_contact_record *r, const perp_element_record *elements)
{
    return perp_friction_used(perp_rung_cone(e->rung, &e->settings), e->settings.rays, r, elements);
}

/* A distance is > 0, or there is none: elements of a patch may slip this way and that, and a smoothed cone is wider
 * than mu fn. */
static double distance_or_none(double distance)
{
    return distance > 0.0 ? distance : NAN;
}

static bool answers_accelerations(const perp_explainer *e)
{
    return e->rung->answer && strcmp(e->rung->answers, "acceleration") == 0;
}

/* What became of a contact, from the records of a step, or of an answer. */
static flip_sample fate_of(const perp_explainer *e, const perp_contact *contact, const perp_contact_record *records,
                           int count)
{
    for (int i = 0; i < count; i++) {
        const perp_contact_record *r = &records[i];
        if (!perp_contact_same(&r->contact, contact) || r->mode == PERP_CONTACT_OPEN) {
            continue;
        }
        const double limit = perp_friction_limit(r, NULL), used = friction_used(e, r, NULL);
        return !perp_explain_holds(answers_accelerations(e), r->mode, used, limit)
                   ? (flip_sample){PERP_FATE_SLIDES, distance_or_none(hypot(r->slip[0], r->slip[1]) - SLIDES_FROM)}
                   : (flip_sample){PERP_FATE_HOLDS, distance_or_none(limit - used)};
    }
    return (flip_sample){PERP_FATE_OPENS, NAN};
}

/* What all solutions of an instant take, over one of them: 10 to 20 for four contacts. */
static const double ALL_SOLUTIONS = 20.0;

/* `contacts` are those of the state, which place_forces has listed. */
static double work_of_answer(int contacts, bool answered)
{
    const double n = 1.0 + contacts;
    return (answered ? 20.0 : 600.0) * n * (1.0 + n / 50.0);
}

static double work_of_step(const perp_explainer *e, double iterations)
{
    static const double SETUP = 10.0; /* iterations that setting up a run and listing contacts take as long as */
    return (SETUP + iterations) * (1.0 + e->set->count + e->element_count);
}

void perp_explainer_allow(perp_explainer *e, double work)
{
    e->work = work;
}

double perp_explainer_work(const perp_explainer *e)
{
    return e->work;
}

/* The answer about the instant once more, in the changed scene; where there are several now, which of them is meant is
 * not known, and it is looked for them where one is to be sure. False: out of memory. */
static bool answer_again(perp_explainer *e, const perp_contact *contact, bool surely, flip_sample *sample)
{
    perp_run_result result = {0};
    perp_error error;
    perp_state_copy(e->model, &e->trial, &e->moments[e->newest].state);
    e->settings.any_solution = !surely;
    const perp_status status =
        perp_run(&e->changed, &e->settings, &e->allocator, NULL, NULL, &e->trial, &result, &error);
    const bool one = status == PERP_STATUS_OK && result.solution_count == 1;
    *sample = one ? fate_of(e, contact, result.solutions[0].contacts, result.solutions[0].contact_count)
              : status == PERP_STATUS_OK && result.solution_count == 0 ? (flip_sample){PERP_FATE_NO_ANSWER, NAN}
                                                                       : (flip_sample){PERP_FATE_UNSOLVED, NAN};
    if (one && e->held) {
        perp_explain_held_by(e->model, contact, result.solutions[0].contacts, result.solutions[0].contact_count,
                             e->held);
    }
    e->work -= (surely ? ALL_SOLUTIONS : 1.0) * work_of_answer(e->set->count, one);
    perp_run_result_free(&result);
    return status != PERP_STATUS_OUT_OF_MEMORY;
}

/* The step once more, in the changed scene. False: out of memory. */
static bool solve_again(perp_explainer *e, const perp_contact *contact, bool surely, flip_sample *sample)
{
    if (e->rung->answer) {
        return answer_again(e, contact, surely, sample);
    }
    const moment *from = &e->moments[1 - e->newest];
    const perp_run_start start = {.step = from->step,
                                  .t_start = e->t_start,
                                  .hash = perp_hash_begin(),
                                  .memory_count = from->memory_count,
                                  .memory = from->memory,
                                  .allocator = &e->allocator};
    perp_run_result result = {0};
    perp_error error;
    perp_state_copy(e->model, &e->trial, &from->state);
    e->settings.steps = e->moments[e->newest].step;
    const perp_status status = perp_run_continue(&e->changed, &e->settings, &start, &e->trial, &result, &error);
    *sample = status == PERP_STATUS_OK           ? fate_of(e, contact, result.contacts, result.contact_count)
              : status == PERP_STATUS_INFEASIBLE ? (flip_sample){PERP_FATE_NO_ANSWER, NAN}
                                                 : (flip_sample){PERP_FATE_UNSOLVED, NAN};
    if (status == PERP_STATUS_OK && e->held) {
        perp_explain_held_by(e->model, contact, result.contacts, result.contact_count, e->held);
    }
    e->work -= work_of_step(e, result.iterations);
    perp_run_result_free(&result);
    return status != PERP_STATUS_OUT_OF_MEMORY;
}

typedef struct trial {
    perp_explainer *e;
    const perp_explanation *x;
    const perp_contact *contact;
    perp_flip_kind kind;
    double sign; /* of the change of friction */
    bool out_of_memory;
} trial;

static bool try_change(void *context, double change, bool surely, flip_sample *sample)
{
    trial *t = context;
    const volatile bool *cancel = t->e->settings.cancel;
    if (!(t->e->work > 0.0) || (cancel && *cancel)) {
        return false;
    }
    unchange(t->e);
    if (t->kind == PERP_FLIP_FRICTION) {
        change_friction(t->e, t->contact, fmax(0.0, t->x->mu + t->sign * change));
    } else {
        const perp_vec3 on_b = t->kind == PERP_FLIP_SQUEEZE ? perp_vec3_scale(-change, t->contact->normal)
                                                            : perp_vec3_scale(change, t->x->along);
        change_forces(t->e, t->x, on_b);
    }
    t->out_of_memory = !solve_again(t->e, t->contact, surely, sample);
    return !t->out_of_memory;
}

/* With the least friction that was tried and holds; what begins within the budget is finished. */
static bool find_what_holds(perp_explainer *e, const perp_contact *contact, perp_explanation *x)
{
    flip_sample sample;
    unchange(e);
    change_friction(e, contact,
                    x->flips[PERP_FLIP_FRICTION].search == PERP_FLIP_NONE ? 0.0 : x->flips[PERP_FLIP_FRICTION].before);
    e->held = x;
    const bool done = solve_again(e, contact, false, &sample);
    e->held = NULL;
    return done;
}

static bool seek(perp_explainer *e, const perp_contact *contact, perp_flip_kind kind, perp_explanation *x)
{
    static const double MOST_FRICTION = 10.0, MOST_FORCE = 1024.0; /* of mu fn or fn, whichever is larger */
    const bool holds = perp_explain_holds(x->instant, x->mode, x->used, x->limit);
    trial t = {.e = e, .x = x, .contact = contact, .kind = kind, .sign = holds ? -1.0 : 1.0};
    flip_task task = {.holds = holds,
                      .distance = distance_or_none(holds ? x->limit - x->used : x->slip - SLIDES_FROM),
                      .solves = e->options.solves_per_flip,
                      .context = &t,
                      .try = try_change};
    if (kind == PERP_FLIP_FRICTION) {
        task.first = holds ? x->mu : fmax(0.5 * x->mu, 0.1);
        task.most = holds ? x->mu : fmax(MOST_FRICTION, 2.0 * x->mu) - x->mu;
        task.floor = FLIP_FLOOR * (x->mu > 0.0 ? x->mu : 1.0);
    } else {
        const double unit = fmax(x->fn, x->limit);
        task.first = kind == PERP_FLIP_SIDEWAYS ? fmax(1.25 * (x->limit - x->used), 0.01 * x->limit) : x->fn;
        task.most = MOST_FORCE * unit;
        task.floor = FLIP_FLOOR * x->fn;
    }
    perp_flip *flip = &x->flips[kind];
    *flip = perp_flip_seek(&task);
    if (kind == PERP_FLIP_FRICTION && flip->search != PERP_FLIP_UNKNOWN) {
        flip->before = fmax(0.0, x->mu + t.sign * flip->before);
        flip->after = fmax(0.0, x->mu + t.sign * flip->after);
    }
    if (kind == PERP_FLIP_FRICTION && holds && !t.out_of_memory && perp_explain_needs_no_friction(x)) {
        return find_what_holds(e, contact, x);
    }
    return !t.out_of_memory;
}

/* Elements that carry force and slip. */
static int count_slipping(const perp_explainer *e, const perp_contact_record *r)
{
    int count = 0;
    for (int i = r->element_start; i < r->element_start + r->element_count; i++) {
        count += e->elements[i].slips;
    }
    return count;
}

/* ---- where the contact is ---------------------------------------------------------------------------------------- */

/* Index of a contact in the set at a state, -1 where it is not listed there. */
static perp_status find_at(perp_explainer *e, const perp_state *state, const perp_contact *contact, int *index,
                           perp_error *error)
{
    *index = -1;
    perp_kinematics_update(e->model, state->q, e->kinematics);
    const perp_status status = perp_contact_set_build(e->set, e->kinematics, error);
    for (int i = 0; status == PERP_STATUS_OK && i < e->set->count && *index < 0; i++) {
        *index = perp_contact_same(&e->set->contacts[i], contact) ? i : -1;
    }
    return status;
}

static perp_vec3 in_body(const perp_explainer *e, int body, perp_vec3 point)
{
    const perp_vec3 arm = perp_vec3_sub(point, e->kinematics->pose[body].position);
    return perp_mat3_tmul_vec(&e->kinematics->rotation[body], arm);
}

/* The witnesses at the step's begin; of a contact that was not listed there, those at its end. */
static perp_status place_forces(perp_explainer *e, const perp_contact_record *r, perp_explanation *x, perp_error *error)
{
    int index;
    const int begin = e->rung->answer ? e->newest : 1 - e->newest;
    const perp_status status = find_at(e, &e->moments[begin].state, &r->contact, &index, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_contact *c = index >= 0 ? &e->set->contacts[index] : &r->contact;
    if (index < 0) {
        perp_kinematics_update(e->model, e->moments[e->newest].state.q, e->kinematics);
    }
    x->at_a = in_body(e, c->a, c->point_a);
    x->at_b = in_body(e, c->b, c->point_b);
    const perp_vec3 load = perp_vec3_add_scaled(r->force_on_b, -r->fn, r->contact.normal);
    const double size = perp_vec3_norm(load);
    x->along = size > LOAD_LEAST * r->fn         ? perp_vec3_scale(-1.0 / size, load)
               : r->contact.direction_count == 1 ? r->contact.directions[0]
                                                 : r->contact.t;
    return PERP_STATUS_OK;
}

static perp_status find_closing(perp_explainer *e, const perp_contact *contact, perp_explanation *x, perp_error *error)
{
    const perp_state *state = &e->moments[e->newest].state;
    int index;
    const perp_status status = find_at(e, state, contact, &index, error);
    if (status != PERP_STATUS_OK || index < 0) {
        return status;
    }
    const int needed = e->set->rows * e->set->count;
    if (needed > e->velocity_capacity) {
        double *larger = take(e, 2 * (size_t)needed * sizeof *larger);
        if (!larger) {
            return out_of_memory(error);
        }
        release(e, e->velocity);
        e->velocity = larger;
        e->velocity_capacity = 2 * needed;
    }
    perp_contact_velocity(e->set, state->v, e->velocity);
    x->closing = -e->velocity[e->set->rows * index];
    return PERP_STATUS_OK;
}

/* ---- the explanation --------------------------------------------------------------------------------------------- */

perp_status perp_explain(perp_explainer *e, const perp_contact_record *record, perp_explanation *x, perp_error *error)
{
    assert(e && record && x);
    perp_contact_record own = *record;
    const perp_contact_record *r = &own;
    if (own.element_start + own.element_count > e->element_count) {
        own.element_count = 0; /* of a log whose run could not go on: its elements were never seen */
    }
    *x = (perp_explanation){.mode = r->mode,
                            .a = r->contact.a,
                            .b = r->contact.b,
                            .mu = r->contact.friction,
                            .fn = r->fn,
                            .used = friction_used(e, r, e->elements),
                            .limit = perp_friction_limit(r, e->elements),
                            .instant = answers_accelerations(e),
                            .elements = r->element_count,
                            .slipping = count_slipping(e, r),
                            .slip = hypot(r->slip[0], r->slip[1]),
                            .gap = r->contact.phi};
    const moment *now = &e->moments[e->newest], *before = &e->moments[1 - e->newest];
    if (e->rung->answer ? now->step != 0 : now->step < 1 || before->step != now->step - 1) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "no step has been observed that could be explained");
    }
    if (r->mode == PERP_CONTACT_OPEN) {
        return find_closing(e, &r->contact, x, error);
    }
    const perp_status status = place_forces(e, r, x, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    /* The load of a support is given, and its friction is a setting of the body. */
    if (perp_contact_is_support(&r->contact)) {
        return PERP_STATUS_OK;
    }
    /* Velocities at an instant are given, and of several answers it is not known which one a change leads to. */
    if (e->rung->answer && (e->several || (x->instant && r->mode == PERP_CONTACT_SLIDE))) {
        return PERP_STATUS_OK;
    }
    /* Without friction a contact that stays put is held by nothing here, and nothing that presses makes it hold. */
    const bool holds = perp_explain_holds(x->instant, x->mode, x->used, x->limit), rough = x->mu > 0.0;
    const perp_flip_kind force = holds ? PERP_FLIP_SIDEWAYS : PERP_FLIP_SQUEEZE;
    if ((rough && !seek(e, &r->contact, force, x)) ||
        ((rough || !holds) && !seek(e, &r->contact, PERP_FLIP_FRICTION, x))) {
        return out_of_memory(error);
    }
    return PERP_STATUS_OK;
}
