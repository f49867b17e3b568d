"""Kills logged runs (SIGKILL) at random times and resumes them.

After every kill: the log opens, every step that was old enough is in it, what is missing is said, and the resumed run
ends with the hash of an undisturbed one, its log equal to the undisturbed log step by step. Some runs are killed more
than once, resumed runs included.

    python3 tests/log/kill_and_resume.py --perp build/bin/perp --count 1000 [--seed 1] [--folder DIR]

How old a step is comes from the run itself: the scene is slow enough (see --steps) that steps are written over some
seconds, and the time between the start of a run and its kill is compared with the time that an undisturbed run takes to
each step. A quarter of a second is allowed for starting up beside the half second that is promised.
"""
import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENE = ROOT / "examples" / "cube-stack" / "scene.yaml"
PROMISED = 0.5  # s


def run(perp, *arguments):
    done = subprocess.run([perp, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, done.args))}: {done.returncode}\n{done.stderr}")
    return done


def steps_of(perp, log):
    """Steps that can be read, and whether the log says that it is incomplete; None where its head was not written."""
    done = subprocess.run([perp, "export", log, "--json"], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 3:
        return None
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    steps = [step["state"]["step"] for step in said["steps"]]
    assert steps == list(range(len(steps))), "a step is missing in the middle"
    assert said["complete"] == ("is incomplete" not in done.stderr)
    return len(steps)


def killed_after(perp, arguments, seconds):
    """True if the run was killed, false if it had ended by itself."""
    process = subprocess.Popen([perp, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    process.communicate()
    if process.returncode not in (0, -signal.SIGKILL):
        sys.exit(f"{arguments}: {process.returncode}")
    return process.returncode != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perp", default=str(ROOT / "build" / "bin" / "perp"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--folder")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder or tempfile.mkdtemp())
    rng = random.Random(options.seed)
    command = ["run", SCENE, "--model", "qs-qp", "--steps", options.steps, "--quiet"]

    whole = folder / "whole.mcap"
    started = time.monotonic()
    expected = json.loads(run(options.perp, *command, "--log", whole, "--json").stdout)["hash"]
    duration = time.monotonic() - started
    kills = resumed = early = late = 0
    while kills < options.count:
        log = folder / "run.mcap"
        log.unlink(missing_ok=True)
        arguments = [*command, "--log", log]
        known = 0
        for _ in range(rng.choice((1, 1, 2, 3))):
            seconds = rng.uniform(0.0, 1.1 * duration)
            if not killed_after(options.perp, arguments, seconds):
                late += 1
                break
            kills += 1
            there = steps_of(options.perp, log) if log.exists() else None
            if there is None or there == 0:
                # nothing to go on from: only where the run had no time for the first chunk
                assert seconds < PROMISED + 0.25 + 0.1 * duration, f"nothing after {seconds:.2f} s"
                early += 1
                break
            assert there >= known, "a resumed run has lost steps"
            known = there
            arguments = ["run", "--resume", log, "--quiet"]
        else:
            done = json.loads(run(options.perp, "run", "--resume", log, "--json").stdout)
            assert done["hash"] == expected, "the resumed run is another"
            run(options.perp, "diff", whole, log)
            resumed += 1
    print(f"{kills} kills of runs of {duration:.1f} s: {resumed} runs resumed to the same hash, {early} had nothing "
          f"to resume, {late} had ended before they were killed")


if __name__ == "__main__":
    main()
