"""`perp solve`: known answers, an independent residual, all solutions, refusals and exit codes."""
import json
import math
import random
import re
import signal
import subprocess
import time
from fractions import Fraction

import pytest

from conftest import PERP, ROOT

INF = math.inf


def residual(problem, z):
    """The largest |z_i - mid(lower_i, z_i - F_i, upper_i)| / (1 + |q_i| + (|M||z|)_i), summed exactly (fsum)."""
    m, q = problem["M"], problem["q"]
    n = len(q)
    free = set(problem.get("free", []))
    lower = problem.get("lower", [-INF if i in free else 0 for i in range(n)])
    upper = problem.get("upper", [INF] * n)
    worst = 0.0
    for i in range(n):
        terms = [m[i][j] * z[j] for j in range(n)] + [q[i]]
        off = abs(z[i] - min(max(lower[i], z[i] - math.fsum(terms)), upper[i]))
        worst = max(worst, off / (1 + math.fsum(map(abs, terms))))
    return worst


def slack(problem, z):
    return [math.fsum([a * b for a, b in zip(row, z)] + [c]) for row, c in zip(problem["M"], problem["q"])]


def as_text(problem):
    """JSON, which is YAML, but for infinity."""
    return json.dumps(problem).replace("-Infinity", "-.inf").replace("Infinity", ".inf")


def lcp(m, q):
    return {"kind": "lcp", "M": m, "q": q}


def murty(n):
    return [[2 if j < i else 1 if j == i else 0 for j in range(n)] for i in range(n)]


def fathi(n):
    a = murty(n)
    return [[sum(x * y for x, y in zip(r, s)) for s in a] for r in a]


def unit(n):
    return [1] + [0] * (n - 1)


class Solve:
    def __init__(self, perp):
        self.perp = perp

    def __call__(self, problem, *options, code=0):
        """The JSON; whatever is called solved is held to the independent residual."""
        path = self.perp.write("p.yaml", problem if isinstance(problem, str) else as_text(problem))
        result = self.perp.json("solve", path, *options, code=code)
        assert (result["status"] == "solved") == (code == 0)
        if code == 0 and not isinstance(problem, str):
            assert residual(problem, result["z"]) <= 1e-8
            # w is summed in double precision, in another order
            assert result["w"] == pytest.approx(slack(problem, result["z"]), abs=1e-9, rel=1e-12)
        return result


@pytest.fixture
def solve(perp):
    return Solve(perp)


def points(face):
    return sorted(tuple(round(x, 9) + 0.0 for x in v) for v in face["vertices"])


# ---- known answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [2, 6, 12, 20, 100])
@pytest.mark.parametrize("options", [(), ("--relative",)])
def test_a_large_row_excuses_no_other(solve, power, options):
    """w = z + q: z = (0, 1, 2), whatever row 0 has."""
    result = solve(lcp([[1, 0, 0], [0, 1, 0], [0, 0, 0.5]], [10.0**power, -1, -1]), *options)
    assert result["z"] == [0, 1, 2] and result["w"] == [10.0**power, 0, 0]


def test_near_singular_is_not_called_infeasible(perp):
    """M is definite, so that there is a solution, of about 1e20: no method finds it, and nothing else is claimed."""
    problem = lcp([[0.22025587804828703, -0.01391438348752275], [-0.01391438348752275, 0.0008790233865876685]],
                  [-0.18834728724793796, -1.695278063913015])
    result = perp.json("solve", perp.write("p.yaml", as_text(problem)), "--all", code=1)
    assert result["status"] in ("ray", "ill-conditioned") and not result["complete"]


def test_two_by_two(solve):
    result = solve(lcp([[2, 1], [1, 2]], [-5, -6]))
    assert result["z"] == pytest.approx([4 / 3, 7 / 3], rel=1e-14)
    assert list(result) == ["status", "method", "tried", "residual", "iterations", "time_us", "z", "w", "certificate"]
    assert result["tried"][-1] == result["method"] and result["iterations"] > 0 and result["time_us"] > 0
    assert result["residual"] <= 1e-15 and result["certificate"] == {}


def test_triplets_are_the_same_matrix(solve):
    rows = solve(lcp([[2, 0], [1, 2]], [-5, -6]))
    triplets = solve("kind: lcp\nM: {rows: 2, cols: 2, triplets: [[1, 1, 2], [0, 0, 1.5], [0, 0, 0.5], [1, 0, 1]]}\n"
                     "q: [-5, -6]\n")
    assert triplets["z"] == rows["z"] and triplets["w"] == rows["w"]


@pytest.mark.parametrize("n", range(1, 13))
@pytest.mark.parametrize("matrix", [murty, fathi])
def test_murty_and_fathi(solve, matrix, n):
    assert solve(lcp(matrix(n), [-1] * n))["z"] == pytest.approx(unit(n), abs=1e-12)


def test_q_that_is_not_negative_needs_no_pivot(solve):
    result = solve(lcp([[0, -1], [1, 0]], [1, 0]))
    assert result["z"] == [0, 0] and result["w"] == [1, 0]


def test_free_rows_keep_their_place(solve):
    """z1 is free with row z0 + z1 = 1; row 0: z0 - z1 >= 0 must hold with z0 = 0 or equality: z = (1/2, 1/2)."""
    problem = {"kind": "mlcp", "M": [[1, -1], [1, 1]], "q": [0, -1], "free": [1]}
    result = solve(problem)
    assert result["z"] == pytest.approx([0.5, 0.5]) and result["w"] == pytest.approx([0, 0], abs=1e-15)
    moved = {"kind": "mlcp", "M": [[1, 1], [-1, 1]], "q": [-1, 0], "free": [0]}
    assert solve(moved)["z"] == pytest.approx([0.5, 0.5])


def test_a_free_variable_may_be_negative(solve):
    problem = {"kind": "mlcp", "M": [[2, 0], [0, 1]], "q": [4, 3], "free": [0]}
    assert solve(problem)["z"] == pytest.approx([-2, 0])


@pytest.mark.parametrize("q, z, w", [(-3, 2, -1), (-1, 1, 0), (5, -1, 4)])
def test_bounds(solve, q, z, w):
    """z + q on [-1, 2]: at the upper bound w <= 0, inside 0, at the lower >= 0."""
    result = solve({"kind": "mcp", "M": [[1]], "q": [q], "lower": [-1], "upper": [2]})
    assert (result["z"], result["w"]) == (pytest.approx([z]), pytest.approx([w], abs=1e-15))


def test_bounds_without_end(solve):
    problem = {"kind": "mcp", "M": [[2, 1, 0], [1, 3, -1], [0, -1, 1]], "q": [-1, 4, -2],
               "lower": [-INF, -1, -INF], "upper": [INF, INF, 0.5]}
    solve(problem)


# ---- problems without a solution ----------------------------------------------------------------------------------


def test_no_solution(solve):
    assert solve(lcp([[-1]], [-1]), code=1)["status"] in ("ray", "infeasible")
    result = solve(lcp([[-1]], [-1]), "--all", code=1)
    assert result["status"] == "infeasible" and result["solutions"] == [] and result["complete"] is True
    assert result["certificate"].keys() == {"bases_searched"}  # 0 where the first bound already decides


def test_a_ray_is_evidence(solve):
    """Lemke ends on a ray of a bimatrix game although it has solutions; --all finds them."""
    game = lcp([[0, 0, 10, 20], [0, 0, 30, 15], [10, 20, 0, 0], [30, 15, 0, 0]], [-1] * 4)
    result = solve(game, "--method", "lemke", code=1)
    assert result["status"] == "ray" and result["method"] == "lemke"
    ray = result["certificate"]["ray"]
    assert len(ray["z"]) == len(ray["w"]) == 4 and max(ray["z"] + ray["w"]) > 0
    assert all(min(z, w) == pytest.approx(0, abs=1e-12) for z, w in zip(ray["z"], ray["w"]))
    everything = solve(game, "--method", "lemke", "--all")
    vertices = [v for face in everything["solutions"] for v in face["vertices"]]
    assert any(v == pytest.approx([1 / 90, 2 / 45, 1 / 90, 2 / 45]) for v in vertices)
    assert all(residual(game, v) <= 1e-8 for v in vertices)
    assert any(everything["z"] == pytest.approx(v) for v in vertices)


def assert_farkas(problem, u):
    """u'w >= 0 for every solution, yet u'(M z + q) < 0 for every z within its bounds: in fractions, without rounding."""
    n = len(problem["q"])
    free = set(problem.get("free", []))
    lower = problem.get("lower", [-INF if i in free else 0 for i in range(n)])
    upper = problem.get("upper", [INF] * n)
    u = [Fraction(x) for x in u]
    total = sum(Fraction(q) * x for q, x in zip(problem["q"], u))
    for i in range(n):
        bounded = (math.isfinite(lower[i]), math.isfinite(upper[i]))
        assert {(True, False): u[i] >= 0, (False, True): u[i] <= 0, (True, True): u[i] == 0,
                (False, False): True}[bounded]
        v = sum(Fraction(problem["M"][k][i]) * u[k] for k in range(n))
        if v != 0:
            bound = upper[i] if v > 0 else lower[i]
            assert math.isfinite(bound)
            total += v * Fraction(bound)
    assert total < 0


@pytest.mark.parametrize("problem", [
    lcp([[-1]], [-1]), lcp([[0, -1], [1, 0]], [-1, -2]),
    {"kind": "mlcp", "M": [[1, 1, 0], [1, 1, 0], [0, 0, 1]], "q": [-1, -2, 0], "free": [0, 1]},
    {"kind": "mlcp", "M": [[0, 0], [0, 1]], "q": [1, 0], "free": [0]},
    {"kind": "mcp", "M": [[0, -1], [1, 0]], "q": [-1, -2], "lower": [0, 0], "upper": [INF, 3]},
    {"kind": "mcp", "M": [[0, 0], [0, 0]], "q": [-1, 1], "lower": [0, -INF], "upper": [INF, 1]},
    {"kind": "mcp", "M": [[0, 1], [0, 1]], "q": [-4, 0], "lower": [0, -3], "upper": [INF, 3]}])
def test_infeasible_is_proven(solve, problem):
    result = solve(problem, code=1)
    assert result["status"] == "infeasible" and list(result["certificate"]) == ["farkas"]
    assert_farkas(problem, result["certificate"]["farkas"])


@pytest.mark.parametrize("seed", range(10))
def test_infeasible_problems_of_any_size(solve, seed):
    """Row k of M is not positive and q_k negative, so that w_k < 0 whatever z >= 0 is."""
    rng = random.Random(200 + seed)
    n = rng.randint(2, 20)
    m, q = random_matrix(rng, n), [rng.gauss(0, 3) for _ in range(n)]
    k = rng.randrange(n)
    m[k], q[k] = [-abs(x) for x in m[k]], -abs(q[k])
    result = solve(lcp(m, q), code=1)
    assert result["status"] in ("infeasible", "ray")
    if result["status"] == "infeasible":
        assert_farkas(lcp(m, q), result["certificate"]["farkas"])


# ---- all solutions ------------------------------------------------------------------------------------------------


def test_a_continuum(solve):
    result = solve(lcp([[1, 1], [1, 1]], [-1, -1]), "--all")
    assert len(result["solutions"]) == 1
    assert points(result["solutions"][0]) == [(0, 1), (1, 0)] and result["solutions"][0]["rays"] == []
    assert tuple(result["z"]) in [(0, 1), (1, 0)]


@pytest.mark.parametrize("r, b, expected", [
    (-0.8480762114, 4.046406461, [0, 4.771276928]), (-0.8480762114, -9.81, []),
    (1.100480947, 4.046406461, [0]), (1.100480947, -9.81, [8.914284273])])
def test_painleve_rod(solve, r, b, expected):
    """One sliding contact, a_n = R c_n + b: two solutions, none, free flight, contact (10 digits of R)."""
    result = solve(lcp([[r]], [b]), "--all", code=0 if expected else 1)
    found = sorted(v[0] for face in result["solutions"] for v in face["vertices"])
    assert found == pytest.approx(expected, rel=1e-9)


def test_all_of_an_mlcp(solve):
    """The free z2 = z0 + z1 - 1 is eliminated and comes back: rows 0 and 1 are then ones(2,2), q = -1."""
    problem = {"kind": "mlcp", "M": [[0, 0, 1], [0, 0, 1], [1, 1, -1]], "q": [0, 0, -1], "free": [2]}
    result = solve(problem, "--all")
    assert [points(f) for f in result["solutions"]] == [[(0, 1, 0), (1, 0, 0)]]


def test_all_of_an_mcp(solve):
    """-z + 0.5 on [0, 1]: both ends and the zero between them."""
    result = solve({"kind": "mcp", "M": [[-1]], "q": [0.5], "lower": [0], "upper": [1]}, "--all")
    assert sorted(v[0] for f in result["solutions"] for v in f["vertices"]) == pytest.approx([0, 0.5, 1], abs=1e-12)
    fixed = solve({"kind": "mcp", "M": [[1]], "q": [7], "lower": [2], "upper": [2]}, "--all")
    assert [points(f) for f in fixed["solutions"]] == [[(2,)]] and fixed["solutions"][0]["rays"] == []


def diagonal(n, value):
    return [[value if i == j else 0 for j in range(n)] for i in range(n)]


def vertices_of(result):
    assert all(len(f["vertices"]) == 1 and f["rays"] == [] for f in result["solutions"])
    return sorted(tuple(f["vertices"][0]) for f in result["solutions"])


@pytest.mark.parametrize("n", [1, 2])
def test_solutions_that_are_close_are_not_the_same(solve, n):
    """w = 1 - 1e10 z: each z_i is 0 or 1e-10, whatever the class."""
    m, q = diagonal(n, -1e10), [1] * n
    expected = sorted({(a, b)[:n] for a in (0, 1e-10) for b in (0, 1e-10)})
    free = {"kind": "mlcp", "M": [r + [0] for r in m] + [[0] * n + [1]], "q": q + [-3], "free": [n]}
    bounded = {"kind": "mcp", "M": m, "q": q, "lower": [0] * n, "upper": [INF] * n}
    for problem in (lcp(m, q), free, bounded):
        result = solve(problem, "--all")
        assert result["complete"] is True
        found = [v[:n] for v in vertices_of(result)]
        assert len(found) == len(expected)
        assert all(f == pytest.approx(e, rel=1e-12, abs=0) for f, e in zip(found, expected))


def test_equal_bounds_are_constants(solve):
    """z0 = 2 puts 2 M_10 into q_1: row 1 is -z1 + 0.5 on [0, 1], with three solutions; z2 is -4 in each."""
    problem = {"kind": "mcp", "M": [[1, 5, 0], [0.5, -1, 0], [0, 0, 1]], "q": [7, -0.5, 0],
               "lower": [2, 0, -4], "upper": [2, 1, -4]}
    result = solve(problem, "--all")
    assert result["complete"] is True
    assert [pytest.approx(v, abs=1e-12) for v in vertices_of(result)] == [(2, 0, -4), (2, 0.5, -4), (2, 1, -4)]
    fixed = solve({"kind": "mcp", "M": diagonal(45, 1), "q": [1] * 45, "lower": [3] * 45, "upper": [3] * 45}, "--all")
    assert vertices_of(fixed) == [(3,) * 45] and fixed["complete"] is True


def test_faces_are_counted_to_a_limit(solve):
    """2^40 points; the time limit of the fixture is what a hang would meet."""
    result = solve(lcp(diagonal(40, -1), [1] * 40), "--all")
    assert len(result["solutions"]) == 100000 and result["complete"] is False


def test_what_counts_as_zero_is_not_called_complete(solve):
    result = solve(lcp([[1, 0], [0, 1e-16]], [-1, -1]), "--all")
    assert result["z"] == pytest.approx([1, 1e16]) and result["complete"] is False


def test_nothing_found_is_no_proof_if_entries_were_dropped(solve):
    """No solution, but 1e-16 was left out of the search: that it found none proves nothing."""
    result = solve(lcp([[1, 0], [0, -1e-16]], [-1, -1]), "--all", code=1)
    assert result["solutions"] == [] and result["complete"] is False
    assert result["method"] != "enumerate" and "bases_searched" not in result["certificate"]


@pytest.mark.parametrize("problem", [
    lcp(diagonal(45, 1), [-1] * 45),
    {"kind": "mlcp", "M": diagonal(42, 1), "q": [-1] * 42, "free": [0]},
    {"kind": "mcp", "M": diagonal(21, 1), "q": [-1] * 21, "lower": [0] * 21, "upper": [2] * 21}])
def test_too_large_to_enumerate(perp, problem):
    done = perp("solve", perp.write("p.yaml", as_text(problem)), "--all", "--json", code=1)
    result = json.loads(done.stdout)
    assert result["status"] == "solved" and result["error"]["code"] == "capacity"
    assert result["solutions"] == [] and result["complete"] is False
    assert "40" in done.stderr
    assert "0 faces found; there may be more" in perp("solve", "p.yaml", "--all", code=1).stdout


@pytest.mark.parametrize("problem", [
    {"kind": "mlcp", "M": diagonal(42, 1), "q": [-1] * 42, "free": [0, 1]},
    {"kind": "mcp", "M": diagonal(20, 1), "q": [-1] * 20, "lower": [0] * 20, "upper": [2] * 20}])
def test_just_small_enough_to_enumerate(solve, problem):
    result = solve(problem, "--all")
    assert len(result["solutions"]) == 1 and result["complete"] is True
    assert result["solutions"][0]["vertices"] == [pytest.approx([1] * len(problem["q"]))]


def test_a_free_block_that_cannot_be_eliminated(perp, solve):
    """z0 + z1 = 1 twice, both free: a line, which is a point and two opposite rays."""
    problem = {"kind": "mlcp", "M": [[1, 1, 0], [1, 1, 0], [0, 0, 1]], "q": [-1, -1, -1], "free": [0, 1]}
    result = solve(problem, "--all")
    assert result["complete"] is True and len(result["solutions"]) == 1
    face = result["solutions"][0]
    assert len(face["vertices"]) == 1 and residual(problem, face["vertices"][0]) <= 1e-15
    assert face["rays"] == [pytest.approx([-1, 1, 0]), pytest.approx([1, -1, 0])]
    text = perp("solve", perp.write("p.yaml", as_text(problem)), "--all").stdout
    assert "hull of 1 vertex and 2 rays" in text


# ---- random problems ----------------------------------------------------------------------------------------------


def random_matrix(rng, n):
    """Positive definite plus skew: every class has exactly one solution."""
    a = [[rng.gauss(0, 1) for _ in range(n)] for _ in range(n)]
    s = [[rng.gauss(0, 1) for _ in range(n)] for _ in range(n)]
    return [[sum(a[i][k] * a[j][k] for k in range(n)) + s[i][j] - s[j][i] + 0.1 * (i == j) for j in range(n)]
            for i in range(n)]


@pytest.mark.parametrize("seed", range(20))
def test_random_problems(solve, seed):
    rng = random.Random(seed)
    n = rng.randint(1, 12)
    m, q = random_matrix(rng, n), [rng.gauss(0, 3) for _ in range(n)]
    solve(lcp(m, q))
    solve({"kind": "mlcp", "M": m, "q": q, "free": rng.sample(range(n), rng.randint(0, n))})
    lower = [rng.choice([-INF, -1.0, 0.0, rng.uniform(-2, 0)]) for _ in range(n)]
    upper = [rng.choice([INF, 1.0, 0.0, rng.uniform(0, 2)]) for _ in range(n)]
    solve({"kind": "mcp", "M": m, "q": q, "lower": lower, "upper": upper})


@pytest.mark.parametrize("seed", range(5))
def test_two_ways_agree(solve, seed):
    rng = random.Random(100 + seed)
    n = rng.randint(2, 7)
    problem = lcp(random_matrix(rng, n), [rng.gauss(0, 3) for _ in range(n)])
    result = solve(problem, "--all")
    assert len(result["solutions"]) == 1
    # condition numbers of these stay below 1e5
    assert result["solutions"][0]["vertices"] == [pytest.approx(result["z"], abs=1e-9)]


# ---- the command --------------------------------------------------------------------------------------------------

GOOD = "kind: lcp\nM: [[2, 1], [1, 2]]\nq: [-5, -6]\n"


def test_what_a_person_reads(perp):
    text = perp("solve", perp.write("p.yaml", GOOD)).stdout
    assert "lcp of size 2: solved" in text and "residual" in text and "z = [1.33333333, 2.33333333]" in text
    text = perp("solve", perp.write("p.yaml", "kind: lcp\nM: [[1, 1], [1, 1]]\nq: [-1, -1]\n"), "--all").stdout
    assert "1 face" in text and "vertex [0, 1]" in text
    done = perp("solve", perp.write("p.yaml", "kind: lcp\nM: [[-1]]\nq: [-1]\n"), "--all", code=1)
    assert "infeasible" in done.stdout and "there is no solution" in done.stderr


def test_methods_are_listed_and_chosen(perp):
    lines = perp("solve", "--list").stdout.splitlines()
    methods = [line.split()[0] for line in lines[1:lines.index("")]]
    assert methods[0] == "lemke" and "enumerate" not in methods and len(methods) == len(set(methods))
    assert lines[-1].startswith("enumerate ") and "--all" in lines[-2]
    path = perp.write("p.yaml", GOOD)
    for method in methods:
        result = perp.json("solve", path, "--method", method)
        assert result["method"] == method and result["tried"] == [method]
        assert result["z"] == pytest.approx([4 / 3, 7 / 3], rel=1e-12)


def test_a_tolerance_is_held_to(perp):
    """1/3 is not a double, so that the residual is rounding, far below what is asked for."""
    path = perp.write("p.yaml", "kind: lcp\nM: [[3, 1.1], [0.7, 7]]\nq: [-1, -0.3]\n")
    result = json.loads(perp("solve", path, "--tol", "1e-10", "--json").stdout)
    assert result["status"] == "solved" and result["residual"] <= 1e-10


@pytest.mark.parametrize("tolerance", ["0", "-1", "1e-13", "9.99e-13", "nan", "inf", "1e999", "x", "1e-8x", "", "0x1p-20"])
def test_a_tolerance_is_at_least_1e_12(perp, tolerance):
    done = perp("solve", perp.write("p.yaml", GOOD), "--tol", tolerance, code=2)
    assert "--tol needs a number of at least 1e-12" in done.stderr and f"not `{tolerance}`" in done.stderr
    assert done.stdout == ""


def test_the_least_tolerance(perp):
    assert perp.json("solve", perp.write("p.yaml", GOOD), "--tol", "1e-12")["residual"] <= 1e-12


@pytest.mark.parametrize("arguments, words", [
    ([], "FILE is missing"), (["p.yaml", "--method", "lemk"], "did you mean `lemke`"),
    (["p.yaml", "--method", "zzz"], "--list"),
    (["p.yaml", "--tol"], "needs a value"), (["p.yaml", "q.yaml"], "unexpected"),
    (["p.yaml", "--al"], "did you mean `--all`")])
def test_usage(perp, arguments, words):
    perp.write("p.yaml", GOOD)
    assert words in perp("solve", *arguments, code=2).stderr


@pytest.mark.parametrize("text, place, words", [
    ("kind: lcp\nM: [[1, x]]\nq: [1]\n", "2:5", "square"),
    ("kind: lcp\nM: [[.nan]]\nq: [1]\n", "2:6", "NaN"),
    ("kind: lcp\nM: [[1]]\nq: [.inf]\n", "3:5", "finite"),
    ("kind: lcp\nM: [[1]]\nq: [1, 2]\n", "3:4", "2 entries"),
    ("kind: lcp # not M\nM: []\nq: []\n", "2:4", "no rows"),
    ('{"kind": "lcp", "q": [], "M": []}\n', "1:31", "no rows"),
    ("kind: mlcp\nfree: []\nq: []\nM: # below\n  []\n", "5:3", "no rows"),
    ("kind: mcp\nM: {rows: 0, cols: 0, triplets: []}\nq: []\nlower: []\nupper: []\n", "2:11", "no rows"),
    ("kind: lcq\nM: [[1]]\nq: [1]\n", "1:7", "one of `lcp`")])
def test_bad_input(perp, text, place, words):
    perp.write("p.yaml", text)
    done = perp("solve", "p.yaml", code=3)
    assert done.stderr.startswith(f"p.yaml:{place}: ") and words in done.stderr and done.stdout == ""
    result = perp.json("solve", "p.yaml", code=3)
    assert result["status"] == "invalid" and words in result["error"]["message"]
    evidence = result["error"]["evidence"]
    assert f'{evidence["line"]}:{evidence["column"]}' == place and evidence["file"] == "p.yaml"


def test_every_error_is_told(perp):
    perp.write("p.yaml", "kind: mlcp\nM: [[1, x], [0, 1]]\nq: [1, .nan, 3]\nfree: [0, 2]\nFree: []\n")
    done = perp("solve", "p.yaml", code=3)
    assert [line.split(" ")[0] for line in done.stderr.splitlines()] == [
        "p.yaml:2:9:", "p.yaml:3:4:", "p.yaml:3:8:", "p.yaml:4:11:", "p.yaml:5:1:"]
    perp.write("p.yaml", as_text(lcp([[1]], [1])).replace("[1]}", str(["x"] * 50).replace("'", "") + "}"))
    lines = perp("solve", "p.yaml", code=3).stderr.splitlines()
    assert len(lines) == 21 and lines[-1] == "perp: and 31 more"


def test_long_vectors_are_cut(perp):
    """24 numbers of a vector, 20 faces, and how many there are besides; --json cuts nothing."""
    path = perp.write("p.yaml", as_text(lcp(diagonal(30, 1), [-1] * 30)))
    lines = perp("solve", path, "--all").stdout.splitlines()
    shown = "[" + "1, " * 24 + ".. 6 more]"
    assert lines[2:4] == ["z = " + shown, "w = " + shown.replace("1", "0")]
    assert lines[-1] == "    vertex " + shown
    assert perp.json("solve", path)["z"] == [1] * 30
    many = perp("solve", perp.write("p.yaml", as_text(lcp(diagonal(5, -1), [1] * 5))), "--all").stdout.splitlines()
    assert sum("a point" in line for line in many) == 20 and many[-1] == "  .. 12 more faces"
    ray = perp("solve", perp.write("p.yaml", as_text(lcp(diagonal(24, 1), [-1] * 24)))).stdout
    assert "more" not in ray


def interrupted(perp, path, *options):
    """SIGINT as soon as the process catches it, which /proc tells; the result and stderr."""
    with subprocess.Popen([PERP, "solve", path, "--json", *options], cwd=perp.folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
                caught = re.search(r"SigCgt:\s*(\S+)", status.read())[1]
            if int(caught, 16) >> (signal.SIGINT - 1) & 1:
                break
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=100)
    assert process.returncode == 1
    return json.loads(out), errors


def test_interrupted(perp):
    """A problem that takes ten seconds; the flag is seen at the next pivot."""
    rng = random.Random(1)
    n = 300
    problem = lcp([[round(rng.gauss(0, 1), 2) for _ in range(n)] for _ in range(n)], [-1] * n)
    result, errors = interrupted(perp, perp.write("p.yaml", as_text(problem)))
    assert result["status"] == "cancelled" and "interrupted" in errors
    assert len(result["z"]) == n and result["residual"] > 1e-8 and result["certificate"] == {}


def test_files_that_cannot_be_read(perp):
    assert "none.yaml:1:1: " in perp("solve", "none.yaml", code=3).stderr
    perp.write("box.dat", "3\n")
    assert perp("solve", "box.dat", code=3).stderr.startswith("box.dat:2:1: expected the number of contacts")


def test_output_that_cannot_be_written(perp):
    path = perp.write("p.yaml", GOOD)
    for options in ([], ["--json"], ["--all"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            assert "cannot write" in perp("solve", path, *options, code=1, stdout=full).stderr


def test_completion_and_help_know_it(perp):
    script = perp("completion", "bash").stdout
    assert "solve" in script and "--method) " in script and "lemke" in script
    text = perp("solve", "--help").stdout
    assert all(option in text for option in ("--method", "--tol", "--all", "--json", "--list", "1e-12"))
    assert all(meaning in text for meaning in ("Exit code: 0 solved", "; 1 not solved", "; 2 usage", "; 3 not a problem"))


def test_help_teaches_by_example(perp):
    """The file and the commands that it shows work, and give the numbers that it states."""
    text = perp("solve", "--help").stdout
    perp.write("problem.yaml", text.split("A problem file:\n")[1].split("gives")[0])
    commands = re.findall(r"^  perp (solve problem.yaml[^|\n]*?)(?:   .*| \| jq .*)?$", text, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        perp(*command.split())
    z, w = re.search(r"gives z = (\[.*?\]), w = (\[.*?\])", text).groups()
    assert f"z = {z}\nw = {w}\n" in perp("solve", "problem.yaml").stdout


# ---- examples -----------------------------------------------------------------------------------------------------

EXAMPLE = ROOT / "examples" / "contact-lcp"


def test_sliding_block(perp):
    """Impulses of a block: the normal one stops 1 m/s, friction takes mu times it, the rest is slip."""
    result = perp.json("solve", EXAMPLE / "sliding-block.yaml", "--all")
    assert result["z"] == pytest.approx([1, 0, 0.5, 2.5], abs=1e-15) and len(result["solutions"]) == 1


def test_painleve_rods(perp):
    r, b = 7 / 4 - 3 * math.sqrt(3) / 2, 8 * math.sqrt(3) - 9.81
    rod = perp.json("solve", EXAMPLE / "painleve-rod.yaml", "--all")
    assert [f["vertices"][0][0] for f in rod["solutions"]] == pytest.approx([0, -b / r], rel=1e-14)
    assert f"{-b / r:.9f}" in (EXAMPLE / "README.md").read_text() and rod["complete"] is True
    jam = perp.json("solve", EXAMPLE / "painleve-jam.yaml", code=1)
    assert jam["status"] == "infeasible"
    assert_farkas(lcp([[r]], [-9.81]), jam["certificate"]["farkas"])
    shown = json.dumps([jam["status"], jam["certificate"]], separators=(",", ":"))
    assert shown in (EXAMPLE / "README.md").read_text()
