#include "quasistatic_packing.h"

#include <math.h>

static double up_of(const packing *p, perp_vec3 x)
{
    return p->planar ? x.y : x.z;
}

/* Gap of a ball at `centre` over surface i (planes, then balls), and its gradient, the surface's normal. */
static double gap(const packing *p, int i, perp_vec3 centre, double radius, perp_vec3 *normal)
{
    if (i < p->plane_count) {
        *normal = p->planes[i].normal;
        return perp_vec3_dot(*normal, centre) - p->planes[i].offset - radius;
    }
    const packing_ball *ball = &p->balls[i - p->plane_count];
    const perp_vec3 way = perp_vec3_sub(centre, ball->centre);
    *normal = perp_vec3_normalise(way);
    return perp_vec3_norm(way) - ball->radius - radius;
}

/* Solves the 3 x 3 system of rows n by Cramer's rule; false if it is nearly singular. */
static bool solve_rows(const perp_vec3 n[3], const double b[3], perp_vec3 *x)
{
    const perp_vec3 c[3] = {perp_vec3_cross(n[1], n[2]), perp_vec3_cross(n[2], n[0]), perp_vec3_cross(n[0], n[1])};
    const double determinant = perp_vec3_dot(n[0], c[0]);
    if (!(fabs(determinant) > 1e-3)) {
        return false;
    }
    *x = perp_vec3_make(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        *x = perp_vec3_add_scaled(*x, b[k] / determinant, c[k]);
    }
    return true;
}

/* Are the three normals able to push up? In the plane the third is z and carries nothing. */
static bool carries(const packing *p, const perp_vec3 n[3])
{
    const perp_vec3 up = p->planar ? perp_vec3_make(0, 1, 0) : perp_vec3_make(0, 0, 1);
    const perp_vec3 c[3] = {perp_vec3_cross(n[1], n[2]), perp_vec3_cross(n[2], n[0]), perp_vec3_cross(n[0], n[1])};
    const double determinant = perp_vec3_dot(n[0], c[0]);
    for (int k = 0; k < (p->planar ? 2 : 3); k++) {
        if (!(perp_vec3_dot(up, c[k]) / determinant >= 0.0)) {
            return false;
        }
    }
    return true;
}

/* Newton's method to the place where all of `which` touch. */
static bool touch(const packing *p, const int which[3], double radius, perp_vec3 *centre)
{
    perp_vec3 n[3];
    for (int iteration = 0; iteration < 50; iteration++) {
        double b[3] = {0.0, 0.0, 0.0}, worst = 0.0;
        perp_vec3 step;
        n[2] = perp_vec3_make(0, 0, 1);
        for (int k = 0; k < (p->planar ? 2 : 3); k++) {
            b[k] = -gap(p, which[k], *centre, radius, &n[k]);
            worst = fmax(worst, fabs(b[k]));
        }
        if (!solve_rows(n, b, &step)) {
            return false;
        }
        if (worst < 1e-15) {
            break;
        }
        const double length = perp_vec3_norm(step), most = 0.1; /* m: normals turn on the way */
        *centre = perp_vec3_add_scaled(*centre, length > most ? most / length : 1.0, step);
    }
    for (int i = 0; i < p->plane_count + p->ball_count; i++) {
        perp_vec3 normal;
        if (!(gap(p, i, *centre, radius, &normal) >= -1e-12)) {
            return false;
        }
    }
    return carries(p, n);
}

bool packing_drop(packing *p, double radius)
{
    const int surfaces = p->plane_count + p->ball_count;
    perp_vec3 best = {0, 0, 0};
    bool found = false;
    if (p->ball_count == PACKING_BALLS) {
        return false;
    }
    for (int i = 0; i < surfaces; i++) {
        for (int j = i + 1; j < surfaces; j++) {
            for (int k = p->planar ? surfaces : j + 1; k < surfaces + (p->planar ? 1 : 0); k++) {
                const int which[3] = {i, j, k};
                perp_vec3 centre = p->planar ? perp_vec3_make(0.001, 1.0, 0) : perp_vec3_make(0.001, 0.002, 1.0);
                if (touch(p, which, radius, &centre) && (!found || up_of(p, centre) < up_of(p, best))) {
                    best = centre;
                    found = true;
                }
            }
        }
    }
    if (found) {
        p->balls[p->ball_count++] = (packing_ball){best, radius};
    }
    return found;
}

int packing_highest(const packing *p)
{
    int highest = 0;
    for (int i = 1; i < p->ball_count; i++) {
        const double rise = up_of(p, p->balls[i].centre) + p->balls[i].radius;
        highest = rise > up_of(p, p->balls[highest].centre) + p->balls[highest].radius ? i : highest;
    }
    return highest;
}
