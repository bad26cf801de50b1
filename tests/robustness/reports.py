"""What ranks say when they are asked what they wait for: each once, in whatever call it waits."""

import re
import signal
import tempfile
import time
from pathlib import Path

from lib.cases import require

RANKS = 10
SAID = re.compile(r"^weft: rank (\d+): (waiting|not waiting)(.*)$", re.M)
ANSWER_SECONDS, MOST_QUESTIONS = 0.3, 30


def wait_for(running, words):
    end = time.monotonic() + 60
    while words not in running.text():
        require(time.monotonic() < end and running.process.poll() is None, running.tail())
        time.sleep(0.02)


def ask(running):
    """What each rank answers, by rank, and all that is written meanwhile."""
    before = len(running.text())
    running.process.send_signal(signal.SIGUSR2)
    time.sleep(ANSWER_SECONDS)
    text = running.text()[before:]
    said = [(int(rank), state + rest) for rank, state, rest in SAID.findall(text)]
    require(len(dict(said)) == len(said), f"some said two things:\n{text}")
    return dict(said), text


def asked(site, ranks, expected, *words, options=()):
    """Asks until each rank has come to its call, and answers as expected."""
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        running = site.start([site.mpiexec, *options, "-n", ranks, site.program("waits"), Path(folder) / "file", *words])
        try:
            wait_for(running, "computes")
            answers = (ask(running) for _ in range(MOST_QUESTIONS))
            require(any(expected(said, text) for said, text in answers), f"not what they wait for:\n{running.tail()}")
        finally:
            running.end()


def in_every_call(said, text):
    wait = all(said.get(rank) == "waiting; pending:" for rank in range(2, RANKS))
    leaves = said.get(1, "").startswith("waiting in MPI_Finalize")
    computes = said.get(0) == "not waiting in an MPI call"
    late = re.search(r"mpiexec: 1 rank here waits in MPI_Init or MPI_Finalize for rank 0 \(pid", text)
    return wait and leaves and computes and late


def in_init(said, text):
    waiting = [rank for rank, what in said.items() if what.startswith("waiting in MPI_Init")]
    late = {0, 1, 2} - set(waiting)
    return len(late) == 1 and f"2 ranks here wait in MPI_Init or MPI_Finalize for rank {late.pop()} (pid" in text


def cases(site):
    yield "asked what they wait for, in every call", lambda: asked(site, RANKS, in_every_call)
    tcp = ("--transport", "tcp")
    yield "asked what they wait for, over TCP", lambda: asked(site, RANKS, in_every_call, options=tcp)
    yield "asked what they wait for, in MPI_Init", lambda: asked(site, 3, in_init, "init")
