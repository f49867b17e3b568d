"""Other solvers on the bins of bench_convex, in the same run; bench_convex calls it.

Each is asked for 1e-9 and gets the problem in its own format (conversions are not timed). The time is that of the call
with the solver's own set-up, and beside it what the solver reports, where it does; the fastest of three. This library's
row is of the same problems, at its default tolerance and without set-up, which bench_convex shows above. A solver that
needs more than five seconds for a table is stopped there; the number says how far it came.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

import convex_peers as peers  # noqa: E402
import convex_problems as problems  # noqa: E402

ASKED, JUDGED, SECONDS, REPETITIONS = 1e-9, 1e-8, 5.0, 3


def measure(name, cases):
    """Of one solver: (calls, own times, residuals, failures)."""
    calls, own, residuals, failed, start = [], [], [], 0, time.monotonic()
    for problem in cases:
        if time.monotonic() - start > SECONDS:
            break
        runs = [peers.solve(name, problem, ASKED) for _ in range(REPETITIONS)]
        if runs[0][0] is None:
            failed += 1
            continue
        calls.append(min(seconds for _, seconds, _ in runs))
        own += [min(reported for _, _, reported in runs)] if runs[0][2] is not None else []
        residuals.append(problem.residual(runs[0][0]))
    return calls, own, residuals, failed


def row_of(name, calls, own, residuals, failed):
    met = [residual for residual in residuals if residual <= JUDGED]
    return {"solver": name, "number": len(calls) + failed, "solved": len(met),
            "median_s": float(np.median(calls)) if calls else None,
            "p99_s": float(np.quantile(calls, 0.99)) if calls else None,
            "own_median_s": float(np.median(own)) if own else None,
            "residual_median": float(np.median(residuals)) if residuals else None,
            "residual_max": float(max(residuals)) if residuals else None}


def show(row):
    def cell(key, width, scale=1e6, form=".0f"):
        return f"{scale * row[key]:{width}{form}}" if row[key] is not None else f"{'-':>{width}}"

    print(f"{row['solver']:<16} {row['number']:6d} {row['solved']:6d}  {cell('median_s', 8)} /{cell('p99_s', 8)}  "
          f"{cell('own_median_s', 12)}  {cell('residual_median', 9, 1.0, '.1e')} /"
          f"{cell('residual_max', 9, 1.0, '.1e')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True, help="the program convex_dump")
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--json", help="where bench_convex's numbers go; these go beside them")
    options = parser.parse_args()
    table = {}
    for title, which in (("rays", "bin"), ("cones", "bin-cone"), ("rays, quasidynamic", "bin-dynamic"),
                         ("cones, quasidynamic", "bin-cone-dynamic")):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "problems")
            subprocess.run([options.dump, "--set", which, "--seed", "1", "--count", str(options.samples), "--repeat",
                            str(REPETITIONS), "--out", path], check=True)
            cases = list(problems.read(path))
        print(f"other solvers, bin: {title}\n{'':<16} {'number':>6} {'solved':>6}  {'us median':>8} /{'p99':>8} "
              f"{'own account':>13}  {'residual med':>9} /{'max':>7}")
        solved = [case for case in cases if case.outcome == "solved"]
        rows = [row_of("perp", [case.seconds for case in solved], [],
                       [case.residual(case.answer) for case in solved], len(cases) - len(solved))]
        show(rows[0])
        for name in peers.installed():
            if peers.takes(name, cases[0]):
                rows.append(row_of(name, *measure(name, cases)))
                show(rows[-1])
                sys.stdout.flush()
            elif peers.ALL[name][2]:
                print(f"{name:<16} does not take this many unknowns without a licence")
        table[title] = rows
    if options.json:
        with open(options.json.removesuffix(".json") + "_peers.json", "w", encoding="utf-8") as file:
            json.dump({"unit": "s per problem", "asked": ASKED, "judged": JUDGED, "bins": table}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
