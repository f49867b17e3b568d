/* The volume that the faces of a mesh file enclose.
 *
 * Faces that close have area vectors whose sum is zero, wherever they lie; then, and only then, the sum of the
 * tetrahedra from any point to them is the volume. A surface with a hole, or faces that look in and out by turns, has a
 * sum that is not zero, and no volume to speak of. */
#include <perp/geometry_hull.h>

#include "geometry_hull/mesh_parse.h"

#include <ctype.h>
#include <string.h>

/* of all the area: the sum of the area vectors of a closed mesh; roundings of a file's numbers leave less. */
static const double CLOSED = 1e-6;

typedef struct surface {
    perp_vec3 area;
    double total, volume; /* m^2, m^3 */
    perp_vec3 origin;     /* near the mesh, so that little cancels */
} surface;

static void add_triangle(surface *s, perp_vec3 a, perp_vec3 b, perp_vec3 c)
{
    const perp_vec3 area = perp_vec3_scale(0.5, perp_vec3_cross(perp_vec3_sub(b, a), perp_vec3_sub(c, a)));
    s->area = perp_vec3_add(s->area, area);
    s->total += perp_vec3_norm(area);
    s->volume += perp_vec3_dot(area, perp_vec3_sub(a, s->origin)) / 3.0;
}

static double enclosed(const surface *s)
{
    return perp_vec3_norm(s->area) <= CLOSED * s->total ? fabs(s->volume) : 0.0;
}

/* ---- OBJ --------------------------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && *p != '\n' && isspace((unsigned char)*p)) {
        p++;
    }
    return p;
}

/* The next corner of a face, "7", "7/1/3" or "-2", as an index from 0; false: none is left, or it is no corner of those
 * `known` so far. */
static bool next_corner(const char **p, const char *end, int known, int *index)
{
    const char *at = skip_blanks(*p, end);
    const bool back = at < end && *at == '-';
    long number = 0;
    at += back;
    if (at >= end || !isdigit((unsigned char)*at)) {
        return false;
    }
    for (; at < end && isdigit((unsigned char)*at) && number <= PERP_MESH_MAX_POINTS; at++) {
        number = 10 * number + (*at - '0');
    }
    while (at < end && !isspace((unsigned char)*at)) {
        at++;
    }
    *p = at;
    *index = (int)(back ? known - number : number - 1);
    return *index >= 0 && *index < known;
}

static bool begins(const char *line, const char *end, char letter)
{
    return line + 1 < end && line[0] == letter && (line[1] == ' ' || line[1] == '\t');
}

static double obj_volume(const char *text, size_t length, const perp_vec3 *points, int count)
{
    surface s = {.origin = points[0]};
    const char *const end = text + length;
    int known = 0;
    for (const char *line = text; line < end;) {
        line = skip_blanks(line, end);
        known += begins(line, end, 'v') && known < count;
        if (begins(line, end, 'f')) {
            const char *p = line + 1;
            int first, before, corner;
            if (!next_corner(&p, end, known, &first) || !next_corner(&p, end, known, &before)) {
                return 0.0;
            }
            for (; next_corner(&p, end, known, &corner); before = corner) {
                add_triangle(&s, points[first], points[before], points[corner]);
            }
        }
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        line = stop ? stop + 1 : end;
    }
    return enclosed(&s);
}

/* ------------------------------------------------------------------------------------------------------------------ */

double perp_mesh_volume(perp_mesh_format format, const void *bytes, size_t length, const perp_vec3 *points, int count)
{
    if (format == PERP_MESH_OBJ) {
        return obj_volume(bytes, length, points, count);
    }
    surface s = {.origin = points[0]};
    for (int i = 0; i + 2 < count; i += 3) {
        add_triangle(&s, points[i], points[i + 1], points[i + 2]);
    }
    return enclosed(&s);
}
