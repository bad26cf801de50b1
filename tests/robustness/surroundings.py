"""Containers and broken surroundings: little shared memory, no ptrace, a full disk, closed standard files."""

import tempfile

from jobs import MARK, in_namespaces, require

RANKS = 4


def mounted(site, script, env=None):
    program = site.program("exchange")
    site.mpirun(RANKS, program, before=in_namespaces(["-m"], script), env=env).ok("exchange")


def no_ptrace(site):
    for program in ("exchange", "windows"):
        site.mpirun(RANKS, site.program(program), before=[site.plain("deny")]).ok(program)


def full_disk(site):
    with tempfile.TemporaryDirectory(dir=site.build) as folder:
        fill = f'mount -t tmpfs -o size=4k none "{folder}" && (cat /dev/zero >"{folder}/fill" 2>/dev/null; true)'
        mounted(site, fill, {"TMPDIR": folder})


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


def without_environment(site):
    """Nothing but what the program needs to be found, and the mark by which leftovers are."""
    kept = f'env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="{site.library}" {MARK}="${MARK}"'
    site.mpirun(RANKS, site.program("exchange"), before=["sh", "-c", f'exec {kept} "$@"', "sh"]).ok("exchange")


def no_network(site):
    """A network namespace without even a loopback that is up, and a host name that nobody can resolve."""
    before = in_namespaces(["-n", "-u"], "hostname no.such.name")
    site.mpirun(RANKS, site.program("exchange"), before=before).ok("exchange")


def cases(site):
    yield "a /dev/shm of 64 KiB", lambda: mounted(site, "mount -t tmpfs -o size=64k none /dev/shm")
    yield "a /dev/shm that cannot be written", lambda: mounted(site, "mount -t tmpfs -o ro none /dev/shm")
    yield "no ptrace, no process_vm_readv", lambda: no_ptrace(site)
    yield "TMPDIR on a full disk", lambda: full_disk(site)
    yield "TMPDIR does not exist", lambda: site.mpirun(
        RANKS, site.program("exchange"), env={"TMPDIR": "/nonexistent"}
    ).ok("exchange")
    yield "standard input closed", lambda: closed(site, "<&-")
    yield "standard input and output closed", lambda: closed(site, "<&- >&-")
    yield "all three closed", lambda: closed(site, "<&- >&- 2>&-")
    yield "an empty environment", lambda: without_environment(site)
    yield "no network, no host name", lambda: no_network(site)
