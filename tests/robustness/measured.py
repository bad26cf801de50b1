"""`weft bench patterns` on the library under test: every operation moves what it should, and what it prints becomes a page."""

import json
import pathlib
import tempfile
import xml.dom.minidom

from lib.cases import require
from lib.compiler import compile_program
from lib.processes import run

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
# Nothing, an odd share for each rank, one packet, several, and none of the sizes of a cache line.
SIZES = [0, 4, 100, 4096, 40000, 600000]
SIZED, SIZELESS = 18, 1
WAYS = ([], ["--offset", "4"], ["--off-cache", "2M"], ["--first-use"])
# An operation for each of the calls that programs/falsified.c changes.
FALSIFIED = ("PingPing", "Bcast", "Reduce_scatter", "Alltoallv")


def points(output):
    lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"bench":"patterns"')]
    return [line for line in lines if "series" in line]


def every_operation(site, ranks, way):
    program = compile_program(site.mpicc, [BENCH / "patterns.c"], site.build / "patterns")
    sizes = ",".join(map(str, SIZES))
    command = [site.mpiexec, "-n", ranks, program, "--sizes", sizes, "--seconds", "0.002", *way]
    result = run(command, timeout=120)
    require(result.code == 0, f"exit code {result.code}:\n{result.output}")
    found = points(result.output)
    require(len(found) == SIZED * len(SIZES) + SIZELESS, f"{len(found)} points:\n{result.output}")
    require(all(point["median"] > 0 for point in found), f"an operation that takes no time:\n{result.output}")
    if "--first-use" in way:
        require(all(point["batches"] == 1 for point in found), f"not one call a point:\n{result.output}")


def wrong_data(site):
    sources = [BENCH / "patterns.c", pathlib.Path(__file__).resolve().parent / "programs/falsified.c"]
    program = compile_program(site.mpicc, sources, site.build / "patterns-falsified")
    for operation in FALSIFIED:
        result = site.mpirun(3, program, "--sizes", "64", "--operations", operation.lower())
        told = f"{operation}: wrong data at 64 bytes"
        require(result.code != 0 and told in result.output, f"{operation}: not seen:\n{result.output}")


def page(site):
    weft = site.mpiexec.parent / "weft"
    words = ["--operations", "PingPong,Barrier", "--sizes", "0,64", "--rounds", "2", "--json"]
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        measured, html = pathlib.Path(folder, "patterns.json"), pathlib.Path(folder, "page.html")
        result = site.run(["sh", "-c", '"$0" bench patterns "$@" >' + f"'{measured}'", weft, *words])
        require(result.code == 0, f"weft bench: exit code {result.code}:\n{result.output}")
        found = json.loads(measured.read_text())["benchmarks"][0]["points"]
        require([(p["series"], p["x"], len(p["rounds"])) for p in found] == [("Barrier", 0, 2), ("PingPong", 0, 2), ("PingPong", 64, 2)], found)
        result = site.run([weft, "report", "--output", html, measured])
        require(result.code == 0, f"weft report: exit code {result.code}:\n{result.output}")
        pictures = xml.dom.minidom.parse(str(html)).getElementsByTagName("svg")
        require(len(pictures) == 2, f"{len(pictures)} plots")


def cases(site):
    for ranks, way in [*((2, way) for way in WAYS), (3, []), (5, [])]:
        name = " ".join(["patterns on", str(ranks), "ranks", *way])
        yield f"measured: {name}", lambda ranks=ranks, way=way: every_operation(site, ranks, way)
    yield "measured: wrong data is seen", lambda: wrong_data(site)
    yield "measured: a page of it", lambda: page(site)
