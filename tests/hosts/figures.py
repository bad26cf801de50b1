"""What measure.py has measured: round by round, as tables, and as the text of a document."""

import json
import pathlib
import re
import statistics

SIZED = "bcast reduce allreduce gather scatter allgather alltoall reduce-scatter".split()
TABLES = {
    "half": ("half round trip (us)", min),
    "stream": ("stream of 1 MiB (MB/s)", max),
    "messages": ("windows of 64 messages (thousands/s)", max),
    "put": ("put and flush (us)", min),
    "get": ("get and flush (us)", min),
    "fetch": ("fetch_and_op and flush (us)", min),
    "puts": ("64 puts and a flush (thousands/s)", max),
    "threads/tags": ("windows of 64 messages, T threads on one communicator (millions/s)", max),
    "threads/comms": ("the same, a communicator each", max),
    "asleep": ("half round trip where ranks outnumber cores (us)", min),
    "barrier": ("barrier (us)", min),
    "allreduce": ("allreduce (us)", min),
    "bcast": ("bcast (us)", min),
    "collectives/barrier": ("barrier, by ranks (us)", min),
    "collectives/allreduce": ("allreduce of one number, by ranks (us)", min),
    **{f"collective-sizes/{name}": (f"{name} (us)", min) for name in SIZED},
    "memory": ("memory above an empty program's, of the rank that has most, by ranks (MiB)", min),
    "start": ("start and end of an empty program, 2 ranks a host, by hosts (s)", min),
}
# WeftMPI over TCP, and over RDMA.
OURS = ("weft", "rdma")
# What is measured beside the libraries.
FLOORS = ("spin", "block", "ssh")


class Measured:
    """What each round gave: values[name, bytes][column] is a list, one a round; None where it failed."""

    def __init__(self):
        self.values = {}

    def add(self, column, lines):
        for name, size, value in lines:
            self.values.setdefault((name, int(size)), {}).setdefault(column, []).append(value)

    def median(self, key, column):
        found = [value for value in self.values[key].get(column, []) if value is not None]
        return statistics.median(found) if found else None

    def ratio(self, key, column, others, best):
        """The median over rounds of the column beside the best of the others in the same round."""
        ratios = []
        for number, mine in enumerate(self.values[key].get(column, [])):
            beside = [self.values[key][other][number] for other in others if number < len(self.values[key].get(other, []))]
            beside = [value for value in beside if value is not None]
            if mine is not None and beside:
                ratios.append(mine / best(beside))
        return statistics.median(ratios) if ratios else None


def numbers(output):
    """The lines NAME BYTES VALUE of probes, and of the benchmarks' lines in JSON the medians, as BENCHMARK/SERIES."""
    found = []
    for line in output.splitlines():
        words = line.split()
        if len(words) == 3 and words[1].isdigit():
            found.append((words[0], int(words[1]), float(words[2])))
        elif line.startswith('{"bench":') and '"series":' in line:
            point = json.loads(line)
            found.append((f"{point['bench']}/{point['series']}", point["x"], point["median"]))
    return [(name, size, value) for name, size, value in found if name in TABLES or name == "empty"]


def three_digits(value):
    return "-" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def table(measured, libraries, name):
    """The lines of a table; none if nothing was measured of it."""
    title, best = TABLES[name]
    keys = sorted(key for key in measured.values if key[0] == name)
    if not keys:
        return []
    floors = [column for column in FLOORS if any(column in measured.values[key] for key in keys)]
    peers = [library for library in libraries if library not in OURS]
    beside = [("weft", what) for what in (*(["best"] if peers else []), *floors)] if "weft" in libraries else []
    beside += [("rdma", "weft")] if all(one in libraries for one in OURS) else []
    rows = [["bytes", *floors, *libraries, *("/".join(pair) for pair in beside)]]
    for key in keys:
        ratios = [measured.ratio(key, one, peers if other == "best" else [other], best) for one, other in beside]
        values = [measured.median(key, column) for column in (*floors, *libraries)]
        rows.append([str(key[1]), *(three_digits(value) for value in values), *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(word.ljust(width) if column == 0 else word.rjust(width) for column, (word, width) in enumerate(zip(row, widths))) for row in rows]
    return [title, *(f"  {line}" for line in lines)]


def text_of(measured, libraries, names):
    """The tables of some names."""
    tables = [table(measured, libraries, name) for name in names]
    return "\n\n".join("\n".join(lines) for lines in tables if lines)


def summary(measured, libraries, names):
    """One table of some names, a row each: by size our median, and in brackets its ratio to the best of the peers."""
    peers = [library for library in libraries if library not in OURS]
    keys = [key for name in names for key in sorted(measured.values) if key[0] == name]
    sizes = sorted({size for _, size in keys})

    def cell(name, size):
        if (name, size) not in measured.values:
            return ""
        ratio = measured.ratio((name, size), "weft", peers, TABLES[name][1])
        beside = "" if ratio is None else f" ({ratio:.2f})"
        return three_digits(measured.median((name, size), "weft")) + beside

    found = [name for name in names if any(key[0] == name for key in keys)]
    rows = [["", *map(str, sizes)], ["---"] * (len(sizes) + 1)]
    rows += [[TABLES[name][0], *(cell(name, size) for size in sizes)] for name in found]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) if found else ""


def fill(document, sections):
    """Puts into a document what was measured: {heading: (how it came about, table)}. A section's first line says the former, its first
    table is the latter; what else a section says stays. One that is not there comes behind the others."""
    document = pathlib.Path(document)
    text = document.read_text()
    for heading, (said, table) in sections.items():
        # Not `re.sub` with a text of ours, in which a backslash would mean something.
        section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
        if not section:
            text = f"{text.rstrip()}\n\n## {heading}\n{said}\n\n{table}\n"
            continue
        body = re.sub(r"\ACommit .*\n", "", section[1])
        has_table = re.search(r"^\|", body, re.M)
        body = re.sub(r"(^\|.*\n)+", lambda _: f"{table}\n", body, count=1, flags=re.M) if has_table else f"\n{table}\n{body}"
        text = f"{text[:section.start(1)]}{said}\n{body}{text[section.end(1):]}"
    document.write_text(text)
