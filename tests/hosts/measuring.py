"""What measures between hosts: `weft bench collectives --tune`, by which every algorithm of every collective runs there; and what becomes
of measure.py's figures."""

import functools

import figures
from lib.cases import Skip, require
from lib.hosts import Hosts
from tune import command

LAYOUTS = "2x2,3x2"


def tune(site):
    if site.library != "weft":
        raise Skip("only our library measures itself by algorithm")
    with Hosts(3) as hosts:
        words = command(site.prefix, LAYOUTS, hosts.names())
        result = hosts[0].run([*words, "--rounds", 1, "--seconds", 0.001, "--sizes", "8,64K"], timeout=240)
        hosts.check_clean()
    said = result.output
    require(result.code == 0, f"exit code {result.code}:\n{said}")
    for name in ("hierarchical_split", "hierarchical_streams", "hierarchical_ring"):
        require(name in said, f"no figure of {name}:\n{said}")
    require(" direct" not in said and " shared" not in said, f"figures of what cannot run between hosts:\n{said}")
    for layout in ("2 hosts x 2 ranks", "3 hosts x 2 ranks"):
        require(f"bcast on {layout}" in said, f"no table of {layout}:\n{said}")


DOCUMENT = """# Title
Above.

## Half
Commit old, 1 rounds.

| old |
|---|
| 1 |

Below.

## Other
```
kept
```
"""
FILLED = """# Title
Above.

## Half
Commit new, 2 rounds.

|  | 4 |
| --- | --- |
| half round trip (us) | 3 (1.67) |

Below.

## Other
```
kept
```

## New
Commit new, 2 rounds.

|  | 8 |
| --- | --- |
| bcast (us) | - |
"""


def fill(site):
    measured = figures.Measured()
    said = '{"bench":"collective-sizes","series":"bcast","x":8,"unit":"us","best":1,"median":4,"p90":5,"batches":3}'
    for weft, intel in ((2, 1), (4, 3)):
        measured.add("weft", figures.numbers(f"half 4 {weft}\nhalf x y\nok probe"))
        measured.add("intel", figures.numbers(f"half 4 {intel}\n{said}\nnonsense 4 1"))
    text = functools.partial(figures.summary, measured, ["weft", "intel"])
    document = site.build / "document.md"
    document.write_text(DOCUMENT)
    how = "Commit new, 2 rounds."
    for _ in range(2):  # the second time is as the first
        figures.fill(document, {"Half": (how, text(["half", "stream"])), "New": (how, text(["collective-sizes/bcast"]))})
        found = document.read_text()
        require(found == FILLED, f"the document says\n{found}")


def cases(site):
    yield "figures fill a document", functools.partial(fill, site)
    if not site.quick:
        yield "each algorithm is measured", functools.partial(tune, site)
