#!/bin/sh
# header_check.sh VENV MPI_ABI_H: compares include/mpi.h with pympistandard, the standard's machine-readable data, which it
# installs in a virtual environment of its own, and with MPICH's header.
set -eu
[ $# = 2 ] || { echo "usage: header_check.sh VENV MPI_ABI_H" >&2; exit 2; }
[ -f "$2" ] || { echo "header_check: no $2: run scripts/peers.sh build/peers first" >&2; exit 1; }
cd "$(dirname -- "$0")/.."
if ! "$1/bin/python" -c 'import pympistandard' 2>/dev/null; then
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check pympistandard==0.2.0 || {
        echo "header_check: cannot install pympistandard from PyPI; is the network there?" >&2
        exit 1
    }
fi
exec "$1/bin/python" scripts/check_header.py --peer "$2"
