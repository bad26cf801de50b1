"""Jobs between hosts over several RDMA adapters, on the device in software: what each carries, and what becomes of a job when one fails.

The devices of a host share its address, so all of them go by one wire; ports go down on request."""

import functools

from lib.cases import Skip, require
from lib.compiler import compile_program
from lib.hosts import Hosts
from lib.rails import SOURCE, carried

JOB_SECONDS = 120
RANKS = 4
POOLS = {"the default": None, "S alone": "S,256,64:S,2k,32:S,16512,16", "P alone": "P,256,64:P,2k,32:P,16512,16"}


def job(site, pools, faults, rounds):
    """What each rank's adapters have carried."""
    if site.library != "weft":
        raise Skip("several adapters are ours alone")
    program = compile_program(site.prefix / "bin/mpicc", [SOURCE], site.build / "rails")
    mpiexec = [site.prefix / "bin/mpiexec", "--transport", "rdma", *(["--receive-pools", pools] if pools else [])]
    device = ["--devices", 2, *(["--faults", faults] if faults else [])]
    command = [site.prefix / "bin/weft", "softrdma", "run", *device, "--", *mpiexec, "-hosts", "host0:2,host1:2", "-n", RANKS, program, rounds]
    variables = ["SOFTRDMA_LINK_LAYER=ethernet", "WEFT_NETWORK_TIMEOUT=8"]
    with Hosts(2) as hosts:
        result = hosts[0].run(["env", *variables, *command], timeout=JOB_SECONDS)
        require(result.code == 0 and "ok rails" in result.output, f"exit code {result.code}:\n{result.output}")
        hosts.check_clean()
    return carried(result.output, RANKS)


def both_carry(site, pools):
    for rank, values in enumerate(job(site, pools, None, 10)):
        read = [values[f"softrdma{device}_1_read_bytes"] for device in (0, 1)]
        require(values["failovers"] == 0 and min(read) * 10 > sum(read), f"rank {rank} used not both adapters: {values}")


def one_goes_down(site, pools):
    """With its post of that number the port of one of two adapters goes down, at each rank: all arrive."""
    for rank, values in enumerate(job(site, pools, "down=1:250", 40)):
        require(values["failovers"] > 0, f"rank {rank} has not changed from the one that is down: {values}")


def cases(site):
    if site.quick:
        return
    for name, pools in POOLS.items():
        yield f"rails: two adapters between hosts carry, {name}", functools.partial(both_carry, site, pools)
        yield f"rails: one of two adapters between hosts goes down, {name}", functools.partial(one_goes_down, site, pools)
