"""Jobs whose ways are mixed: shared memory within a host, RDMA between two hosts that have an adapter, TCP to a third that has none. Which way
leads to whom nobody tells them. The adapter is the device in software, which the hosts' kernels list as they list others."""

import functools
import os
import random
import re

import conformance
from jobs import LAUNCHERS, Job
from kills import Battery
from lib.cases import Skip, require
from lib.compiler import compile_program
from lib.hosts import Hosts
from lib.programs import all_programs
from stress import SOURCES

COUNTS = [2, 2, 2]
# Of programs that take long where many ranks have few cores.
FEW = [2, 1, 1]
WITH_ADAPTER = (0, 1)
DEFAULT, NAMED = "mpiexec over what there is", "mpiexec over what there is, by name"
CHAPTERS = ("point_to_point", "collectives", "communicators", "one_sided", "partitioned", "sessions", "threads", "tools", "topologies")
QUICK = re.compile("collectives/vector_forms|one_sided/(schedules|contention)|point_to_point/bulk")
PROGRAM_SECONDS = 600
STRESS_SECONDS, STRESS_LIMIT = 20, 200
KILLS = 20
PLACEMENTS = ([1, 1, 1], [2, 1, 1], [1, 1, 2], [1, 2, 1])


def list_adapters(hosts):
    for index in WITH_ADAPTER:
        hosts[index].list_adapter()


def bed(site):
    if site.library != "weft":
        raise Skip("the device in software is ours alone")
    return Hosts(len(COUNTS))


def expected(rank):
    """Links of a rank that has talked to all: to those of its host, to those of the other one with an adapter, to all others."""
    place = [host for host, count in enumerate(COUNTS) for _ in range(count)]
    here = place[rank]
    near = COUNTS[here] - 1
    by_adapter = sum(COUNTS[host] for host in WITH_ADAPTER if host != here) if here in WITH_ADAPTER else 0
    return near, by_adapter, sum(COUNTS) - 1 - near - by_adapter


def by_all_ways(site, launcher):
    with bed(site) as hosts:
        list_adapters(hosts)
        output = Job(site, hosts, launcher, COUNTS, "ways").succeed("ways").output
    found = {int(rank): (int(shm), int(rdma), int(tcp)) for rank, shm, rdma, tcp in re.findall(r"^ways (\d+) (\d+) (\d+) (\d+)$", output, re.M)}
    wanted = {rank: expected(rank) for rank in range(sum(COUNTS))}
    require(found == wanted, f"links by shared memory, RDMA, TCP: {found}, expected {wanted}\n{output}")


def conforms(site, program):
    binary = conformance.compiled(site, program)
    with bed(site) as hosts:
        list_adapters(hosts)
        words, env = LAUNCHERS[DEFAULT](site, FEW)
        result = hosts[0].run([*words, binary], env, timeout=PROGRAM_SECONDS)
        wrong = program.verdict(result.code, result.output)
        require(wrong is None, f"{wrong}:\n{result.output[-4000:]}")
        hosts.check_clean()


def stress(site, seed):
    program = compile_program(site.prefix / "bin/mpicc", sorted(SOURCES.glob("*.c")), site.build / "stress")
    with bed(site) as hosts:
        list_adapters(hosts)
        words, env = LAUNCHERS[DEFAULT](site, FEW)
        # A job that hangs says what it waits for before the test gives up.
        result = hosts[0].run([*words, "--timeout", STRESS_LIMIT, program, STRESS_SECONDS, seed], env, timeout=STRESS_LIMIT + 30).ok("stress")
        hosts.check_clean()
    print("        " + next(line for line in result.output.splitlines() if line.startswith("ok stress")), flush=True)


def cases(site):
    yield "mixed ways: by default", functools.partial(by_all_ways, site, DEFAULT)
    yield "mixed ways: --transport auto", functools.partial(by_all_ways, site, NAMED)
    for program in all_programs():
        if program.runs_at(sum(FEW)) and (QUICK.search(program.name) or not site.quick and program.chapter in CHAPTERS):
            yield f"mixed ways: {program.name}", functools.partial(conforms, site, program)
    if site.quick:
        return
    seed = int(os.environ.get("SEED") or random.randrange(1, 1 << 20))
    yield f"mixed ways: stress for {STRESS_SECONDS} s, seed {seed}", functools.partial(stress, site, seed)
    for launcher, survivors_end in (("mpiexec", False), ("MPICH's Hydra", True)):
        battery = Battery(site, f"{launcher} over what there is", survivors_end, PLACEMENTS, list_adapters)
        what = f"mixed ways: {KILLS} kills under {launcher}, from seed {seed}"
        yield what, functools.partial(battery.run, range(seed, seed + KILLS))
