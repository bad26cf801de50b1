"""More messages, ranks or waiting than there is room for."""

import os

from lib.cases import Skip, require
from lib.leftovers import Watched

# The documented limit of a receiver's memory for what it has not asked for, per sender and in all.
UNEXPECTED_LIMIT_MIB = 64
IDLE_LIMIT_MS = 5
CYCLES = 100


def flood(site, messages, mode):
    program = site.program("flood")
    site.mpirun(3, program, messages, UNEXPECTED_LIMIT_MIB, mode, timeout=60 + messages // 20_000).ok("flood")


def idle(site, call):
    program = site.program("idle")
    site.mpirun(2, program, IDLE_LIMIT_MS, call).ok("idle")


def storm(site, policy):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one core")
    result = site.mpirun(2, "--bind-to", "core", site.program("storm"), policy)
    if "no real-time priority" in result.output:
        raise Skip("no real-time priority, without which others on this machine put ranks to sleep")
    result.ok("storm")


def many_ranks(site, ranks, largest):
    program = site.program("exchange")
    result = site.mpirun(ranks, program, largest, timeout=180).ok("exchange")
    require(f"ranks={ranks}" in result.output, f"not one job of {ranks} ranks:\n{result.output}")


def start_and_stop(site):
    """Many jobs in a row: no process (every job is checked), no name in /dev/shm and /tmp stays."""
    program = site.program("exchange")
    with Watched() as watched:
        for _ in range(CYCLES):
            site.mpirun(2, program, 65536, before=watched.enter).ok("exchange")
        watched.check()


def descriptors(site):
    site.mpirun(2, site.program("leftovers")).ok("leftovers")


def arenas(site, communicators, ranks):
    site.mpirun(ranks, site.program("arenas"), communicators, timeout=60 + communicators // 1000).ok("arenas")


def cases(site):
    messages = 10_000_000 if site.full else 300_000
    for mode in ("outside", "inside"):
        where = "asleep outside MPI" if mode == "outside" else "blocked in MPI_Recv"
        yield f"{messages} unexpected messages, receiver {where}", lambda mode=mode: flood(site, messages, mode)
    for call in ("recv", "wait", "waitany", "probe", "barrier", "two-threads"):
        yield f"a second in {call} costs at most {IDLE_LIMIT_MS} ms", lambda call=call: idle(site, call)
    yield "a late rank puts nobody to sleep for good", lambda: storm(site, "by time")
    yield "one that stays awake for less than a wake is seen to", lambda: storm(site, "turns")
    for ranks, largest in ((16, 1 << 20), (64, 1 << 16)):
        yield f"{ranks} ranks", lambda ranks=ranks, largest=largest: many_ranks(site, ranks, largest)
    communicators = 1 << 20 if site.full else 2560
    for ranks in (2, 4):
        what = f"{communicators} communicators that share memory, in turn, {ranks} ranks"
        yield what, lambda ranks=ranks: arenas(site, communicators // (ranks // 2), ranks)
    yield f"{CYCLES} jobs in a row leave nothing", lambda: start_and_stop(site)
    yield "descriptors and threads after MPI_Finalize", lambda: descriptors(site)
