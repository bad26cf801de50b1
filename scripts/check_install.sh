#!/bin/sh
# check_install.sh PREFIX ELSEWHERE: the installed tree is complete, its wrappers and its pkg-config file work, it
# removes itself, and a copy of it at ELSEWHERE (a path with blanks) works as well. Ends with "N passed, N failed".
set -u
[ $# = 2 ] || { echo "usage: check_install.sh PREFIX ELSEWHERE" >&2; exit 2; }
prefix=$(realpath -- "$1") elsewhere=$(realpath -m -- "$2") passed=0 failed=0
cd "$(dirname -- "$0")/.." || exit
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch" "$elsewhere"' EXIT
# Where mpifort keeps the modules.
export XDG_CACHE_HOME="$scratch/cache"
for language in CC CXX FC; do
    unset $language WEFT_$language MPICH_$language OMPI_$language I_MPI_$language
done

check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >"$scratch/log" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what"
        sed 's/^/  | /' "$scratch/log"
    fi
}

complete() {
    for file in bin/mpicc bin/mpicxx bin/mpic++ bin/mpiCC bin/mpifort bin/mpif77 bin/mpif90 bin/mpiexec bin/mpirun bin/mpiexec.hydra bin/weft include/mpi.h include/mpi_fortran.h lib/libmpi_abi.so lib/libmpi_abi.so.1 \
        lib/libmpifort_abi.so lib/libmpifort_abi.so.1 lib/pkgconfig/mpifort_abi.pc include/mpif.h include/fortran/mpi.f90 include/fortran/mpi_f08.f90 \
        lib/pkgconfig/mpi_abi.pc lib/pkgconfig/mpi.pc lib/compat/mpich/libmpi.so.12 lib/compat/mpich/libmpifort.so.12 lib/compat/openmpi/libmpi.so.40 lib/compat/openmpi/libmpi_mpifh.so.40 lib/softrdma/libibverbs.so.1 lib/softrdma/librdmacm.so.1 lib/softrdma/libsoftrdma_preload.so \
        include/softrdma.h share/weft/bench/bench.h share/weft/tsan.supp share/weft/valgrind.supp; do
        [ -e "$1/$file" ] || { echo "$1/$file is missing"; return 1; }
    done
}
# No object holds what only debuggers read, but for mpiexec's process table, and each one's own lies beside it.
stripped() {
    for object in lib/libmpi_abi.so.1 lib/libmpifort_abi.so.1 lib/compat/mpich/libmpi.so.12 lib/compat/mpich/libmpifort.so.12 lib/compat/openmpi/libmpi.so.40 lib/compat/openmpi/libmpi_mpifh.so.40 lib/softrdma/libibverbs.so.1 lib/softrdma/librdmacm.so.1 \
        lib/softrdma/libsoftrdma_preload.so bin/mpiexec bin/weft; do
        symbols=$1/${object%/*}/.debug/${object##*/}.debug
        readelf -SW "$1/$object" >"$scratch/sections" && ! grep -F .debug_info "$scratch/sections" &&
            ! nm "$1/$object" 2>"$scratch/none" | grep -v ' MPIR_' &&
            readelf -SW "$symbols" | grep -q '\.debug_info' && readelf -p .gnu_debuglink "$1/$object" | grep -F "${symbols##*/}" &&
            [ "$(readelf -n "$1/$object" | grep 'Build ID')" = "$(readelf -n "$symbols" | grep 'Build ID')" ] ||
            { echo "$object"; return 1; }
    done
}
compiles_and_runs() { "$1/bin/mpicc" -O1 examples/ring.c -o "$scratch/ring" && "$1/bin/mpiexec" -n 2 "$scratch/ring"; }
cxx_compiles_and_runs() {
    for wrapper in mpicxx mpic++ mpiCC; do
        "$1/bin/$wrapper" -O1 examples/hello.cpp -o "$scratch/cxx" && "$1/bin/mpirun" -n 2 "$scratch/cxx" || return
    done
}
fortran_compiles_and_runs() {
    for source in ring.f heat.f90; do
        for wrapper in mpifort mpif77 mpif90; do
            "$1/bin/$wrapper" -O1 -J "$scratch" "examples/$source" -o "$scratch/fortran" &&
                "$1/bin/mpiexec" -n 2 "$scratch/fortran" || return
        done
    done
}
fortran_flags_alone_work() {
    eval "gfortran $("$1/bin/mpifort" -showme:compile) -J \"\$scratch\" examples/heat.f90 -o \"\$scratch/flags\" \
        $("$1/bin/mpifort" -showme:link)" && "$1/bin/mpiexec" -n 2 "$scratch/flags" &&
        [ "$("$1/bin/mpifort" -showme:libs)" = 'mpifort_abi mpi_abi' ] && [ "$("$1/bin/mpifort" -showme:command)" = gfortran ]
}
fortran_pkg_config_works() {
    eval "gfortran -J \"\$scratch\" -fallow-argument-mismatch examples/ring.f -o \"\$scratch/pc\" \
        $(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --cflags --libs mpifort_abi)" && "$1/bin/mpiexec" -n 2 "$scratch/pc"
}
modules_are_compiled_once() {
    rm -rf "$scratch/cache"
    for i in 1 2 3 4; do "$1/bin/mpifort" -showme:compile >/dev/null & done
    wait
    set -- "$scratch"/cache/weft/fortran/* "$1"
    [ $# = 2 ] && [ "$(echo $(ls "$1"))" = 'mpi.mod mpi_f08.mod mpi_f08_types.mod' ]
}
no_compiler_is_said() {
    ! WEFT_FC=$scratch/none "$1/bin/mpifort" x.f 2>"$scratch/said" && grep 'cannot start the compiler' "$scratch/said"
}
shown_command_works() {
    eval "$("$1/bin/mpicc" -show examples/ring.c -o "$scratch/shown")" && "$1/bin/mpiexec" -n 2 "$scratch/shown"
}
flags_alone_work() {
    eval "cc $("$1/bin/mpicc" -showme:compile) examples/ring.c -o \"\$scratch/flags\" $("$1/bin/mpicc" -showme:link)" &&
        "$1/bin/mpiexec" -n 2 "$scratch/flags"
}
pkg_config_works() {
    for package in mpi_abi mpi; do
        eval "cc examples/ring.c -o \"\$scratch/pc\" $(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --cflags --libs $package)" &&
            "$1/bin/mpiexec" -n 2 "$scratch/pc" || return
    done
}
# FindMPI asks the wrappers; of MPI_Fortran it also compiles programs with mpif.h and with the module.
cmake_finds_us() {
    project="$scratch/a project" made="$scratch/what is made"
    mkdir "$project"
    cp examples/ring.c examples/hello.cpp examples/ring.f examples/heat.f90 examples/rows.f90 "$project"
    cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.10)
project(uses_mpi C CXX Fortran)
set(MPI_DETERMINE_Fortran_CAPABILITIES ON)
find_package(MPI REQUIRED COMPONENTS C CXX Fortran)
if(NOT (MPI_Fortran_F08_MODULE_SUBARRAYS AND MPI_Fortran_F08_MODULE_ASYNCPROT))
    message(FATAL_ERROR "sections: ${MPI_Fortran_F08_MODULE_SUBARRAYS}, nonblocking calls: ${MPI_Fortran_F08_MODULE_ASYNCPROT}")
endif()
if(NOT (MPI_Fortran_HAVE_F77_HEADER AND MPI_Fortran_HAVE_F90_MODULE AND MPI_Fortran_HAVE_F08_MODULE))
    message(FATAL_ERROR "mpif.h: ${MPI_Fortran_HAVE_F77_HEADER}, mpi: ${MPI_Fortran_HAVE_F90_MODULE}, mpi_f08: ${MPI_Fortran_HAVE_F08_MODULE}")
endif()
add_executable(c ring.c)
target_link_libraries(c MPI::MPI_C)
add_executable(cxx hello.cpp)
target_link_libraries(cxx MPI::MPI_CXX)
add_executable(f77 ring.f)
target_link_libraries(f77 MPI::MPI_Fortran)
add_executable(f90 heat.f90)
target_link_libraries(f90 MPI::MPI_Fortran)
add_executable(f08 rows.f90)
target_link_libraries(f08 MPI::MPI_Fortran)
END
    PATH=$1/bin:$PATH cmake -S "$project" -B "$made" && cmake --build "$made" || return
    for program in c cxx f77 f90 f08; do
        "$1/bin/mpiexec" -n 2 "$made/$program" || return
        ldd "$made/$program" | grep -F "$(cd "$1" && pwd -P)/lib/libmpi_abi.so.1" || return
    done
}
object_only() {
    "$1/bin/mpicc" -c examples/ring.c -o "$scratch/ring.o" && "$1/bin/mpicc" "$scratch/ring.o" -o "$scratch/linked" &&
        "$1/bin/mpiexec" -n 2 "$scratch/linked" && ! "$1/bin/mpicc" -show -c x.c | grep mpi_abi
}
runpath_not_rpath() {
    compiles_and_runs "$1" && readelf -d "$scratch/ring" | grep RUNPATH && ! readelf -d "$scratch/ring" | grep '(RPATH)'
}
in_a_path_with_a_comma() {
    rm -rf "$scratch/a,b" && cp -a -- "$1" "$scratch/a,b" && runpath_not_rpath "$scratch/a,b" && rm -rf "$scratch/a,b"
}
through_a_link() {
    ln -s "$1/bin/mpicc" "$scratch/cc-for-mpi" && "$scratch/cc-for-mpi" examples/ring.c -o "$scratch/by-link"
}
compiler_speaks_first() { [ "$("$1/bin/mpicc" --version | head -n 1)" = "$(cc --version | head -n 1)" ]; }
own_version() { "$1/bin/mpicc" --version | grep '^mpicc (WeftMPI)'; }
compiler_is_chosen() {
    [ "$(WEFT_CC=gcc "$1/bin/mpicc" -showme:command)" = gcc ] && [ "$(CC=mpicc "$1/bin/mpicc" -showme:command)" = cc ] &&
        [ "$("$1/bin/mpicc" -cc=tcc -showme:command)" = tcc ]
}
# MPI's own variables count before those of build systems, ours first.
compiler_is_chosen_as_elsewhere() {
    for pair in mpicc:CC mpicxx:CXX mpic++:CXX mpifort:FC mpif90:FC; do
        wrapper=$1/bin/${pair%:*} language=${pair#*:} others="${pair#*:}=f"
        for owner in I_MPI OMPI MPICH WEFT; do
            others="${owner}_$language=$owner $others"
            # shellcheck disable=SC2086
            [ "$(env $others "$wrapper" -show:command)" = "$owner" ] || { echo "$wrapper: $others"; return 1; }
        done
    done
}
show_forms_agree() {
    for wrapper in mpicc mpicxx mpifort; do
        for what in compile link incdirs libdirs libs command version; do
            [ "$("$1/bin/$wrapper" -show:$what)" = "$("$1/bin/$wrapper" -showme:$what)" ] || { echo "$wrapper $what"; return 1; }
        done
    done
}
echoes() {
    "$1/bin/mpicc" -echo -config=other examples/ring.c -o "$scratch/echoed" 2>"$scratch/said" && "$1/bin/mpiexec" -n 2 "$scratch/echoed" &&
        [ "$(cat "$scratch/said")" = "$("$1/bin/mpicc" -show examples/ring.c -o "$scratch/echoed")" ]
}
show_quotes() {
    strange='-I/a b/$HOME/`c`/"d"/\e'"/it's"
    eval "set -- $("$1/bin/mpicc" -show -c "$strange" "-DTEXT=it's" '-L' '-I/a b' x.c)"
    shift 2
    [ "$*" = "-c $strange -DTEXT=it's -L -I/a b x.c" ] || { echo "$*"; return 1; }
}
no_endless_loop() { ! WEFT_CC="$scratch/loop" timeout 20 "$1/bin/mpicc" -c x.c && WEFT_CC=$scratch/loop "$1/bin/mpicc" -c x.c 2>&1 | grep 'leads back'; }
software_device_only_on_request() {
    env -u SOFTRDMA_DEVICES "$1/bin/weft" softrdma run --devices 2 -- sh -c \
        '[ "$SOFTRDMA_DEVICES" = 2 ] && [ "$LD_LIBRARY_PATH" = "$1" ]' sh "$(cd "$1" && pwd -P)/lib/softrdma${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" &&
        ! ls "$1"/lib/libibverbs* 2>/dev/null
}
no_path_of_its_own() { ! grep -rl --binary-files=without-match -F "$1" "$1"; }
removes_itself() {
    cp -a "$1" "$scratch/gone" && scripts/install.sh --remove "$scratch/gone" && [ -z "$(ls -A "$scratch/gone")" ]
}

ln -s "$prefix/bin/mpicc" "$scratch/loop"
rm -rf -- "$elsewhere"
cp -a -- "$prefix" "$elsewhere"
for tree in "$prefix" "$elsewhere"; do
    check "$tree: all files are there" complete "$tree"
    check "$tree: symbols stand apart" stripped "$tree"
    check "$tree: mpicc compiles, mpiexec runs" compiles_and_runs "$tree"
    check "$tree: mpicxx compiles, mpirun runs" cxx_compiles_and_runs "$tree"
    check "$tree: mpifort compiles, mpiexec runs" fortran_compiles_and_runs "$tree"
    check "$tree: mpifort's -showme:compile and :link suffice" fortran_flags_alone_work "$tree"
    check "$tree: pkg-config's flags suffice for mpif.h" fortran_pkg_config_works "$tree"
    check "$tree: the command of -show works" shown_command_works "$tree"
    check "$tree: -showme:compile and :link suffice" flags_alone_work "$tree"
    check "$tree: pkg-config's flags suffice" pkg_config_works "$tree"
    check "$tree: -c compiles only" object_only "$tree"
    check "$tree: RUNPATH, so that LD_LIBRARY_PATH wins" runpath_not_rpath "$tree"
    check "$tree: weft softrdma run" software_device_only_on_request "$tree"
    rm -f "$scratch/cc-for-mpi"
    check "$tree: mpicc works through a link" through_a_link "$tree"
done
check "CMake's find_package(MPI) finds C, C++ and Fortran, in folders with blanks" cmake_finds_us "$elsewhere"
check "-show quotes whatever a path holds" show_quotes "$prefix"
check "a path with a comma" in_a_path_with_a_comma "$prefix"
check "--version: the compiler's first line first" compiler_speaks_first "$prefix"
check "--version: ours is there" own_version "$prefix"
check "the compiler can be chosen" compiler_is_chosen "$prefix"
check "the variables of other MPI libraries choose it too" compiler_is_chosen_as_elsewhere "$prefix"
check "-show:WHAT is -showme:WHAT" show_forms_agree "$prefix"
check "-echo prints the command and runs it, -config= is accepted" echoes "$prefix"
check "a compiler's modules are compiled once" modules_are_compiled_once "$prefix"
check "a Fortran compiler that is not there is named" no_compiler_is_said "$prefix"
check "a compiler that is mpicc again is an error" no_endless_loop "$prefix"
check "no file holds the prefix" no_path_of_its_own "$prefix"
check "uninstall leaves nothing" removes_itself "$prefix"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
