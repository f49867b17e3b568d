/* drive.h - what the model asks of drives and driven bodies. */
#ifndef PERP_SRC_SCENE_DRIVE_H
#define PERP_SRC_SCENE_DRIVE_H

#include <perp/scene.h>

/* Rate at time t; at a linear table's knot the rate to its right; 0 where the table is held. */
double perp_drive_rate(const perp_drive *drive, double t);
/* True if the drive does not depend on time. */
bool perp_drive_is_constant(const perp_drive *drive);

/* The angles rx, ry, rz of a spatial driven body: driven ones x(t) + ahead x'(t), the others as `pose` has them. */
void perp_body_driven_rpy(const perp_body *body, double t, double ahead, double rpy[3]);
/* The pose whose driven coordinates are x(t) + ahead x'(t). */
perp_pose perp_body_driven_taylor(const perp_body *body, bool planar, double t, double ahead, double *planar_angle);
/* The pose of a driven body at time t. */
perp_pose perp_body_driven_pose(const perp_body *body, bool planar, double t, double *planar_angle);

#endif
