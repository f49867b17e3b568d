#include "pair_peers.h"

#include <mujoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair_mujoco {
    mjModel *m;
    mjData *d;
    int slots;
    int *geom;      /* the geom that each slot uses now */
    perp_pose mesh; /* MuJoCo moves a mesh to its centre and principal axes: the new frame in the old one */
    mjContact contacts[PAIR_CONTACTS_MAX];
};

/* MuJoCo's order of types; its pair functions want the smaller one first. */
static const int geom_type[PERP_SPATIAL_KIND_COUNT] = {
    [PERP_SPATIAL_POINT] = mjGEOM_SPHERE,      [PERP_SPATIAL_SEGMENT] = mjGEOM_CAPSULE,
    [PERP_SPATIAL_BOX] = mjGEOM_BOX,           [PERP_SPATIAL_HULL] = mjGEOM_MESH,
    [PERP_SPATIAL_CYLINDER] = mjGEOM_CYLINDER, [PERP_SPATIAL_ELLIPSOID] = mjGEOM_ELLIPSOID,
    [PERP_SPATIAL_HALFSPACE] = mjGEOM_PLANE,   [PERP_SPATIAL_HOLE] = -1,
};

static const struct {
    int type;
    const char *text;
} kinds[] = {
    {mjGEOM_PLANE, "type=\"plane\" size=\"0 0 1\""},     {mjGEOM_SPHERE, "type=\"sphere\" size=\"1\""},
    {mjGEOM_CAPSULE, "type=\"capsule\" size=\"1 1\""},   {mjGEOM_ELLIPSOID, "type=\"ellipsoid\" size=\"1 1 1\""},
    {mjGEOM_CYLINDER, "type=\"cylinder\" size=\"1 1\""}, {mjGEOM_BOX, "type=\"box\" size=\"1 1 1\""},
    {mjGEOM_MESH, "type=\"mesh\" mesh=\"hull\""}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static char *model_text(int slots, const perp_spatial_hull *hull)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fprintf(out, "<mujoco>\n<size njmax=\"1\" nconmax=\"1\"/>\n");
    if (hull) {
        fprintf(out, "<asset><mesh name=\"hull\" vertex=\"");
        for (int i = 0; i < hull->corner_count; i++) {
            fprintf(out, "%.17g %.17g %.17g ", hull->corners[i].x, hull->corners[i].y, hull->corners[i].z);
        }
        fprintf(out, "\"/></asset>\n");
    }
    fprintf(out, "<worldbody>\n"); /* planes belong to the world */
    for (int i = 0; i < slots; i++) {
        for (int k = 0; k < KINDS; k++) {
            if (kinds[k].type != mjGEOM_MESH || hull) {
                fprintf(out, "<geom name=\"g%d_%d\" %s/>\n", kinds[k].type, i, kinds[k].text);
            }
        }
    }
    fprintf(out, "</worldbody>\n</mujoco>\n");
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static mjModel *load(const char *text)
{
    char message[500] = "";
    const size_t length = strlen(text);
    mjVFS *vfs = malloc(sizeof *vfs);
    mjModel *m = NULL;
    if (!vfs) {
        return NULL;
    }
    mj_defaultVFS(vfs);
    if (mj_makeEmptyFileVFS(vfs, "pairs.xml", (int)length) == 0) {
        memcpy(vfs->filedata[mj_findFileVFS(vfs, "pairs.xml")], text, length);
        m = mj_loadXML("pairs.xml", vfs, message, sizeof message);
    }
    if (!m) {
        fprintf(stderr, "MuJoCo refused the pairs: %s\n", message);
    }
    mj_deleteVFS(vfs);
    free(vfs);
    return m;
}

static int find_geom(const pair_mujoco *t, int type, int slot)
{
    char name[32];
    snprintf(name, sizeof name, "g%d_%d", type, slot);
    return mj_name2id(t->m, mjOBJ_GEOM, name);
}

pair_mujoco *pair_mujoco_open(int slots, const perp_spatial_hull *hull)
{
    pair_mujoco *t = calloc(1, sizeof *t);
    char *text = model_text(slots, hull);
    if (t && text) {
        t->slots = slots;
        t->m = load(text);
        t->d = t->m ? mj_makeData(t->m) : NULL;
        t->geom = calloc((size_t)slots, sizeof *t->geom);
    }
    free(text);
    if (!t || !t->d || !t->geom) {
        pair_mujoco_close(t);
        return NULL;
    }
    t->mesh = perp_pose_identity();
    if (hull) {
        const int g = find_geom(t, mjGEOM_MESH, 0);
        const double *p = t->m->geom_pos + 3 * g, *q = t->m->geom_quat + 4 * g;
        t->mesh = (perp_pose){{q[0], q[1], q[2], q[3]}, {p[0], p[1], p[2]}};
    }
    return t;
}

void pair_mujoco_close(pair_mujoco *t)
{
    if (t) {
        if (t->d) {
            mj_deleteData(t->d);
        }
        if (t->m) {
            mj_deleteModel(t->m);
        }
        free(t->geom);
        free(t);
    }
}

void pair_mujoco_refine(pair_mujoco *t, double tolerance, int iterations)
{
    t->m->opt.mpr_tolerance = tolerance;
    t->m->opt.mpr_iterations = iterations;
}

bool pair_mujoco_has(perp_spatial_kind a, perp_spatial_kind b)
{
    const int p = geom_type[a], q = geom_type[b];
    return p >= 0 && q >= 0 && mjCOLLISIONFUNC[p < q ? p : q][p < q ? q : p] != NULL;
}

static void set_size(double size[3], const perp_spatial_shape *shape)
{
    switch (shape->kind) {
    case PERP_SPATIAL_POINT:
        size[0] = shape->radius;
        break;
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_CYLINDER:
        size[0] = shape->radius;
        size[1] = shape->half_length;
        break;
    case PERP_SPATIAL_BOX:
    case PERP_SPATIAL_ELLIPSOID:
        size[0] = shape->half_lengths.x;
        size[1] = shape->half_lengths.y;
        size[2] = shape->half_lengths.z;
        break;
    default: /* planes have none, meshes are as they were compiled */
        break;
    }
}

void pair_mujoco_set(pair_mujoco *t, int slot, const perp_spatial_shape *shape)
{
    const int g = find_geom(t, geom_type[shape->kind], slot);
    perp_mat3 r = shape->rotation;
    perp_vec3 p = shape->position;
    if (shape->kind == PERP_SPATIAL_HULL) {
        const perp_mat3 turn = perp_quat_to_mat3(t->mesh.rotation);
        p = perp_vec3_add(p, perp_mat3_mul_vec(&r, t->mesh.position));
        r = perp_mat3_mul(&r, &turn);
    }
    t->geom[slot] = g;
    set_size(t->m->geom_size + 3 * g, shape);
    memcpy(t->d->geom_xmat + 9 * g, r.m, sizeof r.m);
    memcpy(t->d->geom_xpos + 3 * g, (double[]){p.x, p.y, p.z}, 3 * sizeof(double));
}

int pair_mujoco_call(pair_mujoco *t, int slot_a, int slot_b, double margin)
{
    int a = t->geom[slot_a], b = t->geom[slot_b];
    if (t->m->geom_type[a] > t->m->geom_type[b]) {
        const int swap = a;
        a = b;
        b = swap;
    }
    return mjCOLLISIONFUNC[t->m->geom_type[a]][t->m->geom_type[b]](t->m, t->d, t->contacts, a, b, margin);
}

int pair_mujoco_contacts(pair_mujoco *t, int slot_a, int slot_b, double margin, pair_contact *contacts)
{
    const int found = pair_mujoco_call(t, slot_a, slot_b, margin);
    const bool swapped = t->m->geom_type[t->geom[slot_a]] > t->m->geom_type[t->geom[slot_b]];
    int count = 0;
    for (int i = 0; i < found; i++) {
        const mjContact *c = &t->contacts[i];
        const perp_vec3 n = {c->frame[0], c->frame[1], c->frame[2]};
        if (c->dist < margin) {
            contacts[count++] = (pair_contact){c->dist, perp_vec3_scale(swapped ? -1.0 : 1.0, n),
                                               perp_vec3_make(c->pos[0], c->pos[1], c->pos[2])};
        }
    }
    return count;
}

const char *pair_mujoco_version(void)
{
    return mj_versionString();
}
