"""`perp run --model instant`: the JSON of contracts, the words, and the exit codes."""
import itertools
import json
import math
import random

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


def box_on_floor(perp, rays):
    """At rest on four corners, 4 (2 + rays) rows; weight 18 N, friction enough."""
    path = perp.folder / "box.yaml"
    floor = {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]}
    box = {"mass": 2, "pose": {"position": [0, 0, 0.05]}, "shapes": [{"box": [0.2, 0.2, 0.1]}]}
    path.write_text(json.dumps({"perp": 1, "gravity": [2, 0.5, -9], "bodies": {"floor": floor, "box": box},
                                "contacts": {"friction": 0.5}, "run": {"model": "instant", "rays": rays}}))
    return path


@pytest.mark.parametrize("rays", [4, 8])
def test_forces_that_are_not_unique_are_one_solution(perp, rays):
    """Weight and push (4, 1, -18) N act 0.05 m above the floor, so that the corners' fn are off the quarter of 18 N by
    4 * 0.05 / 0.2 / 2 along x, and 1 * 0.05 / 0.2 / 2 along y; opposite corners may carry more alike. One may lose all
    that it has, until another one has nothing, and friction is never short."""
    result = perp.json("run", box_on_floor(perp, rays))
    assert result["solutions_complete"] is True
    solution, = result["solutions"]
    assert solution["acceleration"]["box"] == pytest.approx(6 * [0], abs=1e-10)
    least = {c["feature"]: c["fn"] for c in solution["contacts"]}
    assert sorted(least.values()) == pytest.approx([3.875, 4.125, 4.875, 5.125], abs=1e-9)
    for c in solution["contacts"]:
        alike = 3.875 if c["fn"] in (pytest.approx(3.875), pytest.approx(5.125)) else 4.125
        other = 8 - alike  # the smaller of the two across: what this one may gain
        assert c["fn_range"] == [pytest.approx(c["fn"] - alike, abs=1e-8), pytest.approx(c["fn"] + other, abs=1e-8)]


def test_large_sets_have_one_solution(perp):
    """Five cubes have 20 contacts: too many to list all, and their weight is carried all the same."""
    cubes = {f"cube{i}": {"mass": 1, "pose": {"position": [0, 0, 0.05 + 0.1 * i]}, "shapes": [{"box": [0.1, 0.1, 0.1]}]}
             for i in range(5)}
    floor = {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]}
    path = perp.folder / "cubes.yaml"
    path.write_text(json.dumps({"perp": 1, "bodies": {"floor": floor, **cubes}, "run": {"model": "instant"}}))
    result = perp.json("run", path)
    assert result["solutions_complete"] is False
    assert "there may be other solutions" in perp("run", path).stdout
    solution, = result["solutions"]
    for i, below in enumerate(["floor", "cube0", "cube1", "cube2", "cube3"]):
        forces = [c for c in solution["contacts"] if (c["a"], c["b"]) == (below, f"cube{i}")]
        assert sum(c["fn"] for c in forces) == pytest.approx(9.81 * (5 - i), abs=1e-7)
        assert solution["acceleration"][f"cube{i}"] == pytest.approx(6 * [0], abs=1e-8)
        # of four points in a square, two opposite ones can carry it all, and any of them nothing
        for c in forces:
            assert c["fn_range"] == [pytest.approx(0, abs=1e-6), pytest.approx(9.81 * (5 - i) / 2, abs=1e-6)]


BALL = {"perp": 1, "bodies": {
    "table": {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]},
    "ball": {"mass": 2, "pose": {"position": [0, 0, 0.1]}, "shapes": [{"sphere": 0.1}]}},
    "contacts": {"friction": 0.4}, "run": {"model": "instant-qs", "cone": "rays"}}


@pytest.mark.parametrize("cone", ["rays", "quadratic"])
def test_a_ball_rolls_as_it_likes(perp, cone):
    """Three lines: it rolls two ways and turns in place. JSON, words, log and page say so; only with rays all was searched."""
    path = perp.write("ball.yaml", json.dumps({**BALL, "run": {"model": "instant-qs", "cone": cone}}))
    result = perp.json("run", path, "--log", "run.mcap")
    assert result["solutions_complete"] is (cone == "rays")
    solution, = result["solutions"]
    assert solution["velocity"]["ball"] == pytest.approx(6 * [0], abs=1e-9)
    assert [v["ball"] for v in solution["vertices"]] == [pytest.approx(6 * [0], abs=1e-9)]
    rays = [r["ball"] for r in solution["rays"]]
    assert len(rays) == 6 and all([-x for x in r] in rays for r in rays)
    for x, y, z, wx, wy, _ in rays:
        assert (x, y, z) == pytest.approx((0.1 * wy, -0.1 * wx, 0), abs=1e-9)
        assert max(map(abs, rays[0])) == 1
    logged, = json.loads(perp("export", "run.mcap", "--json").stdout)["steps"][0]["solutions"]["solutions"]
    assert logged["vertices"] == solution["vertices"] and logged["rays"] == solution["rays"]
    text = perp("run", path).stdout
    assert "not the only answer: velocities fill a set" in text and "1 vertex, and without end along 6 rays" in text
    assert ("there may be other solutions" in text) == (cone == "quadratic")
    assert "the smallest of a set" in perp("plot", "run.mcap").stdout
    assert page_instant(perp, path)["sets"] == [True]


@pytest.mark.parametrize("slow, fast", [(0.2, 0.5), (-0.3, 0.1)])
def test_between_walls_that_part(perp, slow, fast):
    """A box goes with any speed from the one's to the other's; the least is listed."""
    walls = {side: {"driven": {"x": {"rate": rate}}, "shapes": [{"halfplane": {"normal": [n, 0], "offset": -0.1}}]}
             for side, rate, n in (("left", slow, 1), ("right", fast, -1))}
    result = perp.json("run", perp.write("walls.yaml", json.dumps({
        "perp": 1, "planar": True, "gravity": [0, 0], "run": {"model": "instant-qs"},
        "bodies": {**walls, "box": {"mass": 1, "free": ["x"], "shapes": [{"box": [0.2, 0.2]}]}}})))
    solution, = result["solutions"]
    assert result["solutions_complete"] and solution["rays"] == []
    assert sorted(v["box"][0] for v in solution["vertices"]) == pytest.approx([slow, fast], abs=1e-9)
    assert solution["velocity"]["box"][0] == pytest.approx(max(slow, 0), abs=1e-9)


def test_logs_differ_in_sets(perp):
    """A smooth fence pushes a particle on rays: |y'| <= x' tan(pi / rays). Nothing else differs in the logs."""
    for name, rays in (("a", 4), ("b", 8), ("c", 4)):
        path = perp.write(f"{name}.yaml", json.dumps({
            "perp": 1, "contacts": {"friction": 0.5, "pairs": {"fence dot": {"friction": 0}}},
            "bodies": {"floor": {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]},
                       "fence": {"driven": {"x": {"rate": 0.4}}, "shapes": [{"plane": {"normal": [1, 0, 0], "offset": 0}}]},
                       "dot": {"mass": 1, "free": ["x", "y", "z"], "shapes": [{"point": {}}]}},
            "run": {"model": "instant-qs", "cone": "rays", "rays": rays}}))
        solution, = perp.json("run", path, "--log", f"{name}.mcap")["solutions"]
        assert sorted(v["dot"][1] for v in solution["vertices"]) == pytest.approx(
            [-0.4 * math.tan(math.pi / rays), 0.4 * math.tan(math.pi / rays)], abs=1e-9)
    assert "rate dot[1] of vertex" in perp("diff", "a.mcap", "b.mcap", code=1).stdout
    perp("diff", "a.mcap", "c.mcap")


def test_wrong_cone_is_bad_input(perp):
    assert "run.cone" in perp("run", scene("wedged-disc"), "--set", "run.cone=quadratic", code=3).stderr


# ---- another way to all solutions: every mode of every contact, solved by itself ----------------------------------


def solve(a, b):
    """Gauss with full pivoting; None where the matrix is singular to 1e-9 of its largest entry."""
    n, m = len(b), [row[:] + [x] for row, x in zip(a, b)]
    order = list(range(n))
    largest = max((abs(x) for row in a for x in row), default=1)
    for k in range(n):
        i, j = max(((i, j) for i in range(k, n) for j in range(k, n)), key=lambda ij: abs(m[ij[0]][ij[1]]))
        if abs(m[i][j]) <= 1e-9 * largest:
            return None
        m[k], m[i] = m[i], m[k]
        order[k], order[j] = order[j], order[k]
        for row in m:
            row[k], row[j] = row[j], row[k]
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            m[i] = [x - f * y for x, y in zip(m[i], m[k])]
    x = [0] * n
    for k in reversed(range(n)):
        x[order[k]] = (m[k][n] - sum(m[k][j] * x[order[j]] for j in range(k + 1, n))) / m[k][k]
    return x


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def random_pile(chance):
    """Boxes on each other on a leaning floor, the last one perhaps a disc, some of them sliding; where they are, and
    masses and velocities by coordinate."""
    bodies = {"floor": {"fixed": True, "shapes": [{"halfplane": {"normal": [0, 1], "offset": 0}}]}}
    masses, velocities, top = [], [], 0
    for k in range(chance.randint(1, 3)):
        width, height, mass = chance.uniform(0.2, 1), chance.uniform(0.1, 0.5), 10 ** chance.uniform(-1, 1)
        disc = chance.random() < 0.4
        inertia = mass * height ** 2 / 8 if disc else mass * (width ** 2 + height ** 2) / 12
        speed, turning = chance.choice([0, chance.uniform(-2, 2)]), chance.uniform(-5, 5) if disc else 0
        bodies[f"b{k}"] = {"mass": mass, "inertia": inertia, "velocity": {"linear": [speed, 0], "angular": turning},
                           "pose": {"position": [chance.uniform(-0.05, 0.05), top + height / 2]},
                           "shapes": [{"disc": height / 2} if disc else {"box": [width, height]}]}
        masses += [mass, mass, inertia]
        velocities += [speed, 0, turning]
        top += height
        if disc:
            break
    return {"perp": 1, "planar": True, "gravity": [chance.uniform(-6, 6), -9.81], "bodies": bodies,
            "contacts": {"friction": chance.choice([0.1, 0.3, 0.8, 1.5, 3])}, "run": {"model": "instant"}}, masses, velocities


def contact_rows(scene, contact, count):
    """Rows n and t over the coordinates of all bodies. Nothing here turns but discs on flat faces: (dJ/dt) v is zero."""
    names = [name for name in scene["bodies"] if name != "floor"]
    normal = contact["normal"][:2]
    rows = []
    for d in (normal, [normal[1], -normal[0]]):
        row = [0] * count
        for body, sign in ((contact["a"], -1), (contact["b"], 1)):
            if body != "floor":
                at = 3 * names.index(body)
                arm = [p - q for p, q in zip(contact["point"], scene["bodies"][body]["pose"]["position"])]
                row[at:at + 3] = [sign * d[0], sign * d[1], sign * (arm[0] * d[1] - arm[1] * d[0])]
        rows.append(row)
    return rows


def accelerations_of_modes(contacts, mu, masses, free):
    """All accelerations, one by one over the modes; None where the forces of some modes are not unique."""
    found = []
    for modes in itertools.product(*(("open", "hold") if abs(vt) > 1e-9 else ("open", "stick", 1, -1)
                                     for _, _, vt in contacts)):
        columns, rows = [], []
        for (n, t, vt), mode in zip(contacts, modes):
            sign = math.copysign(1, vt) if mode == "hold" else mode
            if mode == "stick":
                columns += [n, t]
                rows += [n, t]
            elif mode != "open":
                columns.append([x - mu * sign * y for x, y in zip(n, t)])
                rows.append(n)
        matrix = [[sum(r * c / m for r, c, m in zip(row, column, masses)) for column in columns] for row in rows]
        forces = solve(matrix, [-dot(row, free) for row in rows])
        if forces is None:
            return None
        a = [x + sum(f * c[k] for f, c in zip(forces, columns)) / masses[k] for k, x in enumerate(free)]
        good, left = True, list(forces)
        for (n, t, _), mode in zip(contacts, modes):
            if mode == "open":
                good = good and dot(n, a) >= -1e-9
                continue
            fn = left.pop(0)
            good = good and fn >= -1e-9
            if mode == "stick":
                good = good and abs(left.pop(0)) <= mu * fn + 1e-9
            elif mode != "hold":
                good = good and mode * dot(t, a) >= -1e-9
        if good and not any(max(abs(x - y) for x, y in zip(a, b)) < 1e-6 for b in found):
            found.append(a)
    return found


def test_every_solution_of_random_piles(perp):
    """As many solutions as the modes have, and the same. Piles whose forces are not unique are left out; of 60 some
    have no solution at all."""
    chance, compared, none = random.Random(7), 0, 0
    for _ in range(60):
        pile, masses, velocities = random_pile(chance)
        result = perp.json("run", perp.write("pile.yaml", json.dumps(pile)))
        contacts = []
        for c in result["contacts"]:
            n, t = contact_rows(pile, c, len(masses))
            if abs(c["phi"]) <= 1e-9 and abs(dot(n, velocities)) <= 1e-9:
                contacts.append((n, t, dot(t, velocities)))
        free = [*pile["gravity"], 0] * (len(masses) // 3)
        expected = accelerations_of_modes(contacts, pile["contacts"]["friction"], masses, free) if len(contacts) < 6 else None
        if expected is None:
            continue
        found = [sum((s["acceleration"][name] for name in pile["bodies"] if name != "floor"), []) for s in result["solutions"]]
        assert len(found) == len(expected), pile
        for a in expected:
            assert any(b == pytest.approx(a, abs=1e-6) for b in found), pile
        compared += 1
        none += not expected
    assert compared >= 30 and none >= 1


# ---- logs, pages, plots --------------------------------------------------------------------------------------------


def page_instant(perp, *arguments):
    """What the page's header says of the instant; null where steps were taken."""
    perp("run", *arguments, "--log", "run.mcap")
    done = perp("view", "run.mcap", "-o", "run.html", code=None)
    if "no replay page" in done.stderr:
        pytest.skip("this build has no replay page, and says so")
    assert done.returncode == 0, done.stderr
    text = perp.folder.joinpath("run.html").read_text()
    begin = text.index('id="perp-headers">') + len('id="perp-headers">')
    return json.loads(text[begin:text.index("</script>", begin)])[0]["instant"]


def test_log_has_the_solutions(perp):
    result = perp.json("run", scene("painleve-rod"), "--log", "run.mcap")
    exported = json.loads(perp("export", "run.mcap", "--json").stdout)
    logged = exported["steps"][0]["solutions"]
    assert logged["answers"] == "acceleration" and logged["complete"] is True
    assert len(logged["solutions"]) == len(result["solutions"]) == 2
    for ours, theirs in zip(logged["solutions"], result["solutions"]):
        assert ours["acceleration"] == theirs["acceleration"]
        for key in ("mode", "fn", "ft", "fn_range"):
            assert [c[key] for c in ours["contacts"]] == [c[key] for c in theirs["contacts"]]


def test_page_has_the_solutions(perp):
    result = perp.json("run", scene("painleve-rod"))
    page = page_instant(perp, scene("painleve-rod"))
    assert page["complete"] is True and len(page["rates"]) == 2
    for shown, solution in zip(page["rates"], result["solutions"]):  # the page keeps nine figures
        assert shown["rod"] == pytest.approx(solution["acceleration"]["rod"], rel=1e-8)
    none = page_instant(perp, scene("painleve-rod"), *STOPPED)
    assert none["rates"] == [] and none["why"].startswith("Painleve's paradox at `floor rod")
    assert page_instant(perp, scene("gripper-2d"), "--steps", "2") is None


def test_logs_differ_in_any_solution(perp):
    """Friction has no part in the first solution, in which the rod lifts off."""
    for name, friction in (("a", 2), ("b", 1.9), ("c", 2)):
        perp("run", scene("painleve-rod"), "--set", f"contacts.friction={friction}", "--log", f"{name}.mcap")
    assert "rate rod[0] of solution 2" in perp("diff", "a.mcap", "b.mcap", code=1).stdout
    perp("diff", "a.mcap", "c.mcap")


def test_plots_show_every_solution(perp):
    perp("run", scene("painleve-rod"), "--log", "run.mcap")
    sheet = perp("plot", "run.mcap").stdout
    assert "2 solutions" in sheet and "Solution 1 of 2" in sheet and "Solution 2 of 2" in sheet
    assert "17.64" in sheet and "slide 4.771 N" in sheet
    one, two = (perp("plot", "run.mcap", "--what", "scene", "--solution", k).stdout for k in "12")
    assert one.count("<line") < two.count("<line")  # an arrow more
    wrong = perp("plot", "run.mcap", "--what", "scene", "--solution", "3", code=2)
    assert "no solution 3 in the log, which has 2" in wrong.stderr
    perp("run", scene("painleve-rod"), *STOPPED, "--log", "none.mcap")
    assert "0 solutions" in perp("plot", "none.mcap").stdout and "paradox at `floor rod" in perp("plot", "none.mcap").stdout


def test_slip_on_the_side_of_a_pyramid_is_explained(perp):
    """A ball rolls if friction takes 2/7 of the push F (1, 1): in the measure of four rays mu fn >= 4/7 F."""
    table = {"fixed": True, "shapes": [{"plane": {"normal": [0, 0, 1], "offset": 0}}]}
    ball = {"mass": 2, "pose": {"position": [0, 0, 0.1]}, "shapes": [{"sphere": 0.1}]}
    path = perp.write("ball.yaml", json.dumps({
        "perp": 1, "bodies": {"table": table, "ball": ball}, "forces": [{"body": "ball", "force": [3, 3, 0]}],
        "contacts": {"friction": 0.05}, "run": {"model": "instant", "rays": 4}}))
    needed = f"{4 / 7 * 3 / (2 * 9.81):.4g}"
    text = perp("run", path, "--why").stdout
    assert "on the edge of its cone, slips or is about to: 0.981 N of 0.981 N used" in text
    assert f"friction of at least {needed} between table and ball" in text
    text = perp("run", path, "--why", "--set", "contacts.friction=0.3").stdout
    assert f"would slip below friction {needed} between table and ball" in text
