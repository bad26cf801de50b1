#!/bin/sh
# setup.sh demo|check|bench|sanitize|valgrind|softrdma|slurm|mpi4py|programs|mpich-tests: installs what that target needs
# and this machine lacks. As root it runs apt-get; otherwise it says what to run. Does nothing, quickly, when nothing is missing.
set -eu

# need COMMAND PACKAGE: remembers the package when the command is not there.
missing=''
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }

need_rust() {
    command -v cargo >/dev/null 2>&1 && return
    echo "setup: cargo is missing: install Rust 1.95 or later from https://rustup.rs" >&2
    exit 1
}

# Debian parts ensurepip from python3: a python3 alone cannot make a virtual environment.
need_venv() {
    need python3 python3
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing python3-venv"
}

# What the quick part of tests/softrdma runs: other people's verbs programs, headers to compile our own against.
need_verbs_programs() {
    need ibv_rc_pingpong ibverbs-utils
    need ib_write_bw perftest
    [ -f /usr/include/infiniband/verbs.h ] || missing="$missing libibverbs-dev"
    [ -d /usr/lib/python3/dist-packages/pyverbs ] || missing="$missing python3-pyverbs"
}

need_rust
need cc gcc
need make make
need c++ g++
case ${1:-} in
demo) ;;
check)
    need_venv
    need valgrind valgrind
    need unshare util-linux
    need pkg-config pkg-config
    need nm binutils
    need_verbs_programs
    ;;
bench) need_venv ;;
sanitize) need setarch util-linux ;;
valgrind) need valgrind valgrind ;;
softrdma)
    need_verbs_programs
    need ucx_perftest ucx-utils
    need fi_info libfabric-bin
    need ip iproute2
    need nsenter util-linux
    # The kernel's own software RDMA device, in a virtual machine.
    need qemu-system-x86_64 qemu-system-x86
    need busybox busybox-static
    [ -f /etc/libibverbs.d/rxe.driver ] || missing="$missing ibverbs-providers"
    ;;
slurm)
    need_venv
    PATH=$PATH:/usr/sbin:/sbin
    need slurmctld slurmctld
    need slurmd slurmd
    need srun slurm-client
    need munged munge
    # Slurm's plugin opens the name that Debian puts into the development package.
    [ -e "/usr/lib/$(uname -m)-linux-gnu/libpmix.so" ] || missing="$missing libpmix-dev"
    ;;
mpi4py)
    need_venv
    # The header that extension modules are compiled with.
    python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
        missing="$missing python3-dev"
    ;;
programs)
    # The sources come through apt-get, in Debian's package format.
    need apt-get apt
    need perl perl
    [ -e "/usr/lib/$(uname -m)-linux-gnu/libopenblas.so" ] || missing="$missing libopenblas-dev"
    # bindgen loads it, to read mpi.h for rsmpi.
    ls /usr/lib/llvm-*/lib/libclang.so >/dev/null 2>&1 || missing="$missing libclang-dev"
    ;;
mpich-tests)
    need python3 python3
    need xz xz-utils
    ;;
*) echo "usage: setup.sh demo|check|bench|sanitize|valgrind|softrdma|slurm|mpi4py|programs|mpich-tests" >&2; exit 2 ;;
esac
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: please install, by this system's package manager:$missing" >&2
    exit 1
elif [ "$(id -u)" != 0 ]; then
    echo "setup: missing:$missing; please run: sudo $install" >&2
    exit 1
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A fresh image has no package lists: fetch them only when the install fails without.
if ! $install >"$log" 2>&1 </dev/null && ! { apt-get update && $install; } >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    echo "setup: apt-get failed; is the network there? Then run: apt-get update && $install" >&2
    exit 1
fi
