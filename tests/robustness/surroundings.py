"""Containers and broken surroundings: little shared memory, no ptrace, a full disk, closed standard files."""

import pathlib
import re
import tempfile

from lib.cases import Skip, require
from lib.namespaces import in_namespaces
from lib.processes import MARK

RANKS = 4


def mounted(site, script, env=None):
    program = site.program("exchange")
    site.mpirun(RANKS, program, before=in_namespaces(["-m"], script), env=env).ok("exchange")


def no_ptrace(site):
    for program in ("exchange", "windows"):
        site.mpirun(RANKS, site.program(program), before=[site.plain("deny"), "reach"]).ok(program)
    faulty_calls(site, "short", before=[site.plain("deny"), "reach"])
    beside_traffic(site, before=[site.plain("deny"), "reach"])


def beside_traffic(site, *options, **before):
    """Long messages of one communicator, which need both sides' turns here, beside what never ends on another."""
    folder = pathlib.Path(__file__).resolve().parents[1] / "conformance"
    program = site.program("../../conformance/point_to_point/beside_traffic", "-I", folder, into="beside_traffic")
    site.mpirun(2, *options, program, **before).ok("beside_traffic")


def faulty_calls(site, kind, **options):
    """System calls on files that move less than they were asked for, or fail."""
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        site.mpirun(RANKS, site.program("file_faults"), kind, folder, **options).ok(f"file_faults {kind}")


def no_segment(site, kind, call):
    """MPI_Init says which call was refused, on one rank as on several, and nobody waits for who has gone."""
    for ranks in (1, RANKS):
        result = site.mpirun(ranks, site.program("exchange"), before=[site.plain("deny"), kind])
        require(result.code != 0, f"exit code 0:\n{result.output}")
        require(f"MPI_Init: shared memory: {call}: Operation not permitted" in result.output, f"not told why:\n{result.output}")


def no_connection(site):
    """A message that cannot have its connection ends the job on both sides: the peer does not wait."""
    result = site.mpirun(RANKS, site.program("exchange"), before=[site.plain("deny"), "pwrite"], timeout=30)
    require(result.code != 0, f"exit code 0:\n{result.output}")
    require("no memory for a connection to it: pwrite" in result.output, f"not told why:\n{result.output}")


def filtered(site, kind, whom):
    program = site.program("filtered")
    site.mpirun(RANKS, program, kind, whom).ok("filtered")
    # What a receiver may read from its sender's memory needs none that is new.
    site.mpirun(RANKS, program, kind, whom, "long").ok("filtered")
    result = site.mpirun(RANKS, program, kind, whom, "long", before=[site.plain("deny"), "reach"], timeout=30)
    told = re.search(r"(no memory for data to it|a mapping of \d+ bytes): \w+: Operation not permitted", result.output)
    require(result.code != 0 and told, f"exit code {result.code}, and not told why:\n{result.output}")


def full_disk(site):
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        fill = f'mount -t tmpfs -o size=4k none "{folder}" && (cat /dev/zero >"{folder}/fill" 2>/dev/null; true)'
        mounted(site, fill, {"TMPDIR": folder})


def full_file_system(site):
    """Writes of all kinds to one of 1 MiB: errors where data are lost, on all ranks where they write together; room again when a file is gone."""
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        before = in_namespaces(["-m"], f'mount -t tmpfs -o size=1m none "{folder}"')
        site.mpirun(RANKS, site.program("files_refused"), "full", folder, before=before).ok("files_refused full")


def read_only_file_system(site):
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        script = f'mount -t tmpfs none "{folder}" && echo file >"{folder}/file" && mount -o remount,ro "{folder}"'
        before = in_namespaces(["-m"], script)
        site.mpirun(RANKS, site.program("files_refused"), "read-only", folder, before=before).ok("files_refused read-only")


def small_files(site, limit, ends):
    """The limit of the sizes of files is for the program's: shared memory goes beyond what `ulimit -S` says; what it cannot go beyond
    is told by its name."""
    before = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"]
    result = site.mpirun(RANKS, site.program("exchange"), before=before)
    if ends:
        return result.ok("exchange")
    require(result.code != 0 and "RLIMIT_FSIZE" in result.output, f"exit code {result.code}, and not told why:\n{result.output}")


def closed(site, redirections):
    """Descriptors 0, 1, 2 are then free, and a library that takes one for a socket would get the program's output."""
    program = site.program("exchange")
    with tempfile.NamedTemporaryFile(dir=site.build, mode="r") as result:
        command = ["sh", "-c", f'exec "$@" {redirections}', "sh", site.mpiexec, "-n", RANKS, program]
        done = site.run(command, {"WEFT_TEST_RESULT": result.name})
        require(done.code == 0, f"exit code {done.code}:\n{done.output}")
        # The program writes the file anew under the same name.
        text = open(result.name).read()
        require(text == f"ok exchange ranks={RANKS}\n", f"the result file holds {text!r}")


# Each rank begins without those of descriptors 0 to 2 that are bits of its number; a process alone without those of $WITHOUT.
WITHOUT = """
n=${WITHOUT:-$PMI_RANK}
[ $((n & 1)) = 0 ] || exec <&-
[ $((n & 2)) = 0 ] || exec >&-
[ $((n & 4)) = 0 ] || exec 2>&-
exec "$@"
"""


def closed_descriptors(site, ranks, start=(), further=(), without=""):
    """A rank that begins without standard descriptors, in each combination, or closes them later."""
    program = site.program("closed_descriptors", "-pthread")
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        path = pathlib.Path(folder) / "file"
        done = site.run([*start, "sh", "-c", WITHOUT, "sh", program, path, *further], {"WITHOUT": without})
        require(done.code == 0, f"exit code {done.code}:\n{done.output}")
        result = path.with_suffix(".result").read_text()
        require(result == f"ok closed_descriptors ranks={ranks}\n", f"the result file holds {result!r}")


def closed_descriptors_alone(site):
    for without in range(1, 8):
        closed_descriptors(site, 1, without=str(without))


def closed_descriptors_over(site, transport):
    device = [site.weft, "softrdma", "run", "--"] if transport == "rdma" else []
    start = [*device, site.mpiexec, "--transport", transport, "-n"]
    closed_descriptors(site, 8, [*start, "8"])
    closed_descriptors(site, 2, [*start, "2"], ["later"])


def without_environment(site):
    """Nothing but what the program needs to be found, and the mark by which leftovers are."""
    kept = f'env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="{site.library}" {MARK}="${MARK}"'
    site.mpirun(RANKS, site.program("exchange"), before=["sh", "-c", f'exec {kept} "$@"', "sh"]).ok("exchange")


def no_network(site):
    """A network namespace without even a loopback that is up, and a host name that nobody can resolve."""
    before = in_namespaces(["-n", "-u"], "hostname no.such.name")
    site.mpirun(RANKS, site.program("exchange"), before=before).ok("exchange")


def no_adapter(site):
    """The user is told once what to do."""
    adapters = pathlib.Path("/sys/class/infiniband")
    if adapters.is_dir() and any(adapters.iterdir()):
        raise Skip("there is an RDMA adapter here")
    result = site.mpirun(RANKS, site.program("exchange"), env={"WEFT_TRANSPORT": "rdma"})
    said = [line for line in result.output.splitlines() if "RDMA adapter" in line or "not implemented" in line]
    require(result.code != 0 and len(said) == 1 and "weft softrdma run" in said[0], f"exit code {result.code}:\n{result.output}")


def cases(site):
    yield "a /dev/shm of 64 KiB", lambda: mounted(site, "mount -t tmpfs -o size=64k none /dev/shm")
    yield "files on a full file system", lambda: full_file_system(site)
    yield "files on a file system that cannot be written", lambda: read_only_file_system(site)
    for kind in ("short", "EDQUOT", "ENOSPC", "EIO", "ESTALE", "EROFS"):
        yield f"files, system calls that are {kind}", lambda kind=kind: faulty_calls(site, kind)
    yield "files of at most 8 KiB, a limit that can be lifted", lambda: small_files(site, "-S -f 16", True)
    yield "files of at most 8 KiB, a limit that cannot", lambda: small_files(site, "-f 16", False)
    yield "a /dev/shm that cannot be written", lambda: mounted(site, "mount -t tmpfs -o ro none /dev/shm")
    yield "no ptrace, no process_vm_readv", lambda: no_ptrace(site)
    yield "long messages beside others, by TCP", lambda: beside_traffic(site, "--transport", "tcp")
    for kind, call in (("memfd", "memfd_create"), ("shared", "mmap")):
        yield f"a filter that forbids {call}", lambda kind=kind, call=call: no_segment(site, kind, call)
    yield "a filter that forbids pwrite", lambda: no_connection(site)
    for kind, call in (("shared", "mmap"), ("pwrite", "pwrite")):
        for whom in ("last", "all"):
            what = f"a filter that forbids {call}, in the middle of a job, on {'one rank' if whom == 'last' else 'all ranks'}"
            yield what, lambda kind=kind, whom=whom: filtered(site, kind, whom)
    yield "TMPDIR on a full disk", lambda: full_disk(site)
    yield "TMPDIR does not exist", lambda: site.mpirun(
        RANKS, site.program("exchange"), env={"TMPDIR": "/nonexistent"}
    ).ok("exchange")
    yield "standard input closed", lambda: closed(site, "<&-")
    yield "standard input and output closed", lambda: closed(site, "<&- >&-")
    yield "all three closed", lambda: closed(site, "<&- >&- 2>&-")
    yield "standard files closed, of a process alone", lambda: closed_descriptors_alone(site)
    for transport in ("shm", "tcp", "rdma"):
        yield f"standard files closed, of ranks over {transport}", lambda transport=transport: closed_descriptors_over(site, transport)
    yield "an empty environment", lambda: without_environment(site)
    yield "RDMA without an adapter", lambda: no_adapter(site)
    yield "no network, no host name", lambda: no_network(site)
