#!/bin/sh
# wide.sh [FOLDER]: measures what a machine with many cores shows, beside MPICH, Open MPI and Intel MPI, in eight minutes at most. It lies in an
# archive (make wide) with all that it runs: it needs no compiler, no network and no further package, and writes to FOLDER alone (default:
# results, beside this file).
#
# FOLDER/NAME.txt has the tables of a step, FOLDER/NAME.json every round of it. What there was no time left for is named at the end.
set -eu
here=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd)
mkdir -p -- "${1:-$here/results}"
out=$(CDPATH='' cd -P -- "${1:-$here/results}" && pwd)
cd "$here"
weft=$here/prefix/bin/weft
cores=$(nproc)
budget=480
begin=$(date +%s)
left_out='' failed=''

# step NAME SECONDS COMMAND...: runs it for so long at most, unless there is less left.
step() {
    name=$1 limit=$2
    shift 2
    spent=$(($(date +%s) - begin))
    if [ $((spent + limit)) -gt "$budget" ]; then
        left_out="$left_out $name"
        return
    fi
    printf '%3d s  %s ... ' "$spent" "$name"
    status=0
    timeout -k 5 "$limit" "$@" >"$out/$name.txt" 2>"$out/$name.err" || status=$?
    if [ "$status" = 0 ]; then
        rm -f -- "$out/$name.err"
        echo ok
    else
        echo "failed, status $status: $out/$name.err"
        failed="$failed $name"
    fi
}

# bench NAME SECONDS ARGUMENTS...: a step of `weft bench`.
bench() {
    name=$1 limit=$2
    shift 2
    step "$name" "$limit" "$weft" bench "$@" --programs programs "--json=$out/$name.json"
}

{
    echo "commit $(cat commit), $(date -u +%Y-%m-%dT%H:%M:%SZ), $cores cores"
    uname -srm
    lscpu 2>/dev/null || cat /proc/cpuinfo
} >"$out/machine.txt"
head -n 1 "$out/machine.txt"

# As many ranks as cores, for which there is time at all events; then fewer.
ranks=$cores n=4
while [ "$n" -lt "$cores" ]; do ranks="$ranks $n" n=$((n * 2)); done
[ "$cores" -le 2 ] || layouts=$(echo $ranks | sed 's/[0-9]*/1x&/g; s/ /,/g')
[ "$cores" = 2 ] || ranks="$ranks 2"

peers='--peers mpich,openmpi,intel --peers-dir peers'
sizes='--sizes 0,8,64,512,4K,32K,256K,1M'
step installation 10 "$weft" info
step host 20 "$weft" info --host
bench floor 20 floor --rounds 1 --sizes 8,512,4K,32K,256K,1M
for n in $ranks; do
    bench "patterns-$n-ranks" 110 patterns $peers --ranks "$n" --rounds 5 --within 35 --limit 5 $sizes
done
bench threads 70 threads $peers --rounds 3 --within 30 --seconds 0.2
[ -z "${layouts:-}" ] || step by-algorithm 90 "$weft" bench collectives --tune --layouts "$layouts" --rounds 1 --seconds 0.01 --programs programs
bench one-sided-threads 40 one-sided-threads $peers --rounds 1 --seconds 0.2
bench startup 40 startup $peers --rounds 1 --ranks "2,$cores"
bench tcp 30 wire --rounds 1

echo "in all $(($(date +%s) - begin)) s: $out"
[ -z "$left_out" ] || echo "left out, as there was no time left:$left_out"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
