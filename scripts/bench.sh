#!/bin/sh
# bench.sh PREFIX: every benchmark, beside the peers that are there; tables on the terminal, JSON and SVG in build/bench.
set -eu
cd "$(dirname -- "$0")/.."
. scripts/steps.sh
weft=$1/bin/weft
out=build/bench/report
all='pingpong burst shuffle anysource anytag unexpected overlap threads collectives startup'
names=${BENCH:-$all}
set -- $names
steps_begin "$out" $#
for name; do
    step_show "$name" "some minutes" "again, alone: make bench BENCH=$name" \
        "$weft" bench "$name" --peers mpich,openmpi,intel --json "$out/$name.json" --plot "$out/$name.svg"
done
echo "tables above, data and plots in $out"
[ "$failed" = 0 ]
