"""Commands that run in namespaces of their own."""

import os

from lib.cases import Skip
from lib.processes import run


def in_namespaces(kinds, script):
    """A command prefix that runs what follows after `script` in namespaces of its own; Skip where that is not permitted."""
    command = ["unshare", *kinds] if os.geteuid() == 0 else ["unshare", "-r", *kinds]
    if run([*command, "sh", "-c", script], timeout=60).code != 0:
        raise Skip(f"not permitted here: {' '.join(command)}, then {script}")
    return [*command, "sh", "-c", f'{script}; exec "$@"', "sh"]
