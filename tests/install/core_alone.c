/* Linked with libperp_core.a, LAPACK and libm, and nothing else: a scene built in C, its model, a kinematic run and an
 * eigenvalue. That it links is the test; that it moves shows that the parts are really there. */
#include <perp/linalg.h>
#include <perp/sim.h>
#include <perp/step.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(bool holds, const char *what)
{
    if (!holds) {
        printf("failed: %s\n", what);
        failures++;
    }
}

/* A body that is driven along x at 2 m/s. */
static perp_scene *driven_scene(void)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    if (perp_scene_create(false, NULL, &scene, NULL) != PERP_STATUS_OK) {
        exit(EXIT_FAILURE);
    }
    perp_body cart = perp_body_default("cart");
    cart.kind = PERP_BODY_DRIVEN;
    cart.driven_mask = PERP_COMPONENT_X;
    cart.drives[0] = (perp_drive){.offset = 1.0, .rate = 2.0};
    check(perp_scene_add_body(scene, &cart, NULL) == PERP_STATUS_OK, "add the body");
    check(perp_scene_set_model(scene, "kinematic", NULL) == PERP_STATUS_OK, "set the model");
    check(perp_scene_validate(scene, &diagnostics) == PERP_STATUS_OK, "validate");
    return scene;
}

static void check_lapack(void)
{
    const double a[4] = {2.0, 0.0, 1.0, 2.0}; /* the lower triangle of [2 1; 1 2] */
    double values[2];
    check(perp_symmetric_eigen(2, a, 2, values, NULL, NULL, NULL) == PERP_STATUS_OK, "eigenvalues");
    check(fabs(values[0] - 1.0) < 1e-14 && fabs(values[1] - 3.0) < 1e-14, "they are 1 and 3");
}

int main(void)
{
    check_lapack();
    perp_scene *scene = driven_scene();
    perp_model *model;
    perp_state state;
    perp_run_result result;
    perp_error error;
    memset(&error, 0, sizeof error);
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK ||
        perp_run(model, &scene->run, NULL, NULL, NULL, &state, &result, &error) != PERP_STATUS_OK) {
        printf("failed: %s\n", error.message);
        return EXIT_FAILURE;
    }
    /* 100 steps of 0.01 s: the drive is evaluated at t = 1 within the rounding of the clock. */
    check(fabs(state.q[0] - 3.0) < 1e-13, "the cart is at 1 + 2 t");
    check(result.steps == 100, "100 steps");
    perp_run_result_free(&result);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
