#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the self-test: each part checked against something it did not compute itself -------------------------------- */

typedef struct finding {
    const char *what;
    double error, allowed;
} finding;

static double test_rotation(void)
{
    const perp_vec3 w = {0.3, -1.2, 0.7};
    const perp_vec3 back = perp_quat_log(perp_quat_exp(w));
    return perp_vec3_norm(perp_vec3_sub(w, back));
}

/* Eigenvalues of [[2, 1], [1, 2]] are 1 and 3. */
static double test_lapack(void)
{
    const double a[4] = {2, 1, 1, 2};
    double values[2] = {0, 0};
    perp_error error;
    if (perp_symmetric_eigen(2, a, 2, values, NULL, NULL, &error) != PERP_STATUS_OK) {
        return INFINITY;
    }
    return fmax(fabs(values[0] - 1.0), fabs(values[1] - 3.0));
}

static double test_klu(void)
{
    int starts[4] = {0, 2, 4, 6}, rows[6] = {0, 1, 1, 2, 0, 2};
    double values[6] = {4, 1, 3, 1, 1, 5};
    double b[3] = {4 * 1.0 + 1 * 3.0, 1 * 1.0 + 3 * 2.0, 1 * 2.0 + 5 * 3.0}; /* of x = (1, 2, 3) */
    const perp_sparse_matrix a = {.n = 3, .column_starts = starts, .row_indices = rows, .values = values};
    perp_sparse_lu *lu = NULL;
    perp_error error;
    double worst = INFINITY;
    if (perp_sparse_lu_create(&a, NULL, &lu, &error) == PERP_STATUS_OK &&
        perp_sparse_lu_solve(lu, 1, b, &error) == PERP_STATUS_OK) {
        worst = fmax(fabs(b[0] - 1.0), fmax(fabs(b[1] - 2.0), fabs(b[2] - 3.0)));
    }
    perp_sparse_lu_destroy(lu);
    return worst;
}

/* A model from text at its initial state. */
typedef struct trial {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
} trial;

static bool trial_open(const char *text, trial *t)
{
    static perp_diagnostics diagnostics;
    perp_error error;
    *t = (trial){0};
    return perp_scene_load_text(text, strlen(text), "doctor", NULL, NULL, &t->scene, &diagnostics) == PERP_STATUS_OK &&
           perp_model_build(t->scene, NULL, &t->model, &error) == PERP_STATUS_OK &&
           perp_state_create(t->model, NULL, &t->state, &error) == PERP_STATUS_OK;
}

static void trial_close(trial *t)
{
    if (t->state.q) {
        perp_state_free(&t->state);
    }
    perp_model_free(t->model);
    perp_scene_free(t->scene);
}

/* A double pendulum: M of two unit point masses on unit rods at angles (0, a), and the tip's place. */
static double test_model(void)
{
    trial t;
    perp_kinematics *kinematics = NULL;
    perp_error error;
    double worst = INFINITY;
    if (trial_open("perp: 1\nplanar: true\nbodies:\n"
                   "  one: {mass: 1, com: [1, 0]}\n  two: {mass: 1, com: [1, 0]}\njoints:\n"
                   "  a: {type: revolute, parent: world, child: one}\n"
                   "  b: {type: revolute, parent: one, child: two, anchor: [1, 0], position: 0.7}\n",
                   &t) &&
        perp_kinematics_create(t.model, NULL, &kinematics, &error) == PERP_STATUS_OK) {
        double mass[4];
        perp_kinematics_update(t.model, t.state.q, kinematics);
        perp_mass_matrix(t.model, kinematics, mass);
        const double c = cos(t.state.q[1]);
        const double expected[4] = {3.0 + 2.0 * c, 1.0 + c, 1.0 + c, 1.0};
        worst = fabs(kinematics->com[1].x - (1.0 + c));
        for (int i = 0; i < 4; i++) {
            worst = fmax(worst, fabs(mass[i] - expected[i]));
        }
    }
    perp_kinematics_free(kinematics);
    trial_close(&t);
    return worst;
}

/* A box of sides 2 a, 2 b, 2 c, tilted by 0.1 about y over a plane: gaps z - c cos 0.1 -+ a sin 0.1, twice each. */
static double test_contacts(void)
{
    trial t;
    perp_run_result result = {0};
    perp_error error;
    double worst = INFINITY;
    if (trial_open(
            "perp: 1\nbodies:\n  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
            "  box: {mass: 1, pose: {position: [0, 0, 0.25], rpy: [0, 0.1, 0]}, shapes: [{box: [0.6, 0.2, 0.4]}]}\n"
            "contacts: {margin: 1}\nrun: {model: geometric}\n",
            &t) &&
        perp_run(t.model, &t.scene->run, NULL, NULL, NULL, &t.state, &result, &error) == PERP_STATUS_OK &&
        result.contact_count == 4) {
        const double middle = 0.25 - 0.2 * cos(0.1), tilt = 0.3 * sin(0.1);
        worst = 0.0;
        for (int i = 0; i < 4; i++) { /* corners on the side of +x are lower */
            const perp_contact *c = &result.contacts[i].contact;
            worst = fmax(worst, fabs(c->phi - (c->point_b.x > 0.0 ? middle - tilt : middle + tilt)));
        }
    }
    perp_run_result_free(&result);
    trial_close(&t);
    return worst;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static void print_processor(void)
{
    char line[256] = "", name[200] = "unknown";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (info) {
        fclose(info);
    }
    printf("  processor   %s, %ld cores\n", name, sysconf(_SC_NPROCESSORS_ONLN));
}

static int run(const cli_arguments *arguments)
{
    (void)arguments;
    printf("perp %s\n", perp_version());
    printf("  built with  %s\n", perp_build_flags());
    printf("  libraries   libyaml %s, jansson %s, zstd %s, %s, %s\n", perp_yaml_version(), perp_json_version(),
           perp_zstd_version(), perp_sparse_description(), perp_lapack_description());
    print_processor();
    printf("  models      %d\n", perp_rung_count());
    const finding findings[] = {{"rotations: log(exp(w)) = w", test_rotation(), 1e-14},
                                {"LAPACK: eigenvalues of a 2 x 2 matrix", test_lapack(), 1e-14},
                                {"KLU: a 3 x 3 system", test_klu(), 1e-14},
                                {"model: double pendulum from YAML, closed form", test_model(), 1e-14},
                                {"contacts: a tilted box over a table, closed form", test_contacts(), 1e-14}};
    int failed = 0;
    printf("self-test\n");
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++) {
        const bool good = findings[i].error <= findings[i].allowed;
        failed += !good;
        printf("  %-4s  %-48s error %.2g (allowed %.0g)\n", good ? "ok" : "FAIL", findings[i].what, findings[i].error,
               findings[i].allowed);
    }
    if (failed > 0) {
        return cli_fail(EXIT_REFUSED, "%d of the self-tests failed: this build cannot be trusted", failed);
    }
    return EXIT_DONE;
}

const cli_command cli_doctor = {
    .name = "doctor",
    .summary = "versions, build flags, processor, and a self-test",
    .details = "Put its output into a bug report. Exit code 1 if a self-test fails.\n",
    .run = run,
};
