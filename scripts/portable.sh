#!/bin/sh
# portable.sh PREFIX: builds everything for x86-64 Linux with glibc 2.28 or later (RHEL 8, Debian 10, Ubuntu 20.04 and what came
# after them), and installs it to PREFIX. cargo-zigbuild links with the symbols that such a C library has, whatever this machine's
# is. It and zig come from PyPI into build/portable, and nothing outside of it changes.
set -eu
[ $# = 1 ] || { echo "usage: portable.sh PREFIX" >&2; exit 2; }
case $1 in /*) prefix=$1 ;; *) prefix=$PWD/$1 ;; esac
cd "$(dirname -- "$0")/.."
out=$PWD/build/portable
triple=x86_64-unknown-linux-gnu
zigbuild=0.24.0 zig=0.17.1

fail() { echo "portable: $*" >&2; exit 1; }

tools() {
    mark=$out/venv/.installed-$zigbuild-$zig
    if [ -e "$mark" ]; then return; fi
    rm -rf "$out/venv"
    python3 -m venv "$out/venv" || fail "python3 -m venv failed; scripts/setup.sh packages installs what it needs"
    "$out/venv/bin/pip" install -q --disable-pip-version-check "cargo-zigbuild==$zigbuild" "ziglang==$zig" ||
        fail "pip could not install cargo-zigbuild (is the network there?)"
    touch "$mark"
}

tools
PATH=$out/venv/bin:$PATH cargo zigbuild --release --target "$triple.2.28" --target-dir "$out/target" --workspace --exclude xtask
CARGO_TARGET_DIR=$out/target/$triple exec scripts/install.sh "$prefix"
