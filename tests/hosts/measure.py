#!/usr/bin/env python3
"""WeftMPI beside other libraries and raw TCP between virtual hosts, interleaved; medians over rounds.

    tests/hosts/measure.py --prefix DIR [--peers DIR] [--libraries weft,mpich,openmpi,intel] [--rounds 7] [--only PARTS] [--document FILE]

Parts: pairs: one rank on each of two hosts, bound to a core each; the columns spin and block are TCP alone. threads: the same, with
several threads a rank. asleep: more ranks than cores on each of two hosts, of which two talk. together: two ranks on each of two hosts, wide: two
ranks on each of four hosts, all collectives of `weft bench`; both with the settings by which the peers yield. memory: of a rank of those
on four hosts, after messages to and from all. start: an empty program with two ranks a host, from the command to its end; ssh: one to each host, all at once.
Of pairs the fastest of short batches counts, as the machine may be busy; of together their mean, of asleep, threads and wide their
median. A `-` stands where a library failed; why is said on standard error.
The library "rdma" is WeftMPI over RDMA, on the device in software, where "weft" is WeftMPI over TCP.
--document puts a summary of the tables into that file, docs/results/between-hosts.md say; what it says besides stays."""

import argparse
import os
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import figures
import jobs
from lib.cases import Failure, Skip
from lib.commands import REPOSITORY, declare
from lib.compiler import compile_program, plain_compiler
from lib.hosts import Hosts
from lib.processes import end_by_signals

PROBES = pathlib.Path(__file__).resolve().parent / "probes"
SOURCES = {"probe": PROBES / "probe.c", **{name: REPOSITORY / f"bench/{name}.c" for name in ("threads", "collectives", "collective-sizes")}}
LAUNCHERS = {"weft": "mpiexec", "rdma": "mpiexec", "mpich": "MPICH's Hydra", "intel": "Intel's Hydra", "openmpi": "prterun"}
# What the peers do by themselves, over TCP; and where ranks outnumber cores, their settings by which waiting ranks yield.
DEFAULTS = {"OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm,tcp", "FI_PROVIDER": "tcp", "I_MPI_PIN": "0"}
YIELDING = {**DEFAULTS, "OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3"}
RUN_SECONDS = 300
MORE_THAN_CORES = len(os.sched_getaffinity(0)) + 1
COLLECTIVES = ("collectives/barrier", "collectives/allreduce", *(f"collective-sizes/{name}" for name in figures.SIZED))


@dataclass(frozen=True)
class Part:
    """What is measured by some programs, each with its arguments, on so many ranks of each host."""

    heading: str
    counts: list
    programs: tuple
    settings: dict
    tables: tuple


PARTS = {
    "pairs": Part(
        "One rank on each of two hosts, a core each", [1, 1], (("probe", "pairs"),), DEFAULTS,
        ("half", "stream", "messages", "put", "get", "fetch", "puts"),
    ),
    "threads": Part("Threads", [1, 1], (("threads", "--threads", "1,2,4"),), DEFAULTS, ("threads/tags", "threads/comms")),
    "asleep": Part("More ranks than cores", [MORE_THAN_CORES] * 2, (("probe", "asleep"),), YIELDING, ("asleep",)),
    "together": Part("Two ranks on each of two hosts", [2, 2], (("probe", "together"),), YIELDING, ("barrier", "allreduce", "bcast")),
    "wide": Part("Two ranks on each of four hosts", [2] * 4, (("collectives",), ("collective-sizes",)), YIELDING, COLLECTIVES),
    "memory": Part("Memory of a rank", [2] * 4, (("probe", "memory"),), DEFAULTS, ("memory",)),
    "start": Part("Start and end of an empty program", [], (("probe", "nothing"),), DEFAULTS, ("start",)),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--peers", default="build/peers", type=pathlib.Path)
    parser.add_argument("--build", default="build/hosts", type=pathlib.Path)
    parser.add_argument("--libraries", default="weft,mpich,openmpi,intel")
    parser.add_argument("--rounds", default=7, type=int)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--start-hosts", default="2,4,8")
    parser.add_argument("--seconds", type=float, help="a point of threads and wide, in place of the benchmarks' own")
    parser.add_argument("--document", type=pathlib.Path)
    options = parser.parse_args()
    options.only, options.start_hosts = options.only.split(","), [int(count) for count in options.start_hosts.split(",")]
    if unknown := [part for part in options.only if part not in PARTS]:
        parser.error(f"no part {unknown[0]}: {', '.join(PARTS)}")
    return options


class Stand:
    """The hosts, and the programs compiled for each library."""

    def __init__(self, options, hosts):
        self.hosts = hosts
        self.libraries = options.libraries.split(",")
        self.seconds = [] if options.seconds is None else ["--seconds", options.seconds]
        self.sites, self.programs = {}, {}
        wanted = {words[0] for part in options.only for words in PARTS[part].programs}
        for name in self.libraries:
            is_ours = name in figures.OURS
            site = self.sites[name] = jobs.Site(options.prefix.resolve(), options.peers.resolve(), options.build.resolve(), False, "weft" if is_ours else name)
            folder = site.prefix if is_ours else site.peers / name
            for program in wanted:
                words = [SOURCES[program], "-O2", "-pthread"]
                self.programs[program, name] = compile_program(folder / "bin/mpicc", words, site.build / f"{program}-{name}")
        self.floor = compile_program(plain_compiler(), [PROBES / "floor.c", "-O2"], options.build.resolve() / "floor")

    def library(self, name, counts, words, env):
        """The lines that a job of the library says, what there is of them where it fails; and how long it took, if it did not."""
        site, (program, *rest) = self.sites[name], words
        rest += self.seconds if program != "probe" else []
        try:
            launcher, variables = jobs.LAUNCHERS[LAUNCHERS[name]](site, counts)
            if name == "rdma":
                launcher = [site.prefix / "bin/weft", "softrdma", "run", "--link-layer", "ethernet", "--", *launcher]
                variables = {**variables, "WEFT_TRANSPORT": "rdma"}
            begin = time.monotonic()
            result = self.hosts[0].run([*launcher, self.programs[program, name], *rest], {**variables, **env}, RUN_SECONDS)
            seconds = time.monotonic() - begin
        except (Failure, Skip) as why:
            print(f"{name}, {' '.join(map(str, words))}: {why}", file=sys.stderr)
            return [], None
        is_whole = "ok probe" in result.output if program == "probe" else True
        if result.code != 0 or not is_whole:
            print(f"{name}, {' '.join(map(str, words))}: exit code {result.code}:\n{result.output}", file=sys.stderr)
            seconds = None
        return figures.numbers(result.output), seconds

    def raw(self, mode):
        server = self.hosts[1].start([self.floor, "serve"])
        while "listening" not in server.text():
            time.sleep(0.01)
        result = self.hosts[0].run([self.floor, "host1", mode], timeout=RUN_SECONDS).ok("floor")
        server.finish(10)
        return figures.numbers(result.output)

    def empty(self):
        """The memory of a program that does nothing."""
        said = self.hosts[0].run([self.floor, "empty"]).ok("empty").output
        return next(value for name, _, value in figures.numbers(said) if name == "empty")

    def ssh(self, count):
        """One ssh to each host, all at once."""
        begin = time.monotonic()
        script = "".join(f"ssh host{index} true & " for index in range(count)) + "wait"
        self.hosts[0].output(["sh", "-c", script])
        return time.monotonic() - begin


def take_floors(part, stand, measured):
    """What TCP alone can do in the same round."""
    if part == "pairs":
        for mode in ("spin", "block"):
            measured.add(mode, stand.raw(mode))
    elif part == "asleep":
        measured.add("block", [("asleep", size, value) for name, size, value in stand.raw("block") if (name, size) == ("half", 4)])


def take_part(name, stand, measured, turn):
    part = PARTS[name]
    take_floors(name, stand, measured)
    empty = stand.empty() if name == "memory" else 0
    for library in turn:
        for words in part.programs:
            lines = stand.library(library, part.counts, words, part.settings)[0]
            measured.add(library, [(what, size, value - empty) for what, size, value in lines])


def take_starts(counts, stand, measured, turn):
    part = PARTS["start"]
    for count in counts:
        measured.add("ssh", [("start", count, stand.ssh(count))])
        for library in turn:
            seconds = stand.library(library, [2] * count, part.programs[0], part.settings)[1]
            measured.add(library, [("start", count, seconds)])


def take_rounds(options, stand, measured):
    for number in range(options.rounds):
        # The order turns, so that nobody always comes after the same one.
        turn = stand.libraries[number % len(stand.libraries) :] + stand.libraries[: number % len(stand.libraries)]
        for name in options.only:
            if name == "start":
                take_starts(options.start_hosts, stand, measured, turn)
            else:
                take_part(name, stand, measured, turn)
        print(f"round {number + 1} of {options.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def commit():
    """The source tree's."""
    done = subprocess.run(["git", "-C", REPOSITORY, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def show(options, measured, libraries, source):
    sections = {}
    for name in options.only:
        part = PARTS[name]
        if tables := figures.text_of(measured, libraries, part.tables):
            print(f"\n{part.heading}\n\n{tables}")
            said = f"Commit {source}, {options.rounds} round{'s' * (options.rounds > 1)}."
            sections[part.heading] = (said, figures.summary(measured, libraries, part.tables))
    if options.document:
        figures.fill(options.document, sections)


def main():
    options = arguments()
    source = commit()
    end_by_signals()
    declare("hosts")
    measured = figures.Measured()
    most = max([2, *(len(PARTS[name].counts) for name in options.only), *(options.start_hosts if "start" in options.only else [])])
    try:
        # Before the hosts are made, whose sshd hand it on; the figures suffer less from what else runs.
        if os.geteuid() == 0:
            os.nice(-10)
        with Hosts(most) as hosts:
            stand = Stand(options, hosts)
            try:
                take_rounds(options, stand, measured)
            except KeyboardInterrupt:
                print("interrupted: what there is", file=sys.stderr)
            show(options, measured, stand.libraries, source)
    except (Failure, Skip) as why:
        raise SystemExit(f"measure.py: {why}")


if __name__ == "__main__":
    main()
