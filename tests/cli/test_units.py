"""A scene in millimetres and degrees is the same scene, to the bit, as in metres and radians."""
import json
import re

import pytest

from conftest import SANITIZED

SI = """perp: 1
bodies:
  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0.005}}]}
  cube: {mass: 1, com: [0.001, 0, 0], pose: {position: [0, 0, 0.055], rpy: [0, 0, 0.5235987755982988]}, velocity: {linear: [0.1, 0, 0], angular: [0, 0, 0.17453292519943295]}, shapes: [{box: [0.1, 0.1, 0.1]}, {mesh: {points: [[0,0,0],[0.01,0,0],[0,0.01,0],[0,0,0.02]]}, pose: {position: [0.0, 0.0, 0.05]}}]}
  hand: {shapes: [{sphere: 0.02}], mass: 0.1, pose: {position: [-0.3, 0, 0.05]}}
  arm: {mass: 0.1, shapes: [{capsule: {radius: 0.01, length: 0.1}}], pose: {position: [0, 0.3, 0.5]}}
  wave: {driven: {x: {offset: 0.4, sines: [{amplitude: 0.01, omega: 3}]}, rz: {rate: 0.5235987755982988}}, shapes: [{cylinder: {radius: 0.02, length: 0.05}}], pose: {position: [0.4, 0, 0.2]}}
  follower: {mass: 0.1, inertia: [1, 1, 1], pose: {position: [2, 0, 0]}}
  drum: {mass: 0.1, inertia: [1, 1, 1], pose: {position: [3, 0, 0]}}
joints:
  rail: {type: prismatic, parent: world, child: hand, axis: [1, 0, 0], position: 0.01, limits: [-0.5, 0.5], control: position, command: {times: [0, 1], values: [0.01, 0.1]}}
  turn: {type: revolute, parent: world, child: arm, anchor: [0, 0.3, 0.6], axis: [1, 0, 0], position: 0.3490658503988659, velocity: 0.17453292519943295}
  slide: {type: prismatic, parent: world, child: follower, axis: [1, 0, 0], mimic: {joint: turn, ratio: 0.11459155902616465, offset: 0.003}}
  pulley: {type: revolute, parent: world, child: drum, axis: [0, 0, 1], position: 0.3490658503988659}
tendons: {cord: {joints: {pulley: 0.028647889756541162, rail: -1}, length: 0}}
contacts: {margin: 0.01}
run: {model: dyn-ncp, h: 0.01, until: 0.3}
"""

MM_DEG = """perp: 1
units: {length: mm, angle: deg}
bodies:
  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 5}}]}
  cube: {mass: 1, com: [1, 0, 0], pose: {position: [0, 0, 55], rpy: [0, 0, 30]}, velocity: {linear: [100, 0, 0], angular: [0, 0, 10]}, shapes: [{box: [100, 100, 100]}, {mesh: {points: [[0,0,0],[10,0,0],[0,10,0],[0,0,20]]}, pose: {position: [0.0, 0.0, 50]}}]}
  hand: {shapes: [{sphere: 20}], mass: 0.1, pose: {position: [-300, 0, 50]}}
  arm: {mass: 0.1, shapes: [{capsule: {radius: 10, length: 100}}], pose: {position: [0, 300, 500]}}
  wave: {driven: {x: {offset: 400, sines: [{amplitude: 10, omega: 3}]}, rz: {rate: 30}}, shapes: [{cylinder: {radius: 20, length: 50}}], pose: {position: [400, 0, 200]}}
  follower: {mass: 0.1, inertia: [1, 1, 1], pose: {position: [2000, 0, 0]}}
  drum: {mass: 0.1, inertia: [1, 1, 1], pose: {position: [3000, 0, 0]}}
joints:
  rail: {type: prismatic, parent: world, child: hand, axis: [1, 0, 0], position: 10, limits: [-500, 500], control: position, command: {times: [0, 1], values: [10, 100]}}
  turn: {type: revolute, parent: world, child: arm, anchor: [0, 300, 600], axis: [1, 0, 0], position: 20, velocity: 10}
  slide: {type: prismatic, parent: world, child: follower, axis: [1, 0, 0], mimic: {joint: turn, ratio: 2, offset: 3}}
  pulley: {type: revolute, parent: world, child: drum, axis: [0, 0, 1], position: 20}
tendons: {cord: {joints: {pulley: 0.5, rail: -1}, length: 0}}
contacts: {margin: 10}
run: {model: dyn-ncp, h: 0.01, until: 0.3}
"""


@pytest.mark.parametrize("model", ["kinematic", "quasidynamic", "dyn-ncp", "compliant"])
def test_same_bits(perp, model):
    hashes = [json.loads(perp("run", perp.write("s.yaml", text), "--model", model, "--json").stdout)["hash"]
              for text in (SI, MM_DEG)]
    assert hashes[0] == hashes[1]


def test_settings_are_in_the_units_of_the_file(perp):
    moved = json.loads(perp("run", perp.write("s.yaml", MM_DEG), "--set", "bodies.hand.pose.position.1=40", "--json").stdout)
    meant = json.loads(perp("run", perp.write("t.yaml", SI), "--set", "bodies.hand.pose.position.1=0.04", "--json").stdout)
    assert moved["hash"] == meant["hash"]


def test_check_says_which(perp):
    assert "read in mm and deg; all results are in m and rad" in perp("check", perp.write("s.yaml", MM_DEG)).stdout
    assert "read in" not in perp("check", perp.write("t.yaml", SI)).stdout


def test_reports_say_which(perp):
    """Text, JSON and the page name the units of the file; their numbers are SI."""
    for text, units in ((SI, {"length": "m", "angle": "rad"}), (MM_DEG, {"length": "mm", "angle": "deg"})):
        path = perp.write("s.yaml", text)
        run = perp.json("run", path)
        assert run["read_in"] == units and abs(run["final"]["q"]["slide"][0]) < 0.5
        assert perp.json("check", path)["read_in"] == units
        assert ("read in mm and deg; all results are in m and rad" in perp("run", path).stdout) == (text is MM_DEG)
        if SANITIZED:  # a build without a page
            continue
        perp("run", path, "--html", "page.html", "--log", "run.mcap")
        head = json.loads(re.search(r'id="perp-headers">(.*?)</script>', (perp.folder / "page.html").read_text(), re.S)[1])[0]
        assert head.get("readIn") == (units if text is MM_DEG else None)


def test_unknown_unit(perp):
    done = perp("check", perp.write("s.yaml", "perp: 1\nunits: {length: furlong}\n"), code=3)
    assert "s.yaml:2:17: there is no such unit; known are m, cm, mm, um, in" in done.stderr + done.stdout


BODY = "  {name}: {{mass: 1, shapes: [{{mesh: {{points: [[0,0,0],[{a},0,0],[0,{a},0],[0,0,{a}]]}}}}], pose: {{position: [{x}, 0, {x}]}}}}\n"
METRES = {"a": 0.1, "x": 2}
MILLIMETRES = {"a": 100, "x": 2000}


@pytest.mark.parametrize("main", ["m", "mm"])
@pytest.mark.parametrize("included", ["m", "mm"])
def test_units_are_those_of_their_file(perp, main, included):
    """A file's units say nothing of what it includes, nor of what includes it; settings have the scene's own."""
    def text(unit, name):
        return (f"units: {{length: {unit}}}\n" if unit == "mm" else "") + "bodies:\n" + \
            BODY.format(name=name, **(MILLIMETRES if unit == "mm" else METRES))
    perp.write("part.yaml", text(included, "part"))
    scene = perp.write("s.yaml", "perp: 1\ninclude: [part.yaml]\n" + text(main, "own") + "run: {model: kinematic, steps: 1}\n")
    final = json.loads(perp("run", scene, "--json").stdout)["final"]["q"]
    assert final["part"][:3] == final["own"][:3] == [2.0, 0.0, 2.0]
    to = 3000 if main == "mm" else 3
    moved = json.loads(perp("run", scene, "--set", f"bodies.part.pose.position.0={to}", "--json").stdout)["final"]["q"]
    assert moved["part"][:3] == [3.0, 0.0, 2.0]
    assert ("read in mm" in perp("check", scene).stdout) == (main == "mm")


def test_unknown_unit_of_an_included_file(perp):
    perp.write("part.yaml", "units: {length: furlong}\n")
    done = perp("check", perp.write("s.yaml", "perp: 1\ninclude: [part.yaml]\n"), code=3)
    assert "part.yaml:1:17: there is no such unit" in done.stderr + done.stdout
