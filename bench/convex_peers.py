"""Other people's solvers on the problems of convex_problems.py: each a function that prepares (conversions, not timed)
and gives a function that solves, which is timed with the set-up that the solver itself needs.

An answer is a Point, whatever the solver called it; whether it is any good is for Problem.residual to say. A package
that is not installed is left out: PEERS has those that are.
"""

import importlib
import time

import numpy as np
from scipy import linalg, sparse

from convex_problems import Point

TIGHT = 1e-12  # what every solver is asked for; most stop earlier because they cannot
LOOSE = 1e-9


def _bounds(problem):
    """Rows of finite bounds, x_i - lower_i >= 0 and then upper_i - x_i >= 0: (matrix, offset, which below, above)."""
    below, above = np.flatnonzero(np.isfinite(problem.lower)), np.flatnonzero(np.isfinite(problem.upper))
    eye = sparse.identity(problem.n, format="csr")
    matrix = sparse.vstack([eye[below], -eye[above]], format="csc")
    return matrix, np.concatenate([-problem.lower[below], problem.upper[above]]), below, above


def _rays_first(problem):
    """The slacks of rays, then those of cones, one after another."""
    cones = [np.arange(first, first + count) for first, count, quadratic in problem.cones if quadratic]
    return np.concatenate([np.flatnonzero(problem.linear), *cones])


def _point(problem, x, y, y_equality, below=None, y_below=None, above=None, y_above=None):
    y_lower, y_upper = np.zeros(problem.n), np.zeros(problem.n)
    if below is not None:
        y_lower[below], y_upper[above] = y_below, y_above
    x, y, y_equality = (np.array(part, dtype=float) for part in (x, y, y_equality))
    return Point(x, y, y_equality, y_lower, y_upper)


def _split(values):
    """Multipliers of x >= lower and x <= upper from one with a sign."""
    return np.maximum(values, 0.0), np.maximum(-values, 0.0)


def piqp(problem, tolerance, dense=False):
    module = importlib.import_module("piqp")
    convert = (lambda m: m.toarray()) if dense else (lambda m: sparse.csc_matrix(m))
    hessian, rows, closed = convert(problem.hessian), convert(problem.rows), convert(problem.equalities)

    def solve():
        solver = module.DenseSolver() if dense else module.SparseSolver()
        settings = solver.settings
        settings.eps_abs = settings.eps_duality_gap_abs = tolerance
        settings.eps_rel = settings.eps_duality_gap_rel = 0.0
        settings.max_iter = 1000
        settings.compute_timings = True
        none = np.full(len(problem.offset), np.inf)
        solver.setup(hessian, problem.g, closed, problem.target, rows, -problem.offset, none,
                     problem.lower, problem.upper)
        solver.solve()
        result = solver.result
        every = np.arange(problem.n)
        return (_point(problem, result.x, result.z_l, -result.y, every,
                       np.where(np.isfinite(problem.lower), result.z_bl, 0.0), every,
                       np.where(np.isfinite(problem.upper), result.z_bu, 0.0)), result.info.run_time)

    return solve


def piqp_dense(problem, tolerance):
    return piqp(problem, tolerance, dense=True)


def proxqp(problem, tolerance, dense=True):
    module = importlib.import_module("proxsuite").proxqp
    kind = module.dense if dense else module.sparse
    extra, constants, below, above = _bounds(problem)
    rows = sparse.vstack([problem.rows, extra], format="csc")
    least = np.concatenate([-problem.offset, -constants])
    convert = (lambda m: np.ascontiguousarray(m.toarray())) if dense else (lambda m: m)
    hessian, rows, closed = convert(problem.hessian), convert(rows), convert(problem.equalities)
    most = np.full(len(least), 1e20)

    def solve():
        solver = kind.QP(problem.n, len(problem.target), len(least))
        settings = solver.settings
        settings.eps_abs, settings.eps_rel = max(tolerance, LOOSE), 0.0  # below that it does not end
        settings.max_iter, settings.max_iter_in = 100, 100
        settings.eps_duality_gap_abs, settings.check_duality_gap = max(tolerance, LOOSE), True
        settings.compute_timings = True
        solver.init(hessian, problem.g, closed, problem.target, rows, least, most)
        solver.solve()
        result, slacks = solver.results, len(problem.offset)
        z = -np.array(result.z)
        return (_point(problem, result.x, z[:slacks], -np.array(result.y), below, z[slacks:slacks + len(below)], above,
                       z[slacks + len(below):]), result.info.run_time * 1e-6)

    return solve


def proxqp_sparse(problem, tolerance):
    return proxqp(problem, tolerance, dense=False)


def clarabel(problem, tolerance):
    module = importlib.import_module("clarabel")
    extra, constants, below, above = _bounds(problem)
    order = _rays_first(problem)
    rows = sparse.vstack([problem.equalities, -extra, -sparse.csr_matrix(problem.rows)[order]], format="csc")
    right = np.concatenate([problem.target, constants, problem.offset[order]])
    equalities, linear = len(problem.target), len(constants) + int(problem.linear.sum())
    cones = [module.ZeroConeT(equalities)] if equalities else []
    cones += [module.NonnegativeConeT(linear)] if linear else []
    cones += [module.SecondOrderConeT(count) for _, count, quadratic in problem.cones if quadratic]
    upper = sparse.triu(problem.hessian, format="csc")
    settings = module.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = tolerance

    def solve():
        result = module.DefaultSolver(upper, problem.g, rows, right, cones, settings).solve()
        z = np.array(result.z)
        bounds, slacks = z[equalities:equalities + len(constants)], z[equalities + len(constants):]
        y = np.zeros(len(problem.offset))
        y[order] = slacks
        return (_point(problem, result.x, y, -z[:equalities], below, bounds[:len(below)], above, bounds[len(below):]),
                result.solve_time)

    return solve


def osqp(problem, tolerance):
    module = importlib.import_module("osqp")
    eye = sparse.identity(problem.n, format="csc")
    rows = sparse.vstack([problem.equalities, problem.rows, eye], format="csc")
    least = np.concatenate([problem.target, -problem.offset, problem.lower])
    most = np.concatenate([problem.target, np.full(len(problem.offset), np.inf), problem.upper])
    upper = sparse.triu(problem.hessian, format="csc")
    equalities, slacks = len(problem.target), len(problem.offset)

    def solve():
        solver = module.OSQP()
        solver.setup(upper, problem.g, rows, least, most, verbose=False, eps_abs=max(tolerance, LOOSE), eps_rel=0.0,
                     max_iter=20000, polishing=True)
        result = solver.solve(raise_error=False)
        y = -np.array(result.y)
        y_lower, y_upper = _split(y[equalities + slacks:])
        every = np.arange(problem.n)
        return (_point(problem, result.x, np.maximum(y[equalities:equalities + slacks], 0.0), y[:equalities], every,
                       y_lower, every, y_upper), result.info.run_time)

    return solve


def highs(problem, tolerance):
    module = importlib.import_module("highspy")
    rows = sparse.vstack([problem.equalities, problem.rows], format="csc")
    lower = sparse.tril(problem.hessian, format="csc")
    lower.eliminate_zeros()
    model = module.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = problem.n, rows.shape[0]
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = problem.g, problem.lower, problem.upper
    lp.row_lower_ = np.concatenate([problem.target, -problem.offset])
    lp.row_upper_ = np.concatenate([problem.target, np.full(len(problem.offset), np.inf)])
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    if lower.nnz:
        model.hessian_.dim_ = problem.n
        model.hessian_.format_ = module.HessianFormat.kTriangular
        model.hessian_.start_, model.hessian_.index_, model.hessian_.value_ = lower.indptr, lower.indices, lower.data
    equalities = len(problem.target)

    def solve():
        solver = module.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("time_limit", 5.0)
        solver.setOptionValue("primal_feasibility_tolerance", max(tolerance, 1e-10))
        solver.setOptionValue("dual_feasibility_tolerance", max(tolerance, 1e-10))
        solver.passModel(model)
        solver.run()
        solution = solver.getSolution()
        y, bounds = np.array(solution.row_dual), np.array(solution.col_dual)
        y_lower, y_upper = _split(bounds)
        every = np.arange(problem.n)
        return (_point(problem, solution.col_value, np.maximum(y[equalities:], 0.0), y[:equalities], every, y_lower,
                       every, y_upper), solver.getRunTime())

    return solve


def _cvxopt_matrix(module, matrix):
    entries = sparse.coo_matrix(matrix)
    return module.spmatrix(entries.data.tolist(), entries.row.tolist(), entries.col.tolist(), entries.shape)


def _independent(matrix):
    """Indices of rows that span all of them; and an orthonormal basis of what they span, columns, where that is less
    than everything."""
    if matrix.shape[0] == 0:
        return np.zeros(0, dtype=int), None
    scaled = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-300)
    _, triangle, order = linalg.qr(scaled.T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > 1e-11 * max(diagonal.max(initial=0.0), 1e-300)).sum())
    if rank == matrix.shape[1]:
        return np.sort(order[:rank]), None
    basis, _ = np.linalg.qr(scaled[order[:rank]].T)
    return np.sort(order[:rank]), basis


def cvxopt(problem, tolerance):
    """It wants independent equations, and unknowns that something depends on: others are taken out beforehand."""
    module = importlib.import_module("cvxopt")
    extra, constants, below, above = _bounds(problem)
    kept, _ = _independent(problem.equalities.toarray())
    _, basis = _independent(sparse.vstack([problem.hessian, problem.rows, problem.equalities, extra]).toarray())
    turn = sparse.identity(problem.n, format="csc") if basis is None else sparse.csc_matrix(basis)
    order = _rays_first(problem)
    rows = sparse.vstack([-extra, -sparse.csr_matrix(problem.rows)[order]], format="csc")
    dims = {"l": len(constants) + int(problem.linear.sum()), "s": [],
            "q": [count for _, count, quadratic in problem.cones if quadratic]}
    hessian = _cvxopt_matrix(module, turn.T @ problem.hessian @ turn)
    rows = _cvxopt_matrix(module, rows @ turn)
    right = module.matrix(np.concatenate([constants, problem.offset[order]]))
    closed = _cvxopt_matrix(module, sparse.csr_matrix(problem.equalities)[kept] @ turn)
    target, cost = module.matrix(problem.target[kept]), module.matrix(turn.T @ problem.g)

    def solve():
        options = {"show_progress": False, "abstol": tolerance, "reltol": tolerance, "feastol": tolerance,
                   "maxiters": 100, "refinement": 2}
        arguments = (hessian, cost, rows, right, dims) + ((closed, target) if len(kept) else ())
        result = module.solvers.coneqp(*arguments, options=options)
        z = np.array(result["z"]).ravel()
        y = np.zeros(len(problem.offset))
        y[order] = z[len(constants):]
        y_equality = np.zeros(len(problem.target))
        y_equality[kept] = -np.array(result["y"]).ravel() if len(kept) else []
        return (_point(problem, turn @ np.array(result["x"]).ravel(), y, y_equality, below, z[:len(below)], above,
                       z[len(below):len(constants)]), None)

    return solve


def gurobi(problem, tolerance):
    """The package solves problems of up to 2000 rows and columns (with cones: 200) without a licence of one's own."""
    module = importlib.import_module("gurobipy")
    environment = module.Env(empty=True)
    environment.setParam("OutputFlag", 0)
    environment.start()
    linear = sparse.csr_matrix(problem.rows)[np.flatnonzero(problem.linear)]
    cones = [(first, count) for first, count, quadratic in problem.cones if quadratic]
    rest = sparse.csr_matrix(problem.rows)[np.flatnonzero(~problem.linear)]

    def solve():
        model = module.Model(env=environment)
        model.Params.Threads = 1
        model.Params.BarConvTol = model.Params.BarQCPConvTol = max(tolerance, 0.0)
        model.Params.FeasibilityTol = model.Params.OptimalityTol = 1e-9
        model.Params.QCPDual = 1
        x = model.addMVar(problem.n, lb=problem.lower, ub=problem.upper)
        model.setObjective(0.5 * (x @ problem.hessian @ x) + problem.g @ x)
        rows = model.addConstr(linear @ x >= -problem.offset[problem.linear]) if linear.shape[0] else None
        closed = model.addConstr(problem.equalities @ x == problem.target) if len(problem.target) else None
        if cones:
            s = model.addMVar(rest.shape[0], lb=-np.inf)
            slack = model.addConstr(rest @ x - s == -problem.offset[~problem.linear])
            at = 0
            for _, count in cones:
                s[at].LB = 0.0
                model.addConstr(s[at + 1:at + count] @ s[at + 1:at + count] <= s[at] * s[at])
                at += count
        model.optimize()
        y, y_equality = np.zeros(len(problem.offset)), np.zeros(len(problem.target))
        y[problem.linear] = np.maximum(rows.Pi, 0.0) if rows is not None else []
        y_equality[:] = closed.Pi if closed is not None else []
        if cones:
            y[~problem.linear] = slack.Pi
        y_lower, y_upper = _split(np.array(x.RC))
        every = np.arange(problem.n)
        point = _point(problem, x.X, y, y_equality, every, np.where(np.isfinite(problem.lower), y_lower, 0.0), every,
                       np.where(np.isfinite(problem.upper), y_upper, 0.0))
        return point, model.Runtime

    return solve


ALL = {"piqp": (piqp, "piqp", False), "piqp-dense": (piqp_dense, "piqp", False),
       "proxqp": (proxqp, "proxsuite", False), "proxqp-sparse": (proxqp_sparse, "proxsuite", False),
       "clarabel": (clarabel, "clarabel", True), "osqp": (osqp, "osqp", False), "highs": (highs, "highspy", False),
       "cvxopt": (cvxopt, "cvxopt", True), "gurobi": (gurobi, "gurobipy", True)}


def installed():
    """Names of the peers whose packages are there."""
    found = []
    for name, (_, module, _) in ALL.items():
        try:
            importlib.import_module(module)
            found.append(name)
        except ImportError:
            pass
    return found


def takes(name, problem):
    if name == "gurobi" and problem.has_cones:  # beyond this it wants a licence
        return problem.n + int((~problem.linear).sum()) <= 200
    return ALL[name][2] or not problem.has_cones


def solve(name, problem, tolerance=TIGHT):
    """(point or None, seconds of the call, seconds by the solver's own account or None)."""
    try:
        run = ALL[name][0](problem, tolerance)
        start = time.perf_counter()
        point, own = run()
        return point, time.perf_counter() - start, own
    except Exception:  # whatever a solver raises on a problem is its failure, and counted as one
        return None, None, None
