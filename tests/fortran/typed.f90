! mpi_f08: typed handles and statuses, IERROR left away, sections in blocking calls, large counts (MPI-5.0 section 19.1).
module check_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: rank, size

contains

  subroutine hold(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': not so: ', what
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call hold(datatype == MPI_INTEGER, 'the datatype of an operation')
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = inout + in
  end subroutine

  subroutine add_large(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call hold(datatype == MPI_INTEGER, 'the datatype of an operation with large counts')
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = inout + in
  end subroutine
end module

program typed
  use check_f08
  use, intrinsic :: iso_c_binding
  implicit none

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call hold(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'the properties')
  call handles
  call sections
  call reductions
  call requests
  call statuses
  call large
  call operations
  call memory
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'ok typed'
  call MPI_Finalize()

contains

  subroutine handles
    type(MPI_Comm) :: copy, none
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: length, ierror, answer
    none = MPI_COMM_NULL
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    call hold(copy /= MPI_COMM_WORLD .and. copy == copy .and. none == MPI_COMM_NULL, 'operators')
    call MPI_Comm_compare(MPI_COMM_WORLD, copy, answer)
    call hold(answer == MPI_CONGRUENT, 'Comm_compare')
    call MPI_Comm_set_name(copy, ' a copy  ')
    call MPI_Comm_get_name(copy, name, length)
    call hold(length == 7 .and. name == ' a copy', 'names')
    call MPI_Comm_free(copy, ierror)
    call hold(ierror == MPI_SUCCESS .and. copy == MPI_COMM_NULL, 'Comm_free')
  end subroutine

  ! Rows of a matrix, a reversed column, a component of a structure.
  subroutine sections
    type :: pair
      integer :: first
      double precision :: second
    end type
    type(pair) :: pairs(6)
    integer :: matrix(5, 7), i, j, row(7), next, before
    type(MPI_Status) :: status
    next = mod(rank + 1, size)
    before = mod(rank + size - 1, size)
    matrix = reshape([((100*rank + 10*i + j, i=1, 5), j=1, 7)], [5, 7])
    call MPI_Sendrecv(matrix(2, :), 7, MPI_INTEGER, next, 1, matrix(4, 7:1:-1), 7, MPI_INTEGER, before, 1, &
      MPI_COMM_WORLD, status)
    call hold(all(matrix(4, :) == [(100*before + 20 + j, j=7, 1, -1)]), 'a row into a reversed row')
    call hold(all(matrix(3, :) == [(100*rank + 30 + j, j=1, 7)]), 'what stands beside it')
    call hold(status%MPI_SOURCE == before .and. status%MPI_TAG == 1, 'the status')
    pairs = [(pair(i, 0.5d0*i), i=1, 6)]
    call MPI_Bcast(pairs%second, 6, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    call hold(all(pairs%first == [(i, i=1, 6)]) .and. all(pairs%second == [(0.5d0*i, i=1, 6)]), 'components')
    ! A datatype is about the elements of the section: every second of every second.
    block
      type(MPI_Datatype) :: every_second
      integer :: long(16), got(4)
      long = [(i, i=1, 16)]
      call MPI_Type_vector(4, 1, 2, MPI_INTEGER, every_second)
      call MPI_Type_commit(every_second)
      call MPI_Sendrecv(long(1:16:2), 1, every_second, rank, 2, got, 4, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call hold(all(got == [1, 5, 9, 13]), 'a derived datatype of a section')
      call MPI_Type_free(every_second)
    end block
    call MPI_Recv(row, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine

  subroutine reductions
    integer :: matrix(3, 4), total(4)
    matrix = rank
    total = -1
    call MPI_Allreduce(matrix(2, :), total, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call hold(all(total == size*(size - 1)/2), 'a section is reduced')
    call MPI_Allreduce(MPI_IN_PLACE, matrix(3, :), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call hold(all(matrix(3, :) == size*(size - 1)/2) .and. all(matrix(:2, :) == rank), 'a section in place')
  end subroutine

  subroutine requests
    integer, asynchronous :: given(20), got(20)
    integer :: i, next, before, done, indices(40)
    type(MPI_Request) :: all_requests(40)
    type(MPI_Status) :: got_statuses(40)
    next = mod(rank + 1, size)
    before = mod(rank + size - 1, size)
    given = [(rank*1000 + i, i=1, 20)]
    do i = 1, 20
      call MPI_Irecv(got(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, all_requests(i))
      call MPI_Isend(given(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, all_requests(20 + i))
    end do
    call MPI_Waitsome(40, all_requests, done, indices, got_statuses)
    call hold(all(indices(:done) >= 1) .and. all(indices(:done) <= 40), 'indices')
    call MPI_Waitall(40, all_requests, MPI_STATUSES_IGNORE)
    call hold(all(got == [(before*1000 + i, i=1, 20)]), 'Waitall')
    call hold(all(all_requests == MPI_REQUEST_NULL), 'null requests')
  end subroutine

  subroutine statuses
    type(MPI_Status) :: status
    integer :: old(MPI_STATUS_SIZE), count
    integer(kind=MPI_COUNT_KIND) :: large_count
    call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, rank, 3, old, MPI_STATUS_SIZE, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call MPI_Get_count(status, MPI_INTEGER, large_count)
    call hold(count == 3 .and. large_count == 3, 'Get_count in both forms')
    call MPI_Status_f082f(status, old)
    call hold(old(MPI_SOURCE) == rank .and. old(MPI_TAG) == 3, 'Status_f082f')
    status%MPI_TAG = 0
    call MPI_Status_f2f08(old, status)
    call MPI_Get_elements(status, MPI_INTEGER, count)
    call hold(status%MPI_TAG == 3 .and. count == 3, 'Status_f2f08')
  end subroutine

  subroutine large
    integer(kind=MPI_COUNT_KIND) :: counts(2), size_of
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    type(MPI_Datatype) :: made, types(2)
    integer :: given(4), got(4), i
    given = [(10*rank + i, i=1, 4)]
    got = 0
    call MPI_Sendrecv(given, 4_MPI_COUNT_KIND, MPI_INTEGER, rank, 4, got, 4_MPI_COUNT_KIND, MPI_INTEGER, rank, 4, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call hold(all(got == given), 'Sendrecv with large counts')
    counts = [1, 2]
    places = [0, 8]
    types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    call MPI_Type_create_struct(2_MPI_COUNT_KIND, counts, counts*8, types, made)
    call MPI_Type_size(made, size_of)
    call hold(size_of == 20, 'Type_create_struct with large counts')
    call MPI_Type_free(made)
    call MPI_Type_vector(2_MPI_COUNT_KIND**31, 1_MPI_COUNT_KIND, 2_MPI_COUNT_KIND, MPI_INTEGER, made)
    call MPI_Type_size(made, size_of)
    call hold(size_of == 4*2_MPI_COUNT_KIND**31, 'a large type')
    call MPI_Type_free(made)
  end subroutine

  subroutine operations
    type(MPI_Op) :: sum, sum_c
    integer :: total, key
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: found
    call MPI_Op_create(add, .true., sum)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, sum, MPI_COMM_WORLD)
    call hold(total == size*(size - 1)/2, 'an operation of the program')
    call MPI_Op_create_c(add_large, .true., sum_c)
    call MPI_Allreduce(rank, total, 1_MPI_COUNT_KIND, MPI_INTEGER, sum_c, MPI_COMM_WORLD)
    call hold(total == size*(size - 1)/2, 'an operation with large counts')
    call MPI_Op_free(sum)
    call MPI_Op_free(sum_c)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 77_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found)
    call hold(found .and. value == 77, 'an attribute')
    call MPI_Comm_free_keyval(key)
  end subroutine

  subroutine memory
    type(c_ptr) :: base, detached
    type(MPI_Win) :: win
    integer, pointer :: window(:)
    integer :: buffer(1000)
    integer :: length, one
    integer(kind=MPI_ADDRESS_KIND) :: position
    character(len=1) :: packed(64)
    call MPI_Win_allocate(int(4*size, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, window, [size])
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + 1, size), int(rank, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call hold(window(mod(rank + size - 1, size) + 1) == mod(rank + size - 1, size), 'Put')
    call MPI_Win_free(win)
    call MPI_Buffer_attach(buffer, 4000)
    call MPI_Buffer_detach(detached, length)
    ! The address as a number: a compiler may take it for granted that no pointer to a buffer comes back.
    call MPI_Get_address(buffer, position)
    call hold(length == 4000 .and. transfer(detached, position) == position, 'Buffer_detach')
    position = 0
    call MPI_Pack_external('external32', [7], 1, MPI_INTEGER, packed, 64_MPI_ADDRESS_KIND, position)
    position = 0
    call MPI_Unpack_external('external32', packed, 64_MPI_ADDRESS_KIND, position, one, 1, MPI_INTEGER)
    call hold(one == 7 .and. position == 4, 'external32')
    call MPI_Sizeof(1.0d0, length)
    call hold(length == 8, 'Sizeof')
  end subroutine
end program
