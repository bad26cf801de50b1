"""Debian's perftest, every tool over every transport it has, and its options one at a time."""

import re

from lib.cases import require

CONNECTIONS = {
    "write": ("RC", "UC", "XRC"),
    "read": ("RC", "XRC"),
    "send": ("RC", "UC", "UD", "XRC"),
    "atomic": ("RC", "XRC"),
}
# What the tools without a fixed size are given; datagrams have a maximum.
SIZE = {"UD": "2048"}
ROW = re.compile(r"^\s*\d+\s+\d+\s+[\d.]+\s+[\d.]+", re.M)


def measure(stand, tool, options, rows=1, environment=None, timeout=60):
    """Runs the tool between two processes and demands that many rows of figures from the client."""
    command = [tool, "-d", "softrdma0", "-F", *options]
    _, output = stand.pair(command, stand.environment(**(environment or {}))).succeed(timeout)
    found = len(ROW.findall(output))
    require(found >= rows, f"{found} rows of figures, not {rows}:\n{output}")
    return output


def matrix(quick):
    """(tool, options) of each tool with each connection."""
    for operation, connections in CONNECTIONS.items():
        for connection in connections:
            for kind in ("bw", "lat"):
                if quick and (connection != "RC") != (kind == "lat" and operation == "send"):
                    continue
                options = ["-c", connection, "-n", "200" if quick else "1000"]
                if connection in SIZE and kind == "bw":
                    options += ["-s", SIZE[connection]]
                yield f"ib_{operation}_{kind}", options


OPTIONS = {
    "inline": [("ib_write_lat", ["-I", "64", "-s", "32"]), ("ib_send_lat", ["-I", "64", "-s", "32"])],
    "lists of 16": [("ib_write_bw", ["-l", "16", "-s", "64"]), ("ib_send_bw", ["-l", "16", "-s", "64"])],
    "lists of 32, old calls": [("ib_write_bw", ["-l", "32", "-s", "2", "--use_old_post_send"])],
    "events": [
        ("ib_send_bw", ["-e"]),
        ("ib_read_bw", ["-e"]),
        ("ib_send_lat", ["-e"]),
        ("ib_read_lat", ["-e"]),
    ],
    "16 queue pairs": [("ib_write_bw", ["-q", "16"]), ("ib_send_bw", ["-q", "16"]), ("ib_read_bw", ["-q", "16"])],
    "128 queue pairs": [("ib_write_bw", ["-q", "128", "-s", "4096", "-n", "200"])],
    "both directions": [(f"ib_{operation}_bw", ["-b"]) for operation in CONNECTIONS],
    "shared receive queue": [("ib_send_bw", ["--use-srq", "-q", "4", "-s", "4096"])],
    "compare and swap": [("ib_atomic_bw", ["-A", "CMP_AND_SWAP"]), ("ib_atomic_lat", ["-A", "CMP_AND_SWAP"])],
    "old calls": [
        ("ib_write_lat", ["--use_old_post_send"]),
        ("ib_send_bw", ["--use_old_post_send"]),
        ("ib_read_lat", ["--use_old_post_send"]),
        ("ib_atomic_lat", ["--use_old_post_send"]),
    ],
    "by GID": [("ib_write_bw", ["-x", "1"]), ("ib_send_lat", ["-c", "UD", "-x", "1"])],
    "one region for each queue pair": [("ib_write_bw", ["-q", "4", "--mr_per_qp"])],
    "for one second": [("ib_write_bw", ["-D", "1", "-s", "4096"])],
}
QUICK_OPTIONS = ("inline", "lists of 16", "16 queue pairs")


def cases(stand):
    for tool, options in matrix(stand.quick):
        yield f"perftest: {tool} {options[1]}", lambda t=tool, o=options: measure(stand, t, o)
    for name, runs in OPTIONS.items():
        if stand.quick and name not in QUICK_OPTIONS:
            continue
        for tool, options in runs:
            # A multiple of every list's length, as perftest demands.
            count = [] if "-n" in options or "-D" in options else ["-n", "256" if stand.quick else "1024"]
            yield f"perftest: {tool}, {name}", lambda t=tool, o=options + count: measure(stand, t, o)
    if not stand.quick:
        for tool in ("ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat", "ib_send_lat", "ib_read_lat"):
            yield f"perftest: {tool} -a", lambda t=tool: measure(stand, t, ["-a", "-n", "200"], rows=23, timeout=120)
        ethernet = {"SOFTRDMA_LINK_LAYER": "ethernet"}
        for tool in ("ib_write_bw", "ib_send_lat"):
            yield f"perftest: {tool}, Ethernet", lambda t=tool: measure(
                stand, t, ["-x", "1", "-n", "1000"], environment=ethernet
            )
        # On InfiniBand perftest joins a group by asking the subnet manager through /dev/infiniband/umad, which only a
        # kernel's device has.
        # A group's GID has to be of the kind of the port's: the link-local one, or the default, which is IPv4's.
        of_ipv4 = "0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:3"
        for name, options in (("IPv6", ["-x", "0"]), ("IPv4", ["-M", of_ipv4])):
            yield f"perftest: ib_send_bw, multicast, Ethernet, {name}", lambda o=options: measure(
                stand, "ib_send_bw", ["-c", "UD", "-g", *o, "-s", "1024", "-n", "1024"], environment=ethernet
            )
