"""`perp plot`: pictures that are well-formed, repeatable, true to the log and legible."""
import itertools
import json
import os
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

import svg_page
from conftest import PERP, Perp, ROOT, SANITIZED

KINDS = ("sheet", "gaps", "forces", "cone", "modes", "joints", "residuals", "scene", "energy", "path", "bodies", "pressure")
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "g", "rect", "line", "polyline", "polygon", "path", "circle", "ellipse", "text", "tspan"}
# Logged runs with explanations take a sanitized program minutes; under the sanitizers the fuzzer's logs are drawn instead.
pytestmark = pytest.mark.skipif(SANITIZED, reason="the runs take too long; tests/fuzz/fuzz_log.c draws under the sanitizers")
SIDE = 11  # of the square of boxes
IMAGE = "<img src=x onerror=alert(1)>"

# Names that a file may have; the title may be anything.
HOSTILE = """perp: 1
name: '<img src=x onerror=alert(1)> & "quoted" ]]> \\u00b5 a name that goes on and on and on and on and on and on and on'
planar: true
gravity: [0, -10]
bodies:
  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}
  "<img/src&>": {mass: 1, pose: {position: [0, 0.1]}, shapes: [{disc: 0.1}]}
  "</text><script>alert(2)</script>": {mass: 1, pose: {position: [0.3, 0.05]}, shapes: [{box: [0.1, 0.1]}]}
  a_body_whose_name_is_as_long_as_a_name_can_sensibly_be_and_then_some: {mass: 1, pose: {position: [0.6, 0.05]},
    shapes: [{capsule: {radius: 0.05, length: 0.1}}]}
joints: {"</svg>": {type: prismatic, parent: world, child: "<img/src&>", axis: [0, 1], anchor: [0, 0.1], control: position,
  command: {times: [0, 0.1], values: [0, 0.01]}}}
forces: [{body: "</text><script>alert(2)</script>", force: [{sines: [{amplitude: 9, omega: 20}]}, 0]}]
run: {model: quasidynamic, h: 0.01, steps: 30}
"""

# A block that is struck once, between two frames of a run that is too long to be drawn step by step.
STRUCK = """perp: 1
planar: true
gravity: [0, -10]
bodies:
  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}
  ball: {mass: 1, pose: {position: [0, 0.1]}, shapes: [{disc: 0.1}]}
forces: [{body: ball, force: [0, {times: [1.0005, 1.001, 1.0015], values: [0, -90, 0]}]}]
run: {model: quasidynamic, h: 0.001, steps: 2500}
"""


# A body that is thrown, one that hangs on a spring, and a wall at rest.
THROWN = """perp: 1
planar: true
gravity: [0, -10]
bodies:
  wall: {fixed: true, shapes: [{box: [0.1, 1], pose: {position: [-1, 0]}}]}
  ball: {mass: 2, pose: {position: [0.1, 0.2]}, velocity: {linear: [1, 3]}, shapes: [{disc: 0.05}]}
  cart: {mass: 1, pose: {position: [0, 2]}, shapes: [{box: [0.1, 0.1]}]}
joints: {rail: {type: prismatic, parent: world, child: cart, axis: [1, 0], anchor: [0, 2], control: impedance, stiffness: 50, damping: 1,
  command: 0.2}}
run: {model: MODEL, h: 0.01, steps: 40}
"""


# Patches: of 5 x 5 elements under a puck that rocks and spins, of 7 under a disc that rolls.
PUCK = """perp: 1
bodies:
  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  puck: {mass: 0.2, inertia: [1.0e-4, 1.0e-4, 2.0e-4], pose: {position: [0, 0, 0.02]}, velocity: {angular: [2, 1, 20]},
    shapes: [{ellipsoid: [0.05, 0.05, 0.02]}]}
contacts: {friction: 0.3}
compliance: {stiffness: 1.0e3, damping: 5, elements: 5, size: 0.06, gamma: 0.001}
run: {model: compliant, h: 0.001, steps: 30}
"""
ROLLER = """perp: 1
planar: true
bodies:
  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}
  disc: {mass: 1, pose: {position: [0, 0.1]}, velocity: {linear: [0.3, 0], angular: 5}, shapes: [{disc: 0.1}]}
contacts: {friction: 0.3}
compliance: {stiffness: 1.0e4, damping: 50, elements: 7, size: 0.07, gamma: 0}
run: {model: compliant, h: 0.001, steps: 30}
"""


def boxes(side):
    lines = ["perp: 1", "bodies:", "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}"]
    lines += [f"  box{i}_{k}: {{mass: {1 + 0.1 * i + 0.01 * k}, pose: {{position: [{0.2 * i}, {0.2 * k}, 0.05]}},"
              " shapes: [{box: [0.1, 0.1, 0.1]}]}" for i in range(side) for k in range(side)]
    return "\n".join(lines + ["run: {model: quasidynamic, h: 0.01, steps: 2}"]) + "\n"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    perp = Perp(tmp_path_factory.mktemp("plots"))
    for name in ("gripper-2d", "three-finger-grasp", "fixture-gaps", "four-bar"):
        perp("run", ROOT / "examples" / name / "scene.yaml", "--quiet", "--log", f"{name}.mcap")
    for name, scene in (("hostile", HOSTILE), ("struck", STRUCK), ("many", boxes(SIDE)), ("puck", PUCK), ("roller", ROLLER),
                        ("thrown", THROWN.replace("MODEL", "dyn-lcp")), ("thrown2", THROWN.replace("MODEL", "compliant"))):
        perp.write(f"{name}.yaml", scene)
        perp("run", f"{name}.yaml", "--quiet", "--log", f"{name}.mcap")
    return perp


def plot(logs, name, *options, code=0):
    return logs("plot", f"{name}.mcap", *options, code=code).stdout


def words(text):
    return ["".join(e.itertext()) for e in ET.fromstring(text).iter(f"{SVG}text")]


PICTURES = [(name, kind) for name in ("gripper-2d", "three-finger-grasp", "hostile", "four-bar") for kind in KINDS[:-1]]
PICTURES += [(name, kind) for name in ("puck", "roller") for kind in ("sheet", "pressure")]
PICTURES += [("struck", "sheet"), ("struck", "forces"), ("many", "sheet"), ("many", "modes"), ("many", "scene"),
             ("fixture-gaps", "sheet"), ("fixture-gaps", "gaps")]


@pytest.mark.parametrize("name,kind", PICTURES)
def test_well_formed_and_the_same_again(logs, name, kind):
    text = plot(logs, name, "--what", kind)
    assert plot(logs, name, "--what", kind, "-o", "again.svg") == "again.svg\n"
    assert (logs.folder / "again.svg").read_text() == text
    root = ET.fromstring(text)
    width, height = float(root.get("width")), float(root.get("height"))
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        for key, value in element.attrib.items():
            assert not key.startswith("on") and "href" not in key
            assert "nan" not in value and "inf" not in value
        if element.tag == f"{SVG}text":
            assert 0 <= float(element.get("x")) <= width and 0 <= float(element.get("y")) <= height


@pytest.mark.skipif(not svg_page.BROWSER,
                    reason="no chromium to render with")
def test_words_keep_apart_and_something_is_painted(logs):
    """In a real browser with its fonts, at the natural size and at others; names and title cannot become markup."""
    files = {f"{name} {kind}": plot(logs, name, "--what", kind) for name, kind in PICTURES}
    for size in ("300", "900", "300x240", "480x300", "1600x1000"):
        for kind in KINDS:
            name = "hostile" if kind in ("modes", "cone") else "puck" if kind == "pressure" else "gripper-2d"
            wanted = size.split("x")[0] if kind == "sheet" else size  # a sheet has no height of its own
            files[f"{name} {kind} {size}"] = plot(logs, name, "--what", kind, "--size", wanted)
    seen = svg_page.look(logs.folder, files)
    assert seen.keys() == files.keys()
    for name, picture in seen.items():
        assert picture["painted"] > 0.01, name
        assert not svg_page.overlaps(picture["words"]), (name, svg_page.overlaps(picture["words"]))
        for word, left, top, right, bottom in picture["words"]:
            assert left >= -1 and top >= -1 and right <= picture["width"] + 1 and bottom <= picture["height"] + 1, (name, word)
    assert any(word.startswith(IMAGE) for word, *_ in seen["hostile sheet"]["words"])


def test_every_axis_has_its_unit(logs):
    expected = {"gaps": ["gap (mm)", "time (s)"], "forces": ["force (N)", "time (s)"],
                "cone": ["friction force (N)", "normal force (N)"], "modes": ["time (s)"],
                "joints": ["position (mm)", "position (m)", "time (s)"], "residuals": ["residual (1)", "distance (m)", "time (s)"]}
    for kind, titles in expected.items():
        assert set(titles) <= set(words(plot(logs, "gripper-2d", "--what", kind))), kind
    spatial = words(plot(logs, "three-finger-grasp", "--what", "cone"))
    assert "along t (\u00b5 fn)" in spatial and "along o (\u00b5 fn)" in spatial


def arrows(root, colour):
    """Px from the tail to the tip of the arrows of one colour."""
    elements = list(root.iter())
    found = []
    for shaft, head in zip(elements, elements[1:]):
        if shaft.tag == f"{SVG}line" and head.tag == f"{SVG}polygon" and shaft.get("stroke") == head.get("fill") == colour:
            x, y = map(float, head.get("points").split()[0].split(","))
            found.append(((x - float(shaft.get("x1"))) ** 2 + (y - float(shaft.get("y1"))) ** 2) ** 0.5)
    return found


def test_arrows_are_to_scale(logs):
    """Forces in newtons from the picture's own scale; two decimals of px at either end."""
    result = logs.json("run", ROOT / "examples" / "gripper-2d" / "scene.yaml")
    root = ET.fromstring(plot(logs, "gripper-2d", "--what", "scene"))
    scale, = arrows(root, "#1d2733")
    newtons = float(next(m.group(1) for m in map(re.compile(r"([0-9.]+) N, force on the second body").match,
                                                 words(ET.tostring(root))) if m))
    shown = sorted(length * newtons / scale for length in arrows(root, "#009e73") + arrows(root, "#d55e00"))
    assert shown == pytest.approx(sorted(sum(f * f for f in c["force_on_b"]) ** 0.5 for c in result["contacts"]), rel=1e-3)
    assert any(re.fullmatch(r"[125]0* mm", w) for w in words(ET.tostring(root)))


def value_of(root, y, x_end):
    """What a height means, by the labels left of the axis that it lies in."""
    labels = [(float(t.get("y")) - 3.5, float(t.text)) for t in root.iter(f"{SVG}text")
              if t.get("text-anchor") == "end" and float(t.get("x")) < x_end and re.fullmatch(r"-?[0-9.]+", t.text or "")]
    (y1, v1), (y2, v2) = labels[0], labels[-1]
    return v1 + (y - y1) * (v2 - v1) / (y2 - y1), abs((v2 - v1) / (y2 - y1))


def test_curves_are_the_numbers_of_the_log(logs):
    """The last point of the normal force, read off the axis; 0.02 px is what two decimals keep, of label and point."""
    result = logs.json("run", ROOT / "examples" / "gripper-2d" / "scene.yaml")
    finger = next(c for c in result["contacts"] if c["a"] == "left_finger")
    root = ET.fromstring(plot(logs, "gripper-2d", "--what", "forces", "--contact", "left_finger sphere"))
    curves = [p.get("points").split() for p in root.iter(f"{SVG}polyline")]
    assert len(curves) == 3 and all(len(c) == 25 for c in curves)  # one point per step
    for curve, expected in zip(curves, (finger["fn"], 0.5 * finger["fn"], abs(finger["ft"][0]))):
        x, y = map(float, curve[-1].split(","))
        value, per_pixel = value_of(root, y, x)
        assert value == pytest.approx(expected, abs=0.02 * per_pixel)


def test_extremes_between_frames_are_kept(logs):
    result = logs.json("run", "struck.yaml")
    assert result["steps"] == 2500
    text = plot(logs, "struck", "--what", "forces")
    assert any("one step of 4 is drawn" in w for w in words(text))
    root = ET.fromstring(text)
    top = min(float(r.get("y")) for r in root.iter(f"{SVG}rect") if r.get("fill-opacity") == "0.3" and float(r.get("x")) > 60
              and float(r.get("width")) < 5)
    value, per_pixel = value_of(root, top, 600)
    assert value == pytest.approx(100, abs=0.05 * per_pixel)  # the weight and the blow
    drawn = min(float(p.split(",")[1]) for line in root.iter(f"{SVG}polyline") for p in line.get("points").split())
    assert value_of(root, drawn, 600)[0] < 50  # no frame shows it
    for kind in ("gaps", "cone", "modes", "residuals"):
        assert any("one step of 4 is drawn, " in w for w in words(plot(logs, "struck", "--what", kind))), kind


def test_notes_of_a_sheet_are_read_in_full(logs):
    """Of a long run with many contacts there are two things to say below each plot."""
    logs.write("falling.yaml", boxes(3).replace("h: 0.01, steps: 2", "h: 0.0001, steps: 1700"))
    logs("run", "falling.yaml", "--quiet", "--log", "falling.mcap")
    said = words(plot(logs, "falling"))
    assert "one step of 3 is drawn, extremes between are shaded" in said
    assert "3 of 36 contacts, those with the largest normal forces; 33 left out" in said


def test_modes_are_those_of_the_run_in_the_colours_of_the_replay(logs):
    table = (ROOT / "viewer" / "src" / "palette.ts").read_text()
    colours = re.search(r"MODE_COLOURS = \[(.*?)\]", table).group(1).replace('"', "").split(", ")
    modes = dict(zip(("open", "stick", "limit", "slide"), colours))
    root = ET.fromstring(plot(logs, "gripper-2d", "--what", "modes", "--contact", "left_finger"))
    bands = [r for r in root.iter(f"{SVG}rect") if r.get("fill") in colours and float(r.get("width")) != 18]
    assert [b.get("fill") for b in bands] == [modes[m] for m in ("open", "stick", "limit", "slide")]
    widths = [float(b.get("width")) for b in bands]
    assert [round(25 * w / sum(widths)) for w in widths] == [3, 9, 1, 12]  # steps: 0.03, 0.12, 0.13 s are where it changes


def test_a_legend_shows_what_the_rows_show(logs):
    """Swatches have the colours of the bands, as strong as these are; what is not listed has one too."""
    for kind, named in (("modes", ("left_finger",)), ("forces", ("left_finger", "ground"))):
        options = sum((["--contact", name] for name in named), [])
        root = ET.fromstring(plot(logs, "gripper-2d", "--what", kind, *options))
        painted = [r for r in root.iter(f"{SVG}rect") if r.get("fill-opacity")]
        swatches = {(r.get("fill"), r.get("fill-opacity")) for r in painted if r.get("width") == "18"}
        assert {(r.get("fill"), r.get("fill-opacity")) for r in painted if r.get("width") != "18"} == swatches
    for kind in ("cone", "scene"):  # drawn in full colour
        root = ET.fromstring(plot(logs, "gripper-2d", "--what", kind))
        assert {r.get("fill-opacity") for r in root.iter(f"{SVG}rect") if r.get("width") == "18"} - {None} == {"1"}
        assert "not listed" not in words(plot(logs, "gripper-2d", "--what", kind))
    said = words(plot(logs, "gripper-2d", "--what", "modes"))
    assert said.index("not listed") == said.index("slide") + 1
    root = ET.fromstring(plot(logs, "gripper-2d", "--what", "modes", "--contact", "left_finger"))
    below = [r.get("fill") for r in root.iter(f"{SVG}rect") if r.get("fill-opacity") is None and r.get("fill") != "none"]
    assert below.count("#f1f3f5") == 6  # under the one row, and in the five swatches


@pytest.mark.parametrize("kind", ["sheet", "gaps", "forces", "cone", "modes"])
def test_nothing_is_left_out_where_there_is_room(logs, kind):
    """In the size that suits, also where there is no note below."""
    shown = words(plot(logs, "gripper-2d", "--what", kind))
    assert not any("left out" in w for w in shown)
    assert sum(w.startswith("right_finger sphere") for w in shown) == (4 if kind == "sheet" else 1)


def test_many_contacts_are_cut_to_the_largest_and_say_so(logs):
    text = plot(logs, "many", "--what", "forces")
    count = 4 * SIDE ** 2
    assert f"6 of {count} contacts, those with the largest normal forces; {count - 6} left out" in words(text)
    assert sum(f"box{SIDE - 1}_{SIDE - 1}" in w for w in words(text)) == 4  # the heaviest
    assert len([w for w in words(plot(logs, "many", "--what", "modes", "--most", "9")) if w.startswith("floor ")]) == 9
    assert "4 of 16 contacts, those with the smallest gaps; 12 left out" in words(
        plot(logs, "fixture-gaps", "--what", "gaps", "--most", "4"))


def test_contacts_and_joints_by_name(logs):
    titles = [w for w in words(plot(logs, "gripper-2d", "--what", "gaps", "--contact", "sphere left_finger")) if "sphere" in w]
    assert titles == ["left_finger sphere s0.e1-s0.c0 (\u00b5 = 0.5)"]
    both = words(plot(logs, "gripper-2d", "--what", "gaps", "--contact", "left_finger", "--contact", "ground"))
    assert sum("sphere" in w for w in both) == 2
    assert words(plot(logs, "gripper-2d", "--what", "joints", "--joint", "lift")).count("lift") == 1
    wrong = logs("plot", "gripper-2d.mcap", "--what", "gaps", "--contact", "left_fingr sphere", code=2).stderr
    assert "did you mean `left_finger sphere`" in wrong
    assert "did you mean `lift`" in logs("plot", "gripper-2d.mcap", "--what", "joints", "--joint", "lft", code=2).stderr


def test_what_cannot_be_drawn_is_refused(logs):
    assert "did you mean `forces`" in logs("plot", "gripper-2d.mcap", "--what", "force", code=2).stderr
    for wrong in ("x", "0", "80x", "800x600x2", "-5"):
        assert "--size" in logs("plot", "gripper-2d.mcap", f"--size={wrong}", code=2).stderr
    assert "300 to 20000 pixels wide" in logs("plot", "gripper-2d.mcap", "--size", "100", code=2).stderr
    assert "240 to 20000 pixels high" in logs("plot", "gripper-2d.mcap", "--what", "modes", "--size", "400x100", code=2).stderr
    assert "no step 26; its last is 25" in logs("plot", "gripper-2d.mcap", "--what", "scene", "--step", "26", code=2).stderr
    assert "no joint" in logs("plot", "many.mcap", "--what", "joints", code=2).stderr
    assert "carries force" in logs("plot", "fixture-gaps.mcap", "--what", "cone", code=2).stderr
    assert "1 to 500" in logs("plot", "gripper-2d.mcap", "--most", "501", code=2).stderr
    logs("plot", "gripper-2d.mcap", "-o", "no/such/folder/x.svg", code=1)
    logs("plot", "missing.mcap", "-o", "x.svg", code=3)
    logs("plot", code=2)
    assert not [f for f in os.listdir(logs.folder) if "partial" in f or f == "x.svg"]


# What each kind has a use for; all others must not be taken in silence.
USES = {"--contact": ("sheet", "gaps", "forces", "cone", "modes"), "--joint": ("sheet", "joints"),
        "--most": ("sheet", "gaps", "forces", "cone", "modes", "joints", "path", "bodies"), "--step": ("sheet", "scene"),
        "--body": ("path", "bodies")}


@pytest.mark.parametrize("option,value", [("--contact", "left_finger"), ("--joint", "lift"), ("--most", "1"), ("--step", "14"),
                                          ("--body", "palm")])
def test_an_option_either_changes_the_plot_or_is_refused(logs, option, value):
    for kind in KINDS:
        if kind == "pressure":
            continue  # of another run, below
        if kind in USES[option]:
            assert plot(logs, "gripper-2d", "--what", kind, option, value) != plot(logs, "gripper-2d", "--what", kind), kind
        else:
            assert option in logs("plot", "gripper-2d.mcap", "--what", kind, option, value, code=2).stderr, kind
    assert "--size WIDTH alone" in logs("plot", "gripper-2d.mcap", "--size", "900x600", code=2).stderr


def test_pressure_is_that_of_the_log(logs):
    """Every element has its square, the darkest where it presses most, or in the plane its bar, read off the axis."""
    log = json.loads(logs("export", "puck.mcap", "--json").stdout)["steps"]
    patch, = log[12]["elements"]["contacts"]
    root = ET.fromstring(plot(logs, "puck", "--what", "pressure", "--step", "12", "--contact", "table puck", "--most", "1"))
    squares = [r for r in root.iter(f"{SVG}rect") if float(r.get("width")) > 20 and len(r.get("fill")) == 7 and r.get("fill") != "#ffffff"]
    assert len(squares) == 25
    light = [sum(int(r.get("fill")[k:k + 2], 16) for k in (1, 3, 5)) for r in squares]  # in the order of the elements
    for (f, a), (g, b) in itertools.combinations(zip(patch["fn"], light, strict=True), 2):
        assert f == pytest.approx(g, rel=1e-2) or (f < g) == (a > b)  # a hundredth may be one shade
    most = max(max(c["fn"]) for step in log[1:] for c in step["elements"]["contacts"]) / 0.012 ** 2
    assert any(w == f"{most:.4g} Pa" for w in words(ET.tostring(root)))
    bars, = json.loads(logs("export", "roller.mcap", "--json").stdout)["steps"][30]["elements"]["contacts"]
    root = ET.fromstring(plot(logs, "roller", "--what", "pressure"))
    drawn = [r for r in root.iter(f"{SVG}rect") if float(r.get("width")) > 10 and len(r.get("fill")) == 7 and r.get("fill") != "#ffffff"]
    for bar, fn in zip(drawn, bars["fn"], strict=True):
        if fn > 0:
            value, per_pixel = value_of(root, float(bar.get("y")), 80)
            assert value == pytest.approx(fn / 0.01, abs=0.03 * per_pixel)
    assert "patch of several elements" in logs("plot", "gripper-2d.mcap", "--what", "pressure", code=2).stderr
    assert "--joint" in logs("plot", "puck.mcap", "--what", "pressure", "--joint", "x", code=2).stderr


def test_a_log_is_not_written_over(logs):
    log = logs.folder / "gripper-2d.mcap"
    before = log.read_bytes()
    os.symlink("gripper-2d.mcap", logs.folder / "same.svg")
    for name in ("gripper-2d.mcap", "./gripper-2d.mcap", "same.svg"):
        assert "overwrite" in logs("plot", "gripper-2d.mcap", "-o", name, code=2).stderr
    assert log.read_bytes() == before
    os.remove(logs.folder / "same.svg")


def test_a_scene_at_a_step(logs):
    first, last = (plot(logs, "gripper-2d", "--what", "scene", *o) for o in (["--step", "0"], []))
    assert "gripper-2d, at t = 0 s (step 0)" in words(first) and "gripper-2d, at t = 0.25 s (step 25)" in words(last)
    assert "force on the second body" not in first  # nothing has been solved yet
    assert {"sphere", "left_finger", "right_finger"} <= set(words(last))


def test_what_stands_on_a_table_is_drawn_over_it(logs):
    """A cube at the far end of a table is farther away than the table's middle, and in front of its top all the same; a
    post hides the cube although it is farther up in the file."""
    logs.write("table.yaml", """perp: 1
bodies:
  post: {mass: 1, pose: {position: [-0.55, 0.55, 0.2]}, shapes: [{box: [0.1, 0.1, 0.4]}]}
  cube: {mass: 1, pose: {position: [-0.7, 0.8, 0.1]}, shapes: [{box: [0.2, 0.2, 0.2]}]}
  table: {fixed: true, pose: {position: [0, 0, -0.05]}, shapes: [{box: [2, 2, 0.1]}]}
run: {model: quasidynamic, steps: 1}
""")
    logs("run", "table.yaml", "--quiet", "--log", "table.mcap")
    root = ET.fromstring(plot(logs, "table", "--what", "scene"))
    faces = [[tuple(map(float, p.split(","))) for p in e.get("points").split()]
             for e in root.iter(f"{SVG}polygon") if len(e.get("points").split()) == 4]
    assert len(faces) == 9  # three sides of each are seen
    wide, tall = [], []
    for i in (0, 3, 6):
        points = sum(faces[i:i + 3], [])
        wide.append(max(x for x, _ in points) - min(x for x, _ in points))
        tall.append(max(y for _, y in points) - min(y for _, y in points))
    assert wide[0] > 5 * wide[1] > 5 * wide[2]  # the table, the cube, the post
    assert tall[2] > tall[1]


def test_completion_and_help(logs):
    script = subprocess.run([PERP, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    assert " ".join(KINDS) in script and "plot) words=" in script
    shown = logs("plot", "--help").stdout
    for kind in KINDS[1:]:
        assert kind in shown
    for command in re.findall(r"^  perp plot run\.mcap (.*?)(?:   .*| > .*)?$", shown, re.MULTILINE):
        arguments = [a.strip('"') for a in re.findall(r'"[^"]*"|\S+', command)]
        logs("plot", "gripper-2d.mcap", *arguments)  # every example in the help runs


def test_a_log_that_was_cut_is_drawn_as_far_as_it_goes(logs):
    whole = (logs.folder / "gripper-2d.mcap").read_bytes()
    (logs.folder / "cut.mcap").write_bytes(whole[: int(0.97 * len(whole))])
    done = logs("plot", "cut.mcap", "-o", "cut.svg", code=0)
    assert done.stderr and ET.parse(logs.folder / "cut.svg")


def axis_values(root, points, upright):
    """Px of points as what the labels beside or below the axis say, in m; and m per px."""
    unit = {"m": 1, "mm": 1e-3}[re.search(r"\((m+)\)", next(w for w in words(ET.tostring(root))
                                if re.fullmatch(r"[yz] \(m+\)" if upright else r"[xy] \(m+\)", w))).group(1)]
    anchor, shift = ("end", 3.5) if upright else ("middle", 0.0)
    labels = [(float(t.get("y" if upright else "x")) - shift, float(t.text)) for t in root.iter(f"{SVG}text")
              if t.get("text-anchor") == anchor and re.fullmatch(r"-?[0-9.]+", t.text or "")]
    (p1, v1), (p2, v2) = labels[0], labels[-1]
    scale = unit * (v2 - v1) / (p2 - p1)
    return [unit * v1 + (float(p) - p1) * scale for p in points], abs(scale)


def paths(root):
    return [p.get("points").split() for p in root.iter(f"{SVG}polyline")]


def test_paths_are_those_of_the_log_and_both_axes_have_one_scale(logs):
    """Every point of every path, read off the axes; 0.02 px is what two decimals keep, of labels and points."""
    root = ET.fromstring(logs("plot", "thrown.mcap", "thrown2.mcap", "--what", "path", "--body", "ball", "--body", "cart").stdout)
    drawn, scales = paths(root), []
    assert len(drawn) == 4
    for path, (name, body) in zip(drawn, itertools.product(("thrown", "thrown2"), ("ball", "cart"))):
        steps = json.loads(logs("export", f"{name}.mcap", "--json").stdout)["steps"]
        poses = [step["state"]["poses"][body] for step in steps]
        for k in range(2):
            shown, scale = axis_values(root, [p.split(",")[k] for p in path], k == 1)
            assert shown == pytest.approx([pose[k] for pose in poses], abs=0.03 * scale)
            scales.append(scale)
    assert max(scales) == pytest.approx(min(scales), rel=1e-3)  # of labels with two decimals of px
    said = words(ET.tostring(root))
    assert {"log 1: dyn-lcp", "log 2: compliant", "ball", "cart"} <= set(said) and "wall" not in said


def test_planes_of_a_path(logs):
    assert plot(logs, "three-finger-grasp", "--what", "path", "--plane", "xz") != plot(logs, "three-finger-grasp", "--what", "path")
    assert "z (m)" in words(plot(logs, "three-finger-grasp", "--what", "bodies", "--plane", "yz"))
    for wrong, said in ((("gripper-2d.mcap", "--plane", "xz"), "plane of x and y"), (("gripper-2d.mcap", "--plane", "zx"), "xy, xz or yz"),
                        (("gripper-2d.mcap", "--body", "plm"), "did you mean `palm`"), (("fixture-gaps.mcap",), "moves"),
                        (("gripper-2d.mcap", "three-finger-grasp.mcap"), "planar and spatial")):
        assert said in logs("plot", *wrong, "--what", "path", code=2).stderr, wrong
    assert "only paths and bodies" in logs("plot", "thrown.mcap", "thrown2.mcap", "--what", "energy", code=2).stderr


def test_energies_are_those_of_the_states(logs):
    """Masses times what the log says of velocities and heights; the spring's stretch."""
    steps = json.loads(logs("export", "thrown.mcap", "--json").stdout)["steps"]
    root = ET.fromstring(plot(logs, "thrown", "--what", "energy"))
    last, first = steps[-1]["state"], steps[0]["state"]
    (vx, vy, _), rail, rate = last["v"]["ball"], last["q"]["rail"][0], last["v"]["rail"][0]
    kinetic = 0.5 * 2 * (vx * vx + vy * vy) + 0.5 * rate * rate
    gravity = 2 * 10 * (last["q"]["ball"][1] - first["q"]["ball"][1])
    springs = 0.5 * 50 * (0.2 - rail) ** 2
    curves = paths(root)
    assert len(curves) == 4 and len(curves[0]) == 41
    for curve, expected in zip(curves, (kinetic, gravity, springs, kinetic + gravity + springs)):
        x, y = map(float, curve[-1].split(","))
        value, per_pixel = value_of(root, y, x)
        assert value == pytest.approx(expected, abs=0.03 * per_pixel)
    assert "springs" not in words(plot(logs, "struck", "--what", "energy"))
