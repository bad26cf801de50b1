"""What the library under test can do, by what it says of itself."""

import os

# What a library holds that makes no windows between hosts.
WINDOWS_ON_ONE_HOST = b"makes windows within one host only"

# Of the stress program: all kinds of requests but accesses to windows.
WITHOUT_WINDOWS = "message exchange cancelled wild collective neighbour intercommunicator duplicate partitioned generalized".split()


def makes_windows_between_hosts(prefix):
    return WINDOWS_ON_ONE_HOST not in (prefix / "lib/libmpi_abi.so.1").read_bytes()


def is_spread():
    """Whether the ranks of each job are on several hosts (tests/hosts/spread.py)."""
    return "HYDRA_HOST_FILE" in os.environ
