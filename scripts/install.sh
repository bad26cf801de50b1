#!/bin/sh
# install.sh PREFIX            copies what `cargo build --release --workspace` made, and what goes with it, to PREFIX
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
    for folder in share/weft/bench share/weft share/doc/weft share/doc share lib/softrdma/.debug lib/softrdma lib/compat/mpich/.debug lib/compat/mpich lib/compat/openmpi/.debug lib/compat/openmpi lib/compat lib/pkgconfig lib/.debug lib \
        include/fortran include bin/.debug bin; do
        rmdir -- "$root/$folder" 2>/dev/null || true # what is not empty holds other people's files
    done
}

# put MODE FILE PATH: one file into the tree. Written beside its place and renamed: a running program keeps the old one.
put() {
    mkdir -p -- "$root/$(dirname -- "$3")"
    install -m "$1" -- "$2" "$root/$3.new" && mv -f -- "$root/$3.new" "$root/$3"
    echo "$3" >>"$list"
}

# put_object FILE PATH: a library or program without the symbols that only debuggers read. Those lie beside it in the folder
# .debug, where gdb, valgrind, perf and Rust's own backtraces look for them. mpiexec keeps those of its process table, which
# parallel debuggers look for.
put_object() {
    name=${2##*/}
    objcopy --only-keep-debug --compress-debug-sections "$1" "$scratch/$name.debug"
    objcopy --wildcard --strip-unneeded --keep-symbol='MPIR_*' --add-gnu-debuglink="$scratch/$name.debug" "$1" "$scratch/$name"
    put 644 "$scratch/$name.debug" "${2%/*}/.debug/$name.debug"
    put 755 "$scratch/$name" "$2"
}

# fill TEMPLATE PATH MODE LANGUAGE: a text with its @WORDS@ filled in.
fill() {
    sed -e "s/@VERSION@/$version/" -e "s/@LANGUAGE@/$4/" "$source/scripts/wrappers/$1" >"$scratch/text"
    put "$3" "$scratch/text" "$2"
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

for file in libmpi_abi.so libmpifort_abi.so libweft_mpich.so libweft_mpich_fortran.so libweft_openmpi.so libweft_openmpi_fortran.so libibverbs.so librdmacm.so libsoftrdma_preload.so mpiexec weft; do
    [ -f "$built/$file" ] || fail "$built/$file is missing; run: cargo build --release --workspace"
done
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/Cargo.toml" | head -n 1)
command -v objcopy >/dev/null || fail "objcopy is missing, of binutils, which sets the symbols apart"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
list=$scratch/list

put_object "$built/libmpi_abi.so" lib/libmpi_abi.so.1
link libmpi_abi.so.1 lib/libmpi_abi.so
put_object "$built/libmpifort_abi.so" lib/libmpifort_abi.so.1
link libmpifort_abi.so.1 lib/libmpifort_abi.so
# In a folder of their own, so that no program finds them in place of the system's unless it is asked to (weft softrdma run).
put_object "$built/libibverbs.so" lib/softrdma/libibverbs.so.1
put_object "$built/librdmacm.so" lib/softrdma/librdmacm.so.1
put_object "$built/libsoftrdma_preload.so" lib/softrdma/libsoftrdma_preload.so
# For programs that are built with other libraries, by those libraries' names.
put_object "$built/libweft_mpich.so" lib/compat/mpich/libmpi.so.12
put_object "$built/libweft_mpich_fortran.so" lib/compat/mpich/libmpifort.so.12
# Debian's names, and the one of C++ that wrappers link too.
for name in libmpich.so.12 libmpicxx.so.12; do
    link libmpi.so.12 "lib/compat/mpich/$name"
done
link libmpifort.so.12 lib/compat/mpich/libmpichfort.so.12
put_object "$built/libweft_openmpi.so" lib/compat/openmpi/libmpi.so.40
# What C++ programs ask for, and what programs load by name that want the library's symbols for all.
for name in libmpi_cxx.so.40 libmpi.so; do
    link libmpi.so.40 "lib/compat/openmpi/$name"
done
put_object "$built/libweft_openmpi_fortran.so" lib/compat/openmpi/libmpi_mpifh.so.40
# The libraries of the modules mpi and mpi_f08.
for name in libmpi_usempi_ignore_tkr.so.40 libmpi_usempif08.so.40; do
    link libmpi_mpifh.so.40 "lib/compat/openmpi/$name"
done
put_object "$built/mpiexec" bin/mpiexec
# mpiexec.hydra is what scripts for MPICH and Intel MPI call. Names with another library's in them, as orterun, are left to that library.
for name in mpirun mpiexec.hydra; do
    link mpiexec "bin/$name"
done
put_object "$built/weft" bin/weft
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
put 644 "$source/include/mpi_fortran.h" include/mpi_fortran.h
put 644 "$source/include/mpi-ext.h" include/mpi-ext.h
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
for file in tsan.supp valgrind.supp; do
    put 644 "$source/scripts/suppressions/$file" "share/weft/$file"
done
echo "$manifest" >>"$list"
mkdir -p -- "$root/share/weft"
install -m 644 -- "$list" "$root/$manifest"
