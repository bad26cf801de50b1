"""Processes with a time limit, each in a session of its own and marked, so that all that came of it can be found and ended."""

import atexit
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from lib.cases import Failure
from lib.commands import checked

MARK = "WEFT_TEST_JOB"
# How long what a job has started may outlive it.
LINGER_SECONDS = 15


def library_path(folder):
    """LD_LIBRARY_PATH with the folder first, and then what the runner was given: a device in software may be there."""
    given = os.environ.get("LD_LIBRARY_PATH")
    return f"{folder}:{given}" if given else str(folder)


class Result:
    def __init__(self, code, output, seconds):
        self.code, self.output, self.seconds = code, output, seconds

    def ok(self, word):
        """Demands a clean end and the program's own line."""
        if self.code != 0:
            raise Failure(f"exit code {self.code}:\n{self.output}")
        if f"ok {word}" not in self.output:
            raise Failure(f"did not say `ok {word}`:\n{self.output}")
        return self


class TimedOut(Failure):
    """A process that was ended because its time was over."""


class Left(Failure):
    """A process that ended and left others."""


def marked(mark):
    """The processes, alive or not yet reaped by a living parent, whose environment holds the mark."""
    found = []
    needle = f"{MARK}={mark}".encode()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if needle in (entry / "environ").read_bytes().split(b"\0"):
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            pass  # ended meanwhile, or not ours to read
    return found


def wait_until_gone(mark, seconds):
    """The marked processes that are still there after that time."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def signal_process(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_process(pid):
    signal_process(pid, signal.SIGKILL)


def stop_process(pid):
    signal_process(pid, signal.SIGSTOP)


def kill_all(mark):
    for pid, _ in marked(mark):
        kill_process(pid)


# Those that were started and not yet waited for.
unfinished = set()


def end_all():
    """However the runner ends, what it has started ends: some poll for ever when their peer is gone."""
    for one in list(unfinished):
        one.end()


atexit.register(end_all)


def end_by_signals():
    """A runner that is ended by a signal ends what it has started. Whoever runs it in the background may have had SIGINT
    ignored, which jobs would inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def inherited_file():
    """A file for what a command writes. Who inherits it shares its offset: each write goes to its end, and `written` leaves the offset."""
    return tempfile.TemporaryFile("a+b", buffering=0)


def written(file):
    """All that is in the file by now."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


class Running:
    """A command that runs; `finish` waits for it and checks that nothing of it stays."""

    def __init__(self, command, environment=None, stdin=subprocess.DEVNULL, cwd=None, shown=None):
        words = checked(command)
        self.command, self.shown = " ".join(words), shown
        self.mark = uuid.uuid4().hex
        self.begin = time.monotonic()
        # A file, not a pipe: a rank that stays would keep a pipe open, and reading it would hang.
        self.log = inherited_file()
        self.process = subprocess.Popen(
            words,
            env={**os.environ, **(environment or {}), MARK: self.mark},
            stdin=stdin,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            start_new_session=True,
        )
        unfinished.add(self)

    def finish(self, timeout):
        if not self.ends_within(timeout):
            self.end()
            raise TimedOut(f"still running after {timeout} s:\n{self.output()}")
        code = self.process.wait()
        seconds = time.monotonic() - self.begin
        unfinished.discard(self)
        if left := wait_until_gone(self.mark, LINGER_SECONDS):
            kill_all(self.mark)
            raise Left(f"the job ended and left processes: {left}\n{self.output()}")
        return Result(code, self.output(), seconds)

    def ends_within(self, seconds):
        """Whether it ends in that time. Popen.wait with a limit looks every 50 ms only, which is longer than most jobs take."""
        if self.process.poll() is not None:
            return True
        descriptor = os.pidfd_open(self.process.pid)
        try:
            return bool(select.select([descriptor], [], [], seconds)[0])
        finally:
            os.close(descriptor)

    def end(self):
        """Ends it now, with all that came of it."""
        if self.process.poll() is None:
            self.process.kill()
        kill_all(self.mark)
        self.process.wait()
        unfinished.discard(self)

    def text(self):
        """All that it has written so far."""
        return written(self.log)

    def output(self):
        """What it has written so far, or the end of that where only so much is to be shown."""
        text = self.text()
        return text if self.shown is None else text[-self.shown :]

    def tail(self):
        return f"$ {self.command}\n{self.text()[-3000:]}"


def run(command, timeout, environment=None, **options):
    """Runs a command to its end; Failure where its time is over or where it leaves processes."""
    return Running(command, environment, **options).finish(timeout)


def output_of(command, timeout=300, environment=None, **options):
    """What the command has written, which must end well."""
    result = run(command, timeout, environment, **options)
    if result.code != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit code {result.code}\n{result.output}")
    return result.output
