"""Our own programs, a clause of the verbs each (tests/softrdma/c); the kernel's rxe gives the same answers in `rxe`."""

from lib.cases import Failure, Skip, require
from stand import HERE


def names():
    return sorted(path.stem for path in (HERE / "c").glob("*.c") if "ok(\"" in path.read_text())


def clause(stand, name, environment, before=()):
    try:
        output = stand.run([*before, stand.program(name)], stand.environment(**environment), timeout=60)
    except Skip as why:
        raise Failure(f"the device lacks it: {why}") from None
    require(f"ok {name}" in output, output)


def cases(stand):
    for name in names():
        yield f"semantics: {name}", lambda n=name: clause(stand, n, {})
    if not stand.quick:
        for name in names():
            yield f"semantics: {name}, Ethernet", lambda n=name: clause(stand, n, {"SOFTRDMA_LINK_LAYER": "ethernet"})
