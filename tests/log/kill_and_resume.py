"""Kills logged runs (SIGKILL) at random times and resumes them.

After every kill: the log opens, every step that was old enough is in it, what is missing is said, and the resumed run
ends with the hash of an undisturbed one, its log equal to the undisturbed log step by step. Some runs are killed more
than once, resumed runs included.

    python3 tests/log/kill_and_resume.py --perp build/bin/perp --count 1000 [--seed 1] [--folder DIR]

How old a step is comes from the run itself: its progress bar, on a pseudo-terminal, says which step was taken when.
"""
import argparse
import json
import os
import pathlib
import pty
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMISED = 0.5  # s


def run(perp, *arguments):
    done = subprocess.run([perp, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, done.args))}: {done.returncode}\n{done.stderr}")
    return done


def steps_of(perp, whole, log):
    """Steps that can be read, each of them as in the undisturbed log; None where the head was not written."""
    done = subprocess.run([perp, "diff", whole, log], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 3:
        return None
    if done.returncode == 0:  # killed behind its last write
        return int(re.search(r"^equal: (\d+) steps", done.stdout).group(1))
    assert "is incomplete" in done.stderr, "nothing is said of what is missing"
    assert done.returncode == 1, done.stderr
    assert ": a step that only the first log has" in done.stdout, done.stdout
    return int(re.search(r"^(\d+) steps compared", done.stdout, re.MULTILINE).group(1))


def killed_after(perp, arguments, seconds):
    """Runs until the time is up, then kills. Returns the last step that was taken half a second before the kill (-1: none
    is known), or None if the run had ended by itself."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([perp, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    started = time.monotonic()
    shown, text = [], b""
    while process.poll() is None and time.monotonic() < started + seconds:
        ready, _, _ = select.select([ours], [], [], max(0.0, min(0.02, started + seconds - time.monotonic())))
        if not ready:
            continue
        try:
            text = text[-200:] + os.read(ours, 4096)
        except OSError:  # the run has closed its end
            break
        numbers = re.findall(rb"step (\d+) of", text)
        if numbers:
            shown.append((time.monotonic(), int(numbers[-1])))
    if process.poll() is None and time.monotonic() < started + seconds:
        time.sleep(max(0.0, started + seconds - time.monotonic()))
    now = time.monotonic()
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.close(ours)
    if process.returncode not in (0, -signal.SIGKILL):
        sys.exit(f"{arguments}: {process.returncode}")
    if process.returncode == 0:
        return None
    return max((step for when, step in shown if when <= now - PROMISED), default=-1)


def kill_runs(options, rng, example, steps, count, span):
    """Kills `count` runs of an example, at a time within these shares of their duration."""
    folder = pathlib.Path(options.folder or tempfile.mkdtemp())
    command = ["run", ROOT / "examples" / example / "scene.yaml", "--steps", steps, "--quiet"]
    whole = folder / "whole.mcap"
    started = time.monotonic()
    expected = json.loads(run(options.perp, *command, "--log", whole, "--json").stdout)["hash"]
    duration = time.monotonic() - started
    kills = resumed = early = late = aged = 0
    while kills < count:
        log = folder / "run.mcap"
        log.unlink(missing_ok=True)
        arguments = [*command, "--log", log]
        known = 0
        for _ in range(rng.choice((1, 1, 2, 3))):
            old = killed_after(options.perp, arguments, rng.uniform(*span) * duration)
            if old is None:
                late += 1
                break
            kills += 1
            there = steps_of(options.perp, whole, log) if log.exists() else None
            assert (there or 0) > old, f"step {old} was half a second old; the log has {there} steps"
            aged += old > 0
            if not there:
                early += 1
                break
            assert there >= known, "a resumed run has lost steps"
            known = there
            arguments = ["run", "--resume", log, "--quiet"]
        else:
            done = json.loads(run(options.perp, "run", "--resume", log, "--json").stdout)
            assert done["hash"] == expected, "the resumed run is another"
            assert "incomplete" not in run(options.perp, "diff", whole, log).stderr, "the resumed log has no end"
            resumed += 1
    print(f"{example}: {kills} kills of runs of {duration:.1f} s ({aged} with steps known to be half a second old, all of "
          f"them in the log): {resumed} runs resumed to the same hash, {early} had nothing to resume, {late} had ended "
          "before")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perp", default=str(ROOT / "build" / "bin" / "perp"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--folder")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    kill_runs(options, rng, "fence-particle", options.steps, options.count, (0.0, 1.2))
    # its steps take no time; explaining the first and the last, which the progress bar shows, takes seconds
    kill_runs(options, rng, "three-finger-grasp", 32, -(-options.count // 8), (0.4, 0.8))


if __name__ == "__main__":
    main()
