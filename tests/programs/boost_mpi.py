"""Boost.MPI, MPI for C++ with serialization: its own tests at the numbers of ranks that its Jamfile names, 1 to 48."""

import re
import shutil

from lib.cases import end_of
from workshop import Failed

NAME = "boost"
TESTS = "libs/mpi/test"
# What b2 runs a test on where the Jamfile names no numbers.
USUAL_RANKS = "1 2 3 4 7 8 13 17"
# Compiling is all of the time here, and nothing is measured.
MAKEFILE = """\
CXXFLAGS = -O0 -w -std=c++14 -Iinclude
LIBRARY = $(patsubst %.cpp,%.o,$(wildcard libs/mpi/src/*.cpp libs/serialization/src/*.cpp))
all: $(TESTS)
# The rule of make's own that would compile and link at once.
%: %.cpp
%.o: %.cpp
\t{mpicxx} $(CXXFLAGS) -c $< -o $@
library.a: $(LIBRARY)
\tar r $@ $(LIBRARY)
%: %.o library.a
\t{mpicxx} $< library.a -o $@
.SECONDARY:
"""


def build(workshop):
    source, version = workshop.debian_source("boost1.81", only="boost/libs/*")
    # The archive holds each library's headers in a folder of its own; Boost's own build joins them as well.
    for headers in sorted([*source.glob("libs/*/include"), *source.glob("libs/numeric/*/include")]):
        shutil.copytree(headers, source / "include", dirs_exist_ok=True)
    (source / "Makefile").write_text(MAKEFILE.format(mpicxx=workshop.mpicxx))
    programs = sorted({program for program, _ in tests(source)})
    workshop.make(source, "boost.log", f"TESTS={' '.join(programs)}")
    return source, version


def tests(source):
    """Each test of its Jamfile: the program, as a path without suffix, and its numbers of ranks."""
    jamfile = (source / TESTS / "Jamfile.v2").read_text()
    for line in re.findall(r"^ *\[ mpi-test (.*) \]$", jamfile, re.M):
        name, sources, _, ranks, *_ = (part.strip() for part in f"{line}:::".split(":"))
        program = (sources or name).removesuffix(".cpp")
        yield f"{TESTS}/{program}", [int(number) for number in (ranks or USUAL_RANKS).split()]


def suite(workshop, source):
    wrong, runs = [], 0
    for program, ranks in tests(source):
        for number in ranks:
            words = [*workshop.launcher(), "-n", str(number), str(source / program)]
            done = workshop.attempt(words, source / TESTS)
            runs += 1
            if done.code != 0:
                wrong.append(f"{program} on {number} ranks: exit code {done.code}\n{end_of(done.output)}")
    if wrong or not runs:
        raise Failed(f"{len(wrong)} of {runs} runs failed\n" + "\n".join(wrong))
    return f"{runs} runs of its tests on 1 to 48 ranks"
