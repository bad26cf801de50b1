"""What processes are told of how they were started."""

import tempfile

from lib.cases import require


def started_as(site):
    """Each program's own options (MPI-5.0 §11.2.1), on one host by its own name and on two that are one."""
    program = site.program("started_as")
    with tempfile.NamedTemporaryFile("w", dir=site.build, suffix=".options") as options:
        options.write("-n 1 -soft 1\n")
        options.flush()
        for hosts, launcher in (("localhost", ()), ("a:2,b:2", ("-launcher", "fork"))):
            command = [site.mpiexec, *launcher, "-n", 2, "-soft", "1,2:4:2", "-host", hosts, program, "x", "y z", ":",
                       "-n", 3, program, ":", "-file", options.name, program]
            result = site.run(command)
            first = f"command={program} argv=x y z maxprocs=2 soft=1,2:4:2 host={hosts} file=- thread_level=-"
            second = f"command={program} argv= maxprocs=3 soft=- host=- file=- thread_level=-"
            third = f"command={program} argv= maxprocs=1 soft=1 host=- file={options.name} thread_level=-"
            expected = [f"rank {rank} {told}" for rank, told in enumerate([first] * 2 + [second] * 3 + [third])]
            lines = sorted(line for line in result.output.splitlines() if line.startswith("rank "))
            require(result.code == 0 and lines == expected, f"exit code {result.code}:\n{result.output}")


def cases(site):
    yield "MPI_INFO_ENV tells each program's own options", lambda: started_as(site)
