#include "run_summary.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 20 }; /* of bodies, and of joints: what comes behind them is to stay on the screen */

void cli_print_units(const perp_scene *scene)
{
    if (scene->length_unit || scene->angle_unit) {
        printf("  read in %s and %s; all results are in m and rad\n", scene->length_unit ? scene->length_unit : "m",
               scene->angle_unit ? scene->angle_unit : "rad");
    }
}

static void print_bodies(const perp_model *model, const perp_state *state)
{
    perp_kinematics *kinematics;
    int count = 0;
    if (perp_kinematics_create(model, NULL, &kinematics, NULL) != PERP_STATUS_OK) {
        return;
    }
    perp_kinematics_update(model, state->q, kinematics);
    for (int i = 0; i < model->body_count; i++) {
        double p[7];
        if (model->links[i].tree < 0 || ++count > LINES) {
            continue; /* cannot move, or one too many */
        }
        if (perp_body_pose_numbers(model, kinematics, state->q, i, p) == 3) {
            printf("  %-16s position [%.9g, %.9g]  angle %.9g\n", model->scene->bodies[i].name, p[0], p[1], p[2]);
        } else {
            printf("  %-16s position [%.9g, %.9g, %.9g]  quat_wxyz [%.9g, %.9g, %.9g, %.9g]\n",
                   model->scene->bodies[i].name, p[0], p[1], p[2], p[3], p[4], p[5], p[6]);
        }
    }
    cli_print_rest(count, LINES);
    perp_kinematics_free(kinematics);
}

/* Positions, or rates of a kind. */
static void print_joints(const perp_model *model, const double *numbers, const char *rates)
{
    const perp_scene *scene = model->scene;
    int count = 0;
    for (int i = 0; i < scene->joint_count; i++) {
        const perp_link *link = &model->links[model->joint_body[i]];
        const int size = rates ? link->v_count : link->q_count, start = rates ? link->v_start : link->q_start;
        if (size == 0 || ++count > LINES) {
            continue;
        }
        printf("  %-16s %s", scene->joints[i].name, rates ? rates : perp_joint_kind_name(scene->joints[i].kind));
        for (int k = 0; k < size; k++) {
            printf(" %.9g", numbers[start + k]);
        }
        printf("\n");
    }
    cli_print_rest(count, LINES);
}

static void print_loops(const perp_model *model, const perp_run_result *result)
{
    printf("loops open by at most %.3g m\n", result->residuals.loop);
    for (int i = 0; i < result->loop_count && i < LINES; i++) {
        const perp_loop *loop = &model->scene->loops[i];
        const perp_loop_force *told = &result->loops[i];
        printf("  %-16s %-6s force", loop->name, perp_loop_what(loop));
        for (int r = 0; r < told->count; r++) {
            if (told->known[r]) {
                printf(" %.9g", told->force[r] + 0.0);
            } else {
                printf(" -");
            }
        }
        printf("\n");
    }
    cli_print_rest(result->loop_count, LINES);
}

static bool same_event(const perp_contact_event *x, const perp_contact_event *y)
{
    return x->t == y->t && x->a == y->a && x->b == y->b && x->from == y->from && x->to == y->to;
}

/* The first of its kind: the points of two bodies that change alike in one step are one line. */
static bool is_first(const perp_run_result *result, int i)
{
    for (int k = i - 1; k >= 0 && result->events[k].t == result->events[i].t; k--) {
        if (same_event(&result->events[k], &result->events[i])) {
            return false;
        }
    }
    return true;
}

static int count_alike(const perp_run_result *result, int first)
{
    int count = 0;
    for (int k = first; k < result->event_count && result->events[k].t == result->events[first].t; k++) {
        count += same_event(&result->events[k], &result->events[first]);
    }
    return count;
}

/* When contacts were made, slipped, stuck and opened. */
static void print_events(const perp_model *model, const perp_run_result *result)
{
    const perp_body *bodies = model->scene->bodies;
    int lines = 0;
    for (int i = 0; i < result->event_count; i++) {
        const perp_contact_event *e = &result->events[i];
        if (!is_first(result, i) || ++lines > LINES) {
            continue;
        }
        if (lines == 1) {
            printf("events\n");
        }
        const int alike = count_alike(result, i);
        printf("  t = %-8g %s -> %-5s  %s %s ", e->t, perp_contact_mode_name(e->from), perp_contact_mode_name(e->to),
               bodies[e->a].name, bodies[e->b].name);
        if (alike > 1) {
            printf("at %d points\n", alike);
        } else {
            printf("%s\n", e->feature);
        }
    }
    cli_print_rest(lines, LINES);
}

/* The rates of bodies that can move. Where they are accelerations, those of bodies that joints move are left to the
 * joints': what a joint's rate adds to its body's acceleration is not linear in it. */
static void print_rates(const perp_model *model, const perp_state *state, const double *rate, const char *kind)
{
    perp_kinematics *kinematics;
    const bool velocity = strcmp(kind, "velocity") == 0;
    int count = 0;
    if (perp_kinematics_create(model, NULL, &kinematics, NULL) != PERP_STATUS_OK) {
        return;
    }
    perp_kinematics_update(model, state->q, kinematics);
    perp_kinematics_velocity(model, rate, kinematics);
    for (int i = 0; i < model->body_count; i++) {
        const perp_twist *w = &kinematics->twist[i];
        if (model->links[i].tree < 0 || (!velocity && model->links[i].joint >= 0) || ++count > LINES) {
            continue;
        }
        if (model->planar) {
            printf("  %-16s %s [%.9g, %.9g]  turning %.9g\n", model->scene->bodies[i].name, kind, w->linear.x,
                   w->linear.y, w->angular.z);
        } else {
            printf("  %-16s %s [%.9g, %.9g, %.9g]  turning [%.9g, %.9g, %.9g]\n", model->scene->bodies[i].name, kind,
                   w->linear.x, w->linear.y, w->linear.z, w->angular.x, w->angular.y, w->angular.z);
        }
    }
    cli_print_rest(count, LINES);
    perp_kinematics_free(kinematics);
    if (!velocity) {
        print_joints(model, rate, kind);
    }
}

/* Where the normal forces that go with a solution are not unique: how far others go. */
static void print_ranges(const perp_model *model, const perp_instant_solution *s)
{
    const perp_body *bodies = model->scene->bodies;
    int count = 0;
    for (int i = 0; i < s->contact_count; i++) {
        const perp_contact *c = &s->contacts[i].contact;
        char feature[64];
        if (!(s->fn_high[i] - s->fn_low[i] > 1e-6 * (1e-3 + s->fn_low[i])) || ++count > LINES) {
            continue;
        }
        perp_contact_feature_text(c, feature, sizeof feature);
        printf("  %s %s %s: fn may be any from %.9g N ", bodies[c->a].name, bodies[c->b].name, feature, s->fn_low[i]);
        if (isfinite(s->fn_high[i])) {
            printf("to %.9g N\n", s->fn_high[i]);
        } else {
            printf("on, without bound\n");
        }
    }
    cli_print_rest(count, LINES);
}

/* Where the rates of a solution are not unique: which others there are. */
static void print_set(const perp_model *model, const perp_state *state, const perp_instant_solution *s,
                      const char *kind)
{
    const char *rates = strcmp(kind, "velocity") == 0 ? "velocities" : "accelerations";
    const int count = s->vertex_count + s->ray_count;
    if (s->vertex_count == 0) {
        return;
    }
    printf("  not the only answer: %s fill a set, of which these are the smallest; %d %s", rates, s->vertex_count,
           s->vertex_count == 1 ? "vertex" : "vertices");
    if (s->ray_count > 0) {
        printf(", and without end along %d %s", s->ray_count, s->ray_count == 1 ? "ray" : "rays");
    }
    printf("\n");
    for (int i = 0; i < count && i < LINES; i++) {
        const int ray = i - s->vertex_count;
        const double *rate = ray < 0 ? s->vertices + (ptrdiff_t)i * model->nv : s->rays + (ptrdiff_t)ray * model->nv;
        printf("  %s %d\n", ray < 0 ? "vertex" : "ray", (ray < 0 ? i : ray) + 1);
        print_rates(model, state, rate, kind);
    }
    cli_print_rest(count, LINES);
}

/* What a rung says of the initial state: every motion that its law allows. */
static void print_solutions(const perp_model *model, const perp_state *state, const perp_run_result *result)
{
    const char *kind = result->rung->answers;
    const bool velocity = strcmp(kind, "velocity") == 0;
    if (result->left_out[0]) {
        printf("left out: %s\n", result->left_out);
    }
    if (result->solution_count == 0 && result->why_none[0]) {
        printf("no solution: %s\n", result->why_none);
    } else if (result->solution_count == 0) {
        printf("no motion meets the law: these commands and forces have no quasistatic answer at this instant\n");
    }
    for (int i = 0; i < result->solution_count && i < LINES; i++) {
        const perp_instant_solution *s = &result->solutions[i];
        printf("solution %d of %d: %s\n", i + 1, result->solution_count, velocity ? "velocities" : "accelerations");
        print_rates(model, state, s->rate, kind);
        print_set(model, state, s, kind);
        cli_print_forces(model, s->contacts, s->contact_count);
        print_ranges(model, s);
        cli_print_why(model, "why", s->contacts, s->notes, s->contact_count);
    }
    cli_print_rest(result->solution_count, LINES);
    if (result->partial) {
        printf("there may be other solutions: not all were looked for, or it is not sure that all were found\n");
    }
}

/* A lift that shows: a tenth of the gap up to which contacts are listed. */
static void print_lift(const perp_model *model, const highest_lift *highest)
{
    const perp_contact *c = &highest->lift.contact;
    char feature[64];
    if (!(highest->lift.height > 0.1 * model->scene->margin)) {
        return;
    }
    perp_contact_feature_text(c, feature, sizeof feature);
    printf(
        "warning: convex friction lifts what slides: %s %s %s parts at t = %g s, fast enough to rise by %.3g m, more "
        "than a tenth of contacts.margin; dyn-ncp has Coulomb's own law\n",
        model->scene->bodies[c->a].name, model->scene->bodies[c->b].name, feature, highest->t, highest->lift.height);
}

void cli_print_run(const perp_model *model, const perp_state *state, const perp_run_result *result,
                   const run_highlights *seen, bool done)
{
    const contact_highlight *deepest = &seen->deepest;
    const char *name = model->scene->name[0] ? model->scene->name : "scene";
    char hash[17];
    perp_hash_text(result->hash, hash);
    if (result->rung->step) {
        printf("%s: model %s, %d %s of %g s, %.2f us a step\n", name, result->rung->name, result->steps,
               perp_plural(result->steps, "step", "steps"), result->h, result->timing.step_mean_us);
    } else {
        printf("%s: model %s\n", name, result->rung->name);
    }
    cli_print_units(model->scene);
    printf("bodies that can move, at t = %g s\n", state->t);
    print_bodies(model, state);
    if (model->scene->joint_count > 0) {
        printf("joints\n");
        print_joints(model, state->q, NULL);
    }
    if (model->scene->loop_count > 0) {
        print_loops(model, result);
    }
    print_events(model, result);
    if (result->rung->answer && done) {
        print_solutions(model, state, result);
    }
    cli_print_contacts(model, result);
    cli_print_why(model, "why, in the last step", result->contacts, result->notes, result->contact_count);
    if (result->rung->step && seen->largest.size > 0.0) {
        printf("largest normal force at the end of a step: %.6g N, %s and %s at t = %g s\n", seen->largest.size,
               model->scene->bodies[seen->largest.a].name, model->scene->bodies[seen->largest.b].name, seen->largest.t);
    }
    if (result->rung->step && deepest->size < -1e-12) { /* below a picometre is rounding */
        printf("deepest penetration at the end of a step: %.6g m, %s and %s at t = %g s\n", -deepest->size,
               model->scene->bodies[deepest->a].name, model->scene->bodies[deepest->b].name, deepest->t);
    }
    print_lift(model, &seen->highest);
    cli_print_trust(result);
    if (result->several > 0 && result->rung->step) {
        printf("solved, not the only answer: in %d of %d steps another motion meets the same law (docs/choices.md)\n",
               result->several, result->steps);
    }
    printf("state hash %s\n", hash);
}
