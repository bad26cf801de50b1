"""What every case stands on: programs on the library under test, alone or as server and client, none left behind."""

import atexit
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "robustness"))

from jobs import Failure, Running, Skip, kill_all, marked, require, run_case, sum_up  # noqa: E402

__all__ = ["Failure", "Pair", "Program", "Skip", "Stand", "kill_all", "marked", "require", "run_case", "sum_up"]

CFLAGS = "-std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -pthread".split()
UNSUPPORTED = 77
# What the loader and libibverbs say when a library does not fit the program.
LOADER = re.compile(r"no version information|symbol lookup error|undefined symbol|libibverbs: Warning|cannot open shared")


started = []


def end_all():
    """However the runner ends, its programs end: some poll for ever when their peer is gone."""
    for one in started:
        if one.process.poll() is None:
            kill_all(one.mark)


atexit.register(end_all)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


class Program(Running):
    """A program whose whole output is kept."""

    def __init__(self, command, environment=None, stdin=subprocess.DEVNULL):
        super().__init__(command, environment or {}, stdin)
        started.append(self)
        self.command = " ".join(str(word) for word in command)

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def tail(self):
        return f"$ {self.command}\n{self.output()[-3000:]}"

    def succeed(self, timeout):
        """Its output, after exit code 0 within that time and without a word from the loader."""
        result = self.finish(timeout)
        if result.code == UNSUPPORTED:
            raise Skip(result.output.strip().splitlines()[-1])
        require(result.code == 0, f"exit code {result.code}:\n{self.tail()}")
        require(not LOADER.search(result.output), f"the loader complains:\n{self.tail()}")
        return result.output


class Pair:
    """A server and its client, which were started and are waited for together."""

    def __init__(self, server, client):
        self.server, self.client = server, client

    def succeed(self, timeout):
        """Both outputs; where one fails, both are shown and neither goes on."""
        try:
            return self.server_after(self.client.succeed(timeout))
        except Failure as why:
            raise Failure(f"client: {why}\nserver: {self.server.tail()}") from None
        finally:
            self.end()

    def server_after(self, client_output):
        try:
            return self.server.succeed(15), client_output
        except Failure as why:
            raise Failure(f"went well; the server did not: {why}") from None

    def end(self):
        for one in (self.server, self.client):
            kill_all(one.mark)
            one.process.wait()


def listens(port, before=()):
    """Whether any process listens on that TCP port, told without connecting to it; `before` enters where to look."""
    done = subprocess.run([*before, "cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True)
    return re.search(rf":{port:04X} \S+ 0A ", done.stdout) is not None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Stand:
    """The library under test, where things are built, and how thorough to be."""

    def __init__(self, library, build, weft, quick):
        self.library, self.build, self.weft, self.quick = library, build, weft, quick
        self.build.mkdir(parents=True, exist_ok=True)
        self.compiled = {}

    def environment(self, **variables):
        """The library first on the path, and a fabric of this case's own."""
        return {"LD_LIBRARY_PATH": str(self.library), "SOFTRDMA_FABRIC": f"test-{uuid.uuid4().hex[:12]}", **variables}

    def start(self, command, environment=None, before=()):
        return Program([*before, *command], environment or self.environment())

    def run(self, command, environment=None, timeout=30):
        return self.start(command, environment).succeed(timeout)

    def pair(self, command, environment=None, port_options=("-p", "-p"), before=((), ()), host="localhost"):
        """`command` as server, and with the host's name as client, once the server listens. `port_options` and `before`
        (a command prefix) are the server's and the client's."""
        environment = environment or self.environment()
        port = free_port()
        server = self.start([*command, port_options[0], port], environment, before[0])
        deadline = time.monotonic() + 15
        while not listens(port, before[0]):
            if server.process.poll() is not None or time.monotonic() > deadline:
                kill_all(server.mark)
                raise Failure(f"the server never listened:\n{server.tail()}")
            time.sleep(0.01)
        return Pair(server, self.start([*command, port_options[1], port, host], environment, before[1]))

    def program(self, name, folder=HERE / "c"):
        """The path of NAME.c, compiled."""
        if name not in self.compiled:
            target = self.build / name
            source = folder / f"{name}.c"
            command = [os.environ.get("CC") or "cc", *CFLAGS, str(source), "-o", str(target), "-libverbs", "-ldl"]
            done = subprocess.run(command, capture_output=True, text=True)
            require(done.returncode == 0, f"{name}.c does not compile:\n{done.stdout}{done.stderr}")
            self.compiled[name] = target
        return self.compiled[name]


def nothing_left(fabric):
    """Demands that no socket of that fabric is bound any more: the last one ends with the last member."""
    deadline = time.monotonic() + 3
    while fabric in (names := pathlib.Path("/proc/net/unix").read_text()):
        if time.monotonic() > deadline:
            raise Failure("left behind:\n" + "\n".join(line for line in names.splitlines() if fabric in line))
        time.sleep(0.05)


def kill_process(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
