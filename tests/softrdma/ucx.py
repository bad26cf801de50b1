"""UCX over rc_verbs and ud_verbs: listed, its transports measured one by one, its protocols over each of them."""

import re

from lib.cases import require

TRANSPORTS = ("rc_verbs", "ud_verbs")
# UCX's tests of a transport itself (UCT), by what datagrams have.
UCT = {
    "rc_verbs": ("am_lat", "put_lat", "am_bw", "put_bw", "fadd", "cswap", "add_mr"),
    "ud_verbs": ("am_lat", "am_bw"),
}
UCP = ("tag_lat", "tag_bw", "ucp_put_lat", "ucp_get", "ucp_fadd", "stream_bw", "ucp_am_lat")


def environment(stand, **variables):
    """UCX asks for /dev/infiniband's files before it lists a device: a preloaded library answers."""
    preload = str(stand.library / "libsoftrdma_preload.so")
    return stand.environment(LD_PRELOAD=preload, UCX_WARN_UNUSED_ENV_VARS="n", **variables)


def listed(stand):
    output = stand.run(["ucx_info", "-d"], environment(stand))
    for transport in TRANSPORTS:
        require(re.search(rf"Transport: {transport}\n#\s+Device: softrdma0:1", output), f"no {transport}:\n{output}")
    require("ERROR" not in output and "WARN" not in output, output)


def measure(stand, options, variables):
    command = ["ucx_perftest", *options, "-n", "2000", "-w", "100", "-f"]
    pair = stand.pair(command, environment(stand, **variables))
    for output in pair.succeed(60):
        require("ERROR" not in output and "WARN" not in output, output)
    require(re.search(r"^Final:\s+2000|^\s*2000\s", output, re.M), f"no figures:\n{output}")


def cases(stand):
    if stand.quick:
        return
    yield "ucx: ucx_info lists the device", lambda: listed(stand)
    yield "ucx: rc_verbs get", lambda: measure(stand, [*"-d softrdma0:1 -x rc_verbs -t get -D zcopy -s 4096".split()], {})
    for transport in TRANSPORTS:
        for test in UCT[transport]:
            options = ["-d", "softrdma0:1", "-x", transport, "-t", test]
            yield f"ucx: {transport} {test}", lambda o=options: measure(stand, o, {})
        # Reliable connections are set up by datagrams.
        variables = {"UCX_TLS": {"rc_verbs": "rc_verbs,ud_verbs:aux,self"}.get(transport, f"{transport},self")}
        variables["UCX_NET_DEVICES"] = "softrdma0:1"
        for test in UCP:
            yield f"ucx: {test} over {transport}", lambda t=test, v=variables: measure(stand, ["-t", t], v)
        for size in ("1", "5000", "1000000"):
            yield f"ucx: tag_bw of {size} bytes over {transport}", lambda s=size, v=variables: measure(
                stand, ["-t", "tag_bw", "-s", s], v
            )
