/* mujoco_peer.h - the same scene in MuJoCo, and the map between its coordinates and ours.
 *
 * v_mj = P(q) v, where P is block-diagonal over bodies:
 *   floating   MuJoCo's angular velocity is in the body's own frame, ours in the world: blkdiag(1, R'), with the
 * columns of locked components dropped ball       theirs is in the child's frame, ours in the parent's: R', R the child
 * in the parent screw      (1, pitch)' others     the identity So M = P' M_mj P and, because dP/dt v = 0 in every case
 * (R' w changes by -R' (w x w)), bias = P' bias_mj.
 */
#ifndef PERP_TESTS_PEERS_MUJOCO_PEER_H
#define PERP_TESTS_PEERS_MUJOCO_PEER_H

#include <mujoco/mujoco.h>

#include <perp/model.h>

typedef struct mujoco_peer {
    const perp_model *model; /* ours, borrowed */
    mjModel *m;
    mjData *d;
    int *body;           /* by our body: MuJoCo's index */
    perp_mat3 *rotation; /* by our body: R of P; set by mujoco_peer_set */
    double *work;        /* 2 m->nv */
} mujoco_peer;

/* Writes, loads and pairs the scene of `model`. On failure says why in `message` and returns false; nothing is left to
 * close. */
bool mujoco_peer_open(mujoco_peer *peer, const perp_model *model, char *message, int message_size);
/* The same with geoms for shapes, so that mj_collision finds their contacts. */
bool mujoco_peer_open_with_shapes(mujoco_peer *peer, const perp_model *model, char *message, int message_size);
/* The model is written without room for constraints, which few comparisons need: room for so many rows, and geoms that
 * see that far. For mj_step; the state is MuJoCo's initial one again. False: more than it can hold. MuJoCo 2.2.2 keeps
 * efc_AR (rows x rows), efc_J and efc_JT (rows x nv) with their column indices in one buffer, whose size is an int
 * (mjdata.h), and no setting takes them out. */
bool mujoco_peer_make_room(mujoco_peer *peer, int rows, double margin);
void mujoco_peer_close(mujoco_peer *peer);

/* Our state into MuJoCo's d->qpos and d->qvel. Computes nothing there. */
void mujoco_peer_set(mujoco_peer *peer, const double *q, const double *v);

/* P v, m->nv numbers. After mujoco_peer_set. */
void mujoco_peer_expand(const mujoco_peer *peer, const double *v, double *v_mj);
/* P' f_mj, model->nv numbers. After mujoco_peer_set. */
void mujoco_peer_project(const mujoco_peer *peer, const double *f_mj, double *f);

/* P' M_mj P x by mj_mulM on the sparse matrix that mj_crb left. */
void mujoco_peer_mass_times(mujoco_peer *peer, const double *x, double *product);

#endif
