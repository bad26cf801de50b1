"""Prices that a user has measured (docs/tuning.md): all ranks of a job choose algorithms by those of rank 0, whatever each finds."""

import os
import pathlib
import re
import tempfile

from lib.cases import require

SAID = re.compile(r"^rank (\d): (.*)$", re.M)
TABLES = pathlib.Path(__file__).resolve().parents[2] / "docs/results/by-algorithm"


def file_of(site):
    """A file for this machine by which nothing goes by memory that ranks share, as it would without."""
    shown = site.run([site.weft, "tune", "--dry-run", "--from", TABLES / "2-cores-4-ranks.txt"])
    require(shown.code == 0, shown.output)
    text = shown.output[shown.output.index("weft prices 1\n") : shown.output.index("\nend\n") + 5]
    text = re.sub(r"^(step|step_turn|post|look) = .*$", r"\1 = 1000000", text, flags=re.M)
    shared = text.index("[shared_cores]")
    others = "".join(text[shared : text.index("\nend\n") + 1].replace("shared_cores", name) for name in ("far", "near"))
    return text[:shared] + others + "\n" + text[shared:]


def job(site, folders, *options):
    """Two ranks with a cache folder each."""
    first, second = (["-n", 1, "-env", "XDG_CACHE_HOME", folder, site.program("prices")] for folder in folders)
    result = site.run([site.mpiexec, *options, *first, ":", *second])
    result.ok("prices")
    said = dict(SAID.findall(result.output))
    require(sorted(said) == ["0", "1"], result.output)
    return said, result.output


def agreement(site):
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        mine, none = f"{folder}/mine", f"{folder}/none"
        os.makedirs(f"{mine}/weftmpi")
        text = file_of(site)
        fields = dict(line.split(" = ") for line in text.split("\n\n")[0].splitlines()[1:])
        name = f"{fields['processor']}-cpus-{fields['cpus']}-linux-{fields['kernel']}"
        name = re.sub(r"[^A-Za-z0-9.]+", "-", name) + ".prices"
        path = pathlib.Path(mine, "weftmpi", name)
        path.write_text(text)
        for folders, expected in (([mine, none], str(path)), ([none, mine], "built-in")):
            said, output = job(site, folders)
            require(set(said.values()) == {expected}, f"not {expected} alone:\n{output}")
        said, output = job(site, [mine, none], "--prices", "built-in")
        require(set(said.values()) == {"built-in"}, f"not the built-in ones:\n{output}")
        said, output = job(site, [none, none], "--prices", path)
        require(set(said.values()) == {str(path)}, f"not the file that was named:\n{output}")
        told = site.run([site.weft, "info", "--collectives", 2], env={"XDG_CACHE_HOME": mine})
        require(told.output.startswith(f"prices: {path} ("), told.output)


def refusals(site):
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        text = file_of(site)
        pipe = f"{folder}/pipe"
        os.mkfifo(pipe)
        files = {
            "other": (re.sub("^kernel = .*$", "kernel = 2.6", text, flags=re.M), "kernel: it is for `2.6`, and this is `"),
            "cut": (text[: text.rindex("\nlook = ") + 1], ": the file was cut"),
            "spoilt": (text.replace("round = ", "round = x"), ": round: `x"),
        }
        for name, (written, why) in files.items():
            pathlib.Path(folder, name).write_text(written)
        for path, why in [(f"{folder}/{name}", why) for name, (_, why) in files.items()] + [(pipe, ": it is no file")]:
            said, output = job(site, [folder, folder], "--prices", path)
            lines = [line for line in output.splitlines() if path in line]
            require(len(lines) == 1 and lines[0].startswith(f"weft: rank 0: {path}: "), f"not one line:\n{output}")
            require(why in lines[0] and lines[0].endswith("; the built-in prices are used"), f"not why:\n{output}")
            require(set(said.values()) == {"built-in"}, output)


def cases(site):
    yield "prices: ranks with different files choose alike", lambda: agreement(site)
    yield "prices: files that cannot be used are refused in a line", lambda: refusals(site)
