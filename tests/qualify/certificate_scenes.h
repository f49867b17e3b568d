/* certificate_scenes.h - small random scenes whose next step may have one answer, many or none: bodies that touch
 * exactly or nearly, are pushed, squeezed, hinged at their limits and tied by loops, on every rung that takes steps
 * with rigid contact. A scene depends on (seed, index) alone. */
#ifndef PERP_TESTS_QUALIFY_CERTIFICATE_SCENES_H
#define PERP_TESTS_QUALIFY_CERTIFICATE_SCENES_H

#include <perp/base.h>

enum { CERTIFICATE_TEXT = 4000 };

typedef struct certificate_scene {
    char text[CERTIFICATE_TEXT];
    int length;
    perp_random random; /* of what is drawn further */
    bool planar;
    int steps; /* to take before the state that is asked about */
} certificate_scene;

void certificate_scene_draw(uint64_t seed, int index, certificate_scene *scene);

#endif
