"""Where other people's programs are fetched, built and started: their sources from registries, the compiler our mpicc."""

import json
import os
import pathlib
import shutil
import subprocess
import tarfile


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
        """The authors' archive as Debian keeps it, without Debian's changes. Returns its folder and version."""
        options = self.apt_options()
        archives = self.folder(f"{package}-archive")
        fetch = ["apt-get", *options, "source", "--download-only", "--tar-only", "--only-source", package]
        done = subprocess.run(fetch, cwd=archives, capture_output=True, text=True)
        found = sorted(archives.glob("*.orig.tar.*"))
        if done.returncode != 0 or not found:
            raise Failed(f"apt-get source {package}; is the network there?\n{end_of(done.stderr)}")
        version = found[0].name.split("_")[1].split(".orig")[0]
        source = self.folder(package)
        with tarfile.open(found[0]) as packed:
            packed.extractall(source, filter="data")
        (top,) = source.iterdir()
        return top, version

    def apt_options(self):
        """Options for package lists of our own: this machine's own sources, asked for source packages."""
        apt = self.build / "apt"
        options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={apt / 'parts'}"]
        options += ["-o", f"Dir::State::lists={apt / 'lists'}", "-o", f"Dir::Cache={apt / 'cache'}"]
        if apt.exists():
            return options
        for folder in ("parts", "lists/partial", "cache"):
            (apt / folder).mkdir(parents=True)
        etc = pathlib.Path("/etc/apt")
        for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
            if path.suffix in (".list", ".sources") and path.exists():
                (apt / "parts" / path.name).write_text(for_sources(path))
        done = subprocess.run(["apt-get", *options, "update"], capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(apt)
            raise Failed(f"apt-get update for source packages; is the network there?\n{end_of(done.stderr)}")
        return options

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


def for_sources(path):
    """apt's list of binary packages, in either of its formats, as one of source packages."""
    lines = []
    for line in path.read_text().splitlines():
        words = line.split(maxsplit=1)
        if path.suffix == ".sources":
            lines.append("Types: deb-src" if line.startswith("Types:") else line)
        elif words[:1] == ["deb"]:
            lines.append(f"deb-src {words[1]}")
    return "\n".join(lines) + "\n"
