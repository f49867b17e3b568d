"""The examples of the dynamic rungs give the numbers that their READMEs state, most of them closed forms."""
import csv
import math

import pytest

from conftest import ROOT

RUNGS = ("dyn-lcp", "dyn-ncp", "dyn-qp")
G = 9.81


def scene(name):
    return str(ROOT / "examples" / name / "scene.yaml")


def run(perp, name, *arguments):
    result = perp.json("run", scene(name), *arguments)
    assert result["status"] == "ok"
    assert all(result["residual"][key] <= 1e-8 for key in ("balance", "complementarity", "cone"))
    return result


def rows(perp, name, *arguments):
    """The columns of state.csv by name, and the result."""
    folder = perp.folder / "csv"
    result = run(perp, name, "--csv", folder, *arguments)
    with open(folder / "state.csv") as file:
        lines = list(csv.DictReader(file))
    return result, {key: [float(line[key]) for line in lines] for key in lines[0]}


def events(result, pair):
    return [(e["from"], e["to"], round(e["t"], 9)) for e in result["events"] if e["contact"].startswith(pair + " ")]


@pytest.mark.parametrize("arguments, end, slip_ends", [
    ((), (0.55907068353, -0.05116164558), (47, 47)),
    (("--steps", "101"), (0.56335639782, -0.05330450273), (47, 47)),
    (("--set", "run.cone=box"), (0.50902571429, -0.08767885714), (30, 37)),
    (("--model", "dyn-lcp"), (0.63396257143, -0.00438257143), (66, 66))])
def test_masse_ball(perp, arguments, end, slip_ends):
    """1e-10 m: as many digits as the table of the README has."""
    result = run(perp, "masse-ball", "--csv", perp.folder / "csv", *arguments)
    assert result["final"]["q"]["ball"][:3] == pytest.approx([*end, 0.05], abs=1e-10)
    assert result["final"]["v"]["ball"] == pytest.approx([3 / 7, -3 / 14, 0, 30 / 7, 60 / 7, -10], abs=1e-9)
    with open(perp.folder / "csv" / "contacts.csv") as file:
        contacts = list(csv.DictReader(file))
    for name, last in zip(("slip1", "slip2"), slip_ends):
        assert [abs(float(c[name])) > 1e-6 for c in contacts] == [int(c["step"]) < last for c in contacts]
    for contact in contacts:
        friction = math.hypot(float(contact["ft1"]), float(contact["ft2"]))
        assert friction <= 0.2 * 0.2 * 9.8 * (math.sqrt(2) if "run.cone=box" in arguments else 1) + 1e-9
        if int(contact["step"]) > max(slip_ends):
            assert friction <= 1e-9
    readme = (ROOT / "examples/masse-ball/README.md").read_text()
    assert f"{end[0]:.11f}" in readme and f"{end[1]:.11f}" in readme


@pytest.mark.parametrize("model, eps, x, y", [
    ("dyn-ncp", 0.1, 0.8999998732, 0.1499999366), ("dyn-ncp", 1, 0.8999998732, 0.1499999366),
    ("dyn-ncp", 3.4, 0.9005513750, 0.1502756875), ("dyn-ncp", 4, 0.9288568331, 0.1644284165),
    ("dyn-lcp", 0.1, 0.8999998732, 0.2999998732), ("dyn-lcp", 1, 0.8999998732, 0.2939535610)])
def test_fence_particle(perp, model, eps, x, y):
    result = run(perp, "fence-particle", "--model", model, "--steps", "500", "--set", f"run.time_scale={eps}")
    assert result["final"]["q"]["particle"][:3] == pytest.approx([x, y, 0], abs=1e-9)
    assert f"{x:.10f}, {y:.10f}" in (ROOT / "examples/fence-particle/README.md").read_text()


@pytest.mark.parametrize("mu", (0.3, 0.1))
@pytest.mark.parametrize("model", RUNGS)
def test_sphere_roll(perp, model, mu):
    result = run(perp, "sphere-roll", "--model", model, "--set", f"contacts.friction={mu}", "--until", "0.8")
    slips = 2 * 2 / (7 * mu * G)
    assert result["final"]["v"]["ball"] == pytest.approx([10 / 7, 0, 0, 0, 100 / 7, 0], abs=1e-9)
    if model != "dyn-qp":  # there the slip ends in a hop of less than g h^2
        end = 0.005 * math.ceil(slips / 0.005)
        assert events(result, "ground ball") == [("open", "slide", 0.005), ("slide", "stick", round(end, 9))]
    # of first order: in a step the ball has its last speed all along, and lost 2/7 v0
    x = 10 / 7 * 0.8 + 2 / 7 * slips
    assert result["final"]["q"]["ball"][0] == pytest.approx(x, abs=0.005 * 4 / 7)


@pytest.mark.parametrize("model", RUNGS)
def test_box_incline(perp, model):
    result = run(perp, "box-incline", "--model", model)
    v, q, h, n = result["final"]["v"], result["final"]["q"], 0.005, 60
    sin, cos = 0.5, math.sqrt(0.75)
    assert q["rough"] == pytest.approx([0, 0.05, 0], abs=1e-9)
    force = [sum(c["force_on_b"][i] for c in result["contacts"] if c["b"] == "rough") for i in range(2)]
    assert force == pytest.approx([-G * sin, G * cos], abs=1e-6)
    a = G * (sin - 0.3 * cos)
    # dyn-qp: the box is lifted by mu times the slip of its first steps, which costs m mu h a more weight, once
    slack = 1e-9 if model != "dyn-qp" else 0.3 * 0.3 * h * a + 1e-12
    assert v["smooth"][0] == pytest.approx(n * h * a, abs=slack)
    assert q["smooth"][0] == pytest.approx(0.5 + h * h * a * n * (n + 1) / 2, abs=max(slack * n * h, 1e-9))
    first = run(perp, "box-incline", "--model", model, "--steps", "1")["final"]["v"]["tall"][2]
    inertia = 0.2 / 12 + 0.05
    assert first == pytest.approx(-h * G * (0.2 * sin - 0.1 * cos) / inertia, abs=1e-9)
    errors = []
    for size in (0.005, 0.0025):
        end = run(perp, "box-incline", "--model", model, "--h", size)["final"]
        x, y, lean = end["q"]["tall"]
        turn = math.sqrt(0.05)
        at = math.atan2(0.2, -0.1) + lean  # from the edge to the centre
        weight = G * (sin * turn * (math.cos(at) - math.cos(at - lean)) - cos * turn * (math.sin(at) - math.sin(at - lean)))
        errors.append(0.5 * inertia * end["v"]["tall"][2] ** 2 / weight - 1)
        # the edge stays: first order in the angle of a step
        assert [x - turn * math.cos(at), y - turn * math.sin(at)] == pytest.approx([-0.5, 0], abs=5e-4 * size / 0.005)
    assert abs(errors[0]) < 0.06 and errors[1] == pytest.approx(errors[0] / 2, rel=0.2)


@pytest.mark.parametrize("friction", (0.57, 0.58))
def test_box_incline_critical(perp, friction):
    """tan 30 = 0.577."""
    end = run(perp, "box-incline", "--set", f"contacts.pairs.incline rough.friction={friction}")["final"]["q"]["rough"][0]
    assert (abs(end) > 1e-4) == (friction < math.tan(math.pi / 6))


@pytest.mark.parametrize("model", RUNGS)
def test_disc_incline(perp, model):
    result = run(perp, "disc-incline", "--model", model)
    q, v = result["final"]["q"], result["final"]["v"]
    slides = G * (0.5 - 0.15 * math.sqrt(0.75))
    spin = 0.15 * G * math.sqrt(0.75) * 0.5 / 0.125
    slack = 1e-9 if model != "dyn-qp" else 0.15 * 0.15 * 0.01 * (slides + 0.5 * spin) / 0.5
    assert v["rolls"] == pytest.approx([3.27, 0, -6.54], abs=1e-9)
    assert q["rolls"] == pytest.approx([3.27 * 1.01 / 2, 0.5, -6.54 * 1.01 / 2], abs=1e-9)
    assert [v["slips"][0], v["slips"][2]] == pytest.approx([slides, -spin], abs=slack)
    assert q["slips"][0] == pytest.approx(-3 + slides * 1.01 / 2, abs=slack)
    forces = {c["b"]: c["ft"][0] for c in result["contacts"]}
    assert forces["rolls"] == pytest.approx(-1.635, abs=1e-6)
    assert forces["slips"] == pytest.approx(-0.15 * G * math.sqrt(0.75), abs=1e-6)


def fall(e, height, h, steps):
    """Newton's restitution in steps: a ball that would land within the step leaves with e times its speed."""
    z, v, way = height, 0.0, [height]
    for _ in range(steps):
        free = v - G * h
        if v < 0 and z + h * v <= 0 and e > 0:
            v = max(free, -min(e * v, z / h))
        else:
            v = max(free, -z / h)
        z += h * v
        way.append(z)
    return way


@pytest.mark.parametrize("model", RUNGS)
def test_bounce(perp, model):
    result, at = rows(perp, "bounce", "--model", model)
    for name, e in (("dead", 0.0), ("half", 0.5), ("lively", 0.9)):
        way = [z - 0.05 for z in at[name + ".z"]]
        assert way == pytest.approx(fall(e, 0.5, 0.001, 2000), abs=1e-9)
        tops = [b for a, b, c in zip(way, way[1:], way[2:]) if a < b >= c]
        for k, top in enumerate(tops[:2]):  # each bounce begins up to a step's way high, and takes half a step's fall
            assert top == pytest.approx(e ** (2 * k + 2) * 0.5, abs=2 * (k + 1) * 0.001 * math.sqrt(2 * G * 0.5))
        assert len(tops) >= (0 if e == 0 else 2)
    assert max(at["half.z"][980:]) < 0.05 + 2e-6 and all(abs(v) < 1e-9 for v in at["v:half.z"][1030:])
    assert result["residual"]["penetration"] <= 1e-12


def test_domino(perp):
    result = run(perp, "domino")
    struck = {}
    for event in result["events"]:
        pair = tuple(event["contact"].split()[:2])
        if pair[0] != "ground":
            struck.setdefault(pair, event["t"])
    pairs = [(f"piece{i}", f"piece{i + 1}") for i in range(1, 12)]
    times = [struck[pair] for pair in pairs]
    assert times[0] == pytest.approx(0.052, abs=1e-9) and times[-1] == pytest.approx(0.432, abs=1e-9)
    gaps = [b - a for a, b in zip(times, times[1:])]
    assert min(gaps) > 0.03 and sum(gaps[-3:]) < sum(gaps[:3])
    leans = [result["final"]["q"][f"piece{i}"][2] for i in range(1, 13)]
    assert leans[-1] == pytest.approx(-math.pi / 2, abs=1e-6)
    assert all(-1.195 < lean < -1.15 for lean in leans[:-1])  # -1.182 as h goes to 0
    assert result["residual"]["penetration"] < 2.1e-5


def strike_time(points=2000):
    """Of the pendulum from -60 degrees at rest to 0.3 rad; the angle is s^2 further on, so that nothing is singular."""
    most, rate = math.sqrt(math.pi / 3 + 0.3), 2 * 0.36 * G / 0.102
    at = [(k + 0.5) * most / points for k in range(points)]
    return sum(2 * s / math.sqrt(rate * (math.cos(s * s - math.pi / 3) - 0.5)) for s in at) * most / points


@pytest.mark.parametrize("model", RUNGS)
def test_four_bar_dynamic(perp, model):
    result, at = rows(perp, "four-bar-dynamic", "--model", model)
    for crank, elbow, rocker in zip(at["crank"], at["elbow"], at["rocker"]):
        assert [elbow, rocker] == pytest.approx([-crank, crank], abs=1e-9)
    assert result["residual"]["loop"] < 1e-12
    energy = [0.051 * w * w - 0.36 * G * math.cos(a) for a, w in zip(at["crank"], at["v:crank"])]
    strike = next(k for k, a in enumerate(at["crank"]) if a >= 0.3 - 1e-12)
    # a step goes on with its end's velocity: from rest, g h^2 k (k + 1) / 2, positions are half a step ahead
    assert strike == math.ceil(strike_time() / 1e-3 - 0.5)
    # of first order: a step of 1 ms of a swing of 1 s; in units of what the swing turns over
    assert max(abs(e - energy[0]) for e in energy[:strike]) < 0.01 * 0.36 * G * 0.5
    low = min(range(strike), key=lambda k: abs(at["crank"][k]))
    assert at["v:crank"][low] == pytest.approx(math.sqrt(2 * 0.36 * G * 0.5 / 0.102), rel=0.005)
    rest = -0.36 * G * math.cos(0.3)
    assert max(abs(e - rest) for e in energy[strike + 1:]) < 0.02 * 0.36 * G * (1 - math.cos(0.3))
    assert all(a <= 0.3 + 1e-9 for a in at["crank"][strike:])  # the limit
    once = 0.36 * G * math.sin(0.3) / 0.102 * 1e-6 / 2  # what a step adds from rest, there and where it turns
    assert all(a >= -0.3 - once for a in at["crank"][strike:])
    back = next(k for k in range(strike, 1000) if at["crank"][k] < 0) - strike
    assert back * 1e-3 == pytest.approx(1.074 / 4, abs=2e-3)


@pytest.mark.parametrize("model", RUNGS)
def test_ladder(perp, model):
    start, speed = math.sin(math.radians(70)), math.sqrt(2 * G * math.sin(math.radians(70)) ** 3) / 3
    errors = []
    for h in (0.001, 0.0005):
        result, at = rows(perp, "ladder", "--model", model, "--h", h)
        left = [t for a, b, t in events(result, "wall ladder") if (a, b) == ("slide", "open")][0]
        angle = math.pi - at["ladder.theta"][round(left / h)]
        errors.append(math.sin(angle) - 2 / 3 * start)
        for v in at["v:ladder.x"][round(left / h):]:
            assert v == pytest.approx(speed, abs=2e-5 * h / 0.001)
    step = 0.001 * math.cos(angle) * math.sqrt(3 * G * start / 3 / 2)  # by which sin(angle) falls in 1 ms
    assert abs(errors[0]) < 2.1 * step and abs(errors[1]) < 1.05 * step  # two steps


@pytest.mark.parametrize("mu", (0.17, 0.18))
def test_ladder_holds(perp, mu):
    """tan(70) = (1 - mu^2) / (2 mu) at 0.17633."""
    end = run(perp, "ladder", "--set", f"contacts.friction={mu}")["final"]["q"]["ladder"][0]
    assert (abs(end - 0.36202014332566882) > 1e-3) == (mu < 0.17633)


@pytest.mark.parametrize("angle, corner, end", [
    (0, (0, 0), 180 + math.degrees(math.atan(2))), (90, (0.06, 0), 180 + math.degrees(math.atan(2))),
    (180, (0.04, 0.06), 360), (270, (0, 0.04), 90)])
def test_parts_chute(perp, angle, corner, end):
    result = run(perp, "parts-chute", "--set", f"bodies.part.pose.angle={math.radians(angle)!r}",
                 "--set", f"bodies.part.pose.position.0={corner[0]}", "--set", f"bodies.part.pose.position.1={corner[1]}")
    found = math.degrees(result["final"]["q"]["part"][2]) - end
    assert abs(found - 360 * round(found / 360)) < 1e-6
    assert max(abs(v) for v in result["final"]["v"]["part"]) < 1e-9
    assert result["residual"]["penetration"] < 1e-6
    assert any(c["a"] == "stop" and abs(c["phi"]) < 1e-9 for c in result["contacts"])
