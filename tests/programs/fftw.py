"""FFTW's transforms over MPI, verified by its own benchmark program against what transforms must fulfil."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "fftw"
# Rounds of its check at each number of ranks and the largest transform, as in FFTW's `make check`. Problems are drawn by lot.
ROUNDS, LARGEST = 10, 10000
VERIFIED = re.compile(r"^\S+ \S+ \S+ \S+$", re.M)


def build(workshop):
    source, version = workshop.debian_source("fftw3")
    # Unoptimised: compiling is most of the time here, and nothing is measured with it.
    options = ["--enable-mpi", "--disable-fortran", "--disable-doc", "CFLAGS=-O0"]
    workshop.command(["./configure", f"MPICC={workshop.mpicc}", *options], source, "fftw.log")
    workshop.make(source, "fftw.log")
    return source, version


def run(workshop, source, ranks):
    program = f"{' '.join(workshop.launcher())} -n {ranks} {source / 'mpi/mpi-bench'}"
    options = ["--verbose", "--random", f"--maxsize={LARGEST}", f"-c={ROUNDS}", "--mpi"]
    command = ["perl", "-w", source / "tests/check.pl", *options, program]
    done = workshop.attempt(command, source / "mpi")
    verified = len(VERIFIED.findall(done.output))
    if done.code != 0 or verified == 0:
        raise Failed(f"check.pl: exit code {done.code}, {verified} verified\n{end_of(done.output)}")
    return f"{verified} transforms verified"
