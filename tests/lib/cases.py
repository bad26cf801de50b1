"""Cases: named functions that return, or say by an exception what is wrong; counted in the form that scripts/steps.sh reads."""

import re
import time

from lib.commands import Undeclared
from lib.stillness import Stillness

# A machine on which a thread that only looks at the clock is not run for so long may have kept any process from its time-outs, so what
# fails meanwhile is tried again; a case that is long does not depend on so little.
STILL_SECONDS = 0.25
TRIES = 4
LONG_CASE_SECONDS = 120


class Failure(Exception):
    """What was wrong, for the terminal."""


class Skip(Exception):
    """What this machine lacks."""


def require(condition, message):
    if not condition:
        raise Failure(message)


def end_of(text, lines=12):
    return "\n".join(text.strip().splitlines()[-lines:])


def indented(text):
    return "".join(f"\n    | {line}" for line in str(text).splitlines())


def run_case(name, case):
    """Runs a case and says in a line how it went, and what was wrong; returns the verdict."""
    for attempt in range(1, TRIES + 1):
        with Stillness() as stillness:
            begin = time.monotonic()
            verdict, words = attempt_at(case)
            seconds = time.monotonic() - begin
        if verdict != "FAILED" or attempt == TRIES or stillness.longest < STILL_SECONDS or seconds > LONG_CASE_SECONDS:
            break
        print(f"again   {seconds:6.1f} s  {name}, as the machine stood still for {stillness.longest:.1f} s{words}", flush=True)
    print(f"{verdict:8}{seconds:6.1f} s  {name}{words}", flush=True)
    return verdict


def attempt_at(case):
    """The verdict, and what was wrong."""
    try:
        case()
    except Skip as why:
        return "skipped", f": {why}"
    except (Failure, Undeclared) as why:
        return "FAILED", indented(why)
    return "ok", ""


def run_all(cases, expression="", only_names=False):
    """Runs the (name, case) whose name matches, or prints their names; returns the exit code."""
    verdicts = []
    for name, case in cases:
        if re.search(expression, name):
            if only_names:
                print(name)
            else:
                verdicts.append(run_case(name, case))
    return 0 if only_names else sum_up(verdicts)


def sum_up(verdicts):
    """The last line; returns the exit code."""
    failed = verdicts.count("FAILED")
    print(f"{verdicts.count('ok')} passed, {failed} failed, {verdicts.count('skipped')} skipped")
    return 1 if failed else 0
