"""Processes that compute for longer than hosts may be silent, on a wire where a handshake takes longer than a call: nobody is lost."""

import functools

from jobs import Job
from lib.hosts import Hosts

# The shortest computation is longer than any time after which an end that says nothing could be taken for nobody, 5 s.
QUICK_SECONDS, QUICK_LIMIT = 6, 2
SECONDS, LIMIT = 60, 8
DELAYS_US = (50, 2000, 5000)
# The device in software has room for 255 processes.
MANY, MANY_OVER_RDMA = 300, 240
LAUNCHERS = ("mpiexec", "mpiexec over RDMA, pools S", "mpiexec over RDMA, pools X")


def computes(site, launcher, counts, seconds, limit, delay_us, *more):
    with Hosts(len(counts), families=(4,), delay_us=delay_us) as hosts:
        job = Job(site, hosts, launcher, counts, "computes", seconds, *more, env={"WEFT_NETWORK_TIMEOUT": str(limit)})
        job.succeed("computes", 4 * seconds + 300)


def cases(site):
    if site.quick:
        yield "computing for 6 s, 2 ms", functools.partial(computes, site, site.usual, [1, 1], QUICK_SECONDS, QUICK_LIMIT, 2000, "first")
        return
    for launcher in LAUNCHERS:
        for delay_us in DELAYS_US:
            name = f"computing for {SECONDS} s, {delay_us} us, {launcher}"
            yield name, functools.partial(computes, site, launcher, [1, 1], SECONDS, LIMIT, delay_us)
        many = MANY_OVER_RDMA if "RDMA" in launcher else MANY
        name = f"computing, {many} ranks that begin at once, {launcher}"
        yield name, functools.partial(computes, site, launcher, [1, many - 1], SECONDS, LIMIT, 2000, "many")
