"""Forward kinematics from a scene file, written apart from the library: 4 x 4 matrices and products, nothing else.

A jointed child stands at  parent . T(anchor + s) . R . T(-anchor) . home  (docs/notation.md)."""
import math

import yaml


def identity():
    return [[1.0 if i == j else 0.0 for j in range(4)] for i in range(4)]


def product(*matrices):
    result = identity()
    for m in matrices:
        result = [[sum(result[i][k] * m[k][j] for k in range(4)) for j in range(4)] for i in range(4)]
    return result


def shift(v):
    """By a vector of three components, or of two in the plane."""
    m = identity()
    for i in range(len(v)):
        m[i][3] = v[i]
    return m


def turn(axis, angle):
    """Rodrigues' formula."""
    n = math.sqrt(sum(a * a for a in axis))
    x, y, z = (a / n for a in axis)
    c, s = math.cos(angle), math.sin(angle)
    k = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    u = (x, y, z)
    m = identity()
    for i in range(3):
        for j in range(3):
            m[i][j] = c * (i == j) + (1 - c) * u[i] * u[j] + s * k[i][j]
    return m


def from_quaternion(w, x, y, z):
    angle = 2 * math.atan2(math.sqrt(x * x + y * y + z * z), w)
    return identity() if (x, y, z) == (0, 0, 0) else turn((x, y, z), angle)


def placement(pose):
    pose = pose or {}
    position = pose.get("position", [0, 0, 0])
    if "angle" in pose:
        rotation = turn((0, 0, 1), pose["angle"])
    elif "rpy" in pose:
        r, p, y = pose["rpy"]
        rotation = product(turn((0, 0, 1), y), turn((0, 1, 0), p), turn((1, 0, 0), r))
    else:
        rotation = from_quaternion(*pose.get("quat_wxyz", [1, 0, 0, 0]))
    return product(shift(position), rotation)


def joint_motion(joint, q):
    anchor = (list(joint.get("anchor", [])) + [0, 0, 0])[:3]
    kind = joint["type"]
    move, rotate = [0] * len(anchor), identity()
    if kind in ("prismatic", "screw"):
        n = math.sqrt(sum(a * a for a in joint["axis"]))
        along = q[0] * joint.get("pitch", 1) if kind == "screw" else q[0]
        move = [along * a / n for a in (list(joint["axis"]) + [0])[:3]]
    if kind in ("revolute", "screw"):
        rotate = turn(joint.get("axis", (0, 0, 1)), q[0])
    if kind == "ball":
        rotate = from_quaternion(*q)
    back = [-a for a in anchor]
    return product(shift([a + m for a, m in zip(anchor, move)]), rotate, shift(back))


def matrix(numbers):
    """Of a pose as JSON has it: x y z qw qx qy qz, planar x y theta."""
    if len(numbers) == 3:
        return product(shift(numbers[:2]), turn((0, 0, 1), numbers[2]))
    return product(shift(numbers[:3]), from_quaternion(*numbers[3:]))


def poses(path, q):
    """World matrices of all bodies of a scene, for the coordinates that `perp run --json` reports."""
    with open(path) as file:
        scene = yaml.safe_load(file)
    bodies, joints = scene["bodies"], scene.get("joints", {})
    moved_by = {joint["child"]: name for name, joint in joints.items()}

    def pose(name):
        if name == "world":
            return identity()
        body = bodies[name] or {}
        if name in moved_by:
            joint = joints[moved_by[name]]
            home = placement(body["pose"]) if "pose" in body else shift(joint.get("anchor", [0, 0, 0]))
            return product(pose(joint["parent"]), joint_motion(joint, q.get(moved_by[name], [])), home)
        if name in q:
            return matrix(q[name])
        return placement(body.get("pose"))

    return {name: pose(name) for name in bodies}
