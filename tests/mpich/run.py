#!/usr/bin/env python3
"""MPICH's own test suite (test/mpi of its source, as Debian has it), compiled with our wrappers and run with our mpiexec.

    tests/mpich/run.py --prefix DIR [--build DIR] [--only RE] [--jobs N] [--memory GB] [--list]

What to run, on how many ranks, with which arguments and how long, is what the suite's testlists say. A test passes as it
does for MPICH: exit code 0 and `No Errors`, and not a word more; where its list says so, a failure is what must come.
Each failure with its output as it comes, then a table by folder and why tests were skipped (skipped.txt). Exit code 1 when
any failed.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import source
from lib.cases import Failure
from lib.commands import declare
from lib.processes import Running, end_by_signals, library_path
from programs import Programs

HERE = pathlib.Path(__file__).resolve().parent
# The suite's own list leaves out perf (timings) and ft (MPICH's fault tolerance).
FOLDERS = "attr coll comm datatype errhan errors group impls info init io mpi_t part perf pt2pt rma spawn threads topo f77 f90 f08".split()
EXPECTED_LINE = re.compile(r"\s*(No [Ee]rrors|Test Passed)\s*")
TIMED_OUT = 124
# What mpiexec may take to end a job that is late.
GRACE_SECONDS = 60
SHOWN_LINES = 12
# It waits for ever: the launcher has to end it.
HANGS = "init/timeout"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpiexec")
    parser.add_argument("--build", default="build/mpich", type=pathlib.Path, help="where the suite is fetched and built")
    parser.add_argument("--only", default="", help="only the tests whose `folder/program ranks arguments` this matches")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int, help="compilers, and then tests, at once")
    parser.add_argument("--memory", default=2.0, type=float, help="skip tests that say they need more GB (default 2)")
    parser.add_argument("--patience", default=1.0, type=float, help="a factor for the time limits, on a loaded machine")
    parser.add_argument("--list", action="store_true", help="print the tests and run nothing")
    return parser.parse_args()


@dataclasses.dataclass
class Outcome:
    test: source.Test
    seconds: float = 0.0
    skipped: str = ""
    failure: str = ""
    output: str = ""


def reasons():
    """(pattern, reason) of skipped.txt; a pattern stands for all of `folder/program`, or of it with ranks and arguments."""
    for line in (HERE / "skipped.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, reason = line.split(None, 1)
            yield re.compile(pattern), reason


def why_skipped(test, patterns, memory):
    for pattern, reason in patterns:
        if pattern.fullmatch(test.name) or pattern.fullmatch(test.full_name.replace(" ", "~")):
            return reason
    if test.memory_gb > memory:
        return f"needs more than {memory:g} GB of memory (--memory)"
    return ""


def distinct(tests):
    """Leaves out what is the same test again with other variables for MPICH's inside, which mean nothing here."""
    kept = {}
    for test in tests:
        theirs = all(variable.startswith("MPIR_CVAR_") for variable in test.environment)
        kept.setdefault((test.full_name, () if theirs else test.environment), test)
    return list(kept.values())


def judge(test, code, output):
    """Nothing, or what is wrong with a run that ended."""
    if test.expectation in ("TestStatus", "TestErrFatal"):
        if code == 0:
            return "ended with 0, where it has to fail"
        return "timed out" if code == TIMED_OUT and test.name != HANGS else ""
    if code == TIMED_OUT:
        return "timed out"
    unexpected = [line for line in output.splitlines() if not EXPECTED_LINE.fullmatch(line)]
    if test.expectation == "TestStatusNoErrors":
        code = 1 if code == 0 else 0
    if code != 0:
        return f"exit code {code}"
    if unexpected:
        return f"unexpected output: {unexpected[0]}"
    return "" if EXPECTED_LINE.search(output) else "did not say `No Errors`"


def run(test, options, program):
    environment = os.environ | {"LD_LIBRARY_PATH": library_path(options.prefix / "lib")}
    environment |= dict(pair.split("=", 1) for pair in test.environment)
    limit = round(test.seconds * options.patience)
    command = [options.prefix / "bin/mpiexec", "--timeout", str(limit), "-n", str(test.ranks), program, *test.arguments]
    # A folder of its own to write to.
    with tempfile.TemporaryDirectory(dir=options.build) as folder:
        job = Running(command, environment, cwd=folder)
        try:
            done = job.finish(limit + GRACE_SECONDS)
            seconds, failure = done.seconds, judge(test, done.code, done.output)
        except Failure as why:
            seconds, failure = time.monotonic() - job.begin, str(why).splitlines()[0]
        output = job.text()
    return Outcome(test, seconds, failure=failure, output=output)


def show(outcome):
    if outcome.failure:
        lines = outcome.output.strip().splitlines()[:SHOWN_LINES]
        print(f"FAILED {outcome.test.full_name}: {outcome.failure}", *lines, sep="\n    ", flush=True)


def table(outcomes):
    print(f"{'folder':<12} {'tests':>6} {'passed':>7} {'failed':>7} {'skipped':>8} {'time':>9}")
    rows = collections.defaultdict(list)
    for outcome in outcomes:
        rows[outcome.test.folder.split("/")[0]].append(outcome)
    for name, row in [*sorted(rows.items()), ("all", outcomes)]:
        failed = sum(bool(outcome.failure) for outcome in row)
        skipped = sum(bool(outcome.skipped) for outcome in row)
        seconds = sum(outcome.seconds for outcome in row)
        print(f"{name:<12} {len(row):>6} {len(row) - failed - skipped:>7} {failed:>7} {skipped:>8} {seconds:>7.0f} s")


def report(outcomes):
    table(outcomes)
    skipped = collections.Counter(outcome.skipped for outcome in outcomes if outcome.skipped)
    if skipped:
        print("\nSkipped:")
        for reason, count in skipped.most_common():
            print(f"{count:>6}  {reason}")
    return 1 if any(outcome.failure for outcome in outcomes) else 0


def main():
    options = arguments()
    options.prefix, options.build = options.prefix.resolve(), options.build.resolve()
    end_by_signals()
    declare("mpich-tests")
    root = source.fetch(options.build)
    patterns = list(reasons())
    tests = distinct(test for folder in FOLDERS for test in source.tests_of(root, folder))
    tests = [test for test in tests if re.search(options.only, test.full_name)]
    outcomes = [Outcome(test, skipped=why_skipped(test, patterns, options.memory)) for test in tests]
    if options.list:
        for outcome in outcomes:
            print(outcome.test.full_name, f"({outcome.skipped})" if outcome.skipped else "")
        return 0
    chosen = [outcome.test for outcome in outcomes if not outcome.skipped]
    programs = Programs(options.prefix, root, options.build)
    broken = programs.make_all(chosen, options.jobs)

    def attempt(outcome):
        words = broken.get(programs.path(outcome.test))
        if not outcome.skipped and words:
            outcome = Outcome(outcome.test, failure="does not compile", output=words)
        elif not outcome.skipped:
            outcome = run(outcome.test, options, programs.path(outcome.test))
        show(outcome)
        return outcome

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return report(list(pool.map(attempt, outcomes)))


if __name__ == "__main__":
    sys.exit(main())
