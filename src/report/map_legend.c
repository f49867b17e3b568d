#include "report/map_draw.h"

#include "trace/palette.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 17, SWATCH = 18, BAR = 16, BAR_LEAST = 120, HEAD = 21, LINES_HEAD = 24 };

/* ---- colours ----------------------------------------------------------------------------------------------------- */

/* Words that say yes, no, something between, or nothing. */
static const struct {
    const char *word;
    perp_contact_mode as;
} words[] = {
    {"true", PERP_CONTACT_STICK},       {"1", PERP_CONTACT_STICK},
    {"valid", PERP_CONTACT_STICK},      {"exists", PERP_CONTACT_STICK},
    {"unique", PERP_CONTACT_STICK},     {"false", PERP_CONTACT_SLIDE},
    {"0", PERP_CONTACT_SLIDE},          {"invalid", PERP_CONTACT_SLIDE},
    {"none", PERP_CONTACT_SLIDE},       {"not-unique", PERP_CONTACT_SLIDE},
    {"borderline", PERP_CONTACT_LIMIT}, {"unique-at-these-normal-forces", PERP_CONTACT_LIMIT},
    {"unknown", PERP_CONTACT_OPEN},     {"no-contact", PERP_CONTACT_OPEN},
};

static const palette_colour *known_word(const char *word, palette_colour *colour)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) == 0) {
            *colour = perp_palette_mode(words[i].as);
            return colour;
        }
    }
    return NULL;
}

/* Words without a meaning of their own take colours in turn. */
static palette_colour word_colour(const perp_map *m, int kind)
{
    palette_colour colour;
    if (known_word(m->kinds[kind], &colour)) {
        return colour;
    }
    int before = 0;
    for (int k = 1; k < kind; k++) {
        before += !known_word(m->kinds[k], &colour);
    }
    return before == 0 ? perp_palette_series(0) : before == 1 ? perp_palette_series(3) : perp_palette_body(before);
}

void perp_map_fill(const perp_map *m, const map_layer *layer, int kind, char text[80])
{
    if (kind == MAP_MISSING) {
        snprintf(text, 80, "fill=\"url(#missing)\"");
    } else if (layer->numbers) {
        const double share = layer->level_count > 0 ? (kind - 1.0) / layer->level_count : 0.5;
        snprintf(text, 80, "fill=\"%s\"", perp_palette_pressure(share).text);
    } else {
        snprintf(text, 80, "fill=\"%s\" fill-opacity=\"0.3\"", word_colour(m, kind).text);
    }
}

const char *perp_map_dash(int layer)
{
    static const char *const dashes[MAP_MOST_LAYERS] = {
        "",
        "stroke-dasharray=\"8 4\"",
        "stroke-dasharray=\"9 3 2 3\"",
        "stroke-dasharray=\"2 3\"",
        "stroke-dasharray=\"9 3 2 3 2 3\"",
        "stroke-dasharray=\"16 4\"",
        "stroke-dasharray=\"4 2\"",
        "stroke-dasharray=\"1 5\"",
    };
    return dashes[layer];
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* The bar stands for the bands of numbers. */
static bool has_swatch(const map_layer *l, int kind)
{
    return l->areas[kind] > 0.0 && (!l->numbers || kind == MAP_MISSING || l->level_count == 0);
}

static bool has_bar(const map_layer *l)
{
    return l->numbers && l->level_count > 0;
}

static double widest(double width, const char *text)
{
    return fmax(width, SWATCH + 6.0 + perp_svg_width(text, MAP_SMALL, false));
}

double perp_map_legend_width(const perp_map *m, double most)
{
    const map_layer *first = &m->layers[0];
    char text[256];
    const double heading = m->layer_count > 1 ? perp_svg_width("where it changes", MAP_TEXT, true) : 0.0;
    double width = fmax(heading, perp_svg_width(perp_map_label(m, first->output), MAP_TEXT, true));
    for (int k = 0; k < perp_map_kind_count(m, first); k++) {
        perp_map_kind_name(m, first, k, text, sizeof text);
        width = has_swatch(first, k) ? widest(width, text) : width;
    }
    for (int k = 0; k < first->level_count; k++) {
        snprintf(text, sizeof text, "%.6g", first->levels[k]);
        width = widest(width, text);
    }
    for (int k = 0; k < m->layer_count && m->layer_count > 1; k++) {
        perp_map_layer_name(m, &m->layers[k], text, sizeof text);
        width = widest(width, text);
    }
    return width < most ? width : most;
}

static double bar_height(const map_layer *l)
{
    return fmax(BAR_LEAST, 18.0 * (l->level_count + 1));
}

double perp_map_legend_height(const perp_map *m)
{
    const map_layer *first = &m->layers[0];
    double height = HEAD;
    for (int k = 0; k < perp_map_kind_count(m, first); k++) {
        height += has_swatch(first, k) ? LINE : 0;
    }
    height += has_bar(first) ? bar_height(first) + LINE : 0.0;
    return height + (m->layer_count > 1 ? (first->at ? LINE : 0) + LINES_HEAD + LINE * m->layer_count : 0);
}

static double draw_entry(map_picture *p, svg_box box, double y, const char *text)
{
    char fitted[256];
    perp_svg_fit(text, MAP_SMALL, box.width - SWATCH - 6.0, fitted, sizeof fitted);
    perp_svg_text(&p->pen, box.x + SWATCH + 6.0, y + 9.0, (svg_font){.size = MAP_SMALL}, fitted);
    return y + LINE;
}

static double draw_swatches(map_picture *p, svg_box box, double y)
{
    const map_layer *l = &p->map->layers[0];
    for (int k = perp_map_kind_count(p->map, l) - 1; k >= 0; k--) {
        char text[256], fill[80];
        if (!has_swatch(l, k)) {
            continue;
        }
        perp_map_kind_name(p->map, l, k, text, sizeof text);
        perp_map_fill(p->map, l, k, fill);
        perp_svg_put(&p->pen, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"11\" stroke=\"" SVG_FRAME "\" %s/>\n",
                     box.x, y, SWATCH, fill);
        y = draw_entry(p, box, y, text);
    }
    return y;
}

/* Bands of equal height, from the lowest up, with the levels between them. */
static double draw_bar(map_picture *p, svg_box box, double y)
{
    const map_layer *l = &p->map->layers[0];
    const int bands = l->level_count + 1;
    const double height = bar_height(l), each = height / bands;
    double last = 1e9;
    for (int k = 0; k < bands; k++) {
        char fill[80], text[32];
        const double bottom = y + height - k * each;
        perp_map_fill(p->map, l, k + 1, fill);
        perp_svg_put(&p->pen, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" %s/>\n", box.x, bottom - each,
                     BAR, each, fill);
        if (k > 0 && last - bottom >= 1.2 * MAP_SMALL) {
            snprintf(text, sizeof text, "%.6g", l->levels[k - 1]);
            perp_svg_line(&p->pen, box.x + BAR, bottom, box.x + BAR + 4.0, bottom, "stroke=\"" SVG_FRAME "\"");
            perp_svg_text(&p->pen, box.x + SWATCH + 6.0, bottom + 3.5, (svg_font){.size = MAP_SMALL}, text);
            last = bottom;
        }
    }
    perp_svg_rect(&p->pen, (svg_box){box.x, y, BAR, height}, "fill=\"none\" stroke=\"" SVG_FRAME "\"");
    return y + height + LINE;
}

static double draw_strokes(map_picture *p, svg_box box, double y)
{
    for (int k = p->map->layers[0].numbers ? 1 : 0; k < p->map->layer_count; k++) {
        char text[256];
        perp_map_layer_name(p->map, &p->map->layers[k], text, sizeof text);
        perp_svg_put(&p->pen, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"" SVG_INK "\" %s/>\n",
                     box.x, y + 5.5, box.x + SWATCH + 2.0, y + 5.5, perp_map_dash(k));
        y = draw_entry(p, box, y, text);
    }
    return y;
}

void perp_map_draw_legend(map_picture *p, svg_box box)
{
    const map_layer *first = &p->map->layers[0];
    char fitted[256];
    double y = box.y + HEAD - 10.0;
    perp_svg_fit(perp_map_label(p->map, first->output), 1.12 * MAP_TEXT, box.width, fitted, sizeof fitted);
    perp_svg_text(&p->pen, box.x, y, (svg_font){.size = MAP_TEXT, .bold = true}, fitted);
    y += 10.0;
    if (first->at && p->map->layer_count > 1) {
        snprintf(fitted, sizeof fitted, "at %s = %s", perp_map_label(p->map, p->map->along), first->at);
        char cut[256];
        perp_svg_fit(fitted, MAP_SMALL, box.width, cut, sizeof cut);
        perp_svg_text(&p->pen, box.x, y + 7.0, (svg_font){.size = MAP_SMALL, .fill = SVG_FAINT}, cut);
        y += LINE;
    }
    y = has_bar(first) ? draw_bar(p, box, y) : y;
    y = draw_swatches(p, box, y);
    if (p->map->layer_count > 1) {
        perp_svg_text(&p->pen, box.x, y + 14.0, (svg_font){.size = MAP_TEXT, .bold = true}, "where it changes");
        draw_strokes(p, box, y + LINES_HEAD);
    }
}
