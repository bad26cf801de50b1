! mpi_f08: a value for MPI_Fetch_and_op or MPI_Compare_and_swap whose bytes are in elements that stand apart is an error of the
! call: its datatype is predefined, so none describes it (MPI-5.0 sections 12.3.4 and 19.1.12). One in one element is right.
program refused
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  implicit none
  integer :: rank, halves(4), ierror, seen
  integer(int64) :: window(2), got(4)
  integer(kind=MPI_ADDRESS_KIND), parameter :: none = 0
  type(MPI_Errhandler) :: counting
  type(MPI_Win) :: win

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  window = 5
  halves = 0
  seen = 0
  call MPI_Win_create(window, 16_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_SELF, win)
  call MPI_Win_create_errhandler(count_it, counting)
  call MPI_Win_set_errhandler(win, counting)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
  call MPI_Fetch_and_op(halves(1:4:2), got, MPI_INTEGER8, 0, none, MPI_SUM, win, ierror)
  call hold(ierror == MPI_ERR_BUFFER .and. seen == 1, 'Fetch_and_op and its handler')
  call MPI_Compare_and_swap(got, got, halves(4:1:-1), MPI_INTEGER8, 0, none, win, ierror)
  call hold(ierror == MPI_ERR_BUFFER .and. seen == 2, 'Compare_and_swap and its handler')
  got = [2, 3, 4, 5]
  call MPI_Fetch_and_op(got(4:1:-2), got(1:4:2), MPI_INTEGER8, 0, none, MPI_SUM, win, ierror)
  call MPI_Win_flush(0, win)
  call hold(ierror == MPI_SUCCESS .and. got(1) == 5 .and. window(1) == 10 .and. all(got(2:) == [3, 4, 5]), 'a value in one element')
  call MPI_Win_unlock(0, win)
  call MPI_Win_free(win)
  call MPI_Errhandler_free(counting)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'ok refused'
  call MPI_Finalize()

contains

  subroutine hold(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': not so: ', what
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine count_it(window, code)
    type(MPI_Win) :: window
    integer :: code
    if (window == win .and. code == MPI_ERR_BUFFER) seen = seen + 1
  end subroutine
end program
