#!/usr/bin/env python3
"""Compiles and runs the test programs of this folder on any MPI library of the standard ABI.

    tests/run.py --mpicc PATH --mpiexec PATH [--mpifort PATH] [--ranks 1,2,4,5] [--filter RE] [--jobs J] [--timeout S]

With --mpifort those of fortran/ too. One line a program, the output of what failed, and at the end `N passed, N failed`.
A program passes at a number of ranks when its job exits with 0 and rank 0 has said `ok NAME` once.
A program whose first lines hold `ranks: 1,2` is run at these numbers only. One with `exit: nonzero` or
`exit: 7` has to say `started NAME`, then end with this code and without the line `ok`.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

from lib.cases import Failure
from lib.commands import declare
from lib.compiler import CFLAGS, COMPILE_SECONDS, FFLAGS
from lib.processes import Running, end_all, end_by_signals, run
from lib.programs import INCLUDES, all_programs, fortran_programs


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--mpifort", help="run the programs in Fortran too")
    parser.add_argument("--ranks", default="1,2,4,5", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--filter", default="", help="only the programs whose name matches this expression")
    parser.add_argument("--jobs", default=max(2, os.cpu_count() // 4), type=int, help="programs at once, as they wait a lot (default: %(default)s)")
    parser.add_argument("--timeout", default=120.0, type=float, help="seconds until a job counts as hung")
    parser.add_argument("--build", type=pathlib.Path, help="keep the binaries here (default: a temporary folder)")
    parser.add_argument("--mpiexec-args", default="", help="further arguments of mpiexec, separated by spaces")
    return parser.parse_args()


def compile_program(options, build, program):
    """None, or the compiler's output when it failed."""
    if program.source.suffix != ".c":
        return compile_fortran(options, build, program)
    command = [options.mpicc, *CFLAGS, *INCLUDES, "-o", str(program.binary(build)), str(program.source), "-lm"]
    done = run(command, COMPILE_SECONDS)
    return None if done.code == 0 else done.output


def compile_fortran(options, build, program):
    """As compile_program: with the module that all share, in a folder for its modules, and with its half in C if it has one."""
    folder = build / f"{program.source.stem}-modules"
    folder.mkdir(exist_ok=True)
    words = [str(source) for source in program.fortran_sources()]
    half = program.source.with_suffix(".c")
    if half.exists():
        words.append(str(folder / "half.o"))
        done = run([options.mpicc, *CFLAGS, "-c", str(half), "-o", words[-1]], COMPILE_SECONDS)
        if done.code != 0:
            return done.output
    command = [options.mpifort, *FFLAGS, "-J", str(folder), "-o", str(program.binary(build)), *words]
    done = run(command, COMPILE_SECONDS)
    return None if done.code == 0 else done.output


def run_job(options, build, program, ranks):
    """(seconds, None or what was wrong, output)"""
    command = [options.mpiexec, *options.mpiexec_args.split(), "-n", str(ranks), str(program.binary(build))]
    job = Running(command)
    try:
        done = job.finish(options.timeout)
        return done.seconds, program.verdict(done.code, done.output), done.output
    except Failure as why:
        return time.monotonic() - job.begin, str(why).splitlines()[0], job.text()


def run_program(options, build, program):
    """Runs at every number of ranks. Returns whether all was well, None if it ran at none, and the lines that say so."""
    times, failures = [], []
    for ranks in filter(program.runs_at, options.ranks):
        seconds, wrong, output = run_job(options, build, program, ranks)
        times.append(f"{ranks}:{seconds:.2f}s")
        if wrong:
            failures.append((ranks, wrong, output))
    if not times:
        return None, [f"skip {program.name} (at none of these numbers of ranks)"]
    lines = [f"{'FAIL' if failures else 'pass'} {program.name}  {' '.join(times)}"]
    for ranks, wrong, output in failures:
        lines += [f"--- {program.name} at {ranks} ranks: {wrong}", *output.splitlines()[-40:]]
    return not failures, lines


def compile_and_run(options, build, program):
    complaint = compile_program(options, build, program)
    if complaint is not None:
        return False, [f"FAIL {program.name} does not compile", complaint]
    return run_program(options, build, program)


def main():
    options = arguments()
    end_by_signals()
    # They may be another library's, which only the caller's own PATH leads to.
    for name in ("mpicc", "mpiexec", *(["mpifort"] if options.mpifort else [])):
        tool = shutil.which(getattr(options, name))
        setattr(options, name, tool or sys.exit(f"{getattr(options, name)}: not found"))
    declare("check")
    programs = all_programs() + (fortran_programs() if options.mpifort else [])
    programs = [program for program in programs if re.search(options.filter, program.name)]
    with tempfile.TemporaryDirectory(prefix="weft-tests-") as scratch:
        build = (options.build or pathlib.Path(scratch)).resolve()
        build.mkdir(parents=True, exist_ok=True)
        results = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            begun = [pool.submit(compile_and_run, options, build, program) for program in programs]
            try:
                for done in concurrent.futures.as_completed(begun):
                    passed, lines = done.result()
                    print("\n".join(lines), flush=True)
                    results.append(passed)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                end_all()
                raise
    passed, failed = results.count(True), results.count(False)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
