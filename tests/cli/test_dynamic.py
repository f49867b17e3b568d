"""What the dynamic rungs owe their user on the command line."""
import math
import os

import pytest

from conftest import ROOT

RUNGS = ["dyn-lcp", "dyn-ncp", "dyn-qp"]

BALL = """
perp: 1
gravity: [0, 0, -9.8]
bodies:
  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  ball:
    mass: 0.2
    pose: {position: [0, 0, 0.05]}
    velocity: {linear: [1, 0.5, 0], angular: [40, -20, -10]}
    shapes: [{sphere: 0.05}]
contacts: {friction: 0.2}
run: {model: dyn-ncp, h: 0.01, steps: 100}
"""

BLOCK = """
perp: 1
gravity: [GX, 0, -9]
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  block: {mass: 2, pose: {position: [0, 0, 0.05]}, shapes: [{box: [0.2, 0.1, 0.1]}]}
contacts: {friction: 0.25}
run: {model: dyn-ncp, h: 0.01, steps: 50}
"""


def write(folder, text):
    path = folder / "scene.yaml"
    path.write_text(text)
    return str(path)


def test_masse_shot(perp, tmp_path):
    """The printed table, ten digits."""
    scene = write(tmp_path, BALL)
    quadratic = perp.json("run", scene)
    assert quadratic["final"]["q"]["ball"][:3] == pytest.approx([0.55907068353, -0.05116164558, 0.05], abs=1e-10)
    assert [(round(e["t"] / 0.01), e["from"], e["to"]) for e in quadratic["events"]] == [
        (1, "open", "slide"), (47, "slide", "stick")]
    box = perp.json("run", scene, "--set", "run.cone=box")
    assert box["final"]["q"]["ball"][:2] == pytest.approx([0.50902571429, -0.08767885714], abs=1e-10)
    contact, = quadratic["contacts"]
    assert contact["fn"] == pytest.approx(0.2 * 9.8, abs=1e-9)  # newtons, not newton seconds


@pytest.mark.parametrize("rung", RUNGS)
def test_block_on_a_slope(perp, tmp_path, rung):
    """Below the friction angle it stays; above it slides with g_x - mu g_z, in the discrete step v_k = k a h exactly. The
    convex rung lifts the block off by at most g h^2 on the way, in its first steps."""
    stays = perp.json("run", write(tmp_path, BLOCK.replace("GX", "2")), "--model", rung)
    assert stays["final"]["q"]["block"] == pytest.approx([0, 0, 0.05, 1, 0, 0, 0], abs=1e-10)
    assert {c["mode"] for c in stays["contacts"]} <= {"stick", "limit"}  # of all forces the least, some on their edge
    slides = perp.json("run", write(tmp_path, BLOCK.replace("GX", "4")), "--model", rung)
    a, h, k = 4 - 0.25 * 9, 0.01, 50
    if rung != "dyn-qp":
        assert slides["final"]["v"]["block"][0] == pytest.approx(a * h * k, abs=1e-9)
        assert slides["final"]["q"]["block"][0] == pytest.approx(a * h * h * k * (k + 1) / 2, abs=1e-9)
        assert {c["mode"] for c in slides["contacts"]} == {"slide"}
    else:
        assert slides["final"]["v"]["block"][0] == pytest.approx(a * h * k, rel=0.005)
        assert slides["residual"]["boundary_layer"] < math.hypot(4, 9) * h * h
    assert slides["residual"]["penetration"] < 1e-9


@pytest.mark.parametrize("rung", RUNGS)
def test_motion_does_not_depend_on_the_margin(perp, rung):
    """What is listed is for people; a step sees what its motion could meet."""
    scene = str(ROOT / "examples/fence-particle/scene.yaml")
    near, far = (perp.json("run", scene, "--model", rung, "--h", "0.1", "--steps", "15", "--set", f"contacts.margin={m}")
                 for m in (0.01, 1))
    assert near["final"]["q"]["particle"] == pytest.approx(far["final"]["q"]["particle"], abs=1e-9)
    assert near["residual"]["penetration"] < 1e-9


@pytest.mark.parametrize("rung", RUNGS)
def test_falls_onto_what_is_far_below(perp, tmp_path, rung):
    """Nothing is passed through at 20 m/s and 0.2 m a step, with a margin of 2 cm."""
    text = BALL.replace("[0, 0, 0.05]", "[0, 0, 20]").replace("[1, 0.5, 0]", "[0, 0, -1]").replace("0.01", "0.02")
    result = perp.json("run", write(tmp_path, text), "--model", rung, "--steps", "150")
    assert result["residual"]["penetration"] < 1e-9
    assert result["final"]["q"]["ball"][2] == pytest.approx(0.05, abs=2e-3)  # dyn-qp: its layer while the ball spins


def test_time_scale_is_for_dynamic_rungs(perp, tmp_path):
    scene = write(tmp_path, BALL)
    error = perp("run", scene, "--model", "qs-ncp", "--set", "run.time_scale=2", code=3).stderr
    assert "time_scale" in error and "has no inertia to scale" in error
    slow = perp.json("run", scene, "--set", "run.time_scale=2")
    # four times the inertia and the same forces: friction takes a quarter of the speed in a step
    expected = 1 - 2 * 0.2 * 9.8 * 0.01 * 100 / 4 / math.hypot(2, 2.5)
    assert slow["final"]["v"]["ball"][0] == pytest.approx(expected, abs=1e-9)


def test_no_inertia_is_said(perp, tmp_path):
    text = "perp: 1\nplanar: true\nbodies:\n  rod: {shapes: [{box: [1, 0.1]}]}\njoints:\n  hinge: {type: revolute, parent: world, child: rod}\n"
    error = perp("run", write(tmp_path, text), "--model", "dyn-lcp", "--steps", "3", code=3).stderr
    assert "hinge" in error and "armature" in error


@pytest.mark.parametrize("rung", RUNGS)
def test_overlap_at_the_start(perp, tmp_path, rung):
    result = perp.json("run", write(tmp_path, BALL.replace("0, 0.05]", "0, 0.04]")), "--model", rung, code=1)
    assert result["error"]["code"] == "penetrating-start"
    assert result["error"]["evidence"]["depth"] == pytest.approx(0.01)


@pytest.mark.parametrize("rung", ["dyn-lcp", "dyn-ncp"])
def test_stack_does_not_drift(perp, tmp_path, rung):
    """Ten cubes, a minute, a nanometre at most: nothing sleeps, the solution says that they rest."""
    cubes = "".join(f"  c{i}: {{mass: 1, pose: {{position: [0, 0, {0.05 + 0.1 * i:.2f}]}}, shapes: [{{box: [0.1, 0.1, 0.1]}}]}}\n"
                    for i in range(10))
    text = ("perp: 1\nbodies:\n  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n" + cubes
            + "contacts: {friction: 0.5}\nrun: {h: 0.01, tolerance: 1.0e-12}\n")
    steps = "6000" if os.environ.get("PERP_SANITIZE", "") in ("", "OFF") else "100"
    result = perp.json("run", write(tmp_path, text), "--model", rung, "--steps", steps)
    for i in range(10):
        assert result["final"]["q"][f"c{i}"] == pytest.approx([0, 0, 0.05 + 0.1 * i, 1, 0, 0, 0], abs=1e-9)
    assert result["fallbacks"] == {}


LIFTED = """
perp: 1
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  block: {mass: 2, pose: {position: [0, 0, 0.05]}, shapes: [{box: [0.2, 0.1, 0.1]}]}
forces:
  - {body: block, point: [0, 0, 0], force: [30, 0, 0]}
contacts: {friction: 0.5, margin: 0.01}
run: {model: dyn-qp, h: 0.02, steps: 10}
"""


def test_a_lift_that_shows_is_warned_of(perp, tmp_path):
    """Convex friction parts what begins to slide by mu h times its slip; from a tenth of the margin on the last lines say so."""
    scene = write(tmp_path, LIFTED)
    lines = perp("run", scene).stdout.splitlines()
    said, = [line for line in lines[-2:] if line.startswith("warning: ")]
    height = float(said.split(" rise by ")[1].split(" m,")[0])
    assert "convex friction lifts what slides: ground block s0.u0-s0.c" in said and "dyn-ncp" in said
    assert 1e-3 < height < 2 * 9.81 * 0.02 ** 2
    for quiet in (("--model", "dyn-ncp"), ("--h", "0.002"), ("--set", "contacts.margin=0.1"), ("--model", "quasidynamic", "--h", "0.002")):
        assert "warning" not in perp("run", scene, *quiet).stdout


@pytest.mark.parametrize("h", ("0.02", "0.005", "0.0004"))
def test_what_is_set_down_sliding_is_not_thrown_up(perp, tmp_path, h):
    """At mu |v| = 0.9 m/s it would rise by 41 mm, whatever h."""
    text = LIFTED.replace("0.05]}, shapes", "0.05]}, velocity: {linear: [0, 3, 0]}, shapes").replace("force: [30, 0, 0]", "force: [0, 0, 0]")
    text = text.replace("friction: 0.5", "friction: 0.3")
    done = perp("run", write(tmp_path, text), "--h", h, "--until", "0.4", "--csv", tmp_path / "csv")
    assert "warning" not in done.stdout
    lines = (tmp_path / "csv" / "state.csv").read_text().splitlines()
    z = lines[0].split(",").index("block.z")
    assert max(abs(float(line.split(",")[z]) - 0.05) for line in lines[1:]) < 1e-9


def test_what_fingers_hold_does_not_creep(perp):
    """A held cube slips by its turning at the begin of every step: where convex friction had room for that, it crept by 2e-5 m in 0.1 s."""
    scene = str(ROOT / "bench/scenes/arm-and-cubes-at-work.yaml")
    squeeze = ("--set", "joints.finger_left.command=0.015", "--set", "joints.finger_right.command=0.015")
    convex, rigid = (perp.json("run", scene, *squeeze, "--model", model, "--set", "run.cone=quadratic", "--h", "0.01", "--steps", "10")
                     for model in ("dyn-qp", "dyn-ncp"))
    assert convex["final"]["q"]["held"] == pytest.approx(rigid["final"]["q"]["held"], abs=1e-6)
