"""StarPU's library over MPI, tasks whose data go between ranks by threads of its own: its own tests on 4 ranks, and its Cholesky."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "starpu"
OPTIONS = "--without-hwloc --enable-mpi-check --enable-quick-check --enable-maxcpus=4 --enable-blas-lib=openblas --disable-shared".split()
OPTIONS += "--disable-starpufft --disable-build-doc --disable-opencl --disable-cuda --disable-openmp --disable-fortran".split()
# Unoptimised: compiling is most of the time here, and nothing is measured. It would ask pkg-config for the libraries.
OPTIONS += ["CFLAGS=-O0", "OPENBLAS_LIBS=-lopenblas", "OPENBLAS_CFLAGS=-O0", "BLAS_OPENBLAS_LIBS=-lopenblas", "BLAS_OPENBLAS_CFLAGS=-O0"]
# Its workers look for tasks without a pause, and more ranks than cores is the rule here.
WORKERS = 2
CHOLESKY = "mpi/examples/matrix_decomposition/mpi_cholesky"
# It begins StarPU over MPI anew while another rank may still end the time before, which then finds a message that is not its own.
WRONG_ON_HOSTS = {"mpi_earlyrecv2_sync"}
COUNT = re.compile(r"^# (TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR): +(\d+)", re.M)


def build(workshop):
    source, version = workshop.debian_source("starpu")
    arguments = " ".join(workshop.launcher()[1:])
    compilers = ["CC=gcc", f"--with-mpicc={workshop.mpicc}", f"--with-mpiexec={workshop.mpiexec}", f"--with-mpiexec-args={arguments}"]
    workshop.command(["./configure", *compilers, *OPTIONS], source, "starpu.log")
    for folder in ("src", "mpi/src"):
        workshop.make(source / folder, "starpu.log")
    workshop.make(source / "mpi/examples", "starpu.log", CHOLESKY.removeprefix("mpi/examples/"), "STARPU_BLAS_LDFLAGS=-lopenblas")
    workshop.make(source / "mpi/tests", "starpu.log", "check", "TESTS=")
    return source, version


def environment(source):
    """For its processes; what it learns of its kernels stays in its folder."""
    return ["env", f"STARPU_NCPU={WORKERS}", "STARPU_WORKERS_NOBIND=1", f"STARPU_HOME={source}"]


def run(workshop, source, ranks):
    """A matrix decomposed, the product of its factors compared with it by the program itself, which fails where they differ."""
    matrix = ["-size", "960", "-nblocks", "12", "-check"]
    done = workshop.attempt([*environment(source), *workshop.launcher(), "-n", str(ranks), str(source / CHOLESKY), *matrix], source)
    if done.code != 0 or "Synthetic GFlops" not in done.output:
        raise Failed(f"mpi_cholesky: exit code {done.code}\n{end_of(done.output)}")
    return "mpi_cholesky, a matrix of 960 by 960 in 144 blocks, its factors multiplied again"


def suite(workshop, source):
    done = workshop.attempt([*environment(source), "make", "-k", "check"], source / "mpi/tests")
    counts = {name: int(number) for name, number in COUNT.findall(done.output)}
    wrong = set(re.findall(r"^(?:FAIL|XPASS|ERROR): (\S+)$", done.output, re.M))
    are_expected = workshop.has_several_hosts and bool(wrong) and wrong <= WRONG_ON_HOSTS
    if (done.code != 0 and not are_expected) or not counts.get("PASS"):
        raise Failed(f"make check: exit code {done.code}, {counts}\n{end_of(done.output)}")
    return f"make check on 4 ranks: {counts['PASS']} of its {counts['TOTAL']} tests passed, {counts['XFAIL']} failed as they have to" + (f"; not {', '.join(wrong)}" if wrong else "")
