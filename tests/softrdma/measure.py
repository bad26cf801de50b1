#!/usr/bin/env python3
"""The speed of the software RDMA device beside what the machine allows (c/floor.c), interleaved, as a Markdown table.

    tests/softrdma/measure.py --library DIR [--build DIR] [--rounds N]

Each figure is the median of the rounds. A machine that does other things at the same time shows it.
"""

import argparse
import pathlib
import re
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.commands import declare
from stand import Stand

# (what, command, column of perftest's last row, unit)
LATENCY, BANDWIDTH, RATE = 4, 3, 4
RUNS = [
    ("`ib_write_lat`, 2 B", ["ib_write_lat", "-n", "20000"], LATENCY, "us"),
    ("`ib_send_lat`, 2 B", ["ib_send_lat", "-n", "20000"], LATENCY, "us"),
    ("`ib_read_lat`, 2 B", ["ib_read_lat", "-n", "20000"], LATENCY, "us"),
    ("`ib_atomic_lat`, 8 B", ["ib_atomic_lat", "-n", "20000"], LATENCY, "us"),
    ("`ib_write_bw`, 64 KiB", ["ib_write_bw", "-n", "20000", "-N"], BANDWIDTH, "MB/s"),
    ("`ib_read_bw`, 64 KiB", ["ib_read_bw", "-n", "20000", "-N"], BANDWIDTH, "MB/s"),
    ("`ib_send_bw`, 64 KiB", ["ib_send_bw", "-n", "20000", "-N"], BANDWIDTH, "MB/s"),
    ("`ib_write_bw`, 2 B, lists of 32", ["ib_write_bw", "-s", "2", "-l", "32", "-n", "200000", "-N"], RATE, "M/s"),
    ("`ib_send_bw`, 2 B, lists of 32", ["ib_send_bw", "-s", "2", "-l", "32", "-n", "200000", "-N"], RATE, "M/s"),
]


def last_row(output):
    return [row.split() for row in output.splitlines() if re.match(r"^\s*\d+\s+\d+\s+[\d.]+", row)][-1]


def figure(stand, command, column, unit):
    _, output = stand.pair([*command, "-d", "softrdma0", "-F"]).succeed(120)
    value = float(last_row(output)[column])
    # perftest's megabytes are of 2^20 bytes.
    return value * 1.048576 if unit == "MB/s" else value


def floors(stand):
    output = stand.run([stand.program("floor")], timeout=60)
    return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)", output)}


THREADS = {
    "one_thread_m_s": "2 B writes into `ibv_alloc_buf` memory, lists of 32, one thread",
    "two_queue_pairs_m_s": "the same, two threads, a queue pair and thread domain each",
    "one_shared_queue_pair_m_s": "the same, two threads on one queue pair",
}


def rates(stand):
    output = stand.run([stand.program("threads")], timeout=60)
    return {name: float(value) for name, value in re.findall(r"(\w+_m_s) ([\d.]+)", output)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=pathlib.Path, help="the folder of libibverbs.so.1")
    parser.add_argument("--build", default="build/softrdma", type=pathlib.Path)
    parser.add_argument("--rounds", default=3, type=int)
    options = parser.parse_args()
    declare("softrdma")
    stand = Stand(options.library.resolve(), options.build.resolve(), None, False)
    seen = {name: [] for name, *_ in RUNS}
    floor = {"latency_us": [], "bandwidth_mb_s": []}
    for _ in range(options.rounds):
        for name, value in floors(stand).items():
            floor[name].append(value)
        for name, command, column, unit in RUNS:
            seen[name].append(figure(stand, command, column, unit))
        for name, value in rates(stand).items():
            seen.setdefault(name, []).append(value)
    middle = {name: statistics.median(values) for name, values in floor.items()}
    print("| what | figure | beside process_vm_writev |")
    print("|---|---|---|")
    print(f"| process_vm_writev, 2 B, half a round trip | {middle['latency_us']:.2f} us | |")
    print(f"| process_vm_writev, 64 KiB | {middle['bandwidth_mb_s']:.0f} MB/s | |")
    for name, _, _, unit in RUNS:
        value = statistics.median(seen[name])
        beside = {"us": middle["latency_us"], "MB/s": middle["bandwidth_mb_s"]}.get(unit)
        ratio = f"{value / beside:.2f}" if beside else ""
        digits = 0 if unit == "MB/s" else 2
        print(f"| {name} | {value:.{digits}f} {unit} | {ratio} |")
    for name, words in THREADS.items():
        print(f"| {words} | {statistics.median(seen[name]):.2f} M/s | |")


if __name__ == "__main__":
    main()
