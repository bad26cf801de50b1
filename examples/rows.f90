! A matrix whose rows travel round a ring of processes: Fortran with the module mpi_f08. A row of a matrix does not lie together in
! memory; every call takes it all the same, nonblocking ones too, and errors that nobody asks for end the program.
program rows
  use mpi_f08
  implicit none
  integer, parameter :: columns = 5
  integer :: rank, size, step, above, below
  integer, asynchronous :: matrix(3, columns)
  type(MPI_Request) :: requests(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  above = modulo(rank - 1, size)
  below = modulo(rank + 1, size)

  matrix = 0
  matrix(2, :) = rank
  do step = 1, size
    call MPI_Irecv(matrix(3, :), columns, MPI_INTEGER, above, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(matrix(2, :), columns, MPI_INTEGER, below, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    matrix(2, :) = matrix(3, :)
  end do

  ! After as many steps as there are processes each row is back.
  if (any(matrix(2, :) /= rank) .or. any(matrix(1, :) /= 0)) call MPI_Abort(MPI_COMM_WORLD, 1)
  if (rank == 0) print '(a, i0, a)', 'each row has been at all ', size, ' processes'
  call MPI_Finalize()
end program
