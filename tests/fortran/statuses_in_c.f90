! Statuses and their special values that Fortran hands to C, which converts them and hands others back: MPI-5.0 §19.3.5.
module other_half
  use mpi_f08
  implicit none

  interface
    ! Which of Fortran's special values it is: 1 MPI_STATUS_IGNORE, 2 MPI_STATUSES_IGNORE, 0 none.
    integer function c_which_typed(status) bind(c)
      import MPI_Status
      type(MPI_Status) :: status
    end function

    ! How many INTEGERs a status tells of, and 1000 times its tag; then the status is one of as many more with the next tag.
    integer function c_reads_typed(status) bind(c)
      import MPI_Status
      type(MPI_Status) :: status
    end function

    integer function c_reads_old(status) bind(c)
      integer :: status(*)
    end function

    integer function c_which_old(status) bind(c)
      integer :: status(*)
    end function

    ! Receives by Fortran's routine, which is given C's name of Fortran's MPI_STATUS_IGNORE.
    integer function c_receives(tag) bind(c)
      integer, value :: tag
    end function
  end interface
end module

subroutine typed
  use check, only: hold
  use mpi_f08
  use other_half
  implicit none
  type(MPI_Status) :: status
  integer :: got(5), count
  call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, 0, 7, got, 5, MPI_INTEGER, 0, 7, MPI_COMM_SELF, status)
  call hold(c_which_typed(status) == 0, 'a status')
  call hold(c_which_typed(MPI_STATUS_IGNORE) == 1, 'MPI_F08_STATUS_IGNORE')
  call hold(c_which_typed(MPI_STATUSES_IGNORE(1)) == 2, 'MPI_F08_STATUSES_IGNORE')
  call hold(c_reads_typed(status) == 7003, 'f082c')
  call MPI_Get_count(status, MPI_INTEGER, count)
  call hold(status%MPI_TAG == 8 .and. count == 6, 'c2f08')
end subroutine

subroutine old
  use check, only: hold
  use mpi
  use other_half, only: c_reads_old, c_which_old, c_receives
  implicit none
  integer :: status(MPI_STATUS_SIZE), request, got(5), count, ierror
  call MPI_Sendrecv([1, 2, 3, 4], 4, MPI_INTEGER, 0, 9, got, 5, MPI_INTEGER, 0, 9, MPI_COMM_SELF, status, ierror)
  call hold(c_which_old(status) == 0, 'a status')
  call hold(c_which_old(MPI_STATUS_IGNORE) == 1, 'MPI_F_STATUS_IGNORE')
  call hold(c_which_old(MPI_STATUSES_IGNORE) == 2, 'MPI_F_STATUSES_IGNORE')
  call hold(c_reads_old(status) == 9004, 'f2c')
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call hold(status(MPI_TAG) == 10 .and. count == 8, 'c2f')
  call MPI_Isend([77], 1, MPI_INTEGER, 0, 11, MPI_COMM_SELF, request, ierror)
  call hold(c_receives(11) == 77, 'MPI_F_STATUS_IGNORE given to Fortran')
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
end subroutine

program statuses_in_c
  use check
  implicit none
  call begin
  call typed
  call old
  call finish('statuses_in_c')
end program
