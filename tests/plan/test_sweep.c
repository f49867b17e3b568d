/* Sweeps: the cases and their order, places of mistakes, and rows that do not depend on who computes them or on how
 * often the sweep was interrupted. */
#include "sweep_table.h"

static void test_grid(void **unused)
{
    (void)unused;
    assert_string_equal(table("perp-sweep: 1\nscene: scene.yaml\n"
                              "axes: {v: {path: bodies.a.velocity.linear.0, from: -1, to: 1, count: 3},\n"
                              "       m: {path: [bodies.a.mass, bodies.a.inertia], values: [1, 4]}}\n"
                              "outputs: {x: a.x@step=0 + v, e: energy.kinetic, w: run.model, z: \"1/v\"}\n",
                              1),
                        "case,v,m,x,e,w,z,error\n"
                        "0,-1,1,0,0.5,dyn-ncp,-1,\n"
                        "1,-1,4,0,2,dyn-ncp,-1,\n"
                        "2,0,1,1,0,dyn-ncp,,undefined\n"
                        "3,0,4,1,0,dyn-ncp,,undefined\n"
                        "4,1,1,2,0.5,dyn-ncp,1,\n"
                        "5,1,4,2,2,dyn-ncp,1,\n");
}

/* Settings by `set` and `derive`; a case that cannot be is a row. */
static void test_set_and_derive(void **unused)
{
    (void)unused;
    assert_string_equal(table("perp-sweep: 1\nscene: scene.yaml\nset: {run.steps: 0, bodies.a.pose.position.1: 7}\n"
                              "axes: {u: {values: [4, 1, -1]}}\n"
                              "derive: {bodies.a.mass: 3 * u, bodies.a.pose.position.0: sqrt(u - 1)}\n"
                              "outputs: {x: a.x, y: a.y, m: bodies.a.mass}\n",
                              1),
                        "case,u,x,y,m,error\n"
                        "0,4,1.7320508075688772,7,12,\n"
                        "1,1,0,7,3,\n"
                        "2,-1,,,,undefined\n");
    assert_string_equal(
        table("perp-sweep: 1\nscene: scene.yaml\naxes: {m: {path: bodies.a.mass, values: [1, -1, two]}}\n"
              "outputs: {x: a.x@step=0}\n",
              1),
        "case,m,x,error\n0,1,1,\n1,-1,,bad-input\n2,two,,bad-input\n");
}

/* Sample k of all is number k of the generator, whoever asks for it. */
static void test_samples(void **unused)
{
    (void)unused;
    const char *text = table("perp-sweep: 1\nscene: scene.yaml\nset: {run.steps: 0}\n"
                             "axes: {m: {path: bodies.a.mass, values: [1, 2]}}\n"
                             "sample: {count: 3, seed: 5, paths: {bodies.a.pose.position.0: [-1, 3],\n"
                             "  bodies.a.pose.position.1: [0, 1]}}\n"
                             "outputs: {x: a.x, y: a.y}\n",
                             2);
    perp_random random = {5};
    const char *line = strchr(text, '\n') + 1;
    for (int i = 0; i < 6; i++, line = strchr(line, '\n') + 1) {
        int index;
        double m, sampled[2], x, y;
        assert_int_equal(sscanf(line, "%d,%lf,%lf,%lf,%lf,%lf,\n", &index, &m, &sampled[0], &sampled[1], &x, &y), 6);
        assert_int_equal(index, i);
        assert_true(m == (i < 3 ? 1.0 : 2.0));
        assert_true(sampled[0] == perp_random_uniform(&random, -1.0, 3.0) && x == sampled[0]);
        assert_true(sampled[1] == perp_random_uniform(&random, 0.0, 1.0) && y == sampled[1]);
    }
    assert_int_equal(*line, '\0');
}

static const char many[] = "perp-sweep: 1\nscene: scene.yaml\n"
                           "axes: {v: {path: bodies.a.velocity.linear.0, from: -1, to: 1, count: 20}}\n"
                           "sample: {count: 10, paths: {bodies.a.mass: [1, 2]}}\n"
                           "outputs: {x: a.x, e: energy.kinetic, u: analyze.uniqueness.verdict}\n";

static void test_workers(void **unused)
{
    (void)unused;
    char *one = strdup(table(many, 1));
    assert_non_null(one);
    for (int workers = 2; workers <= 8; workers *= 2) {
        assert_string_equal(table(many, workers), one);
    }
    free(one);
}

/* Interrupted again and again, and torn behind its last row, the table is the same. */
static void test_resume(void **unused)
{
    (void)unused;
    char *whole = strdup(table(many, 1));
    perp_sweep *sweep = load_good(many);
    perp_sweep_result result = {0};
    perp_error error = {0};
    perp_status status = PERP_STATUS_CANCELLED;
    int rounds = 0, before = 0;
    assert_non_null(whole);
    unlink(path_of("out.csv"));
    for (; status == PERP_STATUS_CANCELLED; rounds++) {
        stop s = {.left = 30};
        perp_sweep_options options = perp_sweep_options_default();
        options.workers = 1 + rounds % 3;
        options.resume = true;
        options.cancel = &s.flag;
        options.progress = stop_at;
        options.context = &s;
        status = perp_sweep_run(sweep, path_of("out.csv"), &options, &result, &error);
        assert_int_equal(result.resumed, before);
        before = result.done;
        if (status == PERP_STATUS_CANCELLED) {
            assert_null(read_text(path_of("out.csv")));
            FILE *part = fopen(path_of("out.csv.part"), "a");
            fputs("17,0.2,1", part);
            fclose(part);
        }
    }
    assert_int_equal(status, PERP_STATUS_OK);
    assert_true(rounds >= 6);
    assert_string_equal(read_text(path_of("out.csv")), whole);
    perp_sweep_free(sweep);
    free(whole);
}

static perp_status resume(const char *text, perp_error *error)
{
    perp_sweep *sweep = load_good(text);
    perp_sweep_options options = perp_sweep_options_default();
    perp_sweep_result result;
    options.resume = true;
    const perp_status status = perp_sweep_run(sweep, path_of("out.csv"), &options, &result, error);
    perp_sweep_free(sweep);
    return status;
}

/* Rows of another sweep are refused and stay; also of the same sweep over another scene. */
static void test_resume_of_another(void **unused)
{
    (void)unused;
    static const char other[] = "perp-sweep: 1\nscene: scene.yaml\nset: {run.steps: 1}\n"
                                "axes: {v: {path: bodies.a.velocity.linear.0, values: [3, 4]}}\noutputs: {x: a.x}\n";
    perp_error error = {0};
    char *one = strdup(table(other, 1));
    assert_int_equal(resume(other, &error), PERP_STATUS_OK); /* whole: nothing to do */
    assert_int_equal(resume(many, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "another sweep"));
    assert_string_equal(read_text(path_of("out.csv")), one);
    write_text(path_of("scene.yaml"),
               "perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
               "  a: {mass: 1, inertia: 1, pose: {position: [9, 2]}, velocity: {linear: [1, 0]}}\n"
               "run: {model: dyn-ncp, h: 0.1, steps: 3}\n");
    assert_int_equal(resume(other, &error), PERP_STATUS_BAD_INPUT);
    unlink(path_of("out.csv"));
    write_text(path_of("out.csv.part"), "perp-sweep 1 0123456789abcdef 2\n0,3,9,\n");
    assert_int_equal(resume(other, &error), PERP_STATUS_BAD_INPUT);
    assert_string_equal(read_text(path_of("out.csv.part")), "perp-sweep 1 0123456789abcdef 2\n0,3,9,\n");
    unlink(path_of("out.csv.part"));
    write_text(path_of("scene.yaml"), scene);
    free(one);
}

static void test_mistakes_have_a_place(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int line, column;
        const char *words;
    } cases[] = {
        {"scene: scene.yaml\noutputs: {x: a.x}\n", 1, 1, "`perp-sweep` is missing"},
        {"perp-sweep: 2\nscene: scene.yaml\noutputs: {x: a.x}\n", 1, 13, "version 1"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\naxis: {}\n", 4, 1, "did you mean `axes`"},
        {"perp-sweep: 1\nscene: none.yaml\noutputs: {x: a.x}\n", 1, 1, "No such file"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x, y: \"1 + b.x\"}\n", 3, 27, "`a.x`"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\naxes: {m: {path: bodies.a.mas, values: [1]}}\n", 4, 8,
         "`mass`"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\naxes: {m: {path: bodies.a.mass, from: 1}}\n", 4, 8,
         "`from`, `to` and `count`"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\naxes: {m: {path: bodies.a.mass, values: []}}\n", 4, 41,
         "at least one"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\naxes: {m: {from: 0, to: 1, count: 0}}\n", 4, 35,
         "`count`"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\naxes: {x: {from: 0, to: 1, count: 2}}\n", 3, 14,
         "name of an axis"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {case: a.x}\n", 3, 17, "column of its own"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {}\n", 3, 1, "at least one output"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\nderive: {bodies.a.mass: 1 + u}\n", 4, 29, "no `u`"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\nset: {bodies.a.mass: -1}\n", 4, 22, "negative"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\nsample: {count: 1, paths: {bodies.a.mass: [2, 1]}}\n", 4,
         43, "lo has to be below"},
        {"perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x}\naxes: {u: {from: 0, to: 1, count: 20000}, w: {from: 0, "
         "to: 1, count: 20000}}\n",
         1, 1, "4e+08 cases"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static perp_diagnostics d;
        perp_sweep *sweep = load(cases[i].text, &d);
        assert_null(sweep);
        if (d.errors < 1 || d.items[0].line != cases[i].line || d.items[0].column != cases[i].column ||
            !strstr(d.items[0].message, cases[i].words)) {
            fail_msg("%s%s:%d:%d: %s", cases[i].text, d.items[0].file, d.items[0].line, d.items[0].column,
                     d.items[0].message);
        }
    }
}

/* What only an analysis can tell ends the sweep, with its place. */
static void test_unknown_verdict(void **unused)
{
    (void)unused;
    perp_sweep *sweep =
        load_good("perp-sweep: 1\nscene: scene.yaml\noutputs: {x: a.x, v: \"analyze.existence.verdct\"}\n");
    perp_sweep_options options = perp_sweep_options_default();
    perp_sweep_result result;
    perp_error error = {0};
    assert_int_equal(perp_sweep_run(sweep, path_of("out.csv"), &options, &result, &error), PERP_STATUS_BAD_INPUT);
    assert_string_equal(error.file, "sweep.yaml");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 23);
    assert_int_not_equal(access(path_of("out.csv.part"), F_OK), 0);
    perp_sweep_free(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_set_and_derive),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_resume_of_another),
        cmocka_unit_test(test_mistakes_have_a_place),
        cmocka_unit_test(test_unknown_verdict),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
