"""Where the kernel lets no process copy from another, as in a container without the ptrace capability: the target's agent executes."""

from lib.cases import require
from perftest import ROW
from semantics import clause
from stand import HERE

FEW, MANY = ["-n", "100"], ["-n", "1000"]
MIB = ["-s", "1048576"]
TOOLS = (
    ("ib_write_lat", ["-c", "RC"]),
    ("ib_write_lat", ["-c", "UC"]),
    ("ib_read_lat", ["-c", "RC"]),
    ("ib_send_lat", ["-c", "RC"]),
    ("ib_send_lat", ["-c", "UC"]),
    ("ib_send_lat", ["-c", "UD"]),
    ("ib_send_lat", ["-c", "XRC"]),
    ("ib_atomic_lat", ["-c", "RC"]),
    ("ib_atomic_lat", ["-c", "XRC", "-A", "CMP_AND_SWAP"]),
    ("ib_write_bw", MIB),
    ("ib_read_bw", MIB),
    ("ib_send_bw", [*MIB, "-b"]),
)
PINGPONGS = {
    "rc": ["-c"],
    "rc, 1 MiB": ["-s", "1048576", "-c", "-n", "100"],
    "uc": ["-c"],
    "ud": ["-s", "2048", "-c"],
    "srq": ["-e"],
}
CLAUSES = ("ordering", "lengths", "keys", "rights", "rnr", "xrc", "xrc_requests", "large", "small_messages")


def deny(stand):
    """A command prefix that forbids to reach into another process's memory."""
    return [stand.program("deny", HERE.parent / "robustness" / "programs"), "reach"]


def pair(stand, command, timeout=90):
    before = deny(stand)
    return stand.pair(command, stand.environment(), before=(before, before)).succeed(timeout)


def measure(stand, tool, options):
    count = FEW if stand.quick or MIB[1] in options else MANY
    _, output = pair(stand, [tool, "-d", "softrdma0", "-F", *options, *count])
    require(ROW.search(output), f"no figures:\n{output}")


def exchange(stand, kind, options):
    if stand.quick and "-n" not in options:
        options = [*options, "-n", "200"]
    for output in pair(stand, [f"ibv_{kind}_pingpong", "-d", "softrdma0", *options]):
        require("iters in" in output, f"no result:\n{output}")
        require("invalid data" not in output, output)


def cases(stand):
    for tool, options in TOOLS:
        yield f"noptrace: {tool} {' '.join(options)}", lambda t=tool, o=options: measure(stand, t, o)
    for name, options in PINGPONGS.items():
        kind = name.split(",")[0]
        yield f"noptrace: ibv_{kind}_pingpong {' '.join(options)}", lambda k=kind, o=options: exchange(stand, k, o)
    for name in CLAUSES:
        yield f"noptrace: {name}", lambda n=name: clause(stand, n, {}, deny(stand))
