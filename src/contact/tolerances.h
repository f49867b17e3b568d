/* tolerances.h - every tolerance of contact. Each has its unit first, then what it decides and where it comes from. */
#ifndef PERP_SRC_CONTACT_TOLERANCES_H
#define PERP_SRC_CONTACT_TOLERANCES_H

/* rad: a corner of a polygon that is bent by less is on a straight side, and left out; rounding of the file's decimals
 * leaves less. */
static const double BENT_CORNER = 1e-12;
/* rad: directions that are nearer to each other are one: the normals of a contact that two parts list, a tangent and
 * the normal, two directions of friction. What a pair states is a design direction: were it kept down to rounding, its
 * projection would be noise. */
static const double CONTACT_SAME_DIRECTION = 1e-6;
/* of the depth: an overlap that moving out of another part leaves less of than this is resolved by that one. */
static const double STILL_DEEP = 1e-3;
/* m: the least size of a scene, so that lengths relative to it are not zero where all shapes are points. */
static const double SCENE_LEAST = 1e-3;
/* of the scene's size: deeper at the start is worth a warning. No rounding of a written pose comes to this, yet any
 * depth that a person would see. */
static const double DEEP_AT_START = 1e-7;
/* of the number: what rounding may add to a number of two digits, which then is not the next one. */
static const double TWO_DIGITS = 1e-12;
/* of the margin: a reach in one step that is longer by less is as written. */
static const double REACH_AS_WRITTEN = 1e-9;

#endif
