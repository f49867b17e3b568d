/* cone.c - the table of friction cones: a name, and the corners of the section D that friction over mu fn lies in. All
 * that other files need of a polygon follows from its corners. */
#include "scene/cone.h"

typedef struct cone_kind {
    const char *name;
    /* Both NULL: D is the unit disc. */
    int (*count)(int rays);
    void (*corner)(int rays, int j, double out[2]);
} cone_kind;

static int count_rays(int rays)
{
    return rays;
}

/* Quarters are exact, so that four rays are +-t, +-o. */
static void corner_of_rays(int rays, int j, double out[2])
{
    static const double TURN = 6.283185307179586476925, QUARTER[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const bool quarter = 4 * j % rays == 0;
    out[0] = quarter ? QUARTER[4 * j / rays & 3][0] : cos(TURN * j / rays);
    out[1] = quarter ? QUARTER[4 * j / rays & 3][1] : sin(TURN * j / rays);
}

static int count_box(int rays)
{
    (void)rays;
    return 4;
}

static void corner_of_box(int rays, int j, double out[2])
{
    static const double CORNER[4][2] = {{1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    (void)rays;
    out[0] = CORNER[j][0];
    out[1] = CORNER[j][1];
}

static const cone_kind kinds[] = {
    [PERP_CONE_UNSET] = {"none", NULL, NULL},
    [PERP_CONE_QUADRATIC] = {"quadratic", NULL, NULL},
    [PERP_CONE_RAYS] = {"rays", count_rays, corner_of_rays},
    [PERP_CONE_BOX] = {"box", count_box, corner_of_box},
};
_Static_assert(sizeof kinds / sizeof *kinds == PERP_CONE_COUNT, "every cone is in the table");

const char *perp_cone_name(perp_cone cone)
{
    return (unsigned)cone < PERP_CONE_COUNT ? kinds[cone].name : "unknown";
}

int perp_cone_corner_count(perp_cone cone, int rays)
{
    return kinds[cone].count ? kinds[cone].count(rays) : 0;
}

void perp_cone_corner(perp_cone cone, int rays, int j, double corner[2])
{
    kinds[cone].corner(rays, j, corner);
}

void perp_cone_facet(perp_cone cone, int rays, int j, double facet[2])
{
    double p[2], q[2];
    perp_cone_corner(cone, rays, j, p);
    perp_cone_corner(cone, rays, (j + 1) % perp_cone_corner_count(cone, rays), q);
    const double area = p[0] * q[1] - p[1] * q[0]; /* of the triangle with the middle, twice */
    facet[0] = (q[1] - p[1]) / area;
    facet[1] = (p[0] - q[0]) / area;
}

double perp_cone_measure(perp_cone cone, int rays, const double d[2])
{
    const int count = perp_cone_corner_count(cone, rays);
    double most = count > 0 ? 0.0 : hypot(d[0], d[1]);
    for (int j = 0; j < count; j++) {
        double facet[2];
        perp_cone_facet(cone, rays, j, facet);
        most = fmax(most, facet[0] * d[0] + facet[1] * d[1]);
    }
    return most;
}
