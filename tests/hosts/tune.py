#!/usr/bin/env python3
"""Measures each collective by every algorithm between virtual hosts, beside what the library chooses.

    tests/hosts/tune.py --prefix DIR [--layouts 2x2,4x2,8x2,2x4] [options of `weft bench collectives --tune`]

A layout is so many hosts with so many ranks on each. --tune's own options tell how long a point is measured: --rounds, --seconds, --sizes.
On a machine that does something else besides, figures are noise."""

import argparse
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.cases import Failure, Skip
from lib.commands import declare
from lib.hosts import Hosts
from lib.processes import end_by_signals


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path)
    parser.add_argument("--layouts", default="2x2,4x2,8x2,2x4")
    return parser.parse_known_args()


def command(prefix, layouts, names):
    """The words that measure on hosts of these names."""
    words = [prefix.resolve() / "bin/weft", "bench", "collectives", "--tune", "--hosts", ",".join(names)]
    return [*words, "--layouts", layouts]


def hosts_of(layouts):
    """How many hosts the largest of the layouts takes."""
    counts = [layout.partition("x")[0] for layout in layouts.split(",")]
    if not all(count.isdigit() for count in counts):
        raise SystemExit(f"tune.py: --layouts {layouts} is no list such as 2x2,4x2")
    return max(map(int, counts))


def main():
    options, rest = arguments()
    end_by_signals()
    declare("hosts")
    try:
        with Hosts(hosts_of(options.layouts)) as hosts:
            words = command(options.prefix, options.layouts, hosts.names())
            code = subprocess.run(hosts[0].words([*words, *rest])).returncode
    except (Failure, Skip) as why:
        raise SystemExit(f"tune.py: {why}")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
