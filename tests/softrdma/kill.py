"""kill -9 of either side at a random moment: the other gets its errors in bounded time, and nothing of the dead stays."""

import json
import os
import random
import re
import subprocess
import time

from lib.cases import Failure, require
from lib.commands import checked
from lib.processes import kill_all, kill_process, marked, output_of
from stand import Program, nothing_left


class Witness:
    """A process that is in the fabric all the time, and whose device must go on working."""

    def __init__(self, stand, environment):
        self.process = subprocess.Popen(
            checked([stand.program("witness")]),
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ask()

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        require(self.process.stdout.readline() == "well\n", "the witness's own queue pairs no longer work")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


def announced(running, choose):
    """The two pids, when both are connected; None where the kill is to hit the start instead."""
    if choose.random() < 0.2:
        time.sleep(choose.uniform(0, 0.02))
        return None
    deadline = time.monotonic() + 20
    while not (found := re.search(r"pids (\d+) (\d+)", running.output())):
        require(running.process.poll() is None and time.monotonic() < deadline, f"never connected:\n{running.tail()}")
        time.sleep(0.002)
    time.sleep(choose.uniform(0, 0.03))
    return [int(pid) for pid in found.groups()]


def one_round(stand, program, environment, choose):
    running = Program([program], environment)
    pids = announced(running, choose)
    if pids is None:
        kill_process(running.process.pid)
        running.process.wait()
        # The child of a parent that never connected ends by itself: its stream has ended.
        deadline = time.monotonic() + 15
        while any(left := alive(running)) and time.monotonic() < deadline:
            time.sleep(0.005)
        require(not left, f"the child outlived its parent by 15 s: {left}\n{running.tail()}")
        return
    victim = choose.choice(pids)
    kill_process(victim)
    if victim == running.process.pid:
        running.process.wait()
    deadline = time.monotonic() + 15
    while alive(running) and time.monotonic() < deadline:
        time.sleep(0.002)
    if left := alive(running):
        kill_all(running.mark)
        raise Failure(f"still there 15 s after the kill: {left}\n{running.tail()}")
    running.process.wait()
    require("survived" in running.output(), f"the survivor did not fare well:\n{running.tail()}")


def alive(running):
    """Pids of the round's processes that are not yet zombies."""
    return [pid for pid, _ in marked(running.mark)]


def figures(stand, environment):
    """What `weft softrdma stat` says of the fabric."""
    return json.loads(output_of([stand.weft, "softrdma", "stat", "--json"], 60, environment))


def battery(stand, rounds):
    seed = random.randrange(10**6)
    choose = random.Random(seed)
    environment = stand.environment()
    program = stand.program("traffic")
    with Witness(stand, environment) as witness:
        before = figures(stand, environment) if stand.weft else None
        for number in range(rounds):
            try:
                one_round(stand, program, environment, choose)
                witness.ask()
            except Failure as why:
                raise Failure(f"round {number} of seed {seed}: {why}") from None
        if stand.weft:
            after = figures(stand, environment)
            require(len(after["processes"]) == len(before["processes"]), f"processes left: {after['processes']}")
    nothing_left(environment["SOFTRDMA_FABRIC"])


def cases(stand):
    rounds = 25 if stand.quick else 500
    yield f"kill: either side, {rounds} times", lambda: battery(stand, rounds)
