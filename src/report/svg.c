#include "report/svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* Reads one character of UTF-8 and moves on; what is no character, or none that XML takes, becomes U+FFFD. */
static uint32_t next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    const int more = at[0] < 0x80             ? 0
                     : (at[0] & 0xe0) == 0xc0 ? 1
                     : (at[0] & 0xf0) == 0xe0 ? 2
                     : (at[0] & 0xf8) == 0xf0 ? 3
                                              : -1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t c = more <= 0 ? at[0] : at[0] & (0x3fu >> more);
    bool good = more >= 0;
    int read = 1;
    for (; good && read <= more; read++) {
        if ((at[read] & 0xc0) != 0x80) {
            good = false;
            break;
        }
        c = (c << 6) | (at[read] & 0x3fu);
    }
    *text += good ? more + 1 : 1;
    good = good && c >= least[more] && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff) && c != 0xfffe && c != 0xffff;
    return good && c >= 0x20 && c != 0x7f ? c : 0xfffd;
}

static void put_escaped(svg *s, const char *text)
{
    while (*text) {
        const char *at = text;
        const uint32_t c = next_character(&text);
        const char *escape = c == '<'      ? "&lt;"
                             : c == '>'    ? "&gt;"
                             : c == '&'    ? "&amp;"
                             : c == '"'    ? "&quot;"
                             : c == 0xfffd ? "\xef\xbf\xbd"
                                           : NULL;
        perp_bytes_put(s->out, escape ? escape : at, escape ? strlen(escape) : (size_t)(text - at));
    }
}

/* Thousandths of the size, of the characters from blank to tilde. */
static const short advance[] = {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
                                636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
                                1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
                                603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
                                500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
                                635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};

static double advance_of(uint32_t c)
{
    return c >= 32 && c < 127 ? advance[c - 32] : c < 0x1100 ? 750.0 : 1020.0;
}

double perp_svg_width(const char *text, double size, bool bold)
{
    double width = 0.0;
    while (*text) {
        width += advance_of(next_character(&text));
    }
    return width * size * (bold ? 1.12 : 1.0) / 1000.0;
}

void perp_svg_fit(const char *text, double size, double room, char *fitted, size_t capacity)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    const size_t length = strlen(text);
    if (length < capacity && perp_svg_width(text, size, false) <= room) {
        memcpy(fitted, text, length + 1);
        return;
    }
    double left = room - size * 1.02;
    const char *head = text, *tail = text + length; /* kept: up to head, from tail on */
    for (bool from_head = true; head < tail; from_head = !from_head) {
        const char *next = head, *before = tail;
        do {
            before--;
        } while (before > head && ((unsigned char)*before & 0xc0) == 0x80);
        const char *read = before;
        const double width = advance_of(next_character(from_head ? &next : &read)) * size / 1000.0;
        const size_t kept = (size_t)(head - text) + (size_t)(text + length - tail);
        if (width > left || kept + 4 + sizeof ellipsis > capacity) {
            break;
        }
        left -= width;
        head = from_head ? next : head;
        tail = from_head ? tail : before;
    }
    snprintf(fitted, capacity, "%.*s%s%s", (int)(head - text), text, ellipsis, tail);
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

void perp_svg_put(svg *s, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text) {
        s->out->failed = true; /* a program's error: never cut an element in silence */
        return;
    }
    perp_bytes_put(s->out, text, (size_t)length);
}

void perp_svg_open(svg *s, double width, double height, const char *title)
{
    perp_svg_put(s,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                 "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                 width, height, width, height);
    put_escaped(s, title);
    perp_svg_put(s, "</title>\n<g font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n");
    perp_svg_rect(s, (svg_box){0.0, 0.0, width, height}, "fill=\"#ffffff\"");
}

void perp_svg_close(svg *s)
{
    perp_svg_put(s, "</g>\n</svg>\n");
}

void perp_svg_line(svg *s, double x1, double y1, double x2, double y2, const char *attributes)
{
    perp_svg_put(s, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", x1, y1, x2, y2, attributes);
}

void perp_svg_rect(svg *s, svg_box box, const char *attributes)
{
    perp_svg_put(s, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" %s/>\n", box.x, box.y, box.width,
                 box.height, attributes);
}

static void open_text(svg *s, double x, double y, svg_font font)
{
    static const char *const anchors[] = {[SVG_START] = "start", [SVG_MIDDLE] = "middle", [SVG_END] = "end"};
    perp_svg_put(s, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%g\" text-anchor=\"%s\" fill=\"%s\"%s", x, y, font.size,
                 anchors[font.anchor], font.fill ? font.fill : SVG_INK, font.bold ? " font-weight=\"bold\"" : "");
    if (font.upwards) {
        perp_svg_put(s, " transform=\"rotate(-90 %.2f %.2f)\"", x, y);
    }
    perp_svg_put(s, ">");
}

void perp_svg_text(svg *s, double x, double y, svg_font font, const char *text)
{
    open_text(s, x, y, font);
    put_escaped(s, text);
    perp_svg_put(s, "</text>\n");
}

void perp_svg_power(svg *s, double x, double y, svg_font font, int exponent)
{
    open_text(s, x, y, font);
    perp_svg_put(s, "10<tspan dy=\"%.2f\" font-size=\"%g\">%d</tspan></text>\n", -0.4 * font.size, 0.75 * font.size,
                 exponent);
}
