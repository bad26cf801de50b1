#!/usr/bin/env python3
"""Intel's own binary of its MPI benchmarks, IMB-MPI1, on WeftMPI and on other libraries, by its defaults.

    tests/imb/run.py --prefix DIR [--peers DIR] [--build DIR] [--ranks N] [--rounds N] [--operations A,B] [--json FILE]

The binary is the one in Intel MPI's wheel. It calls libmpi.so.12, the MPICH ABI, which all but Open MPI have; there mpich_abi.c
makes its calls on the library. The libraries take turns, round by round, an operation a run. A line for each operation and
length: medians of the rounds in microseconds, of the rank that took longest where IMB tells; and WeftMPI's over the best other library's,
with its 95 % interval by the bootstrap. A library that does not end an operation within --limit seconds has no figure for the lengths that it
did not come to. `weft report` makes a page of the JSON.
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.cases import Failure, end_of
from lib.commands import declare
from lib.machine import machine
from lib.processes import TimedOut, end_by_signals, run

HERE = pathlib.Path(__file__).resolve().parent
OPERATIONS = (
    "PingPong,PingPing,Sendrecv,Exchange,Barrier,Bcast,Reduce,Reduce_scatter,Allreduce,Allgather,Allgatherv,"
    "Gather,Gatherv,Scatter,Scatterv,Alltoall,Alltoallv"
)
LIBRARIES = ("weft", "mpich", "openmpi", "intel")
# What their launchers are told, to run as any user and within this host.
OPTIONS = {"openmpi": ["--allow-run-as-root", "--oversubscribe"], "intel": ["-genv", "I_MPI_FABRICS", "shm"]}
# What MPICH leaves behind when it is ended: its memory, and its launcher's files.
LEFT = {"/dev/shm": "mpich_shm_*", "/tmp": "hydra_hwloc_xmlfile_*"}
LEVEL, RESAMPLINGS = 1.05, 400


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpiexec")
    parser.add_argument("--peers", default="build/peers", type=pathlib.Path, help="what scripts/peers.sh made")
    parser.add_argument("--build", default="build/imb", type=pathlib.Path, help="where mpich_abi.c is compiled to")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="which take part, weft among them (default all)")
    parser.add_argument("--operations", default=OPERATIONS, help="IMB's benchmarks (default all but Uniband and Biband)")
    parser.add_argument("--ranks", default=2, type=int, help="default 2")
    parser.add_argument("--rounds", default=5, type=int, help="runs of each library (default 5)")
    parser.add_argument("--limit", default=60, type=float, help="seconds for an operation of a library (default 60)")
    parser.add_argument("--lengths", metavar="A:B", help="from 2^A to 2^B bytes, as IMB's -msglog (default 0 to 4 MiB)")
    parser.add_argument("--json", type=pathlib.Path, help="write all rounds there, in the form of `weft bench --json`")
    return parser.parse_args()


class Library:
    """A library, and how it runs the binary."""

    def __init__(self, name, options):
        self.name = name
        self.prefix = (options.prefix if name == "weft" else options.peers / name).resolve()
        self.binary = (options.peers / "intel/bin/IMB-MPI1").resolve()
        folders = [self.prefix / ("lib/compat/mpich" if name == "weft" else "lib")]
        if name == "openmpi":
            folders.insert(0, self.translated(options.build.resolve() / name))
        self.environment = os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, folders))}
        if name == "intel":
            self.environment |= {"I_MPI_ROOT": str(self.prefix), "FI_PROVIDER_PATH": str(self.prefix / "lib")}

    def translated(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        flags = ["-std=c11", "-O2", "-Wall", "-fPIC", "-shared", "-Wl,-soname,libmpi.so.12", "-Wl,-Bsymbolic"]
        command = [self.prefix / "bin/mpicc", *flags, "-o", folder / "libmpi.so.12", HERE / "mpich_abi.c"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"mpich_abi.c does not compile with {self.name}'s mpicc:\n{end_of(done.stderr)}")
        return folder

    def measure(self, operation, options):
        """Microseconds by length."""
        command = [self.prefix / "bin/mpiexec", *OPTIONS.get(self.name, []), "-n", str(options.ranks), self.binary]
        command += ["-npmin", str(options.ranks), *(["-msglog", options.lengths] if options.lengths else []), operation]
        before = leftovers()
        try:
            done = run(command, options.limit, self.environment)
        except TimedOut as over:
            for path in leftovers() - before:
                path.unlink(missing_ok=True)
            return figures(str(over))
        if done.code != 0:
            raise Failure(f"{self.name}, {operation}: exit code {done.code}\n{end_of(done.output)}")
        return figures(done.output)


def leftovers():
    return {path for folder, names in LEFT.items() for path in pathlib.Path(folder).glob(names)}


def figures(output):
    """Of the lines of IMB's table; the column of the slowest rank if there is one."""
    found, columns = {}, []
    for line in output.splitlines():
        words = line.split()
        if any(word in ("t_max[usec]", "t[usec]") for word in words):
            columns = words
        elif columns and len(words) == len(columns) and all(re.fullmatch(r"[\d.]+", word) for word in words):
            time = words[columns.index("t_max[usec]" if "t_max[usec]" in columns else "t[usec]")]
            length = int(words[0]) if columns[0] == "#bytes" else 0
            found[length] = float(time)
    return found


class Point:
    """An operation of one length: each library's rounds."""

    def __init__(self, operation, length, rounds):
        self.operation, self.length, self.rounds = operation, length, rounds
        self.medians = {name: statistics.median(times) for name, times in rounds.items()}
        peers = {name: time for name, time in self.medians.items() if name != "weft"}
        self.best = min(peers, key=peers.get) if peers else None

    def ratio(self):
        return ratio_of(self.medians["weft"], self.medians[self.best])

    def interval(self):
        drawn = sorted(
            ratio_of(*(statistics.median(random.choices(self.rounds[name], k=len(self.rounds[name]))) for name in ("weft", self.best)))
            for _ in range(RESAMPLINGS)
        )
        return drawn[RESAMPLINGS * 25 // 1000], drawn[RESAMPLINGS * 975 // 1000]


def ratio_of(ours, theirs):
    # IMB tells hundredths, and 0.00 for what takes less than half of one.
    return max(ours, 0.005) / max(theirs, 0.005)


def geometric(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def measured(options, libraries):
    found = {}
    for number in range(options.rounds):
        turn = number % len(libraries)
        for operation in options.operations.split(","):
            for library in libraries[turn:] + libraries[:turn]:
                print(f"\rround {number + 1}/{options.rounds} {operation} {library.name}   ", end="", file=sys.stderr, flush=True)
                for length, time in library.measure(operation, options).items():
                    found.setdefault((operation, length), {}).setdefault(library.name, []).append(time)
    print("\r" + " " * 50 + "\r", end="", file=sys.stderr)
    return [Point(operation, length, rounds) for (operation, length), rounds in found.items() if "weft" in rounds]


def tables(points, names):
    """A table for each operation, and one that sums them up."""
    for operation in dict.fromkeys(point.operation for point in points):
        yield f"\nIMB-MPI1 {operation} (us, lower is better)"
        yield f"{'bytes':>9}" + "".join(f"{name:>10}" for name in names) + "  weft/best        95 %"
        for point in points:
            if point.operation == operation:
                yield line_of(point, names)
    compared = [point for point in points if point.best]
    if not compared:
        return
    yield "\nsummed up: geometric means of weft/best (times, lower is better)"
    yield f"{'':16}{'points':>7}{'weft/best':>11}{'behind':>8}{'surely':>8}{'worst':>7}  at"
    for operation in dict.fromkeys(point.operation for point in compared):
        yield sum_of(operation, [point for point in compared if point.operation == operation])
    yield sum_of("all", compared)


def line_of(point, names):
    times = "".join(f"{point.medians.get(name, math.nan):10.2f}" for name in names).replace("nan", "  -")
    if not point.best:
        return f"{point.length:9}{times}"
    low, high = point.interval()
    return f"{point.length:9}{times}{point.ratio():11.2f}  {low:.2f}..{high:.2f} of {point.best}"


def sum_of(name, points):
    behind = [point for point in points if point.ratio() > LEVEL]
    surely = sum(point.interval()[0] > LEVEL for point in behind)
    worst = max(points, key=Point.ratio)
    at = f"{worst.operation} {worst.length} of {worst.best}"
    mean = geometric([point.ratio() for point in points])
    return f"{name:16}{len(points):7}{mean:11.2f}{len(behind):8}{surely:8}{worst.ratio():7.2f}  {at}"


def as_json(points, options):
    """What `weft bench --json` prints, for these figures."""
    conditions = f"{options.ranks} ranks, by IMB's defaults, {options.rounds} rounds"
    benchmarks = [
        {
            "name": f"imb {operation}",
            "about": f"IMB-MPI1 {operation}, Intel's binary",
            "axis": "bytes",
            "conditions": conditions,
            "series": [{"name": "time", "unit": "us", "about": ""}],
            "libraries": [{"name": name, "failures": []} for name in options.libraries.split(",")],
            "points": [
                {
                    "library": name,
                    "series": "time",
                    "x": point.length,
                    "unit": "us",
                    "rounds": times,
                    "median": point.medians[name],
                    "best": min(times),
                    "over_limit_seconds": None,
                }
                for point in points
                if point.operation == operation
                for name, times in point.rounds.items()
            ],
        }
        for operation in dict.fromkeys(point.operation for point in points)
    ]
    return {"machine": machine(), "benchmarks": benchmarks}


def main():
    options = arguments()
    end_by_signals()
    declare("bench")
    random.seed(1)
    names = options.libraries.split(",")
    if "weft" not in names or not set(names) <= set(LIBRARIES):
        raise Failure(f"--libraries {options.libraries}: weft and any of {', '.join(LIBRARIES[1:])}")
    points = measured(options, [Library(name, options) for name in names])
    where = machine()
    print(f"{where['processor']}, {where['cores']} cores, Linux {where['kernel']}, load {where['load']}, {where['date']}")
    print(f"{options.ranks} ranks, by IMB's defaults, {options.rounds} rounds")
    print(*tables(points, names), sep="\n")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(as_json(points, options), indent=1))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failed:
        sys.exit(f"imb: {failed}")
