/* Do run settings fit their rung? */
#include "step/common/contact_step.h"

#include <math.h>
#include <string.h>

int perp_run_steps(const perp_run_settings *settings)
{
    if (settings->steps_set) {
        return settings->steps;
    }
    return settings->h > 0.0 ? (int)lround(settings->until / settings->h) : 0;
}

static perp_status refuse(perp_error *error, const char *path, const char *rung, const char *message)
{
    perp_fail(error, PERP_STATUS_BAD_INPUT, "model `%s` %s", rung, message);
    if (error) {
        strcpy(error->path, path);
    }
    return PERP_STATUS_BAD_INPUT;
}

static perp_status refuse_model(const perp_run_settings *settings, perp_error *error)
{
    perp_nearest nearest = perp_nearest_begin(settings->model);
    for (int i = 0; i < perp_rung_count(); i++) {
        perp_nearest_offer(&nearest, perp_rung_at(i)->name);
    }
    perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no model `%.60s`%s%s%s (perp models)", settings->model,
              nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "", nearest.name ? "`?" : "");
    if (error) {
        strcpy(error->path, "run.model");
    }
    return PERP_STATUS_BAD_INPUT;
}

/* A setting that the rung does not know is an error, not a silent no-op. */
perp_status perp_run_check(const perp_run_settings *settings, perp_error *error)
{
    const perp_rung *rung = perp_rung_find(settings->model);
    if (!rung) {
        return refuse_model(settings, error);
    }
    if (settings->cone != PERP_CONE_UNSET && !(rung->takes & 1u << settings->cone)) {
        return refuse(error, "run.cone", rung->name,
                      "does not take this friction cone (see `perp models`); remove `cone` or --set run.cone=~");
    }
    if (settings->smoothing != 0.0 && !(rung->takes & PERP_TAKES_SMOOTHING)) {
        return refuse(error, "run.smoothing", rung->name, "has no smoothing; remove `smoothing`");
    }
    if (settings->time_scale != 1.0 && !(rung->takes & PERP_TAKES_TIME_SCALE)) {
        return refuse(error, "run.time_scale", rung->name, "has no inertia to scale; remove `time_scale`");
    }
    if (rung->step && !(settings->h > 0.0)) {
        return refuse(error, "run.h", rung->name, "needs a positive time step `h`");
    }
    return PERP_STATUS_OK;
}

perp_status perp_run_check_scene(const perp_scene *scene, const perp_run_settings *settings, perp_error *error)
{
    const perp_status status = perp_run_check(settings, error);
    const perp_rung *rung = status == PERP_STATUS_OK ? perp_rung_find(settings->model) : NULL;
    return rung && rung->law ? perp_step_check_supports(scene, rung, settings, error) : status;
}
