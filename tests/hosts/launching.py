"""mpiexec on virtual hosts, with programs that are not MPI's: places, environment, output, input, endings. Nothing may stay on any host."""

import contextlib
import functools
import os
import pathlib
import signal
import tempfile
import time

from lib.cases import require
from lib.hosts import Hosts
from lib.slurm import cluster_of, daemon

HOSTS = 3
LIST = "host0:2,host1:2,host2"
RANKS = 5
END_SECONDS = 15
TREE_HOSTS = 36


class Launch:
    """Jobs that a host's mpiexec starts."""

    def __init__(self, site, hosts):
        self.mpiexec, self.hosts = (site.prefix / "bin/mpiexec").resolve(), hosts
        self.before = [host.contents() for host in hosts]

    def words(self, *arguments):
        return [self.mpiexec, "-hosts", LIST, "-n", RANKS, *arguments]

    def run(self, *arguments, environment=None, timeout=60):
        result = self.hosts[0].run(self.words(*arguments), environment, timeout)
        self.check_clean()
        return result

    @contextlib.contextmanager
    def running(self, *arguments):
        """A job whose ranks have all come up, each with a process of this name."""
        job = self.hosts[0].start(self.words(*arguments, "sleep", 1000))
        deadline = time.monotonic() + 60
        while sum(len(self.find(host, "sleep 1000")) for host in self.hosts) < RANKS:
            require(time.monotonic() < deadline, f"not all ranks come up:\n{job.tail()}")
            time.sleep(0.05)
        # Until mpiexec has heard of it, too.
        time.sleep(1)
        yield job

    def find(self, host, begin):
        return [pid for pid, line in host.processes().items() if line.startswith(begin)]

    def signal(self, host, begin, number):
        """To the first of these: their watchdogs have come after them."""
        found = self.find(host, begin)
        require(found, f"no `{begin}` runs:\n{host.processes()}")
        os.kill(min(found), number)

    def check_clean(self, hosts=None):
        """What a job leaves is gone soon after it; sshd's own processes are not the job's."""
        deadline = time.monotonic() + END_SECONDS
        while left := self.left(hosts or self.hosts):
            require(time.monotonic() < deadline, f"left behind: {left}")
            time.sleep(0.05)

    def left(self, hosts):
        found = {f"{host.name} {thing}" for host in hosts for thing in host.contents() - self.before[host.index]}
        return {thing for thing in found if ": sshd" not in thing}


def expect(result, code, *texts):
    require(result.code == code, f"exit code {result.code}, not {code}:\n{result.output}")
    for text in texts:
        require(text in result.output, f"`{text}` is not said:\n{result.output}")


@contextlib.contextmanager
def launch(site, count=HOSTS):
    with Hosts(count) as hosts:
        yield Launch(site, hosts)


def places(site):
    with launch(site) as job:
        show = "echo $PMI_RANK $MPI_LOCALRANKID $MPI_LOCALNRANKS $(hostname) $(pwd)"
        result = job.run("sh", "-c", show)
        here = pathlib.Path.cwd()
        expected = [f"0 0 2 host0 {here}", f"1 1 2 host0 {here}", f"2 0 2 host1 {here}", f"3 1 2 host1 {here}", f"4 0 1 host2 {here}"]
        require(sorted(result.output.splitlines()) == expected, result.output)


def environment(site):
    with launch(site) as job:
        values = {"CARRIED": "a b", "HOSTNAME": "wrong", "DISPLAY": ":7"}
        result = job.run("sh", "-c", 'echo "$CARRIED/$DISPLAY/${HOSTNAME:-none}"', environment=values)
        lines = sorted(result.output.splitlines())
        # On mpiexec's own host its own values hold.
        require(lines == ["a b//none"] * 3 + ["a b/:7/wrong"] * 2, result.output)
        result = job.run("-genvlist", "HOME", "/usr/bin/env", environment=values)
        require("CARRIED" not in result.output and result.output.count("HOME=") == RANKS, result.output)


def output(site):
    with launch(site) as job:
        result = job.run("-l", "seq", 1, 5000)
        lines = result.output.splitlines()
        for rank in range(RANKS):
            own = [line.split("] ")[1] for line in lines if line.startswith(f"[{rank}] ")]
            require(own == [str(number) for number in range(1, 5001)], f"rank {rank} lost or mixed {len(own)} lines")


def standard_input(site):
    with launch(site) as job, tempfile.TemporaryFile() as file:
        file.write(b"x" * 300_000)
        for who, sizes in (("4", [0, 0, 0, 0, 300_000]), ("all", [300_000] * RANKS)):
            file.seek(0)
            words = job.words("--stdin", who, "sh", "-c", "echo $PMI_RANK $(wc -c)")
            result = job.hosts[0].run(words, stdin=file)
            require(sorted(result.output.splitlines()) == [f"{rank} {size}" for rank, size in enumerate(sizes)], result.output)


def endings(site):
    with launch(site) as job:
        expect(job.run("sh", "-c", "[ $PMI_RANK != 3 ] || exit 9; sleep 1000"), 9, "rank 3 (", "on host1) exited with code 9")
        expect(job.run("sh", "-c", "[ $PMI_RANK != 4 ] || kill -9 $$; sleep 1000"), 137, "rank 4 (", "on host2) was killed by signal 9")
        expect(job.run("/nonexistent"), 127, "there is no program `/nonexistent`")
        expect(job.run("--timeout", 2, "sleep", 1000), 124, "rank 4 (", "has not called MPI_Init")


def hosts_that_fail(site):
    with launch(site) as job:
        for name, lines, text in (
            ("nobody", 2, "host nobody cannot be reached: ssh: Could not resolve hostname nobody"),
            ("10.77.0.99", 1, "host 10.77.0.99: nothing has answered within 2 s"),
        ):
            begin = time.monotonic()
            # In 3 s the kernel knows that an address is nobody's, and ssh says so.
            result = job.hosts[0].run([job.mpiexec, "-hosts", f"host1,{name}", "--launch-timeout", 2, "-n", 2, "sleep", 1000])
            expect(result, 1, text)
            # A name may come to mean something later: that it is tried again is one line, the end another.
            require(len(result.output.splitlines()) == lines, f"not {lines} lines:\n{result.output}")
            require(time.monotonic() - begin < END_SECONDS + 2, f"{name}: only after {time.monotonic() - begin:.1f} s")
        job.check_clean()


def killed(site, what):
    """mpiexec, an agent or an ssh is killed while ranks run."""
    with launch(site) as job, job.running() as running:
        host = job.hosts[1 if what == "agent" else 0]
        job.signal(host, {"agent": f"{job.mpiexec} --agent", "mpiexec": f"{job.mpiexec} -hosts", "ssh": "ssh "}[what], signal.SIGKILL)
        result = running.finish(END_SECONDS)
        if what != "mpiexec":
            expect(result, 1, "the connection to host host1 is lost")
        job.check_clean()


def host_is_cut_off(site):
    """Half-open connections: each side finds out by itself."""
    with launch(site) as job, job.running("--host-timeout", 3) as running:
        begin = time.monotonic()
        job.hosts[2].link(False)
        expect(running.finish(END_SECONDS), 1, "host host2: nothing has been heard from there for 3 s")
        require(time.monotonic() - begin < END_SECONDS, f"only after {time.monotonic() - begin:.1f} s")
        job.check_clean()


def agent_is_stopped(site):
    """It cannot see that mpiexec has given its host up: its watchdog ends it, and its ranks."""
    with launch(site) as job, job.running("--host-timeout", 3) as running:
        job.signal(job.hosts[1], f"{job.mpiexec} --agent", signal.SIGSTOP)
        expect(running.finish(END_SECONDS), 1, "host host1: nothing has been heard from there for 3 s")
        job.check_clean()


def name_comes_up(site):
    """A host whose name means something only later, as a container's."""
    with launch(site) as job:
        running = job.hosts[0].start([job.mpiexec, "-hosts", "host1,late", "hostname"])
        deadline = time.monotonic() + 60
        while "it is tried again" not in running.text():
            require(time.monotonic() < deadline, f"not told that a name means nothing:\n{running.tail()}")
            time.sleep(0.05)
        job.hosts.add_name("late", job.hosts[2])
        result = running.finish(60)
        expect(result, 0, "Could not resolve hostname late")
        require(sorted(result.output.splitlines()[1:]) == ["host1", "host2"], result.output)
        job.check_clean()


def host_dies(site):
    with launch(site) as job, job.running() as running:
        job.hosts[2].kill()
        expect(running.finish(END_SECONDS), 1, "the connection to host host2 is lost")
        job.check_clean(job.hosts[:2])


def signals(site):
    with launch(site) as job:
        with job.running() as running:
            job.signal(job.hosts[0], f"{job.mpiexec} -hosts", signal.SIGTERM)
            expect(running.finish(END_SECONDS), 143, "the job is ended by signal 15")
        job.check_clean()


def tree(site):
    with launch(site, TREE_HOSTS) as job:
        names = ",".join(job.hosts.names())
        result = job.hosts[0].run([job.mpiexec, "-hosts", names, "hostname"], timeout=120)
        require(result.code == 0 and sorted(result.output.split()) == sorted(job.hosts.names()), result.output)
        job.check_clean()


def within_slurm(site):
    """Hosts and ranks from the allocation, agents by srun; here no ssh would reach any."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Hosts(2, share=[folder]) as hosts, cluster_of(hosts, 2, folder) as cluster:
        words = [daemon("salloc"), "--quiet", "-N2", "--ntasks-per-node=2", site.prefix / "bin/mpiexec"]
        result = hosts[0].run([*words, "-l", "sh", "-c", "hostname; wc -c"], cluster.environment)
        lines = [f"[{rank}] {line}" for rank in range(4) for line in ("0", f"host{rank // 2}")]
        require(result.code == 0 and sorted(result.output.splitlines()) == lines, f"exit code {result.code}:\n{result.output}")
        result = hosts[0].run([*words, "sh", "-c", "[ $PMI_RANK != 3 ] || exit 9; sleep 1000"], cluster.environment)
        expect(result, 9, "rank 3 (", "on host1) exited with code 9")


def cases(site):
    yield "mpiexec: places", functools.partial(places, site)
    yield "mpiexec: endings", functools.partial(endings, site)
    yield "mpiexec: a host is cut off", functools.partial(host_is_cut_off, site)
    if site.quick:
        return
    yield "mpiexec: environment", functools.partial(environment, site)
    yield "mpiexec: output", functools.partial(output, site)
    yield "mpiexec: standard input", functools.partial(standard_input, site)
    yield "mpiexec: hosts that cannot be used", functools.partial(hosts_that_fail, site)
    for what in ("mpiexec", "agent", "ssh"):
        yield f"mpiexec: {what} is killed", functools.partial(killed, site, what)
    yield "mpiexec: an agent is stopped", functools.partial(agent_is_stopped, site)
    yield "mpiexec: a name comes up later", functools.partial(name_comes_up, site)
    yield "mpiexec: a host dies", functools.partial(host_dies, site)
    yield "mpiexec: signals", functools.partial(signals, site)
    yield "mpiexec: within a Slurm job", functools.partial(within_slurm, site)
    yield f"mpiexec: a tree over {TREE_HOSTS} hosts", functools.partial(tree, site)
