#!/usr/bin/env python3
"""Programs that are built with another MPI library, run on WeftMPI: first on their own library, then on ours, with the same output.

    tests/compat/run.py --prefix DIR --peers DIR [--build DIR] [--filter RE] [--full]

One line a case, and at the end `N passed, N failed`. With --full the conformance programs too, compiled by the other library's mpicc.
"""

import argparse
import os
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.cases import Failure, require, run_case
from lib.commands import declare
from lib.compiler import CFLAGS, compile_program
from lib.processes import end_by_signals, library_path, run

HERE = pathlib.Path(__file__).resolve().parent
# What an MPI_Send of 8 bytes may cost more than by the standard ABI, in instructions.
SEND_BUDGET = 15
SENDS = 64
# Conformance programs that hold the standard ABI's own values, or names that MPICH's header does not have or not as constants.
OF_THE_STANDARD_ABI = (
    "abi/(abi_version|constants|fortran_handles|fortran_statuses)|datatypes/predefined|environment/error_strings|partitioned/completion"
    "|communicators/hints_at_creation|topologies/(dist_graph|neighborhoods)"
)


class Family:
    """Another library: its prefix, and ours in its stead."""

    def __init__(self, name, options):
        self.mpicc = options.peers / name / "bin/mpicc"
        self.mpiexec = options.peers / name / "bin/mpiexec"
        self.header = options.peers / name / "include/mpi.h"
        self.folder = options.prefix / "lib/compat" / name
        self.ours = os.environ | {"LD_LIBRARY_PATH": library_path(self.folder)}


def names(header):
    """The header's names of handles and classes, by section, for values.c."""
    text = header.read_text()
    sections = {
        "DATATYPES": r"^#define (MPI_\w+)\s+(?:\(\(MPI_Datatype\)0x|mpich_mpi_)",
        "OPERATIONS": r"^#define (MPI_\w+)\s+\(MPI_Op\)\(0x",
        "CLASSES": r"^#define (MPI_(?:T_)?(?:ERR_\w+|SUCCESS))\s",
        "COMM_KEYS": r"^#define (MPI_\w+)\s+0x644",
        "WIN_KEYS": r"^#define (MPI_\w+)\s+0x660",
    }
    # None, marks that only structures have, and a number above those of classes.
    others = {"MPI_DATATYPE_NULL", "MPI_LB", "MPI_UB", "MPI_OP_NULL", "MPI_ERR_LASTCODE"}
    lines = []
    for section, pattern in sections.items():
        found = [name for name in dict.fromkeys(re.findall(pattern, text, re.M)) if name not in others]
        require(found, f"{header}: no names of {section}")
        lines += [f"#ifdef {section}", *(f"VALUE({name})" for name in found), "#endif"]
    return "\n".join(lines) + "\n"


def values(options, family):
    """Every constant and handle of the header means the same."""
    build = options.build / "values"
    build.mkdir(parents=True, exist_ok=True)
    (build / "names.h").write_text(names(family.header))
    words = [HERE / "values.c", f"-I{build}", "-DWITH_MPI_1=MPI_UB"]
    program = compile_program(family.mpicc, words, build / "values")
    said = []
    for mpiexec, environment in ((family.mpiexec, None), (options.prefix / "bin/mpiexec", family.ours)):
        file = build / "file"
        file.unlink(missing_ok=True)
        done = run([mpiexec, "-n", 1, program, file], 60, environment)
        require(done.code == 0, f"{mpiexec}: exit code {done.code}\n{done.output}")
        said.append(done.output.splitlines())
    own, ours = ([line for line in lines if not line.startswith("library: ")] for lines in said)
    require("library: WeftMPI" in "\n".join(said[1]), "our library was not in the process")
    require(len(own) > 200, f"the header's own library said only {len(own)} lines")
    different = [f"{one}\n   ours: {other}" for one, other in zip(own, ours) if one != other]
    require(not different and len(own) == len(ours), "\n".join(different) or f"{len(own)} lines and {len(ours)}")


def sends(options, family):
    """An MPI_Send of 8 bytes costs few instructions more than by the standard ABI."""
    build = options.build / "sends"
    build.mkdir(parents=True, exist_ok=True)
    counts = []
    for mpicc, environment in ((options.prefix / "bin/mpicc", None), (family.mpicc, family.ours)):
        program = compile_program(mpicc, [HERE / "sends.c"], build / f"sends{len(counts)}", ["-O2", "-g"])
        file = build / f"callgrind{len(counts)}"
        valgrind = ["valgrind", "--tool=callgrind", "--toggle-collect=counted_sends", f"--callgrind-out-file={file}"]
        done = run([options.prefix / "bin/mpiexec", "-n", 1, *valgrind, program], 120, environment)
        require(done.code == 0, done.output)
        counts.append(int(re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.M)[1]) / SENDS)
    more = counts[1] - counts[0]
    require(0 < more <= SEND_BUDGET, f"{counts[0]:.2f} instructions by the standard ABI, {counts[1]:.2f} by the other")


def conformance(options, family):
    """The conformance programs, compiled by the other library's mpicc."""
    command = [HERE.parent / "run.py", "--mpicc", family.mpicc, "--mpiexec", options.prefix / "bin/mpiexec", "--ranks", "2"]
    command += ["--filter", rf"^conformance/(?!{OF_THE_STANDARD_ABI})", "--build", options.build / "conformance"]
    done = run([sys.executable, *command], 900, family.ours)
    if done.code != 0:
        raise Failure("\n".join(line for line in done.output.splitlines() if not line.startswith(("pass", "skip"))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--peers", required=True, type=pathlib.Path)
    parser.add_argument("--build", default="build/compat", type=pathlib.Path)
    parser.add_argument("--filter", default="", help="only the cases whose name matches this expression")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    options.prefix, options.peers, options.build = (path.resolve() for path in (options.prefix, options.peers, options.build))
    end_by_signals()
    declare("check")
    mpich = Family("mpich", options)
    cases = {
        "mpich: every constant and handle means the same": lambda: values(options, mpich),
        "mpich: instructions of a send": lambda: sends(options, mpich),
    }
    if options.full:
        cases["mpich: conformance programs by its mpicc, 2 ranks"] = lambda: conformance(options, mpich)
    verdicts = [run_case(name, case) for name, case in cases.items() if re.search(options.filter, name)]
    failed = verdicts.count("FAILED")
    print(f"{len(verdicts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
