! What a program in Fortran sees of a library: every constant of the header (names.inc), and each kind of argument that is not in
! Fortran what it is in C. Rank 0 of 2 prints it. Compiled with HEADER for mpif.h, with MODULE for the module mpi, and with F08
! for mpi_f08.
#ifdef F08
#define T(kind) type(kind)
#define SOURCE(s) s%MPI_SOURCE
#define TAG(s) s%MPI_TAG
#define CODE(s) s%MPI_ERROR
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define USING use mpi_f08
#else
#define T(kind) integer
#define SOURCE(s) s(MPI_SOURCE)
#define TAG(s) s(MPI_TAG)
#define CODE(s) s(MPI_ERROR)
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#ifdef HEADER
#define USING
#else
#define USING use mpi
#endif
#endif
#ifdef HEADER
#define HEAD include 'mpif.h'
#else
#define HEAD
#endif

module called
  ! What the library's calls of the program's functions were given.
  implicit none
  logical :: combined = .false., handled = .false., queried = .false.
  integer :: copied = 0, deleted = 0, freed = 0, class_of_handled = 0
end module

! A user's operation: the datatype is what it is in Fortran.
subroutine combine(invec, inoutvec, length, datatype)
#ifdef F08
  use, intrinsic :: iso_c_binding
#endif
  USING
  use called
  implicit none
  HEAD
#ifdef F08
  type(c_ptr), value :: invec, inoutvec
  integer, pointer :: given(:), made(:)
#else
  integer :: invec(*), inoutvec(*)
#endif
  integer :: length
  T(MPI_Datatype) :: datatype
  combined = datatype == MPI_INTEGER .and. length == 3
#ifdef F08
  call c_f_pointer(invec, given, [length])
  call c_f_pointer(inoutvec, made, [length])
  made = made + 10*given
#else
  inoutvec(:length) = inoutvec(:length) + 10*invec(:length)
#endif
end subroutine

subroutine handle(comm, code)
  USING
  use called
  implicit none
  HEAD
  T(MPI_Comm) :: comm
  integer :: code, ierror
  handled = comm == MPI_COMM_SELF
  call MPI_Error_class(code, class_of_handled, ierror)
end subroutine

subroutine copy(comm, keyval, extra, value_in, value_out, flag, ierror)
  USING
  use called
  implicit none
  HEAD
  T(MPI_Comm) :: comm
  integer :: keyval, ierror
  integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
  logical :: flag
  copied = merge(1, -1, comm == MPI_COMM_SELF .and. extra == 77 .and. value_in == 5)
  value_out = value_in + 1
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine

subroutine delete(comm, keyval, value, extra, ierror)
  USING
  use called
  implicit none
  HEAD
  T(MPI_Comm) :: comm
  integer :: keyval, ierror
  integer(MPI_ADDRESS_KIND) :: extra, value
  deleted = deleted + int(value)
  ierror = MPI_SUCCESS
end subroutine

subroutine query(extra, status_, ierror)
  USING
  use called
  implicit none
  HEAD
  integer(MPI_ADDRESS_KIND) :: extra
  STATUS(status_)
  integer :: ierror
  queried = extra == 33
  SOURCE(status_) = 17
  TAG(status_) = 18
  call MPI_Status_set_elements(status_, MPI_INTEGER, 6, ierror)
  call MPI_Status_set_cancelled(status_, .false., ierror)
  ierror = MPI_SUCCESS
end subroutine

subroutine free(extra, ierror)
  USING
  use called
  implicit none
  HEAD
  integer(MPI_ADDRESS_KIND) :: extra
  integer :: ierror
  freed = int(extra)
  ierror = MPI_SUCCESS
end subroutine

subroutine cancel(extra, complete, ierror)
  USING
  implicit none
  HEAD
  integer(MPI_ADDRESS_KIND) :: extra
  logical :: complete
  integer :: ierror
  ierror = MPI_SUCCESS
end subroutine

program fortran
  USING
  use called
  implicit none
  HEAD
  external :: combine, handle, copy, delete, query, free, cancel
  integer :: rank, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call library
  call constants
  call messages
  call collectives
  call functions
  call attributes
  call datatypes
  call topologies
  call texts
  call windows
  call file
#ifndef F08
  call removed
#endif
  call MPI_Finalize(ierror)

contains

  subroutine say(what, numbers)
    character(len=*), intent(in) :: what
    integer, intent(in) :: numbers(:)
    if (rank == 0) print '(a, ":", *(1x, i0))', what, numbers
  end subroutine

  subroutine tell(what, flags)
    character(len=*), intent(in) :: what
    logical, intent(in) :: flags(:)
    if (rank == 0) print '(a, ":", *(1x, l1))', what, flags
  end subroutine

  subroutine library
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length
    call MPI_Get_library_version(version, length, ierror)
    if (rank == 0) print '(2a)', 'library: ', version(:min(length, 20))
  end subroutine

  subroutine a_datatype(what, datatype)
    character(len=*), intent(in) :: what
    T(MPI_Datatype), intent(in) :: datatype
    integer :: bytes
    integer(MPI_ADDRESS_KIND) :: lower, extent
    ! What the library lacks.
    if (datatype == MPI_DATATYPE_NULL) return
    call MPI_Type_size(datatype, bytes, ierror)
    call MPI_Type_get_extent(datatype, lower, extent, ierror)
    call say(what, [bytes, int(lower), int(extent)])
  end subroutine

  subroutine an_operation(what, op)
    character(len=*), intent(in) :: what
    T(MPI_Op), intent(in) :: op
    logical :: commutes
    call MPI_Op_commutative(op, commutes, ierror)
    call tell(what, [commutes])
  end subroutine

  subroutine a_class(what, number)
    character(len=*), intent(in) :: what
    integer, intent(in) :: number
    integer :: class
    call MPI_Error_class(number, class, ierror)
    call say(what, [number, class])
  end subroutine

  subroutine constants
#include "names.inc"
  end subroutine

  subroutine messages
    integer :: given(4), got(4), index, outcount, indices(2), count, other
    T(MPI_Request) :: requests(2)
    T(MPI_Message) :: message
    STATUS(one)
    STATUSES(several, 2)
    logical :: flag
    other = 1 - rank
    given = rank + [1, 2, 3, 4]
    got = 0
    if (rank == 0) then
      call MPI_Send(given, 4, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ierror)
      call MPI_Recv(got, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, one, ierror)
      call MPI_Get_count(one, MPI_INTEGER, count, ierror)
      call say('received', [got, SOURCE(one), TAG(one), count])
    else
      call MPI_Recv(got, 4, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(given, 3, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, ierror)
    end if
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 3, MPI_COMM_WORLD, one, ierror)
    call tell('nothing received', [SOURCE(one) == MPI_PROC_NULL, TAG(one) == MPI_ANY_TAG])
    call MPI_Irecv(got, 1, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(given, 1, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, several, ierror)
    call tell('all', [requests == MPI_REQUEST_NULL])
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_Waitany(2, requests, index, one, ierror)
    call tell('none of them', [index == MPI_UNDEFINED])
    requests(1) = MPI_REQUEST_NULL
    call MPI_Irecv(got(2:2), 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitsome(2, requests, outcount, indices, several, ierror)
    call say('some', [outcount, indices(1)])
    call MPI_Irecv(got, 1, MPI_INTEGER, other, 99, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Test(requests(1), flag, one, ierror)
    call tell('test', [flag])
    call MPI_Cancel(requests(1), ierror)
    call MPI_Wait(requests(1), one, ierror)
    call MPI_Test_cancelled(one, flag, ierror)
    call tell('cancelled', [flag])
    call MPI_Isend(given, 2, MPI_INTEGER, other, 11, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Mprobe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, message, one, ierror)
    call MPI_Mrecv(got, 2, MPI_INTEGER, message, one, ierror)
    call tell('probed', [message == MPI_MESSAGE_NULL])
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    call MPI_Mprobe(MPI_PROC_NULL, 11, MPI_COMM_WORLD, message, one, ierror)
    call tell('no process', [message == MPI_MESSAGE_NO_PROC])
  end subroutine

  subroutine collectives
    integer :: numbers(3), all(2), code, types_of(2)
    integer(MPI_ADDRESS_KIND) :: address, places(1)
    T(MPI_Datatype) :: absolute, one_of_each(2)
    T(MPI_Comm) :: half
    T(MPI_Group) :: world, none
    integer, asynchronous :: there
    numbers = rank + [1, 2, 3]
    call MPI_Allreduce(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call say('in place', numbers)
    all(rank + 1) = 5 + rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call say('gathered', all)
    there = 40 + rank
    call MPI_Get_address(there, address, ierror)
    places = address
    call MPI_Type_create_hindexed(1, [1], places, MPI_INTEGER, absolute, ierror)
    call MPI_Type_commit(absolute, ierror)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, 1, MPI_COMM_WORLD, ierror)
    call say('by its address', [there])
    call MPI_Type_free(absolute, ierror)
    call tell('a freed datatype', [absolute == MPI_DATATYPE_NULL])
    one_of_each = [MPI_INTEGER, MPI_INTEGER]
    types_of = 100*rank + [1, 2]
    call MPI_Alltoallw(types_of, [1, 1], [0, 4], one_of_each, all, [1, 1], [0, 4], one_of_each, MPI_COMM_WORLD, ierror)
    call say('with types', all)
    call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 1, rank == 1), 0, half, ierror)
    call tell('split', [half /= MPI_COMM_NULL])
    if (rank == 0) call MPI_Comm_free(half, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, half, ierror)
    call MPI_Comm_compare(half, MPI_COMM_WORLD, code, ierror)
    call tell('a copy', [code == MPI_CONGRUENT])
    call MPI_Comm_free(half, ierror)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, half, ierror)
    call MPI_Comm_size(half, code, ierror)
    call say('of one host', [code])
    call MPI_Comm_free(half, ierror)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    call MPI_Group_difference(world, world, none, ierror)
    call tell('no group', [none == MPI_GROUP_EMPTY])
    call MPI_Group_translate_ranks(world, 2, [1, MPI_PROC_NULL], world, all, ierror)
    call tell('translated', [all(1) == 1, all(2) == MPI_PROC_NULL])
    call MPI_Group_translate_ranks(world, 1, [1], MPI_GROUP_EMPTY, all, ierror)
    call tell('not in it', [all(1) == MPI_UNDEFINED])
    call MPI_Group_free(world, ierror)
  end subroutine

  subroutine functions
    T(MPI_Op) :: op
    T(MPI_Errhandler) :: errhandler, there
    T(MPI_Request) :: request
    STATUS(one)
    integer :: numbers(3), made(3), count
    logical :: flag
    numbers = rank + 1
    call MPI_Op_create(combine, .true., op, ierror)
    call MPI_Reduce(numbers, made, 3, MPI_INTEGER, op, 0, MPI_COMM_WORLD, ierror)
    call tell('an operation', [combined])
    if (rank == 0) call say('combined', merge(1, 0, made == 21 .or. made == 12))
    call MPI_Op_free(op, ierror)
    call tell('a freed operation', [op == MPI_OP_NULL])
    call MPI_Comm_create_errhandler(handle, errhandler, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler, ierror)
    call MPI_Comm_get_errhandler(MPI_COMM_SELF, there, ierror)
    call tell('a handler', [there == errhandler])
    call MPI_Send(numbers, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call MPI_Error_class(ierror, count, ierror)
    call tell('handled', [handled, class_of_handled == MPI_ERR_COUNT, count == MPI_ERR_COUNT])
    call MPI_Errhandler_free(errhandler, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_get_errhandler(MPI_COMM_SELF, there, ierror)
    call tell('errors return', [there == MPI_ERRORS_RETURN, errhandler == MPI_ERRHANDLER_NULL])
    call MPI_Send(numbers, 1, MPI_INTEGER, 7, 0, MPI_COMM_SELF, ierror)
    call MPI_Error_class(ierror, count, ierror)
    call tell('a wrong rank', [count == MPI_ERR_RANK])
    call MPI_Grequest_start(query, free, cancel, 33_MPI_ADDRESS_KIND, request, ierror)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, one, ierror)
    call MPI_Get_count(one, MPI_INTEGER, count, ierror)
    call MPI_Test_cancelled(one, flag, ierror)
    call tell('queried', [queried, flag])
    call say('of a request', [SOURCE(one), TAG(one), count, freed])
  end subroutine

  subroutine attributes
    integer(MPI_ADDRESS_KIND) :: value
    integer :: keyval, dup
    T(MPI_Comm) :: comm
    logical :: flag, there
    call MPI_Comm_create_keyval(copy, delete, keyval, 77_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 5_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, dup, -9_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    call tell('copied', [flag, copied == 1, value == 6])
    call MPI_Comm_get_attr(comm, dup, value, flag, ierror)
    call tell('duplicated', [flag, value == -9])
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierror)
    call say('deleted', [deleted])
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag, ierror)
    call tell('gone', [flag])
    call MPI_Comm_free_keyval(keyval, ierror)
    call tell('a freed key', [keyval == MPI_KEYVAL_INVALID])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call tell('TAG_UB', [flag, value > 32766])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierror)
    call tell('WTIME_IS_GLOBAL', [flag])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, value, there, ierror)
    call tell('IO', [there, value == MPI_ANY_SOURCE])
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierror)
    call tell('LASTUSEDCODE', [flag, value >= MPI_ERR_LASTCODE])
  end subroutine

  subroutine datatypes
    T(MPI_Datatype) :: made, inner(1)
    integer :: numbers(4), i, a, d, combiner, integers(16), addressed
    integer(MPI_ADDRESS_KIND) :: addresses(1), lower, extent
    call MPI_Type_vector(3, 2, 4, MPI_DOUBLE_PRECISION, made, ierror)
    call MPI_Type_get_envelope(made, i, a, d, combiner, ierror)
    call say('envelope', [i, a, d])
    call tell('a vector', [combiner == MPI_COMBINER_VECTOR])
    call MPI_Type_get_contents(made, i, a, d, integers, addresses, inner, ierror)
    call say('contents', integers(:3))
    call tell('of it', [inner(1) == MPI_DOUBLE_PRECISION])
    call MPI_Type_free(made, ierror)
    numbers = [8, 8, 4, 4]
    call MPI_Type_create_subarray(2, numbers(:2), numbers(3:), [1, 2], MPI_ORDER_FORTRAN, MPI_REAL, made, ierror)
    call MPI_Type_get_envelope(made, i, a, d, combiner, ierror)
    call MPI_Type_get_contents(made, i, a, d, integers, addresses, inner, ierror)
    call tell('a subarray', [combiner == MPI_COMBINER_SUBARRAY, integers(8) == MPI_ORDER_FORTRAN, inner(1) == MPI_REAL])
    call MPI_Type_get_extent(made, lower, extent, ierror)
    call say('its extent', [int(lower), int(extent)])
    call MPI_Type_free(made, ierror)
    call MPI_Type_create_f90_real(15, MPI_UNDEFINED, made, ierror)
    call MPI_Type_size(made, i, ierror)
    call say('of 15 digits', [i])
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, made, ierror)
    call MPI_Type_size(made, addressed, ierror)
    call say('of 8 bytes', [addressed])
#ifndef HEADER
    call MPI_Sizeof(lower, i, ierror)
    call MPI_Sizeof(numbers, a, ierror)
    call say('sizes', [i, a])
#endif
  end subroutine

  subroutine topologies
    T(MPI_Comm) :: cart, graph
    integer :: dims(2), coords(2), source, dest, kind, incoming, outgoing, sources(1), destinations(1)
    logical :: periods(2), weighted
    dims = [2, 1]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierror)
    call MPI_Topo_test(cart, kind, ierror)
    call MPI_Cart_get(cart, 2, dims, periods, coords, ierror)
    call tell('a grid', [kind == MPI_CART, periods])
    call say('its coordinates', [dims, coords])
    call MPI_Cart_shift(cart, 1, 1, source, dest, ierror)
    call tell('at an end', [source == MPI_PROC_NULL, dest == MPI_PROC_NULL])
    call MPI_Comm_free(cart, ierror)
    sources = 1 - rank
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, sources, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, incoming, outgoing, weighted, ierror)
    call tell('a graph', [weighted])
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, ierror)
    call say('neighbors', [incoming, outgoing, sources, destinations])
    call MPI_Comm_free(graph, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, sources, MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, incoming, outgoing, weighted, ierror)
    call say('no neighbors', [incoming, outgoing])
    call MPI_Comm_free(graph, ierror)
  end subroutine

  subroutine texts
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=12) :: value, key
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    integer :: length, keys
    T(MPI_Info) :: info
    logical :: flag
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
    if (rank == 0) print '(3a)', 'name: [', name(:length), ']'
    call MPI_Type_set_name(MPI_REAL, 'a real    ', ierror)
    call MPI_Type_get_name(MPI_REAL, name, length, ierror)
    if (rank == 0) print '(3a, i0)', 'name: [', trim(name), '] ', length
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, ' key ', ' some value ', ierror)
    call MPI_Info_get(info, 'key', 10, value, flag, ierror)
    if (rank == 0) print '(3a, l1)', 'value: [', value, '] ', flag
    call MPI_Info_get_valuelen(info, 'key', length, flag, ierror)
    call MPI_Info_get_nkeys(info, keys, ierror)
    call MPI_Info_get_nthkey(info, 0, key, ierror)
    if (rank == 0) print '(3a, 2(1x, i0), 1x, l1)', 'key: [', key, ']', length, keys, flag
    call MPI_Info_get(info, 'other', 10, value, flag, ierror)
    call tell('no such key', [flag])
    call MPI_Info_free(info, ierror)
    call tell('a freed info', [info == MPI_INFO_NULL])
    call MPI_Error_string(MPI_ERR_RANK, text, length, ierror)
    call tell('an error''s text', [length > 5, text(length + 1:) == ' '])
    call MPI_Get_processor_name(host, length, ierror)
    call tell('a host''s name', [length > 0])
    call tell('time', [abs(MPI_Wtime()) > 0d0, MPI_Wtick() > 0d0])
  end subroutine

  subroutine windows
    T(MPI_Win) :: win
    integer, asynchronous :: memory(4)
    integer :: got(1)
    integer(MPI_ADDRESS_KIND) :: value, place
    logical :: flag
    memory = 100*rank
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
    call say('WIN_SIZE', [int(value)])
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
    call say('WIN_DISP_UNIT', [int(value)])
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
    call MPI_Get_address(memory, place, ierror)
    call tell('WIN_BASE', [value == place])
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    call tell('WIN_CREATE_FLAVOR', [value == MPI_WIN_FLAVOR_CREATE])
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierror)
    call tell('WIN_MODEL', [value == MPI_WIN_UNIFIED])
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierror)
    call MPI_Put([7], 1, MPI_INTEGER, 1 - rank, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
    call say('put', memory)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win, ierror)
    call MPI_Fetch_and_op(1, got, MPI_INTEGER, 1, 3_MPI_ADDRESS_KIND, MPI_SUM, win, ierror)
    call MPI_Win_unlock(1, win, ierror)
    call tell('fetched', [got(1) == 100 .or. got(1) == 101])
    call MPI_Win_free(win, ierror)
    call tell('a freed window', [win == MPI_WIN_NULL])
  end subroutine

  subroutine file
    T(MPI_File) :: fh
    character(len=200) :: path
    integer :: numbers(2), mode
    integer(MPI_OFFSET_KIND) :: offset
    STATUS(one)
    call get_command_argument(1, path)
    call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, fh, ierror)
    call say('opened', [ierror])
    call MPI_File_get_amode(fh, mode, ierror)
    call tell('amode', [mode == MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE])
    call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_write_at_all(fh, int(2*rank, MPI_OFFSET_KIND), [rank, 10 + rank], 2, MPI_INTEGER, one, ierror)
    call MPI_File_sync(fh, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_sync(fh, ierror)
    call MPI_File_seek(fh, -2_MPI_OFFSET_KIND, MPI_SEEK_END, ierror)
    call MPI_File_read(fh, numbers, 2, MPI_INTEGER, one, ierror)
    call say('read', numbers)
    call MPI_File_get_position(fh, offset, ierror)
    call say('position', [int(offset)])
    call MPI_File_close(fh, ierror)
    call tell('a closed file', [fh == MPI_FILE_NULL])
    call MPI_File_delete('/nowhere/at/all', MPI_INFO_NULL, ierror)
    call MPI_Error_class(ierror, mode, ierror)
    call tell('no such file', [mode == MPI_ERR_NO_SUCH_FILE])
  end subroutine

#ifndef F08
  ! MPI-1's routines, whose attributes and addresses are INTEGERs.
  subroutine removed
    integer :: keyval, value, blocks(3), places(3), types(3), made, extent, there
    logical :: flag
    external :: MPI_Type_struct, MPI_Type_extent, MPI_Errhandler_set, MPI_Errhandler_get
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, 0, ierror)
    call MPI_Attr_put(MPI_COMM_SELF, keyval, -12, ierror)
    call MPI_Attr_get(MPI_COMM_SELF, keyval, value, flag, ierror)
    call say('an old attribute', [value, merge(1, 0, flag)])
    call MPI_Comm_dup(MPI_COMM_SELF, made, ierror)
    call MPI_Attr_get(made, keyval, value, flag, ierror)
    call say('its copy', [value, merge(1, 0, flag)])
    call MPI_Comm_free(made, ierror)
    call MPI_Attr_delete(MPI_COMM_SELF, keyval, ierror)
    call MPI_Keyval_free(keyval, ierror)
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call tell('an old TAG_UB', [flag, value > 32766])
#ifdef WITH_MPI_1
    blocks = 1
    places = [-4, 0, 20]
    types = [MPI_LB, MPI_INTEGER, MPI_UB]
    call MPI_Type_struct(3, blocks, places, types, made, ierror)
    call MPI_Type_extent(made, extent, ierror)
    call say('an old structure', [extent])
    call MPI_Type_free(made, ierror)
    call MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_Errhandler_get(MPI_COMM_SELF, there, ierror)
    call tell('an old handler', [there == MPI_ERRORS_ARE_FATAL])
#endif
  end subroutine
#endif
end program
