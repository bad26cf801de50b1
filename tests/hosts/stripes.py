"""Long messages over several interfaces: what each carries, and what becomes of them when one fails."""

import functools
import re
import time

from jobs import Job
from lib.cases import require
from lib.hosts import Hosts

BYTES = 6_000_000
START_SECONDS = 60
# A connection for stripes is given up after 5 s of silence.
CUT_SECONDS = 12


def carried(output):
    """By rank and variable, what the program says."""
    return {(int(rank), name): int(value) for rank, name, value in re.findall(r"^carried (\d) weft_tcp_(\S+) (\d+)$", output, re.M)}


def shares(output, interfaces):
    """What each rank has sent by each interface, of all that it has sent."""
    values = carried(output)
    sent = {rank: [values.get((rank, f"eth{interface}_sent_bytes"), 0) for interface in range(interfaces)] for rank in (0, 1)}
    for rank, each in sent.items():
        total = values[rank, "bytes_sent"]
        require(sum(each) == total > BYTES, f"rank {rank}: {each} by interface, {total} in all:\n{output}")
        print(f"        rank {rank} sent {each}", flush=True)
    return sent


def begun(job):
    deadline = time.monotonic() + START_SECONDS
    while len(re.findall(r"^running \d \d+$", job.running.text(), re.M)) < 2:
        require(job.running.process.poll() is None and time.monotonic() < deadline, f"the job does not run:\n{job.running.output()}")
        time.sleep(0.02)


def job(site, hosts, seconds, env=None):
    return Job(site, hosts, site.usual, [1, 1], "stripes", seconds, BYTES, env=env)


def all_carry(site, interfaces, families):
    with Hosts(2, interfaces=interfaces, families=families) as hosts:
        output = job(site, hosts, 2).succeed("stripes").output
    for rank, each in shares(output, interfaces).items():
        require(min(each) * 20 > sum(each), f"rank {rank} used not all interfaces: {each}")


def one_carries(site, interfaces, prepare=None, env=None):
    """Nothing goes by any but the first."""
    with Hosts(2, interfaces=interfaces) as hosts:
        if prepare:
            prepare(hosts)
        output = job(site, hosts, 2, env).succeed("stripes").output
    for rank, each in shares(output, interfaces).items():
        require(sum(each[1:]) == 0, f"rank {rank} used others than the first: {each}")
        require(carried(output)[rank, "links"] <= 2, f"rank {rank} has more connections than two:\n{output}")


def two_addresses_of_one(hosts):
    """Both networks are on one interface of each host."""
    for host in hosts:
        host.ip("link", "set", "eth1", "down")
        host.ip("addr", "flush", "dev", "eth1")
        host.ip("addr", "add", f"{host.address(1)}/24", "dev", "eth0")


def down_before(hosts):
    hosts[1].link(False, interface=1)


def cut(site, host, seconds, back):
    """One of two interfaces goes down while messages go, for good or for a while: all arrive, and later by the one that is left."""
    with Hosts(2, interfaces=2) as hosts:
        running = job(site, hosts, seconds)
        begun(running)
        time.sleep(1)
        hosts[host].link(False, interface=1)
        if back:
            time.sleep(back)
            hosts[host].link(True, interface=1)
        output = running.succeed("stripes").output
    values = carried(output)
    shares(output, 2)
    for rank in (0, 1):
        require(values[rank, "eth1_sent_bytes"] > 0, f"rank {rank} had not used the interface before:\n{output}")
        lost = values[rank, "stripes_lost"]
        require(back or (lost == 1 and values[rank, "stripes"] == 0), f"rank {rank} did not give the connection up: {values}")


def cases(site):
    yield "stripes, two interfaces", functools.partial(all_carry, site, 2, (4, 6))
    yield "stripes, an interface goes down for good", functools.partial(cut, site, 1, CUT_SECONDS, 0)
    if site.quick:
        return
    yield "stripes, four interfaces", functools.partial(all_carry, site, 4, (4, 6))
    yield "stripes, IPv6 alone", functools.partial(all_carry, site, 2, (6,))
    yield "stripes, the other side's interface goes down", functools.partial(cut, site, 0, CUT_SECONDS, 0)
    yield "stripes, an interface goes down for 2 s", functools.partial(cut, site, 1, 6, 2)
    yield "no stripes, one interface", functools.partial(one_carries, site, 1)
    yield "no stripes, one interface is named", functools.partial(one_carries, site, 2, env={"WEFT_INTERFACE": "eth0"})
    yield "no stripes, two addresses of one interface", functools.partial(one_carries, site, 2, two_addresses_of_one)
    yield "no stripes, an interface was down before", functools.partial(one_carries, site, 2, down_before)
