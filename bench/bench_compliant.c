/* Steps of the rung `compliant` beside those of `dyn-ncp`: boxes that slide over a plane and spin, each for itself,
 * four contacts of one element to a box; one ball on a patch of 1 .. 225 elements; and examples, one of them with
 * patches of several sizes.
 *
 * Times are the processor's, of whole steps with collisions; each figure is the median of a run's steps, the smallest
 * of the repetitions. Targets: a contact of one element costs at most 3 times what it costs on `dyn-ncp`; the cost of a
 * patch is at most linear in its elements. */
#include "options.h"
#include "timing.h"

#include <perp/scene_yaml.h>
#include <perp/sim.h>
#include <perp/step.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERP_SOURCE_DIR
#define PERP_SOURCE_DIR "."
#endif

enum { STEPS = 200, MOST_TEXT = 40000, MOST_ROWS = 32 };

typedef struct row {
    char scene[32];
    int contacts, elements;
    double rigid, soft; /* s, a step */
    int fallbacks;
} row;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_compliant: %s: %s\n", what, why);
    exit(1);
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

static const char *const FLOOR = "perp: 1\nbodies:\n"
                                 "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n";

static void put_boxes(char *text, int count)
{
    int n = snprintf(text, MOST_TEXT, "%s", FLOOR);
    for (int i = 0; i < count; i++) {
        n += snprintf(text + n, (size_t)(MOST_TEXT - n),
                      "  box%d: {mass: 1, pose: {position: [%g, %g, 0.05]}, velocity: {linear: [1, 0.%d, 0], angular: "
                      "[0, 0, %d]}, shapes: [{box: [0.2, 0.15, 0.1]}]}\n",
                      i, 0.5 * (i % 10), 0.5 * (i / 10), i % 7, i % 5 - 2);
    }
    snprintf(text + n, (size_t)(MOST_TEXT - n),
             "contacts: {friction: 0.3}\ncompliance: {stiffness: 1.0e5, damping: 100, gamma: 0}\n"
             "run: {model: compliant, h: 0.001, steps: %d}\n",
             STEPS);
}

static void put_patch(char *text, int side)
{
    snprintf(
        text, MOST_TEXT,
        "%s  ball: {mass: 1, pose: {position: [0, 0, 0.05]}, velocity: {linear: [0.5, 0, 0], angular: [0, 3, 20]}, "
        "shapes: [{sphere: 0.05}]}\n"
        "contacts: {friction: 0.3}\n"
        "compliance: {stiffness: %g, damping: %g, elements: %d, size: 0.02, gamma: 0}\n"
        "run: {model: compliant, h: 0.001, steps: %d}\n",
        FLOOR, 1e5 / (side * side), 100.0 / (side * side), side, STEPS);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

typedef struct stopwatch {
    double last, samples[STEPS];
    int count, contacts, elements;
} stopwatch;

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    stopwatch *w = context;
    const double now = timing_processor();
    (void)state;
    if (step > 0 && w->count < STEPS) {
        w->samples[w->count++] = now - w->last;
        w->contacts = info->contact_count;
        w->elements = info->element_count;
    }
    w->last = timing_processor();
    return true;
}

static double measure(const perp_model *model, const char *rung, int repetitions, row *r)
{
    static stopwatch watch;
    double least = INFINITY;
    perp_run_settings settings = model->scene->run;
    settings.model = rung;
    for (int i = 0; i < repetitions; i++) {
        perp_state state;
        perp_run_result result = {0};
        perp_error error = {0};
        watch = (stopwatch){0};
        if (perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK) {
            die("state", "out of memory");
        }
        if (perp_run(model, &settings, NULL, observe, &watch, &state, &result, &error) != PERP_STATUS_OK) {
            die(rung, error.message);
        }
        least = fmin(least, timing_summary(watch.samples, watch.count).median);
        r->contacts = watch.contacts;
        r->elements = watch.elements;
        r->fallbacks = 0;
        for (int k = 0; k < PERP_FALLBACK_COUNT; k++) {
            r->fallbacks += result.fallbacks[k];
        }
        perp_run_result_free(&result);
        perp_state_free(&state);
    }
    return least;
}

static void measure_scene(perp_scene *scene, int repetitions, row *r)
{
    perp_model *model = NULL;
    perp_error error = {0};
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK) {
        die(r->scene, error.message);
    }
    r->rigid = measure(model, "dyn-ncp", repetitions, r);
    r->soft = measure(model, "compliant", repetitions, r);
    perp_model_free(model);
    perp_scene_free(scene);
    printf("  %-20s %8d %8d %10.1f %10.1f %10.2f %12.2f %9d\n", r->scene, r->contacts, r->elements, 1e6 * r->rigid,
           1e6 * r->soft, r->soft / r->rigid, 1e6 * r->soft / r->elements, r->fallbacks);
}

static void measure_text(const char *text, int repetitions, row *r)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene = NULL;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_load_text(text, strlen(text), "bench", NULL, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        die(r->scene, diagnostics.items[0].message);
    }
    measure_scene(scene, repetitions, r);
}

/* `steps` of an example, with patches of side x side elements. */
static void measure_example(const char *name, int side, int steps, int repetitions, row *r)
{
    static perp_diagnostics diagnostics;
    char path[512], elements[64], count[64];
    const char *settings[] = {elements, count};
    const perp_scene_load_options options = {.settings = settings, .setting_count = 2};
    perp_scene *scene = NULL;
    memset(&diagnostics, 0, sizeof diagnostics);
    snprintf(r->scene, sizeof r->scene, side > 1 ? "%s, %d x %d" : "%s", name, side, side);
    snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, name);
    snprintf(elements, sizeof elements, "compliance.elements=%d", side);
    snprintf(count, sizeof count, "run.steps=%d", steps);
    if (perp_scene_load_file(path, &options, &scene, &diagnostics) != PERP_STATUS_OK) {
        die(r->scene, diagnostics.items[0].message);
    }
    measure_scene(scene, repetitions, r);
}

static void write_json(const char *path, const row *rows, int count)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        die(path, "cannot be written");
    }
    timing_machine(out, "{\"cpu\": \"%s\", \"cores\": %ld, \"load\": \"%s\", \"compiler\": \"%s\",\n\"rows\": [");
    for (int i = 0; i < count; i++) {
        fprintf(out,
                "%s{\"scene\": \"%s\", \"contacts\": %d, \"elements\": %d, \"dyn_ncp_us\": %.3f, \"compliant_us\": "
                "%.3f, \"ratio\": %.3f}",
                i ? ", " : "", rows[i].scene, rows[i].contacts, rows[i].elements, 1e6 * rows[i].rigid,
                1e6 * rows[i].soft, rows[i].soft / rows[i].rigid);
    }
    fprintf(out, "]}\n");
    fclose(out);
}

int main(int argc, char **argv)
{
    static const int BOXES[] = {1, 4, 16, 64}, SIDES[] = {1, 2, 3, 5, 7, 10, 15};
    static const struct {
        const char *name;
        int side, steps;
    } EXAMPLES[] = {{"ladder", 1, STEPS},   {"box-incline", 1, STEPS}, {"arm-reach", 1, 180},  {"domino", 1, STEPS},
                    {"cube-stack", 1, 100}, {"cube-stack", 2, 100},    {"cube-stack", 3, 100}, {"cube-stack", 5, 100}};
    const bench_options options = bench_options_read(argc, argv, (bench_option_limits){1, 5, 50});
    static char text[MOST_TEXT];
    static row rows[MOST_ROWS];
    int count = 0;
    timing_machine(stdout, "%s, %ld cores, load average %s before the run; %s\n");
    printf("  %-20s %8s %8s %10s %10s %10s %12s %9s\n", "scene", "contacts", "elements", "dyn-ncp", "compliant",
           "ratio", "per element", "fallbacks");
    for (size_t i = 0; i < sizeof BOXES / sizeof *BOXES; i++, count++) {
        snprintf(rows[count].scene, sizeof rows->scene, "%d boxes", BOXES[i]);
        put_boxes(text, BOXES[i]);
        measure_text(text, options.samples, &rows[count]);
    }
    for (size_t i = 0; i < sizeof SIDES / sizeof *SIDES; i++, count++) {
        snprintf(rows[count].scene, sizeof rows->scene, "%d x %d patch", SIDES[i], SIDES[i]);
        put_patch(text, SIDES[i]);
        measure_text(text, options.samples, &rows[count]);
    }
    for (size_t i = 0; i < sizeof EXAMPLES / sizeof *EXAMPLES; i++, count++) {
        measure_example(EXAMPLES[i].name, EXAMPLES[i].side, EXAMPLES[i].steps, options.samples, &rows[count]);
    }
    if (options.json) {
        write_json(options.json, rows, count);
    }
    return 0;
}
