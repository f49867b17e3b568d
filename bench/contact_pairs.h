/* contact_pairs.h - the narrow phase of bench_contact: one pair of shapes at a time. */
#ifndef PERP_BENCH_CONTACT_PAIRS_H
#define PERP_BENCH_CONTACT_PAIRS_H

#include "timing.h"

#include <perp/geometry.h>

/* Kinds as the scene file has them; a sphere and a point are one kind to the library. */
typedef enum pair_kind {
    KIND_POINT,
    KIND_SPHERE,
    KIND_BOX,
    KIND_CAPSULE,
    KIND_CYLINDER,
    KIND_ELLIPSOID,
    KIND_MESH,
    KIND_PLANE,
    KIND_HOLE,
    KIND_COUNT
} pair_kind;

typedef enum pair_class { CLASS_APART, CLASS_RESTING, CLASS_OVERLAPPING, CLASS_COUNT } pair_class;

typedef enum pair_method { METHOD_DISTANCE, METHOD_MANIFOLD, METHOD_MUJOCO, METHOD_ODE, METHOD_COUNT } pair_method;

extern const char *const pair_kind_names[KIND_COUNT];
extern const char *const pair_class_names[CLASS_COUNT];
extern const char *const pair_method_keys[METHOD_COUNT];

typedef struct pair_row {
    pair_kind a, b;
    pair_class class;
    bool timed[METHOD_COUNT];
    timing_stats time[METHOD_COUNT]; /* s per pair */
    double points[METHOD_COUNT];     /* contacts per pair, mean */
    double residual;                 /* m; see contact_pairs.c */
} pair_row;

enum { PAIR_ROWS_MAX = CLASS_COUNT * KIND_COUNT * (KIND_COUNT + 1) / 2 };

/* All pairs that can touch, in all classes. `margin` is what MuJoCo is given. Returns the number of rows. */
int pair_rows_measure(pair_row *rows, int samples, double margin);

#endif
