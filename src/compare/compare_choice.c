/* Did the runs take different answers of one step? The step in which they part is solved again on either rung, and the
 * other's motion is held against its law. */
#include "compare/comparison.h"
#include "compare/tolerances.h"

static perp_status go_to(const compare_job *job, int steps, perp_sim **sim, perp_error *error)
{
    perp_sim_settings settings = perp_sim_settings_default();
    settings.run = &job->scene.run;
    settings.allocator = &job->memory->allocator;
    perp_status status = perp_sim_create(job->model, &settings, sim, error);
    for (int i = 0; i < steps && status == PERP_STATUS_OK; i++) {
        const volatile bool *cancel = job->memory->options.cancel;
        status =
            cancel && *cancel ? perp_fail(error, PERP_STATUS_CANCELLED, "interrupted") : perp_sim_step(*sim, error);
    }
    return status;
}

/* Is the step that `other` takes an answer of the one of `sim`? UNAVAILABLE: it cannot be said. */
static perp_status try_other(const perp_sim *sim, const perp_sim *other, perp_second_motion *second, perp_error *error)
{
    perp_sim *next = NULL;
    perp_status status = perp_sim_clone(other, &next, error);
    status = status == PERP_STATUS_OK ? perp_sim_step(next, error) : status;
    if (status == PERP_STATUS_OK) {
        const perp_step_info *info = perp_sim_info(next);
        status = perp_check_motion(sim, perp_sim_state(next)->v, info->contacts, info->contact_count, second, error);
    }
    perp_sim_free(next);
    return status;
}

static bool is_fatal(perp_status status)
{
    return status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED;
}

perp_status perp_choice_test(const compare_memory *m, compare_pair *pair, perp_error *error)
{
    const compare_job *jobs[2] = {m->jobs[pair->runs[0]], m->jobs[pair->runs[1]]};
    pair->chooser = -1;
    const bool same_steps = jobs[0]->spec.settings.h == jobs[1]->spec.settings.h;
    const int row = same_steps ? perp_track_parting(jobs[0], jobs[1], pair->times, PARTS * pair->most.size) : -1;
    if (row < 1) {
        return PERP_STATUS_OK;
    }
    perp_sim *sims[2] = {NULL, NULL};
    perp_error own = {0};
    perp_status status = PERP_STATUS_OK;
    pair->choice_t = row * pair->times.h;
    for (int i = 0; i < 2 && status == PERP_STATUS_OK; i++) {
        status = go_to(jobs[i], row - 1, &sims[i], &own);
    }
    for (int i = 0; i < 2 && !is_fatal(status) && sims[1] && pair->chooser < 0; i++) {
        perp_second_motion second;
        status = try_other(sims[i], sims[1 - i], &second, &own);
        if (status == PERP_STATUS_OK && (!pair->choice_known || second.is_answer)) {
            pair->choice_known = true;
            pair->second = second;
            pair->chooser = second.is_answer ? i : -1;
        }
    }
    perp_sim_free(sims[0]);
    perp_sim_free(sims[1]);
    return is_fatal(status) ? perp_fail(error, status, "%s", own.message) : PERP_STATUS_OK;
}
