"""perp analyze: how contacts hold a body, beside closed forms."""
import json
import math

import pytest

from conftest import ROOT


def planar(bodies, mu, **more):
    return json.dumps({"perp": 1, "name": "closure", "planar": True, "gravity": [0, 0], "bodies": bodies,
                       "contacts": {"friction": mu}, "run": {"model": "qs-lcp"}, **more})


def closure(perp, text, body, *options):
    return perp.json("analyze", perp.write("scene.yaml", text), *options)["closure"][body]


def closure_of_file(perp, path, body, *options):
    return perp.json("analyze", path, *options)["closure"][body]


def held_disc(angles, mu, mass=True, **more):
    """A disc of 1 m about the origin, inertia 1/2, with halfplanes that touch it at these angles, in degrees."""
    walls = {f"wall{i}": {"fixed": True, "shapes": [{"halfplane": {
        "normal": [-math.cos(math.radians(a)), -math.sin(math.radians(a))], "offset": -1}}]}
        for i, a in enumerate(angles)}
    disc = {"shapes": [{"disc": 1}], **({"mass": 1, "inertia": 0.5} if mass else {})}
    return planar({**walls, "disc": disc}, mu, **more)


# ---- friction --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0])
def test_antipodal_contacts_hold_a_disc(perp, mu):
    """Unit wrenches, moments over k = sqrt(1/2): (1, mu, mu/k), (1, -mu, -mu/k), (-1, mu, -mu/k), (-1, -mu, mu/k): a
    tetrahedron with 0 inside. By symmetry all its faces are equally far; the one through the first three has the normal
    (1, 1/mu, k/mu) up to its length, and its plane is at 1."""
    said = closure(perp, held_disc([0, 180], mu), "disc")
    k = math.sqrt(0.5)
    first = (1, mu, mu / k), (1, -mu, -mu / k), (-1, mu, -mu / k)
    a, b = [[first[i][j] - first[0][j] for j in range(3)] for i in (1, 2)]
    normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    expected = abs(sum(n * x for n, x in zip(normal, first[0]))) / math.hypot(*normal)
    assert said["force_closure"] and said["wedged"] and said["jammed"] and not said["form_closure"]
    assert said["margin"] == pytest.approx(expected, rel=1e-12)
    assert said["margin_at_least"] == pytest.approx(expected, rel=1e-12)


def test_without_friction_antipodal_contacts_are_wedged_and_hold_nothing(perp):
    said = closure(perp, held_disc([0, 180], 0.0), "disc")
    assert said["wedged"] and not said["force_closure"] and not said["jammed"] and said["margin"] == 0
    assert said["equilibrium"]  # of no load


def test_a_ring_of_three_contacts(perp):
    """At 120 degrees with friction mu: forces (cos a - mu sin a .., ..), moments +-mu/k. Half of the six points lie at
    each moment: the hull is an antiprism over two equal triangles of circumradius R = hypot(1, mu) that are turned
    against each other by 2 atan(mu); its faces are the two triangles, at mu/k, and six others."""
    mu, k = 0.5, math.sqrt(0.5)
    points = []
    for a in (0, 120, 240):
        n = [-math.cos(math.radians(a)), -math.sin(math.radians(a))]
        at = [-n[0], -n[1]]
        for s in (-mu, mu):
            f = [n[0] + s * n[1], n[1] - s * n[0]]
            points.append([*f, (at[0] * f[1] - at[1] * f[0]) / k])
    said = closure(perp, held_disc([0, 120, 240], mu), "disc")
    assert said["margin"] == pytest.approx(radius_by_all_planes(points), rel=1e-12)


def radius_by_all_planes(points):
    """The nearest plane through three points that has all others on its inner side."""
    best = math.inf
    n = len(points)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a, b = [[points[m][c] - points[i][c] for c in range(3)] for m in (j, k)]
                normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
                size = math.hypot(*normal)
                if size < 1e-9:
                    continue
                height = sum(x * y for x, y in zip(normal, points[i])) / size
                normal = [x / size * math.copysign(1, height) for x in normal]
                if all(sum(x * y for x, y in zip(normal, p)) <= abs(height) + 1e-9 for p in points):
                    best = min(best, abs(height))
    return best


def test_a_body_without_mass_is_measured_by_its_bounding_sphere(perp):
    """A bar 4 m long and 2 m high on a slide along x and one along y and a hinge, between two walls: moments over
    sqrt(5) m."""
    bodies = {"left": {"fixed": True, "shapes": [{"halfplane": {"normal": [1, 0], "offset": -2}}]},
              "right": {"fixed": True, "shapes": [{"halfplane": {"normal": [-1, 0], "offset": -2}}]},
              "a": {}, "b": {}, "bar": {"shapes": [{"box": [4, 2]}]}}
    joints = {"x": {"type": "prismatic", "parent": "world", "child": "a", "axis": [1, 0]},
              "y": {"type": "prismatic", "parent": "a", "child": "b", "axis": [0, 1]},
              "turn": {"type": "revolute", "parent": "b", "child": "bar"}}
    said = closure(perp, planar(bodies, 0.5, joints=joints), "bar")
    points = []
    for x, y in ((-2, -1), (-2, 1), (2, -1), (2, 1)):
        for s in (-0.5, 0.5):
            f = [-x / 2, s]
            points.append([*f, (x * f[1] - y * f[0]) / math.sqrt(5)])
    assert said["force_closure"] and said["contacts"] == 4
    assert said["margin"] == pytest.approx(radius_by_all_planes(points), rel=1e-12)


def test_joints_leave_a_body_fewer_motions_to_close(perp):
    """A bar on a slide along x alone is closed by two walls without friction, and by one it is not."""
    bodies = {"left": {"fixed": True, "shapes": [{"halfplane": {"normal": [1, 0], "offset": -2}}]},
              "right": {"fixed": True, "shapes": [{"halfplane": {"normal": [-1, 0], "offset": -2}}]},
              "bar": {"mass": 1, "shapes": [{"box": [4, 2]}]}}
    joints = {"x": {"type": "prismatic", "parent": "world", "child": "bar", "axis": [1, 0]}}
    said = closure(perp, planar(bodies, 0.0, joints=joints), "bar")
    assert said["force_closure"] and said["form_closure_order"] == 1
    assert said["margin"] == pytest.approx(1, rel=1e-12)
    del bodies["right"]
    said = closure(perp, planar(bodies, 0.0, joints=joints), "bar")
    assert not said["force_closure"] and not said["form_closure"] and not said["wedged"]


def box_on_floor(mu, slope=0.0, **more):
    g = [9.81 * math.sin(slope), 0, -9.81 * math.cos(slope)]
    return json.dumps({"perp": 1, "name": "box", "gravity": g, "bodies": {
        "floor": {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]},
        "box": {"mass": 1, "shapes": [{"box": [0.2, 0.2, 0.2]}], "pose": {"position": [0, 0, 0.1]}}},
        "contacts": {"friction": mu}, "run": {"model": "qs-ncp"}, **more})


@pytest.mark.parametrize("slope", [0.1, 0.3])
def test_a_box_on_a_slope_is_in_equilibrium_up_to_the_friction_angle(perp, slope):
    for factor, held in ((0.999999, False), (1.000001, True)):
        said = closure(perp, box_on_floor(math.tan(slope) * factor, slope), "box")
        assert said["equilibrium"] is held
        assert not (said["force_closure"] or said["wedged"] or said["jammed"] or said["form_closure"])


def test_a_box_between_floor_and_ceiling_is_jammed(perp):
    """All that resists sideways is friction: with normal forces of 1 N in all it is mu."""
    scene = json.loads(box_on_floor(0.5))
    scene["bodies"]["ceiling"] = {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, -1], "offset": -0.2}}]}
    scene["run"]["cone"] = "box"
    said = closure(perp, json.dumps(scene), "box")
    assert said["jammed"] and said["force_closure"] and not said["form_closure"]
    assert said["margin"] == pytest.approx(0.5, rel=1e-12)
    scene["run"]["cone"] = "quadratic"
    said = closure(perp, json.dumps(scene), "box")
    assert said["margin_at_least"] <= 0.5 <= said["margin"] < 0.501 and said["margin_at_least"] > 0.48


def test_friction_directions_restrict_the_cone(perp):
    """A box between floor and ceiling with friction along y alone: pushed along x it goes."""
    scene = json.loads(box_on_floor(0.5))
    scene["bodies"]["ceiling"] = {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, -1], "offset": -0.2}}]}
    scene["contacts"]["pairs"] = {f"{a} box": {"friction_directions": [[0, 1, 0]]} for a in ("floor", "ceiling")}
    for gravity, held in (([0, 1, -9.81], True), ([1, 0, -9.81], False)):
        scene["gravity"] = gravity
        said = closure(perp, json.dumps(scene), "box")
        assert not said["force_closure"] and said["wedged"]
        assert said["equilibrium"] is held and said["jammed"] is held


# ---- jamming ---------------------------------------------------------------------------------------------------------

def test_the_wedged_disc(perp):
    scene = held_disc([20, 160], 0.5, gravity=[0, -9.81])
    assert closure(perp, scene, "disc")["jammed"]
    limit = math.tan(math.radians(20))
    for mu, held in ((limit - 1e-9, False), (limit + 1e-9, True)):
        said = closure(perp, held_disc([20, 160], mu, gravity=[0, -9.81]), "disc", "--model", "qs-lcp")
        assert (said["jammed"], said["equilibrium"], said["force_closure"]) == (held, held, held)


def test_a_ball_wedged_in_space_is_jammed_and_may_still_spin(perp):
    """As the disc; what nothing resists is turning about the line through both contacts."""
    c, s = math.cos(math.radians(20)), math.sin(math.radians(20))
    bodies = {"left": {"fixed": True, "shapes": [{"plane": {"normal": [c, 0, -s], "offset": -1}}]},
              "right": {"fixed": True, "shapes": [{"plane": {"normal": [-c, 0, -s], "offset": -1}}]},
              "ball": {"mass": 1, "inertia": [0.4, 0.4, 0.4], "shapes": [{"sphere": 1}]}}
    for mu, held in ((math.tan(math.radians(20)) - 1e-6, False), (math.tan(math.radians(20)) + 1e-6, True)):
        scene = json.dumps({"perp": 1, "name": "ball", "bodies": bodies, "contacts": {"friction": mu},
                            "run": {"model": "qs-ncp"}})
        said = closure(perp, scene, "ball")
        assert (said["jammed"], said["wedged"], said["equilibrium"]) == (held, held, held)
        assert not said["force_closure"]
    scene = json.loads(scene)
    scene["gravity"] = [0, 0, 0]
    assert not closure(perp, json.dumps(scene), "ball")["jammed"]  # without loads that is force closure


def test_a_block_that_rests_in_a_slot_is_wedged_but_not_jammed(perp):
    """Without friction: the walls can squeeze it, but against a pull upwards there is nothing."""
    bodies = {"floor": {"fixed": True, "shapes": [{"halfplane": {"normal": [0, 1], "offset": 0}}]},
              "left": {"fixed": True, "shapes": [{"halfplane": {"normal": [1, 0], "offset": -1}}]},
              "right": {"fixed": True, "shapes": [{"halfplane": {"normal": [-1, 0], "offset": -1}}]},
              "block": {"mass": 1, "shapes": [{"box": [2, 2]}], "pose": {"position": [0, 1]}}}
    scene = planar(bodies, 0.0, gravity=[0, -9.81])
    said = closure(perp, scene, "block")
    assert said["wedged"] and said["equilibrium"] and not said["jammed"]
    said = closure(perp, planar(bodies, 0.2, gravity=[0, -9.81]), "block")
    assert said["jammed"] and said["force_closure"]


# ---- form closure ----------------------------------------------------------------------------------------------------

def test_four_fixels_close_a_square_at_first_order_and_three_do_not(perp):
    """Discs against the sides of a square, off the middles so that their moments go both ways."""
    places = [((1, 0.5), (1, 0)), ((-1, -0.5), (-1, 0)), ((0.5, 1), (0, 1)), ((-0.5, -1), (0, -1))]
    for count, order in ((4, 1), (3, None)):
        bodies = {f"pin{i}": {"fixed": True, "shapes": [{"disc": 0.1}],
                              "pose": {"position": [p[0] + 0.1 * n[0], p[1] + 0.1 * n[1]]}}
                  for i, (p, n) in enumerate(places[:count])}
        bodies["square"] = {"mass": 1, "shapes": [{"box": [2, 2]}]}
        said = closure(perp, planar(bodies, 0.0), "square")
        assert said["form_closure_order"] == order and said["force_closure"] is (order == 1)
        assert said["form_closure"] is (order == 1)


def triangle_between_discs(radius):
    """An equilateral triangle (inradius 1) with a disc at the middle of each side."""
    bodies = {}
    for i, angle in enumerate((90, 210, 330)):
        n = [math.cos(math.radians(angle)), math.sin(math.radians(angle))]
        bodies[f"pin{i}"] = {"fixed": True, "shapes": [{"disc": radius}],
                             "pose": {"position": [(1 + radius) * x for x in n]}}
    corners = [[2 * math.cos(math.radians(a)), 2 * math.sin(math.radians(a))] for a in (270, 30, 150)]
    bodies["triangle"] = {"mass": 1, "shapes": [{"polygon": corners}]}
    return planar(bodies, 0.0)


@pytest.mark.parametrize("radius", [0.01, 0.5, 5])
def test_discs_at_the_middles_of_its_sides_close_a_triangle_at_second_order(perp, radius):
    """The three normals meet in the middle and leave turning about it; there the flat sides come nearer to any pin: a gap
    changes by -omega^2 (1 + radius) / 2 t^2, by Rimon and Burdick's formula and by plain geometry."""
    said = closure(perp, triangle_between_discs(radius), "triangle")
    assert said["form_closure"] and said["form_closure_order"] == 2 and not said["force_closure"]


def test_a_disc_between_discs_turns(perp):
    said = closure(perp, held_disc([0, 120, 240], 0.0), "disc")
    assert not said["form_closure"]


def body_around_pins(offset, hole, pin):
    """A body with two round holes whose middles are 2 offset apart along x; what both leave free is a lens, and a fixed
    disc touches each of its sides from inside."""
    reach = hole - offset - pin
    bodies = {f"pin{i}": {"fixed": True, "shapes": [{"disc": pin}], "pose": {"position": [s * reach, 0]}}
              for i, s in enumerate((1, -1))}
    bodies["body"] = {"mass": 1, "inertia": 1, "shapes": [
        {"hole": {"radius": hole}, "pose": {"position": [-s * offset, 0]}} for s in (1, -1)]}
    return planar(bodies, 0.0)


def can_leave(offset, hole, pin, step=1e-4):
    """By the gaps themselves, hole - pin less the distance of the middles: is there a pose near by, at a distance of one
    step in (y, angle), at which for some x none is negative?"""
    reach = hole - offset - pin

    def least(x, y, angle):
        gaps = []
        for s in (1, -1):
            for pin_side in (1, -1):
                middle = (x - s * offset * math.cos(angle), y - s * offset * math.sin(angle))
                gaps.append(hole - pin - math.hypot(middle[0] - pin_side * reach, middle[1]))
        return min(gaps)

    def best_over_x(y, angle):
        low, high = -1e-3, 1e-3
        for _ in range(100):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (a, high) if least(a, y, angle) < least(b, y, angle) else (low, b)
        return least(low, y, angle)

    turns = [2 * math.pi * k / 720 for k in range(720)]
    return max(best_over_x(step * math.cos(a), step * math.sin(a)) for a in turns) >= -1e-15


@pytest.mark.parametrize("offset,hole,pin", [(0.0, 1, 0.2), (0.3, 1, 0.05)])
def test_two_pins_in_a_lens(perp, offset, hole, pin):
    """Both normals are along one line, and the body turns: a round hole about its middle, a lens too."""
    said = closure(perp, body_around_pins(offset, hole, pin), "body")
    assert can_leave(offset, hole, pin) and said["wedged"] and not said["form_closure"]


def test_a_box_between_parallel_walls_slides(perp):
    """Neither order closes it: along the walls no gap changes."""
    bodies = {"floor": {"fixed": True, "shapes": [{"halfplane": {"normal": [0, 1], "offset": -1}}]},
              "ceiling": {"fixed": True, "shapes": [{"halfplane": {"normal": [0, -1], "offset": -1}}]},
              "box": {"mass": 1, "shapes": [{"box": [2, 2]}]}}
    done = perp.json("analyze", perp.write("scene.yaml", planar(bodies, 0.0)))
    assert not done["closure"]["box"]["form_closure"]
    assert any("was not found to forbid" in reason["text"] for reason in done["why"])


def test_the_example_of_a_grasp(perp):
    """An equilateral triangle of inradius r has J/m = r^2: unit wrenches are those of the disc of 1 m with k = 1."""
    for mu in (0.1, 0.3, 0.9):
        said = closure_of_file(perp, ROOT / "examples/grasp-closure/scene.yaml", "part", "--set", f"contacts.friction={mu}")
        points = []
        for angle in (90, 210, 330):
            n = [-math.cos(math.radians(angle)), -math.sin(math.radians(angle))]
            points += [[n[0] + f * n[1], n[1] - f * n[0], f] for f in (-mu, mu)]
        expected = radius_by_all_planes(points)
        assert said["margin"] == pytest.approx(expected, rel=1e-9) and said["form_closure_order"] == 2
        assert mu > 0.5 or expected == pytest.approx(mu, rel=1e-12)


# ---- invariance ------------------------------------------------------------------------------------------------------

def wedged_peg(scale, mirror):
    """A tilted peg between two walls, and gravity across."""
    m = -1 if mirror else 1
    tilt, half = 0.2, (0.3, 1.0)
    c, s = math.cos(tilt), math.sin(tilt)
    right = half[0] * c + half[1] * s  # of its upper left corner and its lower right one, by symmetry
    bodies = {"left": {"fixed": True, "shapes": [{"halfplane": {"normal": [1, 0], "offset": -right * scale}}]},
              "right": {"fixed": True, "shapes": [{"halfplane": {"normal": [-1, 0], "offset": -right * scale}}]},
              "peg": {"mass": 2, "shapes": [{"box": [2 * half[0] * scale, 2 * half[1] * scale]}],
                      "pose": {"position": [0, 0], "angle": m * tilt}}}
    return planar(bodies, 0.4, gravity=[m * 1.0, -9.81]), half, tilt


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("mirror", [False, True])
def test_scale_and_mirror_change_nothing(perp, scale, mirror):
    """It jams where the line through both contacts lies in both cones: mu > (1.0 c - 0.3 s) / (0.3 c + 1.0 s)."""
    text, half, tilt = wedged_peg(scale, mirror)
    said = closure(perp, text, "peg")
    plain = closure(perp, wedged_peg(1.0, False)[0], "peg")
    assert said["margin"] == pytest.approx(plain["margin"], rel=1e-9)
    assert {k: v for k, v in said.items() if "margin" not in k} == {k: v for k, v in plain.items() if "margin" not in k}
    c, s = math.cos(tilt), math.sin(tilt)
    limit = (half[1] * c - half[0] * s) / (half[0] * c + half[1] * s)
    for factor, held in ((1 - 1e-8, False), (1 + 1e-8, True)):
        assert closure(perp, text, "peg", "--set", f"contacts.friction={limit * factor}")["jammed"] is held
