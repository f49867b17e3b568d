/* model_private.h - what the files of src/model share: nodes, the compiled form of links, and scratch.
 *
 * A node is a link whose pose depends on q, with everything that forward kinematics needs laid out in one place. Nodes
 * stand in depth-first order (model->order without the constant bodies), so parents come before children, and the
 * nodes of one tree are contiguous: [node_start, node_end) of its perp_tree_span.
 *
 * The arrays pose, rotation and twist of perp_kinematics have an element [-1]: the world, at rest. So a parent index
 * is used as it is, without asking whether it is the world.
 */
#ifndef PERP_SRC_MODEL_MODEL_PRIVATE_H
#define PERP_SRC_MODEL_MODEL_PRIVATE_H

#include <perp/model.h>

#include "base/arena.h"

enum { PERP_COMPONENT_ROTATION = PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ };

typedef enum perp_inertia_form {
    PERP_INERTIA_ISOTROPIC, /* inertia[0] times the identity: the same in all axes */
    PERP_INERTIA_DIAGONAL,
    PERP_INERTIA_FULL
} perp_inertia_form;

typedef struct perp_node {
    perp_link link; /* a copy; its inertia is `inertia` here */
    int body;
    int parent_node; /* the parent's node if it is in the same tree, else -1 */
    bool starts_tree;
    bool home_is_unrotated; /* home.rotation is the identity */
    bool offset_is_zero, com_is_zero;
    perp_inertia_form inertia_form;
    perp_quat axis_home; /* (0, axis) (x) home.rotation, so that R(axis, a) home = cos(a/2) home + sin(a/2) axis_home */
    perp_vec3 offset;    /* from the joint point to the origin, child frame; zero if the joint does not rotate */
    double inertia[6];   /* xx yy zz xy xz yz, about com, body axes */
} perp_node;

typedef struct perp_tree_span {
    int node_start, node_end;
    bool branched;     /* some pair of its dofs is unrelated: its mass block has zeros */
    bool free_body;    /* one body, FLOATING with all six components */
    bool free_planar;  /* one body, FLOATING_PLANAR with all three */
    bool has_armature; /* of any dof */
} perp_tree_span;

struct perp_model_memory {
    perp_arena arena;
    int node_count;
    const perp_node *nodes;
    const perp_tree_span *spans; /* by tree */
    const int *body_node;        /* the body's node, -1: its pose is constant */
    const perp_pose *constant;   /* by body; meaningful where body_node is -1 */
};

/* Inertia of a body or of a whole subtree about a tree's reference point, world axes. Composites of bodies that share
 * the reference are plain sums. */
typedef struct perp_composite {
    double mass;
    perp_vec3 moment;  /* mass times (centre of mass - reference) */
    double inertia[6]; /* xx yy zz xy xz yz */
} perp_composite;

typedef struct perp_bias_node {
    perp_vec3 linear, angular; /* acceleration of the origin for dv/dt = 0 */
    perp_vec3 force, torque;   /* about the reference, of the subtree */
} perp_bias_node;

struct perp_kinematics_memory {
    perp_arena arena;
    /* by node; contents undefined between calls */
    perp_composite *composite;
    perp_bias_node *bias;
};

/* ---- model_tree.c ---- */

/* From links that know motion, parent, joint, q_count and v_count: order, q_start, v_start, tree and the arrays of the
 * model that follow from them. */
perp_status perp_model_lay_out(const perp_scene *scene, perp_arena *arena, perp_link *links, perp_model *model,
                               perp_error *error);

/* ---- state.c ---- */

/* q and v of the scene at t = 0, before prescribed coordinates are written over them. */
void perp_model_initial(const perp_model *model, double *q, double *v);

/* ---- kinematics.c ---- */

/* perp_kinematics_update for the listed nodes only (ascending, ancestors included); kinematics->q stays. */
void perp_kinematics_update_nodes(const perp_model *model, const double *q, const int *nodes, int count,
                                  perp_kinematics *kinematics);

/* ---- configuration.c ---- */

/* perp_configuration_integrate for one node's coordinates. */
void perp_node_integrate(const perp_node *node, const double *q, const double *v, double h, double *q_out);

/* ---- small helpers ---- */

static inline perp_quat perp_quat_load(const double *wxyz)
{
    perp_quat r = {wxyz[0], wxyz[1], wxyz[2], wxyz[3]};
    return r;
}

static inline void perp_quat_store(perp_quat q, double *wxyz)
{
    wxyz[0] = q.w;
    wxyz[1] = q.x;
    wxyz[2] = q.y;
    wxyz[3] = q.z;
}

static inline perp_vec3 perp_vec3_load(const double *x)
{
    return perp_vec3_make(x[0], x[1], x[2]);
}

static inline void perp_vec3_store(perp_vec3 a, double *x)
{
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

/* A symmetric matrix (xx yy zz xy xz yz) times a vector. */
static inline perp_vec3 perp_symmetric_mul(const double s[6], perp_vec3 x)
{
    return perp_vec3_make(s[0] * x.x + s[3] * x.y + s[4] * x.z, s[3] * x.x + s[1] * x.y + s[5] * x.z,
                          s[4] * x.x + s[5] * x.y + s[2] * x.z);
}

static inline bool perp_vec3_is_zero(perp_vec3 a)
{
    return a.x == 0.0 && a.y == 0.0 && a.z == 0.0;
}

/* The inertia of a node's body about its centre of mass, turned to world axes: R I R'. */
static inline void perp_node_world_inertia(const perp_node *node, const perp_mat3 *rotation, double world[6])
{
    const double *i = node->inertia, *r = rotation->m;
    if (node->inertia_form == PERP_INERTIA_ISOTROPIC) {
        world[0] = world[1] = world[2] = i[0];
        world[3] = world[4] = world[5] = 0.0;
        return;
    }
    perp_vec3 row[3];
    for (int k = 0; k < 3; k++) {
        const perp_vec3 rk = {r[3 * k], r[3 * k + 1], r[3 * k + 2]};
        row[k] = node->inertia_form == PERP_INERTIA_DIAGONAL ? perp_vec3_make(i[0] * rk.x, i[1] * rk.y, i[2] * rk.z)
                                                             : perp_symmetric_mul(i, rk);
    }
    world[0] = row[0].x * r[0] + row[0].y * r[1] + row[0].z * r[2];
    world[1] = row[1].x * r[3] + row[1].y * r[4] + row[1].z * r[5];
    world[2] = row[2].x * r[6] + row[2].y * r[7] + row[2].z * r[8];
    world[3] = row[0].x * r[3] + row[0].y * r[4] + row[0].z * r[5];
    world[4] = row[0].x * r[6] + row[0].y * r[7] + row[0].z * r[8];
    world[5] = row[1].x * r[6] + row[1].y * r[7] + row[1].z * r[8];
}

/* Adds to s the inertia of a point mass m at r: m (|r|^2 1 - r r'). */
static inline void perp_add_point_inertia(double m, perp_vec3 r, double s[6])
{
    const double mx = m * r.x, my = m * r.y, mz = m * r.z;
    s[0] += my * r.y + mz * r.z;
    s[1] += mx * r.x + mz * r.z;
    s[2] += mx * r.x + my * r.y;
    s[3] -= mx * r.y;
    s[4] -= mx * r.z;
    s[5] -= my * r.z;
}

/* ---- lint_angles.c ---- */

/* Warnings about angles that look like degrees. */
void perp_lint_angles(const perp_scene *scene, perp_diagnostics *diagnostics);

#endif
