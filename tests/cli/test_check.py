"""`perp check`, `models`, `doctor`, help and completion."""
import re
import subprocess

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
