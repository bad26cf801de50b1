#!/usr/bin/env python3
"""Programs that people have, as Debian and Intel built them: on their own library, then on ours, with the same outcome.

    tests/compat/programs.py --prefix DIR --peers DIR [--build DIR] [--only RE] [--ranks 2,4] [--timeout SECONDS]

Ours is found by WeftMPI's mpiexec without an option. Debian's packages are installed into a layer over this machine's root
(tests/lib/layer.sh), which stays in the build folder: as root. What is run and how its outcome is judged is a row of table.py. A
line for each program and number of ranks; exit code 1 when anything failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.cases import Failure, end_of, require
from lib.commands import REPOSITORY, declare
from lib.processes import end_by_signals, run
from table import PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent
LAYER = HERE.parent / "lib/layer.sh"
INSTALL_SECONDS = 3600
INSTALL = """\
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
get() { apt-get -o DPkg::Lock::Timeout=300 install -qq -y --no-install-recommends "$@"; }
get "$@" || { apt-get update -qq && get "$@"; }
apt-get clean
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpiexec")
    parser.add_argument("--peers", required=True, type=pathlib.Path, help="what scripts/peers.sh made: Intel's programs are there")
    parser.add_argument("--build", default="build/compat-programs", type=pathlib.Path, help="where the layer stays and programs run")
    parser.add_argument("--only", default="", help="only the programs whose name matches this expression")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, by commas (default 2,4)")
    parser.add_argument("--timeout", default=180, type=int, help="seconds that one run may take (default 180)")
    parser.add_argument("--in-layer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.prefix, options.peers, options.build = (path.resolve() for path in (options.prefix, options.peers, options.build))
    return options


class Launcher:
    """What starts programs on so many ranks: a library's own mpiexec, or ours."""

    def __init__(self, words, **environment):
        self.words, self.environment = words, environment

    def start(self, command, ranks, folder, timeout, **environment):
        return run([*self.words, "-n", str(ranks), *command], timeout, self.environment | environment, cwd=folder)


def own_launcher(family, options):
    if family == "intel":
        root = options.peers / "intel"
        words = [root / "bin/mpiexec", "-genv", "I_MPI_FABRICS", "shm"]
        return Launcher(words, LD_LIBRARY_PATH=f"{root}/lib", I_MPI_ROOT=str(root), FI_PROVIDER_PATH=f"{root}/lib")
    options = ["--allow-run-as-root", "--oversubscribe"] if family == "openmpi" else []
    return Launcher([f"/usr/bin/mpiexec.{family}", *options])


def libraries(folder):
    """The MPI libraries of each process that has one, as the dynamic linker has logged them."""
    found = []
    for log in folder.glob("loaded.*"):
        names = set(re.findall(r"calling init: (\S*/libmpi\w*\.so\S*)", log.read_text(errors="replace")))
        log.unlink()
        if names:
            found.append(names)
    return found


def prepared(program, options, name):
    folder = options.build / "runs" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in program.files:
        shutil.copy(HERE / "inputs" / file, folder)
    return folder


def outcome(program, options, launcher, ranks, name, **environment):
    """All that a run has to show: what it printed, and what the commands say that look at its files afterwards."""
    folder = prepared(program, options, name)
    words = {"ranks": ranks, "peers": options.peers}
    fill = lambda command: [word.format(**words) for word in command]
    text = ""
    for command in program.before:
        done = run(["sh", "-euc", command.format(**words)], options.timeout, cwd=folder)
        require(done.code == 0, f"{command}\n{end_of(done.output)}")
    environment |= dict(program.variables)
    if "LD_LIBRARY_PATH" in environment and "LD_LIBRARY_PATH" in launcher.environment:
        environment["LD_LIBRARY_PATH"] += ":" + launcher.environment["LD_LIBRARY_PATH"]
    done = launcher.start(fill(program.command), ranks, folder, options.timeout, **environment)
    require(done.code == 0, f"exit code {done.code}\n{end_of(done.output)}")
    text += done.output
    for command in program.after:
        done = run(["sh", "-euc", command.format(**words)], options.timeout, cwd=folder)
        require(done.code == 0, f"{command}\n{end_of(done.output)}")
        text += done.output
    return folder, text


def agree(one, other, tolerance):
    """Whether two words say the same, numbers but for rounding."""
    if one == other:
        return True
    try:
        a, b = float(one), float(other)
    except ValueError:
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1.0)


def told(program, text):
    """What has to be the same by every library: word by word, of all that the expressions find."""
    found = [match for expression in program.same for match in re.findall(expression, text, re.M)]
    if program.in_any_order:
        found.sort()
    return [word for match in found for part in ([match] if isinstance(match, str) else match) for word in part.split()]


def attempt(program, options, ranks):
    """Runs a program by both; returns what was checked."""
    own_folder, own = outcome(program, options, own_launcher(program.family, options), ranks, f"{program.name}-own")
    ours = Launcher([options.prefix / "bin/mpiexec"])
    log = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(options.build / "runs" / f"{program.name}-ours" / "loaded")}
    folder, text = outcome(program, options, ours, ranks, f"{program.name}-ours", **log)
    loaded = libraries(folder)
    (folder / "output").write_text(text)
    (own_folder / "output").write_text(own)
    strangers = {name for names in loaded for name in names if not name.startswith(str(options.prefix))}
    require(len(loaded) >= ranks and not strangers, f"not our library in each process: {loaded}")
    for expression in program.says:
        require(re.search(expression, text, re.M), f"does not say {expression!r}\n{end_of(text)}")
    by_own, by_ours = told(program, own), told(program, text)
    require(not program.same or by_own, f"by its own library it says nothing of {program.same}\n{end_of(own)}")
    different = [f"{a} {b}" for a, b in zip(by_own, by_ours) if not agree(a, b, program.tolerance)]
    require(len(by_own) == len(by_ours) and not different, f"{len(by_own)} words by its own library, {len(by_ours)} by ours; {different[:5]}")
    return f"{len(by_own)} words as by its own library" if by_own else "its own checks"


def row(program, version, ranks, verdict, seconds, words):
    print(f"{program.name:<18} {version:<30} {program.family:<8} {ranks:>2}  {verdict:<7} {seconds:>4.0f} s  {words}", flush=True)


def take(program, version, options, ranks):
    started = time.monotonic()
    try:
        verdict, words, more = "ok", attempt(program, options, ranks), ""
    except Failure as failure:
        verdict, words, more = "FAILED", str(failure).splitlines()[0], str(failure)
    row(program, version, ranks, verdict, time.monotonic() - started, words)
    if more:
        print("".join(f"    | {line}\n" for line in more.splitlines()), end="", file=sys.stderr, flush=True)
    return verdict == "ok"


def install(programs, options):
    """What is missing in the layer of the packages; needs the network."""
    packages = sorted({"openmpi-bin", "mpich", *(package for program in programs for package in program.packages)})
    known = {line.split()[0]: line.split()[1] for line in query(packages) if len(line.split()) == 2}
    missing = [package for package in packages if package not in known]
    if missing:
        print(f"compat-programs: installing {' '.join(missing)} into the layer", file=sys.stderr, flush=True)
        done = run(["sh", "-euc", INSTALL, "sh", *missing], INSTALL_SECONDS)
        require(done.code == 0, f"apt-get failed; is the network there?\n{end_of(done.output)}")
        known = {line.split()[0]: line.split()[1] for line in query(packages)}
    return known


def query(packages):
    """Lines of the packages that are installed, with their versions."""
    done = run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n", *packages], 60)
    return [line.removeprefix("installed ") for line in done.output.splitlines() if line.startswith("installed ")]


def in_layer(options):
    programs = [program for program in PROGRAMS if re.search(options.only, program.name)]
    require(programs, f"none of {', '.join(program.name for program in PROGRAMS)} matches {options.only!r}")
    versions = install(programs, options)
    print(f"{'program':<18} {'version':<30} {'built by':<8} {'n':>2}  {'':<7} {'time':>6}  what was compared")
    passed = failed = 0
    for program in programs:
        version = versions[program.packages[0]] if program.packages else "impi-rt"
        for ranks in program.ranks or [int(number) for number in options.ranks.split(",")]:
            good = take(program, version, options, ranks)
            passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    options = arguments()
    end_by_signals()
    if options.in_layer:
        return in_layer(options)
    declare("compat-programs")
    if os.geteuid() != 0:
        sys.exit("compat-programs: it mounts a layer over the root, which only root may")
    layer = options.build / "layer"
    (layer / "space").mkdir(parents=True, exist_ok=True)
    os.chdir(REPOSITORY)
    inside = [sys.executable, pathlib.Path(__file__).resolve(), "--in-layer"]
    inside += [f"--{name.replace('_', '-')}={value}" for name, value in vars(options).items() if name != "in_layer"]
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-eu", LAYER, layer, *inside]
    os.execvpe(words[0], list(map(str, words)), os.environ | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"})


if __name__ == "__main__":
    sys.exit(main())
