"""rdma-core's own test suite as Debian ships it: every non-vendor test passes, or is skipped for a reason in the docs."""

import gzip
import pathlib
import re
import shutil

from lib.cases import Failure, require
from lib.processes import output_of
from rdmacm import own_address
from stand import HERE

SHIPPED = pathlib.Path("/usr/share/doc/rdma-core/tests")
# Debian's pyverbs is built for Debian's interpreter, whichever comes first on the path.
PYTHON = "/usr/bin/python3"
REASONS = HERE.parent.parent / "docs/softrdma-pyverbs.md"
VENDOR = re.compile(r"mlx5|efa")


def suite(stand):
    """The suite, unpacked in the build folder."""
    package = stand.build / "pyverbs"
    folder = package / "tests"
    if (package / "done").exists():
        return package
    shutil.rmtree(package, ignore_errors=True)
    folder.mkdir(parents=True)
    source = SHIPPED if SHIPPED.is_dir() else downloaded(package)
    for path in source.iterdir():
        if path.suffix == ".gz":
            (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        elif path.suffix == ".py":
            shutil.copy(path, folder)
    (package / "done").touch()
    return package


def downloaded(package):
    """Where the system installs packages without their documentation, the suite comes from the package itself."""
    for command in (["apt-get", "download", "python3-pyverbs"], ["sh", "-c", "dpkg -x python3-pyverbs*.deb unpacked"]):
        output_of(command, cwd=package)
    return package / "unpacked" / SHIPPED.relative_to("/")


def listed_skips(module, link_layer):
    """The tests of that file that the docs list, with a link layer or "machine" in brackets behind the name: those that must be
    skipped, and those that are skipped where the machine lacks something."""
    listed = re.findall(r"^- `([\w.]+)`(?: \((\w+)\))?$", REASONS.read_text(), re.M)
    listed = [(name, note) for name, note in listed if name.split(".")[0] == module]
    must = {name for name, note in listed if note in ("", link_layer)}
    return must, {name for name, note in listed if note == "machine"}


def run_file(stand, module, link_layer):
    package = suite(stand)
    command = [PYTHON, HERE / "pyverbs_driver.py", package, module]
    if link_layer == "ethernet":
        command += ["--gid", "1"]
    environment = stand.environment(SOFTRDMA_LINK_LAYER=link_layer)
    if module == "test_rdmacm":
        environment["SUITE_ADDRESS"] = own_address(stand)
    running = stand.start(command, environment)
    result = running.finish(240)
    verdicts = re.findall(r"^@(\w+) (\S+) ?(.*)$", result.output, re.M)
    wrong = [f"failed: {name}: {why}" for verdict, name, why in verdicts if verdict == "failed"]
    listed, may = listed_skips(module, link_layer)
    skipped = {name: why for verdict, name, why in verdicts if verdict == "skipped"}
    passed = {name for verdict, name, _ in verdicts if verdict == "passed"}
    wrong += [f"skipped, which no reason in docs covers: {name}: {skipped[name]}" for name in skipped.keys() - listed - may]
    wrong += [f"listed in docs as skipped, but it passes: {name}" for name in listed & passed]
    wrong += [f"listed in docs, but there is no such test: {name}" for name in listed - passed - skipped.keys()]
    require(verdicts or result.code == 0, f"nothing ran:\n{running.tail()}")
    if wrong or result.code != 0:
        raise Failure("\n".join([f"exit code {result.code}", *sorted(wrong), running.tail()]))


def modules():
    names = {re.sub(r"\.py(\.gz)?$", "", path.name) for path in SHIPPED.glob("test_*")}
    return sorted(name for name in names if not VENDOR.search(name))


QUICK = ("test_cq", "test_cq_events", "test_device", "test_mr", "test_parent_domain", "test_pd", "test_qp", "test_qpex")


def cases(stand):
    for link_layer in ("infiniband",) if stand.quick else ("infiniband", "ethernet"):
        for module in modules():
            if stand.quick and module not in QUICK:
                continue
            yield f"pyverbs: {module}, {link_layer}", lambda m=module, l=link_layer: run_file(stand, m, l)
