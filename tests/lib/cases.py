"""Cases: named functions that return, or say by an exception what is wrong; counted in the form that scripts/steps.sh reads."""

import re
import time

from lib.commands import Undeclared


class Failure(Exception):
    """What was wrong, for the terminal."""


class Skip(Exception):
    """What this machine lacks."""


def require(condition, message):
    if not condition:
        raise Failure(message)


def end_of(text, lines=12):
    return "\n".join(text.strip().splitlines()[-lines:])


def run_case(name, case):
    """Runs a case and says in a line how it went, and what was wrong; returns the verdict."""
    begin = time.monotonic()
    try:
        case()
        verdict, words = "ok", ""
    except Skip as why:
        verdict, words = "skipped", f": {why}"
    except (Failure, Undeclared) as why:
        verdict, words = "FAILED", "\n" + "\n".join(f"    | {line}" for line in str(why).splitlines())
    print(f"{verdict:8}{time.monotonic() - begin:6.1f} s  {name}{words}", flush=True)
    return verdict


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
