#!/usr/bin/env python3
"""The packages that packaging/package.py makes, installed as users install them, and tried.

    tests/packages/run.py --prefix DIR [--build DIR] [--filter RE] [--target check|packages] [--list]

One line a case, what was wrong with those that failed, and at the end `N passed, N failed, N skipped`. Cases whose name begins
with `tar` need nothing but the tree; `wheel` makes Python environments and builds mpi4py from its source on PyPI, `deb` installs
into a layer over this machine's root, with mpich and openmpi beside it; `recipes` reads the Spack
recipe and the Containerfile, and builds by the EasyBuild recipe, which takes minutes."""

import argparse
import itertools
import pathlib
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(REPOSITORY / "tests"), str(REPOSITORY / "packaging")]

import environment
import layer
import recipes
import unpacked
from lib.cases import run_all
from lib.commands import declare
from lib.processes import end_by_signals
from shop import Shop


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree")
    parser.add_argument("--build", default="build/packages", type=pathlib.Path, help="where packages are made and tried")
    parser.add_argument("--filter", default="", help="only the cases whose name matches this expression")
    parser.add_argument("--target", default="packages", help="whose commands it finds, of scripts/commands.txt: check, packages")
    parser.add_argument("--list", action="store_true", help="the names of the cases")
    return parser.parse_args()


def main():
    options = arguments()
    end_by_signals()
    declare(options.target)
    shop = Shop(options.prefix.resolve(), options.build.resolve())
    modules = (unpacked, environment, layer, recipes)
    return run_all(itertools.chain.from_iterable(module.cases(shop) for module in modules), options.filter, options.list)


if __name__ == "__main__":
    sys.exit(main())
