#!/usr/bin/env python3
"""Draws docs/images/dynamic-order.svg: how the dynamic rungs converge with the time step, and what their energy does.

usage: tools/draw_dynamic_order.py build/bin/perp > docs/images/dynamic-order.svg
With --table the errors and orders are printed instead, as docs/models.md has them."""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from draw_convergence import COLOURS, HEIGHT, WIDTH, Axes, power, text

STEPS = [40, 80, 160, 320, 640, 1280]  # in 1 s
TOP = """perp: 1
gravity: [0, 0, 0]
bodies:
  top: {mass: 1, inertia: [0.01, 0.02, 0.03], velocity: {angular: [1, 10, 0.5]}}
"""
PENDULUM = """perp: 1
planar: true
bodies:
  rod: {mass: 2, inertia: 0.3, com: [0, -0.5]}
joints:
  a: {type: revolute, parent: world, child: rod, anchor: [0, 0], position: 2}
"""
DOUBLE = """perp: 1
planar: true
bodies:
  upper: {mass: 2, inertia: 0.3, com: [0, -0.5]}
  lower: {mass: 1, inertia: 0.1, com: [0, -0.4]}
joints:
  a: {type: revolute, parent: world, child: upper, anchor: [0, 0], position: 2}
  b: {type: revolute, parent: upper, child: lower, anchor: [0, -1], position: -0.5}
"""
BALL = """perp: 1
gravity: [0, 0, -9.8]
bodies:
  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  ball:
    mass: 0.2
    pose: {position: [0, 0, 0.05]}
    velocity: {linear: [1, 0.5, 0], angular: [40, -20, -10]}
    shapes: [{sphere: 0.05}]
contacts: {friction: 0.2}
"""


def top_rate(y):
    q, w, inertia = y[:4], y[4:], (0.01, 0.02, 0.03)
    turn = [-0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]), 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]),
            0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]), 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0])]
    return turn + [(inertia[(i + 1) % 3] - inertia[(i + 2) % 3]) * w[(i + 1) % 3] * w[(i + 2) % 3] / inertia[i]
                   for i in range(3)]


def pendulum_rate(y):
    return [y[1], -9.81 * math.sin(y[0]) / 0.8]


def double_rate(y):
    c, d = 0.4, y[0] - y[1]
    m = (1.8, c * math.cos(d), 0.26)
    f = (-c * math.sin(d) * y[3] ** 2 - 19.62 * math.sin(y[0]), c * math.sin(d) * y[2] ** 2 - 3.924 * math.sin(y[1]))
    determinant = m[0] * m[2] - m[1] ** 2
    return [y[2], y[3], (m[2] * f[0] - m[1] * f[1]) / determinant, (m[0] * f[1] - m[1] * f[0]) / determinant]


def double_energy(a, b, va, vb):
    y = (a, a + b, va, va + vb)
    return (0.9 * y[2] ** 2 + 0.4 * math.cos(y[0] - y[1]) * y[2] * y[3] + 0.13 * y[3] ** 2 - 19.62 * math.cos(y[0])
            - 3.924 * math.cos(y[1]))


def integrate(rate, y, steps=5000):
    """Runge-Kutta of fourth order over 1 s."""
    h = 1 / steps
    for _ in range(steps):
        k = [rate(y)]
        for part in (0.5, 0.5, 1):
            k.append(rate([a + part * h * b for a, b in zip(y, k[-1])]))
        y = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, *k)]
    return y


class Runner:
    def __init__(self, perp, folder):
        self.perp, self.folder = perp, pathlib.Path(folder)

    def run(self, scene, model, steps, until=1.0, cone=None, table=False):
        path = self.folder / "scene.yaml"
        path.write_text(scene + f"run: {{model: {model}, h: {until / steps!r}, steps: {steps}"
                        + (f", cone: {cone}" if cone else "") + "}\n")
        command = [self.perp, "run", str(path), "--json"] + (["--csv", str(self.folder / "csv")] if table else [])
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if table:
            with open(self.folder / "csv/state.csv", encoding="ascii") as file:
                return list(csv.DictReader(file))
        return result["final"]["q"]


def errors(runner):
    """By problem and rung: the error at 1 s for every number of steps."""
    top = integrate(top_rate, [1, 0, 0, 0, 1, 10, 0.5])
    rod, both = integrate(pendulum_rate, [2, 0]), integrate(double_rate, [2, 1.5, 0, 0])

    def measure(q):
        if "top" in q:
            return 2 * math.acos(min(1, abs(sum(x * y for x, y in zip(q["top"][3:], top)))))
        if "b" in q:
            return math.hypot(q["a"][0] - both[0], q["a"][0] + q["b"][0] - both[1])
        if "a" in q:
            return abs(q["a"][0] - rod[0])
        return math.hypot(q["ball"][0] - 0.5619142906587432, q["ball"][1] + 0.047607136676571016)

    problems = {"free top (rad)": TOP, "pendulum (rad)": PENDULUM, "double pendulum (rad)": DOUBLE}
    found = {(name, model): [measure(runner.run(scene, model, n)) for n in STEPS]
             for name, scene in problems.items() for model in ("dyn-lcp", "dyn-ncp", "dyn-qp")}
    for model in ("dyn-ncp", "dyn-qp"):
        found["masse shot (m)", model] = [measure(runner.run(BALL, model, n, cone="quadratic")) for n in STEPS]
    return found


def energies(runner):
    """Over 10 s at h = 0.01: time, and the energy of top and double pendulum over what it was."""
    top, both = [], []
    for row in runner.run(TOP, "dyn-ncp", 1000, until=10.0, table=True):
        q = [float(row["top." + k]) for k in ("qw", "qx", "qy", "qz")]
        w = [float(row["v:top." + k]) for k in ("rx", "ry", "rz")]
        x, y, z = q[1:]
        dot, s = sum(a * b for a, b in zip((x, y, z), w)), q[0]
        cross = (y * w[2] - z * w[1], z * w[0] - x * w[2], x * w[1] - y * w[0])
        body = [2 * dot * a + (s * s - x * x - y * y - z * z) * b - 2 * s * c for a, b, c in zip((x, y, z), w, cross)]
        top.append(0.5 * sum(i * b * b for i, b in zip((0.01, 0.02, 0.03), body)))
    for row in runner.run(DOUBLE, "dyn-ncp", 1000, until=10.0, table=True):
        both.append(double_energy(*(float(row[k]) for k in ("a", "b", "v:a", "v:b"))))
    swing = max(both[0] + 19.62 + 3.924, 1e-9)  # J above hanging still
    return [e / top[0] - 1 for e in top], [(e - both[0]) / swing for e in both]


def draw(found, top, both):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{HEIGHT}" font-family="sans-serif">',
           '<rect width="100%" height="100%" fill="white"/>']
    left = Axes((0, 0), (WIDTH, HEIGHT), (5e-4, 0.04), (1e-5, 1), (True, True))
    out.append(left.frame("error at 1 s by time step: first order", "h (s)", "error",
                          [(1e-3, "0.001"), (1e-2, "0.01")], [(10.0 ** e, power(e)) for e in range(-5, 1)]))
    names = list(dict.fromkeys(name for name, _ in found))
    for (name, model), row in found.items():
        colour = COLOURS[names.index(name)]
        points = " ".join(f"{left.x(1 / n):.1f},{left.y(e):.1f}" for n, e in zip(STEPS, row))
        dash = {"dyn-lcp": "8 4", "dyn-ncp": "none", "dyn-qp": "2 3"}[model]
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6" '
                   f'stroke-dasharray="{dash}"/>')
    for i, name in enumerate(names):
        out.append(text(left.x(0.038), left.y(1.1e-4) + 15 * i, name, "end", 11, COLOURS[i]))
    right = Axes((WIDTH, 0), (WIDTH, HEIGHT), (0, 10), (-0.2, 0.2))
    out.append(right.frame("energy at h = 0.01 (dyn-ncp): change, relative", "t (s)", "",
                           [(t, str(t)) for t in range(0, 11, 2)],
                           [(e / 100, f"{e / 100:g}") for e in range(-20, 21, 10)]))
    for row, name, colour in ((both, "double pendulum", COLOURS[2]), (top, "free top: flat to 1e-13", COLOURS[0])):
        points = " ".join(f"{right.x(0.01 * k):.1f},{right.y(e):.1f}" for k, e in enumerate(row))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        out.append(text(right.x(9.8), right.y(0.18 if name[0] == "d" else -0.18), name, "end", 11, colour))
    return "\n".join(out + ["</svg>"])


def print_table(found, top, both):
    print("| | rung | " + " | ".join(f"h = 1/{n}" for n in STEPS) + " | order |\n|---|---|" + "---|" * (len(STEPS) + 1))
    for (name, model), row in found.items():
        order = math.log2(row[-2] / row[-1])
        print(f"| {name} | `{model}` | " + " | ".join(f"{e:.2e}" for e in row) + f" | {order:.2f} |")
    print(f"\nenergy over 10 s at h = 0.01: top {max(map(abs, top)):.1e}, double pendulum "
          f"{min(both):.3f} .. {max(both):.3f}")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--table"]
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments[0], folder)
        found, (top, both) = errors(runner), energies(runner)
    if "--table" in sys.argv:
        print_table(found, top, both)
    else:
        print(draw(found, top, both))


if __name__ == "__main__":
    main()
