"""`perp solve` for friction problems: known answers, an independent residual, both kinds of file, refusals."""
import json
import math
import random
import re
import subprocess

import pytest
import yaml

from conftest import PERP, ROOT
from test_solve import as_text

EXAMPLE = ROOT / "examples" / "friction-solve"


# ---- an independent judge -----------------------------------------------------------------------------------------


def velocity(problem, r):
    return [math.fsum([q] + [a * b for a, b in zip(row, r)]) for row, q in zip(problem["W"], problem["q"])]


def projected(mu, y):
    """On mu fn >= |ft|."""
    t = math.hypot(*y[1:])
    if t <= mu * y[0]:
        return y
    if y[0] <= -mu * t:
        return [0.0] * len(y)
    along = (y[0] + mu * t) / (1 + mu * mu)
    return [along] + [mu * along * x / t for x in y[1:]]


def residual(problem, r):
    """As docs/solve.md defines it."""
    d, u = problem["dim"], velocity(problem, r)
    worst = 0.0
    for i, mu in enumerate(problem["mu"]):
        p, z = r[d * i:d * i + d], u[d * i:d * i + d]
        z = [z[0] + mu * math.hypot(*z[1:])] + z[1:]
        normal = problem["W"][d * i][d * i]
        rho = 1 / normal if normal > 0 else 1.0
        image = projected(mu, [a - rho * b for a, b in zip(p, z)])
        law = max(math.hypot(*(a - b for a, b in zip(p, image))) / rho, -u[d * i])
        rows = zip(problem["W"][d * i:d * i + d], problem["q"][d * i:d * i + d])
        scale = 1 + max(abs(q) + math.fsum(abs(a * b) for a, b in zip(row, r)) for row, q in rows)
        worst = max(worst, law / scale)
    return worst


def as_dat(problem, storage=0):
    """The problem as Siconos writes it."""
    w, n, d = problem["W"], len(problem["q"]), problem["dim"]
    lines = [d, len(problem["mu"]), storage, n, n]
    if storage == 0:
        lines += [f"{n}\t{n}"] + [" ".join(repr(w[i][j]) for i in range(n)) for j in range(n)]
    else:
        k = n // d
        ends = "\t".join(str(d * (i + 1)) for i in range(k))
        lines += [k * k, k, k, ends, ends, k + 1, k * k, "\t".join(str(k * i) for i in range(k + 1)),
                  "\t".join(str(i % k) for i in range(k * k))]
        for b in range(k * k):
            lines += [b] + [repr(w[d * (b // k) + i][d * (b % k) + j]) for j in range(d) for i in range(d)]
    lines += [" ".join(map(repr, problem["q"])), " ".join(map(repr, problem["mu"]))]
    return "\n".join(map(str, lines)) + "\n"


@pytest.fixture
def solve(perp):
    def solved(problem, *options):
        result = perp.json("solve", perp.write("p.yaml", as_text(problem)), *options)
        assert list(result) == ["status", "method", "tried", "residual", "iterations", "time_us", "r", "u", "modes",
                                "certificate"]
        assert result["status"] == "solved" and result["certificate"] == {}
        assert result["residual"] <= 1e-8 and residual(problem, result["r"]) <= 1.001e-8
        assert result["u"] == pytest.approx(velocity(problem, result["r"]), abs=1e-9)
        assert result["tried"][-1] == result["method"] and len(result["modes"]) == len(problem["mu"])
        return result
    return solved


def dynamic(rng, contacts, dim, bodies):
    """A step of `bodies` unknowns of unit mass with random contacts: W = H H', q = H v with the free motion v drawn. At
    rest all contacts are closed, so that no contact asks for what another forbids."""
    h = [[rng.gauss(0, 1) for _ in range(bodies)] for _ in range(contacts * dim)]
    free = [rng.gauss(0, 1) for _ in range(bodies)]
    w = [[math.fsum(a * b for a, b in zip(x, y)) for y in h] for x in h]
    return {"kind": "friction", "dim": dim, "W": w, "q": [math.fsum(a * b for a, b in zip(x, free)) for x in h],
            "mu": [rng.choice([0.0, 0.2, 0.5, 1.0]) for _ in range(contacts)]}


# ---- answers ------------------------------------------------------------------------------------------------------


def near(values):
    """Residuals of 1e-8 in problems of unit size and condition."""
    return pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize("name, r, u, modes", [
    ("incline", [0.981 * math.cos(math.pi / 6), -0.3 * 0.981 * math.cos(math.pi / 6), 0],
     [0, 0.4905 - 0.3 * 0.981 * math.cos(math.pi / 6), 0], ["slide"]),
    ("crate-push", [0.5, 0, 1.5, -0.5], [0, 0, 0, 0], ["stick", "stick"]),
    ("crate-tip", [0, 0, 13 / 6, -7 / 6], [1 / 6, 0, 0, 0], ["open", "stick"]),
    ("crate-slide", [0.6, -0.12, 1.4, -0.28], [0, 0.55, 0, 0.55], ["slide", "slide"])])
def test_examples(solve, name, r, u, modes):
    result = solve(yaml.safe_load((EXAMPLE / f"{name}.yaml").read_text()))
    assert result["r"] == near(r) and result["u"] == near(u) and result["modes"] == modes


@pytest.mark.parametrize("leaves", [1e3, 1e8, 1e12, 1e20])
@pytest.mark.parametrize("options", [(), ("--relative",)])
def test_a_contact_that_leaves_excuses_no_other(solve, leaves, options):
    """The first contact leaves; the second is pressed with 4 and sticks."""
    problem = {"kind": "friction", "dim": 2, "W": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]],
               "q": [leaves, 1, -8, 2], "mu": [0.5, 0.5]}
    result = solve(problem, *options)
    assert result["r"] == pytest.approx([0, 0, 4, -1], abs=1e-7) and result["modes"] == ["open", "stick"]


def test_an_approach_is_not_hidden_by_a_large_friction(perp):
    """mu = 1e308: beside mu |ut| a contact that closes with 1 m/s is no part of the natural map. Nothing is said to be
    solved that closes."""
    for mu in (1e3, 1e12, 1e100, 1e308):
        problem = {"kind": "friction", "dim": 3, "W": [[2, 1, 0, 0.5, 0, 0], [1, 3, 0, 0, 0, 0], [0, 0, 2, 0, 0.3, 0],
                                                       [0.5, 0, 0, 2, 0, 1], [0, 0, 0.3, 0, 2, 0], [0, 0, 0, 1, 0, 3]],
                   "q": [-0.1, -0.5, 2, -1, 0.4, 0.3], "mu": [mu, 0.7]}
        result = perp.json("solve", perp.write("p.yaml", as_text(problem)), code=None)
        assert result["status"] != "solved" or min(result["u"][0], result["u"][3]) >= -1e-6


def test_a_crate_with_two_rough_feet(solve):
    """Of the friction only the sum is determined."""
    problem = yaml.safe_load((EXAMPLE / "crate-push.yaml").read_text())
    problem["mu"] = [0.8, 0.8]
    r = solve(problem)["r"]
    assert [r[0], r[2], r[1] + r[3]] == near([0.5, 1.5, -0.5])


@pytest.mark.parametrize("seed", range(12))
def test_random_steps(solve, seed):
    rng = random.Random(seed)
    solve(dynamic(rng, rng.randint(1, 12), rng.choice([2, 3]), rng.randint(3, 20)))


def test_the_mirrored_problem(solve):
    """One tangent of every contact reversed."""
    problem = dynamic(random.Random(5), 3, 3, 30)
    mirrored = dict(problem, q=[-q if i % 3 == 2 else q for i, q in enumerate(problem["q"])],
                    W=[[-x if (i % 3 == 2) != (j % 3 == 2) else x for j, x in enumerate(row)]
                       for i, row in enumerate(problem["W"])])
    r = solve(problem)["r"]
    assert solve(mirrored)["r"] == near([-x if i % 3 == 2 else x for i, x in enumerate(r)])


def test_dat_is_the_same_problem(perp, solve):
    for seed in range(4):
        problem = dynamic(random.Random(seed), 4, 2 + seed % 2, 15)
        problem["W"][0][1] += 1e-3  # not symmetric: rows and columns are told apart
        expected = solve(problem)
        for storage in (0, 1):
            result = perp.json("solve", perp.write("p.dat", as_dat(problem, storage)))
            assert result["r"] == expected["r"] and result["u"] == expected["u"]
    results = [perp.json("solve", EXAMPLE / f"incline.{end}") for end in ("yaml", "dat")]
    assert results[0]["r"] == results[1]["r"]


def test_the_same_bits_again(perp):
    path = perp.write("p.yaml", as_text(dynamic(random.Random(7), 8, 3, 12)))
    first, second = (perp.json("solve", path) for _ in range(2))
    del first["time_us"], second["time_us"]
    assert first == second


# ---- the table ----------------------------------------------------------------------------------------------------


def test_many_contacts_are_cut(perp):
    problem = dynamic(random.Random(3), 30, 2, 90)
    path = perp.write("p.yaml", as_text(problem))
    lines = perp("solve", path).stdout.splitlines()
    assert lines[0].startswith("friction of 30 contacts: solved, method ")
    rows = [line.split() for line in lines if re.match(r"\d", line)]
    modes = perp.json("solve", path)["modes"]
    assert [row[1] for row in rows] == modes[:20] and all(len(row) == 7 for row in rows)
    counts = ", ".join(f"{modes.count(mode)} {mode}" for mode in ("open", "stick", "slide"))
    assert lines[-1] == f".. 10 more contacts; of all, {counts}"


# ---- options and refusals -----------------------------------------------------------------------------------------

SLIDING = "kind: friction\ndim: 2\nW: [[2, 0], [0, 2]]\nq: [-8, 4]\nmu: [0.25]\n"


def test_help_tells_the_answer(perp):
    text = perp("solve", "--help").stdout
    lines = text.split("One of Coulomb friction:\n")[1].split("gives")[0]
    result = perp.json("solve", perp.write("p.yaml", re.sub(r"^  ", "", lines, flags=re.MULTILINE)))
    assert "r = [4, -1], u = [0, 2]: it slides" in text
    assert result["r"] == near([4, -1]) and result["u"] == near([0, 2]) and result["modes"] == ["slide"]


def methods(perp):
    table = perp("solve", "--list").stdout.split("\n\nKinds: friction.")[0].split("method ")[-1].splitlines()[1:]
    assert "small" in (names := [line.split()[0] for line in table])
    return names


def test_methods(perp):
    """Whether one of them arrives alone is its own affair; that it says so truly is not."""
    path, names, solved = perp.write("p.yaml", SLIDING), methods(perp), 0
    assert len(names) == len(set(names)) > 1
    for name in names:
        done = subprocess.run([PERP, "solve", path, "--method", name, "--json"], capture_output=True, text=True)
        if done.returncode == 2:  # one for problems with bodies
            assert ": take " in done.stderr and done.stdout == ""
            continue
        result = json.loads(done.stdout)
        assert (done.returncode == 0) == (result["status"] == "solved") == (done.stderr == "")
        if done.returncode == 0:
            assert residual(yaml.safe_load(SLIDING), result["r"]) <= 1e-8 and result["r"] == near([4, -1])
            solved += 1
    assert solved > 1


def test_options_of_other_kinds(perp):
    path = perp.write("p.yaml", SLIDING)
    assert "--all is for the kinds lcp, mlcp, mcp, not for friction" in perp("solve", path, "--all", code=2).stderr
    assert "`dual` is not for the kind friction" in perp("solve", path, "--method", "dual", code=2).stderr
    for method in ("ipm", "rest", "islands"):  # of the kind, but for problems with bodies
        for flags in ((), ("--json",)):
            done = perp("solve", path, "--method", method, *flags, code=2)
            assert "take ipm-w" in done.stderr and done.stdout == ""
    lcp = perp.write("l.yaml", "kind: lcp\nM: [[1]]\nq: [-1]\n")
    assert "`ipm-w` is not for the kind lcp" in perp("solve", lcp, "--method", "ipm-w", code=2).stderr


def test_a_tolerance_is_held_to(perp):
    path = perp.write("p.yaml", as_text(dynamic(random.Random(2), 5, 3, 9)))
    assert perp.json("solve", path, "--tol", "1e-11")["residual"] <= 1e-11
    assert "at least 1e-12" in perp("solve", path, "--tol", "1e-13", code=2).stderr


@pytest.mark.parametrize("name, text, place, words", [
    ("p.yaml", "kind: friction\nW: [[1, 0], [0, 1]]\nq: [1, 1]\ndim: 3\nmu: [1]\n", "2:4", "no multiple of dim"),
    ("p.yaml", "kind: friction\nW: [[1, 0], [0, 1]]\nq: [1, 1]\ndim: 2\nmu: [-1]\n", "5:6", "negative"),
    ("p.dat", "2\n1\n0\n2\n2\n2 2\n1 0 nan 1\n0 0\n1\n", "7:5", "an entry of W, but found `nan`"),
    ("p.dat", "3\n1\n0\n9\n9\n", "4:1", "the global ones")])
def test_bad_input(perp, name, text, place, words):
    perp.write(name, text)
    done = perp("solve", name, code=3)
    assert done.stderr.startswith(f"{name}:{place}: ") and words in done.stderr and done.stdout == ""
    result = perp.json("solve", name, code=3)
    assert result["status"] == "invalid" and words in result["error"]["message"]
    evidence = result["error"]["evidence"]
    assert f'{evidence["line"]}:{evidence["column"]}' == place and evidence["file"] == name
