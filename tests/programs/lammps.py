"""LAMMPS, molecular dynamics: its five benchmark inputs, whose energies on any number of ranks are those on one."""

import re
import shutil

from lib.cases import end_of
from workshop import Failed

NAME = "lammps"
PACKAGES = ["kspace", "molecule", "rigid", "granular", "manybody"]
# A liquid, a metal, grains that flow, and a protein in water with long-range forces by three-dimensional transforms.
INPUTS = ["lj", "eam", "chute", "rhodo"]
# Polymers. Each rank draws its own random forces on them: what they do in so few steps shows in few digits.
DRAWN = "chain"
# Steps of each, of the 100 that its input asks for: then rounding, which depends on who adds what, has not yet grown to anything.
STEPS = 20
TOLERANCE, LOOSE = 1e-6, 1e-2
FLAGS = ["CCFLAGS=-O1 -std=c++11", "LINKFLAGS=-O1 -std=c++11"]
NUMBER = r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?"
SHORT = f"thermo_style custom step temp pe ke etotal press\nthermo {STEPS}\nrun {STEPS}"


def build(workshop):
    source, version = workshop.debian_source("lammps")
    # One after the other: each adds itself to one makefile.
    workshop.command(["make", *(f"yes-{package}" for package in PACKAGES)], source / "src", "lammps.log")
    workshop.make(source / "src", "lammps.log", "mpi", f"CC={workshop.mpicxx}", f"LINK={workshop.mpicxx}", *FLAGS)
    return source, version


def run(workshop, source, ranks):
    worst = max(difference(workshop, source, name, ranks, TOLERANCE) for name in INPUTS)
    drawn = difference(workshop, source, DRAWN, ranks, LOOSE)
    return f"{len(INPUTS) + 1} benchmarks of 32,000 atoms as on 1 rank, but for {worst:.0e} of each number, and {drawn:.0e} under random forces"


def difference(workshop, source, name, ranks, tolerance):
    """By how much of themselves the numbers of the first and the last step differ between one rank and several, at most."""
    alone, shared = (table(workshop, source, name, number) for number in (1, ranks))
    worst = max(abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in zip(alone, shared, strict=True))
    if not worst < tolerance:
        raise Failed(f"in.{name}: on 1 rank {alone}, on {ranks} {shared}")
    return worst


def table(workshop, source, name, ranks):
    """What a benchmark says of its first and its last step."""
    folder = workshop.folder(f"lammps-run-{ranks}")
    shutil.copytree(source / "bench", folder, dirs_exist_ok=True)
    text, shortened = re.subn(r"^run\s.*$", SHORT, (folder / f"in.{name}").read_text(), flags=re.M)
    (folder / "short").write_text(text)
    output = workshop.launch(ranks, [source / "src/lmp_mpi", "-in", "short", "-log", "none"], folder)
    rows = re.findall(rf"^ +(?:0|{STEPS}) +({NUMBER}(?: +{NUMBER}){{4}}) *$", output, re.M)
    if shortened != 1 or len(rows) != 2:
        raise Failed(f"in.{name} on {ranks} ranks: no table of two steps\n{end_of(output)}")
    return [float(number) for row in rows for number in row.split()]
