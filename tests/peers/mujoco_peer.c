#include "mujoco_peer.h"

#include "scene_as_mjcf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text goes through MuJoCo's virtual file system, so no file is written. */
static mjModel *load(const char *text, char *message, int message_size)
{
    const size_t length = strlen(text);
    mjVFS *vfs = malloc(sizeof *vfs); /* two megabytes of names: not for the stack */
    mjModel *m = NULL;
    if (!vfs) {
        snprintf(message, (size_t)message_size, "out of memory");
        return NULL;
    }
    mj_defaultVFS(vfs);
    if (mj_makeEmptyFileVFS(vfs, "scene.xml", (int)length) == 0) {
        memcpy(vfs->filedata[mj_findFileVFS(vfs, "scene.xml")], text, length);
        m = mj_loadXML("scene.xml", vfs, message, message_size);
    } else {
        snprintf(message, (size_t)message_size, "MuJoCo's virtual file system refused the scene");
    }
    mj_deleteVFS(vfs);
    free(vfs);
    return m;
}

static bool pair_bodies(mujoco_peer *peer)
{
    for (int b = 0; b < peer->model->body_count; b++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", b);
        peer->body[b] = mj_name2id(peer->m, mjOBJ_BODY, name);
        if (peer->body[b] < 0) {
            return false;
        }
    }
    return true;
}

/* Takes over `text`. */
static bool open_text(mujoco_peer *peer, const perp_model *model, char *text, char *message, int message_size)
{
    *peer = (mujoco_peer){.model = model};
    if (!text) {
        snprintf(message, (size_t)message_size, "the scene cannot be written as MJCF");
        return false;
    }
    peer->m = load(text, message, message_size);
    free(text);
    if (!peer->m) {
        return false;
    }
    peer->d = mj_makeData(peer->m);
    peer->body = calloc((size_t)model->body_count + 1, sizeof *peer->body);
    peer->rotation = calloc((size_t)model->body_count + 1, sizeof *peer->rotation);
    peer->work = calloc(2 * (size_t)peer->m->nv + 1, sizeof *peer->work);
    if (!peer->d || !peer->body || !peer->rotation || !peer->work || !pair_bodies(peer)) {
        snprintf(message, (size_t)message_size, "out of memory, or MuJoCo lost a body");
        mujoco_peer_close(peer);
        return false;
    }
    return true;
}

bool mujoco_peer_open(mujoco_peer *peer, const perp_model *model, char *message, int message_size)
{
    return open_text(peer, model, scene_as_mjcf(model->scene), message, message_size);
}

bool mujoco_peer_open_with_shapes(mujoco_peer *peer, const perp_model *model, char *message, int message_size)
{
    return open_text(peer, model, scene_as_mjcf_with_shapes(model->scene), message, message_size);
}

bool mujoco_peer_make_room(mujoco_peer *peer, int rows, double margin)
{
    mj_deleteData(peer->d);
    peer->m->njmax = rows;
    peer->m->nstack += 1000000 + 6000 * rows;
    for (int i = 0; i < peer->m->ngeom; i++) {
        peer->m->geom_margin[i] = margin;
    }
    peer->d = mj_makeData(peer->m);
    return peer->d != NULL;
}

void mujoco_peer_close(mujoco_peer *peer)
{
    if (peer->d) {
        mj_deleteData(peer->d);
    }
    if (peer->m) {
        mj_deleteModel(peer->m);
    }
    free(peer->body);
    free(peer->rotation);
    free(peer->work);
    *peer = (mujoco_peer){0};
}

static perp_quat quat_at(const double *x)
{
    return (perp_quat){x[0], x[1], x[2], x[3]};
}

static void quat_to(perp_quat q, double *x)
{
    x[0] = q.w;
    x[1] = q.x;
    x[2] = q.y;
    x[3] = q.z;
}

void mujoco_peer_set(mujoco_peer *peer, const double *q, const double *v)
{
    for (int b = 0; b < peer->model->body_count; b++) {
        const perp_link *link = &peer->model->links[b];
        if (link->q_count == 0) {
            continue;
        }
        const double *x = q + link->q_start;
        double *qpos = peer->d->qpos + peer->m->jnt_qposadr[peer->m->body_jntadr[peer->body[b]]];
        const perp_quat home = link->home.rotation;
        switch (link->motion) {
        case PERP_MOTION_FLOATING:
            memcpy(qpos, x, 7 * sizeof(double));
            peer->rotation[b] = perp_quat_to_mat3(quat_at(x + 3));
            break;
        case PERP_MOTION_BALL: /* ours turns before home, theirs after it: R home = home R_mj */
            quat_to(perp_quat_mul(perp_quat_conjugate(home), perp_quat_mul(quat_at(x), home)), qpos);
            peer->rotation[b] = perp_quat_to_mat3(perp_quat_mul(quat_at(x), home));
            break;
        case PERP_MOTION_SCREW:
            qpos[0] = x[0];
            qpos[1] = link->pitch * x[0];
            break;
        default:
            memcpy(qpos, x, (size_t)link->q_count * sizeof(double));
            break;
        }
    }
    mujoco_peer_expand(peer, v, peer->d->qvel);
}

static perp_vec3 vec3_at(const double *x)
{
    return perp_vec3_make(x[0], x[1], x[2]);
}

static void vec3_to(perp_vec3 a, double *x)
{
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

void mujoco_peer_expand(const mujoco_peer *peer, const double *v, double *v_mj)
{
    for (int b = 0; b < peer->model->body_count; b++) {
        const perp_link *link = &peer->model->links[b];
        if (link->q_count == 0) {
            continue;
        }
        const double *x = v + link->v_start;
        double *out = v_mj + peer->m->body_dofadr[peer->body[b]];
        double full[6] = {0};
        switch (link->motion) {
        case PERP_MOTION_FLOATING:
            for (int i = 0, k = 0; i < 6; i++) {
                full[i] = link->components & (1u << i) ? x[k++] : 0.0;
            }
            memcpy(out, full, 3 * sizeof(double));
            vec3_to(perp_mat3_tmul_vec(&peer->rotation[b], vec3_at(full + 3)), out + 3);
            break;
        case PERP_MOTION_BALL:
            vec3_to(perp_mat3_tmul_vec(&peer->rotation[b], vec3_at(x)), out);
            break;
        case PERP_MOTION_SCREW:
            out[0] = x[0];
            out[1] = link->pitch * x[0];
            break;
        default:
            memcpy(out, x, (size_t)link->v_count * sizeof(double));
            break;
        }
    }
}

void mujoco_peer_project(const mujoco_peer *peer, const double *f_mj, double *f)
{
    for (int b = 0; b < peer->model->body_count; b++) {
        const perp_link *link = &peer->model->links[b];
        if (link->q_count == 0) {
            continue;
        }
        const double *x = f_mj + peer->m->body_dofadr[peer->body[b]];
        double *out = f + link->v_start;
        double full[6];
        switch (link->motion) {
        case PERP_MOTION_FLOATING:
            memcpy(full, x, 3 * sizeof(double));
            vec3_to(perp_mat3_mul_vec(&peer->rotation[b], vec3_at(x + 3)), full + 3);
            for (int i = 0, k = 0; i < 6; i++) {
                if (link->components & (1u << i)) {
                    out[k++] = full[i];
                }
            }
            break;
        case PERP_MOTION_BALL:
            vec3_to(perp_mat3_mul_vec(&peer->rotation[b], vec3_at(x)), out);
            break;
        case PERP_MOTION_SCREW:
            out[0] = x[0] + link->pitch * x[1];
            break;
        default:
            memcpy(out, x, (size_t)link->v_count * sizeof(double));
            break;
        }
    }
}

void mujoco_peer_mass_times(mujoco_peer *peer, const double *x, double *product)
{
    double *v = peer->work, *mv = peer->work + peer->m->nv;
    mujoco_peer_expand(peer, x, v);
    mj_mulM(peer->m, peer->d, mv, v);
    mujoco_peer_project(peer, mv, product);
}
