"""What `weft` tells of hosts and of the network between them."""

import functools
import json
import re

from lib.cases import Skip, require
from lib.hosts import Hosts

SIZES = {"8": 8, "64K": 64 << 10, "2M": 2 << 20}
SERIES = {f"{kind}{series}" for kind in ("tcp-", "") for series in ("spin", "block", "stream")}
BENCH_SECONDS = 240


def weft(site):
    if site.library != "weft":
        raise Skip("weft is ours alone")
    return site.prefix / "bin/weft"


def wire(site, hosts):
    """All series at all sizes, more than nothing, by as many ranks on as many hosts as were asked for."""
    words = [weft(site), "bench", "wire", "--sizes", ",".join(SIZES), "--rounds", 1, "--seconds", 0.01, "--json"]
    result = hosts[0].run([*words, "--hosts", ",".join(hosts.names())], timeout=BENCH_SECONDS)
    hosts.check_clean()
    output = result.output
    require(result.code == 0, f"exit code {result.code}:\n{output}")
    # What it says of the machine beside that stands before or behind.
    report, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
    bench = report["benchmarks"][0]
    values = {(point["series"], point["x"]): point["median"] for point in bench["points"]}
    require(set(values) == {(series, size) for series in SERIES for size in SIZES.values()}, f"other points:\n{sorted(values)}")
    require(all(value and value > 0 for value in values.values()), f"no figure:\n{values}")
    require(set(bench["floors"]) == {"spin", "block", "stream"}, f"floors: {bench['floors']}")


def wire_between(site):
    with Hosts(2) as hosts:
        wire(site, hosts)


def addresses(output):
    """By interface and address, what is said of it."""
    return {(interface, address): said for interface, address, said in re.findall(r"^  (\S+) +(\S+) +((?:not )?used.*)$", output, re.M)}


def info(site):
    """Each address of a host is told, and why one is not used; a rank is told what its launcher has chosen."""
    with Hosts(2, interfaces=3) as hosts:
        hosts[0].ip("link", "add", "docker0", "type", "bridge")
        hosts[0].ip("addr", "add", "172.17.0.1/16", "dev", "docker0")
        hosts[0].ip("link", "set", "docker0", "up")
        hosts[0].ip("link", "set", "eth2", "down")
        hosts[0].link(False, interface=1)
        said = addresses(hosts[0].output([weft(site), "info"]))
        expected = {
            ("eth0", "10.77.0.1"): "used",
            ("eth0", "fd77::1"): "used",
            ("eth1", "10.78.0.1"): "not used: the interface has no carrier",
            ("eth2", "10.79.0.1"): "not used: the interface is down",
            ("lo", "127.0.0.1"): "not used: loopback",
        }
        require({key: said.get(key) for key in expected} == expected, f"said:\n{said}")
        bridge = said.get(("docker0", "172.17.0.1"), "")
        require(bridge.startswith("not used: "), f"the bridge: {bridge}")
        local = [text for (interface, address), text in said.items() if interface == "eth0" and address.startswith("fe80:")]
        require(all("link-local" in text for text in local), f"link-local: {local}")
        words = [site.prefix / "bin/mpiexec", "-hosts", "host1", "-n", 1, "--interface", "eth2", weft(site), "info", "--all"]
        output = hosts[0].output(words)
        require(addresses(output).get(("eth2", "10.79.0.2")) == "used", f"the named interface is not used:\n{output}")
        require(addresses(output).get(("eth0", "10.77.0.2")) == "not used: other interfaces are named", f"another is used:\n{output}")
        require(re.search(r"^  weft_interface +eth2 +launcher, WEFT_INTERFACE$", output, re.M), f"who has named it is not told:\n{output}")


def cases(site):
    yield "tools: weft info of a host's interfaces", functools.partial(info, site)
    yield "tools: weft bench wire between two hosts", functools.partial(wire_between, site)
