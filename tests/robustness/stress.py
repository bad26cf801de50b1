"""All kinds of requests mixed, in threads, for as long as one likes."""

import os
import random

from jobs import PROGRAMS
from lib.leftovers import Watched

RANKS = 4
# What may be added to the given time for start, end and the last batches on a loaded machine.
SPARE_SECONDS = 90


def stress(site, seconds, seed):
    others = sorted(set((PROGRAMS / "stress").glob("*.c")) - {PROGRAMS / "stress/stress.c"})
    program = site.program("stress/stress", *others, into="stress")
    # A job that hangs says what it waits for before the test gives up.
    limit = seconds + SPARE_SECONDS
    with Watched() as watched:
        command = (*watched.enter, site.mpiexec, "--timeout", limit, "-n", RANKS, program, seconds, seed)
        result = site.run(command, timeout=limit + 30).ok("stress")
        watched.check()
    print("        " + next(line for line in result.output.splitlines() if line.startswith("ok stress")), flush=True)


def cases(site):
    seconds = site.stress_seconds
    seed = int(os.environ.get("SEED") or random.randrange(1, 1 << 31))
    yield f"stress: all kinds of requests for {seconds} s, seed {seed}", lambda: stress(site, seconds, seed)
