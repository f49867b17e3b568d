/* contact_frame.c - tangents, friction and the directions in which it acts. */
#include "contact/contact_private.h"
#include "contact/tolerances.h"

/* The unit vector along x's part square to the unit vector n; false where nothing is left of it. */
static bool project(perp_vec3 x, perp_vec3 n, perp_vec3 *unit)
{
    const perp_vec3 rest = perp_vec3_add_scaled(x, -perp_vec3_dot(x, n), n);
    const double length = perp_vec3_norm(rest);
    if (!(length > CONTACT_SAME_DIRECTION * perp_vec3_norm(x))) {
        return false;
    }
    const perp_vec3 u = perp_vec3_scale(1.0 / length, rest);
    /* Once more: a small rest carries the rounding of a large x along n. */
    *unit = perp_vec3_normalise(perp_vec3_add_scaled(u, -perp_vec3_dot(u, n), n));
    return true;
}

static void set_tangents(bool planar, const perp_pair *pair, perp_contact *c)
{
    const perp_vec3 n = c->normal;
    if (planar) {
        c->t = perp_vec3_make(n.y, -n.x, 0.0);
        c->o = perp_vec3_make(0.0, 0.0, 0.0);
    } else if (pair && pair->tangent_set && project(pair->tangent, n, &c->t)) {
        c->o = perp_vec3_cross(n, c->t);
    } else {
        perp_tangents(n, &c->t, &c->o);
    }
}

/* The span of the pair's directions on the tangent plane. Where that is the whole plane, (t, o) spans it. */
static void restrict_directions(bool planar, const perp_pair *pair, perp_contact *c)
{
    const int whole = c->direction_count;
    int count = 0;
    for (int i = 0; i < pair->direction_count && count < whole; i++) {
        perp_vec3 u;
        if (!project(pair->directions[i], c->normal, &u)) {
            continue;
        }
        if (count == 1) {
            if (!project(u, c->directions[0], &u)) {
                continue;
            }
        }
        c->directions[count++] = planar ? c->t : u;
    }
    if (count == whole) {
        c->directions[0] = c->t;
        c->directions[1] = c->o;
    }
    for (int i = count; i < 2 && count < whole; i++) {
        c->directions[i] = perp_vec3_make(0.0, 0.0, 0.0);
    }
    c->direction_count = count;
}

void perp_contact_frame(const perp_scene *scene, const contact_rule *rule, double friction, perp_contact *c)
{
    const perp_pair *pair = rule && rule->pair >= 0 ? &scene->pairs[rule->pair] : NULL;
    set_tangents(scene->planar, pair, c);
    c->direction_count = scene->planar ? 1 : 2;
    c->directions[0] = c->t;
    c->directions[1] = c->o;
    c->friction = friction;
    c->restitution = 0.0;
    c->load = c->arm = 0.0;
    c->pair = -1;
    if (pair) {
        c->pair = rule->pair;
        c->friction = pair->friction.set ? pair->friction.value : friction;
        c->restitution = pair->restitution;
        if (pair->direction_count > 0) {
            restrict_directions(scene->planar, pair, c);
        }
    }
}
