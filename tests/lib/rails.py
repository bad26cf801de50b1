"""What the program rails says of a job over several RDMA adapters."""

import pathlib
import re

from lib.cases import require

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "robustness/programs/rails.c"


def carried(output, ranks):
    """Of each rank, by variable without its prefix, what adapters have carried."""
    found = [{} for _ in range(ranks)]
    for rank, name, value in re.findall(r"^carried (\d+) weft_rdma_(\S+) (\d+)$", output, re.M):
        found[int(rank)][name] = int(value)
    require(all(found), f"not all ranks tell what adapters carried:\n{output}")
    return found
