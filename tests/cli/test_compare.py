"""`perp compare`: sizes of differences against closed forms and the published tables, causes against what the scenes were
made to show, times and modes against the CSV files of single runs."""
import csv
import math
import re

import pytest

from conftest import ROOT, SANITIZED

EXAMPLES = ROOT / "examples"
FENCE, GRIPPER = EXAMPLES / "fence-particle/scene.yaml", EXAMPLES / "gripper-2d/scene.yaml"
G = 9.81


def only(comparison):
    assert len(comparison["differences"]) == 1
    return comparison["differences"][0]


def removing(difference, assumption):
    """The tests of one assumption: what was changed, and what was left."""
    return {test["removed"]: test["left"] for test in difference["tests"] if test["assumption"] == assumption}


# ---- pairs with known causes -------------------------------------------------------------------------------------------


def test_three_cones(perp):
    """dy/dx is 0.5 on the round cone, 1 on four rays, 0 on the box; on n rays the motion is normal to the edge that the
    fence's force, at atan 0.5, lies on: of 32 the one at 2.5 turns of 11.25 degrees."""
    comparison = perp.json("compare", FENCE, "--models", "qs-ncp,qs-lcp,qs-lp")
    way = 0.2999998732  # of the particle along x
    assert [run["model"] for run in comparison["runs"]] == ["qs-ncp", "qs-lcp", "qs-lp"]
    assert [run["cone"] for run in comparison["runs"]] == ["quadratic", "rays", "box"]
    assert [(d["a"], d["b"]) for d in comparison["differences"]] == [(0, 1), (0, 2), (1, 2)]
    for d, size, left in zip(comparison["differences"], (0.5, 0.5, 1.0),
                             (math.tan(math.radians(28.125)) - 0.5, 0.0, math.tan(math.radians(28.125)) - 0.5)):
        assert d["quantity"] == "particle.y" and abs(d["largest"] - size * way) < 1e-9
        assert d["t"] == 1.57 and d["first"] is None
        assert d["assumption"] == "cone"
        (ratio,) = removing(d, "cone").values()
        assert abs(ratio - left / size) < 1e-7
        assert f"{ratio:.3g} of the difference is left" in d["cause"]
        (refined,) = removing(d, "step-size").values()
        assert abs(refined - 1.0) < 1e-3
    finals = [run["final"]["q"]["particle"][1] for run in comparison["runs"]]
    assert [round(y, 9) for y in finals] == [0.149999937, 0.299999873, 0.0]


@pytest.mark.parametrize("swapped", [False, True])
def test_boundary_layer(perp, swapped):
    """The layer of the sliding grasp grows by two thirds of what is missing a step, to mu h v = 1 mm."""
    models = "qs-qp,qs-impedance-lcp" if swapped else "qs-impedance-lcp,qs-qp"
    comparison = perp.json("compare", GRIPPER, "--models", models)
    d = only(comparison)
    assert abs(d["largest"] - 1e-3 * (1 - 3**-11)) < 1e-12 and d["t"] == 0.24
    assert d["quantity"] in ("lift", "left", "right")
    assert d["first"]["t"] == 0.25
    assert d["first"]["contact"] == "left_finger sphere s0.e1-s0.c0"
    assert d["first"]["modes"] == (["slide", "limit"] if swapped else ["limit", "slide"])
    assert d["assumption"] == "boundary-layer"
    (left,) = removing(d, "boundary-layer").values()
    assert abs(left - 1 / 8 / (1 - 3**-11)) < 1e-6
    assert list(removing(d, "boundary-layer")) == ["h = 0.00125 s in qs-qp"]
    assert abs(removing(d, "step-size")["h = 0.00125 s in qs-impedance-lcp"] - 1) < 1e-6


def test_forces_in_place_of_positions(perp):
    d = only(perp.json("compare", GRIPPER, "--models", "qs-impedance-lcp,qs-qp", "--of", "contact.left_finger sphere.fn",
                       "--of", "v:lift"))
    assert d["quantity"] == "contact.left_finger sphere.fn" and d["t"] == 0.24
    assert abs(d["largest"] - (1 - 3**-11)) < 1e-9  # 10 against 10.999994 N


def test_convex_friction_moves_the_box_early(perp):
    """Published for the grazing ball: (0.003333333, 0.046666667, 0.003333333) at step 5; without the layer nothing has
    moved but the ball's command, (0, 0.05, 0)."""
    d = only(perp.json("compare", EXAMPLES / "grazing/scene.yaml", "--models", "qs-lcp,quasidynamic", "--steps", "5"))
    assert abs(d["largest"] - 0.1 / 30) < 1e-9 and d["t"] == 0.5
    assert d["first"]["t"] == 0.5 and d["first"]["contact"].startswith("box ball")
    assert d["first"]["modes"] == ["open", "slide"]
    assert d["assumption"] == "boundary-layer"


def test_inertia(perp):
    """In scaled time the particle leaves the fence when 0.4 eps^2 sin t is more than mu g / sqrt(1 + mu^2)."""
    leaves = math.asin(0.5 * G / math.sqrt(1.25) / (0.4 * 16))
    d = only(perp.json("compare", FENCE, "--models", "qs-ncp,dyn-ncp", "--set", "run.time_scale=4", "--until", "5"))
    assert d["quantity"] == "particle.x" and abs(d["largest"] - (0.9288568331 - 0.8999998732)) < 1e-9
    assert leaves < d["first"]["t"] < leaves + 0.02
    assert d["first"]["contact"].startswith("fence particle") and d["first"]["modes"] == ["slide", "open"]
    assert d["assumption"] == "inertia"
    assert list(removing(d, "inertia")) == ["1/10000 of the inertia in dyn-ncp",
                                            "1/10000 of the inertia, every step from rest in dyn-ncp"]
    for left in removing(d, "inertia").values():
        assert left < 1e-6  # a ten thousandth of eps^2 = 16 is far below what makes it leave


ROLLING = """perp: 1
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  ball: {mass: 0.5, pose: {position: [0, 0, 0.05]}, velocity: {linear: [0.2, 0, 0], angular: [0, 4, 0]}, shapes: [{sphere: 0.05}]}
contacts: {friction: 0.5}
run: {model: dyn-ncp, h: 0.01, until: 0.2}
"""


def test_momentum(perp):
    """A ball that rolls goes on rolling, however light: by 0.2 m/s in 0.2 s. Without inertia there is no velocity to begin with."""
    d = only(perp.json("compare", perp.write("scene.yaml", ROLLING), "--models", "qs-ncp,dyn-ncp", "--of", "ball.x"))
    assert abs(d["largest"] - 0.04) < 1e-9 and d["t"] == pytest.approx(0.2)
    assert d["assumption"] == "inertia"
    assert removing(d, "inertia") == {
        "1/10000 of the inertia in dyn-ncp": pytest.approx(1, abs=1e-6),
        "1/10000 of the inertia, every step from rest in dyn-ncp": pytest.approx(0, abs=1e-6)}


RESTING = """perp: 1
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  ball: {mass: 0.5, pose: {position: [0, 0, 0.05]}, shapes: [{sphere: 0.05}]}
compliance: {stiffness: 1.0e4, damping: 200, gamma: 0}
run: {model: dyn-ncp, h: 0.01, until: 1}
"""


def test_compliance(perp):
    """A ball sinks in by m g / K; contacts a hundred times as stiff leave a hundredth of it."""
    d = only(perp.json("compare", perp.write("scene.yaml", RESTING), "--models", "dyn-ncp,compliant"))
    assert d["quantity"] == "ball.z" and abs(d["largest"] - 0.5 * G / 1e4) < 1e-9
    assert d["assumption"] == "compliance"
    (left,) = removing(d, "compliance").values()
    assert abs(left - 0.01) < 1e-4
    assert "contacts 100 times as stiff in compliant" in d["cause"]


def test_choice_among_answers(perp):
    """The wedged disc may stay, squeezed as hard as one likes, or fall: by g h^2 n (n + 1) / 2 in n steps."""
    scene = EXAMPLES / "wedged-disc/scene.yaml"
    d = only(perp.json("compare", scene, "--models", "qs-ncp,dyn-ncp", "--h", "0.01", "--steps", "10"))
    assert d["quantity"] == "disc.y" and d["t"] == 0.1
    assert abs(d["largest"] - G * 1e-4 * 55) < 1e-12
    assert d["first"] == {"t": 0.01, "contact": "left disc s0.u0-s0.c0", "modes": ["limit", "open"]}
    assert d["assumption"] == "choice"
    assert d["choice"]["is_answer"] and d["choice"]["t"] == 0.01 and d["choice"]["residual"] < 1e-12
    assert "more than one answer on dyn-ncp; the motion that qs-ncp takes there meets its law too" in d["cause"]


def test_no_choice_below_the_friction_that_wedges(perp):
    """With mu = 0.3 < tan 20 nothing holds the disc, and no quasistatic step exists: a row with its status."""
    comparison = perp.json("compare", EXAMPLES / "wedged-disc/scene.yaml", "--models", "qs-ncp,dyn-ncp", "--h", "0.01",
                           "--steps", "10", "--set", "contacts.friction=0.3")
    assert [run["status"] for run in comparison["runs"]] == ["error", "ok"]
    assert comparison["runs"][0]["error"]["code"] in ("no-equilibrium", "unsupported-body")
    d = only(comparison)
    assert d["until"] == 0 and d["largest"] == 0 and d["assumption"] == "unknown"


SPRING = """perp: 1
gravity: [0, 0, -10]
bodies:
  hook: {mass: 2}
joints:
  lift: {type: prismatic, parent: world, child: hook, axis: [0, 0, 1], control: impedance, stiffness: 1000, command: {rate: 0.1}}
run: {model: qs-ncp, h: 0.01, steps: 5}
"""


def test_impedance_taken_for_position(perp):
    """A weight on a spring hangs m g / K lower."""
    comparison = perp.json("compare", perp.write("scene.yaml", SPRING), "--models", "qs-impedance-lcp,qs-ncp")
    d = only(comparison)
    assert d["quantity"] == "lift" and abs(d["largest"] - 0.02) < 1e-12
    assert d["assumption"] == "impedance"
    assert removing(d, "impedance") == {"joints under position control in both": pytest.approx(0, abs=1e-9)}


FALL = """perp: 1
planar: true
bodies:
  ball: {mass: 1, inertia: 1}
run: {model: dyn-ncp, h: 0.01, until: 0.5}
"""


@pytest.mark.parametrize("finer", ["0.005", "0.004"])
def test_step_size(perp, finer):
    """Free fall by steps of h is g t (t + h) / 2 at every step; between two steps it is the line through them."""
    d = only(perp.json("compare", perp.write("scene.yaml", FALL), "--h", f"0.01,{finer}"))

    def fallen(t, h):
        k = math.floor(t / h + 1e-9)
        ends = [G * s * h * (s * h + h) / 2 for s in (k, k + 1)]
        return ends[0] + (t / h - k) * (ends[1] - ends[0])

    steps = [0.01 * k for k in range(51)]
    differences = [fallen(t, 0.01) - fallen(t, float(finer)) for t in steps]
    assert d["quantity"] == "ball.y" and abs(d["largest"] - max(differences)) < 1e-12
    assert d["t"] == pytest.approx(steps[differences.index(max(differences))])
    assert d["assumption"] == "step-size"
    (left,) = removing(d, "step-size").values()
    assert abs(left - 1 / 8) < (1e-9 if finer == "0.005" else 0.01)


def test_what_is_small_beside_the_motion(perp):
    """Thrown up at 1000 m/s: 2.5e-5 of the way is a difference, 2.5e-7 of it is none."""
    scene = perp.write("scene.yaml", FALL.replace("inertia: 1", "inertia: 1, velocity: {linear: [0, 1000]}"))
    assert only(perp.json("compare", scene, "--h", "0.01,0.005"))["assumption"] == "step-size"
    still = perp.write("still.yaml", FALL.replace("inertia: 1", "inertia: 1, velocity: {linear: [0, 1.0e5]}"))
    assert only(perp.json("compare", still, "--h", "0.01,0.005"))["assumption"] == "none"


SLIDER = SPRING.replace("hook: {mass: 2}", "hook: {mass: 0.001}").replace("stiffness: 1000", "stiffness: 1000, armature: 10")


def test_inertia_of_a_joint(perp):
    """A spring drags 10 kg of armature along, which follows late."""
    d = only(perp.json("compare", perp.write("scene.yaml", SLIDER), "--models", "qs-impedance-lcp,dyn-ncp", "--steps", "20"))
    assert d["quantity"] == "lift" and d["largest"] > 1e-3 and d["assumption"] == "inertia"
    assert max(removing(d, "inertia").values()) < 0.01


def test_a_longer_step_is_no_layer(perp):
    """In free fall `dyn-qp` has no layer; its step alone is why, though shorter steps take layers away too."""
    d = only(perp.json("compare", perp.write("slow.yaml", FALL.replace("dyn-ncp", "dyn-qp")), "--models", "dyn-qp,dyn-ncp",
                       "--h", "0.02"))
    assert d["assumption"] == "none"
    pairs = perp.json("compare", perp.write("scene.yaml", FALL), "--models", "dyn-qp,dyn-ncp", "--h", "0.02,0.005")
    d = next(d for d in pairs["differences"] if (d["a"], d["b"]) == (0, 3))  # dyn-qp 0.02, dyn-ncp 0.005
    assert d["assumption"] == "step-size"
    shorter, other = removing(d, "boundary-layer").items()
    assert shorter == ("h = 0.0025 s in dyn-qp", pytest.approx(1 / 6, abs=1e-9))
    assert other == ("dyn-lcp in place of dyn-qp", pytest.approx(1))


def test_smoothing(perp):
    """Published for the smoothed pusher: 0.0004963 instead of 0.1 m, where it would just touch."""
    scene = EXAMPLES / "pusher-1d/scene.yaml"
    d = only(perp.json("compare", scene, "--models", "qs-qp,quasidynamic", "--set", "run.smoothing=0.01",
                       "--set", "joints.push.command.values.1=0.1"))
    assert d["quantity"] == "push" and abs(d["largest"] - (0.1 - 0.0004963)) < 1e-7
    assert d["assumption"] == "smoothing"
    assert removing(d, "smoothing") == {"no smoothing of friction in quasidynamic": pytest.approx(0, abs=1e-9)}


def test_no_assumption_explains_it(perp):
    comparison = perp.json("compare", GRIPPER, "--models", "qs-qp,kinematic")
    d = only(comparison)
    assert d["assumption"] == "unknown" and d["cause"].startswith("not found: no assumption that was removed explains")
    for test in d["tests"]:
        assert test["left"] is None or test["left"] > 0.25
        assert test["removed"] in d["cause"]


def test_without_tests_nothing_is_claimed(perp):
    comparison = perp.json("compare", FENCE, "--models", "qs-ncp,qs-lcp", "--tests", "0")
    assert comparison["test_runs"] == 0
    assert only(comparison)["assumption"] == "unknown" and only(comparison)["tests"] == []
    few = perp.json("compare", FENCE, "--models", "qs-ncp,qs-lcp", "--tests", "1")
    assert few["test_runs"] == 1 and only(few)["assumption"] == "cone"
    assert [t["status"] for t in only(few)["tests"]].count("capacity") == 1


def test_runs_that_agree(perp):
    d = only(perp.json("compare", FENCE, "--models", "qs-ncp,dyn-ncp", "--until", "2"))
    assert d["assumption"] == "none" and d["largest"] < 1e-9 and d["first"] is None


# ---- times and modes, against the files of single runs -----------------------------------------------------------------

TUMBLING = """perp: 1
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  box:
    mass: 0.5
    pose: {position: [0, 0, 0.3], rpy: [0.4, 0.3, 0.1]}
    velocity: {linear: [0.6, 0.2, 0], angular: [7, -5, 9]}
    shapes: [{box: [0.2, 0.15, 0.1]}]
contacts: {friction: 0.4}
compliance: {stiffness: 2.0e4, damping: 20}
run: {model: dyn-ncp, h: 0.01, until: 0.8}
"""


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def state_at(rows, names, h, t):
    """On the line between two steps; rotations by their shorter way, at length 1."""
    k = math.floor(t / h + 1e-6)
    part = t / h - k
    low = [float(rows[k][name]) for name in names]
    if part < 1e-6:
        return low
    high = [float(rows[k + 1][name]) for name in names]
    if len(names) == 4 and sum(a * b for a, b in zip(low, high)) < 0:
        high = [-value for value in high]
    between = [a + part * (b - a) for a, b in zip(low, high)]
    length = math.sqrt(sum(v * v for v in between)) if len(names) == 4 else 1.0
    return [v / length for v in between]


def modes_at(rows, h, t):
    """Of the step that t lies in."""
    step = math.ceil(t / h - 1e-6)
    return {(r["a"], r["b"], r["feature"]): r["mode"] for r in rows if int(r["step"]) == step and r["mode"] != "open"}


@pytest.mark.parametrize("models, steps", [("dyn-ncp,dyn-qp", "0.01"), ("dyn-ncp,compliant", "0.004"),
                                           ("dyn-lcp", "0.01,0.0037"), ("dyn-ncp", "0.0031,0.008")])
def test_alignment_on_the_files_of_the_runs(perp, models, steps):
    scene = perp.write("scene.yaml", TUMBLING)
    comparison = perp.json("compare", scene, "--models", models, "--h", steps, "--tests", "0")
    d = only(comparison)
    runs = []
    for model in models.split(","):
        for h in steps.split(","):
            folder = f"{model}-{h}"
            perp("run", scene, "--model", model, "--h", h, "--csv", folder)
            runs.append((table(perp.folder / folder / "state.csv"), table(perp.folder / folder / "contacts.csv"), float(h)))
    (one, ones, h1), (two, twos, h2) = runs
    h = max(h1, h2)
    count = math.floor(min((len(one) - 1) * h1, (len(two) - 1) * h2) / h + 1e-6)
    differences, parted = [], None
    for k in range(count + 1):
        t = k * h
        for names in (["box.x", "box.y", "box.z"], ["box.qw", "box.qx", "box.qy", "box.qz"]):
            a, b = state_at(one, names, h1, t), state_at(two, names, h2, t)
            if len(names) == 4 and sum(p * q for p, q in zip(a, b)) < 0:
                b = [-value for value in b]
            for name, x, y in zip(names, a, b):
                differences.append((abs(x - y), name, t))
        if k > 0 and not parted:
            m1, m2 = modes_at(ones, h1, t), modes_at(twos, h2, t)
            apart = [c for c in {**m1, **m2} if m1.get(c, "open") != m2.get(c, "open")]
            if apart:
                first = min(apart)
                parted = (t, " ".join(first), [m1.get(first, "open"), m2.get(first, "open")])
    assert abs(d["until"] - count * h) < 1e-12
    largest = max(size for size, _, _ in differences)
    _, name, t = next(entry for entry in differences if entry[0] > largest * (1 - 1e-9))  # at rest it stays as large
    assert (d["quantity"], pytest.approx(d["t"])) == (name, t)
    assert abs(d["largest"] - largest) < 1e-12
    assert (d["first"]["contact"], d["first"]["modes"]) == parted[1:] and d["first"]["t"] == pytest.approx(parted[0])


def test_a_run_that_stops_is_compared_up_to_there(perp):
    comparison = perp.json("compare", GRIPPER, "--models", "qs-ncp,qs-qp", "--tests", "0")
    stopped, whole = comparison["runs"]
    assert (stopped["status"], stopped["steps"], stopped["final"]["t"]) == ("error", 3, 0.03)
    assert stopped["error"]["code"] == "infeasible-command" and whole["status"] == "ok"
    assert only(comparison)["until"] == 0.03
    words = perp("compare", GRIPPER, "--models", "qs-ncp,qs-qp", "--tests", "0").stdout
    assert "run 0 stopped: the commands force bodies into each other" in words and "infeasible-command" in words


def test_runs_are_those_of_perp_run(perp):
    comparison = perp.json("compare", GRIPPER, "--models", "qs-qp,qs-cone", "--h", "0.01,0.005", "--tests", "0",
                           "--until", "0.2")
    wanted = [(m, h) for m in ("qs-qp", "qs-cone") for h in (0.01, 0.005)]
    assert [(run["model"], run["h"]) for run in comparison["runs"]] == wanted
    for run, (model, h) in zip(comparison["runs"], wanted):
        alone = perp.json("run", GRIPPER, "--model", model, "--h", h, "--until", "0.2")
        assert (run["hash"], run["final"], run["events"]) == (alone["hash"], alone["final"], alone["events"])


def test_any_number_of_threads_gives_the_same(perp):
    texts = {perp("compare", GRIPPER, "--models", "qs-impedance-lcp,qs-qp,dyn-ncp", "--h", "0.01,0.005", "--json",
                  "--jobs", jobs).stdout for jobs in (1, 2, 5)}
    assert len(texts) == 1


# ---- pictures and words ------------------------------------------------------------------------------------------------


def test_picture(perp):
    perp("compare", FENCE, "--models", "qs-ncp,qs-lcp,qs-lp", "--until", "2", "--tests", "0", "-o", "out.svg")
    text = (perp.folder / "out.svg").read_text()
    lines = re.findall(r'<polyline[^>]* points="([^"]*)"', text)
    assert len(lines) == 3 and "particle.y" in text and "qs-lcp, h = 0.01 s" in text
    ends = [float(line.split()[-1].split(",")[1]) for line in lines]  # px, downwards
    starts = [float(line.split()[0].split(",")[1]) for line in lines]
    assert max(starts) - min(starts) < 0.02 and abs(ends[2] - starts[2]) < 0.02
    assert abs((ends[2] - ends[0]) / (ends[2] - ends[1]) - 0.5) < 0.01


def test_replay_side_by_side(perp):
    done = perp("compare", GRIPPER, "--models", "qs-impedance-lcp,qs-qp", "--tests", "0", "--html", "out.html", code=None)
    if done.returncode == 1:
        pytest.skip("this build has no page")
    assert done.returncode == 0, done.stderr
    page = (perp.folder / "out.html").read_text()
    assert "qs-impedance-lcp" in page and "qs-qp" in page


def test_words(perp):
    words = perp("compare", GRIPPER, "--models", "qs-impedance-lcp,qs-qp").stdout
    assert "largest difference: 0.000999994 in lift, first at t = 0.24 s" in words
    assert "modes part at t = 0.25 s: left_finger sphere s0.e1-s0.c0, limit against slide" in words
    assert "cause: the boundary layer of convex friction, in which alone the two differ: with h = 0.00125 s in qs-qp " \
           "0.125 of the difference is left (0.000125 of 0.001)\n" in words
    assert re.search(r"^    boundary-layer +h = 0.00125 s in qs-qp +0.125$", words, re.MULTILINE)
    assert re.search(r"^    step-size +h = 0.00125 s in qs-impedance-lcp +1$", words, re.MULTILINE)
    assert re.search(r"^    choice +the step to t = 0.14 s solved again +the other motion is no answer, off by 0.00", words,
                     re.MULTILINE)


@pytest.mark.parametrize("arguments, code, message", [
    (["--models", "qs-lcq,qs-ncp"], 2, "did you mean `qs-lcp`"),
    (["--models", "qs-ncp"], 2, "two runs are needed"),
    (["--models", "qs-ncp,"], 2, "--models is a list"),
    (["--models", "qs-ncp,qs-lcp", "--h", "0.01,zero"], 2, "--h is a list of positive numbers"),
    (["--models", "qs-ncp,qs-lcp", "--h", "0.01,-1"], 2, "--h is a list of positive numbers"),
    (["--models", "qs-ncp,qs-lcp", "--tests", "few"], 2, "--tests is a number"),
    (["--models", "qs-ncp,qs-lcp", "--until", "1", "--steps", "2"], 2, "not both"),
    (["--models", "qs-ncp,qs-ncp"], 3, "is asked for twice"),
    (["--models", "qs-ncp,instant"], 3, "takes no steps that could be compared"),
    (["--models", "qs-ncp,qs-lcp", "--of", "partikle.x"], 3, "did you mean `particle.x`"),
    (["--models", "qs-ncp,qs-lcp", "--of", "particle.x@max"], 3, "has one value a run"),
    (["--models", "qs-ncp,qs-lcp", "--of", "status"], 3, "has one value a run"),
    (["--models", "qs-ncp,qs-lcp", "--set", "contacts.frictoin=1"], 3, "did you mean `friction`"),
    (["--model", "qs-ncp"], 2, "did you mean `--models`"),
])
def test_refusals(perp, arguments, code, message):
    assert message in perp("compare", FENCE, *arguments, code=code).stderr


def test_refusal_as_json(perp):
    refused = perp.json("compare", FENCE, "--models", "qs-ncp,qs-lcp", "--of", "nothing.x", code=3)
    assert refused["status"] == "error" and refused["error"]["code"] == "bad-input"
