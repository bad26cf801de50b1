"""MPICH and Open MPI as Debian has them, which have Fortran: unpacked into a folder, with nothing installed on this machine."""

import re
import subprocess

from lib.cases import Failure, end_of, require
from lib.processes import run

FETCH_SECONDS = 600
PACKAGES = {"mpich": ["libmpich-dev", "mpich"], "openmpi": ["libopenmpi-dev", "openmpi-bin"]}
# Compilers and launchers that know where they were unpacked; what is written once is another library's options for links.
WRAPPERS = {
    "mpich": {
        "mpicc": "exec cc -I{root}/usr/include/{machine}/mpich \"$@\" -L{lib} -lmpich -Wl,--allow-shlib-undefined",
        "mpifort": "exec gfortran -fallow-argument-mismatch -I{root}/usr/include/{machine}/mpich -I{modules}/mpich \"$@\" "
        "-L{lib} -lmpichfort -lmpich -Wl,--allow-shlib-undefined",
        "mpiexec": "LD_LIBRARY_PATH={lib} exec {root}/usr/bin/mpiexec.hydra \"$@\"",
    },
    "openmpi": {
        "mpicc": "exec cc -I{lib}/openmpi/include \"$@\" -L{lib}/openmpi/lib -lmpi -Wl,--allow-shlib-undefined",
        "mpifort": "exec gfortran -I{lib}/openmpi/include -I{modules}/openmpi \"$@\" -L{lib} -L{lib}/openmpi/lib "
        "-lmpi_usempif08 -lmpi_usempi_ignore_tkr -lmpi_mpifh -lmpi -Wl,--allow-shlib-undefined",
        # Its own mpiexec refuses root unless it is told otherwise; it looks for parts of networks that were not unpacked.
        "mpiexec": "export OPAL_PREFIX={root}/usr OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_LIBRARY_PATH={lib}\n"
        "export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_mca_base_component_show_load_errors=0\n"
        "exec {root}/usr/bin/orterun --oversubscribe \"$@\"",
    },
}


class Unpacked:
    """A library with its `mpicc`, `mpifort` and `mpiexec`."""

    def __init__(self, name, folder):
        self.name = name
        self.bin = folder / name / "bin"
        self.root = folder / "root"
        machine = subprocess.run(["cc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
        self.lib = self.root / "usr/lib" / machine
        self.include = {"mpich": self.root / "usr/include" / machine / "mpich", "openmpi": self.lib / "openmpi/include"}[name]
        self.machine = machine

    def write_wrappers(self):
        modules = next(iter((self.lib / "fortran").glob("gfortran-mod-*")), None)
        require(modules, f"no modules of gfortran below {self.lib}")
        self.bin.mkdir(parents=True, exist_ok=True)
        for command, text in WRAPPERS[self.name].items():
            path = self.bin / command
            path.write_text("#!/bin/sh\n" + text.format(root=self.root, lib=self.lib, machine=self.machine, modules=modules) + "\n")
            path.chmod(0o755)

    def header(self):
        """What `mpif.h` says, in capital letters."""
        return "\n".join(path.read_text() for path in sorted(self.include.glob("mpif*.h"))).upper()

    def has(self, constant):
        return re.search(rf"\b{constant}\b", self.header()) is not None


def unpacked(folder):
    """Both libraries in the folder, fetched by apt unless they are there."""
    libraries = {name: Unpacked(name, folder) for name in PACKAGES}
    mark = folder / ".unpacked"
    if not mark.exists():
        fetch(folder)
        for library in libraries.values():
            library.write_wrappers()
        mark.touch()
    return libraries


def fetch(folder):
    """The packages, with what they need and this machine lacks."""
    archives = folder / "archives"
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    packages = [package for names in PACKAGES.values() for package in names]
    # Into a folder of ours: no other apt-get waits for it.
    options = ["-q", "-y", "--no-install-recommends", "-o", f"Dir::Cache::Archives={archives}", "-o", "Debug::NoLocking=1"]
    options += ["-o", "APT::Sandbox::User=root"]
    words = ["apt-get", *options, "install", "--reinstall", "--download-only", *packages]
    done = run(words, FETCH_SECONDS)
    # A fresh image has no package lists.
    if done.code != 0:
        run(["apt-get", "-q", "update"], FETCH_SECONDS)
        done = run(words, FETCH_SECONDS)
    if done.code != 0:
        raise Failure(f"apt-get failed; is the network there?\n{end_of(done.output)}")
    for archive in sorted(archives.glob("*.deb")):
        done = run(["dpkg", "-x", archive, folder / "root"], FETCH_SECONDS)
        require(done.code == 0, done.output)
        archive.unlink()
