/* The largest ball about 0 in the hull of the unit wrenches, by a polytope that grows within the hull (as the expanding
 * polytope algorithm does for the depth of an overlap, in up to six dimensions).
 *
 * The polytope is a set of simplices ("facets") with corners in the hull that surround 0. The nearest one is taken, by
 * the plane through its corners; the hull is asked how far it reaches along that plane's normal. No farther: the ball
 * is found. Else the point there becomes a corner: facets that it sees are taken out, and their common border is joined
 * to it. The radius is never less than the distance of the nearest facet (`low`) and never more than the hull's reach
 * in any direction that was asked (`high`).
 *
 * Why `low` holds whatever was rounded. Facets are put in and taken out so that every ridge is shared by an even number
 * of them: a border is what belongs to an odd number of those taken out. What is taken out and put in bounds simplices
 * that do not contain 0, for the facet's normal has a positive product with its corners and with the new point. So
 * every ray from 0 keeps crossing an odd number of facets, at least one. Along its own normal no point of a facet is
 * lower than its lowest corner, which is its height, and a ball whose radius is the least height is inside. It needs
 * neither convexity nor neighbours, which rounding spoils where many corners lie in one plane. A facet whose corners do
 * not span a plane is seen from nowhere but an edge, and says nothing about the ball.
 *
 * The first facets are those of a tiny cross, which need not be in the hull. When the least height has passed its size,
 * none of its corners touches the ball, and the hull reaches beyond it in all directions by itself: wherever it did
 * not, hull and cross together would not either. */
#include "analysis/tolerances.h"
#include "analysis/wrench_cones.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

enum {
    POINTS_MOST = 4000, /* below 2^12, for ridges */
    FACETS_MOST = 8000,
    DECIDE_MOST = 20000, /* facets, for whether 0 is inside: some 250 are enough */
    DESCENTS = 1000,     /* steps */
    RIDGE_BITS = 12,
    RIDGES_LEAST = 1 << 9, /* places for them; a power of two, as the next */
    RIDGES_MOST = 1 << 16
};

typedef struct ball_facet {
    int corner[WRENCH_MOST]; /* ascending */
    double normal[WRENCH_MOST], height;
    bool flat; /* its corners do not span a plane */
    bool seen; /* from the new point */
} ball_facet;

typedef struct ball_ridge {
    uint64_t key; /* its corners, 1 added to each; 0: the place is free */
    bool odd;
} ball_ridge;

typedef struct growing {
    const wrench_cones *cones;
    perp_arena *arena;
    int n, point_count, facet_count, ridge_count;
    int point_room, facet_room, ridge_room;
    double (*point)[WRENCH_MOST];
    ball_facet *facet;
    ball_ridge *ridge; /* ridge_room, by hash; at most half are used */
    int *place;        /* ridge_count: of the ridges in use, in the order they came */
    double reach;      /* of the hull: the largest distance that was seen */
    bool out_of_memory;
} growing;

/* ---- room: most hulls need little of it -------------------------------------------------------------------------- */

static bool have(growing *g, const void *memory)
{
    g->out_of_memory = g->out_of_memory || !memory;
    return memory != NULL;
}

static bool make_point_room(growing *g)
{
    void *point = perp_arena_grow(g->arena, g->point, g->point_count, &g->point_room, sizeof *g->point);
    g->point = point ? point : g->point;
    return have(g, point);
}

static bool make_facet_room(growing *g, int count)
{
    while (g->facet_room < count) {
        void *facet = perp_arena_grow(g->arena, g->facet, g->facet_room, &g->facet_room, sizeof *g->facet);
        if (!have(g, facet)) {
            return false;
        }
        g->facet = facet;
    }
    return true;
}

/* For those of so many facets; none is in use. */
static bool make_ridge_room(growing *g, int facets)
{
    int room = g->ridge_room;
    while (room < RIDGES_MOST && room < 2 * g->n * (facets + 1)) {
        room *= 2;
    }
    if (room == g->ridge_room && g->ridge) {
        return true;
    }
    g->ridge_room = room;
    g->ridge = PERP_ARENA_NEW(g->arena, ball_ridge, (size_t)room);
    g->place = PERP_ARENA_NEW(g->arena, int, (size_t)room / 2);
    return have(g, g->ridge) && have(g, g->place);
}

/* ---- facets ------------------------------------------------------------------------------------------------------ */

/* The vector whose product with each corner is 1, by elimination with partial pivoting; rows are of unit length, for
 * corners of the first cross are tiny. False where it is not unique. */
static bool plane(const growing *g, const int *corner, double *y)
{
    double a[WRENCH_MOST][WRENCH_LIFTED], *row[WRENCH_MOST];
    const int n = g->n;
    for (int i = 0; i < n; i++) {
        const double *p = g->point[corner[i]], size = 1.0 / sqrt(perp_vector_dot(n, p, p));
        for (int j = 0; j < n; j++) {
            a[i][j] = p[j] * size;
        }
        a[i][n] = size;
        row[i] = a[i];
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(row[i][k]) > fabs(row[best][k]) ? i : best;
        }
        double *head = row[best];
        row[best] = row[k];
        row[k] = head;
        if (fabs(head[k]) <= FACET_FLAT) {
            return false;
        }
        for (int i = k + 1; i < n; i++) {
            const double factor = row[i][k] / head[k];
            for (int j = k + 1; j <= n; j++) {
                row[i][j] -= factor * head[j];
            }
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        y[k] = row[k][n];
        for (int j = k + 1; j < n; j++) {
            y[k] -= row[k][j] * y[j];
        }
        y[k] /= row[k][k];
    }
    return true;
}

/* A corner of a facet with a 1 behind it; wrench_project has what that is for. */
typedef struct facet_corners {
    const growing *g;
    const int *corner;
} facet_corners;

static double best_corner(const void *context, const double *y, double *w)
{
    const facet_corners *of = context;
    const int n = of->g->n;
    double most = -INFINITY;
    for (int i = 0; i < n; i++) {
        const double *p = of->g->point[of->corner[i]], reach = perp_vector_dot(n, y, p) + y[n];
        if (reach > most) {
            most = reach;
            memcpy(w, p, (size_t)n * sizeof *w);
        }
    }
    w[n] = 1.0;
    return most;
}

/* The direction of the point nearest to 0 between corners that span no plane: none of them is lower along it. */
static void nearest_point(const growing *g, const int *corner, double *y)
{
    const facet_corners of = {g, corner};
    double target[WRENCH_LIFTED] = {0.0};
    target[g->n] = 1.0;
    const wrench_projection found = perp_wrench_project(g->n + 1, best_corner, &of, target, WEIGHT_MOST);
    for (int i = 0; i < g->n; i++) {
        y[i] = -found.away[i];
    }
}

static void measure(const growing *g, ball_facet *f)
{
    const int n = g->n;
    f->flat = !plane(g, f->corner, f->normal);
    if (f->flat) {
        nearest_point(g, f->corner, f->normal);
    }
    const double size = sqrt(perp_vector_dot(n, f->normal, f->normal));
    f->height = INFINITY;
    for (int j = 0; j < n && size > 0.0; j++) {
        f->normal[j] /= size;
    }
    for (int i = 0; i < n; i++) {
        f->height = fmin(f->height, perp_vector_dot(n, f->normal, g->point[f->corner[i]]));
    }
}

static bool has_corner(const growing *g, const ball_facet *f, int point)
{
    bool found = false;
    for (int i = 0; i < g->n; i++) {
        found = found || f->corner[i] == point;
    }
    return found;
}

/* `ridge` and a point that is above all of its corners. */
static void put_facet(growing *g, uint64_t ridge, int point)
{
    ball_facet *f = &g->facet[g->facet_count];
    for (int i = g->n - 2; i >= 0; i--) {
        f->corner[i] = (int)(ridge & ((1u << RIDGE_BITS) - 1)) - 1;
        ridge >>= RIDGE_BITS;
    }
    int at = g->n - 1;
    for (; at > 0 && f->corner[at - 1] > point; at--) {
        f->corner[at] = f->corner[at - 1];
    }
    f->corner[at] = point;
    measure(g, f);
    g->facet_count++;
}

/* ---- ridges ------------------------------------------------------------------------------------------------------ */

static void count_ridge(growing *g, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    int at = (int)(hash >> 48) & (g->ridge_room - 1);
    while (g->ridge[at].key != 0 && g->ridge[at].key != key) {
        at = (at + 1) & (g->ridge_room - 1);
    }
    if (g->ridge[at].key == 0) {
        g->ridge[at] = (ball_ridge){key, false};
        g->place[g->ridge_count++] = at;
    }
    g->ridge[at].odd = !g->ridge[at].odd;
}

static void count_ridges(growing *g, const ball_facet *f, int without)
{
    for (int left_out = 0; left_out < g->n; left_out++) {
        uint64_t key = 0;
        bool has = false;
        for (int i = 0; i < g->n; i++) {
            if (i != left_out) {
                key = key << RIDGE_BITS | (uint64_t)(f->corner[i] + 1);
                has = has || f->corner[i] == without;
            }
        }
        if (!has) {
            count_ridge(g, key);
        }
    }
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

/* The corners of a tiny cross that stands askew, so that no unit wrench lies in one of its planes, and all its facets.
 */
static void put_cross(growing *g)
{
    static const double askew[WRENCH_MOST] = {0.41421356, 0.73205081, 0.23606798, 0.64575131, 0.31662479, 0.60555128};
    const int n = g->n;
    const double size = perp_vector_dot(n, askew, askew);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double e = (i == j ? 1.0 : 0.0) - 2.0 * askew[i] * askew[j] / size;
            g->point[2 * i][j] = CROSS_SIZE * e;
            g->point[2 * i + 1][j] = -CROSS_SIZE * e;
        }
    }
    g->point_count = 2 * n;
    for (int signs = 0; signs < 1 << n; signs++) {
        ball_facet *f = &g->facet[g->facet_count++];
        for (int i = 0; i < n; i++) {
            f->corner[i] = 2 * i + (signs >> i & 1);
        }
        measure(g, f);
    }
}

/* The index of a point, which may be there already; -1: there is no room. */
static int put_point(growing *g, const double *w)
{
    for (int i = 0; i < g->point_count; i++) {
        if (memcmp(g->point[i], w, (size_t)g->n * sizeof *w) == 0) {
            return i;
        }
    }
    if (g->point_count == POINTS_MOST || !make_point_room(g)) {
        return -1;
    }
    memcpy(g->point[g->point_count], w, (size_t)g->n * sizeof *w);
    g->reach = fmax(g->reach, sqrt(perp_vector_dot(g->n, w, w)));
    return g->point_count++;
}

/* Counts the ridges of what the point sees; returns how many belong to an odd number of them. */
static int look_from(growing *g, int point)
{
    const double *p = g->point[point], rounding = BALL_ROUNDING * g->reach;
    int border = 0;
    g->ridge_count = 0;
    for (int i = 0; i < g->facet_count; i++) {
        ball_facet *f = &g->facet[i];
        f->seen = f->height > 0.0 && perp_vector_dot(g->n, f->normal, p) > f->height + rounding &&
                  !has_corner(g, f, point) && g->ridge_count + g->n <= g->ridge_room / 2;
        if (f->seen) {
            count_ridges(g, f, point);
        }
    }
    for (int k = 0; k < g->ridge_count; k++) {
        border += g->ridge[g->place[k]].odd ? 1 : 0;
    }
    return border;
}

/* Facets that the point sees go; what joins their border to it comes. Returns how many came; 0: it sees none, or there
 * is no room for them. */
static int join(growing *g, int point)
{
    if (!make_ridge_room(g, g->facet_count)) {
        return 0;
    }
    const int border = look_from(g, point);
    int kept = 0, seen = 0;
    for (int i = 0; i < g->facet_count; i++) {
        seen += g->facet[i].seen ? 1 : 0;
    }
    const int facets = g->facet_count - seen + border;
    const bool room = facets <= FACETS_MOST && make_facet_room(g, facets);
    for (int i = 0; i < g->facet_count && room; i++) {
        if (!g->facet[i].seen) {
            g->facet[kept++] = g->facet[i];
        }
    }
    g->facet_count = room ? kept : g->facet_count;
    for (int k = 0; k < g->ridge_count; k++) {
        ball_ridge *r = &g->ridge[g->place[k]];
        if (r->odd && room) {
            put_facet(g, r->key, point);
        }
        r->key = 0;
    }
    return room ? border : 0;
}

static bool open_ball(growing *g, const wrench_cones *cones, perp_arena *arena)
{
    enum { FIRST_POINTS = 4 * WRENCH_MOST, FIRST_FACETS = 2 << WRENCH_MOST }; /* the cross and some more */
    *g = (growing){.cones = cones,
                   .arena = arena,
                   .n = cones->dimensions,
                   .point_room = FIRST_POINTS,
                   .point = perp_arena_push(arena, FIRST_POINTS, sizeof *g->point),
                   .ridge_room = RIDGES_LEAST};
    return have(g, g->point) && make_facet_room(g, FIRST_FACETS);
}

static ball_facet *lowest(const growing *g)
{
    ball_facet *best = &g->facet[0];
    for (int i = 1; i < g->facet_count; i++) {
        best = g->facet[i].height < best->height ? &g->facet[i] : best;
    }
    return best;
}

/* The hull reaches so far along y; is that the least so far? */
static bool ask(double reach, const double *y, wrench_ball *ball)
{
    if (reach >= ball->high) {
        return false;
    }
    ball->high = reach;
    memcpy(ball->direction, y, sizeof ball->direction);
    return true;
}

static double farthest_corner(const growing *g, const ball_facet *f)
{
    double most = -INFINITY;
    for (int i = 0; i < g->n; i++) {
        most = fmax(most, perp_vector_dot(g->n, f->normal, g->point[f->corner[i]]));
    }
    return most;
}

static bool take_direction(const growing *g, const double *y, wrench_ball *ball)
{
    double w[WRENCH_MOST];
    return ask(perp_wrench_support(g->cones, y, w), y, ball);
}

/* Lowers `high` where round cones left it above `low`: the facet along whose normal the hull reaches least, and from
 * there random steps whose length follows their success. */
static void come_down(const growing *g, wrench_ball *ball)
{
    double y[WRENCH_MOST], length = 0.1;
    uint64_t random = 1;
    for (int i = 0; i < g->facet_count; i++) {
        take_direction(g, g->facet[i].normal, ball);
    }
    for (int k = 0; k < DESCENTS; k++) {
        double size = 0.0;
        for (int i = 0; i < g->n; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            y[i] = ball->direction[i] + length * ((double)(random >> 11) * 0x1p-52 - 1.0);
            size += y[i] * y[i];
        }
        for (int i = 0; i < g->n; i++) {
            y[i] /= sqrt(size);
        }
        length *= take_direction(g, y, ball) ? 1.5 : 0.9;
    }
}

bool perp_wrench_ball_find(const wrench_cones *cones, double enough, int work, perp_arena *arena, wrench_ball *ball)
{
    growing g;
    *ball = (wrench_ball){.high = INFINITY};
    if (!open_ball(&g, cones, arena)) {
        return false;
    }
    const double near = perp_wrench_is_polyhedral(cones) ? 0.0 : ROUND_BALL;
    int made = 0;
    put_cross(&g);
    for (;;) {
        ball_facet *f = lowest(&g);
        double w[WRENCH_MOST] = {0.0};
        const double reach = perp_wrench_support(cones, f->normal, w);
        ball->low = f->height;
        ask(reach, f->normal, ball);
        const double rounding = BALL_ROUNDING * fmax(g.reach, 1.0);
        if (reach <= rounding || ball->low > enough || reach <= ball->low * (1.0 + near) + rounding) {
            break;
        }
        if (f->flat && f->height > CROSS_SIZE && reach <= farthest_corner(&g, f) + rounding) {
            f->height = INFINITY;
            continue;
        }
        const int point = made < (ball->low > CROSS_SIZE ? work : DECIDE_MOST) ? put_point(&g, w) : -1;
        const int came = point >= 0 ? join(&g, point) : 0;
        made += came;
        if (came == 0) {
            ball->cut = true;
            break;
        }
    }
    if (ball->low <= CROSS_SIZE) {
        ball->low = 0.0;
    } else if (ball->cut) {
        come_down(&g, ball);
    }
    return !g.out_of_memory;
}
