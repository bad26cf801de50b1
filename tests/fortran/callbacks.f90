! Functions of the program's, called with Fortran's handles (MPI-5.0 section 6.9.5, section 9.3, section 13.2).
module functions
  use mpi
  implicit none
  integer :: seen_type = MPI_DATATYPE_NULL
  integer :: failed_comm = MPI_COMM_NULL, failed_code = MPI_SUCCESS, failures = 0
  integer(kind=MPI_ADDRESS_KIND) :: queried = 0, freed = 0, cancelled = 0
  logical :: was_complete = .true.

contains

  ! Of the maps x -> in(1) x + in(2), one after the other: not commutative.
  subroutine combine(in, inout, length, datatype)
    integer :: length, datatype, in(2, length), inout(2, length)
    seen_type = datatype
    inout(2, :) = in(1, :)*inout(2, :) + in(2, :)
    inout(1, :) = in(1, :)*inout(1, :)
  end subroutine

  subroutine on_error(comm, code)
    integer :: comm, code
    failed_comm = comm
    failed_code = code
    failures = failures + 1
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: status(MPI_STATUS_SIZE), ierror
    queried = extra_state
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status(MPI_SOURCE) = 17
    status(MPI_TAG) = 18
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + extra_state
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    cancelled = extra_state
    was_complete = complete
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use check
  use functions
  implicit none
  integer :: op, pair, ierror, mine(2, 3), result(2, 3), expected(2), i, comm, handler, old, code, class
  integer :: request, status(MPI_STATUS_SIZE), elements, win, winhandler
  logical :: flag
  integer(kind=MPI_ADDRESS_KIND) :: state

  call begin
  call MPI_Op_create(combine, .false., op, ierror)
  call MPI_Op_commutative(op, flag, ierror)
  call hold(.not. flag, 'Op_commutative')
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
  call MPI_Type_commit(pair, ierror)
  mine(1, :) = rank + 2
  mine(2, :) = rank + 1
  call MPI_Allreduce(mine, result, 3, pair, op, MPI_COMM_WORLD, ierror)
  ! The order of ranks: r0 (r1 (r2 ...)).
  expected = [1, 0]
  do i = size, 1, -1
    expected = [(i + 1)*expected(1), (i + 1)*expected(2) + i]
  end do
  call hold(all(result(1, :) == expected(1)) .and. all(result(2, :) == expected(2)), 'own operation')
  ! Some rank calls it, not each.
  call hold(seen_type == pair .or. seen_type == MPI_DATATYPE_NULL, 'the datatype that an operation is called with')
  flag = seen_type == pair
  call MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
  call hold(flag .or. size == 1, 'an operation is called')
  call MPI_Reduce_local(mine, result, 3, pair, op, ierror)
  call hold(seen_type == pair, 'Reduce_local')
  call MPI_Op_free(op, ierror)
  call hold(op == MPI_OP_NULL, 'OP_NULL')
  call MPI_Type_free(pair, ierror)

  ! The communicator's number and the code come by reference; the call returns the code.
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_create_errhandler(on_error, handler, ierror)
  call MPI_Comm_set_errhandler(comm, handler, ierror)
  call MPI_Comm_get_errhandler(comm, old, ierror)
  call MPI_Send(mine, 1, MPI_INTEGER, size, 0, comm, code)
  call hold(failures == 1 .and. failed_comm == comm .and. failed_code == code, 'error handler')
  call MPI_Error_class(code, class, ierror)
  call hold(class == MPI_ERR_RANK, 'class')
  call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER, ierror)
  call hold(failures == 2 .and. failed_code == MPI_ERR_OTHER, 'Comm_call_errhandler')
  call MPI_Errhandler_free(handler, ierror)
  call hold(handler == MPI_ERRHANDLER_NULL, 'ERRHANDLER_NULL')
  call MPI_Comm_free(comm, ierror)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_create_errhandler(on_error, winhandler, ierror)
  call MPI_Win_set_errhandler(win, winhandler, ierror)
  call MPI_Win_call_errhandler(win, MPI_ERR_BASE, ierror)
  call hold(failures == 3 .and. failed_comm == win .and. failed_code == MPI_ERR_BASE, 'window''s')
  call MPI_Win_free(win, ierror)

  ! The extra state is an integer, also one that no int holds.
  state = 5000000000_MPI_ADDRESS_KIND
  call MPI_Grequest_start(query, release, cancel, state, request, ierror)
  call MPI_Test(request, flag, status, ierror)
  call hold(.not. flag, 'under way')
  call MPI_Cancel(request, ierror)
  call hold(cancelled == state .and. .not. was_complete, 'cancel')
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, status, ierror)
  call hold(queried == state .and. freed == state, 'extra state')
  call hold(status(MPI_SOURCE) == 17 .and. status(MPI_TAG) == 18, 'status of the program''s')
  call MPI_Get_elements(status, MPI_INTEGER, elements, ierror)
  call hold(elements == 3, 'Status_set_elements')
  call MPI_Test_cancelled(status, flag, ierror)
  call hold(.not. flag, 'Test_cancelled')
  call finish('callbacks')
end program
