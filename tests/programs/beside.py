#!/usr/bin/env python3
"""HPC Challenge's own figures of communication: WeftMPI's beside those of other libraries, which build and run the same sources.

    tests/programs/beside.py --prefix DIR [--peers DIR] [--build DIR] [--rounds N] [--json FILE]

Two ranks, each on a processor of its own. The libraries take turns, round by round; a line for each figure: the median of the
rounds, and the least and the most; and WeftMPI's median over that of the best other library. `weft report` makes a page of the
JSON. Every run must pass hpcc's own checks. With --rounds 0 the programs are only built.
"""

import argparse
import json
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import hpcc
from lib.cases import Failure, end_of
from lib.commands import declare
from lib.machine import machine
from lib.processes import end_by_signals, run
from workshop import Failed, Workshop

RANKS, ORDER, BLOCK = 2, 1200, 64
# What each launcher needs to be told, to leave the binding to us and to run as any user.
OPTIONS = {
    "weft": ["--bind-to", "none"],
    "mpich": ["-bind-to", "none"],
    "openmpi": ["--bind-to", "none", "--allow-run-as-root", "--oversubscribe"],
}
PINNED = 'exec taskset -c "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" "$@"'
# hpcc's names, what they are, a factor to the unit.
FIGURES = {
    "AvgPingPongLatency_usec": ("ping-pong, 8 bytes, one way", "µs", 1),
    "NaturallyOrderedRingLatency_usec": ("ring in order, 8 bytes", "µs", 1),
    "RandomlyOrderedRingLatency_usec": ("ring out of order, 8 bytes", "µs", 1),
    "AvgPingPongBandwidth_GBytes": ("ping-pong, 2 MB, one way", "GB/s", 1),
    "NaturallyOrderedRingBandwidth_GBytes": ("ring in order, 2 MB, a rank", "GB/s", 1),
    "RandomlyOrderedRingBandwidth_GBytes": ("ring out of order, 2 MB, a rank", "GB/s", 1),
    "PTRANS_GBs": ("PTRANS", "GB/s", 1),
    "MPIRandomAccess_GUPs": ("MPIRandomAccess", "M updates/s", 1000),
    "MPIRandomAccess_LCG_GUPs": ("MPIRandomAccess, other generator", "M updates/s", 1000),
    "MPIFFT_Gflops": ("MPIFFT", "Gflop/s", 1),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpiexec")
    parser.add_argument("--peers", default="build/peers", type=pathlib.Path, help="what scripts/peers.sh made")
    parser.add_argument("--build", default="build/programs/beside", type=pathlib.Path, help="where hpcc is built and run")
    parser.add_argument("--json", type=pathlib.Path, help="write all rounds there, in the form of `weft bench --json`")
    parser.add_argument("--rounds", default=5, type=int, help="runs of each library (default 5)")
    return parser.parse_args()


def built(workshop):
    workshop.build.mkdir(parents=True, exist_ok=True)
    found = sorted(workshop.build.glob("hpcc/*/hpcc"))
    return found[0].parent if found else hpcc.build(workshop)[0]


def measured(name, workshop, source):
    folder = hpcc.prepare(workshop, source, RANKS, ORDER, BLOCK)
    command = [workshop.mpiexec, *OPTIONS[name], "-n", str(RANKS), "sh", "-c", PINNED, "sh", source / "hpcc"]
    done = run(command, workshop.timeout, workshop.environment, cwd=folder)
    if done.code != 0:
        raise Failed(f"{name}: exit code {done.code}\n{end_of(done.output)}")
    output = (folder / "hpccoutf.txt").read_text()
    hpcc.judge(output)
    return hpcc.summary_of(output)


def values(runs, key):
    return [float(run[key]) * FIGURES[key][2] for run in runs]


def against_best(found, key):
    """WeftMPI's median over the best of the others', of rates the highest."""
    medians = {name: statistics.median(values(runs, key)) for name, runs in found.items()}
    ours = medians.pop("weft")
    return ours / (max if is_rate(key) else min)(medians.values())


def is_rate(key):
    return FIGURES[key][1].endswith("/s")


def as_json(found, rounds):
    """What `weft bench --json` prints, for these figures."""
    points = [
        {
            "library": name,
            "series": what,
            "x": RANKS,
            "unit": unit,
            "rounds": values(runs, key),
            "median": statistics.median(values(runs, key)),
            "best": (max if is_rate(key) else min)(values(runs, key)),
            "over_limit_seconds": None,
        }
        for key, (what, unit, _) in FIGURES.items()
        for name, runs in found.items()
    ]
    benchmark = {
        "name": "hpcc",
        "about": "HPC Challenge's own figures of communication",
        "axis": "ranks",
        "conditions": f"{RANKS} ranks, each on a processor of its own, N = {ORDER}, {rounds} rounds",
        "series": [{"name": what, "unit": unit, "about": ""} for what, unit, _ in FIGURES.values()],
        "libraries": [{"name": name, "failures": []} for name in found],
        "points": points,
    }
    return {"machine": machine(), "benchmarks": [benchmark]}


def table(found):
    yield f"| figure | {' | '.join(found)} | weft/best |"
    yield f"|---|{'---|' * len(found)}---|"
    for key, (what, unit, _) in FIGURES.items():
        of_each = [values(runs, key) for runs in found.values()]
        cells = [f"{statistics.median(all):.3g} ({min(all):.3g} to {max(all):.3g})" for all in of_each]
        better = "higher" if is_rate(key) else "lower"
        yield f"| {what}, {unit} | {' | '.join(cells)} | {against_best(found, key):.2f} ({better} is better) |"


def stolen():
    """Ticks that other machines of this host have taken from this one's processors."""
    return int(pathlib.Path("/proc/stat").read_text().split()[8])


def main():
    options = arguments()
    end_by_signals()
    declare("programs")
    prefixes = {name: options.prefix if name == "weft" else options.peers / name for name in OPTIONS}
    shops = {
        name: Workshop(prefix.resolve(), options.build.resolve() / name, timeout=120, jobs=1) for name, prefix in prefixes.items()
    }
    sources = {name: built(shop) for name, shop in shops.items()}
    before = stolen()
    found = {name: [] for name in OPTIONS}
    for _ in range(options.rounds):
        for name, shop in shops.items():
            found[name].append(measured(name, shop, sources[name]))
    if options.rounds == 0:
        return 0
    print(*table(found), sep="\n")
    if options.json:
        options.json.write_text(json.dumps(as_json(found, options.rounds), indent=1))
    print(f"{options.rounds} rounds, {stolen() - before} ticks stolen")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failed:
        sys.exit(f"beside: {failed}")
