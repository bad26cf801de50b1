#!/bin/sh
# report.sh PREFIX [FILE.json...]: one page of HTML, build/report.html, of what `weft bench --json` printed into these files.
# Without files a short set is measured first, beside the peers that are there: BENCH='patterns threads' chooses some.
set -eu
cd "$(dirname -- "$0")/.."
. scripts/steps.sh
PATH=$(scripts/setup.sh --path bench)
export PATH
weft=$1/bin/weft
out=build/report
shift
short='patterns pingpong exchange shuffle unexpected overlap threads one-sided one-sided-threads collectives startup'

# A JSON file for each; where a library failed the file has what it gave, and says so.
measure() {
    "$weft" bench "$1" --peers mpich,openmpi,intel --rounds "${ROUNDS:-3}" --seconds 0.05 --limit 2 --json >"$out/$1.json"
}

if [ $# = 0 ]; then
    set -- ${BENCH:-$short}
    steps_begin "$out/logs" $#
    files=
    for name; do
        step "$name" "a minute or two" "again, alone: make report BENCH=$name" measure "$name"
        if [ -s "$out/$name.json" ]; then files="$files $out/$name.json"; fi
    done
    # What tests/programs/beside.py and tests/imb/run.py found, if they were run.
    for more in hpcc imb; do
        if [ -s "$out/$more.json" ]; then files="$files $out/$more.json"; fi
    done
    set -- $files
fi
"$weft" report --output build/report.html "$@"
[ "$failed" = 0 ]
