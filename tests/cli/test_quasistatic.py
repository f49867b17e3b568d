"""What every quasistatic rung owes its user, whatever its friction cone."""
import math
import re

import pytest

from conftest import ROOT

RUNGS = ["qs-lcp", "qs-ncp", "qs-opt", "qs-lp", "qs-qp", "qs-cone", "quasidynamic"]
WITHOUT_INERTIA = RUNGS[:-1]

SLOPE = """
perp: 1
gravity: [1, 2, -9]
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  part: {mass: 2, pose: {position: [0, 0, 0.05]}, shapes: [SHAPE]}
contacts: {friction: 0.2}
run: {model: qs-lcp, h: 0.01, steps: 3}
"""


@pytest.mark.parametrize("rung", RUNGS)
def test_motion_does_not_depend_on_the_margin(perp, rung):
    """The fence moves 4 cm along x and 10 cm along y in a step, and the convex rungs keep gaps of 5 cm while it slides:
    far beyond a margin of 1 cm. That says what is listed, not what a step sees: both runs solve the same problems, up to
    contacts that take no part, so positions agree to the solver's 1e-9, and nothing is passed through."""
    scene = str(ROOT / "examples/fence-particle/scene.yaml")

    def run(margin):
        return perp.json("run", scene, "--model", rung, "--h", "0.1", "--steps", "15", "--set", f"contacts.margin={margin}")

    near, far = run(0.01), run(1)
    assert near["final"]["q"]["particle"] == pytest.approx(far["final"]["q"]["particle"], abs=1e-9)
    assert near["residual"]["penetration"] < 1e-9 and far["residual"]["penetration"] < 1e-9
    assert all(c["phi"] <= 0.01 or c["fn"] > 0 for c in near["contacts"])
    assert {(c["a"], c["b"]): c["fn"] for c in near["contacts"] if c["mode"] != "open"} == pytest.approx(
        {(c["a"], c["b"]): c["fn"] for c in far["contacts"] if c["mode"] != "open"}, abs=1e-6)


@pytest.mark.parametrize("shape", ["box: [0.2, 0.1, 0.1]", "sphere: 0.05"])
@pytest.mark.parametrize("rung", WITHOUT_INERTIA)
def test_an_unsupported_body_goes_the_way_of_the_force(perp, rung, shape):
    """Pulled sideways by more than friction holds, a part slides along the pull, whatever the cone is."""
    result = perp.json("run", perp.write("s.yaml", SLOPE.replace("SHAPE", "{" + shape + "}")), "--model", rung, code=1)
    evidence = result["error"]["evidence"]
    assert result["error"]["code"] == "unsupported-body" and evidence["body"] == "part"
    assert evidence["direction"] == pytest.approx([1 / math.sqrt(5), 2 / math.sqrt(5), 0], abs=1e-9)
    rungs = {line.split()[0] for line in perp("models").stdout.splitlines()}
    named = re.search(r"can carry it \(([^)]*)\)", result["error"]["message"]).group(1).split(", ")
    assert len(named) >= 2 and set(named) <= rungs
    assert all(perp.json("run", "s.yaml", "--model", name, "--steps", 5)["status"] == "ok" for name in named)


def test_a_body_above_the_ground_is_unsupported(perp):
    """Nothing is looked farther for: what lies half a metre below does not support."""
    scene = SLOPE.replace("SHAPE", "{sphere: 0.05}").replace("[1, 2, -9]", "[0, 0, -9]").replace("0.05]}, sh", "0.55]}, sh")
    for rung in WITHOUT_INERTIA:
        result = perp.json("run", perp.write("s.yaml", scene), "--model", rung, code=1)
        assert result["error"]["code"] == "unsupported-body"
        assert result["error"]["evidence"]["direction"] == pytest.approx([0, 0, -1], abs=1e-9)


def pyramid(rows, friction):
    """Discs in a pyramid, and a plate that is pressed onto its top. Without friction the pyramid gives way; the lines
    between centres stand 30 degrees off the load, so with friction above tan 30 = 0.58 they carry any load."""
    r, rise = 0.05, 0.05 * math.sqrt(3)
    top = 2 * r + (rows - 1) * rise + 0.01
    discs = "\n".join(
        f"  d{k}{i}: {{mass: 1, pose: {{position: [{2 * r * (i - (rows - k - 1) / 2)!r}, {r + k * rise!r}]}}, "
        f"shapes: [{{disc: {r}}}]}}" for k in range(rows) for i in range(rows - k))
    return f"""
perp: 1
planar: true
bodies:
  floor: {{fixed: true, shapes: [{{halfplane: {{normal: [0, 1], offset: 0}}}}]}}
{discs}
  press: {{driven: {{y: {{offset: {top!r}, rate: -0.01}}}}, pose: {{position: [0, {top!r}]}}, shapes: [{{box: [0.1, 0.02]}}]}}
contacts: {{friction: {friction}, margin: 0.001}}
run: {{h: 0.01, steps: 1}}
"""


def test_a_wedge_is_told(perp):
    """What the plate presses on could slide apart, and a pyramid of four rows is found to; of six rows no method finds
    it, and the reason is told: forces that hold each other."""
    rung = "qs-lcp"
    small = perp.json("run", perp.write("s.yaml", pyramid(4, 1.5)), "--model", rung)
    assert small["steps"] == 1 and max(small["residual"][k] for k in ("balance", "complementarity", "cone")) <= 1e-8
    result = perp.json("run", perp.write("s.yaml", pyramid(6, 1.5)), "--model", rung, code=1)
    evidence = result["error"]["evidence"]
    assert result["error"]["code"] == "wedged" and evidence["contact"].startswith("d50 press")
    assert evidence["depth"] > 1e-6 and evidence["residual"] > 1e-8 and evidence["method"]
    assert "wedged" in result["error"]["message"]


def test_commands_do_not_pass_through_what_is_fixed(perp):
    """A contact between two commanded bodies is in no law: every rung refuses the step that would close it."""
    scene = """
perp: 1
gravity: [0, 0, 0]
bodies:
  wall: {fixed: true, shapes: [{plane: {normal: [1, 0, 0], offset: 0}}]}
  finger: {driven: {x: {offset: 0.06, rate: -0.1}}, pose: {position: [0.06, 0, 0]}, shapes: [{sphere: 0.05}]}
  part: {mass: 1, pose: {position: [0.2, 0, 0]}, shapes: [{sphere: 0.05}]}
run: {h: 0.03, steps: 9}
"""
    for rung in RUNGS:
        result = perp.json("run", perp.write("s.yaml", scene), "--model", rung, code=1)
        assert result["error"]["code"] == "infeasible-command" and result["steps"] == 3
        assert result["error"]["evidence"]["depth"] == pytest.approx(0.002, abs=1e-9)  # 0.01 - 4 x 0.003


def test_what_did_not_settle_is_shown(perp):
    """A tolerance that no double meets: qs-opt stops, and says between which normal forces its fixed point was last. They
    are those of the answer, to what the fixed point settles to (1e-9 F) at the tolerance that is usual."""
    scene = str(ROOT / "examples/fence-particle/scene.yaml")
    stopped = perp.json("run", scene, "--model", "qs-opt", "--set", "run.tolerance=1e-18", code=1)
    evidence, steps = stopped["error"]["evidence"], stopped["steps"]
    assert stopped["error"]["code"] == "not-converged" and evidence["residual"] > 1e-18
    taken = perp.json("run", scene, "--model", "qs-opt", "--steps", str(steps + 1))
    force = {f"{c['a']} {c['b']} {c['feature']}": c["fn"] for c in taken["contacts"]}
    assert evidence["forces"] == pytest.approx(2 * [force[evidence["contact"]]], abs=1e-7)
    assert force[evidence["contact"]] > 1
    assert f"in the step to t = {taken['final']['t']:g} s" in stopped["error"]["message"]  # its end, as events have it
