#!/bin/sh
# run_examples.sh PREFIX BUILD [RUNNER...]: compiles every example with PREFIX's wrappers and runs it on 4 ranks, each rank
# behind RUNNER when one is given (valgrind). Ends with "N passed, N failed".
set -eu
[ $# -ge 2 ] || { echo "usage: run_examples.sh PREFIX BUILD [RUNNER...]" >&2; exit 2; }
cd "$(dirname -- "$0")/.."
prefix=$1 build=$2 passed=0 failed=0
shift 2
mkdir -p "$build"

one() { # NAME COMMAND...: compiles by the command, then runs
    name=$1
    shift
    "$@" -o "$build/$name" -lm && run "$name" && return
    echo "failed: $name"
    return 1
}
run() { timeout 300 "$prefix/bin/mpiexec" -n 4 $runner "$build/$1"; }

runner=$*
for source in examples/*.c examples/*.cpp; do
    case $source in
    *.cpp) set -- "$(basename "$source" .cpp)_cpp" "$prefix/bin/mpicxx" ;;
    *) set -- "$(basename "$source" .c)" "$prefix/bin/mpicc" ;;
    esac
    if one "$@" -O2 -g -Wall -Wextra -Werror -pthread "$source"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
for source in examples/*.f examples/*.f90; do
    set -- "$(basename "$source" | tr . _)" "$prefix/bin/mpifort" -J "$build"
    if one "$@" -O2 -g -Wall "$source"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
