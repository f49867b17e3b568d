/* quasistatic_packing.h - balls at rest among planes: each new one touches two others (in space three) that carry it.
 */
#ifndef PERP_TESTS_QUALIFY_QUASISTATIC_PACKING_H
#define PERP_TESTS_QUALIFY_QUASISTATIC_PACKING_H

#include <perp/base.h>

enum { PACKING_PLANES = 6, PACKING_BALLS = 20 };

typedef struct packing_plane {
    perp_vec3 normal; /* unit; solid where normal . x <= offset */
    double offset;
} packing_plane;

typedef struct packing_ball {
    perp_vec3 centre;
    double radius;
} packing_ball;

typedef struct packing {
    bool planar; /* x-y with y up; else z is up */
    int plane_count, ball_count;
    packing_plane planes[PACKING_PLANES];
    packing_ball balls[PACKING_BALLS];
} packing;

/* Adds a ball at the lowest place where it rests without overlap; false where there is none. */
bool packing_drop(packing *p, double radius);
int packing_highest(const packing *p);

#endif
