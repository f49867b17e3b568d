"""Pushes and slides over a table whose course is known from papers."""
import csv
import itertools
import json
import math
import random

import pytest

import support_oracle as oracle
from conftest import ROOT, SANITIZED


def cone_margin(wrench, edges):
    """By how much a wrench is inside the cone of four edges, of its size: the best least coefficient of three of them."""
    best = -math.inf
    for three in itertools.combinations(edges, 3):
        x = oracle.solve([[e[k] for e in three] for k in range(3)], wrench)
        if x:
            best = max(best, min(x))
    return best / math.hypot(*wrench)


@pytest.mark.parametrize("rung,cone", [("qs-ncp", "quadratic"), ("qs-cone", "quadratic"), ("qs-opt", "quadratic")])
def test_motion_cone_of_an_edge(perp, rung, cone):
    """Lynch and Mason (1996): pushed by an edge the slider goes with the pusher, without slip and without turning off it, for just
    those motions whose friction on the table is balanced by forces within the friction cones at the ends of the edge."""
    r, feet = random.Random(7), [(0.09, 0.06), (-0.08, 0.07), (-0.09, -0.06), (0.07, -0.05), (0.01, 0.02)]
    width, mu, load = 0.1, 0.5, 10.0
    scene = {"perp": 1, "planar": True, "gravity": [0, 0], "bodies": {}, "contacts": {"friction": mu, "margin": 0.001},
             "run": {"model": rung, "cone": cone, "h": 0.01, "steps": 1, "tolerance": 1e-10}}
    cases = []
    for i in range(15 if SANITIZED else 120):
        # about a centre beside the edge, or straight on with some angle
        omega = r.choice([-1, 1]) * 10 ** r.uniform(-1, 1)
        x, y = -0.11, 3.0 * i
        twist = (0.3, r.uniform(-0.3, 0.3), omega * r.choice([0.1, 0.3, 1]))  # of the pusher's origin
        scene["bodies"][f"pusher{i}"] = {"driven": {"x": {"offset": x, "rate": twist[0]}, "y": {"offset": y, "rate": twist[1]},
                                                    "theta": {"rate": twist[2]}},
                                         "pose": {"position": [x, y]}, "shapes": [{"box": [0.02, width]}]}
        scene["bodies"][f"slider{i}"] = {"mass": 1, "pose": {"position": [0, y]}, "shapes": [{"box": [0.2, 0.16]}],
                                         "support": {"normal": load, "friction": 0.4, "points": [[*f, 1] for f in feet]}}
        cases.append((x, y, twist))
    result = perp.json("run", perp.write("edge.yaml", json.dumps(scene)))
    inside = outside = 0
    for i, (x, y, (vx, vy, omega)) in enumerate(cases):
        rigid = (vx + omega * y, vy - omega * x, omega)  # about the world's origin
        rests = oracle.Table([(a, b + y, 0.4 * load / len(feet)) for a, b in feet])
        edges = [oracle.wrench((1, s * mu), (-0.1, y + side * width / 2)) for side in (-1, 1) for s in (-1, 1)]
        # moments about the slider, so that far ones are alike
        near = [(fx, fy, m + y * fx) for fx, fy, m in [[-w for w in rests.friction(rigid)], *edges]]
        margin = cone_margin(near[0], near[1:])
        ux, uy, spin = result["final"]["v"][f"slider{i}"]
        apart = math.dist((ux + spin * y, uy, spin), rigid) / math.hypot(vx, vy, omega)
        if margin > 1e-3:
            inside += 1
            assert apart < 1e-6, (i, margin, apart)
        elif margin < -1e-3:
            outside += 1
            assert apart > 1e-5, (i, margin, apart)
    assert inside > 2 and outside > 2


def bends(perp, radius):
    """Does the box of examples/push-bend stay at its edge around a bend?"""
    result = perp.json("run", ROOT / "examples/push-bend/scene.yaml", "--until", "0.1", "--h", "0.01", "--set", f"bodies.edge.pose.position=[0, {0.3 + radius}]",
                       "--set", f"bodies.edge.shapes.0.pose.position=[-0.06, {-radius}]", "--set", f"bodies.edge.driven.theta.rate={0.05 / radius}")
    return abs(result["final"]["q"]["box"][2] - result["final"]["q"]["edge"][2]) < 1e-6


def test_the_sharpest_bend(perp):
    """It is where the wrench of friction leaves the cone of the edge, 0.0395 m, as the README says."""
    rests = perp.json("run", ROOT / "examples/push-bend/scene.yaml", "--steps", "1", "--h", "1e-6")["contacts"]
    table = oracle.Table([(c["point"][0], c["point"][1] - 0.3, 0.3 * c["fn"]) for c in rests if c["a"] == c["b"] == "box"])
    edges = [oracle.wrench((1, s * 0.5), (-0.05, side * 0.04)) for side in (-1, 1) for s in (-1, 1)]
    low, high = 0.01, 0.4
    for _ in range(50):
        radius = 0.5 * (low + high)
        inside = cone_margin([-w for w in table.friction((radius, 0, 1))], edges) > 0
        low, high = (low, radius) if inside else (radius, high)
    assert abs(low - 0.0395) < 5e-5
    assert bends(perp, 1.02 * low) and not bends(perp, 0.98 * low) and not bends(perp, 0.03)


def course_of_a_disc(radius, v, spin, push):
    """Distance, angle and time until a disc of even pressure stops that is thrown at v with `spin`; push = mu g. 288 points, by the
    rule of the middle; to 1e-3."""
    points = [(radius * math.sqrt((i + 0.5) / 12) * math.cos(a), radius * math.sqrt((i + 0.5) / 12) * math.sin(a))
              for i in range(12) for a in [math.pi * (k + 0.5 * (i % 2)) / 12 for k in range(24)]]

    def rates(v, spin):
        slips = [(v - spin * y, spin * x) for x, y in points]
        force = sum(u / math.hypot(u, w) for u, w in slips) / len(points)
        moment = sum((x * w - y * u) / math.hypot(u, w) for (x, y), (u, w) in zip(points, slips)) / len(points)
        return -push * force, -push * moment / (radius ** 2 / 2)

    x = angle = t = 0.0
    while v > 1e-4 and spin > 1e-4 / radius:
        a, b = rates(v, spin)
        h = min(2e-3, 0.1 * min(-v / a, -spin / b))
        a, b = rates(v + 0.5 * h * a, spin + 0.5 * h * b)
        x, angle, t = x + h * (v + 0.5 * h * a), angle + h * (spin + 0.5 * h * b), t + h
        v, spin = v + h * a, spin + h * b
    return x, angle, t


@pytest.mark.parametrize("v,spin", [(1.0, 4.0), (0.3, 20.0), (0.5, 7.0)])
def test_a_disc_that_slides_and_spins(perp, v, spin):
    """It turns as far as a disc of even pressure, to the 1.1 % that the points of `pressure: uniform` miss its moment by, and stops
    sliding and spinning at the same time (Farkas, Bartels, Unger and Wolf 2003). While it spins fast, friction against its slide
    goes with the mean of 1 / r, which the points miss by more: 5 %."""
    radius, h = 0.1, 0.0005
    scene = {"perp": 1, "planar": True, "gravity": [0, 0],
             "bodies": {"disc": {"mass": 1, "shapes": [{"disc": radius}], "velocity": {"linear": [v, 0], "angular": spin},
                                 "support": {"friction": 0.3}}},
             "run": {"model": "dyn-ncp", "h": h, "until": 1.0}}
    perp("run", perp.write("disc.yaml", json.dumps(scene)), "--csv", "out")
    with open(perp.folder / "out" / "state.csv", encoding="utf-8") as file:
        rows = [{k: float(row[k]) for k in row} for row in csv.DictReader(file)]
    x, angle, t = course_of_a_disc(radius, v, spin, 0.3 * 9.81)
    slides, spins = (max(row["t"] for row in rows if abs(row[key]) > limit)
                     for key, limit in [("v:disc.x", 1e-3 * v), ("v:disc.theta", 1e-3 * spin)])
    assert abs(slides - spins) < 0.005 * t, (slides, spins)
    last = rows[-1]
    assert abs(last["disc.x"] - x) < (0.05 if radius * spin > v else 0.015) * x and abs(last["disc.theta"] - angle) < 0.015 * angle, (last, x, angle)
    assert abs(max(slides, spins) - t) < 0.015 * t
    assert last["v:disc.x"] == last["v:disc.theta"] == 0.0
