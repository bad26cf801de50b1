"""A virtual machine of a few megabytes that runs a script over the kernel's software RDMA device, rdma_rxe.

Translated, not virtualised (TCG): it needs no /dev/kvm and no permission, and boots in three seconds. Its latencies say
nothing; its answers do.
"""

import os
import pathlib
import re
import shutil
import subprocess
import uuid

from guest.kernel import Kernel
from lib.cases import require
from lib.commands import checked
from lib.processes import output_of
from stand import Program

TOOLS = "ip rdma ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong".split()
PERFTEST = """ib_write_bw ib_write_lat ib_read_bw ib_read_lat ib_send_bw ib_send_lat ib_atomic_bw
    ib_atomic_lat""".split()
PROVIDER = pathlib.Path("/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so")
DRIVER = pathlib.Path("/etc/libibverbs.d/rxe.driver")

# rxe wants a device with an address; an MTU of 4200 gives it packets of 4096 bytes.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/usr/sbin:/sbin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mkdir -p /tmp /dev/shm; mount -t tmpfs none /tmp; mount -t tmpfs none /dev/shm
echo 3 > /proc/sys/kernel/printk
while read -r module; do insmod "$module" || echo "guest: no $module"; done < /modules/order
ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
    device=eth0
else
    device=dummy0; ip link set dummy0 mtu 4200
fi
ip addr add {address} dev $device
ip link set $device up
rdma link add rxe0 type rxe netdev $device
echo; /bin/sh /script
echo "guest: exit $?"
poweroff -f
"""


def libraries(program):
    """What the loader maps for a program, by the paths it looks them up under."""
    listing = output_of(["ldd", program])
    return re.findall(r"(/\S+) \(0x", listing)


class Guest:
    def __init__(self, build):
        self.build = build / "guest"
        self.build.mkdir(parents=True, exist_ok=True)
        self.kernel = Kernel(self.build)

    def initrd(self, programs, script, address):
        """The archive: busybox, the tools, `programs` (in /tests) and everything they are linked to."""
        root = self.build / f"root-{uuid.uuid4().hex}"
        try:
            self.fill(root, programs, script, address)
            names = output_of(["find", "."], cwd=root)
            archive = subprocess.run(
                checked(["busybox", "cpio", "-o", "-H", "newc"]), cwd=root, input=names.encode(), capture_output=True, check=True
            ).stdout
        finally:
            shutil.rmtree(root, ignore_errors=True)
        target = self.build / f"{root.name}.cpio"
        target.write_bytes(archive)
        return target

    def fill(self, root, programs, script, address):
        def copy(source, target):
            place = root / str(target).lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place)

        for folder in "bin sbin usr/bin usr/sbin proc sys dev etc tests".split():
            (root / folder).mkdir(parents=True)
        copy(shutil.which("busybox"), "/bin/busybox")
        wanted = [PROVIDER]
        for name in TOOLS + PERFTEST:
            wanted.append(shutil.which(name))
            copy(wanted[-1], f"/usr/bin/{name}")
        for program in programs:
            wanted.append(program)
            copy(program, f"/tests/{program.name}")
        for library in {path for program in wanted for path in libraries(program)}:
            copy(library, library)
        copy(PROVIDER, PROVIDER)
        copy(DRIVER, DRIVER)
        for name, path in self.kernel.modules.items():
            copy(path, f"/modules/{name}.ko")
        (root / "modules/order").write_text("".join(f"/modules/{name}.ko\n" for name in self.kernel.modules))
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
        (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n")
        (root / "script").write_text(script)
        init = root / "init"
        init.write_text(INIT.replace("{address}", address))
        os.chmod(init, 0o755)

    def start(self, script, programs=(), tap=None, address="10.9.0.1/24", before=()):
        """Boots and runs; `tap` is the host's end of the guest's network card, without it there is none. `before` is a
        command prefix that runs it where the tap is."""
        archive = self.initrd(programs, script, address)
        network = ["-nic", "none"]
        if tap:
            network = ["-netdev", f"tap,id=n0,ifname={tap},script=no,downscript=no", "-device", "virtio-net-pci,netdev=n0,romfile="]
        command = [*before, "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "768", "-smp", "2", "-nographic"]
        command += ["-no-reboot", "-kernel", self.kernel.image, "-initrd", archive, *network]
        command += ["-append", "console=ttyS0 quiet panic=-1 rdinit=/init"]
        running = Program(command)
        running.archive = archive
        return running

    def finish(self, running, timeout):
        """The script's output; Failure where the guest did not come to an end."""
        try:
            output = running.finish(timeout).output.replace("\r", "")
        finally:
            running.archive.unlink(missing_ok=True)
        require("guest: exit" in output, f"the guest did not finish its script:\n{output[-4000:]}")
        return output

    def run(self, script, programs=(), timeout=120):
        return self.finish(self.start(script, programs), timeout)
