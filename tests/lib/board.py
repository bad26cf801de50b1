"""The file in which the ranks of a job of robustness/programs/mixed.c say what they do, for those who kill them."""

import os
import re
import struct

# A rank's line: process id, round, operation, class of the error it was told.
STATE = struct.Struct("qqqq")
PLACES = 64


class Board:
    """The file in which each rank says what it is in."""

    def __init__(self, folder, operations):
        self.path = os.path.join(folder, "states")
        self.operations = operations
        with open(self.path, "wb") as file:
            file.write(bytes(STATE.size * PLACES))

    def states(self, ranks):
        with open(self.path, "rb") as file:
            return [STATE.unpack(file.read(STATE.size)) for _ in range(ranks)]

    def pids(self, ranks):
        return [pid for pid, *_ in self.states(ranks)]

    def lines(self, ranks, dead):
        for rank, (pid, number, operation, told) in enumerate(self.states(ranks)):
            what = self.operations[operation] if operation < len(self.operations) else "MPI_Finalize"
            fate = "killed" if rank in dead else f"told, class {told}" if told else "is there"
            yield f"rank {rank} (pid {pid}): {fate}; round {number}, {what}"


def operations_of(program):
    """The names in the program's own table."""
    table = re.search(r"operations\[\]\)\(void\) = \{(.*?)\};", program.read_text(), re.S)
    return re.findall(r"\w+", table[1])
