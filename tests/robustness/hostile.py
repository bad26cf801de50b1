"""A rank that lies to the others, and calls for which there is no memory: errors, and nobody waits for ever."""

import functools
import itertools
import re
import tempfile

from lib.cases import require
from lib.compiler import compile_program, plain_compiler

from jobs import PROGRAMS

# A word that no rank, length or file is, and one that a length may be though no memory is so long.
LIES = ("0x1000000000000000", "0x4000000000")
CALLS = "open set_view listed_view split split_type dist_graph intercomm intercomm_split window partitioned".split()
# What `scarce` is told of how memory is short, and the transport.
SCARCE = {
    "each allocation fails once, shm": (1, "shm"),
    "all allocations fail from each on, shm": (0, "shm"),
    "little address space, shm": (-1, "shm"),
    "all allocations fail from each on, tcp": (0, "tcp"),
}
# Jobs for one call, where a lie ends the job; all of them in full.
MOST_JOBS = 2


def preload(site, name):
    """A library to be preloaded."""
    target = site.build / f"{name}.so"
    return compile_program(plain_compiler(), [PROGRAMS / f"{name}.c", "-shared", "-fPIC"], target)


def with_preload(site, ranks, library, program, *arguments, transport, timeout):
    command = [site.mpiexec, "--transport", transport, "-genv", "LD_PRELOAD", library, "-n", ranks, program, *arguments]
    return site.run(command, timeout=timeout)


def lies(site, call, lie, first, folder):
    """A job in which rank 1 lies from word `first` on: the word at which it ended, or none if there are no more."""
    program = site.program("lied_to")
    done = with_preload(site, 3, preload(site, "liar"), program, folder, lie, call, first, transport="tcp", timeout=60)
    ends = [int(word) for word in re.findall(r"^rank \d ended at word (\d+)$", done.output, re.M)]
    if not ends:
        told = re.search(r"^rank 0 has no word (\d+), (\d+) errors$", done.output, re.M)
        require(done.code == 0 and told, f"{call} from word {first}, exit code {done.code}:\n{done.output}")
        require(int(told[1]) > 0, f"{call} told nothing")
        return None
    why = r"^weft: rank \d: rank \d is in a call in which .*; connection ended$"
    require(re.search(why, done.output, re.M), f"{call} from word {first}:\n{done.output}")
    return max(ends)


def liar(site, call, lie):
    """Every word that rank 1 tells in a call is a lie once: the others have an error or a result."""
    first = 0
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        for _ in itertools.count() if site.full else range(MOST_JOBS):
            ended = lies(site, call, lie, first, folder)
            if ended is None:
                return
            first = ended + 1


def scarce(site, count, transport, long_call):
    """Calls for which there is no memory from each of their allocations on; of the long ones, one, and in full all."""
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        words = [count, f"{folder}/file", -1 if site.full else long_call]
        library, program = preload(site, "failing"), site.program("scarce")
        done = with_preload(site, 2, library, program, *words, transport=transport, timeout=120)
    told = re.search(r"^ok scarce, (\d+) failures, (\d+) calls with errors$", done.output, re.M)
    require(done.code == 0 and told, f"exit code {done.code}:\n{done.output}")
    require(int(told[1]) > 100 and int(told[2]) > 5, told[0])


def cases(site):
    for call, lie in itertools.product(CALLS, LIES if site.full else LIES[:1]):
        yield f"a rank that tells {lie} in place of each word of {call}", lambda call=call, lie=lie: liar(site, call, lie)
    for long_call, (name, (count, transport)) in enumerate(SCARCE.items()):
        yield name, functools.partial(scarce, site, count, transport, long_call)
