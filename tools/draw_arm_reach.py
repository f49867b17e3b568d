#!/usr/bin/env python3
"""Draws docs/images/arm-reach.svg: the arm of examples/arm-reach seen from the side, at five times.

usage: tools/draw_arm_reach.py PERP > docs/images/arm-reach.svg   (PERP: the command, e.g. build/bin/perp)"""
import json
import pathlib
import subprocess
import sys

SCENE = pathlib.Path(__file__).resolve().parents[1] / "examples/arm-reach/scene.yaml"
CHAIN = ["base", "link1", "link2", "link3", "link4", "link5", "link6", "link7", "hand"]
TIMES = [0.0, 0.5, 1.0, 1.5, 2.0]
SCALE, LEFT, BASE = 520, 150, 470


def poses(t):
    done = subprocess.run([sys.argv[1], "run", SCENE, "--until", str(t), "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)["final"]["poses"]


def point(x, z):
    return f"{LEFT + SCALE * x:.1f},{BASE - SCALE * z:.1f}"


def rotate(q, v):
    w, u = q[0], q[1:]
    t = [2 * (u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3]) for i in range(3)]
    c = [u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3] for i in range(3)]
    return [v[i] + w * t[i] + c[i] for i in range(3)]


def arm(t, opacity):
    p = poses(t)
    line = " ".join(point(p[name][0], p[name][2]) for name in CHAIN)
    hand = p["hand"]
    tip = [hand[i] + rotate(hand[3:], [0, 0, 0.1084])[i] for i in range(3)]
    joints = "".join(f'<circle cx="{LEFT + SCALE * p[n][0]:.1f}" cy="{BASE - SCALE * p[n][2]:.1f}" r="6" fill="white" '
                     'stroke="#2e6da4" stroke-width="3"/>' for n in CHAIN[1:])
    return (f'<g opacity="{opacity}"><polyline points="{line}" fill="none" stroke="#2e6da4" stroke-width="13" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
            f'<polyline points="{point(hand[0], hand[2])} {point(tip[0], tip[2])}" stroke="#b8860b" stroke-width="8" '
            f'fill="none" stroke-linecap="round"/>{joints}</g>')


def main():
    side = SCALE * 0.05
    cube = f'<rect x="{LEFT + SCALE * 0.475:.1f}" y="{BASE - side:.1f}" width="{side}" height="{side}" fill="#c0504d"/>'
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 40 620 480" font-family="DejaVu Sans, Verdana, sans-serif" '
          'font-size="13"><rect y="40" width="620" height="480" fill="white"/>')
    print(f'<rect x="20" y="{BASE}" width="580" height="14" fill="#d9d9d9"/>{cube}')
    for i, t in enumerate(TIMES):
        print(arm(t, 0.16 + 0.84 * (i == len(TIMES) - 1) + 0.06 * i * (i < len(TIMES) - 1)))
    print(f'<text x="20" y="{BASE + 36}">examples/arm-reach, rung kinematic, from the side: t = 0, 0.5, 1, 1.5 and 2 s'
          '</text></svg>')


main()
