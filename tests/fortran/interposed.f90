! A tool's own MPI_BARRIER stands before the library's and calls it by its PMPI_ name (MPI-5.0 section 15.2).
subroutine MPI_Barrier(comm, ierror)
  use mpi, only: PMPI_Barrier
  implicit none
  integer :: comm, ierror, calls
  common /counted/ calls
  calls = calls + 1
  call PMPI_Barrier(comm, ierror)
end subroutine

program interposed
  use check
  implicit none
  integer :: ierror, calls
  common /counted/ calls
  calls = 0
  call begin
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call hold(calls == 1, 'the tool''s is called')
  call finish('interposed')
end program
