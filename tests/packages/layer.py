"""The Debian packages, by dpkg and apt in a layer over this machine's root: a tmpfs takes all that they change, and goes with it."""

import os
import shutil

import debian
from lib.cases import Skip, require
from lib.processes import output_of, run
from shop import EXAMPLES

HERE = os.path.dirname(__file__)
INSTALL_SECONDS = 3600
# What lintian says of every package that a distribution did not make.
ERRORS = "error"


def cases(shop):
    yield "deb: lintian finds no error", lambda: linted(shop)
    yield "deb: beside mpich and openmpi, chosen by update-alternatives, and gone without a trace", lambda: installed(shop)


def linted(shop):
    for package in shop.made("deb", debian.make):
        output_of(["lintian", "--fail-on", ERRORS, "--allow-root", package], INSTALL_SECONDS)


def installed(shop):
    if os.geteuid() != 0:
        raise Skip("it mounts a layer over the root, which only root may")
    folder = shop.folder("layer")
    for package in shop.made("deb", debian.make):
        shutil.copy(package, folder)
    shutil.copy(EXAMPLES / "ring.c", folder)
    shutil.copy(EXAMPLES / "ring.f", folder)
    shutil.copy(f"{HERE}/layer_steps.sh", folder)
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-eu", f"{HERE}/../lib/layer.sh", folder]
    done = run([*words, "sh", "-eu", "/layer/layer_steps.sh"], INSTALL_SECONDS)
    require(done.code == 0, done.output)
    require("ok layer" in done.output, f"it did not say `ok layer`:\n{done.output}")
