#!/usr/bin/env python3
"""Plants small mistakes in src, one at a time, and says which of them no test notices.

    tools/mutants.py [--files GLOB ...] [--sample N --seed S] [--jobs 2] [--labels unit,sweep,cli] [--tests REGEX]
                     [--patience 120] [--list] [--fresh]

Without --files it takes the C files of src that changed since the branch left its upstream (or since HEAD~1), and
what is not committed. tools/mutant_sites.py says what is planted. --sample N plants mutants in the random order of
--seed until N are counted.

A mutant is compiled on its own, and linked into a copy of the library; the tests are linked once, with the shared
library of build/mutants. Every test runs once with a library that counts lines (gcov); a mutant is shown only to the
tests that run its line, those of its own folder first, unit tests first, the fastest of them first, until one fails
or --patience seconds are over. A test that hangs has failed. A mutant that does not compile, or that compiles to the
same object code, is not counted.

Results are kept in build/mutants/results.json while the mutated file stays the same: a run that was stopped goes on,
and a mutant that survived is shown only to tests that are new or have changed. --fresh forgets them, and the lines.

tests/mutants-explained.txt lists survivors that no test can or should notice, and why. They are not counted.
Exit: 0 if at least 90 % of the mutants die, 1 if fewer do.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import glob
import gzip
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import mutant_sites

ENOUGH = 90  # per cent that must die
TIMES_LONGER, AT_LEAST = 4, 5.0  # a test hangs if it takes this many times its processor time, and this many seconds
WAITS = 20  # or this many times that by the clock, which other work on the machine slows down
MEMORY = 4 << 30  # bytes of address space; a mutant may allocate without end
LIBRARY = "lib/libperp_tests.so"


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def must(command, **options):
    done = run(command, **options)
    if done.returncode != 0:
        sys.exit(f"mutants: {shlex.join(command)[:300]} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def digest(*paths):
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:16]


class Kept:
    """A JSON file that survives being stopped at any time, and what another run puts into it meanwhile."""

    def __init__(self, path):
        self.path, self.lock, self.own = path, threading.Lock(), {}
        self.data = self.load()

    def load(self):
        if not os.path.exists(self.path):
            return {}
        with open(self.path, encoding="utf-8") as file:
            return json.load(file)

    def put(self, key, value):
        with self.lock:
            self.data[key] = self.own[key] = value

    def save(self):
        with self.lock:
            new = f"{self.path}.{os.getpid()}"
            with open(new, "w", encoding="utf-8") as file:
                json.dump({**self.load(), **self.own}, file, indent=0, sort_keys=True)
            os.replace(new, self.path)


@dataclasses.dataclass
class Test:
    name: str
    command: list
    environment: dict
    fails_if: str
    quick: bool
    digest: str


class Build:
    """build/mutants: the tests, the objects of the library, and how one of them is exchanged."""

    def __init__(self, source, folder, jobs):
        self.source, self.folder, self.jobs = source, folder, jobs
        must(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Mutants", "-DCMAKE_C_COMPILER=gcc",
              "-DCMAKE_C_FLAGS_MUTANTS=-O1", "-DPERP_TESTS_SHARED=ON", "-DPERP_TESTS=ON", "-DPERP_WERROR=OFF",
              "-DPERP_PEERS=OFF", "-DPERP_VIEWER=OFF"])
        must(["ninja", "-C", folder, f"-j{jobs}"])
        with open(f"{folder}/compile_commands.json", encoding="utf-8") as file:
            entries = json.load(file)
        self.compiles = {}
        for entry in entries:
            words = shlex.split(entry["command"])
            while os.path.basename(words[0]) == "ccache":
                words.pop(0)
            path = os.path.relpath(entry["file"], source)
            if path.startswith("src/"):
                self.compiles[path] = [w for w in words if not w.startswith("-W")]
        commands = must(["ninja", "-C", folder, "-t", "commands", LIBRARY]).splitlines()
        link = [c for c in commands if " -shared " in c][-1]
        self.link_words = shlex.split(re.sub(r"^: && | && :$", "", link))
        self.soname = next(w for w in self.link_words if w.startswith("-Wl,-soname,")).split(",")[-1]
        if shutil.which("ld.gold"):
            self.link_words.append("-fuse-ld=gold")
        self.same = {}  # path -> the object code of the unchanged file

    def object_of(self, path):
        words = self.compiles[path]
        return words[words.index("-o") + 1]

    def compile(self, path, text, target):
        """The object code of `text` in place of the file; None if it does not compile. Errors name the file."""
        words = list(self.compiles[path])
        words[words.index("-o") + 1] = target
        words[words.index("-c") + 1:] = ["-x", "c", "-w", "-"]
        name = os.path.join(self.source, path)
        if subprocess.run(words, input=f'#line 1 "{name}"\n{text}', text=True, cwd=self.folder, check=False,
                          capture_output=True).returncode != 0:
            return None
        with open(target, "rb") as file:
            return file.read()

    def unchanged(self, path, text, target):
        if path not in self.same:
            self.same[path] = self.compile(path, text, target)
        return self.same[path]

    def link(self, exchanged, folder, *flags):
        """The library with some objects exchanged ({old: new}), in a folder of its own."""
        os.makedirs(folder, exist_ok=True)
        words = [exchanged.get(w, w) for w in self.link_words]
        words[words.index("-o") + 1] = f"{folder}/{self.soname}"
        must([*words, *flags], cwd=self.folder)

    def tests(self, labels, names):
        found = []
        for entry in json.loads(must(["ctest", "--test-dir", self.folder, "--show-only=json-v1"]))["tests"]:
            properties = {p["name"]: p["value"] for p in entry["properties"]}
            label = next((x for x in properties.get("LABELS", []) if x in labels), None)
            if label is None or "command" not in entry or not re.search(names, entry["name"]):
                continue
            command = list(entry["command"])
            if "pytest" in command:
                command.insert(command.index("pytest") + 1, "-x")
            files = [c for c in command if os.path.isfile(c) and c.startswith(self.source)]
            found.append(Test(entry["name"], command, dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", [])),
                              "|".join(properties.get("FAIL_REGULAR_EXPRESSION", [])), label == "unit", digest(*files)))
        return found


def passes(test, library, scratch, seconds, extra=None):
    """Whether the test passes with the library of that folder, each of its processes within so many seconds of
    processor time; and how many all of them took."""
    os.makedirs(scratch, exist_ok=True)
    environment = {**os.environ, **test.environment, "LD_LIBRARY_PATH": library, "TMPDIR": scratch,
                   "MALLOC_PERTURB_": "165", "OPENBLAS_NUM_THREADS": "1", "CMOCKA_TEST_ABORT": "1", **(extra or {})}
    with open(f"{scratch}/said", "w+b") as said:
        process = subprocess.Popen(["sh", "-c", 'ulimit -t "$0"; exec "$@"', str(math.ceil(seconds)), *test.command],
                                   cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        clock = threading.Timer(WAITS * seconds, os.killpg, (process.pid, signal.SIGKILL))
        clock.start()
        _, status, usage = os.wait4(process.pid, 0)
        clock.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        wrong = test.fails_if and re.search(test.fails_if.encode(), said.read())
    return process.returncode == 0 and not wrong, usage.ru_utime + usage.ru_stime


class Lines:
    """Which test runs which lines. Kept for each test: its digest, its time, and for each file the digest and lines."""

    def __init__(self, build, tests, patience):
        self.build, self.tests, self.patience = build, tests, patience
        self.folder = f"{build.folder}/coverage"
        self.kept = Kept(f"{build.folder}/lines.json")

    def compile(self):
        """The library that counts. Objects of files that have not changed stay."""
        os.makedirs(self.folder, exist_ok=True)
        stamps, objects = Kept(f"{self.folder}/stamps.json"), {}

        def one(path):
            target = f"{self.folder}/{path.replace('/', '+')}.o"
            objects[self.build.object_of(path)] = target
            stamp = digest(f"{self.build.folder}/{self.build.object_of(path)}")
            if stamps.data.get(path) != stamp or not os.path.exists(target):
                words = [w for w in self.build.compiles[path]] + ["--coverage", "-fprofile-update=atomic", "-w"]
                words[words.index("-o") + 1] = target
                must(words, cwd=self.build.folder)
                stamps.put(path, stamp)
        with concurrent.futures.ThreadPoolExecutor(self.build.jobs) as pool:
            list(pool.map(one, self.build.compiles))
        stamps.save()
        self.build.link(objects, f"{self.folder}/lib", "--coverage")

    def stale(self, test, paths):
        """True if what is known of the test says too little of these files."""
        known = self.kept.data.get(test.name)
        if not known or known["digest"] != test.digest:
            return True
        files = known["files"]
        if known["seconds"] > self.patience:
            return False  # it is not asked
        return any(p in files and files[p]["digest"] != digest(f"{self.build.source}/{p}") for p in paths)

    def count(self, test):
        """Runs the test once and keeps its time and, for each file that it runs, the lines."""
        data = f"{self.folder}/data/{test.name}"
        shutil.rmtree(data, ignore_errors=True)
        passed, took = passes(test, f"{self.folder}/lib", f"{data}/scratch", 3600.0, {"GCOV_PREFIX": data})
        files = {}
        counts = glob.glob(f"{data}{self.folder}/*.gcda")
        for path in counts:
            notes = os.path.basename(path).removesuffix("gcda") + "gcno"
            os.symlink(f"{self.folder}/{notes}", f"{os.path.dirname(path)}/{notes}")
        if counts:
            must(["gcov", "--json-format", *counts], cwd=f"{data}/scratch")
        for path in glob.glob(f"{data}/scratch/*.gcov.json.gz"):
            with gzip.open(path, "rt", encoding="utf-8") as file:
                for entry in json.load(file)["files"]:
                    name = os.path.relpath(entry["file"], self.build.source)
                    lines = {x["line_number"]: x["count"] for x in entry["lines"]}
                    if name in self.build.compiles and any(lines.values()):
                        files[name] = {"digest": digest(entry["file"]), "ran": sorted(n for n in lines if lines[n]),
                                       "others": sorted(n for n in lines if not lines[n])}
        shutil.rmtree(data, ignore_errors=True)
        self.kept.put(test.name, {"digest": test.digest, "seconds": took, "passed": passed, "files": files})

    def learn(self, paths):
        """Makes what is known of these files complete."""
        todo = [t for t in self.tests if self.stale(t, paths)]
        if todo:
            self.compile()
            progress = Progress(len(todo), "which test runs which lines")
            with concurrent.futures.ThreadPoolExecutor(self.build.jobs) as pool:
                for done in concurrent.futures.as_completed([pool.submit(self.count, t) for t in todo]):
                    done.result()
                    progress.step()
                    if progress.done % 10 == 0:
                        self.kept.save()
            self.kept.save()
            progress.end()
        for test in self.tests:
            if not self.kept.data[test.name]["passed"]:
                print(f"mutants: {test.name} fails without a mutant and is left out", file=sys.stderr)

    def seconds(self, test):
        return self.kept.data[test.name]["seconds"]

    def tests_of(self, mutant):
        """The tests that run the mutant's line, in the order in which they are asked, as far as patience goes: those of
        its folder (tests/<folder>), then others, the fastest first."""
        found, took, own = [], 0.0, mutant.path.split("/")[1] + "."
        for test in self.tests:
            known = self.kept.data[test.name]
            lines = known["files"].get(mutant.path)
            if lines and known["passed"]:
                # Of an expression over several lines the first is counted.
                before = [n for n in lines["ran"] + lines["others"] if n <= mutant.line]
                if mutant.outside or (before and max(before) in lines["ran"]):
                    found.append(test)
        found.sort(key=lambda t: (not t.name.startswith(own), not t.quick, self.seconds(t), t.name))
        asked = []
        for test in found:
            if took + self.seconds(test) <= self.patience:
                took += self.seconds(test)
                asked.append(test)
        return asked


class Progress:
    def __init__(self, total, what):
        self.total, self.what, self.done, self.begin = total, what, 0, time.monotonic()
        self.shown = 0.0

    def step(self, more=""):
        self.done += 1
        took = time.monotonic() - self.begin
        if took - self.shown < (0.2 if sys.stderr.isatty() else 60.0):
            return
        self.shown = took
        left = took / self.done * max(0, self.total - self.done)
        bar = "#" * min(20, 20 * self.done // self.total)
        print(f"\r{self.what} [{bar:20}] {self.done}/{self.total}{more}, {left:.0f} s left ", file=sys.stderr,
              end="" if sys.stderr.isatty() else "\n", flush=True)

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", file=sys.stderr, end="")


class Trial:
    """Shows mutants to the tests."""

    def __init__(self, build, lines):
        self.build, self.lines = build, lines
        self.kept = Kept(f"{build.folder}/results.json")
        self.free = list(range(build.jobs))

    def judge(self, mutant, text):
        """A dict: verdict (died, survived, invalid, same), by which test, and which tests saw it, with their digests."""
        file_digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        known = self.kept.data.get(mutant.name())
        if not known or known["file"] != file_digest:
            known = {"file": file_digest, "verdict": "new", "saw": {}}
        tests = [t for t in self.lines.tests_of(mutant) if known["saw"].get(t.name) != t.digest]
        if known["verdict"] not in ("new", "survived") or (known["verdict"] == "survived" and not tests):
            return known
        slot = self.free.pop()
        try:
            result = self.show(mutant, text, tests, known, f"{self.build.folder}/trial/{os.getpid()}.{slot}")
        finally:
            self.free.append(slot)
        self.kept.put(mutant.name(), result)
        return result

    def show(self, mutant, text, tests, known, folder):
        os.makedirs(folder, exist_ok=True)
        same = self.build.unchanged(mutant.path, text, f"{folder}/same.o")
        code = self.build.compile(mutant.path, mutant_sites.planted(text, mutant), f"{folder}/mutant.o")
        if code is None or code == same:
            return {**known, "verdict": "invalid" if code is None else "same"}
        self.build.link({self.build.object_of(mutant.path): f"{folder}/mutant.o"}, f"{folder}/lib")
        saw = dict(known["saw"])
        for test in tests:
            scratch = f"{folder}/scratch"
            allowed = max(AT_LEAST, TIMES_LONGER * self.lines.seconds(test))
            passed, _ = passes(test, f"{folder}/lib", scratch, allowed)
            shutil.rmtree(scratch, ignore_errors=True)
            if not passed:
                return {**known, "verdict": "died", "by": test.name, "saw": saw}
            saw[test.name] = test.digest
        return {**known, "verdict": "survived", "saw": saw}

    def all(self, mutants, texts, wanted):
        """Judges mutants in their order until `wanted` of them are counted; {mutant: result} of the counted."""
        results, counted, progress = {}, 0, Progress(wanted, "mutants")
        with concurrent.futures.ThreadPoolExecutor(self.build.jobs) as pool:
            waiting, queue = collections.deque(), iter(mutants)
            while counted < wanted:
                while len(waiting) < self.build.jobs and (m := next(queue, None)):
                    waiting.append((m, pool.submit(self.judge, m, texts[m.path])))
                if not waiting:
                    break
                mutant, future = waiting.popleft()
                result = future.result()
                if result["verdict"] in ("died", "survived"):
                    counted += 1
                    results[mutant] = result
                    progress.step(f", {sum(r['verdict'] == 'survived' for r in results.values())} survived")
                    if counted % 10 == 0:
                        self.kept.save()
        self.kept.save()
        progress.end()
        for slot in self.free:
            shutil.rmtree(f"{self.build.folder}/trial/{os.getpid()}.{slot}", ignore_errors=True)
        return results


def changed_files(source):
    def git(*words):
        done = run(["git", "-C", source, *words])
        return done.stdout.split() if done.returncode == 0 else []
    base = (git("merge-base", "HEAD", "@{upstream}") or git("rev-parse", "HEAD~1"))[:1]
    if base == git("rev-parse", "HEAD"):
        base = git("rev-parse", "HEAD~1")
    return git("diff", "--name-only", "--diff-filter=d", *base, "--", "src/*.c")


def chosen_files(source, patterns):
    if not patterns:
        return changed_files(source)
    found = set()
    for pattern in patterns:
        matches = glob.glob(os.path.join(source, pattern), recursive=True)
        for match in matches:
            found.update(glob.glob(f"{match}/**/*.c", recursive=True) if os.path.isdir(match) else [match])
        if not matches:
            sys.exit(f"mutants: no file matches {pattern}")
    return sorted(os.path.relpath(f, source) for f in found if f.endswith(".c"))


def explained(path):
    """{(file, text of the line, change): reason}: blocks of those four lines, with empty lines between them."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        text = "\n".join(x for x in file.read().split("\n") if not x.startswith("#"))
    blocks = [[x.strip() for x in block.strip().split("\n")] for block in re.split(r"\n\s*\n", text) if block.strip()]
    for block in blocks:
        if len(block) < 4:
            sys.exit(f"mutants: {path}: a block has a file, a line's text, a change and a reason: {block}")
    return {tuple(b[:3]): " ".join(b[3:]) for b in blocks}


def report(results, reasons):
    """Prints the table and the survivors; returns the share that died, in per cent."""
    rows = collections.defaultdict(collections.Counter)
    survivors = []
    for mutant, result in results.items():
        verdict = result["verdict"]
        if verdict == "survived" and (mutant.path, mutant.text, mutant.change) in reasons:
            verdict = "explained"
        elif verdict == "survived":
            survivors.append((mutant, result))
        rows[os.path.dirname(mutant.path)][verdict] += 1
        rows["all"][verdict] += 1
    share = {p: 100.0 * r["died"] / max(1, r["died"] + r["survived"]) for p, r in rows.items()}
    print(f"{'folder':24} {'planted':>8} {'died':>6} {'explained':>10} {'survived':>9} {'died of the rest':>17}")
    for path in sorted(rows, key=lambda p: (p == "all", p)):
        r = rows[path]
        print(f"{path:24} {sum(r.values()):8} {r['died']:6} {r['explained']:10} {r['survived']:9} {share[path]:15.1f} %")
    for mutant, result in sorted(survivors, key=lambda s: (s[0].path, s[0].line)):
        unseen = "" if result["saw"] else " (no test runs this line)"
        print(f"{mutant.path}:{mutant.line}: {mutant.change}{unseen}\n    {mutant.text}")
    return share.get("all", 100.0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="*", default=[], metavar="GLOB", help="files or folders, e.g. src/contact")
    parser.add_argument("--sample", type=int, metavar="N", help="plant until N mutants are counted")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--labels", default="unit,sweep,cli", help="of the tests that are asked (unit,sweep,cli)")
    parser.add_argument("--tests", default="", metavar="REGEX", help="in the names of the tests that are asked")
    parser.add_argument("--patience", type=float, default=300.0, metavar="S", help="of processor time, of the tests that a mutant is shown to")
    parser.add_argument("--list", action="store_true", help="print the mutants and plant none")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--source", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return parser.parse_args()


def main():
    args = arguments()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source = os.path.realpath(args.source)
    paths = chosen_files(source, args.files)
    if not paths:
        print("mutants: no C file of src has changed; choose some with --files (MUTANTS_FILES)")
        return 0
    texts = {}
    for path in paths:
        with open(os.path.join(source, path), encoding="utf-8") as file:
            texts[path] = file.read()
    tables = [pathlib.Path(p).read_text(encoding="utf-8") for p in glob.glob(f"{source}/src/*/tolerances.h")]
    tolerances = mutant_sites.tolerances_in(tables)
    mutants = [m for path in paths for m in mutant_sites.mutants_of(path, texts[path], tolerances)]
    if args.sample:  # an order that stays when other mutants come or go
        mutants.sort(key=lambda m: hashlib.sha256(f"{args.seed}|{m.name()}".encode()).digest())
    if args.list:
        for m in mutants[:args.sample]:
            print(f"{m.path}:{m.line}: {m.change}\n    {m.text}")
        return 0
    folder = os.path.join(source, "build/mutants")
    if args.fresh:
        for name in ("results.json", "lines.json"):
            if os.path.exists(f"{folder}/{name}"):
                os.remove(f"{folder}/{name}")
    build = Build(source, folder, args.jobs)
    mutants = [m for m in mutants if m.path in build.compiles]
    lines = Lines(build, build.tests(args.labels.split(","), args.tests), args.patience)
    lines.learn(paths)
    results = Trial(build, lines).all(mutants, texts, args.sample or len(mutants))
    return 0 if report(results, explained(os.path.join(source, "tests/mutants-explained.txt"))) >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
