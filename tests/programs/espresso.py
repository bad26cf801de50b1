"""Quantum ESPRESSO's pw.x, electrons in solids, in Fortran: silicon, whose energy on any number of ranks is the one saved with its tests."""

import re
import shutil

from lib.cases import end_of
from workshop import Failed

NAME = "espresso"
# Without ScaLAPACK; the transforms are its own.
OPTIONS = ["--enable-parallel", "--disable-openmp", "--with-scalapack=no", "BLAS_LIBS=-lopenblas", "LAPACK_LIBS=-lopenblas", "FFT_LIBS="]
OPTIONS += ["F90=gfortran", "CC=gcc", "FFLAGS=-O1 -w", "CFLAGS=-O1 -w"]
TESTS = "test-suite/pw_scf"
# Of its tests of one self-consistent calculation: by two ways of diagonalisation, with symmetries found from a grid of points, at the
# zone's centre with half of the wave's coefficients.
INPUTS = ["scf.in", "scf-cg.in", "scf-kauto.in", "scf-gamma.in"]
# The pseudopotential that those tests fetch is in the archive under another name.
POTENTIAL = ("Si.pz-vbc.UPF", "PHonon/FD/example/Si_example/Si.vbc.UPF")
# Rydbergs; its outputs have eight digits behind the point, of an iteration that ends below a millionth.
TOLERANCE = 1e-5
ENERGY = re.compile(r"^! +total energy += +(\S+) Ry", re.M)


def build(workshop):
    source, version = workshop.debian_source("espresso")
    workshop.command(["./configure", f"MPIF90={workshop.mpifort}", *OPTIONS], source, "espresso.log")
    workshop.make(source, "espresso.log", "pw")
    return source, version


def run(workshop, source, ranks):
    worst = max(difference(workshop, source, name, ranks) for name in INPUTS)
    return f"{len(INPUTS)} self-consistent calculations of silicon, energies at most {worst:.0e} Ry from those saved"


def difference(workshop, source, name, ranks):
    """By how much an energy differs from the one in the output that is saved with the test."""
    folder = workshop.folder(f"espresso-run-{ranks}")
    shutil.copy(source / POTENTIAL[1], folder / POTENTIAL[0])
    shutil.copy(source / TESTS / name, folder)
    # Ranks that come in pairs divide the points, too, in two pools.
    pools = "2" if ranks % 2 == 0 and "Gamma" not in (folder / name).read_text() else "1"
    # It writes to where it is told to, and looks for pseudopotentials, by these.
    places = ["env", "ESPRESSO_TMPDIR=.", "ESPRESSO_PSEUDO=."]
    words = [*places, *workshop.launcher(), "-n", str(ranks), str(source / "bin/pw.x"), "-nk", pools, "-in", name]
    done = workshop.attempt(words, folder)
    saved = ENERGY.findall((source / TESTS / f"benchmark.out.git.inp={name}").read_text())
    found = ENERGY.findall(done.output)
    if done.code != 0 or len(found) != 1 or "JOB DONE" not in done.output or not abs(float(found[0]) - float(saved[0])) < TOLERANCE:
        raise Failed(f"{name}: exit code {done.code}, energy {found} where {saved} is saved\n{end_of(done.output)}")
    return abs(float(found[0]) - float(saved[0]))
