#!/bin/sh
# Builds the benchmarks in build/bench (optimised, with the flags of a release) and runs them all. Each prints a table
# and leaves its numbers in build/bench/<name>.json. Arguments go to every benchmark (--samples N, 100 or more).
# A build folder of its own, so that measuring never changes what `make build` left.
set -eu
cd "$(dirname "$0")/.."
build=build/bench

if ! log=$(cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=gcc \
    -DCMAKE_C_FLAGS_RELEASE='-O2 -g1' -DPERP_BENCH=ON -DPERP_PEERS=ON -DPERP_TESTS=OFF -DPERP_VIEWER=OFF 2>&1 &&
    cmake --build "$build" --target benchmarks 2>&1); then
    printf '%s\n' "$log" >&2
    exit 1
fi
for source in bench/bench_*.c; do
    name=$(basename "$source" .c)
    "$build/bin/$name" --json "$build/$name.json" "$@"
done
