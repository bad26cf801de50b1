"""PETSc's solvers: its own check, tests of its own beside the outputs saved with them, and solves that no number of ranks changes."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "petsc"
ARCH = "weft"
# C only, no debugging, nothing that is not needed. Unoptimised: compiling is most of the time here, and nothing is measured.
OPTIONS = "--with-cxx=0 --with-fc=0 --with-debugging=0 --with-x=0 --with-ssl=0 --with-hwloc=0".split()
OPTIONS += ["--with-pthread=0", "--with-blaslapack-lib=-lopenblas", "COPTFLAGS=-O0"]
# Of its own tests, each with outputs in its tree and at the numbers of ranks that it asks for, 1 to 8: star forests, which are
# the pattern of its communication, over messages and windows; linear, nonlinear, time-dependent solves.
TESTS = ["vec_is_sf_tutorials-ex1", "vec_is_sf_tests-ex1", "ksp_ksp_tutorials-ex2", "ksp_ksp_tutorials-ex5"]
TESTS += ["snes_tutorials-ex5", "snes_tutorials-ex19", "ts_tutorials-ex3", "ts_tutorials-ex13"]
# Draws, and the residual saved for it is another's also where MPICH runs the same program.
LEFT_OUT = {"ksp_ksp_tutorials-ex5_5", "diff-ksp_ksp_tutorials-ex5_5"}
# On several hosts there is no window whose memory all processes share (MPI-5.0 §12.2.3).
SHARED_WINDOWS = re.compile(r"vec_is_sf_.*_shared")
# Solves whose preconditioner does not depend on who holds what: a five-point Laplacian, and a driven cavity by multigrid.
SOLVES = {
    "ksp/ksp/tutorials/ex2": ("-m 60 -n 50 -ksp_type cg -pc_type jacobi -ksp_rtol 1e-8", r"iterations (\d+)"),
    "snes/tutorials/ex19": ("-da_refine 2 -pc_type mg -mg_levels_pc_type jacobi", r"SNES iterations = (\d+)"),
}


def build(workshop):
    source, version = workshop.debian_source("petsc")
    launcher = " ".join(workshop.launcher())
    compilers = [f"--with-cc={workshop.mpicc}", f"--with-mpiexec={launcher}"]
    workshop.command(["./configure", f"PETSC_ARCH={ARCH}", *compilers, *OPTIONS], source, "petsc.log")
    # Its makefile has a say of its own in how much is compiled at once.
    workshop.command(["make", *place(source), f"MAKE_NP={workshop.jobs}", "MAKE_LOAD=99", "V=0", "all"], source, "petsc.log")
    return source, version


def place(source):
    return [f"PETSC_DIR={source}", f"PETSC_ARCH={ARCH}"]


def run(workshop, source, ranks):
    texts = []
    for example, (options, expression) in SOLVES.items():
        path = source / "src" / example
        # Its check takes programs away again.
        workshop.command(["make", *place(source), path.name], path.parent, "petsc.log")
        alone, shared = (iterations(workshop, source, example, options, expression, number) for number in (1, ranks))
        if alone != shared:
            raise Failed(f"{example}: {alone} iterations on 1 rank, {shared} on {ranks}")
        texts.append(f"{example}: {shared} iterations, as on 1 rank")
    return "; ".join(texts)


def iterations(workshop, source, example, options, expression, ranks):
    path = source / "src" / example
    output = workshop.launch(ranks, [path, *options.split()], path.parent)
    found = re.findall(expression, output)
    if not found:
        raise Failed(f"{example} on {ranks} ranks says no number of iterations:\n{end_of(output)}")
    return found[-1]


def suite(workshop, source):
    """`make check`, then its test harness: a line in the TAP format for each run and for each output beside the saved one."""
    checked = made(workshop, source, ["check"])
    good = checked.count("run successfully with")
    if "Possible error" in checked or "Completed test examples" not in checked or good < 2:
        raise Failed(f"make check: {end_of(checked)}")
    limit = f"TIMEOUT={workshop.timeout}"
    chosen = " ".join(f"{name}_%" for name in TESTS)
    output = made(workshop, source, ["-f", "gmakefile.test", "test", f"gs={chosen}", limit])
    results = re.findall(r"^\s*(not ok|ok) (\S+)(.*)$", output, re.M)
    results = [result for result in results if not left_out(workshop, result[1])]
    wrong = [name for verdict, name, note in results if verdict == "not ok" and "TODO" not in note]
    right = [name for verdict, name, note in results if verdict == "ok" and "SKIP" not in note]
    runs, outputs = sum(not name.startswith("diff-") for name in right), sum(name.startswith("diff-") for name in right)
    if wrong or not outputs:
        raise Failed(f"{len(wrong)} of its tests failed: {', '.join(wrong)}\n{end_of(output)}")
    return f"make check, {good} examples; {runs} of its tests' runs, {outputs} outputs as saved"


def left_out(workshop, name):
    return name in LEFT_OUT or (workshop.has_several_hosts and bool(SHARED_WINDOWS.search(name)))


def made(workshop, source, words):
    """All that a make printed, which ends with an error where a test fails: that is told by its lines."""
    command = ["make", *place(source), *words]
    return workshop.attempt(command, source).output
