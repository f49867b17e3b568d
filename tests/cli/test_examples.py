"""Every example runs and gives the numbers that its README states."""
import math
import re
import subprocess
import sys

import pytest

import forward_kinematics as fk
from conftest import PERP, ROOT

sys.path.append(str(ROOT / "tools"))
import example_numbers  # noqa: E402  (the gallery reads the same tables)

EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/scene.yaml"))


def scene(name):
    return str(ROOT / "examples" / name / "scene.yaml")


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_sound_and_documented(perp, name):
    findings = perp.json("check", scene(name))
    words = [d["message"] for d in findings["diagnostics"]]
    if name in ("pusher-1d", "pusher-2d"):  # they show what inertia within one step does, and are told so
        assert len(words) == 1 and "a step goes 0.99 % of the way" in words[0]
    else:
        assert words == []
    assert findings["errors"] == 0
    readme = (ROOT / "examples" / name / "README.md").read_text()
    assert "Expected" in readme or "expect" in readme


@pytest.fixture(scope="module")
def results():
    return {}


def run_once(results, perp, name):
    if name not in results:
        results[name] = perp.json("run", scene(name))
    return results[name]


@pytest.mark.parametrize("name", EXAMPLES)
def test_numbers_of_the_readme(perp, results, name):
    """Tolerances stand in the table: half of the last figure that is given, or what the README says it is exact to."""
    numbers = example_numbers.numbers((ROOT / "examples" / name / "README.md").read_text())
    assert len(numbers) >= 3
    result = run_once(results, perp, name)
    wrong = {n.path: (n.measured(result), n.expected, n.within) for n in numbers if not n.holds(result)}
    assert not wrong


def test_a_wrong_number_is_seen():
    """Of two contacts of a pair forces add up and the smaller gap counts; what is not there is not passed over."""
    contact = {"a": "table", "b": "cube", "fn": 1.5, "phi": 0.25, "ft": [0.5, 0]}
    result = {"final": {"q": {"cube": [1, 2]}}, "contacts": [contact, {**contact, "fn": 2, "phi": 0.125}]}
    table = (f"text\n\n{example_numbers.HEADER}\n|---|---|---|---|\n| a | `final.q.cube.1` | 2.01 | 1e-3 |\n"
             "| b | `contacts.table cube.fn` | 3.5 | 0 |\n| c | `contacts.table cube.phi` | 125e-3 | 0 |\n"
             "| d | `contacts.table cube.ft.0` | 0.5 | 0 |\n| e | `contacts.table ball.fn` | 0 | 0 |\n\nmore | text\n")
    numbers = example_numbers.numbers(table)
    assert [n.what for n in numbers] == ["a", "b", "c", "d", "e"]
    assert [n.holds(result) for n in numbers[:3]] == [False, True, True]
    for number in numbers[3:]:
        with pytest.raises(KeyError):
            number.holds(result)


@pytest.mark.parametrize("name", EXAMPLES)
def test_poses_match_independent_forward_kinematics(perp, results, name):
    """1e-12: a chain of 9 transforms, each exact to a few 1e-16 in numbers of size 1."""
    final = run_once(results, perp, name)["final"]
    expected = fk.poses(scene(name), final["q"])
    for body, matrix in expected.items():
        found = fk.matrix(final["poses"][body])
        for i in range(3):
            for j in range(4):
                assert found[i][j] == pytest.approx(matrix[i][j], abs=1e-12), (body, i, j)


def test_arm_reach(perp):
    result = perp.json("run", scene("arm-reach"))
    q, poses = result["final"]["q"], result["final"]["poses"]
    assert result["steps"] == 200 and result["final"]["t"] == pytest.approx(2, abs=1e-15)
    for joint, value in {"j2": 0.530018622986165, "j4": -2.344072929411037, "j6": 2.874091552397202,
                         "j7": 0, "left": 0.025, "right": 0.025}.items():
        assert q[joint][0] == pytest.approx(value, abs=1e-15)
    assert poses["hand"][:3] == pytest.approx([0.5, 0, 0.1084], abs=1e-12)
    assert poses["left_finger"][1] == pytest.approx(-0.025, abs=1e-12)
    assert poses["cube"] == [0.5, 0, 0.025, 1, 0, 0, 0]
    gaps = {(c["a"], c["b"]): c["phi"] for c in result["contacts"]}
    expected = {("table", "left_finger"): 0, ("table", "right_finger"): 0, ("table", "cube"): 0,
                ("hand", "cube"): 0.1084 - 0.06 - 0.05, ("left_finger", "cube"): 0, ("right_finger", "cube"): 0}
    assert gaps == {pair: pytest.approx(gap, abs=1e-9) for pair, gap in expected.items()}
    assert len(result["contacts"]) == 24  # each of the six is face to face
    assert result["residual"]["penetration"] == pytest.approx(0.0107, abs=5e-5)


def test_driven_fence(perp):
    def x(t):
        return 0.5 + 0.4 * math.sin(t)

    result = perp.json("run", scene("driven-fence"))
    final = result["final"]
    assert result["residual"]["penetration"] == pytest.approx(x(1.6) - 0.6, abs=1e-12)  # the deepest of the steps
    assert final["q"]["fence"][:3] == pytest.approx([x(6.3), 6.3, 0], abs=1e-14)
    assert final["v"]["fence"][0] == pytest.approx((x(6.3) - x(6.2)) / 0.1, abs=1e-12)
    assert final["q"]["particle"] == [0.6, 0, 0, 1, 0, 0, 0]
    taylor = perp.json("run", scene("driven-fence"), "--set", "run.prediction=taylor")["final"]
    rate = 0.4 * math.cos(6.2)
    assert taylor["v"]["fence"][0] == pytest.approx(rate, abs=1e-12)
    assert taylor["q"]["fence"][0] == pytest.approx(x(6.2) + 0.1 * rate, abs=1e-12)
    readme = (ROOT / "examples/driven-fence/README.md").read_text()
    for number in (f"{x(6.3):.10f}", f"{(x(6.3) - x(6.2)) / 0.1:.7f}", f"{x(6.2) + 0.1 * rate:.7f}", f"{rate:.7f}",
                   f"{x(1.6) - 0.6:.7f}"):
        assert number in readme


def test_screw_press(perp):
    final = perp.json("run", scene("screw-press"))["final"]
    assert abs(final["poses"]["plate"][3]) == pytest.approx(1, abs=1e-12)
    assert final["q"]["hook"] == pytest.approx([math.cos(math.pi / 8), 0, math.sin(math.pi / 8), 0], abs=1e-15)


def test_fixture_gaps(perp):
    """1e-9 m: what every distance query promises."""
    contacts = perp.json("run", scene("fixture-gaps"))["contacts"]

    def gaps(a, b):
        return sorted(c["phi"] for c in contacts if (c["a"], c["b"]) == (a, b))

    low, high = (0.05 - 0.025 * math.cos(0.1) - s * 0.1 * math.sin(0.1) for s in (1, -1))
    vee = 0.03 / math.sqrt(2) - 0.02
    assert gaps("table", "brick") == pytest.approx([low, low, high, high], abs=1e-9)
    assert gaps("vee", "shaft") == pytest.approx([vee] * 4, abs=1e-9)
    clearance = 0.00505 - 0.005
    walls = [clearance - 2e-5] * 2 + [clearance] * 4 + [clearance + 2e-5] * 2
    assert gaps("plate", "pin") == pytest.approx(walls, abs=1e-9)
    assert len(contacts) == 16
    readme = (ROOT / "examples/fixture-gaps/README.md").read_text()
    for number in (f"{low:.9f}", f"{high:.9f}", f"{vee:.9f}", "0.00003", "0.00005", "0.00007"):
        assert number in readme


def example_program(name, *arguments):
    program = str(PERP).rsplit("/", 1)[0] + "/examples/" + name
    return subprocess.run([program, *arguments], text=True, capture_output=True, timeout=60)


def test_scene_in_c():
    done = example_program("scene-in-c")
    readme = (ROOT / "examples/scene-in-c/README.md").read_text()
    assert done.returncode == 0 and done.stdout.strip() in readme and "2.008000000" in done.stdout


def test_sim_in_c():
    """The box ends at the line, within what friction holds: at most 0.3 m g over the law's 60 N/m."""
    done = example_program("sim-in-c")
    assert done.returncode == 0 and done.stdout.strip() in (ROOT / "examples/sim-in-c/README.md").read_text()
    places = [float(x) for x in re.findall(r"box at (\S+) m", done.stdout)]
    assert places == sorted(places) and 0.8 - 0.003 < places[-1] <= 0.8


def test_sim_threads():
    done = example_program("sim-threads")
    assert done.returncode == 0 and done.stdout.strip() in (ROOT / "examples/sim-threads/README.md").read_text()
    assert "8 of 8" in done.stdout and len(set(re.findall(r"block at (\S+)", done.stdout))) == 8


def test_why_in_c():
    """The amounts are F / 100 N, 50 N - F and 2 F - 100 N."""
    done = example_program("why-in-c")
    assert done.returncode == 0 and done.stdout.strip() in (ROOT / "examples/why-in-c/README.md").read_text()
    for push, words in re.findall(r"pushed with (\S+) N: (.*)", done.stdout):
        push = float(push)
        assert f"friction {'' if push < 50 else 'of at least '}{push / 100:g} between" in words
        assert (f"under {50 - push:g} N more" if push < 50 else f"squeezed {2 * push - 100:g} N more") in words


def test_inverse_kinematics():
    done = example_program("inverse-kinematics", scene("arm-reach"), "0.5", "0", "0.1084")
    assert done.returncode == 0 and done.stdout.startswith("reached")
    position, rotation = map(float, re.findall(r"error ([0-9.e+-]+)", done.stdout))
    assert position < 1e-9 and rotation < 1e-9
    for value, low, high in re.findall(r"(-?[0-9.]+)\s+limits \[([^,]+), ([^\]]+)\]", done.stdout):
        assert float(low) <= float(value) <= float(high)
    far = example_program("inverse-kinematics", scene("arm-reach"), "3", "0", "0.1")
    assert far.returncode == 2 and far.stdout.startswith("not reached")


def test_ncp_callback():
    """The bead is in equilibrium, by formulas of this file; six printed places of positions, forces up to 30 N/m steep."""
    done = example_program("ncp-callback")
    readme = (ROOT / "examples/ncp-callback/README.md").read_text()
    assert done.returncode == 0 and done.stdout.strip() in readme
    beads = re.findall(r"bead of +([0-9.]+) N at \((\S+), (\S+)\) m, bowl pushes with p = (\S+) N, gap (\S+) m", done.stdout)
    assert len(beads) == 3
    for weight, x, y, p, gap in (map(float, bead) for bead in beads):
        pull = 20 + 5 * ((x - 1) ** 2 + (y - 1) ** 2)
        assert pull * (x - 1) + p * x == pytest.approx(0, abs=1e-4)
        assert pull * (y - 1) + weight - p == pytest.approx(0, abs=1e-4)
        assert gap == pytest.approx(y - x * x / 2, abs=3e-6) and min(gap, p) == 0


def test_gripper(perp):
    result = perp.json("run", scene("gripper-2d"))
    assert result["model"] == "qs-qp" and result["steps"] == 25 and result["fallbacks"] == {}
    changes = [(e["contact"].split()[0], e["from"], e["to"]) for e in result["events"]]
    for finger in ("left_finger", "right_finger"):
        assert [(a, b) for name, a, b in changes if name == finger] == [("open", "stick"), ("stick", "limit"),
                                                                       ("limit", "slide")]
    assert all(result["residual"][key] <= 1e-8 for key in ("balance", "complementarity", "cone", "penetration"))


def test_door(perp):
    result = perp.json("run", scene("door"))
    assert [(e["from"], e["to"], round(e["t"], 9)) for e in result["events"]] == [
        ("open", "slide", 0.02), ("slide", "stick", 0.55), ("stick", "slide", 0.61)]


def test_four_bar(perp):
    result = perp.json("run", scene("four-bar"))
    q = result["final"]["q"]
    crank = q["crank"][0]
    assert q["rocker"][0] == pytest.approx(crank, abs=1e-12) and q["elbow"][0] == pytest.approx(-crank, abs=1e-12)
    errors = []
    for h in ("0.01", "0.001"):  # forces are in balance at the step's begin: beside its end they are off by O(h)
        result = perp.json("run", scene("four-bar"), "--h", h)
        (x, y), (fx, fy) = result["contacts"][0]["point"], result["contacts"][0]["force_on_b"]
        work = (2 * 0.2 * 0.15 + 1 * 0.3) * 9.81 * math.cos(result["final"]["q"]["crank"][0])
        errors.append(abs(-(x * fy - y * fx) / work - 1))
    assert errors[0] < 0.02 and errors[1] == pytest.approx(0.1 * errors[0], rel=0.3)


def test_a_tolerance_that_cannot_be_met(perp):
    """No rounding is as small as 1e-30: the first step that moves misses its law, and says which part of it."""
    error = perp.json("run", scene("door"), "--set", "run.tolerance=1e-30", code=1)["error"]
    assert error["code"] == "tolerance" and error["evidence"]["residual"] > 1e-30
    assert any(key in error["evidence"] for key in ("balance", "complementarity"))


def test_unsupported_body(perp):
    result = perp.json("run", scene("gripper-2d"), "--set", "bodies.sphere.pose.position.1=0.5", code=1)
    assert result["status"] == "error" and result["steps"] == 0
    error = result["error"]
    assert error["code"] == "unsupported-body" and error["evidence"]["body"] == "sphere"
    assert error["evidence"]["direction"] == pytest.approx([0, -1], abs=1e-6)
    assert "quasidynamic" in error["message"]


def check_law(result):
    assert result["status"] == "ok"
    assert all(result["residual"][key] <= 1e-8 for key in ("balance", "complementarity", "cone"))


def test_fence_particle(perp):
    """The table of the README; more of it in tests/step/test_rigid_step.c."""
    for model, y in {"qs-ncp": 0.1499999366, "qs-opt": 0.1499999366, "qs-lcp": 0.2999998732, "qs-lp": 0}.items():
        result = perp.json("run", scene("fence-particle"), "--model", model)
        check_law(result)
        assert result["steps"] == 628 and result["residual"]["penetration"] <= 1e-9
        assert result["final"]["q"]["particle"][:3] == pytest.approx([0.8999998732, y, 0], abs=1e-9)


def test_peg_in_hole(perp):
    for friction, y, tilt in ((0.1, -0.01575826, 0.0304136), (0.3, -0.00502361, 0.0363491), (1, 0.02485479, 0.0798657)):
        result = perp.json("run", scene("peg-in-hole-2d"), "--set", f"contacts.friction={friction}")
        check_law(result)
        assert result["final"]["q"]["y"] == [pytest.approx(y, abs=1e-8)]
        assert result["final"]["q"]["tilt"] == [pytest.approx(tilt, abs=1e-7)]
        assert result["residual"]["penetration"] <= 1e-6


def test_pivot(perp):
    result = perp.json("run", scene("pivot"))
    check_law(result)
    x, y, theta = result["final"]["q"]["box"]
    c, s = math.cos(theta), -math.sin(theta)
    # sticking holds to first order in a step: the edge creeps by a few 1e-5 m, the angle with it
    assert 0.17 * c + 0.15 * s == pytest.approx(0.22, abs=5e-5)
    assert theta == pytest.approx(-0.47898, abs=1e-3)
    assert [x, y] == pytest.approx([0.1 - 0.1 * c + 0.1 * s, 0.1 * c + 0.1 * s], abs=5e-5)
    assert result["residual"]["penetration"] <= 1e-6 and result["fallbacks"]["substep"] > 0
    sliding = perp.json("run", scene("pivot"), "--set", "contacts.friction=0.6")
    assert sliding["final"]["q"]["box"] == pytest.approx([0.05, 0.1, 0], abs=1e-9)


def test_three_finger_grasp(perp):
    result = perp.json("run", scene("three-finger-grasp"))
    check_law(result)
    assert result["final"]["q"]["ball"] == pytest.approx([0, 0, 0.1, 1, 0, 0, 0], abs=1e-9)
    assert [c["a"] for c in result["contacts"]] == ["finger1", "finger2", "finger3"]
    for contact in result["contacts"]:
        assert contact["mode"] == "stick" and contact["fn"] == pytest.approx(4, abs=1e-6)
        assert contact["force_on_b"][2] == pytest.approx(5 / 3, abs=1e-6)
    weak = perp.json("run", scene("three-finger-grasp"), "--set", "contacts.friction=0.35", "--steps", 11)
    assert weak["final"]["q"]["ball"][2] == pytest.approx(0.05, abs=1e-9)
    assert weak["contacts"][0]["a"] == "table" and weak["contacts"][0]["fn"] == pytest.approx(0.8, abs=1e-6)


def test_maximum_work(perp):
    for angle, ray in ((10, 0), (30, 45)):
        belt = math.radians(angle)
        rates = ["--set", f"bodies.belt.driven.x.rate={math.cos(belt)!r}",
                 "--set", f"bodies.belt.driven.y.rate={math.sin(belt)!r}"]
        for model, way in (("qs-lcp", math.radians(ray)), ("qs-ncp", belt)):
            result = perp.json("run", scene("maximum-work"), "--model", model, *rates)
            check_law(result)
            assert result["contacts"][0]["ft"] == pytest.approx([5 * math.cos(way), 5 * math.sin(way)], abs=1e-6)


def test_graze_then_lift(perp):
    result = perp.json("run", scene("graze-then-lift"))
    check_law(result)
    assert result["final"]["q"]["sphere"] == pytest.approx([0, 0.1, 0], abs=1e-9)
    assert [c["fn"] for c in result["contacts"]] == pytest.approx([10, 0, 0], abs=1e-6)
    result = perp.json("run", scene("graze-then-lift"), "--model", "qs-lcp")
    assert result["final"]["q"]["sphere"] == pytest.approx([0, 0.1, 0], abs=1e-9)
    assert [c["fn"] for c in result["contacts"]] == pytest.approx([10, 0, 0], abs=1e-6)
    position = [word for joint in ("lift", "left", "right") for word in ("--set", f"joints.{joint}.control=position")]
    result = perp.json("run", scene("graze-then-lift"), "--model", "instant-qs", *position)
    stays, = result["solutions"]
    assert result["solutions_complete"] is True
    assert stays["velocity"]["sphere"] == pytest.approx([0, 0, 0], abs=1e-9)
    assert sorted(v["sphere"][1] for v in stays["vertices"]) == pytest.approx([0, 0.1], abs=1e-9) and stays["rays"] == []
    assert [c["fn_range"] for c in stays["contacts"]] == [pytest.approx([0, 10], abs=1e-6)] * 3
