"""Virtual hosts on this machine, to try programs that run between hosts.

    with Hosts(3, interfaces=2) as hosts:
        hosts[0].run(["ssh", "host2", "hostname"])
        hosts[1].link(False)

A host has network, PID, mount, UTS and IPC namespaces of its own: hostname, processes, /proc, /sys, /dev/shm, /tmp, /run, boot id and
machine id. Neither shared memory nor a process id, a descriptor or process_vm_readv reaches from one to another. The other file systems are this
machine's, as over NFS; of /tmp only the folders of `share` and this checkout are seen. Host K is called hostK, and hostK-6 by IPv6; its
interface I is ethI with 10.(77+I).0.(K+1) and fd77:I::(K+1), by name hostK-ethI and hostK-ethI-6. On port 22 an sshd answers everybody who
has the bed's key, which all hosts have.

Unshaped, the wire is a bridge with veth pairs. Shaped, it is netem or, where the kernel has none, a switch in user space (virtual/wire.c): that one takes
processor time and has no segmentation offload, so it is for tests of correctness, not for figures.

The hosts share this machine's processors. All their processes, and the one that makes the bed, are in one CPU control group where one can be made
(cpu_group): as sessions of their own they would starve each other.

All of it lives in a PID namespace whose first process reads from a pipe: when the process that made the bed ends, however it ends, so does every process
in there, and with them the mounts and interfaces. Files of the bed lie in a tmpfs of its own. So nothing stays behind, and beds do not see each other.

An ordinary user has the same, where user namespaces are permitted, but for this: the hosts' only user is the one who made the bed, without any
privilege in there (ping, mount and tcpdump are not to be had), and sshd lets nobody else in."""

import collections
import fnmatch
import ipaddress
import os
import pathlib
import pwd
import subprocess
import tempfile
import time

from lib.cases import Failure, Skip, require
from lib.commands import REPOSITORY, checked
from lib.compiler import compile_program, plain_compiler
from lib.cpu_group import CpuGroup
from lib.processes import MARK, Running, inherited_file, output_of, written

VIRTUAL = pathlib.Path(__file__).resolve().parent / "virtual"
MOST_HOSTS, MOST_INTERFACES = 200, 8
BOOT_SECONDS = 60
GONE_SECONDS = 10
REFUSED = ("not permitted", "ermission denied", "No space left", "nvalid argument")

SSH_CONFIG = f"""
IdentityFile /etc/ssh/id
IdentitiesOnly yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
KexAlgorithms curve25519-sha256
SendEnv {MARK}
"""
# The folders above a user's keys belong to nobody in his user namespace, so sshd must not mind their owner. A session whose client
# cannot be reached any more ends after 15 s; sshd alone would keep it for hours.
SSHD_CONFIG = f"""
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/authorized_keys
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
PidFile none
ClientAliveInterval 5
ClientAliveCountMax 3
MaxStartups 400
MaxSessions 400
AcceptEnv {MARK}
"""

Wire = collections.namedtuple("Wire", "delay_us rate_mbit loss_percent seed")


def first_child(pid, generations):
    """The process that many generations below, each the only child of the one above; they may not yet be there."""
    for _ in range(generations):
        deadline = time.monotonic() + BOOT_SECONDS
        while not (children := pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
            require(time.monotonic() < deadline, f"process {pid} makes no child")
            time.sleep(0.001)
        pid = int(children[0])
    return pid


def ids(pid):
    """A process's ids, as text: on this machine, in the namespace around the hosts if it is in there, and in its host."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]


class Started:
    """A process of the bed that says in one line that it is ready, and ends with its standard input."""

    def __init__(self, words, **options):
        self.words, self.errors = checked(words), inherited_file()
        self.process = subprocess.Popen(
            self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True, **options
        )

    def expect(self, line):
        said = self.process.stdout.readline().decode()
        if said != line + "\n":
            self.process.wait()
            why = f"{' '.join(self.words)}: {said}{self.said()}"
            raise Skip(f"no virtual hosts here: {why}") if any(word in why for word in REFUSED) else Failure(why)

    def said(self):
        return written(self.errors)

    def tell(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.errors):
            file.close()


class Host:
    """One of the hosts. `enter` is the command prefix that runs something in it; `first` is its process 1, as this machine numbers it."""

    def __init__(self, bed, index, started):
        self.bed, self.index, self.name, self.started = bed, index, f"host{index}", started
        started.expect("booted")
        # nsenter, unshare, boot.sh.
        self.first = first_child(started.process.pid, 2)
        self.namespace = os.readlink(f"/proc/{self.first}/ns/pid")
        self.network = [*bed.as_root, "nsenter", "-t", str(self.first), "-n", "--"]
        self.enter = [*bed.as_root, "nsenter", "-t", str(self.first), *bed.kinds, "--"]
        self.own = set()

    def address(self, interface=0, family=4):
        if family == 4:
            return f"10.{77 + interface}.0.{self.index + 1}"
        return str(ipaddress.IPv6Address(f"fd77:{interface}::{self.index + 1:x}"))

    def words(self, command):
        return [*self.enter, "env", f"--chdir={os.getcwd()}", *map(str, command)]

    def start(self, command, environment=None, **options):
        """The command as a lib.processes.Running; a signal to its `process` does not reach what runs in here: use `processes`."""
        return Running(self.words(command), environment, **options)

    def run(self, command, environment=None, timeout=60, **options):
        return self.start(command, environment, **options).finish(timeout)

    def output(self, command, timeout=60, **options):
        return output_of(self.words(command), timeout, **options)

    def ip(self, *words):
        """The host's administrator sets its network up."""
        output_of([*self.network, "ip", *words])

    def link(self, up, interface=None):
        """Plugs all cables of the host, or that of one interface, in or out: no frame passes, and the host sees that the carrier is gone."""
        self.bed.plug(self.index, up, range(self.bed.interfaces) if interface is None else [interface])

    def list_adapter(self, name="softrdma0"):
        """From now on the host's kernel lists an RDMA adapter of that name, so that a program that looks whether there is one loads what
        drives it. Of what else there is in /sys/class the interfaces stay."""
        script = "mkdir /run/net && mount --bind /sys/class/net /run/net && mount -t tmpfs tmpfs /sys/class && mkdir -p /sys/class/net" \
            f" /sys/class/infiniband/{name} && mount --move /run/net /sys/class/net && rmdir /run/net"
        self.output(["sh", "-c", script])

    def kill(self):
        """All processes end at once, as by kill -9: their connections are closed by the kernel; then the interfaces vanish."""
        if self.alive():
            os.kill(self.first, 9)
        self.started.process.wait(GONE_SECONDS)

    def vanish(self):
        """The host is gone without a word: nothing that its kernel says when processes end leaves the host."""
        self.link(False)
        self.kill()

    def alive(self):
        return self.started.process.poll() is None

    def root(self, path):
        """A path of the host, as this machine reaches it."""
        return pathlib.Path(f"/proc/{self.first}/root/{path}")

    def processes(self):
        """Those that run in the host beside process 1: {id on this machine: command line}."""
        found = {}
        for entry in os.scandir("/proc"):
            try:
                if entry.name.isdigit() and int(entry.name) != self.first and os.readlink(f"{entry.path}/ns/pid") == self.namespace:
                    line = pathlib.Path(f"{entry.path}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found[int(entry.name)] = line.strip() or "(ending)"
            except OSError:
                pass  # ended meanwhile, or not ours to look at
        return found

    def contents(self):
        """What there is in the host that a job could leave behind: processes, files in /dev/shm, /tmp and /run."""
        shares = {str(share).split("/")[2] for share in self.bed.shares}
        files = {f"{folder}/{name}" for folder in ("/dev/shm", "/tmp", "/run") for name in os.listdir(self.root(folder))}
        # /run/mount is mount(8)'s.
        files -= {"/run/sshd", "/run/lock", "/run/mount"} | {f"/tmp/{name}" for name in shares}
        return files | {f"process {pid}: {line}" for pid, line in self.processes().items()}


class Hosts:
    """The bed; a sequence of its hosts. `share` are folders below /tmp; one of delay, rate and loss makes the wire a shaped one."""

    def __init__(self, count, *, interfaces=1, families=(4, 6), delay_us=0, rate_mbit=0, loss_percent=0, seed=1, share=()):
        require(1 <= count <= MOST_HOSTS and 1 <= interfaces <= MOST_INTERFACES, f"{count} hosts with {interfaces} interfaces")
        self.count, self.interfaces, self.families = count, interfaces, families
        self.wire = Wire(delay_us, rate_mbit, loss_percent, seed)
        folders = {pathlib.Path(folder).resolve() for folder in (*share, REPOSITORY)}
        self.shares = sorted(folder for folder in folders if folder.is_relative_to("/tmp"))
        self.user = pwd.getpwuid(os.geteuid())
        # The namespaces that a host has of its own; an ordinary user's are owned by a user namespace.
        self.kinds = ["-n", "-p", "-m", "-u", "-i", *(["-U", "--preserve-credentials"] if self.user.pw_uid else [])]
        self.started, self.hosts, self.switch, self.group = [], [], None, None

    def __enter__(self):
        try:
            self.group = CpuGroup()
            self.make_outer()
            self.write_files()
            boots = [self.boot(index) for index in range(self.count)]
            for index, started in enumerate(boots):
                self.hosts.append(Host(self, index, started))
            self.make_wire()
            for host in self.hosts:
                host.started.tell(self.addresses(host))
                host.started.process.stdin.close()
            for host in self.hosts:
                self.wait_for_sshd(host)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.hosts[index]

    def names(self):
        return [host.name for host in self.hosts]

    def close(self):
        """Ends the namespace of all, and with it everything; idempotent. The outer process ends when all in there have ended."""
        if self.started and self.started[0].process.poll() is None:
            self.started[0].process.stdin.close()
            self.started[0].process.wait(GONE_SECONDS)
        while self.started:
            self.started.pop(0).end()
        if self.group:
            self.group.close()

    def begin(self, words, **options):
        self.started.append(Started(words, **options))
        return self.started[-1]

    def make_outer(self):
        """The namespaces around all hosts: the switches' network, and a /run for the bed's files."""
        as_root = ["--map-root-user"] if self.user.pw_uid else []
        script = "mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/bed /run/bed/ssh && echo ready && read -r end"
        kinds = ["--net", "--mount", "--uts", "--ipc", "--pid", "--mount-proc", "--fork", "--kill-child"]
        outer = self.begin(["unshare", *as_root, *kinds, "sh", "-c", script])
        outer.expect("ready")
        self.outer = first_child(outer.process.pid, 1)
        self.files = pathlib.Path(f"/proc/{self.outer}/root/run/bed")
        self.as_root = ["nsenter", "-t", str(self.outer), "-U", "--preserve-credentials", "--"] if self.user.pw_uid else []
        self.inside = ["nsenter", "-t", str(self.outer), *self.kinds, "--"]
        self.network = [*self.as_root, "nsenter", "-t", str(self.outer), "-n", "--"]

    def write_files(self):
        ssh = self.files / "ssh"
        ssh.chmod(0o700)
        for name in ("id", "ssh_host_ed25519_key"):
            output_of(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "virtual hosts", "-f", ssh / name])
        (ssh / "authorized_keys").write_bytes((ssh / "id.pub").read_bytes())
        (ssh / "ssh_config").write_text(SSH_CONFIG)
        (ssh / "sshd_config").write_text(SSHD_CONFIG)
        lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"]
        for index in range(self.count):
            for interface in range(self.interfaces):
                names = [f"host{index}", f"host{index}-eth0"] if interface == 0 else [f"host{index}-eth{interface}"]
                lines.append(f"10.{77 + interface}.0.{index + 1} {' '.join(names)}")
                # Where there is no IPv4 the plain name is IPv6's.
                six = [f"{name}-6" for name in names] + (names if 4 not in self.families else [])
                lines.append(f"fd77:{interface}::{index + 1:x} {' '.join(six)}")
        wanted = [line for line in lines if (":" in line and 6 in self.families) or (":" not in line and 4 in self.families) or "localhost" in line]
        (self.files / "etc-hosts").write_text("\n".join(wanted) + "\n")

    def add_name(self, name, host):
        """From now on all hosts know the host by this name, too."""
        with open(self.files / "etc-hosts", "a") as table:
            table.write(f"{host.address()} {name}\n")

    def boot(self, index):
        kinds = ["--net", "--uts", "--ipc", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child"]
        who = [self.user.pw_uid, self.user.pw_gid, self.user.pw_dir]
        boot = ["sh", VIRTUAL / "boot.sh", f"host{index}", *who, *self.shares]
        return self.begin([*self.inside, "unshare", *kinds, *boot])

    def addresses(self, host):
        """What `ip` is told inside the host."""
        lines = ["link set lo up"]
        for interface in range(self.interfaces):
            for family, length in ((4, 24), (6, 64)):
                if family in self.families:
                    lines.append(f"addr add {host.address(interface, family)}/{length} dev eth{interface}" + " nodad" * (family == 6))
            lines.append(f"link set eth{interface} up")
        return "\n".join(lines) + "\n"

    def make_wire(self):
        words = self.netem_words()
        shaped = any(self.wire[:3])
        if shaped and not self.has_netem():
            self.make_switch()
            return
        lines = []
        for interface in range(self.interfaces):
            lines += [f"link add switch{interface} type bridge", f"link set switch{interface} up"]
            for host in self.hosts:
                port = f"port{interface}-{host.index}"
                lines.append(f"link add {port} type veth peer name eth{interface} netns {host.first}")
                lines.append(f"link set {port} master switch{interface} up")
        self.batch("ip", lines)
        if shaped:
            # Towards the host, so that each direction of a path is shaped once.
            self.batch("tc", [f"qdisc add dev {port} root netem {words}" for port in self.ports()])

    def batch(self, tool, lines):
        with tempfile.TemporaryFile() as file:
            file.write("\n".join(lines).encode() + b"\n")
            file.seek(0)
            output_of([*self.network, tool, "-batch", "-"], stdin=file)

    def ports(self):
        return [f"port{interface}-{host}" for interface in range(self.interfaces) for host in range(self.count)]

    def netem_words(self):
        words = ["limit 100000"]
        if self.wire.delay_us:
            words.append(f"delay {self.wire.delay_us}us")
        if self.wire.rate_mbit:
            words.append(f"rate {self.wire.rate_mbit}mbit")
        if self.wire.loss_percent:
            words.append(f"loss {self.wire.loss_percent}%")
        return " ".join(words)

    def has_netem(self):
        probe = [*self.network, "tc", "qdisc", "add", "dev", "lo", "root", "netem", "limit", "1"]
        return subprocess.run(checked(probe), stderr=subprocess.DEVNULL).returncode == 0

    def make_switch(self):
        program = compile_program(plain_compiler(), [VIRTUAL / "wire.c", "-O2"], self.files / "wire")
        ns_per_kbyte = int(8e6 / self.wire.rate_mbit) if self.wire.rate_mbit else 0
        shape = [self.wire.delay_us * 1000, ns_per_kbyte, int(self.wire.loss_percent * 10000), self.wire.seed]
        pids = [ids(host.first)[-2] for host in self.hosts]
        self.switch = self.begin([*self.inside, f"/run/bed/{program.name}", self.count, self.interfaces, *shape, *pids])
        self.switch.expect("ready")

    def plug(self, index, up, interfaces):
        word = "up" if up else "down"
        if not self.switch:
            self.batch("ip", [f"link set port{interface}-{index} {word}" for interface in interfaces])
            return
        for interface in interfaces:
            self.switch.tell(f"{word} {index} {interface}\n")
            self.switch.expect("done")

    def wait_for_sshd(self, host):
        deadline = time.monotonic() + BOOT_SECONDS
        # A socket in state 0A listens; port 22 is 0016.
        while not any(":0016 " in line and " 0A " in line for table in ("tcp", "tcp6") for line in self.sockets(host, table)):
            if not host.alive() or time.monotonic() > deadline:
                raise Failure(f"no sshd in {host.name}:\n{host.started.said()}")
            time.sleep(0.005)

    def sockets(self, host, table):
        try:
            return pathlib.Path(f"/proc/{host.first}/net/{table}").read_text().splitlines()
        except OSError:
            return []  # a machine without IPv6, or a host that has just ended

    def settle(self):
        """What is in the hosts now belongs there: `left` does not count it."""
        for host in self.hosts:
            host.own = host.contents()

    def left(self, but=()):
        """What was left behind on the hosts that are alive, but for files that match one of these patterns."""
        left = [(host, what) for host in self.hosts if host.alive() for what in sorted(host.contents() - host.own)]
        return [f"{host.name}: {what}" for host, what in left if not any(fnmatch.fnmatch(str(what), pattern) for pattern in but)]

    def check_clean(self, seconds=15, but=()):
        """Demands that nothing of a job is left within that time, as `left` has it."""
        deadline = time.monotonic() + seconds
        while (left := self.left(but)) and time.monotonic() < deadline:
            time.sleep(0.05)
        require(not left, "left behind:\n" + "\n".join(left))
