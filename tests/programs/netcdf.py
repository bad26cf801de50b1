"""NetCDF-4, scientific arrays in HDF5 files, built for MPI on our HDF5, and its own tests of files that processes write together."""

import hdf5
from workshop import Failed

NAME = "netcdf"
OPTIONS = "--enable-parallel-tests --disable-static --disable-dap --disable-byterange --disable-libxml2 --disable-nczarr --disable-plugins --disable-utilities".split()
# On how many ranks its authors run each, of the numbers that we may be asked for.
PROGRAMS = {
    "nc_test4": {
        "tst_mode": (1,), "tst_mpi_parallel": (4,), "tst_parallel": (4,), "tst_parallel3": (1, 2, 4), "tst_parallel4": (1, 2, 4),
        "tst_parallel5": (4,), "tst_nc4perf": (4,), "tst_simplerw_coll_r": (1, 2, 4), "tst_parallel_zlib": (4,),
        "tst_parallel_compress": (1, 4), "tst_quantize_par": (4,), "tst_parallel6": (4,),
    },
    "h5_test": {"tst_h_par": (1, 2, 4), "tst_h_par_compress": (1, 2, 4)},
}


def build(workshop):
    below = hdf5.installed(workshop)
    if not below.exists():
        raise Failed("needs HDF5: --only 'hdf5|netcdf'")
    source, version = workshop.debian_source("netcdf")
    found = [f"CPPFLAGS=-I{below}/include", f"LDFLAGS=-L{below}/lib -Wl,-rpath,{below}/lib", "CFLAGS=-O1"]
    workshop.command(["./configure", f"CC={workshop.mpicc}", *found, *OPTIONS], source, "netcdf.log")
    workshop.make(source, "netcdf.log")
    for folder, programs in PROGRAMS.items():
        workshop.make(source / folder, "netcdf.log", *programs)
    return source, version


def run(workshop, source, ranks):
    failures, ran = [], 0
    for folder, programs in PROGRAMS.items():
        for name in (name for name, numbers in programs.items() if ranks in numbers):
            ran += 1
            try:
                workshop.launch(ranks, [f"./{name}"], source / folder)
            except Failed as failed:
                failures.append(f"{name}: {failed}")
    if failures:
        raise Failed(f"{len(failures)} of {ran} programs:\n" + "\n".join(failures))
    if ran == 0:
        raise Failed(f"its authors run nothing on {ranks} ranks")
    return f"{ran} of its {sum(map(len, PROGRAMS.values()))} parallel programs"
