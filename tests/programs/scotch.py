"""PT-Scotch's parallel partitioning and ordering: its own checks, and results that its testers accept, on any number of ranks."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "scotch"
# As in its Makefile.inc for Linux, with threads within ranks and nonblocking collectives, but for optimisation: compiling is most
# of the time here, and nothing is measured.
MAKEFILE = """\
EXE =
LIB = .a
OBJ = .o
MAKE = make
AR = ar
ARFLAGS = -ruv
CAT = cat
CCS = cc
CCP = {mpicc}
CCD = cc -I{include}
CFLAGS = -O0 -w -DCOMMON_FILE_COMPRESS_GZ -DCOMMON_PTHREAD -DCOMMON_RANDOM_FIXED_SEED -DSCOTCH_MPI_ASYNC_COLL -DSCOTCH_PTHREAD \\
    -DSCOTCH_PTHREAD_MPI -DSCOTCH_RENAME -Drestrict=__restrict -DIDXSIZE64
CLIBFLAGS =
LDFLAGS = -lz -lm -lrt -pthread
CP = cp
FLEX = flex
LN = ln
MKDIR = mkdir -p
MV = mv
RANLIB = ranlib
BISON = bison
"""
# A program of the suite that was started on ranks, as make prints it.
STARTED = re.compile(r"mpiexec\S* .*-n [34] ")
PARTS = 7
# What its default strategies may leave, and no chance does: a part's weight beside the average (1.05 is allowed), the edges between
# parts (six in seven, had they been drawn by lot), and the entries of the factor in the order found.
HEAVIEST, MOST_CUT, MOST_ENTRIES = 1.051, 0.04, 400e3


def build(workshop):
    source, version = workshop.debian_source("scotch")
    source = source / "src"
    (source / "Makefile.inc").write_text(MAKEFILE.format(mpicc=workshop.mpicc, include=workshop.mpicc.parents[1] / "include"))
    # Each of its folders is made by a make of its own, one after the other; both versions write the same parsers.
    workshop.make(source, "scotch.log", "scotch")
    workshop.make(source, "scotch.log", "ptscotch")
    return source, version


def run(workshop, source, ranks):
    """A graph in parts, and in an order for elimination: the testers read both and the graph, find no fault, and weigh them."""
    folder, binaries, graph = workshop.folder(f"scotch-run-{ranks}"), source.parent / "bin", source / "check/data/bump.grf"
    workshop.launch(ranks, [binaries / "dgpart", PARTS, graph, "bump.map"], folder)
    workshop.launch(ranks, [binaries / "dgord", graph, "bump.ord"], folder)
    # To the tester parts are the processors of a machine in which all are joined.
    (folder / "machine.tgt").write_text(f"cmplt {PARTS}\n")
    parts = judged(workshop, [binaries / "gmtst", graph, "machine.tgt", "bump.map"], folder)
    order = judged(workshop, [binaries / "gotst", graph, "bump.ord"], folder)
    heaviest, cut, entries = number(parts, "maxavg"), number(parts, "CommCutSz"), number(order, "NNZ")
    if f"Processors {PARTS}/{PARTS} " not in parts or heaviest > HEAVIEST or cut > MOST_CUT or entries > MOST_ENTRIES:
        raise Failed(f"parts of {heaviest} times the average, {cut} of the edges cut, {entries} entries in the factor\n{parts}")
    return f"{PARTS} parts of at most {heaviest:.3f} times the average, {cut:.1%} of the edges cut; ordered, {entries:.4g} entries in the factor"


def judged(workshop, words, folder):
    done = workshop.attempt(words, folder)
    if done.code != 0:
        raise Failed(f"{words[0].name}: exit code {done.code}\n{end_of(done.output)}")
    return done.output


def number(text, name):
    found = re.search(rf"{name}=(\S+)", text)
    if not found:
        raise Failed(f"a tester did not tell {name}:\n{end_of(text)}")
    return float(found.group(1))


def suite(workshop, source):
    """Its check of the parallel programs and of the library, on 3 and 4 ranks: make ends it at the first that fails."""
    launcher = " ".join(workshop.launcher())
    # Its programs read what others of them wrote, maybe from other hosts, which may have a /tmp each.
    files = workshop.build / "scotch-files"
    files.mkdir(exist_ok=True)
    words = [f"EXECP3={launcher} -n 3", f"EXECP4={launcher} -n 4", f"TMPDIR={files}"]
    done = workshop.attempt(["env", f"TMPDIR={files}", "make", *words, "ptcheck"], source / "check")
    runs = len(STARTED.findall(done.output))
    if done.code != 0 or runs == 0:
        raise Failed(f"make ptcheck: exit code {done.code} after {runs} runs\n{end_of(done.output)}")
    return f"make ptcheck, {runs} runs on 3 and 4 ranks"
