"""One run in all that it writes, --json, --csv and --log: the same numbers everywhere, of every contact in every step.

That these numbers are right is tested where they are made, tests/step/test_reported.c; here, that none is lost, changed or
mixed up on its way into a file. What a file has twice (a point and its two witnesses) agrees with itself."""
import csv
import json

import pytest

from conftest import ROOT

RUNS = [("gripper-2d", "qs-qp", 25), ("gripper-2d", "compliant", 25), ("masse-ball", "dyn-qp", 40),
        ("cube-stack", "dyn-ncp", 10), ("fence-particle", "qs-lcp", 40), ("box-incline", "dyn-lcp", 60),
        ("pawl-fixture", "qs-cone", 20), ("patch-spin", "compliant", 10), ("three-finger-grasp", "kinematic", 5)]


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def close(x, y, scale=1.0):
    return len(x) == len(y) and all(abs(a - b) <= 1e-12 * (scale + abs(b)) for a, b in zip(x, y))


def full(vector):
    """In space: planar scenes have two components."""
    return [*vector, 0.0, 0.0][:3]


def cells(contact):
    """A contact of the log as contacts.csv has it."""
    tangents = [full(t) for t in contact["tangents"]]
    values = {"phi": contact["phi"], "fn": contact["fn"]}
    for key, vector in (("p", contact["point"]), ("n", contact["normal"]), ("t", tangents[0])):
        values |= {key + axis: x for axis, x in zip("xyz", full(vector))}
    for key in ("ft", "slip"):
        values |= {f"{key}{k + 1}": x for k, x in enumerate([*contact[key], 0.0][:2])}
    return values


def check_contact(contact, mode_open):
    axes = [contact["normal"], *contact["tangents"]]
    force = [contact["fn"], *contact["ft"]]
    assert close(contact["point"], [(a + b) / 2 for a, b in zip(contact["point_a"], contact["point_b"])])
    assert close(contact["force_on_b"], [sum(f * axis[k] for f, axis in zip(force, axes)) for k in range(len(axes[0]))],
                 max(force))
    for i, x in enumerate(axes):
        for k, y in enumerate(axes):
            assert sum(a * b for a, b in zip(x, y)) == pytest.approx(float(i == k), abs=1e-9)
    n, t = map(full, axes[:2])
    cross = [n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]]
    assert close(full(axes[2]), cross, 1e3) if len(axes) > 2 else cross[2] == pytest.approx(-1)
    assert contact["id"][0::2] == [int(part.split(".")[0][1:]) for part in contact["feature"].split("-")]
    assert not mode_open or (contact["margin"] == 0 and contact["layer_observed"] == 0)


@pytest.mark.parametrize("example, rung, steps", RUNS)
def test_all_files_say_the_same(perp, example, rung, steps):
    result = perp.json("run", ROOT / "examples" / example / "scene.yaml", "--model", rung, "--steps", steps,
                       "--log", "run.mcap", "--csv", "out")
    log = json.loads(perp("export", "run.mcap", "--json").stdout)["steps"]
    states, contacts = rows_of(perp.folder / "out/state.csv"), iter(rows_of(perp.folder / "out/contacts.csv"))
    assert len(states) == len(log) == steps + 1 and result["steps"] == steps
    for step, row in zip(log, states):
        state = step["state"]
        numbers = [step["state"]["step"], state["t"], *sum(state["q"].values(), []), *sum(state["v"].values(), [])]
        assert [float(x) for x in row.values()] == numbers
        for contact in step["contacts"]["contacts"]:
            said = next(contacts)
            assert [said[key] for key in ("a", "b", "feature", "mode")] == [
                contact[key] for key in ("a", "b", "feature", "mode")]
            assert int(said["step"]) == state["step"] and float(said["t"]) == state["t"]
            assert {key: float(said[key]) for key in cells(contact)} == cells(contact)
            check_contact(contact, contact["mode"] == "open")
    assert next(contacts, None) is None

    last = log[-1]
    assert result["final"] == {key: last["state"][key] for key in ("t", "q", "v", "poses")}
    assert len(result["contacts"]) == len(last["contacts"]["contacts"])
    for said, logged in zip(result["contacts"], last["contacts"]["contacts"]):
        assert {key: logged[key] for key in said if key in logged} == {key: said[key] for key in said if key in logged}
        assert set(logged) - set(said) <= {"id", "point_a", "point_b", "mu", "directions", "restitution", "pair", "tie"}
    keys = ("t", "contact", "from", "to")
    assert result["events"] == [{key: e[key] for key in keys} for step in log for e in step["info"]["events"]]
    assert all(e["contact"] == f"{e['a']} {e['b']} {e['feature']}" for step in log for e in step["info"]["events"])
    for name, most in result["residual"].items():
        assert most == max(step["info"]["residual"][name] for step in log[1:]), name
    counts = {}
    for step in log:
        for name, count in step["info"]["fallbacks"].items():
            counts[name] = counts.get(name, 0) + count
    assert {name: count for name, count in counts.items() if count} == result["fallbacks"]
    assert sum(step["info"]["several"] for step in log) == result["several"]
