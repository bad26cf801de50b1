"""One CPU control group for all that a test starts.

Linux gives every session (setsid(2)) of the root control group a group of its own (autogroup, sched(7)). Sessions of which threads fall asleep and
wake thousands of times a second then starve each other: Linux 6.18 adjusts a group's weight with each, and a group that runs may keep its claim to go on,
so that another session's thread, ready to run, gets no processor for tens of seconds. The virtual hosts' ranks are such sessions and share the
processors, which the hosts that they stand for would not. Within one group, threads get turns as within one session.

Where no group can be made (an ordinary user, a read-only hierarchy) everything stays in the groups where it was."""

import contextlib
import os
import pathlib

PREFIX = "weft-hosts-"
ENTRIES = "cgroup.procs"


def hierarchy():
    """The folder of the hierarchy that has the CPU controller ready for use, if this process is in its root, where sessions are groups."""
    mounts = [line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    own = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    for _, folder, kind, options, *_ in mounts:
        root = pathlib.Path(folder)
        if kind == "cgroup" and "cpu" in options.split(","):
            if any("cpu" in controllers.split(",") and path == "/" for _, controllers, path in own):
                return root
        elif kind == "cgroup2" and "cpu" in (root / "cgroup.subtree_control").read_text().split():
            if any(not controllers and path == "/" for _, controllers, path in own):
                return root
    return None


def remove(group):
    """Removes the group, and takes its processes back into the root group; a group that somebody else removes meanwhile is gone, too."""
    with contextlib.suppress(FileNotFoundError):
        for pid in (group / ENTRIES).read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (group.parent / ENTRIES).write_text(pid)
        group.rmdir()


def join(group):
    """This process, and what it starts from now on, is in the group."""
    (pathlib.Path(group) / ENTRIES).write_text(str(os.getpid()))


def sweep(root):
    """Removes the groups of processes that have ended without doing so."""
    for group in root.glob(f"{PREFIX}*"):
        if not pathlib.Path(f"/proc/{group.name.removeprefix(PREFIX)}").exists():
            remove(group)


class CpuGroup:
    """Until it is closed, this process and what it starts are in one group."""

    def __init__(self):
        self.group = None
        with contextlib.suppress(OSError):
            root = hierarchy()
            if root and os.access(root, os.W_OK):
                sweep(root)
                group = root / f"{PREFIX}{os.getpid()}"
                group.mkdir()
                self.group = group
                join(group)

    def close(self):
        if self.group:
            with contextlib.suppress(OSError):
                remove(self.group)
            self.group = None
