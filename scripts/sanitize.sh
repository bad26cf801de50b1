#!/bin/sh
# sanitize.sh thread|address PREFIX [FILTER]: the library under ThreadSanitizer or AddressSanitizer, driven by the C
# programs of tests/conformance (thread: those that start threads; address: all) and by the stress program of
# tests/robustness, launched by PREFIX's plain mpiexec.
#
# The sanitizer's runtime comes from gcc: the C program is linked with -fsanitize, the library's own references to it
# stay undefined until then. Under cargo test ThreadSanitizer would see std's uninstrumented locks as races; a C driver
# has only pthreads, which it knows. RUSTC_BOOTSTRAP allows the flag on the stable compiler.
set -eu
[ $# -ge 2 ] || { echo "usage: sanitize.sh thread|address PREFIX [FILTER]" >&2; exit 2; }
cd "$(dirname -- "$0")/.."
kind=$1 prefix=$2 filter=${3:-}
build=$PWD/build/sanitize/$kind
target=x86_64-unknown-linux-gnu
passed=0 failed=0
scripts/setup.sh sanitize
PATH=$(scripts/setup.sh --path sanitize)
export PATH
mkdir -p "$build/include" "$build/lib"

case $kind in
thread) rust_flags="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" sources=$(grep -l 'pthread_create\|team\.h' tests/conformance/*/*.c) ;;
address) rust_flags="-Zsanitizer=address" sources=$(ls tests/conformance/*/*.c) ;;
*) echo "sanitize: thread or address, not $kind" >&2; exit 2 ;;
esac

build_library() {
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="$rust_flags" CARGO_TARGET_DIR="target/sanitize-$kind" \
        cargo build --release --package mpi_abi --target "$target" \
        --config profile.release.debug=2 &&
        cp "target/sanitize-$kind/$target/release/libmpi_abi.so" "$build/lib/libmpi_abi.so.1" &&
        ln -sf libmpi_abi.so.1 "$build/lib/libmpi_abi.so"
}

# gcc's ThreadSanitizer intercepts memcpy and its kin but lacks the names that LLVM calls for them.
write_shim() {
    cat >"$build/shim.c" <<'END'
#include <string.h>
void *__tsan_memcpy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }
void *__tsan_memmove(void *to, const void *from, size_t n) { return memmove(to, from, n); }
void *__tsan_memset(void *to, int byte, size_t n) { return memset(to, byte, n); }
END
}

compile() { # BINARY SOURCE...
    binary=$1
    shift
    gcc -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize="$kind" -pthread -Iinclude -Itests/conformance \
        "$@" "$build/shim.c" -o "$binary" -L"$build/lib" -Wl,-rpath,"$build/lib" -lmpi_abi -lm
}

# A long history, so that a report knows both sides and tsan.suppressions can tell them apart.
# Address-space randomisation is off: gcc 12's ThreadSanitizer cannot map its shadow under all of it.
run() { # BINARY [ARGUMENT...]
    # What is freed stays in quarantine, 256 MiB of it, which the one that measures its own memory would see.
    case $1 in
    *-million) quarantine=quarantine_size_mb=4:thread_local_quarantine_size_kb=64 ;;
    *) quarantine=quarantine_size_mb=256 ;;
    esac
    TSAN_OPTIONS="exitcode=66 second_deadlock_stack=1 history_size=7 suppressions='$PWD/scripts/tsan.suppressions'" \
        ASAN_OPTIONS="detect_leaks=1 exitcode=66 $quarantine" LSAN_OPTIONS="exitcode=66" \
        setarch -R timeout 300 "$prefix/bin/mpiexec" -n 2 "$@"
}

judge() { # NAME: what its log says, after a run that ended well ($2 is 0) or not
    if [ "$2" = 0 ] && ! grep -q 'WARNING: ThreadSanitizer\|ERROR: AddressSanitizer' "$build/$1.log"; then
        passed=$((passed + 1)) && echo "ok      $1"
    else
        failed=$((failed + 1)) && echo "FAILED  $1, see $build/$1.log"
        grep -m 1 -A 14 'WARNING: ThreadSanitizer\|ERROR: \|rror:' "$build/$1.log" || tail -n 5 "$build/$1.log"
    fi
}

echo "building the library for the $kind sanitizer (about 2 min)"
build_library >"$build/build.log" 2>&1 || { tail -n 25 "$build/build.log"; exit 1; }
write_shim
for source in $sources; do
    name=$(basename "$(dirname "$source")")-$(basename "$source" .c)
    case $name in *"$filter"*) ;; *) continue ;; esac
    # A program that is meant to end by an error has no clean end to judge.
    if head -n 12 "$source" | grep -q 'exit: '; then continue; fi
    status=0
    { compile "$build/$name" "$source" && run "$build/$name"; } >"$build/$name.log" 2>&1 || status=1
    judge "$name" $status
done
case stress in *"$filter"*)
    # The sanitizer keeps freed memory for a while, so growth means nothing here.
    status=0
    { compile "$build/stress" -DGROWTH_MIB=1000000 tests/robustness/programs/stress/*.c && run "$build/stress" 20 1; } \
        >"$build/stress.log" 2>&1 || status=1
    judge stress $status
    ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
