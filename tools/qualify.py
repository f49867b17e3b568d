#!/usr/bin/env python3
"""Runs the large sweeps in full and writes docs/qualification.md.

A sweep is an executable build/tests/bin/sweep_<name> (tests/qualify/sweep.h says what it answers; some are Python, and
compare with solvers that tools/deps.sh installs). Its cases run in chunks; the result of each chunk is kept in
build/qualify/<digest of the program>/<sweep>-<seed>-<first>.json, so that a run that was stopped, by whatever, goes on
where it was, and sweeps whose program is still the same, bit by bit, are not run again. A
chunk that crashes is narrowed down to its first crashing case. What a sweep measured (tests/qualify/sweep_measure.h) is
put together and stands on the page below the counts. The page says at which commit each sweep ran; what it says of a
sweep that has no result now (--only, --kept) stays as it was.

    tools/qualify.py [--seed 1] [--jobs 2] [--only NAME] [--fraction F] [--kept]

--kept runs nothing and writes the page from what is kept. --fraction runs the first part of every sweep, for trying things out; the page then says that it is incomplete.
Exit: 0 if everything ran and held, 1 if not.
"""

import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = "docs/qualification.md"
TARGETS = "docs/unmet.md"


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def version_of(programs):
    """The commit; where the tree differs from it (or there is none), a digest of the sweeps themselves beside it."""
    commit = git("rev-parse", "--short=12", "HEAD") or "no-commit"
    if commit != "no-commit" and git("status", "--porcelain", "--", ".", f":!{PAGE}") == "":
        return commit
    digest = hashlib.sha256()
    for program in programs:
        with open(program, "rb") as file:
            digest.update(file.read())
    return f"{commit}+changes-{digest.hexdigest()[:8]}"


def digest_of(program):
    """Of the program, and of all that it runs where it is a script."""
    files = [program]
    with open(program, "rb") as file:
        head = file.read(4096)
    if head[:2] == b"#!":
        files += sorted(glob.glob(f"{ROOT}/tests/qualify/*.py") + glob.glob(f"{ROOT}/bench/*.py"))
        files += [path for path in re.findall(r"='([^']+)'", head.decode()) if os.path.isfile(path)]
    digest = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:16]


def measured_in(text):
    """The table that a sweep printed on stderr, or None."""
    for line in reversed(text.splitlines()):
        if line.startswith('{"measured": '):
            return json.loads(line)["measured"]
    return None


def call(program, seed, first, count):
    """The JSON of one chunk with the table it measured, or None if the program did not end as it should."""
    command = [program, "--seed", str(seed), "--first", str(first), "--count", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        result = json.loads(done.stdout)
        if done.returncode == (1 if result["failed"] else 0) and result["count"] == count:
            return dict(result, measured=measured_in(done.stderr)), ""
    except (json.JSONDecodeError, KeyError):
        pass
    return None, f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"


def run_chunk(program, name, seed, first, count):
    result, trouble = call(program, seed, first, count)
    if result:
        return result
    # Halve until the first crashing case stands alone; what the others say is lost with the chunk.
    low, high = first, first + count
    while high - low > 1:
        middle = (low + high) // 2
        half, reason = call(program, seed, low, middle - low)
        if half is None:
            high, trouble = middle, reason
        else:
            low = middle
    failure = {"index": low, "reason": f"the program {trouble}"}
    return {"sweep": name, "seed": seed, "first": first, "count": count, "failures": [failure], "failed": 1,
            "kinds": {}}


class Progress:
    """A bar on a terminal, a line per tenth elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.failed, self.told = total, 0, 0, -1
        self.lock, self.terminal = threading.Lock(), sys.stderr.isatty()

    def add(self, count, failed):
        with self.lock:
            self.done += count
            self.failed += failed
            part = self.done / self.total
            if self.terminal:
                bar = "#" * int(40 * part)
                sys.stderr.write(f"\r[{bar:<40}] {self.done}/{self.total} cases, {self.failed} failed ")
                sys.stderr.write("\n" if self.done == self.total else "")
            elif int(10 * part) > self.told:
                self.told = int(10 * part)
                sys.stderr.write(f"qualify: {self.done}/{self.total} cases, {self.failed} failed\n")
            sys.stderr.flush()


def read_kept(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, json.JSONDecodeError):
        return None


def keep(path, result):
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.replace(f"{path}.part", path)


def run_sweeps(sweeps, options, version):
    seed, fraction, kept, only_kept = options.seed, options.fraction, f"{options.build}/qualify", options.kept
    work, results = [], {name: [] for name in sweeps}
    for name, sweep in sweeps.items():
        wanted = max(1, round(fraction * sweep["full"]))
        sweep["folder"] = f"{kept}/{digest_of(sweep['program'])}"
        os.makedirs(sweep["folder"], exist_ok=True)
        for first in range(0, wanted, sweep["chunk"]):
            if not only_kept or os.path.exists(f"{sweep['folder']}/{name}-{seed}-{first}.json"):
                work.append((name, first, min(sweep["chunk"], wanted - first)))
    progress = Progress(max(1, sum(count for _, _, count in work)))

    def one(item):
        name, first, count = item
        path = f"{sweeps[name]['folder']}/{name}-{seed}-{first}.json"
        result = read_kept(path)
        if not result or result["count"] != count:
            result = dict(run_chunk(sweeps[name]["program"], name, seed, first, count), commit=version)
            keep(path, result)
        progress.add(count, result["failed"])
        return result

    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for result in pool.map(one, work):
            results[result["sweep"]].append(result)
    return results


def merged_table(chunks):
    """The chunks' tables as one: counts added, largest values compared. (columns, rows), or None."""
    columns, rows = None, {}
    for table in (chunk.get("measured") for chunk in chunks):
        if not table:
            continue
        columns = table["columns"]
        for name, values in table["rows"].items():
            old = rows.get(name, [0] * len(values))
            rows[name] = [max(a, b) if kind == "max" else a + b
                          for a, b, (_, kind) in zip(old, values, columns)]
    return (columns, rows) if columns else None


def render_table(name, table):
    """Lines of a table: a row for each kind of case, and one for all of them."""
    columns, rows = table
    total = [max(column) if kind == "max" else sum(column)
             for column, (_, kind) in zip(zip(*rows.values()), columns)]

    def line(title, values):
        cells = ["-" if value > 1e300 else  # one has an answer and the other has none: nothing to measure
                 f"{value:.1e}" if kind == "max" and value < 10 and value != round(value) else f"{value:,.0f}"
                 for value, (_, kind) in zip(values, columns)]
        return f"| {title} | " + " | ".join(cells) + " |"

    return ["", f"## Measured by `{name}`", "", "| | " + " | ".join(title for title, _ in columns) + " |",
            "|---|" + "---:|" * len(columns), *(line(row, rows[row]) for row in sorted(rows)), line("all", total)]


def unmet_targets():
    """Targets that no sweep counts and that stand unmet, as list items."""
    with open(f"{ROOT}/{TARGETS}", encoding="utf-8") as file:
        return [line.rstrip() for line in file if line.startswith(("- ", "  "))]


def of_the_page(text):
    """What a page says of each sweep: its row, what of it is unmet, its table."""
    said = {}
    for name, row in re.findall(r"^\| `(\w+)` \| (.*)$", text, re.MULTILINE):
        unmet = re.findall(rf"^- `{name}`(?: case|:).*$", text, re.MULTILINE)
        table = re.search(rf"^## Measured by `{name}`\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        said[name] = (f"| `{name}` | {row}", unmet, ["", *table.group(0).strip().split("\n")] if table else [])
    return said


def say(name, sweep, chunks):
    """The row of a sweep, what of it is unmet, its table."""
    ran, failed = sum(chunk["count"] for chunk in chunks), sum(chunk["failed"] for chunk in chunks)
    kinds = {}
    for chunk in chunks:
        for kind, count in chunk["kinds"].items():
            kinds[kind] = kinds.get(kind, 0) + count
    of_which = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    commits = ", ".join(sorted({f"`{chunk['commit']}`" for chunk in chunks}))
    row = f"| `{name}` | {sweep['checks']} | {ran:,} | {of_which} | {failed:,} | {commits} |"
    unmet = [f"- `{name}`: incomplete, {ran:,} of {sweep['full']:,} cases ran"] if ran < sweep["full"] else []
    failures = [failure for chunk in chunks for failure in chunk["failures"]]
    unmet += [f"- `{name}` case {f['index']}: {f['reason'].replace('|', '/')}" for f in failures[:20]]
    if failed > 20:
        unmet.append(f"- `{name}`: and {failed - 20:,} more")
    table = merged_table(chunks)
    return row, unmet, render_table(name, table) if table else []


def render(sweeps, results, seed, before):
    said = of_the_page(before)
    said.update((name, say(name, sweep, results[name])) for name, sweep in sweeps.items() if results[name])
    unmet = [line for name in sorted(said) for line in said[name][1]] + unmet_targets()
    lines = [
        "# Qualification", "",
        "Written by `make qualify`, which runs the sweeps below in full; `make test` runs the first cases of each. One",
        "case again: `build/tests/bin/sweep_NAME --seed SEED --first CASE --count 1`.", "",
        f"Seed {seed}. A sweep is run anew when its program has changed; the last column names the commit it ran at.", "",
        "| sweep | what holds in every case | cases | of which | failures | ran at |", "|---|---|---:|---|---:|---|",
        *(said[name][0] for name in sorted(said)),
        "", "## Unmet", "", *(unmet or ["Nothing: every case of every sweep held."]),
        *(line for name in sorted(said) for line in said[name][2]), "",
    ]
    return "\n".join(lines), not unmet


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--fraction", type=float, default=1.0)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--build", default=f"{ROOT}/build", help="where the sweeps were built")
    parser.add_argument("--page", default=f"{ROOT}/{PAGE}", help="where the result goes")
    options = parser.parse_args()

    programs = sorted(glob.glob(f"{options.build}/tests/bin/sweep_*"))
    if options.only:
        programs = [program for program in programs if program.endswith(f"/sweep_{options.only}")]
    if not programs:
        sys.exit(f"qualify: no sweeps in {options.build}/tests/bin: run `make qualify`")
    sweeps = {}
    for program in programs:
        text = subprocess.run([program, "--describe"], capture_output=True, text=True, check=True).stdout
        described = json.loads(text)
        sweeps[described["sweep"]] = dict(described, program=program)
    results = run_sweeps(sweeps, options, version_of(programs))
    before = ""
    if os.path.exists(options.page):
        with open(options.page, encoding="utf-8") as file:
            before = file.read()
    page, met = render(sweeps, results, options.seed, before)
    with open(f"{options.page}.part", "w", encoding="utf-8") as file:
        file.write(page)
    os.replace(f"{options.page}.part", options.page)
    print(f"{'everything held' if met else 'not everything held'}: see {os.path.relpath(options.page)}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
