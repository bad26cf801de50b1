"""Jobs of the robustness tests: compiled once, started in a session of their own, marked, and never left behind."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import uuid

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
CFLAGS = "-std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -pthread".split()
MARK = "WEFT_TEST_JOB"
# Names that other libraries' leftovers have; /tmp holds other people's files as well.
SUSPECTS = ("weft", "mpi", "pmi", "memfd", "hydra", "prte", "ompi")


class Failure(Exception):
    """What was wrong, for the terminal."""


class Skip(Exception):
    """What this machine lacks."""


def run_case(name, case):
    """Runs a case and says in a line how it went, and what was wrong; returns the verdict."""
    begin = time.monotonic()
    try:
        case()
        verdict, words = "ok", ""
    except Skip as why:
        verdict, words = "skipped", f": {why}"
    except Failure as why:
        verdict, words = "FAILED", "\n" + "\n".join(f"    | {line}" for line in str(why).splitlines())
    print(f"{verdict:8}{time.monotonic() - begin:6.1f} s  {name}{words}", flush=True)
    return verdict


def sum_up(verdicts):
    """The last line; returns the exit code."""
    failed = verdicts.count("FAILED")
    print(f"{verdicts.count('ok')} passed, {failed} failed, {verdicts.count('skipped')} skipped")
    return 1 if failed else 0


def require(condition, message):
    if not condition:
        raise Failure(message)


class Result:
    def __init__(self, code, output, seconds):
        self.code, self.output, self.seconds = code, output, seconds

    def ok(self, word):
        """Demands a clean end and the program's own line."""
        require(self.code == 0, f"exit code {self.code}:\n{self.output}")
        require(f"ok {word}" in self.output, f"did not say `ok {word}`:\n{self.output}")
        return self


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


def kill_all(mark):
    for pid, _ in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Running:
    """A job that runs; `finish` waits for it and checks that nothing of it stays."""

    def __init__(self, command, environment, stdin):
        self.mark = uuid.uuid4().hex
        self.begin = time.monotonic()
        # A file, not a pipe: a rank that stays would keep a pipe open, and reading it would hang.
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(word) for word in command],
            env={**os.environ, **environment, MARK: self.mark},
            stdin=stdin,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def finish(self, timeout):
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            kill_all(self.mark)
            self.process.wait()
            raise Failure(f"still running after {timeout} s:\n{self.output()}") from None
        seconds = time.monotonic() - self.begin
        if left := wait_until_gone(self.mark, 3):
            kill_all(self.mark)
            raise Failure(f"the job ended and left processes: {left}\n{self.output()}")
        return Result(code, self.output(), seconds)

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-4000:]


class Site:
    """The library under test, and where things are built."""

    def __init__(self, mpicc, mpiexec, library, peers, build, full, stress_seconds):
        self.mpicc, self.mpiexec, self.library = mpicc, mpiexec, library
        self.peers, self.build = peers, build
        self.full, self.stress_seconds = full, stress_seconds
        self.build.mkdir(parents=True, exist_ok=True)
        self.compiled = {}

    def program(self, name, *extra, mpicc=None, into=None):
        """The path of the compiled program; `extra` are further arguments for the compiler."""
        into = into or name
        if into not in self.compiled:
            target = self.build / into
            command = [mpicc or self.mpicc, *CFLAGS, PROGRAMS / f"{name}.c", *extra, "-o", target]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            require(done.returncode == 0, f"{name}.c does not compile:\n{done.stdout}{done.stderr}")
            self.compiled[into] = target
        return self.compiled[into]

    def plain(self, name):
        return self.program(name, mpicc=os.environ.get("CC") or "cc")

    def start(self, command, env=None, stdin=subprocess.DEVNULL):
        return Running(command, env or {}, stdin)

    def run(self, command, env=None, timeout=60):
        return self.start(command, env).finish(timeout)

    def mpirun(self, ranks, *command, before=(), env=None, timeout=60):
        """The job under our mpiexec; `before` is a command that starts mpiexec."""
        return self.run([*before, self.mpiexec, "-n", ranks, *command], env, timeout)


class Watched:
    """A /dev/shm of our own where that is permitted, so that other people's jobs do not disturb, else the machine's;
    and the names in /tmp that could be an MPI library's. `check` demands that nothing was left there."""

    def __enter__(self):
        self.keeper, self.enter, self.shm = None, [], pathlib.Path("/dev/shm")
        if os.geteuid() == 0:
            script = "mount -t tmpfs none /dev/shm && echo ready && exec sleep 3600"
            self.keeper = subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdout=subprocess.PIPE)
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


def in_namespaces(kinds, script):
    """A command prefix that runs what follows after `script` in namespaces of its own; Skip where that is not permitted."""
    command = ["unshare", *kinds] if os.geteuid() == 0 else ["unshare", "-r", *kinds]
    if subprocess.run([*command, "sh", "-c", script], capture_output=True).returncode != 0:
        raise Skip(f"not permitted here: {' '.join(command)}, then {script}")
    return [*command, "sh", "-c", f'{script}; exec "$@"', "sh"]
