"""All kinds of requests mixed, in threads (robustness/programs/stress), over wires that delay, lose and break."""

import functools
import os
import random
import time

from jobs import LAUNCHERS
from lib.commands import REPOSITORY
from lib.compiler import compile_program
from lib.hosts import Hosts

SOURCES = REPOSITORY / "tests/robustness/programs/stress"
SECONDS = 20
# For start and end, and the last batches, which a lossy wire makes long.
SPARE_SECONDS = 180
WIRES = {
    "2 ms": {"delay_us": 2000},
    "1 % loss": {"loss_percent": 1},
    "5 % loss": {"loss_percent": 5},
}
# Down and up again, in seconds; a link that is down for less than WEFT_NETWORK_TIMEOUT costs time and nothing else.
FLAPS = (1, 2)


def stress(site, seed, flaps=False, launcher="mpiexec", **shape):
    program = compile_program(site.prefix / "bin/mpicc", sorted(SOURCES.glob("*.c")), site.build / "stress")
    limit = SECONDS + SPARE_SECONDS
    command, env = LAUNCHERS[launcher](site, [2, 2])
    with Hosts(2, **shape) as hosts:
        # A job that hangs says what it waits for before the test gives up.
        # Each host would give its first core to its first rank, and the hosts of the bed are one machine.
        job = hosts[0].start([*command, "--bind-to", "none", "--timeout", limit, program, SECONDS, seed], env)
        end = time.monotonic() + SECONDS
        while flaps and job.process.poll() is None and time.monotonic() < end:
            for up, seconds in zip((False, True), FLAPS):
                hosts[1].link(up)
                time.sleep(seconds)
        result = job.finish(limit + 30).ok("stress")
        hosts.check_clean()
    print("        " + next(line for line in result.output.splitlines() if line.startswith("ok stress")), flush=True)


def cases(site):
    if site.quick:
        return
    seed = int(os.environ.get("SEED") or random.randrange(1, 1 << 31))
    for wire, shape in WIRES.items():
        yield f"stress for {SECONDS} s, {wire}, seed {seed}", functools.partial(stress, site, seed, **shape)
    yield f"stress for {SECONDS} s, a link that flaps, seed {seed}", functools.partial(stress, site, seed, flaps=True)
