"""What sweep.c is for sweeps in C: the command line of a sweep in Python (sweep.h says what it answers).

A sweep has name, checks, full, sample, chunk, kinds, and run(seed, first, count, sample), which gives the failures as
(index, reason), the kinds as a list of counts, and a table (columns, rows) as sweep_measure.h prints it, or None. Of a
sample only the failures count.
"""

import argparse
import json
import sys


def main(sweep):
    parser = argparse.ArgumentParser(description=sweep.checks)
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    if options.describe:
        print(json.dumps({"sweep": sweep.name, "checks": sweep.checks, "full": sweep.full, "sample": sweep.sample,
                          "chunk": sweep.chunk}))
        return 0
    count = sweep.sample if options.sample else options.count
    if count is None:
        parser.error("--describe, --sample, or --count N")
    failures, kinds, table = sweep.run(options.seed, options.first, count, options.sample)
    print(json.dumps({"sweep": sweep.name, "seed": options.seed, "first": options.first, "count": count,
                      "failures": [{"index": index, "reason": reason} for index, reason in failures[:20]],
                      "failed": len({index for index, _ in failures}), "kinds": dict(zip(sweep.kinds, kinds))}))
    if table:
        columns, rows = table
        sys.stdout.flush()
        print(json.dumps({"measured": {"columns": columns, "rows": rows, "listed": {}}}), file=sys.stderr)
    return 1 if failures else 0
