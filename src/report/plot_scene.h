/* plot_scene.h - bodies and forces at one step, projected to the page without perspective. */
#ifndef PERP_SRC_REPORT_PLOT_SCENE_H
#define PERP_SRC_REPORT_PLOT_SCENE_H

#include "report/plot.h"

/* What is drawn of one shape. Bounded solids are convex. */
typedef enum solid_kind {
    SOLID_FACES,  /* flat faces, seen from outside; of a bore from inside */
    SOLID_ROUND,  /* a ball or ellipsoid */
    SOLID_STADIUM /* a capsule */
} solid_kind;

typedef struct solid_face {
    int first, count;  /* of `corners` */
    perp_vec3 normal;  /* outwards, unit, world */
    unsigned no_edges; /* bit i: the edge from corner i on is none of the shape's own */
} solid_face;

typedef struct solid {
    solid_kind kind;
    int body;
    palette_colour colour;
    bool bore;         /* faces are those of a hole: no part of the order, which needs convex solids */
    perp_vec3 centre;  /* world, as all below */
    int point_count;   /* FACES: corners; STADIUM: the two centres */
    perp_vec3 *points; /* point_count */
    double radius;     /* STADIUM */
    perp_mat3 spread;  /* ROUND: R diag(a^2) R' with the semi-axes a */
    int face_count, most_faces;
    solid_face *faces;      /* most_faces */
    int *corners;           /* of all faces, one after the other: indices into points */
    double low[2], high[2]; /* px: the box around what is seen of it */
} solid;

enum { PLOT_CORNER = 76 }; /* px below the picture, at its right: where the axes of the world are drawn */

typedef struct plot_view {
    perp_vec3 right, up, toward; /* of the page; `toward` the one who looks */
    double scale;                /* px per m */
    double x, y;                 /* px where the world's origin is */
    svg_box area;
} plot_view;

/* Px of a point and of a length; not finite ones, which a damaged log may lead to, are somewhere far off the page. */
void perp_view_place(const plot_view *view, perp_vec3 point, double *x, double *y);
double perp_view_length(const plot_view *view, double metres);

/* Where a body is at the step that is shown. */
perp_pose perp_plot_body_pose(const plot *p, int body);
/* Its shapes, none where the log has no scene; and the colour of them. */
const perp_body *perp_plot_body(const plot *p, int body);
palette_colour perp_plot_body_colour(const plot *p, int body);

/* Of the step that is shown, without its forces: how far shapes and links of mechanisms reach along the view's right
 * and up, in metres, and drawing them. */
void perp_scene_reach(plot *p, const plot_view *view, plot_range reach[2]);
void perp_scene_draw(plot *p, const plot_view *view);

/* The solid of a bounded spatial shape; false: it has none (a point, a plane), or memory is missing (out_of_memory). */
bool perp_solid_build(plot *p, const perp_shape *shape, perp_pose pose, solid *s);
/* How far it reaches along a direction, from its lowest to its highest point. */
plot_range perp_solid_reach(const solid *s, perp_vec3 direction);
void perp_solid_draw(plot *p, const plot_view *view, const solid *s);

/* An order in which solids can be drawn, the farthest first, so that none covers one that is in front of it. Needs the
 * boxes on the page. NULL: out of memory. */
int *perp_solid_order(plot *p, const plot_view *view, const solid *solids, int count);

/* The shapes of a planar scene: `reach` along x and y grows by what is bounded, and then by the edges of half-planes
 * that are near. */
void perp_flat_reach(const plot *p, plot_range reach[2]);
/* Px that the bounded shapes of a body take. */
void perp_flat_middle(const plot *p, const plot_view *view, int body, plot_range reach[2]);
void perp_flat_draw(plot *p, const plot_view *view);

/* Arrows of the forces on the second body of each contact, and below the picture the scales of metres and newtons. */
/* px per N: the largest force of the step is a quarter of the picture long, less where there are many; 0: there is
 * none. */
double perp_plot_force_scale(const plot *p, const plot_view *view);
void perp_plot_arrows(plot *p, const plot_view *view);
void perp_plot_scales(plot *p, const plot_view *view, double y);

/* A point, as a dot of its own size on the page. */
void perp_plot_dot(plot *p, const plot_view *view, perp_vec3 point, const char *fill);
/* What is seen of a capsule: from end to end (x1, y1, x2, y2), px. */
void perp_plot_stadium(plot *p, const double ends[4], double width, const char *fill);
/* A fill made lighter or darker: 1 as it is. */
void perp_plot_shade(const palette_colour *colour, double light, char text[8]);

#endif
