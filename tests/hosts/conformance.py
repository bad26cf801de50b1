"""The programs of tests/conformance and tests/errors between hosts, and those with sections of tests/fortran: what the standard says
does not depend on where ranks are."""

import functools
import re

from jobs import ours
from lib.cases import require
from lib.compiler import FFLAGS, compile_program
from lib.hosts import Hosts
from lib.programs import INCLUDES, all_programs, fortran_programs

PLACEMENTS = {
    "two hosts alike": ([2, 2], []),
    "three hosts": ([1, 1, 1], []),
}
# Collective operations and windows are composed of parts within hosts and between them, and who reads and writes a file for others is
# chosen by host, so these do depend on it.
COMPOSED = ("collectives", "one_sided", "files")
OF_COMPOSED = {
    "three hosts, one with a single rank": ([2, 1, 2], []),
    "ranks dealt in turn": ([2, 2], ["--map-by", "node"]),
}
QUICK = re.compile(
    "collectives/vector_forms|files/views|communicators/(intercomm|split_by_resource)|environment/errors_are_fatal|one_sided/(schedules|contention)|point_to_point/(bulk|matched_probe)"
    "|sessions/models|threads/shared_requests|topologies/neighborhoods"
)
# Programs of thousands of operations, where ranks of all hosts have the same few cores.
SECONDS = 600


def compiled(site, program):
    binary = site.build / f"conformance-{program.name.replace('/', '-')}"
    if program.chapter == "fortran":
        return compile_program(site.prefix / "bin/mpifort", [*program.fortran_sources(), "-J", site.build], binary, FFLAGS)
    return compile_program(site.prefix / "bin/mpicc", [*INCLUDES, program.source, "-lm"], binary)


def runs(site, program, counts, placed):
    binary = compiled(site, program)
    command, _ = ours(site, counts)
    with Hosts(len(counts)) as hosts:
        result = hosts[0].run([*command, *placed, binary], timeout=SECONDS)
        wrong = program.verdict(result.code, result.output)
        require(wrong is None, f"{wrong}:\n{result.output[-4000:]}")
        hosts.check_clean()


def cases(site):
    sections = [program for program in fortran_programs() if program.source.stem.endswith("sections")]
    for program in all_programs() + sections:
        placements = PLACEMENTS | (OF_COMPOSED if program.chapter in COMPOSED else {})
        for placement, (counts, placed) in placements.items():
            is_quick = placement == "two hosts alike" and QUICK.search(program.name)
            if program.runs_at(sum(counts)) and (is_quick or not site.quick):
                yield f"conformance: {program.name}, {placement}", functools.partial(runs, site, program, counts, placed)
