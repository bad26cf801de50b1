"""Archives of an installed tree, to be unpacked anywhere: the programs and libraries, and their symbols. Same tree, same bytes."""

import hashlib
import os
import tarfile

import objects

MACHINE = "x86_64"
# The beginning of what zip archives can tell: all files are of this time unless SOURCE_DATE_EPOCH says another.
EPOCH = 315532800


def timestamp():
    return int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH))


def make(tree, folder):
    """Writes both archives and their checksums; returns the paths of the archives."""
    name = f"weftmpi-{tree.version}-linux-{MACHINE}-glibc{objects.text_of(tree.glibc())}"
    # Symbols are compressed already.
    kinds = {"": (tree.program_files(), 6), "-symbols": (tree.symbol_files(), 0)}
    archives = []
    for kind, (paths, effort) in kinds.items():
        archive = folder / f"{name}{kind}.tar.xz"
        with tarfile.open(archive, "w:xz", preset=effort) as packed:
            for path in paths:
                packed.add(tree.prefix / path, f"{name}/{path}", recursive=False, filter=anonymous)
        write_checksum(archive)
        archives.append(archive)
    return archives


def anonymous(member):
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mtime = timestamp()
    return member


def write_checksum(path):
    """A line for `sha256sum -c` beside the file."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")
