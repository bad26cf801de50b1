"""Debian's own kernel and modules, unpacked in the build folder: downloaded as a package, never installed."""

import re

from lib.cases import Failure, require
from lib.processes import output_of

# In the order in which they are loaded. Without crc32_generic rxe only says "failed to add"; virtio_ring comes before
# virtio. What a kernel has built in is left out.
RXE = """crc32_generic configfs udp_tunnel ip6_udp_tunnel ib_core ib_uverbs ib_cm iw_cm rdma_cm rdma_ucm rdma_rxe
    dummy""".split()
VIRTIO_NET = """virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover net_failover
    virtio_net""".split()


class Kernel:
    """image: what qemu boots; modules: name to file, in the order of the lists above."""

    def __init__(self, build):
        folder = build / "kernel"
        folder.mkdir(parents=True, exist_ok=True)
        if not list(folder.glob("boot/vmlinuz-*")):
            depends = output_of(["apt-cache", "depends", "linux-image-amd64"], cwd=folder)
            package = re.search(r"linux-image-[0-9]\S*-amd64", depends)
            require(package, "no kernel package is known here; run: apt-get update")
            output_of(["apt-get", "download", package[0]], cwd=folder)
            for archive in folder.glob("linux-image-*.deb"):
                output_of(["dpkg", "-x", archive.name, "."], cwd=folder)
                archive.unlink()
        self.image = next(folder.glob("boot/vmlinuz-*"))
        files = {path.name.split(".")[0].replace("-", "_"): path for path in folder.glob("lib/modules/*/kernel/**/*.ko")}
        if not files:
            raise Failure("this kernel's modules are compressed: teach kernel.py their suffix")
        self.modules = {name: files[name] for name in VIRTIO_NET + RXE if name in files}
        require("rdma_rxe" in self.modules, "this kernel has no rdma_rxe")
