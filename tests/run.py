#!/usr/bin/env python3
"""Compiles and runs the C test programs of this folder on any MPI library of the standard ABI.

    tests/run.py --mpicc PATH --mpiexec PATH [--ranks 1,2,4,5] [--filter RE] [--jobs J] [--timeout S]

One line a program, the output of what failed, and at the end `N passed, N failed`.
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
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent
CFLAGS = "-std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -pthread".split()


class Program:
    def __init__(self, source):
        self.source = source
        self.name = str(source.relative_to(ROOT).with_suffix(""))
        head = "".join(source.read_text().splitlines(keepends=True)[:12])
        only = re.search(r"\branks: ([0-9,]+)", head)
        self.only_ranks = {int(n) for n in only.group(1).split(",")} if only else None
        ending = re.search(r"\bexit: (nonzero|[0-9]+)", head)
        self.ending = ending.group(1) if ending else None

    def runs_at(self, ranks):
        return self.only_ranks is None or ranks in self.only_ranks

    def binary(self, build):
        return build / self.name.replace("/", "-")

    def verdict(self, code, output):
        """None when the job did what it should, else what was wrong."""
        said_ok = len(re.findall(rf"^ok {re.escape(self.source.stem)}\b", output, re.M))
        if self.ending is None:
            if code != 0:
                return f"exit code {code}"
            return None if said_ok == 1 else f"said `ok {self.source.stem}` {said_ok} times"
        if not re.search(rf"^started {re.escape(self.source.stem)}$", output, re.M):
            return "did not start"
        if code == 0 or self.ending not in ("nonzero", str(code)):
            return f"exit code {code}, expected {self.ending}"
        return "went on after a fatal error" if said_ok else None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--ranks", default="1,2,4,5", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--filter", default="", help="only the programs whose name matches this expression")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int, help="compilers at once; programs run one by one")
    parser.add_argument("--timeout", default=120.0, type=float, help="seconds until a job counts as hung")
    parser.add_argument("--build", type=pathlib.Path, help="keep the binaries here (default: a temporary folder)")
    parser.add_argument("--mpiexec-args", default="", help="further arguments of mpiexec, separated by spaces")
    return parser.parse_args()


def compile_program(options, build, program):
    """None, or the compiler's output when it failed."""
    command = [options.mpicc, *CFLAGS, "-I", str(ROOT / "conformance"), "-I", str(ROOT / "errors"),
               "-o", str(program.binary(build)), str(program.source), "-lm"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return None if done.returncode == 0 else done.stdout


def run_job(options, build, program, ranks):
    """(seconds, None or what was wrong, output)"""
    command = [options.mpiexec, *options.mpiexec_args.split(), "-n", str(ranks), str(program.binary(build))]
    start = time.monotonic()
    # A file, not a pipe: ranks that outlive their launcher would keep a pipe open.
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                               start_new_session=True)
        try:
            code = job.wait(options.timeout)
            wrong = None
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
            end_job(job)
            if isinstance(reason, KeyboardInterrupt):
                raise
            code, wrong = None, f"hung: ended after {options.timeout:g} s"
        seconds = time.monotonic() - start
        log.seek(0)
        output = log.read()
    return seconds, wrong or program.verdict(code, output), output


def running():
    """Every process: its id to (its parent's id, its start time)."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[int(entry.parent.name)] = (int(fields[1]), fields[19])
    return found


def end_job(job):
    """Asks the launcher to end its job, then ends what is left of it, each process by its id.

    Launchers give their ranks groups of their own, so the launcher's group is not the job. Start times tell a
    process of the job from a later one with the same id."""
    before = running()
    family = [job.pid]
    for parent in family:
        family.extend(pid for pid, (its_parent, _) in before.items() if its_parent == parent)
    job.send_signal(signal.SIGTERM)
    try:
        job.wait(5)
    except subprocess.TimeoutExpired:
        pass
    after = running()
    for pid in family:
        if pid in before and pid in after and before[pid][1] == after[pid][1]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    job.wait()


def run_program(options, build, program):
    """Runs at every number of ranks, prints the line, returns whether all was well."""
    times, failures = [], []
    for ranks in filter(program.runs_at, options.ranks):
        seconds, wrong, output = run_job(options, build, program, ranks)
        times.append(f"{ranks}:{seconds:.2f}s")
        if wrong:
            failures.append((ranks, wrong, output))
    if not times:
        print(f"skip {program.name} (at none of these numbers of ranks)", flush=True)
        return None
    print(f"{'FAIL' if failures else 'pass'} {program.name}  {' '.join(times)}", flush=True)
    for ranks, wrong, output in failures:
        print(f"--- {program.name} at {ranks} ranks: {wrong}")
        print("\n".join(output.splitlines()[-40:]), flush=True)
    return not failures


def interrupt(_signal, _frame):
    raise KeyboardInterrupt


def main():
    options = arguments()
    # Ended by a signal, the runner ends its job and leaves no file either.
    signal.signal(signal.SIGTERM, interrupt)
    for tool in (options.mpicc, options.mpiexec):
        if not shutil.which(tool):
            sys.exit(f"{tool}: not found")
    sources = sorted([*ROOT.glob("conformance/*/*.c"), *ROOT.glob("errors/*.c")])
    programs = [p for p in map(Program, sources) if re.search(options.filter, p.name)]
    with tempfile.TemporaryDirectory(prefix="weft-tests-") as scratch:
        build = (options.build or pathlib.Path(scratch)).resolve()
        build.mkdir(parents=True, exist_ok=True)
        results = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            compiled = pool.map(lambda program: compile_program(options, build, program), programs)
            for program, complaint in zip(programs, compiled):
                if complaint is not None:
                    print(f"FAIL {program.name} does not compile\n{complaint}", flush=True)
                    results.append(False)
                else:
                    results.append(run_program(options, build, program))
    passed, failed = results.count(True), results.count(False)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
