"""Dense qps with the traits of Maros and Meszaros' collection (bench/convex_dense_generator.h): how many of them this
library, PIQP and ProxQP solve when asked for 1e-6 and for 1e-9, by the same residual (bench/convex_problems.py). What
holds in every case is said of this library only: it solves it to 1e-6, and where it says solved the residual is met.
"""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench")]
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import convex_peers as peers  # noqa: E402
import convex_problems as problems  # noqa: E402
import sweep  # noqa: E402

NAMES = ["piqp-dense", "proxqp"]
TITLES = {"piqp-dense": "PIQP", "proxqp": "ProxQP"}
TOLERANCES = [1e-6, 1e-9]
COLUMNS = [["cases", "sum"]] + [[f"{who} {tolerance:.0e}".replace("e-0", "e-"), "sum"] for tolerance in TOLERANCES
                                for who in ["perp", *TITLES.values()]]


def dump(path, seed, first, count, tolerance):
    subprocess.run([os.environ["PERP_CONVEX_DUMP"], "--set", "dense", "--seed", str(seed), "--first", str(first),
                    "--count", str(count), "--tolerance", repr(tolerance), "--out", path], check=True)
    return problems.read(path)


def judge(problem, tolerance):
    """Whether it is solved to the tolerance, and what is wrong with the answer."""
    residual = problem.residual(problem.answer)
    asked = max(tolerance, 1e-8)  # what convex_dump falls back to
    if problem.outcome == "solved" and not residual <= max(tolerance, asked):
        return False, f"falsely solved to {tolerance:.0e}: residual {residual:.2g}"
    if problem.outcome != "solved" and tolerance == TOLERANCES[0]:
        return False, f"{problem.outcome} at {tolerance:.0e}, n = {problem.n}, residual {residual:.2g}"
    return problem.outcome == "solved" and residual <= tolerance, None


def kind_of(problem):
    if problem.hessian.nnz == 0:
        return "no H"
    return "H positive definite" if problem.unique else "H singular"


class ConvexDense:
    name = "convex_dense"
    checks = ("dense qps with the traits of Maros and Meszaros' (H of any rank, dependent equations, scales over ten "
              "decades): solved to 1e-6, none falsely; beside PIQP and ProxQP at 1e-6 and 1e-9 below")
    full, sample, chunk = 1000, 40, 50
    kinds = ["solved to 1e-9", "to 1e-6 only", "not solved"]

    @staticmethod
    def run(seed, first, count, sample):
        rows, failures, best = {}, [], {}
        # Peers fill the table and fail nothing: a sample does without them.
        there = [] if sample else [name for name in NAMES if name in peers.installed()]
        with tempfile.TemporaryDirectory() as folder:
            for at, tolerance in enumerate(TOLERANCES):
                for problem in dump(os.path.join(folder, "problems"), seed, first, count, tolerance):
                    row = rows.setdefault(kind_of(problem), [0] * len(COLUMNS))
                    row[0] += int(at == 0)
                    solved, reason = judge(problem, tolerance)
                    row[1 + 3 * at] += int(solved)
                    best[problem.index] = at if solved else best.get(problem.index, -1)
                    failures += [(problem.index, reason)] if reason else []
                    for k, name in enumerate(there):
                        point, _, _ = peers.solve(name, problem, tolerance)
                        row[2 + 3 * at + k] += int(point is not None and problem.residual(point) <= tolerance)
        found = list(best.values())
        return failures, [found.count(1), found.count(0), found.count(-1)], (COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(sweep.main(ConvexDense))
