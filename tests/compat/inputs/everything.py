"""mpi4py on NumPy's arrays and on objects: what each rank finds, told by the first."""

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()

numbers = numpy.arange(1000, dtype="d") + rank
total = numpy.empty_like(numbers)
world.Allreduce(numbers, total)
print(f"sum {total.sum()}") if rank == 0 else None
print("objects", world.gather({"rank": rank, "text": "x" * rank})) if rank == 0 else world.gather({"rank": rank, "text": "x" * rank})

to, source = (rank + 1) % size, (rank - 1) % size
print("ring", world.sendrecv(("from", rank), dest=to, source=source)) if rank == 0 else world.sendrecv(("from", rank), dest=to, source=source)
column = MPI.DOUBLE.Create_vector(10, 1, 10).Commit()
matrix = numpy.arange(100, dtype="d") * (rank + 1)
received = numpy.zeros(10)
request = world.Irecv(received, source=source)
world.Send([matrix, 1, column], dest=to)
status = MPI.Status()
request.Wait(status)
received_all = world.gather((received.tolist(), status.Get_count(MPI.DOUBLE), status.Get_source()))
column.Free()

window = MPI.Win.Allocate(8, comm=world)
memory = numpy.frombuffer(window, dtype="d")
memory[:] = 0
window.Fence()
for other in range(size):
    window.Accumulate(numpy.array([rank + 1.0]), other, target=[0, 1, MPI.DOUBLE])
window.Fence()
summed = world.allreduce(float(memory[0]))
window.Free()

longest = MPI.Op.Create(lambda a, b, datatype: numpy.copyto(numpy.frombuffer(b, "d"), numpy.maximum(numpy.frombuffer(a, "d"), numpy.frombuffer(b, "d"))), commute=True)
most = numpy.zeros(4)
world.Allreduce(numpy.array([rank, -rank, 1.5 * rank, 7.0]), most, op=longest)
longest.Free()
cart = world.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False], reorder=False)
coordinates = world.gather(cart.Get_coords(cart.Get_rank()))
scanned = world.gather(world.scan(rank + 1))
if rank == 0:
    print("columns", received_all)
    print("window", summed)
    print("greatest", most.tolist())
    print("grid", coordinates, cart.Get_topo()[:2])
    print("scan", scanned)
    print("level", MPI.Query_thread() == MPI.THREAD_MULTIPLE)
