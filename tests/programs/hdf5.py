"""HDF5 and the tests of its parallel half (testpar): groups, datasets and attributes that several processes write and read together."""

from workshop import Failed

NAME = "hdf5"
# Its Fortran and C++ halves call no MPI of their own. h5py needs it shared.
OPTIONS = "--enable-parallel --disable-fortran --disable-cxx --disable-static --enable-build-mode=production --enable-optimization=-O1".split()
# The least number of ranks that a program asks for.
PROGRAMS = {
    "t_mpi": 2, "t_bigio": 1, "testphdf5": 1, "t_cache": 3, "t_cache_image": 2, "t_pread": 3, "t_pshutdown": 1, "t_prestart": 1,
    "t_init_term": 1, "t_shapesame": 1, "t_filters_parallel": 1,
}
# Seconds of those that take longer than others by far: this one is in HDF5's own lists most of the time, five minutes of processors on two ranks.
SECONDS = {"t_cache_image": 3600}
# The first leaves its files as a crash would and ends with an error, the second looks at them.
CRASH, AFTER_CRASH = "t_pflush1", "t_pflush2"


def installed(workshop):
    """Where programs that stand on it find it."""
    return workshop.build / "hdf5-installed"


def build(workshop):
    source, version = workshop.debian_source("hdf5")
    workshop.command(["./configure", f"CC={workshop.mpicc}", f"--prefix={installed(workshop)}", *OPTIONS], source, "hdf5.log")
    for part in ("src", "hl/src"):
        workshop.make(source / part, "hdf5.log", "install")
    workshop.make(source / "test", "hdf5.log", "libh5test.la")
    workshop.make(source / "testpar", "hdf5.log", *PROGRAMS, CRASH, AFTER_CRASH)
    return source, version


def run(workshop, source, ranks):
    # Some start themselves again, by their name alone.
    folder, failures, ran = source / "testpar", [], 0
    for name, least in PROGRAMS.items():
        if ranks >= least:
            ran += 1
            failures += complaints(workshop, name, ranks, folder)
    crashed = workshop.attempt([*workshop.launcher(), "-n", str(ranks), f"./{CRASH}"], folder)
    if "REAL ERROR" in crashed.output:
        failures.append(f"{CRASH}:\n{crashed.output}")
    failures += complaints(workshop, AFTER_CRASH, ranks, folder)
    if failures:
        raise Failed(f"{len(failures)} of {ran + 2} programs:\n" + "\n".join(failures))
    less = [name for name, least in PROGRAMS.items() if ranks < least]
    return f"{ran + 2} of its {len(PROGRAMS) + 2} programs" + (f"; {', '.join(less)} need more ranks" if less else "")


def complaints(workshop, name, ranks, folder):
    try:
        workshop.launch(ranks, [f"./{name}"], folder, SECONDS.get(name))
    except Failed as failed:
        return [f"{name}: {failed}"]
    return []
