#!/usr/bin/env python3
"""Draws docs/images/fence-scales.svg: the fence and the particle over the time scale eps, dynamic against quasistatic.

usage: tools/draw_fence_scales.py PERP > docs/images/fence-scales.svg   (PERP: the command, e.g. build/bin/perp)
Every point is a run of examples/fence-particle; the lines beside them are the closed forms of its README."""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from draw_convergence import COLOURS, GREY, HEIGHT, WIDTH, Axes, curve, dots, legend, text

SCENE = str(pathlib.Path(__file__).resolve().parents[1] / "examples" / "fence-particle" / "scene.yaml")
SCALES = (2.0, 4.0, 4.5)
FRICTIONS = (0.0, 0.5, 1.0)  # of the fence
WALL = 1.0


def run(perp, model, eps, friction=0.5, folder=None):
    command = [perp, "run", SCENE, "--json", "--model", model, "--steps", "500",
               "--set", f"contacts.pairs.fence particle.friction={friction}"]
    command += [] if eps is None else ["--set", f"run.time_scale={eps!r}"]
    command += [] if folder is None else ["--csv", folder]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def way(perp, model, eps):
    with tempfile.TemporaryDirectory() as folder:
        run(perp, model, eps, folder=folder)
        with open(pathlib.Path(folder) / "state.csv", encoding="utf-8") as file:
            return [(float(row["t"]), float(row["particle.x"])) for row in csv.DictReader(file)]


def braking(friction):
    """mu_3 g cos(phi): how fast the plane brakes the particle along x, m/s^2."""
    return 0.5 * 9.81 / math.sqrt(1 + friction * friction)


def critical(friction):
    return math.sqrt(braking(friction) / 0.4)


def rest(eps, friction):
    if eps <= critical(friction):
        return 0.9
    s = braking(friction) / (0.4 * eps * eps)
    return min(0.5 + 0.2 * (s + 1 / s), WALL)


def trajectories(perp):
    axes = Axes((0, 0), (WIDTH, HEIGHT), (0, 5), (0.3, 1.05))
    out = axes.frame("Particle pushed by the fence, mu = 0.5", "scaled time", "x, m", [(k, str(k)) for k in range(6)],
                     [(k / 10, f"{k / 10:.1f}") for k in range(3, 11)])
    fence = [(0.02 * k, 0.5 + 0.4 * math.sin(0.02 * k)) for k in range(201) if 0.5 + 0.4 * math.sin(0.02 * k) > 0.3]
    out += curve(axes, fence, GREY, 'stroke-dasharray="2 3"')
    for eps, colour in zip(SCALES, COLOURS[1:]):
        out += curve(axes, way(perp, "dyn-ncp", eps), colour)
    out += curve(axes, way(perp, "qs-ncp", None), COLOURS[0], 'stroke-dasharray="7 4"')
    out += legend(axes.x(0.9), axes.y(0.53), ["quasistatic (dashed)"] + [f"dynamic, eps = {eps:g}" for eps in SCALES])
    return out + text(axes.x(3.35), axes.y(0.47), "fence", "start", 10.5, GREY)


def boundary(perp):
    axes = Axes((WIDTH, 0), (WIDTH, HEIGHT), (2.5, 5), (0.88, 1.02))
    out = axes.frame("Where it comes to rest, by mu of the fence", "eps", "x, m",
                     [(k / 2, f"{k / 2:g}") for k in range(5, 11)], [(k / 50, f"{k / 50:.2f}") for k in range(44, 52)])
    for friction, colour in zip(FRICTIONS, COLOURS):
        at = critical(friction)
        out += curve(axes, [(2.5 + 0.01 * k, rest(2.5 + 0.01 * k, friction)) for k in range(251)], colour)
        out += curve(axes, [(at, 0.88), (at, 0.9)], colour, 'stroke-dasharray="3 3"')
        scales = [2.5 + 0.125 * k for k in range(21)]
        out += dots(axes, [(eps, run(perp, "dyn-ncp", eps, friction)["final"]["q"]["particle"][0]) for eps in scales],
                    colour, 3)
        out += text(axes.x(at) + (-4 if friction > 0 else 4), axes.y(0.8835), f"{at:.3f}", "end" if friction > 0 else "start", 9.5, colour)
    out += legend(axes.x(4.4), axes.y(0.92), [f"mu = {friction:g}" for friction in FRICTIONS])
    out += text(axes.x(2.55), axes.y(0.903), "quasistatic", "start", 10.5, GREY)
    out += text(axes.x(3.6), axes.y(0.955), "dynamic: slides on", "end", 10.5, GREY)
    return out + text(axes.x(2.55), axes.y(1.003), "wall", "start", 10.5, GREY)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{HEIGHT}" '
          f'viewBox="0 0 {2 * WIDTH} {HEIGHT}" font-family="sans-serif">\n'
          '<rect width="100%" height="100%" fill="#ffffff"/>')
    print(trajectories(sys.argv[1]))
    print(boundary(sys.argv[1]))
    print("</svg>")


if __name__ == "__main__":
    main()
