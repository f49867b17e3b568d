/* pair_peers.h - pairs of shapes in other engines: MuJoCo, ODE and FCL.
 *
 * Answers come in perp's convention: the normal points from the first shape to the second, phi > 0 is separation. A
 * table holds many shapes at once, one a slot, so that a benchmark can prepare a list of pairs and time nothing but the
 * engine's own pair function; MuJoCo's is called through mjCOLLISIONFUNC, with neither a broad phase nor bounding
 * spheres before it.
 *
 * No peer has holes; ODE has no ellipsoids, and a point is a sphere of radius zero everywhere.
 */
#ifndef PERP_TESTS_PEERS_PAIR_PEERS_H
#define PERP_TESTS_PEERS_PAIR_PEERS_H

#include <perp/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PAIR_CONTACTS_MAX = 64 };

typedef struct pair_contact {
    double phi;       /* m */
    perp_vec3 normal; /* unit, world, from the first to the second */
    perp_vec3 point;  /* world; MuJoCo: midway between the surfaces, ODE: on one of them */
} pair_contact;

/* ---- MuJoCo -------------------------------------------------------------------------------------------------------
 */

typedef struct pair_mujoco pair_mujoco;

/* A table of `slots` empty slots; `hull` (NULL allowed) is what PERP_SPATIAL_HULL stands for in all of them: MuJoCo
 * compiles meshes beforehand, in single precision. NULL on failure. */
pair_mujoco *pair_mujoco_open(int slots, const perp_spatial_hull *hull);
void pair_mujoco_close(pair_mujoco *table); /* NULL allowed */
/* Sets the convergence threshold of its general convex solver, MPR, and the iterations allowed; 1e-6 (m) and 50 unless
 * told. */
void pair_mujoco_refine(pair_mujoco *table, double tolerance, int iterations);
bool pair_mujoco_has(perp_spatial_kind a, perp_spatial_kind b);
void pair_mujoco_set(pair_mujoco *table, int slot, const perp_spatial_shape *shape);
/* The engine's own call and nothing else: the number of contacts with phi < margin. */
int pair_mujoco_call(pair_mujoco *table, int slot_a, int slot_b, double margin);
/* The same, with the contacts. `contacts` holds PAIR_CONTACTS_MAX. */
int pair_mujoco_contacts(pair_mujoco *table, int slot_a, int slot_b, double margin, pair_contact *contacts);
/* MuJoCo's version. */
const char *pair_mujoco_version(void);

/* ---- ODE ----------------------------------------------------------------------------------------------------------
 */

typedef struct pair_ode pair_ode;

pair_ode *pair_ode_open(int slots, const perp_spatial_hull *hull);
void pair_ode_close(pair_ode *table); /* NULL allowed */
bool pair_ode_has(perp_spatial_kind a, perp_spatial_kind b);
void pair_ode_set(pair_ode *table, int slot, const perp_spatial_shape *shape);
/* dCollide with room for `room` contacts (at most PAIR_CONTACTS_MAX): shapes that overlap or touch only. */
int pair_ode_call(pair_ode *table, int slot_a, int slot_b, int room);
int pair_ode_contacts(pair_ode *table, int slot_a, int slot_b, int room, pair_contact *contacts);
/* The geom in a slot (a dGeomID), NULL if it is empty. It stays the table's. */
struct dxGeom *pair_ode_geom(const pair_ode *table, int slot);
/* ODE's version. */
const char *pair_ode_version(void);

/* ---- FCL ----------------------------------------------------------------------------------------------------------
 */

/* FCL's distance of two bounded shapes that are apart, by GJK on libccd; false where it threw. `tolerance` is its
 * convergence threshold, m. Not for shapes that overlap: there FCL 0.7 goes on to EPA, whose assertions Debian's build
 * leaves in, and they abort the program now and then. */
bool pair_fcl_distance(const perp_spatial_shape *a, const perp_spatial_shape *b, double tolerance, double *phi);
bool pair_fcl_has(perp_spatial_kind a, perp_spatial_kind b);
const char *pair_fcl_version(void);

#ifdef __cplusplus
}
#endif
#endif
