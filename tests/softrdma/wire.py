"""Two hosts, that is network namespaces, with RoCEv2 between them; and a wire that loses, delays and reorders."""

import pathlib
import re
import signal
import subprocess
import sys

from lib.cases import require
from networks import Cable
from noptrace import deny
from perftest import ROW

CAPTURE = pathlib.Path(__file__).resolve().parent / "capture.py"
ETHERNET = {"SOFTRDMA_LINK_LAYER": "ethernet"}
# Every way in which a wire misbehaves; the seed makes a failure repeatable.
BAD_WIRE = "loss=0.05,duplicate=0.02,reorder=0.05,delay_us=50,seed=7"


def tools(stand, cable, command, faults="", timeout=60, environment=None):
    """A Debian program, server on one host and client on the other."""
    variables = stand.environment(**{**ETHERNET, **(environment or {})})
    if faults:
        variables["SOFTRDMA_FAULTS"] = faults
    first, second = cable.hosts
    pair = stand.pair(command, variables, before=(first.enter, second.enter), host=Cable.ADDRESSES[0])
    return pair.succeed(timeout)


def pingpong(stand, kind, options, faults=""):
    with Cable() as cable:
        # The example gives up a lost message after its queue pair's 67 ms, so a bad wire only makes it slow.
        command = [f"ibv_{kind}_pingpong", "-d", "softrdma0", "-g", "1", *options]
        for output in tools(stand, cable, command, faults):
            require("iters in" in output and "invalid data" not in output, output)


def endings(stand, seeds):
    """The example's sides end as soon as they have everything, and with them who would acknowledge a second time."""
    options = ["-d", "softrdma0", "-g", "1", "-s", "20000", "-n", "3", "-c"]
    with Cable() as cable:
        for seed in range(seeds):
            tools(stand, cable, ["ibv_rc_pingpong", *options], BAD_WIRE.replace("seed=7", f"seed={seed}"))


def xsrq(stand, options):
    with Cable() as cable:
        tools(stand, cable, ["ibv_xsrq_pingpong", "-d", "softrdma0", "-g", "1", *options])


def perftest(stand, tool, options, faults=""):
    with Cable() as cable:
        _, output = tools(stand, cable, [tool, "-d", "softrdma0", "-F", "-x", "1", *options], faults)
        require(ROW.search(output), f"no figures:\n{output}")


def program(stand, name, arguments=(), faults="", before=()):
    """One of our programs of two or more processes, on different hosts. `before` is a command prefix."""
    with Cable() as cable:
        variables = stand.environment(**ETHERNET, TEST_NETNS=":".join(host.path for host in cable.hosts))
        if faults:
            variables["SOFTRDMA_FAULTS"] = faults
        output = stand.run([*before, stand.program(name), *arguments], variables, timeout=180)
        require(f"ok {name}" in output, output)


def by_lid(stand):
    """InfiniBand's addresses: hosts are told apart by the LID they were given."""
    with Cable() as cable:
        variables = {"SOFTRDMA_LINK_LAYER": "infiniband"}
        tools(stand, cable, ["ibv_rc_pingpong", "-d", "softrdma0", "-g", "1"], environment=variables)


def identifications(stand, segments):
    """What leaves a host, judged by its IP headers: whole trains where the receiver takes them whole, or single packets."""
    with Cable() as cable:
        first, second = cable.hosts
        if segments:
            for host in cable.hosts:
                host.ip("link", "set", "cable", "gso_max_segs", "1")
        words = [*first.enter, sys.executable, str(CAPTURE)]
        capture = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            require(capture.stdout.readline() == "ready\n", "the capture did not start")
            command = ["ib_write_bw", "-d", "softrdma0", "-F", "-x", "1", "-n", "50"]
            variables = stand.environment(**ETHERNET)
            pair = stand.pair(command, variables, before=(first.enter, second.enter), host=Cable.ADDRESSES[0])
            pair.succeed(60)
        finally:
            capture.send_signal(signal.SIGINT)
            output = capture.communicate(timeout=20)[0]
        found = re.search(r"(\d+) right, (\d+) wrong, (\d+) with an identification", output)
        require(found and int(found[1]) > 100 and found[2] == "0", output)
        require(segments == (int(found[3]) > 100), output)


def users(stand):
    """Two users at a time on one pair of hosts: the second is told that the port is taken, and takes another."""
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    command = ["ib_write_bw", "-d", "softrdma0", "-F", "-x", "1"]
    with Cable() as cable:

        def start(options, user, **variables):
            variables = stand.environment(**ETHERNET, **variables)
            before = [[*host.enter, *user] for host in cable.hosts]
            return stand.pair([*command, *options], variables, before=before, host=Cable.ADDRESSES[0])

        first = start(["-D", "10"], [])
        try:
            refused = start([], nobody)
            try:
                outputs = [side.finish(30).output for side in (refused.server, refused.client)]
            finally:
                refused.end()
            require(all("set SOFTRDMA_UDP_PORT" in output for output in outputs), "\n".join(outputs))
            _, output = start([], nobody, SOFTRDMA_UDP_PORT="14791").succeed(30)
            require(ROW.search(output), f"no figures:\n{output}")
            require(first.client.process.poll() is None, "the first user was done too early")
        finally:
            first.succeed(60)


def cases(stand):
    if stand.quick:
        yield "wire: stream at 5 % loss", lambda: program(stand, "stream", ["300"], BAD_WIRE)
        return
    for kind in ("rc", "uc", "ud", "srq"):
        yield f"wire: {kind} pingpong", lambda k=kind: pingpong(stand, k, ["-c"])
        yield f"wire: {kind} pingpong, events", lambda k=kind: pingpong(stand, k, ["-e"])
    yield "wire: rc pingpong, 1 MiB", lambda: pingpong(stand, "rc", ["-s", "1048576", "-n", "50", "-c"])
    yield "wire: rc pingpong between InfiniBand ports by GID", lambda: by_lid(stand)
    for tool in ("ib_write_bw", "ib_write_lat", "ib_read_bw", "ib_read_lat", "ib_send_bw", "ib_send_lat"):
        yield f"wire: {tool}", lambda t=tool: perftest(stand, t, ["-n", "500"])
    for tool in ("ib_atomic_bw", "ib_atomic_lat"):
        yield f"wire: {tool}", lambda t=tool: perftest(stand, t, ["-n", "500"])
    for tool in ("ib_write_bw", "ib_write_lat", "ib_read_bw", "ib_read_lat", "ib_send_bw", "ib_send_lat", "ib_atomic_bw"):
        yield f"wire: {tool} XRC", lambda t=tool: perftest(stand, t, ["-c", "XRC", "-n", "500"])
    yield "wire: xsrq pingpong", lambda: xsrq(stand, [])
    yield "wire: xsrq pingpong, events", lambda: xsrq(stand, ["-e"])
    yield "wire: ib_send_bw UD", lambda: perftest(stand, "ib_send_lat", ["-c", "UD", "-n", "500", "-s", "1024"])
    yield "wire: ib_write_bw -a", lambda: perftest(stand, "ib_write_bw", ["-a", "-n", "20"])
    yield "wire: ib_write_bw, 16 queue pairs, both directions", lambda: perftest(
        stand, "ib_write_bw", ["-q", "16", "-b", "-n", "100"]
    )
    yield "wire: two users", lambda: users(stand)
    yield "wire: the ICRC of single packets", lambda: identifications(stand, True)
    yield "wire: the ICRC of trains", lambda: identifications(stand, False)
    for name in ("stream", "dead_peer", "alloc_buf", "xrc", "xrc_requests", "small_messages"):
        yield f"wire: {name}", lambda n=name: program(stand, n)
    yield "wire: stream at 5 % loss", lambda: program(stand, "stream", ["2000"], BAD_WIRE)
    for name in ("xrc", "xrc_requests"):
        yield f"wire: {name} at 5 % loss", lambda n=name: program(stand, n, faults=BAD_WIRE)
        yield f"wire: {name}, no copies between processes", lambda n=name: program(stand, n, before=deny(stand))
    yield "wire: ib_send_bw XRC at 5 % loss", lambda: perftest(stand, "ib_send_bw", ["-c", "XRC", "-n", "100"], BAD_WIRE)
    yield "wire: ib_atomic_bw XRC at 5 % loss", lambda: perftest(stand, "ib_atomic_bw", ["-c", "XRC", "-n", "200"], BAD_WIRE)
    yield "wire: rc pingpong at 5 % loss", lambda: pingpong(stand, "rc", ["-s", "20000", "-n", "200", "-c"], BAD_WIRE)
    yield "wire: rc pingpong at 5 % loss, 30 endings", lambda: endings(stand, 30)
    yield "wire: ib_write_bw at 5 % loss", lambda: perftest(stand, "ib_write_bw", ["-n", "100"], BAD_WIRE)
    yield "wire: ib_read_bw at 5 % loss", lambda: perftest(stand, "ib_read_bw", ["-n", "100"], BAD_WIRE)
    yield "wire: ib_atomic_bw at 5 % loss", lambda: perftest(stand, "ib_atomic_bw", ["-n", "200"], BAD_WIRE)
