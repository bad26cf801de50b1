#!/usr/bin/env python3
"""The speed of the software RDMA device between two hosts (network namespaces, a veth pair) beside kernel sockets there (c/wire_floor.c),
interleaved, as a Markdown table. Needs root.

    tests/softrdma/measure_wire.py --library DIR [--build DIR] [--rounds N] [--mtu BYTES] [--loss PER_CENT]

With --loss the hosts stand at a switch that loses so many packets, each by itself (tests/lib/hosts.py). With --mtu 1100 TCP has packets as long as the
device's, which carry 1,024 bytes.
Each figure is the median of the rounds; of processor time, all of both hosts' processes. A machine that does other things at the same
time shows it.
"""

import argparse
import collections
import contextlib
import pathlib
import re
import resource
import statistics
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.commands import declare
from lib.hosts import Hosts
from measure import BANDWIDTH, LATENCY, last_row
from networks import Cable
from stand import Pair, Stand, listens
from wire import ETHERNET

# c/wire_floor.c's.
FLOOR_PORT, BLOCK_BYTES = 18779, 65536
BLOCKS = 8000
# What, command, column of perftest's last row, unit.
RUNS = [
    ("`ib_write_bw`, 64 KiB", ["ib_write_bw", "-n", str(BLOCKS)], BANDWIDTH, "MB/s"),
    ("`ib_send_bw`, 64 KiB", ["ib_send_bw", "-n", str(BLOCKS)], BANDWIDTH, "MB/s"),
    ("`ib_read_bw`, 64 KiB", ["ib_read_bw", "-n", str(BLOCKS)], BANDWIDTH, "MB/s"),
    ("`ib_write_lat`, 2 B", ["ib_write_lat", "-n", "20000"], LATENCY, "us"),
    ("`ib_send_lat`, 2 B", ["ib_send_lat", "-n", "20000"], LATENCY, "us"),
]


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figure(stand, cable, command, column, unit):
    """The figure, and processor time a gigabyte."""
    before = processor_s()
    command = [*command, "-d", "softrdma0", "-F", "-x", "1"]
    pair = stand.pair(command, stand.environment(**ETHERNET), before=cable.enter, host=cable.address)
    _, output = pair.succeed(120)
    used = (processor_s() - before) / (BLOCK_BYTES * BLOCKS / 1e9)
    value = float(last_row(output)[column])
    # perftest's megabytes are of 2^20 bytes.
    return (value * 1.048576, used) if unit == "MB/s" else (value, None)


def floor(stand, cable, name, blocks, rounds):
    """What c/wire_floor.c calls `name`, and processor time a gigabyte."""
    program = str(stand.program("wire_floor"))
    first, second = cable.enter
    before = processor_s()
    server = stand.start([program, "serve", str(rounds)], before=first)
    while server.process.poll() is None and not listens(FLOOR_PORT, first):
        time.sleep(0.05)
    client = stand.start([program, cable.address, str(blocks), str(rounds)], before=second)
    _, output = Pair(server, client).succeed(120)
    used = (processor_s() - before) / max(BLOCK_BYTES * blocks / 1e9, 1e-9)
    return float(re.search(rf"{name} ([\d.]+)", output)[1]), used


# Two hosts: what to begin a command with that is to run on either, and the first one's address.
Wire = collections.namedtuple("Wire", "enter address")


@contextlib.contextmanager
def wire(mtu, loss):
    if loss:
        with Hosts(2, loss_percent=loss) as hosts:
            for host in hosts:
                host.ip("link", "set", "eth0", "mtu", str(mtu))
            yield Wire([host.network for host in hosts], hosts[0].address())
    else:
        with Cable() as cable:
            for host in cable.hosts:
                host.ip("link", "set", "cable", "mtu", str(mtu))
            yield Wire([host.enter for host in cable.hosts], Cable.ADDRESSES[0])


def measure(stand, mtu, rounds, loss):
    """By name: figures, and processor times."""
    # A ping-pong by UDP ends with the first packet that is lost.
    runs = [run for run in RUNS if not loss or run[-1] == "MB/s"]
    seen = {name: ([], []) for name in ("tcp_mb_s", "udp_us", *(name for name, *_ in runs))}
    with wire(mtu, loss) as cable:
        for _ in range(rounds):
            all_of_it = [
                ("tcp_mb_s", *floor(stand, cable, "tcp_mb_s", BLOCKS, 0)),
                *((name, *figure(stand, cable, command, column, unit)) for name, command, column, unit in runs),
            ]
            if not loss:
                all_of_it.append(("udp_us", *floor(stand, cable, "udp_us", 0, 20000)))
            for name, value, used in all_of_it:
                seen[name][0].append(value)
                seen[name][1].append(used or 0)
    return {name: tuple(statistics.median(each) for each in both) for name, both in seen.items() if both[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=pathlib.Path, help="the folder of libibverbs.so.1")
    parser.add_argument("--build", default="build/softrdma", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--mtu", default=1500, type=int, help="of the interfaces; 4200 carries RDMA packets of 4096 bytes")
    parser.add_argument("--loss", default=0, type=float, help="per cent of packets that a switch between the hosts loses")
    options = parser.parse_args()
    declare("softrdma")
    stand = Stand(options.library.resolve(), options.build.resolve(), None, False)
    middle = measure(stand, options.mtu, options.rounds, options.loss)
    stream, stream_s = middle.pop("tcp_mb_s")
    ping, _ = middle.pop("udp_us", (None, None))
    print("| what | figure | beside sockets | processor time a GB | beside TCP |")
    print("|---|---|---|---|---|")
    print(f"| TCP, 64 KiB | {stream:.0f} MB/s | | {stream_s:.2f} s | |")
    if ping:
        print(f"| UDP, 2 B, half a round trip | {ping:.2f} us | | | |")
    for name, _, _, unit in RUNS:
        value, used = middle.get(name, (None, None))
        if value is None:
            continue
        if unit == "MB/s":
            print(f"| {name} | {value:.0f} MB/s | {value / stream:.2f} | {used:.2f} s | {used / stream_s:.2f} |")
        else:
            print(f"| {name} | {value:.2f} us | {value / ping:.2f} | | |")


if __name__ == "__main__":
    main()
