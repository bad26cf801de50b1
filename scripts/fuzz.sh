#!/bin/sh
# fuzz.sh --build: compiles the targets; fuzz.sh --check: finds what keeps them from compiling, in a fraction of the time.
# fuzz.sh SECONDS [TARGET...]: every target of fuzz/targets, or those that are named, for so long each, two at a time where there
# are two cores. It begins with the inputs of fuzz/seeds and those that earlier runs found (build/fuzz/corpus). What ends a target
# is kept in build/fuzz/found and shown; the input belongs into fuzz/seeds, and what it shows into a test beside the code.
# Ends with "N passed, N failed".
#
# The passes that count what is executed are LLVM's own, which the stable compiler has.
set -eu
cd "$(dirname -- "$0")/.."
[ $# -ge 1 ] || { echo "usage: fuzz.sh --build | --check | SECONDS [TARGET...]" >&2; exit 2; }
seconds=$1
shift
scripts/setup.sh fuzz
PATH=$(scripts/setup.sh --path fuzz)
export PATH
[ $# != 0 ] || set -- $(sed -n 's|^path = "targets/\(.*\)\.rs"$|\1|p' fuzz/Cargo.toml)
build=$PWD/build/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
flags="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
flags="$flags -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
if [ "$seconds" = --check ]; then
    # Nothing is linked, so libFuzzer is not compiled.
    CUSTOM_LIBFUZZER_PATH=$build/libfuzzer.a RUSTFLAGS="--cfg fuzzing -D warnings" CARGO_TARGET_DIR=$PWD/target/fuzz-check \
        cargo check --quiet --locked --manifest-path fuzz/Cargo.toml
    exit 0
fi
RUSTFLAGS=$flags CARGO_TARGET_DIR=$PWD/target/fuzz cargo build --quiet --release --locked --target "$host" --manifest-path fuzz/Cargo.toml
[ "$seconds" != --build ] || exit 0
mkdir -p "$build/found"

# run TARGET: an input may take 10 s before it counts as a hang.
run() {
    mkdir -p "$build/corpus/$1" "fuzz/seeds/$1"
    "target/fuzz/$host/release/$1" "$build/corpus/$1" "fuzz/seeds/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
        -max_len=4096 -print_final_stats=1 -artifact_prefix="$build/found/$1-" >"$build/$1.log" 2>&1 </dev/null
}

judge() { # TARGET STATUS
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$1.log")
    if [ "$2" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1: $runs inputs, $(grep -c . "$build/$1.log") lines in build/fuzz/$1.log, $(grep -o 'cov: [0-9]*' "$build/$1.log" | tail -n 1)"
    else
        failed=$((failed + 1))
        echo "FAILED  $1: build/fuzz/$1.log"
        grep -E -A 12 'panicked|ERROR: libFuzzer|SUMMARY|Test unit written' "$build/$1.log" | head -n 40
    fi
}

passed=0 failed=0 ids=''
trap 'kill $ids 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
while [ $# != 0 ]; do
    run "$1" &
    first=$! ids=$! one=$1 other=''
    shift
    if [ $# != 0 ] && [ "$(nproc)" -gt 1 ]; then
        run "$1" &
        second=$! ids="$ids $!" other=$1
        shift
    fi
    status=0
    wait "$first" || status=$?
    judge "$one" "$status"
    if [ -n "$other" ]; then
        status=0
        wait "$second" || status=$?
        judge "$other" "$status"
    fi
    ids=''
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
