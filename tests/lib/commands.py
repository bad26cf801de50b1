"""Nothing is started that scripts/commands.txt does not declare for the running target, and that was not built here."""

import os
import pathlib
import shutil
import subprocess

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SETUP = REPOSITORY / "scripts/setup.sh"
TABLE = "scripts/commands.txt"
# Where a system keeps commands; what lies elsewhere was built here or named on the command line.
SYSTEM = ("/bin/", "/sbin/", "/usr/", "/snap/")

target = None


class Undeclared(Exception):
    """A command that the table does not have for this target."""


def declare(name):
    """From here on this process and all that it starts find the commands of that target alone."""
    global target
    done = subprocess.run([SETUP, "--path", name], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    target, os.environ["PATH"] = name, done.stdout.strip()


def checked(words):
    """The words of a command as text; Undeclared where the first is a command that the target's rows do not have."""
    words = [str(word) for word in words]
    name = words[0] if "/" not in words[0] else os.path.basename(words[0])
    of_system = "/" not in words[0] or words[0].startswith(SYSTEM)
    if of_system and not shutil.which(name):
        raise Undeclared(f"{name} is not declared in {TABLE} for the target {target}, or not installed (scripts/setup.sh {target})")
    return words
