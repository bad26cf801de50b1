#!/usr/bin/env python3
"""Runs the programs that `cargo test` builds, two at a time: many wait more than they compute, and cargo runs one after another.

    scripts/run_tests.py [what `cargo test` is to build, such as --workspace --lib --bins --tests]

Prints what each has printed when it is over. Ends with 1 if one failed, or does not build.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

AT_ONCE = 2


def built(arguments):
    """The programs, each with the folder that it runs in, its package's. Those that were built last come first: they depend on the others, and
    take longest."""
    command = ["cargo", "test", "--no-run", "--message-format=json-render-diagnostics", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(1)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    tests = [one for one in messages if one.get("executable") and one["profile"]["test"]]
    return [(pathlib.Path(one["executable"]), pathlib.Path(one["manifest_path"]).parent) for one in reversed(tests)]


def run(program, folder, libraries):
    """Runs one as cargo does. Whether it passed."""
    path = [program.parent, program.parent.parent, libraries, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    environment = os.environ | {
        "LD_LIBRARY_PATH": ":".join(str(one) for one in path if one),
        "CARGO_MANIFEST_DIR": str(folder),
    }
    done = subprocess.run([program], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode(errors="replace")
    failed = f"error: {program.name} has failed, exit status {done.returncode}\n" if done.returncode != 0 else ""
    print(f"     Running {program.name} in {folder}\n{text}{failed}", flush=True)
    return done.returncode == 0


def main():
    programs = built(sys.argv[1:])
    # Rust's own libraries, which tests of procedural macros are linked with.
    command = ["rustc", "--print", "target-libdir"]
    libraries = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        passed = list(pool.map(lambda one: run(*one, libraries), programs))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
