"""Ranks of one host that cannot open each other's memory: in namespaces of their own, as containers that start one rank each have
them, of other users, of programs that may not be read."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from interoperation import of_prterun, peer
from kill import bereave
from lib.cases import Skip, require
from lib.processes import run

RANKS = 3
# An ordinary user, and one for each rank.
NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups".split()
USER_A_RANK = ["sh", "-c", 'exec setpriv --reuid $((60000 + PMI_RANK)) --clear-groups "$@"', "sh"]
USER_NAMESPACE = "unshare --user --map-root-user".split()
NAMESPACES = {
    "of processes": "unshare --pid --fork --mount-proc".split(),
    "of processes, with the host's /proc": "unshare --pid --fork".split(),
    "of users": USER_NAMESPACE,
    "of users and processes": [*USER_NAMESPACE, "--pid", "--fork", "--mount-proc"],
    "of times": ["sh", "-c", 'exec unshare --time --fork --boottime $((PMI_RANK * 1000)) "$@"', "sh"],
}
LAUNCHERS = {"Hydra": lambda site: ([peer(site, "mpich", "mpiexec")], {}), "PRRTE": of_prterun}


def permitted(command):
    """The command, if what it does is permitted here."""
    if run([*command, "true"], 60, {"PMI_RANK": "0"}).code != 0:
        raise Skip(f"not permitted here: {' '.join(command)}")
    return list(command)


def apart(site, shared, *command):
    """The job comes out right, and by how many each rank's memory is shared is as told."""
    result = site.run([site.mpiexec, *command]).ok("apart")
    require(f"shared={shared}\n" in result.output, f"not shared by {shared}:\n{result.output}")


def in_namespaces(site, kind):
    apart(site, "1,1,1", "-n", RANKS, *permitted(NAMESPACES[kind]), site.program("apart"))


def under_another_launcher(site, launcher):
    """Other servers of PMI-1 and PMIx carry what ranks find out together, and the cards that follow."""
    command, environment = launcher(site)
    result = site.run([*command, "-n", RANKS, *permitted(USER_NAMESPACE), site.program("apart")], environment)
    require("shared=1,1,1\n" in result.ok("apart").output, f"not shared by 1,1,1:\n{result.output}")


def of_users(site):
    with readable_copy(site) as program:
        apart(site, "1,1,1", "-n", RANKS, *permitted(USER_A_RANK), program)


class readable_copy:
    """The program where any user may read it, or only start it."""

    def __init__(self, site, mode=0o755):
        self.site, self.mode = site, mode

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="weft-test-")
        os.chmod(self.folder, 0o755)
        program = pathlib.Path(self.folder) / "apart"
        shutil.copy(self.site.program("apart"), program)
        program.chmod(self.mode)
        library = self.site.library / "libmpi_abi.so.1"
        if run([*NOBODY, "test", "-r", library], 60).code != 0:
            shutil.rmtree(self.folder)
            raise Skip("no other user can be had, or none may read what is tested")
        return program

    def __exit__(self, *_):
        shutil.rmtree(self.folder)


def unreadable(site):
    """The process of a program that may be executed and not read belongs to root in /proc."""
    with readable_copy(site, 0o111) as program:
        command = [*permitted(NOBODY), "env", "HOME=/tmp", site.mpiexec, "-n", RANKS, program]
        require("shared=1,1,1\n" in site.run(command).ok("apart").output, "they share memory")


def undumpable(site):
    apart(site, "1,1", "-n", "2", site.program("apart"), "undumpable")


class Container:
    """A user namespace that stays, into which several ranks can go."""

    def __enter__(self):
        command = [*permitted(USER_NAMESPACE), "sh", "-c", "echo; exec sleep 600"]
        self.holder = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        return ["nsenter", "--user", "--preserve-credentials", "--target", str(self.holder.pid)]

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


def mixed(site):
    """Two ranks in one container and two outside, in both orders."""
    program = site.program("apart")
    with Container() as enter:
        apart(site, "2,2,2,2", "-n", "2", *enter, program, ":", "-n", "2", program)
        apart(site, "2,2,1", "-n", "2", program, ":", "-n", "1", *enter, program)


def shared_memory_alone(site):
    """What is asked for and cannot be is an error that says why, on all ranks."""
    command = [site.mpiexec, "--transport", "shm", "-n", "2", *permitted(USER_NAMESPACE), site.program("apart")]
    result = site.run(command)
    told = "cannot open each other's memory" in result.output
    require(result.code != 0 and told, f"exit code {result.code}, and not told why:\n{result.output}")


def without_network(site):
    """Ranks between which there is no way at all end with an error that names what is missing."""
    command = [site.mpiexec, "-n", "2", *permitted([*USER_NAMESPACE, "--net"]), site.program("apart")]
    result = site.run(command)
    told = "TCP, for the ranks that this one shares no memory with: no interface is up" in result.output
    require(result.code != 0 and told, f"exit code {result.code}, and not told why:\n{result.output}")


def killed(site, operation):
    bereave(site, "bereaved", operation, before=permitted(USER_NAMESPACE))


def cases(site):
    for kind in NAMESPACES:
        yield f"ranks in namespaces {kind} of their own", lambda kind=kind: in_namespaces(site, kind)
    for name, launcher in LAUNCHERS.items():
        yield f"ranks in containers, under {name}", lambda launcher=launcher: under_another_launcher(site, launcher)
    yield "ranks of users of their own", lambda: of_users(site)
    yield "ranks of a program that may not be read", lambda: unreadable(site)
    yield "ranks that have forbidden others to read them", lambda: undumpable(site)
    yield "ranks in a container and outside", lambda: mixed(site)
    yield "ranks in containers, over shared memory alone", lambda: shared_memory_alone(site)
    yield "ranks in containers without a network", lambda: without_network(site)
    for operation in ("barrier", "iallreduce", "fence"):
        yield f"a rank in a container, killed in {operation}", lambda operation=operation: killed(site, operation)
