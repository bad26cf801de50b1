"""The archives: their checksums, and the tree that they unpack to, in a folder that was empty."""

import re
import shutil
import tarfile

import archive
import objects
from lib.cases import require
from lib.processes import output_of, run


def cases(shop):
    yield "tar: unpacked elsewhere, it compiles and runs programs", lambda: unpacked(shop)
    yield "tar: the same tree gives the same bytes, and a checksum that finds a change", lambda: reproducible(shop)
    yield "tar: the symbols unpack beside what they are of", lambda: symbols(shop)
    yield "tar: its name says which C library its objects need", lambda: named(shop)


def extract(path, folder):
    with tarfile.open(path) as packed:
        packed.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top


def unpacked(shop):
    programs, _ = shop.made("tar", archive.make)
    top = extract(programs, shop.folder("empty folder"))
    shop.names(top / "lib")
    shop.compile_and_run(top / "bin", shop.folder("tar-programs"))
    shutil.rmtree(top.parent)


def reproducible(shop):
    second = shop.folder("tar-again")
    again = archive.make(shop.tree(), second)
    for one, other in zip(shop.made("tar", archive.make), again):
        require(one.read_bytes() == other.read_bytes(), f"{one.name} differs from one call to the next")
        output_of(["sha256sum", "-c", f"{one.name}.sha256"], cwd=second)
    with open(again[0], "r+b") as changed:
        changed.seek(1000)
        changed.write(b"x" * 8)
    done = run(["sha256sum", "-c", f"{again[0].name}.sha256"], 60, cwd=second)
    require(done.code != 0, "a changed archive has the right checksum")
    shutil.rmtree(second)


def build_id(path):
    """The line in which readelf tells the build's identity, and which sections there are."""
    lines = objects.readelf("-nSW", path)
    return [line.strip() for line in lines.splitlines() if "Build ID" in line], lines


def kept_symbols(path):
    """The names in the table that only debuggers read, none where there is no such table."""
    rows = objects.readelf("-sW", path).partition("'.symtab'")[2].splitlines()
    return {row.split()[7] for row in rows if re.match(r" *[0-9]+: ", row) and len(row.split()) > 7}


def symbols(shop):
    folder = shop.folder("with symbols")
    for path in shop.made("tar", archive.make):
        top = extract(path, folder)
    for file in shop.tree().objects():
        place = file.relative_to(shop.prefix)
        identity, sections = build_id(top / place)
        apart, debug = build_id(top / place.parent / ".debug" / f"{place.name}.debug")
        # Parallel debuggers look for mpiexec's process table in what runs.
        kept = [name for name in kept_symbols(top / place) if not name.startswith("MPIR_")]
        require(not kept and ".debug_info" not in sections, f"{place} is not stripped: {sorted(kept)[:9]}")
        require(".gnu_debuglink" in sections, f"{place} does not tell where its symbols are")
        require(".symtab" in debug and ".debug_info" in debug, f"{place}'s symbols are not in .debug")
        require(identity == apart, f"{place} and its symbols are of two builds: {identity}, {apart}")
    shutil.rmtree(folder)


def named(shop):
    tree = shop.tree()
    needed = objects.newest_version(tree.objects())
    require(needed >= (2, 17), f"the objects need GLIBC {needed}: readelf was misread")
    for file in tree.objects():
        text = objects.readelf("-VW", file)
        newer = [word for word in text.split() if word.startswith("GLIBC_2.") and tuple(map(int, word[6:].split("."))) > needed]
        require(not newer, f"{file.name} needs {newer}, newer than {needed}")
