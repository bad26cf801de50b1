"""h5py, HDF5 for Python, built for MPI on our HDF5: its test suite on one rank, and its tests of parallel files on any number."""

import os
import re
import sys

import hdf5
from lib.cases import end_of
from workshop import Failed

NAME = "h5py"
VERSION, MPI4PY = "3.12.1", "4.1.2"
REQUIRED = ["numpy<2.3", "Cython<3.1", "pkgconfig", "setuptools<80", "wheel", "pytest<9", "pytest-mpi"]
# pytest's last line, of each rank.
SUMMARY = re.compile(r"(?<!\d)(\d+) passed\b")
# It takes the permissions of a file away, which keeps root from nothing.
NOT_AS_ROOT = "test_append_permissions"


def python(workshop):
    return workshop.build / "h5py/bin/python"


def build(workshop):
    below = hdf5.installed(workshop)
    if not below.exists():
        raise Failed("needs HDF5: --only 'hdf5|h5py'")
    folder = workshop.folder("h5py")
    workshop.command([sys.executable, "-m", "venv", folder], workshop.build, "h5py.log")
    pip = [python(workshop), "-m", "pip", "--disable-pip-version-check", "install"]
    workshop.command([*pip, *REQUIRED], workshop.build, "h5py.log")
    source = [*pip, "--no-deps", "--no-cache-dir", "--no-binary", ":all:"]
    # Unoptimised: compiling is most of the time here, and nothing is measured.
    own = {"CC": str(workshop.mpicc), "MPICC": str(workshop.mpicc), "CFLAGS": "-O0 -g0", "HDF5_MPI": "ON", "HDF5_DIR": str(below)}
    workshop.command([*source, f"mpi4py=={MPI4PY}"], workshop.build, "h5py.log", **own)
    workshop.command([*source, "--no-build-isolation", f"h5py=={VERSION}"], workshop.build, "h5py.log", **own)
    return folder, VERSION


def run(workshop, source, ranks):
    """All tests on one rank, those that are for several processes on more."""
    which = "--with-mpi" if ranks == 1 else "--only-mpi"
    words = [python(workshop), "-m", "pytest", "-p", "no:cacheprovider", "-q", which, "--pyargs", "h5py"]
    words += ["-k", f"not {NOT_AS_ROOT}"] if os.geteuid() == 0 else []
    folder = workshop.folder(f"h5py-run-{ranks}")
    # Its files are to be where ranks on all hosts see them.
    output = workshop.launch(ranks, ["env", f"TMPDIR={folder}", *words], folder)
    told = SUMMARY.findall(output)
    passed = set(map(int, told))
    if len(told) != ranks or len(passed) != 1:
        raise Failed(f"{len(told)} of {ranks} ranks told that all went well: {told}\n{end_of(output)}")
    return f"{passed.pop()} tests" + ("" if ranks == 1 else " of files that processes write together, on each rank")
