"""Other people's sources as Debian keeps them: the authors' archive of a package, without Debian's changes."""

import pathlib
import shutil

from lib.cases import end_of
from lib.processes import run

APT = pathlib.Path("/etc/apt")
FETCH_SECONDS = 1800


class Unavailable(Exception):
    """A source that could not be had; the text says why."""


def fetch(package, folder):
    """The package's archive in `folder`, fetched unless it is there, and its version."""
    found = sorted(folder.glob(f"{package}_*.orig.tar.*"))
    if not found:
        folder.mkdir(parents=True, exist_ok=True)
        apt_get(folder, "source", "--download-only", "--tar-only", "--only-source", package)
        found = sorted(folder.glob(f"{package}_*.orig.tar.*"))
    if not found:
        raise Unavailable(f"apt-get source {package} left no archive in {folder}")
    return found[0], found[0].name.split("_")[1].split(".orig")[0]


def apt_get(folder, *words):
    """Runs apt-get in `folder`, with package lists of its own there."""
    apt = folder / "apt"
    options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={(apt / 'parts').resolve()}"]
    options += ["-o", f"Dir::State::lists={(apt / 'lists').resolve()}", "-o", f"Dir::Cache={(apt / 'cache').resolve()}"]
    # Its own user may not write here.
    options += ["-o", "APT::Sandbox::User=root"]
    if not apt.exists():
        make_lists(apt)
        try:
            apt_get(folder, "update")
        except Unavailable:
            shutil.rmtree(apt)
            raise
    done = run(["apt-get", *options, *words], FETCH_SECONDS, cwd=folder)
    if done.code != 0:
        raise Unavailable(f"apt-get {' '.join(words)} failed; is the network there?\n{end_of(done.output)}")


def make_lists(apt):
    """This machine's own sources, asked for source packages."""
    for folder in ("parts", "lists/partial", "cache"):
        (apt / folder).mkdir(parents=True)
    for path in [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*"))]:
        if path.suffix in (".list", ".sources") and path.exists():
            (apt / "parts" / path.name).write_text(for_sources(path))


def for_sources(path):
    """apt's list of binary packages, in either of its formats, as one of source packages."""
    lines = []
    for line in path.read_text().splitlines():
        words = line.split(maxsplit=1)
        if path.suffix == ".sources":
            lines.append("Types: deb-src" if line.startswith("Types:") else line)
        elif words[:1] == ["deb"]:
            lines.append(f"deb-src {words[1]}")
    return "\n".join(lines) + "\n"
