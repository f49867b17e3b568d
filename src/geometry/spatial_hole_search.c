/* spatial_hole_search.c - the smallest gap over all angles around a bore.
 *
 * The function is continuous with a slope at every angle, the one of either side at a kink. Kinks downwards (slope
 * jumps to less: another point of x becomes the nearest one at that angle) are common, kinks upwards appear where x and
 * a half plate overlap. A scan shows where the slope changes from falling to rising; in such a bracket the change is
 * found by regula falsi (Illinois), with a bisection now and then so that the bracket shrinks whatever the function. A
 * golden section would leave half of the digits of the angle, and with it of the normal, undetermined.
 */
#include "geometry/spatial_hole.h"
#include "geometry/tolerances.h"

static const double two_pi = 6.283185307179586;
static const double nearly = 0.9; /* of the tolerance, for a gap between two nodes may be less than at either */

typedef struct search {
    const spatial_hole_pair *pair;
    spatial_hole_function *evaluate;
    const void *context;
} search;

static spatial_hole_contact look(const search *s, double angle)
{
    spatial_hole_contact c;
    s->evaluate(s->pair, s->context, angle, &c);
    return c;
}

/* Gaps that differ by less are equal: what they were computed from is rounded. */
static double rounding(const spatial_hole_pair *pair)
{
    return ROUNDING * (perp_vec3_norm(pair->at) + pair->size + pair->bore + pair->half);
}

/* The smaller gap; of equal ones the smaller slope. */
static spatial_hole_contact lower(const search *s, spatial_hole_contact a, spatial_hole_contact b)
{
    const bool equal = fabs(a.gap - b.gap) <= rounding(s->pair);
    return (equal ? fabs(a.slope) < fabs(b.slope) : a.gap < b.gap) ? a : b;
}

/* A minimum between a and b: where the slope changes from falling to rising. A place in between that shows a minimum on
 * either side of it splits the search, `splits` times at most. Where two angles are so near that rounding decides which
 * gap is smaller, there may be none: then the answer does not rest. */
static spatial_hole_contact refine(const search *s, spatial_hole_contact a, spatial_hole_contact b, int splits)
{
    double weight_a = 1.0, weight_b = 1.0;
    int kept = 0; /* the end that the last step kept */
    const double enough = SAME_NUMBER * (s->pair->size + s->pair->bore), little = rounding(s->pair);
    for (int i = 0; i < 100 && b.angle - a.angle > PLACE_BRACKET; i++) {
        const double fa = weight_a * a.slope, fb = weight_b * b.slope, middle = 0.5 * (a.angle + b.angle);
        double angle = fa < 0.0 && fb > 0.0 && i % 4 != 3 ? a.angle - fa * (b.angle - a.angle) / (fb - fa) : middle;
        angle = angle > a.angle && angle < b.angle ? angle : middle;
        if (angle <= a.angle || angle >= b.angle) {
            break;
        }
        spatial_hole_contact c = look(s, angle);
        if (fabs(c.slope) <= enough) {
            c.rests = true;
            return c;
        }
        const bool left = c.slope > 0.0 ? a.slope < 0.0 || a.gap > c.gap : a.slope < 0.0 && a.gap < c.gap - little;
        const bool right = c.slope < 0.0 ? b.slope > 0.0 || b.gap > c.gap : b.slope > 0.0 && b.gap < c.gap - little;
        if (left && right && splits > 0) {
            return lower(s, refine(s, a, c, splits - 1), refine(s, c, b, splits - 1));
        }
        if (left && (!right || a.gap < b.gap)) {
            b = c;
            weight_b = 1.0;
            weight_a *= kept == -1 ? 0.5 : 1.0;
            kept = -1;
        } else {
            a = c;
            weight_a = 1.0;
            weight_b *= kept == 1 ? 0.5 : 1.0;
            kept = 1;
        }
    }
    /* where two normals take turns at a kink upwards, that which has both witnesses on the surfaces: x's farthest point
     * is beside the angle, where an edge of the half plate is still in the plate's face but not on the bore's wall */
    const bool turns =
        (a.part == SPATIAL_HOLE_WALL) != (b.part == SPATIAL_HOLE_WALL) && fabs(a.gap - b.gap) <= s->pair->tolerance;
    spatial_hole_contact c = !turns ? lower(s, a, b) : a.part == SPATIAL_HOLE_WALL ? b : a;
    c.rests = a.slope < 0.0 && b.slope > 0.0;
    return c;
}

enum { NODES = SPATIAL_HOLE_SECTORS + SPATIAL_HOLE_EXTRA, SPLITS = 3, HALVINGS = 4 };

/* Angles count from here where the first of several tied ones is taken: designs have theirs at rounder numbers. */
static double order_of(double angle)
{
    const double from = angle + 0.1;
    return from - two_pi * floor(from / two_pi);
}

/* The smallest minima that were found, all within the tolerance of the first when they came. */
typedef struct answer {
    int count;
    spatial_hole_contact of[NODES];
} answer;

static void keep(answer *all, const spatial_hole_contact *c, double tolerance)
{
    double least = c->gap;
    for (int i = 0; i < all->count; i++) {
        least = fmin(least, all->of[i].gap);
    }
    int kept = 0;
    for (int i = 0; i < all->count; i++) {
        if (all->of[i].gap <= least + tolerance) {
            all->of[kept++] = all->of[i];
        }
    }
    all->count = kept;
    if (c->gap <= least + tolerance && kept < NODES) {
        all->of[all->count++] = *c;
    }
}

/* Drops what is no minimum: there the nearest point of x is beside the line of the normal, by the slope, and such a
 * place between two tied minima must not be the first of them. If none is a minimum, the smallest is left. */
static void drop_slopes(answer *all)
{
    int kept = 0, least = 0;
    for (int i = 1; i < all->count; i++) {
        least = all->of[i].gap < all->of[least].gap ? i : least;
    }
    const spatial_hole_contact smallest = all->of[least];
    for (int i = 0; i < all->count; i++) {
        if (all->of[i].rests) {
            all->of[kept++] = all->of[i];
        }
    }
    if (kept == 0) {
        all->of[kept++] = smallest;
    }
    all->count = kept;
}

/* The first of the smallest; of those with its normal, the smallest of all. */
static spatial_hole_contact choose(answer *all)
{
    drop_slopes(all);
    int first = 0;
    for (int i = 1; i < all->count; i++) {
        first = order_of(all->of[i].angle) < order_of(all->of[first].angle) ? i : first;
    }
    spatial_hole_contact c = all->of[first];
    bool tie = false;
    for (int i = 0; i < all->count; i++) {
        if (spatial_hole_normals_differ(&all->of[first], &all->of[i])) {
            tie = true;
        } else if (all->of[i].gap < c.gap) {
            c = all->of[i];
        }
    }
    c.tie = c.tie || tie;
    return c;
}

spatial_hole_contact perp_spatial_hole_first(const spatial_hole_pair *pair, const spatial_hole_contact *minima,
                                             int count)
{
    answer all;
    all.count = 0; /* the rest is 12 kB that need no zeros */
    for (int i = 0; i < count; i++) {
        keep(&all, &minima[i], pair->tolerance);
    }
    return choose(&all);
}

/* Whether values and slopes show a minimum between a and b, and it can be below `least`. */
static bool dips(const spatial_hole_pair *pair, const spatial_hole_contact *a, const spatial_hole_contact *b,
                 double least)
{
    const double reach = hypot(pair->at.x, pair->at.y) + pair->size + pair->bore, width = b->angle - a->angle;
    const double lowest = fmin(a->gap + width * a->slope, b->gap - width * b->slope) - 0.5 * width * width * reach;
    const bool falls = a->slope < 0.0 && (b->slope > 0.0 || b->gap > a->gap);
    return (falls || (b->slope > 0.0 && a->gap > b->gap)) && lowest <= least;
}

/* The nodes of the scan: sectors of equal width and the extra angles, ascending. */
static int list_nodes(const search *s, const spatial_hole_angles *at, spatial_hole_contact nodes[NODES])
{
    double angles[NODES];
    int count = at->sectors;
    for (int k = 0; k < at->sectors; k++) {
        angles[k] = two_pi * k / at->sectors;
    }
    for (int k = 0; k < at->count; k++) {
        const double angle = at->of[k] - two_pi * floor(at->of[k] / two_pi);
        int place = count++;
        for (; place > 1 && angles[place - 1] > angle; place--) {
            angles[place] = angles[place - 1];
        }
        angles[place] = angle;
    }
    for (int i = 0; i < count; i++) {
        nodes[i] = look(s, angles[i]);
    }
    return count;
}

/* A place without a slope may be a maximum, by the symmetry of x, with minima close by on both sides: such a node is
 * replaced by two that are a little beside it. */
static int split_maxima(const search *s, spatial_hole_contact nodes[NODES], int count)
{
    const double enough = SAME_NUMBER * (s->pair->size + s->pair->bore), little = 0.01 * rounding(s->pair);
    for (int i = 0; i < count && count < NODES; i++) {
        if (fabs(nodes[i].slope) > enough) {
            continue;
        }
        const spatial_hole_contact left = look(s, nodes[i].angle - BESIDE), right = look(s, nodes[i].angle + BESIDE);
        const bool first = i == 0 || nodes[i - 1].angle < left.angle;
        const bool last = i + 1 == count || nodes[i + 1].angle > right.angle;
        if (first && last && left.slope > 0.0 && right.slope < 0.0 &&
            fmin(left.gap, right.gap) < nodes[i].gap - little) {
            for (int k = count++; k > i + 1; k--) {
                nodes[k] = nodes[k - 1];
            }
            nodes[i] = left;
            nodes[++i] = right;
        }
    }
    return count;
}

static bool same_features(const spatial_hole_contact *a, const spatial_hole_contact *b)
{
    return a->part == b->part && a->end == b->end && a->corners[0] == b->corners[0] && a->corners[1] == b->corners[1];
}

/* Finds the minima between a and b. Where other features are nearest at b, or the slopes do not grow from a to b as
 * they should, there may be a kink downwards in between with a minimum on either side: then halves are looked at. */
static void scan(const search *s, const spatial_hole_contact *a, const spatial_hole_contact *b, double least,
                 int halvings, answer *all)
{
    const double width = b->angle - a->angle, rise = (b->gap - a->gap) / width;
    const bool low = fmin(a->gap + width * a->slope, b->gap - width * b->slope) <= least;
    if (halvings > 0 && low && (rise < a->slope || rise > b->slope || !same_features(a, b))) {
        spatial_hole_contact c = look(s, 0.5 * (a->angle + b->angle));
        if (c.slope == 0.0) {
            c.rests = true;
            keep(all, &c, s->pair->tolerance);
        }
        scan(s, a, &c, least, halvings - 1, all);
        scan(s, &c, b, least, halvings - 1, all);
    } else if (dips(s->pair, a, b, least)) {
        const spatial_hole_contact c = refine(s, *a, *b, SPLITS);
        keep(all, &c, s->pair->tolerance);
    }
}

spatial_hole_contact perp_spatial_hole_minimum(const spatial_hole_pair *pair, spatial_hole_function *evaluate,
                                               const void *context, const spatial_hole_angles *angles)
{
    const search s = {pair, evaluate, context};
    spatial_hole_contact nodes[NODES];
    int count = list_nodes(&s, angles, nodes);
    double least = INFINITY, most = -INFINITY;
    bool differ = false;
    for (int i = 0; i < count; i++) {
        least = fmin(least, nodes[i].gap);
        most = fmax(most, nodes[i].gap);
        differ = differ || spatial_hole_normals_differ(&nodes[0], &nodes[i]);
    }
    const bool coaxial = differ && most - least <= 2.0 * pair->tolerance;
    if (coaxial && nodes[0].gap <= least + nearly * pair->tolerance &&
        fabs(nodes[0].slope) <= nearly * pair->tolerance) {
        nodes[0].tie = true; /* the hole's +x */
        return nodes[0];
    }
    count = coaxial ? count : split_maxima(&s, nodes, count);
    answer all;
    all.count = 0; /* the rest is 12 kB that need no zeros */
    for (int i = 0; i < count; i++) {
        spatial_hole_contact *a = &nodes[i];
        spatial_hole_contact b = nodes[i + 1 < count ? i + 1 : 0];
        b.angle += i + 1 < count ? 0.0 : two_pi;
        if (a->slope == 0.0) {
            a->rests = true;
            keep(&all, a, pair->tolerance);
        }
        if (b.angle > a->angle) {
            scan(&s, a, &b, least + pair->tolerance, HALVINGS, &all);
        }
    }
    for (int i = 0; i < count && all.count == 0; i++) { /* rounding hid it: the best that was seen */
        if (nodes[i].gap == least) {
            keep(&all, &nodes[i], pair->tolerance);
        }
    }
    spatial_hole_contact c = choose(&all);
    c.tie = c.tie || coaxial;
    return c;
}

spatial_hole_contact perp_spatial_hole_pin_minimum(const spatial_hole_pair *pair, spatial_hole_function *evaluate,
                                                   int which)
{
    spatial_hole_angles angles;
    angles.sectors = 16;
    angles.count = evaluate == perp_spatial_hole_end_on_wall ? perp_spatial_hole_end_angles(pair, which, angles.of) : 0;
    return perp_spatial_hole_minimum(pair, evaluate, &which, &angles);
}
