/* rotation_vector.h - the derivative of the rotation vector.
 *
 * If E(t) has the world-frame angular velocity w, then phi = log E moves as dphi/dt = B(phi) w with
 * B(phi) = 1 - 1/2 [phi] + k [phi]^2, the inverse of the left Jacobian of SO(3); B(phi) E = B(-phi). Valid for
 * |phi| < 2 pi, which the log (|phi| <= pi) never leaves.
 */
#ifndef PERP_SRC_MODEL_ROTATION_VECTOR_H
#define PERP_SRC_MODEL_ROTATION_VECTOR_H

#include <perp/base.h>

#include "model/tolerances.h"

static inline perp_mat3 perp_rotation_vector_rate(perp_vec3 phi)
{
    const double square = perp_vec3_dot(phi, phi);
    double k;
    if (square > ROTATION_SERIES) {
        const double half = 0.5 * sqrt(square);
        k = (1.0 - half * cos(half) / sin(half)) / square;
    } else {
        k = 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square * (1.0 / 1209600.0)));
    }
    const double x = phi.x, y = phi.y, z = phi.z;
    perp_mat3 b = {{1.0 - k * (y * y + z * z), 0.5 * z + k * x * y, -0.5 * y + k * x * z, /**/
                    -0.5 * z + k * x * y, 1.0 - k * (x * x + z * z), 0.5 * x + k * y * z, /**/
                    0.5 * y + k * x * z, -0.5 * x + k * y * z, 1.0 - k * (x * x + y * y)}};
    return b;
}

#endif
