"""Jobs under every launcher, on hosts that have the same and different numbers of ranks."""

import functools
import tempfile

from jobs import LAUNCHERS, Job, check_places, is_all_over_rdma
from lib.cases import require
from lib.hosts import Hosts
from lib.slurm import cluster_of

PLACEMENTS = ([1, 1], [2, 2], [1, 3, 2])
SLURM_HOSTS, SLURM_RANKS = 3, 2


def places(site, launcher, counts):
    with Hosts(len(counts)) as hosts:
        check_places(Job(site, hosts, launcher, counts, "where").succeed("where").output, counts)


def works(site, launcher):
    with Hosts(2) as hosts:
        Job(site, hosts, launcher, [2, 2], "around").succeed("around")


def by_other_names(site, launcher, names):
    """Hosts are named by their addresses, of IPv4 or IPv6, or by the name of another interface."""
    with Hosts(2, interfaces=2) as hosts:
        chosen = [host.address() if names == "addresses" else f"{host.name}-{names}" for host in hosts]
        check_places(Job(site, hosts, launcher, [1, 1], "where", names=chosen).succeed("where").output, [1, 1])


def exit_code(site, launcher, how):
    with Hosts(2) as hosts:
        result = Job(site, hosts, launcher, [2, 2], "leave", how, 7).finish()
        require("leaving 3" in result.output, f"the job did not run:\n{result.output}")
        require(result.code == 7 if launcher == "mpiexec" else result.code != 0, f"exit code {result.code}:\n{result.output}")


def slurm(site, kind):
    counts = [SLURM_RANKS] * SLURM_HOSTS
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Hosts(SLURM_HOSTS, share=[folder]) as hosts:
        with cluster_of(hosts, SLURM_RANKS, folder) as cluster:
            cluster.require_plugin(kind)
            for program in ("where", "around"):
                words = [cluster.srun, f"--mpi={kind}", "-N", SLURM_HOSTS, f"--ntasks-per-node={SLURM_RANKS}", site.program(program)]
                result = hosts[0].run(words, cluster.environment, timeout=120).ok(program)
                if program == "where":
                    check_places(result.output, counts)


def cases(site):
    for launcher in LAUNCHERS:
        # The program `where` asks which processes share memory.
        for counts in () if is_all_over_rdma(launcher) else PLACEMENTS:
            if counts == [2, 2] or not site.quick:
                yield f"under {launcher}, ranks {counts}: places", functools.partial(places, site, launcher, counts)
        if not site.quick:
            yield f"under {launcher}: messages", functools.partial(works, site, launcher)
        for how in ("exit", "abort", "quit"):
            if not site.quick and (launcher == "mpiexec" or how == "abort"):
                yield f"under {launcher}: a rank ends by {how}", functools.partial(exit_code, site, launcher, how)
    for names in ("addresses", "6", "eth1", "eth1-6"):
        if not site.quick:
            yield f"hosts named by {names}", functools.partial(by_other_names, site, "mpiexec", names)
    for kind in ("pmi2", "pmix"):
        if not site.quick:
            yield f"under srun --mpi={kind} on {SLURM_HOSTS} hosts", functools.partial(slurm, site, kind)
