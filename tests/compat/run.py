#!/usr/bin/env python3
"""Programs that are built with another MPI library, run on WeftMPI: first on their own library, then on ours, with the same output.

    tests/compat/run.py --prefix DIR --peers DIR [--build DIR] [--filter RE] [--full]

One line a case, and at the end `N passed, N failed`. With --full the conformance programs too, compiled by the other library's mpicc.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.cases import Failure, require, run_case
from lib.commands import declare
from lib.compiler import CFLAGS, compile_program
from lib.processes import end_by_signals, run

import fortran

HERE = pathlib.Path(__file__).resolve().parent
# What an MPI_Send of 8 bytes may cost more than by the standard ABI, in instructions.
SEND_BUDGET = 15
SENDS = 64
# Conformance programs that hold the standard ABI's own values, or names that the header does not have or not as constants; Open
# MPI's has no large counts.
NOT_BY_ITS_HEADER = {
    "mpich": (
        "abi/(abi_version|constants|fortran_handles|fortran_statuses)|datatypes/predefined|environment/error_strings|partitioned/completion"
        "|communicators/hints_at_creation|topologies/(dist_graph|neighborhoods)"
    ),
    "openmpi": (
        "abi/(abi_version|constants|fortran_handles|fortran_statuses)"
        "|collectives/(between_groups|every_form|large_count|user_operations)"
        "|communicators/(disconnect|split_by_resource)"
        "|datatypes/(constructors|darray|elements|envelopes|external32|fortran_types|large_types|packing|predefined|vector)"
        "|environment/(error_functions|error_strings|hardware|versions)"
        "|files/(far_offsets|opening|representations|views)|one_sided/(accumulates|transfers|windows)"
        "|partitioned/(completion)"
        "|point_to_point/(buffered|buffered_by_communicator|completion_null|large_count|request_get_status|status)"
        "|sessions/(buffered_by_session|sessions)|threads/(buffered_during_progress|flush)|tools/(variables)"
        "|topologies/(neighborhoods)"
    ),
}
# The header's names by section, for values.c, and those that are left out: none, marks that only structures have, a number
# above those of classes, and types that the standard ABI has not.
NAMES = {
    "mpich": {
        "DATATYPES": r"^#define (MPIX?_\w+)\s+(?:\(\(MPI_Datatype\)0x|mpich_mpi_)",
        "OPERATIONS": r"^#define (MPI_\w+)\s+\(MPI_Op\)\(0x",
        "CLASSES": r"^#define (MPI_(?:T_)?(?:ERR_\w+|SUCCESS))\s",
        "COMM_KEYS": r"^#define (MPI_\w+)\s+0x644",
        "WIN_KEYS": r"^#define (MPI_\w+)\s+0x660",
    },
    "openmpi": {
        "DATATYPES": r"^#define (MPI_\w+)\s+OMPI_PREDEFINED_GLOBAL\(MPI_Datatype,",
        "OPERATIONS": r"^#define (MPI_\w+)\s+OMPI_PREDEFINED_GLOBAL\(MPI_Op,",
        "CLASSES": r"^#define (MPI_(?:T_)?(?:ERR_\w+|SUCCESS))\s",
        "COMM_KEYS": r"^    (MPI_(?:TAG_UB|HOST|IO|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE)),",
        "WIN_KEYS": r"^    (MPI_WIN_\w+),",
    },
}
LEFT_OUT = {
    "mpich": {"MPI_DATATYPE_NULL", "MPI_LB", "MPI_UB", "MPI_OP_NULL", "MPI_ERR_LASTCODE", "MPIX_BFLOAT16"},
    "openmpi": {"MPI_DATATYPE_NULL", "MPI_LB", "MPI_UB", "MPI_OP_NULL", "MPI_ERR_LASTCODE", "MPI_2COMPLEX", "MPI_2DOUBLE_COMPLEX",
                "MPI_ERR_PROC_FAILED", "MPI_ERR_PROC_FAILED_PENDING", "MPI_ERR_REVOKED"},
}

# Lines of values.c in which the other library is not what the standard says: Open MPI has no complex of 32 bytes where its
# compiler has none, takes MPI_REPLACE and MPI_NO_OP for commutative, knows no class that was added, leaves an empty status's
# error as it was, translates MPI_PROC_NULL to another rank, and tells handlers of files another file.
OF_ITS_OWN = {
    "mpich": (),
    "openmpi": ("MPI_COMPLEX32:", "MPI_REPLACE:", "MPI_NO_OP:", "added:", "empty:", "translated:", "handler: its file"),
}
# What libraries say of themselves: ours its name, Open MPI that it has no UCX.
ASIDE = ("library: ", "[")


class Family:
    """Another library. A program that is built with it runs on ours under our mpiexec, without a word."""

    def __init__(self, name, options):
        self.name = name
        # Functions of MPI-1 are in MPICH's header, and only in libraries of Open MPI's; there MPI_UNWEIGHTED is an address of nothing,
        # of which the compiler warns.
        self.flags = {"mpich": ["-DWITH_MPI_1=MPI_UB"], "openmpi": ["-Wno-stringop-overread"]}[name]
        self.mpicc = options.peers / name / "bin/mpicc"
        self.mpiexec = options.peers / name / "bin/mpiexec"
        self.header = options.peers / name / "include/mpi.h"
        # Its own mpiexec refuses root unless it is told otherwise; cores are not its to count.
        self.own = os.environ | {f"{owner}_ALLOW_RUN_AS_ROOT{more}": "1" for owner in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}


def sections(name, header):
    """The header's names of handles and classes, by section."""
    found = {section: re.findall(pattern, header, re.M) for section, pattern in NAMES[name].items()}
    return {section: [one for one in dict.fromkeys(names) if one not in LEFT_OUT[name]] for section, names in found.items()}


def names(family):
    """The header's names, by section, for values.c."""
    lines = []
    for section, found in sections(family.name, family.header.read_text()).items():
        require(found, f"{family.header}: no names of {section}")
        # What the header defines on a condition only may be missing.
        values = [f"#ifdef {name}\nVALUE({name})\n#endif" if "#define" in NAMES[family.name][section] else f"VALUE({name})" for name in found]
        lines += [f"#ifdef {section}", *values, "#endif"]
    return "\n".join(lines) + "\n"


def values(options, family):
    """Every constant and handle of the header means the same."""
    build = options.build / family.name / "values"
    build.mkdir(parents=True, exist_ok=True)
    (build / "names.h").write_text(names(family))
    words = [HERE / "values.c", f"-I{build}", *family.flags]
    program = compile_program(family.mpicc, words, build / "values")
    said = []
    for mpiexec, environment in ((family.mpiexec, family.own), (options.prefix / "bin/mpiexec", None)):
        file = build / "file"
        file.unlink(missing_ok=True)
        done = run([mpiexec, "-n", 1, program, file], 60, environment)
        require(done.code == 0, f"{mpiexec}: exit code {done.code}\n{done.output}")
        said.append(done.output.splitlines())
    own, ours = ([line for line in lines if line.strip() and not line.startswith((*ASIDE, *OF_ITS_OWN[family.name]))] for lines in said)
    require("library: WeftMPI" in "\n".join(said[1]), "our library was not in the process")
    require(len(own) > 200, f"the header's own library said only {len(own)} lines")
    different = [f"{one}\n   ours: {other}" for one, other in zip(own, ours) if one != other]
    require(not different and len(own) == len(ours), "\n".join(different) or f"{len(own)} lines and {len(ours)}")


def sends(options, family):
    """An MPI_Send of 8 bytes costs few instructions more than by the standard ABI."""
    build = options.build / family.name / "sends"
    build.mkdir(parents=True, exist_ok=True)
    counts = []
    for mpicc in (options.prefix / "bin/mpicc", family.mpicc):
        program = compile_program(mpicc, [HERE / "sends.c"], build / f"sends{len(counts)}", ["-O2", "-g"])
        file = build / f"callgrind{len(counts)}"
        valgrind = ["valgrind", "--tool=callgrind", "--toggle-collect=counted_sends", f"--callgrind-out-file={file}"]
        done = run([options.prefix / "bin/mpiexec", "-n", 1, *valgrind, program], 120)
        require(done.code == 0, done.output)
        counts.append(int(re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.M)[1]) / SENDS)
    more = counts[1] - counts[0]
    require(0 < more <= SEND_BUDGET, f"{counts[0]:.2f} instructions by the standard ABI, {counts[1]:.2f} by the other")


def found(options, family):
    """A program finds our library whatever its own folders are, but for those that the user names."""
    build = options.build / family.name / "found"
    build.mkdir(parents=True, exist_ok=True)
    source = build / "version.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(void) { char text[MPI_MAX_LIBRARY_VERSION_STRING]; int n; MPI_Get_library_version(text, &n); puts(text); return 0; }\n"
    )
    mpiexec = options.prefix / "bin/mpiexec"
    include, own = (family.header.parent, family.header.parent.parent / "lib")
    for kind, tags in (("runpath", "--enable-new-dtags"), ("rpath", "--disable-new-dtags")):
        words = [source, f"-I{include}", f"-L{own}", f"-Wl,-rpath,{own},{tags}", "-lmpi"]
        program = compile_program("cc", words, build / kind)
        # What a shell starts mpiexec does not see.
        for command in ([program], ["sh", "-c", program])[: 1 if kind == "rpath" else 2]:
            done = run([mpiexec, "-n", 2, *command], 60)
            require(done.code == 0 and done.output.count("WeftMPI") == 2, f"{kind} {command}:\n{done.output}")
        told = run([options.prefix / "bin/weft", "info", program], 60).output
        words = ["on WeftMPI, by a library of that name", "LD_LIBRARY_PATH", *(["LD_PRELOAD"] if kind == "rpath" else [])]
        require(all(word in told for word in words) and told.count("LD_") == len(words) - 1, told)
    # MPICH's own library knows mpiexec's protocol; Open MPI's would start a job for each rank.
    done = run([mpiexec, "-n", 1, build / "runpath"], 60, os.environ | {"LD_LIBRARY_PATH": str(own)})
    require(("WeftMPI" in done.output) == (family.name == "openmpi"), f"the library that the user names:\n{done.output}")
    # Other launchers: what mpiexec sets is set by weft.
    weft = options.prefix / "bin/weft"
    for command in ([weft, "run", build / "runpath"], ["sh", "-c", f'eval $({weft} env); exec "$0"', build / "runpath"]):
        done = run(command, 60)
        require(done.code == 0 and "WeftMPI" in done.output, f"{command}:\n{done.output}")


def binding(options, family):
    """A program in C++ finds what Open MPI's binding had outside of programs, under its library's name."""
    build = options.build / family.name / "binding"
    build.mkdir(parents=True, exist_ok=True)
    ours = options.prefix / "lib/compat/openmpi"
    words = [HERE / "binding.cpp", f"-I{family.header.parent}", ours / "libmpi_cxx.so.40", ours / "libmpi.so.40"]
    program = compile_program("c++", words, build / "binding", ["-std=c++11", "-g", "-Wall"])
    run([options.prefix / "bin/mpiexec", "-n", 2, program], 60).ok("binding")


def told(options, family):
    """What keeps a program from our library is told in a line, by mpiexec, `weft run` and `weft info` alike."""
    build = options.build / family.name / "told"
    build.mkdir(parents=True, exist_ok=True)
    own = family.header.parent.parent / "lib"
    (build / "program.c").write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); return 0; }\n")
    program = compile_program(family.mpicc, [build / "program.c"], build / "program")
    other = next(own.glob("libmpi.so.*"))

    def line(words, program, environment=None):
        for command in (["mpiexec", "-n", 2], ["weft", "run"]):
            done = run([options.prefix / "bin" / command[0], *command[1:], program], 60, environment)
            require(done.code != 0 and done.output.count("\n") == 1 and words in done.output, f"{command}: {done.code}\n{done.output}")
        shown = run([options.prefix / "bin/weft", "info", program], 60, environment).output
        require(words in shown, f"weft info:\n{shown}")

    line(f"LD_PRELOAD names: {other}", program, {"LD_PRELOAD": str(other)})
    if os.geteuid() == 0:
        privileged = build / "privileged"
        shutil.copy(program, privileged)
        os.chown(privileged, 1, 1)
        privileged.chmod(0o4755)
        line("set-user-ID", privileged)


def two_libraries(options):
    """A second MPI library in a process is an error of MPI_Init that names it."""
    build = options.build / "two"
    build.mkdir(parents=True, exist_ok=True)
    (build / "program.c").write_text(
        "#include <dlfcn.h>\n#include <mpi.h>\n"
        "int main(int argc, char **argv)\n"
        "{ if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) return 3; return MPI_Init(0, 0) || MPI_Finalize(); }\n"
    )
    (build / "other.c").write_text("int MPI_Init(int *argc, char ***argv) { return argc == (void *)argv; }\n")
    other = compile_program("cc", [build / "other.c", "-fPIC", "-shared"], build / "libmpi.so.12")
    program = compile_program(options.prefix / "bin/mpicc", [build / "program.c"], build / "program")
    mpiexec = options.prefix / "bin/mpiexec"
    done = run([mpiexec, "-n", 1, program], 60)
    require(done.code == 0, done.output)
    done = run([mpiexec, "-n", 1, program, other], 60)
    words = f"MPI_Init: another MPI library is in this process, {other}"
    require(done.code not in (0, 3) and words in done.output, f"{done.code}\n{done.output}")


def refused(options):
    """A program of a library in whose place there is none is refused by name."""
    build = options.build / "refused"
    build.mkdir(parents=True, exist_ok=True)
    (build / "mpi.c").write_text("int MPI_Init(int *argc, char ***argv) { return argc == (void *)argv; }\n")
    (build / "program.c").write_text("int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n")
    library = compile_program("cc", [build / "mpi.c", "-fPIC", "-shared", "-Wl,-soname,libmpi.so.20"], build / "libmpi.so.20")
    program = compile_program("cc", [build / "program.c", library], build / "program")
    done = run([options.prefix / "bin/mpiexec", "-n", 2, program], 60)
    require(done.code == 1 and "was built with Open MPI 2 or 3 (libmpi.so.20)" in done.output, f"{done.code}\n{done.output}")
    told = run([options.prefix / "bin/weft", "info", program], 60).output
    require("Open MPI 2 or 3 (libmpi.so.20)" in told and "LD_" not in told, told)
    # What Open MPI says when it cannot begin, as it is in a static program with it inside.
    (build / "static.c").write_text(
        'const char *volatile said = "ompi_mpi_init: failed";\nint main(void) { return said == 0; }\n'
    )
    program = compile_program("cc", [build / "static.c", "-static"], build / "static")
    done = run([options.prefix / "bin/mpiexec", "-n", 2, program], 60)
    require(done.code == 1 and "with Open MPI inside, as a static program" in done.output, f"{done.code}\n{done.output}")


def conformance(options, family):
    """The conformance programs, compiled by the other library's mpicc."""
    command = [HERE.parent / "run.py", "--mpicc", family.mpicc, "--mpiexec", options.prefix / "bin/mpiexec", "--ranks", "2"]
    command += ["--filter", rf"^conformance/(?!{NOT_BY_ITS_HEADER[family.name]})", "--build", options.build / family.name / "conformance"]
    done = run([sys.executable, *command], 900)
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
    cases = {}
    families = {name: Family(name, options) for name in NAMES}
    for name, family in families.items():
        cases[f"{name}: every constant and handle means the same"] = lambda family=family: values(options, family)
        cases[f"{name}: programs find our library by themselves"] = lambda family=family: found(options, family)
        cases[f"{name}: what keeps a program from our library is told"] = lambda family=family: told(options, family)
        cases[f"{name}: instructions of a send"] = lambda family=family: sends(options, family)
        if name == "openmpi":
            cases[f"{name}: the C++ binding that MPI-3.0 removed"] = lambda family=family: binding(options, family)
        if options.full:
            cases[f"{name}: conformance programs by its mpicc, 2 ranks"] = lambda family=family: conformance(options, family)
    cases["two libraries in a process"] = lambda: two_libraries(options)
    cases |= fortran.cases(options, lambda name: sections(name, families[name].header.read_text()))
    cases["a library in whose place there is none"] = lambda: refused(options)
    verdicts = [run_case(name, case) for name, case in cases.items() if re.search(options.filter, name)]
    failed = verdicts.count("FAILED")
    print(f"{len(verdicts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
