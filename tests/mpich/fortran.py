"""The suite's programs in Fortran, f77, f90 and f08: compiled with an mpifort, without their configure."""

import sys

from lib.compiler import COMPILE_SECONDS
from lib.processes import run

# Nothing is measured, and the sources are what they are; some have a pointer as compilers had them before Fortran 90.
FFLAGS = ["-O0", "-w", "-fcray-pointer"]
# What configure puts into the headers of f77.
INTEGERS = {"F77_MPI_ADDRESS": "integer*8", "F77_MPI_OFFSET": "integer*8"}
HELPERS = {"f77": "mtest_f77.f", "f90": "mtest_f90.f90", "f08": "mtest_f08.f90"}


class Fortran:
    def __init__(self, mpifort, root, build):
        self.mpifort, self.root, self.build = mpifort, root, build
        self.helpers = {}

    def make_headers(self):
        """The headers of f77 with their integers filled in, and the suite's own routines as objects, by language."""
        headers = self.build / "configured/fortran"
        headers.mkdir(parents=True, exist_ok=True)
        for template in self.root.glob("**/f77/**/*.h.in"):
            text = template.read_text()
            for name, integer in INTEGERS.items():
                text = text.replace(f"@{name}@", integer)
            (headers / template.stem).write_text(text)
        self.words = [*FFLAGS, f"-I{headers}"]
        for language, source in HELPERS.items():
            target = self.build / "objects" / language / "mtest.o"
            target.parent.mkdir(parents=True, exist_ok=True)
            done = run([self.mpifort, *self.words, "-c", self.root / "util" / source, "-o", target], COMPILE_SECONDS)
            if done.code != 0:
                sys.exit(f"mpich: {source} does not compile\n{done.output}")
            self.helpers[language] = target

    def compile(self, words, target):
        """None, or the compiler's words when it failed."""
        modules = target.with_name(f"{target.name}-modules")
        modules.mkdir(parents=True, exist_ok=True)
        language = "f08" if "f08" in words[0].parts else "f90" if words[0].suffix == ".f90" else "f77"
        command = [self.mpifort, *self.words, f"-J{modules}", f"-I{words[0].parent}", *words, self.helpers[language],
                   "-o", target]
        done = run([str(word) for word in command], COMPILE_SECONDS)
        return None if done.code == 0 else done.output
