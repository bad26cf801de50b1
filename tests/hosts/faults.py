"""Ranks, hosts, links and launchers that fail: every wait ends in bounded time with a line that names whom, and nothing is left on any host that lives."""

import functools
import os
import re
import signal
import tempfile
import time

from jobs import Job, ours, ranks_on
from lib.cases import require
from lib.hosts import Hosts, ids
from lib.outlived import OUTLIVED

COUNTS = [2, 2]
RANKS = sum(COUNTS)
START_SECONDS = 60
# What may take on a loaded machine: a death that a kernel reports; silence, which mpiexec's --host-timeout of 20 s ends; and silence
# that only the library's time-out of 30 s ends.
TOLD_SECONDS, HOST_SECONDS, SILENCE_SECONDS = 20, 40, 60
SSHD_SECONDS = 60
# For connections of six ranks on two hosts, by all lanes.
ENOUGH_DESCRIPTORS = 200
# What names host 1 or one of its ranks.
WHOM = re.compile(r"host1\b|rank [23]\b|10\.77\.0\.2\b|fd77::2\b")
AWAITED = "recv any ssend large probe barrier allreduce flush get put accumulate lock holder".split()
# The others access the part of one who lives, and the dead one was about to put something there.
LIVING = ["origin"]


def running(job):
    """Waits until all ranks have heard of each other."""
    deadline = time.monotonic() + START_SECONDS
    while len(re.findall(r"^running \d+ \d+$", job.running.text(), re.M)) < RANKS:
        require(job.running.process.poll() is None and time.monotonic() < deadline, f"the job does not run:\n{job.running.output()}")
        time.sleep(0.02)


def require_named(result, seconds):
    require(result.code != 0, f"exit code 0:\n{result.output}")
    require(WHOM.search(result.output), f"not told whom it was that failed:\n{result.output}")
    print(f"        ended after {seconds:.1f} s", flush=True)


def one_fails(site, launcher, fail, seconds, program="steady", arguments=(600,)):
    """While the ranks talk `fail(hosts, program)` makes something fail on host 1; the job has to end by itself."""
    with Hosts(2) as hosts:
        job = Job(site, hosts, launcher, COUNTS, program, *arguments)
        running(job)
        fail(hosts, site.program(program))
        begin = time.monotonic()
        result = job.running.finish(seconds)
        require_named(result, time.monotonic() - begin)
        ranks_end(hosts, seconds)
        # A session of sshd that nobody speaks to any more ends by itself, and is sshd's affair.
        hosts.check_clean(SSHD_SECONDS)


def ranks_end(hosts, seconds):
    """Ranks, agents and what they have made are gone from all hosts that live."""
    begin = time.monotonic()
    while left := [what for what in hosts.left() if ": sshd" not in what]:
        require(time.monotonic() < begin + seconds, f"left behind after {seconds} s: {left}")
        time.sleep(0.05)
    print(f"        and all its ranks {time.monotonic() - begin:.1f} s later", flush=True)


def kill_rank(hosts, program):
    os.kill(ranks_on(hosts[1], program)[0], signal.SIGKILL)


def kill_host(hosts, _):
    hosts[1].kill()


def vanish(hosts, _):
    hosts[1].vanish()


def cut(hosts, _):
    hosts[1].link(False)


def kill_agent(hosts, program):
    """What started the ranks on host 1 and is no rank."""
    ranks = ranks_on(hosts[1], program)
    agents = [pid for pid, line in hosts[1].processes().items() if pid not in ranks and "mpiexec" in line and "sshd" not in line]
    require(agents, f"no agent among {hosts[1].processes()}")
    # The first has started the others: the ranks, and a guard that ends them when it dies.
    os.kill(agents[0], signal.SIGKILL)


def kill_connection(hosts, _):
    """The sshd through which host 1 was reached."""
    sessions = [pid for pid, line in hosts[1].processes().items() if line.startswith("sshd: ")]
    require(sessions, f"no session of sshd among {hosts[1].processes()}")
    for pid in sessions:
        os.kill(pid, signal.SIGKILL)


def kill_launcher(site, launcher, number):
    """Its ranks everywhere end with it, and their agents."""
    with Hosts(3) as hosts:
        counts = [1, 2, 1]
        job = Job(site, hosts, launcher, counts, "steady", 600)
        running(job)
        first = [pid for pid, line in hosts[0].processes().items() if "mpiexec" in line.split()[0]]
        require(first, f"no mpiexec among {hosts[0].processes()}")
        os.kill(min(first), number)
        begin = time.monotonic()
        hosts.check_clean(TOLD_SECONDS)
        print(f"        all gone after {time.monotonic() - begin:.1f} s", flush=True)
        job.running.end()


def interrupted_link(site, launcher, times, seconds_each):
    """A link that is down for a while, or again and again, costs time and nothing else."""
    with Hosts(2) as hosts:
        job = Job(site, hosts, launcher, COUNTS, "steady", times * seconds_each * 2 + 3)
        running(job)
        for _ in range(times):
            time.sleep(seconds_each if times > 1 else 1)
            hosts[1].link(False)
            time.sleep(seconds_each)
            hosts[1].link(True)
        job.succeed("steady", 180)


def told(job, ranks, seconds, begin):
    """Waits until each of the ranks has said that it was told."""
    while missing := [rank for rank in ranks if f"told {rank} class" not in job.running.text()]:
        require(time.monotonic() - begin < seconds, f"ranks {missing} were not told after {seconds} s:\n{job.running.output()}")
        time.sleep(0.02)
    print(f"        told after {time.monotonic() - begin:.1f} s", flush=True)


def last_rank(job, host, program):
    """The id, on this machine, of the process that calls itself the last rank."""
    inside = re.search(rf"^running {RANKS - 1} (\d+)$", job.running.text(), re.M)[1]
    return next(pid for pid in ranks_on(host, program) if ids(pid)[-1] == inside)


def told_of(fail, what):
    """Who is told, where hosts share memory: a rank of the same host reaches the dead one's part as before."""
    return [0, 1, 2] if fail is kill_rank and what != "flush" else [0, 1]


def awaited(site, what, fail, seconds, launcher="MPICH's Hydra", survivors=None, env=None):
    """The library alone tells those who wait for the last rank that it, or its host, is gone."""
    survivors = survivors or told_of(fail, what)
    with tempfile.TemporaryDirectory(dir=site.build) as folder, Hosts(2, share=[folder] if folder.startswith("/tmp/") else []) as hosts:
        over = os.path.join(folder, "over")
        before = ["-disable-auto-cleanup", "sh", "-c", OUTLIVED, "sh", over]
        job = Job(site, hosts, launcher, COUNTS, "waits", what, env=env, before=before)
        running(job)
        if fail is kill_rank:
            os.kill(last_rank(job, hosts[1], site.program("waits")), signal.SIGKILL)
        else:
            fail(hosts, site.program("waits"))
        begin = time.monotonic()
        try:
            told(job, survivors, seconds, begin)
            for rank, number, text in re.findall(r"^told (\d+) class (\d+): (.*)$", job.running.text(), re.M):
                if what in LIVING:
                    require(number == "0", f"rank {rank} waited for nobody who died, and was told {text}")
                else:
                    require(number != "0", f"rank {rank} was not told")
                    require("PROC_ABORTED" in text or WHOM.search(job.running.text()), f"rank {rank} was told something else: {text}")
        finally:
            open(over, "w").close()
            # Hydra waits for ever for a host that vanished.
            job.running.end()


def few_descriptors(site, limit):
    """A job whose ranks may have so few descriptors works, or ends and says why."""
    with Hosts(2) as hosts:
        before = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"]
        result = Job(site, hosts, "mpiexec", [3, 3], "everybody", before=before).finish(60)
        if result.code != 0:
            require(re.search("descriptor|open files|ulimit -n", result.output), f"not told why:\n{result.output}")


def lowered_limit(site, left):
    """The program lowers its limit of descriptors once MPI is initialised: it works, or ends, tells why and leaves nothing."""
    with Hosts(2) as hosts:
        result = Job(site, hosts, "mpiexec", [3, 3], "lowered", left).finish(SILENCE_SECONDS)
        if left >= ENOUGH_DESCRIPTORS:
            result.ok("lowered")
        elif result.code != 0:
            require(re.search("descriptor|open files|ulimit -n", result.output), f"not told why:\n{result.output}")
        print(f"        exit code {result.code} after {result.seconds:.1f} s", flush=True)


def full_memory(site):
    """On one host /dev/shm and /tmp have no room: nothing of ours lies there."""
    with Hosts(2) as hosts:
        for folder in ("/dev/shm", "/tmp"):
            hosts[1].output(["mount", "-o", "remount,size=64k", folder])
            hosts[1].run(["dd", "if=/dev/zero", f"of={folder}/full", "bs=4k"])
        Job(site, hosts, site.usual, [2, 2], "everybody").running.finish(240).ok("everybody")
        hosts[1].output(["rm", "/dev/shm/full", "/tmp/full"])
        hosts.check_clean()


def full_disk(site, into_files):
    """What ranks print cannot be written: the job ends, and says what and why."""
    with tempfile.TemporaryDirectory(dir=site.build) as folder, Hosts(2, share=[folder] if folder.startswith("/tmp/") else []) as hosts:
        command, _ = ours(site, [1, 1])
        if into_files:
            os.symlink("/dev/full", os.path.join(folder, "rank.1.out"))
            command = [*command, "--output-dir", folder]
        else:
            command = ["sh", "-c", 'exec "$@" >/dev/full', "sh", *command]
        result = hosts[0].run([*command, "sh", "-c", "echo said; sleep 600"], timeout=START_SECONDS)
        require(result.code == 1, f"exit code {result.code}:\n{result.output}")
        what = r"rank\.1\.out" if into_files else "standard output"
        require(re.search(f"{what} cannot be written: No space left", result.output), f"not told what cannot be written:\n{result.output}")
        hosts.check_clean()


def cases(site):
    kinds = {
        "a rank is killed": (kill_rank, TOLD_SECONDS),
        "a host is killed": (kill_host, TOLD_SECONDS),
        "a host vanishes": (vanish, HOST_SECONDS),
        "a link goes down for good": (cut, HOST_SECONDS),
        "the agent is killed": (kill_agent, TOLD_SECONDS),
        "the agent's connection is killed": (kill_connection, TOLD_SECONDS),
    }
    for name, (fail, seconds) in kinds.items():
        if not site.quick or fail in (kill_rank, kill_host):
            yield f"fault: {name}", functools.partial(one_fails, site, "mpiexec", fail, seconds)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        if not site.quick or number == signal.SIGKILL:
            yield f"fault: mpiexec gets {number.name}", functools.partial(kill_launcher, site, "mpiexec", number)
    yield "fault: standard output is on a full disk", functools.partial(full_disk, site, False)
    yield "fault: /dev/shm and /tmp of a host are full", functools.partial(full_memory, site)
    for left in (0,) if site.quick else (0, 1, 4, 200):
        yield f"fault: {left} descriptors more after MPI_Init", functools.partial(lowered_limit, site, left)
    if site.quick:
        return
    yield "fault: --output-dir is on a full disk", functools.partial(full_disk, site, True)
    yield "fault: a rank is killed, under MPICH's Hydra", functools.partial(one_fails, site, "MPICH's Hydra", kill_rank, TOLD_SECONDS)
    yield "fault: a link that is down for 5 s", functools.partial(interrupted_link, site, site.usual, 1, 5)
    yield "fault: a link that flaps", functools.partial(interrupted_link, site, site.usual, 5, 1)
    for what in AWAITED + LIVING:
        yield f"fault: the rank {'that put' if what in LIVING else 'awaited in ' + what} is killed", functools.partial(awaited, site, what, kill_rank, TOLD_SECONDS)
    for what in ("recv", "large", "barrier", "flush", "put", "holder"):
        yield f"fault: the host awaited in {what} vanishes", functools.partial(awaited, site, what, vanish, SILENCE_SECONDS)
    for limit in (8, 12, 16, 24, 48):
        yield f"fault: {limit} descriptors a rank", functools.partial(few_descriptors, site, limit)
