"""Proves that the folder listing is the pipeline: a backward include does not compile, a forward one does.

Probes are compiled with the very flags of a source file of a layer. Each header compiles by itself in its own layer; a
layer compiles all headers of the layers that it declares to see, and finds none of the others. Then the ways around are
refused by reading: "../" and absolute includes, and headers of outside libraries where they do not belong.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

# The pipeline as the design has it, written down a second time on purpose: moving a layer in src/CMakeLists.txt is not
# enough to let it see what stands to its right. A part that needs an outside library stands right after what it works
# on: geometry_hull makes the hulls of a scene's meshes, which the loader then checks. A stage in several folders is as
# many layers: the families of rungs, which see what they share and not each other, and the run.
PIPELINE = [
    "base", "linalg", "linalg_sparse", "yaml", "scene", "geometry_hull", "scene_yaml", "scene_import", "model",
    "geometry", "contact", "problem", "problem_yaml", "solver", "step/common", "step/kinematic", "step/rigid", "step/convex", "step/compliant",
    "step/instant", "step/run", "sim", "trace", "log", "analysis", "plan", "compare", "report",
]
# What a part of a stage sees of its parts on the left.
PARTS = {
    "step/kinematic": {"step/common"},
    "step/rigid": {"step/common"},
    "step/convex": {"step/common"},
    "step/compliant": {"step/common"},
    "step/instant": {"step/common", "step/rigid"},
    "step/run": {"step/common", "step/kinematic", "step/rigid", "step/convex", "step/compliant", "step/instant"},
}

C17 = {
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h", "limits.h",
    "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "tgmath.h", "threads.h", "time.h", "uchar.h",
    "wchar.h", "wctype.h", "pthread.h",
}
POSIX = {"unistd.h", "fcntl.h", "sys/stat.h", "sys/types.h", "sys/mman.h", "dirent.h"}
INTRINSICS = {"immintrin.h"}  # the compiler's own, on x86 only, beside a plain twin with the same bits
# Beyond C17 (and threads): which layer may include what. Of the core, base reads files and linalg has LAPACK.
OUTSIDE = {
    "base": POSIX,
    "solver": INTRINSICS,
    "linalg": {"lapacke.h", "cblas.h"},
    "linalg_sparse": {"klu.h"},
    "yaml": {"yaml.h"},
    "scene_yaml": POSIX,
    "scene_import": {"mujoco/mujoco.h"} | POSIX,
    "geometry_hull": {"libqhull_r/qhull_ra.h"},
    "trace": {"jansson.h"} | POSIX,
    "log": {"jansson.h", "zstd.h"} | POSIX,
    "plan": {"jansson.h"} | POSIX,
    "compare": {"jansson.h"},
    "report": {"jansson.h", "zstd.h"} | POSIX,
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def headers_of(source, layer):
    """How other layers write the headers of a layer: its public one, then its private ones."""
    found = []
    stage = layer.removesuffix("/common")
    if os.path.exists(f"{source}/include/perp/{stage}.h"):
        found.append(f"<perp/{stage}.h>")
    folder = f"{source}/src/{layer}"
    found += [f'"{layer}/{name}"' for name in sorted(os.listdir(folder)) if name.endswith(".h")]
    return found


def flags_of(source, build, layers):
    """The compiler and flags of one source file per layer, without its input and output."""
    flags = {}
    with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
        for entry in json.load(file):
            layer = os.path.relpath(os.path.dirname(entry["file"]), f"{source}/src")
            if layer in flags or layer not in layers or f"perp_{layer.replace('/', '_')}.dir" not in entry["command"]:
                continue
            words = shlex.split(entry["command"])
            words = words[: words.index("-o")] + words[words.index("-o") + 2 :]
            flags[layer] = [w for w in words if w not in ("-c", entry["file"])]
    return flags


def compile_probe(job):
    flags, lines, folder, number = job
    path = f"{folder}/probe{number}.c"
    with open(path, "w", encoding="utf-8") as file:
        # A private header may lean on what its own sources include first, so give it the base.
        file.write("\n".join(["#include <perp/base.h>", "#include <stdio.h>", *lines, "extern int probe;", ""]))
    run = subprocess.run([*flags, "-fsyntax-only", path], capture_output=True, text=True, check=False)
    return run.returncode, run.stderr


def seen_by(build, layer, layers):
    """The layers that stand in its folder of links; a link to a stage in several folders is all of them."""
    view = f"{build}/sees/{layer.replace('/', '_')}"
    seen = set()
    for name in os.listdir(view):
        if os.path.islink(f"{view}/{name}"):
            seen |= {other for other in layers if other == name or other.startswith(name + "/")}
        elif name != "perp":
            seen |= {f"{name}/{part}" for part in os.listdir(f"{view}/{name}")}
    return seen


def check_views(build, layers, core):
    """What a layer declares to see (its folder of links) stands to its left; the core sees only the core."""
    errors, sees = [], {}
    for layer in layers:
        if layer not in PIPELINE:
            errors.append(f"layer {layer} is not in the pipeline: say where it stands in {__file__}")
            continue
        sees[layer] = seen_by(build, layer, layers)
        for seen in sees[layer]:
            if PIPELINE.index(seen) > PIPELINE.index(layer):
                errors.append(f"{layer} sees {seen}, which stands to its right")
            if "/" in layer and seen.split("/")[0] == layer.split("/")[0] and seen not in PARTS.get(layer, set()) | {layer}:
                errors.append(f"{layer} sees {seen}, another part of its stage")
            if layer in core and seen not in core:
                errors.append(f"{layer} is of the core and sees {seen}, which is not")
    return errors, sees


def check_pairs(source, build, layers, sees):
    flags, probes, claims, allowed, refused = flags_of(source, build, layers), [], [], 0, 0
    headers = {layer: headers_of(source, layer) for layer in layers}
    for layer in layers:
        for header in headers[layer]:
            probes.append((layer, [f"#include {header}"]))
            claims.append(f"{header} does not compile by itself in its own layer {layer}")
        seen = [header for other in layers if other in sees[layer] for header in headers[other]]
        unseen = [header for other in layers if other not in sees[layer] for header in headers[other]]
        probes.append((layer, [f"#include {header}" for header in seen]))
        claims.append(f"{layer} may include what it sees, yet that does not compile")
        probes.append((layer, [f"#if __has_include({h})\n#error {h} is found\n#endif" for h in unseen]))
        claims.append(f"{layer} finds headers that it must not see")
        allowed, refused = allowed + len(seen), refused + len(unseen)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [(flags[layer], lines, folder, number) for number, (layer, lines) in enumerate(probes)]
        results = list(pool.map(compile_probe, jobs))
    errors = [f"{claim}:\n{stderr}" for claim, (code, stderr) in zip(claims, results) if code != 0]
    if not allowed or not refused:
        errors.append("nothing was tested")
    return errors, allowed, refused


def check_text(source):
    """Includes that get around the views, and outside libraries where they do not belong."""
    errors = []
    for top in ("src", "include", "cli"):
        for folder, _, names in os.walk(f"{source}/{top}"):
            for name in sorted(n for n in names if n.endswith((".c", ".h"))):
                path = f"{folder}/{name}"
                layer = os.path.relpath(folder, f"{source}/src") if top == "src" else None
                with open(path, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        match = INCLUDE.match(line)
                        if not match:
                            if re.match(r"^\s*#\s*include", line):
                                errors.append(f"{path}:{number}: an include that is not a plain name")
                            continue
                        errors += [f"{path}:{number}: {e}" for e in judge(layer, *match.groups())]
    return errors


def judge(layer, bracket, name):
    if name.startswith("/") or ".." in name.split("/"):
        return [f"#include of {name}: relative and absolute paths get around the layers"]
    if layer is None or bracket == '"' or name.startswith("perp/"):
        return []
    if name in C17 or name in OUTSIDE.get(layer, ()):
        return []
    return [f"<{name}> does not belong in the layer {layer}"]


def main():
    parser = argparse.ArgumentParser()
    for option in ("--source", "--build", "--layers", "--core"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    layers, core = options.layers.split(";"), options.core.split(";")
    errors, sees = check_views(options.build, layers, core)
    allowed = refused = 0
    if not errors:
        errors, allowed, refused = check_pairs(options.source, options.build, layers, sees)
    errors += check_text(options.source)
    for error in errors:
        print(error)
    print(f"{len(layers)} layers: {allowed} includes allowed, {refused} refused, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
