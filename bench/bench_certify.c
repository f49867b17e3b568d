/* What certificates cost: a run with a certifier beside the run alone, on every example and every rung with contact
 * forces that it can be run on; and `perp_analyze` of states with 56 contacts in force.
 *
 * Times are the processor's, the smallest of several repetitions; a run is as long as it is asked for, cut to STEPS,
 * and to what a hundredth of a second takes. Runs that do not come far, or in which nothing is in force, are listed and
 * not judged. Targets: at most 3 times the run, and 50 ms. */
#include "options.h"
#include "timing.h"

#include <perp/analysis.h>
#include <perp/scene_yaml.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERP_SOURCE_DIR
#define PERP_SOURCE_DIR "."
#endif

enum { STEPS = 40, FEWEST = 5, MOST_ROWS = 1000, MOST_EXAMPLES = 200 };
static const double ENOUGH = 0.01;                          /* s, of a run */
static const double MOST_RATIO = 3.0, MOST_ANALYSIS = 0.05; /* -, s */

typedef struct row {
    char example[40], rung[24];
    int steps, contacts;            /* taken; the most in force */
    double began, alone, certified; /* s */
} row;

typedef struct analysed {
    const char *scene, *rung;
    int contacts;
    double time; /* s */
} analysed;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_certify: %s: %s\n", what, why);
    exit(1);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool count_forces(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    row *r = context;
    int sum = 0;
    (void)state;
    for (int i = 0; i < info->contact_count; i++) {
        sum += info->contacts[i].mode != PERP_CONTACT_OPEN;
    }
    r->contacts = sum > r->contacts ? sum : r->contacts;
    r->steps = step;
    return step < FEWEST || timing_processor() - r->began < ENOUGH;
}

/* One run; `certifier` NULL: alone. */
static double run_once(const perp_model *model, const perp_run_settings *settings, perp_observer *observer,
                       void *context)
{
    perp_state state;
    perp_run_result result = {0};
    perp_error error;
    if (perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK) {
        die("state", "out of memory");
    }
    const double begin = timing_processor();
    perp_run(model, settings, NULL, observer, context, &state, &result, &error);
    const double time = timing_processor() - begin;
    perp_run_result_free(&result);
    perp_state_free(&state);
    return time;
}

static double run_certified(const perp_model *model, const perp_run_settings *settings)
{
    perp_certifier *certifier;
    perp_error error;
    const double begin = timing_processor();
    if (perp_certifier_create(model, settings, NULL, &certifier, &error) != PERP_STATUS_OK) {
        die("certifier", error.message);
    }
    const double made = timing_processor() - begin, time = run_once(model, settings, perp_certifier_observe, certifier);
    perp_certifier_free(certifier);
    return made + time;
}

static bool measure(const perp_model *model, const char *rung, int repetitions, row *r)
{
    perp_run_settings settings = model->scene->run;
    settings.model = (char *)(uintptr_t)rung;
    settings.steps_set = true;
    settings.steps = perp_run_steps(&model->scene->run);
    settings.steps = settings.steps > STEPS || settings.steps == 0 ? STEPS : settings.steps;
    settings.h = settings.h > 0.0 ? settings.h : 0.001;
    if (perp_run_check(&settings, NULL) != PERP_STATUS_OK) {
        return false;
    }
    r->alone = r->certified = INFINITY;
    r->began = timing_processor();
    run_once(model, &settings, count_forces, r);
    settings.steps = r->steps;
    for (int i = 0; i < repetitions; i++) {
        r->alone = fmin(r->alone, run_once(model, &settings, NULL, NULL));
        r->certified = fmin(r->certified, run_certified(model, &settings));
    }
    return true;
}

static perp_scene *load(const char *path)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene = NULL;
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_scene_load_file(path, NULL, &scene, &diagnostics);
    return scene;
}

static int measure_example(const char *name, int repetitions, row *rows, int count)
{
    char path[600];
    perp_model *model;
    perp_error error;
    snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, name);
    perp_scene *scene = load(path);
    if (!scene) {
        return count; /* one in C, or a problem */
    }
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK) {
        die(name, error.message);
    }
    for (int i = 0; i < perp_rung_count() && count < MOST_ROWS; i++) {
        const perp_rung *rung = perp_rung_at(i);
        row *r = &rows[count];
        memset(r, 0, sizeof *r);
        snprintf(r->example, sizeof r->example, "%s", name);
        snprintf(r->rung, sizeof r->rung, "%s", rung->name);
        count += rung->law && rung->step && measure(model, rung->name, repetitions, r);
    }
    perp_model_free(model);
    perp_scene_free(scene);
    return count;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int measure_examples(int repetitions, row *rows)
{
    static char names[MOST_EXAMPLES][256];
    int count = 0, row_count = 0;
    DIR *folder = opendir(PERP_SOURCE_DIR "/examples");
    if (!folder) {
        die("examples", "not found");
    }
    for (struct dirent *entry = readdir(folder); entry && count < MOST_EXAMPLES; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            snprintf(names[count++], sizeof *names, "%s", entry->d_name);
        }
    }
    closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) {
        row_count = measure_example(names[i], repetitions, rows, row_count);
    }
    return row_count;
}

/* ---- one state --------------------------------------------------------------------------------------------------- */

static analysed analyse(const char *path, const char *name, const char *rung, int repetitions)
{
    analysed a = {.scene = name, .rung = rung, .time = INFINITY};
    perp_scene *scene = load(path);
    perp_model *model;
    perp_sim *sim;
    perp_error error;
    if (!scene) {
        die(path, "not loaded");
    }
    perp_run_settings run = scene->run;
    run.model = (char *)(uintptr_t)rung;
    perp_sim_settings settings = perp_sim_settings_default();
    settings.run = &run;
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK ||
        perp_sim_create(model, &settings, &sim, &error) != PERP_STATUS_OK) {
        die(path, error.message);
    }
    for (int i = 0; i < repetitions; i++) {
        perp_analysis *analysis;
        const double begin = timing_processor();
        if (perp_analyze(sim, NULL, &analysis, &error) != PERP_STATUS_OK) {
            die(path, error.message);
        }
        a.time = fmin(a.time, timing_processor() - begin);
        a.contacts = 0;
        for (int k = 0; k < analysis->contact_count; k++) {
            a.contacts += analysis->contacts[k].mode != PERP_CONTACT_OPEN;
        }
        perp_analysis_free(analysis);
    }
    perp_sim_free(sim);
    perp_model_free(model);
    perp_scene_free(scene);
    return a;
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

static bool is_judged(const row *r)
{
    return r->contacts > 0 && r->steps >= FEWEST;
}

static int by_ratio(const void *a, const void *b)
{
    const row *x = a, *y = b;
    const double left = x->certified / x->alone, right = y->certified / y->alone;
    return left < right ? 1 : left > right ? -1 : 0;
}

static void print_rows(row *rows, int count)
{
    int judged = 0, over = 0;
    double logs = 0.0;
    qsort(rows, (size_t)count, sizeof *rows, by_ratio);
    printf("%-22s %-17s %6s %9s %14s %14s %7s\n", "example", "rung", "steps", "contacts", "alone, us/step", "certified",
           "ratio");
    for (int i = 0; i < count; i++) {
        const row *r = &rows[i];
        const double ratio = r->certified / r->alone;
        if (is_judged(r)) {
            judged++;
            over += ratio > MOST_RATIO;
            logs += log(ratio);
        }
        if (is_judged(r) && (ratio > MOST_RATIO || judged <= 10)) {
            printf("%-22s %-17s %6d %9d %14.1f %14.1f %7.2f\n", r->example, r->rung, r->steps, r->contacts,
                   1e6 * r->alone / r->steps, 1e6 * r->certified / r->steps, ratio);
        }
    }
    printf("%d runs with forces, %d of them beyond %g times; geometric mean %.2f\n", judged, over, MOST_RATIO,
           exp(logs / (judged > 0 ? judged : 1)));
}

static void write_json(const char *path, const row *rows, int count, const analysed *states, int state_count)
{
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out) {
        return;
    }
    fprintf(out, "{\"runs\": [");
    for (int i = 0; i < count; i++) {
        fprintf(out,
                "%s{\"example\": \"%s\", \"rung\": \"%s\", \"steps\": %d, \"contacts\": %d, \"alone\": %g, "
                "\"certified\": %g}",
                i > 0 ? ",\n" : "", rows[i].example, rows[i].rung, rows[i].steps, rows[i].contacts, rows[i].alone,
                rows[i].certified);
    }
    fprintf(out, "],\n\"states\": [");
    for (int i = 0; i < state_count; i++) {
        fprintf(out, "%s{\"scene\": \"%s\", \"rung\": \"%s\", \"contacts\": %d, \"time\": %g}", i > 0 ? ",\n" : "",
                states[i].scene, states[i].rung, states[i].contacts, states[i].time);
    }
    fprintf(out, "]}\n");
    fclose(out);
}

int main(int argc, char **argv)
{
    static row rows[MOST_ROWS];
    static const char *const rungs[] = {"dyn-ncp", "dyn-lcp", "dyn-qp", "qs-ncp", "qs-qp", "quasidynamic", "compliant"};
    enum { STATES = sizeof rungs / sizeof *rungs };
    analysed states[STATES];
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){2, 3, 20});
    setvbuf(stdout, NULL, _IOLBF, 0);
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    for (int i = 0; i < STATES; i++) {
        states[i] = analyse(PERP_SOURCE_DIR "/bench/scenes/arm-and-cubes-at-work.yaml", "arm-and-cubes-at-work",
                            rungs[i], options.samples);
        printf("perp_analyze, %s, %-13s %d contacts in force: %8.1f ms%s\n", states[i].scene, states[i].rung,
               states[i].contacts, 1e3 * states[i].time, states[i].time > MOST_ANALYSIS ? ", more than 50" : "");
    }
    const int count = measure_examples(options.samples, rows);
    print_rows(rows, count);
    write_json(options.json, rows, count, states, STATES);
    return 0;
}
