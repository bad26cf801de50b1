"""Ranks are killed at random moments of jobs that mix everything, on two and three hosts; errors return. No job hangs, nothing is left on any
host, and each survivor is told, wherever it is. Under our mpiexec the job ends at once; under Hydra that is told not to clean up the
survivors are judged."""

import functools
import os
import random
import tempfile
import time

from jobs import LAUNCHERS, ranks_on
from lib.board import Board, operations_of
from lib.cases import Failure, require
from lib.commands import REPOSITORY
from lib.compiler import compile_program
from lib.hosts import Hosts, ids
from lib.outlived import OUTLIVED
from lib.processes import kill_process, stop_process

MIXED = REPOSITORY / "tests/robustness/programs/mixed.c"
PLACEMENTS = ([1, 1], [2, 1], [2, 2], [1, 1, 1], [1, 2, 1])
# How long a job runs that nobody is killed in, and what it may take to start, and to end after the kill, on a loaded machine.
JOB_SECONDS, START_SECONDS, END_SECONDS = 120, 90, 60
KILLED = 137


class Battery:
    """Kills under one launcher. `survivors_end` says whether the launcher leaves that to them, `prepare` what is done to the hosts before."""

    def __init__(self, site, launcher, survivors_end, placements=PLACEMENTS, prepare=lambda hosts: None):
        self.site, self.launcher, self.survivors_end = site, launcher, survivors_end
        self.placements, self.prepare = placements, prepare

    def run(self, seeds):
        """All jobs run, so that one run shows all that hangs."""
        failures = []
        self.program = compile_program(self.site.prefix / "bin/mpicc", [MIXED], self.site.build / "mixed")
        with tempfile.TemporaryDirectory(dir=self.site.build) as folder:
            shared = [folder] if folder.startswith("/tmp/") else []
            with Hosts(max(map(len, self.placements)), share=shared) as hosts:
                self.prepare(hosts)
                for seed in seeds:
                    try:
                        self.one_job(hosts, folder, random.Random(seed))
                    except Failure as why:
                        failures.append(f"seed {seed}: {why}")
                        print(f"        seed {seed} failed", flush=True)
        require(not failures, f"{len(failures)} of {len(seeds)} kills:\n" + "\n\n".join(failures))

    def one_job(self, hosts, folder, choose):
        counts = choose.choice(self.placements)
        board, over = Board(folder, operations_of(MIXED)), os.path.join(folder, f"over-{choose.random()}")
        words, variables = LAUNCHERS[self.launcher](self.site, counts)
        if self.survivors_end:
            words = [*words, "-disable-auto-cleanup", "sh", "-c", OUTLIVED, "sh", over]
        after = "leave" if self.survivors_end else "stay"
        job = hosts[0].start([*words, self.program, board.path, choose.randrange(1 << 31), JOB_SECONDS, after], variables)
        dead = ()
        try:
            pids = self.started(job, board, hosts, counts)
            time.sleep(choose.uniform(0, 0.5))
            dead = kill(pids, choose)
            all_end(pids)
            open(over, "w").close()
            result = job.finish(END_SECONDS)
            self.judge(result, len(pids), dead)
            hosts.check_clean()
        except Failure as why:
            job.end()
            shown = "\n".join(board.lines(sum(counts), dead))
            raise Failure(f"{counts}: {why}\n{shown}\n{job.text()[-2000:]}") from None

    def started(self, job, board, hosts, counts):
        """The processes, by rank, as this machine numbers them."""
        deadline = time.monotonic() + START_SECONDS
        while not all(inside := board.pids(sum(counts))):
            require(job.process.poll() is None, "the job ended by itself")
            require(time.monotonic() < deadline, "the ranks never started")
            time.sleep(0.002)
        numbers = [{ids(pid)[-1]: pid for pid in ranks_on(hosts[index], self.program)} for index in range(len(counts))]
        place = [index for index, count in enumerate(counts) for _ in range(count)]
        return [numbers[place[rank]][str(pid)] for rank, pid in enumerate(inside)]

    def judge(self, result, ranks, dead):
        require("WRONG" not in result.output, "told of something else")
        if not self.survivors_end:
            require(result.code == KILLED, f"exit code {result.code}")
            return
        for rank in set(range(ranks)) - set(dead):
            require(f"told {rank} " in result.output, f"rank {rank} was not told")


def kill(pids, choose):
    """Kills one rank, or two of four; now and then one that was stopped before. Returns the dead."""
    dead = choose.sample(range(len(pids)), 2 if len(pids) == 4 and choose.random() < 0.3 else 1)
    for rank in dead:
        if choose.random() < 0.25:
            stop_process(pids[rank])
            time.sleep(choose.uniform(0, 0.3))
        kill_process(pids[rank])
    return dead


def all_end(pids):
    deadline = time.monotonic() + END_SECONDS
    while left := [pid for pid in pids if os.path.exists(f"/proc/{pid}")]:
        require(time.monotonic() < deadline, f"hung: {left} are still there after {END_SECONDS} s")
        time.sleep(0.01)


def cases(site):
    """Half of the kills are under each launcher. A kill's seed is its number and the first one's: SEED=N KILLS=1 repeats it."""
    if site.quick:
        return
    first = int(os.environ.get("SEED") or random.randrange(1 << 20))
    half = max(site.kills // 2, 1)
    for launcher, survivors_end in (("mpiexec", False), ("MPICH's Hydra", True)):
        battery = Battery(site, launcher, survivors_end)
        yield f"kills: {half} between hosts, under {launcher}, from seed {first}", functools.partial(battery.run, range(first, first + half))
