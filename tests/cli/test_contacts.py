"""Contacts in `perp run` (JSON, CSV, the table) and the warnings about them in `perp check`."""
import csv
import json
import math
import os
import re
import resource

import pytest

TABLE = "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
BRICK = """  box:
    mass: 1
    pose: {position: [0.5, -0.25, 0.135]}
    velocity: {linear: [0.3, -0.2, 0.1], angular: [0, 0, 2]}
    shapes: [{box: [0.2, 0.4, 0.25]}]
"""
BOX = "perp: 1\nbodies:\n" + TABLE + BRICK + "run: {model: geometric}\n"
BOX_FIRST = "perp: 1\nbodies:\n" + BRICK + TABLE + "run: {model: geometric}\n"

KEYS = ["a", "b", "feature", "mode", "phi", "point", "normal", "tangents", "fn", "ft", "force_on_b", "slip",
        "margin", "layer_predicted", "layer_observed"]

near = pytest.approx


def exact(values):
    """A gap is a difference of two lengths below 1 m: a few roundings of 1e-16 each."""
    return pytest.approx(values, abs=1e-15, rel=0)


def numbers(value):
    """Every number of a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [n for v in value for n in numbers(v)]
    return [value] if isinstance(value, (int, float)) else []


# ---- a concave part that hops ---------------------------------------------------------------------------------------

HOPPER = """perp: 1
planar: true
bodies:
  track:
    driven: {{x: {{sines: [{{amplitude: {a}, omega: {omega}}}]}}, y: {{sines: [{{amplitude: {b}, omega: {omega}}}]}}}}
    shapes: [{{box: [0.6, 0.01], pose: {{position: [0.15, -0.005]}}}}]
  part:
    density: 20
    pose: {{position: [0, 0.003], angle: {angle}}}
    shapes: [{{polygon: {corners}}}]
contacts: {{friction: 0.3, margin: 0.004}}
run: {{model: {model}, h: 0.0005, until: 0.4}}
"""
U = [[0, 0], [0.03, 0], [0.03, 0.02], [0.022, 0.02], [0.022, 0.008], [0.008, 0.008], [0.008, 0.02], [0, 0.02]]
STEPPED = [[0, 0], [0.01, 0], [0.01, 0.004], [0.02, 0.004], [0.02, 0], [0.03, 0], [0.03, 0.015], [0, 0.015]]


@pytest.mark.parametrize("model", ["dyn-ncp", "dyn-lcp"])
@pytest.mark.parametrize("corners, angle, a, b, omega",
                         [(U, 0.05, 4e-4, 3e-4, 280), (STEPPED, -0.08, 3e-4, 4e-4, 240), (STEPPED[::-1], 0.1, 3e-4, 4e-4, 240)])
def test_force_has_its_true_gap(perp, model, corners, angle, a, b, omega):
    """Every contact with force closes at the end of its step, up to the curvature of that motion ((h omega)^2 / 2 of the
    part's size), and its corner is the one of the outline that is there, whatever part of the polygon holds it."""
    scene = perp.write("s.yaml", HOPPER.format(corners=corners, angle=angle, a=a, b=b, omega=omega, model=model))
    perp("run", scene, "--csv", "out")
    rows = list(csv.DictReader(open(perp.folder / "out" / "contacts.csv")))
    states = {r["step"]: r for r in csv.DictReader(open(perp.folder / "out" / "state.csv"))}
    loaded = [r for r in rows if float(r["fn"]) > 0]
    assert len(loaded) > 50
    for r in loaded:
        assert abs(float(r["phi"])) < 2e-5, r  # 1/200 of the margin, which stood here for corners that changed names
    for r in rows:
        corner = re.fullmatch(r"s0\.e2-s0\.c(\d+)", r["feature"])
        if corner:
            x, y = corners[int(corner[1])]
            s = states[r["step"]]
            theta = float(s["part.theta"])
            where = (float(s["part.x"]) + math.cos(theta) * x - math.sin(theta) * y,
                     float(s["part.y"]) + math.sin(theta) * x + math.cos(theta) * y)
            assert math.dist(where, (float(r["px"]), float(r["py"]))) < abs(float(r["phi"])) / 2 + 1e-6


# ---- overlap at the start -------------------------------------------------------------------------------------------

COMMANDED = """perp: 1
bodies:
  left: {driven: {x: {rate: %s}}, shapes: [{box: [0.1, 0.2, 0.1]}]}
  right: {driven: {x: {offset: 0.06}}, shapes: [{box: [0.1, 0.2, 0.1]}]}
  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: -0.2}}]}
  cube: {mass: 1, pose: {position: [1, 0, -0.15]}, shapes: [{box: [0.1, 0.1, 0.1]}]}
run: {h: 0.01, steps: 2}
"""


@pytest.mark.parametrize("model", ["qs-lcp", "qs-ncp", "qs-opt", "qs-lp", "qs-impedance-lcp", "qs-qp", "qs-cone",
                                   "quasidynamic", "dyn-lcp", "dyn-ncp", "dyn-qp", "instant", "instant-qs"])
@pytest.mark.parametrize("rate", [0, -0.1, 0.1])
def test_commanded_bodies_that_overlap(perp, model, rate):
    """At rest, parting or closing: what overlaps at the start is no state of rigid bodies."""
    error = perp.json("run", perp.write("s.yaml", COMMANDED % rate), "--model", model, code=1)["error"]
    assert error["code"] == "penetrating-start" and error["evidence"]["depth"] == near(0.04, abs=1e-9)
    assert "left right" in error["evidence"]["contact"]


def test_a_pusher_may_dip_into_the_floor(perp):
    scene = perp.write("s.yaml", COMMANDED % 0)
    sunk = ["--set", "bodies.floor.shapes.0.plane.offset=-0.04", "--set", "bodies.cube.pose.position.2=0.01",
            "--set", "contacts.exclude=[[left, right]]"]
    assert perp.json("run", scene, "--model", "qs-lcp", *sunk)["residual"]["penetration"] == near(0.01, abs=1e-9)
    assert "0.01 m deep" in perp("check", scene, "--set", "run.model=qs-lcp", *sunk).stderr


def test_commanded_overlap_is_only_reported_where_nothing_is_solved(perp):
    scene = perp.write("s.yaml", COMMANDED % 0)
    assert perp.json("run", scene, "--model", "kinematic")["residual"]["penetration"] == near(0.04, abs=1e-9)
    assert "0.04 m deep" in perp("check", scene, "--set", "run.model=kinematic").stderr
    perp("run", scene, "--model", "qs-lcp", "--set", "contacts.exclude=[[left, right]]")


# ---- what is listed -----------------------------------------------------------------------------------------------


def test_box_over_table(perp):
    """The four lower corners, 0.135 - 0.125 = 0.01 m above the table; n = +z, t = +x, o = +y."""
    result = perp.json("run", perp.write("s.yaml", BOX))
    contacts = result["contacts"]
    assert len(contacts) == 4 and result["events"] == [] and result["residual"]["penetration"] == 0
    for c in contacts:
        assert list(c) == KEYS
        assert (c["a"], c["b"], c["mode"], c["fn"], c["ft"]) == ("table", "box", "open", 0, [0, 0])
        assert c["force_on_b"] == [0, 0, 0] and c["normal"] == [0, 0, 1]
        assert c["tangents"] == [[1, 0, 0], [0, 1, 0]]
        assert c["phi"] == exact(0.01) and c["point"][2] == exact(0.005)
        x, y = c["point"][0] - 0.5, c["point"][1] + 0.25
        assert c["slip"] == near([0.3 - 2 * y, -0.2 + 2 * x], abs=1e-14)  # v + omega x r
    corners = sorted((round(c["point"][0], 12), round(c["point"][1], 12)) for c in contacts)
    assert corners == [(0.4, -0.45), (0.4, -0.05), (0.6, -0.45), (0.6, -0.05)]
    assert len({c["feature"] for c in contacts}) == 4
    assert all(re.fullmatch(r"s0\.u0-s0\.c[0-7]", c["feature"]) for c in contacts)


def test_the_first_body_of_the_file_is_a(perp):
    """With the box first the normal points down to the table: o = n x t = -y, and slip is the table's velocity."""
    one = perp.json("run", perp.write("s.yaml", BOX))["contacts"]
    other = perp.json("run", perp.write("t.yaml", BOX_FIRST))["contacts"]
    by_place = {tuple(c["point"]): c for c in one}
    assert len(other) == 4
    for c in other:
        twin = by_place[tuple(c["point"])]
        assert (c["a"], c["b"]) == ("box", "table") and c["phi"] == twin["phi"]
        assert c["normal"] == [0, 0, -1] and c["tangents"] == [[1, 0, 0], [0, -1, 0]]
        assert c["slip"] == near([-twin["slip"][0], twin["slip"][1]], abs=1e-15)
        assert "-".join(reversed(c["feature"].split("-"))) == twin["feature"]


def test_planar_contacts(perp):
    result = perp.json("run", perp.write("s.yaml", """perp: 1
planar: true
bodies:
  table: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}
  box: {mass: 1, pose: {position: [0.5, 0.135]}, velocity: {linear: [0.3, 0], angular: 2}, shapes: [{box: [0.2, 0.25]}]}
run: {model: geometric}
"""))
    assert len(result["contacts"]) == 2
    for c in result["contacts"]:
        assert list(c) == KEYS and c["phi"] == exact(0.01)
        assert c["normal"] == [0, 1] and c["tangents"] == [[1, 0]]  # t = (n_y, -n_x)
        assert c["ft"] == [0] and c["force_on_b"] == [0, 0]
        assert c["slip"] == near([0.3 + 2 * 0.125], abs=1e-14)
    assert sorted(c["point"][0] for c in result["contacts"]) == near([0.4, 0.6], abs=1e-15)
    assert all(len(c["point"]) == 2 for c in result["contacts"])


def test_margin_and_exclusion(perp):
    scene = perp.write("s.yaml", BOX)
    assert perp.json("run", scene, "--set", "contacts.margin=0.009")["contacts"] == []
    assert perp.json("run", scene, "--set", "contacts.exclude=[[box, table]]")["contacts"] == []
    far = perp.json("run", scene, "--set", "contacts.margin=5", "--set", "bodies.box.pose.position.2=1.125")["contacts"]
    assert [c["phi"] for c in far] == exact([1] * 4)


def test_tilted_box_lists_all_corners_of_its_lowest_face(perp):
    angle = 0.1
    contacts = perp.json("run", perp.write("s.yaml", BOX), "--set", f"bodies.box.pose.rpy=[0, {angle}, 0]",
                         "--set", "contacts.margin=0.1")["contacts"]
    low, high = (0.135 - 0.125 * math.cos(angle) - s * 0.1 * math.sin(angle) for s in (1, -1))
    assert sorted(c["phi"] for c in contacts) == near([low, low, high, high], abs=1e-12)
    assert all(c["normal"] == near([0, 0, 1], abs=1e-12) for c in contacts)


def test_a_pair_may_set_its_tangent(perp):
    contacts = perp.json("run", perp.write("s.yaml", BOX), "--set", "contacts.pairs.table box.tangent=[0, 2, 5]")["contacts"]
    for c in contacts:
        assert c["tangents"] == [near([0, 1, 0], abs=1e-15), near([-1, 0, 0], abs=1e-15)]
        x, y = c["point"][0] - 0.5, c["point"][1] + 0.25
        assert c["slip"] == near([-0.2 + 2 * x, -(0.3 - 2 * y)], abs=1e-14)


def test_order_of_contacts(perp):
    """By the bodies' order in the file, then by shapes, whatever the gaps are."""
    result = perp.json("run", perp.write("s.yaml", """perp: 1
bodies:
  z: {mass: 1, shapes: [{sphere: 0.1}, {sphere: 0.1, pose: {position: [1, 0, 0]}}], pose: {position: [0, 0, 0.11]}}
  a: {mass: 1, shapes: [{sphere: 0.1}], pose: {position: [0, 0, 0.315]}}
  m: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
run: {model: geometric}
"""))
    listed = [(c["a"], c["b"], c["feature"]) for c in result["contacts"]]
    assert listed == [("z", "a", "s0.c0-s0.c0"), ("z", "m", "s0.c0-s0.u0"), ("z", "m", "s1.c0-s0.u0")]
    assert [c["phi"] for c in result["contacts"]] == near([0.005, 0.01, 0.01], abs=1e-15)
    assert result["contacts"][0]["normal"] == [0, 0, 1] and result["contacts"][1]["normal"] == [0, 0, -1]


# ---- along a run --------------------------------------------------------------------------------------------------

PUSHER = """perp: 1
bodies:
  pusher:
    driven: {x: {times: [0, 0.5, 1], values: [-1, -0.05, -1]}}
    shapes: [{box: [1, 1, 1]}]
  block: {mass: 1, pose: {position: [0.9, 0, 0]}, shapes: [{box: [1, 2, 2]}]}
run: {model: kinematic, h: 0.1, until: 1}
"""


def test_penetration_is_the_deepest_of_the_run(perp):
    """Faces at x + 0.5 and 0.4: 0.05 m deep at t = 0.5 s, far away at the end."""
    scene = perp.write("s.yaml", PUSHER)
    result = perp.json("run", scene)
    assert result["status"] == "ok" and result["contacts"] == []
    assert result["residual"]["penetration"] == near(0.05, abs=1e-9)
    middle = perp.json("run", scene, "--until", "0.5")
    assert [c["phi"] for c in middle["contacts"]] == near([-0.05] * 4, abs=1e-9)
    for c in middle["contacts"]:
        assert (c["a"], c["b"], c["mode"], c["fn"]) == ("pusher", "block", "open", 0)
        assert c["normal"] == near([1, 0, 0], abs=1e-9) and c["slip"] == near([0, 0], abs=1e-12)
    before = perp.json("run", scene, "--until", "0.4")
    assert before["residual"]["penetration"] == 0
    text = perp("run", scene).stdout
    assert "contacts within the margin of 0.02 m: 0\n" in text
    assert "deepest penetration at the end of a step: 0.05 m, pusher and block at t = 0.5 s\n" in text


def test_contacts_do_not_touch_the_hash(perp):
    scene = perp.write("s.yaml", PUSHER)
    hashes = {perp.json("run", scene, "--set", f"contacts.margin={m}")["hash"] for m in (0, 0.02, 3)}
    assert len(hashes) == 1


def test_the_same_run_gives_the_same_contacts(perp):
    scene = perp.write("s.yaml", PUSHER)
    one, two = (perp.json("run", scene, "--until", "0.5")["contacts"] for _ in range(2))
    assert one == two


def test_csv_rows(perp, tmp_path):
    scene = perp.write("s.yaml", PUSHER)
    result = perp.json("run", scene, "--csv", "out", "--set", "contacts.margin=0.3", "--until", "0.5")
    rows = list(csv.DictReader(open(tmp_path / "out/contacts.csv")))
    assert list(rows[0]) == ("step,t,a,b,feature,mode,phi,px,py,pz,nx,ny,nz,tx,ty,tz,fn,ft1,ft2,slip1,slip2".split(","))
    gaps = [0.9 - 1.9 * t for t in (0, 0.1, 0.2, 0.3, 0.4)] + [-0.05]
    listed = [k for k, gap in enumerate(gaps) if gap <= 0.3]
    assert [int(r["step"]) for r in rows] == [k for k in listed for _ in range(4)]
    for row in rows:
        k = int(row["step"])
        assert float(row["t"]) == near(0.1 * k, abs=1e-15) and float(row["phi"]) == near(gaps[k], abs=1e-9)
        assert (row["a"], row["b"], row["mode"]) == ("pusher", "block", "open")
        assert float(row["nx"]) == near(1, abs=1e-9)
    for row, c in zip(rows[-4:], result["contacts"]):  # the last step's rows are the result's contacts, bit for bit
        assert row["feature"] == c["feature"] and float(row["phi"]) == c["phi"]
        assert [float(row[k]) for k in ("px", "py", "pz")] == c["point"]
        assert [float(row[k]) for k in ("nx", "ny", "nz")] == c["normal"]
        assert [float(row[k]) for k in ("tx", "ty", "tz")] == c["tangents"][0]
        assert [float(row[k]) for k in ("fn", "ft1", "ft2", "slip1", "slip2")] == [0, 0, 0, *c["slip"]]


def test_csv_of_the_initial_state(perp, tmp_path):
    perp("run", perp.write("s.yaml", BOX), "--csv", "out")
    rows = list(csv.DictReader(open(tmp_path / "out/contacts.csv")))
    assert [r["step"] for r in rows] == ["0"] * 4 and all(float(r["phi"]) == exact(0.01) for r in rows)


def test_planar_csv_has_zeros_for_z(perp, tmp_path):
    perp("run", perp.write("s.yaml", """perp: 1
planar: true
bodies:
  disc: {mass: 1, pose: {position: [0, 0.105]}, velocity: {linear: [1, 0]}, shapes: [{disc: 0.1}]}
  slope: {fixed: true, shapes: [{halfplane: {normal: [0.6, 0.8]}}], pose: {position: [0, 0]}}
contacts: {margin: 0.1}
run: {model: geometric}
"""), "--csv", "out")
    (row,) = csv.DictReader(open(tmp_path / "out/contacts.csv"))
    values = {k: float(v) for k, v in row.items() if k not in ("a", "b", "feature", "mode")}
    assert (row["a"], row["b"]) == ("disc", "slope")
    assert values["phi"] == exact(0.8 * 0.105 - 0.1)
    assert [values[k] for k in ("nx", "ny", "nz")] == near([-0.6, -0.8, 0], abs=1e-15)
    assert [values[k] for k in ("tx", "ty", "tz")] == near([-0.8, 0.6, 0], abs=1e-15)
    assert values["slip1"] == near(0.8, abs=1e-15)  # minus the disc's velocity along t
    assert all(values[k] == 0 for k in ("pz", "nz", "tz", "fn", "ft1", "ft2", "slip2"))


def test_every_number_is_finite(perp):
    """Coinciding centres, flat stacks, bodies inside one another: no NaN, no infinity, no null."""
    result = perp.json("run", perp.write("s.yaml", """perp: 1
bodies:
  a: {mass: 1, shapes: [{sphere: 0.1}, {box: [1, 1, 1]}]}
  b: {mass: 1, shapes: [{sphere: 0.1}, {box: [1, 1, 1]}]}
  c: {mass: 1, inertia: [1, 1, 1], shapes: [{point: {}}, {capsule: {radius: 0.1, length: 1}}]}
run: {model: geometric}
"""))
    assert len(result["contacts"]) > 8
    values = numbers(result["contacts"])
    assert len(values) >= 20 * len(result["contacts"]) and all(map(math.isfinite, values))
    for c in result["contacts"]:
        frame = [c["normal"], *c["tangents"]]
        for i in range(3):
            for j in range(3):
                assert sum(x * y for x, y in zip(frame[i], frame[j])) == near(float(i == j), abs=1e-12)


# ---- the table ----------------------------------------------------------------------------------------------------


def test_table_of_gaps(perp):
    lines = perp("run", perp.write("s.yaml", BOX), "--set", "bodies.box.pose.rpy=[0, 0.01, 0]").stdout.splitlines()
    at = lines.index("contacts within the margin of 0.02 m, smallest gap first")
    assert lines[at + 1].split() == ["gap", "(m)", "a", "b", "feature", "point"]
    gaps = [float(line.split()[0]) for line in lines[at + 2:at + 6]]
    assert gaps == sorted(gaps)
    assert gaps == near([0.135 - 0.125 * math.cos(0.01) - s * 0.1 * math.sin(0.01) for s in (1, 1, -1, -1)], rel=1e-5)
    assert all(line.split()[1:3] == ["table", "box"] for line in lines[at + 2:at + 6])
    assert lines[at + 6].startswith("state hash")


def test_table_is_cut(perp):
    """30 balls, the last one lowest: the 20 smallest gaps are shown, smallest first."""
    balls = "".join(f"  b{i}: {{mass: 1, pose: {{position: [{i}, 0, {0.1 + 0.015 - 0.0005 * i}]}}, shapes: [{{sphere: 0.1}}]}}\n"
                    for i in range(30))
    scene = perp.write("s.yaml", "perp: 1\nbodies:\n" + TABLE + balls + "run: {model: geometric}\n")
    lines = perp("run", scene).stdout.splitlines()
    at = lines.index("contacts within the margin of 0.02 m, smallest gap first") + 2
    assert [line.split()[2] for line in lines[at:at + 20]] == [f"b{i}" for i in range(29, 9, -1)]
    assert lines[at + 20] == "  ... and 10 more; --json lists all"
    assert len(perp.json("run", scene)["contacts"]) == 30


def test_rounding_does_not_shuffle_the_table(perp):
    """Equal gaps come in the order of the contacts, and what is below a picometre is 0."""
    scene = perp.write("s.yaml", BOX.replace("0.135", "0.125"))
    for z in (0.125, 0.125 + 3e-17, 0.125 - 1e-16, 0.125 + 4e-13):
        lines = perp("run", scene, "--set", f"bodies.box.pose.position.2={z!r}", "--set",
                     "bodies.box.pose.rpy=[1.0e-16, -2.0e-16, 0]").stdout.splitlines()
        at = lines.index("contacts within the margin of 0.02 m, smallest gap first") + 2
        table = [line.split()[:4] for line in lines[at:at + 4]]
        listed = [c["feature"] for c in perp.json("run", scene)["contacts"]]
        assert table == [["0", "table", "box", feature] for feature in listed]


def test_table_is_sorted_by_what_it_shows(perp):
    """Gaps of nanometres, of both signs, that stand in no order in the file."""
    gaps = [-1.7e-9, 3e-10, -2.5e-9, -8e-10, 2e-9, 0, -1e-10, 1e-3, -2.5e-9]
    balls = "".join(f"  b{i}: {{mass: 1, pose: {{position: [{i}, 0, {0.1 + g!r}]}}, shapes: [{{sphere: 0.1}}]}}\n"
                    for i, g in enumerate(gaps))
    scene = perp.write("s.yaml", "perp: 1\nbodies:\n" + TABLE + balls + "run: {model: geometric}\n")
    lines = perp("run", scene).stdout.splitlines()
    at = lines.index("contacts within the margin of 0.02 m, smallest gap first") + 2
    rows = [line.split() for line in lines[at:at + len(gaps)]]
    assert [row[2] for row in rows] == ["b2", "b8", "b0", "b3", "b6", "b5", "b1", "b4", "b7"]
    shown = [float(row[0]) for row in rows]
    assert shown == sorted(shown) and shown == near(sorted(gaps), abs=1e-15)


def test_bodies_are_cut(perp):
    """1,000 bodies do not push the gaps off the screen."""
    balls = "".join(f"  b{i}: {{mass: 1, pose: {{position: [{i}, 0, 0.11]}}, shapes: [{{sphere: 0.1}}]}}\n" for i in range(50))
    scene = perp.write("s.yaml", "perp: 1\nbodies:\n" + TABLE + balls + "run: {model: geometric}\n")
    lines = perp("run", scene).stdout.splitlines()
    at = lines.index("bodies that can move, at t = 0 s") + 1
    assert [line.split()[0] for line in lines[at:at + 20]] == [f"b{i}" for i in range(20)]
    assert lines[at + 20] == "  ... and 30 more; --json lists all"
    assert lines[at + 21].startswith("contacts within the margin")
    assert len(perp.json("run", scene)["final"]["q"]) == 50
    few = perp("run", scene, "--set", "contacts.margin=0").stdout.splitlines()
    assert len(few) == at + 20 + 1 + 1 + 1  # the bodies, what is left of them, no contacts, the hash


def test_help_says_what_decides_which_gaps_are_listed(perp):
    assert "contacts.margin" in perp("run", "--help").stdout


def test_no_contacts_is_said(perp):
    text = perp("run", perp.write("s.yaml", BOX), "--set", "contacts.margin=0.001").stdout
    assert "no contacts within the margin of 0.001 m\n" in text


def test_kinematic_says_it_in_a_line(perp):
    text = perp("run", perp.write("s.yaml", BOX), "--model", "kinematic", "--steps", "2").stdout
    assert "contacts within the margin of 0.02 m: 4, smallest gap 0.01 m (--json lists them)\n" in text
    assert "penetration" not in text


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.environ.get("PERP_SANITIZE", "") not in ("", "OFF"),
                    reason="sanitizers need their address space")
def test_contacts_that_memory_cannot_hold(perp):
    """2000 balls in one place are 2 million contacts: more than the memory allowed here. A result, explained."""
    balls = "".join(f"  b{i}: {{mass: 1, shapes: [{{sphere: 0.1}}]}}\n" for i in range(2000))
    scene = perp.write("s.yaml", "perp: 1\nbodies:\n" + balls + "run: {model: kinematic, steps: 1}\n")
    limit = 300 << 20
    done = perp("run", scene, "--json", code=1,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert "contacts at t = 0 s: " in done.stderr and "memory" in done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "error" and result["error"]["code"] == "out-of-memory"
    assert result["contacts"] == [] and result["steps"] == 0


def refusal(perp, mesh):
    path = perp.write("s.yaml", "perp: 1\nbodies:\n" + TABLE + f"  m: {{mass: 1, shapes: [{{mesh: {mesh}}}]}}\n"
                      "run: {model: geometric}\n")
    done = perp("run", path, code=3)
    return [line.removeprefix(path + ":") for line in done.stderr.splitlines()]


def test_a_mesh_that_is_nearly_flat_is_refused_where_it_stands(perp):
    for thickness in ("0", "1.0e-14", "1.0e-12"):
        (line,) = refusal(perp, f"{{points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, {thickness}], [0.3, 0.3, {thickness}]]}}")
        assert line.startswith("4:26: the mesh has no volume")


def test_a_point_that_is_no_number_is_the_only_error(perp):
    (line,) = refusal(perp, "{points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, .nan]]}")
    assert "NaN" in line and line.startswith("4:82:")


def test_a_mesh_with_a_file_and_points_is_refused_though_there_are_none(perp):
    perp.write("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n")
    for points in ("[]", "[[1, 2, 3]]"):
        for mesh in (f"{{file: t.obj, points: {points}}}", f"{{points: {points}, file: t.obj}}"):
            (line,) = refusal(perp, mesh)
            assert line == "4:26: a mesh has `points` or a `file`, not both"


# ---- check --------------------------------------------------------------------------------------------------------


def warnings(perp, path, *extra):
    done = perp("check", path, *extra)
    lines = [re.fullmatch(r"(.*?):(\d+):(\d+): warning: (.*)", line) for line in done.stderr.splitlines()]
    assert all(lines), done.stderr
    assert done.stdout.startswith(f"{path}: sound" + (", with warnings" if lines else "\n"))
    return [(m[1], int(m[2]), int(m[3]), m[4]) for m in lines]


def test_check_is_quiet_about_a_sound_scene(perp):
    assert warnings(perp, perp.write("s.yaml", BOX)) == []


def test_check_warns_of_penetration_at_the_start(perp):
    path = perp.write("s.yaml", BOX.replace("0.135", "0.1"))
    ((file, line, column, message),) = warnings(perp, path)
    assert (file, line, column) == (path, 6, 5)
    assert "table" in message and "box" in message and "0.025" in message


def test_check_warns_of_a_margin_that_a_step_jumps(perp):
    scene = PUSHER.replace("h: 0.1", "h: 0.05") + "contacts: {margin: 0.03}\n"
    path = perp.write("s.yaml", scene)
    ((file, line, column, message),) = warnings(perp, path)  # 1.9 m/s times 0.05 s = 0.095 m
    assert (file, line, column) == (path, 8, 20)
    assert "0.095" in message and "margin" in message
    assert warnings(perp, path, "--set", "contacts.margin=0.1") == []
    assert warnings(perp, path, "--set", "run.h=0.01") == []


def test_check_warns_of_millimetres(perp):
    found = warnings(perp, perp.write("s.yaml", """perp: 1
bodies:
  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  block: {mass: 0.2, pose: {position: [0, 0, 26]}, shapes: [{box: [50, 30, 50]}]}
run: {model: geometric}
"""))
    assert len(found) == 1 and "millimet" in found[0][3] and found[0][1] == 4


def test_check_json_has_the_warnings(perp):
    findings = perp.json("check", perp.write("s.yaml", BOX.replace("0.135", "0.1")))
    assert findings["status"] == "ok" and findings["warnings"] == 1
    (item,) = findings["diagnostics"]
    assert item["severity"] == "warning" and (item["line"], item["column"]) == (6, 5)
    assert item["path"].startswith("bodies.box.pose")


def test_run_does_not_refuse_what_check_warns_of(perp):
    """`geometric` is the way to look at it."""
    result = perp.json("run", perp.write("s.yaml", BOX.replace("0.135", "0.1")))
    assert result["residual"]["penetration"] == exact(0.025)
