"""What `why` says is true: a scene that is edited by a hair less than the amount does as before in that step, and one
that is edited by a hair more flips. The edits are those that a person would make: the friction of a pair, or two forces
that press the bodies together (squeeze) or shear them (sideways) from the step's begin on."""
import copy
import json
import math

import pytest
import yaml

from conftest import ROOT, SANITIZED

HAIR = 1e-6  # of the amount; the two ends of a flip are within 1e-7 of it
HOLDS = ("stick", "limit")


def cases(*all_of_them):
    return all_of_them[:1] if SANITIZED else all_of_them


def load(name, **edits):
    """An example's scene, with values set by path."""
    scene = yaml.safe_load((ROOT / "examples" / name / "scene.yaml").read_text())
    for path, value in edits.items():
        *keys, last = path.split("__")
        place = scene
        for key in keys:
            place = place.setdefault(key, {})
        place[last] = value
    return scene


def mode_after(perp, scene, steps, like):
    """The mode of a contact in the last step; "none" where the step has no answer."""
    done = perp("run", perp.write("edited.yaml", yaml.dump(scene, sort_keys=False)), "--steps", steps, "--json",
                code=None)
    result = json.loads(done.stdout)
    if done.returncode == 1 and result["steps"] == steps - 1:
        return "none"
    assert done.returncode == 0, done.stderr
    found = [c for c in result["contacts"] if all(c[k] == like[k] for k in ("a", "b", "feature"))]
    return found[0]["mode"] if found else "open"


def edit(scene, contact, kind, amount, start):
    scene = copy.deepcopy(scene)
    a, b = contact["a"], contact["b"]
    if kind == "friction":
        pairs = scene["contacts"].setdefault("pairs", {})
        key = f"{b} {a}" if f"{b} {a}" in pairs else f"{a} {b}"
        pairs.setdefault(key, {})["friction"] = amount
        return scene
    on_b = [-x for x in contact["normal"]] if kind == "squeeze" else contact["flip"]["along"]
    for body, point, sign in ((a, contact["flip"]["at_a"], -1), (b, contact["flip"]["at_b"], 1)):
        drive = [{"times": [start, start + 1e-9], "values": [0, sign * amount * x]} for x in on_b]
        scene.setdefault("forces", []).append({"body": body, "point": point, "force": drive})
    return scene


def check(perp, scene, steps, kinds):
    """Every flip of the last step's contacts, of the kinds given, holds on both sides. Returns how many there were."""
    path = perp.write("scene.yaml", yaml.dump(scene, sort_keys=False))
    result = perp.json("run", path, "--steps", steps, "--why")
    start = result["final"]["t"] - result["h"] + 1e-9  # rounding must not put it into the step before
    seen = {}
    for contact in result["contacts"]:
        for kind in kinds:
            if kind not in contact.get("flip", {}):
                continue
            before, after = contact["flip"][kind]
            hair = HAIR * max(abs(after), abs(before)) * (1 if after > before else -1)
            as_before = mode_after(perp, edit(scene, contact, kind, before - hair, start), steps, contact)
            flipped = mode_after(perp, edit(scene, contact, kind, after + hair, start), steps, contact)
            what = f"{contact['a']} {contact['b']} {kind} {before} {after}: {contact['why']}"
            assert (as_before in HOLDS) == (contact["mode"] in HOLDS), what
            assert as_before != "none", what
            assert (flipped in HOLDS) != (contact["mode"] in HOLDS), what
            assert abs(before - after) <= 1.1e-7 * max(before, after) + 1e-8, what
            seen.setdefault((contact["mode"], kind), []).append(0.5 * (before + after))
    return seen


ALL = ("friction", "squeeze", "sideways")


@pytest.mark.parametrize("model, stiffness, friction, mass", cases(
    ("qs-qp", 1000, 0.5, 1), ("qs-qp", 700, 0.35, 2.5), ("quasidynamic", 800, 0.4, 1), ("qs-cone", 1200, 0.6, 0.5)))
def test_gripper(perp, model, stiffness, friction, mass):
    """Led down, the fingers first stick and then slide; their springs press with 10 mm times the stiffness. With the lift
    spring led down by d it pulls with K d, which two fingers share: they hold while K d <= 2 mu fn. One finger alone that
    is to hold both: mu* fn = K d - mu fn, and squeezed by X: mu (fn + X) = K d - mu fn."""
    scene = load("gripper-2d", run__model=model, contacts__friction=friction, bodies__sphere__mass=mass)
    for joint in ("lift", "left", "right"):
        scene["joints"][joint]["stiffness"] = stiffness
    press, pull = 0.01 * stiffness, lambda step: stiffness * 0.002 * (step - 8)
    first = next(step for step in range(9, 30) if pull(step) > 2 * friction * press * (1 + 1e-9))
    seen = check(perp, scene, first, ALL)
    assert seen["slide", "friction"] == pytest.approx(2 * [pull(first) / press - friction], rel=1e-5)
    assert seen["slide", "squeeze"] == pytest.approx(2 * [(pull(first) - 2 * friction * press) / friction], rel=1e-5)
    held = check(perp, scene, first - 2, ALL)
    assert {("stick", "friction"), ("stick", "sideways")} <= set(held)
    later = check(perp, scene, first + 3, ("squeeze", "sideways"))
    assert len(later["slide", "squeeze"]) == 2


@pytest.mark.skipif(SANITIZED, reason="minutes, on paths that the others walk")
@pytest.mark.parametrize("model, height, mass, split", [
    ("qs-lcp", 0.12, 3, float("inf")), ("qs-ncp", 0.15, 1, 1e-6)])
def test_pivot(perp, model, height, mass, split):
    """A push at height y tips the box of half-width 0.1 m over its edge with m g 0.1 / y, which friction has to hold:
    the edge slips below mu* = 0.1 / y, and holds again from there on."""
    scene = load("pivot", run__model=model, contacts__friction=0.1 / height + 0.1, bodies__box__mass=mass,
                 run__substep_tolerance=split)
    scene["bodies"]["finger"]["pose"]["position"][1] = height
    seen = check(perp, scene, 1, ALL)
    assert seen["stick", "friction"] == pytest.approx([0.1 / height], rel=2e-2)  # the box has turned in the step
    assert ("stick", "sideways") in seen
    assert check(perp, scene, 6, ("squeeze", "sideways"))
    scene["contacts"]["friction"] = 0.1 / height - 0.05
    slid = check(perp, scene, 1, ALL)
    assert slid["slide", "friction"] == pytest.approx([0.1 / height], rel=2e-2)
    assert ("slide", "squeeze") in slid


@pytest.mark.skipif(SANITIZED, reason="minutes, on paths that the others walk")
@pytest.mark.parametrize("friction", [0.1, 0.3, 1])
def test_peg(perp, friction):
    """Made, a contact slides at once: nothing has slid before, so that friction may be edited too; afterwards the forces
    are. At 1 the peg jams."""
    scene = load("peg-in-hole-2d", contacts__friction=friction)
    events = perp.json("run", perp.write("scene.yaml", yaml.dump(scene, sort_keys=False)))["events"]
    made = round(min(e["t"] for e in events) / 0.01)
    assert check(perp, scene, made, ALL)
    assert len(check(perp, scene, 90, ("squeeze", "sideways"))) >= 1
    assert len(check(perp, scene, 150, ("squeeze", "sideways"))) >= 1


@pytest.mark.parametrize("model", cases("dyn-ncp", "dyn-lcp", "dyn-qp"))
def test_incline(perp, model):
    """Boxes on an incline of 30 degrees: one holds down to mu* = tan 30, one slides, one tips. With inertia too, forces that
    act in one step flip the mode in that step."""
    scene = load("box-incline", run__model=model)
    seen = check(perp, scene, 1, ALL)
    flips = [mu for mode in HOLDS for mu in seen.get((mode, "friction"), [])]
    assert any(mu == pytest.approx(math.tan(math.pi / 6), rel=1e-5) for mu in flips)
    assert seen["slide", "squeeze"]
    assert check(perp, scene, 30, ("squeeze", "sideways"))


def puck(**compliance):
    """A puck on a visco-elastic table that is pulled harder and harder, 10 N/s, where it touches."""
    return {"perp": 1, "contacts": {"friction": 0.3}, "bodies": {
        "table": {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1]}}]},
        "puck": {"mass": 0.2, "inertia": [1e-4, 1e-4, 2e-4], "pose": {"position": [0, 0, 0.02]},
                 "shapes": [{"ellipsoid": [0.05, 0.05, 0.02]}]}},
        "compliance": {"stiffness": 1e3, "damping": 5, "gamma": 0, **compliance},
        "forces": [{"body": "puck", "point": [0, 0, -0.02], "force": [{"rate": 10}, 0, 0]}],
        "run": {"model": "compliant", "h": 0.001, "steps": 100}}


@pytest.mark.parametrize("compliance", cases(
    {"elements": 4, "size": 0.06}, {"stiffness": 1e4, "damping": 50}, {"elements": 2, "size": 0.02, "gamma": 0.01}),
    ids=str)
def test_compliant(perp, compliance):
    """Where the patch sticks friction has to carry the pull: it slips below mu* = F / fn, with `gamma` where the wider cone
    does. In the first step in which all of it slips another mu would have held it, and before that nothing had slipped."""
    scene = puck(**compliance)
    result = perp.json("run", perp.write("scene.yaml", yaml.dump(scene, sort_keys=False)), "--steps", "40", "--why")
    fn, gamma = result["contacts"][0]["fn"], compliance.get("gamma", 0)  # of the patch; its elements share both
    cone = math.sqrt((0.3 * fn + gamma) ** 2 - gamma ** 2)
    used, limit = result["contacts"][0]["why"].split("sticking: ")[1].split(" N used")[0].split(" N of ")
    assert float(used) == pytest.approx(0.4, rel=2e-2)  # and what its elements are stretched by as the pull grows
    assert float(limit) == pytest.approx(cone, rel=1e-3)  # four figures
    held = check(perp, scene, 40, ALL)
    edge = math.sqrt(float(used) ** 2 + gamma ** 2) - gamma  # mu fn on the cone's edge
    assert held["stick", "friction"] == pytest.approx([edge / fn], rel=2e-3)
    assert ("stick", "sideways") in held
    events = perp.json("run", perp.write("scene.yaml", yaml.dump(scene, sort_keys=False)))["events"]
    slipped = round(next(e["t"] for e in events if e["to"] == "slide") / 0.001)
    slid = check(perp, scene, slipped, ALL)
    assert {("slide", "friction"), ("slide", "squeeze")} <= set(slid)
    assert check(perp, scene, slipped + 10, ("squeeze",))


def test_a_patch_that_turns_in_place(perp):
    """Its elements pull in circles: the forces cancel, and all of the friction is used."""
    scene = puck(elements=4, size=0.06)
    scene["bodies"]["puck"]["velocity"] = {"angular": [0, 0, 20]}
    scene["forces"] = []
    contact, = perp.json("run", perp.write("scene.yaml", yaml.dump(scene, sort_keys=False)), "--steps", "20", "--why")["contacts"]
    assert contact["mode"] == "slide" and math.hypot(*contact["ft"]) < 1e-9
    assert contact["why"].startswith("turning in place, 16 of 16 elements slip: ")
    used, limit = contact["why"].split(": ")[1].split(" N used")[0].split(" N of ")
    assert used == limit and float(limit) == pytest.approx(0.3 * contact["fn"], rel=1e-3)
    scene["compliance"]["elements"] = 5  # whose middle one cannot slip
    contact, = perp.json("run", perp.write("scene.yaml", yaml.dump(scene, sort_keys=False)), "--steps", "20", "--why")["contacts"]
    assert contact["mode"] == "slide" and contact["why"].startswith("turning in place, 24 of 25 elements slip: ")


def answer(perp, scene):
    """The contacts of the one answer about an instant, by name; None where there is none, or several."""
    result = perp.json("run", perp.write("edited.yaml", yaml.dump(scene, sort_keys=False)), "--why")
    return {(c["a"], c["b"], c["feature"]): c for c in result["solutions"][0]["contacts"]} if len(result["solutions"]) == 1 else None


@pytest.mark.parametrize("example, model, closed", cases(
    ("disc-incline", "instant", {("incline", "rolls"): math.tan(math.pi / 6) / 3, ("incline", "slips"): math.tan(math.pi / 6) / 3}),
    ("box-incline", "instant", {("incline", "rough"): math.tan(math.pi / 6), ("incline", "smooth"): math.tan(math.pi / 6)}),
    ("gripper-2d", "instant-qs", {})))
def test_instant(perp, example, model, closed):
    """At one instant: a disc rolls down 30 degrees without slip from mu = tan(30)/3 on, a box holds from tan 30 on. Friction and
    forces a hair short of what is said leave each contact inside its cone, or on its edge, as it was, and a hair beyond do not."""
    scene = load(example, run__model=model)
    inside = ("stick",) if model == "instant" else HOLDS
    scene.setdefault("contacts", {})
    seen = {}
    for name, contact in answer(perp, scene).items():
        assert contact["why"]
        for kind in ALL:
            if kind not in contact.get("flip", {}):
                continue
            before, after = contact["flip"][kind]
            hair = HAIR * max(abs(after), abs(before)) * (1 if after > before else -1)
            modes = []
            for amount in (before - hair, after + hair):
                edited = edit(scene, contact, kind, amount, 0)
                for force in edited.get("forces", [])[len(scene.get("forces", [])):]:  # it acts at the instant itself
                    force["force"] = [drive["values"][1] for drive in force["force"]]
                answered = answer(perp, edited)
                modes.append(answered[name]["mode"] if answered else "none")
            assert (modes[0] in inside) == (contact["mode"] in inside) != (modes[1] in inside), (name, kind, modes, contact["why"])
            seen.setdefault(name[:2], {}).setdefault(kind, []).append(0.5 * (before + after))
    for pair, friction in closed.items():
        assert any(mu == pytest.approx(friction, rel=1e-5) for mu in seen[pair]["friction"]), (pair, seen[pair])
    assert not closed or any("squeeze" in kinds for kinds in seen.values()) and any("sideways" in kinds for kinds in seen.values())


def test_instant_of_several_answers(perp):
    """Each has its words, and none says what would flip it; the log has the forces and words of the first."""
    result = perp.json("run", ROOT / "examples/painleve-rod/scene.yaml", "--why", "--log", "run.mcap")
    words = [[c["why"] for c in solution["contacts"]] for solution in result["solutions"]]
    assert len(words) == 2 and any(w.startswith("sliding at 1 m/s: ") for w in sum(words, []))
    assert not any("flip" in c for solution in result["solutions"] for c in solution["contacts"])
    step, = json.loads(perp("export", "run.mcap", "--json").stdout)["steps"]
    assert [w["why"] for w in step["why"]["contacts"]] == words[0]
    assert [c["fn"] for c in step["contacts"]["contacts"]] == [c["fn"] for c in result["solutions"][0]["contacts"]]
    assert "why\n" in perp("run", ROOT / "examples/painleve-rod/scene.yaml", "--why").stdout


def test_words(perp):
    """What the text prints, JSON and log have, at the step that it speaks of."""
    gripper = ROOT / "examples/gripper-2d/scene.yaml"
    out = perp("run", gripper, "--steps", "14", "--why").stdout
    assert "would hold if squeezed 4 N more, or with friction of at least 0.7 between left_finger and sphere" in out
    assert "why" not in perp("run", gripper, "--steps", "14").stdout
    result = perp.json("run", gripper, "--log", "run.mcap")
    steps = json.loads(perp("export", "run.mcap", "--json").stdout)["steps"]
    slipped = {e["t"]: e["contact"] for e in result["events"] if e["to"] == "slide"}
    told = []
    for step in steps[:-1]:
        for words in step.get("why", {"contacts": []})["contacts"]:
            contact = step["contacts"]["contacts"][words["contact"]]
            if words["why"].startswith("sliding"):
                told.append((step["state"]["t"], f"{contact['a']} {contact['b']} {contact['feature']}"))
    assert told and set(slipped.items()) <= set(told)
    for logged, said in zip(steps[-1]["why"]["contacts"], result["contacts"], strict=True):
        assert (logged["why"], logged.get("flip")) == (said["why"], said.get("flip"))
    assert "why" not in steps[0]


@pytest.mark.parametrize("stiffness, mass", [(1000, 1), (600, 2)])
def test_what_else_holds(perp, stiffness, mass):
    """On the ground and between two fingers: the fingers hold the sphere if the ground is slippery. No number is said of what
    no amount brings about."""
    scene = load("gripper-2d", bodies__sphere__mass=mass)
    for joint in ("lift", "left", "right"):
        scene["joints"][joint]["stiffness"] = stiffness
    result = perp.json("run", perp.write("scene.yaml", yaml.dump(scene, sort_keys=False)), "--steps", "14", "--why")
    ground, = (c["why"] for c in result["contacts"] if c["a"] == "ground")
    assert "would hold with no friction between ground and sphere: left_finger and right_finger hold it" in ground
    for example in ("peg-in-hole-2d", "three-finger-grasp", "cube-stack"):
        words = perp("run", ROOT / f"examples/{example}/scene.yaml", "--steps", "5", "--why").stdout
        assert "up to" not in words.split("\nwhy")[1]
        assert all(" between " in line.split("no friction")[1] for line in words.splitlines() if "no friction" in line)


def test_open_contact(perp):
    """A finger 6 mm away that comes at 0.2 m/s touches in 0.03 s."""
    result = perp.json("run", ROOT / "examples/gripper-2d/scene.yaml", "--steps", "1")
    why = {c["a"]: c["why"] for c in result["contacts"]}
    assert why["left_finger"] == "open: 0.004 m apart, closing at 0.2 m/s: would touch in 0.02 s at this rate"
    kinematic = perp.json("run", ROOT / "examples/gripper-2d/scene.yaml", "--model", "kinematic", "--steps", "1")
    assert all(c["why"].startswith("open: ") for c in kinematic["contacts"])


def test_a_run_that_stops_has_its_last_words_in_the_log(perp):
    """A block is pushed over the edge of a shelf. Its last step has a change of mode too, of which the log has words before
    it is known to be the last: those of all contacts take their place, also in a log that was taken up again and stops at
    the same step."""
    perp.write("edge.yaml", """perp: 1
planar: true
gravity: [0, -10]
bodies:
  shelf: {fixed: true, shapes: [{box: [1, 0.1], pose: {position: [0, -0.05]}}]}
  hand: {driven: {x: {rate: 0.5}}, pose: {position: [0.2, 0.05]}, shapes: [{box: [0.1, 0.08]}]}
  block: {mass: 1, pose: {position: [0.3, 0.05]}, shapes: [{box: [0.03, 0.1]}]}
contacts: {friction: 0.3}
run: {model: qs-qp, h: 0.01, steps: 200}
""")
    done = perp("run", "edge.yaml", "--json", "--why", "--log", "run.mcap", code=1)
    result = json.loads(done.stdout)
    assert result["error"]["code"] == "unsupported-body" and result["steps"] < 200
    assert result["events"][-1]["t"] == result["final"]["t"]
    for _ in range(2):
        last = json.loads(perp("export", "run.mcap", "--json").stdout)["steps"][-1]
        assert last["state"]["step"] == result["steps"]
        told = [(w["contact"], w["why"], w.get("flip")) for w in last["why"]["contacts"]]
        assert told == [(i, c["why"], c.get("flip")) for i, c in enumerate(result["contacts"])]
        assert "damaged" not in perp("run", "--resume", "run.mcap", "--quiet", code=1).stderr


def test_words_that_nobody_would_see_are_refused(perp):
    gripper = ROOT / "examples/gripper-2d/scene.yaml"
    assert "--why" in perp("run", gripper, "--why", "--quiet", code=2).stderr
    assert "--why" in perp("run", gripper, "--why", "--model", "geometric", code=2).stderr
    assert perp.json("run", gripper, "--steps", "14", "--why", "--quiet")["contacts"][0]["why"]


def test_resumed_run_says_the_same(perp):
    gripper = ROOT / "examples/gripper-2d/scene.yaml"
    whole = perp.json("run", gripper, "--steps", "14")
    perp("run", gripper, "--steps", "13", "--log", "run.mcap", "--quiet")
    assert perp.json("run", "--resume", "run.mcap", "--steps", "14")["contacts"] == whole["contacts"]
