/* perp/scene.h - what the user wrote, validated: bodies, shapes, joints, loops, forces, contact settings, run settings.
 *
 * A scene comes from a file (perp/scene_yaml.h) or is built in C:
 *
 *     perp_scene *scene;
 *     perp_scene_create(false, NULL, &scene, &error);            // spatial, malloc
 *     perp_body cup = perp_body_default("cup");
 *     cup.mass = perp_set(0.3);
 *     cup.shapes = &(perp_shape){.kind = PERP_SHAPE_SPHERE, .radius = 0.05, .pose = perp_placement_default()};
 *     cup.shape_count = 1;
 *     perp_scene_add_body(scene, &cup, &error);
 *     perp_scene_validate(scene, &diagnostics);                  // the same checks as for a file
 *
 * The scene owns copies of everything that was added. Add functions only copy; perp_scene_validate checks values, looks
 * names up, normalises axes, normals and quaternions, and fills the fields marked "resolved". After it returns OK the
 * scene is constant and may be read from any number of threads.
 *
 * Units are SI, angles rad. Planar scenes live in x-y: vectors have z = 0, rotations are about z.
 * NaN is never a value; an unset optional has set = false.
 */
#ifndef PERP_SCENE_H
#define PERP_SCENE_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perp_optional {
    bool set;
    double value;
} perp_optional;

static inline perp_optional perp_set(double value)
{
    perp_optional r = {true, value};
    return r;
}

/* ---- drives: scalar functions of time ------------------------------------------------------------------------- */

typedef struct perp_sine {
    double amplitude, omega, phase; /* amplitude * sin(omega t + phase) */
} perp_sine;

typedef enum perp_interpolation {
    PERP_INTERPOLATE_LINEAR,
    PERP_INTERPOLATE_CUBIC,
    PERP_INTERPOLATE_SPLINE
} perp_interpolation;

/* Without knots: offset + rate t + bend t^2 + sum of sines. With knots (the others are then 0): the table, held
 * constant outside it, or where it has slopes going on with those of its ends. Cubic and spline have zero rate at both
 * ends, so that the held function has a continuous rate everywhere. Cubic is monotone wherever the values are and never
 * leaves the range of two neighbouring values (slopes of Fritsch and Butland, known as PCHIP); its acceleration jumps
 * at knots. Spline is twice continuously differentiable and may overshoot. Zero-initialised it is the constant 0. */
typedef struct perp_drive {
    double offset, rate, bend; /* bend: resolved, of paths only */
    int sine_count;
    int knot_count;
    const perp_sine *sines;
    const double *times; /* strictly increasing */
    const double *values;
    const double *slopes; /* resolved: d value / dt at the knots, for cubic and spline */
    perp_interpolation interpolation;
} perp_drive;

/* Value at time t. */
PERP_API double perp_drive_value(const perp_drive *drive, double t);

/* ---- shapes --------------------------------------------------------------------------------------------------- */

typedef enum perp_shape_kind {
    PERP_SHAPE_NONE = 0,
    PERP_SHAPE_POINT,     /* both */
    PERP_SHAPE_SPHERE,    /* spatial: radius */
    PERP_SHAPE_DISC,      /* planar: radius */
    PERP_SHAPE_BOX,       /* both: size = full lengths */
    PERP_SHAPE_CAPSULE,   /* both: radius, length between the centres; along local z, planar along local x */
    PERP_SHAPE_CYLINDER,  /* spatial: radius, length; along local z */
    PERP_SHAPE_ELLIPSOID, /* spatial: size = semi-axes */
    PERP_SHAPE_PLANE,     /* spatial: solid where normal . x <= offset */
    PERP_SHAPE_HALFPLANE, /* planar: as plane */
    PERP_SHAPE_MESH,      /* spatial: convex hull of `scale` times points, or of a file's vertices */
    PERP_SHAPE_POLYGON,   /* planar: simple polygon, either orientation */
    PERP_SHAPE_HOLE       /* both: solid outside a circular bore along local z; radius, spatial also length */
} perp_shape_kind;
enum { PERP_SHAPE_COUNT = PERP_SHAPE_HOLE + 1 };

/* The kind as the key that a scene file uses. */
PERP_API const char *perp_shape_kind_name(perp_shape_kind kind);

/* A pose as the user gives it. In the plane `angle` (kept unwrapped) is the rotation, in space `rpy` where rpy_set;
 * `pose.rotation` then follows from it (resolved). The written angles matter where a drive replaces one of them. */
typedef struct perp_placement {
    perp_pose pose;
    double angle;
    bool rpy_set;
    double rpy[3]; /* R = Rz(rpy[2]) Ry(rpy[1]) Rx(rpy[0]) */
} perp_placement;

PERP_API perp_placement perp_placement_default(void);

typedef struct perp_shape {
    perp_shape_kind kind;
    const char *name; /* may be NULL */
    perp_placement pose;
    perp_optional friction;
    perp_optional density; /* kg/m^3, planar kg/m^2 */
    double radius, length;
    perp_vec3 size;
    perp_vec3 normal; /* resolved: unit */
    double offset;
    int point_count;
    const perp_vec3 *points;
    const char *file; /* mesh file as the user named it, or NULL */
    double scale;
    /* of a mesh; resolved by perp_scene_build_hulls (perp/geometry_hull.h): the scaled corners of its convex hull, and
     * triangles as triples of corners, counter-clockwise seen from outside */
    int hull_point_count, hull_triangle_count;
    const perp_vec3 *hull_points;
    const int *hull_triangles;
} perp_shape;

/* ---- bodies --------------------------------------------------------------------------------------------------- */

/* Components of a twist (or of a driven pose) as bits; planar bodies use X, Y and RZ. */
enum {
    PERP_COMPONENT_X = 1,
    PERP_COMPONENT_Y = 2,
    PERP_COMPONENT_Z = 4,
    PERP_COMPONENT_RX = 8,
    PERP_COMPONENT_RY = 16,
    PERP_COMPONENT_RZ = 32,
    PERP_COMPONENT_ALL = 63,
    PERP_COMPONENT_PLANAR = 35
};

typedef enum perp_body_kind {
    PERP_BODY_FREE, /* floats on its free components, or is moved by the joint whose child it is */
    PERP_BODY_FIXED,
    PERP_BODY_DRIVEN /* its pose is a given function of time */
} perp_body_kind;

/* How a planar body rests on the plane of its scene, which is seen from above: the load on it is given, and friction
 * with that plane follows from it. */
typedef enum perp_support_model {
    PERP_SUPPORT_POINTS,   /* friction at every point of the support */
    PERP_SUPPORT_ELLIPSOID /* one friction force and moment, bounded by an ellipsoid */
} perp_support_model;

typedef struct perp_support_point {
    double x, y;  /* m, body frame */
    double share; /* of the load; shares count relative to their sum */
} perp_support_point;

typedef struct perp_support {
    bool set;               /* the body has one */
    perp_optional friction; /* unset: the scene's contacts.friction */
    perp_optional normal;   /* N: the load of all points together; unset: 9.81 m/s^2 times the body's mass */
    int point_count;        /* 0: uniform pressure over the area of the body's shapes */
    const perp_support_point *points;
    perp_support_model model;
} perp_support;

/* m/s^2: what a mass weighs on a support that states no load. */
#define PERP_SUPPORT_GRAVITY 9.81

typedef struct perp_body {
    const char *name;
    perp_body_kind kind;
    bool free_set;         /* `free` was written: refused on fixed, driven and jointed bodies */
    unsigned free_mask;    /* components of the world twist at the origin that may move */
    unsigned driven_mask;  /* components that have a drive; the others stay at `pose` */
    perp_drive drives[6];  /* x, y, z, rx, ry, rz: absolute world coordinates, R = Rz Ry Rx; planar uses 0, 1, 5 */
    perp_optional mass;    /* kg */
    perp_optional density; /* for the shapes that state none */
    int inertia_count;     /* 0: from shapes; 1 planar; 3 or 6: Ixx Iyy Izz [Ixy Ixz Iyz] about the centre of mass */
    double inertia[6];
    bool com_set;
    perp_vec3 com; /* body frame */
    bool pose_set;
    perp_placement pose; /* of the origin: in the world, or for a jointed child in its parent at position 0 */
    bool velocity_set;
    perp_twist velocity; /* world frame, at the origin */
    int shape_count;
    const perp_shape *shapes;
    perp_support support; /* planar */
    int joint;            /* resolved: the joint whose child this is, or -1 */
} perp_body;

/* A free body called `name` with no mass and no shapes. */
PERP_API perp_body perp_body_default(const char *name);

/* ---- joints, loops, forces ------------------------------------------------------------------------------------ */

typedef enum perp_joint_kind {
    PERP_JOINT_NONE = 0,
    PERP_JOINT_REVOLUTE,
    PERP_JOINT_PRISMATIC,
    PERP_JOINT_BALL,
    PERP_JOINT_PLANAR,
    PERP_JOINT_SCREW,
    PERP_JOINT_FIXED,
    PERP_JOINT_COUNT
} perp_joint_kind;

PERP_API const char *perp_joint_kind_name(perp_joint_kind kind);
/* Numbers in the joint's position (ball 4, planar 3, fixed 0, else 1) and in its velocity (ball 3). */
PERP_API int perp_joint_position_size(perp_joint_kind kind);
PERP_API int perp_joint_velocity_size(perp_joint_kind kind);

typedef enum perp_control {
    PERP_CONTROL_NONE,
    PERP_CONTROL_POSITION,  /* the joint is where the command says */
    PERP_CONTROL_IMPEDANCE, /* a spring to the command */
    PERP_CONTROL_VELOCITY,  /* the joint moves as fast as the command says */
    PERP_CONTROL_TORQUE     /* the command is a force, N or N m */
} perp_control;

typedef struct perp_joint {
    const char *name;
    perp_joint_kind kind;
    const char *parent; /* body name; NULL or "world": the world */
    const char *child;
    perp_vec3 anchor; /* in the parent's frame at position 0 */
    bool axis_set;
    perp_vec3 axis; /* in the parent's frame at position 0; resolved: unit. A planar joint's axis is its normal */
    bool limits_set;
    double limits[2]; /* -inf and inf allowed */
    bool position_set, velocity_set;
    double position[4]; /* scalar joints [0]; ball: wxyz; planar: x, y, theta along (t, o) of the axis */
    double velocity[3];
    double pitch; /* m per rad */
    perp_control control;
    double stiffness, damping, armature;
    perp_optional effort;                        /* N or N m: the most that a torque or an impedance drive gives */
    bool compensation_set, gravity_compensation; /* unset: the scene's, where the joint is controlled (resolved) */
    bool command_set;
    perp_drive command; /* unset: holds `position`, and 0 of velocities and torques (resolved) */
    perp_drive path;    /* resolved: where a joint is that has its velocity as command */
    const char *mimic;  /* name of the scalar joint that this one follows: q = ratio q_other + offset; NULL: none */
    double mimic_ratio, mimic_offset;
    int parent_body; /* resolved: index, -1 the world */
    int child_body;  /* resolved */
} perp_joint;

PERP_API perp_joint perp_joint_default(const char *name, perp_joint_kind kind);

typedef enum perp_loop_kind { PERP_LOOP_NONE = 0, PERP_LOOP_POINT, PERP_LOOP_WELD, PERP_LOOP_JOINTS } perp_loop_kind;

typedef struct perp_loop_term {
    const char *joint; /* revolute, prismatic or screw */
    double coefficient;
    int joint_index; /* resolved */
} perp_loop_term;

/* Keeps anchor_a on a and anchor_b on b together (point), and for weld also their relative rotation as it is in the
 * initial pose. Of joints it keeps sum coefficient_k q_k = length: a tendon, or a joint that mimics another, for which
 * perp_scene_add_joint adds a loop with the joint's name. */
typedef struct perp_loop {
    const char *name;
    perp_loop_kind kind;
    const char *a, *b;            /* body names; "world" allowed */
    perp_vec3 anchor_a, anchor_b; /* body frames */
    int body_a, body_b;           /* resolved; -1 the world, and of joints */
    int term_count;               /* of joints, which has neither bodies nor anchors */
    perp_loop_term *terms;
    double length; /* m where coefficients are m per rad or 1 */
    bool mimic;    /* follows from `mimic` of the joint with this name */
} perp_loop;

/* "point", "weld", "tendon", "mimic"; a string constant. */
PERP_API const char *perp_loop_what(const perp_loop *loop);

typedef struct perp_force {
    const char *body;
    perp_vec3 point;                /* body frame */
    perp_drive force[3], torque[3]; /* planar torque: [2] only */
    bool in_body_frame;
    int body_index; /* resolved */
} perp_force;

/* ---- contact settings ----------------------------------------------------------------------------------------- */

typedef enum perp_contact_law { PERP_LAW_KELVIN_VOIGT, PERP_LAW_HUNT_CROSSLEY } perp_contact_law;

/* count 1: scalar, 3 (planar 2): diagonal in (n, t, o), both per element; 9 (planar 4): a full matrix per patch. */
typedef struct perp_tensor {
    int count;
    double values[9];
} perp_tensor;

enum {
    PERP_COMPLIANCE_STIFFNESS = 1,
    PERP_COMPLIANCE_DAMPING = 2,
    PERP_COMPLIANCE_ELEMENTS = 4,
    PERP_COMPLIANCE_SIZE = 8,
    PERP_COMPLIANCE_LAW = 16,
    PERP_COMPLIANCE_TANGENTIAL = 32,
    PERP_COMPLIANCE_GAMMA = 64,
    PERP_COMPLIANCE_SCALE = 128
};

typedef struct perp_compliance {
    unsigned set; /* which fields were written; resolved pairs inherit the others from the scene */
    perp_tensor stiffness, damping;
    int elements; /* n_s: a patch has n_s^2 */
    double size;
    perp_contact_law law;
    bool tangential_rigid;
    double gamma; /* N, of a whole patch: friction is at most mu fn + gamma */
    double stiffness_scale;
} perp_compliance;

typedef struct perp_pair {
    const char *a, *b; /* body names, either order */
    perp_optional friction;
    int direction_count; /* 0: friction acts along the whole tangent plane */
    perp_vec3 directions[2];
    bool tangent_set;
    perp_vec3 tangent; /* resolved: unit */
    double restitution;
    bool compliance_set;
    perp_compliance compliance;
    int body_a, body_b; /* resolved, body_a < body_b */
} perp_pair;

typedef struct perp_exclusion {
    const char *a, *b;
    int body_a, body_b; /* resolved, body_a < body_b */
} perp_exclusion;

/* ---- run settings --------------------------------------------------------------------------------------------- */

/* The friction cones; src/scene/cone.c is their table. */
typedef enum perp_cone {
    PERP_CONE_UNSET,     /* in settings: the rung's own; of a rung: no friction */
    PERP_CONE_QUADRATIC, /* |ft| <= mu fn */
    PERP_CONE_RAYS,      /* a pyramid whose section has its corners in the directions of the rays */
    PERP_CONE_BOX,       /* |each component of ft| <= mu fn */
    PERP_CONE_COUNT
} perp_cone;

/* As scene files have it; "none" of PERP_CONE_UNSET. */
PERP_API const char *perp_cone_name(perp_cone cone);

typedef enum perp_prediction { PERP_PREDICTION_EXACT, PERP_PREDICTION_TAYLOR } perp_prediction;

typedef struct perp_run_settings {
    const char *model; /* name of the rung; default "qs-qp" */
    bool model_set;
    double h;
    double smoothing;
    double until; /* used when steps_set is false: steps = round(until / h) */
    bool steps_set;
    bool until_set;
    int steps;
    perp_cone cone;
    int rays;
    perp_prediction prediction;
    double tolerance;
    double substep_tolerance; /* inf: never split */
    double time_scale;
    int threads;
    /* Ends a rung's answer about an instant, or a step of `compliant`, which may take seconds, with CANCELLED; between
     * steps the run's observer is asked. Not of the file; NULL: never. */
    const volatile bool *cancel;
    /* Of such an answer any one solution will do, without ranges of its forces. Not of the file. */
    bool any_solution;
    /* Of such an answer all solutions, but not how far their normal forces range. Not of the file. */
    bool without_ranges;
} perp_run_settings;

/* Where the files of a scene come from, and who wants to know of them; either function may be NULL. Names are relative
 * to the scene's folder. */
typedef struct perp_scene_files {
    void *context;
    /* The bytes of an included file or a mesh, which last as long as the loading; false: there is no such file. NULL:
     * files are read from the folder. */
    bool (*find)(void *context, const char *name, const char **bytes, size_t *size);
    /* Told of every file that was read, the scene's own first; false is lack of memory. */
    bool (*keep)(void *context, const char *name, const char *bytes, size_t size);
} perp_scene_files;

/* ---- the scene ------------------------------------------------------------------------------------------------ */

/* Finds the file, line and column of a path ("bodies.cup.mass"), or of the deepest part of it that was written. */
typedef void perp_locate_function(const void *context, const char *path, const char **file, int *line, int *column);

typedef struct perp_scene {
    const char *name;                     /* never NULL */
    const char *length_unit, *angle_unit; /* that its file was written in, "mm"; everything here is SI. NULL: m, rad */
    bool planar;
    perp_vec3 gravity;

    int body_count, joint_count, loop_count, force_count, pair_count, exclusion_count;
    perp_body *bodies; /* in the order of the file */
    perp_joint *joints;
    perp_loop *loops;
    perp_force *forces;
    perp_pair *pairs;
    perp_exclusion *exclusions;

    double margin;
    double friction;
    bool gravity_compensation; /* of all joints under control that say nothing themselves */
    perp_compliance compliance;
    perp_run_settings run;

    bool validated;
    perp_locate_function *locate; /* NULL for a scene built in C */
    const void *locate_context;
    struct perp_scene_memory *memory;
} perp_scene;

enum { PERP_SCENE_MAX_BODIES = 100000, PERP_SCENE_MAX_PAIRS = 10000, PERP_SCENE_MAX_NAME = 127 };

/* An empty scene with every default of the format. */
PERP_API perp_status perp_scene_create(bool planar, const perp_allocator *allocator, perp_scene **scene,
                                       perp_error *error);
PERP_API void perp_scene_free(perp_scene *scene); /* NULL allowed */

/* Each copies what it is given, shapes, drives and names included. Fails only for want of memory or beyond the stated
 * capacity. */
PERP_API perp_status perp_scene_add_body(perp_scene *scene, const perp_body *body, perp_error *error);
PERP_API perp_status perp_scene_add_joint(perp_scene *scene, const perp_joint *joint, perp_error *error);
PERP_API perp_status perp_scene_add_loop(perp_scene *scene, const perp_loop *loop, perp_error *error);
PERP_API perp_status perp_scene_add_force(perp_scene *scene, const perp_force *force, perp_error *error);
PERP_API perp_status perp_scene_add_pair(perp_scene *scene, const perp_pair *pair, perp_error *error);
PERP_API perp_status perp_scene_add_exclusion(perp_scene *scene, const char *a, const char *b, perp_error *error);
PERP_API perp_status perp_scene_set_name(perp_scene *scene, const char *name, perp_error *error);
PERP_API perp_status perp_scene_set_model(perp_scene *scene, const char *model, perp_error *error);

/* Checks everything and resolves references. All errors are reported (up to the list's capacity), not only the first.
 * Returns BAD_INPUT if there was an error; warnings alone are OK. Calling it twice is harmless. */
PERP_API perp_status perp_scene_validate(perp_scene *scene, perp_diagnostics *diagnostics);

/* Index of a body or joint by name, -1 if there is none. Valid after validation. */
PERP_API int perp_scene_find_body(const perp_scene *scene, const char *name);
PERP_API int perp_scene_find_joint(const perp_scene *scene, const char *name);

/* Adds a diagnostic at `path`, with file, line and column where the scene came from a file. */
PERP_API void perp_scene_report(const perp_scene *scene, perp_diagnostics *diagnostics, perp_severity severity,
                                const char *path, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Mass, centre of mass (body frame) and inertia about it (body axes). Planar bodies: only inertia zz and com x, y. */
typedef struct perp_mass_properties {
    double mass;
    perp_vec3 com;
    perp_mat3 inertia;
} perp_mass_properties;

/* Of one shape of unit density in its body's frame (its pose applied). Shapes without volume give zeros. A mesh whose
 * hull was not built is refused with UNAVAILABLE. */
PERP_API perp_status perp_shape_mass_properties(const perp_shape *shape, bool planar, perp_mass_properties *out);

/* Of a body as the format says: `mass` or densities, `com`, `inertia` or the shapes'. A body that states neither mass
 * nor density is massless: zeros. */
PERP_API perp_status perp_body_mass_properties(const perp_body *body, bool planar, perp_mass_properties *out,
                                               perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
