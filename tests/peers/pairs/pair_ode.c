#include "pair_peers.h"

#include <ode/ode.h>

#include <stdlib.h>
#include <string.h>

struct pair_ode {
    int slots;
    dGeomID *geom; /* NULL: empty */
    dReal *points, *planes;
    unsigned *polygons; /* for each face its number of corners and the corners */
    unsigned point_count, plane_count;
    dContactGeom contacts[PAIR_CONTACTS_MAX];
};

static bool take_hull(pair_ode *t, const perp_spatial_hull *hull)
{
    size_t corners = 0, k = 0;
    for (int f = 0; f < hull->face_count; f++) {
        corners += (size_t)hull->faces[f].count + 1;
    }
    t->points = calloc(3 * (size_t)hull->corner_count, sizeof *t->points);
    t->planes = calloc(4 * (size_t)hull->face_count, sizeof *t->planes);
    t->polygons = calloc(corners, sizeof *t->polygons);
    if (!t->points || !t->planes || !t->polygons) {
        return false;
    }
    t->point_count = (unsigned)hull->corner_count;
    t->plane_count = (unsigned)hull->face_count;
    for (int i = 0; i < hull->corner_count; i++) {
        const perp_vec3 p = hull->corners[i];
        memcpy(t->points + 3 * i, (dReal[]){p.x, p.y, p.z}, 3 * sizeof(dReal));
    }
    for (int f = 0; f < hull->face_count; f++) {
        const perp_spatial_face *face = &hull->faces[f];
        memcpy(t->planes + 4 * f, (dReal[]){face->normal.x, face->normal.y, face->normal.z, face->offset},
               4 * sizeof(dReal));
        t->polygons[k++] = (unsigned)face->count;
        for (int i = 0; i < face->count; i++) {
            t->polygons[k++] = (unsigned)hull->loops[face->start + i];
        }
    }
    return true;
}

pair_ode *pair_ode_open(int slots, const perp_spatial_hull *hull)
{
    dInitODE2(0);
    pair_ode *t = calloc(1, sizeof *t);
    if (t) {
        t->slots = slots;
        t->geom = calloc((size_t)slots, sizeof(dGeomID));
    }
    if (!t || !t->geom || (hull && !take_hull(t, hull))) {
        pair_ode_close(t);
        return NULL;
    }
    return t;
}

void pair_ode_close(pair_ode *t)
{
    if (t) {
        for (int i = 0; t->geom && i < t->slots; i++) {
            if (t->geom[i]) {
                dGeomDestroy(t->geom[i]);
            }
        }
        free(t->geom);
        free(t->points);
        free(t->planes);
        free(t->polygons);
        free(t);
    }
}

bool pair_ode_has(perp_spatial_kind a, perp_spatial_kind b)
{
    const bool unknown =
        a == PERP_SPATIAL_HOLE || b == PERP_SPATIAL_HOLE || a == PERP_SPATIAL_ELLIPSOID || b == PERP_SPATIAL_ELLIPSOID;
    return !unknown && !(a == PERP_SPATIAL_HALFSPACE && b == PERP_SPATIAL_HALFSPACE);
}

static dGeomID make(const pair_ode *t, const perp_spatial_shape *s)
{
    const perp_vec3 n = {s->rotation.m[2], s->rotation.m[5], s->rotation.m[8]};
    switch (s->kind) {
    case PERP_SPATIAL_POINT:
        return dCreateSphere(0, s->radius);
    case PERP_SPATIAL_SEGMENT:
        return dCreateCapsule(0, s->radius, 2.0 * s->half_length);
    case PERP_SPATIAL_BOX:
        return dCreateBox(0, 2.0 * s->half_lengths.x, 2.0 * s->half_lengths.y, 2.0 * s->half_lengths.z);
    case PERP_SPATIAL_CYLINDER:
        return dCreateCylinder(0, s->radius, 2.0 * s->half_length);
    case PERP_SPATIAL_HULL:
        return dCreateConvex(0, t->planes, t->plane_count, t->points, t->point_count, t->polygons);
    case PERP_SPATIAL_HALFSPACE:
        return dCreatePlane(0, n.x, n.y, n.z, perp_vec3_dot(n, s->position));
    default:
        return NULL;
    }
}

void pair_ode_set(pair_ode *t, int slot, const perp_spatial_shape *s)
{
    if (t->geom[slot]) {
        dGeomDestroy(t->geom[slot]);
    }
    t->geom[slot] = make(t, s);
    if (s->kind != PERP_SPATIAL_HALFSPACE) {
        const double *m = s->rotation.m;
        const dMatrix3 r = {m[0], m[1], m[2], 0, m[3], m[4], m[5], 0, m[6], m[7], m[8], 0};
        dGeomSetPosition(t->geom[slot], s->position.x, s->position.y, s->position.z);
        dGeomSetRotation(t->geom[slot], r);
    }
}

struct dxGeom *pair_ode_geom(const pair_ode *t, int slot)
{
    return t->geom[slot];
}

int pair_ode_call(pair_ode *t, int slot_a, int slot_b, int room)
{
    return dCollide(t->geom[slot_a], t->geom[slot_b], room, t->contacts, sizeof t->contacts[0]);
}

/* ODE's normal points into the first geom. */
int pair_ode_contacts(pair_ode *t, int slot_a, int slot_b, int room, pair_contact *contacts)
{
    const int count = pair_ode_call(t, slot_a, slot_b, room);
    for (int i = 0; i < count; i++) {
        const dContactGeom *c = &t->contacts[i];
        contacts[i] = (pair_contact){-c->depth, perp_vec3_make(-c->normal[0], -c->normal[1], -c->normal[2]),
                                     perp_vec3_make(c->pos[0], c->pos[1], c->pos[2])};
    }
    return count;
}

const char *pair_ode_version(void)
{
    return dODE_VERSION;
}
