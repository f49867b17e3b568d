#!/usr/bin/env python3
"""Draws docs/images/contact-patches.svg: four pairs of shapes and the points that `perp run` lists for them.

usage: tools/draw_contact_patches.py PERP > docs/images/contact-patches.svg   (PERP: the command, e.g. build/bin/perp)"""
import json
import math
import os
import subprocess
import sys
import tempfile

WIDTH, HEIGHT = 470, 330  # of a panel
HEAD = "perp: 1\ncontacts: {margin: 1}\nrun: {model: geometric}\nbodies:\n"
PLANE = "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
BLUE, RED, GREY = "#2e6da4", "#c0504d", "#555"


def contacts(bodies):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + bodies)
        done = subprocess.run([sys.argv[1], "run", path, "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)["contacts"]


def ends(contact):
    """The witnesses on a and b."""
    return [[p + s * contact["phi"] / 2 * n for p, n in zip(contact["point"], contact["normal"])] for s in (-1, 1)]


def rotation_y(angle, v):
    c, s = math.cos(angle), math.sin(angle)
    return [c * v[0] + s * v[2], v[1], c * v[2] - s * v[0]]


def rotation_z(angle, v):
    c, s = math.cos(angle), math.sin(angle)
    return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]


class View:
    """A parallel projection: screen axes in the world, pixels per metre, and where the origin is drawn."""

    def __init__(self, right, up, scale, origin):
        self.right, self.up, self.scale, self.origin = right, up, scale, origin

    def __call__(self, p):
        return (self.origin[0] + self.scale * sum(a * b for a, b in zip(self.right, p)),
                self.origin[1] - self.scale * sum(a * b for a, b in zip(self.up, p)))


def oblique(scale, origin):
    """From the front, the side and above."""
    turn, tilt = math.radians(28), math.radians(24)
    return View([math.cos(turn), math.sin(turn), 0],
                [-math.sin(turn) * math.sin(tilt), math.cos(turn) * math.sin(tilt), math.cos(tilt)], scale, origin)


def shape(view, points, fill="none", stroke=BLUE, extra=""):
    at = " ".join("%.1f,%.1f" % view(p) for p in points)
    return f'<polygon points="{at}" fill="{fill}" stroke="{stroke}" stroke-width="1.4" stroke-linejoin="round" {extra}/>'


def line(view, p, q, stroke=GREY, width=1.2, extra=""):
    (x0, y0), (x1, y1) = view(p), view(q)
    return (f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{stroke}" '
            f'stroke-width="{width}" {extra}/>')


def dot(view, p, fill=RED, radius=4.0):
    return '<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"/>' % (*view(p), radius, fill)


def label(view, p, text, dx=0.0, dy=0.0, anchor="start", size=11, fill="#222"):
    x, y = view(p)
    return (f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">'
            f"{text}</text>")


def gap_and_dots(view, contact):
    a, b = ends(contact)
    return line(view, a, b, RED, 1.4, 'stroke-dasharray="3 2"') + dot(view, a, "#7f7f7f", 2.8) + dot(view, b)


def box_corners(half, place):
    return [place([half[k] if i >> k & 1 else -half[k] for k in range(3)]) for i in range(8)]


BOX_FACES = [(1, 3, 7, 5), (0, 4, 6, 2), (2, 6, 7, 3), (0, 1, 5, 4), (4, 5, 7, 6), (0, 2, 3, 1)]


def box(view, corners, fill):
    """Faces that look away are drawn first, by their edges alone."""
    hidden, seen = "", ""
    for face in BOX_FACES:
        flat = [view(corners[i]) for i in face]
        area = sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(flat, flat[1:] + flat[:1]))
        points = [corners[i] for i in face]
        if area < 0:  # y goes down on the screen
            seen += shape(view, points, fill, BLUE, 'fill-opacity="0.45"')
        else:
            hidden += shape(view, points, "none", "#9db7d1", 'stroke-dasharray="3 3"')
    return hidden + seen


def ground(view, half_x, half_y):
    return shape(view, [[-half_x, -half_y, 0], [half_x, -half_y, 0], [half_x, half_y, 0], [-half_x, half_y, 0]],
                 "#efefef", "#bbbbbb")


def ring(view, place, radius, z, fill, extra=""):
    steps = 60
    points = [place([radius * math.cos(2 * math.pi * k / steps), radius * math.sin(2 * math.pi * k / steps), z])
              for k in range(steps)]
    return shape(view, points, fill, BLUE, extra)


def cylinder(view, place, radius, length):
    """The shadow of both ends' hull, then the ends."""
    steps = 90
    points = [view(place([radius * math.cos(2 * math.pi * k / steps), radius * math.sin(2 * math.pi * k / steps), z]))
              for z in (-length / 2, length / 2) for k in range(steps)]
    points.sort()
    hull = []
    for sweep in (points, points[::-1]):
        chain = []
        for p in sweep:
            while len(chain) > 1 and ((chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1])
                                      <= (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0])):
                chain.pop()
            chain.append(p)
        hull += chain[:-1]
    at = " ".join("%.1f,%.1f" % p for p in hull)
    body = f'<polygon points="{at}" fill="#dcebf7" fill-opacity="0.6" stroke="{BLUE}" stroke-width="1.4"/>'
    return (body + ring(view, place, radius, -length / 2, "none", 'stroke-dasharray="3 3" stroke-opacity="0.6"')
            + ring(view, place, radius, length / 2, "#dcebf7", 'fill-opacity="0.5"'))


def tilted_box():
    half, tilt, height = [0.5, 0.32, 0.2], 0.18, 0.42

    def place(v):
        return [x + y for x, y in zip(rotation_y(tilt, v), [0, 0, height])]

    view = oblique(190, (215, 215))
    out = ground(view, 0.85, 0.6)
    found = contacts(PLANE + f"  brick: {{mass: 1, pose: {{position: [0, 0, {height}], rpy: [0, {tilt}, 0]}}, "
                     f"shapes: [{{box: {[2 * h for h in half]}}}]}}\n")
    corners = box_corners(half, place)
    under = "".join(gap_and_dots(view, c) for c in found)
    out += box(view, corners, "#dcebf7") + under
    for c in found:
        p = ends(c)[1]
        out += label(view, p, "%s, %.2f" % (c["feature"].split("-")[1].split(".")[1], c["phi"]), 8, 4)
    return out, "box over a plane: the 4 corners of its lowest face", f"{len(found)} points, each with its own gap (m)"


def box_on_box():
    turn, gap, half = 0.6, 0.001, 0.5
    view = View([1, 0, 0], [0, 1, 0], 190, (235, 160))
    found = contacts("  lower: {fixed: true, shapes: [{box: [1, 1, 0.2], pose: {position: [0, 0, -0.1]}}]}\n"
                     f"  upper: {{mass: 1, pose: {{position: [0, 0, {0.4 + gap}], rpy: [0, 0, {turn}]}}, "
                     "shapes: [{box: [0.9, 1, 0.8]}]}\n")
    lower = [[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]]
    upper = [rotation_z(turn, p) for p in [[-0.45, -0.5, 0], [0.45, -0.5, 0], [0.45, 0.5, 0], [-0.45, 0.5, 0]]]
    out = shape(view, lower, "#efefef", "#888") + shape(view, upper, "none", BLUE)
    out += shape(view, [c["point"] for c in found], "#f3d9d8", RED, 'fill-opacity="0.8"')
    for c in found:
        name = "-".join(side.split(".")[1] for side in c["feature"].split("-"))
        x, y = c["point"][0], c["point"][1]
        reach = math.hypot(x, y)
        out += dot(view, c["point"]) + label(view, c["point"], name, -26 * x / reach, 26 * y / reach + 4, "middle")
    return out, "box on box, seen from above: where the faces meet", f"{len(found)} points: crossing edges, a's and b's"


def cylinders():
    out = ""
    view = oblique(205, (222, 215))
    out += ground(view, 0.9, 0.55)
    tilt, turn, radius, length = 0.1, 0.5, 0.24, 0.5  # turned about its own axis, so that no place is the lowest
    stand = [-0.5, 0.0, 0.33]
    quat = [math.cos(tilt / 2) * math.cos(turn / 2), math.sin(tilt / 2) * math.sin(turn / 2),
            math.sin(tilt / 2) * math.cos(turn / 2), math.cos(tilt / 2) * math.sin(turn / 2)]

    def place(v):
        return [x + y for x, y in zip(rotation_y(tilt, v), stand)]

    lie = [0.45, 0.0, 0.3]
    ride = 0.12

    def place_lying(v):  # z along y, then turned by `ride` about x
        c, s = math.cos(math.pi / 2 - ride), math.sin(math.pi / 2 - ride)
        return [v[0] + lie[0], c * v[1] - s * v[2] + lie[1], s * v[1] + c * v[2] + lie[2]]

    found = contacts(PLANE + f"  can: {{mass: 1, pose: {{position: {stand}, quat_wxyz: {quat}}}, "
                     f"shapes: [{{cylinder: {{radius: {radius}, length: {length}}}}}]}}\n"
                     f"  roll: {{mass: 1, pose: {{position: {lie}, rpy: [{math.pi / 2 - ride}, 0, 0]}}, "
                     "shapes: [{cylinder: {radius: 0.2, length: 0.6}}]}\n")
    found = [c for c in found if c["a"] == "table"]
    out += cylinder(view, place, radius, length) + cylinder(view, place_lying, 0.2, 0.6)
    out += "".join(gap_and_dots(view, c) for c in found)
    can = [c for c in found if c["b"] == "can"]
    for c in found:
        name = c["feature"].split("-")[1].split(".")[1]
        if c["b"] == "roll" or name in ("r0", "r3"):
            left = name == "r3"
            out += label(view, ends(c)[1], name, -7 if left else 7, 5, "end" if left else "start")
    return (out, "cylinder over a plane, standing or lying",
            f"standing: {len(can) - 1} fixed places of the rim and its lowest point; lying: {len(found) - len(can)}, its ends")


def pin_in_hole():
    bore, half, radius, length, tilt = 0.5, 0.35, 0.34, 1.5, 0.22
    at = [0.107, 0.0, 0.53]
    view = View([1, 0, 0], [0, 0, 1], 125, (235, 215))
    found = contacts(f"  plate: {{fixed: true, shapes: [{{hole: {{radius: {bore}, length: {2 * half}}}}}]}}\n"
                     f"  pin: {{mass: 1, pose: {{position: {at}, rpy: [0, {tilt}, 0]}}, "
                     f"shapes: [{{cylinder: {{radius: {radius}, length: {length}}}}}]}}\n")
    out = ""
    for side in (-1, 1):
        x0, x1 = side * bore, side * 1.5
        out += shape(view, [[x0, 0, -half], [x1, 0, -half], [x1, 0, half], [x0, 0, half]], "url(#solid)", "#888")
        out += label(view, [side * 1.62, 0, 0], "...", 0, 4, "middle", 14)
    corners = [[x + y for x, y in zip(rotation_y(tilt, v), at)]
               for v in [[-radius, 0, -length / 2], [radius, 0, -length / 2], [radius, 0, length / 2],
                         [-radius, 0, length / 2]]]
    out += shape(view, corners, "#dcebf7", BLUE, 'fill-opacity="0.8"')
    out += line(view, [0, 0, -0.75], [0, 0, 1.25], "#888", 1, 'stroke-dasharray="8 3 2 3"')
    in_the_cut = [c for c in found if abs(c["normal"][1]) < 0.5]
    for c in in_the_cut:
        p, q = ends(c)
        n = c["normal"]
        out += line(view, p, q, RED, 1.4, 'stroke-dasharray="3 2"')
        out += dot(view, p, "#7f7f7f", 2.8) + dot(view, q)
        out += line(view, q, [x + 0.25 * y for x, y in zip(q, n)], RED, 1.6, 'marker-end="url(#tip)"')
        name = "-".join(side.split(".")[1] for side in c["feature"].split("-"))
        right = p[0] > 0
        out += label(view, p, "%s, %.3f" % (name, c["phi"]), 14 if right else -14, -6 if right else 16,
                     "start" if right else "end")
    return out, "pin in a hole, cut along the axis", (
        f"{len(found)} points, {len(in_the_cut)} of them in the cut; arrows: normals, from a to b")


def main():
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}" '
          'font-family="DejaVu Sans, Verdana, sans-serif" font-size="13">'
          '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
          f'<path d="M0 0 L8 4 L0 8 z" fill="{RED}"/></marker>'
          '<pattern id="solid" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
          '<rect width="7" height="7" fill="#efefef"/><line x1="0" y1="0" x2="0" y2="7" stroke="#bbb"/></pattern></defs>'
          f'<rect width="{2 * WIDTH}" height="{2 * HEIGHT}" fill="white"/>')
    for i, panel in enumerate([tilted_box, box_on_box, cylinders, pin_in_hole]):
        drawing, title, note = panel()
        print(f'<g transform="translate({i % 2 * WIDTH} {i // 2 * HEIGHT})">{drawing}'
              f'<text x="16" y="24" font-weight="bold">{title}</text>'
              f'<text x="16" y="{HEIGHT - 12}" font-size="11" fill="#333">{note}</text></g>')
    print("</svg>")


main()
