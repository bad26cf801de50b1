#!/usr/bin/env python3
"""WeftMPI beside other libraries and raw TCP between virtual hosts, interleaved; medians over rounds.

    tests/hosts/measure.py --prefix DIR [--peers DIR] [--libraries weft,mpich,openmpi,intel] [--rounds 7] [--only pairs,together,start]

pairs: one rank on each of two hosts, bound to a core each; the columns spin and block are TCP alone. together: two ranks on each of two hosts, the peers
with the settings by which they yield. Of pairs the fastest of short batches counts, as the machine may be busy; of together their mean. start: an empty program with two ranks a host, from the command to its end; ssh: one to each host,
all at once. A `-` stands where a library failed; why is said on standard error."""

import argparse
import os
import pathlib
import statistics
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import jobs
from lib.cases import Failure, Skip
from lib.commands import declare
from lib.compiler import compile_program, plain_compiler
from lib.hosts import Hosts
from lib.processes import end_by_signals

PROBES = pathlib.Path(__file__).resolve().parent / "probes"
LAUNCHERS = {"weft": "mpiexec", "mpich": "MPICH's Hydra", "intel": "Intel's Hydra", "openmpi": "prterun"}
# What the peers do by themselves, over TCP; and where ranks outnumber cores, their settings by which waiting ranks yield.
DEFAULTS = {"OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm,tcp", "FI_PROVIDER": "tcp", "I_MPI_PIN": "0"}
YIELDING = {**DEFAULTS, "OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3"}
RUN_SECONDS = 300
TABLES = {
    "half": ("half round trip (us, lower is better)", min),
    "stream": ("stream of 1 MiB (MB/s, higher is better)", max),
    "messages": ("windows of 64 messages (thousands/s, higher is better)", max),
    "put": ("put and flush (us, lower is better)", min),
    "get": ("get and flush (us, lower is better)", min),
    "fetch": ("fetch_and_op and flush (us, lower is better)", min),
    "puts": ("64 puts and a flush (thousands/s, higher is better)", max),
    "barrier": ("2 hosts x 2 ranks: barrier (us, lower is better)", min),
    "allreduce": ("2 hosts x 2 ranks: allreduce (us, lower is better)", min),
    "bcast": ("2 hosts x 2 ranks: bcast (us, lower is better)", min),
    "start": ("start and end of an empty program, 2 ranks a host; `bytes` are hosts (s, lower is better)", min),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--peers", default="build/peers", type=pathlib.Path)
    parser.add_argument("--build", default="build/hosts", type=pathlib.Path)
    parser.add_argument("--libraries", default="weft,mpich,openmpi,intel")
    parser.add_argument("--rounds", default=7, type=int)
    parser.add_argument("--only", default="pairs,together,start")
    parser.add_argument("--start-hosts", default="2,4,8")
    return parser.parse_args()


class Measured:
    """What each round gave: values[name, bytes][column] is a list, one a round; None where it failed."""

    def __init__(self):
        self.values = {}

    def add(self, column, lines):
        for name, size, value in lines:
            self.values.setdefault((name, int(size)), {}).setdefault(column, []).append(value)

    def median(self, key, column):
        found = [value for value in self.values[key].get(column, []) if value is not None]
        return statistics.median(found) if found else None

    def ratio(self, key, column, others, best):
        """The median over rounds of the column beside the best of the others in the same round."""
        ratios = []
        for number, mine in enumerate(self.values[key].get(column, [])):
            beside = [self.values[key][other][number] for other in others if number < len(self.values[key].get(other, []))]
            beside = [value for value in beside if value is not None]
            if mine is not None and beside:
                ratios.append(mine / best(beside))
        return statistics.median(ratios) if ratios else None


def numbers(output):
    """The lines NAME BYTES VALUE."""
    lines = [line.split() for line in output.splitlines()]
    return [(words[0], words[1], float(words[2])) for words in lines if len(words) == 3 and words[0] in TABLES and words[1].isdigit()]


class Stand:
    """The hosts, and the probe compiled for each library."""

    def __init__(self, options, hosts):
        self.hosts = hosts
        self.libraries = options.libraries.split(",")
        self.sites, self.probes = {}, {}
        for name in self.libraries:
            site = self.sites[name] = jobs.Site(options.prefix.resolve(), options.peers.resolve(), options.build.resolve(), False, name)
            folder = site.prefix if name == "weft" else site.peers / name
            self.probes[name] = compile_program(folder / "bin/mpicc", [PROBES / "probe.c", "-O2"], site.build / f"probe-{name}")
        self.floor = compile_program(plain_compiler(), [PROBES / "floor.c", "-O2"], options.build.resolve() / "floor")

    def library(self, name, counts, what, env):
        """The lines that a job of the library says, what there is of them where it fails; and how long it took, if it did not."""
        site = self.sites[name]
        try:
            words, variables = jobs.LAUNCHERS[LAUNCHERS[name]](site, counts)
            begin = time.monotonic()
            result = self.hosts[0].run([*words, self.probes[name], what], {**variables, **env}, RUN_SECONDS)
            seconds = time.monotonic() - begin
        except (Failure, Skip) as why:
            print(f"{name}, {what}: {why}", file=sys.stderr)
            return [], None
        if result.code != 0 or "ok probe" not in result.output:
            print(f"{name}, {what}: exit code {result.code}:\n{result.output}", file=sys.stderr)
            seconds = None
        return numbers(result.output), seconds

    def raw(self, mode):
        server = self.hosts[1].start([self.floor, "serve"])
        while "listening" not in server.text():
            time.sleep(0.01)
        result = self.hosts[0].run([self.floor, "host1", mode], timeout=RUN_SECONDS).ok("floor")
        server.finish(10)
        return numbers(result.output)

    def ssh(self, count):
        """One ssh to each host, all at once."""
        begin = time.monotonic()
        script = "".join(f"ssh host{index} true & " for index in range(count)) + "wait"
        self.hosts[0].output(["sh", "-c", script])
        return time.monotonic() - begin


def take_rounds(options, stand, measured):
    only = options.only.split(",")
    for number in range(options.rounds):
        # The order turns, so that nobody always comes after the same one.
        turn = stand.libraries[number % len(stand.libraries) :] + stand.libraries[: number % len(stand.libraries)]
        if "pairs" in only:
            for mode in ("spin", "block"):
                measured.add(mode, stand.raw(mode))
            for name in turn:
                measured.add(name, stand.library(name, [1, 1], "pairs", DEFAULTS)[0])
        if "together" in only:
            for name in turn:
                measured.add(name, stand.library(name, [2, 2], "together", YIELDING)[0])
        if "start" in only:
            for count in map(int, options.start_hosts.split(",")):
                measured.add("ssh", [("start", count, stand.ssh(count))])
                for name in turn:
                    seconds = stand.library(name, [2] * count, "nothing", DEFAULTS)[1]
                    measured.add(name, [("start", count, seconds)])
        print(f"round {number + 1} of {options.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def three_digits(value):
    return "-" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def show(measured, libraries):
    for name, (title, best) in TABLES.items():
        keys = sorted(key for key in measured.values if key[0] == name)
        if not keys:
            continue
        floors = [column for column in ("spin", "block", "ssh") if any(column in measured.values[key] for key in keys)]
        peers = [library for library in libraries if library != "weft"]
        beside = [f"weft/{what}" for what in ("best", *floors)] if "weft" in libraries else []
        rows = [["bytes", *floors, *libraries, *beside]]
        for key in keys:
            ratios = [measured.ratio(key, "weft", others, best) for others in (peers, *([floor] for floor in floors))] if beside else []
            values = [measured.median(key, column) for column in (*floors, *libraries)]
            rows.append([str(key[1]), *(three_digits(value) for value in values), *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        print(f"\n{title}")
        for row in rows:
            print("  " + "  ".join(word.ljust(width) if column == 0 else word.rjust(width) for column, (word, width) in enumerate(zip(row, widths))))


def main():
    options = arguments()
    end_by_signals()
    declare("hosts")
    measured = Measured()
    most = max(map(int, options.start_hosts.split(","))) if "start" in options.only else 2
    try:
        # Before the hosts are made, whose sshd hand it on; the figures suffer less from what else runs.
        if os.geteuid() == 0:
            os.nice(-10)
        with Hosts(max(most, 2)) as hosts:
            stand = Stand(options, hosts)
            try:
                take_rounds(options, stand, measured)
            except KeyboardInterrupt:
                print("interrupted: what there is", file=sys.stderr)
            show(measured, stand.libraries)
    except (Failure, Skip) as why:
        raise SystemExit(f"measure.py: {why}")


if __name__ == "__main__":
    main()
