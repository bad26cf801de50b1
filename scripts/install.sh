#!/bin/sh
# install.sh PREFIX            copies what `cargo build --release` made, and what goes with it, to PREFIX
# install.sh --remove PREFIX   takes it away again
# DESTDIR is put before PREFIX. The tree holds no path of its own: it works after being moved.
set -eu
source=$(CDPATH='' cd -P -- "$(dirname -- "$0")/.." && pwd)
built=${CARGO_TARGET_DIR:-$source/target}/release
manifest=share/weft/manifest

fail() { echo "install: $*" >&2; exit 1; }

remove() {
    [ -f "$root/$manifest" ] || fail "$root holds no $manifest: nothing of WeftMPI is installed there"
    while IFS= read -r path; do
        rm -f -- "$root/$path"
    done <"$root/$manifest"
    for folder in share/weft/bench share/weft share/doc/weft share/doc share lib/softrdma lib/pkgconfig lib include/fortran include bin; do
        rmdir -- "$root/$folder" 2>/dev/null || true # what is not empty holds other people's files
    done
}

# put MODE FILE PATH: one file into the tree. Written beside its place and renamed: a running program keeps the old one.
put() {
    mkdir -p -- "$root/$(dirname -- "$3")"
    install -m "$1" -- "$2" "$root/$3.new" && mv -f -- "$root/$3.new" "$root/$3"
    echo "$3" >>"$list"
}

# fill TEMPLATE PATH MODE LANGUAGE: a text with its @WORDS@ filled in.
fill() {
    sed -e "s/@VERSION@/$version/" -e "s/@LANGUAGE@/$4/" "$source/scripts/wrappers/$1" >"$list.text"
    put "$3" "$list.text" "$2"
}

link() {
    ln -sfn -- "$1" "$root/$2"
    echo "$2" >>"$list"
}

if [ "${1:-}" = --remove ]; then action=remove; shift; else action=install; fi
[ $# = 1 ] && [ -n "$1" ] || fail "usage: install.sh [--remove] PREFIX"
case $1 in
/*) root=${DESTDIR:-}$1 ;;
*) root=${DESTDIR:-}$PWD/$1 ;;
esac
if [ $action = remove ]; then remove; exit; fi

for file in libmpi_abi.so libmpifort_abi.so libibverbs.so librdmacm.so libsoftrdma_preload.so mpiexec weft; do
    [ -f "$built/$file" ] || fail "$built/$file is missing; run: cargo build --release"
done
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/Cargo.toml" | head -n 1)
list=$(mktemp)
trap 'rm -f -- "$list" "$list.text"' EXIT

put 755 "$built/libmpi_abi.so" lib/libmpi_abi.so.1
link libmpi_abi.so.1 lib/libmpi_abi.so
put 755 "$built/libmpifort_abi.so" lib/libmpifort_abi.so.1
link libmpifort_abi.so.1 lib/libmpifort_abi.so
# In a folder of their own, so that no program finds them in place of the system's unless it is asked to (weft softrdma run).
put 755 "$built/libibverbs.so" lib/softrdma/libibverbs.so.1
put 755 "$built/librdmacm.so" lib/softrdma/librdmacm.so.1
put 755 "$built/libsoftrdma_preload.so" lib/softrdma/libsoftrdma_preload.so
put 755 "$built/mpiexec" bin/mpiexec
link mpiexec bin/mpirun
put 755 "$built/weft" bin/weft
fill mpicc.in bin/mpicc 755 CC
fill mpicc.in bin/mpicxx 755 CXX
fill mpicc.in bin/mpifort 755 FC
for name in mpic++ mpiCC; do
    link mpicxx "bin/$name"
done
for name in mpif77 mpif90; do
    link mpifort "bin/$name"
done
fill mpi_abi.pc.in lib/pkgconfig/mpi_abi.pc 644 ''
link mpi_abi.pc lib/pkgconfig/mpi.pc
fill mpifort_abi.pc.in lib/pkgconfig/mpifort_abi.pc 644 ''
put 644 "$source/include/mpi.h" include/mpi.h
put 644 "$source/include/mpif.h" include/mpif.h
for file in mpi.f90 mpi_f08.f90; do
    put 644 "$source/include/fortran/$file" "include/fortran/$file"
done
put 644 "$source/include/softrdma.h" include/softrdma.h
for file in "$source"/bench/*.[ch]; do
    put 644 "$file" "share/weft/bench/$(basename -- "$file")"
done
for file in README.md CHANGELOG.md LICENSE; do
    put 644 "$source/$file" "share/doc/weft/$file"
done
echo "$manifest" >>"$list"
mkdir -p -- "$root/share/weft"
install -m 644 -- "$list" "$root/$manifest"
