/* contact_private.h - what the files of src/contact share: convex parts, the rules of pairs, the memory of a set.
 *
 * A part is one convex piece of a shape, and one box of the broad phase. Parts stand in the order of bodies, shapes and
 * pieces, so that the index of a part orders contacts as the scene does, and a is the part with the lower index.
 *
 * To the broad phase a "body" is a cluster: bodies that fixed joints make one rigid thing. So no pair within a cluster
 * is ever looked at, and a joint leaves out one pair of clusters, however many bodies are welded to its two sides.
 */
#ifndef PERP_SRC_CONTACT_CONTACT_PRIVATE_H
#define PERP_SRC_CONTACT_CONTACT_PRIVATE_H

#include <perp/contact.h>

#include "base/arena.h"

/* What corner k of a part of a polygon, and the part's edge from it, are called: as the scene's list of corners counts
 * them, whichever part holds them. A cut through the polygon has a number beyond the corners. */
typedef struct contact_outline {
    int corner, edge;
} contact_outline;

typedef struct contact_part {
    int body, shape, part;
    bool fixed;                     /* its body cannot move */
    bool unrotated;                 /* spatial: the shape's axes are the body's */
    bool bounded;                   /* neither halfspace, halfplane nor hole */
    perp_spatial_shape spatial;     /* in the body's frame */
    perp_planar_shape planar;       /* in the body's frame */
    int corner_start;               /* planar: of its corners and borders among those of all parts */
    const contact_outline *outline; /* planar: of a polygon, by corner; NULL: features keep geometry.h's numbers */
    double friction;                /* the shape's, else the scene's */
} contact_part;

/* What the scene says about two bodies. */
typedef struct contact_rule {
    int a, b;      /* bodies, a < b */
    int pair;      /* of the scene's pairs, -1: none */
    bool excluded; /* by contacts.exclude */
} contact_rule;

/* A point that a body rests on. */
typedef struct contact_support {
    perp_vec3 place; /* body frame */
    double load;     /* N */
    double friction;
    double arm; /* m: of an ellipsoid, else 0 */
} contact_support;

struct perp_contact_model {
    const perp_model *model;
    perp_arena arena;
    int part_count;
    contact_part *parts;
    int *part_start; /* body_count + 1 */
    int *cluster;    /* by body; parts of one cluster never meet */
    int excluded_count;
    perp_index_pair *excluded; /* clusters, a < b, ascending */
    int rule_count;
    contact_rule *rules; /* ascending by a, then b */
    int *rule_start;     /* body_count + 1: the rules whose a is the body */
    contact_support *supports;
    bool ellipsoids;    /* some have an arm */
    int *support_start; /* body_count + 1 */
    bool *moves;        /* by body: some degree of freedom of its chain is not a driven body's */
    bool compound;      /* some body has several parts */
    int corner_count;   /* of all planar parts */
    int corner_most;    /* of any planar part */
    int hull_count;
    perp_spatial_hull *hulls;        /* each distinct one once */
    const perp_shape **hull_sources; /* the first shape that has it */
};

/* Contacts [begin, end) of one pair of parts of polygons. */
typedef struct contact_group {
    int begin, end;
    perp_index_pair parts;
    perp_vec3 normal; /* of the deepest one */
    double depth;     /* > 0: penetrating, and yet to be looked at */
    bool kept;
} contact_group;

/* The set is split where memory grows at different rates: by parts (constant), by pairs, by contacts, by columns of
 * Jacobians. */
struct perp_contact_set_memory {
    const perp_contact_model *contact_model;
    perp_contact_settings settings;
    bool still; /* manifolds of points that stand still */
    perp_allocator allocator;
    perp_arena arena; /* behind the arrays by part and by body */
    perp_broad_phase *broad_phase;

    /* by part: shapes in the world at the last build, boxes grown by half the margin */
    perp_spatial_shape *spatial;
    perp_planar_shape *planar;
    perp_vec3 *corners;
    perp_planar_border *borders;
    perp_vec3 *shifted; /* corner_most; scratch of the narrow phase */
    perp_broad_phase_box *boxes;
    perp_vec3 *low, *high;           /* the boxes before they were grown: they do not depend on the margin */
    bool fixed_placed;               /* parts that cannot move stand where they are */
    perp_vec3 fixed_low, fixed_high; /* box around those of them that are bounded */

    perp_index_pair *pairs, *pairs_other; /* pair_capacity; the second is scratch of sorting */
    int pair_capacity;

    perp_contact *contacts;    /* contact_capacity */
    int *dof_start;            /* contact_capacity + 1 */
    perp_index_pair *touching; /* contact_capacity + joints + links of loops */
    contact_group *groups;     /* planar: contact_capacity; scratch of the narrow phase */
    int contact_capacity;

    int *dofs;        /* column_capacity */
    double *jacobian; /* rows * column_capacity */
    int column_capacity;

    int *island_starts, *island_bodies; /* body_count + 1, body_count */
};

/* A build on its way: what the narrow phase adds to. */
typedef struct contact_build {
    perp_contact_set *set;
    struct perp_contact_set_memory *memory;
    const contact_rule *rule; /* of the bodies at hand, NULL: none */
    int count;
    int group_count; /* of the two shapes at hand */
    perp_error *error;
} contact_build;

/* ---- contact_model.c ---- */

/* What the scene says about bodies a < b, or NULL. */
const contact_rule *perp_contact_find_rule(const perp_contact_model *contact_model, int a, int b);
/* Rows of a contact's Jacobian: n, t and o; in the plane o only where bodies rest on it, and the turning of ellipsoids.
 */
static inline int perp_contact_rows(const perp_contact_model *contact_model)
{
    const perp_model *model = contact_model->model;
    const bool spatial = !model->planar || contact_model->support_start[model->body_count] > 0;
    return contact_model->ellipsoids ? 4 : spatial ? 3 : 2;
}
/* Index among all parts of the first part of a shape of a body, and how many the shape has. */
int perp_contact_first_part(const perp_contact_model *contact_model, int body, int shape, int *count);

/* ---- contact_support.c ---- */

/* Fills supports and support_start, from the parts. OUT_OF_MEMORY. */
perp_status perp_contact_find_supports(perp_contact_model *cm, perp_error *error);
/* The contacts of a body with the plane that it lies on. */
perp_status perp_contact_add_supports(contact_build *build, const perp_kinematics *kinematics, int body);

/* ---- contact_place.c ---- */

/* Shapes and boxes in the world; sets scene_size. BAD_INPUT where a pose is not finite. */
perp_status perp_contact_place(perp_contact_set *set, const perp_kinematics *kinematics, perp_error *error);

/* ---- contact_narrow.c ---- */

/* Contacts of the parts pairs[0 .. count), which are all the pairs of two bodies, in the order of contact.h. */
perp_status perp_contact_narrow(contact_build *build, const perp_index_pair *pairs, int count);
/* A feature of a part as contacts name it. */
int perp_contact_outline_feature(const contact_part *part, int feature);

/* ---- contact_frame.c ---- */

/* Fills tangents, friction, directions, restitution and pair of a contact that has its bodies and normal; `friction` is
 * what the two shapes give. */
void perp_contact_frame(const perp_scene *scene, const contact_rule *rule, double friction, perp_contact *contact);

/* ---- contact_jacobian.c ---- */

/* dof_start, dofs and jacobian of the contacts. OUT_OF_MEMORY. */
perp_status perp_contact_jacobians(perp_contact_set *set, const perp_kinematics *kinematics, perp_error *error);

/* ---- contact_set.c ---- */

/* Room for one more contact than build->count; contacts made so far stay. OUT_OF_MEMORY. The limit of contacts is
 * checked when two bodies have all of theirs: parts of polygons list some twice at first. */
perp_status perp_contact_room(contact_build *build);

/* Makes *array (`count` elements used) hold `capacity` elements. False: no memory, and all is as it was. */
bool perp_contact_grow(const perp_allocator *allocator, void **array, size_t count, size_t capacity, size_t size);

/* ---- contact_reach.c ---- */

/* The two fastest bodies of different clusters, and the largest speeds of their shapes in m/s; -1: none. */
typedef struct contact_pace {
    int first, second;
    double first_speed, second_speed;
} contact_pace;

/* With the twists that perp_kinematics_velocity left, at the poses of the last build. What is unbounded counts by how
 * fast its surface comes. */
contact_pace perp_contact_pace(const perp_contact_set *set, const perp_kinematics *kinematics);

/* Islands of moving bodies: two are in one island when a chain of contacts with gap <= `gap`, joints or loops between
 * moving bodies joins them (fixed bodies, and driven ones, join nothing). `island_of_body` (body_count) is filled, -1
 * for bodies that do not move or are driven; returns the number of islands. */
int perp_contact_islands(perp_contact_set *set, double gap, int *island_of_body);

#endif
