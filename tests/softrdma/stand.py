"""What every case stands on: programs on the library under test, alone or as server and client, none left behind."""

import pathlib
import re
import socket
import time
import uuid

from lib.cases import Failure, Skip, require
from lib.compiler import compile_program, plain_compiler
from lib.processes import Running, run

HERE = pathlib.Path(__file__).resolve().parent
UNSUPPORTED = 77
# What the loader and libibverbs say when a library does not fit the program.
LOADER = re.compile(r"no version information|symbol lookup error|undefined symbol|libibverbs: Warning|cannot open shared")


class Program(Running):
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
            one.end()


def listens(port, before=()):
    """Whether any process listens on that TCP port, told without connecting to it; `before` enters where to look."""
    sockets = run([*before, "cat", "/proc/net/tcp", "/proc/net/tcp6"], timeout=30).output
    return re.search(rf":{port:04X} \S+ 0A ", sockets) is not None


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
                server.end()
                raise Failure(f"the server never listened:\n{server.tail()}")
            time.sleep(0.01)
        return Pair(server, self.start([*command, port_options[1], port, host], environment, before[1]))

    def program(self, name, folder=HERE / "c"):
        """The path of NAME.c, compiled."""
        if name not in self.compiled:
            words = [folder / f"{name}.c", "-libverbs", "-ldl"]
            self.compiled[name] = compile_program(plain_compiler(), words, self.build / name)
        return self.compiled[name]


def nothing_left(fabric):
    """Demands that no socket of that fabric is bound any more: the last one ends with the last member."""
    deadline = time.monotonic() + 3
    while fabric in (names := pathlib.Path("/proc/net/unix").read_text()):
        if time.monotonic() > deadline:
            raise Failure("left behind:\n" + "\n".join(line for line in names.splitlines() if fabric in line))
        time.sleep(0.05)


