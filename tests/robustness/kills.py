"""Ranks are killed at random moments of jobs that mix everything; errors return. No job hangs, nothing is left, and each
survivor that waits for the dead is told. Under our mpiexec, which ends a job that loses a rank, the job ends at once; under Hydra
that is told not to clean up the survivors are judged."""

import os
import random
import re
import shutil
import signal
import tempfile
import time

from interoperation import peer
from jobs import PROGRAMS
from lib.board import Board, operations_of
from lib.cases import Failure, require
from lib.leftovers import Watched
from lib.outlived import OUTLIVED
from lib.processes import kill_process, output_of

RANKS = (2, 3, 4)
# How long a job runs that nobody is killed in, and what it may take to end after the kill, on a loaded machine.
JOB_SECONDS, END_SECONDS = 60, 30
START_SECONDS = 60


def stacks(pid):
    """Where a process's threads are, by gdb where the target has it."""
    if not shutil.which("gdb"):
        return "(make kills shows its stacks, by gdb)"
    try:
        text = output_of(["gdb", "-p", pid, "-batch", "-nx", "-ex", "thread apply all bt 14"], 60)
    except Failure as why:
        return str(why)
    return "\n".join(line for line in text.splitlines() if re.match(r"#|Thread", line))


def started(job, board, ranks):
    deadline = time.monotonic() + START_SECONDS
    while not all(pids := board.pids(ranks)):
        require(job.process.poll() is None, f"the job ended by itself:\n{job.text()}")
        require(time.monotonic() < deadline, f"the ranks never started:\n{job.text()}")
        time.sleep(0.002)
    return pids


def all_end(pids):
    deadline = time.monotonic() + END_SECONDS
    while left := [pid for pid in pids if os.path.exists(f"/proc/{pid}")]:
        require(time.monotonic() < deadline, f"{left} are still there after {END_SECONDS} s")
        time.sleep(0.01)


def kill(pids, choose, ranks):
    """Kills one rank, or two of four; now and then one that was stopped before. Returns the dead."""
    dead = choose.sample(range(ranks), 2 if ranks == 4 and choose.random() < 0.2 else 1)
    for rank in dead:
        if choose.random() < 0.25:
            os.kill(pids[rank], signal.SIGSTOP)
            time.sleep(choose.uniform(0, 0.3))
        kill_process(pids[rank])
    return dead


def one_job(site, watched, launcher, judge, folder, seed):
    choose = random.Random(seed)
    program = site.program("mixed")
    board = Board(folder, operations_of(PROGRAMS / "mixed.c"))
    ranks = choose.choice(RANKS)
    over = os.path.join(folder, f"over-{seed}")
    outlived = ["sh", "-c", OUTLIVED, "sh", over] if judge is survived else []
    after = "leave" if judge is survived else "stay"
    words = [*watched.enter, *launcher, "-n", ranks, *outlived, program]
    words += [board.path, choose.randrange(1 << 31), JOB_SECONDS, after]
    job = site.start(words)
    dead = ()
    try:
        pids = started(job, board, ranks)
        time.sleep(choose.uniform(0, 0.5))
        dead = kill(pids, choose, ranks)
        all_end(pids)
        open(over, "w").close()
        job.process.wait(END_SECONDS)
    except Exception as why:
        hung = [rank for rank, (*_, said) in enumerate(board.states(ranks)) if rank not in dead and not said]
        shown = [*board.lines(ranks, dead)]
        shown += [f"rank {rank}:\n{stacks(pids[rank])}" for rank in hung if dead and os.path.exists(f"/proc/{pids[rank]}")]
        said = job.text()[-2000:]
        job.end()
        raise Failure("\n".join([f"hung: {why}" if dead else str(why), *shown, said])) from None
    result = job.finish(END_SECONDS)
    try:
        judge(result, ranks, dead)
    except Failure as why:
        raise Failure("\n".join([str(why), *board.lines(ranks, dead)])) from None


def ended(result, ranks, dead):
    """Our mpiexec has ended the job, because of the killed rank."""
    require(result.code == 128 + signal.SIGKILL, f"exit code {result.code}, not 137:\n{result.output}")
    require("WRONG" not in result.output, result.output)


def survived(result, ranks, dead):
    """Each survivor was told, and of the end of a process and nothing else."""
    require("WRONG" not in result.output, f"another error:\n{result.output}")
    for rank in set(range(ranks)) - set(dead):
        require(f"told {rank} " in result.output, f"rank {rank} was not told:\n{result.output}")


def battery(site, launcher, judge, seeds):
    """All jobs run, so that one run shows all that hangs."""
    failures = []
    with Watched() as watched, tempfile.TemporaryDirectory(dir=site.build) as folder:
        for seed in seeds:
            try:
                one_job(site, watched, launcher, judge, folder, seed)
            except Failure as why:
                failures.append(f"seed {seed}: {why}")
                print(f"        seed {seed} failed", flush=True)
        watched.check()
    require(not failures, f"{len(failures)} of {len(seeds)} kills:\n" + "\n\n".join(failures))


def cases(site):
    """Half of the kills are under each launcher. A kill's seed is its number and the first one's: SEED=N KILLS=1 repeats it."""
    first = int(os.environ.get("SEED") or random.randrange(1 << 20))
    half = max(site.kills // 2, 1)
    seeds = range(first, first + half)
    yield f"kills: {half} under mpiexec, from seed {first}", lambda: battery(site, [site.mpiexec], ended, seeds)
    yield f"kills: {half} under Hydra without cleanup, from seed {first}", lambda: battery(
        site, [peer(site, "mpich", "mpiexec"), "-disable-auto-cleanup"], survived, seeds
    )
