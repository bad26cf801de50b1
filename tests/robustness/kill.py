"""A rank or the launcher is killed at a random moment: the job ends, and nothing of it stays."""

import functools
import itertools
import os
import random
import re
import signal
import tempfile
import time

from lib.cases import Failure, require
from lib.leftovers import Watched
from lib.processes import marked, wait_until_gone

RANKS = 4
END_SECONDS = 40


def victims(job, name, count):
    """Waits until `count` processes of that name run, and gives their ids."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        pids = [pid for pid, comm in marked(job.mark) if comm == name]
        if len(pids) >= count:
            return pids
        require(job.process.poll() is None, f"the job ended by itself:\n{job.output()}")
        time.sleep(0.005)
    raise Failure(f"{count} processes {name} never ran:\n{job.output()}")


def kill_rank(site, watched, rounds, seed):
    """kill -9 of one rank; early rounds hit the start-up, later ones the traffic."""
    program = site.program("churn")
    choose = random.Random(seed)
    for number in range(rounds):
        early = number % 3 == 0
        job = site.start([*watched.enter, site.mpiexec, "-n", RANKS, program])
        pids = victims(job, "churn", 1 if early else RANKS)
        time.sleep(choose.uniform(0, 0.02 if early else 0.4))
        os.kill(choose.choice(pids), signal.SIGKILL)
        begin = time.monotonic()
        result = job.finish(END_SECONDS)
        where = f"round {number} of seed {seed}"
        require(result.code == 128 + signal.SIGKILL, f"{where}: exit code {result.code}, not 137:\n{result.output}")
        require(time.monotonic() - begin < END_SECONDS, f"{where}: the job took too long to end")
    watched.check()


def kill_launcher(site, watched, rounds, seed):
    """kill -9 of mpiexec: no rank survives it."""
    program = site.program("churn")
    choose = random.Random(seed)
    for number in range(rounds):
        job = site.start([*watched.enter, site.mpiexec, "-n", RANKS, program])
        victims(job, "churn", RANKS if number % 2 else 1)
        time.sleep(choose.uniform(0, 0.2))
        job.process.kill()
        job.process.wait()
        left = wait_until_gone(job.mark, END_SECONDS)
        require(not left, f"round {number} of seed {seed}: ranks outlived their launcher: {left}")
        job.finish(END_SECONDS)
    watched.check()


def bereave(site, program, *arguments, before=()):
    """Rank 1 of `program` is killed; both others have to come out of what they wait for with an error, and to say so."""
    result = site.start([site.mpiexec, "-n", 3, *before, site.program(program), *arguments]).finish(END_SECONDS)
    require(result.code == 128 + signal.SIGKILL, f"exit code {result.code}, not 137:\n{result.output}")
    for rank in (0, 2):
        said = " ".join(["ok", program, *arguments, str(rank)]) + "\n" in result.output
        require(said, f"rank {rank} did not come out of it with the error:\n{result.output}")


def kill_lock_holder(site):
    """The others get an error from the lock of a window that the dead one had."""
    bereave(site, "lock_holder")


WINDOW_ACCESSES = "put get accumulate fetch start wait holder".split()


def kill_in_window(site, access, before):
    """The others are told, or go on, when the target of their accesses dies; `before` may keep the kernel from copying."""
    bereave(site, "window_bereaved", access, before=before)


AWAITED = (
    "ibarrier iallreduce many ibcast persistent ineighbor neighbor barrier fence dup idup from_group"
).split()


def kill_awaited(site, operation):
    """The others come out of an operation in which they wait for the dead one, or for who does, with an error."""
    bereave(site, "bereaved", operation)


FILE_WRITES = list(itertools.product(("enable", "disable", "automatic"), ("blocking", "nonblocking", "split")))


def kill_in_file(site, phases, kind, rounds):
    """The others have an error when one dies in a collective write, and no byte is changed that nobody writes."""
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=site.build) as folder:
            bereave(site, "file_bereaved", phases, kind, f"{folder}/file")


CALLS = (
    "recv wait waitany waitsome waitall test testany testsome testall get_status probe iprobe mprobe improbe sendrecv persistent"
).split()


def kill_sender(site, call):
    """The others are told by every call that waits or tests for a message of the dead one, or of any rank beside it."""
    bereave(site, "lost_senders", call)


def survive(site, ranks, size, form, choose, rounds, numbers=range(3, 100)):
    """Whatever the last rank is killed in, each of the others has the right results or the error, and some have the error."""
    program = site.program("survivors")
    for _ in range(rounds):
        number, delay_us = choose.choice(numbers), choose.randrange(0, 2000 if size > 1000 else 60)
        command = [site.mpiexec, "-n", ranks, program, form, size, number, delay_us]
        result = site.start(command).finish(4 * END_SECONDS)
        where = " ".join(str(word) for word in command[1:])
        require(result.code == 128 + signal.SIGKILL, f"{where}: exit code {result.code}, not 137:\n{result.output}")
        errors = [re.search(f"ok survivors {rank} errors (\\d+)", result.output) for rank in range(ranks - 1)]
        require(all(errors), f"{where}: not all survivors came through:\n{result.output}")
        require(any(int(found[1]) > 0 for found in errors), f"{where}: nobody got an error:\n{result.output}")


def survive_making(site, seed):
    """The memory that ranks share is made in the eighth blocking operation of a communicator."""
    choose = random.Random(seed)
    for ranks in (2, 4, 5):
        for _ in range(20 if site.full else 4):
            survive(site, ranks, 16, "board", choose, 1, numbers=range(7, 9))


FORMS = "messages board nonblocking persistent inter".split()


def interrupt(site):
    """SIGINT and SIGTERM to mpiexec end the job."""
    program = site.program("churn")
    for number in (signal.SIGINT, signal.SIGTERM):
        job = site.start([site.mpiexec, "-n", RANKS, program])
        victims(job, "churn", RANKS)
        time.sleep(0.1)
        job.process.send_signal(number)
        result = job.finish(END_SECONDS)
        require(result.code != 0, f"{signal.Signals(number).name}: exit code 0")


def cases(site):
    rounds = 60 if site.full else 9
    seed = random.randrange(10**6)

    def watch(case, count):
        with Watched() as watched:
            case(site, watched, count, seed)

    yield f"kill -9 of a rank, {rounds} times", lambda: watch(kill_rank, rounds)
    yield f"kill -9 of mpiexec, {rounds // 3} times", lambda: watch(kill_launcher, rounds // 3)
    yield "kill -9 of who has a window's lock", lambda: kill_lock_holder(site)
    for access in WINDOW_ACCESSES:
        for how, before in (("", []), (", where the target copies", [site.plain("deny"), "reach"])):
            case = functools.partial(kill_in_window, site, access, before)
            yield f"kill -9 in a window: {access}{how}", case
    for operation in AWAITED:
        yield f"kill -9 of who is waited for: {operation}", lambda operation=operation: kill_awaited(site, operation)
    for phases, kind in FILE_WRITES:
        case = functools.partial(kill_in_file, site, phases, kind, 20 if site.full else 2)
        yield f"kill -9 in a collective write: {kind}, two phases: {phases}", case
    for call in CALLS:
        yield f"kill -9 of a sender: {call}", lambda call=call: kill_sender(site, call)
    times = 20 if site.full else 1
    for form, ranks, size in itertools.product(FORMS, (2, 4, 5), (16, 1 << 20)):
        if size > 16 and ranks != 4 and not site.full:
            continue
        choose = random.Random(f"{seed} {form} {ranks} {size}")
        case = functools.partial(survive, site, ranks, size, form, choose, times)
        yield f"survivors of {form}, {ranks} ranks, {size} bytes, {times} times, seed {seed}", case
    yield "survivors of the operation that makes what is shared", lambda: survive_making(site, seed)
    yield "SIGINT and SIGTERM to mpiexec", lambda: interrupt(site)
