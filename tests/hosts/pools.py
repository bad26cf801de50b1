"""What receive pools take of each host in a job over RDMA, on the device in software: as `weft plan job` says, and as X-SRQ's formulas."""

import functools
import itertools

from jobs import listed
from lib.cases import Skip, require
from lib.compiler import compile_program
from lib.hosts import Hosts
from lib.processes import run
from lib.receive_pools import SOURCE, counts, planned

JOB_SECONDS = 120
SIZES = (256, 1024, 2048, 4096, 6144, 8192, 12288, 16512)


def pools_of(kind, count):
    """So many pools of one type; the largest holds every frame."""
    return ":".join(f"{kind},{bytes},32" for bytes in (*SIZES[: count - 1], SIZES[-1]))


def taken(site, hosts, pools, count, ranks_a_host):
    """Of each of the first `count` hosts what its ranks have together, once all have talked to all of other hosts."""
    program = compile_program(site.prefix / "bin/mpicc", [SOURCE], site.build / "receive_pools")
    mpiexec = [site.prefix / "bin/mpiexec", "--transport", "rdma", "--receive-pools", pools]
    where = ["-hosts", listed([ranks_a_host] * count), "-n", count * ranks_a_host]
    job = [site.prefix / "bin/weft", "softrdma", "run", "--", *mpiexec, *where, program, "true", 0, ranks_a_host]
    result = hosts[0].run(["env", "SOFTRDMA_LINK_LAYER=ethernet", *job], timeout=JOB_SECONDS)
    require(result.code == 0 and "ok receive_pools" in result.output, f"exit code {result.code}:\n{result.output}")
    of_ranks = counts(result.output, count * ranks_a_host)
    nodes = [of_ranks[first : first + ranks_a_host] for first in range(0, len(of_ranks), ranks_a_host)]
    return [{name: sum(rank[name] for rank in node) for name in node[0]} for node in nodes]


def as_planned(site, hosts, kind, pool_count, count, ranks_a_host):
    """Queue pairs and bytes of each host. The queue pairs."""
    pools = pools_of(kind, pool_count)
    node = planned(lambda command: run(command, JOB_SECONDS), site.prefix / "bin/weft", pools, count, ranks_a_host)
    expected = {
        "queue_pairs": node["connected_queue_pairs"],
        "xrc_send_queue_pairs": node["xrc_send_queue_pairs"],
        # The adapter has one for each sender, to which all ranks of the host refer.
        "xrc_receive_queue_pairs": node["xrc_receive_queue_pairs"] * ranks_a_host,
        "shared_receive_queues": node["shared_receive_queues"],
        "receive_buffers": node["buffers"],
        "receive_bytes": node["buffer_bytes"],
    }
    for number, seen in enumerate(taken(site, hosts, pools, count, ranks_a_host)):
        found = {name: seen[name] for name in expected}
        require(found == expected, f"host {number} with {pools} and {ranks_a_host} ranks has {found}, planned {expected}")
    queue_pairs = node["connected_queue_pairs"] + node["xrc_send_queue_pairs"] + node["xrc_receive_queue_pairs"]
    connected = ranks_a_host**2 * pool_count * (count - 1)
    formula = {"S": connected, "P": connected, "X": 2 * ranks_a_host * (count - 1)}[kind]
    require(queue_pairs == formula, f"{queue_pairs} queue pairs, by X-SRQ's formula {formula}")
    return queue_pairs, node["buffer_bytes"]


def pools_of_hosts(site, count, ranks_a_host, pool_counts):
    if site.library != "weft":
        raise Skip("receive pools are ours alone")
    with Hosts(count) as hosts:
        for kind, pool_count in itertools.product("SXP", pool_counts):
            as_planned(site, hosts, kind, pool_count, count, ranks_a_host)
        hosts.check_clean()


def cases(site):
    shapes = [(3, 2, (2,))] if site.quick else [(3, 2, (2,)), (4, 4, (1, 2, 4, 8)), (4, 8, (1, 8))]
    for count, ranks_a_host, pool_counts in shapes:
        what = f"pools: over RDMA {count} hosts of {ranks_a_host} ranks take the queue pairs and bytes that were planned"
        yield what, functools.partial(pools_of_hosts, site, count, ranks_a_host, pool_counts)
