"""Run logs from the command line: written, resumed, exported, compared, and read by the public `mcap` package."""
import csv
import json
import os
import pathlib
import re
import subprocess

import pytest

from conftest import ROOT

EXAMPLES = ROOT / "examples"
GRIPPER = EXAMPLES / "gripper-2d" / "scene.yaml"


def summary_of(done):
    return done.stdout.strip().splitlines()[-1]


def export(perp, log):
    return json.loads(perp("export", log, "--json").stdout)


def test_log_holds_the_run(perp):
    result = perp.json("run", GRIPPER, "--log", "run.mcap")
    log = export(perp, "run.mcap")
    assert log["complete"] and log["status"] == "ok" and log["hash"] == result["hash"]
    assert len(log["steps"]) == result["steps"] + 1
    last = log["steps"][-1]
    assert last["state"]["t"] == result["final"]["t"]
    assert last["state"]["q"] == result["final"]["q"]
    assert last["state"]["v"] == result["final"]["v"]
    assert last["state"]["poses"] == result["final"]["poses"]
    for words in last["why"]["contacts"]:
        last["contacts"]["contacts"][words["contact"]].update(words)
    for logged, said in zip(last["contacts"]["contacts"], result["contacts"], strict=True):
        for key, value in said.items():
            assert logged[key] == value, key
        assert logged["margin"] == pytest.approx(logged["mu"] * logged["fn"] - abs(logged["ft"][0]), abs=1e-12) or \
            logged["mode"] == "open"
    events = [{key: event[key] for key in ("t", "contact", "from", "to")}
              for step in log["steps"] for event in step["info"]["events"]]
    assert events == result["events"]
    for name, most in result["residual"].items():
        assert most == max(step["info"]["residual"][name] for step in log["steps"][1:])


PATCH = """perp: 1
bodies:
  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}
  puck: {mass: 0.2, inertia: [1.0e-4, 1.0e-4, 2.0e-4], pose: {position: [0, 0, 0.02]}, velocity: {linear: [0.1, 0, 0],
    angular: [2, 0, 20]}, shapes: [{ellipsoid: [0.05, 0.05, 0.02]}]}
contacts: {friction: 0.3}
compliance: {stiffness: 1.0e3, damping: 5, elements: 3, size: 0.06, gamma: 0}
run: {model: compliant, h: 0.001, steps: 40}
"""


def test_elements_of_patches_are_in_the_log(perp):
    """A grid of 3 x 3 on 6 cm; what its elements carry is what the contact does, in a run that was resumed too, to the bit."""
    perp.write("patch.yaml", PATCH)
    perp("run", "patch.yaml", "--log", "whole.mcap", "--quiet")
    perp("run", "patch.yaml", "--log", "run.mcap", "--steps", "17", "--quiet")
    perp("run", "--resume", "run.mcap", "--steps", "40", "--quiet")
    steps = export(perp, "whole.mcap")["steps"]
    assert "elements" not in steps[0] and len(steps) == 41
    for step in steps[1:]:
        patch, = step["elements"]["contacts"]
        contact = step["contacts"]["contacts"][patch["contact"]]
        assert sorted({round(x, 9) for x in patch["offset"]}) == [-0.02, 0, 0.02] and len(patch["offset"]) == 18
        assert sum(patch["fn"]) == pytest.approx(contact["fn"], rel=1e-12)
        for k in (0, 1):
            assert sum(patch["ft"][k::2]) == pytest.approx(contact["ft"][k], abs=1e-12)
        for x, y, most, fn in zip(patch["ft"][0::2], patch["ft"][1::2], patch["limit"], patch["fn"], strict=True):
            assert most == pytest.approx(0.3 * fn, rel=1e-12) and (x * x + y * y) ** 0.5 <= most * (1 + 1e-6) + 1e-9
    resumed = export(perp, "run.mcap")["steps"]
    assert [s["elements"] for s in resumed[1:]] == [s["elements"] for s in steps[1:]]
    assert resumed[-1]["state"] == steps[-1]["state"]


def test_csv_is_that_of_the_run(perp):
    perp("run", GRIPPER, "--log", "run.mcap", "--csv", "direct", "--quiet")
    perp("export", "run.mcap", "--csv", "exported")
    for name in ("state.csv", "contacts.csv"):
        assert (perp.folder / "exported" / name).read_bytes() == (perp.folder / "direct" / name).read_bytes()


def test_head_says_how_many_steps_are_asked_for_now(perp):
    """A run that is taken further says so in the log, also to the next who resumes it, and however often."""
    def asked():
        return export(perp, "run.mcap")["steps_asked"]

    perp("run", GRIPPER, "--log", "run.mcap", "--steps", "5", "--quiet")
    assert asked() == 5
    perp("run", "--resume", "run.mcap", "--until", "0.14", "--quiet")
    assert asked() == 14
    whole = (perp.folder / "run.mcap").read_bytes()
    (perp.folder / "run.mcap").write_bytes(whole[:-100])  # how it ended is lost
    perp("run", "--resume", "run.mcap", "--steps", "25", "--quiet")
    assert asked() == 25
    assert perp.json("run", "--resume", "run.mcap")["steps"] == 25
    perp("run", GRIPPER, "--log", "direct.mcap", "--quiet")
    assert perp("diff", "direct.mcap", "run.mcap").stdout.startswith("equal: 26 steps")


def test_without_a_step_the_log_is_named(perp):
    """Its scene is sound, so no place in that is to blame."""
    perp("run", GRIPPER, "--log", "run.mcap", "--quiet")
    whole = (perp.folder / "run.mcap").read_bytes()
    (perp.folder / "cut.mcap").write_bytes(whole[:len(whole) * 2 // 5])  # the head, and half a chunk
    done = perp("run", "--resume", "cut.mcap", code=3)
    assert "0 of its steps can be read" in done.stderr
    assert "cut.mcap:1:1: the log has no step to go on from" in done.stderr


def test_resume_after_a_cut(perp):
    whole = perp.json("run", GRIPPER, "--log", "whole.mcap")
    data = (perp.folder / "whole.mcap").read_bytes()
    perp("run", GRIPPER, "--log", "run.mcap", "--steps", "9", "--quiet")
    # further, under the same file
    further = perp.json("run", "--resume", "run.mcap", "--steps", "25")
    assert further["hash"] == whole["hash"] and further["steps"] == 25
    assert further["events"] == whole["events"] and further["residual"] == whole["residual"]
    assert perp("diff", "whole.mcap", "run.mcap").stdout.startswith("equal: 26 steps")
    # the log cut in its last part: everything before it is there
    (perp.folder / "cut.mcap").write_bytes(data[:-100])
    done = perp("run", "--resume", "cut.mcap", "--json")
    assert json.loads(done.stdout)["hash"] == whole["hash"]
    assert "incomplete: 26 of its steps" in done.stderr
    done = perp("diff", "whole.mcap", "cut.mcap")  # its end was written
    assert done.stdout.startswith("equal: 26 steps") and "incomplete" not in done.stderr
    # nothing to do: the file stays as it is
    perp("run", "--resume", "whole.mcap", "--quiet")
    assert (perp.folder / "whole.mcap").read_bytes() == data


def test_a_failed_run_is_in_its_log(perp):
    scene = perp.write("fall.yaml", """
perp: 1
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  ball: {mass: 1, pose: {position: [0, 0, 1]}, shapes: [{sphere: 0.1}]}
run: {model: qs-qp, h: 0.01, steps: 5}
""")
    said = perp.json("run", scene, "--log", "run.mcap", code=1)
    log = export(perp, "run.mcap")
    assert log["complete"] and log["status"] == "error" and log["error"]["code"] == said["error"]["code"]
    assert len(log["steps"]) == 1


def test_scenes_of_several_files_are_whole_in_the_log(perp):
    perp.write("parts/ball.yaml", "bodies:\n  ball: {mass: 1, pose: {position: [0, 0, 0.2]}, shapes: "
                                  "[{mesh: {file: cube.obj, scale: 0.2}}]}\n")
    perp.write("parts/cube.obj", "".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)))
    scene = perp.write("scene.yaml", """
perp: 1
include: [parts/ball.yaml]
bodies:
  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
run: {model: quasidynamic, h: 0.01, steps: 8}
""")
    whole = perp.json("run", scene, "--log", "whole.mcap", "--set", "contacts.friction=0.7")
    perp("run", scene, "--log", "run.mcap", "--steps", "3", "--set", "contacts.friction=0.7", "--quiet")
    for path in ("scene.yaml", "parts/ball.yaml", "parts/cube.obj"):
        (perp.folder / path).unlink()
    assert perp.json("run", "--resume", "run.mcap", "--steps", "8")["hash"] == whole["hash"]


def test_names_are_text(perp):
    name, title = "<script>alert(1)</script>", '<img src=x onerror="alert(1)"> \\ \u00b5'
    scene = perp.write("scene.yaml", f"""
perp: 1
name: '{title}'
planar: true
bodies:
  ground: {{fixed: true, shapes: [{{halfplane: {{normal: [0, 1], offset: 0}}}}]}}
  "{name}": {{mass: 1, pose: {{position: [0, 1]}}, shapes: [{{disc: 1}}]}}
run: {{model: quasidynamic, h: 0.01, steps: 2}}
""")
    perp("run", scene, "--log", "run.mcap", "--foxglove", "--quiet")
    log = export(perp, "run.mcap")
    assert log["scene"] == title and name in log["steps"][0]["state"]["q"]


def test_diff_says_where(perp):
    perp("run", GRIPPER, "--log", "a.mcap", "--quiet")
    perp("run", GRIPPER, "--log", "b.mcap", "--quiet", "--set", "contacts.friction=0.4")
    perp("run", GRIPPER, "--log", "c.mcap", "--quiet", "--steps", "20")
    differ = perp("diff", "a.mcap", "b.mcap", code=1).stdout
    assert differ.startswith("first difference: step ") and "largest difference: " in differ
    for unit in (" N, step ", " m/s, step ", " m, step ", " rad or m, step "):
        assert unit in differ, differ
    assert "5 only in a.mcap" in perp("diff", "a.mcap", "c.mcap", code=1).stdout
    assert "5 only in a.mcap" in perp("diff", "c.mcap", "a.mcap", code=1).stdout
    perp("run", EXAMPLES / "pivot" / "scene.yaml", "--log", "d.mcap", "--quiet")
    assert "not of one scene" in perp("diff", "a.mcap", "d.mcap", code=3).stderr


BALL = """perp: 1
bodies:
  ball: {mass: 1, inertia: [1, 1, 1], pose: {position: [%s, 0, 0]}, velocity: {linear: [0, 0, 1], angular: [0, 0, %s]}}
run: {model: dyn-ncp, h: 0.01, steps: 1}
"""


def test_diff_with_a_tolerance(perp):
    """Absolute, in each number's own unit; the largest difference of each unit is told, within the tolerance too."""
    for name, x, spin in (("a", 0.5, 1), ("b", 0.5 + 3e-6, 1), ("c", 0.5, 1.001)):
        perp("run", perp.write(name + ".yaml", BALL % (x, spin)), "--log", name + ".mcap", "--quiet")
    text = perp("diff", "a.mcap", "b.mcap", code=1).stdout
    assert text.startswith("first difference: step 0: q ball[0]: 0.5 against 0.50000")
    largest = re.search(r"^largest difference: (\S+) m, step 0: q ball\[0\]: .* m$", text, re.M)
    assert float(largest[1]) == pytest.approx(3e-6, rel=1e-9) and " N" not in text and text.count("largest") == 1
    within = perp("diff", "a.mcap", "b.mcap", "--tolerance", "3.1e-6").stdout
    assert within.startswith("equal: 2 steps, every number to 3.1e-06 of its unit\nlargest difference: ")
    perp("diff", "a.mcap", "b.mcap", "--tolerance", "2.9e-6", code=1)
    text = perp("diff", "a.mcap", "c.mcap", "--tolerance", "9e-4", code=1).stdout
    assert "v ball[5]: 1 against 1.0" in text and re.search(r"0.000\d+ rad/s, step", text)
    assert perp("diff", "a.mcap", "c.mcap", "--tolerance", "2e-3").stdout.startswith("equal: 2 steps")
    assert perp("diff", "a.mcap", "a.mcap").stdout == "equal: 2 steps, the same numbers\n"
    for wrong in ("-1", "x", "nan", "1m"):
        assert "--tolerance is a number" in perp("diff", "a.mcap", "b.mcap", "--tolerance", wrong, code=2).stderr


def test_diff_counts_contacts_whatever_the_tolerance(perp):
    perp("run", GRIPPER, "--log", "a.mcap", "--quiet", "--steps", "1")
    perp("run", GRIPPER, "--log", "b.mcap", "--quiet", "--steps", "1", "--set", "contacts.margin=1.0e-6")
    assert "against" in perp("diff", "a.mcap", "b.mcap", "--tolerance", "1e9", code=1).stdout


def test_usage(perp):
    assert "SCENE is missing" in perp("run", code=2).stderr
    assert "leave --model out" in perp("run", "--resume", "x", "--model", "qs-qp", code=2).stderr
    assert "perp export" in perp("run", "--resume", "x", "--csv", "y", code=2).stderr
    assert "leave `x` out" in perp("run", "x", "--resume", "y", code=2).stderr
    assert "--log FILE too" in perp("run", GRIPPER, "--foxglove", code=2).stderr
    assert "--csv DIR, --npz FILE or --json" in perp("export", "x", code=2).stderr
    assert "two logs" in perp("diff", "x", code=2).stderr


def test_what_is_no_log(perp):
    text = perp.write("text", "not a log")
    assert perp("export", text, "--json", code=3).stderr.startswith(f"{text}:1:1: not a log")
    assert "No such file" in perp("run", "--resume", "missing", code=3).stderr
    assert "is not a file" in perp("diff", ".", ".", code=3).stderr
    assert "No such file" in perp("run", GRIPPER, "--log", "no/such/folder", code=1).stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk(perp):
    done = perp("run", GRIPPER, "--log", "/dev/full", code=1)
    assert "No space left on device" in done.stderr


# ---- the public package, and NumPy --------------------------------------------------------------------------------------

PEERS = ROOT / "build" / "python" / "bin" / "python"
PEERS = pathlib.Path(os.environ.get("PERP_PEERS_PYTHON", PEERS))
MISSING = not PEERS.exists() or subprocess.run([PEERS, "-c", "import mcap, numpy"], check=False,
                                               capture_output=True).returncode != 0


def peers(code, *arguments):
    if MISSING:
        assert os.environ.get("CI") != "true", "the packages of tests/peers/requirements.txt are missing: make deps"
        pytest.skip("needs mcap and numpy (make deps)")
    done = subprocess.run([PEERS, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


READ_MCAP = """
import json, sys
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.exceptions import EndOfFile
from mcap.records import Attachment, Channel, Message, Metadata, Schema
path, whole = sys.argv[1], sys.argv[2] == "whole"
seen = {"messages": {}, "steps": [], "last": {}}
if whole: # by the index at the end, checksums included
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        seen["statistics"] = {summary.channels[i].topic: n
                              for i, n in summary.statistics.channel_message_counts.items()}
        seen["chunks"] = [summary.statistics.chunk_count, len(summary.chunk_indexes)]
        seen["schemas"] = {s.name: json.loads(s.data)["type"] for s in summary.schemas.values()}
        seen["attachments"] = {a.name: a.data.decode() for a in reader.iter_attachments()}
        seen["metadata"] = {m.name: m.metadata for m in reader.iter_metadata()}
        for schema, channel, message in reader.iter_messages():
            seen["messages"][channel.topic] = seen["messages"].get(channel.topic, 0) + 1
            data = json.loads(message.data)
            if channel.topic == "/state":
                seen["steps"].append([message.sequence, message.log_time, data["t"]])
            seen["last"][channel.topic] = data
else: # record by record, as far as it goes
    channels = {}
    with open(path, "rb") as file:
        try:
            for record in StreamReader(file, validate_crcs=True).records:
                if isinstance(record, Channel):
                    channels[record.id] = record.topic
                elif isinstance(record, Message):
                    topic = channels[record.channel_id]
                    seen["messages"][topic] = seen["messages"].get(topic, 0) + 1
        except Exception as error:
            seen["ended"] = type(error).__name__
print(json.dumps(seen))
"""


@pytest.mark.parametrize("example, options", [("gripper-2d", []), ("cube-stack", ["--foxglove", "--steps", "10"]),
                                              ("three-finger-grasp", ["--foxglove", "--steps", "5"])])
def test_the_public_package_reads_logs(perp, example, options):
    scene = EXAMPLES / example / "scene.yaml"
    result = perp.json("run", scene, "--log", "run.mcap", *options)
    seen = peers(READ_MCAP, perp.folder / "run.mcap", "whole")
    count = result["steps"] + 1
    for topic in ("/state", "/contacts", "/info", *(["/scene"] if options else [])):
        assert seen["messages"][topic] == count == seen["statistics"][topic]
    assert seen["chunks"][0] == seen["chunks"][1] == seen["messages"]["/memory"]
    assert seen["attachments"]["scene.yaml"] == scene.read_text()
    assert seen["metadata"]["perp"]["model"] == result["model"]
    assert seen["metadata"]["perp.result"]["hash"] == result["hash"]
    assert ("foxglove.SceneUpdate" in seen["schemas"]) == bool(options)
    assert [step for step, _, _ in seen["steps"]] == list(range(count))
    assert all(time == round(1e9 * t) for _, time, t in seen["steps"])
    assert seen["last"]["/state"]["q"] == result["final"]["q"]
    if options:
        entities = {entity["id"]: entity for entity in seen["last"]["/scene"]["entities"]}
        assert len(entities) == len(result["final"]["poses"]) + 1
        assert len(entities["contacts"]["spheres"]) == len(result["contacts"])


def test_the_public_package_reads_cut_logs(perp):
    perp("run", GRIPPER, "--log", "run.mcap", "--quiet")
    data = (perp.folder / "run.mcap").read_bytes()
    (perp.folder / "cut.mcap").write_bytes(data[:-2000])
    seen = peers(READ_MCAP, perp.folder / "cut.mcap", "cut")
    readable = len(export(perp, "cut.mcap")["steps"])
    assert seen["messages"].get("/state", 0) == readable


def test_npz(perp):
    result = perp.json("run", EXAMPLES / "fence-particle" / "scene.yaml", "--steps", "12", "--log", "run.mcap",
                       "--csv", "out")
    perp("export", "run.mcap", "--npz", "run.npz")
    arrays = peers("""
import json, sys, numpy
with numpy.load(sys.argv[1]) as z:
    print(json.dumps({key: [array.decode() for array in z[key]] if z[key].dtype.kind == "S" else z[key].tolist()
                      for key in z}))
""", perp.folder / "run.npz")
    with open(perp.folder / "out" / "state.csv", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert ["step", "t", *arrays["q_names"], *("v:" + name for name in arrays["v_names"])] == header
    for i, row in enumerate(rows):
        assert [arrays["step"][i], arrays["t"][i], *arrays["q"][i], *arrays["v"][i]] == [float(x) for x in row]
    with open(perp.folder / "out" / "contacts.csv", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert len(rows) == len(arrays["contact_phi"])
    for i, row in enumerate(rows):
        cells = dict(zip(header, row))
        assert arrays["bodies"][arrays["contact_a"][i]] == cells["a"]
        assert arrays["contact_feature"][i] == cells["feature"]
        assert ["open", "stick", "limit", "slide"][arrays["contact_mode"][i]] == cells["mode"]
        assert arrays["contact_phi"][i] == float(cells["phi"]) and arrays["contact_fn"][i] == float(cells["fn"])
        assert arrays["contact_point"][i] == [float(cells[key]) for key in ("px", "py", "pz")]
        assert arrays["contact_slip"][i] == [float(cells[key]) for key in ("slip1", "slip2")]
        assert arrays["contact_ft"][i] == [float(cells[key]) for key in ("ft1", "ft2")]
        assert arrays["contact_normal"][i] == [float(cells[key]) for key in ("nx", "ny", "nz")]
        normal, (t, o) = arrays["contact_normal"][i], arrays["contact_tangents"][i]
        assert t == [float(cells[key]) for key in ("tx", "ty", "tz")]
        assert o == pytest.approx([normal[k - 2] * t[k - 1] - normal[k - 1] * t[k - 2] for k in range(3)], abs=1e-12)
        ft, fn = arrays["contact_ft"][i], arrays["contact_fn"][i]
        assert arrays["contact_force_on_b"][i] == pytest.approx(
            [fn * normal[k] + ft[0] * t[k] + ft[1] * o[k] for k in range(3)], abs=1e-9)
        assert arrays["contact_margin"][i] == pytest.approx(
            0 if cells["mode"] == "open" else arrays["contact_mu"][i] * fn - (ft[0] ** 2 + ft[1] ** 2) ** 0.5, abs=1e-9)
    assert list(result["final"]["poses"]) == arrays["bodies"]

