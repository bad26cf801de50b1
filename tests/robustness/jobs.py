"""The library under test, where its programs are built, and how its jobs are started."""

import pathlib
import subprocess

from lib.compiler import compile_program, plain_compiler
from lib.processes import Running

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


class Site:
    """The library under test, and where things are built."""

    def __init__(self, mpicc, mpiexec, library, peers, build, full, stress_seconds, kills):
        self.mpicc, self.mpiexec, self.library = mpicc, mpiexec, library
        self.weft = mpiexec.parent / "weft"
        self.peers, self.build = peers, build
        self.full, self.stress_seconds, self.kills = full, stress_seconds, kills
        self.build.mkdir(parents=True, exist_ok=True)
        self.compiled = {}

    def program(self, name, *extra, mpicc=None, into=None):
        """The path of the compiled program; `extra` are further arguments for the compiler."""
        into = into or name
        if into not in self.compiled:
            target = self.build / into
            self.compiled[into] = compile_program(mpicc or self.mpicc, [PROGRAMS / f"{name}.c", *extra], target)
        return self.compiled[into]

    def plain(self, name):
        return self.program(name, mpicc=plain_compiler())

    def start(self, command, env=None, stdin=subprocess.DEVNULL):
        return Running(command, env, stdin, shown=4000)

    def run(self, command, env=None, timeout=60):
        return self.start(command, env).finish(timeout)

    def mpirun(self, ranks, *command, before=(), env=None, timeout=60):
        """The job under our mpiexec; `before` is a command that starts mpiexec."""
        return self.run([*before, self.mpiexec, "-n", ranks, *command], env, timeout)
