#!/bin/sh
# Installs what is missing, and only that, from Debian's own packages. The solvers that tests and benchmarks compare
# with are Python packages (tests/peers/requirements.txt), which go into build/python and nowhere else.
#
#   tools/deps.sh GROUP...          groups: build gallery test bench lint
#   tools/deps.sh --list GROUP...   prints the packages of the groups, installs nothing
#
# When everything is there it makes no call to apt or pip and no use of the network. Without root and without sudo it
# says which packages are missing and fails. On a system without apt it says which tools are missing and lets the build
# go on, except under CI=true, where a missing tool is a failure.
set -eu

# a|b: either will do; the first is what gets installed. cmd:c is a command that may come from elsewhere.
BUILD='gcc libc6-dev cmake ninja-build pkg-config|pkgconf libyaml-dev libjansson-dev liblapacke-dev libopenblas-dev
libsuitesparse-dev libqhull-dev libzstd-dev nodejs|cmd:node npm|cmd:npm'
TEST="g++ clang libclang-rt-dev|libclang-rt-14-dev binutils libcmocka-dev libmujoco-dev libode-dev libfcl-dev
libsiconos-numerics-dev python3 python3-pytest python3-venv python3-yaml chromium|cmd:chromium"
BENCH="libmujoco-dev libode-dev libsiconos-numerics-dev python3 python3-venv"
LINT="clang-format clang-tidy shellcheck"
CMAKE_OLDEST=3.25

# The same for systems without apt: commands, pkg-config modules, headers, Python modules.
BUILD_TOOLS="cmd:gcc cmd:cmake cmd:ninja cmd:pkg-config pc:yaml-0.1 pc:jansson pc:libzstd pc:lapacke pc:openblas pc:qhull_r
cmd:node cmd:npm header:suitesparse/klu.h|klu.h"
TEST_TOOLS="cmd:chromium cmd:g++ cmd:clang cmd:nm cmd:python3 py:pytest py:venv py:yaml pc:cmocka pc:ode pc:fcl
header:mujoco/mujoco.h header:siconos/numerics/lcp_cst.h"
BENCH_TOOLS="header:mujoco/mujoco.h pc:ode header:siconos/numerics/lcp_cst.h cmd:python3 py:venv"
LINT_TOOLS="cmd:clang-format cmd:clang-tidy cmd:shellcheck"

say() {
    printf 'deps: %s\n' "$*" >&2
}

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

any_installed() {
    for choice in $(printf '%s' "$1" | tr '|' ' '); do
        case $choice in
        cmd:*) command -v "${choice#cmd:}" >/dev/null && return 0 ;;
        *) installed "$choice" && return 0 ;;
        esac
    done
    return 1
}

cmake_too_old() {
    have=$(dpkg-query -W -f '${Version}' cmake 2>/dev/null) && dpkg --compare-versions "$have" lt "$CMAKE_OLDEST"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

with_apt() {
    missing=""
    for package in $1; do
        any_installed "$package" || missing="$missing ${package%%|*}"
    done
    if [ -n "$missing" ]; then
        if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
            say "missing packages:$missing"
            say "no root and no sudo here; as root run: apt-get install --no-install-recommends$missing"
            exit 1
        fi
        say "installing:$missing"
        as_root apt-get -q update
        # shellcheck disable=SC2086 # one word per package
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends \
            $missing
    fi
    if cmake_too_old; then
        say "cmake $have is too old: $CMAKE_OLDEST or later is needed (Debian 12 has it)"
        exit 1
    fi
}

present() {
    case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null ;;
    pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
    py:*) python3 -c "import ${1#py:}" 2>/dev/null ;;
    header:*)
        for header in $(printf '%s' "${1#header:}" | tr '|' ' '); do
            printf '#include <%s>\n' "$header" | ${CC:-cc} -E -x c - >/dev/null 2>&1 && return 0
        done
        return 1
        ;;
    esac
}

without_apt() {
    missing=""
    for tool in $1; do
        name=${tool#*:}
        present "$tool" || missing="$missing ${name%%|*}"
    done
    [ -z "$missing" ] && return 0
    say "no apt here, and these are missing:$missing"
    if [ "${CI:-}" = true ]; then
        exit 1
    fi
    say "going on without them; parts that need them are left out or fail to build"
}

# The environment is made anew whenever the list differs from the one that it was made from.
python_packages() {
    root=$(dirname "$0")/..
    wanted=$root/tests/peers/requirements.txt environment=$root/build/python
    cmp -s "$wanted" "$environment/requirements.txt" && return 0
    say "installing into build/python: $(sed -n 's/==.*//p' "$wanted" | tr '\n' ' ')"
    if python3 -m venv --clear "$environment" >&2 &&
        "$environment/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: \
            -r "$wanted" >&2; then
        cp "$wanted" "$environment/requirements.txt"
        return 0
    fi
    say "these Python packages could not be installed"
    if [ "${CI:-}" = true ]; then
        exit 1
    fi
    say "going on without them; comparisons that need them are left out"
}

# Drake has wheels for few platforms: without it one comparison is left out, in CI too.
drake() {
    wanted=$root/tests/peers/requirements-drake.txt environment=$root/build/python
    cmp -s "$wanted" "$environment/requirements-drake.txt" && return 0
    [ -x "$environment/bin/python" ] || return 0
    say "installing into build/python: drake"
    if "$environment/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: -r "$wanted" >&2; then
        cp "$wanted" "$environment/requirements-drake.txt"
    else
        say "Drake could not be installed; the comparison with it is left out"
    fi
}

list=false
if [ "${1:-}" = --list ]; then
    list=true
    shift
fi
[ $# -gt 0 ] || usage
packages="" tools="" python=false
for group in "$@"; do
    case $group in
    build) packages="$packages $BUILD" tools="$tools $BUILD_TOOLS" ;;
    gallery) packages="$packages python3" tools="$tools cmd:python3" ;;
    test) packages="$packages $TEST" tools="$tools $TEST_TOOLS" python=true ;;
    bench) packages="$packages $BENCH" tools="$tools $BENCH_TOOLS" python=true ;;
    lint) packages="$packages $LINT" tools="$tools $LINT_TOOLS" ;;
    *) usage ;;
    esac
done
packages=$(printf '%s\n' "$packages" | tr ' ' '\n' | awk 'NF && !seen[$0]++')

if $list; then
    printf '%s\n' "$packages" | sed 's/|.*//'
    exit 0
elif command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    with_apt "$packages"
else
    without_apt "$tools"
fi
if $python; then
    python_packages
    drake
fi
