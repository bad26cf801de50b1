"""Programs in Fortran that are built with another MPI library: first on their own library, then on ours, with the same output."""

import re
import sys

from lib.cases import Failure, require
from lib.compiler import compile_program
from lib.processes import run
from lib.programs import ROOT

from debian import unpacked

SOURCE = ROOT / "compat/fortran.F90"
# The ways in which a program declares MPI, and those that a short run has: MPICH's mpi_f08 has descriptors of its own, Open MPI's
# mpif.h has the numbers that all its modules have.
FORMS = {"HEADER": "mpif.h", "MODULE": "the module mpi", "F08": "the module mpi_f08"}
SHORT = {("mpich", "F08"), ("openmpi", "HEADER")}
# Lines in which the other library is not what the standard says: MPICH has no index for no request, and in mpi_f08 counts indices
# from 0 and leaves nulls behind a value of an info; Open MPI's clock says nothing
# to Fortran, takes MPI_REPLACE and MPI_NO_OP for commutative, and has datatypes of no size for what its compiler lacked.
OF_ITS_OWN = {
    "mpich": ("none of them:",),
    "mpich F08": ("some:", "value:"),
    "openmpi": ("time:", "MPI_REPLACE:", "MPI_NO_OP:", "MPI_COMPLEX32:", "MPI_INTEGER16:", "MPI_REAL2:"),
}
# Programs of tests/fortran that are not for other libraries: they use names that these do not have, or subarrays as buffers,
# which Open MPI's compilers copy.
NOT_FOR_ITS_HEADER = {
    "mpich": "attributes|interface|interposed|representations|sections|sentinels|typed",
    "openmpi": "attributes|collective_sections|file_sections|interface|refused|refused_fatal|representations|sections|sentinels"
    "|statuses_in_c|strings|typed",
}


def names(library, sections):
    """Calls of fortran.F90's procedures for the constants of `mpif.h`; `sections` has the names in C."""
    procedures = {"DATATYPES": "a_datatype", "OPERATIONS": "an_operation", "CLASSES": "a_class"}
    lines = []
    for section, procedure in procedures.items():
        found = [name for name in sections[section] if library.has(name)]
        require(len(found) > 10, f"{library.name}: mpif.h has only {found} of {section}")
        lines += [f"    call {procedure}('{name}', {name})" for name in found]
    return "\n".join(lines) + "\n"


def values(options, library, form, sections):
    """Every constant of the header, and every kind of argument."""
    build = options.build / library.name / f"fortran-{form}"
    build.mkdir(parents=True, exist_ok=True)
    (build / "names.inc").write_text(names(library, sections))
    words = ["-cpp", f"-D{form}", "-DWITH_MPI_1", "-w", "-fallow-argument-mismatch", f"-I{build}", f"-J{build}", SOURCE]
    program = compile_program(library.bin / "mpifort", words, build / "program", [])
    said = []
    for mpiexec in (library.bin / "mpiexec", options.prefix / "bin/mpiexec"):
        file = build / "file"
        file.unlink(missing_ok=True)
        done = run([mpiexec, "-n", 2, program, file], 60)
        require(done.code == 0, f"{mpiexec}: exit code {done.code}\n{done.output}")
        said.append(done.output.replace("\0", "").splitlines())
    require("library: WeftMPI" in "\n".join(said[1]), "our library was not in the process")
    aside = ("library: ", "[", *OF_ITS_OWN[library.name], *OF_ITS_OWN.get(f"{library.name} {form}", ()))
    own, ours = ([line for line in lines if line.strip() and not line.startswith(aside)] for lines in said)
    require(len(own) > 150, f"its own library said only {len(own)} lines")
    different = [f"{one}\n   ours: {other}" for one, other in zip(own, ours) if one != other]
    require(not different and len(own) == len(ours), "\n".join(different) or f"{len(own)} lines and {len(ours)}")


def programs(options, library):
    """The programs of tests/fortran, compiled by the other library's mpifort."""
    command = [ROOT / "run.py", "--mpicc", library.bin / "mpicc", "--mpifort", library.bin / "mpifort"]
    command += ["--mpiexec", options.prefix / "bin/mpiexec", "--ranks", "1,2,4", "--build", options.build / library.name / "fortran"]
    command += ["--filter", rf"^fortran/(?!({NOT_FOR_ITS_HEADER[library.name]})$)"]
    done = run([sys.executable, *command], 300)
    if done.code != 0:
        raise Failure("\n".join(line for line in done.output.splitlines() if not line.startswith(("pass", "skip"))))


def cases(options, sections):
    """Name and body of each case; `sections` has the names of each family's constants."""
    libraries = {}

    def library(name):
        if not libraries:
            libraries.update(unpacked(options.peers / "debian"))
        return libraries[name]

    for name in NOT_FOR_ITS_HEADER:
        for form, title in FORMS.items():
            if options.full or (name, form) in SHORT:
                yield (
                    f"{name}: Fortran, {title}: every constant and argument means the same",
                    lambda name=name, form=form: values(options, library(name), form, sections(name)),
                )
        if options.full:
            yield f"{name}: programs in Fortran by its mpifort", lambda name=name: programs(options, library(name))
