/* A comparison as JSON. */
#include "compare/comparison.h"
#include "trace/result_json.h"

#include <math.h>

static json_t *run_object(const perp_compared_run *run)
{
    char hash[17];
    const bool started = run->result.rung != NULL;
    json_maker m = perp_json_object();
    perp_json_put(&m, "model", json_string(run->rung->name));
    perp_json_put(&m, "h", perp_json_real(run->h));
    perp_json_put(&m, "cone", json_string(perp_cone_name(run->cone)));
    if (run->cone == PERP_CONE_RAYS) {
        perp_json_put(&m, "rays", json_integer(run->rays));
    }
    perp_json_put(&m, "status", json_string(run->status == PERP_STATUS_OK ? "ok" : "error"));
    perp_json_put(&m, "steps", json_integer(run->result.steps));
    perp_json_put(&m, "final", started ? perp_json_final(run->model, &run->state) : json_null());
    perp_json_put(&m, "events", started ? perp_json_events(run->model, &run->result) : json_array());
    if (started) {
        perp_hash_text(run->result.hash, hash);
        perp_json_put(&m, "hash", json_string(hash));
    }
    if (run->status != PERP_STATUS_OK) {
        perp_json_put(&m, "error", perp_json_failure(&run->error));
    }
    return perp_json_finished(&m);
}

static json_t *first_object(const perp_difference *d)
{
    if (!d->parted) {
        return json_null();
    }
    json_t *modes = perp_json_appended(json_array(), json_string(perp_contact_mode_name(d->modes[0])));
    modes = perp_json_appended(modes, json_string(perp_contact_mode_name(d->modes[1])));
    json_maker m = perp_json_object();
    perp_json_put(&m, "t", perp_json_real(d->first_t));
    perp_json_put(&m, "contact", json_string(d->first_contact));
    perp_json_put(&m, "modes", modes);
    return perp_json_finished(&m);
}

static json_t *test_object(const perp_compare_test *test)
{
    const bool made = test->status == PERP_STATUS_OK;
    json_maker m = perp_json_object();
    perp_json_put(&m, "assumption", json_string(perp_assumption_name(test->assumption)));
    perp_json_put(&m, "removed", json_string(test->removed));
    perp_json_put(&m, "status", json_string(made ? "ok" : perp_status_name(test->status)));
    perp_json_put(&m, "largest", made ? perp_json_real(test->largest) : json_null());
    perp_json_put(&m, "left", made ? perp_json_real(test->left) : json_null());
    return perp_json_finished(&m);
}

/* A residual that is not known is null. */
static json_t *choice_object(const perp_difference *d)
{
    if (!d->choice_known) {
        return json_null();
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "t", perp_json_real(d->choice_t));
    perp_json_put(&m, "is_answer", json_boolean(d->choice.is_answer));
    perp_json_put(&m, "residual", isfinite(d->choice.residual) ? perp_json_real(d->choice.residual) : json_null());
    return perp_json_finished(&m);
}

static json_t *difference_object(const perp_difference *d)
{
    json_t *tests = json_array();
    for (int i = 0; i < d->test_count && tests; i++) {
        tests = perp_json_appended(tests, test_object(&d->tests[i]));
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "a", json_integer(d->a));
    perp_json_put(&m, "b", json_integer(d->b));
    perp_json_put(&m, "until", perp_json_real(d->until));
    perp_json_put(&m, "largest", perp_json_real(d->largest));
    perp_json_put(&m, "quantity", d->quantity ? json_string(d->quantity) : json_null());
    perp_json_put(&m, "t", d->quantity ? perp_json_real(d->t) : json_null());
    perp_json_put(&m, "first", first_object(d));
    perp_json_put(&m, "assumption", json_string(perp_assumption_name(d->assumption)));
    perp_json_put(&m, "cause", json_string(d->cause));
    perp_json_put(&m, "tests", tests);
    perp_json_put(&m, "choice", choice_object(d));
    return perp_json_finished(&m);
}

char *perp_comparison_json(const perp_comparison *comparison, const perp_error *failure)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "status", json_string(comparison ? "ok" : "error"));
    if (comparison) {
        json_t *runs = json_array(), *differences = json_array();
        for (int i = 0; i < comparison->run_count && runs; i++) {
            runs = perp_json_appended(runs, run_object(&comparison->runs[i]));
        }
        for (int i = 0; i < comparison->difference_count && differences; i++) {
            differences = perp_json_appended(differences, difference_object(&comparison->differences[i]));
        }
        perp_json_put(&m, "scene", json_string(comparison->scene->name));
        perp_json_put(&m, "runs", runs);
        perp_json_put(&m, "differences", differences);
        perp_json_put(&m, "test_runs", json_integer(comparison->test_runs));
    } else {
        perp_json_put(&m, "error", perp_json_failure(failure));
    }
    return perp_json_dump(&m);
}
