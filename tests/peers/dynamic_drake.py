#!/usr/bin/env python3
"""Dynamic rungs beside Drake in small steps: a ball, a box and a capsule on inclines, a ball that bounces, a box that
is thrown, a ladder (the cases of test_dynamic_mujoco.c, where the closed forms stand).

  dynamic_drake.py PERP      exits with 1 if a case differs by more than its bound

Drake's contacts are springs at points, one for each pair of shapes, so that a box has a tiny ball at each corner and a
capsule one at each end. They are stiff and its steps are small: what is left is about 1e-3 of what is compared. The
bounds are that, and what ours err by in first order of h."""
import json
import math
import subprocess
import sys
import tempfile

import numpy as np
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.plant import (AddMultibodyPlantSceneGraph, CoulombFriction, DiscreteContactApproximation)
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

G = 9.81
RUNGS = ("dyn-lcp", "dyn-ncp", "dyn-qp")
FLOOR = "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
failures = []


def near(what, who, found, expected, bound):
    good = abs(found - expected) <= bound
    print(f"{what:24} {who:8} {found:14.8f} {expected:14.8f}  bound {bound:.1e}  {'' if good else 'FAILS'}")
    if not good:
        failures.append(f"{what}, {who}")


def ours(text, rung, h, until):
    """q (7) and v (6) of `body` at the end."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([PERP, "run", file.name, "--model", rung, "--h", repr(h), "--until", repr(until), "--json"],
                              capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    final = json.loads(done.stdout)["final"]
    return np.array(final["q"]["body"]), np.array(final["v"]["body"])


class Peer:
    """One free body of balls in Drake, on halfspaces."""

    def __init__(self, step, mass, inertia, balls, mu, gravity, walls=((0, 0, 1),), stiffness=1e8, dissipation=100.0):
        builder = DiagramBuilder()
        self.plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=step)
        self.plant.set_discrete_contact_approximation(DiscreteContactApproximation.kLagged)
        surface = ProximityProperties()
        AddContactMaterial(dissipation=dissipation, point_stiffness=stiffness, friction=CoulombFriction(mu, mu),
                           properties=surface)
        for i, normal in enumerate(walls):
            self.plant.RegisterCollisionGeometry(self.plant.world_body(), HalfSpace.MakePose(np.array(normal, float),
                                                 np.zeros(3)), HalfSpace(), f"wall{i}", surface)
        spatial = SpatialInertia(mass, np.zeros(3), UnitInertia(*(np.array(inertia) / mass)))
        self.body = self.plant.AddRigidBody("body", spatial)
        for i, (at, radius) in enumerate(balls):
            self.plant.RegisterCollisionGeometry(self.body, RigidTransform(np.array(at, float)), Sphere(radius),
                                                 f"ball{i}", surface)
        self.plant.mutable_gravity_field().set_gravity_vector(gravity)
        self.plant.Finalize()
        self.diagram = builder.Build()

    def run(self, until, position, rpy=(0, 0, 0), linear=(0, 0, 0), angular=(0, 0, 0)):
        """Height, and v as ours: linear, then angular."""
        simulator = Simulator(self.diagram)
        context = self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        self.plant.SetFreeBodyPose(context, self.body, RigidTransform(RollPitchYaw(rpy), np.array(position, float)))
        self.plant.SetFreeBodySpatialVelocity(context, self.body, SpatialVelocity(np.array(angular, float),
                                                                                  np.array(linear, float)))
        top = -math.inf
        if until is None:  # until it begins to fall again
            simulator.AdvanceTo(0.3)
            while self.velocity(context)[2] > 0 or top < 0:
                simulator.AdvanceTo(simulator.get_context().get_time() + 1e-3)
                top = max(top, self.height(context)) if self.velocity(context)[2] > 0 else top
            return top, None
        simulator.AdvanceTo(until)
        return self.height(context), self.velocity(context)

    def height(self, context):
        return self.plant.EvalBodyPoseInWorld(context, self.body).translation()[2]

    def velocity(self, context):
        v = self.plant.EvalBodySpatialVelocityInWorld(context, self.body)
        return np.concatenate([v.translational(), v.rotational()])


def box_inertia(mass, x, y, z):
    return [mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12]


def box_corners(x, y, z):
    return [((sx * x / 2, sy * y / 2, sz * z / 2), 1e-9) for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)]


def inclines():
    r, length = 0.05, 0.2 # the capsule: of a cylinder and two half balls, 1 kg
    volume, ball = length * r * r + 4 / 3 * r ** 3, 4 / 3 * r ** 3
    rolls = (0.5 * length * r * r + 0.4 * ball) / volume * r * r
    cases = [("ball rolls", "sphere: 0.1", 20, 0.5, 0.1, [0.004] * 3, [((0, 0, 0), 0.1)]),
             ("ball slips", "sphere: 0.1", 40, 0.1, 0.1, [0.004] * 3, [((0, 0, 0), 0.1)]),
             ("box slides", "box: [0.2, 0.2, 0.1]", 30, 0.3, 0.05, box_inertia(1, 0.2, 0.2, 0.1),
              box_corners(0.2, 0.2, 0.1)),
             ("box sticks", "box: [0.2, 0.2, 0.1]", 30, 0.7, 0.05, box_inertia(1, 0.2, 0.2, 0.1),
              box_corners(0.2, 0.2, 0.1)),
             # what it turns about in other directions does not count, but must not be impossible
             ("capsule rolls", "capsule: {radius: 0.05, length: 0.2}, pose: {rpy: [1.5707963267948966, 0, 0]}", 25, 0.6, r,
              [0.006, rolls, 0.006], [((0, -length / 2, 0), r), ((0, length / 2, 0), r)])]
    for name, shape, degrees, mu, height, inertia, balls in cases:
        a = math.radians(degrees)
        gravity = [G * math.sin(a), 0, -G * math.cos(a)]
        text = (f"perp: 1\ngravity: {gravity}\nbodies:\n{FLOOR}"
                f"  body: {{mass: 1, pose: {{position: [0, 0, {height}]}}, shapes: [{{{shape}}}]}}\n"
                f"contacts: {{friction: {mu}}}\n")
        peer = Peer(1e-4, 1.0, inertia, balls, mu, gravity).run(0.5, (0, 0, height))[1]
        for rung in RUNGS: # dyn-qp climbs a layer first, worth 2 mu^2 h a of speed at most
            v = ours(text, rung, 1e-3, 0.5)[1]
            layer = 2 * mu * mu * 1e-3 * G if rung == "dyn-qp" else 0.0
            near(name, rung, v[0], peer[0], 2e-3 + layer)


def bounce():
    """Elastic: springs without dissipation give back all but what small steps lose (0.4 % of the height, in proportion to
    them); a ball of 0.05 m from 0.5 m above the floor."""
    text = (f"perp: 1\nbodies:\n{FLOOR}  body: {{mass: 0.3, pose: {{position: [0, 0, 0.55]}}, shapes: [{{sphere: 0.05}}]}}\n"
            "contacts: {friction: 0.2, pairs: {\"floor body\": {restitution: 1}}}\n")
    top = Peer(1e-5, 0.3, [3e-4] * 3, [((0, 0, 0), 0.05)], 0.2, [0, 0, -G], stiffness=1e4,
               dissipation=0.0).run(None, (0, 0, 0.55))[0]
    fall = math.sqrt(1 / G)
    for rung in RUNGS: # at the top after two falls and a contact; ours bounces up to v h too high
        q, v = ours(text, rung, 1e-4, round(2 * fall, 4))
        near("bounce", rung, q[2] + v[2] ** 2 / (2 * G), top, 5e-3)


def toss():
    """A box lands on its lower edge and slides on: test_dynamic_mujoco.c has the closed form of it."""
    text = (f"perp: 1\nbodies:\n{FLOOR}  body:\n    mass: 1\n    pose: {{position: [0, 0, 0.5], rpy: [0, 0.5, 0]}}\n"
            "    velocity: {linear: [2, 0, 0.5], angular: [0, -2, 0]}\n    shapes: [{box: [0.3, 0.2, 0.1]}]\n"
            "contacts: {friction: 0.15}\n")
    peer = Peer(4e-6, 1.0, box_inertia(1, 0.3, 0.2, 0.1), box_corners(0.3, 0.2, 0.1), 0.15, [0, 0, -G], stiffness=1e7,
                dissipation=50.0).run(0.36, (0, 0, 0.5), rpy=(0, 0.5, 0), linear=(2, 0, 0.5), angular=(0, -2, 0))[1]
    for rung in RUNGS[:2]: # the convex rung makes what slides part: not this law
        v = ours(text, rung, 1e-4, 0.36)[1]
        for i, (what, bound) in enumerate((("toss, vx", 0.01), ("toss, vz", 0.03), ("toss, turning", 0.4))):
            near(what, rung, v[2 * i], peer[2 * i], bound)


def ladder():
    text = ("perp: 1\nbodies:\n  house: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}, "
            "{plane: {normal: [1, 0, 0], offset: 0}}]}\n"
            "  body:\n    mass: 10\n    inertia: [3.3333333333333335, 3.3333333333333335, 0.002]\n"
            "    pose: {position: [0.36202014332566882, 0, 0.95969262078590843], rpy: [0, -0.3490658503988659, 0]}\n"
            "    shapes: [{capsule: {radius: 0.02, length: 2}}]\ncontacts: {friction: 0}\n")
    height, peer = Peer(1e-5, 10.0, [10 / 3, 10 / 3, 0.002], [((0, 0, -1), 0.02), ((0, 0, 1), 0.02)], 0.0, [0, 0, -G],
                        walls=((0, 0, 1), (1, 0, 0)), stiffness=1e9).run(
        0.55, (0.36202014332566882, 0, 0.95969262078590843), rpy=(0, -0.3490658503988659, 0))
    for rung in RUNGS:
        q, v = ours(text, rung, 1e-4, 0.55)
        near("ladder, height", rung, q[2], height, 5e-4)
        near("ladder, turning", rung, v[4], peer[4], 5e-3)


if __name__ == "__main__":
    PERP = sys.argv[1]
    for case in (inclines, bounce, toss, ladder):
        case()
    print(f"{len(failures)} differ" + "".join("\n  " + f for f in failures))
    sys.exit(1 if failures else 0)
