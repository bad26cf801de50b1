#!/usr/bin/env python3
"""Packages of an installed tree: what scripts/install.sh put under PREFIX, in the formats that people install from.

    packaging/package.py tar|wheel|deb --prefix PREFIX [--out DIR]

Prints the path of each file that it made, with its size.
"""

import argparse
import pathlib
import sys

import archive
import debian
import wheel
from tree import Tree

FORMATS = {"tar": archive.make, "wheel": lambda tree, out: [wheel.make(tree, out)], "deb": debian.make}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree")
    parser.add_argument("--out", default="build/packages", type=pathlib.Path, help="where the packages go (default build/packages)")
    return parser.parse_args()


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        made = FORMATS[options.format](Tree(options.prefix), options.out.resolve())
    except wheel.NotPortable as reason:
        return f"package: {reason}"
    for path in made:
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
