#!/bin/sh
# make demo: from a fresh checkout to running programs and a first measurement.
set -eu
cd "$(dirname -- "$0")/.."
. scripts/steps.sh

out=build/demo
prefix=$PWD/install
steps_begin "$out/logs" 5
again="mend what the log says, then run: make demo"

compile_examples() {
    mkdir -p "$out/bin"
    for source in examples/*.c; do
        "$prefix/bin/mpicc" -O2 -pthread "$source" -o "$out/bin/$(basename "$source" .c)" -lm || return
    done
    "$prefix/bin/mpicxx" -O2 examples/hello.cpp -o "$out/bin/hello_cpp"
}

run_examples() {
    for program in hello hello_cpp ring pi_threads stencil task_requests; do
        echo "\$ mpiexec -n 4 $program"
        "$prefix/bin/mpiexec" -n 4 "$out/bin/$program" || return
        echo
    done
}

report() {
    "$prefix/bin/weft" bench shuffle --rounds 2 --plot "$out/shuffle.svg"
}

step_must "setting up the machine" "a moment" "run scripts/setup.sh demo and read what it says" scripts/setup.sh demo
PATH=$(scripts/setup.sh --path demo)
export PATH
step_must "building the library, release" "about 2 min" "$again" cargo build --release --workspace --exclude xtask
step_must "installing into ./install" "a moment" "$again" scripts/install.sh "$prefix"
step_must "compiling the examples with install/bin/mpicc" "a moment" "$again" compile_examples
step_show "running the examples on 4 ranks" "a few seconds" "run one by hand: install/bin/mpiexec -n 4 $out/bin/hello" \
    run_examples
[ "$failed" = 0 ] || exit 1

echo "How long one message takes when many requests are outstanding (under a minute):"
report
echo
echo "The plot: $out/shuffle.svg"
echo "Your own program: install/bin/mpicc program.c -o program && install/bin/mpiexec -n 4 ./program"
echo "On a second machine, b, where this tree lies at the same path and \`ssh b true\` asks nothing:"
echo "    install/bin/mpiexec -hosts localhost:2,b:2 ./program"
echo "No second machine? tests/hosts/bed.py up 2 makes two virtual ones here (docs/hosts.md)."
