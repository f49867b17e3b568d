/* contact_reach.h - what steps ask of a contact set beside its contacts. */
#ifndef PERP_SRC_CONTACT_CONTACT_REACH_H
#define PERP_SRC_CONTACT_CONTACT_REACH_H

#include <perp/contact.h>

/* How far builds look, m: the settings' margin until another is set. */
double perp_contact_set_margin(const perp_contact_set *set);
/* Points that bodies rest on: so many contacts of every build are of them. */
int perp_contact_support_count(const perp_contact_set *set);
/* From the next build on. */
void perp_contact_set_look(perp_contact_set *set, double margin);
/* From the next build on, manifolds in space are those of perp_spatial_manifold_still. */
void perp_contact_set_stand_still(perp_contact_set *set);
/* speed (body_count), m/s: no point of the body's bounded shapes moves faster; unbounded ones count by the velocity of
 * the body's origin, and turning (body_count), 1/s, is how fast they turn, 0 where the body has none. With the twists
 * that perp_kinematics_velocity left, at the poses of the last build. */
void perp_contact_speeds(const perp_contact_set *set, const perp_kinematics *kinematics, double *speed,
                         double *turning);
/* m: from the origin of `body` to the farthest point of the boxes around the bounded shapes of `other`. */
double perp_contact_arm(const perp_contact_set *set, const perp_kinematics *kinematics, int body, int other);
/* The box around the bounded shapes of a body at the last build; false, and nothing is written, where it has none. */
bool perp_contact_body_box(const perp_contact_set *set, int body, perp_vec3 *low, perp_vec3 *high);

/* The contact's gap and witnesses at the poses of the last build, however far apart: those of its two features if they
 * are still closest features of their shapes; else of a corner among the two to the other shape (of two corners the
 * nearer one's); else of the two shapes. The rest of the contact stays as it is. */
void perp_contact_look_again(const perp_contact_set *set, perp_contact *contact);
/* Planar: 1/m, curvatures of the surfaces of a and b at a contact, > 0: it bulges out; 1e9 at a corner. */
void perp_contact_planar_curvatures(const perp_contact_set *set, int contact, double of[2]);

#endif
