"""`perp solve` for qp, cone-qp and lp: known answers, an independent residual, certificates, refusals, exit codes."""
import math
import random
import re

import pytest
import yaml

from conftest import ROOT
from test_solve import as_text, interrupted

INF = math.inf

# ---- an independent judge -----------------------------------------------------------------------------------------


def product(matrix, x):
    return [math.fsum(a * b for a, b in zip(row, x)) for row in matrix]


def transposed(matrix, y, n):
    return [math.fsum(row[j] * b for row, b in zip(matrix, y)) for j in range(n)]


def plus(*vectors):
    return [math.fsum(entries) for entries in zip(*vectors)]


def minus(a):
    return [-x for x in a]


def largest(values):
    return max((abs(x) for x in values), default=0.0)


def outside(s):
    """The distance of s from the second-order cone."""
    t, r = s[0], math.hypot(*s[1:])
    if r <= t:
        return 0.0
    return math.hypot(t, r) if r <= -t else (r - t) / math.sqrt(2)


def blocks(problem):
    """(A, b, y's name) of each cone; a qp's rows are cones of one row, with A x - b >= 0."""
    if problem["kind"] == "cone-qp":
        return [(cone["A"], cone["b"]) for cone in problem["cones"]]
    return [([row], [-b]) for row, b in zip(problem.get("A", []), problem.get("b", []))]


def duals(problem, y):
    return y["cones"] if problem["kind"] == "cone-qp" else [[value] for value in y["A"]]


def bounds(problem):
    n = len(problem["g"])
    return problem.get("lower", [-INF] * n), problem.get("upper", [INF] * n)


def bound_duals(problem, y):
    n = len(problem["g"])
    return [y.get(name) or [0.0] * n for name in ("lower", "upper")]


def hessian(problem):
    n = len(problem["g"])
    return problem.get("H", [[0] * n] * n)


def sizes(matrix, x):
    """|A||x|"""
    return [math.fsum(abs(a * b) for a, b in zip(row, x)) for row in matrix]


def column_sizes(matrix, y, n):
    """|A'||y|"""
    return [math.fsum(abs(row[j] * v) for row, v in zip(matrix, y)) for j in range(n)]


def residuals(problem, x, y):
    """Primal, dual and complementarity, each row by its own scale, as docs/solve.md defines them."""
    n, g = len(problem["g"]), problem["g"]
    c, d = problem.get("C", []), problem.get("d", [])
    y_lower, y_upper = bound_duals(problem, y)
    primal = [abs(v) / (1 + abs(t) + size) for v, t, size in zip(plus(product(c, x), minus(d)), d, sizes(c, x))]
    dual = plus(product(hessian(problem), x), g, minus(y_lower), y_upper, minus(transposed(c, y["C"], n)))
    size = plus(sizes(hessian(problem), x), map(abs, g), map(abs, y_lower), map(abs, y_upper),
                column_sizes(c, y["C"], n))
    outer, gaps = [], []
    for (a, b), yk in zip(blocks(problem), duals(problem, y), strict=True):
        s = plus(product(a, x), b)
        scale, own = 1 + max(plus(sizes(a, x), map(abs, b))), 1 + largest(yk)
        primal.append(outside(s) / scale)
        outer.append(outside(yk) / own)
        dual, size = plus(dual, minus(transposed(a, yk, n))), plus(size, column_sizes(a, yk, n))
        gaps.append(math.fsum(u * v for u, v in zip(s, yk)) / (scale * own))
    for bound, values, sign in zip(bounds(problem), (y_lower, y_upper), (1, -1)):
        for limit, v, value in zip(bound, values, x):
            outer.append((-v if math.isfinite(limit) else abs(v)) / (1 + abs(v)))
            if math.isfinite(limit):
                slack, scale = sign * (value - limit), 1 + abs(limit) + abs(value)
                primal.append(-slack / scale)
                gaps.append(slack * v / (scale * (1 + abs(v))))
    dual = [abs(v) / (1 + scale) for v, scale in zip(dual, size)]
    return max(primal, default=0), max(dual + outer), largest(gaps)


def objective(problem, x):
    return math.fsum([0.5 * a * b for a, b in zip(product(hessian(problem), x), x)] +
                     [a * b for a, b in zip(problem["g"], x)])


def assert_infeasible(problem, certificate):
    """A'y + C'y_C + y_lower - y_upper = 0 and b.y + d.y_C + lower.y_lower - upper.y_upper = 1, y in its cone."""
    assert certificate.keys() == {"farkas", "measure"} and 0 <= certificate["measure"] <= 1e-8
    y, n = certificate["farkas"], len(problem["g"])
    y_lower, y_upper = bound_duals(problem, y)
    c = problem.get("C", [])
    total = plus(transposed(c, y["C"], n), y_lower, minus(y_upper))
    size = plus(column_sizes(c, y["C"], n), map(abs, y_lower), map(abs, y_upper))
    value = [a * b for a, b in zip(problem.get("d", []), y["C"])]
    for (a, b), yk in zip(blocks(problem), duals(problem, y), strict=True):
        total, size = plus(total, transposed(a, yk, n)), plus(size, column_sizes(a, yk, n))
        value += [-p * q for p, q in zip(b, yk)]
        assert outside(yk) <= 1e-8 * largest(yk)
    for limits, values, sign in zip(bounds(problem), (y_lower, y_upper), (1, -1)):
        for limit, v in zip(limits, values):
            assert v >= 0 and (math.isfinite(limit) or v == 0)
            value.append(sign * limit * v if math.isfinite(limit) else 0.0)
    assert math.fsum(value) == pytest.approx(1, abs=1e-9)
    assert all(abs(v) <= max(1e-8 * terms, 1e-15) for v, terms in zip(total, size))


def assert_unbounded(problem, certificate):
    """g'x = -1, H x = 0, C x = 0, A x in the cone and x in the directions that bounds leave open."""
    assert certificate.keys() == {"direction", "measure"} and 0 <= certificate["measure"] <= 1e-8
    x = certificate["direction"]
    assert math.fsum(a * b for a, b in zip(problem["g"], x)) == pytest.approx(-1, abs=1e-9)
    rows = hessian(problem) + problem.get("C", [])
    assert all(abs(v) <= max(1e-8 * terms, 1e-15) for v, terms in zip(product(rows, x), sizes(rows, x)))
    assert all(outside(product(a, x)) <= max(1e-8 * largest(sizes(a, x)), 1e-15) for a, _ in blocks(problem))
    for low, high, value in zip(*bounds(problem), x):
        assert value >= 0 or low == -INF
        assert value <= 0 or high == INF


KEYS = ["status", "method", "tried", "residual", "iterations", "time_us", "objective", "x", "multipliers",
        "certificate"]


class Solve:
    def __init__(self, perp):
        self.perp = perp

    def __call__(self, problem, *options, status="solved", tolerance=1e-8):
        """The JSON; whatever it says is held to the judge."""
        path = self.perp.write("p.yaml", as_text(problem))
        result = self.perp.json("solve", path, *options, code=0 if status == "solved" else 1)
        assert list(result) == KEYS and result["status"] == status
        assert result["method"] in result["tried"] and result["iterations"] >= 0 and result["time_us"] > 0
        names = ["cones", "C"] if problem["kind"] == "cone-qp" else ["A", "C", "lower", "upper"]
        assert list(result["multipliers"]) == names
        if status == "solved":
            judged = residuals(problem, result["x"], result["multipliers"])
            assert max(judged) <= tolerance and result["certificate"] == {}
            assert result["residual"] == pytest.approx(max(judged), abs=1e-13, rel=1e-3)
            assert result["objective"] == pytest.approx(objective(problem, result["x"]), rel=1e-12, abs=1e-12)
            return result
        assert result["x"] == [] and result["objective"] is None and result["residual"] is None
        assert all(value == [] for value in result["multipliers"].values())
        {"infeasible": assert_infeasible, "unbounded": assert_unbounded}[status](problem, result["certificate"])
        return result


@pytest.fixture
def solve(perp):
    return Solve(perp)


def near(expected, tolerance=1e-7):
    """1e-7: a residual of 1e-8 through the conditions of these problems, which are below 10."""
    return pytest.approx(expected, abs=tolerance)


def identity(n):
    return [[1 if i == j else 0 for j in range(n)] for i in range(n)]


# ---- qp -----------------------------------------------------------------------------------------------------------


def test_textbook_qp(solve):
    """Nocedal and Wright, example 16.4: (1.4, 1.7) on the first row, whose multiplier is 0.8."""
    result = solve({"kind": "qp", "H": [[2, 0], [0, 2]], "g": [-2, -5],
                    "A": [[1, -2], [-1, -2], [-1, 2]], "b": [-2, -6, -2], "lower": [0, 0]})
    assert result["x"] == near([1.4, 1.7]) and result["objective"] == near(-6.45)
    assert result["multipliers"] == {"A": near([0.8, 0, 0]), "C": [], "lower": near([0, 0]), "upper": []}


def test_projection_on_a_simplex(solve):
    """Of p on x >= 0, sum x = 1: max(p - t, 0) with t = 0.1 here; the equation's multiplier is -t."""
    p = [0.9, 0.3, -0.5, 0.05]
    result = solve({"kind": "qp", "H": identity(4), "g": minus(p), "C": [[1, 1, 1, 1]], "d": [1], "lower": [0] * 4})
    assert result["x"] == near([0.8, 0.2, 0, 0])
    assert result["multipliers"]["C"] == near([-0.1]) and result["multipliers"]["lower"] == near([0, 0, 0.6, 0.05])


def test_box(solve):
    """Projection on a box, entry by entry: below, inside, above, and no bound at all."""
    result = solve({"kind": "qp", "H": identity(4), "g": [3, -0.25, -5, 7], "lower": [-1, -1, -1, -INF],
                    "upper": [2, 2, 2, INF]})
    assert result["x"] == near([-1, 0.25, 2, -7])
    assert result["multipliers"]["lower"] == near([2, 0, 0, 0]) and result["multipliers"]["upper"] == near([0, 0, 3, 0])
    assert result["multipliers"]["lower"][3] == result["multipliers"]["upper"][3] == 0


def test_one_bound_alone(solve):
    lower = solve({"kind": "qp", "H": [[1]], "g": [1], "lower": [0]})
    assert lower["x"] == near([0]) and lower["multipliers"] == {"A": [], "C": [], "lower": near([1]), "upper": []}
    upper = solve({"kind": "qp", "H": [[1]], "g": [-1], "upper": [0]})
    assert upper["x"] == near([0]) and upper["multipliers"] == {"A": [], "C": [], "lower": [], "upper": near([1])}


def test_no_constraints(solve):
    """H x = -g."""
    result = solve({"kind": "qp", "H": [[4, 1], [1, 3]], "g": [1, 2]})
    assert result["x"] == near([-1 / 11, -7 / 11]) and result["multipliers"]["A"] == []


def test_equality_constrained(solve):
    """Nocedal and Wright, example 16.2: (2, -1, 1) with multipliers (3, -2)."""
    result = solve({"kind": "qp", "H": [[6, 2, 1], [2, 5, 2], [1, 2, 4]], "g": [-8, -3, -3],
                    "C": [[1, 0, 1], [0, 1, 1]], "d": [3, 0]})
    assert result["x"] == near([2, -1, 1]) and result["multipliers"]["C"] == near([3, -2])


def test_semidefinite_hessian(solve):
    """Only x0 + x1 is curved: the minimum is the line x0 + x1 = 1 within the box; the objective is unique."""
    result = solve({"kind": "qp", "H": [[1, 1, 0], [1, 1, 0], [0, 0, 0]], "g": [-1, -1, 1], "lower": [-2, -2, 0.5],
                    "upper": [2, 2, 3]})
    assert result["x"][0] + result["x"][1] == near(1) and result["x"][2] == near(0.5)
    assert result["objective"] == near(0)


def test_dependent_equations_and_duplicated_rows(solve):
    """The multipliers are not unique; those of least norm share the load evenly."""
    result = solve({"kind": "qp", "H": identity(2), "g": [0, 0], "C": [[1, 1], [2, 2]], "d": [2, 4]})
    assert result["x"] == near([1, 1]) and result["multipliers"]["C"] == near([0.2, 0.4])
    result = solve({"kind": "qp", "H": [[1]], "g": [0], "A": [[1], [1]], "b": [1, 1]})
    assert result["x"] == near([1]) and result["multipliers"]["A"] == near([0.5, 0.5])


def test_constraints_that_touch_without_force(solve):
    """The unconstrained minimum lies on the row: active, multiplier 0."""
    result = solve({"kind": "qp", "H": identity(2), "g": [-1, -1], "A": [[-1, -1]], "b": [-2]})
    assert result["x"] == near([1, 1]) and result["multipliers"]["A"] == near([0])


def test_triplets_are_the_same_problem(perp, solve):
    dense = solve({"kind": "qp", "H": [[2, 1], [1, 2]], "g": [-3, 0], "A": [[0, 1], [1, 0]], "b": [0, -1]})
    sparse = perp.json("solve", perp.write("t.yaml", "kind: qp\nH: {rows: 2, cols: 2, triplets: [[0, 0, 2], [1, 1, 2], "
                                           "[0, 1, 1], [1, 0, 0.5], [1, 0, 0.5]]}\ng: [-3, 0]\nA: {rows: 2, cols: 2, "
                                           "triplets: [[0, 1, 1], [1, 0, 1]]}\nb: [0, -1]\n"))
    assert sparse["x"] == dense["x"] and sparse["multipliers"] == dense["multipliers"]


# ---- lp -----------------------------------------------------------------------------------------------------------


def test_vertex_of_an_lp(solve):
    """Dantzig's 3x + 5y, x <= 4, 2y <= 12, 3x + 2y <= 18: (2, 6), 36, and the prices (0, 3/2, 1)."""
    result = solve({"kind": "lp", "g": [-3, -5], "A": [[-1, 0], [0, -2], [-3, -2]], "b": [-4, -12, -18],
                    "lower": [0, 0]})
    assert result["x"] == near([2, 6]) and result["objective"] == near(-36)
    assert result["multipliers"]["A"] == near([0, 1.5, 1]) and result["multipliers"]["lower"] == near([0, 0])


@pytest.mark.parametrize("loose", [1e3, 1e8, 1e12, 1e20, 1e40])
@pytest.mark.parametrize("options", [(), ("--relative",), ("--method", "dual"), ("--method", "ipm")])
def test_a_loose_row_changes_nothing(solve, loose, options):
    """min 1/2 |x|^2 with x0 >= 1, x1 >= 3 and a third row that holds by far: (1, 3)."""
    result = solve({"kind": "qp", "H": [[1, 0], [0, 1]], "g": [0, 0], "A": [[1, 0], [0, 1], [1, 1]],
                    "b": [1, 3, -loose]}, *options)
    assert result["x"] == near([1, 3]) and result["multipliers"]["A"] == near([1, 3, 0])


@pytest.mark.parametrize("loose", [1e3, 1e8, 1e12, 1e20])
def test_a_loose_row_beside_a_contradiction(perp, loose):
    """x0 = 1 and x0 = 2."""
    problem = {"kind": "qp", "H": [[1, 0], [0, 1]], "g": [0, 0], "C": [[1, 0], [1, 0]], "d": [1, 2], "A": [[1, 1]],
               "b": [-loose]}
    result = perp.json("solve", perp.write("p.yaml", as_text(problem)), code=1)
    assert result["status"] == "infeasible"
    assert_infeasible(problem, result["certificate"])


@pytest.mark.parametrize("force", [1.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("options", [(), ("--relative",)])
def test_a_large_force_beside_a_fall(perp, force, options):
    """x1 falls without end; x2 is held by its bound with the force."""
    problem = {"kind": "qp", "H": [[1, 0, 0], [0, 0, 0], [0, 0, 0]], "g": [0, -1, force], "lower": [0, 0, 0]}
    result = perp.json("solve", perp.write("p.yaml", as_text(problem)), *options, code=1)
    assert result["status"] == "unbounded"
    assert_unbounded(problem, result["certificate"])


def test_relative_sees_small_units(perp, solve):
    """x >= 1e-12: zero is as good as that beside the 1 of the scales, and not without it."""
    problem = {"kind": "qp", "H": [[1]], "g": [0], "A": [[1]], "b": [1e-12]}
    assert solve(problem, "--relative")["x"] == [pytest.approx(1e-12, rel=1e-6)]
    crossed = {"kind": "qp", "H": [[1]], "g": [0], "A": [[1], [-1]], "b": [2e-12, -1e-12]}
    assert perp.json("solve", perp.write("p.yaml", as_text(crossed)))["status"] == "solved"
    assert perp.json("solve", perp.write("p.yaml", as_text(crossed)), "--relative", code=1)["status"] == "infeasible"


def test_degenerate_vertex(solve):
    """Three rows meet in one point of the plane."""
    result = solve({"kind": "lp", "g": [-1, -1], "A": [[-1, 0], [0, -1], [-1, -1]], "b": [-1, -1, -2]})
    assert result["x"] == near([1, 1]) and result["objective"] == near(-2)


def test_beale_cycles_nowhere(solve):
    """Beale's example, on which the simplex method cycles: -1/20 at (1/25, 0, 1, 0). Of a residual of 1e-8 seven
    products s y, each over the scales of s and y, of which the largest is 151, leave the objective free by 1.1e-5."""
    problem = {"kind": "lp", "g": [-0.75, 150, -0.02, 6],
               "A": [[-0.25, 60, 0.04, -9], [-0.5, 90, 0.02, -3], [0, 0, -1, 0]], "b": [0, 0, -1], "lower": [0] * 4}
    assert solve(problem)["objective"] == near(-0.05, 1.1e-5)
    result = solve(problem, "--tol", "1e-12", tolerance=1e-12)
    assert result["objective"] == near(-0.05, 1e-8) and result["x"] == near([0.04, 0, 1, 0])


def test_an_edge_of_optima(solve):
    result = solve({"kind": "lp", "g": [1, 1], "A": [[1, 1]], "b": [1], "lower": [0, 0]})
    assert result["objective"] == near(1) and result["x"][0] + result["x"][1] == near(1)


def test_nothing_to_minimise(solve):
    result = solve({"kind": "lp", "g": [0, 0], "C": [[1, 2]], "d": [3], "upper": [1, INF]})
    assert result["objective"] == 0


def test_transport(solve):
    """Supplies (3, 4) to demands (2, 5), costs 1 3 / 2 1: x = (2, 1, 0, 4), 9."""
    result = solve({"kind": "lp", "g": [1, 3, 2, 1], "C": [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]],
                    "d": [3, 4, 2, 5], "lower": [0] * 4})
    assert result["x"] == near([2, 1, 0, 4]) and result["objective"] == near(9)


# ---- cone-qp ------------------------------------------------------------------------------------------------------


def projection(p):
    """On the cone first entry >= norm of the others."""
    t, r = p[0], math.hypot(*p[1:])
    if r <= t:
        return p
    scale = (t + r) / 2
    return [scale] + [scale * v / r for v in p[1:]] if r > -t else [0.0] * len(p)


@pytest.mark.parametrize("p", [[2, 1, 1], [0, 3, 4], [1, -2, 2], [-1, 0.5, 0], [-3, 1, 2], [1, 1], [0, -2], [-1]])
def test_nearest_point_of_a_cone(solve, p):
    """Inside, on the boundary, at the tip; in 1 to 3 dimensions. The multiplier is x - p."""
    n = len(p)
    result = solve({"kind": "cone-qp", "H": identity(n), "g": minus(p), "cones": [{"A": identity(n), "b": [0] * n}]})
    expected = projection(p)
    assert result["x"] == near(expected)
    assert result["multipliers"] == {"cones": [near(plus(expected, minus(p)))], "C": []}


def test_friction_cone(solve):
    """A block of 1 kg at 3 m/s, at rest on the ground, mu 0.5: minimise the kinetic energy of the change of velocity
    with (v_n, mu v_t) in the cone. v_t = 3 and v_n = mu 3 (the convex step lifts what slides), reduced together:
    min (v_t - 3)^2 + v_n^2 with v_n >= 0.5 v_t at v_t = 3 / 1.25 = 2.4, v_n = 1.2, y_n = 1.2."""
    result = solve({"kind": "cone-qp", "H": identity(3), "g": [0, -3, 0],
                    "cones": [{"A": [[1, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], "b": [0, 0, 0]}]})
    assert result["x"] == near([1.2, 2.4, 0]) and result["multipliers"]["cones"] == [near([1.2, -1.2, 0])]


def test_circle(solve):
    """A linear objective on the disc of radius 2 about (1, 0), without H: its point farthest along (3, 4)."""
    result = solve({"kind": "cone-qp", "g": [-3, -4],
                    "cones": [{"A": [[0, 0], [1, 0], [0, 1]], "b": [2, -1, 0]}]})
    assert result["x"] == near([1 + 1.2, 1.6]) and result["objective"] == near(-13)
    assert result["multipliers"]["cones"] == [near([5, -3, -4])]


def test_several_cones_and_an_equation(solve):
    """The disc again, cut by x0 = x1 and by the half-line x1 >= 0.5: x = (1 + sqrt 7) / 2 of both."""
    result = solve({"kind": "cone-qp", "H": [[0, 0], [0, 0]], "g": [-1, -1], "C": [[1, -1]], "d": [0],
                    "cones": [{"A": [[0, 1]], "b": [-0.5]}, {"A": [[0, 0], [1, 0], [0, 1]], "b": [2, -1, 0]}]})
    assert result["x"] == near([(1 + math.sqrt(7)) / 2] * 2)
    assert result["multipliers"]["cones"][0] == near([0]) and len(result["multipliers"]["C"]) == 1


def test_fermat_point(solve):
    """The sum of distances to the corners of an equilateral triangle is least in its centre: cones alone."""
    corners = [(math.cos(a), math.sin(a)) for a in (0, 2 * math.pi / 3, 4 * math.pi / 3)]
    cones = [{"A": [[0, 0] + [int(i == k) for i in range(3)], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]],
              "b": [0, -corner[0], -corner[1]]} for k, corner in enumerate(corners)]
    result = solve({"kind": "cone-qp", "g": [0, 0, 1, 1, 1], "cones": cones})
    assert result["objective"] == near(3) and result["x"][:2] == near([0, 0], 1e-4)  # flat: the square root of 1e-8


def test_no_cones(solve):
    result = solve({"kind": "cone-qp", "H": [[2]], "g": [-4], "cones": []})
    assert result["x"] == near([2]) and result["multipliers"] == {"cones": [], "C": []}


# ---- no solution --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [
    {"kind": "lp", "g": [1], "A": [[1], [-1]], "b": [1, 0]},
    {"kind": "lp", "g": [0, 0], "C": [[1, 1], [1, 1]], "d": [1, 2]},
    {"kind": "lp", "g": [1, 2], "A": [[1, 1]], "b": [3], "lower": [-INF, 0], "upper": [1, 1]},
    {"kind": "qp", "H": [[2, 0], [0, 2]], "g": [1, 1], "C": [[1, 1]], "d": [-1], "lower": [0, 0]},
    {"kind": "qp", "H": [[1, 0], [0, 0]], "g": [0, -1], "A": [[1, 0], [-1, 0]], "b": [2, -1]},
    {"kind": "cone-qp", "H": [[1]], "g": [0], "cones": [{"A": [[0], [1]], "b": [-1, 0]}]},
    {"kind": "cone-qp", "g": [1, 1], "C": [[1, 0]], "d": [5],
     "cones": [{"A": [[0, 0], [1, 0], [0, 1]], "b": [2, 0, 0]}]},
    {"kind": "cone-qp", "H": identity(2), "g": [0, 0],
     "cones": [{"A": [[0, 0], [1, 0], [0, 1]], "b": [1, 0, 0]}, {"A": [[0, 0], [1, 0], [0, 1]], "b": [1, -3, 0]}]}])
def test_infeasible(solve, problem):
    solve(problem, status="infeasible")


@pytest.mark.parametrize("problem", [
    {"kind": "lp", "g": [-1]},
    {"kind": "lp", "g": [-1, 0], "A": [[1, -1]], "b": [0], "lower": [0, 0]},
    {"kind": "lp", "g": [1, -1], "C": [[1, -2]], "d": [1], "upper": [INF, INF]},
    {"kind": "qp", "H": [[1, 1], [1, 1]], "g": [1, 0]},
    {"kind": "qp", "H": [[1, 0], [0, 0]], "g": [0, 1], "upper": [3, 3]},
    {"kind": "cone-qp", "g": [-1, 0], "cones": [{"A": identity(2), "b": [0, 0]}]},
    {"kind": "cone-qp", "H": [[1, 0, 0], [0, 0, 0], [0, 0, 0]], "g": [0, -1, 0.5],
     "cones": [{"A": [[0, 1, 0], [0, 0, 1]], "b": [1, 2]}]}])
def test_unbounded(solve, problem):
    solve(problem, status="unbounded")


def test_no_solution_is_explained(perp):
    path = perp.write("p.yaml", "kind: lp\ng: [1]\nA: [[1], [-1]]\nb: [1, 0]\n")
    done = perp("solve", path, code=1)
    assert "lp of size 1: infeasible" in done.stdout and "no x meets the constraints" in done.stderr
    assert re.search(r"^farkas of A = \[1, 1\]$", done.stdout, re.MULTILINE) and "x = " not in done.stdout
    done = perp("solve", perp.write("p.yaml", "kind: lp\ng: [-2, 0]\n"), code=1)
    assert "lp of size 2: unbounded" in done.stdout and "falls without end" in done.stderr
    assert "\ndirection = [0.5, 0]\n" in done.stdout


# ---- random problems ----------------------------------------------------------------------------------------------


def gaussian(rng, rows, cols):
    return [[rng.gauss(0, 1) for _ in range(cols)] for _ in range(rows)]


def gram(factor, n):
    """F'F: semidefinite, of the rank of its rows."""
    return [[math.fsum(row[min(i, j)] * row[max(i, j)] for row in factor) for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("seed", range(15))
def test_random_qps(solve, seed):
    """Feasible at x0, with H of any rank; bounded because of the box."""
    rng = random.Random(seed)
    n, rows, equations = rng.randint(1, 12), rng.randint(0, 15), rng.randint(0, 2)
    x0 = [rng.gauss(0, 1) for _ in range(n)]
    a, c = gaussian(rng, rows, n), gaussian(rng, min(equations, n), n)
    problem = {"kind": "qp", "H": gram(gaussian(rng, rng.randint(1, n), n), n),
               "g": [rng.gauss(0, 1) for _ in range(n)], "A": a, "b": [v - rng.choice([0, 1]) for v in product(a, x0)],
               "C": c, "d": product(c, x0), "lower": [v - 2 for v in x0], "upper": [v + rng.choice([0, 3]) for v in x0]}
    solve(problem)
    del problem["H"]
    solve({**problem, "kind": "lp"})


@pytest.mark.parametrize("seed", range(15))
def test_random_cone_qps(solve, seed):
    rng = random.Random(100 + seed)
    n = rng.randint(2, 9)
    x0, cones = [rng.gauss(0, 1) for _ in range(n)], []
    for _ in range(rng.randint(1, 6)):
        a = gaussian(rng, rng.randint(1, 4), n)
        s = [rng.gauss(0, 1) for _ in a]
        s[0] = math.hypot(*s[1:]) + rng.choice([0, 0.5])
        cones.append({"A": a, "b": plus(s, minus(product(a, x0)))})
    solve({"kind": "cone-qp", "H": plus_diagonal(gram(gaussian(rng, n, n), n), 0.1),
           "g": [rng.gauss(0, 1) for _ in range(n)], "cones": cones})


def plus_diagonal(matrix, value):
    return [[v + value * (i == j) for j, v in enumerate(row)] for i, row in enumerate(matrix)]


# ---- the command --------------------------------------------------------------------------------------------------

QP = "kind: qp\nH: [[2, 0], [0, 2]]\ng: [-2, -5]\nA: [[1, -2]]\nb: [-2]\nlower: [0, 0]\n"
KINDS = {"qp": QP, "lp": "kind: lp\ng: [1, 1]\nlower: [1, 2]\n",
         "cone-qp": "kind: cone-qp\nH: [[1, 0], [0, 1]]\ng: [0, -1]\ncones: [{A: [[1, 0], [0, 1]], b: [0, 0]}]\n"}


def test_what_a_person_reads(perp):
    lines = perp("solve", perp.write("p.yaml", QP)).stdout.splitlines()
    assert re.fullmatch(r"qp of size 2: solved, method \S+, residual \S+, \d+ iterations?, \S+ us", lines[0])
    assert lines[-4:] == ["x = [1.4, 1.7]", "objective = -6.45", "y of A = [0.8]", "y of lower = [0, 0]"]
    lines = perp("solve", perp.write("p.yaml", KINDS["cone-qp"] + "C: [[0, 1]]\nd: [2]\n")).stdout.splitlines()
    assert lines[0].startswith("cone-qp of size 2: solved")
    assert lines[-4:] == ["x = [2, 2]", "objective = 2", "y of cone 0 = [2, -2]", "y of C = [3]"]


def test_long_answers_are_cut(perp):
    problem = {"kind": "qp", "H": identity(30), "g": [-1] * 30}
    lines = perp("solve", perp.write("p.yaml", as_text(problem))).stdout.splitlines()
    assert "x = [" + "1, " * 24 + ".. 6 more]" in lines
    cones = [{"A": [[int(i == k) for i in range(30)]], "b": [0]} for k in range(30)]
    problem = {"kind": "cone-qp", "H": identity(30), "g": [1] * 30, "cones": cones}
    lines = perp("solve", perp.write("p.yaml", as_text(problem))).stdout.splitlines()
    assert lines[-1] == ".. 10 more cones" and lines[-2] == "y of cone 19 = [1]"
    assert len(perp.json("solve", "p.yaml")["multipliers"]["cones"]) == 30


def methods_of(perp, kinds):
    """The table of `perp solve --list` that ends with the line on these kinds."""
    table = perp("solve", "--list").stdout.split(f"\n\nKinds: {kinds}.")[0].split("method ")[-1].splitlines()[1:]
    return [line.split()[0] for line in table]


def test_methods_are_listed_and_chosen(perp):
    methods = methods_of(perp, "qp, cone-qp, lp")
    assert methods and len(methods) == len(set(methods)) and "lemke" not in methods
    assert "lemke" in methods_of(perp, "lcp, mlcp, mcp")
    path = perp.write("p.yaml", QP)
    for method in methods:
        result = perp.json("solve", path, "--method", method)
        assert result["method"] == method and result["tried"] == [method] and result["x"] == near([1.4, 1.7])
    script = perp("completion", "bash").stdout
    assert all(f" {method}" in script for method in methods)


@pytest.mark.parametrize("kind", KINDS)
def test_options_of_other_kinds(perp, kind):
    path = perp.write("p.yaml", KINDS[kind])
    done = perp("solve", path, "--all", code=2)
    assert "--all is for the kinds lcp, mlcp, mcp" in done.stderr and kind in done.stderr and done.stdout == ""
    done = perp("solve", path, "--method", "lemke", "--json", code=2)
    assert f"`lemke` is not for the kind {kind}; these are: newton, ipm" in done.stderr and done.stdout == ""
    if kind != "qp":
        assert f"`dual` is not for the kind {kind}" in perp("solve", path, "--method", "dual", code=2).stderr


def test_a_convex_method_is_none_for_an_lcp(perp):
    path = perp.write("p.yaml", "kind: lcp\nM: [[1]]\nq: [-1]\n")
    for method in methods_of(perp, "qp, cone-qp, lp"):
        assert "is not for the kind lcp; these are: lemke" in perp("solve", path, "--method", method, code=2).stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_tolerance_is_held_to(perp, kind):
    path = perp.write("p.yaml", KINDS[kind])
    assert perp.json("solve", path, "--tol", "1e-11")["residual"] <= 1e-11
    assert "at least 1e-12" in perp("solve", path, "--tol", "1e-13", code=2).stderr


@pytest.mark.parametrize("text, place, words", [
    ("kind: qp\ng: [1]\n", "1:1", "`kind: lp`"),
    ("kind: lp\nH: [[1]]\ng: [1]\n", "2:4", "`kind: qp`"),
    ("kind: qp\nH: [[1]]\n", "1:1", "`g` is missing"),
    ("kind: lp\ng: [1]\nA: [[1]]\n", "3:4", "`A` needs `b`"),
    ("kind: qp\nH: [[1, 2], [3, 9]]\ng: [1, 1]\n", "2:14", "not symmetric"),
    ("kind: qp\nH: [[1, 2], [2, 1]]\ng: [1, 1]\n", "2:4", "not positive semidefinite"),
    ("kind: cone-qp\ng: [1]\ncones: [{A: [[1]], b: [.nan]}]\n", "3:24", "NaN")])
def test_bad_input(perp, text, place, words):
    perp.write("p.yaml", text)
    done = perp("solve", "p.yaml", code=3)
    assert done.stderr.startswith(f"p.yaml:{place}: ") and words in done.stderr and done.stdout == ""
    result = perp.json("solve", "p.yaml", code=3)
    assert result["status"] == "invalid" and words in result["error"]["message"]
    evidence = result["error"]["evidence"]
    assert f'{evidence["line"]}:{evidence["column"]}' == place and evidence["file"] == "p.yaml"


@pytest.mark.parametrize("kind, rest", [("qp", ""), ("cone-qp", "cones: []\n"),
                                        ("qp", "lower: [-1, -1, -1]\nupper: [1, 1, 1]\n")])
def test_indefinite_only_as_a_whole(perp, kind, rest):
    """Every 2 x 2 minor is positive, the eigenvalue of (1, 1, 1) is -0.2: found while solving, told at H."""
    h = [[1, -0.6, -0.6], [-0.6, 1, -0.6], [-0.6, -0.6, 1]]
    perp.write("p.yaml", f"kind: {kind}\ng: [0.1, 0.2, 0.3]\nH: {h}\n{rest}")
    done = perp("solve", "p.yaml", code=3)
    assert done.stderr.startswith("p.yaml:3:4: ") and "H" in done.stderr and done.stdout == ""
    result = perp.json("solve", "p.yaml", code=3)
    assert result["status"] == "invalid" and result["error"]["code"] == "bad-input"
    assert result["error"]["evidence"] == {"file": "p.yaml", "line": 3, "column": 4, "path": "H"}


def test_dual_needs_a_definite_hessian(perp):
    """The cascade solves it; the one method says at H that it cannot."""
    perp.write("p.yaml", "kind: qp\nH: [[1, 1], [1, 1]]\ng: [-1, -1]\nlower: [0, 0]\n")
    assert perp.json("solve", "p.yaml")["objective"] == near(-0.5)
    done = perp("solve", "p.yaml", "--method", "dual", code=3)
    assert done.stderr.startswith("p.yaml:2:4: ") and "not positive definite" in done.stderr


def test_interrupted(perp):
    """The flag is seen at the next iteration, or before the first one."""
    n = 300
    h = [[2.5 if i == j else 1.5 for j in range(n)] for i in range(n)]
    problem = {"kind": "qp", "H": h, "g": [(-1) ** i for i in range(n)], "A": identity(n), "b": [0] * n}
    result, errors = interrupted(perp, perp.write("p.yaml", as_text(problem)))
    assert result["status"] == "cancelled" and "interrupted" in errors
    assert len(result["x"]) == n and result["certificate"] == {}


def test_output_that_cannot_be_written(perp):
    for text in KINDS.values():
        path = perp.write("p.yaml", text)
        for options in ([], ["--json"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                assert "cannot write" in perp("solve", path, *options, code=1, stdout=full).stderr


def test_the_same_bits_every_time(perp):
    rng = random.Random(7)
    path = perp.write("p.yaml", as_text({"kind": "qp", "H": gram(gaussian(rng, 8, 8), 8), "g": [1] * 8,
                                         "A": gaussian(rng, 12, 8), "b": [-1] * 12}))
    first, second = (perp.json("solve", path) for _ in range(2))
    assert first["x"] == second["x"] and first["multipliers"] == second["multipliers"]


def test_help_teaches_by_example(perp):
    text = perp("solve", "--help").stdout
    part = text.split("A convex one:\n")[1]
    perp.write("problem.yaml", part.split("gives")[0])
    x, value = re.search(r"gives x = (\[.*?\]), objective = (\S+)\.\n", part).groups()
    assert f"x = {x}\nobjective = {value}\n" in perp("solve", "problem.yaml").stdout
    assert all(word in text for word in ("cone-qp", "kind: lp", "cones: [{A"))


# ---- examples and pages -------------------------------------------------------------------------------------------

EXAMPLE = ROOT / "examples" / "contact-qp"


@pytest.mark.parametrize("name, x, y", [
    ("sliding-block", [1, 2], {"A": [0, 2]}), ("sliding-block-cone", [1, 1.2, 1.6], {"cones": [[2, -1.2, -1.6]]}),
    ("patch-friction", [-0.6, -0.8, -3, -4], {"cones": [[0.4, 0.24, 0.32], [0, 0, 0]]}),
    ("squeeze", [10, 5, 10, 5], {"A": [2, 0, 2, 0], "C": [0, 2, 0]})])
def test_examples(solve, name, x, y):
    result = solve(yaml.safe_load((EXAMPLE / f"{name}.yaml").read_text()))
    assert result["x"] == near(x)
    for block, expected in y.items():
        found = result["multipliers"][block]
        assert [near(values) for values in expected] == found if block == "cones" else found == near(expected)


def test_fingers_that_are_too_weak(solve):
    problem = yaml.safe_load((EXAMPLE / "squeeze-too-weak.yaml").read_text())
    solve(problem, status="infeasible")
    solve({**problem, "upper": [10, INF, 10, INF]})  # just strong enough
