"""`perp run --model instant`: the JSON of contracts, the words, and the exit codes."""
import json
import math

import pytest

from conftest import ROOT

STOPPED = ("--set", "bodies.rod.velocity.angular=0", "--set", "bodies.rod.velocity.linear=[-1, 0]")


def scene(name):
    return str(ROOT / "examples" / name / "scene.yaml")


def tip_acceleration(solution):
    """Normal acceleration of the rod's tip, turning at 4 rad/s, 60 degrees from the floor."""
    _, ay, alpha = solution["acceleration"]["rod"]
    return ay - math.cos(math.pi / 3) * alpha + 16 * math.sin(math.pi / 3)


def test_two_solutions(perp):
    result = perp.json("run", scene("painleve-rod"))
    assert result["status"] == "ok" and result["steps"] == 0 and "why" not in result
    found = sorted((s["contacts"][0]["fn"], tip_acceleration(s), s["contacts"][0]["mode"]) for s in result["solutions"])
    assert found[0] == (pytest.approx(0, abs=1e-9), pytest.approx(4.046406461, abs=1e-9), "open")
    assert found[1] == (pytest.approx(4.771276928, abs=1e-9), pytest.approx(0, abs=1e-9), "slide")


def test_no_solution_is_a_result(perp):
    result = perp.json("run", scene("painleve-rod"), *STOPPED)
    assert result["status"] == "ok" and result["solutions"] == [] and "Painleve" in result["why"]
    text = perp("run", scene("painleve-rod"), *STOPPED).stdout
    assert "no solution: Painleve's paradox at `floor rod" in text and "-0.848076211" in text


@pytest.mark.parametrize("mu, turning, fn", [(0.5, (), 0), (0.5, STOPPED, 8.914284273)])
def test_one_solution(perp, mu, turning, fn):
    result = perp.json("run", scene("painleve-rod"), *turning, "--set", f"contacts.friction={mu}")
    assert [s["contacts"][0]["fn"] for s in result["solutions"]] == [pytest.approx(fn, abs=1e-9)]


def test_forces_without_bound(perp):
    result = perp.json("run", scene("wedged-disc"))
    ranges = [[c["fn_range"] for c in s["contacts"]] for s in result["solutions"]]
    least = 9.81 / (2 * (0.5 * math.cos(math.radians(20)) - math.sin(math.radians(20))))
    assert ranges[0] == 2 * [[pytest.approx(least, abs=1e-8), None]]
    assert ranges[1] == 2 * [[0, 0]]
    text = perp("run", scene("wedged-disc")).stdout
    assert "solution 1 of 2: accelerations" in text and "fn may be any from 38.3724249 N on, without bound" in text
    falls = perp.json("run", scene("wedged-disc"), "--set", "contacts.friction=0.3")["solutions"]
    assert [s["acceleration"]["disc"] for s in falls] == [pytest.approx([0, -9.81, 0], abs=1e-9)]


def test_large_sets_have_one_solution(perp):
    """Three cubes have 12 contacts, an LCP of 72 rows: beyond enumeration, and their weight is carried all the same."""
    cubes = {f"cube{i}": {"mass": 1, "pose": {"position": [0, 0, 0.05 + 0.1 * i]}, "shapes": [{"box": [0.1, 0.1, 0.1]}]}
             for i in range(3)}
    floor = {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]}
    path = perp.folder / "cubes.yaml"
    path.write_text(json.dumps({"perp": 1, "bodies": {"floor": floor, **cubes}, "run": {"model": "instant"}}))
    solution, = perp.json("run", path)["solutions"]
    for i, below in enumerate(["floor", "cube0", "cube1"]):
        forces = [c for c in solution["contacts"] if (c["a"], c["b"]) == (below, f"cube{i}")]
        assert sum(c["fn"] for c in forces) == pytest.approx(9.81 * (3 - i), abs=1e-7)
        assert solution["acceleration"][f"cube{i}"] == pytest.approx(6 * [0], abs=1e-8)
        # of four points in a square, two opposite ones can carry it all, and any of them nothing
        for c in forces:
            assert c["fn_range"] == [pytest.approx(0, abs=1e-6), pytest.approx(9.81 * (3 - i) / 2, abs=1e-6)]


def test_wrong_cone_is_bad_input(perp):
    assert "run.cone" in perp("run", scene("wedged-disc"), "--set", "run.cone=quadratic", code=3).stderr
