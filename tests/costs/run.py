#!/usr/bin/env python3
"""Counted costs of an eager message, a one-sided access, a collective operation of nothing or of 8 bytes and a call from Fortran, against budgets and what is recorded.

    tests/costs/run.py --prefix DIR [--build DIR] [--record]

Counts, under callgrind, what windows of 16 messages or accesses of 8 bytes cost: instructions, locked instructions, system
calls, allocations. Counts repeat from run to run, so the gate is narrow: 3 % over tests/costs/recorded.json, which --record
writes. Ends with `N passed, N failed`.
"""

import argparse
import json
import os
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from callgrind import locking_instructions, profiles
from lib.commands import declare
from lib.compiler import compile_program
from lib.processes import end_by_signals, run

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "recorded.json"
CFLAGS = "-std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -pthread -rdynamic -fno-optimize-sibling-calls".split()
ROUNDS, WINDOW = 64, 16
TOLERANCE = 1.03
# Instructions a message, send side and receive side in all: callgrind, one thread. What the design aims at; what is
# reached is in recorded.json, and may not get worse.
SEND_GOAL, RECEIVE_GOAL = 250, 350
# Locked instructions a message in a process with threads: the lane's try-lock, taken and let go, and publishing the packet.
ISEND_LOCKED, COMPLETED_WAIT_LOCKED = 3, 0

SENDER, RECEIVER = 0, 1
PHASES = {"isend": SENDER, "isend_wait": SENDER, "irecv": RECEIVER, "irecv_wait": RECEIVER, "local": RECEIVER}
SINGLE = "put get accumulate fetch_and_op compare_and_swap flush".split()
MANY = "put_short put_long accumulate_short accumulate_long".split()
ACCESSES = dict.fromkeys((*SINGLE, *MANY), SENDER)
# Completed requests that are not one message, and the locked instructions of each at most. Two atomic operations on a word of
# its own keep what is made of several alive while it is looked at; a send-receive and a generalized request give their place
# back too. A round starts each persistent request twice.
# A wait's look at all lanes, one in some hundred turns, may be the first at one of them, which then takes memory once.
LOOK_ALLOCATIONS = 0.01
REQUESTS = {"start": 10, "persistent_test": 5, "persistent_wait": 5, "pair_wait": 16, "generalized_wait": 14, "waitany": 2, "waitsome": 2}
# Calls from Fortran, each beside C's of the same function, and how many instructions more they may cost, what the compiler does
# to fill in a descriptor included: 30 ns, at 3 GHz and one and a half instructions a cycle.
CALLS = {"rank_module": "rank_c", "isend_module": "isend_c", "isend_element": "isend_c", "isend_matrix": "isend_c"}
CALL_BUDGET = 130
# Collective operations in which there is nothing to move, and the instructions of each at most.
VOID = "bcast reduce reduce_scatter allreduce allgather allgatherv gather gatherv scatter scatterv alltoall alltoallv".split()
VOID_BUDGET = 350
# Those of 8 bytes, by ranks that need not wait; one locked instruction before the look at who sleeps, and now and then a few in a lane whose peer has rung.
SHORT = {"reduce_leaf": RECEIVER, "reduce_root": SENDER, "bcast_root": SENDER, "bcast_leaf": RECEIVER, "gather_leaf": RECEIVER, "gather_root": SENDER,
         "scatter_root": SENDER, "scatter_leaf": RECEIVER}  # fmt: skip
SHORT_BUDGET, SHORT_LOCKED = 620, 1.05
FORTRAN = [*dict.fromkeys(CALLS.values()), *CALLS, "isend_section"]
# The program of each order and its phases.
PROGRAMS = {"fortran": ("fortran", dict.fromkeys(FORTRAN, SENDER)), "requests": ("requests", dict.fromkeys(REQUESTS, SENDER)), "prepost": ("messages", PHASES), "unexpected": ("messages", PHASES), "passive": ("windows", ACCESSES), "void": ("collectives", dict.fromkeys(VOID, SENDER)), "short": ("short", SHORT)}


class Costs:
    """The costs of one phase, per message."""

    def __init__(self, instructions, locked, system_calls, allocations):
        self.instructions, self.locked = instructions, locked
        self.system_calls, self.allocations = system_calls, allocations


SAID = re.compile(r"^rank=(\d) phase=(\w+) allocations=(\d+) locks=(\d+) system_calls=(\d+) trapped=(\d) file=(.*)$", re.M)


def launch(options, order, threads, before=()):
    """What the program said, by rank and phase."""
    program, phases = PROGRAMS[order]
    shared = options.build / "barrier"
    shared.write_bytes(bytes(4096))
    arguments = [options.build / program, shared, ROUNDS, "threads" if threads else "alone", *([] if before else ["trap"]), order]
    command = [options.prefix / "bin/mpiexec", "-n", 2, *before, *arguments]
    done = run(command, 300)
    said = SAID.findall(done.output)
    if done.code != 0 or len(said) != 2 * len(phases):
        sys.exit(f"costs: {order}: exit code {done.code}\n{done.output[-6000:]}")
    return {(int(rank), phase): rest for rank, phase, *rest in said}


def compile_counted(mpicc, mpifort, build, program):
    """Compiles a program, with its half in Fortran if it has one."""
    words = [HERE / f"{program}.c", "-ldl"]
    half = HERE / f"{program}.f90"
    if half.exists():
        words.append(compile_program(mpifort, ["-c", half, "-J", build], build / f"{program}.o", ["-O2", "-g"]))
        words.append("-lmpifort_abi")
    compile_program(mpicc, words, build / program, CFLAGS)


def measure(options, order, threads):
    """The costs of an order's phases: natively, and in one run under callgrind, which writes a file at the end of each."""
    native = launch(options, order, threads)
    for old in options.build.glob("callgrind.*"):
        old.unlink()
    valgrind = ["valgrind", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={options.build}/callgrind.%q{{PMI_RANK}}"]
    phases = PROGRAMS[order][1]
    valgrind += ["--toggle-collect=counted_*", *(f"--dump-after=counted_{phase}" for phase in phases)]
    said = launch(options, order, threads, valgrind)
    of_rank = {rank: profiles(options.build.glob(f"callgrind.{rank}.*")) for rank in (SENDER, RECEIVER)}
    costs, messages = {}, ROUNDS * WINDOW
    for phase, rank in phases.items():
        library = said[rank, phase][4]
        allocations, locks, system_calls, trapped = map(int, native[rank, phase][:4])
        if not trapped:
            sys.exit("costs: this kernel has no system call user dispatch (Linux 5.11 or later is needed)")
        profile = of_rank[rank][f"counted_{phase}"]
        locked = profile.locked(os.path.realpath(library), addresses_of(library)) + locks
        counts = (profile.instructions, locked, system_calls, allocations)
        costs[order, phase, threads] = Costs(*(count / messages for count in counts))
    return costs


def addresses_of(library, known={}):
    if library not in known:
        known[library] = locking_instructions(library)
    return known[library]


class Gate:
    def __init__(self):
        self.passed = self.failed = 0

    def at_most(self, what, value, limit, why):
        good = value <= limit + 1e-9
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(f"{'ok' if good else 'FAILED':7} {what:52} {value:8.2f}  at most {limit:8.2f} ({why})", flush=True)

    @staticmethod
    def goal(what, value, goal):
        """What is aimed at, and does not fail."""
        print(f"{'reached' if value <= goal else 'goal':7} {what:52} {value:8.2f}  goal {goal:11.2f}", flush=True)


def budgets(gate, costs):
    """The design's budgets; `costs` by (order, phase, threads)."""
    single = {phase: costs["prepost", phase, False] for phase in PHASES}
    threaded = {phase: costs["prepost", phase, True] for phase in PHASES}
    send = single["isend"].instructions + single["isend_wait"].instructions
    receive = single["irecv"].instructions + single["irecv_wait"].instructions
    gate.goal("send side, instructions", send, SEND_GOAL)
    gate.goal("receive side, instructions", receive, RECEIVE_GOAL)
    gate.at_most("Isend, locked instructions, threads", threaded["isend"].locked, ISEND_LOCKED, "budget")
    gate.at_most("Wait on a completed send, locked instructions", threaded["isend_wait"].locked, COMPLETED_WAIT_LOCKED, "budget")
    gate.at_most("Comm_rank, Comm_size, Type_size, locked instructions", threaded["local"].locked, 0, "budget")
    for phase in ("isend", "isend_wait", "irecv", "irecv_wait", "local"):
        for kind in ("system_calls", "allocations"):
            gate.at_most(f"{phase}, {kind.replace('_', ' ')}", getattr(single[phase], kind), 0, "budget")
    for phase in ACCESSES:
        for kind in ("system_calls", "allocations"):
            gate.at_most(f"{phase}, {kind.replace('_', ' ')}", getattr(costs["passive", phase, False], kind), 0, "budget")
    for phase, limit in REQUESTS.items():
        gate.at_most(f"{phase}, locked instructions, threads", costs["requests", phase, True].locked, limit, "budget")
    calls = {phase: costs["fortran", phase, False] for phase in FORTRAN}
    for phase, in_c in CALLS.items():
        more = calls[phase].instructions - calls[in_c].instructions
        gate.at_most(f"{phase}, instructions more than {in_c}", more, CALL_BUDGET, "budget")
        gate.at_most(f"{phase}, allocations", calls[phase].allocations, 0, "budget")
    for phase in VOID:
        cost = costs["void", phase, False]
        gate.at_most(f"{phase} of nothing, instructions", cost.instructions, VOID_BUDGET, "budget")
        for kind in ("locked", "system_calls", "allocations"):
            gate.at_most(f"{phase} of nothing, {kind.replace('_', ' ')}", getattr(cost, kind), 0, "budget")
    for phase in SHORT:
        cost = costs["short", phase, False]
        gate.at_most(f"{phase} of 8 bytes, instructions", cost.instructions, SHORT_BUDGET, "budget")
        gate.at_most(f"{phase} of 8 bytes, locked", cost.locked, SHORT_LOCKED, "budget")
        for kind in ("system_calls", "allocations"):
            gate.at_most(f"{phase} of 8 bytes, {kind.replace('_', ' ')}", getattr(cost, kind), 0, "budget")
    for phase in ("start", "persistent_test", "persistent_wait"):
        gate.at_most(f"{phase}, allocations", costs["requests", phase, False].allocations, 0, "budget")
    for phase in ("waitany", "waitsome"):
        gate.at_most(f"{phase}, allocations", costs["requests", phase, False].allocations, LOOK_ALLOCATIONS, "budget")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=pathlib.Path, help="an installed tree: bin/mpicc, bin/mpifort, bin/mpiexec")
    parser.add_argument("--mpicc", type=pathlib.Path, help="instead of PREFIX/bin/mpicc")
    parser.add_argument("--build", default="build/costs", type=pathlib.Path, help="where the program is compiled")
    parser.add_argument("--record", action="store_true", help="write the instruction counts to recorded.json")
    options = parser.parse_args()
    options.prefix, options.build = options.prefix.resolve(), options.build.resolve()
    options.build.mkdir(parents=True, exist_ok=True)
    end_by_signals()
    declare("check")

    mpicc = options.mpicc or options.prefix / "bin/mpicc"
    mpifort = options.prefix / "bin/mpifort"
    for program in sorted({program for program, _ in PROGRAMS.values()}):
        compile_counted(mpicc, mpifort, options.build, program)

    both = ("prepost", "requests")
    costs = {}
    for order, threads in [(order, False) for order in PROGRAMS] + [(order, True) for order in both]:
        costs |= measure(options, order, threads)
    found = {" ".join((order, phase, "threads" if threads else "alone")): round(cost.instructions, 2)
             for (order, phase, threads), cost in costs.items()}  # fmt: skip
    if options.record:
        RECORDED.write_text(json.dumps(found, indent=2) + "\n")

    gate = Gate()
    budgets(gate, costs)
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for name, value in found.items():
        gate.at_most(f"{name}, instructions", value, recorded.get(name, 0) * TOLERANCE, "recorded + 3 %")
    print(f"{gate.passed} passed, {gate.failed} failed")
    return 1 if gate.failed else 0


if __name__ == "__main__":
    sys.exit(main())
