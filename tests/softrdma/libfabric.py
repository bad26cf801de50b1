"""libfabric's verbs provider: lists the device, and exchanges datagrams. Its connected endpoints are in rdmacm.py."""

import re

from lib.cases import require

DATAGRAMS = ["-p", "verbs", "-e", "dgram"]


def listed(stand):
    output = stand.run(["fi_info", "-p", "verbs"])
    require(re.search(r"type: FI_EP_DGRAM", output), output)
    require("softrdma0" in output, output)


def pingpong(stand, options):
    for output in stand.pair(["fi_pingpong", *DATAGRAMS, *options], port_options=("-B", "-P")).succeed(60):
        require(re.search(r"^\d+k?\s+\d", output, re.M), f"no figures:\n{output}")


def cases(stand):
    if stand.quick:
        return
    yield "libfabric: fi_info lists the verbs provider", lambda: listed(stand)
    yield "libfabric: fi_pingpong, datagrams", lambda: pingpong(stand, ["-I", "500"])
    yield "libfabric: fi_pingpong, datagrams of 1024 bytes, checked", lambda: pingpong(stand, ["-I", "500", "-S", "1024", "-c"])
