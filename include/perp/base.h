/* perp/base.h - status, errors, diagnostics, memory, small vectors, rotations, hashing.
 *
 * Needs nothing but libc and libm. Every other header of perp stands on this one.
 *
 * Conventions: SI units; right-handed frames, +Z up; quaternions are (w, x, y, z) and unit; a pose maps body
 * coordinates to the frame it is given in: x_world = R(rotation) x_body + position; matrices are row-major.
 */
#ifndef PERP_BASE_H
#define PERP_BASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(PERP_SHARED_BUILD) || !defined(_WIN32)
#define PERP_API __attribute__((visibility("default")))
#else
#define PERP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------------------------------------------- */

#define PERP_VERSION_MAJOR 0
#define PERP_VERSION_MINOR 1
#define PERP_VERSION_PATCH 0

/* The version of the library that is running as "major.minor.patch", a string constant, and as numbers. The macros
 * above are of the headers that a program was built with; docs/api.md says which may differ. */
PERP_API const char *perp_version(void);
PERP_API void perp_version_numbers(int *major, int *minor, int *patch);

/* Settings and options that a caller fills have a first member `size`, which their default function sets. Where it is
 * not the library's own, the program was built with the headers of another version: BAD_INPUT, and the error names the
 * struct. */

/* Compiler, language and floating-point flags that the library was built with; a string constant. */
PERP_API const char *perp_build_flags(void);

/* ---- status and errors --------------------------------------------------------------------------------------- */

/* What became of a call. An infeasible problem or an iteration limit is a result, not a fault of the program; a
 * caller's bug (a null pointer, an index out of range) is an assert and has no status. */
typedef enum perp_status {
    PERP_STATUS_OK = 0,
    PERP_STATUS_BAD_INPUT,     /* what the user wrote is wrong; the error says where and what would be right */
    PERP_STATUS_OUT_OF_MEMORY, /* the allocator returned NULL; nothing leaked, nothing half-made remains */
    PERP_STATUS_CAPACITY,      /* a stated limit was exceeded; nothing was dropped silently */
    PERP_STATUS_IO,            /* a file could not be read or written */
    PERP_STATUS_NOT_CONVERGED, /* an iteration stopped short; the best point and its residual are returned */
    PERP_STATUS_SINGULAR,      /* a matrix that must be regular (or positive definite) is not */
    PERP_STATUS_INFEASIBLE,    /* the physics or the problem has no answer; the error says why */
    PERP_STATUS_CANCELLED,     /* the caller's cancel flag or callback asked to stop */
    PERP_STATUS_UNAVAILABLE,   /* this build lacks the part that was asked for */
    PERP_STATUS_COUNT
} perp_status;

/* The status as the lower-case, dashed word that JSON output uses ("bad-input"); a string constant. */
PERP_API const char *perp_status_name(perp_status status);

/* What a failure rests on, as far as it has such a thing: empty text, NULL and NaN-free zeros where it has not. */
typedef struct perp_evidence {
    char body[128];
    char contact[384]; /* "a b feature" */
    char loop[128];
    bool has_gap;
    double gap; /* m: how far the loop is open; rotations of a weld times its reach */
    bool has_direction, planar;
    double
        direction[6]; /* world: linear (planar: two of three), then angular, of the body; largest part of unit length */
    bool has_depth;
    double depth; /* m */
    bool has_time;
    double time; /* s */
    bool has_forces;
    double forces[2]; /* N: the contact's normal force in the last two rounds of a fixed point, old and new */
    bool has_residual;
    double residual;
    const char *residual_name; /* a string constant: which one; NULL: none */
    const char *method;        /* a string constant; NULL: none */
} perp_evidence;

/* What went wrong, for a person. `message` is one sentence. `file`, `line`, `column` (from 1) are filled where a file
 * is at fault, else empty and 0. `path` names the place in a scene ("bodies.cup.mass") where there is one. */
typedef struct perp_error {
    perp_status status;
    int line;
    int column;
    char file[256];
    char path[256];
    char message[512];
    const char *code; /* a string constant; NULL: perp_status_name(status) says it */
    perp_evidence evidence;
} perp_error;

/* Fills `error` (may be NULL) with a printf-formatted message and returns `status`, so that a failing function can
 * `return perp_fail(error, PERP_STATUS_..., "...")`. */
PERP_API perp_status perp_fail(perp_error *error, perp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- diagnostics: many errors and warnings of one input ------------------------------------------------------- */

typedef enum perp_severity { PERP_SEVERITY_ERROR, PERP_SEVERITY_WARNING } perp_severity;

typedef struct perp_diagnostic {
    perp_severity severity;
    int line, column; /* from 1; 0 where no file is involved (a scene built in C) */
    char file[256];   /* as the user named it; empty where no file is involved */
    char path[256];   /* place in the scene: keys joined by dots, list elements by number */
    char message[512];
} perp_diagnostic;

enum { PERP_DIAGNOSTICS_PER_SEVERITY = 20 };

/* A fixed-size list, so that reporting never allocates. What does not fit is counted in `errors`/`warnings` but not
 * kept. Zero-initialise before use. */
typedef struct perp_diagnostics {
    int errors;   /* errors seen, kept or not */
    int warnings; /* warnings seen, kept or not */
    int count;    /* items kept */
    perp_diagnostic items[2 * PERP_DIAGNOSTICS_PER_SEVERITY];
} perp_diagnostics;

/* Appends a diagnostic; control characters in the message are replaced by '?', overlong text is cut. */
PERP_API void perp_diagnostics_add(perp_diagnostics *list, perp_severity severity, const char *file, int line,
                                   int column, const char *path, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* Copies the first error of the list into `error` (may be NULL); does nothing if there is none. */
PERP_API void perp_diagnostics_first_error(const perp_diagnostics *list, perp_status status, perp_error *error);

/* Writes "file:line:column: message" (or "path: message" without a file) to `text`, cut to `size`. */
PERP_API void perp_diagnostic_format(const perp_diagnostic *item, char *text, size_t size);

/* The word for so many. */
static inline const char *perp_plural(int count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* The nearest of many words to a wrong one: begin, offer each, read `name` (NULL if none is near: more than one edit
 * and a third of the word away). Of equally near ones the first offered counts. */
typedef struct perp_nearest {
    const char *word, *name;
    int least; /* edits that a further word may need at most */
} perp_nearest;

PERP_API perp_nearest perp_nearest_begin(const char *word);
PERP_API void perp_nearest_offer(perp_nearest *nearest, const char *candidate);

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* Where perp's own memory comes from. `allocate` returns memory aligned for any type (at least 16 bytes) or NULL;
 * `release` accepts what `allocate` returned (never NULL). Outside libraries (libyaml, LAPACK) use malloc. */
typedef struct perp_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory);
    void *context;
} perp_allocator;

/* malloc and free. Every function that takes a `const perp_allocator *` accepts NULL for this one. */
PERP_API perp_allocator perp_allocator_default(void);

/* ---- hashing -------------------------------------------------------------------------------------------------- */

/* A 64-bit hash of states: feed doubles in order; equal bits give equal hashes on every platform. Not cryptographic.
 * -0.0 and +0.0 are the same state and hash alike. */
typedef struct perp_hash {
    uint64_t value;
} perp_hash;

/* The hash as 16 hexadecimal digits and a terminating zero. */
PERP_API void perp_hash_text(perp_hash hash, char text[17]);

/* ---- random numbers for tests, sweeps and restarts ------------------------------------------------------------- */

/* splitmix64: the same sequence everywhere for the same seed. */
typedef struct perp_random {
    uint64_t state;
} perp_random;

PERP_API uint64_t perp_random_bits(perp_random *random);
PERP_API double perp_random_uniform(perp_random *random, double low, double high); /* in [low, high) */

/* ---- vectors -------------------------------------------------------------------------------------------------- */

typedef struct perp_vec3 {
    double x, y, z;
} perp_vec3;

static inline perp_vec3 perp_vec3_make(double x, double y, double z)
{
    perp_vec3 r = {x, y, z};
    return r;
}
static inline perp_vec3 perp_vec3_add(perp_vec3 a, perp_vec3 b)
{
    return perp_vec3_make(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline perp_vec3 perp_vec3_sub(perp_vec3 a, perp_vec3 b)
{
    return perp_vec3_make(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline perp_vec3 perp_vec3_scale(double s, perp_vec3 a)
{
    return perp_vec3_make(s * a.x, s * a.y, s * a.z);
}
/* a + s b */
static inline perp_vec3 perp_vec3_add_scaled(perp_vec3 a, double s, perp_vec3 b)
{
    return perp_vec3_make(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double perp_vec3_dot(perp_vec3 a, perp_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline perp_vec3 perp_vec3_cross(perp_vec3 a, perp_vec3 b)
{
    return perp_vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double perp_vec3_norm(perp_vec3 a)
{
    return sqrt(perp_vec3_dot(a, a));
}
/* a / |a|, safe against overflow and underflow; the zero vector stays zero. */
PERP_API perp_vec3 perp_vec3_normalise(perp_vec3 a);

/* ---- 3 x 3 matrices, row-major -------------------------------------------------------------------------------- */

typedef struct perp_mat3 {
    double m[9]; /* m[3 * row + column] */
} perp_mat3;

static inline perp_vec3 perp_mat3_mul_vec(const perp_mat3 *a, perp_vec3 x)
{
    return perp_vec3_make(a->m[0] * x.x + a->m[1] * x.y + a->m[2] * x.z, a->m[3] * x.x + a->m[4] * x.y + a->m[5] * x.z,
                          a->m[6] * x.x + a->m[7] * x.y + a->m[8] * x.z);
}
/* a' x */
static inline perp_vec3 perp_mat3_tmul_vec(const perp_mat3 *a, perp_vec3 x)
{
    return perp_vec3_make(a->m[0] * x.x + a->m[3] * x.y + a->m[6] * x.z, a->m[1] * x.x + a->m[4] * x.y + a->m[7] * x.z,
                          a->m[2] * x.x + a->m[5] * x.y + a->m[8] * x.z);
}
PERP_API perp_mat3 perp_mat3_mul(const perp_mat3 *a, const perp_mat3 *b);
/* R A R': a tensor given in turned axes, in the axes that R turns to. */
PERP_API perp_mat3 perp_mat3_turn(const perp_mat3 *rotation, const perp_mat3 *a);
/* ---- rotations ------------------------------------------------------------------------------------------------ */

typedef struct perp_quat {
    double w, x, y, z;
} perp_quat;

static inline perp_quat perp_quat_identity(void)
{
    perp_quat r = {1.0, 0.0, 0.0, 0.0};
    return r;
}
static inline perp_quat perp_quat_conjugate(perp_quat q)
{
    perp_quat r = {q.w, -q.x, -q.y, -q.z};
    return r;
}
/* The rotation b followed by the rotation a. Summed so that q times its conjugate has a vector part of exactly zero:
 * what did not turn has no angular velocity, not one of 1e-17. */
static inline perp_quat perp_quat_mul(perp_quat a, perp_quat b)
{
    perp_quat r = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, (a.w * b.x + a.x * b.w) + (a.y * b.z - a.z * b.y),
                   (a.w * b.y + a.y * b.w) + (a.z * b.x - a.x * b.z),
                   (a.w * b.z + a.z * b.w) + (a.x * b.y - a.y * b.x)};
    return r;
}
/* q / |q|; the zero quaternion becomes the identity. */
PERP_API perp_quat perp_quat_normalise(perp_quat q);
/* The rotation about `axis_unit` by `angle`. */
PERP_API perp_quat perp_quat_from_axis_angle(perp_vec3 axis_unit, double angle);
/* R = Rz(yaw) Ry(pitch) Rx(roll). */
PERP_API perp_quat perp_quat_from_rpy(double roll, double pitch, double yaw);
/* Roll, pitch, yaw of that form. At the pole (|pitch| = pi/2) only roll -+ yaw is determined; roll = 0 is chosen. */
PERP_API void perp_quat_to_rpy(perp_quat q, double rpy[3]);
/* The rotation by the vector w: about w/|w| by |w|. Exact exponential, smooth through w = 0. */
PERP_API perp_quat perp_quat_exp(perp_vec3 rotation_vector);
/* The shortest rotation vector w with exp(w) = +-q, |w| <= pi. */
PERP_API perp_vec3 perp_quat_log(perp_quat q);
PERP_API perp_quat perp_quat_from_mat3(const perp_mat3 *rotation);
static inline perp_mat3 perp_quat_to_mat3(perp_quat q)
{
    const double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    const double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    perp_mat3 r = {{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy), 2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz),
                    2.0 * (yz - wx), 2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}};
    return r;
}
PERP_API perp_vec3 perp_quat_rotate(perp_quat q, perp_vec3 x);

/* ---- poses and twists ----------------------------------------------------------------------------------------- */

/* x_outer = R(rotation) x_inner + position. */
typedef struct perp_pose {
    perp_quat rotation;
    perp_vec3 position;
} perp_pose;

static inline perp_pose perp_pose_identity(void)
{
    perp_pose r = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    return r;
}
PERP_API perp_pose perp_pose_mul(perp_pose outer, perp_pose inner);
PERP_API perp_pose perp_pose_inverse(perp_pose pose);
PERP_API perp_vec3 perp_pose_apply(perp_pose pose, perp_vec3 x);

/* Velocity of a frame's origin, then angular velocity; both in world axes. */
typedef struct perp_twist {
    perp_vec3 linear;
    perp_vec3 angular;
} perp_twist;

/* The contact and joint-plane tangents of a unit normal n: t = normalise(e_x - (e_x . n) n), with e_y in place of e_x
 * where |n_x| > 0.9, and o = n x t. So n = +z gives t = +x, o = +y. */
PERP_API void perp_tangents(perp_vec3 normal_unit, perp_vec3 *t, perp_vec3 *o);

#ifdef __cplusplus
}
#endif
#endif
