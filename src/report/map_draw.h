/* map_draw.h - the parts of a map's picture. */
#ifndef PERP_SRC_REPORT_MAP_DRAW_H
#define PERP_SRC_REPORT_MAP_DRAW_H

#include "report/map.h"
#include "report/plot_axis.h"

#define MAP_TEXT 11.0
#define MAP_SMALL 10.0

typedef struct map_picture {
    svg pen;
    const perp_map *map;
    plot_axis x, y;
    svg_box area;
} map_picture;

/* "fill=.." of a kind; of MAP_MISSING the hatching. */
void perp_map_fill(const perp_map *map, const map_layer *layer, int kind, char text[80]);
/* "stroke-dasharray=..", empty for a full line, of the lines of a layer. */
const char *perp_map_dash(int layer);
/* Px: how wide what stands beside the map is, in at most `most`. */
double perp_map_legend_width(const perp_map *map, double most);
double perp_map_legend_height(const perp_map *map);
void perp_map_draw_legend(map_picture *picture, svg_box box);

#endif
