"""Random grasps, planar and spatial: the closure of a body between fixed balls, as `perp analyze` has it, beside linear
programs (HiGHS) and hulls (qhull) in Python that share nothing with it but the scene.

A grasp is a body with a small ball at each contact, and a fixed ball against each of these, from a direction of its own.
Of round cones the programs see polygons of 48 corners inside and outside of them, hulls 12: where these disagree, and where an
optimum is within 1e-7 of 0, the case is counted as too close to be compared.
"""

import json
import os
import subprocess
import sys
import tempfile

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from scipy.optimize import linprog  # noqa: E402
from scipy.spatial import ConvexHull  # noqa: E402

import sweep  # noqa: E402

SMALL = 0.1  # m: radius of the balls
CORNERS, HULL_CORNERS = 48, 12
CLOSE = 1e-7
MARGIN_ROUNDING = 1e-9
GUESS = 1.01  # so near the upper end of the margin of round cones comes


# ---- scenes ----------------------------------------------------------------------------------------------------------

def directions_of(random, count, planar):
    x = random.normal(size=(count, 3))
    if planar:
        x[:, 2] = 0.0
    return x / np.linalg.norm(x, axis=1)[:, None]


class Grasp:
    """Places and normals of contacts on the body, m, about its centre of mass."""

    def __init__(self, seed, index):
        random = np.random.default_rng([seed, index])
        self.planar = index % 2 == 0
        self.cone = "quadratic" if self.planar else ["quadratic", "rays"][index // 2 % 2]
        self.rays = int(random.choice([4, 6, 8]))
        self.mu = float(random.choice([0.0, 0.2, 0.5, 1.0])) if random.random() < 0.7 else float(random.uniform(0, 1.5))
        self.count = int(random.integers(2, 6 if self.planar else 8))
        self.size = 10.0 ** random.uniform(-2, 1)
        self.mass = 10.0 ** random.uniform(-2, 1)
        self.inertia = self.mass * self.size ** 2 * random.uniform(1.0, 1.9, size=3)
        out = directions_of(random, 200, self.planar)
        centres = []
        for way in out:
            place = way * random.uniform(0.6, 1.2)
            if len(centres) < self.count and all(np.linalg.norm(place - other) > 5 * SMALL for other in centres):
                centres.append(place)
        self.count = len(centres)
        turned = directions_of(random, self.count, self.planar)
        towards = np.array(centres) + random.choice([0.0, 0.7]) * turned  # outwards, more or less
        towards /= np.linalg.norm(towards, axis=1)[:, None]
        self.centres, self.towards = np.array(centres) * self.size, towards
        self.gravity = directions_of(random, 1, self.planar)[0] * 9.81

    def yaml(self):
        planar, r = self.planar, SMALL * self.size
        axes = 2 if planar else 3
        ball = "disc" if planar else "sphere"

        def vector(x):
            return [float(v) for v in x[:axes]]

        fixed = {f"finger{i}": {"fixed": True, "pose": {"position": vector(c + 2 * r * t)}, "shapes": [{ball: r}]}
                 for i, (c, t) in enumerate(zip(self.centres, self.towards))}
        part = {"mass": self.mass, "inertia": float(self.inertia[0]) if planar else self.inertia.tolist(),
                "shapes": [{ball: r, "pose": {"position": vector(c)}} for c in self.centres]}
        return {"perp": 1, "name": "grasp", "planar": planar, "gravity": vector(self.gravity),
                "bodies": {**fixed, "part": part},
                "contacts": {"friction": self.mu, "margin": 0.01 * r},
                "run": {"model": "qs-qp", "cone": self.cone, "rays": self.rays}}


# ---- the same in numbers ---------------------------------------------------------------------------------------------

def tangents(n, planar):
    """contracts: planar t = (n_y, -n_x); spatial t from e_x, o = n x t, with n the listed normal (from the finger)."""
    if planar:
        return [np.array([n[1], -n[0], 0.0])]
    axis = np.array([0.0, 1.0, 0.0]) if abs(n[0]) > 0.9 else np.array([1.0, 0.0, 0.0])
    t = axis - axis.dot(n) * n
    t /= np.linalg.norm(t)
    return [t, np.cross(n, t)]


def wrenches(grasp, corners, stretch):
    """Columns: unit wrenches at the corners of each cone, moments over the radius of gyration."""
    length = np.sqrt(grasp.inertia[0] / grasp.mass if grasp.planar else grasp.inertia.sum() / 2 / grasp.mass)
    rows = []
    for centre, towards in zip(grasp.centres, grasp.towards):
        n = -towards
        at = centre + SMALL * grasp.size * towards
        t = tangents(n, grasp.planar)
        angles = [0.0, np.pi] if grasp.planar else [2 * np.pi * k / corners for k in range(corners)]
        for angle in angles:
            s = [np.cos(angle), np.sin(angle)][:len(t)]
            force = n + grasp.mu * stretch * sum(a * b for a, b in zip(s, t))
            moment = np.cross(at, force) / length
            rows.append([force[0], force[1], moment[2]] if grasp.planar else [*force, *moment])
    return np.array(rows).T


def least_weight(w):
    """The largest s with weights >= s, sum 1 and balanced wrenches; None: there are no such weights."""
    d, n = w.shape
    equal = np.vstack([np.hstack([w, np.zeros((d, 1))]), np.hstack([np.ones((1, n)), [[0.0]]])])
    done = linprog([0.0] * n + [-1.0], A_ub=np.hstack([-np.eye(n), np.ones((n, 1))]), b_ub=np.zeros(n),
                   A_eq=equal, b_eq=[0.0] * d + [1.0], bounds=[(0, None)] * n + [(None, None)], method="highs")
    return -done.fun if done.status == 0 else None


def closes(w):
    """Force closure of finitely many wrenches: True, False, or None where it is too close."""
    singular = np.linalg.svd(w, compute_uv=False)
    rank_lost = len(singular) < w.shape[0] or singular[w.shape[0] - 1] < CLOSE * singular[0]
    # Weights of wrenches that nothing opposes are 0 in every balance: interior means that all can be > 0.
    weight = least_weight(w)
    if rank_lost or weight is None:
        return False
    return True if weight > CLOSE else False if weight < 1e-12 else None


def balances(w, load):
    """Can the wrenches give `load`? By the least sum of what is missing."""
    d, n = w.shape
    equal = np.hstack([w, np.eye(d), -np.eye(d)])
    scale = np.linalg.norm(load)
    done = linprog([0.0] * n + [1.0] * 2 * d, A_eq=equal, b_eq=load / scale, bounds=[(0, None)] * (n + 2 * d),
                   method="highs")
    return True if done.fun < 1e-9 else False if done.fun > CLOSE else None


def radius(w):
    """Of the ball about 0 in the hull, which holds 0."""
    return float(-ConvexHull(w.T).equations[:, -1].max())


def enclosed(grasp, round_cone, corners):
    """Wrenches of a polygon in each section, and of one around it."""
    return wrenches(grasp, corners, 1.0), wrenches(grasp, corners, 1.0 / np.cos(np.pi / corners) if round_cone else 1.0)


def both(inside, outside):
    return inside if inside == outside else None


def judge(grasp, said):
    """Reasons why what was said is wrong, and whether all could be compared."""
    round_cone = not grasp.planar and grasp.cone == "quadratic" and grasp.mu > 0
    corners = CORNERS if round_cone else grasp.rays
    inner, outer = enclosed(grasp, round_cone, corners)
    normals = wrenches(grasp, 1, 0.0)
    force = -grasp.mass * grasp.gravity
    load = np.array([force[0], force[1], 0.0] if grasp.planar else [*force, 0.0, 0.0, 0.0])
    expected = {"force_closure": both(closes(inner), closes(outer)),
                "equilibrium": both(balances(inner, load), balances(outer, load))}
    back = both(balances(inner, -load), balances(outer, -load))
    expected["jammed"] = None if None in (back, expected["equilibrium"]) else back and expected["equilibrium"]
    first = closes(normals)
    reasons = [f"{key} is {said[key]}, by linear programs {value}" for key, value in expected.items()
               if value is not None and said[key] != value]
    if first is not None and first != (said["form_closure_order"] == 1):
        reasons.append(f"form closure of first order is {said['form_closure_order'] == 1}, by linear programs {first}")
    if expected["force_closure"]:
        low, high = (radius(w) for w in enclosed(grasp, round_cone, HULL_CORNERS if round_cone else corners))
        if not (said["margin_at_least"] <= min(high, said["margin"]) + MARGIN_ROUNDING and
                low - MARGIN_ROUNDING <= said["margin"] <= high * (GUESS if round_cone else 1) + MARGIN_ROUNDING):
            reasons.append(f"margin {said['margin_at_least']} .. {said['margin']}, by hulls {low} .. {high}")
    return reasons, None not in expected.values()


class Closure:
    name = "closure"
    checks = ("random grasps, half of them planar, 2 .. 7 contacts, mu 0 .. 1.5, sizes 1e-2 .. 10 m, round cones and 4 .. 8 "
              "rays: force closure, first-order form closure, equilibrium and jammed are what linear programs (HiGHS) say, "
              "and the margin is the radius in the hull (qhull)")
    full, sample, chunk = 1000, 40, 50
    kinds = ["force closure", "equilibrium without", "neither", "too close in part"]

    @staticmethod
    def run(seed, first, count, sample):
        failures, kinds = [], [0, 0, 0, 0]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scene.yaml")
            for index in range(first, first + count):
                grasp = Grasp(seed, index)
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(grasp.yaml(), file)
                done = subprocess.run([os.environ["PERP"], "analyze", path, "--json"], capture_output=True, text=True,
                                      check=False)
                if done.returncode != 0:
                    failures.append((index, f"perp analyze: {done.stderr.strip()[-200:]}"))
                    continue
                said = json.loads(done.stdout)["closure"]["part"]
                reasons, compared = judge(grasp, said)
                if said["contacts"] != grasp.count:
                    reasons.append(f"{said['contacts']} contacts, not {grasp.count}")
                failures += [(index, reason) for reason in reasons]
                kinds[3 if not compared else 0 if said["force_closure"] else 1 if said["equilibrium"] else 2] += 1
        return failures, kinds, None


if __name__ == "__main__":
    sys.exit(sweep.main(Closure))
