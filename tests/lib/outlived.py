"""Ranks whose death nobody but the library tells of, and what those that outlive them say."""

import time

from lib.cases import require

# Hydra ends a job as soon as it sees a rank's connection end, also where it is not to clean up. A shell between them outlives the
# rank and keeps the connection, until the file is there: nobody but the library tells the others.
OUTLIVED = 'over=$1; shift; "$@"; while [ ! -e "$over" ]; do sleep 0.05; done'


def await_lines(running, lines, seconds):
    """A job that goes on says all these lines in so many seconds."""
    deadline = time.monotonic() + seconds
    while not all(line in running.text() for line in lines):
        require(running.process.poll() is None and time.monotonic() < deadline, f"not all came out of it:\n{running.output()}")
        time.sleep(0.05)
