! What the programs of this folder share: a failed check names itself and ends the job.
module check
  use mpi
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: rank, size

contains

  subroutine begin
    integer :: ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  end subroutine

  subroutine hold(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    integer :: ierror
    if (condition) return
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': not so: ', what
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine finish(name)
    character(len=*), intent(in) :: name
    integer :: ierror
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(2a)', 'ok ', name
    call MPI_Finalize(ierror)
  end subroutine
end module
