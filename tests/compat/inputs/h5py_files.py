"""A file in HDF5's format that all ranks write and read together."""

import h5py
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
with h5py.File("all.h5", "w", driver="mpio", comm=world) as file:
    rows = file.create_dataset("rows", (4 * size, 1000), dtype="f8", chunks=(4, 100))
    with rows.collective:
        rows[4 * rank : 4 * rank + 4, :] = rank + 1
    file.create_dataset("alone", (size,), dtype="i4")[rank] = rank
    file.attrs["who"] = "all"
with h5py.File("all.h5", "r", driver="mpio", comm=world) as file:
    sums = world.gather((float(file["rows"][:, rank].sum()), file["alone"][:].tolist(), file.attrs["who"]))
if rank == 0:
    print("parallel", h5py.get_config().mpi)
    print("sums", sums)
