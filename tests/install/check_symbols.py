"""Both libraries define perp_* and nothing else; the core leans on no outside library but LAPACK."""

import argparse
import re
import subprocess
import sys

OUTSIDE = re.compile(r"^(yaml_|json_|klu_|mj_|qh_|ZSTD_|nlopt_)")


def symbols(*command):
    """(kind, name) as nm prints them; versions (@GLIBC..) cut off."""
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines() if line and not line.endswith(":")]
    return [(row[-2], row[-1].split("@")[0]) for row in rows if len(row) >= 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared", required=True)
    parser.add_argument("--static", required=True)
    parser.add_argument("--core", required=True)
    options = parser.parse_args()
    errors = []

    exported = [name for _, name in symbols("nm", "-D", "--defined-only", options.shared)]
    errors += [f"{name} is exported and does not begin with perp_" for name in exported if not name.startswith("perp_")]
    for name in ("perp_version", "perp_scene_load_file", "perp_model_build", "perp_run", "perp_result_json"):
        if name not in exported:
            errors.append(f"{name} is not exported")

    # A program that links statically shares one name space with all of them, hidden or not.
    for kind, name in symbols("nm", "-g", "--defined-only", options.static):
        if not name.startswith("perp_"):
            errors.append(f"{name} ({kind}) of the static library does not begin with perp_")

    undefined = {name for kind, name in symbols("nm", options.core) if kind == "U"}
    errors += [f"the core needs {name}" for name in sorted(undefined) if OUTSIDE.match(name)]
    if not any(name.startswith("LAPACKE_") for name in undefined):
        errors.append("the core does not even need LAPACK: nm was misread")

    for error in errors:
        print(error)
    print(f"{len(exported)} symbols exported, {len(undefined)} names undefined in the core, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
