"""Parts that are pushed over a table, seen from above."""
import math

import pytest

from conftest import ROOT

TOP = str(ROOT / "examples" / "push-top" / "scene.yaml")
NARROW = str(ROOT / "examples" / "push-through-narrow" / "scene.yaml")


def mean_distance(a, b):
    """Of a rectangle's points from its middle."""
    return (math.hypot(a, b) + a * a / (2 * b) * math.asinh(b / a) + b * b / (2 * a) * math.asinh(a / b)) / 6


def pushed(t, a, y, u, c):
    """Pose of a slider that a finger pushes, at first at its point (-a, y)."""
    r = math.hypot(a, y)
    beta = math.atan2(y, a)
    theta = beta + 2 * math.atan(math.tan(-beta / 2) * math.exp(u * r * t / (c * c + r * r)))
    return (-a + u * t + a * math.cos(theta) + y * math.sin(theta), y + a * math.sin(theta) - y * math.cos(theta), theta)


def test_a_finger_turns_what_it_pushes_and_a_bar_does_not(perp):
    results = [perp.json("run", TOP, "--h", str(h)) for h in (0.01, 0.005)]
    exact = pushed(4.0, 0.06, 0.002, 0.05, mean_distance(0.12, 0.08))
    for k in range(3):
        coarse, fine = (r["final"]["q"]["by-finger"][k] for r in results)
        assert 2 * fine - coarse == pytest.approx(exact[k], abs=3e-5)
        assert abs(fine - exact[k]) < 0.6 * abs(coarse - exact[k])
    bar = [c for c in results[0]["contacts"] if c["b"] == "bar" and c["mode"] != "open"]
    weight = 0.35 * 9.81 * 0.5
    assert sorted(c["fn"] for c in bar) == pytest.approx([weight * 0.018 / 0.04, weight * 0.022 / 0.04], abs=1e-9)
    points = perp.json("run", TOP, "--model", "qs-ncp", "--set", "bodies.by-finger.support.model=points",
                       "--set", "bodies.by-bar.support.model=points")
    assert points["final"]["q"]["by-finger"][2] == pytest.approx(-0.36301, abs=5e-6)
    assert points["final"]["q"]["by-bar"] == pytest.approx([0.2, -0.12, 0], abs=1e-9)


def in_slider(pose, x, y):
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return c * (x - pose[0]) + s * (y - pose[1]), c * (y - pose[1]) - s * (x - pose[0])


@pytest.mark.parametrize("model", ["qs-ncp", "qs-opt", "qs-cone", "quasidynamic", "dyn-ncp"])
def test_the_walls_turn_it_back(perp, model):
    result = perp.json("run", NARROW, "--model", model)
    pose = result["final"]["q"]["slider"]
    assert in_slider(pose, 0.19, 0.0)[0] == pytest.approx(-0.05, abs=1e-6)
    layer = 0.1 * 0.01 * 0.05 if model in ("qs-cone", "quasidynamic") else 0  # mu h times the slip
    assert in_slider(pose, 0.26, 0.034)[1] == pytest.approx(0.03 + layer, abs=2e-6)
    assert pose[:2] == pytest.approx([0.239919, 0.003344], abs=1e-4)
    met = {e["contact"].split()[0] + " " + e["contact"].split()[1]: e["t"] for e in reversed(result["events"]) if e["from"] == "open"}
    assert met["slider finger"] == pytest.approx(0.23, abs=0.011) and met["left slider"] == pytest.approx(0.75, abs=0.021)
    assert "right slider" not in met


def test_contacts_of_a_support(perp):
    """As JSON, CSV and a log have them."""
    result = perp.json("run", NARROW, "--steps", "60")
    feet = [c for c in result["contacts"] if c["a"] == c["b"] == "slider"]
    assert [c["feature"] for c in feet] == [f"support.{k}" for k in range(16)]
    assert sum(c["fn"] for c in feet) == pytest.approx(0.3 * 9.81, rel=1e-12)
    for c in feet:
        assert len(c["ft"]) == len(c["slip"]) == len(c["tangents"]) == 2 and c["normal"] == [0, 0]
        work = c["ft"][0] * c["slip"][0] + c["ft"][1] * c["slip"][1]
        assert work == pytest.approx(-0.4 * c["fn"] * math.hypot(*c["slip"]), rel=1e-9)
        assert c["force_on_b"] == c["ft"]
    finger = [c for c in result["contacts"] if c["b"] == "finger"][0]  # a: the slider; the plane balances what it gets
    for k in range(2):
        assert sum(c["ft"][k] for c in feet) == pytest.approx(finger["force_on_b"][k], abs=1e-9)


def test_a_log_and_its_csv_have_the_supports(perp, tmp_path):
    perp("run", NARROW, "--steps", "60", "--log", str(tmp_path / "a.mcap"), "--csv", str(tmp_path / "run"))
    perp("export", str(tmp_path / "a.mcap"), "--csv", str(tmp_path / "log"))
    for name in ("state.csv", "contacts.csv"):
        assert (tmp_path / "run" / name).read_text() == (tmp_path / "log" / name).read_text()


@pytest.mark.parametrize("scene, model", [(NARROW, "qs-ncp"), (NARROW, "qs-cone"), (NARROW, "dyn-ncp"), (NARROW, "compliant"),
                                          (TOP, "qs-cone"), (TOP, "dyn-ncp"), (TOP, "qs-opt")])
def test_runs_go_on_from_their_logs(perp, tmp_path, scene, model):
    perp("run", scene, "--model", model, "--steps", "60", "--log", str(tmp_path / "a.mcap"))
    further = perp.json("run", "--resume", str(tmp_path / "a.mcap"), "--steps", "90")
    whole = perp.json("run", scene, "--model", model, "--steps", "90")
    numbers = [[{k: v for k, v in c.items() if k not in ("why", "flip")} for c in r["contacts"]] for r in (further, whole)]
    assert further["hash"] == whole["hash"] and numbers[0] == numbers[1]


def test_the_smallest_gap_is_not_that_of_a_support(perp):
    """A disc that lies on the plane alone has none, and one beside it has its own."""
    scene = """perp: 1
planar: true
gravity: [0, 0]
bodies:
  disc: {mass: 1, shapes: [{disc: 0.1}], support: {friction: 0.3, points: [[0, 0, 1]]}}
  post: {fixed: true, shapes: [{disc: 0.1, pose: {position: [%g, 0]}}]}
contacts: {margin: 0.02}
run: {model: dyn-ncp, h: 0.01, steps: 1}
"""
    for place, said in ((1, "contacts within the margin of 0.02 m: 1"),
                        (0.21, "contacts within the margin of 0.02 m: 2, smallest gap 0.01 m (--json lists them)")):
        perp.write("s.yaml", scene % place)
        assert said in perp("run", "s.yaml").stdout.splitlines()


def test_what_analysis_says_of_supports(perp):
    """The motion of a convex step is one; rigidity knows no given normal forces; answers of an ellipsoid are not counted."""
    found = perp.json("analyze", NARROW, "--model", "qs-cone", "--at", "2")
    assert found["existence"]["verdict"] == "exists" and found["uniqueness"]["verdict"] == "unique"
    assert found["rigidity"]["verdict"] == "unknown" and any("support" in w["text"] for w in found["why"])
    slides = [f for f in found["uniqueness"]["forces"] if f["contact"].startswith("slider slider")]
    assert len(slides) == 16 and all(len(f["ft"]) == 2 and f["fn"] == pytest.approx([f["fn"][0]] * 2, rel=1e-7) for f in slides)
    rigid = perp.json("analyze", NARROW, "--model", "qs-ncp", "--at", "2")
    assert rigid["uniqueness"]["verdict"] in ("unique", "unique-at-these-normal-forces")
    ellipsoid = perp.json("analyze", TOP)
    assert ellipsoid["existence"]["verdict"] == "exists" and ellipsoid["uniqueness"]["verdict"] == "unknown"


def test_sums_over_a_support(perp, tmp_path):
    sweep = tmp_path / "s.yaml"
    sweep.write_text(f"perp-sweep: 1\nscene: scene.yaml\naxes: {{mu: {{path: bodies.slider.support.friction, values: [0.2, 0.5]}}}}\n"
                     "outputs: {fn: contact.slider slider.fn, ft: contact.slider slider.ft}\n")
    (tmp_path / "scene.yaml").write_text((ROOT / "examples" / "push-through-narrow" / "scene.yaml").read_text().replace("until: 5", "until: 0.5"))
    perp("sweep", str(sweep), "-o", str(tmp_path / "s.csv"))
    rows = [line.split(",") for line in (tmp_path / "s.csv").read_text().splitlines()[1:]]
    assert [float(x) for row in rows for x in row[1:4]] == pytest.approx([0.2, 2.943, 0.2 * 2.943, 0.5, 2.943, 0.5 * 2.943], rel=1e-9)


def test_gravity_in_the_plane_of_a_table_is_noticed(perp):
    warned = perp.json("check", NARROW, "--set", "gravity.1=-9.81")["diagnostics"]
    assert [d["path"] for d in warned] == ["gravity"] and "seen from above" in warned[0]["message"]
