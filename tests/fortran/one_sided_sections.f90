! mpi_f08: array sections that are not contiguous at the origin of one-sided accesses, against explicit copies (MPI-5.0 sections
! 12.3 and 19.1.12).
program one_sided_sections
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer(kind=MPI_ADDRESS_KIND), parameter :: none = 0
  integer :: rank, size, target, i
  integer, asynchronous :: window(40), given(5, 8), got(5, 8)
  type(MPI_Win) :: win

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  target = mod(rank + 1, size)
  window = 0
  given = reshape([(i, i=1, 40)], [5, 8])
  call MPI_Win_create(window, 160_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call put_and_get
  call accumulate
  call with_requests
  call MPI_Win_free(win)
  if (rank == 0) print '(a)', 'ok one_sided_sections'
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

  ! What an origin has freed its datatype of is accessed still.
  subroutine put_and_get
    type(MPI_Datatype) :: pairs
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, pairs)
    call MPI_Type_commit(pairs)
    got = -1
    call MPI_Win_fence(0, win)
    call MPI_Put(given(4:1:-2, ::3), 6, MPI_INTEGER, target, none, 6, MPI_INTEGER, win)
    call MPI_Put(given(3, 8:1:-1), 1, pairs, target, 10_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win)
    call MPI_Type_free(pairs)
    call MPI_Win_fence(0, win)
    call hold(all(window(1:6) == [4, 2, 19, 17, 34, 32]), 'Put')
    call hold(all(window(11:13) == [38, 28, 18]), 'Put with a datatype')
    call MPI_Win_fence(0, win)
    call MPI_Get(got(2, 6:1:-1), 6, MPI_INTEGER, target, none, 6, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call hold(all(got(2, 6:1:-1) == [4, 2, 19, 17, 34, 32]) .and. count(got == -1) == 34, 'Get')
  end subroutine

  subroutine accumulate
    integer :: expected(6)
    call MPI_Win_fence(0, win)
    window(1:6) = 100*rank
    got = -1
    call MPI_Win_fence(0, win)
    call MPI_Accumulate(given(5, 1:6), 6, MPI_INTEGER, target, none, 6, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    expected = 100*rank + [5, 10, 15, 20, 25, 30]
    call hold(all(window(1:6) == expected), 'Accumulate')
    call MPI_Win_fence(0, win)
    call MPI_Get_accumulate(given(1:2, 8:6:-1), 6, MPI_INTEGER, got(5:4:-1, 1:3), 6, MPI_INTEGER, target, none, 6, MPI_INTEGER, &
      MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call hold(all(window(1:6) == expected + [36, 37, 31, 32, 26, 27]), 'Get_accumulate, the target')
    expected = 100*target + [5, 10, 15, 20, 25, 30]
    call hold(all(reshape(got(5:4:-1, 1:3), [6]) == expected) .and. count(got == -1) == 34, 'Get_accumulate, the result')
    call MPI_Win_fence(0, win)
    call MPI_Get_accumulate(given(:, 1), 0, MPI_INTEGER, got(1, ::7), 2, MPI_INTEGER, target, none, 2, MPI_INTEGER, MPI_NO_OP, win)
    call MPI_Win_fence(0, win)
    call hold(all(got(1, ::7) == expected(1:2) + [36, 37]), 'Get_accumulate without an operation')
    call MPI_Win_fence(0, win)
    call MPI_Fetch_and_op(given(5, 8:1:-1), got(3, 2:3), MPI_INTEGER, target, none, MPI_REPLACE, win)
    call MPI_Win_fence(0, win)
    call hold(got(3, 2) == expected(1) + 36 .and. got(3, 3) == -1 .and. window(1) == 40, 'Fetch_and_op')
    call MPI_Win_fence(0, win)
    call MPI_Compare_and_swap(given(1, 8:1:-1), given(5, 8:1:-1), got(4, 7:8), MPI_INTEGER, target, none, win)
    call MPI_Win_fence(0, win)
    call hold(got(4, 7) == 40 .and. got(4, 8) == -1 .and. window(1) == 36, 'Compare_and_swap')
  end subroutine

  subroutine with_requests
    type(MPI_Request) :: request
    call MPI_Barrier(MPI_COMM_WORLD)
    got = -1
    call MPI_Win_lock_all(0, win)
    call MPI_Rput(given(2, ::2), 4, MPI_INTEGER, target, 20_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_flush(target, win)
    call MPI_Raccumulate(given(1, 4:1:-1), 4, MPI_INTEGER, target, 20_MPI_ADDRESS_KIND, 4, MPI_INTEGER, MPI_SUM, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_flush(target, win)
    call MPI_Rget(got(1, 7:1:-2), 4, MPI_INTEGER, target, 20_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call hold(all(got(1, 7:1:-2) == [2, 12, 22, 32] + [16, 11, 6, 1]) .and. count(got == -1) == 36, 'Rput, Raccumulate and Rget')
    call MPI_Rget_accumulate(given(1, 1:4), 4, MPI_INTEGER, got(3, ::2), 4, MPI_INTEGER, target, 20_MPI_ADDRESS_KIND, 4, &
      MPI_INTEGER, MPI_REPLACE, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call hold(all(got(3, ::2) == [18, 23, 28, 33]), 'Rget_accumulate')
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call hold(all(window(21:24) == [1, 6, 11, 16]), 'what they left')
  end subroutine
end program
