"""The examples from a micro-machine (tweezers-pawl, pawl-fixture, micro-gear) against closed forms.

Numbers of the scenes are read from the scenes, so that a change there moves what is expected here."""
import csv
import math

import pytest
import yaml

from conftest import ROOT

SPRINGS = ["qs-qp", "qs-cone", "quasidynamic", "qs-impedance-lcp"]


def scene(name):
    return str(ROOT / "examples" / name / "scene.yaml")


def read(name):
    with open(scene(name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def check_law(result):
    assert result["status"] == "ok"
    assert all(result["residual"][key] <= 1e-8 for key in ("balance", "complementarity", "cone"))


def polygon_mass(points, density):
    """Mass and centroid, by the shoelace formula."""
    area, moment = 0.0, [0.0, 0.0]
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        cross = x0 * y1 - x1 * y0
        area += cross / 2
        moment = [moment[0] + cross * (x0 + x1) / 6, moment[1] + cross * (y0 + y1) / 6]
    return density * area, [m / area for m in moment]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1]


# ---- tweezers-pawl --------------------------------------------------------------------------------------------------


def pawl_in_tweezers():
    """fn and the friction at the left and the right tip, N; the lift, m."""
    text = read("tweezers-pawl")
    pawl, joints = text["bodies"]["pawl"], text["joints"]
    points = pawl["shapes"][0]["polygon"]
    mass, (e, _) = polygon_mass(points, pawl["density"])
    reach = max(x for x, _ in points) + text["bodies"]["left_tip"]["shapes"][0]["disc"]
    fn = joints["right"]["stiffness"] * (reach - joints["right"]["command"]["values"][-1])
    width = 2 * max(x for x, _ in points)
    weight = 9.81 * mass
    return fn, weight * (0.5 - e / width), weight * (0.5 + e / width), joints["lift"]["command"]["values"][-1]


@pytest.mark.parametrize("model", SPRINGS)
def test_tweezers_lift_the_pawl(perp, model):
    """1e-10 m and N: 1e-8 of the scene's size (5 mm) and of its largest force (5 mN)."""
    result = perp.json("run", scene("tweezers-pawl"), "--model", model)
    fn, left, right, lift = pawl_in_tweezers()
    check_law(result)
    assert result["residual"]["penetration"] <= 1e-12
    assert result["final"]["q"]["pawl"] == pytest.approx([0, lift, 0], abs=1e-10)
    tips = {c["a"]: c for c in result["contacts"] if c["b"] == "pawl" and c["fn"] > 0}
    assert sorted(tips) == ["left_tip", "right_tip"] and all(c["mode"] == "stick" for c in tips.values())
    more = 1 + lift / 0.8 / 0.01 / 9.81 if model == "quasidynamic" else 1  # from rest to its speed in every step
    for tip, share, side in (("left_tip", left, 1), ("right_tip", right, -1)):
        assert tips[tip]["force_on_b"] == pytest.approx([side * fn, more * share], abs=1e-10)


@pytest.mark.parametrize("model", ["qs-qp", "qs-cone", "qs-impedance-lcp"])
def test_tweezers_lose_the_heavy_end(perp, model):
    fn, _, right, lift = pawl_in_tweezers()
    least = right / fn
    for friction, height in ((1.02 * least, lift), (0.98 * least, 0)):
        result = perp.json("run", scene("tweezers-pawl"), "--model", model, "--set", f"contacts.friction={friction}")
        check_law(result)
        assert result["final"]["q"]["pawl"][1:] == pytest.approx([height, 0], abs=1e-10)
    slips = [e["contact"].split()[0] for e in result["events"] if e["to"] == "slide" and "tip" in e["contact"]]
    assert slips[0] == "right_tip"


def test_tweezers_as_positions(perp):
    error = perp.json("run", scene("tweezers-pawl"), "--model", "qs-lcp", code=1)["error"]
    assert error["code"] == "infeasible-command" and "pawl" in error["evidence"]["contact"]


# ---- pawl-fixture ---------------------------------------------------------------------------------------------------


def seated():
    """The pawl's corner, t, n, and the washer's centre, by the pins alone."""
    text = read("pawl-fixture")
    p1, p2, p3 = (s["pose"]["position"] for s in text["bodies"]["pins"]["shapes"])
    r = text["bodies"]["pins"]["shapes"][0]["disc"]
    length = math.dist(p1, p2)
    t = [(b - a) / length for a, b in zip(p1, p2)]
    n = [-t[1], t[0]]
    corner = [(dot(p1, n) + r) * n[k] + (dot(p3, t) + r) * t[k] for k in (0, 1)]
    w1, w2 = (s["pose"]["position"] for s in text["bodies"]["nest"]["shapes"])
    reach = text["bodies"]["washer"]["shapes"][0]["disc"] + text["bodies"]["nest"]["shapes"][0]["disc"]
    washer = [(w1[0] + w2[0]) / 2, w1[1] + math.sqrt(reach**2 - ((w2[0] - w1[0]) / 2) ** 2)]
    return text, corner, t, n, washer


@pytest.mark.parametrize("model", SPRINGS)
@pytest.mark.parametrize("friction", [0, 0.2])
def test_pawl_is_seated(perp, model, friction):
    """1e-11 m, rad: steps are linear, so the last millimetre ends in Newton's method; 1e-8 of the scene's size."""
    result = perp.json("run", scene("pawl-fixture"), "--model", model, "--set", f"contacts.friction={friction}")
    text, corner, t, n, washer = seated()
    check_law(result)
    assert result["residual"]["penetration"] <= 1e-6
    x, y, angle = result["final"]["q"]["pawl"]
    assert [x, y] == pytest.approx(corner, abs=1e-11) and angle == pytest.approx(math.atan2(t[1], t[0]), abs=1e-8)
    assert result["final"]["q"]["washer"][:2] == pytest.approx(washer, abs=1e-11)
    hole = [corner[k] + 0.55e-3 * t[k] + 0.45e-3 * n[k] for k in (0, 1)]
    assert math.dist(hole, washer) < 5e-9  # the fixture's purpose


def tip_at_the_seat(text, corner, t, n):
    """x of the tip that touches the seated pawl, a radius beyond its right end at the height of its joint, and how far up
    that end it does."""
    radius, height = text["bodies"]["tip"]["shapes"][0]["disc"], text["joints"]["push"]["anchor"][1]
    length = text["bodies"]["pawl"]["shapes"][0]["polygon"][1][0]
    up = (height - corner[1] - (length + radius) * t[1]) / n[1]
    return corner[0] + (length + radius) * t[0] + up * n[0], up


@pytest.mark.parametrize("model", ["qs-lcp", "qs-ncp", "qs-opt", "qs-lp"])
def test_tip_as_a_position_jams(perp, model):
    """In the step whose command is beyond the place of the tip at the seat."""
    result = perp.json("run", scene("pawl-fixture"), "--model", model, code=1)
    text, corner, t, n, _ = seated()
    times, values = (text["joints"]["push"]["command"][key] for key in ("times", "values"))
    a_step = text["run"]["h"] * (values[0] - values[1]) / (times[1] - times[0])
    assert result["error"]["code"] == "no-equilibrium"
    assert result["error"]["evidence"]["contact"].startswith("tip pawl")
    assert result["steps"] == math.floor((values[0] - tip_at_the_seat(text, corner, t, n)[0]) / a_step)


@pytest.mark.parametrize("model", SPRINGS)
def test_forces_in_the_fixture(perp, model):
    """Without friction the balance of the pawl gives all of them. 1e-10 N: 1e-8 of F's least unit is 1e-11."""
    result = perp.json("run", scene("pawl-fixture"), "--model", model, "--set", "contacts.friction=0")
    text, corner, t, n, _ = seated()
    pawl, push = text["bodies"]["pawl"], text["joints"]["push"]
    points = pawl["shapes"][0]["polygon"]
    mass, com = polygon_mass(points, pawl["density"])
    weight = 9.81 * mass
    tip_x, up = tip_at_the_seat(text, corner, t, n)
    tip = push["stiffness"] * (tip_x - push["command"]["values"][-1]) / t[0]
    pins = [s["pose"]["position"] for s in text["bodies"]["pins"]["shapes"]]
    along = [dot([p[k] - corner[k] for k in (0, 1)], t) for p in pins]
    stop_up = dot([pins[2][k] - corner[k] for k in (0, 1)], n)
    stop = tip + weight * t[1]
    # moments about the corner: n-forces at along[0], along[1]; t-forces at their heights; weight = -(t[1], n[1]) W
    turning = weight * (com[0] * n[1] - com[1] * t[1]) - tip * up + stop * stop_up
    second = (turning - along[0] * weight * n[1]) / (along[1] - along[0])
    expected = [weight * n[1] - second, second, stop, tip]
    found = [c["fn"] for c in result["contacts"] if c["b"] == "pawl" and c["fn"] > 0]
    assert min(expected) > 0 and found == pytest.approx(expected, abs=1e-10)


# ---- micro-gear -----------------------------------------------------------------------------------------------------

PINION, WHEEL, MODULE, DISTANCE = 12, 18, 1e-4, 1.5e-3
BASE = WHEEL * MODULE / 2 * math.cos(math.radians(20))  # the wheel's base circle
TRUE = 1e-9 / BASE  # rad: gaps are true to 1e-9 m


def turned(folder):
    with open(folder / "state.csv", encoding="utf-8") as file:
        rows = [(float(r["drive"]), float(r["turn"])) for r in csv.DictReader(file)]
    return [(a, b - rows[0][1]) for a, b in rows]


@pytest.mark.parametrize("model", ["qs-ncp", "qs-lcp", "qs-opt", "qs-qp", "qs-cone", "quasidynamic"])
def test_gears_turn_by_their_teeth(perp, model):
    result = perp.json("run", scene("micro-gear"), "--model", model, "--csv", "out")
    check_law(result)
    convex = model in ("qs-qp", "qs-cone", "quasidynamic")
    assert result["residual"]["penetration"] <= 1e-9 and result["residual"]["boundary_layer"] < (2e-7 if convex else 1e-9)
    layer = result["residual"]["boundary_layer"] / BASE
    rows = turned(perp.folder / "out")
    half_backlash = 5e-6 / (WHEEL * MODULE / 2)
    # a chord of an involute that spans the roll angles s to s + d is off by at most its length^2 / 8 over its curvature
    cut = 0.0
    for teeth in (PINION, WHEEL):
        pitch = teeth * MODULE / 2
        base = pitch * math.cos(math.radians(20))
        roll = math.sqrt(((pitch + 0.8 * MODULE) / base) ** 2 - 1)
        cut += base * roll * (roll / 5) ** 2 / 8
    for a, b in rows[1:]:
        lag = b + a * PINION / WHEEL
        # what parts in a layer leads; 1e-5 rad: the places of the numbers in the scene
        assert half_backlash - layer - TRUE - 1e-5 <= lag <= half_backlash + cut / BASE + TRUE
    for (a0, b0), (a1, b1) in zip(rows[1:101], rows[101:]):
        assert a1 - a0 == pytest.approx(2 * math.pi / PINION, abs=1e-12)
        assert b1 - b0 == pytest.approx(-2 * math.pi / WHEEL, abs=2 * TRUE + (layer if convex else 0))


@pytest.mark.parametrize("model", ["qs-ncp", "qs-qp"])
def test_gears_lose_work_to_friction_only(perp, model):
    """Mean torque of the pinion over the second pitch. 0.2 %: 100 samples of a torque that
    jumps where teeth change, and gaps true to 1 nm in flanks of 100 um."""
    means = []
    for friction in (0, 0.1):
        check_law(perp.json("run", scene("micro-gear"), "--model", model, "--set", f"contacts.friction={friction}",
                            "--csv", f"out{friction}"))
        torque, steps = 0.0, set()
        with open(perp.folder / f"out{friction}" / "contacts.csv", encoding="utf-8") as file:
            for c in csv.DictReader(file):
                if int(c["step"]) > 100:
                    v = {key: float(value) for key, value in c.items() if key not in ("a", "b", "feature", "mode")}
                    fx, fy = (v["fn"] * v["n" + k] + v["ft1"] * v["t" + k] for k in "xy")
                    torque += v["px"] * fy - v["py"] * fx
                    steps.add(c["step"])
        assert len(steps) == 100
        means.append(torque / 100)
    assert means[0] == pytest.approx(PINION / WHEEL * 1e-6, rel=2e-3)
    assert 1.02 < means[1] / means[0] < 1.03
