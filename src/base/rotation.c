#include "base/mat3.h"

#include <perp/base.h>

#include <string.h>

/* rad: nearer to a pitch of 90 degrees yaw and roll turn about one axis, and roll is zero. */
static const double POLE = 1e-12;
/* rad: below, two terms of a series are exact to the last bit (the third is less than 3e-17 of them), and have no 0/0.
 */
static const double SERIES_ANGLE = 1e-4;

perp_vec3 perp_vec3_normalise(perp_vec3 a)
{
    const double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (!(largest > 0.0)) {
        return a;
    }
    const perp_vec3 scaled = {a.x / largest, a.y / largest, a.z / largest};
    const double norm = perp_vec3_norm(scaled);
    return perp_vec3_make(scaled.x / norm, scaled.y / norm, scaled.z / norm);
}

perp_mat3 perp_mat3_mul(const perp_mat3 *a, const perp_mat3 *b)
{
    perp_mat3 r;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r.m[3 * i + j] = a->m[3 * i] * b->m[j] + a->m[3 * i + 1] * b->m[3 + j] + a->m[3 * i + 2] * b->m[6 + j];
        }
    }
    return r;
}

perp_mat3 perp_mat3_transpose(const perp_mat3 *a)
{
    perp_mat3 r = {{a->m[0], a->m[3], a->m[6], a->m[1], a->m[4], a->m[7], a->m[2], a->m[5], a->m[8]}};
    return r;
}

perp_mat3 perp_mat3_turn(const perp_mat3 *rotation, const perp_mat3 *a)
{
    const perp_mat3 back = perp_mat3_transpose(rotation), half = perp_mat3_mul(rotation, a);
    return perp_mat3_mul(&half, &back);
}

/* One Jacobi rotation in the plane (p, q) that zeroes s[p][q]; v collects the rotations. */
static void jacobi_rotate(double s[3][3], double v[3][3], int p, int q)
{
    if (s[p][q] == 0.0) {
        return;
    }
    const double theta = 0.5 * (s[q][q] - s[p][p]) / s[p][q];
    const double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), sn = t * c;
    for (int k = 0; k < 3; k++) {
        const double kp = s[k][p], kq = s[k][q];
        s[k][p] = c * kp - sn * kq;
        s[k][q] = sn * kp + c * kq;
    }
    for (int k = 0; k < 3; k++) {
        const double pk = s[p][k], qk = s[q][k];
        s[p][k] = c * pk - sn * qk;
        s[q][k] = sn * pk + c * qk;
        const double vp = v[k][p], vq = v[k][q];
        v[k][p] = c * vp - sn * vq;
        v[k][q] = sn * vp + c * vq;
    }
}

void perp_mat3_symmetric_eigen(const perp_mat3 *a, double values[3], perp_mat3 *vectors)
{
    double s[3][3] = {{a->m[0], a->m[1], a->m[2]}, {a->m[1], a->m[4], a->m[5]}, {a->m[2], a->m[5], a->m[8]}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    /* Cyclic Jacobi converges quadratically; 3 x 3 matrices are diagonal to the last bit after 5 or 6 sweeps. */
    for (int sweep = 0; sweep < 12; sweep++) {
        jacobi_rotate(s, v, 0, 1);
        jacobi_rotate(s, v, 0, 2);
        jacobi_rotate(s, v, 1, 2);
    }
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++) {
        for (int j = i + 1; j < 3; j++) {
            if (s[order[j]][order[j]] < s[order[i]][order[i]]) {
                const int swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
        }
    }
    for (int j = 0; j < 3; j++) {
        values[j] = s[order[j]][order[j]];
        for (int i = 0; vectors && i < 3; i++) {
            vectors->m[3 * i + j] = v[i][order[j]];
        }
    }
}

perp_quat perp_quat_normalise(perp_quat q)
{
    const double largest = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z)));
    if (!(largest > 0.0)) {
        return perp_quat_identity();
    }
    q.w /= largest;
    q.x /= largest;
    q.y /= largest;
    q.z /= largest;
    const double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    perp_quat r = {q.w / norm, q.x / norm, q.y / norm, q.z / norm};
    return r;
}

perp_quat perp_quat_from_axis_angle(perp_vec3 axis_unit, double angle)
{
    const double s = sin(0.5 * angle);
    perp_quat r = {cos(0.5 * angle), s * axis_unit.x, s * axis_unit.y, s * axis_unit.z};
    return r;
}

perp_quat perp_quat_from_rpy(double roll, double pitch, double yaw)
{
    const perp_quat x = perp_quat_from_axis_angle(perp_vec3_make(1, 0, 0), roll);
    const perp_quat y = perp_quat_from_axis_angle(perp_vec3_make(0, 1, 0), pitch);
    const perp_quat z = perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), yaw);
    return perp_quat_mul(z, perp_quat_mul(y, x));
}

void perp_quat_to_rpy(perp_quat rotation, double rpy[3])
{
    const perp_mat3 r = perp_quat_to_mat3(rotation);
    const double horizontal = hypot(r.m[0], r.m[3]);
    rpy[1] = atan2(-r.m[6], horizontal);
    if (horizontal > POLE) {
        /* Near the pole yaw is poorly determined by itself. Roll is therefore read from what this yaw leaves,
         * Rz' R = Ry Rx with second row (0, cos roll, -sin roll), so that all three together give the rotation back. */
        rpy[2] = atan2(r.m[3], r.m[0]);
        const double c = cos(rpy[2]), s = sin(rpy[2]);
        rpy[0] = atan2(s * r.m[2] - c * r.m[5], c * r.m[4] - s * r.m[1]);
    } else {
        rpy[0] = 0.0;
        rpy[2] = atan2(-r.m[1], r.m[4]);
    }
}

perp_quat perp_quat_exp(perp_vec3 w)
{
    const double square = perp_vec3_dot(w, w);
    const double angle = sqrt(square);
    /* sin(x/2)/x, or its series. */
    const double s = angle > SERIES_ANGLE ? sin(0.5 * angle) / angle : 0.5 - square / 48.0;
    perp_quat r = {cos(0.5 * angle), s * w.x, s * w.y, s * w.z};
    return r;
}

perp_vec3 perp_quat_log(perp_quat q)
{
    if (q.w < 0.0) {
        q.w = -q.w;
        q.x = -q.x;
        q.y = -q.y;
        q.z = -q.z;
    }
    const perp_vec3 v = {q.x, q.y, q.z};
    const double sine = perp_vec3_norm(v);
    /* 2 atan2(s, w)/s; for small s it is 2/w (1 - s^2/(3 w^2)). */
    const double scale =
        sine > SERIES_ANGLE ? 2.0 * atan2(sine, q.w) / sine : 2.0 / q.w * (1.0 - sine * sine / (3.0 * q.w * q.w));
    return perp_vec3_scale(scale, v);
}

/* Shepperd's method: the largest of w, x, y, z is computed from the diagonal, the others from it, so that nothing
 * small is divided by. */
perp_quat perp_quat_from_mat3(const perp_mat3 *r)
{
    const double *m = r->m;
    const double trace = m[0] + m[4] + m[8];
    perp_quat q;
    if (trace >= m[0] && trace >= m[4] && trace >= m[8]) {
        q = (perp_quat){1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    } else if (m[0] >= m[4] && m[0] >= m[8]) {
        q = (perp_quat){m[7] - m[5], 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]};
    } else if (m[4] >= m[8]) {
        q = (perp_quat){m[2] - m[6], m[1] + m[3], 1.0 + m[4] - m[0] - m[8], m[5] + m[7]};
    } else {
        q = (perp_quat){m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 + m[8] - m[0] - m[4]};
    }
    return perp_quat_normalise(q);
}

perp_vec3 perp_quat_rotate(perp_quat q, perp_vec3 x)
{
    const perp_vec3 u = {q.x, q.y, q.z};
    const perp_vec3 t = perp_vec3_scale(2.0, perp_vec3_cross(u, x));
    return perp_vec3_add(perp_vec3_add_scaled(x, q.w, t), perp_vec3_cross(u, t));
}

perp_pose perp_pose_mul(perp_pose outer, perp_pose inner)
{
    perp_pose r = {perp_quat_mul(outer.rotation, inner.rotation), perp_pose_apply(outer, inner.position)};
    return r;
}

perp_pose perp_pose_inverse(perp_pose pose)
{
    const perp_quat back = perp_quat_conjugate(pose.rotation);
    perp_pose r = {back, perp_vec3_scale(-1.0, perp_quat_rotate(back, pose.position))};
    return r;
}

perp_vec3 perp_pose_apply(perp_pose pose, perp_vec3 x)
{
    return perp_vec3_add(perp_quat_rotate(pose.rotation, x), pose.position);
}

void perp_tangents(perp_vec3 n, perp_vec3 *t, perp_vec3 *o)
{
    const perp_vec3 start = fabs(n.x) > 0.9 ? perp_vec3_make(0, 1, 0) : perp_vec3_make(1, 0, 0);
    *t = perp_vec3_normalise(perp_vec3_add_scaled(start, -perp_vec3_dot(start, n), n));
    *o = perp_vec3_cross(n, *t);
}
