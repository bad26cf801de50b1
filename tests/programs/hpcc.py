"""HPC Challenge: HPL, PTRANS, RandomAccess, STREAM, FFT, latency and bandwidth, with the checks that it makes itself."""

import re

from workshop import Failed

NAME = "hpcc"

# HPL calls two functions that MPI-3.0 removed; their successors have the same parameters. Headers that still declare both do without.
REMOVED = "-DMPI_Address=MPI_Get_address -DMPI_Type_struct=MPI_Type_create_struct"
MAKEFILE = """\
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir -p
RM = rm -f
TOUCH = touch
ARCH = $(arch)
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
LAlib = -lopenblas
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) $(LAlib) -lm
HPL_DEFS = -DAdd_ -DStringSunStyle -DF77_INTEGER=int {removed} $(HPL_INCLUDES)
CC = {mpicc}
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O2 -w
LINKER = {mpicc}
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""


def removed(workshop, source):
    probe = source / "removed.c"
    probe.write_text("#include <mpi.h>\n")
    done = workshop.attempt([workshop.mpicc, *REMOVED.split(), "-fsyntax-only", probe], source)
    return REMOVED if done.code == 0 else ""


def build(workshop):
    source, version = workshop.debian_source("hpcc")
    makefile = MAKEFILE.format(removed=removed(workshop, source), mpicc=workshop.mpicc)
    (source / "hpl/Make.weft").write_text(makefile)
    # Its makefiles are not made for several jobs.
    workshop.command(["make", "arch=weft"], source, "hpcc.log")
    return source, version


def prepare(workshop, source, ranks, order, block):
    """A folder with its input, for so many ranks and a matrix of that order, cut into blocks."""
    folder = workshop.folder(f"hpcc-run-{ranks}")
    rows = max(p for p in range(1, ranks + 1) if ranks % p == 0 and p * p <= ranks)
    lines = (source / "_hpccinf.txt").read_text().splitlines()
    # Lines 6, 8, 11 and 12 of HPL's input: the matrix, its blocks, the grid of processes.
    for line, value in ((6, order), (8, block), (11, rows), (12, ranks // rows)):
        lines[line - 1] = f"{value} {lines[line - 1]}"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    return folder


def run(workshop, source, ranks):
    folder = prepare(workshop, source, ranks, order=400, block=32)
    workshop.launch(ranks, [source / "hpcc"], folder)
    return judge((folder / "hpccoutf.txt").read_text())


def summary_of(output):
    return dict(re.findall(r"^(\w+)=(\S+)$", output, re.M))


def judge(output):
    summary = summary_of(output)
    residuals = re.findall(r"\|\|Ax-b\|\|_oo/\(.*=\s*(\S+) \.+ (\w+)", output)
    transposes = {kind: int(count) for count, kind in re.findall(r"(\d+) tests completed and (\w+) residual checks\.", output)}
    lost = [int(summary.get(f"MPIRandomAccess{kind}_Errors", -1)) for kind in ("", "_LCG")]
    error = float(summary.get("MPIFFT_maxErr", "inf"))
    if summary.get("Success") != "1" or summary.get("CommWorldProcs") is None:
        raise Failed(f"hpcc's output has no Success=1:\n{output[-600:]}")
    if not residuals or any(verdict != "PASSED" for _, verdict in residuals):
        raise Failed(f"HPL's residuals: {residuals}")
    if not transposes.get("passed") or transposes.get("failed") != 0:
        raise Failed(f"PTRANS: {transposes}")
    if any(lost) or "(failed)" in output:
        raise Failed(f"RandomAccess: {lost} updates lost")
    if not error < 1e-12:
        raise Failed(f"FFT: an error of {error}")
    return (
        f"HPL's residual {residuals[0][0]} (16 is allowed), PTRANS {transposes['passed']} of {transposes['passed']}, "
        f"RandomAccess {summary['MPIRandomAccess_ExeUpdates']} updates and none lost, FFT's error {error:.1e}"
    )
