"""Other people's sources as Debian keeps them: the authors' archive of a package, without Debian's changes."""

import pathlib
import re
import shutil

from lib.cases import end_of
from lib.processes import run

APT = pathlib.Path("/etc/apt")
FETCH_SECONDS = 1800


class Unavailable(Exception):
    """A source that could not be had; the text says why."""


def fetch(package, folder, release=None):
    """The package's archive in `folder`, fetched unless it is there, and its version. Debian's release is this machine's unless one is named."""
    found = sorted(folder.glob(f"{package}_*.orig.tar.*"))
    if not found:
        folder.mkdir(parents=True, exist_ok=True)
        apt_get(folder, release, "source", "--download-only", "--tar-only", "--only-source", package)
        found = sorted(folder.glob(f"{package}_*.orig.tar.*"))
    if not found:
        raise Unavailable(f"apt-get source {package} left no archive in {folder}")
    return found[0], found[0].name.split("_")[1].split(".orig")[0]


def apt_get(folder, release, *words):
    """Runs apt-get in `folder`, with package lists of its own there."""
    apt = folder / (f"apt-{release}" if release else "apt")
    options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={(apt / 'parts').resolve()}"]
    options += ["-o", f"Dir::State::lists={(apt / 'lists').resolve()}", "-o", f"Dir::Cache={(apt / 'cache').resolve()}"]
    # Its own user may not write here.
    options += ["-o", "APT::Sandbox::User=root"]
    if not apt.exists():
        make_lists(apt, release)
        try:
            apt_get(folder, release, "update")
        except Unavailable:
            shutil.rmtree(apt)
            raise
    done = run(["apt-get", *options, *words], FETCH_SECONDS, cwd=folder)
    if done.code != 0:
        raise Unavailable(f"apt-get {' '.join(words)} failed; is the network there?\n{end_of(done.output)}")


def make_lists(apt, release):
    """This machine's own sources, asked for source packages, of that release where one is named."""
    for folder in ("parts", "lists/partial", "cache"):
        (apt / folder).mkdir(parents=True)
    for path in [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*"))]:
        if path.suffix in (".list", ".sources") and path.exists():
            lines = path.read_text().splitlines()
            text = stanzas(lines, release) if path.suffix == ".sources" else entries(lines, release)
            (apt / "parts" / path.name).write_text("\n".join(text) + "\n")


def stanzas(lines, release):
    """apt's list of binary packages, in its format of stanzas, as one of source packages."""
    for line in lines:
        name, _, value = line.partition(":")
        if name == "Types":
            yield "Types: deb-src"
        elif name == "Suites":
            yield " ".join(["Suites:", *(of_release(suite, release) for suite in value.split())])
        else:
            yield line


def entries(lines, release):
    """The same in its format of a line for each."""
    for line in lines:
        entry = re.match(r"deb\s+(\[.*?\]\s+)?(\S+)\s+(\S+)(.*)", line)
        if entry:
            options, place, suite, rest = entry.groups()
            yield f"deb-src {options or ''}{place} {of_release(suite, release)}{rest}"


def of_release(suite, release):
    """A suite (`bookworm-updates`) as it is called in that release."""
    return re.sub(r"^\w+", release, suite) if release else suite
