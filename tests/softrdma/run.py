#!/usr/bin/env python3
"""Other people's verbs programs, unmodified, on the software RDMA device; and our own, a clause of the verbs each.

    tests/softrdma/run.py (--prefix DIR | --library DIR) [--build DIR] [--filter RE] [--quick]

One line a case, what was wrong with those that failed, and at the end `N passed, N failed, N skipped`.
--quick takes the short form: no virtual machine, no network namespaces, few kills.
"""

import argparse
import itertools
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import devices
import faults
import kill
import libfabric
import noptrace
import perftest
import pingpong
import pyverbs_suite
import rdmacm
import rxe
import semantics
import ucx
import wire
from lib.cases import run_all
from lib.commands import declare
from lib.processes import end_by_signals
from stand import Stand

GROUPS = (devices, faults, pingpong, perftest, semantics, noptrace, pyverbs_suite, ucx, libfabric, rdmacm, kill, wire, rxe)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, help="an installed tree: bin/weft, lib/softrdma")
    parser.add_argument("--library", type=pathlib.Path, help="instead, the folder of libibverbs.so.1")
    parser.add_argument("--build", default="build/softrdma", type=pathlib.Path, help="where things are made")
    parser.add_argument("--filter", default="", help="only the cases whose name matches this expression")
    parser.add_argument("--quick", action="store_true", help="the short form")
    parser.add_argument("--list", action="store_true", help="only the names")
    options = parser.parse_args()
    if not options.prefix and not options.library:
        parser.error("--prefix or --library is needed")
    return options


def main():
    options = arguments()
    end_by_signals()
    declare("check" if options.quick else "softrdma")
    library = (options.library or options.prefix / "lib/softrdma").resolve()
    weft = options.prefix.resolve() / "bin/weft" if options.prefix else None
    if not (library / "libibverbs.so.1").exists():
        sys.exit(f"run.py: there is no libibverbs.so.1 in {library}")
    stand = Stand(library, options.build.resolve(), weft, options.quick)
    cases = itertools.chain.from_iterable(group.cases(stand) for group in GROUPS)
    return run_all(cases, options.filter, options.list)


if __name__ == "__main__":
    sys.exit(main())
