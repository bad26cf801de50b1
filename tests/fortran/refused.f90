! mpi_f08: sections that are not contiguous, in calls that use them after they return, are errors of the call, as
! MPI_SUBARRAYS_SUPPORTED says (MPI-5.0 section 19.1.12).
program refused
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: rank, matrix(4, 6), ierror, seen
  integer(kind=MPI_ADDRESS_KIND), parameter :: none = 0
  type(MPI_Request) :: request
  type(MPI_Errhandler) :: counting
  type(MPI_Win) :: win

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  matrix = rank
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Isend(matrix(2, :), 6, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, ierror)
  call hold(ierror == MPI_ERR_BUFFER, 'Isend')
  call MPI_Recv_init(matrix(1:4:2, :), 12, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, ierror)
  call hold(ierror == MPI_ERR_BUFFER, 'Recv_init')

  call MPI_Win_create(matrix, 96_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win)
  seen = 0
  call MPI_Win_create_errhandler(count_it, counting)
  call MPI_Win_set_errhandler(win, counting)
  call MPI_Win_fence(0, win)
  call MPI_Put(matrix(2, :), 6, MPI_INTEGER, 0, none, 6, MPI_INTEGER, win, ierror)
  call hold(ierror == MPI_ERR_BUFFER .and. seen == 1, 'Put and its handler')
  call MPI_Put(matrix(:, 2), 4, MPI_INTEGER, 0, none, 4, MPI_INTEGER, win, ierror)
  call hold(ierror == MPI_SUCCESS .and. seen == 1, 'Put of a column')
  call MPI_Win_fence(0, win)
  call MPI_Win_free(win)
  call MPI_Errhandler_free(counting)

  ! A column is contiguous, and a blocking call takes any section.
  call MPI_Isend(matrix(:, 3), 4, MPI_INTEGER, 0, 2, MPI_COMM_SELF, request)
  call MPI_Recv(matrix(3, 1:4), 4, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
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
