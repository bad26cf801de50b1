"""Reads what callgrind wrote with --dump-instr=yes, and which instructions of a library lock."""

import re
import subprocess

# Instructions that lock the bus: the prefix, and xchg with memory, which locks without one.
LOCKING = re.compile(r"^\s*([0-9a-f]+):.*\t(?:lock |xchg .*\()", re.M)


def locking_instructions(library):
    """The addresses, in the file, of the library's locked instructions."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(library)], capture_output=True, text=True, check=True)
    return {int(address, 16) for address in LOCKING.findall(text.stdout)}


class Profile:
    """Totals of one process, and how often each instruction ran.

    A cost line is `ADDRESS LINE COST...`; ADDRESS may be relative to the line before (`+4`, `*`). A line after `calls=` holds
    the callee's inclusive cost, which is no instruction of its own."""

    def __init__(self, path):
        self.events, self.totals, self.executed = [], {}, {}
        address, inclusive = 0, False
        for line in path.read_text().splitlines():
            if line.startswith("events: "):
                self.events = line.split()[1:]
            elif line.startswith(("totals: ", "summary: ")):
                self.totals = dict(zip(self.events, map(int, line.split()[1:])))
            elif line.startswith("calls="):
                inclusive = True
            elif line[:1] in "0123456789+-*" and " " in line:
                words = line.split()
                address = self.absolute(words[0], address)
                if not inclusive and len(words) > 2:
                    self.executed[address] = self.executed.get(address, 0) + int(words[2])
                inclusive = False

    @staticmethod
    def absolute(word, before):
        if word == "*":
            return before
        if word[0] in "+-":
            return before + int(word, 0)
        return int(word, 16) if word.startswith("0x") else int(word, 0)

    def instructions(self):
        return self.totals.get("Ir", 0)

    def locked(self, base, addresses):
        return sum(count for address, count in self.executed.items() if address - base in addresses)
