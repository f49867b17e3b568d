"""Contact qps and cone qps (bench/convex_generator.h) beside other people's solvers: the objective agrees to 1e-8 of
1 + |objective|, and where H is positive definite the solution to 1e-6 of 1 + its largest entry.

An answer is compared where it is good enough to say anything. With its own residuals it bounds the error of its
objective (Problem.objective_error); one that bounds it by 5e-9 supports a comparison at 1e-8. Three of four problems
with a unique solution were made from it: ours has to be that wherever two peers find it. For the others the same bound
limits the distance to the solution, by sqrt(2 error / least eigenvalue of H). Peers that miss our solution while it is
proven in one of these ways are not held against it; where nothing is proven, two that agree with each other to 1e-7 and
not with us are.

This library is asked for 1e-10, because a residual of 1e-8 alone does not bound an objective by 1e-8.
"""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench")]
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # the sweeps themselves run beside each other
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

import convex_peers as peers  # noqa: E402
import convex_problems as problems  # noqa: E402
import sweep  # noqa: E402

NAMES = ["piqp", "proxqp", "clarabel", "cvxopt", "gurobi"]
COLUMNS = [["compared", "sum"], ["no answer", "sum"], ["too rough to compare", "sum"], ["objective agrees", "sum"],
           ["objective differs", "sum"], ["solution agrees", "sum"], ["solution differs, ours proven", "sum"],
           ["solution differs", "sum"], ["objective, largest difference", "max"]]


def scaled_bound(problem, point, least):
    """How far a point may be from the solution, over 1 + its largest entry."""
    error = 2.0 * problem.objective_error(point) / least
    return np.sqrt(error) / (1.0 + np.abs(point.x).max())


def distance(point, x):
    return np.abs(point.x - x).max() / (1.0 + np.abs(point.x).max())


def best_answer(name, problem, enough):
    """Asked for less and less until the objective is good enough; a solver that is asked for too much may end badly."""
    best, least = None, np.inf
    for tolerance in (1e-9,) if name == "proxqp" else (1e-12, 1e-10, 1e-9):
        point, _, _ = peers.solve(name, problem, tolerance)
        if point is not None and np.isfinite(problem.residual(point)):
            error = problem.objective_error(point)
            best, least = (point, error) if error < least else (best, least)
        if least <= enough:
            break
    return best, least


def compare_solutions(problem, answers, rows):
    """The reason of a failure, or None."""
    least = np.linalg.eigvalsh(problem.hessian.toarray())[0]
    proven, off = scaled_bound(problem, problem.answer, least) <= 5e-7, {}
    if problem.reference is not None:
        difference = distance(problem.answer, problem.reference)
        right = [name for name, point in answers.items() if distance(point, problem.reference) <= 1e-6]
        if difference > 1e-6 and len(right) >= 2:
            return f"off by {difference:.2g} from that which the problem was made from; {', '.join(right)} are not"
        proven = difference <= 1e-6
    for name, point in answers.items():
        if distance(problem.answer, point.x) <= 1e-6:
            rows[name][5] += 1
        else:
            rows[name][6 if proven else 7] += 1
            off[name] = point
    if proven:
        return None
    for name, point in off.items():
        if scaled_bound(problem, point, least) <= 5e-7:
            return f"{name} is proven to 5e-7 and differs by {distance(problem.answer, point.x):.2g}"
        for other, second in off.items():
            if other != name and distance(point, second.x) <= 1e-7:
                return f"{name} and {other} agree, and differ by {distance(problem.answer, point.x):.2g}"
    return None


def compare(problem, rows):
    """(reasons of failures, how many peers support the objective)."""
    reasons, objective, good = [], problem.objective(problem.answer.x), {}
    for name in NAMES:
        if name not in rows or not peers.takes(name, problem):
            continue
        row = rows[name]
        row[0] += 1
        point, error = best_answer(name, problem, 1e-10 * (1.0 + abs(objective)))
        if point is None:
            row[1] += 1
        elif error > 5e-9 * (1.0 + abs(objective)):
            row[2] += 1
        else:
            good[name] = point
            difference = abs(problem.objective(point.x) - objective) / (1.0 + abs(objective))
            row[3 if difference <= 1e-8 else 4] += 1
            row[8] = max(row[8], difference)
            if difference > 1e-8:
                reasons.append(f"objective {objective:.12g}, of {name} {problem.objective(point.x):.12g}")
    if problem.unique:
        reason = compare_solutions(problem, good, rows)
        reasons += [f"solution: {reason}"] if reason else []
    return reasons, len(good)


class ConvexPeers:
    name = "convex_peers"
    checks = ("contact qps and cone qps beside PIQP, ProxQP, Clarabel, CVXOPT and Gurobi: objectives agree to 1e-8, "
              "unique solutions to 1e-6, wherever a peer's own residual supports the comparison")
    full, sample, chunk = 4000, 200, 100
    kinds = ["supported by two peers or more", "by one", "by none", "not solvable"]

    @staticmethod
    def run(seed, first, count, _sample):
        rows = {name: [0] * len(COLUMNS) for name in NAMES if name in peers.installed()}
        failures, kinds = [], [0, 0, 0, 0]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "problems")
            subprocess.run([os.environ["PERP_CONVEX_DUMP"], "--set", "contact", "--seed", str(seed), "--first",
                            str(first), "--count", str(count), "--tolerance", "1e-10", "--out", path], check=True)
            for problem in problems.read(path):
                if problem.claim != "solvable":
                    kinds[3] += 1
                    continue
                if problem.outcome != "solved":
                    failures.append((problem.index, problem.outcome))
                    kinds[2] += 1
                    continue
                reasons, support = compare(problem, rows)
                kinds[0 if support >= 2 else 1 if support == 1 else 2] += 1
                failures += [(problem.index, reason) for reason in reasons]
        return failures, kinds, (COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(sweep.main(ConvexPeers))
