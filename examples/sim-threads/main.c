/* Eight rollouts of one model on two threads: the same bits as one after the other.
 *
 * The model is constant and shared; every rollout is a clone of one simulation with its own command. */
#include <perp/perp.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ROLLOUTS = 8, THREADS = 2, STEPS = 200 };

static const char SCENE[] = "perp: 1\n"
                            "bodies:\n"
                            "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                            "  block: {mass: 1, shapes: [{box: [0.1, 0.1, 0.1]}], pose: {position: [0, 0, 0.05]}}\n"
                            "  finger: {mass: 0.1, shapes: [{sphere: 0.02}], pose: {position: [-0.1, 0.01, 0.05]}}\n"
                            "joints:\n"
                            "  rail: {type: prismatic, parent: world, child: finger, axis: [1, 0, 0],\n"
                            "         control: impedance, stiffness: 500, damping: 20}\n"
                            "run: {model: dyn-ncp, h: 0.002}\n";

typedef struct rollout {
    perp_sim *sim;
    int joint;
    double rate; /* m/s, of the finger's command */
    perp_status status;
    perp_error error;
} rollout;

static void run_rollout(rollout *r)
{
    r->status = perp_sim_set_command_rate(r->sim, r->joint, r->rate, &r->error);
    for (int k = 0; k < STEPS && r->status == PERP_STATUS_OK; k++) {
        r->status = perp_sim_step(r->sim, &r->error);
    }
}

/* Every second rollout, from the one that the thread is given on. */
static void *work(void *first)
{
    for (rollout *r = first, *from = first; r - from < ROLLOUTS - THREADS + 1; r += THREADS) {
        run_rollout(r);
    }
    return NULL;
}

static perp_status open_rollouts(const perp_sim *start, int joint, rollout *rollouts, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < ROLLOUTS && status == PERP_STATUS_OK; i++) {
        rollouts[i] = (rollout){.joint = joint, .rate = 0.1 * (i + 1)};
        status = perp_sim_clone(start, &rollouts[i].sim, error);
    }
    return status;
}

int main(void)
{
    static perp_diagnostics diagnostics;
    static rollout apart[ROLLOUTS], together[ROLLOUTS];
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_sim *start = NULL;
    const perp_scene_load_options options = {0};
    if (perp_scene_load_text(SCENE, strlen(SCENE), "sim-threads", NULL, &options, &scene, &diagnostics) !=
            PERP_STATUS_OK ||
        perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK ||
        perp_sim_create(model, NULL, &start, &error) != PERP_STATUS_OK) {
        fprintf(stderr, "%s%s\n", diagnostics.count > 0 ? diagnostics.items[0].message : "", error.message);
        return 1;
    }
    const int joint = perp_scene_find_joint(scene, "rail"), block = perp_scene_find_body(scene, "block");
    if (open_rollouts(start, joint, apart, &error) != PERP_STATUS_OK ||
        open_rollouts(start, joint, together, &error) != PERP_STATUS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < ROLLOUTS; i++) {
        run_rollout(&apart[i]);
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, &together[i])) {
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    int same = 0;
    for (int i = 0; i < ROLLOUTS; i++) {
        same += together[i].status == PERP_STATUS_OK &&
                perp_sim_hash(together[i].sim).value == perp_sim_hash(apart[i].sim).value;
        printf("command %.1f m/s: block at %.6f m\n", together[i].rate,
               perp_sim_pose(together[i].sim, block).position.x);
        perp_sim_free(together[i].sim);
        perp_sim_free(apart[i].sim);
    }
    printf("%d of %d have the hash of their rollout alone\n", same, ROLLOUTS);
    perp_sim_free(start);
    perp_model_free(model);
    perp_scene_free(scene);
    return same == ROLLOUTS ? 0 : 1;
}
