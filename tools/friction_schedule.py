#!/usr/bin/env python3
"""What each line of the friction cascade's schedule decides, as the table of docs/solvers.md.

usage: tools/friction_schedule.py build/tests/bin SEED.. [--count N]
Runs N problems (1000) with inertia and N without of every seed; islands count as problems of their own."""
import argparse
import json
import pathlib
import subprocess

SWEEPS = ("friction", "friction_quasistatic")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    lines, solved, first = {}, [0, 0], [0, 0]
    for k, name in enumerate(SWEEPS):
        for seed in options.seeds:
            command = [options.folder / f"sweep_{name}", "--seed", str(seed), "--first", "0", "--count", str(options.count)]
            done = subprocess.run(command, capture_output=True, text=True)
            kinds = json.loads(done.stdout)["kinds"]
            first[k] += kinds["solved by the first method"]
            solved[k] += kinds["solved by the first method"] + kinds["solved by a fallback"]
            measured = json.loads(done.stderr.splitlines()[-1])["measured"]
            at = [column for column, _ in measured["columns"]].index("tried")
            for row, values in measured["rows"].items():
                if not values[0]:  # no family of problems
                    counts = lines.setdefault(row, [0] * 4)
                    counts[2 * k] += int(values[at])
                    counts[2 * k + 1] += int(values[at + 1])
    total = len(options.seeds) * options.count
    print(f"Of {total} problems with inertia {solved[0]} are solved ({first[0]} by the first method tried), of {total} without {solved[1]} ({first[1]}).\n")
    print("| line | with inertia: tried | decides | without: tried | decides |\n|---|---|---|---|---|")
    for row, counts in lines.items():
        print(f"| {row} | " + " | ".join(str(count) for count in counts) + " |")


main()
