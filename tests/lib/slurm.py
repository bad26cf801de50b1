"""Slurm in a folder, on ports and with a key of its own: a cluster of this machine or of virtual hosts, for as long as the cases run."""

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

DAEMONS = ("munged", "slurmctld", "slurmd")
START_SECONDS = 30

# Nodes have as many processors as the cases have ranks, whatever the machine has; processes are found by their group, so
# no cgroup is needed. A key signs messages (munge): without one any local user could start jobs here.
CONFIGURATION = """
ClusterName=weft-test
SlurmctldHost={controller}({address})
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={private}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
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
        raise Skip(f"{name} is not among the commands of this target (make slurm, make hosts)")
    return found


class Machine:
    """This machine as a node. `private` is a folder of the node's own, none of other nodes'."""

    def __init__(self, private):
        self.name, self.node_address, self.private = socket.gethostname().split(".")[0], "127.0.0.1", private

    def start(self, command, environment):
        return Running(command, environment)

    def run(self, command, environment, timeout):
        return run(command, timeout, environment)


class VirtualHost:
    """A virtual host as a node; /run is its own."""

    def __init__(self, host):
        self.name, self.node_address, self.private = host.name, host.address(), "/run"
        self.start, self.run = host.start, host.run


class Cluster:
    """Started by `with`; every daemon is a child in the foreground. The first node has the controller, and srun is run there.
    `folder` is one that all nodes see."""

    def __init__(self, nodes, processors, folder):
        self.nodes, self.processors, self.folder = nodes, processors, pathlib.Path(folder)
        self.daemons = []

    def __enter__(self):
        munged, slurmctld, slurmd, self.srun = [daemon(name) for name in (*DAEMONS, "srun")]
        with contextlib.ExitStack() as undo:
            undo.callback(self.stop)
            self.configure()
            for node in self.nodes:
                files = [f"--{what}={node.private}/munged.{what[:3]}" for what in ("pid-file", "log-file", "seed-file")]
                private = f"{node.private}/munge.socket"
                self.start(node, munged, "--foreground", "--force", "--num-threads=1", f"--socket={private}",
                           f"--key-file={self.folder}/munge.key", *files)
                self.wait_for("munged", lambda: node.run(["test", "-S", private], {}, timeout=START_SECONDS).code == 0)
            self.start(self.nodes[0], slurmctld, "-D", "-c", "-f", self.folder / "slurm.conf")
            for node in self.nodes:
                self.start(node, slurmd, "-D", "-N", node.name, "-f", self.folder / "slurm.conf")
            self.wait_for("slurmd", self.runs_a_job)
            self.undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self.undo.close()

    def configure(self):
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        controller_port, node_port = free_ports(2)
        nodes = [f"NodeName={node.name} NodeAddr={node.node_address} CPUs={self.processors} State=UNKNOWN" for node in self.nodes]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, controller=self.nodes[0].name, address=self.nodes[0].node_address, private=self.nodes[0].private,
            user=getpass.getuser(), controller_port=controller_port, node_port=node_port, nodes="\n".join(nodes)))
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self, node, *command):
        self.daemons.append(node.start(command, self.environment))

    def wait_for(self, name, ready):
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if time.monotonic() > deadline or any(each.process.poll() is not None for each in self.daemons):
                raise Failure(f"{name} does not come up:\n{self.logs()}")
            time.sleep(0.1)

    def runs_a_job(self):
        everywhere = [f"-N{len(self.nodes)}", f"-n{len(self.nodes)}"]
        return self.nodes[0].run([self.srun, "--immediate=2", *everywhere, "true"], self.environment, timeout=START_SECONDS).code == 0

    def require_plugin(self, kind):
        """Skip where this Slurm cannot speak `kind`: without PMIx's own library its plugin for PMIx is of no use."""
        command = [self.srun, f"--mpi={kind}", "-n", "1", "true"]
        done = self.nodes[0].run(command, self.environment, timeout=START_SECONDS)
        if "can not load PMIx library" in done.output:
            raise Skip("Slurm finds no libpmix.so (scripts/setup.sh slurm)")
        require(done.code == 0, f"srun --mpi={kind} true: {done.output}\n{self.logs()}")

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


@contextlib.contextmanager
def cluster_of_this_machine(processors):
    # Short: the daemons' sockets lie below, and a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Cluster([Machine(folder)], processors, folder) as cluster:
        yield cluster


@contextlib.contextmanager
def cluster_of(hosts, processors, folder):
    """A cluster of all virtual hosts of a bed that shares `folder`; its daemons belong to the bed."""
    with Cluster([VirtualHost(host) for host in hosts], processors, folder) as cluster:
        hosts.settle()
        yield cluster
