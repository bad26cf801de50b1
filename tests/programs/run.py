#!/usr/bin/env python3
"""Other people's MPI programs, unchanged: their sources fetched, built with our mpicc, run, and their own checks read.

    tests/programs/run.py --prefix DIR [--target io-programs] [--build DIR] [--only RE] [--ranks 1,2,3,4] [--jobs N] [--timeout SECONDS]

The target is `programs`, or `io-programs`: those that write files. A line for each program built and for each number of ranks it ran on, with what was checked. What is built stays in the
build folder; a second call only runs it, with the library that is in DIR then. Exit code 1 when anything failed.
"""

import argparse
import json
import pathlib
import re
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import boost_mpi
import espresso
import fftw
import h5py_suite
import hdf5
import hpcc
import hypre
import lammps
import mumps
import netcdf
import opencoarrays
import parpack
import petsc
import pnetcdf
import rsmpi
import scotch
import starpu
from lib.cases import Failure
from lib.commands import declare
from lib.processes import end_by_signals
from workshop import Workshop

# By target of make; what needs another one stands behind it.
PROGRAMS = {
    "programs": [hpcc, fftw, hypre, mumps, rsmpi, petsc, scotch, boost_mpi, lammps, starpu, parpack, opencoarrays, espresso],
    "io-programs": [hdf5, pnetcdf, netcdf, h5py_suite],
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpiexec")
    parser.add_argument("--target", default="programs", choices=PROGRAMS, help="which programs (default programs)")
    parser.add_argument("--build", default="build/programs", type=pathlib.Path, help="where programs are built and run")
    parser.add_argument("--only", default="", help="only the programs whose name matches this expression")
    parser.add_argument("--ranks", default="1,2,3,4", help="numbers of ranks, by commas (default 1,2,3,4)")
    parser.add_argument("--set-up", action="store_true", help="fetch and build them, and run nothing")
    parser.add_argument("--jobs", default=2, type=int, help="compilers at once (default 2)")
    parser.add_argument("--timeout", default=600, type=int, help="seconds one run may take (default 600)")
    return parser.parse_args()


def line(name, ranks, started, text):
    """One line of the table; returns whether it is a failure."""
    failed = isinstance(text, Failure)
    first = str(text).splitlines()[0] if str(text) else "failed"
    print(f"{name:<6} {ranks:>5} {'FAILED' if failed else 'ok':<6} {time.monotonic() - started:>6.0f} s  {first}", flush=True)
    if failed:
        print(f"FAILED {name} {ranks}: {text}", file=sys.stderr, flush=True)
    return failed


def attempt(step, *words):
    try:
        return step(*words)
    except Failure as failed:
        return failed


def built(program, workshop):
    """The program's folder and version, from an earlier call where there was one."""
    mark = workshop.build / f".ready-{program.NAME}"
    if mark.exists():
        source, version = json.loads(mark.read_text())
        return workshop.build / source, version
    (workshop.build / f"{program.NAME}.log").unlink(missing_ok=True)
    source, version = program.build(workshop)
    mark.write_text(json.dumps([str(source.relative_to(workshop.build)), version]))
    return source, version


def take(program, workshop, ranks):
    """Builds one program and runs it on these numbers of ranks, if any. Returns how many of its lines are failures."""
    started = time.monotonic()
    made = attempt(built, program, workshop)
    if isinstance(made, Failure):
        return line(program.NAME, "-", started, made)
    source, version = made
    failures = line(program.NAME, "-", started, f"version {version} is built")
    for number in ranks if hasattr(program, "run") else []:
        started = time.monotonic()
        failures += line(program.NAME, number, started, attempt(program.run, workshop, source, number))
    if ranks and hasattr(program, "suite"):
        started = time.monotonic()
        failures += line(program.NAME, "own", started, attempt(program.suite, workshop, source))
    return failures


def main():
    options = arguments()
    end_by_signals()
    declare(options.target)
    build = options.build.resolve()
    build.mkdir(parents=True, exist_ok=True)
    workshop = Workshop(options.prefix.resolve(), build, options.timeout, options.jobs)
    ranks = [] if options.set_up else [int(number) for number in options.ranks.split(",")]
    programs = PROGRAMS[options.target]
    chosen = [program for program in programs if re.search(options.only, program.NAME)]
    if not chosen:
        sys.exit(f"{options.target}: none of {', '.join(program.NAME for program in programs)} matches {options.only!r}")
    print(f"{'':<6} {'ranks':>5} {'':<6} {'time':>8}  checked")
    failures = sum(take(program, workshop, ranks) for program in chosen)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
