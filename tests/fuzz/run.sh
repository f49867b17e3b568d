#!/bin/sh
# tests/fuzz/run.sh NAME BINARIES FOLDER SECONDS: runs BINARIES/fuzz_NAME for that long from the kept corpus.
#
# FOLDER/NAME/corpus collects inputs that reached new code (a later run starts from them, the kept corpus in the source
# tree is never written to); FOLDER/NAME/findings receives whatever crashed, leaked, hung or took too much memory. To see
# a finding again: BINARIES/fuzz_NAME FOLDER/NAME/findings/FILE. Fixed seed: the first run of a fresh FOLDER is the same
# on every machine of one speed.
set -eu
name=$1 target=$2/fuzz_$1 folder=$3/$1 seconds=$4
here=$(dirname "$0")

mkdir -p "$folder/corpus" "$folder/findings"
export ASAN_OPTIONS="${ASAN_OPTIONS:-allocator_may_return_null=1:detect_leaks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
set -- "$folder/corpus" "$here/corpus/$name" -artifact_prefix="$folder/findings/" -max_total_time="$seconds" \
    -max_len=8192 -timeout=20 -rss_limit_mb=2048 -seed=1 -print_final_stats=1 -verbosity=1
[ ! -f "$here/$name.dict" ] || set -- "$@" -dict="$here/$name.dict"
status=0
"$target" "$@" >"$folder/log" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
    tail -n 60 "$folder/log"
    echo "fuzz: a finding; the input is in $folder/findings, the whole log is $folder/log"
    exit "$status"
fi
executions=$(awk '/stat::number_of_executed_units/ {print $2}' "$folder/log")
if [ "${executions:-0}" -lt $((seconds * 20)) ]; then
    tail -n 20 "$folder/log"
    echo "fuzz: only ${executions:-0} inputs in $seconds s: the fuzzer did not work"
    exit 1
fi
echo "fuzz: $name: $executions inputs in $seconds s, no finding"
