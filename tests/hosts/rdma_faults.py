"""What fails over RDMA between hosts, with receive pools behind a queue pair for each peer (S) and over XRC (X): ranks and hosts that die, cables that
lose and break, registrations that fail, receivers that are not ready. Nothing hangs, nothing is lost, and errors name whom."""

import functools
import os
import re
import tempfile
import time

import faults
from jobs import LAUNCHERS
from lib.cases import Skip, require
from lib.compiler import compile_program
from lib.hosts import Hosts
from lib.outlived import OUTLIVED, await_lines
from lib.programs import ROOT
from stress import SECONDS as STRESS_SECONDS
from stress import stress

PROGRAMS = ROOT / "robustness/programs"
COUNTS = [2, 2]
# Of WEFT_NETWORK_TIMEOUT; and what may take to be told of a silence of that length, on a loaded machine.
SILENCE, TOLD_SECONDS = {"WEFT_NETWORK_TIMEOUT": "4"}, 40
AWAITED = ("recv", "large", "barrier", "flush", "put", "get")
# A process registers that many buffers of its own and of its windows, and more, before it has moved all.
REGISTRATIONS = range(1, 25)
ERRORS = re.compile("Cannot allocate memory|is lost|a process of the operation has aborted")
# Messages that find no buffer: far more than the pools have.
UNEXPECTED, LIMIT_MIB = 100_000, 64
# Pairs of jobs of which one ends beside the other: seconds of the elder and of the younger, which begins that much later. Whose processes execute what
# comes for both depends on the hosts' kernels.
PAIRS, LENGTHS, LATER_SECONDS = 40, ((1, 2), (3, 1)), 0.7
# The packet for another process over which one is killed, how many are to be, and on how many pairs of hosts that is tried at most.
ABANDONED, ENOUGH_KILLED, MOST_BEDS = 100, 2, 16
WIRES = {"1 % loss": {"loss_percent": 1}, "5 % loss": {"loss_percent": 5}}


def ours_alone(site):
    if site.library != "weft":
        raise Skip("the device in software is ours alone")


def one_fails(site, launcher, fail, seconds):
    ours_alone(site)
    faults.one_fails(site, launcher, fail, seconds)


def awaited(site, pools, what, fail):
    """The library alone tells: a death that no kernel reports is a silence of the adapter's."""
    ours_alone(site)
    survivors = [0, 1, 2] if fail is faults.kill_rank else [0, 1]
    faults.awaited(site, what, fail, TOLD_SECONDS, f"MPICH's Hydra over RDMA, pools {pools}", survivors, SILENCE)


def unmet(site, pools, what):
    """A rank dies before any contact: its neighbour on the host tells those on others who want something of it."""
    ours_alone(site)
    with tempfile.TemporaryDirectory(dir=site.build) as folder, Hosts(2, share=[folder] if folder.startswith("/tmp/") else []) as hosts:
        over = os.path.join(folder, "over")
        words, env = LAUNCHERS[f"MPICH's Hydra over RDMA, pools {pools}"](site, COUNTS)
        binary = compile_program(site.prefix / "bin/mpicc", [PROGRAMS / "unmet.c"], site.build / "unmet-rdma")
        running = hosts[0].start([*words, "-disable-auto-cleanup", "sh", "-c", OUTLIVED, "sh", over, binary, what], env)
        try:
            await_lines(running, [f"ok unmet {what} {rank}\n" for rank in range(sum(COUNTS) - 1)], 2 * TOLD_SECONDS)
        finally:
            open(over, "w").close()
        result = running.finish(60)
        require("rank 3 is lost: its process has ended" in result.output, f"not said whom:\n{result.output}")
        hosts.check_clean()


def interrupted(site, launcher, times, seconds_each):
    ours_alone(site)
    faults.interrupted_link(site, launcher, times, seconds_each)


def run_with(site, hosts, pools, counts, device, program, *arguments, seconds=60):
    """A program of the other battery, on the device with further options."""
    binary = compile_program(site.prefix / "bin/mpicc", [PROGRAMS / f"{program}.c"], site.build / f"{program}-rdma")
    words, env = LAUNCHERS[f"mpiexec over RDMA, pools {pools}"](site, counts)
    at = words.index("--")
    return hosts[0].run([*words[:at], *device, *words[at:], binary, *arguments], env, timeout=seconds)


def registrations_fail(site, pools):
    """Whichever registration fails: the job fails with an error, or moves the same bytes another way."""
    ours_alone(site)
    codes = set()
    with Hosts(2) as hosts:
        for number in REGISTRATIONS:
            result = run_with(site, hosts, pools, [1, 1], ["--faults", f"fail=reg_mr:{number}"], "adapter_window", "moves")
            if result.code == 0:
                result.ok("adapter_window 0").ok("adapter_window 1")
            else:
                require(ERRORS.search(result.output), f"registration {number}: no error that says why:\n{result.output}")
            codes.add(result.code == 0)
            hosts.check_clean()
    require(codes == {True, False}, f"whichever registration failed, the job ended alike: {codes}")


def not_ready(site, pools, mode):
    """A receiver that has no buffer left is tried again: all messages come, in order."""
    ours_alone(site)
    with Hosts(3) as hosts:
        run_with(site, hosts, pools, [1, 1, 1], [], "flood", UNEXPECTED, LIMIT_MIB, mode, seconds=180).ok("flood")
        hosts.check_clean()


def beside(site, pools):
    """A process of one job's may execute what comes for another's. That it ends does the other no harm."""
    ours_alone(site)
    binary = compile_program(site.prefix / "bin/mpicc", [PROGRAMS / "one_way.c"], site.build / "one_way-rdma")
    words, env = LAUNCHERS[f"mpiexec over RDMA, pools {pools}"](site, [1, 1])
    with Hosts(2) as hosts:
        for pair in range(PAIRS):
            jobs = []
            for seconds in LENGTHS[pair % 2]:
                jobs.append(hosts[0].start([*words, binary, seconds], env | SILENCE))
                time.sleep(LATER_SECONDS)
            for job in jobs:
                job.finish(TOLD_SECONDS).ok("one_way")
        hosts.check_clean()


def killed_beside(site, pools):
    """A process that is killed over a packet for another job's does that no harm: who sent it sends it again, by another queue pair."""
    ours_alone(site)
    binary = compile_program(site.prefix / "bin/mpicc", [PROGRAMS / "one_way.c"], site.build / "one_way-rdma")
    words, env = LAUNCHERS[f"mpiexec over RDMA, pools {pools}"](site, [1, 1])
    at = words.index("--")
    faulty = [*words[:at], "--faults", f"abandon={ABANDONED}", *words[at:]]
    killed = 0
    for _ in range(MOST_BEDS):
        # Whose process a host's kernel hands the packets to is the same as long as the host is there.
        with Hosts(2) as hosts:
            elder = hosts[0].start([*faulty, binary, 2 * LATER_SECONDS], env | SILENCE)
            time.sleep(LATER_SECONDS / 2)
            hosts[0].run([*words, binary, 2 * LATER_SECONDS], env | SILENCE, timeout=TOLD_SECONDS).ok("one_way")
            result = elder.finish(TOLD_SECONDS)
            hosts.check_clean()
        killed += result.code != 0
        require(result.code == 0 or "signal 9" in result.output, f"the job beside ended otherwise:\n{result.output}")
        if killed == ENOUGH_KILLED:
            break
    require(killed, f"on {MOST_BEDS} pairs of hosts no process executed a packet for another job's")


def cases(site):
    kinds = {
        "a rank is killed": (faults.kill_rank, faults.TOLD_SECONDS),
        "a host is killed": (faults.kill_host, faults.TOLD_SECONDS),
        "a host vanishes": (faults.vanish, faults.HOST_SECONDS),
        "a link goes down for good": (faults.cut, faults.HOST_SECONDS),
    }
    for pools in "XS":
        launcher = f"mpiexec over RDMA, pools {pools}"
        for name, (fail, seconds) in kinds.items():
            if not site.quick or fail is faults.kill_rank:
                yield f"fault over RDMA, pools {pools}: {name}", functools.partial(one_fails, site, launcher, fail, seconds)
        if pools == "X" or not site.quick:
            yield f"fault over RDMA, pools {pools}: a rank dies before any contact", functools.partial(unmet, site, pools, "receive")
        if pools == "X":
            yield "fault over RDMA, pools X: a process is killed over another's packet", functools.partial(killed_beside, site, pools)
        if site.quick:
            continue
        yield f"fault over RDMA, pools {pools}: a rank dies before any contact of a sender's", functools.partial(unmet, site, pools, "send")
        yield f"fault over RDMA, pools {pools}: registrations fail", functools.partial(registrations_fail, site, pools)
        for what in AWAITED:
            yield f"fault over RDMA, pools {pools}: the rank awaited in {what} is killed", functools.partial(awaited, site, pools, what, faults.kill_rank)
            yield f"fault over RDMA, pools {pools}: the host awaited in {what} vanishes", functools.partial(awaited, site, pools, what, faults.vanish)
        yield f"fault over RDMA, pools {pools}: a link that is down for 5 s", functools.partial(interrupted, site, launcher, 1, 5)
        yield f"fault over RDMA, pools {pools}: a link that flaps", functools.partial(interrupted, site, launcher, 5, 1)
        for wire, shape in WIRES.items():
            what = f"fault over RDMA, pools {pools}: stress for {STRESS_SECONDS} s, {wire}"
            yield what, functools.partial(stress, site, 1, launcher=launcher, **shape)
        yield f"fault over RDMA, pools {pools}: {PAIRS} jobs end beside others", functools.partial(beside, site, pools)
        for mode in ("outside", "inside"):
            what = f"fault over RDMA, pools {pools}: {UNEXPECTED} unexpected messages, receiver {mode} MPI"
            yield what, functools.partial(not_ready, site, pools, mode)
