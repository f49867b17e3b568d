/* perp/model.h - the multibody model: kinematic trees, Jacobians, mass matrix, bias and applied forces, configuration
 * integration, loop closure, inverse kinematics.
 *
 * The model is constant after it is built and may be shared by threads. The state (time, q, v) is small and copyable.
 * perp_kinematics is scratch, sized once from the model: one per thread. Nothing here allocates after creation.
 *
 * Coordinates. Bodies keep the index they have in the scene. Every body moves relative to its parent (a body, or the
 * world, -1) by its *motion*:
 *
 *   motion           q                   v
 *   FIXED            -                   -
 *   FLOATING         x y z qw qx qy qz   the free ones of: vx vy vz (of the origin) wx wy wz, world frame
 *   FLOATING_PLANAR  x y theta           the free ones of: vx vy omega
 *   REVOLUTE         angle               its rate
 *   PRISMATIC        displacement        its rate
 *   SCREW            angle               its rate; moves pitch * angle along the axis
 *   BALL             qw qx qy qz         angular velocity relative to the parent, in the parent's frame
 *   PLANAR           x y theta           their rates; along the tangents (t, o) of the axis, about the axis
 *
 * A jointed child stands at:  parent o T(anchor + s) o R(joint) o T(-anchor) o home,  where `home` is its pose in the
 * parent at position 0, s the joint's translation, and everything left of home is in the parent's frame.
 *
 * Degrees of freedom of one tree are contiguous in v, those of a parent before those of its children. Driven bodies and
 * position-controlled joints have degrees of freedom too, of role PRESCRIBED, so that Jacobians speak of their motion.
 *
 * Quaternions in q are unit: perp_state_create and perp_configuration_integrate see to it; who writes q by hand must
 * too.
 *
 * dq/dt = G(q) v. Matrices are row-major. Twists are linear then angular. All names without a frame are world frame.
 */
#ifndef PERP_MODEL_H
#define PERP_MODEL_H

#include <perp/base.h>
#include <perp/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum perp_motion {
    PERP_MOTION_FIXED,
    PERP_MOTION_FLOATING,
    PERP_MOTION_FLOATING_PLANAR,
    PERP_MOTION_REVOLUTE,
    PERP_MOTION_PRISMATIC,
    PERP_MOTION_SCREW,
    PERP_MOTION_BALL,
    PERP_MOTION_PLANAR
} perp_motion;

typedef enum perp_dof_role {
    PERP_DOF_PASSIVE,   /* free bodies, joints without control */
    PERP_DOF_IMPEDANCE, /* spring to a command */
    PERP_DOF_PRESCRIBED /* driven bodies, position-controlled joints */
} perp_dof_role;

/* How one body moves relative to its parent. */
typedef struct perp_link {
    perp_motion motion;
    int parent; /* body index, -1: the world */
    int joint;  /* scene joint, -1: none */
    int q_start, q_count;
    int v_start, v_count;
    unsigned components; /* floating: which of vx vy vz wx wy wz are degrees of freedom (PERP_COMPONENT_*) */
    int tree;            /* index of the tree, -1: the body cannot move */
    perp_pose home;   /* jointed: in the parent at position 0; FIXED: in the parent; floating: initial, in the world */
    perp_vec3 anchor; /* parent frame */
    perp_vec3 axis;   /* parent frame, unit */
    perp_vec3 axis_t, axis_o; /* PLANAR: tangents of the axis, parent frame */
    double pitch;
    double mass;
    perp_vec3 com;     /* body frame */
    perp_mat3 inertia; /* about com, body axes */
} perp_link;

/* One tree of bodies that move together: its degrees of freedom are v[v_start .. v_start + v_count). Its block of the
 * mass matrix is a dense v_count x v_count matrix at mass_start of the packed array. */
typedef struct perp_tree {
    int root; /* the first body of the tree */
    int v_start, v_count;
    int mass_start;
} perp_tree;

typedef struct perp_model {
    const perp_scene *scene; /* borrowed: must outlive the model */
    bool planar;
    int body_count, nq, nv, tree_count;
    int mass_size;          /* doubles in the packed mass matrix: sum of v_count^2 over trees */
    const perp_link *links; /* body_count, by body index */
    const int *order;       /* body_count: body indices, parents before children */
    const perp_tree *trees; /* tree_count */
    const int *joint_body;  /* scene joints: the child body */
    /* per degree of freedom, nv each */
    const perp_dof_role *role;
    const int *dof_body;                          /* the body whose motion it is */
    const int *dof_joint;                         /* the scene joint, -1: a floating or driven body */
    const double *armature, *stiffness, *damping; /* 0 where none is given */
    const double *limit_low, *limit_high;         /* -inf, inf where there is none; only on scalar joints */
    const int *dof_q;                             /* index in q of a scalar joint's coordinate, -1 for others */
    /* sparsity: body b depends on degrees of freedom chain_dofs[chain_start[b] .. chain_start[b+1]), ascending */
    const int *chain_start; /* body_count + 1 */
    const int *chain_dofs;
    int chain_longest;              /* the longest chain */
    const perp_quat *loop_rotation; /* weld loops: rotation of b in a at the initial configuration */
    struct perp_model_memory *memory;
} perp_model;

/* Builds the model of a validated scene. Fails with BAD_INPUT (a scene that was not validated, a body without the mass
 * that its motion needs) or OUT_OF_MEMORY. */
PERP_API perp_status perp_model_build(const perp_scene *scene, const perp_allocator *allocator, perp_model **model,
                                      perp_error *error);
PERP_API void perp_model_free(perp_model *model); /* NULL allowed */

/* ---- state ---------------------------------------------------------------------------------------------------- */

typedef struct perp_state {
    double t;
    double *q; /* nq */
    double *v; /* nv */
    perp_allocator allocator;
} perp_state;

/* The initial state of the scene: poses, joint positions and velocities as written; prescribed coordinates and rates
 * from their drives at t = 0. */
PERP_API perp_status perp_state_create(const perp_model *model, const perp_allocator *allocator, perp_state *state,
                                       perp_error *error);
PERP_API void perp_state_free(perp_state *state);
PERP_API void perp_state_copy(const perp_model *model, perp_state *to, const perp_state *from);

/* ---- kinematics ----------------------------------------------------------------------------------------------- */

/* Everything derived from q (and v). Each array says which function fills it. */
typedef struct perp_kinematics {
    /* by body; perp_kinematics_update. pose, rotation and twist have an element [-1] too: the world, at rest. */
    perp_pose *pose;     /* body in the world */
    perp_mat3 *rotation; /* the same rotation as a matrix */
    perp_vec3 *com;      /* centre of mass */
    /* by degree of freedom; perp_kinematics_update: the twist that unit rate gives to the bodies behind it, measured at
     * the reference point of its tree (the origin of the tree's root body) */
    perp_vec3 *dof_linear, *dof_angular;
    perp_vec3 *reference; /* by tree; perp_kinematics_update */
    /* by body; perp_kinematics_velocity */
    perp_twist *twist;                     /* of the origin */
    double *q;                             /* nq; perp_kinematics_update: where all of this is */
    struct perp_kinematics_memory *memory; /* scratch of perp_mass_matrix and perp_bias_force too */
} perp_kinematics;

PERP_API perp_status perp_kinematics_create(const perp_model *model, const perp_allocator *allocator,
                                            perp_kinematics **kinematics, perp_error *error);
PERP_API void perp_kinematics_free(perp_kinematics *kinematics); /* NULL allowed */

/* Forward kinematics: poses, centres of mass, motion axes. */
PERP_API void perp_kinematics_update(const perp_model *model, const double *q, perp_kinematics *kinematics);
/* Twists of all bodies; after perp_kinematics_update. */
PERP_API void perp_kinematics_velocity(const perp_model *model, const double *v, perp_kinematics *kinematics);

/* A body's pose as people read it: x y z qw qx qy qz (returns 7), planar x y theta (returns 3) with theta counted on
 * over whole turns, as in q. After perp_kinematics_update with the same q. */
PERP_API int perp_body_pose_numbers(const perp_model *model, const perp_kinematics *kinematics, const double *q,
                                    int body, double numbers[7]);

/* ---- Jacobians ------------------------------------------------------------------------------------------------ */

/* The degrees of freedom that body b depends on, ascending; returns their number. b = -1 (the world): 0. */
PERP_API int perp_body_dofs(const perp_model *model, int body, const int **dofs);

/* 3 x n Jacobian (n = perp_body_dofs) of the velocity of the body's material point that is now at point_world; column k
 * belongs to dofs[k]. */
PERP_API void perp_point_jacobian(const perp_model *model, const perp_kinematics *kinematics, int body,
                                  perp_vec3 point_world, double *jacobian);
/* 6 x n: the same point's velocity, then the body's angular velocity. */
PERP_API void perp_frame_jacobian(const perp_model *model, const perp_kinematics *kinematics, int body,
                                  perp_vec3 point_world, double *jacobian);
/* rows x nv from the rows x n of a body: zeros elsewhere. */
PERP_API void perp_jacobian_expand(const perp_model *model, int body, int rows, const double *jacobian, double *dense);

/* ---- dynamics ------------------------------------------------------------------------------------------------- */

/* Mass matrix by the composite-rigid-body algorithm, armature included: one dense symmetric block per tree, packed
 * (mass_size doubles). After perp_kinematics_update. */
PERP_API void perp_mass_matrix(const perp_model *model, perp_kinematics *kinematics, double *packed);
/* nv x nv from the packed blocks. */
PERP_API void perp_mass_matrix_expand(const perp_model *model, const double *packed, double *dense);
/* c(q, v): M dv/dt + c = forces, without gravity; recursive Newton-Euler. After perp_kinematics_velocity. */
PERP_API void perp_bias_force(const perp_model *model, perp_kinematics *kinematics, const double *v, double *bias);
/* Generalised gravity, nv; 0 at joints whose drives carry the weight of all that is behind them
 * (`gravity_compensation`). After perp_kinematics_update. */
PERP_API void perp_gravity_force(const perp_model *model, const perp_kinematics *kinematics, double *force);
/* N or N m: what the drive of a joint under torque control gives. */
PERP_API double perp_joint_torque(const perp_joint *joint, double t);
/* Generalised force of the scene's `forces` and of joints under torque control at time t, nv. After
 * perp_kinematics_update. */
PERP_API void perp_applied_force(const perp_model *model, const perp_kinematics *kinematics, double t, double *force);
/* Adds the generalised force of a world force at a world point and a torque on a body. */
PERP_API void perp_add_wrench(const perp_model *model, const perp_kinematics *kinematics, int body,
                              perp_vec3 point_world, perp_vec3 force, perp_vec3 torque, double *generalised);

/* J. `kinetic` and `gravity` of all bodies, driven ones included, with the scene's inertia on every rung; gravity is 0
 * at the world's origin. `springs` of joints under impedance control: 1/2 k (command - q)^2; with `effort`
 * E, beyond the stretch s = E / k, E (|command - q| - s / 2). */
typedef struct perp_energy {
    double kinetic, gravity, springs;
} perp_energy;
/* Of a state, with the scene's commands at its time. After perp_kinematics_update with its q; updates the twists. */
PERP_API perp_energy perp_energy_of(const perp_model *model, perp_kinematics *kinematics, const perp_state *state);

/* ---- the configuration manifold -------------------------------------------------------------------------------- */

/* rate = G(q) v: nq from nv. */
PERP_API void perp_configuration_rate(const perp_model *model, const double *q, const double *v, double *rate);
/* v = G+(q) rate: the pseudo-inverse (4 G' on quaternions: G'G = I/4), so that G+ G = I. Locked components are dropped.
 */
PERP_API void perp_configuration_rate_inverse(const perp_model *model, const double *q, const double *rate, double *v);
/* G as a dense nq x nv matrix. */
PERP_API void perp_configuration_map(const perp_model *model, const double *q, double *g);
/* q_out = q (+) h v: straight in linear coordinates, exact exponential in rotations; quaternions come out unit.
 * q_out may be q. */
PERP_API void perp_configuration_integrate(const perp_model *model, const double *q, const double *v, double h,
                                           double *q_out);
/* The v with q_from (+) 1 v = q_to; rotations take the shorter way. Locked components are dropped. */
PERP_API void perp_configuration_difference(const perp_model *model, const double *q_from, const double *q_to,
                                            double *v);

/* Which coordinates a rung takes as given; bits. */
typedef enum perp_prescribe {
    PERP_PRESCRIBE_DRIVEN = 1,           /* driven bodies */
    PERP_PRESCRIBE_POSITION_JOINTS = 2,  /* position-controlled joints */
    PERP_PRESCRIBE_IMPEDANCE_JOINTS = 4, /* impedance-controlled joints, on rungs that treat them as position */
    PERP_PRESCRIBE_JOINTS = 6,
    PERP_PRESCRIBE_POSITION = 3,          /* driven bodies and position control */
    PERP_PRESCRIBE_POSITION_IMPEDANCE = 7 /* all of it */
} perp_prescribe;

/* Writes the prescribed coordinates at time t into q; leaves the others. */
PERP_API void perp_prescribed_configuration(const perp_model *model, perp_prescribe which, double t, double *q);
/* Writes the prescribed rates x'(t) into v; leaves the others. */
PERP_API void perp_prescribed_rate(const perp_model *model, perp_prescribe which, double t, double *v);
/* Writes the prescribed velocities (x(t_to) - x(t_from)) / (t_to - t_from) into v, whole turns counted; leaves the
 * others. */
PERP_API void perp_prescribed_velocity(const perp_model *model, perp_prescribe which, double t_from, double t_to,
                                       double *v);
/* The command of every controlled scalar joint at time t (0 elsewhere), nv. */
PERP_API void perp_command(const perp_model *model, double t, double *command);

/* ---- loops ---------------------------------------------------------------------------------------------------- */

/* Rows of a loop's constraint: point 3 (planar 2), weld 6 (planar 3), joints 1. */
PERP_API int perp_loop_rows(const perp_model *model, int loop);
/* residual: world position of anchor b minus that of anchor a, then (weld) the rotation vector by which b has left its
 * initial rotation relative to a; of joints sum c q - length. jacobian (may be NULL): rows x nv, its exact derivative
 * with respect to motion along v. After perp_kinematics_update. */
PERP_API void perp_loop_evaluate(const perp_model *model, const perp_kinematics *kinematics, int loop, double *residual,
                                 double *jacobian);

/* ---- inverse kinematics ---------------------------------------------------------------------------------------- */

typedef struct perp_ik_settings {
    size_t size;               /* of this struct; see perp/base.h */
    int max_iterations;        /* per start */
    double position_tolerance; /* m */
    double rotation_tolerance; /* rad */
    double rotation_weight;    /* m per rad: how much a rotation error weighs; 0: position only */
    double damping;            /* initial Levenberg-Marquardt damping, relative */
    int restarts;              /* further starts inside the limits when the first one stalls */
    uint64_t seed;
} perp_ik_settings;

static inline perp_ik_settings perp_ik_settings_default(void)
{
    perp_ik_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.max_iterations = 200;
    r.position_tolerance = 1e-9;
    r.rotation_tolerance = 1e-9;
    r.rotation_weight = 0.3;
    r.damping = 1e-2;
    r.restarts = 50;
    r.seed = 1;
    return r;
}

typedef struct perp_ik_problem {
    int body;
    perp_pose frame;     /* the frame to place, in the body's frame */
    perp_pose target;    /* where it should go, in the world */
    const bool *movable; /* nv; NULL: every joint in the body's chain */
} perp_ik_problem;

typedef struct perp_ik_info {
    int iterations;
    int restarts_used;
    double position_error; /* m */
    double rotation_error; /* rad */
} perp_ik_info;

typedef struct perp_ik_workspace perp_ik_workspace;
PERP_API perp_status perp_ik_workspace_create(const perp_model *model, const perp_allocator *allocator,
                                              perp_ik_workspace **workspace, perp_error *error);
PERP_API void perp_ik_workspace_free(perp_ik_workspace *workspace); /* NULL allowed */

/* Moves q (in: the start; out: the best point found, always within the joint limits) so that the frame meets the
 * target. Damped least squares with joint limits as bounds. OK when both tolerances are met, else NOT_CONVERGED;
 * BAD_INPUT where settings->size is not the library's. */
PERP_API perp_status perp_inverse_kinematics(const perp_model *model, const perp_ik_settings *settings,
                                             const perp_ik_problem *problem, perp_ik_workspace *workspace, double *q,
                                             perp_ik_info *info);

/* ---- lint ------------------------------------------------------------------------------------------------------- */

/* Adds warnings about what is allowed but looks unintended: a command that leaves the joint's limits during the run, a
 * drive that replaces a coordinate of `pose`, angles that look like degrees, a loop that is open at the start. OK or
 * OUT_OF_MEMORY. */
PERP_API perp_status perp_model_lint(const perp_model *model, const perp_allocator *allocator,
                                     perp_diagnostics *diagnostics);

#ifdef __cplusplus
}
#endif
#endif
