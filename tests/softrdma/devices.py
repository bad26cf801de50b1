"""What is listed, opened and described; variables that cannot be used."""

import re
import subprocess

from lib.cases import Failure, require
from stand import LOADER, Program


def listed(stand):
    output = stand.run(["ibv_devices"])
    require(re.search(r"^\s*softrdma0\s+[0-9a-f]{16}$", output, re.M), output)
    require("softrdma1" not in output, f"one device was asked for:\n{output}")


def several(stand):
    output = stand.run(["ibv_devices"], stand.environment(SOFTRDMA_DEVICES="3"))
    lines = re.findall(r"(softrdma\d)\s+([0-9a-f]{16})", output)
    require([name for name, _ in lines] == ["softrdma0", "softrdma1", "softrdma2"], output)
    require(len({guid for _, guid in lines}) == 3, f"the GUIDs are not distinct:\n{output}")


def described(stand, link_layer, words):
    output = stand.run(["ibv_devinfo", "-v"], stand.environment(SOFTRDMA_LINK_LAYER=link_layer))
    for word in words:
        require(re.search(word, output), f"no {word}:\n{output}")


def refused(stand, name, value):
    running = stand.start(["ibv_devinfo"], stand.environment(**{name: value}))
    result = running.finish(20)
    require(name in result.output, f"{name}={value} is not named:\n{running.tail()}")
    require("PORT_ACTIVE" not in result.output, f"{name}={value} was passed over:\n{running.tail()}")


def loads(stand, command):
    """A program that has nothing to do; its exit code does not matter, the loader's words do."""
    running = stand.start(command)
    result = running.finish(20)
    require(not LOADER.search(result.output), running.tail())
    require(result.code >= 0, f"ended by signal {-result.code}:\n{running.tail()}")


def asynchronous(stand):
    """ibv_asyncwatch opens the device and waits."""
    running = stand.start(["ibv_asyncwatch"])
    try:
        code = running.process.wait(1)
    except subprocess.TimeoutExpired:
        running.process.terminate()
        running.finish(5)
        require("async event FD" in running.output(), running.tail())
        return
    raise Failure(f"ended with {code}:\n{running.tail()}")


def by_weft(stand):
    """weft softrdma run sets everything itself."""
    running = Program([stand.weft, "softrdma", "run", "--devices", "2", "--", "ibv_devices"])
    output = running.succeed(20)
    require("softrdma0" in output and "softrdma1" in output, output)


def cases(stand):
    yield "devices: ibv_devices lists one", lambda: listed(stand)
    yield "devices: ibv_devices lists three", lambda: several(stand)
    yield "devices: ibv_devinfo -v, InfiniBand", lambda: described(
        stand, "infiniband", [r"PORT_ACTIVE", r"link_layer:\s+InfiniBand", r"atomic_cap:\s+ATOMIC_HCA", r"GID\[\s*0\]"]
    )
    yield "devices: ibv_devinfo -v, Ethernet", lambda: described(
        stand, "ethernet", [r"PORT_ACTIVE", r"link_layer:\s+Ethernet", r"::ffff:[0-9.]+.*RoCE v2"]
    )
    yield "devices: ibv_asyncwatch", lambda: asynchronous(stand)
    for tool in ("ib_write_bw", "ib_send_lat", "ib_atomic_bw"):
        yield f"devices: {tool} --version loads", lambda tool=tool: loads(stand, [tool, "--version"])
    for name, value in (
        ("SOFTRDMA_DEVICES", "many"),
        ("SOFTRDMA_LINK_LAYER", "token-ring"),
        ("SOFTRDMA_FAULTS", "loss=2"),
        ("SOFTRDMA_IP", "999.1.1.1"),
    ):
        yield f"devices: {name}={value} is an error that names it", lambda n=name, v=value: refused(stand, n, v)
    if stand.weft:
        yield "devices: weft softrdma run", lambda: by_weft(stand)
