#!/bin/sh
# bench.sh PREFIX: every benchmark, beside the peers that are there; tables on the terminal and,
# with the plots, in build/bench/report. BENCH='shuffle threads' chooses some.
set -eu
cd "$(dirname -- "$0")/.."
. scripts/steps.sh
PATH=$(scripts/setup.sh --path bench)
export PATH
weft=$1/bin/weft
out=build/bench/report
all='patterns pingpong exchange burst shuffle anysource anytag unexpected overlap threads one-sided one-sided-threads collectives collective-sizes startup'
names=${BENCH:-$all}
set -- $names
steps_begin "$out" $#

# The status is weft's, not tee's.
measure() {
    { "$weft" bench "$1" --peers mpich,openmpi,intel --plot "$out/$1.svg"; echo $? >"$out/status"; } | tee "$out/$1.txt"
    return "$(cat "$out/status")"
}

for name; do
    step_show "$name" "some minutes" "again, alone: make bench BENCH=$name" measure "$name"
done
rm -f "$out/status"
echo "the tables again, and the plots: $out"
[ "$failed" = 0 ]
