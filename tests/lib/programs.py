"""The programs of tests/conformance, tests/errors and tests/fortran: what each is called, where it runs, and how it has to end."""

import re

from lib.commands import REPOSITORY

ROOT = REPOSITORY / "tests"
FORTRAN = ROOT / "fortran"
INCLUDES = [word for folder in ("conformance", "errors") for word in ("-I", ROOT / folder)]


class Program:
    def __init__(self, source):
        self.source = source
        self.name = str(source.relative_to(ROOT).with_suffix(""))
        self.chapter = source.parent.name
        head = "".join(source.read_text().splitlines(keepends=True)[:12])
        only = re.search(r"\branks: ([0-9,]+)", head)
        self.only_ranks = {int(n) for n in only.group(1).split(",")} if only else None
        ending = re.search(r"\bexit: (nonzero|[0-9]+)", head)
        self.ending = ending.group(1) if ending else None

    def runs_at(self, ranks):
        return self.only_ranks is None or ranks in self.only_ranks

    def binary(self, build):
        return build / self.name.replace("/", "-")

    def fortran_sources(self):
        """What it is compiled of: in free form, with the module that all share."""
        shared = [FORTRAN / "check.f90"] if self.source.suffix == ".f90" else []
        return [*shared, self.source]

    def verdict(self, code, output):
        """None when the job did what it should, else what was wrong."""
        said_ok = len(re.findall(rf"^ok {re.escape(self.source.stem)}\b", output, re.M))
        if self.ending is None:
            if code != 0:
                return f"exit code {code}"
            return None if said_ok == 1 else f"said `ok {self.source.stem}` {said_ok} times"
        if not re.search(rf"^started {re.escape(self.source.stem)}$", output, re.M):
            return "did not start"
        if code == 0 or self.ending not in ("nonzero", str(code)):
            return f"exit code {code}, expected {self.ending}"
        return "went on after a fatal error" if said_ok else None


def all_programs():
    """Those in C."""
    return [Program(source) for source in sorted([*ROOT.glob("conformance/*/*.c"), *ROOT.glob("errors/*.c")])]


def fortran_programs():
    sources = [*FORTRAN.glob("*.f"), *FORTRAN.glob("*.f90")]
    return [Program(source) for source in sorted(sources) if source.stem != "check"]
