"""`perp check`, `models`, `doctor`, help and completion."""
import math
import re
import subprocess

import pytest

from conftest import PERP, ROOT

WRONG = """perp: 1
planr: true
bodies:
  cup:
    mass: -1
    shapes:
      - {bx: [1, 2, 3]}
  a: {mass: abc}
  c: {mass: 1, inertia: [1, 1, 5]}
"""


def test_all_errors_in_one_go(perp):
    path = perp.write("s.yaml", WRONG)
    lines = perp("check", path, code=3).stderr.splitlines()
    places = [re.match(r"(.*):(\d+):(\d+): (.*)", line).groups() for line in lines]
    assert [(int(l), int(c)) for _, l, c, _ in places] == [(2, 1), (5, 11), (7, 10), (8, 13), (9, 25)]
    assert all(file == path for file, *_ in places)
    assert "did you mean `planar`" in places[0][3] and "triangle inequality" in places[4][3]


def test_at_most_twenty_and_a_count(perp):
    path = perp.write("s.yaml", "perp: 1\nbodies:\n" + "".join(f"  b{i}: {{mas: 1}}\n" for i in range(50)))
    lines = perp("check", path, code=3).stderr.splitlines()
    assert len(lines) == 21 and re.match(r"perp: and \d+ more", lines[-1])


def test_json_findings(perp):
    findings = perp.json("check", perp.write("s.yaml", WRONG), code=3)
    assert findings["status"] == "error" and findings["errors"] == 5
    assert findings["diagnostics"][1] == {
        "severity": "error", "file": f"{perp.folder}/s.yaml", "line": 5, "column": 11, "path": "bodies.cup.mass",
        "message": "`mass` must not be negative, but is -1"}


def test_a_support_that_the_rung_does_not_take(perp):
    text = ("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies: {part: {mass: 1, shapes: [{disc: 0.1}], "
            "support: {model: ellipsoid}}}\nrun: {model: %s, h: 0.01, steps: 1}\n")
    for model in ("qs-cone", "qs-lcp", "compliant", "instant"):
        perp("check", perp.write("s.yaml", text % model))
    found = perp.json("check", perp.write("s.yaml", text % "qs-qp"), code=3)["diagnostics"]
    assert [d["path"] for d in found if d["severity"] == "error"] == ["bodies.part.support.model"]


def test_lint(perp):
    path = perp.write("s.yaml", """perp: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
  b: {mass: 1, inertia: [1, 1, 1]}
  c: {}
  e: {}
  d: {driven: {x: 1}, pose: {position: [2, 0, 0]}}
joints:
  j: {type: revolute, parent: world, child: a, axis: [0, 0, 1], limits: [0, 1], position: 0.25, control: position, command: {offset: 0.5, rate: 2}}
  k: {type: revolute, parent: world, child: c, axis: [0, 0, 1], position: 0, control: impedance, stiffness: 1, command: 0.5}
  m: {type: revolute, parent: world, child: e, axis: [0, 0, 1], stiffness: 1, command: 0.5}
loops:
  l: {type: point, a: a, b: b, anchor_b: [0, 0, 0.1]}
forces:
  - {body: d, force: [1, 0, 0]}
""")
    done = perp("check", path)
    assert done.stdout.startswith(f"{path}: sound, with warnings")
    for words in ("its spring is stretched at the start", "its `position` of 0.25 is not used", "outside the limits",
                  "has no effect without `control: impedance`", "has no effect without `control: position`",
                  "open by 0.1", "drives are absolute", "moves nothing"):
        assert words in done.stderr
    assert all(": warning: " in line for line in done.stderr.splitlines())


def warnings(perp, text, *settings):
    """(path, message) of what `perp check` warns of; nothing else may be wrong."""
    arguments = [word for setting in settings for word in ("--set", setting)]
    findings = perp.json("check", perp.write("s.yaml", "perp: 1\n" + text), *arguments)
    assert findings["errors"] == 0
    return [(d["path"], d["message"]) for d in findings["diagnostics"]]


def only(found, path, *words):
    assert [p for p, _ in found] == [path], found
    for word in words:
        assert word in found[0][1], found


HINGE = "bodies: {arm: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: revolute, parent: world, child: arm, axis: [0, 0, 1], %s}}\nrun: {model: kinematic}\n"


def test_position_and_command(perp):
    """Both numbers, by `run` too; an impedance joint is told so where its rung takes it as position."""
    text = HINGE % "position: 0.25, control: position, command: {times: [-1, 1], values: [0, 1], interpolate: cubic}"
    only(warnings(perp, text), "joints.j.command", "starts at 0.5,", "`position` of 0.25 is not used")
    assert "`position` of 0.25 is not used" in perp("run", "s.yaml").stderr
    assert warnings(perp, text, "joints.j.position=0.5") == []
    text = HINGE % "position: 0.25, control: impedance, stiffness: 3, command: 0.75"
    only(warnings(perp, text), "joints.j.command", "starts at 0.75,", "`kinematic`", "`position` of 0.25 is not used")
    only(warnings(perp, text, "run.model=qs-qp"), "joints.j.command", "0.75", "is 0.25: its spring is stretched")


def test_effort_of_springs(perp):
    """A rung that takes an impedance joint as position-controlled cannot limit its force."""
    text = HINGE % "control: impedance, stiffness: 3, damping: 1, effort: 2"
    for model in ("kinematic", "qs-lcp", "qs-ncp", "qs-opt", "qs-lp"):
        only(warnings(perp, text, f"run.model={model}"), "joints.j.effort", "has no effect with model", f"`{model}`")
    for model in ("qs-qp", "qs-impedance-lcp", "dyn-ncp", "compliant", "instant"):
        assert warnings(perp, text, f"run.model={model}") == []
    only(warnings(perp, text, "run.model=instant-qs"), "joints.j.effort", "without the joint's damping")
    assert warnings(perp, text, "run.model=instant-qs", "joints.j.damping=0") == []


@pytest.mark.parametrize("keys, path, degrees", [
    ("limits: [-60, 1]", "joints.j.limits.0", -60), ("limits: [0, 135]", "joints.j.limits.1", 135),
    ("position: 112.5", "joints.j.position", 112.5), ("control: position, command: 35", "joints.j.command", 35),
    ("control: position, command: {times: [0, 1], values: [0, 15]}", "joints.j.command.values.1", 15)])
def test_degrees_of_joints(perp, keys, path, degrees):
    only(warnings(perp, HINGE % keys), path, "were degrees meant", f"{math.radians(degrees):.10g}")


@pytest.mark.parametrize("keys", ["limits: [-6.2831853, 6.2831853]", "limits: [-62.83185307, 62.83185307]", "position: 12.566370614",
                                  "limits: [-5, 5]", "control: position, command: {rate: 30}", "position: 7",
                                  "control: position, command: {times: [0, 1], values: [3, 30]}",
                                  "limits: [-1000, 1000]"])
def test_radians_of_joints(perp, keys):
    assert warnings(perp, HINGE % keys) == []


def test_degrees_of_poses(perp):
    spatial = "bodies:\n  a: {fixed: true, pose: {rpy: [0, %s, 1]}, shapes: [{box: [1, 1, 1], pose: {rpy: [%s, 0, 0]}}]}\n"
    only(warnings(perp, spatial % (90, 0.5)), "bodies.a.pose.rpy.1", "14.3 turns", "1.570796327")
    only(warnings(perp, spatial % (0.5, -180)), "bodies.a.shapes.0.pose.rpy.0", "-3.141592654")
    planar = "planar: true\nbodies:\n  a: {driven: {theta: %s}, pose: {angle: %s}}\n"
    only(warnings(perp, planar % (0, 25)), "bodies.a.pose.angle", "25 degrees")
    only(warnings(perp, planar % (270, 0)), "bodies.a.driven.theta", "270 degrees")
    assert warnings(perp, planar % ("{rate: 45}", 6.2)) == []
    slide = "bodies: {a: {}}\njoints: {j: {type: prismatic, parent: world, child: a, axis: [1, 0, 0], limits: [0, 45]}}\n"
    assert warnings(perp, slide) == []


def test_step_beyond_the_run(perp):
    text = "bodies: {a: {driven: {x: {rate: 0.001}}}}\nrun: {model: %s, h: 0.2, until: %s}\n"
    only(warnings(perp, text % ("kinematic", 0.15)), "run.h", "a step of 0.2 s is longer than the run of 0.15 s", "one step")
    only(warnings(perp, text % ("kinematic", 0.05)), "run.h", "no step")
    assert warnings(perp, text % ("kinematic", 0.2)) == []
    assert warnings(perp, text % ("geometric", 0.05)) == []
    assert warnings(perp, text % ("kinematic", 0.05), "run.until=~", "run.steps=2") == []


AIR = """bodies:
  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}, friction: 0}]}
  wall: {fixed: true, shapes: [{box: [0.1, 1, 3], pose: {position: [0.15, 0, 1.5]}, friction: 0}]}
  lower: {mass: 3, pose: {position: [0, 0, %s]}, shapes: [{box: [0.2, 0.2, 0.1]}]}
  upper: {mass: 2, pose: {position: [0, 0, %s]}, shapes: [{box: [0.1, 0.1, 0.1]}]}
contacts: {margin: 0.01}
run: {model: qs-lcp, h: 0.1, steps: 1}
"""


def test_bodies_in_the_air(perp):
    """A stack counts as one; a wall without friction carries nothing, with friction it may."""
    only(warnings(perp, AIR % (0.08, 0.181)), "bodies.lower.pose", "`lower` (and 1 more)", "29.4 N", "margin of 0.01 m", "quasidynamic")
    only(warnings(perp, AIR % (0.05, 0.17)), "bodies.upper.pose", "`upper` is in the air", "19.6 N")
    assert perp("run", "s.yaml", code=1).stderr.count("nothing supports body `upper`") == 1
    assert warnings(perp, AIR % (0.055, 0.155)) == []
    for settings in (["run.model=dyn-ncp"], ["run.model=quasidynamic"], ["contacts.margin=0.1"], ["gravity=[0, 0, 0]"],
                     ["bodies.lower.free=[x, y]"], ["bodies.wall.shapes.0.friction=0.3"],
                     ["forces=[{body: upper, force: [0, 0, 50]}]"]):
        assert warnings(perp, AIR % (0.08, 0.18), *settings) == [], settings
    only(warnings(perp, AIR % (0.08, 0.18), "bodies.wall.shapes.0.pose.position.0=0.155"), "bodies.lower.pose", "in the air")


def test_patch_beyond_the_body(perp):
    text = """bodies:
  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  coin: {mass: 0.01, pose: {position: [0, 0, 0.001]}, shapes: [{cylinder: {radius: 0.01, length: 0.002}}]}
compliance: {stiffness: 1.0e5, elements: 3, size: %s, gamma: 0}
contacts: {pairs: {"floor coin": {friction: 0.3}}}
run: {model: compliant}
"""
    only(warnings(perp, text % 0.021), "compliance.size", "patch of 0.021 m", "`coin`, which is 0.02 m", "0.002 m")
    assert warnings(perp, text % 0.02) == []
    assert warnings(perp, text % 0.021, "compliance.elements=1") == []
    assert warnings(perp, text % 0.021, "run.model=dyn-ncp") == []
    pair = ["contacts.pairs.floor coin.compliance={stiffness: 1.0e5, elements: 2, size: 0.05, gamma: 0}"]
    only(warnings(perp, text % 0.01, *pair), "contacts.pairs.floor coin.compliance.size", "patch of 0.05 m")


def test_seen_from_above(perp):
    text = """planar: true
gravity: [0, %s]
bodies:
  table: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: -0.05}}]}
  puck: {mass: 1, shapes: [{disc: 0.05}]}
  finger: {driven: {x: {offset: -0.2, rate: 0.01}}, shapes: [{disc: 0.02}]}
run: {model: %s, h: 0.1, steps: 1}
"""
    for model in ("qs-lcp", "qs-cone", "instant-qs"):
        only(warnings(perp, text % (0, model)), "gravity", "nothing resists the sliding of `puck`", f"`{model}`", "support")
    for model in ("quasidynamic", "dyn-ncp", "kinematic", "instant"):
        assert warnings(perp, text % (0, model)) == []
    assert warnings(perp, text % (-9.81, "qs-lcp")) == []
    assert warnings(perp, text % (0, "qs-lcp"), "forces=[{body: puck, force: [0, -1]}]") == []


LAG = """bodies:
  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  box: {mass: 2, pose: {position: [0, 0, 0.05]}, shapes: [{box: [0.1, 0.1, 0.1]}]}
  finger: {shapes: [{sphere: 0.01}]}
joints: {push: {type: prismatic, parent: world, child: finger, axis: [1, 0, 0], anchor: [-0.07, 0, 0.05], control: impedance, stiffness: 400, command: {rate: 0.02}}}
run: {model: quasidynamic, h: 0.02, until: 2}
"""


def test_inertia_within_one_step(perp):
    """m/(h K) = 2/(0.02 * 400) = 0.25 s of 2 s; and v/h = 0.3/0.02 = 15 m/s^2 beside g."""
    only(warnings(perp, LAG), "run.h", "`box` (2 kg)", "m/h^2 = 5e+03 N/m", "springs of 400 N/m", "7.4 %", "0.25 s of the run's 2 s")
    assert warnings(perp, LAG, "run.h=0.03") == [] and warnings(perp, LAG, "run.until=3") == []
    for model in ("qs-cone", "dyn-ncp"):
        assert warnings(perp, LAG, "run.model=" + model) == []
    stiff = ["joints.push.stiffness=1.0e5", "contacts.margin=0.1"]
    only(warnings(perp, LAG, *stiff, "joints.push.command={rate: 0.3}"), "run.h", "at 0.3 m/s", "m v/h = 30 N", "weight of 19.6 N",
         "an h of 0.31 s")
    assert warnings(perp, LAG, *stiff, "joints.push.command={rate: 0.19}") == []
    assert warnings(perp, LAG, *stiff, "joints.push.command={rate: 0.3}", "gravity=[0, 0, 0]") == []
    turning = LAG.replace("type: prismatic", "type: revolute").replace("axis: [1, 0, 0]", "axis: [0, 0, 1]")
    only(warnings(perp, turning, "joints.push.anchor=[0, -2, 0.05]"), "run.h", "springs of 100 N/m")  # K / r^2


L_MESH = """v 0 0 0
v {a} 0 0
v {a} 1 0
v 1 1 0
v 1 3 0
v 0 3 0
v 0 0 2
v {a} 0 2
v {a} 1 2
v 1 1 2
v 1 3 2
v 0 3 2
f 1 2 8 7
f 2 3 9 8
f 3 4 10 9
f 4 5 11 10
f 5 6 12 11
f 6 1 7 12
f 6 5 4 3 2 1
f 7 8 9 10 11 12
"""


def test_concave_mesh(perp):
    """An L of 3 x 3 less 2 x 2, 2 high: 10, its hull 14 (7 of area: the square less the triangle of 2)."""
    text = "bodies: {part: {mass: 1, shapes: [{mesh: {file: l.obj, scale: 0.1}}]}}\n"
    perp.write("l.obj", L_MESH.format(a=3))
    only(warnings(perp, text), "bodies.part.shapes.0.mesh.file", "`l.obj` is concave", "0.014 m^3 in place of 0.01 m^3", "40 % more", "convex pieces")
    assert "is concave" in perp("run", "s.yaml", "--model", "geometric").stderr
    perp.write("l.obj", L_MESH.format(a=1.0001))  # 0.005 % of hull
    assert warnings(perp, text) == []
    perp.write("l.obj", L_MESH.format(a=3).rsplit("f ", 1)[0])  # without its lid nothing is enclosed
    assert warnings(perp, text) == []


def test_what_run_refuses_check_refuses(perp):
    path = perp.write("s.yaml", "perp: 1\nrun: {model: kinematics}\n")
    for command in ("check", "run"):
        assert perp(command, path, code=3).stderr == (
            f"{path}:2:14: there is no model `kinematics`; did you mean `kinematic`? (perp models)\n")
    path = perp.write("s.yaml", "perp: 1\nrun: {model: kinematic, cone: box}\n")
    for command in ("check", "run"):
        assert "2:31" in perp(command, path, code=3).stderr


def test_readme_mistake(perp):
    """The message that the README shows for its scene with a typing error."""
    readme = (ROOT / "README.md").read_text()
    scene = readme.split("```yaml\n")[1].split("```")[0]
    perp.write("door.yaml", scene)
    assert perp.json("run", "door.yaml")["final"]["q"]["hinge"] == [1.5]
    perp.write("door.yaml", scene.replace("density", "densty"))
    assert perp("check", "door.yaml", code=3).stderr.splitlines()[0] in readme


def test_sound_scene_is_quiet(perp):
    done = perp("check", str(ROOT / "examples/arm-reach/scene.yaml"))
    assert done.stderr == "" and "15 degrees of freedom: 6 passive, 2 impedance-controlled, 7 commanded" in done.stdout


def test_one_and_many(perp):
    """One body is no bodies."""
    one = perp("check", perp.write("s.yaml", "perp: 1\nbodies: {a: {mass: 1, free: [x]}}\n")).stdout
    assert "  1 body, 0 joints, 0 loops, 0 forces, spatial\n  1 degree of freedom: 1 passive" in one and one.endswith("; 1 tree\n")
    run = perp("run", "s.yaml", "--model", "dyn-ncp", "--h", "0.1", "--steps", "1", "--log", "s.mcap").stdout
    assert "model dyn-ncp, 1 step of 0.1 s" in run
    assert perp("diff", "s.mcap", "s.mcap").stdout.startswith("equal: 2 steps")


def test_key_reference_is_current(perp):
    page = (ROOT / "docs/scene-keys.md").read_text()
    assert perp("check", "--keys").stdout == page, "run: build/bin/perp check --keys > docs/scene-keys.md"


def test_models(perp):
    lines = perp("models").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [
        "model", "geometric", "kinematic", "qs-lcp", "qs-ncp", "qs-opt", "qs-lp", "qs-impedance-lcp", "qs-qp", "qs-cone",
        "quasidynamic", "dyn-lcp", "dyn-ncp", "dyn-qp", "compliant", "instant", "instant-qs"]


def test_doctor(perp):
    text = perp("doctor").stdout
    assert "self-test" in text and "FAIL" not in text and text.count("  ok ") >= 4
    assert "-ffp-contract=off" in text and "libyaml" in text and "zstd 1." in text


def test_help_teaches_by_example(perp):
    assert "perp run examples/" in perp("--help").stdout
    for command in ("run", "check", "models", "doctor", "completion"):
        text = perp(command, "--help").stdout
        assert f"usage: perp {command}" in text
        assert perp("help", command).stdout == text
    assert "examples:" in perp("run", "--help").stdout
    assert re.fullmatch(r"perp \d+\.\d+\.\d+\n", perp("--version").stdout)


def test_completion_is_bash_and_knows_every_option(perp):
    script = perp("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0

    def complete(*words):
        line = 'source /dev/stdin; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perp; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", line, "bash", *words], input=script, text=True, capture_output=True)
        assert done.returncode == 0 and not done.stderr
        return done.stdout.split()

    assert complete("perp", "r") == ["run"]
    assert set(complete("perp", "run", "--")) >= {"--model", "--set", "--json", "--csv", "--until", "--steps", "--h"}
    assert complete("perp", "run", "--model", "k") == ["kinematic"]


def test_coupled_joints(perp):
    text = """perp: 1
planar: true
bodies: {a: {mass: 1, inertia: 1}, b: {mass: 1, inertia: 1}, c: {mass: 1, inertia: 1}}
joints:
  one: {type: revolute, parent: world, child: a, position: 0.1}
  two: {type: revolute, parent: world, child: b, position: 0.1, mimic: {joint: one, ratio: -1}}
  three: {type: revolute, parent: world, child: c}
tendons:
  cord: {joints: {one: 0.02, three: 0.03}, length: 0.002}
"""
    path = perp.write("s.yaml", text)
    assert f"{path}:6:65: warning: does not hold by 0.2 at the start" in perp("check", path).stderr
    wrong = text.replace("joint: one, ratio", "joint: three, ratio").replace("child: c}", "child: c, mimic: {joint: two}}")
    lines = perp("check", perp.write("t.yaml", wrong.replace("{one: 0.02", "{on: 0.02")), code=3).stderr.splitlines()
    assert "t.yaml:6:80: joints mimic one another in a ring; one of them must mimic none" in lines[0]
    assert "t.yaml:9:23: there is no joint `on`; did you mean `one`?" in lines[1]
    done = perp("check", perp.write("u.yaml", text.replace("ratio: -1", "ration: -1")), code=3)
    assert "u.yaml:6:85" in done.stderr and "did you mean `ratio`" in done.stderr
    done = perp("check", perp.write("v.yaml", text.replace("{one: 0.02, three: 0.03}", "[one, three]")), code=3)
    assert "v.yaml:9:18: expected a mapping: JOINT: COEFFICIENT" in done.stderr
