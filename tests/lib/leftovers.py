"""What a job leaves behind in /dev/shm and /tmp."""

import os
import pathlib
import subprocess

from lib.cases import require
from lib.commands import checked

# Names that other libraries' leftovers have; /tmp holds other people's files as well.
SUSPECTS = ("weft", "mpi", "pmi", "memfd", "hydra", "prte", "ompi")


class Watched:
    """A /dev/shm of our own where that is permitted, so that other people's jobs do not disturb, else the machine's;
    and the names in /tmp that could be an MPI library's. `check` demands that nothing was left there."""

    def __enter__(self):
        self.keeper, self.enter, self.shm = None, [], pathlib.Path("/dev/shm")
        if os.geteuid() == 0:
            script = "mount -t tmpfs none /dev/shm && echo ready && exec sleep 3600"
            self.keeper = subprocess.Popen(checked(["unshare", "-m", "sh", "-c", script]), stdout=subprocess.PIPE)
            if self.keeper.stdout.readline() == b"ready\n":
                self.enter = ["nsenter", "-t", str(self.keeper.pid), "-m"]
                self.shm = pathlib.Path(f"/proc/{self.keeper.pid}/root/dev/shm")
        self.before = self.listing()
        return self

    def __exit__(self, *_):
        if self.keeper:
            self.keeper.kill()
            self.keeper.wait()
            self.keeper.stdout.close()

    def listing(self):
        # The folders of tests/run.py are another runner's, of this checkout or another.
        names = (name for name in os.listdir("/tmp") if not name.startswith("weft-tests-"))
        suspects = (name for name in names if any(word in name.lower() for word in SUSPECTS))
        return {f"/dev/shm/{name}" for name in os.listdir(self.shm)} | {f"/tmp/{name}" for name in suspects}

    def check(self):
        left = self.listing() - self.before
        require(not left, f"left behind: {sorted(left)}")
