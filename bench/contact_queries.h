/* contact_queries.h - all contacts of a scene: perp_contact_set_build, mj_collision, dSpaceCollide. */
#ifndef PERP_BENCH_CONTACT_QUERIES_H
#define PERP_BENCH_CONTACT_QUERIES_H

#include "timing.h"

#include <perp/scene.h>

#include <stdbool.h>

typedef enum query_engine { ENGINE_OURS, ENGINE_MUJOCO, ENGINE_ODE, ENGINE_COUNT } query_engine;
extern const char *const query_engine_names[ENGINE_COUNT];
extern const char *const query_engine_keys[ENGINE_COUNT];

typedef struct query_row {
    const char *name;
    int bodies, nv, samples;
    double margin;
    timing_stats time[ENGINE_COUNT]; /* s per query */
    double contacts[ENGINE_COUNT];   /* mean */
    double deepest[ENGINE_COUNT];    /* smallest gap of the first configuration, m; ODE: not read, 0 */
    bool grew;                       /* ours took memory after the warm-up */
} query_row;

/* Takes over the scene. `samples` queries of each engine, in turn. */
query_row query_measure(const char *name, perp_scene *scene, int samples);

#endif
