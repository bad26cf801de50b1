"""MPICH's source from Debian, and its tests as a list: what to compile, what to run, by its own testlists and Makefiles."""

import dataclasses
import os
import pathlib
import re
import sys
import tarfile

from lib import debian_source
from lib.processes import output_of

VERSION = "4.0.2"
# Bash that MPICH's configure runs too: it writes the lists of tests on generated datatypes (testlist.dtp).
GENERATOR = "maint/gentests_dtp.sh"
GENERATED_TYPES = "MPI_INT,MPI_INT:4+MPI_DOUBLE:8"
# What @name@ in a testlist.in stands for when all of the suite is switched on that a C library without devices has.
SWITCHES = {
    "partdir": "part", "rmadir": "rma", "spawndir": "spawn", "iodir": "io", "errordir": "errors", "threadsdir": "threads",
    "perfdir": "perf", "largetest": "", "comm_overlap": "", "namepub_tests": "", "ALLOCMEMF": "allocmemf 1",
}
LISTS = ("testlist", "testlist.in", "testlist.dtp")
DEFAULT_SECONDS = 180
SUFFIXES = (".c", ".f", ".f90")


@dataclasses.dataclass(frozen=True)
class Test:
    folder: str
    program: str
    ranks: int
    arguments: tuple
    environment: tuple
    seconds: int
    memory_gb: float
    expectation: str

    @property
    def name(self):
        return f"{self.folder}/{self.program}"

    @property
    def full_name(self):
        return " ".join([self.name, str(self.ranks), *self.arguments])


def fetch(build):
    """The folder test/mpi of MPICH's source, got with apt's own sources of packages, once."""
    tests = build / f"mpich-{VERSION}/test/mpi"
    mark = build / f".source-{VERSION}"
    if mark.exists():
        return tests
    build.mkdir(parents=True, exist_ok=True)
    try:
        archive, version = debian_source.fetch("mpich", build)
    except debian_source.Unavailable as reason:
        sys.exit(f"mpich: {reason}")
    if version != VERSION:
        sys.exit(f"mpich: this system's mpich is {version}; put mpich_{VERSION}.orig.tar.xz into {build}")
    with tarfile.open(archive) as packed:
        wanted = [member for member in packed if "/test/mpi/" in member.name]
        packed.extractall(build, members=wanted, filter="data")
    command = ["bash", GENERATOR, f"--with-dtpools-datatypes={GENERATED_TYPES}"]
    output_of(command, cwd=tests)
    mark.touch()
    return tests


def tests_of(root, folder):
    """Every test that the lists of a folder and those below it name."""
    for name in LISTS:
        path = root / folder / name
        if not path.exists():
            continue
        for line in path.read_text().splitlines():
            line = re.sub(r"@(\w+)@", lambda found: SWITCHES.get(found[1], "#"), line).strip()
            if not line or line.startswith("#"):
                continue
            first = line.split()[0]
            if (root / folder / first).is_dir():
                yield from tests_of(root, os.path.join(folder, first))
            else:
                yield parse(folder, line)


def parse(folder, line):
    """One line: program, number of ranks, then key=value. What has neither form is ignored, as runtests does."""
    program, *words = line.split()
    if "/" in program:
        below, program = program.rsplit("/", 1)
        folder = os.path.join(folder, below)
    ranks = int(words.pop(0)) if words and words[0].isdigit() else 2
    pairs = [word.split("=", 1) for word in words if "=" in word]
    values = dict(pairs)
    return Test(
        folder, program, ranks,
        arguments=tuple(value for key, value in pairs if key == "arg"),
        environment=tuple(value for key, value in pairs if key == "env"),
        seconds=int(values.get("timeLimit", DEFAULT_SECONDS)),
        memory_gb=float(values.get("mem", 0)),
        expectation=values.get("resultTest", "NoErrors"),
    )


def recipe(root, folder, program):
    """The sources of a program and the macros it is compiled with, as its folder's Makefile.am says."""
    text = re.sub(r"\\\n", " ", (root / folder / "Makefile.am").read_text())

    def variable(suffix):
        found = re.search(rf"^{re.escape(program)}_{suffix}\s*=(.*)$", text, re.M)
        return found[1].split() if found else []

    sources = [root / folder / name for name in variable("SOURCES") if name.endswith(SUFFIXES)]
    defines = [word for word in variable("CPPFLAGS") if word.startswith("-D")]
    if not sources:
        found = [path for path in (root / folder / f"{program}{suffix}" for suffix in SUFFIXES) if path.exists()]
        sources = found or [root / folder / f"{program}.c"]
    return [source if source.exists() else twin_of(source) for source in sources], defines


def twin_of(source):
    """Of a half in C that f08 lacks, that of f90: its autogen.sh would copy it."""
    return pathlib.Path(str(source).replace("/f08/", "/f90/"))
