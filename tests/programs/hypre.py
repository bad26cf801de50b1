"""hypre's solvers: its own regression tests beside the results saved with them, and solves that no number of ranks changes."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "hypre"
# Of its regression tests; they run its drivers on 1 to 8 ranks, whatever --ranks says.
SUITES = ["TEST_struct/solvers", "TEST_struct/smg*", "TEST_struct/pfmg*", "TEST_ij/default", "TEST_ij/matrix", "TEST_ij/solvers"]
# How far a printed result may be from the saved one, which is of another compiler and BLAS.
TOLERANCE = "1e-6"
# Conjugate gradients with the diagonal as preconditioner, as each of its drivers calls them.
SOLVERS = {"ij": "2", "struct": "18"}
# Planes of the grid for each rank: few enough for the 100 iterations that struct stops after, up to 8 ranks.
PLANES = 6
ITERATIONS = re.compile(r"Iterations\s*=\s*(\d+)")
NORM = re.compile(r"Final Relative Residual Norm\s*=\s*(\S+)")


def build(workshop):
    source, version = workshop.debian_source("hypre")
    source = source / "src"
    options = ["--disable-fortran", f"CC={workshop.mpicc}", f"CXX={workshop.mpicxx}", "CFLAGS=-O1", "CXXFLAGS=-O1"]
    workshop.command(["./configure", *options], source, "hypre.log")
    workshop.make(source, "hypre.log")
    workshop.make(source / "test", "hypre.log", "ij", "struct")
    return source, version


def run(workshop, source, ranks):
    """Conjugate gradients: how many iterations they need is a matter of the matrix, not of who holds it."""
    texts = []
    for driver in SOLVERS:
        alone, _ = solve(workshop, source, driver, 1, PLANES * ranks)
        shared, residual = solve(workshop, source, driver, ranks, PLANES)
        if alone != shared:
            raise Failed(f"{driver}: {alone} iterations on 1 rank, {shared} on {ranks}")
        texts.append(f"{driver}: {shared} iterations, as on 1 rank, residual {residual}")
    return "; ".join(texts)


def solve(workshop, source, driver, ranks, planes):
    """Iterations and residual for a grid of so many planes a rank, cut along them."""
    # ij's grid is the whole one, struct's that of a rank.
    length = planes * ranks if driver == "ij" else planes
    words = ["-solver", SOLVERS[driver], "-n", length, 24, 24, "-P", ranks, 1, 1, "-tol", "1e-8"]
    output = workshop.launch(ranks, [source / "test" / driver, *words], source / "test")
    iterations, norm = ITERATIONS.findall(output), NORM.findall(output)
    if not iterations or not norm or not float(norm[-1]) < 1e-8:
        raise Failed(f"{driver} did not converge:\n{end_of(output)}")
    return int(iterations[-1]), norm[-1]


def suite(workshop, source):
    test = source / "test"
    names = sorted(path.relative_to(test) for suite in SUITES for path in test.glob(f"{suite}.sh"))
    launcher = " ".join([*workshop.launcher(), "-np"])
    command = ["bash", "./runtest.sh", "-rtol", TOLERANCE, "-mpi", launcher, *map(str, names)]
    done = workshop.attempt(command, test)
    wrong = [name for name in names if (test / name).with_suffix(".err").read_text(errors="replace")]
    if done.code != 0 or wrong or not names:
        shown = [f"{name}: {end_of((test / name).with_suffix('.err').read_text(errors='replace'), 6)}" for name in wrong]
        raise Failed(f"runtest.sh: exit code {done.code}\n" + "\n".join(shown) + end_of(done.output))
    runs = sum(len(re.findall(r"^\s*mpirun", (test / name).with_suffix(".jobs").read_text(), re.M)) for name in names)
    return f"{len(names)} of its regression tests, {runs} runs, as saved to {TOLERANCE}"
