"""Programs that check what they get, between hosts: on various placements, interfaces and wires."""

import functools

from jobs import Job
from lib.cases import require
from lib.hosts import Hosts

PROGRAMS = ("around", "everybody", "together", "remote", "threads", "flood", "sleeps")
PLACEMENTS = ([1, 1], [2, 2], [1, 3, 2], [1, 1, 1, 1])
# Messages of each rank, by their bytes. A receiver may hold 2 Mi messages or 16 MiB of each sender, so the short ones may all lie there, at
# some 200 bytes each, and of the long ones no more than that.
FLOOD = {8: 500_000, 4096: 50_000}
QUICK_FLOOD = 20_000
HELD_BYTES = {8: 256, 4096: 0}
HELD_KIB, OTHER_KIB = 16 << 10, 64 << 10

WIRES = {
    "2 ms": {"delay_us": 2000},
    "1 % loss": {"loss_percent": 1},
    "5 % loss": {"loss_percent": 5},
    "100 Mbit/s": {"rate_mbit": 100},
    "three interfaces": {"interfaces": 3},
    "IPv6 alone": {"families": (6,)},
    "IPv4 alone": {"families": (4,)},
}


def runs(site, program, counts, *arguments, seconds=240, **bed):
    with Hosts(len(counts), **bed) as hosts:
        return Job(site, hosts, site.usual, counts, program, *arguments).succeed(program, seconds)


def flood(site, counts, bytes_each):
    messages, senders = QUICK_FLOOD if site.quick else FLOOD[bytes_each], sum(counts) - 1
    result = runs(site, "flood", counts, messages, bytes_each)
    taken, limit = int(result.output.split("at most ")[1].split()[0]), OTHER_KIB
    limit += senders * max(messages * HELD_BYTES[bytes_each] >> 10, HELD_KIB)
    require(taken < limit, f"rank 0 took {taken} KiB, more than {limit}")


def unreachable(site):
    """Each host has an interface with the same private address that leads to nobody, as Docker's do whose names are known; it comes first."""
    with Hosts(2) as hosts:
        for host in hosts:
            host.ip("link", "add", "near0", "type", "bridge")
            for address in ("172.17.0.1/16", "fd00:17::1/64"):
                host.ip("addr", "add", address, "dev", "near0", *(["nodad"] if ":" in address else []))
            host.ip("link", "set", "near0", "up")
        Job(site, hosts, site.usual, [1, 1], "around").succeed("around")


def cases(site):
    for program in PROGRAMS:
        for counts in PLACEMENTS:
            if program == "flood":
                case = functools.partial(flood, site, counts, 8)
            else:
                case = functools.partial(runs, site, program, counts)
            if not site.quick or counts == [2, 2]:
                yield f"{program}, ranks {counts}", case
    if site.quick:
        return
    yield "flood of 4 KiB", functools.partial(flood, site, [2, 2], 4096)
    for wire, shape in WIRES.items():
        for program in ("around", "everybody", "remote"):
            yield f"{program}, {wire}", functools.partial(runs, site, program, [1, 2], **shape)
        yield f"steady for 10 s, {wire}", functools.partial(runs, site, "steady", [1, 2], 10, **shape)
    yield "an interface that leads to nobody", functools.partial(unreachable, site)
