/* A run that goes on from any of its steps ends where the undisturbed one does: states, contacts, events, sums, to the
 * bit, on every rung that takes steps and on scenes where its memory matters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "model/state.h"
#include "scene_run.h"

#include <perp/sim.h>

enum { MAX_MEMORY = 4096, MAX_EVENTS = 512 };

/* What a log would keep of one step. */
typedef struct snapshot {
    int step;
    double t_start;
    double *q, *v;
    double t;
    perp_hash hash;
    perp_run_start start;
    perp_contact_record contacts[RUN_MAX_CONTACTS];
    perp_contact_event events[MAX_EVENTS];
    double memory[MAX_MEMORY];
    const perp_model *model;
} snapshot;

static bool photograph(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    snapshot *s = context;
    if (step > s->step) {
        return true;
    }
    s->t_start = step == 0 ? state->t : s->t_start;
    s->hash = step == 0 ? perp_hash_begin() : s->hash;
    perp_state_hash(s->model, state, &s->hash);
    perp_run_start *start = &s->start;
    if (step > 0) {
        perp_residuals *const r = &start->residuals;
        r->balance = fmax(r->balance, info->residuals.balance);
        r->complementarity = fmax(r->complementarity, info->residuals.complementarity);
        r->cone = fmax(r->cone, info->residuals.cone);
        r->penetration = fmax(r->penetration, info->residuals.penetration);
        r->balance_true = fmax(r->balance_true, info->residuals.balance_true);
        r->boundary_layer = fmax(r->boundary_layer, info->residuals.boundary_layer);
        r->loop = fmax(r->loop, info->residuals.loop);
    }
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        start->fallbacks[i] += info->fallbacks[i];
    }
    start->several += info->several;
    for (int i = 0; i < info->event_count; i++) {
        assert_true(start->event_count < MAX_EVENTS);
        s->events[start->event_count++] = info->events[i];
    }
    if (step == s->step) {
        s->t = state->t;
        memcpy(s->q, state->q, (size_t)s->model->nq * sizeof *s->q);
        memcpy(s->v, state->v, (size_t)s->model->nv * sizeof *s->v);
        start->contact_count = info->contact_count;
        assert_true(info->contact_count <= RUN_MAX_CONTACTS);
        memcpy(s->contacts, info->contacts, (size_t)info->contact_count * sizeof *s->contacts);
        start->memory_count = perp_run_memory_save(info->memory, s->memory, MAX_MEMORY);
        assert_true(start->memory_count <= MAX_MEMORY);
    }
    return true;
}

static void same_result(const perp_run_result *a, const perp_run_result *b)
{
    assert_int_equal(a->steps, b->steps);
    assert_true(a->hash.value == b->hash.value);
    assert_memory_equal(&a->residuals, &b->residuals, sizeof a->residuals);
    assert_memory_equal(a->fallbacks, b->fallbacks, sizeof a->fallbacks);
    assert_int_equal(a->several, b->several);
    assert_int_equal(a->contact_count, b->contact_count);
    for (int i = 0; i < a->contact_count; i++) {
        assert_int_equal(a->contacts[i].mode, b->contacts[i].mode);
        assert_true(a->contacts[i].fn == b->contacts[i].fn && a->contacts[i].contact.phi == b->contacts[i].contact.phi);
    }
    assert_int_equal(a->event_count, b->event_count);
    for (int i = 0; i < a->event_count; i++) {
        assert_string_equal(a->events[i].feature, b->events[i].feature);
        assert_true(a->events[i].t == b->events[i].t && a->events[i].to == b->events[i].to);
    }
}

static void goes_on(const char *example, const char *model, int at, const char *further)
{
    static snapshot s;
    char chosen[64];
    snprintf(chosen, sizeof chosen, "run.model=%s", model);
    const char *const settings[] = {chosen, further, NULL};
    scene_run run;
    scene_run_make(&run, example, settings);
    assert_int_equal(run.status, PERP_STATUS_OK);
    assert_true(at < run.result.steps);
    memset(&s, 0, sizeof s);
    s.step = at;
    s.model = run.model;
    s.q = calloc((size_t)run.model->nq + 1, sizeof *s.q);
    s.v = calloc((size_t)run.model->nv + 1, sizeof *s.v);
    perp_state state;
    perp_run_result again, whole;
    assert_int_equal(perp_state_create(run.model, NULL, &state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_run(run.model, &run.scene->run, NULL, photograph, &s, &state, &whole, NULL), PERP_STATUS_OK);
    same_result(&run.result, &whole);
    state.t = s.t;
    memcpy(state.q, s.q, (size_t)run.model->nq * sizeof *s.q);
    memcpy(state.v, s.v, (size_t)run.model->nv * sizeof *s.v);
    s.start.step = at;
    s.start.t_start = s.t_start;
    s.start.hash = s.hash;
    s.start.contacts = s.contacts;
    s.start.events = s.events;
    s.start.memory = s.memory;
    perp_error error;
    assert_int_equal(perp_run_continue(run.model, &run.scene->run, &s.start, &state, &again, &error), PERP_STATUS_OK);
    same_result(&run.result, &again);
    /* a memory that is too short, too long or not a number is refused, and nothing is lost */
    perp_run_result_free(&again);
    if (at > 0 && s.start.memory_count > 1) {
        for (int wrong = 0; wrong < 3; wrong++) {
            perp_run_start bad = s.start;
            bad.memory_count += wrong == 0 ? 1 : wrong == 1 ? (size_t)-1 : 0;
            s.memory[1] = wrong == 2 ? NAN : s.memory[1];
            assert_int_equal(perp_run_continue(run.model, &run.scene->run, &bad, &state, &again, &error),
                             PERP_STATUS_BAD_INPUT);
            perp_run_result_free(&again);
        }
    }
    perp_run_result_free(&whole);
    perp_state_free(&state);
    free(s.q);
    free(s.v);
    scene_run_free(&run);
}

/* Every rung of the ladder that takes steps is here; one that is added without being tried fails. */
static const struct {
    const char *example, *model, *further;
    int at;
} runs[] = {
    {"driven-fence", "kinematic", "run.steps=63", 20},
    {"fence-particle", "qs-lcp", "run.steps=120", 60},
    {"fence-particle", "qs-ncp", "run.steps=120", 60},
    {"fence-particle", "qs-opt", "run.steps=120", 60},
    {"fence-particle", "qs-lp", "run.steps=120", 60},
    {"pivot", "qs-ncp", "run.steps=50", 17},
    {"three-finger-grasp", "qs-impedance-lcp", "run.steps=60", 31},
    {"peg-in-hole-2d", "qs-impedance-lcp", "run.steps=150", 90},
    {"gripper-2d", "qs-qp", "run.steps=25", 9},
    {"cube-stack", "qs-qp", "run.steps=100", 50},
    {"four-bar", "qs-qp", "run.steps=100", 33},
    {"gripper-2d", "qs-cone", "run.steps=25", 9},
    {"door", "qs-cone", "run.steps=100", 50},
    {"grazing", "quasidynamic", "run.steps=10", 4},
    {"cube-stack", "quasidynamic", "run.steps=20", 19},
    {"gripper-2d", "quasidynamic", "run.steps=20", 0},
    {"cube-stack", "dyn-lcp", "run.steps=20", 11},
    {"four-bar", "dyn-lcp", "run.steps=100", 33},
    {"fence-particle", "dyn-ncp", "run.steps=120", 60},
    {"cube-stack", "dyn-ncp", "run.steps=20", 11},
    {"gripper-2d", "dyn-ncp", "run.steps=25", 9},
    {"cube-stack", "dyn-qp", "run.steps=20", 19},
    {"four-bar", "dyn-qp", "run.steps=100", 33},
    {"cube-stack", "compliant", "run.steps=20", 11},
    {"cube-stack", "compliant", "compliance.elements=2", 5},
    {"four-bar", "compliant", "run.steps=100", 33},
};

static void every_rung_goes_on(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        goes_on(runs[i].example, runs[i].model, runs[i].at, runs[i].further);
    }
}

static void every_rung_is_tried(void **unused)
{
    (void)unused;
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i);
        bool tried = !rung->step;
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
            tried = tried || strcmp(runs[k].model, rung->name) == 0;
        }
        if (!tried) {
            fail_msg("no run of `%s` is continued: add one to `runs`", rung->name);
        }
        assert_true(!rung->save == !rung->restore);
    }
}

/* Would the test notice a memory that is lost? On dyn-ncp Newton's method starts from the last step's forces, so that
 * going on without them takes another way to another last bit. */
static void forgetting_shows(void **unused)
{
    (void)unused;
    const char *const settings[] = {"run.model=dyn-ncp", "run.steps=120", NULL};
    static snapshot s;
    scene_run run;
    scene_run_make(&run, "fence-particle", settings);
    perp_state state;
    perp_run_result again, whole;
    memset(&s, 0, sizeof s);
    s.step = 60;
    s.model = run.model;
    s.q = calloc((size_t)run.model->nq + 1, sizeof *s.q);
    s.v = calloc((size_t)run.model->nv + 1, sizeof *s.v);
    assert_int_equal(perp_state_create(run.model, NULL, &state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_run(run.model, &run.scene->run, NULL, photograph, &s, &state, &whole, NULL), PERP_STATUS_OK);
    state.t = s.t;
    memcpy(state.q, s.q, (size_t)run.model->nq * sizeof *s.q);
    memcpy(state.v, s.v, (size_t)run.model->nv * sizeof *s.v);
    /* a step of h was taken by each tree; of what it was solved from nothing is kept */
    double nothing[64] = {1.0};
    for (int k = 0; k < run.model->tree_count; k++) {
        nothing[1 + k] = run.scene->run.h;
    }
    s.start.step = 60;
    s.start.t_start = s.t_start;
    s.start.hash = s.hash;
    s.start.contacts = s.contacts;
    s.start.events = s.events;
    s.start.memory = nothing;
    s.start.memory_count = (size_t)(1 + run.model->tree_count + 3 * (1 + 4) + 1); /* 3: x, y, z of the particle */
    assert_int_equal(perp_run_continue(run.model, &run.scene->run, &s.start, &state, &again, NULL), PERP_STATUS_OK);
    assert_true(again.hash.value != run.result.hash.value);
    perp_run_result_free(&again);
    perp_run_result_free(&whole);
    perp_state_free(&state);
    free(s.q);
    free(s.v);
    scene_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rung_goes_on),
        cmocka_unit_test(every_rung_is_tried),
        cmocka_unit_test(forgetting_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
