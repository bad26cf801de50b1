"""PnetCDF, the classic netCDF formats by MPI-IO, and its own tests in C, Fortran 77 and Fortran 90."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "pnetcdf"
PASSED = re.compile(r"-- pass\s*$", re.M)
# Of one process's tests Automake tells how many passed, folder by folder.
SUMMED_UP = re.compile(r"^# PASS:\s+(\d+)", re.M)
# What of its tests is of an option that is not switched on.
FOLDERS = "C CXX F90 cdf_format fandc header nc_test nf90_test nf_test nonblocking testcases".split()


def build(workshop):
    source, version = workshop.debian_source("pnetcdf")
    launcher = " ".join([*workshop.launcher(), "-n", "NP"])
    compilers = [f"MPICC={workshop.mpicc}", f"MPICXX={workshop.mpicxx}", f"MPIF77={workshop.mpifort}", f"MPIF90={workshop.mpifort}"]
    # The archive is without what autoconf makes.
    workshop.command(["autoreconf", "--install"], source, "pnetcdf.log")
    flags = [f"{name}=-O1" for name in ("CFLAGS", "CXXFLAGS", "FFLAGS", "FCFLAGS")]
    workshop.command(["./configure", *compilers, *flags, f"TESTMPIRUN={launcher}"], source, "pnetcdf.log")
    workshop.make(source, "pnetcdf.log")
    workshop.make(source, "pnetcdf.log", "tests")
    return source, version


def run(workshop, source, ranks):
    """Its tests for that many processes; for one of them they are a single process's, without a launcher."""
    target = "check" if ranks == 1 else f"ptest{ranks}"
    outputs = []
    for folder in FOLDERS:
        done = workshop.attempt(["make", target], source / "test" / folder)
        if done.code != 0:
            raise Failed(f"make {target} in test/{folder}: exit code {done.code}\n{end_of(done.output)}")
        outputs.append(done.output)
    output = "\n".join(outputs)
    passed = len(PASSED.findall(output)) + sum(map(int, SUMMED_UP.findall(output)))
    if passed == 0:
        raise Failed(f"make {target} ran no test:\n{end_of(outputs[-1])}")
    return f"make {target}, {passed} tests"
