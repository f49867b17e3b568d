/* sweep_table.h - sweeps of a small scene in a folder of their own, and their tables as text. */
#ifndef PERP_TESTS_SWEEP_TABLE_H
#define PERP_TESTS_SWEEP_TABLE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <perp/plan.h>

static char folder[] = "/tmp/perp-test-sweep-XXXXXX";

static const char scene[] = "perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                            "  a: {mass: 1, inertia: 1, pose: {position: [1, 2]}, velocity: {linear: [1, 0]}}\n"
                            "run: {model: dyn-ncp, h: 0.1, steps: 3}\n";

static inline const char *path_of(const char *name)
{
    static char paths[4][200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline char *read_text(const char *path)
{
    FILE *in = fopen(path, "r");
    static char text[4][200000];
    static int next;
    char *to = text[next++ % 4];
    if (!in) {
        return NULL;
    }
    to[fread(to, 1, sizeof text[0] - 1, in)] = '\0';
    fclose(in);
    return to;
}

static inline void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static inline int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    write_text(path_of("scene.yaml"), scene);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static inline perp_sweep *load(const char *text, perp_diagnostics *diagnostics)
{
    perp_sweep *sweep = NULL;
    memset(diagnostics, 0, sizeof *diagnostics);
    perp_sweep_load_text(text, strlen(text), "sweep.yaml", folder, NULL, &sweep, diagnostics);
    return sweep;
}

static inline perp_sweep *load_good(const char *text)
{
    static perp_diagnostics diagnostics;
    perp_sweep *sweep = load(text, &diagnostics);
    if (!sweep) {
        fail_msg("%d: %s", diagnostics.items[0].column, diagnostics.items[0].message);
    }
    return sweep;
}

/* The table, computed by so many. */
static inline const char *table(const char *text, int workers)
{
    perp_sweep *sweep = load_good(text);
    perp_sweep_options options = perp_sweep_options_default();
    perp_sweep_result result;
    perp_error error = {0};
    options.workers = workers;
    if (perp_sweep_run(sweep, path_of("out.csv"), &options, &result, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(result.done, result.cases);
    assert_true(result.cases >= perp_sweep_cases(sweep));
    assert_int_not_equal(access(path_of("out.csv.part"), F_OK), 0);
    perp_sweep_free(sweep);
    return read_text(path_of("out.csv"));
}

typedef struct stop {
    volatile bool flag;
    int left;
} stop;

static inline void stop_at(void *context, int done, int cases)
{
    stop *s = context;
    (void)done;
    (void)cases;
    s->flag = --s->left <= 0;
}

#endif
