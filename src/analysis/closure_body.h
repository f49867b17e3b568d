/* closure_body.h - one body between its contacts, the others taken as fixed: what it can do, what its contacts can do
 * to it, and what loads it.
 *
 * Motions are those that its joints leave it, and its locked components; prescribed coordinates do not move. In at most
 * six numbers: a motion is sum y[k] basis[k], where the first three of a basis vector are the velocity of `center` and
 * the last three the angular velocity times `length`, in the world's axes; wrenches likewise, moments over `length`.
 * Bodies that it carries stand still on it, and load it. Loops and joint limits are left out. */
#ifndef PERP_SRC_ANALYSIS_CLOSURE_BODY_H
#define PERP_SRC_ANALYSIS_CLOSURE_BODY_H

#include "analysis/analysis_point.h"
#include "analysis/wrench_cones.h"

typedef struct closure_body {
    int body, dimensions;
    double basis[WRENCH_MOST][WRENCH_MOST];
    perp_vec3 center; /* of mass, or of the bounding sphere where it has none */
    double length;    /* m: radius of gyration, or of that sphere */
    double size;      /* m: radius of the bounding sphere; of the scene where the body has no end */
    wrench_cones cones;
    const int *contacts; /* cones.count, of the contact set */
    int nearly;          /* of the set: the nearest contact that does not count as touching but nearly does; -1: none */
    double load[WRENCH_MOST];
    bool loaded;    /* by more than rounding */
    bool undone;    /* a part of the load moves joints in front of the body, whatever its contacts do */
    bool supported; /* by friction with a plane, which is left out */
    bool limited;   /* a joint in front of it stands at a limit */
} closure_body;

/* False, and nothing else is set, where the body cannot move or touches nothing; status OUT_OF_MEMORY or OK. */
perp_status perp_closure_body(analysis_point *point, int body, perp_arena *arena, closure_body *out, bool *there,
                              perp_error *error);
/* Has a body that can move a contact in the set, however far apart? */
bool perp_closure_touches(const analysis_point *point, int body);
/* The smallest sphere around the shape of a body, or one around those of its shapes, in its frame; false: none has an
 * end. */
bool perp_closure_sphere(const perp_scene *scene, int body, perp_vec3 *center, double *radius);

/* closure_second_order.c. Of a body in the plane that can make all motions of the plane, and that first order leaves
 * some: YES where the curvatures of its contacts keep it from all of these, NO where they let it go, UNKNOWN where they
 * do neither. `ties`: contacts whose normal is one of several are left out. OUT_OF_MEMORY. */
perp_status perp_closure_second_order(const analysis_point *point, const closure_body *body, perp_arena *arena,
                                      perp_answer *answer);

#endif
