"""Pushes over a table, against least power found without perp (support_oracle.py)."""
import functools
import json
import math
import random

import pytest

import support_oracle as oracle
from conftest import SANITIZED

PUSHES = 8 if SANITIZED else 100
STEP = 1e-3  # s: of one step, which is exact for the velocities at its start
RADIUS = 0.01  # m, of the finger
LOOKS = {  # rung: (cone, does friction do most work?)
    "qs-ncp": ("quadratic", False), "qs-opt": ("quadratic", False), "qs-cone": ("quadratic", True), "qs-qp": ("quadratic", True),
}
POLYGONS = {"qs-lcp": ("rays", 4), "qs-impedance-lcp": ("rays", 6), "qs-qp": ("rays", 4), "qs-lp": ("box", 4), "qs-ncp": ("box", 4)}


class Push:
    """A slider on a few points, and a finger at its edge; all that a scene needs, from a seed."""

    def __init__(self, seed, finger_friction=None):
        r = random.Random(seed)
        self.seed = seed
        self.size = (r.uniform(0.1, 0.4), r.uniform(0.1, 0.4))
        self.place, self.angle = (2 * (seed % 10) + r.uniform(-0.5, 0.5), 2 * (seed // 10 % 10) + r.uniform(-0.5, 0.5)), r.uniform(-3, 3)
        count = r.randint(3, 6)
        self.feet = [(r.uniform(-0.5, 0.5) * self.size[0], r.uniform(-0.5, 0.5) * self.size[1], r.uniform(0.1, 1)) for _ in range(count)]
        self.friction, self.load = r.uniform(0.1, 1), 10 ** r.uniform(-1, 2)
        side = r.randrange(4)
        axis, sign = side // 2, 1 if side % 2 else -1
        along = r.uniform(-0.45, 0.45) * self.size[1 - axis]
        at, inward = [0.0, 0.0], [0.0, 0.0]
        at[axis], at[1 - axis], inward[axis] = -0.5 * sign * self.size[axis], along, float(sign)
        self.point = self.world(at)
        self.normal = self.turned(inward)
        self.mu = r.uniform(0.05, 1) if finger_friction is None else finger_friction
        tilt, pace = r.uniform(-1.3, 1.3), 10 ** r.uniform(-2, 0)
        self.u = tuple(pace * (math.cos(tilt) * n + math.sin(tilt) * t) for n, t in zip(self.normal, (-self.normal[1], self.normal[0])))

    def turned(self, v):
        c, s = math.cos(self.angle), math.sin(self.angle)
        return (c * v[0] - s * v[1], s * v[0] + c * v[1])

    def world(self, p):
        return tuple(a + b for a, b in zip(self.place, self.turned(p)))

    def table(self, directions=None):
        total = sum(share for _, _, share in self.feet)
        return oracle.Table([(*self.world((x, y)), self.friction * self.load * share / total) for x, y, share in self.feet], directions)

    def bodies(self, name):
        finger = [p - RADIUS * n for p, n in zip(self.point, self.normal)]
        return {
            f"finger{name}": {"driven": {k: {"offset": p, "rate": v} for k, p, v in zip("xy", finger, self.u)},
                               "pose": {"position": finger}, "shapes": [{"disc": RADIUS}]},
            f"slider{name}": {"mass": 1, "pose": {"position": list(self.place), "angle": self.angle}, "shapes": [{"box": list(self.size)}],
                               "support": {"friction": self.friction, "normal": self.load, "points": [list(f) for f in self.feet]}},
        }

    def about_world(self, twist):
        """perp's velocity is of the body's origin; the oracle's of the world's."""
        vx, vy, omega = twist
        return (vx + omega * self.place[1], vy - omega * self.place[0], omega)


def steps(perp, pushes, run):
    """All of them in one scene, far from each other: the twist of each slider, and the force of the finger on it."""
    scene = {"perp": 1, "planar": True, "gravity": [0, 0], "bodies": {}, "contacts": {"pairs": {}},
             "run": {"h": STEP, "steps": 1, "tolerance": 1e-10, **run}}
    for i, push in enumerate(pushes):
        scene["bodies"] |= push.bodies(i)
        scene["contacts"]["pairs"][f"finger{i} slider{i}"] = {"friction": push.mu}
    result = perp.json("run", perp.write("push.yaml", json.dumps(scene)))
    forces = {c["b"]: c["force_on_b"] for c in result["contacts"] if c["a"] != c["b"]}
    return [(push.about_world(result["final"]["v"][f"slider{i}"]), forces[f"slider{i}"]) for i, push in enumerate(pushes)]


@functools.cache
def answers_of(seed, dilates):
    push = Push(seed)
    return oracle.pushed(push.table(), push.point, push.normal, push.mu, push.u, dilates)


def miss(push, twist, other):
    """How much two motions differ, of the finger's speed."""
    corners = [push.world((sx * push.size[0], sy * push.size[1])) for sx in (-0.5, 0.5) for sy in (-0.5, 0.5)]
    return max(math.dist(oracle.at(twist, c), oracle.at(other, c)) for c in corners) / math.hypot(*push.u)


@pytest.mark.parametrize("rung", LOOKS)
def test_motion_is_that_of_least_power(perp, rung):
    """A finger with friction sticks, or slides on either side, on points with discs of friction: velocities to 1e-6 of the finger's,
    its force to 1e-6 of the load."""
    cone, dilates = LOOKS[rung]
    stuck = slid = 0
    pushes = [Push(seed) for seed in range(PUSHES)]
    for push, (twist, force) in zip(pushes, steps(perp, pushes, {"model": rung, "cone": cone})):
        answers = answers_of(push.seed, dilates)
        assert len(answers) == 1
        assert miss(push, twist, answers[0][0]) < 1e-6, (vars(push), twist, answers)
        assert math.dist(force, answers[0][1]) < 1e-6 * push.friction * push.load, (vars(push), force, answers)
        moves = math.dist(oracle.at(twist, push.point), push.u) > 1e-6 * math.hypot(*push.u)
        slid, stuck = slid + moves, stuck + (not moves)
    assert SANITIZED or (stuck > 20 and slid > 20)


@pytest.mark.parametrize("rung", POLYGONS)
def test_power_is_least_of_polygons(perp, rung):
    """Of a polygon several motions may cost the least, so that it is what they cost that is compared; a finger without friction."""
    cone, rays = POLYGONS[rung]
    turn = [2 * math.pi * j / rays for j in range(rays)]
    directions = [(x, y) for x in (-1, 1) for y in (-1, 1)] if cone == "box" else [(math.cos(a), math.sin(a)) for a in turn]
    pushes = [Push(1000 + seed, finger_friction=0) for seed in range((PUSHES + 2) // 3)]
    run = {"model": rung, "cone": cone, **({"rays": rays} if cone == "rays" else {})}
    for push, (twist, force) in zip(pushes, steps(perp, pushes, run)):
        table, pace = push.table(directions), oracle.dot(push.normal, push.u)
        least = table.power(table.easiest(push.normal, push.point)) * pace
        assert abs(oracle.dot(push.normal, oracle.at(twist, push.point)) - pace) < 1e-9 * pace
        assert abs(table.power(twist) - least) < 1e-6 * least, vars(push)
        assert math.dist(force, [least / pace * n for n in push.normal]) < 1e-6 * push.friction * push.load
