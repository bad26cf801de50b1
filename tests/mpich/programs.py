"""Compiles MPICH's test programs with an mpicc, without their configure: what it would find out is written here."""

import concurrent.futures
import pathlib
import re
import sys

from fortran import Fortran
from lib.compiler import COMPILE_SECONDS
from lib.processes import run
from source import recipe

# include/mpitestconf.h for a 64-bit Linux. USE_STRICT_MPI: MPICH's own word for a library that is not MPICH; it leaves
# out reductions of types that the standard does not define them for.
FOUND = """
    HAVE_DLFCN_H HAVE_DOUBLE__COMPLEX HAVE_FLOAT__COMPLEX HAVE_GETRUSAGE HAVE_INTTYPES_H HAVE_LONG_DOUBLE
    HAVE_LONG_DOUBLE__COMPLEX HAVE_LONG_LONG HAVE_MEMSET HAVE_MPI_INTEGER16 HAVE_MPI_WIN_CREATE HAVE_PTHREAD_BARRIER_INIT
    HAVE_PTHREAD_H HAVE_STDARG_H HAVE_STDINT_H HAVE_STDLIB_H HAVE_STRDUP HAVE_STRINGS_H HAVE_STRING_H HAVE_SYS_RESOURCE_H
    HAVE_SYS_STAT_H HAVE_SYS_TIME_H HAVE_SYS_TYPES_H HAVE_UNISTD_H HAVE_USLEEP HAVE__BOOL STDC_HEADERS
    USE_LONG_DOUBLE_COMPLEX USE_STRICT_MPI
""".split()
SIZES = {"SHORT": 2, "INT": 4, "LONG": 8, "LONG_LONG": 8, "VOID_P": 8}
CONFIGURATION = "".join(
    [f"#define {name} 1\n" for name in FOUND] + [f"#define SIZEOF_{name} {size}\n" for name, size in SIZES.items()]
) + "#define POINTERINT_t long\n#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX\n"
THIS = pathlib.Path(__file__).resolve()
ADAPTED = THIS.parent / "adapted.h"
# Nothing is measured, and compiling is much of the time. The neighborhood tests are empty but for MPICH without this.
CFLAGS = ["-O0", "-w", "-Werror=implicit-function-declaration", "-Werror=int-conversion", "-pthread",
          "-DTEST_NEIGHB_COLL=1", "-include", str(ADAPTED)]
# Handles that these keep in an int, as they are for MPICH.
HANDLES = re.compile(r"\bint \*(sendtypes|recvtypes)\b")
HELPERS = ["mtest.c", "mtest_common.c", "dtypes.c"]


def is_current(target):
    """Whether it was made after all that decides how, but for the sources and mpicc, which stay as they are."""
    return target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in (ADAPTED, THIS))


class Programs:
    def __init__(self, prefix, root, build):
        self.mpicc, self.root, self.build = prefix / "bin/mpicc", root, build
        self.fortran = Fortran(prefix / "bin/mpifort", root, build)
        configuration = build / "configured/include"
        configuration.mkdir(parents=True, exist_ok=True)
        # Fortran's halves in C include it by its path from their folders.
        for folder in (configuration, root / "include"):
            (folder / "mpitestconf.h").write_text(CONFIGURATION)
        (configuration.parent / "dtpoolsconf.h").write_text(CONFIGURATION)  # included as ../dtpoolsconf.h
        self.includes = [f"-I{path}" for path in (configuration, root / "include", root / "dtpools/include")]

    def path(self, test):
        return self.build / "bin" / test.folder / test.program

    def compile(self, *words):
        """None, or the compiler's words when it failed."""
        command = [self.mpicc, *CFLAGS, *self.includes, *map(str, words)]
        done = run(command, COMPILE_SECONDS)
        return None if done.code == 0 else done.output

    def make_helpers(self):
        """The suite's own library as objects: mtest, dtypes and the generator of datatypes, dtpools."""
        self.objects = self.build / "objects"
        self.objects.mkdir(exist_ok=True)
        sources = [self.root / "util" / name for name in HELPERS + ["mtest_single.c", "mtest_thread.c"]]
        sources += sorted((self.root / "dtpools/src").glob("*.c"))
        self.fortran.make_headers()
        for source in sources:
            target = self.objects / f"{source.stem}.o"
            complaint = None if is_current(target) else self.compile("-c", source, "-o", target)
            if complaint:
                sys.exit(f"mpich: {source.name} does not compile\n{complaint}")

    def make(self, test):
        """Compiles and links one program. None, or the compiler's words when it failed."""
        target = self.path(test)
        if is_current(target):
            return None
        sources, defines = recipe(self.root, test.folder, test.program)
        threads = "Makefile_threads.mtest" in (self.root / test.folder / "Makefile.am").read_text()
        other = "mtest_single" if threads else "mtest_thread"
        objects = [path for path in sorted(self.objects.glob("*.o")) if path.stem != other]
        if threads:
            defines = [*defines, "-DMTEST_USE_THREAD"]
        target.parent.mkdir(parents=True, exist_ok=True)
        if any(source.suffix != ".c" for source in sources):
            return self.make_fortran(sources, objects, target)
        sources = [self.adapted(source) for source in sources]
        return self.compile(*defines, *sources, *objects, "-lm", "-o", target)

    def make_fortran(self, sources, objects, target):
        """A program in Fortran, which may have a half in C."""
        words = [source for source in sources if source.suffix != ".c"]
        halves = [source for source in sources if source.suffix == ".c"]
        for half in halves:
            words.append(target.with_name(f"{target.name}-{half.stem}.o"))
            complaint = self.compile("-DF77_NAME_LOWER_USCORE", "-c", half, "-o", words[-1])
            if complaint:
                return complaint
        return self.fortran.compile(words + (objects if halves else []), target)

    def adapted(self, source):
        """The source, or a copy of it in which handles are handles."""
        text = source.read_text(errors="replace")
        if not HANDLES.search(text):
            return source
        copy = self.build / "adapted" / source.relative_to(self.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(HANDLES.sub(r"MPI_Datatype *\1", text))
        return copy

    def make_all(self, tests, jobs):
        """Compiles the programs of these tests once each. Returns program's path to the compiler's words, if it failed."""
        self.make_helpers()
        distinct = list({self.path(test): test for test in tests}.values())
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            results = pool.map(self.make, distinct)
            return {self.path(test): words for test, words in zip(distinct, results) if words is not None}
