"""Where other people's programs are fetched, built and started: their sources from registries, the compiler our mpicc."""

import json
import os
import pathlib
import shutil
import tarfile
from fnmatch import fnmatch

from lib import debian_source
from lib.cases import Failure, end_of
from lib.processes import run

# What a build of other people's programs, or a run of their own tests, may take.
BUILD_SECONDS = 3 * 3600


class Failed(Failure):
    """A program that did not build, did not end well, or whose own checks failed; the text says which and shows the end."""


def inside(member, folder):
    """tarfile's filter for data; a link that leads out of the folder is left out."""
    try:
        return tarfile.data_filter(member, folder)
    except (tarfile.AbsoluteLinkError, tarfile.LinkOutsideDestinationError):
        return None


class Workshop:
    def __init__(self, prefix, build, timeout, jobs):
        names = ("mpicc", "mpicxx", "mpifort", "mpiexec")
        self.mpicc, self.mpicxx, self.mpifort, self.mpiexec = (prefix / "bin" / name for name in names)
        self.build, self.timeout, self.jobs = build, timeout, jobs
        # As tests/hosts/spread.py has it.
        self.has_several_hosts = "HYDRA_HOST_FILE" in os.environ
        self.environment = os.environ | {
            "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
            # A binary of the standard ABI runs on a later build of ours without being linked again.
            "LD_LIBRARY_PATH": str(prefix / "lib"),
            # More ranks than cores is the rule here; threads of a BLAS would only be in each other's way.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }

    def command(self, words, folder, log, **environment):
        """Runs one step of a build, niced, its output in a file."""
        words = ["nice", "-n", "10", *map(str, words)]
        done = run(words, BUILD_SECONDS, self.environment | environment, cwd=folder)
        with open(self.build / log, "a") as output:
            print("$", *words, file=output)
            output.write(done.output)
        if done.code != 0:
            raise Failed(f"{words[3]} ended with exit code {done.code}; {self.build / log}:\n{end_of(done.output)}")

    def make(self, folder, log, *words):
        self.command(["make", f"-j{self.jobs}", *words], folder, log)

    def launch(self, ranks, words, folder, seconds=None):
        """Runs a program on that many ranks and returns all it printed; it may take so many seconds, in place of the general limit."""
        command = [*self.launcher(seconds), "-n", str(ranks), *map(str, words)]
        done = self.attempt(command, folder)
        if done.code != 0:
            raise Failed(f"exit code {done.code}: {' '.join(command)}\n{end_of(done.output)}")
        return done.output

    def attempt(self, words, folder):
        """Runs a command, which may fail; the launcher ends by itself what takes too long, and suites have many launches."""
        return run(words, BUILD_SECONDS, self.environment, cwd=folder)

    def launcher(self, seconds=None):
        return [str(self.mpiexec), "--timeout", str(seconds or self.timeout)]

    def folder(self, name):
        """An empty folder of that name, for a run's input and output."""
        path = self.build / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def debian_source(self, package, only="*", release=None):
        """The authors' archive as Debian keeps it, what matches `only` in it unpacked. Returns its folder and version."""
        try:
            archive, version = debian_source.fetch(package, self.build / "debian", release)
        except debian_source.Unavailable as reason:
            raise Failed(str(reason)) from reason
        source = self.folder(package)
        with tarfile.open(archive) as packed:
            packed.extractall(source, [found for found in packed if fnmatch(found.name, only)], filter=inside)
        (top,) = source.iterdir()
        return top, version

    def crate_source(self, crate, version):
        """A crate's package as it is on the registry, in a workspace of its own. Returns its folder."""
        fetcher = self.folder(f"{crate}-crate-fetch")
        (fetcher / "src").mkdir()
        (fetcher / "src/lib.rs").touch()
        (fetcher / "Cargo.toml").write_text(
            f'[package]\nname = "fetch"\nedition = "2021"\n[dependencies]\n{crate} = "={version}"\n[workspace]\n'
        )
        metadata = ["cargo", "metadata", "--quiet", "--format-version", "1"]
        done = self.attempt(metadata, fetcher)
        if done.code != 0:
            raise Failed(f"cargo metadata of {crate} {version}; is the network there?\n{end_of(done.output)}")
        (package,) = (found for found in json.loads(done.output)["packages"] if found["name"] == crate)
        workspace = self.folder(f"{crate}-crate")
        shutil.copytree(pathlib.Path(package["manifest_path"]).parent, workspace / crate)
        (workspace / "Cargo.toml").write_text(f'[workspace]\nresolver = "2"\nmembers = ["{crate}"]\n')
        return workspace / crate
