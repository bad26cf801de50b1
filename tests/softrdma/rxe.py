"""The kernel's software RDMA device in a virtual machine: the judge of our programs, and the peer of our packets."""

import re
import time

import semantics
from guest.machine import Guest
from lib.cases import Failure, require
from networks import Tap
from perftest import ROW

# What rxe does not have.
LACKS = {"alloc_buf", "domains", "last_wqe", "xrc", "xrc_requests"}
# Not asked there: packets behind the expected number end a request on an adapter, and never on rxe.
DIFFERS = {"psn"}

# (name, command) of an exchange; `{port}` and `{host}` are filled in. The guest is little and slow: short runs. perftest takes
# the peer's number of outstanding reads for its own, unless it is told one (-o) that both have.
EXCHANGES = [
    ("rc pingpong", "ibv_rc_pingpong -g 1 -n 50 -p {port} {host}"),
    ("rc pingpong, 100000 bytes", "ibv_rc_pingpong -g 1 -n 10 -s 100000 -p {port} {host}"),
    ("uc pingpong", "ibv_uc_pingpong -g 1 -n 50 -p {port} {host}"),
    ("ud pingpong", "ibv_ud_pingpong -g 1 -n 50 -s 1024 -p {port} {host}"),
    ("srq pingpong", "ibv_srq_pingpong -g 1 -n 50 -q 4 -p {port} {host}"),
    ("ib_write_bw", "ib_write_bw -F -x 1 -n 50 -s 20000 -p {port} {host}"),
    ("ib_write_lat", "ib_write_lat -F -x 1 -n 50 -p {port} {host}"),
    ("ib_read_bw", "ib_read_bw -F -x 1 -o 4 -n 50 -s 20000 -p {port} {host}"),
    ("ib_send_bw", "ib_send_bw -F -x 1 -n 50 -s 20000 -p {port} {host}"),
    ("ib_send_lat UD", "ib_send_lat -F -x 1 -c UD -n 50 -s 64 -p {port} {host}"),
    ("ib_atomic_bw", "ib_atomic_bw -F -x 1 -o 4 -n 50 -p {port} {host}"),
    ("ib_atomic_lat", "ib_atomic_lat -F -x 1 -o 4 -n 50 -p {port} {host}"),
]
GUEST, HOST = "10.9.0.1", "10.9.0.2"
FIRST_PORT = 19000
# A server may not listen yet: the client asks again, for as long as a minute.
PATIENT = 'i=0; while :; do {command} > /tmp/out 2>&1; code=$?; i=$((i+1)); [ $code = 0 ] || [ $i = 30 ] && break; ' \
          'grep -q "onnect to\\|onnection refused" /tmp/out || break; sleep 2; done; cat /tmp/out; echo "guest-exit $code"'


class Session:
    """One boot that many cases look at; it happens when the first of them does."""

    def __init__(self, make):
        self.make, self.answers, self.failure = make, None, None

    def answer(self, name):
        if self.failure:
            raise Failure(f"as before: {self.failure}")
        if self.answers is None:
            try:
                self.answers = self.make()
            except Failure as why:
                self.failure = str(why)
                raise
        require(name in self.answers, f"nothing was heard of {name}: {list(self.answers)}")
        return self.answers[name]


def sections(output):
    """The guest's output by its `== NAME` lines."""
    parts = re.split(r"^== (.*)$", output, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def oracle(stand):
    """All programs of tests/softrdma/c on the kernel's device."""
    programs = [stand.program(name) for name in semantics.names()]
    script = 'for p in /tests/*; do echo "== ${p##*/}"; timeout 100 $p; echo "guest-exit $?"; done'
    return sections(Guest(stand.build).run(script, programs, timeout=400))


def judged(session, name):
    output = session.answer(name)
    if name in LACKS:
        require("guest-exit 77" in output, f"rxe has it after all; take it off the list:\n{output}")
    else:
        require("guest-exit 0" in output and f"ok {name}" in output, output)


def softrdma_environment(stand):
    return stand.environment(SOFTRDMA_LINK_LAYER="ethernet")


def ours_serve(stand):
    """Our processes are the servers, the guest's the clients."""
    with Tap() as host:
        servers = []
        try:
            for number, (_, command) in enumerate(EXCHANGES):
                words = command.format(port=FIRST_PORT + number, host="").split()
                servers.append(stand.start([*words, "-d", "softrdma0"], softrdma_environment(stand), host.enter))
            script = "".join(
                f'echo "== {name}"; '
                + PATIENT.replace("{command}", "timeout 30 " + command.format(port=FIRST_PORT + number, host=HOST))
                + "\n"
                for number, (name, command) in enumerate(EXCHANGES)
            )
            answers = boot(stand, host, script)
            for (name, _), server in zip(EXCHANGES, servers):
                answers[name] = answers.get(name, "") + "\nserver: " + server.tail()
            return answers
        finally:
            end(servers)


def ours_ask(stand):
    """The guest's processes are the servers, ours the clients, one after the other."""
    with Tap() as host:
        script = "".join(
            f"(timeout 100 {command.format(port=FIRST_PORT + number, host='')} > /tmp/{number} 2>&1) &\n"
            for number, (_, command) in enumerate(EXCHANGES)
        )
        script += "echo serving; sleep 1; wait\n"
        script += "".join(f'echo "== {name}"; cat /tmp/{n}\n' for n, (name, _) in enumerate(EXCHANGES))
        running = start(stand, host, script)
        answers = {}
        try:
            wait_for(running, "serving", 60)
            for number, (name, command) in enumerate(EXCHANGES):
                words = command.format(port=FIRST_PORT + number, host=GUEST).split()
                answers[name] = ask(stand, host, words)
            guest = sections(Guest(stand.build).finish(running, 200))
        finally:
            end([running])
        return {name: answer + "\nserver: " + guest.get(name, "") for name, answer in answers.items()}


def ask(stand, host, words):
    for attempt in range(40):
        client = stand.start([*words, "-d", "softrdma0"], softrdma_environment(stand), host.enter)
        try:
            return client.succeed(40) + "\nguest-exit 0\n"
        except Failure as why:
            if not re.search("onnect to|onnection refused", str(why)) or attempt == 39:
                return f"{why}\n"
            time.sleep(0.5)


def start(stand, host, script):
    """The guest runs inside the host's network namespace, where its network card's other end is."""
    return Guest(stand.build).start(script, tap=Tap.NAME, before=host.enter)


def boot(stand, host, script):
    running = start(stand, host, script)
    try:
        return sections(Guest(stand.build).finish(running, 400))
    finally:
        end([running])


def wait_for(running, word, seconds):
    deadline = time.monotonic() + seconds
    while word not in running.output():
        require(running.process.poll() is None and time.monotonic() < deadline, f"no {word}:\n{running.tail()}")
        time.sleep(0.1)


def end(programs):
    for one in programs:
        one.end()


def exchanged(session, name):
    output = session.answer(name)
    require("guest-exit 0" in output, output)
    require(ROW.search(output) or "iters in" in output, f"no result:\n{output}")


def cases(stand):
    if stand.quick:
        return
    judge = Session(lambda: oracle(stand))
    for name in sorted(set(semantics.names()) - DIFFERS):
        yield f"rxe: {name} on the kernel's device", lambda n=name: judged(judge, n)
    for words, session in (
        ("asks us", Session(lambda: ours_serve(stand))),
        ("answers us", Session(lambda: ours_ask(stand))),
    ):
        for name, _ in EXCHANGES:
            yield f"rxe: the kernel {words}, {name}", lambda s=session, n=name: exchanged(s, n)
