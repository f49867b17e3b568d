"""`perp sweep`: tables that depend on the files alone, kills that lose nothing, and verdicts that `perp analyze` gives."""
import csv
import io
import json
import math
import os
import random
import signal
import subprocess
import time

import pytest
import yaml

from conftest import PERP, ROOT, SANITIZED

SCENE = (ROOT / "examples/painleve-rod/scene.yaml").read_text()
SWEEP = """perp-sweep: 1
scene: scene.yaml
axes:
  mu: {path: contacts.friction, from: 0.25, to: 2, count: 8}
  w: {path: bodies.rod.velocity.angular, values: [0, 2, 4]}
derive: {bodies.rod.velocity.linear.0: "-1 - w * sin(pi/3)", bodies.rod.velocity.linear.1: "w * cos(pi/3)"}
outputs: {e: analyze.existence.verdict, n: analyze.existence.solutions, fn: "contact.floor rod.fn", D: analyze.rigidity.D.0.0}
"""


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def sweep(perp):
    perp.write("scene.yaml", SCENE)
    perp.write("sweep.yaml", SWEEP)
    return perp


def test_rows_are_what_the_other_commands_say(sweep):
    sweep("sweep", "sweep.yaml", "-o", "out.csv")
    table = rows(sweep.folder / "out.csv")
    assert [int(row["case"]) for row in table] == list(range(24))
    assert not (sweep.folder / "out.csv.part").exists()
    for row in random.Random(1).sample(table, 4 if SANITIZED else 12):
        mu, w = float(row["mu"]), float(row["w"])
        assert float(row["mu"]) == 0.25 + 1.75 * ((int(row["case"]) // 3) / 7)
        settings = ["--set", f"contacts.friction={mu!r}", "--set", f"bodies.rod.velocity.angular={w!r}",
                    "--set", f"bodies.rod.velocity.linear.0={-1 - w * math.sin(math.pi / 3)!r}",
                    "--set", f"bodies.rod.velocity.linear.1={w * math.cos(math.pi / 3)!r}"]
        analysis = sweep.json("analyze", "scene.yaml", *settings)
        assert row["e"] == analysis["existence"]["verdict"] and int(row["n"]) == analysis["existence"]["solutions"]
        if row["D"]:
            assert float(row["D"]) == analysis["rigidity"]["D"][0][0]
        else:
            assert analysis["rigidity"]["D"] == [] and row["error"] == "undefined"
        run = sweep.json("run", "scene.yaml", *settings)
        first = run["solutions"][0]["contacts"] if run["solutions"] else run["contacts"]
        assert float(row["fn"]) == sum(c["fn"] for c in first)


def test_same_bytes_for_every_number_of_workers(sweep):
    for jobs in (1, 2, 5):
        sweep("sweep", "sweep.yaml", "-o", f"{jobs}.csv", "--jobs", jobs)
    tables = [(sweep.folder / f"{jobs}.csv").read_bytes() for jobs in (1, 2, 5)]
    assert tables[0] == tables[1] == tables[2]


SLOW = """perp-sweep: 1
scene: scene.yaml
axes: {mu: {path: contacts.friction, from: 0, to: 1, count: 40}}
outputs: {x: block.x, f: contact.floor block.fn@mean}
"""
BLOCK = """perp: 1
planar: true
bodies:
  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}
  block: {mass: 1, inertia: 1, pose: {position: [0, 0.5]}, velocity: {linear: [3, 0]}, shapes: [{box: [4, 1]}]}
run: {model: dyn-ncp, h: 0.001, steps: 400}
"""


def finished(path):
    """Whole rows of a part: without its head, and what is torn behind the last line end."""
    return path.read_bytes().split(b"\n")[1:-1] if path.exists() else []


@pytest.mark.skipif(SANITIZED, reason="a sanitized program takes too long to start")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_is_finished_survives_and_is_gone_on_with(perp, number):
    perp.write("scene.yaml", BLOCK)
    perp.write("sweep.yaml", SLOW)
    perp("sweep", "sweep.yaml", "-o", "whole.csv")
    part, out = perp.folder / "out.csv.part", perp.folder / "out.csv"
    kills, chance = 0, random.Random(3)
    command = [PERP, "sweep", "sweep.yaml", "-o", "out.csv", "--resume", "--jobs", "2"]
    while not out.exists():
        before = finished(part)
        running = subprocess.Popen(command, cwd=perp.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        wanted = len(before) + chance.randint(1, 6)
        while running.poll() is None and len(finished(part)) < wanted and not out.exists() and time.monotonic() < until:
            time.sleep(0.001)
        running.send_signal(number)
        said = running.communicate()
        if not out.exists():
            kills += 1
            assert finished(part)[:len(before)] == before and len(finished(part)) > len(before)
            if number == signal.SIGINT:
                assert running.returncode == 1 and "--resume goes on" in said[1]
    assert kills >= 2
    assert out.read_bytes() == (perp.folder / "whole.csv").read_bytes()
    assert not part.exists()


def test_another_sweep_is_refused(sweep):
    sweep("sweep", "sweep.yaml", "-o", "out.csv")
    kept = (sweep.folder / "out.csv").read_bytes()
    sweep("sweep", "sweep.yaml", "-o", "out.csv", "--resume")
    sweep.write("sweep.yaml", SWEEP.replace("count: 8", "count: 7"))
    assert "another sweep" in sweep("sweep", "sweep.yaml", "-o", "out.csv", "--resume", code=3).stderr
    assert (sweep.folder / "out.csv").read_bytes() == kept


def test_a_run_that_fails_is_a_row(perp):
    perp.write("scene.yaml", BLOCK.replace("dyn-ncp", "qs-ncp"))
    perp.write("sweep.yaml", """perp-sweep: 1
scene: scene.yaml
set: {run.steps: 2}
axes: {model: {path: run.model, values: [qs-ncp, dyn-ncp]}, y: {path: bodies.block.pose.position.1, values: [0.5, 2]}}
outputs: {y2: block.y, ended: status}
""")
    perp("sweep", "sweep.yaml", "-o", "out.csv")
    table = rows(perp.folder / "out.csv")
    assert [(row["ended"], row["error"], bool(row["y2"])) for row in table] == [
        ("1", "", True), ("0", "unsupported-body", False), ("1", "", True), ("1", "", True)]


@pytest.mark.parametrize("change, place, words", [
    (("contacts.friction", "contacts.fricton"), "sweep.yaml:4:3", "did you mean `friction`"),
    (("contact.floor rod.fn", "contact.flor rod.fn"), "sweep.yaml:7:", "did you mean `contact.floor rod.fn`"),
    (("existence.verdict", "existence.verdic"), "sweep.yaml:7:14", "`verdict`"),
    (("scene: scene.yaml", "scene: missing.yaml"), "missing.yaml:1:1", "No such file"),
    (("count: 8", "cont: 8"), "sweep.yaml:4:", "did you mean `count`"),
    (("sin(pi/3)", "sinh(pi/3)"), "sweep.yaml:6:", "`sinh`"),
])
def test_bad_input_has_a_place(sweep, change, place, words):
    sweep.write("sweep.yaml", SWEEP.replace(*change))
    said = sweep("sweep", "sweep.yaml", "-o", "out.csv", code=3).stderr
    assert place in said and words in said
    assert not (sweep.folder / "out.csv").exists() and not (sweep.folder / "out.csv.part").exists()


def test_usage(sweep):
    assert "-o FILE.csv is missing" in sweep("sweep", "sweep.yaml", code=2).stderr
    assert "--jobs" in sweep("sweep", "sweep.yaml", "-o", "o.csv", "--jobs", "0", code=2).stderr
    assert "overwrite" in sweep("sweep", "sweep.yaml", "-o", "sweep.yaml", code=2).stderr
    sweep("sweep", "sweep.yaml", "-o", "/nonexistent/o.csv", code=1)
    assert "did you mean `sweep`" in sweep("swep", code=2).stderr
    assert "did you mean `--resume`" in sweep("sweep", "sweep.yaml", "--resum", code=2).stderr
