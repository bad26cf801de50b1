"""Network namespaces, each a host to the device, joined by a cable; they end with the processes that hold them."""

import os
import subprocess

from lib.cases import Skip
from lib.commands import checked
from lib.processes import output_of


class Host:
    """A network namespace. `enter` is the command prefix that runs something in it."""

    def __init__(self):
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        words = ["unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec sleep 3600"]
        self.keeper = subprocess.Popen(checked(words), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self.keeper.stdout.readline() != b"ready\n":
            self.close()
            raise Skip("not permitted here: unshare --net")
        self.enter = ["nsenter", "-t", str(self.keeper.pid), "--net"]
        self.path = f"/proc/{self.keeper.pid}/ns/net"

    def ip(self, *words):
        output_of([*self.enter, "ip", *words])

    def close(self):
        self.keeper.kill()
        self.keeper.wait()
        self.keeper.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Cable:
    """Two hosts with a veth pair between them: 10.77.0.1 and 10.77.0.2."""

    ADDRESSES = ("10.77.0.1", "10.77.0.2")

    def __enter__(self):
        self.hosts = [Host()]
        try:
            self.hosts.append(Host())
            first, second = self.hosts
            first.ip("link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", str(second.keeper.pid))
            for host, address in zip(self.hosts, self.ADDRESSES):
                host.ip("addr", "add", f"{address}/24", "dev", "cable")
                host.ip("link", "set", "cable", "up")
        except Exception:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            host.close()


class Tap:
    """One host with a tap device, whose other end is a virtual machine's network card."""

    NAME = "tap0"

    def __enter__(self):
        self.host = Host()
        try:
            self.host.ip("tuntap", "add", self.NAME, "mode", "tap")
            self.host.ip("addr", "add", "10.9.0.2/24", "dev", self.NAME)
            self.host.ip("link", "set", self.NAME, "up")
        except Exception:
            self.host.close()
            raise
        return self.host

    def __exit__(self, *_):
        self.host.close()
