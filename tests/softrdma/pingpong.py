"""libibverbs' own examples between two processes: every transport, with polling and with events, by LID and by GID."""

from lib.cases import require

# Polling programs take their time where there are more of them than idle cores.
LIMIT_SECONDS = 90
TRANSPORTS = ("rc", "uc", "ud", "srq")


def exchange(stand, kind, options, environment):
    if stand.quick:
        options = ["-n", "200", *options]
    pair = stand.pair([f"ibv_{kind}_pingpong", "-d", "softrdma0", *options], stand.environment(**environment))
    for output in pair.succeed(LIMIT_SECONDS):
        require("iters in" in output, f"no result:\n{output}")
        require("invalid data" not in output, output)


def xsrq(stand, options):
    """One server, two clients: three receive queues of one XRC domain, which the clients share by its file."""
    environment = stand.environment()
    pair = stand.pair(["ibv_xsrq_pingpong", "-d", "softrdma0", *options], environment)
    pair.succeed(LIMIT_SECONDS)


def cases(stand):
    for kind in TRANSPORTS:
        variants = {"": [], ", events": ["-e"], ", by GID": ["-g", "1"], ", events by GID": ["-e", "-g", "1"]}
        if not stand.quick:
            variants[", 1 byte"] = ["-s", "1", "-c"]
            # The examples start a datagram of at most the port's MTU.
            variants[", checked, 3000 rounds"] = ["-s", "2048", "-n", "3000", "-c"]
            if kind != "ud":
                variants[", 1 MiB"] = ["-s", "1048576", "-n", "200", "-c"]
        for name, options in variants.items():
            yield f"pingpong: {kind}{name}", lambda k=kind, o=options: exchange(stand, k, o, {})
        yield f"pingpong: {kind}, Ethernet", lambda k=kind: exchange(
            stand, k, ["-g", "1"], {"SOFTRDMA_LINK_LAYER": "ethernet"}
        )
    yield "pingpong: rc by the ibv_wr_ interface", lambda: exchange(stand, "rc", ["-N"], {})
    yield "pingpong: xsrq", lambda: xsrq(stand, [])
    yield "pingpong: xsrq, events", lambda: xsrq(stand, ["-e"])
    yield "pingpong: xsrq, by GID", lambda: xsrq(stand, ["-g", "1"])
