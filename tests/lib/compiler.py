"""Programs of the tests, those in C compiled with every warning an error."""

import os

from lib.cases import Failure
from lib.processes import run

CFLAGS = "-std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -pthread".split()
FFLAGS = "-O1 -g -Wall".split()
COMPILE_SECONDS = 300


def plain_compiler():
    return os.environ.get("CC") or "cc"


def compile_program(compiler, words, target, flags=CFLAGS):
    """Compiles sources and further arguments into `target`, which it returns."""
    result = run([compiler, *flags, *words, "-o", target], COMPILE_SECONDS)
    if result.code != 0:
        raise Failure(f"{target.name} does not compile:\n{result.output}")
    return target
