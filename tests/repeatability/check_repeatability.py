"""The same bits from every compiler, every optimisation level and every repetition.

Builds the command with gcc and clang at -O0 and -O2 (the release build is one of the four), runs each scene twice with
each and compares the hash over all states. A scene whose input differs in the last place must give another hash, so that
a constant hash would not pass.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

BUILDS = [("gcc", "-O0"), ("clang", "-O0"), ("clang", "-O2")]  # beside the release build: gcc -O2


def build(source, folder, compiler, level, jobs):
    configure = [
        "cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_C_COMPILER={compiler}",
        "-DCMAKE_BUILD_TYPE=Hash", f"-DCMAKE_C_FLAGS_HASH={level}", "-DPERP_TESTS=OFF", "-DPERP_BENCH=OFF", "-DPERP_VIEWER=OFF",
    ]
    for command in (configure, ["cmake", "--build", folder, "--target", "perp_cli", "--", f"-j{jobs}"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    return f"{folder}/bin/perp"


def hash_of(perp, scene, *options):
    # A scene may name another model's friction cone, which the kinematic one refuses: unset it.
    command = [perp, "run", scene, "--model", "kinematic", "--set", "run.cone=~", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"$ {' '.join(command)}\n{done.stderr}failed with {done.returncode}")
    result = json.loads(done.stdout)
    return result["hash"], json.dumps(result["final"])


def scenes_of(source):
    """Every example and test scene that a kinematic run takes: those that `perp check` accepts."""
    found = sorted(glob.glob(f"{source}/examples/*/scene.yaml"))
    found += sorted(glob.glob(f"{source}/tests/fuzz/corpus/scene/everything-*.yaml"))
    return found + sorted(glob.glob(f"{source}/tests/repeatability/*.yaml"))


def main():
    parser = argparse.ArgumentParser()
    for option in ("--source", "--build", "--perp", "--jobs"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    commands = {"gcc -O2": options.perp}
    for compiler, level in BUILDS:
        folder = f"{options.build}/hash-{compiler}{level}"
        commands[f"{compiler} {level}"] = build(options.source, folder, compiler, level, options.jobs)

    scenes, errors = scenes_of(options.source), []
    for scene in scenes:
        name = os.path.relpath(scene, options.source)
        jobs = [(label, perp) for label, perp in commands.items() for _ in range(2)]
        with concurrent.futures.ThreadPoolExecutor(max_workers=int(options.jobs)) as pool:
            results = list(pool.map(lambda job: hash_of(job[1], scene), jobs))
        if len(set(results)) != 1:
            errors.append(f"{name}: hashes differ:")
            errors += [f"    {label:10} {result[0]}" for (label, _), result in zip(jobs, results)]
        # One nanosecond in a step of 10 ms is far above the last place, and must show.
        if hash_of(options.perp, scene, "--h", "0.010000001")[0] == hash_of(options.perp, scene, "--h", "0.01")[0]:
            errors.append(f"{name}: another step length gives the same hash")
    if len(scenes) < 3:
        errors.append(f"only {len(scenes)} scenes were found")
    for error in errors:
        print(error)
    print(f"{len(scenes)} scenes x {len(commands)} builds x 2 runs: {'hashes differ' if errors else 'same hashes'}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
