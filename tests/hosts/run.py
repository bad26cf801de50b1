#!/usr/bin/env python3
"""WeftMPI between virtual hosts: the bed itself, programs under every launcher, failures.

    tests/hosts/run.py --prefix DIR [--peers DIR] [--build DIR] [--filter RE] [--quick] [--library openmpi] [--list]

One line a case, what was wrong with those that failed, and at the end `N passed, N failed, N skipped`.
--quick runs the cases that `make check` does, in at most two minutes."""

import argparse
import itertools
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import computing
import conformance
import faults
import kills
import launchers
import launching
import measuring
import mixed
import pools
import rails
import rdma_faults
import selftest
import stress
import stripes
import tools
import traffic
import windows
from jobs import Site
from lib.cases import run_all
from lib.commands import declare
from lib.processes import end_by_signals


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpiexec")
    parser.add_argument("--peers", default="build/peers", type=pathlib.Path, help="what scripts/peers.sh made")
    parser.add_argument("--build", default="build/hosts", type=pathlib.Path, help="where programs are compiled")
    parser.add_argument("--filter", default="", help="only the cases whose name matches this expression")
    parser.add_argument("--list", action="store_true", help="the names of the cases")
    parser.add_argument("--quick", action="store_true", help="the part of `make check`")
    parser.add_argument("--library", default="weft", choices=("weft", "openmpi"), help="whose library runs: openmpi tries the tests themselves")
    parser.add_argument("--kills", default=40, type=int, help="how many kills of jobs that mix everything; SEED chooses their moments")
    parser.add_argument("--target", default="hosts", help="whose commands it finds, of scripts/commands.txt: check, hosts")
    return parser.parse_args()


def main():
    options = arguments()
    end_by_signals()
    declare(options.target)
    site = Site(options.prefix.resolve(), options.peers.resolve(), options.build.resolve(), options.quick, options.library, options.kills)
    modules = (selftest, launching, launchers, traffic, computing, stripes, tools, conformance, windows, pools, rails, measuring, stress, mixed, faults, rdma_faults, kills)
    return run_all(itertools.chain.from_iterable(module.cases(site) for module in modules), options.filter, options.list)


if __name__ == "__main__":
    sys.exit(main())
