"""Slurm's srun: a cluster of one node, in a folder, on ports and with a key of its own, for as long as the cases run."""

import contextlib
import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from lib.cases import Failure, Skip, require
from lib.processes import Running, run

RANKS = 4
DAEMONS = ("munged", "slurmctld", "slurmd")
START_SECONDS = 30

# A node with as many processors as the cases have ranks, whatever the machine has; processes are found by their group, so
# no cgroup is needed. A key signs messages (munge): without one any local user could start jobs here.
CONFIGURATION = """
ClusterName=weft-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={ranks} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""


def free_ports(count):
    """Ports that nobody listens on; all are held until the last is found, so that they differ."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def daemon(name):
    found = shutil.which(name)
    if not found:
        raise Skip(f"{name} is not among the commands of this target (make slurm)")
    return found


class Cluster:
    """Started by `with`; every daemon is a child in the foreground and is ended by its id."""

    def __enter__(self):
        paths = [daemon(name) for name in (*DAEMONS, "srun")]
        self.daemons = []
        with contextlib.ExitStack() as undo:
            # Short: the daemons' sockets lie below, and a socket's path has at most 107 bytes.
            self.folder = pathlib.Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
            undo.callback(self.stop)
            self.configure()
            munged, slurmctld, slurmd, self.srun = paths
            self.start(munged, "--foreground", "--force", "--num-threads=1", f"--socket={self.folder}/munge.socket",
                       f"--key-file={self.folder}/munge.key", f"--pid-file={self.folder}/munged.pid",
                       f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
            self.wait_for("munged", (self.folder / "munge.socket").exists)
            self.start(slurmctld, "-D", "-c", "-f", self.folder / "slurm.conf")
            self.start(slurmd, "-D", "-f", self.folder / "slurm.conf")
            self.wait_for("slurmd", self.runs_a_job)
            self.undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self.undo.close()

    def configure(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        controller_port, node_port = free_ports(2)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, host=socket.gethostname().split(".")[0], user=getpass.getuser(), ranks=RANKS,
            controller_port=controller_port, node_port=node_port))
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self, *command):
        self.daemons.append(Running(command, self.environment))

    def wait_for(self, name, ready):
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if time.monotonic() > deadline or any(each.process.poll() is not None for each in self.daemons):
                raise Failure(f"{name} does not come up:\n{self.logs()}")
            time.sleep(0.1)

    def runs_a_job(self):
        command = [self.srun, "--immediate=2", "-n", "1", "true"]
        return run(command, START_SECONDS, self.environment).code == 0

    def logs(self):
        return "".join(f"{each.tail()}\n" for each in self.daemons)

    def stop(self):
        # The last started first: slurmd ends what it runs, and both need munged until then.
        for each in reversed(self.daemons):
            each.process.terminate()
            try:
                each.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
            each.end()


def has_plugin(cluster, kind):
    """Whether this Slurm can speak `kind`: without PMIx's own library its plugin for PMIx is of no use."""
    command = [cluster.srun, f"--mpi={kind}", "-n", "1", "true"]
    done = run(command, START_SECONDS, cluster.environment)
    if "can not load PMIx library" in done.output:
        raise Skip("Slurm finds no libpmix.so (scripts/setup.sh slurm)")
    require(done.code == 0, f"srun --mpi={kind} true: {done.output}\n{cluster.logs()}")


def world(site, kind):
    program = site.program("exchange")
    with Cluster() as cluster:
        has_plugin(cluster, kind)
        result = site.run([cluster.srun, f"--mpi={kind}", "-n", RANKS, program], cluster.environment).ok("exchange")
        require(f"ranks={RANKS}" in result.output, f"not one job of {RANKS} ranks:\n{result.output}")


def cases(site):
    for kind in ("pmi2", "pmix"):
        yield f"under Slurm's srun --mpi={kind}", lambda kind=kind: world(site, kind)
