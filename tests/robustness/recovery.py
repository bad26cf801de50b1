"""Jobs that go on after ranks have died: revoke, agree, shrink (`mpiexec --enable-recovery`)."""

import random
import signal

from lib.cases import require
from lib.leftovers import Watched

END_SECONDS = 60
TRANSPORTS = ("shm", "tcp")


def go_on(site, program, transport, ranks, *arguments):
    with Watched() as watched:
        command = [site.mpiexec, "--enable-recovery", "--transport", transport, "-n", ranks, site.program(program), *arguments]
        result = site.start([*watched.enter, *command]).finish(END_SECONDS)
        require(result.code == 0, f"exit code {result.code}, not 0:\n{result.output}")
        watched.check()


def end_without(site):
    """Without the option the same job ends as any other."""
    result = site.mpirun(4, site.program("agree_shrink"), timeout=END_SECONDS)
    require(result.code == 128 + signal.SIGKILL, f"exit code {result.code}, not 137:\n{result.output}")


def cases(site):
    seed = random.randrange(10**6)
    for transport in TRANSPORTS:
        for ranks in (2, 5):
            case = lambda transport=transport, ranks=ranks: go_on(site, "agree_shrink", transport, ranks)
            yield f"{ranks} ranks agree, revoke and shrink after a death, {transport}", case
        rounds = 20 if site.full else 1
        for ranks in (6, 12) if site.full else (6,):
            seeds = range(seed, seed + rounds)
            case = lambda transport=transport, ranks=ranks, seeds=seeds: [
                go_on(site, "until_two", transport, ranks, str(one)) for one in seeds
            ]
            yield f"{ranks} ranks until two are left, {rounds} times, {transport}, seed {seed}", case
    yield "without the option a death ends the job", lambda: end_without(site)
