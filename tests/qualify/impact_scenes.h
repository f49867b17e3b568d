/* impact_scenes.h - random scenes at the moment of an impact: bodies in random poses and motions, free or in mechanisms
 * of two, meet a floor and each other. They may overlap. */
#ifndef PERP_TESTS_QUALIFY_IMPACT_SCENES_H
#define PERP_TESTS_QUALIFY_IMPACT_SCENES_H

#include <perp/perp.h>

enum { IMPACT_BODIES = 6, IMPACT_TEXT = 8000, IMPACT_DRAWS = 1000 };

typedef struct impact {
    char text[IMPACT_TEXT]; /* the scene but for `exclude` and what comes after `contacts` */
    int length;
    int bodies; /* floor included */
    char names[2 * IMPACT_BODIES + 1][16];
    bool planar;
    double h;
} impact;

int impact_pick(perp_random *random, int count);
void impact_draw(impact *s, perp_random *random);
/* The kinetic energy of v at q. */
double impact_energy(const perp_model *model, const double *q, const double *v);

#endif
