"""What the program receive_pools counts of a job over RDMA, and what `weft plan job` says of such a job."""

import json
import pathlib

from lib.cases import require

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "robustness/programs/receive_pools.c"


def counts(output, ranks):
    """What each rank counts, by name."""
    found = [{} for _ in range(ranks)]
    for line in output.splitlines():
        if line.startswith("count "):
            _, rank, name, value = line.split()
            found[int(rank)][name.removeprefix("weft_rdma_")] = int(value)
    require(all(found), f"not all ranks count:\n{output}")
    return found


def planned(run, weft, pools, hosts, ranks_a_host):
    """What a node takes in a job of so many hosts; `run` runs a command."""
    ranks = hosts * ranks_a_host
    result = run([weft, "plan", "job", "--pools", pools, "--ranks", ranks, "--ppn", ranks_a_host, "--json"])
    require(result.code == 0, result.output)
    rows = json.loads(result.output)["rows"]
    return next(row for row in rows if row["nodes"] == hosts)["node"]
