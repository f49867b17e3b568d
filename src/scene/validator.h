/* validator.h - the walk over a scene that perp_scene_validate makes. It carries the path of the place it is at, so
 * that every complaint names it and, for a scene from a file, gets its line and column. */
#ifndef PERP_SRC_SCENE_VALIDATOR_H
#define PERP_SRC_SCENE_VALIDATOR_H

#include "scene/scene_memory.h"

typedef struct validator {
    perp_scene *scene;
    perp_diagnostics *diagnostics;
    int earlier;     /* diagnostics that were there before: a place already complained of is not complained of again */
    int faults;      /* errors found, told or not: what depends on a faulty value is not looked at */
    bool child_lost; /* a joint's child is missing or unknown */
    bool out_of_memory;
    size_t length;
    char path[256];
} validator;

/* Steps into a part of the scene; returns what perp_validator_leave needs to step back. */
size_t perp_validator_enter(validator *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
void perp_validator_leave(validator *v, size_t mark);

/* Complain about the current place, or about its part `key` (NULL: the place itself). */
void perp_validator_error(validator *v, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void perp_validator_warning(validator *v, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef enum real_range { RANGE_FINITE, RANGE_NOT_NEGATIVE, RANGE_POSITIVE } real_range;

/* False, after an error, if the value is not finite or out of range. */
bool perp_validate_real(validator *v, const char *key, double value, real_range range);
bool perp_validate_optional(validator *v, const char *key, perp_optional value, real_range range);
bool perp_validate_vector(validator *v, const char *key, perp_vec3 value);
/* Scales to unit length; false, after an error, for a zero or non-finite vector. */
bool perp_validate_direction(validator *v, const char *key, perp_vec3 *direction);
/* Nearly unit: normalised, with a warning if it is worth one; else an error. */
void perp_validate_quaternion(validator *v, const char *key, perp_quat *quat_wxyz);
void perp_validate_placement(validator *v, const char *key, perp_placement *placement);
/* Checks the table and computes the slopes of one that is not linear. */
void perp_validate_drive(validator *v, const char *key, perp_drive *drive);
void perp_validate_name(validator *v, const char *name, const char *what);

/* What is written of mass and inertia; then, if all of a body is sound by itself, what follows from it together. */
void perp_validate_mass_fields(validator *v, const perp_body *body);
void perp_validate_mass(validator *v, const perp_body *body);
void perp_validate_body(validator *v, perp_body *body);
void perp_validate_joint(validator *v, perp_joint *joint);
/* All joints, those that others mimic before these. */
void perp_validate_joints(validator *v);
/* Of a loop of joints. */
void perp_validate_terms(validator *v, perp_loop *loop);

#endif
