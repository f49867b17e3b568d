/* analyzed.h - certificates of a scene given as text, at its begin. */
#ifndef PERP_TESTS_ANALYZED_H
#define PERP_TESTS_ANALYZED_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <perp/perp.h>

typedef struct analyzed {
    perp_scene *scene;
    perp_model *model;
    perp_sim *sim;
    perp_analysis *analysis;
    perp_error error;
} analyzed;

/* Asserts that there is an analysis. */
static inline void analyze_text(analyzed *a, const char *text, unsigned certificates)
{
    static perp_diagnostics diagnostics;
    perp_analyze_options options = perp_analyze_options_default();
    options.certificates = certificates;
    memset(a, 0, sizeof *a);
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_text(text, strlen(text), "test", NULL, NULL, &a->scene, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s\n%s", diagnostics.items[0].message, text);
    }
    perp_status status = perp_model_build(a->scene, NULL, &a->model, &a->error);
    status = status == PERP_STATUS_OK ? perp_sim_create(a->model, NULL, &a->sim, &a->error) : status;
    status = status == PERP_STATUS_OK ? perp_analyze(a->sim, &options, &a->analysis, &a->error) : status;
    if (status != PERP_STATUS_OK) {
        fail_msg("%s\n%s", a->error.message, text);
    }
}

static inline void free_analyzed(analyzed *a)
{
    perp_analysis_free(a->analysis);
    perp_sim_free(a->sim);
    perp_model_free(a->model);
    perp_scene_free(a->scene);
}

/* Does a reason have these words? */
static inline bool says(const perp_analysis *analysis, const char *words)
{
    for (int i = 0; i < analysis->reason_count; i++) {
        if (strstr(analysis->reasons[i].text, words)) {
            return true;
        }
    }
    return false;
}

#endif
