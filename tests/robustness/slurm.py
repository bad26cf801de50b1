"""Slurm's srun, in a cluster of one node."""

from lib.cases import require
from lib.slurm import cluster_of_this_machine

RANKS = 4


def world(site, kind):
    program = site.program("exchange")
    with cluster_of_this_machine(RANKS) as cluster:
        cluster.require_plugin(kind)
        result = site.run([cluster.srun, f"--mpi={kind}", "-n", RANKS, program], cluster.environment).ok("exchange")
        require(f"ranks={RANKS}" in result.output, f"not one job of {RANKS} ranks:\n{result.output}")


def cases(site):
    for kind in ("pmi2", "pmix"):
        yield f"under Slurm's srun --mpi={kind}", lambda kind=kind: world(site, kind)
