"""What libraries and programs need of the system that they run on, as readelf tells it."""

import re
import subprocess

NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.+)\]")
SYMBOL_VERSION = re.compile(r"Name: (\w+?)_([0-9.]+)\b")
ELF = b"\x7fELF"


def is_object(path):
    with open(path, "rb") as file:
        return file.read(len(ELF)) == ELF


def readelf(*words):
    return subprocess.run(["readelf", *map(str, words)], check=True, capture_output=True, text=True).stdout


def needed_libraries(path):
    return set(NEEDED.findall(readelf("-dW", path)))


def newest_version(paths, family="GLIBC"):
    """The newest version of the symbols that any of these objects asks of the C library, as a tuple of numbers."""
    newest = ()
    for path in paths:
        # What an object defines itself stands before what it needs.
        needs = readelf("-VW", path).partition(".gnu.version_r")[2]
        found = [tuple(map(int, version.split("."))) for name, version in SYMBOL_VERSION.findall(needs) if name == family]
        newest = max([newest, *found])
    return newest


def text_of(version):
    return ".".join(map(str, version))
