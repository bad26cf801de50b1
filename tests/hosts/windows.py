"""Windows between hosts: random schedules beside an oracle, by their seeds, targets that compute, and windows that adapters access."""

import functools
import re

from jobs import Job, listed, ours
from lib.cases import Skip, require
from lib.compiler import compile_program
from lib.hosts import Hosts
from lib.programs import INCLUDES, ROOT

ADAPTER_WINDOW = ROOT / "robustness/programs/adapter_window.c"
# Puts, and gets, of that program at least.
MOVES = 440
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


def by_adapter(site):
    """Puts and gets are RDMA writes and reads of the device in software, which goes over the wire between the hosts."""
    if site.library != "weft":
        raise Skip("the device in software is ours alone")
    program = compile_program(site.prefix / "bin/mpicc", [ADAPTER_WINDOW], site.build / "adapter_window")
    command = [site.prefix / "bin/weft", "softrdma", "run", "--", site.prefix / "bin/mpiexec", "--transport", "rdma"]
    with Hosts(2) as hosts:
        where = ["-hosts", listed([1, 1]), "-n", 2]
        job = ["env", "SOFTRDMA_LINK_LAYER=ethernet", *command, *where, program, "moves"]
        result = hosts[0].run(job, timeout=60).ok("adapter_window")
        hosts.check_clean()
    moved = re.search(r"ok adapter_window 0 (\d+) (\d+)", result.output)
    require(moved and min(map(int, moved.groups())) >= MOVES, f"not by the adapter:\n{result.output}")


def cases(site):
    yield "windows: by an adapter, two hosts", functools.partial(by_adapter, site)
    yield "windows: a target computes, two hosts", functools.partial(answers, site, [1, 2])
    if site.quick:
        return
    yield "windows: a target computes, one host", functools.partial(answers, site, [3])
    for placement, (counts, placed) in PLACEMENTS.items():
        for seed in SEEDS:
            yield f"windows: schedules by seed {seed}, {placement}", functools.partial(follows, site, counts, placed, seed)
