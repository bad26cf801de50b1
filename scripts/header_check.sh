#!/bin/sh
# header_check.sh VENV: compares include/mpi.h with pympistandard, the standard's machine-readable data, which it installs
# in a virtual environment of its own.
set -eu
[ $# = 1 ] || { echo "usage: header_check.sh VENV" >&2; exit 2; }
cd "$(dirname -- "$0")/.."
if ! "$1/bin/python" -c 'import pympistandard' 2>/dev/null; then
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check pympistandard==0.2.0 || {
        echo "header_check: cannot install pympistandard from PyPI; is the network there?" >&2
        exit 1
    }
fi
exec "$1/bin/python" scripts/check_header.py --venv "$1"
