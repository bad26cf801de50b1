"""Windows between hosts: the conformance and the wrong-argument programs of that chapter, random schedules beside an oracle, and targets that compute."""

import functools

from jobs import Job, ours
from lib.compiler import compile_program
from lib.commands import REPOSITORY
from lib.hosts import Hosts

CONFORMANCE, ERRORS = REPOSITORY / "tests/conformance", REPOSITORY / "tests/errors"
WRONG = ("window_arguments", "window_inquiries", "memory_arguments")
PLACEMENTS = {
    "two hosts alike": ([2, 2], []),
    "three hosts, one with a single rank": ([2, 1, 2], []),
    "ranks dealt in turn": ([2, 2], ["--map-by", "node"]),
}
ALONE = ("three ranks, each on a host", ([1, 1, 1], []))
SEEDS = range(2, 7)
QUICK = (("schedules", "two hosts alike"), ("contention", "two hosts alike"))
# Ranks of all hosts have the same few cores.
SECONDS = 600
# The median of each kind of access to a rank that computes. A bound for machines that are busy: it takes about a tenth of a millisecond.
MEDIAN_MS = 50


def runs(site, source, counts, placed, *arguments):
    words = ["-I", CONFORMANCE, "-I", ERRORS, source, "-lm"]
    program = compile_program(site.prefix / "bin/mpicc", words, site.build / f"windows-{source.stem}")
    command, _ = ours(site, counts)
    with Hosts(len(counts)) as hosts:
        hosts[0].run([*command, *placed, program, *arguments], timeout=SECONDS).ok(source.stem)
        hosts.check_clean()


def answers(site, counts):
    with Hosts(len(counts)) as hosts:
        result = Job(site, hosts, site.usual, counts, "passive", MEDIAN_MS).succeed("passive")
    print("".join(f"        {line}\n" for line in result.output.splitlines() if line.startswith("passive ")), end="", flush=True)


def cases(site):
    schedules = CONFORMANCE / "one_sided/schedules.c"
    sources = sorted((CONFORMANCE / "one_sided").glob("*.c")) + [ERRORS / f"{name}.c" for name in WRONG]
    for placement, (counts, placed) in [*PLACEMENTS.items(), ALONE]:
        for source in sources:
            if not site.quick or (source.stem, placement) in QUICK:
                yield f"windows: {source.stem}, {placement}", functools.partial(runs, site, source, counts, placed)
    if not site.quick:
        for seed in SEEDS:
            for placement, (counts, placed) in PLACEMENTS.items():
                yield f"windows: schedules by seed {seed}, {placement}", functools.partial(runs, site, schedules, counts, placed, seed)
        yield "windows: a target computes, one host", functools.partial(answers, site, [3])
    yield "windows: a target computes, two hosts", functools.partial(answers, site, [1, 2])
