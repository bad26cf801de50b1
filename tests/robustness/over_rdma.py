"""Jobs over the RDMA transport, on the device in software: receive pools of all kinds, what they take, floods, windows, applications by endpoint category, and kills."""

import json
import os
import random
import re
import signal
import tempfile
import time

from interoperation import peer
from kill import victims
from lib.cases import require
from lib.outlived import OUTLIVED, await_lines
from lib.rails import carried
from lib.receive_pools import counts, planned
from load import UNEXPECTED_LIMIT_MIB

DEFAULT = None
POOLS = {
    "the default": DEFAULT,
    "S alone": "S,256,64:S,2k,32:S,16512,16",
    "X alone": "X,256,64:X,2k,32:X,16512,16",
    "S beside X": "S,256,64:X,2k,32:X,16512,16",
    "one small X": "X,1k,64",
    "P alone": "P,256,64:P,2k,32:P,16512,16",
    "P beside S": "P,256,64:S,2k,32:P,16512,16",
    "P beside X": "P,256,64:X,2k,32:X,16512,16",
    "one small P": "P,1k,8",
}
# Lanes of a process.
LANES = 16
# Of the messages of a window so many go in a frame at least, in the mean.
FEWEST_A_FRAME = 8
# Of adapter_window, on each kind of memory.
WINDOW_ROUNDS = 120
# More of them are made before its windows have moved their data.
FAILING_REGISTRATIONS = 24
CATEGORIES = ("mpi-everywhere", "2xdynamic", "dynamic", "shared-dynamic", "static")
# Ranks and threads of the papers' applications, and the further ones of the full battery.
SHAPES = ((16, 1), (1, 16))
FULL_SHAPES = ((8, 2), (4, 4), (2, 8))
# A plan of threads doubles completion queues with the thread domains, of which every second one is unused; lanes have none for those.
DOUBLED = {"2xdynamic": 2}
WRONG = [
    ("S,2k", "receive pools: the count of buffers: missing\n  S,2k\n      ^"),
    ("S,2k,8:X,1k,8", "sizes ascend\n  S,2k,8:X,1k,8\n           ^"),
    ("P,2k,8,4,6", "credits: from 1 to 5\n  P,2k,8,4,6\n           ^"),
    ("P,2k,32768", "the adapter's queues hold 32768 buffers at most"),
]


# What may take to be told of a death, and rank 1's computation, on a loaded machine.
UNMET_SECONDS = 60


def job(site, pools, *arguments):
    chosen = ["--receive-pools", pools] if pools else []
    return [site.weft, "softrdma", "run", "--", site.mpiexec, "--transport", "rdma", *chosen, *arguments]


def run(site, pools, ranks, *command, timeout=120):
    return site.run(job(site, pools, "-n", ranks, *command), timeout=timeout)


def planned_category(site, category, lanes):
    """What a rank of so many lanes takes, by `weft plan`."""
    result = site.run([site.weft, "plan", "--category", category, "--threads", lanes, "--json"])
    require(result.code == 0, result.output)
    return json.loads(result.output)["categories"][0]["rank"]


def sums(contexts):
    """What contexts have together."""
    plain = {name: sum(context[name] for context in contexts) for name in ("contexts", "cqs", "qps", "srqs")}
    return plain | {name: sum(context[name]["total"] for context in contexts) for name in ("uars", "uuars")}


def counted_by_device(site, command, ranks):
    """Runs receive_pools. What it says, and of each of its processes the sums over contexts of what the device counts."""
    figures = site.build / "receive_pools.json"
    stat = f"{site.weft} softrdma stat --json >{figures}"
    output = site.run([*command, site.program("receive_pools"), stat, LANES], timeout=120).ok("receive_pools").output
    processes = json.loads(figures.read_text())["processes"]
    processes = [one for one in processes if one["program"].startswith("receive_pools")]
    require(len(processes) == ranks, f"{len(processes)} processes of {ranks}:\n{output}")
    return output, [sums([context["figures"] for context in one["contexts"]]) for one in processes]


def category_takes_what_was_planned(site, category):
    """UAR pages, uUARs and completion queues of a rank that uses all lanes: the library's counts, the device's, and the plan's."""
    command = job(site, DEFAULT, "--endpoints", category, "-n", 2)
    output, device = counted_by_device(site, command, 2)
    for counted, seen in zip(counts(output, 2), device):
        require(counted["lanes"] == LANES, f"{counted['lanes']} lanes in use, not {LANES}\n{output}")
        rank = planned_category(site, category, LANES)
        # The queue pair for datagrams has a completion queue too.
        expected = rank["contexts"], rank["uars"], rank["uuars"], rank["cqs"] // DOUBLED.get(category, 1) + 1
        library = counted["uars"], counted["uuars"], counted["completion_queues"]
        require(library == expected[1:], f"the library counts {library}, planned {expected[1:]}\n{output}")
        on_device = tuple(seen[name] for name in ("contexts", "uars", "uuars", "cqs"))
        require(on_device == expected, f"the device counts {on_device}, planned {expected}\n{output}")


def takes_what_was_planned(site, pools, ranks):
    """Queue pairs, receive queues and buffers: the library's counts, the device's, and the plan's are the same."""
    output, device = counted_by_device(site, job(site, pools, "-n", ranks), ranks)
    # On one host each rank stands for a node.
    node = planned(site.run, site.weft, pools, ranks, 1)
    for counted in counts(output, ranks):
        lanes = counted["lanes"]
        for name, expected in (
            ("queue_pairs", node["connected_queue_pairs"]),
            ("shared_receive_queues", node["shared_receive_queues"]),
            ("receive_buffers", node["buffers"]),
            ("receive_bytes", node["buffer_bytes"]),
        ):
            require(counted[name] == lanes * expected, f"{name}: {counted[name]}, planned {lanes} x {expected}\n{output}")
        is_over_xrc = node["xrc_send_queue_pairs"] > 0
        # On one host: one queue pair to it, and one of each of the others by which it sends.
        expected = (lanes, lanes * (ranks - 1)) if is_over_xrc else (0, 0)
        xrc = counted["xrc_send_queue_pairs"], counted["xrc_receive_queue_pairs"]
        require(xrc == expected, f"XRC queue pairs: {xrc}, expected {expected}\n{output}")
    library = sorted(
        (one["queue_pairs"] + one["xrc_send_queue_pairs"] + one["xrc_receive_queue_pairs"], one["shared_receive_queues"])
        for one in counts(output, ranks)
    )
    # Beside them the queue pair for datagrams.
    device = sorted((one["qps"] - 1, one["srqs"]) for one in device)
    require(device == library, f"queue pairs and receive queues: the device has {device}, the library says {library}")


def all_talk(site, pools):
    run(site, pools, 4, site.program("receive_pools")).ok("receive_pools")


def wrong(site, pools, said):
    """What mpiexec does not see is told by MPI_Init, whichever way the specification comes."""
    program = site.program("receive_pools")
    by_option = run(site, pools, 2, program)
    env = {"WEFT_RECEIVE_POOLS": pools}
    command = [site.weft, "softrdma", "run", "--", site.mpiexec, "--transport", "rdma", "-n", 2, program]
    by_variable = site.run(command, env=env)
    for result in (by_option, by_variable):
        require(result.code != 0 and said in result.output, f"not said: {said}\n{result.output}")


def flood(site, pools, messages, mode):
    program = site.program("flood")
    run(site, pools, 3, program, messages, UNEXPECTED_LIMIT_MIB, mode, timeout=120 + messages // 10_000).ok("flood")


def kills(site, pools, rounds, seed):
    """kill -9 of a rank while links are made, and later: the job ends."""
    program = site.program("churn")
    choose = random.Random(seed)
    for number in range(rounds):
        running = site.start(job(site, pools, "-n", 4, program))
        pids = victims(running, "churn", 4)
        time.sleep(choose.uniform(0, 0.05 if number % 2 else 0.4))
        os.kill(choose.choice(pids), signal.SIGKILL)
        result = running.finish(60)
        where = f"round {number} of seed {seed}"
        require(result.code == 128 + signal.SIGKILL, f"{where}: exit code {result.code}, not 137:\n{result.output}")


def in_window(site, options, *arguments, device=(), env=None):
    """Two ranks, whose windows the adapter accesses."""
    command = [site.weft, "softrdma", "run", *device, "--", site.mpiexec, "--transport", "rdma", *options, "-n", 2]
    return site.run([*command, site.program("adapter_window"), *arguments], timeout=60, env=env)


def adapter_counts(output, rank):
    """A rank's writes and reads; none if it has not come to its end."""
    found = re.search(f"ok adapter_window {rank} (\\d+) (\\d+)", output)
    return found and (int(found[1]), int(found[2]))


def adapter_moves(site, options, mode):
    """All puts and gets are the adapter's, and move the right bytes; some take several requests."""
    output = in_window(site, options, mode).ok("adapter_window").output
    writes, reads = adapter_counts(output, 0)
    least = 2 * (WINDOW_ROUNDS + 100) if mode == "moves" else WINDOW_ROUNDS
    require(writes >= least and reads >= least, f"{writes} writes and {reads} reads, expected {least} of each:\n{output}")


def application(site, category, name):
    """A paper's application has the right result however its ranks' threads share an adapter, and they use lanes of their own."""
    for ranks, threads in (*SHAPES, *FULL_SHAPES) if site.full else SHAPES:
        command = job(site, DEFAULT, "--endpoints", category, "-n", ranks, site.program(name), threads)
        output = site.run(command, timeout=60).ok(name).output
        lanes = [int(line.split()[-1]) for line in output.splitlines() if line.startswith(f"ok {name} ")]
        # A rank alone talks to nobody.
        least = min(threads, LANES) if ranks > 1 else 0
        require(len(lanes) == ranks and min(lanes) >= least, f"{ranks} ranks of {threads} threads use lanes {lanes}:\n{output}")


def windows_leave_together(site, pools):
    """Short messages of a window go several in a frame."""
    output = run(site, pools, 2, site.program("gathered")).ok("gathered").output
    messages, requests = map(int, re.search(r"ok gathered (\d+) (\d+)", output).groups())
    require(requests * FEWEST_A_FRAME <= messages, f"{requests} requests for {messages} messages")


def window_peer_dies(site, access):
    env = {"WEFT_NETWORK_TIMEOUT": "1"}
    result = in_window(site, (), "killed", access, env=env)
    require(result.code == 128 + signal.SIGKILL, f"exit code {result.code}, not 137:\n{result.output}")
    require(adapter_counts(result.output, 0), f"rank 0 did not come out of it with the error:\n{result.output}")


def unmet(site, pools, what):
    """Of three ranks the last one dies before any contact, under a launcher that does not see it: who wants something of it is told."""
    launcher = [peer(site, "mpich", "mpiexec"), "-disable-auto-cleanup", "-n", 3]
    env = {"WEFT_TRANSPORT": "rdma"} | ({"WEFT_RECEIVE_POOLS": pools} if pools else {})
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        over = os.path.join(folder, "over")
        ranks = ["sh", "-c", OUTLIVED, "sh", over, site.program("unmet"), what]
        running = site.start([site.weft, "softrdma", "run", "--", *launcher, *ranks], env)
        try:
            await_lines(running, [f"ok unmet {what} {rank}\n" for rank in (0, 1)], UNMET_SECONDS)
        finally:
            open(over, "w").close()
        result = running.finish(60)
        require("rank 2 is lost: its process has ended" in result.output, f"not said whom:\n{result.output}")


def port_is_down(site):
    command = [site.weft, "softrdma", "run", "--faults", "link=down", "--", site.mpiexec, "--transport", "rdma", "-n", 2]
    result = site.run([*command, site.program("receive_pools")], timeout=60)
    said = "port 1 of softrdma0 is down"
    require(result.code != 0 and said in result.output, f"not said: {said}\n{result.output}")


def registrations_fail(site, options):
    """Whichever registration fails: the job fails with an error, or moves the same bytes another way."""
    all_writes = set()
    for number in range(1, FAILING_REGISTRATIONS + 1):
        result = in_window(site, options, "moves", device=["--faults", f"fail=reg_mr:{number}"])
        found = adapter_counts(result.output, 0)
        if result.code == 0:
            require(found and adapter_counts(result.output, 1), f"registration {number}: not all came to the end:\n{result.output}")
            all_writes.add(found[0])
        else:
            errors = ("Cannot allocate memory", "is lost", "a process of the operation has aborted")
            said = any(error in result.output for error in errors)
            require(said, f"registration {number}: no error that says why:\n{result.output}")
    # A part that could not be registered is reached by messages, a buffer by pieces: fewer writes, and more.
    require(len(all_writes) >= 3, f"whichever registration failed, there were as many writes: {all_writes}")


def over_rails(site, pools, device, ranks, *arguments, options=(), env=None, timeout=120):
    chosen = ["--receive-pools", pools] if pools else []
    command = [site.weft, "softrdma", "run", *device, "--", site.mpiexec, "--transport", "rdma", *chosen, *options, "-n", ranks]
    return site.run([*command, site.program("rails"), *arguments], timeout=timeout, env=env)


def all_adapters_carry(site, pools, devices):
    output = over_rails(site, pools, ["--devices", devices], 3, 30).ok("rails").output
    for rank, values in enumerate(carried(output, 3)):
        require(values["adapters"] == devices and values["failovers"] == 0, f"rank {rank}: {values}")
        sent, read = ([values[f"softrdma{device}_1_{what}_bytes"] for device in range(devices)] for what in ("sent", "read"))
        # All take part in long messages; lanes of two communicators have their frames by two.
        require(min(read) > 2_000_000, f"rank {rank} reads not by all adapters: {values}")
        require(sum(bytes > 100_000 for bytes in sent) >= 2, f"rank {rank} has all frames by one adapter: {values}")


def adapter_goes_down(site, pools, posts, ranks):
    """The port of one of two adapters of each rank goes down while messages are under way: all arrive, by the other one."""
    device = ["--devices", 2, "--faults", f"down={posts % 2}:{posts}"]
    output = over_rails(site, pools, device, ranks, 60, env={"WEFT_NETWORK_TIMEOUT": "4"}).ok("rails").output
    for rank, values in enumerate(carried(output, ranks)):
        require(values["failovers"] > 0, f"rank {rank} has not changed from the one that is down: {values}")


def all_adapters_go_down(site):
    device = ["--devices", 2, "--faults", "down=0:800+1:1200"]
    result = over_rails(site, DEFAULT, device, 2, 1000, env={"WEFT_NETWORK_TIMEOUT": "2"})
    require(result.code != 0 and re.search(r"rank \d is lost", result.output), f"exit code {result.code}:\n{result.output}")


def adapters_are_named(site):
    device = ["--devices", 3]
    output = over_rails(site, DEFAULT, device, 2, 4, options=["--adapters", "softrdma2,softrdma0:1"]).ok("rails").output
    for values in carried(output, 2):
        names = sorted(name.removesuffix("_sent_bytes") for name in values if name.endswith("_sent_bytes"))
        require(names == ["softrdma0_1", "softrdma2_1"] and values["adapters"] == 2, f"{values}")
    for named, said in (
        ("mlx5_0", "no adapter or port `mlx5_0`: there are softrdma0:1, softrdma1:1, softrdma2:1"),
        ("softrdma0:2", "no adapter or port `softrdma0:2`"),
        ("softrdma0:x", "`x` is no port"),
    ):
        result = over_rails(site, DEFAULT, device, 2, 4, env={"WEFT_ADAPTERS": named})
        require(result.code != 0 and said in result.output, f"{named}: not said: {said}\n{result.output}")
    shown = site.run([site.weft, "softrdma", "run", *device, "--", site.weft, "info"], env={"WEFT_ADAPTERS": "softrdma1"})
    lines = [line.split() for line in shown.output.splitlines() if line.startswith("  softrdma")]
    told = [(line[0], " ".join(line[3:])) for line in lines]
    others = "not used: others are named"
    expected = [("softrdma0:1", others), ("softrdma1:1", "used"), ("softrdma2:1", others)]
    require(told == expected, f"weft info tells {told}:\n{shown.output}")


def each_adapter_takes_what_was_planned(site, category):
    """With two adapters, what the device counts on each is the plan's for as many lanes."""
    figures = site.build / "rails.json"
    stat = f"{site.weft} softrdma stat --json >{figures}"
    command = [site.weft, "softrdma", "run", "--devices", 2, "--", site.mpiexec, "--transport", "rdma", "--endpoints", category, "-n", 2]
    output = site.run([*command, site.program("receive_pools"), stat, LANES], timeout=120).ok("receive_pools").output
    rank = planned_category(site, category, LANES)
    expected = rank["contexts"], rank["uars"], rank["uuars"], rank["cqs"] // DOUBLED.get(category, 1) + 1
    processes = json.loads(figures.read_text())["processes"]
    processes = [one for one in processes if one["program"].startswith("receive_pools")]
    require(len(processes) == 2, output)
    for one in processes:
        for device in (0, 1):
            seen = sums([context["figures"] for context in one["contexts"] if context["device"] == f"softrdma{device}"])
            on_device = tuple(seen[name] for name in ("contexts", "uars", "uuars", "cqs"))
            require(on_device == expected, f"device {device} counts {on_device}, planned {expected}\n{output}")
    for counted in counts(output, 2):
        library = counted["uars"], counted["uuars"], counted["completion_queues"]
        require(library == tuple(2 * value for value in expected[1:]), f"the library counts {library}, planned twice {expected[1:]}")


def cases(site):
    for name in ("the default", "S alone", "P alone", "P beside X"):
        yield f"over RDMA, two adapters carry, {name}", lambda name=name: all_adapters_carry(site, POOLS[name], 2)
        for posts in (301, 401, 700) if site.full else (401,):
            what = f"over RDMA, one of two adapters goes down after {posts} posts, {name}"
            yield what, lambda name=name, posts=posts: adapter_goes_down(site, POOLS[name], posts, 3)
    yield "over RDMA, four adapters carry", lambda: all_adapters_carry(site, DEFAULT, 4)
    yield "over RDMA, both adapters go down", lambda: all_adapters_go_down(site)
    yield "over RDMA, adapters are named", lambda: adapters_are_named(site)
    for category in CATEGORIES if site.full else ("dynamic", "mpi-everywhere"):
        what = f"over RDMA, two adapters take what was planned, lanes of category {category}"
        yield what, lambda category=category: each_adapter_takes_what_was_planned(site, category)
    for name, pools in POOLS.items():
        yield f"over RDMA, all talk to all, {name}", lambda pools=pools: all_talk(site, pools)
    for pools, ranks in (
        ("S,256,64:S,16512,16", 4),
        ("X,256,64:X,2k,32:X,16512,16", 4),
        ("S,256,64:X,16512,16", 3),
        ("P,256,64:P,2k,32,8,3:P,16512,16", 4),
        ("P,256,64:S,2k,64:X,16512,16", 3),
    ):
        what = f"over RDMA, {ranks} ranks take what was planned for {pools}"
        yield what, lambda pools=pools, ranks=ranks: takes_what_was_planned(site, pools, ranks)
    for category in CATEGORIES:
        what = f"over RDMA, lanes of category {category} take what was planned"
        yield what, lambda category=category: category_takes_what_was_planned(site, category)
    for pools, said in WRONG:
        yield f"over RDMA, pools that cannot be: {pools}", lambda pools=pools, said=said: wrong(site, pools, said)
    messages = 10_000_000 if site.full else 200_000
    for name, pools in (("X", DEFAULT), ("S", POOLS["S alone"]), ("P", POOLS["P alone"])):
        for mode in ("outside", "inside"):
            what = f"over RDMA, {messages} unexpected messages, pools of type {name}, receiver {mode} MPI"
            yield what, lambda pools=pools, mode=mode: flood(site, pools, messages, mode)
    for name in ("the default", "S alone", "S beside X", "P alone", "P beside X"):
        seed = 5
        yield f"over RDMA, kills while links are made, {name}", lambda name=name: kills(site, POOLS[name], 6, seed)
    for name in ("the default", "S alone", "P alone"):
        yield f"over RDMA, windows of short messages, pools: {name}", lambda name=name: windows_leave_together(site, POOLS[name])
        options = ["--receive-pools", POOLS[name]] if POOLS[name] else []
        for mode in ("moves", "stopped"):
            what = f"over RDMA, windows: {mode}, pools: {name}"
            yield what, lambda options=options, mode=mode: adapter_moves(site, options, mode)
    for category in CATEGORIES:
        options = ["--endpoints", category]
        yield f"over RDMA, windows: lanes of category {category}", lambda options=options: adapter_moves(site, options, "moves")
        for name in ("halo", "global_array"):
            what = f"over RDMA, {name} has the right result, category {category}"
            yield what, lambda category=category, name=name: application(site, category, name)
    for access in ("put", "get"):
        yield f"over RDMA, windows: the target of a {access} is killed", lambda access=access: window_peer_dies(site, access)
    for name in ("the default", "S alone", "X alone"):
        options = ["--receive-pools", POOLS[name]] if POOLS[name] else []
        yield f"over RDMA, windows: registrations fail, pools: {name}", lambda options=options: registrations_fail(site, options)
    for name in ("the default", "S alone", "P alone") if site.full else ("the default",):
        for what in ("send", "large", "receive") if site.full else ("send", "receive"):
            title = f"over RDMA, a rank dies before any contact: {what}, pools: {name}"
            yield title, lambda name=name, what=what: unmet(site, POOLS[name], what)
    yield "over RDMA, a port that is down", lambda: port_is_down(site)
