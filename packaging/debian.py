"""Debian packages: weftmpi, beside mpich and openmpi and chosen by `update-alternatives`, and weftmpi-dbgsym with its symbols.

The tree lies in a folder of its own under the architecture's libraries. What Debian's MPI packages share are three alternatives,
with these links (postinst of mpich, openmpi-bin and libmpich-dev): `mpi` for the compilers, `mpirun`, and the headers. A
`libmpi.so` is not among ours: a program that is linked by `-lmpi` alone would not find libmpi_abi.so.1 when it starts.
"""

import email.utils
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import archive
import objects
from tree import MANIFEST

ARCHITECTURE = "amd64"
MULTIARCH = "x86_64-linux-gnu"
HOME = f"usr/lib/{MULTIARCH}/weft"
SYMBOLS = f"usr/lib/debug/{HOME}"
# Below mpich (40) and openmpi (50): installing this package changes nobody's choice.
PRIORITY = 30
REVISION = "1"
# Who packages it says so by DEBFULLNAME and DEBEMAIL, as Debian's own tools read them; else this stands in their place (RFC 2606).
NOBODY = "weftmpi@example.org"
WRAPPERS = {"mpicc": "mpicc", "mpicxx": "mpicxx", "mpifort": "mpifort", "mpirun": "mpirun", "mpiexec": "mpiexec"}
LIBRARY_PACKAGES = {"libgcc_s.so.1": "libgcc-s1"}

CONTROL = """\
Package: weftmpi
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: {depends}
Recommends: gcc | c-compiler, libc6-dev
Suggests: g++, gfortran, openssh-client
Section: net
Priority: optional
Description: MPI library for MPI+threads with the standard ABI of MPI-5.0
 WeftMPI is an implementation of the Message Passing Interface: the library
 libmpi_abi.so.1, the headers, the compiler wrappers mpicc, mpicxx and
 mpifort, and the launcher mpiexec.
 .
 It can be installed beside MPICH and Open MPI; update-alternatives chooses
 which of them mpicc and mpirun are. Its own names, mpicc.weft and so on, are
 always there.
"""
SYMBOLS_CONTROL = """\
Package: weftmpi-dbgsym
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: weftmpi (= {version})
Section: debug
Priority: optional
Description: debug symbols for weftmpi
 What gdb, valgrind and perf read of the library and the programs of weftmpi.
"""
POSTINST = """\
#!/bin/sh
set -e

if [ "$1" = configure ]; then
    update-alternatives --install /usr/bin/mpicc mpi /usr/bin/mpicc.weft {priority} \\
        --slave /usr/bin/mpicxx mpicxx /usr/bin/mpicxx.weft \\
        --slave /usr/bin/mpic++ mpic++ /usr/bin/mpicxx.weft \\
        --slave /usr/bin/mpiCC mpiCC /usr/bin/mpicxx.weft \\
        --slave /usr/bin/mpifort mpifort /usr/bin/mpifort.weft \\
        --slave /usr/bin/mpif77 mpif77 /usr/bin/mpifort.weft \\
        --slave /usr/bin/mpif90 mpif90 /usr/bin/mpifort.weft
    update-alternatives --install /usr/bin/mpirun mpirun /usr/bin/mpirun.weft {priority} \\
        --slave /usr/bin/mpiexec mpiexec /usr/bin/mpiexec.weft
    update-alternatives --install /usr/include/{multiarch}/mpi mpi-{multiarch} /{home}/include {priority} \\
        --slave /usr/lib/{multiarch}/pkgconfig/mpi.pc mpi.pc-{multiarch} /{home}/lib/pkgconfig/mpi.pc
fi
"""
PRERM = """\
#!/bin/sh
set -e

if [ "$1" = remove ] || [ "$1" = deconfigure ]; then
    update-alternatives --remove mpi /usr/bin/mpicc.weft
    update-alternatives --remove mpirun /usr/bin/mpirun.weft
    update-alternatives --remove mpi-{multiarch} /{home}/include
fi
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: WeftMPI

Files: *
Copyright: 2026, the WeftMPI developers
License: BSD-3-Clause

License: BSD-3-Clause
{text}
"""
CHANGELOG = """\
weftmpi ({version}) unstable; urgency=medium

  * Packaged from a build of this release; its own changelog is CHANGELOG.md.

 -- {maintainer}  {date}
"""


class Package:
    """One package: its files in a folder, and then the archive that dpkg-deb makes of it."""

    def __init__(self, tree, root, name):
        self.tree, self.root, self.name = tree, root, name
        self.version = f"{tree.version}-{REVISION}"
        self.maintainer = f"{os.environ.get('DEBFULLNAME', 'WeftMPI')} <{os.environ.get('DEBEMAIL', NOBODY)}>"

    def write(self, path, text, mode=0o644):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        file.chmod(mode)

    def copy(self, path, to):
        file = self.root / to
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.tree.prefix / path, file, follow_symlinks=False)
        if not file.is_symlink() and ".so" in file.name:
            # Debian's libraries are not executable (Policy 8.1).
            file.chmod(0o644)

    def link(self, path, target):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)

    def documentation(self):
        folder = f"usr/share/doc/{self.name}"
        text = "\n".join(f" {line}" if line else " ." for line in self.tree.text("share/doc/weft/LICENSE").strip().split("\n"))
        self.write(f"{folder}/copyright", COPYRIGHT.format(text=text))
        date = email.utils.formatdate(archive.timestamp())
        entry = CHANGELOG.format(version=self.version, maintainer=self.maintainer, date=date)
        self.write(f"{folder}/changelog.Debian.gz", gzip.compress(entry.encode(), mtime=0))

    def control(self, text, **words):
        found = (file for file in self.root.rglob("*") if file.is_file() and not file.is_symlink())
        files = [file for file in found if file.relative_to(self.root).parts[0] != "DEBIAN"]
        size = sum(file.stat().st_size + 1023 >> 10 for file in files)
        known = {"version": self.version, "architecture": ARCHITECTURE, "maintainer": self.maintainer, "size": size}
        lines = (f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(self.root)}\n" for file in sorted(files))
        self.write("DEBIAN/md5sums", "".join(lines))
        self.write("DEBIAN/control", text.format(**known, **words))

    def build(self, folder, effort):
        for path in [self.root, *self.root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        built = folder / f"{self.name}_{self.version}_{ARCHITECTURE}.deb"
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(archive.timestamp())}
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{effort}", "--build", self.root, built]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        return built


def make(tree, folder):
    """Writes both packages and returns their paths."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        main = Package(tree, pathlib.Path(scratch) / "main", "weftmpi")
        symbols = Package(tree, pathlib.Path(scratch) / "symbols", "weftmpi-dbgsym")
        # Symbols are compressed already.
        return [fill_main(main).build(folder, 6), fill_symbols(symbols).build(folder, 0)]


def fill_main(package):
    tree = package.tree
    for path in tree.program_files():
        if path.endswith(".pc") and not (tree.prefix / path).is_symlink():
            # The alternative's link would lead pkg-config to a prefix of its own.
            text = tree.text(path).replace("prefix=${pcfiledir}/../..", f"prefix=/{HOME}")
            package.write(f"{HOME}/{path}", text)
        elif path != MANIFEST and not path.startswith("share/doc/"):
            package.copy(path, f"{HOME}/{path}")
    for name, program in WRAPPERS.items():
        package.link(f"usr/bin/{name}.weft", f"../lib/{MULTIARCH}/weft/bin/{program}")
    package.link("usr/bin/weft", f"../lib/{MULTIARCH}/weft/bin/weft")
    package.documentation()
    package.write("usr/share/doc/weftmpi/changelog.gz", gzip.compress(tree.text("share/doc/weft/CHANGELOG.md").encode(), mtime=0))
    package.write("usr/share/doc/weftmpi/README.md", tree.text("share/doc/weft/README.md"))
    package.write("DEBIAN/postinst", POSTINST.format(priority=PRIORITY, multiarch=MULTIARCH, home=HOME), 0o755)
    package.write("DEBIAN/prerm", PRERM.format(multiarch=MULTIARCH, home=HOME), 0o755)
    package.control(CONTROL, depends=dependencies(tree))
    return package


def fill_symbols(package):
    for path in package.tree.symbol_files():
        place = pathlib.PurePath(path)
        package.copy(path, f"{SYMBOLS}/{place.parent.parent / place.name}")
    package.documentation()
    package.control(SYMBOLS_CONTROL)
    return package


def dependencies(tree):
    libraries = set().union(*(objects.needed_libraries(file) for file in tree.objects()))
    others = sorted(package for library, package in LIBRARY_PACKAGES.items() if library in libraries)
    return ", ".join([f"libc6 (>= {objects.text_of(tree.glibc())})", *others])
