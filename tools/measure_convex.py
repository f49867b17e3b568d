#!/usr/bin/env python3
"""How far `dyn-qp` is from `dyn-ncp` with small steps, on scenes that slide, land, strike and tumble.

usage: tools/measure_convex.py build/bin/perp [--all]
Prints the table of docs/models.md: by scene and step the distance from where dyn-ncp with h = 0.1 ms has the body that is
farthest off, its mean over the run, in mm. With --all beside it how far dyn-ncp is off with the same step, and 40 boxes that
are thrown at random (the mean over boxes)."""
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = (0.01, 0.005, 0.002, 0.001)
FLOOR = "perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
BLOCK = "  block: {mass: 2, pose: {position: [0, 0, %g]}, velocity: {linear: [2, 0, 0]}, shapes: [{box: [0.2, 0.1, 0.1]}]}\n"
BOX = "  %s: {mass: %g, pose: {position: [%g, %g, %g]}, velocity: {linear: [%g, 0, 0]}, shapes: [{box: [%g, 0.1, 0.1]}]}\n"
WALL = "  wall: {fixed: true, shapes: [{box: [0.1, 1, 1]}], pose: {position: [0.5, 0, 0.5]}}\n"
THROWN = ("  box: {mass: 1, pose: {position: [0, 0, 0.3], rpy: [0.3, 0.5, 0.2]}, velocity: {linear: [2, 0.5, 0], "
          "angular: [1, 3, 0.5]}, shapes: [{box: [0.2, 0.15, 0.1]}]}\n")
SCENES = {  # text or path, until, settings
    "block set down at 2 m/s, mu 0.5": (FLOOR + BLOCK % 0.05 + "contacts: {friction: 0.5}\n", 0.6, ()),
    "block lands at 2 m/s, mu 0.4": (FLOOR + BLOCK % 0.25 + "contacts: {friction: 0.4}\n", 0.6, ()),
    "block slides against a wall, mu 0.3": (FLOOR + WALL + BLOCK % 0.05 + "contacts: {friction: 0.3}\n", 0.6, ()),
    "cube strikes a cube, mu 0.3": (FLOOR + BOX % ("a", 1, 0, 0, 0.05, 2, 0.1) + BOX % ("b", 1, 0.3, 0.02, 0.05, 0, 0.1)
                                    + "contacts: {friction: 0.3}\n", 0.5, ()),
    "block slides from under another, mu 0.3": (FLOOR + BOX % ("low", 1, 0, 0, 0.05, 2, 0.3)
                                                + BOX % ("high", 3, 0, 0, 0.15, 0, 0.2) + "contacts: {friction: 0.3}\n", 0.5, ()),
    "thrown box, mu 0.4": (FLOOR + THROWN + "contacts: {friction: 0.4}\n", 0.5, ()),
    "`masse-ball`": (ROOT / "examples/masse-ball/scene.yaml", 0.8, ()),
    "`sphere-roll`": (ROOT / "examples/sphere-roll/scene.yaml", 0.6, ()),
    "`disc-incline`": (ROOT / "examples/disc-incline/scene.yaml", 0.8, ()),
    "`domino`": (ROOT / "examples/domino/scene.yaml", 0.3, ()),
    "`ladder`, mu 0.1": (ROOT / "examples/ladder/scene.yaml", 0.9, ("contacts.friction=0.1",)),
    "arm with cubes": (ROOT / "bench/scenes/arm-and-cubes-at-work.yaml", 0.3,
                       ("joints.finger_left.command=0.015", "joints.finger_right.command=0.015")),
}


def thrown(seed):
    u = random.Random(seed).uniform
    return FLOOR + ("  box: {mass: %.3f, pose: {position: [%.3f, %.3f, %.3f], rpy: [%.3f, %.3f, %.3f]}, velocity: {linear: "
                    "[%.3f, %.3f, %.3f], angular: [%.3f, %.3f, %.3f]}, shapes: [{box: [%.3f, %.3f, %.3f]}]}\n"
                    "contacts: {friction: %.3f}\n") % (
        u(.5, 2), u(-.05, .05), u(-.05, .05), u(.2, .4), u(-1, 1), u(-1, 1), u(-1, 1), u(-2, 2), u(-2, 2), u(-2, 0),
        u(-4, 4), u(-4, 4), u(-4, 4), u(.08, .25), u(.08, .25), u(.08, .25), u(.1, .8))


def places(perp, scene, until, settings, model, h):
    """Of every body, each 10 ms: its place, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = scene
        if isinstance(scene, str):
            path = pathlib.Path(folder) / "scene.yaml"
            path.write_text(scene)
        command = [perp, "run", str(path), "--model", model, "--h", repr(h), "--until", str(until), "--json", "--csv",
                   folder + "/csv", "--set", "run.cone=quadratic"]
        for setting in settings:
            command += ["--set", setting]
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        with open(folder + "/csv/state.csv", encoding="ascii") as file:
            rows = list(csv.DictReader(file))
    names = {key.rsplit(".", 1)[0] for key in rows[0] if key.endswith(".x") and not key.startswith("v:")}
    return [{name: [float(row.get(f"{name}.{k}", 0)) for k in "xyz"] for name in names} for row in rows[::round(0.01 / h)]]


def off(at, truth):
    """mm: the mean over the run of the farthest body's distance."""
    return 1e3 * sum(max(math.dist(a[name], b[name]) for name in a) for a, b in zip(at, truth)) / len(truth)


def line(name, numbers):
    print(f"| {name} | " + " | ".join(f"{x:.3g}" for x in numbers) + " |", flush=True)


def main():
    perp, everything = sys.argv[1], "--all" in sys.argv[2:]
    print("| mm off | " + " | ".join(f"h = {h:g}" for h in STEPS) + " |\n|---|" + "---:|" * len(STEPS))
    for name, scene in SCENES.items():
        truth = places(perp, *scene, "dyn-ncp", 0.001 if name.startswith("arm") else 1e-4)
        line(name, [off(places(perp, *scene, "dyn-qp", h), truth) for h in STEPS])
        if everything:
            line(name + ", `dyn-ncp`", [off(places(perp, *scene, "dyn-ncp", h), truth) for h in STEPS])
    if everything:
        scenes = [(thrown(seed), 0.4, ()) for seed in range(40)]
        truths = [places(perp, *scene, "dyn-ncp", 2e-4) for scene in scenes]
        for model in ("dyn-qp", "dyn-ncp"):
            found = [[off(places(perp, *s, model, h), t) for s, t in zip(scenes, truths)] for h in STEPS]
            line(f"40 thrown boxes, `{model}`", [sum(x) / len(x) for x in found])


if __name__ == "__main__":
    main()
