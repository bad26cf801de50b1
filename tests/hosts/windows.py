"""Windows between hosts: random schedules beside an oracle, by their seeds, and targets that compute."""

import functools

from jobs import Job, ours
from lib.compiler import compile_program
from lib.hosts import Hosts
from lib.programs import INCLUDES, ROOT

SCHEDULES = ROOT / "conformance/one_sided/schedules.c"
PLACEMENTS = {
    "two hosts alike": ([2, 2], []),
    "three hosts, one with a single rank": ([2, 1, 2], []),
    "ranks dealt in turn": ([2, 2], ["--map-by", "node"]),
}
SEEDS = range(2, 8)
# Ranks of all hosts have the same few cores.
SECONDS = 600


def follows(site, counts, placed, seed):
    program = compile_program(site.prefix / "bin/mpicc", [*INCLUDES, SCHEDULES, "-lm"], site.build / "windows-schedules")
    command, _ = ours(site, counts)
    with Hosts(len(counts)) as hosts:
        hosts[0].run([*command, *placed, program, seed], timeout=SECONDS).ok("schedules")
        hosts.check_clean()


def answers(site, counts):
    with Hosts(len(counts)) as hosts:
        result = Job(site, hosts, site.usual, counts, "passive").succeed("passive")
    print("".join(f"        {line}\n" for line in result.output.splitlines() if line.startswith("passive ")), end="", flush=True)


def cases(site):
    yield "windows: a target computes, two hosts", functools.partial(answers, site, [1, 2])
    if site.quick:
        return
    yield "windows: a target computes, one host", functools.partial(answers, site, [3])
    for placement, (counts, placed) in PLACEMENTS.items():
        for seed in SEEDS:
            yield f"windows: schedules by seed {seed}, {placement}", functools.partial(follows, site, counts, placed, seed)
