"""Where other people's programs are fetched, built and started: their sources from registries, the compiler our mpicc."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import debian_source


class Failed(Exception):
    """A program that did not build, did not end well, or whose own checks failed; the text says which and shows the end."""


def end_of(text, lines=12):
    return "\n".join(text.strip().splitlines()[-lines:])


class Workshop:
    def __init__(self, prefix, build, timeout, jobs):
        self.mpicc, self.mpicxx, self.mpiexec = (prefix / "bin" / name for name in ("mpicc", "mpicxx", "mpiexec"))
        self.build, self.timeout, self.jobs = build, timeout, jobs
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
        with open(self.build / log, "a") as output:
            print("$", *words, file=output, flush=True)
            done = subprocess.run(
                words, cwd=folder, env=self.environment | environment, stdout=output, stderr=subprocess.STDOUT
            )
        if done.returncode != 0:
            text = (self.build / log).read_text(errors="replace")
            raise Failed(f"{words[3]} ended with exit code {done.returncode}; {self.build / log}:\n{end_of(text)}")

    def make(self, folder, log, *words):
        self.command(["make", f"-j{self.jobs}", *words], folder, log)

    def launch(self, ranks, words, folder):
        """Runs a program on that many ranks and returns all it printed."""
        command = [*self.launcher(), "-n", str(ranks), *map(str, words)]
        done = subprocess.run(command, cwd=folder, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"exit code {done.returncode}: {' '.join(command)}\n{end_of(done.stdout + done.stderr)}")
        return done.stdout + done.stderr

    def launcher(self):
        return [str(self.mpiexec), "--timeout", str(self.timeout)]

    def folder(self, name):
        """An empty folder of that name, for a run's input and output."""
        path = self.build / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def debian_source(self, package):
        """The authors' archive as Debian keeps it, unpacked. Returns its folder and version."""
        try:
            archive, version = debian_source.fetch(package, self.build / "debian")
        except debian_source.Unavailable as reason:
            raise Failed(str(reason)) from reason
        source = self.folder(package)
        with tarfile.open(archive) as packed:
            packed.extractall(source, filter="data")
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
        done = subprocess.run(metadata, cwd=fetcher, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"cargo metadata of {crate} {version}; is the network there?\n{end_of(done.stderr)}")
        (package,) = (found for found in json.loads(done.stdout)["packages"] if found["name"] == crate)
        workspace = self.folder(f"{crate}-crate")
        shutil.copytree(pathlib.Path(package["manifest_path"]).parent, workspace / crate)
        (workspace / "Cargo.toml").write_text(f'[workspace]\nresolver = "2"\nmembers = ["{crate}"]\n')
        return workspace / crate
