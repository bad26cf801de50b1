"""MUMPS, a sparse direct solver in Fortran with mpif.h: equations of a grid whose solution is known, by its own example."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "mumps"
# Points along a side of the grid. The factorization's root front is then one process's, as MUMPS chooses by itself.
SIDE = 150
# What rounding may do to a solution of ones.
TOLERANCE = 1e-9
# It is shipped with stubs of the parts of ScaLAPACK that it calls for large root fronts alone; they are linked in its place.
MAKEFILE = """\
LPORDDIR = $(topdir)/PORD/lib/
IPORD = -I$(topdir)/PORD/include/
LPORD = -L$(LPORDDIR) -lpord
ORDERINGSF = -Dpord
ORDERINGSC = $(ORDERINGSF)
LORDERINGS = $(LPORD)
IORDERINGSC = $(IPORD)
LIBEXT = .a
LIBEXT_SHARED = .so
OUTC = -o{blank}
OUTF = -o{blank}
RM = rm -f
CC = {mpicc}
FC = {mpifort}
FL = {mpifort}
AR = ar r{blank}
RANLIB = echo
LIBS = $(topdir)/scalapack.o
LIBBLAS = -lopenblas
CDEFS = -DAdd_
OPTF = -O0
OPTC = -O0 -I.
OPTL =
LIBSEQNEEDED =
"""
NUMBER = re.compile(r"-?\d*\.\d+(?:E[+-]?\d+)?")
UNIT = re.compile(r"^ {6}(?!END\b)(?:[A-Z]+ )*(?:SUBROUTINE|FUNCTION) +(\w+)", re.M | re.I)
END = re.compile(r"^ {6}END(?: +(?:SUBROUTINE|FUNCTION)\b.*)?$", re.M | re.I)


def build(workshop):
    source, version = workshop.debian_source("mumps")
    makefile = MAKEFILE.format(mpicc=workshop.mpicc, mpifort=workshop.mpifort, blank=" ")
    (source / "Makefile.inc").write_text(makefile)
    (source / "scalapack.f").write_text(stubs((source / "libseq/mpi.f").read_text()))
    workshop.command([workshop.mpifort, "-c", "scalapack.f"], source, "mumps.log")
    workshop.make(source, "mumps.log", "d")
    return source, version


def stubs(text):
    """Its stubs of ScaLAPACK, without those of MPI."""
    units = []
    for begin in UNIT.finditer(text):
        if not begin.group(1).upper().startswith(("MPI_", "PMPI_", "MUMPS_")):
            units.append(text[begin.start() : END.search(text, begin.end()).end()])
    return "\n".join(units) + "\n"


def equations():
    """Its example's input: the five-point stencil on a square grid, and as right-hand sides the sums of its rows."""
    lines, sums = [], []
    for row in range(SIDE):
        for column in range(SIDE):
            points = [(row, column, 5.0)]
            around = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
            points += [(r, c, -1.0) for r, c in around if 0 <= r < SIDE and 0 <= c < SIDE]
            sums.append(sum(value for _, _, value in points))
            here = row * SIDE + column + 1
            lines += [f"{here} {r * SIDE + c + 1} {value}" for r, c, value in points]
    return "\n".join([str(len(sums)), str(len(lines)), *lines, *map(str, sums)]) + "\n"


def run(workshop, source, ranks):
    folder = workshop.folder(f"mumps-run-{ranks}")
    (folder / "input").write_text(equations())
    program = " ".join([*workshop.launcher(), "-n", str(ranks), str(source / "examples/dsimpletest")])
    done = workshop.attempt(["sh", "-c", f"exec {program} < input"], folder)
    _, found, after = done.output.partition("Solution is")
    solution = after.split()[: SIDE * SIDE]
    if done.code != 0 or not found or not all(map(NUMBER.fullmatch, solution)) or len(solution) < SIDE * SIDE:
        raise Failed(f"dsimpletest: exit code {done.code}, no solution of {SIDE * SIDE} numbers\n{end_of(done.output)}")
    worst = max(abs(float(number) - 1) for number in solution)
    if not worst < TOLERANCE:
        raise Failed(f"dsimpletest: a solution of ones is {worst:.1e} off")
    return f"{SIDE * SIDE} equations solved, the solution at most {worst:.1e} off"
