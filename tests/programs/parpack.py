"""PARPACK, eigenvalues of large matrices in Fortran 77 with mpif.h: by its drivers, whose values are those on one rank."""

import math
import re

from lib.cases import end_of
from workshop import Failed

NAME = "parpack"
# The archive of Debian 12 is not to be had.
RELEASE = "trixie"
# Symmetric, not symmetric and complex matrices in both precisions, and an eigenproblem with a second matrix.
DRIVERS = ["psndrv1", "psndrv3", "pdndrv1", "pdndrv3", "pssdrv1", "pdsdrv1", "pcndrv1", "pzndrv1"]
# The complex driver in single precision has some of 5e-5 on one host and 4 ranks as on several, by the order in which its sums are made.
SINGLE, DOUBLE = 1e-4, 1e-11
# They print six digits.
SAME = 2e-5
ROW = re.compile(r"^ +Row +\d+: +(.*)$", re.M)
PLACE = "PARPACK/EXAMPLES/MPI"
# One of its sources of a clock is for each machine.
MAKEFILE = """\
FFLAGS = -O0 -w -std=legacy -I PARPACK/SRC/MPI
SOURCES = $(filter-out %_NONE.f,$(wildcard SRC/*.f UTIL/*.f PARPACK/SRC/MPI/*.f PARPACK/UTIL/MPI/*.f))
DRIVERS = {drivers}
all: $(DRIVERS)
%.o: %.f
\t{mpifort} $(FFLAGS) -c $< -o $@
library.a: $(SOURCES:.f=.o)
\tar r $@ $^
$(DRIVERS): %: %.o dbgini.o staini.o library.a
\t{mpifort} $^ -lopenblas -o $@
"""


def build(workshop):
    source, version = workshop.debian_source("arpack", release=RELEASE)
    drivers = " ".join(f"{PLACE}/{name}" for name in DRIVERS)
    (source / "Makefile").write_text(MAKEFILE.format(drivers=drivers, mpifort=workshop.mpifort))
    workshop.make(source, "parpack.log")
    return source, version


def run(workshop, source, ranks):
    for name in DRIVERS:
        alone, shared = (values(workshop, source, name, number) for number in (1, ranks))
        for value in alone:
            near = [other for other in shared if math.dist(value, other) < SAME * size(value)]
            if not near:
                raise Failed(f"{name} on {ranks} ranks has not the eigenvalue {value} of 1 rank, but {shared}")
            shared.remove(near[0])
    return f"{len(DRIVERS)} drivers, eigenvalues as on 1 rank, residuals under {SINGLE:g} and {DOUBLE:g}"


def size(value):
    """What rounding is measured by: an eigenvalue's size, or the matrix's elements, which are about 1."""
    return max(1.0, math.hypot(*value))


def bound(name):
    """What a residual may be in single and double precision."""
    return SINGLE if name.removeprefix("p")[0] in "sc" else DOUBLE


def values(workshop, source, name, ranks):
    """A driver's eigenvalues, real and imaginary parts, with residuals as small as they ought to be."""
    output = workshop.launch(ranks, [source / PLACE / name], source)
    wanted = re.search(r"Ritz values requested is +(\d+)", output)
    rows = [[float(number.replace("D", "E")) for number in row.split()] for row in ROW.findall(output.partition("direct residuals")[2])]
    if not wanted or len(rows) < int(wanted.group(1)) or not all(row[-1] < bound(name) * size(row[:-1]) for row in rows):
        raise Failed(f"{name} on {ranks} ranks: too few values, or residuals too large: {rows}\n{end_of(output)}")
    return [row[:-1] for row in rows]
