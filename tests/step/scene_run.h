/* scene_run.h - a scene from text or from examples/, run on one rung, with every state and record kept. */
#ifndef PERP_TESTS_STEP_SCENE_RUN_H
#define PERP_TESTS_STEP_SCENE_RUN_H

#include <perp/scene_yaml.h>
#include <perp/step.h>

enum { RUN_MAX_STEPS = 640, RUN_MAX_CONTACTS = 64 };

typedef struct run_state {
    double t;
    double *q, *v;
    int contact_count;
    perp_contact_record contacts[RUN_MAX_CONTACTS];
    perp_residuals residuals;
    bool several;
    int requests; /* of the allocator, up to here; 0 where none was given */
} run_state;

typedef struct scene_run {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_run_result result;
    perp_status status;
    perp_error error;
    int count;         /* of states, the initial one included */
    run_state *states; /* RUN_MAX_STEPS + 1 */
} scene_run;

/* `source` is the name of an example, or YAML text (anything with a line break). Settings are "PATH=VALUE", ended by
 * NULL. Fails the test where the scene is refused; how the run went is in `status` and `error`. */
void scene_run_make(scene_run *run, const char *source, const char *const *settings);
/* The same with the run's memory from an allocator whose requests are counted at `*requests`. */
void scene_run_make_with(scene_run *run, const char *source, const char *const *settings,
                         const perp_allocator *allocator, const int *requests);
void scene_run_free(scene_run *run);
/* Runs with an observer of the test's own, of runs too long to be kept, and fails the test where the run fails. `nv` is
 * set before the first call; NULL: not wanted. */
void scene_run_watched(const char *source, const char *const *settings, perp_observer *observer, void *context,
                       int *nv);
/* Refuses the run memory from every request on in turn: each time it ends with OUT_OF_MEMORY and nothing is kept, until
 * all is granted. */
void scene_run_refuse_memory(const char *source, const char *const *settings);

/* Settings, as arguments are written. */
#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A scene that is written with numbers. */
typedef struct scene_text {
    char of[4000];
} scene_text;

__attribute__((format(printf, 1, 2))) scene_text scene_text_of(const char *format, ...);

/* `instant`: runs and meets the tolerance in all residuals, or fails the test; and the only solution that it has. */
void instant_run(scene_run *run, const char *source, const char *const *settings);
const perp_instant_solution *instant_only(const scene_run *run);

/* q of a joint, or coordinate k of a body, at a state. */
double run_joint(const scene_run *run, int state, const char *name);
double run_body(const scene_run *run, int state, const char *name, int k);
/* The only record of a pair of bodies at a state, NULL if there is none; fails if there are several. */
const perp_contact_record *run_contact(const scene_run *run, int state, const char *a, const char *b);

void run_near(double actual, double expected, double tolerance, const char *text, int line);
#define NEAR(actual, expected, tolerance) run_near((actual), (expected), (tolerance), #actual, __LINE__)

#endif
