"""A wheel for pip: the tree goes into the environment's own bin, include, lib and share, where `pip uninstall` finds all of it.

The format is that of https://packaging.python.org/en/latest/specifications/binary-distribution-format/. It holds no links, so
a link of the tree becomes what does the same: a script, a linker script, or a copy of a text.
"""

import base64
import hashlib
import io
import time
import zipfile

import archive
import objects
from tree import MANIFEST

PYTHON = "py3-none"
# The symbols of manylinux_2_28 and its libraries (PEP 600, auditwheel's policy).
NEWEST_GLIBC = (2, 28)
LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
LEFT_OUT = (MANIFEST, "share/doc/")
# The other names of mpiexec: a wheel holds no links.
LAUNCHERS = {"bin/mpirun", "bin/mpiexec.hydra"}
LAUNCHER = """\
#!/bin/sh
# Another name of mpiexec, which lies beside it.
self=$(readlink -f -- "$0") && exec "${self%/*}/mpiexec" "$@"
"""
METADATA = """\
Metadata-Version: 2.4
Name: weftmpi
Version: {version}
Summary: An MPI library for MPI+threads with the MPI-5.0 standard ABI, its compiler wrappers and its launcher
License-Expression: BSD-3-Clause
License-File: LICENSE
Keywords: MPI,MPI-5.0,ABI,HPC,threads,Fortran
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Rust
Classifier: Topic :: System :: Distributed Computing
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{description}"""
WHEEL = """\
Wheel-Version: 1.0
Generator: weftmpi
Root-Is-Purelib: false
Tag: {tag}
"""


class NotPortable(Exception):
    """A tree that does not run where the tag says it does."""


def make(tree, folder):
    """Writes the wheel and returns its path."""
    check(tree)
    tag = f"{PYTHON}-manylinux_{'_'.join(map(str, NEWEST_GLIBC))}_{archive.MACHINE}"
    name = f"weftmpi-{tree.version}"
    wheel = folder / f"{name}-{tag}.whl"
    contents = dict(files(tree, f"{name}.data/data"))
    about = f"{name}.dist-info"
    description = tree.text("share/doc/weft/README.md")
    contents[f"{about}/METADATA"] = (METADATA.format(version=tree.version, description=description).encode(), 0o644)
    contents[f"{about}/WHEEL"] = (WHEEL.format(tag=tag).encode(), 0o644)
    contents[f"{about}/licenses/LICENSE"] = (tree.text("share/doc/weft/LICENSE").encode(), 0o644)
    write(wheel, contents, f"{about}/RECORD")
    return wheel


def check(tree):
    """Of each object: no symbol that is newer than the tag says, no library but the tree's own that the tag does not promise."""
    own = {file.name for file in tree.objects()}
    for file in tree.objects():
        newest, libraries = objects.newest_version([file]), objects.needed_libraries(file)
        if newest > NEWEST_GLIBC:
            raise NotPortable(f"{file.name} needs GLIBC_{objects.text_of(newest)}: build it by scripts/portable.sh")
        if strange := libraries - LIBRARIES - own:
            raise NotPortable(f"{file.name} needs {', '.join(sorted(strange))}")


def files(tree, folder):
    """Path in the wheel, bytes and mode of each file."""
    for path in tree.program_files():
        if path.startswith(LEFT_OUT):
            continue
        file = tree.prefix / path
        # A wheel has no links, and further names of a library would be copies of it.
        if file.is_symlink() and path.startswith("lib/compat/"):
            continue
        mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
        if path in LAUNCHERS:
            contents = LAUNCHER.encode()
        elif file.is_symlink() and file.suffix == ".so":
            contents, mode = f"INPUT({file.readlink()})\n".encode(), 0o644
        else:
            contents = file.read_bytes()
        yield f"{folder}/{path}", (contents, mode)


def write(wheel, contents, record):
    lines = io.StringIO()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path, (data, mode) in sorted(contents.items()):
            add(packed, path, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.write(f"{path},sha256={digest},{len(data)}\n")
        lines.write(f"{record},,\n")
        add(packed, record, lines.getvalue().encode(), 0o644)


def add(packed, path, data, mode):
    entry = zipfile.ZipInfo(path, time.gmtime(archive.timestamp())[:6])
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    packed.writestr(entry, data, compresslevel=9)
