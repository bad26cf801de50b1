! mpi_f08: without IERROR, a section that a nonblocking call cannot take ends the job (MPI-5.0 section 9.3).
! ranks: 1,2
! exit: nonzero
program refused_fatal
  use mpi_f08
  implicit none
  integer :: matrix(4, 6), rank
  type(MPI_Request) :: request

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  matrix = 0
  if (rank == 0) print '(a)', 'started refused_fatal'
  flush (6)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Irecv(matrix(2, :), 6, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, request)
  if (rank == 0) print '(a)', 'ok refused_fatal'
  call MPI_Finalize()
end program
