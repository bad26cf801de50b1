"""What the cases share: the tree that is packaged, the packages made of it, and programs to try an installed one with."""

import pathlib
import shutil

from lib.cases import Failure, require
from lib.processes import output_of
from tree import Tree
from wheel import NotPortable

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples"
# An example for each wrapper, and by which of them it is compiled.
PROGRAMS = {"mpicc": "ring.c", "mpicxx": "hello.cpp", "mpic++": "hello.cpp", "mpifort": "ring.f", "mpif90": "heat.f90"}
COMPILERS = {"mpicc": "cc", "mpicxx": "c++", "mpic++": "c++", "mpifort": "gfortran", "mpif90": "gfortran"}

# What building the tool may take that reads symbols, or waiting for another cargo.
BUILD_SECONDS = 1800


class Shop:
    def __init__(self, prefix, build):
        self.prefix, self.build = prefix, build
        self.packages = {}
        build.mkdir(parents=True, exist_ok=True)

    def tree(self):
        return Tree(self.prefix)

    def folder(self, name):
        """An empty folder of that name."""
        path = self.build / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def made(self, name, make):
        """The packages of that name that make writes of the tree, when they are first asked for: what is tried is what people get."""
        if name not in self.packages:
            try:
                self.packages[name] = make(self.tree(), self.build)
            except NotPortable as reason:
                raise Failure(str(reason)) from reason
        return self.packages[name]

    def compile_and_run(self, binaries, scratch):
        """Each wrapper that has a compiler compiles a program, and all names of the launcher run it."""
        # Of the modules' cache, nothing stays.
        environment = {"XDG_CACHE_HOME": str(scratch / "cache")}
        tried = [wrapper for wrapper in PROGRAMS if shutil.which(COMPILERS[wrapper])]
        require("mpicc" in tried, "there is no C compiler")
        for wrapper in tried:
            program = scratch / wrapper
            output_of([binaries / wrapper, EXAMPLES / PROGRAMS[wrapper], "-o", program], environment=environment, cwd=scratch)
            for launcher in ("mpiexec", "mpirun", "mpiexec.hydra"):
                output_of([binaries / launcher, "-n", "2", program], environment=environment, cwd=scratch)

    def names(self, folder):
        """The libraries in that folder export what they have to, no more and no less; those of the device, none of Rust's own names."""
        for library in (folder / "softrdma").glob("*.so*"):
            exported = [line.split()[-1] for line in output_of(["nm", "-D", "--defined-only", library]).splitlines()]
            mangled = [name for name in exported if name.startswith(("_R", "_ZN"))]
            require(exported and not mangled, f"{library.name} exports {mangled[:3]} of {len(exported)} names")
        for library in ("libmpi_abi.so.1", "libmpifort_abi.so.1"):
            output_of(["cargo", "xtask", "symbols", folder / library], BUILD_SECONDS, cwd=REPOSITORY)
