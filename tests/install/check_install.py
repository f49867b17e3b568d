"""Installs into a fresh prefix and uses the result from outside the tree, as a stranger would.

consumer.c is built (a) by pkg-config against the shared library, (b) by pkg-config --static against libperp.a, (c) by a
CMake project with perp::shared, perp::static and perp::perp; each program runs and checks its own number. The prefix is
moved once, to show that nothing in it remembers where it was. Every public header also compiles alone, as C and as C++.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CONSUMER = f"{HERE}/consumer.c"


def run(*command, **keywords):
    """Runs a command; its output is shown only if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    if done.returncode != 0:
        sys.exit(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}failed with {done.returncode}")
    return done.stdout


def needs(program):
    return run("ldd", program)


def pkg_config(prefix, *options):
    environment = dict(os.environ, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    return run("pkg-config", *options, "perp", env=environment).split()


def check_files(prefix):
    wanted = [
        "bin/perp", "lib/libperp.a", "lib/libperp.so", "include/perp/perp.h", "include/perp/base.h",
        "lib/pkgconfig/perp.pc", "lib/cmake/perp/perpConfig.cmake", "share/bash-completion/completions/perp",
        "share/doc/perp/LICENSE",
    ]
    missing = [name for name in wanted if not os.path.exists(f"{prefix}/{name}")]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}")
    version = pkg_config(prefix, "--modversion")[0]
    assert version in run(f"{prefix}/bin/perp", "--version"), "the command and perp.pc differ in version"
    if shutil.which("bash"):
        run("bash", "-n", f"{prefix}/share/bash-completion/completions/perp")


def check_pkg_config(prefix, folder, cc):
    shared, static = f"{folder}/by_pkg_config_shared", f"{folder}/by_pkg_config_static"
    strict = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(cc, *strict, CONSUMER, "-o", shared, *pkg_config(prefix, "--cflags", "--libs"), "-lm")
    run(shared, env=dict(os.environ, LD_LIBRARY_PATH=f"{prefix}/lib"))
    assert "libperp.so" in needs(shared)

    libraries = pkg_config(prefix, "--static", "--cflags", "--libs")
    archive = ["-l:libperp.a" if word == "-lperp" else word for word in libraries]
    run(cc, *strict, CONSUMER, "-o", static, *archive)
    run(static)
    assert "libperp.so" not in needs(static)
    return 2


def check_cmake(prefix, folder, cc):
    run("cmake", "-G", "Ninja", "-S", f"{HERE}/cmake_project", "-B", f"{folder}/cmake", f"-DCONSUMER={CONSUMER}",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}")
    run("cmake", "--build", f"{folder}/cmake")
    for kind in ("shared", "static", "perp"):
        program = f"{folder}/cmake/consumer_{kind}"
        run(program)
        assert ("libperp.so" in needs(program)) == (kind != "static"), f"perp::{kind} links the wrong library"
    return 3


def check_headers(prefix, folder, cc):
    """Each public header stands alone, in C and in C++."""
    cxx = next((name for name in ("g++", "clang++") if shutil.which(name)), None)
    if not cxx and os.environ.get("CI") == "true":
        sys.exit("no C++ compiler, and under CI=true nothing is skipped")
    headers = sorted(os.listdir(f"{prefix}/include/perp"))
    for header in headers:
        for compiler, suffix, standard in ((cc, "c", "c17"), (cxx, "cpp", "c++17")):
            if compiler:
                source = f"{folder}/alone.{suffix}"
                with open(source, "w", encoding="utf-8") as file:
                    file.write(f"#include <perp/{header}>\nint main(void) {{ return perp_version()[0] == 0; }}\n")
                run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                    f"-I{prefix}/include", source)
    return len(headers)


def main():
    parser = argparse.ArgumentParser()
    for option in ("--source", "--build", "--cc"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run("cmake", "--install", options.build, "--prefix", f"{folder}/first")
        prefix = f"{folder}/moved"
        os.rename(f"{folder}/first", prefix)
        check_files(prefix)
        programs = check_pkg_config(prefix, folder, options.cc) + check_cmake(prefix, folder, options.cc)
        headers = check_headers(prefix, folder, options.cc)
    print(f"{programs} programs built and run outside the tree, {headers} headers compile alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
