/* What a map measures: areas of regions, and the lines between them. */
#include "report/map.h"

#include <stdio.h>

static void put_regions(const perp_map *m, const map_layer *l, byte_row *out)
{
    const double whole = (m->xs[m->nx - 1] - m->xs[0]) * (m->ys[m->ny - 1] - m->ys[0]);
    const char *comma = "";
    perp_bytes_text(out, "\"regions\": [");
    for (int k = 0; k < perp_map_kind_count(m, l); k++) {
        if (l->areas[k] <= 0.0) {
            continue;
        }
        perp_bytes_text(out, comma);
        comma = ", ";
        if (k == MAP_MISSING) {
            perp_bytes_text(out, "{\"value\": null");
        } else if (!l->numbers) {
            perp_bytes_json(out, "{\"value\": %s", m->kinds[k]);
        } else {
            perp_bytes_text(out, "{\"from\": ");
            perp_bytes_real(out, k > 1 ? l->levels[k - 2] : l->low);
            perp_bytes_text(out, ", \"to\": ");
            perp_bytes_real(out, k <= l->level_count ? l->levels[k - 1] : l->high);
        }
        perp_bytes_json(out, ", \"area\": %g, \"share\": %g}", l->areas[k], l->areas[k] / whole);
    }
    perp_bytes_text(out, "]");
}

static void put_between(const perp_map *m, const map_layer *l, const map_line *line, byte_row *out)
{
    const int kinds[2] = {line->kind, line->other};
    for (int k = 0; k < 2; k++) {
        char name[256];
        perp_map_kind_name(m, l, kinds[k], name, sizeof name);
        perp_bytes_text(out, k ? ", " : "\"between\": [");
        if (kinds[k] == MAP_MISSING) {
            perp_bytes_text(out, "null");
        } else {
            perp_bytes_quoted(out, name);
        }
    }
    perp_bytes_text(out, "]");
}

static void put_lines(const perp_map *m, const map_layer *l, byte_row *out)
{
    perp_bytes_text(out, "\"lines\": [");
    for (int i = 0; i < l->lines.line_count; i++) {
        const map_line *line = &l->lines.lines[i];
        perp_bytes_text(out, i ? ",\n  {" : "\n  {");
        put_between(m, l, line, out);
        perp_bytes_text(out, line->closed ? ", \"closed\": true, \"points\": [" : ", \"closed\": false, \"points\": [");
        for (int k = 0; k < line->count; k++) {
            perp_bytes_text(out, k ? ", " : "");
            perp_bytes_reals(out, l->faces.vertices[l->lines.vertices[line->first + k]], 2);
        }
        perp_bytes_text(out, "]}");
    }
    perp_bytes_text(out, "]");
}

void perp_map_put_json(const perp_map *m, byte_row *out)
{
    perp_bytes_text(out, "{\"layers\": [");
    for (int k = 0; k < m->layer_count; k++) {
        const map_layer *l = &m->layers[k];
        perp_bytes_text(out, k ? ",\n " : "\n ");
        perp_bytes_json(out, "{\"output\": %s, \"at\": ", m->table.names[l->output]);
        if (l->at) {
            perp_bytes_text(out, "{");
            perp_bytes_quoted(out, m->table.names[m->along]);
            perp_bytes_text(out, ": ");
            perp_bytes_quoted(out, l->at);
            perp_bytes_text(out, "}, ");
        } else {
            perp_bytes_text(out, "null, ");
        }
        put_regions(m, l, out);
        perp_bytes_text(out, ",\n ");
        put_lines(m, l, out);
        perp_bytes_text(out, "}");
    }
    perp_bytes_text(out, "]}");
}
