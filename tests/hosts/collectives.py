"""Collective operations between hosts: the conformance programs of that chapter, on hosts that are alike, uneven and dealt ranks in turn."""

import functools

from jobs import ours
from lib.compiler import compile_program
from lib.commands import REPOSITORY
from lib.hosts import Hosts

CONFORMANCE = REPOSITORY / "tests/conformance"
# These count the pieces of memory that the processes of one host share.
OF_ONE_HOST = ("many_arenas", "shared_memory", "without_arena")
PLACEMENTS = {
    "two hosts alike": ([2, 2], []),
    "three hosts, one with a single rank": ([2, 1, 2], []),
    "ranks dealt in turn": ([2, 2], ["--map-by", "node"]),
}
QUICK = ("vector_forms", "two hosts alike")
# Programs of thousands of operations, where ranks of all hosts have the same few cores.
SECONDS = 600


def runs(site, name, counts, placed):
    source = CONFORMANCE / f"collectives/{name}.c"
    program = compile_program(site.prefix / "bin/mpicc", ["-I", CONFORMANCE, source], site.build / f"collectives-{name}")
    command, _ = ours(site, counts)
    with Hosts(len(counts)) as hosts:
        hosts[0].run([*command, *placed, program], timeout=SECONDS).ok(name)
        hosts.check_clean()


def cases(site):
    programs = sorted(source.stem for source in (CONFORMANCE / "collectives").glob("*.c"))
    for placement, (counts, placed) in PLACEMENTS.items():
        for name in programs:
            if name not in OF_ONE_HOST and (not site.quick or (name, placement) == QUICK):
                yield f"collectives: {name}, {placement}", functools.partial(runs, site, name, counts, placed)
