#!/usr/bin/env python3
"""Runs a command on the first of N virtual hosts; the ranks of every mpiexec that it starts are dealt out to all of them in turn.

    tests/hosts/spread.py [--adapters K] N COMMAND...

The kernels of the first K list an adapter, the device in software, which jobs then use among these hosts and TCP to the others.
So any battery of this folder's neighbours is one of jobs on several hosts: make mpich-tests HOSTS=2. There is no way from the hosts to other
machines: what a battery fetches has to be there. Exit code: the command's, or 1 when something of it is left on a host."""

import argparse
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


def spread(count, adapters, command):
    with Hosts(count) as hosts:
        for host in hosts[:adapters]:
            host.list_adapter()
        hosts[0].root("run/hosts").write_text("".join(f"{name}\n" for name in hosts.names()))
        hosts.settle()
        # A battery may find no commands but its own.
        chosen = ["env", "HYDRA_HOST_FILE=/run/hosts", f"HYDRA_LAUNCHER_EXEC={shutil.which('ssh')}"]
        # As if it ran here: no session of its own, no time limit, the terminal.
        code = subprocess.run(hosts[0].words([*chosen, *command])).returncode
        hosts.check_clean(but=FILES_OF_PROGRAMS)
        return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapters", type=int, default=0, metavar="K", help="so many of the hosts have an adapter")
    parser.add_argument("hosts", type=int, metavar="N")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("no command")
    end_by_signals()
    try:
        return spread(options.hosts, options.adapters, options.command)
    except (Failure, Skip, Undeclared) as why:
        raise SystemExit(f"spread.py: {why}") from None


if __name__ == "__main__":
    sys.exit(main())
