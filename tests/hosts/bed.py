#!/usr/bin/env python3
"""Virtual hosts on this machine, to try WeftMPI between hosts by hand.

    tests/hosts/bed.py up N [--interfaces I] [--delay-us D] [--rate-mbit R] [--loss-percent P] [--share DIR]...
    tests/hosts/bed.py exec K COMMAND...   runs it in host K (0 to N-1), with this terminal's folder and environment
    tests/hosts/bed.py link K up|down [I]  plugs host K's cables in or out, or that of its interface ethI alone
    tests/hosts/bed.py down                ends every process of every host; nothing stays

WEFT_BED names a bed, where several shall stand side by side. What a virtual host is: tests/lib/hosts.py."""

import argparse
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from lib.cases import Failure, Skip
from lib.commands import Undeclared
from lib.cpu_group import join
from lib.hosts import Hosts

STATE = pathlib.Path(tempfile.gettempdir()) / f"weft-bed-{os.getuid()}{'-' * bool(os.environ.get('WEFT_BED'))}{os.environ.get('WEFT_BED', '')}"
PIPE = STATE.with_name(f"{STATE.name}.plug")
END_SECONDS = 15


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("up", "hold"):  # hold: the process behind, which has the bed while it is up
        up = commands.add_parser(name, **({"help": "makes the hosts"} if name == "up" else {}))
        up.add_argument("count", type=int)
        for option in ("--interfaces", "--delay-us", "--rate-mbit"):
            up.add_argument(option, type=int, default=1 if option == "--interfaces" else 0)
        up.add_argument("--loss-percent", type=float, default=0)
        up.add_argument("--share", action="append", default=[], help="a folder below /tmp that all hosts see")
    run = commands.add_parser("exec", help="runs a command in a host")
    run.add_argument("host", type=int)
    run.add_argument("words", nargs=argparse.REMAINDER)
    link = commands.add_parser("link", help="plugs a host's cables in or out")
    link.add_argument("host", type=int)
    link.add_argument("state", choices=("up", "down"))
    link.add_argument("interface", type=int, nargs="?", help="of ethI alone")
    commands.add_parser("down", help="ends the hosts")
    return parser.parse_args()


def locked():
    """The state file's text if a holder lives, who keeps it locked; else None, and no file."""
    try:
        with STATE.open() as file:
            # The folder is everybody's: nothing of another user's is believed.
            if os.fstat(file.fileno()).st_uid != os.getuid():
                raise SystemExit(f"bed.py: {STATE} is another user's")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read()
            remove()
    except FileNotFoundError:
        pass
    return None


def remove():
    for path in (STATE, PIPE):
        path.unlink(missing_ok=True)


def state():
    text = locked()
    if not text:
        raise SystemExit("bed.py: no hosts are up (bed.py up N)")
    return json.loads(text)


def chosen(bed, host):
    if not 0 <= host < len(bed["enter"]):
        raise SystemExit(f"bed.py: no host {host}: 0 to {len(bed['enter']) - 1} are up")
    return host


def hold(options):
    """Has the bed until it is told to end; a line "K up|down [I]" on the pipe plugs cables."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    descriptor = os.open(STATE, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        with Hosts(
            options.count, interfaces=options.interfaces, delay_us=options.delay_us, rate_mbit=options.rate_mbit,
            loss_percent=options.loss_percent, share=options.share,
        ) as hosts:
            os.mkfifo(PIPE, 0o600)
            group = str(hosts.group.group) if hosts.group.group else None
            text = json.dumps({"holder": os.getpid(), "interfaces": options.interfaces, "group": group, "enter": [host.enter for host in hosts]})
            os.write(descriptor, text.encode())
            print("up", flush=True)
            # Whoever reads what `up` says waits for nothing more.
            for standard in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), standard)
            while True:
                with open(PIPE) as lines:
                    for host, word, *interface in (line.split() for line in lines):
                        hosts[int(host)].link(word == "up", *map(int, interface))
    finally:
        remove()


def up(options):
    if locked():
        raise SystemExit("bed.py: hosts are up already (bed.py down)")
    words = [sys.executable, __file__, "hold", *sys.argv[2:]]
    holder = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    if holder.stdout.readline() != b"up\n":
        raise SystemExit(holder.wait() or 1)
    last = options.count - 1
    print(f"host0 to host{last} are up: tests/hosts/bed.py exec 0 COMMAND..., ssh between them by name" if last else "host0 is up")


def down():
    holder = state()["holder"]
    os.kill(holder, signal.SIGTERM)
    deadline = time.monotonic() + END_SECONDS
    while STATE.exists():
        if time.monotonic() > deadline:
            raise SystemExit(f"bed.py: process {holder} does not end")
        time.sleep(0.02)


def main():
    options = arguments()
    if options.command == "hold":
        hold(options)
    elif options.command == "up":
        up(options)
    elif options.command == "exec":
        bed = state()
        enter = bed["enter"][chosen(bed, options.host)]
        if bed["group"]:
            join(bed["group"])
        words = [*enter, "env", f"--chdir={os.getcwd()}", *(options.words or [os.environ.get("SHELL", "/bin/sh")])]
        os.execvp(words[0], words)
    elif options.command == "link":
        bed, interface = state(), options.interface
        if interface is not None and not 0 <= interface < bed["interfaces"]:
            raise SystemExit(f"bed.py: no interface eth{interface}: eth0 to eth{bed['interfaces'] - 1} are there")
        with open(PIPE, "w") as pipe:
            pipe.write(f"{chosen(bed, options.host)} {options.state} {'' if interface is None else interface}\n")
    else:
        down()


if __name__ == "__main__":
    try:
        main()
    except (Failure, Skip, Undeclared) as why:
        raise SystemExit(f"bed.py: {why}")
