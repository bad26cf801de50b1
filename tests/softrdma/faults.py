"""Faults on request: what SOFTRDMA_FAULTS makes fail, fails as an ordinary program sees it."""

from lib.cases import require
from stand import Program


def output_of(stand, command, faults):
    running = Program(command, stand.environment(SOFTRDMA_FAULTS=faults))
    result = running.finish(30)
    return result.code, result.output


def call_fails(stand, call, words):
    """The examples say which call failed, and end."""
    code, output = output_of(stand, ["ibv_rc_pingpong", "-d", "softrdma0"], f"fail={call}:1")
    require(code != 0 and words in output, f"exit code {code}:\n{output}")


def link_down(stand):
    _, output = output_of(stand, ["ibv_devinfo"], "link=down")
    require("PORT_DOWN" in output, output)


def pages_run_out(stand):
    """A context takes 8 pages: with 8 there is no second one."""
    environment = stand.environment(SOFTRDMA_FAULTS="uars=8")
    first = Program(["ibv_asyncwatch"], environment)
    try:
        while "async event FD" not in first.output():
            require(first.process.poll() is None, first.tail())
        result = Program(["ibv_devinfo"], environment).finish(20)
        require("Failed to open device" in result.output, result.output)
    finally:
        first.process.terminate()
        first.finish(5)
    output = stand.run(["ibv_devinfo"], environment)
    require("PORT_ACTIVE" in output, f"the pages did not come back:\n{output}")


def cases(stand):
    for call, words in (
        ("alloc_pd", "Couldn't allocate PD"),
        ("reg_mr", "Couldn't register MR"),
        ("create_cq", "Couldn't create CQ"),
        ("create_qp", "Couldn't create QP"),
    ):
        yield f"faults: {call} fails", lambda c=call, w=words: call_fails(stand, c, w)
    yield "faults: a link that is down", lambda: link_down(stand)
    yield "faults: UAR pages run out and come back", lambda: pages_run_out(stand)
