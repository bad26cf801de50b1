"""The wheel, in a Python environment of its own: installed by pip, used, taken away."""

import sys
import zipfile

import objects
import wheel
from lib.cases import Failure, require
from lib.processes import output_of

MPI4PY = "4.1.2"
BUILD_SECONDS = 3600
JOB = """
from mpi4py import MPI
world = MPI.COMM_WORLD
assert "WeftMPI" in MPI.Get_library_version(), MPI.Get_library_version()
assert world.allreduce(world.rank + 1) == world.size * (world.size + 1) // 2
assert world.sendrecv([world.rank], (world.rank + 1) % world.size, source=(world.rank - 1) % world.size) == [(world.rank - 1) % world.size]
assert world.size == 2
"""


def cases(shop):
    yield "wheel: no symbol is newer than its tag says, by ours and by auditwheel's reading", lambda: tagged(shop)
    yield "wheel: an object that asks for more is refused", lambda: refused(shop)
    yield "wheel: pip installs it, it compiles and runs programs, pip takes all its files away", lambda: installed(shop)
    yield "wheel: mpi4py is built on it, and runs", lambda: mpi4py(shop)


class Environment:
    def __init__(self, folder):
        self.folder, self.binaries = folder, folder / "bin"
        output_of([sys.executable, "-m", "venv", folder])

    def pip(self, *words, **variables):
        command = [self.binaries / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
        return output_of(command, BUILD_SECONDS, variables)

    def files(self):
        """All files and links, but what Python compiles as it goes; pip's ways with empty folders are its own."""
        found = (path for path in self.folder.rglob("*") if path.is_symlink() or not path.is_dir())
        return {str(path.relative_to(self.folder)) for path in found if "__pycache__" not in path.parts}


def tagged(shop):
    built = shop.made("wheel", wheel.make)
    newest = objects.newest_version(shop.tree().objects())
    require((2, 17) <= newest <= wheel.NEWEST_GLIBC, f"the objects need GLIBC {newest}")
    judge = Environment(shop.folder("auditwheel"))
    judge.pip("install", "auditwheel==6.8.2")
    said = " ".join(output_of([judge.binaries / "auditwheel", "show", built]).split())
    tag = f"manylinux_2_{wheel.NEWEST_GLIBC[1]}_x86_64"
    consistent = said.partition("consistent with the following platform tag:")[2].split('"')[1:2]
    require(consistent, f"auditwheel names no tag:\n{said}")
    minor = int(consistent[0].split("_")[2])
    require(consistent[0].startswith("manylinux_2_") and minor <= wheel.NEWEST_GLIBC[1], f"not {tag}: {said}")


def refused(shop):
    tree, known = shop.tree(), wheel.NEWEST_GLIBC
    wheel.NEWEST_GLIBC = (2, 2)
    try:
        wheel.check(tree)
    except wheel.NotPortable as reason:
        require("needs GLIBC_2." in str(reason), f"refused with: {reason}")
        return
    finally:
        wheel.NEWEST_GLIBC = known
    raise Failure("a tag of 2002's C library was taken")


def installed(shop):
    built = shop.made("wheel", wheel.make)
    with zipfile.ZipFile(built) as packed:
        require(packed.testzip() is None, "the wheel is damaged")
    environment = Environment(shop.folder("venv"))
    before = environment.files()
    environment.pip("install", "--no-index", built)
    environment.pip("check")
    shop.names(environment.folder / "lib")
    shop.compile_and_run(environment.binaries, shop.folder("wheel-programs"))
    output_of([environment.binaries / "weft", "info"])
    environment.pip("uninstall", "--yes", "weftmpi")
    left = environment.files() ^ before
    require(not left, f"pip uninstall left, or took away: {sorted(left)}")


def mpi4py(shop):
    environment = Environment(shop.folder("venv-mpi4py"))
    environment.pip("install", "--no-index", shop.made("wheel", wheel.make))
    # Unoptimised: compiling is most of the time here.
    words = ["--no-cache-dir", "--no-binary", "mpi4py", f"mpi4py=={MPI4PY}"]
    environment.pip("install", *words, MPICC=str(environment.binaries / "mpicc"), CFLAGS="-O0 -g0")
    output_of([environment.binaries / "mpiexec", "-n", "2", environment.binaries / "python", "-c", JOB])
