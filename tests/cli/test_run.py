"""`perp run`: results, settings, CSV, exit codes, and what happens when the system says no."""
import csv
import json
import math
import os
import resource
import signal
import stat
import subprocess
import time

import pytest

from conftest import ROOT, PERP

MIXED = """
perp: 1
bodies:
  ground: {fixed: true}
  part: {mass: 1, free: [x, y, z], pose: {position: [0.1, 0.2, 0.3]}, velocity: {linear: [1, 0, 0]}}
  pusher: {driven: {x: {rate: 2}, rz: {rate: 1}}, pose: {position: [0, 0, 1]}}
  arm: {mass: 1, inertia: [1, 1, 1]}
  hand: {mass: 1, inertia: [1, 1, 1]}
joints:
  shoulder: {type: revolute, parent: world, child: arm, axis: [0, 0, 1], control: position, command: {rate: 0.5}}
  wrist: {type: ball, parent: arm, child: hand, anchor: [1, 0, 0]}
run: {model: kinematic, h: 0.1, steps: 5}
"""

PLANAR = """
perp: 1
planar: true
bodies:
  part: {mass: 1, inertia: 0.1, pose: {position: [1, 2], angle: 7}}
  pusher: {driven: {x: 0, y: {rate: 1}, theta: {rate: 3}}}
run: {model: kinematic, h: 0.5, until: 1}
"""


def test_json_has_every_key_of_the_contract(perp):
    result = perp.json("run", perp.write("s.yaml", MIXED))
    assert {"status", "model", "h", "steps", "final", "contacts", "events", "residual", "fallbacks", "timing",
            "hash"} <= set(result)
    assert set(result["residual"]) >= {"balance", "complementarity", "cone", "penetration", "balance_true",
                                       "boundary_layer"}
    assert set(result["timing"]) == {"step_mean_us", "step_median_us", "step_max_us", "solve_mean_us"}
    assert result["status"] == "ok" and result["model"] == "kinematic" and result["steps"] == 5
    assert result["timing"]["step_max_us"] >= result["timing"]["step_median_us"] > 0


def test_state_lists_bodies_and_joints_but_not_jointed_bodies(perp):
    final = perp.json("run", perp.write("s.yaml", MIXED))["final"]
    assert set(final["q"]) == set(final["v"]) == {"part", "pusher", "shoulder", "wrist"}
    assert final["q"]["part"] == [0.1, 0.2, 0.3, 1, 0, 0, 0]
    assert final["v"]["part"] == [0] * 6
    assert final["q"]["pusher"] == pytest.approx([1, 0, 1, math.cos(0.25), 0, 0, math.sin(0.25)], abs=1e-14)
    assert final["v"]["pusher"] == pytest.approx([2, 0, 0, 0, 0, 1], abs=1e-12)
    assert final["q"]["shoulder"] == pytest.approx([0.25], abs=1e-15)
    assert final["q"]["wrist"] == [1, 0, 0, 0] and len(final["v"]["wrist"]) == 3


def test_whole_turns_count(perp):
    """(x(t + h) - x(t)) / h, also where a step turns by more than half a turn."""
    spatial = perp.write("s.yaml", "perp: 1\nbodies: {d: {driven: {rz: {rate: 100}, x: {rate: 1}}}}\n"
                                   "run: {model: kinematic, h: 0.1, steps: 3}\n")
    assert perp.json("run", spatial)["final"]["v"]["d"] == pytest.approx([1, 0, 0, 0, 0, 100], abs=1e-12)
    exact = perp.json("run", spatial, "--set", f"bodies.d.driven.rz.rate={20 * math.pi}")["final"]["v"]["d"]
    assert exact[5] == pytest.approx(20 * math.pi, abs=1e-9)
    planar = perp.write("p.yaml", "perp: 1\nplanar: true\nbodies:\n  d: {driven: {theta: {rate: 100}}}\n  a: {}\n"
                                  "joints: {j: {type: revolute, parent: d, child: a, anchor: [1, 0], axis: [0, 0, -1],"
                                  " control: position, command: {rate: 10}}}\n"
                                  "run: {model: kinematic, h: 0.1, steps: 3}\n")
    final = perp.json("run", planar)["final"]
    assert final["v"]["d"] == pytest.approx([0, 0, 100]) and final["q"]["d"][2] == pytest.approx(30)
    assert final["poses"]["d"][2] == pytest.approx(30) and final["poses"]["a"][2] == pytest.approx(27)


def test_impedance_is_position_here(perp):
    """`kinematic` takes impedance control as position control: same path, same velocity."""
    joint = "{type: revolute, parent: world, child: %s, axis: [0, 0, 1], control: %s, stiffness: 1, position: 0.5, command: {rate: 2}}"
    scene = perp.write("s.yaml", "perp: 1\nbodies: {a: {}, b: {}}\njoints:\n  p: " + joint % ("a", "position") +
                       "\n  i: " + joint % ("b", "impedance") + "\nrun: {model: kinematic, h: 0.1, steps: 1}\n")
    for prediction in ("exact", "taylor"):
        final = perp.json("run", scene, "--set", f"run.prediction={prediction}")["final"]
        assert final["q"]["p"] == final["q"]["i"] == pytest.approx([0.2])
        assert final["v"]["p"] == final["v"]["i"] == pytest.approx([2])


def test_taylor_is_for_driven_bodies(perp):
    """Joints take their commands exactly; a driven body ends at x(t) + h x'(t) in each of its coordinates."""
    scene = perp.write("s.yaml", "perp: 1\nbodies: {d: {driven: {rx: {rate: 2}, rz: {sines: [{amplitude: 1, omega: 1}]}}}, a: {}}\n"
                       "joints: {j: {type: prismatic, parent: world, child: a, axis: [1, 0, 0], control: position,"
                       " command: {sines: [{amplitude: 1, omega: 1}]}}}\n"
                       "run: {model: kinematic, h: 0.1, steps: 10, prediction: taylor}\n")
    final = perp.json("run", scene)["final"]
    assert final["q"]["j"] == pytest.approx([math.sin(1)], abs=1e-15)
    assert final["v"]["j"] == pytest.approx([(math.sin(1) - math.sin(0.9)) / 0.1], abs=1e-12)
    rx, rz = 1 + 1, math.sin(0.9) + 0.1 * math.cos(0.9)
    half = [math.cos(rz / 2) * math.cos(rx / 2), math.cos(rz / 2) * math.sin(rx / 2),
            math.sin(rz / 2) * math.sin(rx / 2), math.sin(rz / 2) * math.cos(rx / 2)]
    assert final["q"]["d"][3:] == pytest.approx(half, abs=1e-14)
    yaw = math.sin(0.9)
    assert final["v"]["d"][3:] == pytest.approx([2 * math.cos(yaw), 2 * math.sin(yaw), math.cos(0.9)], abs=1e-12)


def test_options_of_their_own_count(perp):
    scene = perp.write("s.yaml", "perp: 1\n")
    result = perp.json("run", scene, "--model", "kinematic", "--h", "0.1", "--set", "run={h: 0.2, until: 1}")
    assert result["h"] == 0.1 and result["steps"] == 10


def test_planar_state(perp):
    result = perp.json("run", perp.write("s.yaml", PLANAR))
    assert result["final"]["q"] == {"part": [1, 2, 7], "pusher": [0, 1, 3]}
    assert result["final"]["v"]["pusher"] == [0, 1, 3]


def test_geometric_reports_the_initial_state_whatever_h_and_steps(perp):
    scene = perp.write("s.yaml", MIXED)
    for extra in ([], ["--steps", "0"], ["--h", "0", "--steps", "3"]):
        result = perp.json("run", scene, "--model", "geometric", *extra)
        assert result["steps"] == 0 and result["final"]["t"] == 0
        assert result["final"]["v"]["part"][0] == 1


def test_steps_are_rounded(perp):
    scene = perp.write("s.yaml", MIXED)
    assert perp.json("run", scene, "--until", "0.26")["steps"] == 3
    assert perp.json("run", scene, "--until", "0.24")["steps"] == 2
    assert perp.json("run", scene, "--steps", "7", "--h", "0.01")["final"]["t"] == pytest.approx(0.07)


def test_settings(perp):
    scene = perp.write("s.yaml", MIXED)
    assert perp.json("run", scene, "--set", "joints.shoulder.command.rate=1")["final"]["q"]["shoulder"] == [0.5]
    assert perp.json("run", scene, "--set", "joints.shoulder.command=0.3")["final"]["q"]["shoulder"] == [0.3]
    assert perp.json("run", scene, "--set", "bodies.part.pose.position.1=-4")["final"]["q"]["part"][1] == -4
    assert perp.json("run", scene, "--set", "bodies.new.mass=1", "--set", "bodies.new.free=[x]",
                     )["final"]["q"]["new"][0] == 0
    assert perp.json("run", scene, "--set", "contacts.pairs.ground part.friction=0.3")["status"] == "ok"
    assert perp.json("run", scene, "--set", "run.until=0.2")["steps"] == 2


@pytest.mark.parametrize("setting, words", [
    ("contacts.frictoin=1", "did you mean `friction`"),
    ("bodies.part.mass=-1", "must not be negative"),
    ("bodies.part.pose.position.7=1", "has no element"),
    ("bodies.part.mass.x=1", "it has no key `x`"),
    ("bodies.part.pose.position.x=1", "by its number"),
    ("bodies..mass=1", "empty part"),
    ('bodies.part.mass="abc', "not YAML"),
    ("bodies.part.mass=", "expected a number"),
    ("bodies.part.shapes.0.sphere=1", "set the whole list"),
])
def test_settings_obey_the_same_rules(perp, setting, words):
    done = perp("run", perp.write("s.yaml", MIXED), "--set", setting, code=3)
    first = done.stderr.splitlines()[0]
    assert words in done.stderr and first.startswith(f"--set {setting}:1:"), done.stderr


def test_same_run_same_hash_and_other_run_other_hash(perp):
    scene = perp.write("s.yaml", MIXED)
    one, two = (perp.json("run", scene)["hash"] for _ in range(2))
    other = perp.json("run", scene, "--set", "joints.shoulder.command.rate=0.500000001")["hash"]
    assert one == two != other and len(one) == 16


def test_csv(perp, tmp_path):
    scene = perp.write("s.yaml", MIXED)
    result = perp.json("run", scene, "--csv", "out")
    rows = list(csv.reader(open(tmp_path / "out/state.csv")))
    body = "x y z qw qx qy qz".split()
    expected = ["step", "t"] + [f"part.{c}" for c in body] + [f"pusher.{c}" for c in body] + ["shoulder"]
    assert rows[0][:len(expected)] == expected
    assert len(rows) == 7 and rows[1][:2] == ["0", "0"] and len(set(map(len, rows))) == 1
    last = dict(zip(rows[0], map(float, rows[-1])))
    assert last["pusher.x"] == result["final"]["q"]["pusher"][0]
    assert last["v:pusher.x"] == result["final"]["v"]["pusher"][0]
    assert last["v:shoulder"] == result["final"]["v"]["shoulder"][0]
    header = (tmp_path / "out/contacts.csv").read_text().splitlines()[0]
    assert header == "step,t,a,b,feature,mode,phi,px,py,pz,nx,ny,nz,tx,ty,tz,fn,ft1,ft2,slip1,slip2"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["contacts.csv", "state.csv"]


def test_planar_csv_header(perp, tmp_path):
    perp("run", perp.write("s.yaml", PLANAR), "--csv", "out")
    header = (tmp_path / "out/state.csv").read_text().splitlines()[0]
    assert header.startswith("step,t,part.x,part.y,part.theta,pusher.x")
    assert header.endswith("v:pusher.x,v:pusher.y,v:pusher.theta")


# ---- exit codes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [
    [], ["fly"], ["run"], ["run", "a", "b"], ["run", "a", "--modle", "x"], ["run", "a", "--model"],
    ["run", "a", "--model", "qs-nothing"], ["run", "a", "--h", "abc"], ["run", "a", "--until", "1", "--steps", "2"],
    ["run", "a", "--json=yes"], ["check"], ["completion", "zsh"], ["run", "a", "--set", "nonsense"],
    ["run", "a", "--set", "=1"], ["run", "a", "--until", "nan"], ["run", "a", "--until", "-1"],
    ["run", "a", "--steps", "1.5"], ["run", "a", "--h", "0x10"], ["run", "a", "--until", "inf"],
])
def test_usage_errors(perp, arguments):
    assert perp(*arguments, code=2).stderr


def test_vanished_input(perp):
    done = perp("run", "nowhere.yaml", code=3)
    assert done.stderr.startswith("nowhere.yaml:1:1: cannot be opened: No such file")
    result = json.loads(perp("run", "nowhere.yaml", "--json", code=3).stdout)
    assert result["status"] == "error" and result["error"]["code"] == "bad-input"


def test_unknown_model_in_the_scene_names_the_place(perp):
    done = perp("run", perp.write("s.yaml", MIXED.replace("kinematic", "kinetic")), code=3)
    assert done.stderr.startswith(f"{perp.folder}/s.yaml:12:14: there is no model `kinetic`")


def test_option_that_the_rung_does_not_take(perp):
    scene = perp.write("s.yaml", MIXED)
    assert "run.cone=box:1:" in perp("run", scene, "--set", "run.cone=box", code=3).stderr
    assert "smoothing" in perp("run", scene, "--set", "run.smoothing=0.1", code=3).stderr
    assert "positive time step" in perp("run", scene, "--h", "0", code=3).stderr
    perp("run", scene, "--set", "run.cone=box", "--set", "run.cone=~")


# ---- the system says no -------------------------------------------------------------------------------------------


def test_full_disk_on_standard_output(perp):
    scene = perp.write("s.yaml", MIXED)
    with open("/dev/full", "w") as full:
        for extra in ([], ["--json"]):
            done = perp("run", scene, *extra, code=1, stdout=full)
            assert "cannot write to standard output: No space left on device" in done.stderr


def test_a_run_that_stops_keeps_what_it_did(perp, tmp_path):
    """The fingers' positions are forced into the sphere: a stop with a reason, behind steps that are worth seeing."""
    scene = str(ROOT / "examples/gripper-2d/scene.yaml")
    perp("run", scene, "--csv", "out")
    done = perp("run", scene, "--model", "qs-lcp", "--csv", "out", code=1)
    steps = perp.json("run", scene, "--model", "qs-lcp", code=1)["steps"]
    rows = list(csv.DictReader(open(tmp_path / "out/state.csv")))
    assert steps > 0 and [int(row["step"]) for row in rows] == list(range(steps + 1))
    assert "force bodies into each other" in done.stderr and "state hash" in done.stdout


def limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


def test_full_disk_leaves_earlier_files_untouched(perp, tmp_path):
    scene = perp.write("s.yaml", MIXED)
    perp("run", scene, "--csv", "out")
    before = (tmp_path / "out/state.csv").read_bytes()
    done = perp("run", scene, "--csv", "out", "--steps", "5000", code=1, preexec_fn=limit_file_size)
    assert "cannot write" in done.stderr and "state.csv" in done.stderr and "File too large" in done.stderr
    assert (tmp_path / "out/state.csv").read_bytes() == before
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["contacts.csv", "state.csv"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_no_space_left(perp, tmp_path):
    """A real file system of 64 KiB; where mounting is not allowed the file-size limit above stands for it."""
    mount = tmp_path / "small"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mount], capture_output=True).returncode:
        pytest.skip("mount is not allowed here")
    try:
        scene = perp.write("s.yaml", MIXED)
        perp("run", scene, "--csv", mount)
        before = (mount / "state.csv").read_bytes()
        done = perp("run", scene, "--csv", mount, "--steps", "5000", code=1)
        assert "No space left on device" in done.stderr
        assert (mount / "state.csv").read_bytes() == before
        assert sorted(p.name for p in mount.iterdir()) == ["contacts.csv", "state.csv"]
    finally:
        subprocess.run(["umount", mount], check=True)


def test_folder_that_cannot_be_written(perp, tmp_path):
    scene = perp.write("s.yaml", MIXED)
    (tmp_path / "file").write_text("mine")
    assert "cannot" in perp("run", scene, "--csv", "file", code=1).stderr
    assert (tmp_path / "file").read_text() == "mine"
    assert "No such file" in perp("run", scene, "--csv", "no/such/folder", code=1).stderr


def test_read_only_folder(perp, tmp_path):
    """Root may write anywhere, so there the folder is on a read-only part of /proc."""
    scene = perp.write("s.yaml", MIXED)
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "state.csv").write_text("mine")
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    target = "/proc/self/fdinfo" if os.geteuid() == 0 else folder
    done = perp("run", scene, "--csv", target, code=1)
    assert "cannot write" in done.stderr
    assert (folder / "state.csv").read_text() == "mine"
    folder.chmod(stat.S_IRWXU)


def test_interrupt_stops_cleanly(perp, tmp_path):
    scene = perp.write("s.yaml", MIXED)
    run = subprocess.Popen([PERP, "run", scene, "--steps", "100000000", "--csv", "out"], cwd=tmp_path,
                           stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir()):
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=30)
    assert run.returncode == 1 and "stopped" in stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_progress_bar_only_on_a_terminal(perp, tmp_path):
    import pty
    scene = perp.write("s.yaml", MIXED)
    steps, elapsed = 100_000, 0.0
    while elapsed < 1.0:  # s: the bar comes after 0.3
        steps, start = 2 * steps, time.monotonic()
        assert "%" not in perp("run", scene, "--steps", str(steps)).stderr
        elapsed = time.monotonic() - start
    leader, follower = pty.openpty()
    run = subprocess.Popen([PERP, "run", scene, "--steps", str(2 * steps), "--quiet"], stderr=follower, cwd=tmp_path)
    os.close(follower)
    drawn = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        if not piece:
            break
        drawn += piece
    assert run.wait(timeout=60) == 0
    assert b"step " in drawn and b"s left" in drawn
    assert drawn.endswith(b"\r\x1b[K")


@pytest.mark.parametrize("word, beyond", [("linear", 0), ("cubic", 0), ("spline", 0.12 * 4 / 27)])
def test_tables_overshoot_only_as_splines(perp, word, beyond):
    """0, 0, 0.2, 0.2 at 0, 1, 2, 3 s. The inner slopes of the spline solve 4 m1 + m2 = m1 + 4 m2 = 0.6, so that before
    t = 1 it is 0.12 (u^3 - u^2), least at u = 2/3."""
    scene = perp.write("s.yaml", "perp: 1\nplanar: true\nbodies:\n  cart: {driven: {x: {times: [0, 1, 2, 3], "
                                 "values: [0, 0, 0.2, 0.2], interpolate: %s}}}\n"
                                 "run: {model: kinematic, h: 0.01, until: 3}\n" % word)
    perp("run", scene, "--csv", "out")
    rows = list(csv.DictReader(open(perp.folder / "out" / "state.csv")))
    xs = [float(r["cart.x"]) for r in rows]
    assert min(xs) == pytest.approx(-beyond, abs=1e-5) and max(xs) == pytest.approx(0.2 + beyond, abs=1e-5)


LOOPS = {"perp": 1, "bodies": {
    "g": {"fixed": True, "pose": {"position": [2, 0, 0]}},
    "a": {"mass": 1, "inertia": [.1, .1, .1]}, "b": {"mass": 1, "inertia": [.1, .1, .1]}},
    "joints": {"j1": {"type": "revolute", "parent": "world", "child": "a", "axis": [0, 1, 0], "control": "position",
                      "command": {"rate": 1}},
               "j2": {"type": "revolute", "parent": "a", "child": "b", "axis": [0, 1, 0], "anchor": [1, 0, 0],
                      "control": "position", "command": {"rate": -1.5}}},
    "loops": {"tie": {"type": "point", "a": "b", "b": "g", "anchor_a": [1, 0, 0]}},
    "run": {"model": "dyn-ncp", "h": 0.01, "steps": 50}}


@pytest.mark.parametrize("model", ["kinematic", "qs-lcp", "qs-qp", "quasidynamic", "dyn-ncp", "compliant"])
def test_commands_that_open_a_loop_stop_the_run(perp, model):
    """Both links turn as told: at t = 0.01 s the end is 5 mm from where it is tied."""
    path = perp.write("loop.yaml", json.dumps(LOOPS))
    done = perp("run", path, "--model", model, "--json", code=1)
    error = json.loads(done.stdout)["error"]
    gap = math.hypot(math.cos(0.01) + math.cos(0.005) - 2, math.sin(0.01) - math.sin(0.005))
    assert error["code"] == "infeasible-command" and error["evidence"] == {"loop": "tie", "gap": pytest.approx(gap, rel=1e-6)}
    assert "leave a joint of it without `control`" in done.stderr


def test_a_loop_to_the_world(perp):
    """On every model, whichever side the world is."""
    for model in [line.split()[0] for line in perp("models").stdout.splitlines()[1:] if line[:1].strip()]:
        for a, b in (("ball", "world"), ("world", "ball")):
            path = perp.write("pin.yaml", json.dumps({
                "perp": 1, "bodies": {"ball": {"mass": 1, "shapes": [{"sphere": 0.1}]}},
                "loops": {"pin": {"type": "point", "a": a, "b": b}}, "run": {"model": model, "h": 0.01, "steps": 2}}))
            result = perp.json("run", path)
            assert result["status"] == "ok" and result["final"]["q"]["ball"][:3] == pytest.approx([0, 0, 0], abs=1e-9)


PULLEYS = """perp: 1
planar: true
gravity: [0, 0]
bodies:
  drum: {mass: 1, inertia: 0.003}
  lever: {mass: 1, inertia: 0.02}
joints:
  a: {type: revolute, parent: world, child: drum, control: torque, command: 0.3}
  b: {type: revolute, parent: world, child: lever, control: CONTROL}
tendons: {cord: {joints: {a: 0.02, b: -0.05}}}
run: {model: dyn-ncp, h: 0.005, steps: 5}
"""


def test_forces_of_loops_are_told(perp):
    """The lever stands, and the cord holds the drum: 0.3 N m + 0.02 m F = 0."""
    path = perp.write("pulleys.yaml", PULLEYS.replace("CONTROL", "position"))
    cord = {"loop": "cord", "kind": "tendon"}
    assert perp.json("run", path)["loops"] == [cord | {"force": [pytest.approx(-15, abs=1e-9)]}]
    assert "  cord             tendon force -15\n" in perp("run", path).stdout
    assert perp.json("run", path, "--steps", "0")["loops"] == perp.json("run", path, "--model", "kinematic")["loops"] == []
    both = perp.write("both.yaml", PULLEYS.replace("CONTROL", "position").replace("torque, command: 0.3", "position"))
    assert perp.json("run", both)["loops"] == [cord | {"force": [None]}]
    assert "  cord             tendon force -\n" in perp("run", both).stdout


@pytest.mark.parametrize("h, told", [(1, True), (0.29, False)])
def test_a_run_that_takes_no_step_says_so(perp, h, told):
    done = perp("run", f"{ROOT}/examples/gripper-2d/scene.yaml", "--until", "0.3", "--h", str(h))
    assert done.returncode == 0
    assert ("no step is taken: one of h = 1 s is longer than the run of 0.3 s" in done.stderr) == told
