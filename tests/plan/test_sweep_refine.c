/* Refined sweeps: the cases beside the grid are those along the line where an output changes, all of them, whoever
 * computes them and however often the sweep is interrupted. */
#include "sweep_table.h"

#include "failing_allocator.h"

/* -1 within a circle of radius 0.76 about 0, 1 outside, for two values of a third axis that turns it about. It passes
 * out over the side of a cell, v = 0.75, and in again between two points of the grid. */
static const char circle[] =
    "perp-sweep: 1\nscene: scene.yaml\nset: {run.steps: 0}\n"
    "axes: {w: {values: [1, -1]}, u: {from: -1, to: 1, count: 6}, v: {from: -1, to: 1, count: 9}}\n"
    "outputs: {f: \"w * (u^2 + v^2 - 0.5776)\",\n"
    "  side: \"w * (u^2 + v^2 - 0.5776) / abs(u^2 + v^2 - 0.5776)\"}\n"
    "refine: {outputs: side, levels: 2, tolerance: 1.0e-5}\n";
enum { GRID = 2 * 6 * 9, STEPS = 4, U = 5 * STEPS + 1, V = 8 * STEPS + 1, MOST_ROWS = 4000 };

typedef struct row {
    int number;
    double w, u, v, f, side;
    char refined[8];
} row;

static int read_rows(const char *text, row *rows)
{
    int count = 0;
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1, count++) {
        row *r = &rows[count];
        char values[200], *comma;
        assert_true(count < MOST_ROWS);
        assert_int_equal(sscanf(line, "%199[^\n]", values), 1);
        memset(r, 0, sizeof *r);
        assert_int_equal(sscanf(values, "%d,%lf,%lf,%lf,%lf,%lf,", &r->number, &r->w, &r->u, &r->v, &r->f, &r->side),
                         6);
        comma = strrchr(values, ',');
        assert_string_equal(comma, ","); /* no error */
        *comma = '\0';
        snprintf(r->refined, sizeof r->refined, "%s", strrchr(values, ',') + 1);
        assert_int_equal(r->number, count);
    }
    return count;
}

static double side_of(double u, double v)
{
    return u * u + v * v > 0.5776 ? 1.0 : -1.0;
}

/* Of all edges of the finest lattice those on which the side changes. */
static int count_changes(void)
{
    int count = 0;
    for (int i = 0; i < U; i++) {
        for (int j = 0; j < V; j++) {
            const double u = -1.0 + 2.0 * i / (U - 1), v = -1.0 + 2.0 * j / (V - 1);
            const double next_u = -1.0 + 2.0 * (i + 1) / (U - 1), next_v = -1.0 + 2.0 * (j + 1) / (V - 1);
            count += i + 1 < U && side_of(u, v) != side_of(next_u, v);
            count += j + 1 < V && side_of(u, v) != side_of(u, next_v);
        }
    }
    return count;
}

static void test_circle(void **unused)
{
    (void)unused;
    static row rows[MOST_ROWS];
    const int count = read_rows(table(circle, 2), rows);
    int pairs = 0, of_level[3] = {0};
    for (int k = 0; k < count; k++) {
        const row *r = &rows[k];
        assert_true(fabs(r->f - r->w * (r->u * r->u + r->v * r->v - 0.5776)) <= 1e-15);
        if (k < GRID) {
            assert_string_equal(r->refined, "");
        } else if (strcmp(r->refined, "side") != 0) {
            const int level = r->refined[0] - '0';
            const double i = (r->u + 1.0) / 2.0 * 5.0 * (1 << level), j = (r->v + 1.0) / 2.0 * 8.0 * (1 << level);
            assert_true(level >= 1 && level <= 2 && pairs == 0);
            assert_true(fabs(i - round(i)) < 1e-9 && fabs(j - round(j)) < 1e-9);   /* on the lattice of its level, */
            assert_true(fmod(round(i), 2.0) == 1.0 || fmod(round(j), 2.0) == 1.0); /* and of no coarser one */
            of_level[level]++;
        } else {
            const row *next = &rows[++k];
            assert_true(k < count && strcmp(next->refined, "side") == 0 && r->w == next->w);
            assert_true(r->side == -next->side && (r->u == next->u) != (r->v == next->v));
            assert_true(next->u - r->u <= 2e-5 && next->v - r->v <= 2e-5 && next->u >= r->u && next->v >= r->v);
            pairs++;
        }
    }
    assert_true(of_level[1] > 0 && of_level[2] > of_level[1]);
    assert_int_equal(pairs, 2 * count_changes());
}

static void test_workers(void **unused)
{
    (void)unused;
    char *one = strdup(table(circle, 1));
    assert_non_null(one);
    for (int workers = 2; workers <= 6; workers += 2) {
        assert_string_equal(table(circle, workers), one);
    }
    free(one);
}

/* Keeps the rows of a part up to the n-th, and a piece of the next. */
static void cut_part(int lines)
{
    char *text = read_text(path_of("out.csv.part")), *at = text;
    for (int k = 0; k < lines && at; k++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (at && *at) {
        at[strlen(at) > 5 ? 5 : 0] = '\0';
    }
    write_text(path_of("out.csv.part"), text);
}

/* Interrupted, and cut between the two rows of a pair or in one, the table is the same. */
static void test_resume(void **unused)
{
    (void)unused;
    char *whole = strdup(table(circle, 1));
    perp_sweep *sweep = load_good(circle);
    perp_sweep_result result = {0};
    perp_error error = {0};
    perp_status status = PERP_STATUS_CANCELLED;
    int rounds = 0;
    assert_non_null(whole);
    for (; status == PERP_STATUS_CANCELLED; rounds++) {
        stop s = {.left = 120 + 13 * rounds};
        perp_sweep_options options = perp_sweep_options_default();
        options.workers = 1 + rounds % 2;
        options.resume = rounds > 0;
        options.cancel = &s.flag;
        options.progress = stop_at;
        options.context = &s;
        status = perp_sweep_run(sweep, path_of("out.csv"), &options, &result, &error);
        if (status == PERP_STATUS_CANCELLED) {
            cut_part(result.done - rounds % 4);
        }
    }
    assert_int_equal(status, PERP_STATUS_OK);
    assert_true(rounds >= 5);
    assert_string_equal(read_text(path_of("out.csv")), whole);
    perp_sweep_free(sweep);
    free(whole);
}

/* Without memory at some request the sweep says so, its part stays, and the next one goes on with it. */
static void test_no_memory(void **unused)
{
    (void)unused;
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    int refused = 0;
    unlink(path_of("out.csv"));
    for (int grants = 50; status == PERP_STATUS_OUT_OF_MEMORY; grants += 1 + grants / 3) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        perp_sweep *sweep = NULL;
        perp_sweep_options options = perp_sweep_options_default();
        perp_sweep_result result;
        perp_diagnostics diagnostics = {0};
        perp_error error = {0};
        options.resume = true;
        status = perp_sweep_load_text(circle, strlen(circle), "sweep.yaml", folder, &allocator, &sweep, &diagnostics);
        if (status == PERP_STATUS_OK) {
            status = perp_sweep_run(sweep, path_of("out.csv"), &options, &result, &error);
            assert_true(status == error.status);
        }
        refused += status == PERP_STATUS_OUT_OF_MEMORY;
        perp_sweep_free(sweep);
        assert_int_equal(f.standing, 0);
    }
    assert_int_equal(status, PERP_STATUS_OK);
    assert_true(refused > 5);
    char *all = strdup(read_text(path_of("out.csv")));
    assert_string_equal(table(circle, 1), all);
    free(all);
}

static void test_mistakes_have_a_place(void **unused)
{
    (void)unused;
    static const char begin[] = "perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\n";
    static const struct {
        const char *rest;
        int line, column;
        const char *words;
    } cases[] = {
        {"axes: {u: {from: 0, to: 1, count: 2}, v: {values: [1, 2]}}\nrefine: {outputs: y}\n", 5, 19,
         "did you mean `x`"},
        {"axes: {u: {from: 0, to: 1, count: 2}, v: {values: [1, 2]}}\nrefine: {outputs: []}\n", 5, 19, "at least one"},
        {"axes: {u: {from: 0, to: 1, count: 2}, v: {values: [1, 2]}}\nrefine: {levels: 2}\n", 5, 1,
         "`outputs` is missing"},
        {"axes: {u: {from: 0, to: 1, count: 2}, v: {values: [1, 2]}}\nrefine: {outputs: x, levels: 13}\n", 5, 30,
         "0 to 12"},
        {"axes: {u: {from: 0, to: 1, count: 2}, v: {values: [1, 2]}}\nrefine: {outputs: x, tolerance: 0}\n", 5, 33,
         "above 0"},
        {"axes: {u: {from: 0, to: 1, count: 2}}\nrefine: {outputs: x}\n", 5, 19, "two axes"},
        {"axes: {u: {from: 0, to: 1, count: 2}, v: {values: [2, 1]}}\nrefine: {outputs: x}\n", 4, 39, "rise"},
        {"axes: {u: {from: 0, to: 1, count: 2}, v: {values: [2, a]}}\nrefine: {outputs: x}\n", 4, 39, "rise"},
        {"axes: {refined: {from: 0, to: 1, count: 2}}\n", 4, 8, "column of its own"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static perp_diagnostics d;
        char text[400];
        snprintf(text, sizeof text, "%s%s", begin, cases[i].rest);
        assert_null(load(text, &d));
        if (d.errors < 1 || d.items[0].line != cases[i].line || d.items[0].column != cases[i].column ||
            !strstr(d.items[0].message, cases[i].words)) {
            fail_msg("%s%s:%d:%d: %s", text, d.items[0].file, d.items[0].line, d.items[0].column, d.items[0].message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_mistakes_have_a_place),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
