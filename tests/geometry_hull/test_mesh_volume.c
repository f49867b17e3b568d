/* Volumes that the faces of files enclose: closed forms, ways to write a face, surfaces that enclose nothing. */
#include <perp/geometry_hull.h>

#include "geometry_hull/mesh_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double volume_of(perp_mesh_format format, const char *text)
{
    perp_vec3 *points;
    int count;
    assert_int_equal(perp_mesh_parse(format, text, strlen(text), NULL, &points, &count, NULL), PERP_STATUS_OK);
    const double volume = perp_mesh_volume(format, text, strlen(text), points, count);
    free(points);
    return volume;
}

/* An L of 3 x 3 less 2 x 2, 2 high, far from the origin: 10. Its faces are polygons, two of them concave. */
#define L_CORNERS                                                                                                      \
    "v 50 0 0\nv 53 0 0\nv 53 1 0\nv 51 1 0\nv 51 3 0\nv 50 3 0\n"                                                     \
    "v 50 0 2\nv 53 0 2\nv 53 1 2\nv 51 1 2\nv 51 3 2\nv 50 3 2\n"
#define L_SIDES "f 1 2 8 7\nf 2 3 9 8\nf 3/1/2 4/1/2 10/7/9 9//3\nf 4 5 11 10\n f 5 6 12 11\nf 6 1 7 12\n"

static void polygons_of_an_obj_file(void **state)
{
    (void)state;
    const double volume = volume_of(PERP_MESH_OBJ, L_CORNERS L_SIDES "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\n");
    assert_true(fabs(volume - 10.0) < 1e-12);
    /* faces that count back from the last vertex, and look inwards */
    assert_true(fabs(volume_of(PERP_MESH_OBJ, "v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf -4 -3 -2\nf -4 -2 -1\nf -4 -1 -3\n"
                                              "f -3 -1 -2\n") -
                     4.0) < 1e-14);
}

static void what_encloses_nothing(void **state)
{
    (void)state;
    assert_true(volume_of(PERP_MESH_OBJ, L_CORNERS) == 0.0);
    assert_true(volume_of(PERP_MESH_OBJ, L_CORNERS L_SIDES "f 6 5 4 3 2 1\n") == 0.0);                   /* no lid */
    assert_true(volume_of(PERP_MESH_OBJ, L_CORNERS L_SIDES "f 6 5 4 3 2 1\nf 12 11 10 9 8 7\n") == 0.0); /* turned */
    assert_true(volume_of(PERP_MESH_OBJ, L_CORNERS L_SIDES "f 6 5 4 3 2 1\nf 7 8 9 10 11 13\n") == 0.0); /* no such */
    assert_true(volume_of(PERP_MESH_OBJ, L_CORNERS L_SIDES "f 6 5 4 3 2 1\nf 7 99999999999\n") == 0.0);
}

static void triangles_of_an_stl_file(void **state)
{
    (void)state;
    static const double corners[4][3] = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}, {0, 0, 4}};
    static const int faces[4][3] = {{0, 2, 1}, {0, 3, 2}, {0, 1, 3}, {1, 2, 3}};
    char text[2000] = "solid s\n";
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            const double *c = corners[faces[i][k]];
            snprintf(text + strlen(text), sizeof text - strlen(text), "vertex %g %g %g\n", c[0], c[1], c[2]);
        }
    }
    strcat(text, "endsolid s\n");
    assert_true(fabs(volume_of(PERP_MESH_STL, text) - 4.0) < 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(polygons_of_an_obj_file),
                                       cmocka_unit_test(what_encloses_nothing),
                                       cmocka_unit_test(triangles_of_an_stl_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
