"""Reads what callgrind wrote with --dump-instr=yes and --dump-after=FUNCTION, and which instructions of a library lock."""

import re

from lib.processes import output_of

# Instructions that lock the bus: the prefix, and xchg with memory, which locks without one.
LOCKING = re.compile(r"^\s*([0-9a-f]+):.*\t(?:lock |xchg .*\()", re.M)
# Of callgrind's format: who ended, an object's number and name, and how lines of costs begin.
TRIGGER = re.compile(r"^desc: Trigger: --dump-after=(\w+)$", re.M)
OBJECT = re.compile(r"c?ob=\((\d+)\)(?: (.*))?$")
COST = set("0123456789+-*")


def locking_instructions(library):
    """The addresses, in the file, of the library's locked instructions."""
    text = output_of(["objdump", "-d", "--no-show-raw-insn", library])
    return {int(address, 16) for address in LOCKING.findall(text)}


class Profile:
    """Totals of what a process did in a function, and how often each instruction of each object ran.

    A cost line is `ADDRESS LINE COST`; ADDRESS is that in the object's file and may be relative to the line before (`+4`,
    `*`). `ob=(1) PATH` names the object of what follows, `ob=(1)` names it again. A line after `calls=` holds the callee's
    inclusive cost, which is no instruction of its own."""

    def __init__(self):
        self.instructions, self.executed = 0, {}

    def add(self, lines):
        """What one more file holds."""
        paths, address, inclusive, current = {}, 0, False, {}
        for line in lines:
            if line.startswith("totals: "):
                self.instructions += int(line.split()[1])
            elif named := OBJECT.match(line):
                number, name = named.groups()
                if name:
                    paths[number] = name
                if line.startswith("ob="):
                    current = self.executed.setdefault(paths[number], {})
            elif line.startswith("calls="):
                inclusive = True
            elif line[:1] in COST:
                words = line.split()
                address = self.absolute(words[0], address)
                if not inclusive:
                    current[address] = current.get(address, 0) + int(words[2])
                inclusive = False

    @staticmethod
    def absolute(word, before):
        if word == "*":
            return before
        return before + int(word) if word[0] in "+-" else int(word, 16)

    def locked(self, library, addresses):
        """How often instructions at these addresses of the library ran."""
        return sum(count for address, count in self.executed.get(library, {}).items() if address in addresses)


def profiles(paths):
    """Those of a process by function, from the files that it left at the end of each call."""
    functions = {}
    for path in paths:
        text = path.read_text()
        if ended := TRIGGER.search(text):
            functions.setdefault(ended[1], Profile()).add(text.splitlines())
    return functions
