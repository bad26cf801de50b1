#!/usr/bin/env python3
"""The library in bad company: killed ranks, floods, oversubscription, containers, other launchers.

    tests/robustness/run.py --prefix DIR [--peers DIR] [--build DIR] [--filter RE] [--full] [--stress-seconds S]

One line a case, what was wrong with those that failed, and at the end `N passed, N failed, N skipped`.
--full makes the long cases long (10 million messages, 60 kills).
"""

import argparse
import itertools
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import checkers
import containers
import hostile
import interoperation
import kill
import kills
import launching
import load
import measured
import over_rdma
import prices
import recovery
import reports
import slurm
import stress
import surroundings
import tracing
from jobs import Site
from lib.cases import run_all
from lib.commands import declare
from lib.processes import end_by_signals


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpiexec")
    parser.add_argument("--mpicc", type=pathlib.Path, help="instead of PREFIX/bin/mpicc")
    parser.add_argument("--peers", default="build/peers", type=pathlib.Path, help="what scripts/peers.sh made")
    parser.add_argument("--build", default="build/robustness", type=pathlib.Path, help="where programs are compiled")
    parser.add_argument("--filter", default="", help="only the cases whose name matches this expression")
    parser.add_argument("--full", action="store_true", help="the long form of the long cases")
    parser.add_argument("--stress-seconds", default=5, type=int, help="how long the stress case runs; SEED chooses its draws")
    parser.add_argument("--kills", default=20, type=int, help="how many kills of jobs that mix everything; SEED chooses their moments")
    parser.add_argument("--target", default="check", help="whose commands it finds, of scripts/commands.txt: check, slurm, kills")
    return parser.parse_args()


def main():
    options = arguments()
    end_by_signals()
    declare(options.target)
    prefix = options.prefix.resolve()
    site = Site(
        mpicc=options.mpicc.resolve() if options.mpicc else prefix / "bin/mpicc",
        mpiexec=prefix / "bin/mpiexec",
        library=prefix / "lib",
        peers=options.peers.resolve(),
        build=options.build.resolve(),
        full=options.full,
        stress_seconds=options.stress_seconds,
        kills=options.kills,
    )
    modules = (interoperation, slurm, surroundings, containers, hostile, checkers, tracing, prices, reports, measured, launching, load, over_rdma, stress, kill, kills, recovery)
    return run_all(itertools.chain.from_iterable(module.cases(site) for module in modules), options.filter)


if __name__ == "__main__":
    sys.exit(main())
