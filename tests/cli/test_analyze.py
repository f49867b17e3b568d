"""`perp analyze`: the JSON of the contracts, verdicts against closed forms and reference values that were computed
elsewhere, the words, and the exit codes."""
import json
import math
import re

import pytest

from conftest import ROOT

G = 9.81


def scene(name):
    return str(ROOT / "examples" / name / "scene.yaml")


def write(perp, name="scene.yaml", **parts):
    return perp.write(name, json.dumps({"perp": 1, **parts}))


def contact_of(result, words):
    """The range of forces of the contact whose name begins with these words."""
    found, = [f for f in result["uniqueness"]["forces"] if f["contact"].startswith(words)]
    return found


# ---- the format ------------------------------------------------------------------------------------------------------

UNIQUENESS = {"verdict", "margin", "printed_proposition", "motion", "forces"}
RIGIDITY = {"verdict", "contacts", "D", "eigenvalues", "p_matrix", "stable", "kappa", "kappa_min"}


@pytest.mark.parametrize("name, model", [("fence-particle", "qs-ncp"), ("fence-particle", "geometric"),
                                         ("gripper-2d", "qs-qp"), ("painleve-rod", "instant"),
                                         ("rod-two-walls", "compliant"), ("box-incline", "dyn-ncp")])
def test_all_keys_are_there(perp, name, model):
    result = perp.json("analyze", scene(name), "--model", model)
    assert list(result) == ["status", "model", "t", "existence", "uniqueness", "rigidity", "closure", "why"]
    assert (result["status"], result["model"], result["t"]) == ("ok", model, 0)
    assert set(result["existence"]) == {"verdict", "solutions", "complete"}
    assert UNIQUENESS <= set(result["uniqueness"]) and set(result["rigidity"]) == RIGIDITY
    assert result["existence"]["verdict"] in ("exists", "none", "unknown")
    assert result["uniqueness"]["verdict"] in ("unique", "unique-at-these-normal-forces", "not-unique", "borderline",
                                               "unknown")
    assert result["uniqueness"]["printed_proposition"] in ("unique", "not-unique", None)
    assert result["rigidity"]["verdict"] in ("valid", "invalid", "borderline", "unknown", "no-contact")
    size = len(result["rigidity"]["contacts"])
    assert [len(row) for row in result["rigidity"]["D"]] == size * [size]
    assert [len(pair) for pair in result["rigidity"]["eigenvalues"]] == size * [2]
    for force in result["uniqueness"]["forces"]:
        assert set(force) == {"contact", "fn", "ft"} and len(force["fn"]) == 2
        assert [len(one) for one in force["ft"]] == (1 if name != "fence-particle" and name != "box-incline" else
                                                     len(force["ft"])) * [2]
    for reason in result["why"]:
        assert {"contact", "mode", "text"} <= set(reason) and reason["text"]


def test_time_and_set(perp):
    """The fence reaches the particle at asin(1/4) = 0.2527 s: from the step to 0.26 s on it pushes."""
    for at, touches in ((0.25, True), (0.24, False)):
        result = perp.json("analyze", scene("fence-particle"), "--at", at)
        assert result["t"] == pytest.approx(at, abs=1e-12)
        assert (contact_of(result, "fence")["fn"][1] > 1) == touches
    result = perp.json("analyze", scene("fence-particle"), "--at", 0.255)  # the last state at or before it
    assert result["t"] == pytest.approx(0.25, abs=1e-12)
    heavy = perp.json("analyze", scene("fence-particle"), "--set", "bodies.particle.mass=3")
    assert contact_of(heavy, "plane")["fn"] == pytest.approx([3 * G, 3 * G])


def test_usage_and_bad_input(perp):
    fence = scene("fence-particle")
    for arguments, words in (([], "SCENE is missing"), ([fence, "--model", "qs-nc"], "did you mean `qs-ncp`"),
                             ([fence, "--at", "x"], "--at is a time"), ([fence, "--at", "-1"], "--at is a time"),
                             ([fence, "--bogus"], "no option `--bogus`"), ([fence, "more"], "unexpected `more`")):
        assert words in perp("analyze", *arguments, code=2).stderr
    for arguments, words in ((["none.yaml"], "none.yaml:1:1: cannot be opened"),
                             ([fence, "--set", "contacts.frictio=1"], "did you mean `friction`"),
                             ([fence, "--h", "0"], "positive time step"),
                             ([fence, "--at", "1e300"], "at most 1e+09 are allowed"),
                             ([scene("painleve-rod"), "--at", "0.5"], "leave --at out")):
        done = perp("analyze", *arguments, code=3)
        assert words in done.stderr and done.stdout == ""
        result = perp.json("analyze", *arguments, code=3)
        assert set(result) == {"status", "error"} and result["status"] == "error"
        assert {"code", "message", "evidence"} <= set(result["error"])


def test_a_run_that_ends_before(perp):
    """Nothing holds the particle up: the step has no answer, which is a verdict at 0 s and ends the run before 1 s."""
    falls = [scene("fence-particle"), "--set", "bodies.particle.pose.position=[0.6, 0, 1]"]
    result = perp.json("analyze", *falls)
    assert result["existence"] == {"verdict": "none", "solutions": 0, "complete": True}
    assert any("nothing supports body `particle`" in reason["text"] for reason in result["why"])
    failed = perp.json("analyze", *falls, "--at", 1, code=1)
    assert failed["error"]["code"] == "unsupported-body" and failed["error"]["evidence"]["body"] == "particle"


def test_help_shows_commands_that_run(perp):
    text = perp("analyze", "--help").stdout
    shown = [line.split("   ")[0].split() for line in text.splitlines() if line.startswith("  perp analyze")]
    assert len(shown) >= 3
    for words in shown:
        arguments = [str(ROOT / word) if word.startswith("examples/") else word for word in words[1:]]
        perp(*arguments[:arguments.index("|")] if "|" in arguments else arguments)


def test_words(perp):
    text = perp("analyze", scene("rod-two-walls")).stdout
    assert "a solution      exists, 1\nits uniqueness  unique\nrigid bodies    valid (P-matrix yes, stable yes" in text
    assert "c^2/k 1 kg, stable above c^2/k = 0.03239 kg" in text
    text = perp("analyze", scene("fence-particle"), "--at", 0.5, "--set",
                "contacts.pairs.plane particle.friction=0").stdout
    assert "another one     `particle`: velocity more by (0, 0.1, 0) m/s" in text
    text = perp("analyze", scene("gripper-2d"), "--at", 0.1).stdout
    assert "same motion     left_finger sphere s0.e1-s0.c0: fn 10 N, ft 1 .. 5 N" in text
    text = perp("analyze", scene("grasp-closure")).stdout  # squeezed as hard as one likes, friction goes both ways
    assert text.count(" .. inf N, ft -inf .. inf N\n") == 3


# ---- fence and particle: three cones, three answers ------------------------------------------------------------------

def fence(perp, model, *settings, at=0.5):
    return perp.json("analyze", scene("fence-particle"), "--model", model, "--at", at, *settings)


@pytest.mark.parametrize("model", ["qs-ncp", "qs-opt", "qs-lcp", "qs-lp"])
@pytest.mark.parametrize("at", [0, 0.5, 1.2, 3])
def test_fence_is_unique(perp, model, at):
    result = fence(perp, model, at=at)["uniqueness"]
    assert result["verdict"] == "unique" and result["motion"] is None
    assert result["printed_proposition"] == ("unique" if model in ("qs-ncp", "qs-opt") else None)


FORCES = {"qs-ncp": (4.387165372, 2.193582686, -4.387165372, -2.193582686), "qs-lcp": (3.27, 1.635, -3.27, -1.635),
          "qs-lp": (4.905, 2.4525, -4.905, -2.4525)}


@pytest.mark.parametrize("model", FORCES)
def test_forces_while_it_pushes(perp, model):
    """Reference values; the forces are determined."""
    result = fence(perp, model, at=1)
    n2, t2, t3, o3 = FORCES[model]
    plane, pushing = contact_of(result, "plane"), contact_of(result, "fence")
    assert pushing["fn"] == pytest.approx([n2, n2], abs=1e-7)
    assert plane["fn"] == pytest.approx([G, G], abs=1e-7)
    assert plane["ft"][0] == pytest.approx([t3, t3], abs=1e-7) and plane["ft"][1] == pytest.approx([o3, o3], abs=1e-7)
    along_y = [pushing["ft"][k] for k in (0, 1) if abs(pushing["ft"][k][0]) > 1]
    assert along_y == [pytest.approx([t2, t2], abs=1e-7)]


@pytest.mark.parametrize("model", ["qs-ncp", "qs-lcp", "qs-lp"])
def test_without_friction_the_particle_is_free_to_move(perp, model):
    """dx and dy are free while it rests, dy while it is pushed; dz is not."""
    smooth = ["--set", "contacts.pairs.plane particle.friction=0"]
    for at in (0, 0.5):
        result = fence(perp, model, *smooth, at=at)["uniqueness"]
        motion = result["motion"]["particle"]
        assert result["verdict"] == "not-unique" and result["motion_both_ways"]
        assert motion[2:] == 4 * [0] and 0.01 * max(abs(x) for x in motion) == pytest.approx(1)
        assert at == 0 or motion[0] == 0
        assert result["second"]["residual"] <= 1e-8
    if model == "qs-ncp":
        assert result["printed_proposition"] == "not-unique"


def test_four_rays_without_friction_at_the_fence(perp):
    """Pushed along +x the pyramid does not say how fast the particle goes along y, up to |vy| = vx."""
    settings = ["--set", "contacts.pairs.fence particle.friction=0", "--set", "bodies.fence.driven.y.rate=0"]
    result = fence(perp, "qs-lcp", *settings)
    unique = result["uniqueness"]
    assert unique["verdict"] == "not-unique"
    motion = unique["motion"]["particle"]
    assert [abs(x) for x in motion[:3]] == pytest.approx([0, 100, 0])
    vx = 0.4 * (math.sin(0.51) - math.sin(0.5)) / 0.01
    assert unique["motion_length"] * 100 <= vx * (1 + 1e-9)
    assert fence(perp, "qs-ncp", *settings)["uniqueness"]["verdict"] == "unique"
    assert fence(perp, "qs-lcp", "--set", "bodies.fence.driven.y.rate=0")["uniqueness"]["verdict"] == "unique"


def test_counterexample_to_the_printed_proposition(perp):
    """On its own, with f = (mu m g, 0, -m g): at rest, and every dx >= 0 is an answer too (design of the corrected
    proposition); a hair less and it is unique."""
    particle = {"mass": 1, "free": ["x", "y", "z"], "shapes": [{"point": {}}]}
    plane = {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]}
    for share, verdict in ((1, "not-unique"), (1 - 1e-4, "unique")):
        path = write(perp, gravity=[0.5 * G * share, 0, -G], bodies={"plane": plane, "particle": particle},
                     contacts={"friction": 0.5}, run={"model": "qs-ncp", "h": 0.01, "steps": 1})
        result = perp.json("analyze", path)["uniqueness"]
        assert (result["verdict"], result["printed_proposition"]) == (verdict, "unique")
        if share == 1:
            assert result["motion"]["particle"] == pytest.approx([100, 0, 0, 0, 0, 0], abs=1e-6)
            assert not result["motion_both_ways"]
            assert "not-unique (Proposition 1 as printed: unique)" in perp("analyze", path).stdout


def test_the_printed_proposition_knows_joint_limits(perp):
    """A limit is a contact without friction: an arm that its weight holds on one cannot move, nor can one between limits
    that meet. Without weight it can."""
    def analyze(limits, gravity):
        path = write(perp, planar=True, gravity=gravity, bodies={"arm": {"mass": 2, "inertia": 0.1, "com": [0.5, 0]}},
                     joints={"hinge": {"type": "revolute", "parent": "world", "child": "arm", "anchor": [0, 0],
                                       "limits": limits}}, run={"model": "qs-ncp", "h": 0.01, "steps": 1})
        result = perp.json("analyze", path)["uniqueness"]
        return result["verdict"], result["printed_proposition"]
    assert analyze([0, 1], [0, -9.81]) == ("unique", "unique")
    assert analyze([-1, 0], [0, 9.81]) == ("unique", "unique")
    assert analyze([0, 0], [0, 0]) == ("unique", "unique")
    assert analyze([0, 1], [0, 0]) == ("not-unique", "not-unique")
    assert analyze([-1, 1], [0, 0]) == ("not-unique", "not-unique")


# ---- one instant -----------------------------------------------------------------------------------------------------

STOPPED = ("--set", "bodies.rod.velocity.angular=0", "--set", "bodies.rod.velocity.linear=[-1, 0]")


@pytest.mark.parametrize("mu, turning, count", [(2, (), 2), (2, STOPPED, 0), (0.5, (), 1), (0.5, STOPPED, 1)])
def test_painleve_rod(perp, mu, turning, count):
    """R = (1 + 3 cos(60)^2 - 3 mu sin cos) is D; below 0, beyond mu = 1.347, nothing is valid."""
    result = perp.json("analyze", scene("painleve-rod"), *turning, "--set", f"contacts.friction={mu}")
    assert result["existence"] == {"verdict": "exists" if count else "none", "solutions": count, "complete": True}
    assert result["uniqueness"]["verdict"] == ("unknown", "unique", "not-unique")[count]
    rigidity = result["rigidity"]
    if mu == 2:
        assert rigidity["verdict"] == "invalid"
        assert rigidity["D"] == [[pytest.approx(-0.8480762114, abs=1e-9)]]
        assert rigidity["p_matrix"] is False and rigidity["stable"] is False and rigidity["kappa_min"] is None
        for stepped in ("dyn-ncp", "compliant"):  # what steps do there is an impulse, and rigid bodies are as before
            again = perp.json("analyze", scene("painleve-rod"), *turning, "--set", f"contacts.friction={mu}", "--model",
                              stepped)["rigidity"]
            assert again["verdict"] == "invalid" and again["D"] == rigidity["D"]
    else:
        assert rigidity["verdict"] == ("valid" if turning else "no-contact")
        assert rigidity["D"] == ([[pytest.approx(1.100480947, abs=1e-9)]] if turning else [])


def test_two_solutions_differ_by_the_motion(perp):
    result = perp.json("analyze", scene("painleve-rod"))
    a, b = (s["acceleration"]["rod"] for s in perp.json("run", scene("painleve-rod"))["solutions"])
    u = result["uniqueness"]
    assert max(abs(x) for x in u["motion"]["rod"]) == pytest.approx(1)
    assert [u["motion_length"] * x for x in u["motion"]["rod"]] == pytest.approx([y - x for x, y in zip(a, b)])


@pytest.mark.parametrize("mu, count", [(0.5, 2), (0.3, 1)])
def test_wedged_disc(perp, mu, count):
    result = perp.json("analyze", scene("wedged-disc"), "--set", f"contacts.friction={mu}")
    assert result["existence"] == {"verdict": "exists", "solutions": count, "complete": True}
    assert result["uniqueness"]["verdict"] == ("unique" if count == 1 else "not-unique")


# ---- rigidity --------------------------------------------------------------------------------------------------------

def rod(perp, theta, alpha, inertia, mu, kappa, name="rod.yaml"):
    """Dupont and Yamajako's rod, m = l = 1, with 2 N at both contacts: floor below, wall leaning over it by alpha. Turning
    at 0.3 rad/s it slides along +x and up the wall."""
    c, s, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    normal = [(0, 1, -c), (sa, -ca, -math.cos(theta - alpha))]
    tangent = [(1, 0, s), (ca, sa, math.sin(alpha - theta))]
    across = (ca * c + math.cos(theta - alpha)) / sa
    mass = (1, 1, inertia)
    gaps = 0.09 * s, 0.09 * (ca * s - sa * c)
    a = -(gaps[1] + ca * gaps[0]) / sa, -gaps[0], 0
    f = [m * x - 2 * sum(n[k] - mu[i] * t[k] for i, (n, t) in enumerate(zip(normal, tangent)))
         for k, (m, x) in enumerate(zip(mass, a))]
    d = [[sum(normal[i][k] * (normal[j][k] - mu[j] * tangent[j][k]) / mass[k] for k in range(3)) for j in range(2)]
         for i in range(2)]
    path = write(perp, name, planar=True, gravity=[0, 0], bodies={
        "floor": {"fixed": True, "shapes": [{"halfplane": {"normal": [0, 1], "offset": 0}}]},
        "wall": {"fixed": True, "shapes": [{"halfplane": {"normal": [sa, -ca], "offset": 0}}]},
        "rod": {"mass": 1, "inertia": inertia, "pose": {"position": [2 * s * ca / sa - c, s], "angle": theta},
                "velocity": {"linear": [0.3 * across, 0.3 * c], "angular": 0.3},
                "shapes": [{"polygon": [[-1, 0], [0, -0.02], [1, 0], [0, 0.02]]}]}},
        forces=[{"body": "rod", "force": f[:2], "torque": f[2]}],
        contacts={"pairs": {"floor rod": {"friction": mu[0]}, "wall rod": {"friction": mu[1]}}},
        compliance={"stiffness": 1, "damping": math.sqrt(kappa), "tangential": "rigid"}, run={"model": "instant"})
    return path, d


def test_rod_between_two_walls(perp):
    """The reference's D(0.5, 0.5), its eigenvalues, and c^2/k above which it is stable: (4 det - tr^2) / (2 tr det)."""
    result = perp.json("analyze", scene("rod-two-walls"))["rigidity"]
    want = [[1.4229838651265017, -0.717660074833049], [0.6777575901737007, 2.409693158640273]]
    assert sum(result["D"], []) == pytest.approx(sum(want, []), abs=1e-9)
    assert sorted(result["eigenvalues"]) == [pytest.approx([1.9163385118833869, im], abs=1e-9)
                                             for im in (-0.49295106796325505, 0.49295106796325505)]
    trace, det = want[0][0] + want[1][1], want[0][0] * want[1][1] - want[0][1] * want[1][0]
    assert result["kappa_min"] == pytest.approx((4 * det - trace**2) / (2 * trace * det), abs=1e-9)
    assert (result["verdict"], result["p_matrix"], result["stable"], result["kappa"]) == ("valid", True, True, 1)
    assert result["contacts"] == ["floor rod s0.u0-s0.c0", "wall rod s0.u0-s0.c2"]


def test_another_rod(perp):
    """theta 70 deg, alpha 35 deg, m l^2 / J = 2; reference values and the matrix by hand."""
    degree = math.pi / 180
    path, by_hand = rod(perp, 70 * degree, 35 * degree, 0.5, (0.6, 0.4), 1)
    result = perp.json("analyze", path)["rigidity"]
    assert sum(result["D"], []) == pytest.approx([1.61962812, -0.64518938, 0.32073645, 1.9661431], abs=1e-8)
    assert sum(result["D"], []) == pytest.approx(sum(by_hand, []), abs=1e-12)
    for kappa, mu in ((0.05, 0.60404209), (0.2, 1.25464108), (0.5, 2.72503449)):
        for side in (-1, 1):
            one = mu + side * 2e-8
            path, d = rod(perp, 70 * degree, 35 * degree, 0.5, (one, one), kappa)
            result = perp.json("analyze", path)
            is_p = min(d[0][0], d[1][1], d[0][0] * d[1][1] - d[0][1] * d[1][0]) > 0
            assert result["rigidity"]["p_matrix"] is is_p
            assert result["rigidity"]["stable"] is (side < 0)
            assert result["rigidity"]["kappa_min"] == pytest.approx(kappa, abs=1e-6)
            assert result["rigidity"]["verdict"] == ("valid" if side < 0 and is_p else "invalid")
            named = "not stable" if is_p else "not a P-matrix"  # the first that fails
            assert side < 0 and is_p or any(named in reason["text"] for reason in result["why"])


# ---- springs, loops, limits ------------------------------------------------------------------------------------------

FLOOR = {"fixed": True, "shapes": [{"halfplane": {"normal": [0, 1], "offset": 0}}]}


def slides(perp, model, control, friction=0.5, limits=None, rubs=0):
    """A block of 2 kg on a floor, pushed by a ram; the ram is commanded or on a spring, or free between limits, and its
    face is smooth or `rubs`."""
    joint = {"type": "prismatic", "parent": "world", "child": "ram", "anchor": [-0.15, 0.1], "axis": [1, 0]}
    if control:
        joint.update(control=control, stiffness=1000, command={"rate": 0.5})
    if limits:
        joint["limits"] = limits
    return write(perp, planar=True, bodies={
        "floor": FLOOR, "ram": {"mass": 1, "inertia": 0.01, "shapes": [{"box": [0.1, 0.1]}]},
        "block": {"mass": 2, "free": ["x", "y"], "pose": {"position": [0, 0.1]}, "shapes": [{"box": [0.2, 0.2]}]}},
        joints={"push": joint},
        contacts={"friction": friction, "exclude": [["floor", "ram"]], "pairs": {"ram block": {"friction": rubs}}},
        run={"model": model, "h": 0.01, "steps": 100})


@pytest.mark.parametrize("model, control", [("qs-lcp", "position"), ("qs-ncp", "position"), ("qs-impedance-lcp", "impedance"),
                                            ("qs-qp", "impedance"), ("qs-cone", "impedance"),
                                            ("quasidynamic", "impedance"), ("dyn-ncp", "impedance"),
                                            ("dyn-lcp", "position")])
def test_springs_and_commands(perp, model, control):
    """A motion that is given, or that a spring gives, is the only one; the floor carries the weight."""
    result = perp.json("analyze", slides(perp, model, control), "--at", 0.05)
    assert result["existence"] == {"verdict": "exists", "solutions": 1, "complete": True}
    assert result["uniqueness"]["verdict"] == "unique"
    floor = [f["fn"] for f in result["uniqueness"]["forces"] if f["contact"].startswith("floor")]
    assert sum(fn[0] for fn in floor) <= 2 * G + 1e-9 <= sum(fn[1] for fn in floor) + 2e-9


def test_a_spring_that_may_lift(perp):
    """Where the ram's face rubs too, its friction may carry a part f of the weight, up or down: N = mu (m g - f) with
    |f| <= mu N pushes the block on, and the spring gives way by N / K. Every N from mu m g / (1 + mu^2) to mu m g / (1 -
    mu^2) is an answer, each with a motion of its own."""
    path = slides(perp, "qs-impedance-lcp", "impedance", friction=0.5, rubs=0.5)
    result = perp.json("analyze", path, "--at", 0.1)
    assert result["uniqueness"]["verdict"] == "not-unique"
    second = {f["contact"]: f for f in result["uniqueness"]["second"]["forces"]}
    first = perp.json("run", path, "--until", 0.11)["contacts"]
    numbers = [sum(f["fn"] for name, f in second.items() if name.startswith("ram")),
               sum(c["fn"] for c in first if c["a"] == "ram")]
    for n in numbers:
        assert 0.5 * 2 * G / 1.25 - 1e-6 <= n <= 0.5 * 2 * G / 0.75 + 1e-6
    assert abs(numbers[0] - numbers[1]) > 0.1
    moved = result["uniqueness"]["motion_length"] * result["uniqueness"]["motion"]["push"][0] * 0.01
    assert 1000 * moved == pytest.approx(numbers[1] - numbers[0], abs=1e-5)


@pytest.mark.parametrize("model", ["qs-ncp", "qs-lcp", "qs-qp", "qs-cone", "qs-impedance-lcp"])
def test_what_nothing_drives_may_move(perp, model):
    """The ram touches the block and nothing drives it or rubs: it may go away, one way; at the limit behind it, it may
    not, without a gap between both limits it is held."""
    away = perp.json("analyze", slides(perp, model, None))["uniqueness"]
    assert away["verdict"] == "not-unique" and not away["motion_both_ways"]
    assert away["motion"]["push"] == pytest.approx([-100]) and away["motion"]["block"] == pytest.approx([0, 0, 0])
    assert away["second"]["residual"] <= 1e-8
    held = perp.json("analyze", slides(perp, model, None, limits=[0, 1]))["uniqueness"]
    assert (held["verdict"], held["motion"]) == ("unique", None)


@pytest.mark.parametrize("model", ["qs-ncp", "qs-lcp", "qs-qp", "qs-cone", "quasidynamic", "dyn-ncp"])
@pytest.mark.parametrize("friction", [0, 0.5])
def test_loops(perp, model, friction):
    """Two blocks on a floor, pinned together: without friction both slide as one, unless inertia says what they do."""
    block = {"mass": 1, "shapes": [{"box": [0.2, 0.1]}]}
    path = write(perp, planar=True, bodies={"floor": FLOOR, "a": {**block, "pose": {"position": [-0.1, 0.05]}},
                                            "b": {**block, "pose": {"position": [0.1, 0.05]}}},
                 loops={"pin": {"type": "point", "a": "a", "b": "b", "anchor_a": [0.1, 0], "anchor_b": [-0.1, 0]}},
                 contacts={"friction": friction}, run={"model": model, "h": 0.01, "steps": 10})
    result = perp.json("analyze", path)["uniqueness"]
    free = friction == 0 and model.startswith("qs-")
    assert result["verdict"] == ("not-unique" if free else "unique")
    if free:
        assert result["motion_both_ways"]
        assert result["motion"]["a"] == pytest.approx(result["motion"]["b"]) and result["motion"]["a"][1:] == [0, 0]


def test_forces_that_a_weld_shares(perp):
    """Welded, the blocks' four corners carry 2 m g in any way that balances: an end corner between 0 and m g."""
    block = {"mass": 1, "shapes": [{"box": [0.2, 0.1]}]}
    path = write(perp, planar=True, bodies={"floor": FLOOR, "a": {**block, "pose": {"position": [-0.1, 0.05]}},
                                            "b": {**block, "pose": {"position": [0.1, 0.05]}}},
                 loops={"weld": {"type": "weld", "a": "a", "b": "b", "anchor_a": [0.1, 0], "anchor_b": [-0.1, 0]}},
                 contacts={"friction": 0}, run={"model": "dyn-ncp", "h": 0.01, "steps": 10})
    forces = perp.json("analyze", path)["uniqueness"]["forces"]
    ends = sorted(tuple(round(x, 6) for x in f["fn"]) for f in forces)
    # corners at -0.2, 0, 0, 0.2: f1 = f4 <= m g, the middle two share the rest in any way
    assert ends == [(0, G), (0, G), (0, 2 * G), (0, 2 * G)]


@pytest.mark.parametrize("at", [0.1, 0.12])
def test_gripper_squeezes(perp, at):
    """Friction at the fingers is not determined, its sum is: what the ground carries beyond the weight."""
    result = perp.json("analyze", scene("gripper-2d"), "--at", at)
    left, right, ground = (contact_of(result, name) for name in ("left", "right", "ground"))
    fn, most = left["fn"][0], 0.5 * left["fn"][0]
    share = ground["fn"][0] - 10
    assert left["fn"] == pytest.approx([fn, fn]) and right["fn"] == pytest.approx([fn, fn])
    assert left["ft"][0] == pytest.approx([max(-most, share - most), min(most, share + most)], abs=1e-7)
    assert right["ft"][0] == pytest.approx([-left["ft"][0][1], -left["ft"][0][0]], abs=1e-7)


# ---- contacts that slide and contacts that roll on springs -----------------------------------------------------------

MIXED = {"mass": 2.0, "inertia": 0.68, "stiffness": (1.0, 1.22),
         "contacts": [{"at": (-0.4, -0.9), "normal": (0.3365, 0.9417), "mu": 1.98, "fn": 2.0},   # slides along t
                      {"at": (0.78, -0.32), "normal": (-0.6164, 0.7874), "mu": 2.14, "fn": 2.0}]}  # rolls


def solve3(rows, right):
    def det(a):
        return (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
                + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]))
    return [det([[right[i] if j == k else rows[i][j] for j in range(3)] for i in range(3)]) / det(rows)
            for k in range(3)]


def mixed(perp, kappa, scale=None, away=0.0):
    """A body at rest on two planes, one of which passes beneath it. With `scale` it begins with its contacts compressed
    as their forces ask for, but for `away` of that."""
    frames = []
    for c in MIXED["contacts"]:
        size = math.hypot(*c["normal"])
        n = [x / size for x in c["normal"]]
        t, (x, y) = [n[1], -n[0]], c["at"]
        frames.append(([*n, x * n[1] - y * n[0]], [*t, x * t[1] - y * t[0]]))
    (n0, t0), (n1, t1) = frames
    fn = [c["fn"] for c in MIXED["contacts"]]
    push = [n0[k] - MIXED["contacts"][0]["mu"] * t0[k] for k in range(3)]  # the plane goes along -t
    load = [-fn[0] * push[k] - fn[1] * n1[k] for k in range(3)]
    soft = scale or 0.0
    shift = solve3([n0, n1, t1], [-soft * fn[0] * (1 + away), -soft * fn[1] * (1 - away), 0.0])
    damping = math.sqrt(kappa)
    return write(perp, f"mixed{kappa}{scale}.yaml", planar=True, gravity=[0, 0], bodies={
        "belt": {"driven": {"x": {"rate": -0.5 * t0[0]}, "y": {"rate": -0.5 * t0[1]}},
                 "shapes": [{"halfplane": {"normal": n0[:2], "offset": sum(a * b for a, b in zip(n0, MIXED["contacts"][0]["at"]))}}]},
        "rest": {"fixed": True,
                 "shapes": [{"halfplane": {"normal": n1[:2], "offset": sum(a * b for a, b in zip(n1, MIXED["contacts"][1]["at"]))}}]},
        "body": {"mass": MIXED["mass"], "inertia": MIXED["inertia"], "com": [0, 0],
                 "pose": {"position": shift[:2], "angle": shift[2]},
                 "shapes": [{"point": {}, "pose": {"position": list(c["at"])}} for c in MIXED["contacts"]]}},
        forces=[{"body": "body", "force": load[:2], "torque": load[2]}],
        contacts={"margin": 1e-2, "exclude": [["belt", "rest"]],
                  "pairs": {"belt body": {"friction": MIXED["contacts"][0]["mu"]},
                            "rest body": {"friction": MIXED["contacts"][1]["mu"]}}},
        compliance={"stiffness": list(MIXED["stiffness"]), "damping": [damping, 1.22 * damping], "gamma": 0,
                    "tangential": "compliant", "stiffness_scale": scale or 1},
        run={"model": "instant"})


def swings(perp, path, scale, period, count):
    """How far the contact that rolls is from its force, largest in each of `count` periods of the run of `compliant`."""
    steps = 1500
    h = period * math.sqrt(scale) / steps
    perp("run", path, "--model", "compliant", "--h", f"{h:.17g}", "--steps", count * steps, "--csv", "out")
    largest = count * [0.0]
    with open(perp.folder / "out" / "contacts.csv", encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        for line in file:
            row = dict(zip(names, line.strip().split(",")))
            step = int(row["step"])
            if row["a"] == "rest" and step > 0:
                k = (step - 1) // steps
                largest[k] = max(largest[k], abs(float(row["fn"]) - 2.0))
    return largest


def test_mixed_contacts_grow_as_said(perp):
    """The extension of the test to contacts that roll on springs, against the full-order model: `compliant`, implicit in
    time, with springs a million times as stiff. It grows by what the reason says, to the 1 % that 1,500 implicit steps in
    a period damp, and decays with the damping that the analysis asks for, and 5 % more."""
    result = perp.json("analyze", mixed(perp, 0.035))
    rigidity = result["rigidity"]
    assert (rigidity["verdict"], rigidity["p_matrix"], rigidity["stable"]) == ("invalid", True, False)
    assert rigidity["kappa"] == pytest.approx(0.035)
    text, = [reason["text"] for reason in result["why"] if "not stable" in reason["text"]]
    growth, speed = (float(x) for x in re.search(r"exp\((\S+) t\), at (\S+) rad/s", text).groups())
    period = 2 * math.pi / speed
    seen = swings(perp, mixed(perp, 0.035, scale=1e-6, away=1e-4), 1e-6, period, 6)
    assert math.log(seen[5] / seen[4]) / period == pytest.approx(growth, rel=0.02)  # when slower motions are small
    assert 100 * seen[0] < seen[5] < 0.1
    enough = 1.05 * rigidity["kappa_min"]
    assert perp.json("analyze", mixed(perp, enough))["rigidity"]["verdict"] == "valid"
    seen = swings(perp, mixed(perp, enough, scale=1e-6, away=0.01), 1e-6, period, 3)
    assert seen[2] < seen[1] < seen[0]
    less = 0.9 * rigidity["kappa_min"]
    assert perp.json("analyze", mixed(perp, less))["rigidity"]["stable"] is False
