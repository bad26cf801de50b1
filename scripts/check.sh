#!/bin/sh
# make check: every test, lint and gate. Runs on after a failure, so that one run shows all that is wrong, and ends
# with one line, "N passed, N failed".
set -eu
cd "$(dirname -- "$0")/.."
. scripts/steps.sh

out=$PWD/build/check
prefix=$out/prefix
peers=$PWD/build/peers
mpicc=$prefix/bin/mpicc
mpiexec=$prefix/bin/mpiexec
begin_all=$(date +%s)
# Everything is built once here: what cargo writes down to build it again in part, and lines in backtraces, are a third of the time.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false
steps_begin "$out/logs" 24

formatting() { cargo fmt --all --check && cargo fmt --manifest-path fuzz/Cargo.toml --check; }
# Compilers run in the idle class beside tests: they take what processor time the tests leave, which wait a lot.
idle() { chrt --idle 0 "$@"; }
# What all later steps wait for is not in the idle class.
build() { cargo build --release --workspace --exclude xtask; }
lint() { idle cargo clippy --workspace --all-targets -- -D warnings; }
# Two preemptions find most of what three do, in a quarter of the time; `make loom` allows three.
loom() { LOOM_MAX_PREEMPTIONS=2 RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom idle cargo test --profile loom -p weft-sync --lib; }
# Coverage-guided fuzzing takes minutes to build: `make fuzz`.
check_fuzz() { idle scripts/fuzz.sh --check; }
# rustdoc takes a second for each crate, also where there is nothing to run, so here only those with examples; `make test` looks at all.
# Tests start programs that are examples; as targets of `cargo test` these would be test harnesses, under other names.
# Libraries of other ABIs have no tests here, and take long to link: tests/compat runs them.
unit() {
    tested="--workspace --exclude weft-mpich --exclude weft-mpich-fortran --exclude weft-openmpi --exclude weft-openmpi-fortran --exclude weft-foreign"
    cargo build $tested --examples && scripts/run_tests.py $tested --lib --bins --tests &&
        cargo test --doc -p weft-endpoint -p weft-pools
}
# The archive, which needs nothing but the tree; that the same tree gives the same bytes `make dist` shows, which packs it twice.
# The other packages have targets of their own.
packages() {
    python3 tests/packages/run.py --target check --prefix "$prefix" --build "$out/packages" --filter '^tar: (unpacked|the symbols|its name)'
}
moved() { scripts/check_install.sh "$prefix" "$out/moved here"; }
conformance() { python3 tests/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --mpifort "$prefix/bin/mpifort" \
    --ranks 1,2,4,5 --build "$out/conformance"; }
robustness() {
    python3 tests/robustness/run.py --prefix "$prefix" --peers "$peers" --build "$out/robustness"
}
softrdma() { python3 tests/softrdma/run.py --prefix "$prefix" --build "$out/softrdma" --quick; }

# Messages, collectives and windows over RDMA queue pairs, on the device in software; all of it: make rdma.
rdma() { "$prefix/bin/weft" softrdma run -- python3 tests/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --ranks 2 \
    --mpiexec-args "--transport rdma" --filter 'point_to_point/(send_modes|bulk|probe|matched|wildcards|truncation|synchronous|persistent|cancel)|collectives/(every_form|derived|reductions)|one_sided/' --build "$out/conformance"; }

compat() { python3 tests/compat/run.py --prefix "$prefix" --peers "$peers" --build "$out/compat"; }
costs() { python3 tests/costs/run.py --prefix "$prefix" --build "$out/costs"; }
hosts() { python3 tests/hosts/run.py --target check --prefix "$prefix" --peers "$peers" --build "$out/hosts" --quick; }

fix="mend what the log names"
step_must "setting up the machine" "a moment" "run scripts/setup.sh check and read what it says" scripts/setup.sh check
PATH=$(scripts/setup.sh --path check)
# Modules for the compilers at hand stay within the folder of the build.
XDG_CACHE_HOME=$out/cache
export PATH XDG_CACHE_HOME
early peers scripts/peers.sh "$peers"
early library build
step "formatting" "a moment" "cargo fmt --all; cargo fmt --manifest-path fuzz/Cargo.toml" formatting
step "crate edges" "a moment" "change the Cargo.toml, or ARCHITECTURE.md where the layers are what should change" \
    cargo xtask edges
step "header is what its table generates" "a moment" "cargo xtask header, and commit what it writes" \
    cargo xtask header --check
step "coverage of the standard" "a moment" "$fix; again: cargo xtask coverage" cargo xtask coverage
step "unit and integration tests" "about 8 min" "$fix; again: make test" unit
step_must "building the library, release" "begun at the start" "$fix" early_end library
# They have folders of their own to build in.
early models loom
early fuzzers check_fuzz
step "exported symbols" "a moment" "$fix; again: make symbols" cargo xtask symbols
step_must "installing into build/check" "a moment" "$fix" scripts/install.sh "$prefix"
step "wrappers, pkg-config, moved tree" "a moment" "$fix" moved
step "the tree as an archive" "a moment" "$fix; other packages: make wheel deb recipes" packages
# Nothing from here on asks cargo for what this has locked.
early lints lint
step "peers for interoperation" "begun at the start" "is the network there? scripts/peers.sh build/peers" early_end peers
step "header against the standard's data" "a moment" "$fix; again: make header-check" \
    scripts/header_check.sh build/venv "$peers/mpich/include/mpi_abi.h"
step "examples" "a moment" "$fix" scripts/run_examples.sh "$prefix" "$out/examples"
step "conformance and errors, 1 2 4 5 ranks" "about 4 min" "$fix; again: make conformance" conformance
# Each of these waits more than it computes.
early hosts hosts
early costs costs
step "programs that are built with other libraries" "a few seconds" "$fix; all of it: make compat" compat
step "robustness" "about 2 min" "$fix; again: make robustness" robustness
step "verbs programs on the RDMA device" "about 2 min" "$fix; all of it: make softrdma-interop" softrdma
step "conformance over RDMA, 2 ranks" "half a minute" "$fix; all of it: make rdma" rdma
step "virtual hosts" "begun beside robustness" "$fix; all of it: make hosts" early_end hosts
step "counted costs" "begun beside robustness" "$fix; a cost that grew on purpose: tests/costs/run.py --record" early_end costs
step "lints" "begun beside the examples" "$fix; again: make lint" early_end lints
step "loom models" "begun after the library" "$fix; again: make loom" early_end models
step "fuzz targets compile" "begun after the library" "$fix; fuzzing: make fuzz DURATION=60" early_end fuzzers

echo
printf '%s' "$steps_table"
if [ "$failed" != 0 ]; then printf 'what failed:\n%s' "$steps_failures"; fi
seconds=$(($(date +%s) - begin_all))
echo "  in all $((seconds / 60)) min $((seconds % 60)) s; logs in build/check/logs"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
