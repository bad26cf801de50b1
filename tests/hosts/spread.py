#!/usr/bin/env python3
"""Runs a command on the first of N virtual hosts; the ranks of every mpiexec that it starts are dealt out to all of them in turn.

    tests/hosts/spread.py N COMMAND...

So any battery of this folder's neighbours is one of jobs on several hosts: make mpich-tests HOSTS=2. There is no way from the hosts to other
machines: what a battery fetches has to be there. Exit code: the command's, or 1 when something of it is left on a host."""

import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.cases import Failure, Skip
from lib.commands import Undeclared
from lib.hosts import Hosts
from lib.processes import end_by_signals

# What other people's programs write to a place that they do not let one choose, and leave there.
FILES_OF_PROGRAMS = ["/tmp/test_scotch_dgraph_*.map"]


def spread(count, command):
    with Hosts(count) as hosts:
        hosts[0].root("run/hosts").write_text("".join(f"{name}\n" for name in hosts.names()))
        hosts.settle()
        # A battery may find no commands but its own.
        chosen = ["env", "HYDRA_HOST_FILE=/run/hosts", f"HYDRA_LAUNCHER_EXEC={shutil.which('ssh')}"]
        # As if it ran here: no session of its own, no time limit, the terminal.
        code = subprocess.run(hosts[0].words([*chosen, *command])).returncode
        hosts.check_clean(but=FILES_OF_PROGRAMS)
        return code


def main():
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    end_by_signals()
    try:
        return spread(int(sys.argv[1]), sys.argv[2:])
    except (Failure, Skip, Undeclared) as why:
        raise SystemExit(f"spread.py: {why}") from None


if __name__ == "__main__":
    sys.exit(main())
