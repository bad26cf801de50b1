"""An installed tree, as scripts/install.sh makes it, looked at by what packages it."""

import pathlib
import re

import objects

MANIFEST = "share/weft/manifest"
PKG_CONFIG = "lib/pkgconfig/mpi_abi.pc"
# Where the symbols lie that only debuggers read.
SYMBOLS = ".debug"


class Tree:
    def __init__(self, prefix):
        self.prefix = pathlib.Path(prefix).resolve()
        if not (self.prefix / MANIFEST).exists():
            raise SystemExit(f"package: {self.prefix} is no installed tree: it has no {MANIFEST}")
        self.version = re.search(r"^Version: (\S+)$", self.text(PKG_CONFIG), re.M).group(1)
        self.paths = sorted(set(self.text(MANIFEST).split("\n")) - {""})

    def text(self, path):
        return (self.prefix / path).read_text()

    def program_files(self):
        """The paths of all but the symbols."""
        return [path for path in self.paths if pathlib.PurePath(path).parent.name != SYMBOLS]

    def symbol_files(self):
        return sorted(set(self.paths) - set(self.program_files()))

    def objects(self):
        """The libraries and programs that are no scripts and no links."""
        files = [self.prefix / path for path in self.program_files()]
        return [file for file in files if not file.is_symlink() and objects.is_object(file)]

    def glibc(self):
        """The oldest C library that the tree runs on."""
        return objects.newest_version(self.objects())
