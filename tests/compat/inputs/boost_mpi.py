"""Boost.MPI's binding for Python: objects of any kind, serialized."""

import boost.mpi as mpi

world = mpi.world
everything = mpi.all_gather(world, {"rank": world.rank, "text": "x" * world.rank})
total = mpi.all_reduce(world, world.rank + 1, lambda a, b: a + b)
given = mpi.broadcast(world, ["from", "the", "first"] if world.rank == 0 else None, 0)
sent = world.isend((world.rank + 1) % world.size, 7, ("ring", world.rank))
came = world.recv((world.rank - 1) % world.size, 7)
sent.wait()
world.barrier()
if world.rank == 0:
    print("all", everything)
    print("sum", total, "given", given, "came", came)
