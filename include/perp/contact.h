/* perp/contact.h - from a state to its contacts: gaps, frames, Jacobians, friction, islands.
 *
 * A contact is an ordered pair of points of two bodies. `a` is the body that comes first in the scene; the normal
 * points from a to b; phi > 0 is separation. The frame is (n, t, o): t = normalise(e_x - (e_x . n) n), with e_y in
 * place of e_x where |n_x| > 0.9, o = n x t; a pair may set `tangent`, which is projected on the tangent plane (where
 * nothing is left of it, to 1e-6 rad, the default holds). In the plane t = (n_y, -n_x), whatever a pair's `tangent`
 * says, and there is no o.
 *
 * The contact model is constant after it is built and may be shared by threads; a contact set is the result and the
 * scratch of one thread.
 *
 * From one witness to the other it is phi along n, and no way across, but for the further places of a hole's wall that
 * geometry.h lists beside the nearest one.
 *
 * A hole is solid all around its bore and a plane all below itself, as geometry.h defines them: whatever is in a hole's
 * plate, however far from the bore, is inside it. Where a body has several holes, or a hole and what stands beside it,
 * pairs that are not meant to meet belong in `contacts.exclude`.
 *
 * Left out are pairs of shapes of one body, of bodies that cannot move relative to each other (both fixed, or welded by
 * fixed joints), of jointed neighbours (a joint's parent and child, and what is welded to them other than through the
 * world or a fixed body), of bodies that a loop joins (point or weld; they and what is welded to them, as with joints),
 * and of `contacts.exclude`. Two driven or commanded bodies are listed: a rung may not be able
 * to part them, but a person wants to know.
 */
#ifndef PERP_CONTACT_H
#define PERP_CONTACT_H

#include <perp/base.h>
#include <perp/geometry.h>
#include <perp/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perp_contact_model perp_contact_model;

/* Prepares the shapes of a model (hulls, convex parts of polygons) and the pairs that are left out. The model is
 * borrowed and must outlive it. OUT_OF_MEMORY, BAD_INPUT (a mesh without a hull, a polygon that cannot be split). */
PERP_API perp_status perp_contact_model_build(const perp_model *model, const perp_allocator *allocator,
                                              perp_contact_model **contact_model, perp_error *error);
PERP_API void perp_contact_model_free(perp_contact_model *contact_model); /* NULL allowed */

typedef struct perp_contact_settings {
    size_t size;      /* of this struct; see perp/base.h */
    double margin;    /* contacts are listed up to this gap, m */
    int max_contacts; /* more are a CAPACITY error, never dropped */
} perp_contact_settings;

/* The scene's margin; max_contacts 2^31 - 1, so that memory is the limit. */
static inline perp_contact_settings perp_contact_settings_default(const perp_scene *scene)
{
    perp_contact_settings r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.margin = scene->margin;
    r.max_contacts = INT32_MAX;
    return r;
}

typedef struct perp_contact {
    int a, b;                   /* bodies, a < b */
    int shape_a, shape_b;       /* shapes of these bodies */
    int feature_a, feature_b;   /* perp_feature; of a polygon, as the scene lists its corners */
    double phi;                 /* m */
    perp_vec3 normal, t, o;     /* world; o = 0 in the plane */
    perp_vec3 point_a, point_b; /* witnesses, world */
    double friction;            /* mu >= 0 */
    double load;                /* N: of a support the normal force, which is given */
    double arm;          /* m: of a support that is an ellipsoid the largest moment over the largest force; else 0 */
    int direction_count; /* dimensions of the friction force: 2 (planar 1), fewer where a pair restricts it: what
                            its `friction_directions` span on the tangent plane */
    perp_vec3 directions[2]; /* orthonormal, in the tangent plane; (t, o) unless restricted */
    double restitution;
    int pair; /* of the scene's pairs, -1: none */
    bool tie; /* another normal would be as good */
} perp_contact;

/* A planar body rests on the plane of its scene (perp_support in scene.h): a and b are both that body, the normal is
 * e_z, out of the plane, t = e_x, o = e_y, phi = 0, and both witnesses are the point of the body that rests there. The
 * force on b is that of the plane on the body. Such contacts stand before the others of their body. */
static inline bool perp_contact_is_support(const perp_contact *contact)
{
    return perp_feature_kind_of(contact->feature_b) == PERP_FEATURE_SUPPORT;
}

/* Of a contact in the problem of a step: n, the friction directions and, for an ellipsoid, the turning times its arm.
 */
static inline int perp_contact_row_count(const perp_contact *contact)
{
    return 1 + contact->direction_count + (contact->arm > 0.0 ? 1 : 0);
}

/* Tangents of a contact, and numbers in its ft and slip. */
static inline int perp_contact_tangents(const perp_contact *contact, bool planar)
{
    return planar && !perp_contact_is_support(contact) ? 1 : 2;
}

/* The same shapes and features of the same bodies: one contact, at whatever states. */
static inline bool perp_contact_same(const perp_contact *x, const perp_contact *y)
{
    return x->a == y->a && x->b == y->b && x->shape_a == y->shape_a && x->shape_b == y->shape_b &&
           x->feature_a == y->feature_a && x->feature_b == y->feature_b;
}

/* The result. Everything belongs to the set and lasts until its next build.
 *
 * Contacts come in a fixed order: by body a, body b, shape a, shape b, of a concave polygon by convex parts, and
 * within one manifold in the order of perp_planar_manifold_build and perp_spatial_manifold_build.
 *
 * Jacobians are block-sparse: contact i depends on the degrees of freedom dofs[dof_start[i]] .. dofs[dof_start[i+1]-1]
 * (ascending), those of the chains of a and b, each once (of one tree, a common ancestor's column is the small
 * difference of two witnesses' motions, not zero where phi is not). Its rows are jacobian + rows * dof_start[i],
 * row-major, `rows` x (number of its degrees of freedom): the velocity of b's witness minus that of a's along n, t and
 * (spatial) o. Prescribed degrees of freedom have their columns too. */
typedef struct perp_contact_set {
    int count;
    const perp_contact *contacts;
    int rows;               /* 3, planar 2, or 3 where bodies have a support; 4 with ellipsoids */
    const int *dof_start;   /* count + 1 */
    const int *dofs;        /* dof_start[count] */
    const double *jacobian; /* rows * dof_start[count] */
    double smallest_gap;    /* of all contacts; +infinity where there is none within the margin */
    double scene_size;      /* m: diagonal of the box around all bounded shapes, at least 1e-3 */
    bool grew;              /* memory was taken in the last build */
    struct perp_contact_set_memory *memory;
} perp_contact_set;

/* `settings` NULL: the default ones; `allocator` NULL: malloc. The set borrows the contact model. */
PERP_API perp_status perp_contact_set_create(const perp_contact_model *contact_model,
                                             const perp_contact_settings *settings, const perp_allocator *allocator,
                                             perp_contact_set **set, perp_error *error);
PERP_API void perp_contact_set_free(perp_contact_set *set); /* NULL allowed */

/* All contacts at the poses that perp_kinematics_update left, with Jacobians. CAPACITY: more than max_contacts;
 * OUT_OF_MEMORY; BAD_INPUT: a pose is not finite. On failure the set is empty and good for another build. In steady
 * state (no more pairs and contacts than before) takes no memory. */
PERP_API perp_status perp_contact_set_build(perp_contact_set *set, const perp_kinematics *kinematics,
                                            perp_error *error);

/* out (rows * count): J v, the velocity of b relative to a along n, t, o of each contact: of the two material points
 * that are at the witnesses now. Row 0, the rate at which these part along n, is d phi / dt at the nearest points of
 * two shapes. At the other points of a manifold (a corner under a tilted face, borders of faces that cross) the place
 * of the gap also slides over the bodies, and where a surface is not square to n that changes phi too: d phi / dt
 * differs from row 0 by at most the sum, over both surfaces, of the sine of the surface's tilt against the plane square
 * to n times the speed at which the witness slides over it. At the further places of a hole's wall, which turn with the
 * nearest one, row 0 is the rate with n held.
 *
 * With only the prescribed entries of v filled (perp_prescribed_velocity), h times row 0 is what driven bodies add to
 * the gap until the end of the step, and phi + h (J v)_n its prediction. */
PERP_API void perp_contact_velocity(const perp_contact_set *set, const double *v, double *out);
/* force (nv) += J' r, with r (rows * count) the forces on b along n, t, o. */
PERP_API void perp_contact_add_force(const perp_contact_set *set, const double *r, double *force);

/* The identity of a contact between its two bodies: "s0.c3-s1.f4": shape, then the feature's letter (c corner, e edge,
 * f face, s side, r rim, u surface) and number. Corner k of a polygon is the k-th of the scene's list, edge k the
 * one from there to the next, whatever convex parts a concave one is cut into; numbers from the number of corners on
 * are cuts, which are listed only where a body is so deep inside that there is no other way out. No two contacts of a
 * set between the same bodies have the same. A point that a body rests on is "support.3". 64 bytes are enough. */
PERP_API void perp_contact_feature_text(const perp_contact *contact, char *text, size_t size);

/* Curvature of the gap over the tangent plane, for patch models: at the offset u t + w o from the contact the surfaces
 * are apart by phi + 1/2 (k[0] u^2 + 2 k[1] u w + k[2] w^2); planar: k[0] only. Sum of both surfaces' curvatures; flat
 * faces have none. Sharp edges and corners count as round with a radius of 1e-9 m. */
PERP_API void perp_contact_curvature(const perp_contact_set *set, int contact, double k[3]);

#ifdef __cplusplus
}
#endif
#endif
