"""Programs under memcheck and ThreadSanitizer, as their authors run them: nothing is reported but what is theirs."""

from lib.cases import require

LOST = "definite,possible"
MEMCHECK = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]
MEMCHECK += [f"--show-leak-kinds={LOST}", f"--errors-for-leak-kinds={LOST}"]


def suppressions(site, name):
    return site.library.parent / "share/weft" / name


def leaks(site, start, *words):
    """Nothing definitely or possibly lost, nor any other error."""
    valgrind = [*MEMCHECK, f"--suppressions={suppressions(site, 'valgrind.supp')}"]
    done = site.run([*start, *valgrind, site.program("brief"), *words], timeout=120)
    require(done.code == 0 and "==" not in done.output, f"exit code {done.code}:\n{done.output}")


def races(site, *words):
    """The output of the program with threads, built for ThreadSanitizer, on two ranks. Its shadow does not lie everywhere
    where the kernel may place a program, so that is told to leave it where it is."""
    program = site.program("threaded", "-fsanitize=thread", into="threaded-tsan")
    env = {"TSAN_OPTIONS": f"exitcode=66 suppressions={suppressions(site, 'tsan.supp')}"}
    return site.mpirun(2, program, *words, before=["setarch", "-R"], env=env, timeout=120)


def silent(site):
    result = races(site)
    result.ok("threaded")
    require("ThreadSanitizer" not in result.output, result.output)


def told(site):
    result = races(site, "race")
    require(result.code != 0 and "data race" in result.output, f"exit code {result.code}, and no race:\n{result.output}")
    places = [line for line in result.output.splitlines() if line.startswith("SUMMARY")]
    require(all("threaded.c" in place for place in places), f"others than the program's:\n{result.output}")


def cases(site):
    yield "memcheck, a process alone", lambda: leaks(site, [])
    yield "memcheck, ranks with threads and messages", lambda: leaks(site, [site.mpiexec, "-n", 2], "threads", "messages")
    yield "memcheck, messages by TCP", lambda: leaks(site, [site.mpiexec, "--transport", "tcp", "-n", 2], "messages")
    yield "ThreadSanitizer, a program without races", lambda: silent(site)
    yield "ThreadSanitizer, a program with one", lambda: told(site)
