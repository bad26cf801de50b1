"""The connection manager in the place of rdma-core's librdmacm: rdma-core's own examples, perftest's -R, libfabric's
connected endpoints."""

import ipaddress
import re
import time

from lib.cases import Failure, Skip, require
from stand import Pair, free_port, listens


def own_address(stand):
    """The address that the device's GID holds: libfabric's connected endpoints are found by it."""
    output = stand.run(["ibv_devinfo", "-v"])
    found = re.search(r"GID\[ *1\]:\s+(0000:0000:0000:0000:0000:ffff:\S+)", output)
    require(found, f"no IPv4 GID:\n{output}")
    return str(ipaddress.IPv6Address(found.group(1)).ipv4_mapped)


# udaddy's, which cannot be changed.
UDADDY_PORT = 7174


def pair(stand, server, client, port=None):
    """`server` and, once it listens, `client`; both are given the port."""
    environment = stand.environment()
    port = port or free_port()
    serving = stand.start(server(port), environment)
    deadline = time.monotonic() + 15
    while not listens(port):
        if serving.process.poll() is not None or time.monotonic() > deadline:
            serving.end()
            raise Failure(f"the server never listened:\n{serving.tail()}")
        time.sleep(0.01)
    return Pair(serving, stand.start(client(port), environment))


def rping(stand):
    server, client = pair(
        stand,
        lambda port: ["rping", "-s", "-p", port, "-C", 20, "-v", "-V"],
        lambda port: ["rping", "-c", "-a", "127.0.0.1", "-p", port, "-C", 20, "-v", "-V"],
    ).succeed(30)
    require("rdma-ping-19" in server and "rdma-ping-19" in client, client)


def example(stand, program, *options):
    for output in pair(
        stand,
        lambda port: [program, "-p", port, *options],
        lambda port: [program, "-p", port, *options, "-s", "127.0.0.1"],
    ).succeed(30):
        require("return status 0" in output, output)


def datagrams(stand):
    if listens(UDADDY_PORT):
        raise Skip(f"port {UDADDY_PORT} is taken")
    client = ["udaddy", "-s", "127.0.0.1"]
    for output in pair(stand, lambda port: ["udaddy"], lambda port: client, UDADDY_PORT).succeed(30):
        require("return status 0" in output, output)


def endpoints(stand):
    """Identifiers without channels: rdma_create_ep, rdma_get_request."""
    server, client = pair(
        stand,
        lambda port: ["rdma_server", "-p", port],
        lambda port: ["rdma_client", "-s", "127.0.0.1", "-p", port],
    ).succeed(30)
    require("end 0" in server and "end 0" in client, client)


def refused(stand):
    program = stand.start(["rping", "-c", "-a", "127.0.0.1", "-p", free_port(), "-C", 1], stand.environment())
    result = program.finish(30)
    require("RDMA_CM_EVENT_REJECTED, error 8" in result.output, program.tail())


def perftest(stand, program, *options):
    _, client = stand.pair([program, "-R", "-n", "200", *options]).succeed(60)
    require(re.search(r"^ *\d+ +200 ", client, re.M), f"no figures:\n{client}")


def libfabric(stand, provider, kind):
    address = own_address(stand)
    command = ["fi_pingpong", "-p", provider, "-e", kind, "-I", "50", "-c"]
    # ofi_rxm looks for disconnections every 10 ms and closes at once, even when completions from before wait in its queue. A
    # process that was off its core for so long would lose them.
    environment = stand.environment(FI_OFI_RXM_CM_PROGRESS_INTERVAL="300000")
    for output in stand.pair(command, environment, port_options=("-B", "-P"), host=address).succeed(60):
        require(re.search(r"^\d+k?\s+\d", output, re.M), f"no figures:\n{output}")


def cases(stand):
    yield "rdmacm: rping", lambda: rping(stand)
    if stand.quick:
        return
    yield "rdmacm: nobody listens", lambda: refused(stand)
    yield "rdmacm: ucmatose, 10 connections", lambda: example(stand, "ucmatose", "-c", 10)
    yield "rdmacm: ucmatose, moved between channels", lambda: example(stand, "ucmatose", "-m")
    yield "rdmacm: udaddy, datagrams", lambda: datagrams(stand)
    yield "rdmacm: rdma_server and rdma_client", lambda: endpoints(stand)
    yield "rdmacm: ib_write_bw -R", lambda: perftest(stand, "ib_write_bw")
    yield "rdmacm: ib_read_lat -R", lambda: perftest(stand, "ib_read_lat")
    yield "rdmacm: ib_send_lat -R, datagrams", lambda: perftest(stand, "ib_send_lat", "-c", "UD")
    yield "rdmacm: fi_pingpong, connected", lambda: libfabric(stand, "verbs", "msg")
    yield "rdmacm: fi_pingpong, reliable datagrams", lambda: libfabric(stand, "verbs;ofi_rxm", "rdm")
