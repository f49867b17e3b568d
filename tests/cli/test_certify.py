"""`perp run --certify`: the verdicts in the log are those of `perp analyze` at each state, counts are those of the steps,
the motion of a step that is not unique costs nothing, and a run ends where --stop-at has it end."""
import ast
import collections
import csv
import json
import math
import struct
import zipfile

import pytest

from conftest import ROOT, SANITIZED

EXAMPLES = ROOT / "examples"
KINDS = ("existence", "uniqueness", "rigidity")


STACK = [EXAMPLES / "cube-stack" / "scene.yaml", "--steps", "24"]  # not unique from step 14 on


def scene(example):
    return EXAMPLES / example / "scene.yaml"


def export(perp, log):
    return json.loads(perp("export", log, "--json").stdout)


def trusts(log):
    return [(step["state"]["step"], step["trust"]) for step in log["steps"] if "trust" in step]


# A few runs with all kinds of verdicts, and how many of their steps are looked at alone.
RUNS = [("fence-particle", None, 40, 5), ("cube-stack", None, 18, 2), ("gripper-2d", "dyn-qp", 8, 1),
        ("peg-in-hole-2d", None, 24, 4), ("painleve-rod", "dyn-ncp", 3, 1), ("pivot", "qs-ncp", 10, 2),
        ("patch-spin", None, 6, 1), ("box-incline", "dyn-lcp", 12, 3)]


# What a verdict may be in a run whose certificate says that a longer search may say more.
WEAKER = {"existence": [], "uniqueness": ["unique-at-these-normal-forces", "unknown"], "rigidity": ["unknown"]}


def cut_kinds(trust, time):
    """Of which verdicts the reasons say that `perp analyze` at this time looks longer."""
    cut = [reason for reason in trust.get("reasons", []) if reason.endswith("` looks longer")]
    assert all(float(reason.split("--at ")[1].split("`")[0]) == time for reason in cut)
    return {"rigidity" if reason.startswith("rigidity: ") else "uniqueness" for reason in cut}


@pytest.mark.parametrize("example, model, steps, stride", RUNS)
def test_verdicts_are_those_of_analyze(perp, example, model, steps, stride):
    rung = ["--model", model, "--h", "0.001"] if model else []
    result = perp.json("run", scene(example), *rung, "--steps", steps, "--certify", "--log", "run.mcap")
    log = export(perp, "run.mcap")
    found = trusts(log)
    assert [step for step, _ in found] == list(range(1, steps + 1))  # the initial state has none
    assert counted(log) == {kind: result["trust"][kind] for kind in KINDS}
    for step, trust in found[:: 6 * stride if SANITIZED else stride]:
        before = log["steps"][step - 1]["state"]["t"]
        assert trust["from"] == before and trust["t"] == log["steps"][step]["state"]["t"]
        alone = perp.json("analyze", scene(example), *rung, "--at", repr(before))
        weaker = cut_kinds(trust, before)
        for kind in KINDS:
            allowed = WEAKER[kind] if kind in weaker else []
            assert trust[kind] in [alone[kind]["verdict"], *allowed], (step, kind)
        assert "uniqueness" in weaker or trust.get("motion") == alone["uniqueness"]["motion"]


def counted(log):
    return {kind: dict(collections.Counter(trust[kind] for _, trust in trusts(log))) for kind in KINDS}


def test_the_run_is_the_same(perp):
    plain = perp.json("run", *STACK, "--log", "plain.mcap")
    certified = perp.json("run", *STACK, "--certify", "--log", "certified.mcap")
    assert plain["hash"] == certified["hash"] and "trust" not in plain
    assert "equal" in perp("diff", "plain.mcap", "certified.mcap").stdout  # what only one has is not compared
    assert not trusts(export(perp, "plain.mcap"))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def rows_of_motion(trust, step, before):
    """The relative velocity of the motion at every contact in force, in its frame (n, t, o), from poses alone."""
    points = {(c["a"], c["b"], c["feature"]): c for c in before["contacts"]["contacts"]}
    for contact in step["contacts"]["contacts"]:
        start = points.get((contact["a"], contact["b"], contact["feature"]))
        if contact["mode"] == "open" or start is None:
            continue
        relative = [0.0, 0.0, 0.0]
        for body, sign in ((contact["a"], -1), (contact["b"], 1)):
            v = trust["motion"].get(body, [0.0] * 6)
            arm = [p - x for p, x in zip(start["point"], before["state"]["poses"][body])]
            relative = [r + sign * (x + y) for r, x, y in zip(relative, v[:3], cross(v[3:], arm))]
        yield contact, [sum(a * b for a, b in zip(axis, relative)) for axis in (start["normal"], *start["tangents"])]


@pytest.mark.parametrize("model", ["qs-qp", "qs-lcp"])
def test_motion_costs_nothing(perp, model):
    """Of a step that is not unique. With convex friction the forces do no work on the motion, contact by contact; with
    Coulomb's no contact that presses opens or closes. The largest displacement in a step is 1."""
    h = 0.01
    perp("run", *STACK, "--model", model, "--certify", "--quiet", "--log", "run.mcap")
    steps = export(perp, "run.mcap")["steps"]
    moving = [i for i, step in enumerate(steps) if step.get("trust", {}).get("uniqueness") == "not-unique"]
    assert len(moving) > 8
    looked = touched = 0
    for i in moving[::3]:
        trust = steps[i]["trust"]
        assert max(abs(x) for v in trust["motion"].values() for x in v) == pytest.approx(1.0 / h, rel=1e-9)
        named = set(trust["contacts"])
        for contact, motion in rows_of_motion(trust, steps[i], steps[i - 1]):
            force = [contact["fn"], *contact["ft"]] if model == "qs-qp" else [contact["fn"]]
            work = h * sum(f * d for f, d in zip(force, motion))
            assert abs(work) < 1e-4 * contact["fn"], (i, contact["feature"])
            looked += 1
            touched += max(map(abs, motion)) * h > 0.01
            moves = any(any(trust["motion"].get(contact[side], [0])) for side in "ab")
            assert moves == (f'{contact["a"]} {contact["b"]} {contact["feature"]}' in named)
    assert looked > 80 and touched > 10


# ---- ends of runs ----------------------------------------------------------------------------------------------------


def first_with(log, kind, verdict):
    return next((step for step, trust in trusts(log) if trust[kind] == verdict), None)


@pytest.mark.parametrize("example, options, stops, kind, verdict", [
    ("cube-stack", ["--steps", "20"], "not-unique", "uniqueness", "not-unique"),
    ("cube-stack", ["--steps", "20"], "invalid,not-unique", "uniqueness", "not-unique"),
    ("painleve-rod", ["--model", "dyn-ncp", "--h", "0.001", "--steps", "5"], "invalid", "rigidity", "invalid"),
    ("painleve-rod", ["--model", "dyn-ncp", "--h", "0.001", "--steps", "5"], "not-unique,invalid", "rigidity", "invalid"),
])
def test_stops_at_the_first(perp, example, options, stops, kind, verdict):
    perp("run", scene(example), *options, "--certify", "--quiet", "--log", "whole.mcap")
    expected = first_with(export(perp, "whole.mcap"), kind, verdict)
    done = perp("run", scene(example), *options, "--certify", "--stop-at", stops, "--log", "run.mcap", "--csv", "out",
                "--json", code=1)
    result, log = json.loads(done.stdout), export(perp, "run.mcap")
    assert result["status"] == "error" and result["error"]["code"] == verdict
    assert result["steps"] == expected == log["steps"][-1]["state"]["step"]
    assert log["complete"] and log["error"]["code"] == verdict and log["hash"] == result["hash"]
    assert trusts(log)[-1][1][kind] == verdict
    assert all(trust[kind] != verdict for _, trust in trusts(log)[:-1])
    first = result["trust"]["first"][verdict]
    last = trusts(log)[-1][1]
    assert (first["step"], first["t"], first["from"]) == (expected, last["t"], last["from"])
    assert first["contacts"] == last["contacts"][:8] and result["error"]["evidence"]["contact"] == last["contacts"][0]
    assert result["error"]["evidence"]["t"] == last["t"]
    assert last["contacts"][0] in done.stderr and counted(log) == {k: result["trust"][k] for k in KINDS}
    rows = list(csv.DictReader((perp.folder / "out" / "state.csv").open()))
    assert int(rows[-1]["step"]) == expected  # what was done until then is kept


def test_does_not_stop_at_another_verdict(perp):
    """A run that is not unique goes on where only `invalid` ends it."""
    result = perp.json("run", *STACK, "--certify", "--stop-at", "invalid")
    assert result["steps"] == 24 and result["trust"]["uniqueness"]["not-unique"] > 5
    result = perp.json("run", scene("painleve-rod"), "--model", "dyn-ncp", "--h", "0.001", "--steps", "5", "--certify",
                       "--stop-at", "not-unique")
    assert result["steps"] == 5 and result["trust"]["rigidity"]["invalid"] == 1


def test_an_instant(perp):
    """It has its certificate at once; ending there takes nothing from its answer."""
    result = perp.json("run", scene("painleve-rod"), "--certify")
    assert result["trust"]["steps"] == 1 and result["trust"]["rigidity"] == {"invalid": 1}
    stopped = perp.json("run", scene("painleve-rod"), "--certify", "--stop-at", "invalid", code=1)
    assert stopped["error"]["code"] == "invalid" and stopped["solutions"] == result["solutions"]
    assert "at t = 0 s" in stopped["error"]["message"]


def test_says_it_on_the_screen(perp):
    said = perp("run", *STACK, "--certify").stdout
    result = perp.json("run", *STACK, "--certify")["trust"]
    assert "certificates of 24 steps" in said
    for kind in KINDS:
        line = next(line for line in said.splitlines() if line.split()[:1] == [kind])
        assert {word.split(" in ")[0].split()[-1]: int(word.split(" in ")[1]) for word in line.split(", ")} == result[kind]
    first = result["first"]["not-unique"]
    assert f"first not-unique: step {first['step']}, from 0.13 s to 0.14 s, at {first['contacts'][0]}" in said
    assert first["reason"] in said


def test_chalk_jams_where_its_determinant_vanishes(perp):
    """r - mu H = 0 at H = l / sqrt(1 + mu^2). Rigid bodies have an answer up to there, and none in a step that begins behind it;
    the springs' run ends there too, but for the little that they give."""
    h, jam = 0.001, (0.1 / math.sqrt(1 + 0.75 ** 2) - 0.05) / 0.047
    rigid = perp.json("run", scene("chalk"), "--until", "0.8", "--certify", code=1)
    last = rigid["final"]["t"]
    assert jam < last < jam + 1.5 * h
    assert rigid["trust"]["existence"] == {"exists": rigid["steps"], "none": 1}
    assert set(rigid["trust"]["rigidity"]) == {"valid", "no-contact"}  # the last certified step begins before the jam
    assert rigid["trust"]["rigidity"]["no-contact"] == rigid["events"][0]["t"] / h  # until it touches
    soft = perp.json("run", scene("chalk"), "--until", "0.8", "--model", "compliant", "--certify", "--stop-at", "invalid", code=1)
    assert jam - 3 * h < soft["final"]["t"] < jam + h
    assert soft["error"]["code"] == "invalid" and soft["error"]["evidence"]["contact"] == "board chalk s0.u0-s0.c2"


def test_an_exact_p_test_of_many_contacts_is_not_begun(perp):
    """56 contacts in force: 2^56 determinants are not tried, and the verdict says so."""
    found = perp.json("analyze", ROOT / "bench" / "scenes" / "arm-and-cubes-at-work.yaml", "--model", "compliant")
    assert found["rigidity"]["verdict"] == "unknown" and found["rigidity"]["p_matrix"] is None
    assert len(found["rigidity"]["contacts"]) > 20
    assert any("P-matrix" in why["text"] and "up to 20 contacts" in why["text"] for why in found["why"])


# ---- going on --------------------------------------------------------------------------------------------------------


def without_times(log):
    for step in log["steps"]:
        step["info"].pop("solve_us", None)
        step.pop("why", None)  # of the last step of either run
    return log["steps"]


def test_resumes_with_the_same_verdicts(perp):
    perp("run", *STACK, "--certify", "--quiet", "--log", "whole.mcap")
    perp("run", STACK[0], "--certify", "--quiet", "--log", "run.mcap", "--steps", "16")
    resumed = perp.json("run", "--resume", "run.mcap", "--steps", "24")
    whole = export(perp, "whole.mcap")
    assert without_times(export(perp, "run.mcap")) == without_times(whole)
    assert resumed["trust"]["steps"] == 24 and counted(whole) == {k: resumed["trust"][k] for k in KINDS}
    assert resumed["trust"]["first"]["not-unique"]["step"] == first_with(whole, "uniqueness", "not-unique")
    assert "equal" in perp("diff", "whole.mcap", "run.mcap").stdout


def test_resumes_after_a_stop(perp):
    """Each time to the next step that is not unique; --stop-at says otherwise."""
    perp("run", *STACK, "--certify", "--stop-at", "not-unique", "--quiet", "--log", "run.mcap", code=1)
    perp("run", *STACK, "--certify", "--quiet", "--log", "whole.mcap")
    bad = [step for step, trust in trusts(export(perp, "whole.mcap")) if trust["uniqueness"] == "not-unique"]
    for step in bad[1:3]:
        assert perp.json("run", "--resume", "run.mcap", code=1)["steps"] == step
    assert perp.json("run", "--resume", "run.mcap", "--stop-at", "never")["steps"] == 24
    assert "equal" in perp("diff", "whole.mcap", "run.mcap").stdout
    perp("run", "--resume", "run.mcap", "--steps", "25", "--quiet")  # and says so from now on


def test_cut_logs_keep_their_verdicts(perp):
    perp("run", scene("fence-particle"), "--certify", "--quiet", "--log", "whole.mcap")
    whole = (perp.folder / "whole.mcap").read_bytes()
    for part in (0.5, 0.9):
        (perp.folder / "cut.mcap").write_bytes(whole[:int(part * len(whole))])
        result = perp("run", "--resume", "cut.mcap", "--json", code=None)
        if result.returncode == 3:  # no whole unit was left
            assert "no step to go on from" in result.stderr
            continue
        assert json.loads(result.stdout)["trust"]["steps"] == 628
        assert "equal" in perp("diff", "whole.mcap", "cut.mcap").stdout


# ---- what is made of the log -----------------------------------------------------------------------------------------


def test_diff_tells_another_verdict(perp):
    """Two runs with the same states, of which only the damping of the compliance differs: rigid verdicts differ."""
    perp("run", scene("painleve-rod"), "--model", "dyn-ncp", "--h", "0.001", "--steps", "3", "--certify", "--quiet",
         "--log", "a.mcap")
    perp("run", scene("painleve-rod"), "--model", "dyn-ncp", "--h", "0.001", "--steps", "3", "--certify", "--quiet",
         "--log", "b.mcap", "--set", "contacts.friction=0.2")
    said = perp("diff", "a.mcap", "b.mcap", code=1).stdout
    assert "step 1" in said
    rigid = [trusts(export(perp, name))[0][1]["rigidity"] for name in ("a.mcap", "b.mcap")]
    assert rigid[0] == "invalid" and rigid[1] != "invalid"


def arrays_of(path):
    """The arrays of an .npz file, each as its shape and its numbers or texts one after the other."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            (length,) = struct.unpack("<H", data[8:10])
            head, body = ast.literal_eval(data[10:10 + length].decode()), data[10 + length:]
            kind, count = head["descr"], math.prod(head["shape"])
            size = len(body) // count if count else 0
            cells = [body[k * size:(k + 1) * size] for k in range(count)]
            arrays[name[:-4]] = head["shape"], [
                cell.decode("utf-32-le").rstrip("\0") if kind.startswith("<U") else
                cell.rstrip(b"\0").decode() if kind.startswith("|S") else
                struct.unpack({"<f8": "<d", "<i4": "<i"}[kind], cell)[0] for cell in cells]
    return arrays


def test_exports(perp):
    perp("run", *STACK, "--certify", "--quiet", "--log", "run.mcap", "--csv", "run")
    perp("export", "run.mcap", "--csv", "out", "--npz", "run.npz")
    assert (perp.folder / "out" / "trust.csv").read_bytes() == (perp.folder / "run" / "trust.csv").read_bytes()
    rows = list(csv.DictReader((perp.folder / "out" / "trust.csv").open()))
    arrays = arrays_of(perp.folder / "run.npz")
    names = arrays["v_names"][1]
    assert arrays["trust_motion"][0] == (24, len(names))
    found = trusts(export(perp, "run.mcap"))
    assert len(rows) == len(found) == arrays["trust_step"][0][0] == 24
    for i, (step, trust) in enumerate(found):
        assert int(rows[i]["step"]) == arrays["trust_step"][1][i] == step
        assert float(rows[i]["t"]) == trust["t"] and float(rows[i]["from"]) == trust["from"]
        for kind in KINDS:
            assert rows[i][kind] == arrays[f"trust_{kind}"][1][i] == trust[kind]
        assert rows[i]["contacts"] == ";".join(trust["contacts"])
        motion = trust.get("motion")
        assert rows[i]["both_ways"] == ("" if motion is None else str(int(trust["both_ways"])))
        flat = [x for v in motion.values() for x in v] if motion else [0.0] * len(names)
        assert arrays["trust_motion"][1][i * len(names):(i + 1) * len(names)] == flat
        assert arrays["trust_both_ways"][1][i] == int(bool(motion) and trust["both_ways"])
        if motion:
            assert [float(rows[i][f"motion:{name}"]) for name in names] == flat
    perp("run", *STACK, "--quiet", "--log", "plain.mcap")
    perp("export", "plain.mcap", "--csv", "plain", "--npz", "plain.npz")
    assert not (perp.folder / "plain" / "trust.csv").exists()
    assert arrays_of(perp.folder / "plain.npz")["trust_step"][0] == (0,)


# ---- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, words", [
    (["--stop-at", "invalid"], "give --certify too"),
    (["--certify", "--stop-at", "bad"], "not-unique, invalid"),
    (["--certify", "--stop-at", "invalid,"], "not-unique, invalid"),
    (["--certify", "--stop-at", ""], "not-unique, invalid"),
    (["--certify", "--model", "kinematic"], "no contact forces"),
    (["--certify", "--model", "geometric"], "no contact forces"),
])
def test_usage(perp, options, words):
    assert words in perp("run", scene("gripper-2d"), *options, code=2).stderr


def test_usage_of_resume(perp):
    perp("run", scene("gripper-2d"), "--quiet", "--log", "run.mcap")
    assert "--certify out" in perp("run", "--resume", "run.mcap", "--certify", code=2).stderr
    assert "has none" in perp("run", "--resume", "run.mcap", "--stop-at", "invalid", code=2).stderr
