"""The lines of a trace, whose form docs/finding-faults.md tells: a program of known messages gives exactly these."""

import os
import re
import tempfile
from pathlib import Path

from lib.cases import require

LINE = re.compile(r"weft: trace \d+\.\d{6} rank=(\d+) lane=(?:\d+|-) (->|<-|--) (\d+) (.+)")
COUNTED = re.compile(r"^rank=(\d) eager=(\d+) rendezvous=(\d+)$", re.M)
# Why a long message goes its way within a host: one longer than a ring can only be copied.
WHY = re.compile(r" way=copy copy-ns=\d+ near=(true|false) copies=true contiguous=true earlier=\d+ lacking=\d+ shares-cores=(true|false)$")
# Longer than a ring, so that no transfer is done before it is taken.
LONG = 1 << 21

EAGER, SYNCHRONOUS = "eager source=0 tag=1 bytes=8", "eager source=0 tag=2 bytes=16 sender=0 synchronous"
RENDEZVOUS, CANCELLED = (f"RTS source=0 tag={tag} bytes={LONG} sender={sender}" for tag, sender in ((3, 1), (5, 2)))
LAST = ["eager source=0 tag=99 bytes=0", "eager source=1 tag=99 bytes=0"]
ANSWERS = ["Ack sender=0", "eager source=1 tag=6 bytes=0", "cancelled sender=2 forgotten", LAST[1]]
# What each rank says by each way. A request is told by its number among those of its side, in the order in which they appear.
EXPECTED = {
    (0, "->"): [EAGER, SYNCHRONOUS, f"bulk-open sender=1 bytes={LONG}", RENDEZVOUS, "bulk-sent sender=1"]
    + [f"bulk-open sender=2 bytes={LONG}", CANCELLED, "cancel sender=2", "bulk-cancel sender=2", LAST[0]],
    (1, "<-"): [EAGER, SYNCHRONOUS, RENDEZVOUS, f"bulk-take receiver=0 bytes={LONG} room={LONG}", "bulk-received receiver=0"]
    + [CANCELLED, "cancel sender=2", LAST[0]],
    (0, "<-"): ANSWERS,
    (1, "->"): ANSWERS,
}


def lines(text):
    """The parts of each line: rank, way, peer, and what it says without the context and with requests numbered."""
    requests, parts = {}, []

    def number(match):
        of_side = requests.setdefault((rank, match[1]), [])
        if match[2] not in of_side:
            of_side.append(match[2])
        return f"{match[1]}={of_side.index(match[2])}"

    for line in text.splitlines():
        if not line.startswith("weft: trace "):
            continue
        match = LINE.fullmatch(line)
        require(match, f"a line of another form: {line}")
        rank, way, peer, words = match.groups()
        words = re.sub(r"(sender|receiver)=(0x[0-9a-f]+)", number, re.sub(r" context=\d+", "", words))
        if words.startswith("bulk-open "):
            require(WHY.search(words), f"no reason: {words}")
            words = WHY.sub("", words)
        parts.append((int(rank), way, int(peer), words))
    return parts


def check(text, output):
    """What both ranks have told, and what the library has counted, up to the last message."""
    told = lines(text)
    counted = {int(rank): (int(eager), int(rendezvous)) for rank, eager, rendezvous in COUNTED.findall(output)}
    require(sorted(counted) == [0, 1], f"the program has not counted:\n{output}")
    of_prices = sorted((rank, peer) for rank, _, peer, words in told if words.startswith("prices file="))
    require(of_prices == [(0, 0), (1, 0)], f"not one line of each rank's prices, which are rank 0's:\n{text}")
    told = [line for line in told if not line[3].startswith("prices ")]
    require(all(peer == 1 - rank for rank, _, peer, _ in told), f"a peer that is none:\n{text}")
    for (rank, way), expected in EXPECTED.items():
        words = [words for other, direction, _, words in told if (other, direction) == (rank, way)]
        end = words.index(expected[-1]) + 1 if expected[-1] in words else len(words)
        require(words[:end] == expected, f"rank {rank} {way}: expected\n{expected}\nand not\n{words}")
        if way == "->":
            counts = tuple(sum(word.startswith(kind) for word in words[:end]) for kind in ("eager ", "RTS "))
            require(counts == counted[rank], f"rank {rank} counts {counted[rank]} and tells {counts}")


def job(site, option, env=None):
    result = site.run([site.mpiexec, *([option] if option else []), "-n", 2, site.program("known")], env)
    require(result.code == 0, f"exit code {result.code}:\n{result.output}")
    return result.output


def to_standard_error(site):
    output = job(site, "--trace")
    check(output, output)


def to_files(site, option, env):
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        pattern = f"{folder}/%r.%%"
        output = job(site, f"{option}={pattern}" if option else None, env=env and {env: pattern})
        require("weft: trace" not in output, f"lines beside the files:\n{output}")
        texts = [Path(folder, f"{rank}.%").read_text() for rank in range(2)]
        require(all(f"rank={rank} " in line for rank in range(2) for line in texts[rank].splitlines()), "another rank's line")
        check("".join(texts), output)


def full_disk(site):
    """The trace ends with one line, and the job as without it."""
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        for rank in range(2):
            os.symlink("/dev/full", f"{folder}/{rank}")
        output = job(site, f"--trace={folder}/%r")
        ends = re.findall(r"^weft: rank (\d): the trace ends here: No space left on device", output, re.M)
        require(sorted(ends) == ["0", "1"], f"not one line of each rank:\n{output}")


def no_such_folder(site):
    for pattern, why in (("/nonexistent/%r", "No such file or directory"), ("one-file", "`%r`"), ("%x", "before `r`")):
        result = site.mpirun(2, site.program("known"), env={"WEFT_TRACE": pattern})
        told = f"MPI_Init: WEFT_TRACE={pattern}: "
        require(result.code != 0, f"exit code 0:\n{result.output}")
        require(told in result.output and why in result.output, f"not told why:\n{result.output}")


def cases(site):
    yield "a trace: known messages, on standard error", lambda: to_standard_error(site)
    yield "a trace: in a file for each rank", lambda: to_files(site, "--trace", None)
    yield "a trace: by the environment", lambda: to_files(site, None, "WEFT_TRACE")
    yield "a trace: a full disk", lambda: full_disk(site)
    yield "a trace: a place that cannot be", lambda: no_such_folder(site)
