"""Windows between hosts: random schedules beside an oracle, contention, the chapter's conformance programs where hosts are uneven, and targets that compute."""

import functools

from jobs import Job, ours
from lib.compiler import compile_program
from lib.commands import REPOSITORY
from lib.hosts import Hosts

CONFORMANCE = REPOSITORY / "tests/conformance"
PLACEMENTS = {
    "two hosts alike": ([2, 2], []),
    "three hosts, one with a single rank": ([2, 1, 2], []),
    "ranks dealt in turn": ([2, 2], ["--map-by", "node"]),
}
SEEDS = range(2, 8)
QUICK = (("schedules", "two hosts alike"), ("contention", "two hosts alike"))
# Ranks of all hosts have the same few cores.
SECONDS = 600
# The median of each kind of access to a rank that computes. A bound for machines that are busy: it takes about a tenth of a millisecond.
MEDIAN_MS = 50


def runs(site, source, counts, placed, *arguments):
    program = compile_program(site.prefix / "bin/mpicc", ["-I", CONFORMANCE, source, "-lm"], site.build / f"windows-{source.stem}")
    command, _ = ours(site, counts)
    with Hosts(len(counts)) as hosts:
        hosts[0].run([*command, *placed, program, *arguments], timeout=SECONDS).ok(source.stem)
        hosts.check_clean()


def answers(site, counts):
    with Hosts(len(counts)) as hosts:
        result = Job(site, hosts, site.usual, counts, "passive", MEDIAN_MS).succeed("passive")
    print("".join(f"        {line}\n" for line in result.output.splitlines() if line.startswith("passive ")), end="", flush=True)


def cases(site):
    folder = CONFORMANCE / "one_sided"
    for placement, (counts, placed) in PLACEMENTS.items():
        for source in sorted(folder.glob("*.c")):
            if not site.quick or (source.stem, placement) in QUICK:
                yield f"windows: {source.stem}, {placement}", functools.partial(runs, site, source, counts, placed)
        for seed in SEEDS if not site.quick else ():
            yield f"windows: schedules by seed {seed}, {placement}", functools.partial(runs, site, folder / "schedules.c", counts, placed, seed)
    yield "windows: a target computes, two hosts", functools.partial(answers, site, [1, 2])
    if not site.quick:
        yield "windows: a target computes, one host", functools.partial(answers, site, [3])
