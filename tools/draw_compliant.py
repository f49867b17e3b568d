#!/usr/bin/env python3
"""Draws what the rung `compliant` is measured by, from runs of the examples.

usage: tools/draw_compliant.py build/bin/perp restitution > docs/images/restitution.svg
       tools/draw_compliant.py build/bin/perp speed > docs/images/restitution-speed.svg
       tools/draw_compliant.py build/bin/perp limits > docs/images/compliant-limits.svg
       tools/draw_compliant.py build/bin/perp rod > docs/images/rod-full-order.svg
With --table the numbers are printed instead, as docs/models.md has them."""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import compliant_forms as forms
from draw_convergence import COLOURS, HEIGHT, WIDTH, Axes, curve, dots, legend, power, text

ROOT = pathlib.Path(__file__).resolve().parents[1]
BALL = """perp: 1
gravity: [0, 0, 0]
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  ball: {mass: 0.1, pose: {position: [0, 0, 0.05]}, velocity: {linear: [0, 0, -1]}, shapes: [{sphere: 0.05}]}
compliance: {stiffness: 1.0e4, gamma: 0}
"""


class Runner:
    """Runs scenes, by the name of an example or as text."""

    def __init__(self, perp, folder):
        self.perp, self.folder = perp, pathlib.Path(folder)

    def run(self, scene, model="compliant", settings=(), h=None, until=None, table=False):
        path = ROOT / "examples" / scene / "scene.yaml"
        if "\n" in scene:
            path = self.folder / "scene.yaml"
            path.write_text(scene)
        command = [self.perp, "run", str(path), "--model", model, "--json"]
        command += ["--csv", str(self.folder / "csv")] if table else []
        command += [] if h is None else ["--h", repr(h)]
        command += [] if until is None else ["--until", repr(until)]
        for key, value in dict(settings).items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def states(self):
        """Of the last run with a table, as numbers by column."""
        with open(self.folder / "csv" / "state.csv", encoding="ascii") as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def page(panels, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{panels * WIDTH}" height="{HEIGHT}" '
                      'font-family="sans-serif">', '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"])


def decades(low, high):
    return [(10.0 ** e, power(e)) for e in range(low, high + 1)]


def plain_decades(low, high):
    """For the axis along x, which takes no markup."""
    return [(10.0 ** e, f"1e{e}") for e in range(low, high + 1)]


# ---- restitution -----------------------------------------------------------------------------------------------------

RATIOS = (0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4, 2)
PHASES = (0.1, 0.01)  # of the contact's oscillation, w h


def restitutions(runner):
    """By w h: e for every damping ratio."""
    pulse = math.sqrt(1e4 / 0.1)
    found = {}
    for phase in PHASES:
        found[phase] = []
        for zeta in RATIOS:
            result = runner.run(BALL, settings={"compliance.damping": 2 * zeta * math.sqrt(1e4 * 0.1)}, h=phase / pulse,
                                until=0.02)
            found[phase].append(result["final"]["v"]["ball"][2])
    return found


def draw_restitution(found):
    axes = Axes((0, 0), (WIDTH, HEIGHT), (0, 2), (0, 1))
    out = [axes.frame("restitution by damping ratio", "zeta = C / (2 sqrt(K m))", "e",
                      [(x / 2, f"{x / 2:g}") for x in range(5)], [(x / 5, f"{x / 5:g}") for x in range(6)]),
           curve(axes, [(x / 100, forms.restitution(x / 100)) for x in range(201)], COLOURS[0])]
    for phase, colour in zip(PHASES, COLOURS[1:]):
        out.append(dots(axes, zip(RATIOS, found[phase]), colour, 3))
    out.append(legend(axes.x(0.9), axes.y(0.9), ["closed form", *(f"steps with w h = {p:g}" for p in PHASES)]))
    return page(1, out)


def print_restitution(found):
    print("| zeta | e(zeta) | " + " | ".join(f"w h = {p:g}" for p in PHASES) + " |\n|---|---|" + "---|" * len(PHASES))
    for k, zeta in enumerate(RATIOS):
        print(f"| {zeta:g} | {forms.restitution(zeta):.6f} | " + " | ".join(f"{found[p][k]:.6f}" for p in PHASES) + " |")


SPEEDS = (0.125, 0.25, 0.5, 1, 2, 3, 4, 6, 8)
SHARE = 0.25  # s/m: C / K of Hunt and Crossley's law


def speeds(runner):
    """By w h: e for every speed of impact."""
    pulse = math.sqrt(1e4 / 0.1)
    found = {}
    for phase in PHASES:
        found[phase] = []
        for v in SPEEDS:
            result = runner.run(BALL, settings={"compliance.damping": 1e4 * SHARE, "compliance.law": "hunt-crossley",
                                                "bodies.ball.velocity.linear": [0, 0, -v]}, h=phase / pulse, until=0.03)
            found[phase].append(result["final"]["v"]["ball"][2] / v)
    return found


def draw_speeds(found):
    axes = Axes((0, 0), (WIDTH, HEIGHT), (0, 2), (0, 1))
    out = [axes.frame("restitution by speed of impact, Hunt-Crossley", "v C / K", "e",
                      [(x / 2, f"{x / 2:g}") for x in range(5)], [(x / 5, f"{x / 5:g}") for x in range(6)]),
           curve(axes, [(0, 1), *((x / 100, forms.hunt_crossley(x / 100)) for x in range(1, 201))], COLOURS[0])]
    for phase, colour in zip(PHASES, COLOURS[1:]):
        out.append(dots(axes, [(SHARE * v, e) for v, e in zip(SPEEDS, found[phase])], colour, 3))
    out.append(curve(axes, [(0, 1), (1.35, 0.1)], "#999", 'stroke-dasharray="4 4"'))
    out.append(legend(axes.x(0.9), axes.y(0.95), ["closed form", *(f"steps with w h = {p:g}" for p in PHASES),
                                                  "1 - 2/3 v C / K"], [*COLOURS[:3], "#999"]))
    return page(1, out)


def print_speeds(found):
    print("| v, m/s | e | 1 - 2/3 v C / K | " + " | ".join(f"w h = {p:g}" for p in PHASES) + " |\n|---|---|---|"
          + "---|" * len(PHASES))
    for k, v in enumerate(SPEEDS):
        print(f"| {v:g} | {forms.hunt_crossley(SHARE * v):.6f} | {1 - 2 / 3 * SHARE * v:.6f} | "
              + " | ".join(f"{found[p][k]:.6f}" for p in PHASES) + " |")


# ---- stiffness without end, steps without length ----------------------------------------------------------------------

STIFF = [10.0 ** e for e in range(3, 10)]
RIGID = {"masse-ball": 0.2, "sphere-roll": 1, "disc-incline": 1}  # mass, for a damping ratio of 1/2
STEPS = [8e-4, 4e-4, 2e-4, 1e-4]


def distance(a, b):
    return max(abs(x - y) for name in a for x, y in zip(a[name], b[name]))


def stiff_limits(runner):
    """By example: how far the end is from that of dyn-ncp, for every K."""
    found = {}
    for name, mass in RIGID.items():
        rigid = runner.run(name, "dyn-ncp")["final"]["q"]
        found[name] = []
        for k in STIFF:
            soft = runner.run(name, settings={"compliance.stiffness": k, "compliance.damping": math.sqrt(k * mass),
                                              "compliance.gamma": 0})
            found[name].append(distance(soft["final"]["q"], rigid))
    return found


def step_limits(runner):
    """By problem: the error for every h. Of the part there is no exact answer: that of h = 1e-4 / 8 stands for it."""
    def ball(h):
        q = runner.run("masse-ball", settings={"compliance.stiffness": 1e9, "compliance.damping": 1e4,
                                               "compliance.gamma": 0}, h=h, until=1.0)["final"]["q"]["ball"]
        return q[:2]

    def cradle(h):
        return [runner.run("newton-cradle", h=h / 10, until=0.04)["final"]["v"]["rod5"][0]]

    def part(h):
        return runner.run("reorient", h=h, until=1.2)["final"]["q"]["part"]

    exact = {"masse shot, K = 1e9 (m)": (ball, [0.5619142906587432, -0.047607136676571016]),
             "cradle, h / 10 (rad/s)": (cradle, [forms.cradle(5, 3, 0.04)[1][4]]),
             "part feeder (m)": (part, [2 * b - a for a, b in zip(part(2.5e-5), part(1.25e-5))])}
    return {name: [max(abs(a - b) for a, b in zip(measure(h), answer)) for h in STEPS]
            for name, (measure, answer) in exact.items()}


def turning_limit(runner):
    """How far a box that tips is from dyn-ncp at K = 1e8, by h: there geometry changes in a step."""
    found = {}
    for h in (5e-3, 2.5e-3, 1.25e-3, 6.25e-4):
        rigid = runner.run("box-incline", "dyn-ncp", h=h, until=0.3)["final"]["q"]
        soft = runner.run("box-incline", settings={"compliance.stiffness": 1e8, "compliance.damping": 1e4,
                                                   "compliance.gamma": 0}, h=h, until=0.3)
        found[h] = distance(soft["final"]["q"], rigid)
    return found


def limits(runner):
    return stiff_limits(runner), step_limits(runner), turning_limit(runner)


def draw_limits(found):
    stiff, steps, _ = found
    left = Axes((0, 0), (WIDTH, HEIGHT), (5e2, 2e9), (1e-9, 0.1), (True, True))
    out = [left.frame("distance to dyn-ncp by stiffness: first order", "K (N/m), damping ratio 1/2", "m",
                      plain_decades(3, 9), decades(-9, -1))]
    for (name, row), colour in zip(stiff.items(), COLOURS):
        out += [curve(left, zip(STIFF, row), colour), dots(left, zip(STIFF, row), colour, 2.5)]
    out.append(legend(left.x(3e6), left.y(0.02), stiff))
    right = Axes((WIDTH, 0), (WIDTH, HEIGHT), (7e-5, 1e-3), (1e-6, 0.3), (True, True))
    out.append(right.frame("error by time step: first order", "h (s)", "", [(1e-4, "0.0001"), (1e-3, "0.001")],
                           decades(-6, -1)))
    for (name, row), colour in zip(steps.items(), COLOURS):
        out += [curve(right, zip(STEPS, row), colour), dots(right, zip(STEPS, row), colour, 2.5)]
    out.append(legend(right.x(2.2e-4), right.y(1.5e-5), steps))
    return page(2, out)


def print_limits(found):
    stiff, steps, turning = found
    print("| distance to `dyn-ncp`, m | " + " | ".join(f"K = {k:.0e}" for k in STIFF) + " | order |\n|---|"
          + "---|" * (len(STIFF) + 1))
    for name, row in stiff.items():
        print(f"| `{name}` | " + " | ".join(f"{e:.2e}" for e in row) + f" | {math.log10(row[-2] / row[-1]):.3f} |")
    print("\n| error | " + " | ".join(f"h = {h:g}" for h in STEPS) + " | order |\n|---|" + "---|" * (len(STEPS) + 1))
    for name, row in steps.items():
        print(f"| {name} | " + " | ".join(f"{e:.2e}" for e in row) + f" | {math.log2(row[-2] / row[-1]):.2f} |")
    print("\nbox-incline at K = 1e8, distance to dyn-ncp: " + ", ".join(f"h = {h:g}: {d:.3e}" for h, d in turning.items()))


# ---- the full-order rod ------------------------------------------------------------------------------------------------

SCALES = [10.0 ** -e for e in range(3, 8)]
LOAD = (-0.5538263448434413, -0.06790831587618817, 2.3442525506024494)  # presses with 2 N at each end, mu = 0.5
FREE = (-0.5423383423701834, 0.993599378122592, 1.648575200516035)  # likewise, mu = (1, 1.5)
END = 0.2


def rod_settings(mu, c, k, eps, load, z, rate):
    """Gaps eps z, opening at sqrt(eps) rate, at the angle THETA and 0.3 rad/s."""
    cosine, sine, turning = math.cos(forms.THETA), math.sin(forms.THETA), 0.3
    y, vy = sine + eps * z[0], cosine * turning + math.sqrt(eps) * rate[0]
    x = math.sqrt(2) * eps * z[1] + y + sine - cosine
    vx = math.sqrt(2 * eps) * rate[1] + vy + (sine + cosine) * turning
    return {"bodies.rod.pose.position": [x, y], "bodies.rod.velocity.linear": [vx, vy],
            "forces.0.force": list(load[:2]), "forces.0.torque": load[2], "contacts.pairs.floor rod.friction": mu[0],
            "contacts.pairs.wall rod.friction": mu[1], "compliance.stiffness": k, "compliance.damping": c,
            "compliance.stiffness_scale": eps}


def rod_gaps(x, y, theta):
    return [y - math.sin(theta), (x + math.cos(theta) - y - math.sin(theta)) / math.sqrt(2)]


def rod_end(runner, eps, h):
    """theta, theta', z and forces at END, from gaps and their rates off what the forces ask for."""
    result = runner.run("rod-two-walls", settings=rod_settings((0.5, 0.5), 1.0, 1.0, eps, LOAD, (-1.9, -2.05), (0.2, -0.1)),
                        h=h, until=END)
    q, v = result["final"]["q"]["rod"], result["final"]["v"]["rod"]
    return [q[2], v[2], *(gap / eps for gap in rod_gaps(*q)), *(c["fn"] for c in result["contacts"])]


def rod_errors(runner, eps, h):
    """Of theta, theta', z and the forces, beside the rigid rod: runs with h and h / 2, extrapolated to h = 0."""
    ends = [rod_end(runner, eps, step) for step in (h, h / 2)]
    end = [2 * b - a for a, b in zip(*ends)]
    theta, turning, fn = forms.rigid_rod((0.5, 0.5), LOAD, 0.3, END)
    return [abs(end[0] - theta), abs(end[1] - turning), max(abs(z + f) for z, f in zip(end[2:4], fn)),
            max(abs(a - b) for a, b in zip(end[4:], fn))]


def rod_growth(runner, eps, phase, until):
    """The unstable rod, mu = (1, 1.5), c^2 / k = 0.1: the amplitude of its growing motion in steps of phase sqrt(eps). What
    the slow motion does to z is in two runs alike, and taken away by their difference."""
    mu, c = (1, 1.5), math.sqrt(0.1)
    _, amplitude = forms.rod_modes(mu, c, 1)
    found = []
    for off in (0.01, 0):
        runner.run("rod-two-walls", settings=rod_settings(mu, c, 1.0, eps, FREE, (off - 2, -2), (0, 0)),
                   h=phase * math.sqrt(eps), until=until * math.sqrt(eps), table=True)
        found.append([])
        for s in runner.states():
            x, y, theta, vx, vy, turning = (s[key + "rod." + k] for key in ("", "v:") for k in ("x", "y", "theta"))
            sine, cosine = math.sin(theta), math.cos(theta)
            rate = [vy - cosine * turning, (vx - sine * turning - vy - cosine * turning) / math.sqrt(2)]
            found[-1].append(amplitude([g / eps for g in rod_gaps(x, y, theta)], [r / math.sqrt(eps) for r in rate]))
    return [abs(a - b) for a, b in zip(*found)]


def rod(runner):
    errors = [rod_errors(runner, eps, 2e-5) for eps in SCALES]
    growth = {phase: rod_growth(runner, 1e-8, phase, 12) for phase in (4e-3, 2e-3, 1e-3)}
    return errors, growth


def rate_of(row, phase):
    """Exponent from the first to the last amplitude."""
    return math.log(row[-1] / row[0]) / (phase * (len(row) - 1))


def draw_rod(found):
    errors, growth = found
    left = Axes((0, 0), (WIDTH, HEIGHT), (5e-8, 2e-3), (3e-6, 0.1), (True, True))
    names = ["theta (rad)", "theta' (rad/s)", "z = gap / eps", "normal force (N)"]
    out = [left.frame("full-order rod: distance to the rigid one", "eps", "", plain_decades(-7, -3), decades(-5, -1))]
    for k, colour in enumerate(COLOURS):
        row = [e[k] for e in errors]
        out += [curve(left, zip(SCALES, row), colour), dots(left, zip(SCALES, row), colour, 2.5)]
    guide = [(eps, 0.012 * math.sqrt(eps)) for eps in (SCALES[0], SCALES[-1])]
    out += [curve(left, guide, "#999", 'stroke-dasharray="4 4"'), legend(left.x(7e-8), left.y(0.05), names),
            text(left.x(1.5e-5), left.y(2.2e-5), "sqrt(eps)", "start", 10.5, "#777")]
    right = Axes((WIDTH, 0), (WIDTH, HEIGHT), (0, 12), (0.8, 100), (False, True))
    exponent = forms.rod_modes((1, 1.5), math.sqrt(0.1), 1)[0].real
    out.append(right.frame("a P-matrix, and unstable: mu = (1, 1.5), c^2 / k = 0.1", "t / sqrt(eps)",
                           "amplitude", [(t, str(t)) for t in range(0, 13, 3)], decades(0, 2)))
    out.append(curve(right, [(0, 1), (12, math.exp(12 * exponent))], "#999", 'stroke-dasharray="4 4"'))
    row = growth[1e-3]
    out.append(curve(right, [(1e-3 * k, row[k] / row[0]) for k in range(0, len(row), 50)], COLOURS[1]))
    out.append(legend(right.x(0.5), right.y(60), [f"predicted: exp({exponent:.4f} t / sqrt(eps))", "run, eps = 1e-8"],
                      ["#999", COLOURS[1]]))
    return page(2, out)


def print_rod(found):
    errors, growth = found
    print("| eps | theta | theta' | z | force |\n|---|---|---|---|---|")
    for eps, row in zip(SCALES, errors):
        print(f"| {eps:.0e} | " + " | ".join(f"{e:.3e}" for e in row) + " |")
    slopes = [math.log10(a / b) for a, b in zip(errors[-2], errors[-1])]
    print("| slope of the last decade | " + " | ".join(f"{s:.3f}" for s in slopes) + " |\n")
    exponent = forms.rod_modes((1, 1.5), math.sqrt(0.1), 1)[0].real
    rates = {phase: rate_of(row, phase) for phase, row in growth.items()}
    print(f"growth: predicted {exponent:.7f}; " + ", ".join(f"h = {p:g} sqrt(eps): {r:.5f}" for p, r in rates.items())
          + f"; extrapolated {2 * rates[1e-3] - rates[2e-3]:.5f}")


STUDIES = {"restitution": (restitutions, draw_restitution, print_restitution), "speed": (speeds, draw_speeds, print_speeds),
           "limits": (limits, draw_limits, print_limits),
           "rod": (rod, draw_rod, print_rod)}


def main():
    perp, study = [a for a in sys.argv[1:] if a != "--table"]
    measure, draw, show = STUDIES[study]
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Runner(perp, folder))
    if "--table" in sys.argv:
        show(found)
    else:
        print(draw(found))


if __name__ == "__main__":
    main()
