#!/usr/bin/env python3
"""Draws docs/images/convex-convergence.svg: residual by iteration, how many iterations, time per contact by size.

usage: tools/draw_convergence.py build/bench/bench_convergence.json build/bench/bench_convex.json... \\
           > docs/images/convex-convergence.svg
`make bench` leaves the two files. Of several bench_convex.json the least of each time is drawn."""
import json
import math
import sys

COLOURS = ["#2e6da4", "#c0504d", "#4f8f3a", "#8a5fa8"]
GREY, FAINT = "#555", "#e4e4e4"
WIDTH, HEIGHT = 480, 330  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 44, 44


def text(x, y, words, anchor="middle", size=11, fill="#222", extra=""):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" {extra}>'
            f"{words}</text>")


def power(exponent):
    """10 with the exponent raised; tspan, because SVG text has no other way."""
    return f'10<tspan dy="-4" font-size="8">{exponent}</tspan>'


class Axes:
    """A panel's frame; each axis linear or, where `log`, by decades."""

    def __init__(self, origin, size, x_range, y_range, log=(False, False)):
        self.origin, self.size, self.log = origin, size, log
        self.ranges = [[math.log10(v) for v in r] if is_log else list(r)
                       for r, is_log in zip((x_range, y_range), log)]

    def part(self, axis, value):
        low, high = self.ranges[axis]
        value = math.log10(value) if self.log[axis] else value
        return (min(max(value, low), high) - low) / (high - low)

    def x(self, value):
        return self.origin[0] + LEFT + self.part(0, value) * (self.size[0] - LEFT - RIGHT)

    def y(self, value):
        return self.origin[1] + self.size[1] - BOTTOM - self.part(1, value) * (self.size[1] - TOP - BOTTOM)

    def frame(self, title, x_title, y_title, x_ticks, y_ticks):
        (x0, y0), (width, height) = self.origin, self.size
        out = text(x0 + LEFT, y0 + 22, title, "start", 13)
        for value, name in y_ticks:
            at = self.y(value)
            out += (f'<line x1="{x0 + LEFT}" y1="{at:.1f}" x2="{x0 + width - RIGHT}" y2="{at:.1f}" stroke="{FAINT}"/>'
                    f'<text x="{x0 + LEFT - 6}" y="{at + 4:.1f}" font-size="10" text-anchor="end" fill="{GREY}">'
                    f"{name}</text>")
        for value, name in x_ticks:
            out += text(self.x(value), y0 + height - BOTTOM + 15, name, size=10, fill=GREY)
        out += (f'<rect x="{x0 + LEFT}" y="{y0 + TOP}" width="{width - LEFT - RIGHT}" '
                f'height="{height - TOP - BOTTOM}" fill="none" stroke="#999"/>')
        out += text(x0 + LEFT + (width - LEFT - RIGHT) / 2, y0 + height - 10, x_title, fill=GREY)
        middle = y0 + TOP + (height - TOP - BOTTOM) / 2
        return out + text(x0 + 14, middle, y_title, fill=GREY, extra=f'transform="rotate(-90 {x0 + 14} {middle})"')


def curve(axes, points, colour, extra=""):
    at = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in points)
    return f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="1.6" {extra}/>'


def dots(axes, points, colour, radius, fill="#fff"):
    return "".join(f'<circle cx="{axes.x(x):.1f}" cy="{axes.y(y):.1f}" r="{radius}" fill="{fill}" stroke="{colour}" '
                   'stroke-width="1.4"/>' for x, y in points)


def legend(x, y, names, colours=COLOURS):
    out = ""
    for k, (name, colour) in enumerate(zip(names, colours)):
        out += (f'<line x1="{x}" y1="{y + 15 * k - 4}" x2="{x + 18}" y2="{y + 15 * k - 4}" stroke="{colour}" '
                f'stroke-width="2.4"/>' + text(x + 24, y + 15 * k, name, "start", 10.5))
    return out


def residuals(traces):
    """Wide, on top: hollow iterates, then a dashed jump to the filled answer."""
    size = (2 * WIDTH, HEIGHT + 40)
    last = max(trace["iterations"] for trace in traces) + 1
    axes = Axes((0, 0), size, (-0.3, last), (1e-16, 1e3), (False, True))
    out = axes.frame("Residual of the interior point, and the last jump: Newton on the active set", "iteration",
                     "largest scaled residual", [(k, str(k)) for k in range(last + 1)],
                     [(10.0 ** e, power(e)) for e in range(-16, 4, 2)])
    tolerance = axes.y(1e-8)
    out += (f'<line x1="{LEFT}" y1="{tolerance:.1f}" x2="{size[0] - RIGHT}" y2="{tolerance:.1f}" stroke="#888" '
            'stroke-dasharray="2 3"/>' + text(LEFT + 6, tolerance - 5, "tolerance", "start", 10, GREY))
    for trace, colour in zip(traces, COLOURS):
        points = [p for p in trace["points"] if p[0] <= trace["iterations"]]
        out += curve(axes, points, colour) + dots(axes, points, colour, 3)
        if trace["final"] >= 0:
            end = (trace["iterations"], max(trace["final"], 1e-16))
            out += curve(axes, [points[-1], end], colour, 'stroke-dasharray="5 3"')
            out += dots(axes, [end], colour, 4.5, colour)
    return out + legend(2 * WIDTH - 430, TOP + 22, [trace["name"] for trace in traces])


def iterations(data):
    most = 32
    kinds = [("rays", COLOURS[0]), ("cones", COLOURS[1])]
    tallest = max(max(data[name]["count"][:most]) for name, _ in kinds)
    top = 50 * math.ceil(tallest / 50)
    axes = Axes((0, HEIGHT + 40), (WIDTH, HEIGHT), (-0.6, most + 0.6), (0, top))
    number = sum(data[name]["solved"] for name, _ in kinds)
    out = axes.frame(f"Iterations of {number:,} generated problems", "iterations of all attempts", "problems",
                     [(k, str(k)) for k in range(0, most, 4)] + [(most, f"{most}+")],
                     [(k, str(k)) for k in range(0, top + 1, 50)])
    base = axes.y(0)
    for shift, (name, colour) in zip((-0.42, 0.0), kinds):
        count = data[name]["count"]
        for k, value in enumerate(count[:most] + [sum(count[most:])]):
            if value:
                x0, x1 = axes.x(k + shift), axes.x(k + shift + 0.42)
                out += (f'<rect x="{x0:.1f}" y="{axes.y(value):.1f}" width="{x1 - x0:.1f}" '
                        f'height="{base - axes.y(value):.1f}" fill="{colour}"/>')
    names = ["%s: %d solved, %d not" % (name, data[name]["solved"], data[name]["unsolved"]) for name, _ in kinds]
    return out + legend(WIDTH - 200, HEIGHT + 40 + TOP + 22, names)


def growth(results):
    rows = {}
    for row in (row for row in results if "cubes" in row):
        key = (row["problem"], row["cubes"])
        rows[key] = min(row, rows.get(key, row), key=lambda one: one["median_s"])
    rows = list(rows.values())
    names = list(dict.fromkeys(row["problem"] for row in rows))
    per_contact = {name: [(row["cubes"], 1e6 * row["median_s"] / row["contacts"]) for row in rows
                          if row["problem"] == name and isinstance(row["residual"], float)] for name in names}
    values = [value for points in per_contact.values() for _, value in points]
    top = 2.0 ** math.ceil(math.log2(max(values) * 1.15))
    low = 2.0 ** math.floor(math.log2(min(values)))
    axes = Axes((WIDTH, HEIGHT + 40), (WIDTH, HEIGHT), (8, 1250), (low, top), (True, True))
    ticks = [2.0 ** e for e in range(round(math.log2(low)), round(math.log2(top)) + 1)]
    out = axes.frame("Time per contact, cold (flat: linear growth)", "cubes", "us per contact",
                     [(k, f"{k:,}") for k in (10, 30, 100, 300, 1000)], [(k, f"{k:g}") for k in ticks])
    for name, colour in zip(names, COLOURS):
        out += curve(axes, per_contact[name], colour) + dots(axes, per_contact[name], colour, 3, colour)
    return out + legend(WIDTH + LEFT + 14, HEIGHT + 40 + TOP + 22, names)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        convergence = json.load(file)
    results = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            results += json.load(file)["results"]
    width, height = 2 * WIDTH, 2 * HEIGHT + 40
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
          'font-family="sans-serif">\n<rect width="100%" height="100%" fill="#ffffff"/>')
    print(residuals(convergence["traces"]))
    print(iterations(convergence))
    print(growth(results))
    print("</svg>")


if __name__ == "__main__":
    main()
