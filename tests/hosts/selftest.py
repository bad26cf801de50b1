"""The bed itself: hosts share nothing, reach each other, are shaped, fail and end as asked."""

import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from lib.cases import Skip, require
from lib.commands import REPOSITORY
from lib.hosts import Hosts
from lib.processes import output_of, run

UP_SECONDS = 20
USER_ID = 64999
# A server that answers what it is told, and a client that says how long each of ROUNDS took, or what it saw instead.
SERVER = """
import socket
server = socket.create_server(("", 7000))
print("listening", flush=True)
while True:
    peer = server.accept()[0]
    while text := peer.recv(65536):
        peer.sendall(text[-1:])
"""
CLIENT = """
import socket, sys, time
host, rounds, size, pause, limit = sys.argv[1], *map(float, sys.argv[2:])
begin = time.monotonic()
peer = socket.create_connection((host, 7000), limit)
print("connected", time.monotonic() - begin, flush=True)
for _ in range(int(rounds)):
    begin = time.monotonic()
    try:
        peer.sendall(b"x" * int(size) + b"\\n")
        while (answer := peer.recv(65536)) and answer[-1:] != b"\\n":
            pass
        print("answered" if answer else "closed", time.monotonic() - begin, flush=True)
    except OSError as why:
        print(type(why).__name__, time.monotonic() - begin, flush=True)
        break
    if not answer:
        break
    time.sleep(pause)
"""


def until_it_says(running, word, seconds=20):
    deadline = time.monotonic() + seconds
    while word not in running.text():
        require(running.process.poll() is None and time.monotonic() < deadline, f"no `{word}`:\n{running.tail()}")
        time.sleep(0.005)


def server(host):
    running = host.start([sys.executable, "-c", SERVER])
    until_it_says(running, "listening")
    return running


def client(host, to, rounds=1, size=0, pause=0, limit=10):
    return host.start([sys.executable, "-c", CLIENT, to, rounds, size, pause, limit])


def told(text, word):
    """The seconds beside each line that begins with the word."""
    return [float(line.split()[1]) for line in text.splitlines() if line.startswith(f"{word} ")]


def isolation():
    with Hosts(2) as hosts:
        for path in ("/proc/sys/kernel/random/boot_id", "/etc/hostname", "/etc/machine-id"):
            if os.path.exists(path):
                seen = {host.output(["cat", path]) for host in hosts} | {pathlib.Path(path).read_text()}
                require(len(seen) == 3, f"{path} is not each host's own: {seen}")
        sleeping = hosts[0].start(["sleep", "31415"])
        until_gone = time.monotonic() + 5
        while not any("31415" in line for line in hosts[0].processes().values()):
            require(time.monotonic() < until_gone, "host0 does not show its own process")
        show = 'cat /proc/[0-9]*/cmdline | tr "\\0" " "; ls /tmp /dev/shm'
        hosts[0].output(["touch", "/tmp/of-host0", "/dev/shm/of-host0"])
        seen = hosts[1].output(["sh", "-c", show])
        require("31415" not in seen and "of-host0" not in seen, f"host1 sees what is host0's:\n{seen}")
        require(not os.path.exists("/tmp/of-host0") and not os.path.exists("/dev/shm/of-host0"), "the machine sees what is host0's")
        left = hosts.left()
        require(len(left) == 3 and all(line.startswith("host0: ") for line in left), f"not the three things left:\n{left}")
        sleeping.end()
        hosts[0].output(["rm", "/tmp/of-host0", "/dev/shm/of-host0"])
        hosts.check_clean()


def ssh():
    with Hosts(3) as hosts:
        for one in hosts:
            for other in hosts:
                for name in (other.name, f"{other.name}-6", other.address(), other.address(family=6)):
                    require(one.output(["ssh", name, "hostname"]) == f"{other.name}\n", f"ssh {name} from {one.name} leads elsewhere")
        require(hosts[0].output(["ssh", "host1", "ssh host2 ssh host0 hostname"]) == "host0\n", "from host to host to host")
        require(hosts[0].run(["ssh", "host1", "exit 7"]).code == 7, "the exit code is lost")
        hosts.check_clean()


def one_cpu_group():
    groups = pathlib.Path("/proc/self/cgroup")
    before = groups.read_text()
    with Hosts(2) as hosts:
        made = hosts.group.group
        if not made:
            raise Skip("no CPU control group can be made here, or none is needed")
        inside = {host.output(words) for host in hosts for words in (["cat", str(groups)], ["ssh", "host1", f"cat {groups}"])}
        require(inside == {groups.read_text()} and inside != {before}, f"not one group: {inside}, and here {groups.read_text()}")
    require(groups.read_text() == before and not made.exists(), f"the group stays: {groups.read_text()}")


def shared_folder():
    with tempfile.TemporaryDirectory() as folder, Hosts(2, share=[folder]) as hosts:
        hosts[0].output(["sh", "-c", f"echo text >{folder}/file"])
        require(hosts[1].output(["cat", f"{folder}/file"]) == "text\n", "a shared folder is not")
        require(not hosts.left(), f"the shared folder is taken for something left behind: {hosts.left()}")


def interfaces():
    with Hosts(2, interfaces=3) as hosts:
        for interface in range(3):
            for family in (4, 6):
                address = hosts[1].address(interface, family)
                route = hosts[0].output(["ip", "route", "get", address])
                require(f"dev eth{interface} " in route, f"{address}: {route}")
                require(hosts[0].output(["ssh", address, "hostname"]) == "host1\n", f"ssh {address}")
        require(hosts[0].output(["ssh", "host1-eth2-6", "hostname"]) == "host1\n", "by the interface's name")
        one_cable(hosts)


def one_cable(hosts):
    """One interface's cable is out, the others' are not."""
    hosts[1].link(False, interface=1)
    carriers = [hosts[1].output(["cat", f"/sys/class/net/eth{interface}/carrier"]).strip() for interface in range(3)]
    require(carriers == ["1", "0", "1"], f"which cable is out: {carriers}")
    require(hosts[0].output(["ssh", "host1", "hostname"]) == "host1\n", "by the interface that is up")
    hosts[1].link(True, interface=1)
    require(hosts[0].output(["ssh", "host1-eth1", "hostname"]) == "host1\n", "by the interface that is up again")


def interfaces_shaped():
    with Hosts(2, interfaces=3, delay_us=100) as hosts:
        one_cable(hosts)


def one_family(family, other):
    with Hosts(2, families=(family,)) as hosts:
        require(hosts[0].output(["ssh", "host1", "hostname"]) == "host1\n", f"IPv{family} alone")
        addresses = hosts[0].output(["ip", "addr", "show", "dev", "eth0", "scope", "global"])
        require(hosts[0].address(family=family) in addresses and hosts[0].address(family=other) not in addresses, addresses)


def delay():
    with Hosts(2, delay_us=20000) as hosts:
        serving = server(hosts[1])
        times = told(client(hosts[0], "host1", rounds=5).finish(20).output, "answered")
        serving.end()
        require(len(times) == 5 and min(times) >= 0.040 and min(times) < 0.080, f"20 ms each way: {times}")


def rate():
    with Hosts(2, rate_mbit=80) as hosts:
        serving = server(hosts[1])
        times = told(client(hosts[0], "host1", rounds=2, size=5_000_000).finish(30).output, "answered")
        serving.end()
        require(len(times) == 2 and 0.45 <= min(times) < 2, f"5 MB at 10 MB/s: {times}")


def loss():
    with Hosts(2, loss_percent=5) as hosts:
        serving = server(hosts[1])
        times = told(client(hosts[0], "host1", rounds=20, size=200_000).finish(60).output, "answered")
        serving.end()
        require(len(times) == 20, f"something was lost for good: {times}")
        lines = [line.split() for line in hosts[0].output(["cat", "/proc/net/snmp"]).splitlines() if line.startswith("Tcp:")]
        again = int(dict(zip(*lines))["RetransSegs"])
        # 20 times some 140 packets of 1448 bytes, of which five in a hundred are lost.
        require(again >= 20, f"{again} packets sent again")


def link(shaped):
    """A connection outlives three seconds without a link, and a new one waits for it."""
    with Hosts(2, **shaped) as hosts:
        serving = server(hosts[1])
        talking = client(hosts[0], "host1", rounds=6, pause=0.1, limit=30)
        until_it_says(talking, "answered")
        hosts[1].link(False)
        time.sleep(3)
        carrier = hosts[1].output(["cat", "/sys/class/net/eth0/carrier"])
        require(carrier == "0\n", f"host1 does not see that its cable is out: {carrier}")
        before = talking.text()
        hosts[1].link(True)
        result = talking.finish(30)
        serving.end()
        require(len(told(before, "answered")) < 6, f"it went on without a link:\n{before}")
        times = told(result.output, "answered")
        require(len(times) == 6 and max(times) > 2, f"the connection did not live on:\n{result.output}")


def death(vanish):
    """A killed host's kernel closes its connections; of a host that vanished nothing is heard."""
    with Hosts(2) as hosts:
        server(hosts[1])
        talking = client(hosts[0], "host1", rounds=1000, pause=0.05, limit=3)
        until_it_says(talking, "answered")
        begin = time.monotonic()
        hosts[1].vanish() if vanish else hosts[1].kill()
        require(time.monotonic() - begin < 5 and not hosts[1].alive() and not hosts[1].processes(), "the host lives on")
        last = talking.finish(20).output.splitlines()[-1]
        if vanish:
            require(last.startswith("TimeoutError "), f"somebody answers for the host that vanished: {last}")
        else:
            require(re.match("closed|ConnectionReset|BrokenPipe", last), f"nobody tells that the host was killed: {last}")


def several_beds():
    with Hosts(2) as one, Hosts(2) as other:
        serving = [server(bed[1]) for bed in (one, other)]
        for bed in (one, other):
            require(told(client(bed[0], "host1").finish(20).output, "answered"), "two beds disturb each other")
        one.close()
        require(told(client(other[0], "host1").finish(20).output, "answered"), "a bed ends with another")
        for each in serving:
            each.end()


@functools.cache
def require_hosts():
    """Skips where the machine makes none: what starts a bed in a process of its own would fail there."""
    with Hosts(1):
        pass


# Says what must be gone once it is killed, and waits for that.
BEREAVED = """
import sys, time
sys.path.append(sys.argv[1])
from lib.hosts import Hosts
hosts = Hosts(2, delay_us=100).__enter__()
hosts[0].start(["ssh", "host1", "sleep 27182"])
while not any("27182" in line for line in hosts[1].processes().values()):
    time.sleep(0.01)
print("ids", hosts.outer, *(pid for host in hosts for pid in (host.first, *host.processes())), flush=True)
time.sleep(600)
"""


def killed():
    """kill -9 of the test: every process of the bed ends; there is no file to stay."""
    require_hosts()
    before = set(os.listdir(tempfile.gettempdir()))
    tester = subprocess.Popen([sys.executable, "-c", BEREAVED, str(REPOSITORY / "tests")], stdout=subprocess.PIPE, text=True)
    ids = tester.stdout.readline().split()[1:]
    tester.kill()
    tester.wait()
    tester.stdout.close()
    require(len(ids) >= 5, f"the bed did not come up: {ids}")
    deadline = time.monotonic() + 5
    while left := [pid for pid in ids if os.path.exists(f"/proc/{pid}")]:
        require(time.monotonic() < deadline, f"processes outlive the test: {left}")
        time.sleep(0.02)
    files = {name for name in set(os.listdir(tempfile.gettempdir())) - before if "bed" in name or "host" in name}
    require(not files, f"files are left: {files}")


def eight():
    begin = time.monotonic()
    with Hosts(8) as hosts:
        seconds = time.monotonic() - begin
        require(hosts[7].output(["ssh", "host0", "hostname"]) == "host0\n", "host7 does not reach host0")
    print(f"        8 hosts up in {seconds:.2f} s", flush=True)
    require(seconds < UP_SECONDS, f"8 hosts took {seconds:.1f} s")


BY_HAND = [
    *(["up", "2", "--interfaces", "2"], ["exec", "1", "ssh", "host0", "hostname"]),
    *(["link", "0", "down"], ["link", "0", "up"], ["link", "0", "down", "1"], ["link", "0", "up", "1"], ["down"]),
]


def by_hand():
    require_hosts()
    words = [sys.executable, REPOSITORY / "tests/hosts/bed.py"]
    name = {"WEFT_BED": f"selftest-{os.getpid()}"}
    # The holder outlives `up` on purpose, so it is not looked for by its mark.
    done = [subprocess.run([*map(str, words), *line], env=os.environ | name, capture_output=True, text=True, timeout=60) for line in BY_HAND]
    for line, each in zip(BY_HAND, done):
        require(each.returncode == 0, f"bed.py {' '.join(line)}: {each.stdout}{each.stderr}")
    require(done[1].stdout == "host0\n", f"exec in host1: {done[1].stdout}")


AS_USER = """
import sys
sys.path.append(sys.argv[1])
from lib.cases import Skip
from lib.hosts import Hosts
try:
    with Hosts(2) as hosts:
        said = hosts[0].output(["ssh", "host1-6", "echo it is $(hostname) $(id -u)"])
        assert f"it is host1 {sys.argv[2]}\\n" in said, said
        hosts.check_clean()
        hosts[1].vanish()
        print("ok user")
except Skip as why:
    print("skipped:", why)
"""


def ordinary_user():
    """Root plays a user who is known for as long as that, to these processes alone."""
    if os.geteuid() != 0:
        raise Skip("all cases have been an ordinary user's")
    require_hosts()
    become = [f"--{kind}={USER_ID}" for kind in ("reuid", "regid")] + ["--clear-groups", "--inh-caps=-all"]
    if run(["setpriv", *become, "test", "-r", __file__], 10).code != 0:
        raise Skip(f"{__file__} cannot be read by others")
    with tempfile.NamedTemporaryFile("w", suffix=".passwd") as passwd:
        passwd.write(f"{pathlib.Path('/etc/passwd').read_text()}weft-bed:x:{USER_ID}:{USER_ID}::/nonexistent:/bin/sh\n")
        passwd.flush()
        os.chmod(passwd.name, 0o644)
        mounted = ["unshare", "--mount", "sh", "-c", f'mount --bind {passwd.name} /etc/passwd && exec "$@"', "sh"]
        # The folder of links to declared commands is root's alone.
        test = ["env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "/usr/bin/python3", "-B", "-c", AS_USER, REPOSITORY / "tests", USER_ID]
        said = output_of([*mounted, "setpriv", *become, *test], 60)
    if "skipped:" in said:
        raise Skip(said.strip())
    require("ok user" in said, said)


def cases(site):
    yield "bed: hosts share nothing", isolation
    yield "bed: ssh by name, IPv4 and IPv6, from each host to each", ssh
    yield "bed: three interfaces a host", interfaces
    yield "bed: loss", loss
    yield "bed: a host is killed", lambda: death(vanish=False)
    yield "bed: a host vanishes", lambda: death(vanish=True)
    yield "bed: nothing outlives a killed test", killed
    yield "bed: by hand", by_hand
    yield "bed: one CPU group", one_cpu_group
    yield "bed: of an ordinary user", ordinary_user
    if site.quick:
        return
    yield "bed: a shared folder", shared_folder
    yield "bed: IPv6 alone", lambda: one_family(6, 4)
    yield "bed: IPv4 alone", lambda: one_family(4, 6)
    yield "bed: three interfaces a host, shaped", interfaces_shaped
    yield "bed: a delay", delay
    yield "bed: a rate", rate
    yield "bed: a link that is out for a while", lambda: link({})
    yield "bed: a link that is out for a while, shaped", lambda: link({"delay_us": 100})
    yield "bed: two beds side by side", several_beds
    yield "bed: 8 hosts", eight
