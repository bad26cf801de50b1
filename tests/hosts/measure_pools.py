#!/usr/bin/env python3
"""Receive pools behind a queue pair for each peer (S) beside the same over XRC (X), between virtual hosts, on the device in software: what X-SRQ
measures in time, in turns.

    tests/hosts/measure_pools.py --prefix DIR [--rounds 5] [--batches 5] [--times 50] [--only wireup,collectives]

wireup: the first message of all pairs of ranks of different hosts; datagrams and queue pairs are counted. collectives: barrier, reduce, allreduce and
allgather of 8 bytes. A time is the median of all rounds, with the standard deviation behind it; X/S is the median of the rounds' ratios.
Ranks of all hosts have the cores of one machine: ratios say something, times little."""

import argparse
import os
import pathlib
import re
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import jobs
from lib.cases import Failure, Skip, require
from lib.commands import declare
from lib.hosts import Hosts
from lib.processes import end_by_signals
from pools import pools_of

# Hosts and ranks of each.
WIREUPS = ((2, 1), (2, 2), (4, 2), (4, 4), (4, 8))
LAYOUTS = ((2, 1), (4, 1), (4, 2), (4, 4), (4, 8))
OPERATIONS = ("barrier", "reduce", "allreduce", "allgather")
KINDS = "SX"
POOLS = 4
RUN_SECONDS = 300


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--build", default="build/hosts", type=pathlib.Path)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--batches", default=5, type=int)
    parser.add_argument("--times", default=50, type=int, help="operations of a batch")
    parser.add_argument("--only", default="wireup,collectives")
    parser.add_argument("--most-ranks", default=32, type=int, help="leave out jobs of more")
    return parser.parse_args()


def run(site, hosts, kind, layout, program, *words):
    count, ranks = layout
    command, env = jobs.over_rdma(site, [ranks] * count, pools=pools_of(kind, POOLS))
    return hosts[0].run([*command, site.program(program), *words], env, RUN_SECONDS).ok(program).output


def turns(number):
    """Which comes first turns."""
    return KINDS if number % 2 == 0 else KINDS[::-1]


def outputs(options, site, hosts, layouts, program, words):
    """Of each layout that is to be measured: the layout, and what all rounds said, by kind. `words` gives the program's, of a layout."""
    for count, ranks in layouts:
        if count * ranks > options.most_ranks:
            continue
        said = {kind: [] for kind in KINDS}
        for number in range(options.rounds):
            for kind in turns(number):
                said[kind].append(run(site, hosts, kind, (count, ranks), program, *words(ranks)))
        yield count, ranks, said


def cell(values):
    spread = statistics.stdev(values) if len(values) > 1 else 0
    return f"{statistics.median(values):.0f} ± {spread:.0f}"


def ratio(both):
    return f"{statistics.median(x / s for s, x in zip(both['S'], both['X'])):.2f}"


def wireup_figures(output):
    said = re.search(r"^wireup (\S+) (\S+) (\d+) (\d+)$", output, re.M)
    require(said, f"no figures:\n{output}")
    return [float(value) for value in said.groups()]


def wireups(site, hosts, options):
    """A row for each layout."""
    print("| hosts x ranks | pairs | datagrams S | X | queue pairs to send by S | X | first, us: S | X | X/S | again, us: S | X |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for count, ranks, said in outputs(options, site, hosts, WIREUPS, "wireup", lambda ranks: [ranks]):
        found = {kind: [wireup_figures(output) for output in said[kind]] for kind in KINDS}
        first, again, datagrams, pairs = ({kind: [row[i] for row in found[kind]] for kind in KINDS} for i in range(4))
        counts = [cell(datagrams[kind]) for kind in KINDS] + [f"{statistics.median(pairs[kind]):.0f}" for kind in KINDS]
        times = [cell(first[kind]) for kind in KINDS] + [ratio(first)] + [cell(again[kind]) for kind in KINDS]
        of_pairs = count * (count - 1) // 2 * ranks * ranks
        print(f"| {count} x {ranks} | {of_pairs} | {' | '.join(counts + times)} |", flush=True)


def collective_figure(output, name, batches):
    values = [float(value) for value in re.findall(rf"^{name} (\S+)$", output, re.M)]
    require(len(values) == batches, f"{len(values)} figures of {name}:\n{output}")
    return statistics.median(values)


def collectives(site, hosts, options):
    print("| ranks | hosts x ranks | operation | S, us | X, us | X/S |")
    print("|---|---|---|---|---|---|")
    for count, ranks, said in outputs(options, site, hosts, LAYOUTS, "collected", lambda _: [options.batches, options.times]):
        for name in OPERATIONS:
            both = {kind: [collective_figure(output, name, options.batches) for output in said[kind]] for kind in KINDS}
            print(f"| {count * ranks} | {count} x {ranks} | {name} | {cell(both['S'])} | {cell(both['X'])} | {ratio(both)} |", flush=True)


def main():
    options = arguments()
    end_by_signals()
    declare("hosts")
    site = jobs.Site(options.prefix.resolve(), pathlib.Path(), options.build.resolve(), False)
    try:
        with Hosts(max(count for count, _ in (*WIREUPS, *LAYOUTS))) as hosts:
            for part in options.only.split(","):
                {"wireup": wireups, "collectives": collectives}[part](site, hosts, options)
                print(f"\nload {os.getloadavg()[0]:.0f}\n", flush=True)
            hosts.check_clean()
    except (Failure, Skip) as why:
        raise SystemExit(f"measure_pools.py: {why}")


if __name__ == "__main__":
    main()
