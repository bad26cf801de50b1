"""OpenCoarrays, gfortran's coarrays over windows and messages: its own tests on 1 to 8 images, by ctest."""

import re

from lib.cases import end_of
from workshop import Failed

NAME = "opencoarrays"
# The archive of Debian 12 is not to be had.
RELEASE = "trixie"
# It converts what it has got by MPI_Get before the MPI_Win_unlock that completes it (MPI-5.0 §12.3), which goes well where all
# images are of one host.
WRONG_ON_HOSTS = "^sendget_convert_(nums|char_array)$"
SUMMARY = re.compile(r"(\d+) tests failed out of (\d+)")


def build(workshop):
    source, version = workshop.debian_source("open-coarrays", release=RELEASE)
    place = workshop.folder("opencoarrays-build")
    compilers = [f"-DMPI_C_COMPILER={workshop.mpicc}", f"-DMPI_Fortran_COMPILER={workshop.mpifort}"]
    launcher = f"-DMPIEXEC_EXECUTABLE={workshop.mpiexec}"
    workshop.command(["cmake", source, "-DCMAKE_BUILD_TYPE=Release", *compilers, launcher], place, "opencoarrays.log")
    workshop.make(place, "opencoarrays.log")
    return place, version


def suite(workshop, source):
    left_out = ["--exclude-regex", WRONG_ON_HOSTS] if workshop.has_several_hosts else []
    done = workshop.attempt(["ctest", "--timeout", str(workshop.timeout), *left_out], source)
    found = SUMMARY.search(done.output)
    if done.code != 0 or not found or not int(found.group(2)):
        raise Failed(f"ctest: exit code {done.code}\n{end_of(done.output, 40)}")
    return f"ctest, {found.group(2)} tests on 1 to 8 images"
