/* The mass matrix by composite rigid bodies.
 *
 * All inertias of a tree are taken about its reference point, in world axes, so a subtree's composite is the sum of its
 * bodies' and a motion axis needs no shift: M_ij = S_i . (I_c S_j), I_c the composite behind dof j, for every i in the
 * chain of j; zero for unrelated dofs. A free body is a tree of its own and by far the most frequent one: its block is
 * written directly, [m 1, -m [c]; m [c], I].
 */
#include "model/model_private.h"

#include <string.h>

static inline void body_inertia(const perp_node *node, const perp_kinematics *k, perp_vec3 reference,
                                perp_composite *out)
{
    const perp_vec3 arm = perp_vec3_sub(k->com[node->body], reference);
    out->mass = node->link.mass;
    out->moment = perp_vec3_scale(node->link.mass, arm);
    perp_node_world_inertia(node, &k->rotation[node->body], out->inertia);
    perp_add_point_inertia(node->link.mass, arm, out->inertia);
}

static inline void add_composite(perp_composite *to, const perp_composite *from)
{
    to->mass += from->mass;
    to->moment = perp_vec3_add(to->moment, from->moment);
    for (int i = 0; i < 6; i++) {
        to->inertia[i] += from->inertia[i];
    }
}

/* Written in place: an initialised array and a memcpy cost gcc a `rep movs`, more than the rest of the block. */
static inline void write_row(double *row, double a, double b, double c, double d, double e, double f)
{
    row[0] = a;
    row[1] = b;
    row[2] = c;
    row[3] = d;
    row[4] = e;
    row[5] = f;
}

static inline void write_free_body(const perp_node *node, const perp_kinematics *k, double *block)
{
    const double m = node->link.mass;
    double s[6];
    perp_node_world_inertia(node, &k->rotation[node->body], s);
    double x = 0.0, y = 0.0, z = 0.0;
    if (!node->com_is_zero) {
        const perp_vec3 arm = perp_vec3_sub(k->com[node->body], k->pose[node->body].position);
        perp_add_point_inertia(m, arm, s);
        x = m * arm.x;
        y = m * arm.y;
        z = m * arm.z;
    }
    write_row(block, m, 0.0, 0.0, 0.0, z, -y);
    write_row(block + 6, 0.0, m, 0.0, -z, 0.0, x);
    write_row(block + 12, 0.0, 0.0, m, y, -x, 0.0);
    write_row(block + 18, 0.0, -z, y, s[0], s[3], s[4]);
    write_row(block + 24, z, 0.0, -x, s[3], s[1], s[5]);
    write_row(block + 30, -y, x, 0.0, s[4], s[5], s[2]);
}

static inline void write_free_planar(const perp_node *node, const perp_kinematics *k, double *block)
{
    const double m = node->link.mass;
    const perp_vec3 arm = perp_vec3_sub(k->com[node->body], k->pose[node->body].position);
    const double x = m * arm.x, y = m * arm.y;
    const double rows[9] = {m, 0.0, -y, 0.0, m, x, -y, x, node->inertia[2] + x * arm.x + y * arm.y};
    memcpy(block, rows, sizeof rows);
}

/* Rows and columns of one node's dofs, against its whole chain. */
static inline void write_chain(const perp_model *model, const perp_kinematics *k, const perp_node *node,
                               const perp_composite *c, const perp_tree *tree, double *block)
{
    const int n = tree->v_count;
    const int *chain = model->chain_dofs + model->chain_start[node->body];
    for (int j = node->link.v_start; j < node->link.v_start + node->link.v_count; j++) {
        const perp_vec3 linear = k->dof_linear[j], angular = k->dof_angular[j];
        const perp_vec3 momentum = perp_vec3_add(perp_vec3_scale(c->mass, linear), perp_vec3_cross(angular, c->moment));
        const perp_vec3 spin =
            perp_vec3_add(perp_vec3_cross(c->moment, linear), perp_symmetric_mul(c->inertia, angular));
        const int column = j - tree->v_start;
        int i;
        for (const int *dof = chain; (i = *dof) < j; dof++) {
            const double entry = perp_vec3_dot(k->dof_linear[i], momentum) + perp_vec3_dot(k->dof_angular[i], spin);
            const int row = i - tree->v_start;
            block[row * n + column] = block[column * n + row] = entry;
        }
        block[column * n + column] = perp_vec3_dot(linear, momentum) + perp_vec3_dot(angular, spin);
    }
}

static void write_tree(const perp_model *model, const perp_kinematics *k, const perp_tree *tree,
                       const perp_tree_span *span, double *block)
{
    const perp_node *nodes = model->memory->nodes;
    perp_composite *composite = k->memory->composite;
    const perp_vec3 reference = k->pose[tree->root].position;
    const int n = tree->v_count;
    if (span->branched) {
        memset(block, 0, (size_t)n * (size_t)n * sizeof(double));
    }
    for (int i = span->node_start; i < span->node_end; i++) {
        body_inertia(&nodes[i], k, reference, &composite[i]);
    }
    /* Backwards, so that a composite is complete when its node is reached. */
    for (int i = span->node_end - 1; i >= span->node_start; i--) {
        write_chain(model, k, &nodes[i], &composite[i], tree, block);
        if (nodes[i].parent_node >= 0) {
            add_composite(&composite[nodes[i].parent_node], &composite[i]);
        }
    }
    for (int i = 0; span->has_armature && i < n; i++) {
        block[i * n + i] += model->armature[tree->v_start + i];
    }
}

void perp_mass_matrix(const perp_model *model, perp_kinematics *kinematics, double *packed)
{
    for (int t = 0; t < model->tree_count; t++) {
        const perp_tree *tree = &model->trees[t];
        const perp_tree_span *span = &model->memory->spans[t];
        const perp_node *root = &model->memory->nodes[span->node_start];
        double *block = packed + tree->mass_start;
        if (span->free_body) {
            write_free_body(root, kinematics, block);
        } else if (span->free_planar) {
            write_free_planar(root, kinematics, block);
        } else {
            write_tree(model, kinematics, tree, span, block);
        }
    }
}

void perp_mass_matrix_expand(const perp_model *model, const double *packed, double *dense)
{
    const size_t nv = (size_t)model->nv;
    memset(dense, 0, nv * nv * sizeof(double));
    for (int t = 0; t < model->tree_count; t++) {
        const size_t n = (size_t)model->trees[t].v_count, start = (size_t)model->trees[t].v_start;
        const double *block = packed + model->trees[t].mass_start;
        for (size_t i = 0; i < n; i++) {
            memcpy(dense + (start + i) * nv + start, block + i * n, n * sizeof(double));
        }
    }
}
