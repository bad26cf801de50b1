! mpi_f08: without IERROR, a value that no predefined datatype can describe ends the job (MPI-5.0 section 9.3).
! ranks: 1,2
! exit: nonzero
program refused_fatal
  use mpi_f08
  implicit none
  integer :: halves(4), got(2), rank
  type(MPI_Win) :: win

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  halves = 0
  if (rank == 0) print '(a)', 'started refused_fatal'
  flush (6)
  call MPI_Win_create(halves, 16_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_fence(0, win)
  call MPI_Fetch_and_op(halves(1:4:2), got, MPI_INTEGER8, rank, 0_MPI_ADDRESS_KIND, MPI_SUM, win)
  call MPI_Win_fence(0, win)
  if (rank == 0) print '(a)', 'ok refused_fatal'
  call MPI_Finalize()
end program
