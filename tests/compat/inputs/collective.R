# Rmpi's collective calls on numbers and on objects of R's, without slaves that it would spawn.
library(Rmpi)
rank <- mpi.comm.rank(0)
size <- mpi.comm.size(0)
total <- mpi.allreduce(as.double(rank + 1), type = 2, op = "sum", comm = 0)
given <- list(numbers = 1:3, text = "from the first")
if (rank == 0) mpi.bcast.Robj(given, 0, 0) else given <- mpi.bcast.Robj(NULL, 0, 0)
all <- mpi.gather.Robj(list(rank = rank, letters = letters[1:(rank + 1)]), root = 0, comm = 0)
if (rank == size - 1) cat("given:", given$text, sum(given$numbers), "\n")
mpi.send.Robj(paste("from", rank), (rank + 1) %% size, 5, comm = 0)
came <- mpi.recv.Robj((rank - 1) %% size, 5, comm = 0)
if (rank == 0) {
    cat("size:", size, "sum:", total, "\n")
    cat("gathered:", unlist(all), "\n")
    cat("came:", came, "\n")
}
invisible(mpi.barrier(0))
invisible(mpi.finalize())
