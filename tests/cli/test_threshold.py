"""perp analyze --threshold: where verdicts flip, beside closed forms."""
import json
import math
import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def flips(perp, scene, *options):
    found = perp.json("analyze", scene, "--threshold", *options)["threshold"]
    return {flip["verdict"]: flip for flip in found["flips"]}


def assert_flips(flip, at, below, above, within=1e-9):
    low, high = flip["at"]
    assert low < high <= low + within and abs(low - at) < within and abs(high - at) < within, (flip, at)
    assert (flip["below"], flip["above"]) == (below, above)


def test_friction_that_wedges_a_disc(perp):
    """The line through both contacts lies in both cones above tan 20 degrees."""
    found = flips(perp, EXAMPLES / "wedged-disc/scene.yaml", "mu", "--verdict", "closure")
    assert set(found) == {f"closure.disc.{key}" for key in ("force_closure", "equilibrium", "jammed", "wedged")}
    for flip in found.values():
        assert_flips(flip, math.tan(math.radians(20)), False, True, within=2e-9)


def test_painleve(perp):
    """At 60 degrees: 1 + 3 cos^2 - 3 mu sin cos = 0, nearer to which steps do not meet their law. All verdicts are looked
    at."""
    found = flips(perp, EXAMPLES / "painleve-rod/scene.yaml", "mu")
    c, s = math.cos(math.radians(60)), math.sin(math.radians(60))
    limit = (1 + 3 * c * c) / (3 * s * c)
    assert_flips(found["uniqueness.verdict"], limit, "unique", "not-unique", within=2e-8)
    assert_flips(found["rigidity.verdict"], limit, "no-contact", "invalid", within=2e-8)


@pytest.mark.parametrize("pairs", [{}, {"box floor": {"friction": 1.9}}])
def test_mu_is_the_friction_of_all_contacts(perp, pairs):
    """Shapes and pairs with friction of their own take the value too: a box on a slope of 0.3 rad holds from tan 0.3."""
    scene = {"perp": 1, "name": "box", "gravity": [9.81 * math.sin(0.3), 0, -9.81 * math.cos(0.3)], "bodies": {
        "floor": {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}, "friction": 0.1}]},
        "box": {"mass": 1, "shapes": [{"box": [0.2, 0.2, 0.2], "friction": 0.2}], "pose": {"position": [0, 0, 0.1]}}},
        "contacts": {"friction": 0.5, "pairs": pairs}, "run": {"model": "qs-ncp"}}
    found = flips(perp, perp.write("scene.yaml", json.dumps(scene)), "mu", "--verdict", "closure.box.equilibrium")
    assert_flips(found["closure.box.equilibrium"], math.tan(0.3), False, True, within=1e-7)


def test_any_path(perp):
    """A box on the floor is dragged by gravity along x: held up to mu g, in either direction."""
    scene = {"perp": 1, "name": "box", "gravity": [0, 0, -10], "bodies": {
        "floor": {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]},
        "box": {"mass": 1, "shapes": [{"box": [0.4, 0.4, 0.1]}], "pose": {"position": [0, 0, 0.05]}}},
        "contacts": {"friction": 0.5}, "run": {"model": "qs-ncp"}}
    found = perp.json("analyze", perp.write("scene.yaml", json.dumps(scene)), "--threshold", "gravity.0", "--range",
                      "-8,9", "--verdict", "closure.box.equilibrium")["threshold"]
    assert (found["of"], found["from"], found["to"]) == ("gravity.0", -8, 9)
    low, high = found["flips"]
    assert_flips(low, -5, False, True, within=1e-6)
    assert_flips(high, 5, True, False, within=1e-6)


def test_a_later_state_is_held_while_friction_changes(perp):
    """The peg of the example where it has jammed: its two contacts see each other in their cones from the larger of the
    two angles between a normal and the line through both."""
    scene = EXAMPLES / "peg-in-hole-2d/scene.yaml"
    q = perp.json("run", scene, "--set", "contacts.friction=1")["final"]["q"]
    x, y, c, s = q["x"][0], q["y"][0], math.cos(q["tilt"][0]), math.sin(q["tilt"][0])
    edge = (-0.021, 0.0)  # of the left wall, against the peg's left side
    corner = (x + 0.02 * c + 0.05 * s, y + 0.02 * s - 0.05 * c)  # of the peg, against the right wall
    assert corner[0] == pytest.approx(0.021, abs=1e-7)
    line = (corner[0] - edge[0], corner[1] - edge[1])
    needed = max(abs(n[0] * line[1] - n[1] * line[0]) / abs(n[0] * line[0] + n[1] * line[1]) for n in ((c, s), (1, 0)))
    found = flips(perp, scene, "mu", "--at", "1.5", "--set", "contacts.friction=1", "--verdict", "closure.peg")
    for key in ("jammed", "force_closure"):  # the run leaves gaps of 1e-7 m, over 0.04 m
        assert_flips(found[f"closure.peg.{key}"], needed, False, True, within=3e-6)


def test_words(perp):
    text = perp("analyze", EXAMPLES / "wedged-disc/scene.yaml", "--threshold", "mu", "--verdict", "closure.disc.jammed")
    last = text.stdout.strip().split("\n")[-2:]
    assert last[0] == "verdicts that flip at mu between 0 and 2:"
    assert last[1].split() == ["closure.disc.jammed", "0.36397023", "no", "below,", "yes", "above"]
    text = perp("analyze", EXAMPLES / "wedged-disc/scene.yaml", "--threshold", "mu", "--range", "0.4,0.5", "--verdict",
                "closure")
    assert text.stdout.strip().split("\n")[-1] == "  none"


@pytest.mark.parametrize("options,code,word", [
    (["--threshold", "gravity.1"], 2, "needs --range"),
    (["--threshold", "mu", "--range", "1"], 2, "FROM,TO"),
    (["--threshold", "mu", "--range", "1,0"], 2, "FROM,TO"),
    (["--range", "0,1"], 2, "--threshold"),
    (["--verdict", "closure"], 2, "--threshold"),
    (["--threshold", "mu", "--verdict", "closure.disk"], 3, "closure.disk"),
    (["--threshold", "bodies.disc.masss", "--range", "0.5,1"], 3, "mass"),
    (["--threshold", "bodies.disc.mass", "--range", "-1,1"], 3, "mass"),
])
def test_what_is_refused(perp, options, code, word):
    assert word in perp("analyze", EXAMPLES / "wedged-disc/scene.yaml", *options, code=code).stderr
    if code == 3:
        said = json.loads(perp("analyze", EXAMPLES / "wedged-disc/scene.yaml", *options, "--json", code=code).stdout)
        assert said["status"] == "error" and word in said["error"]["message"]
