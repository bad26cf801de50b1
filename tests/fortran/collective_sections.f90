! mpi_f08: array sections that are not contiguous in collective operations, blocking, nonblocking and persistent, against explicit
! copies (MPI-5.0 chapter 6, sections 8.6 and 19.1.12).
module operation
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none

contains

  ! Not commutative: the value of the first rank.
  subroutine first(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    if (datatype /= MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 3)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = in
  end subroutine
end module

program collective_sections
  use operation
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, parameter :: blocking = 1, nonblocking = 2, persistent = 3
  integer :: rank, size, form, round, i, j
  type(MPI_Request) :: request
  ! Every second row, columns backwards: three elements a column.
  integer, allocatable, asynchronous :: given(:, :), got(:, :)
  integer, allocatable :: counts(:), places(:), expected(:), flat(:), bytes(:)
  type(MPI_Datatype), allocatable :: types(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  allocate (given(6, 4*size), got(6, 4*size), counts(size), places(size), bytes(size), types(size))
  counts = [(i, i=1, size)]
  places = [((i*(i - 1))/2 + i, i=1, size)]
  bytes = 4*places
  types = MPI_INTEGER
  do form = blocking, persistent
    call broadcast
    call gather
    call gather_varying
    call scatter
    call all_to_all
    call all_to_all_varying
    call neighbors
    call reduce
    call reduce_scatter
    call scan
  end do
  call local
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'ok collective_sections'
  call MPI_Finalize()

contains

  subroutine hold(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    character(len=*), parameter :: forms(3) = [character(len=12) :: 'blocking', 'nonblocking', 'persistent']
    if (condition) return
    write (error_unit, '(a, i0, 4a)') 'rank ', rank, ': not so: ', what, ', ', trim(forms(min(form, 3)))
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! Elements of a process that are no other's, in each round others.
  elemental integer function element(process, position)
    integer, intent(in) :: process, position
    element = 1000*process + position + 100000*round
  end function

  subroutine fill
    integer :: row, column
    do column = 1, 4*size
      do row = 1, 6
        given(row, column) = element(rank, 6*(column - 1) + row)
      end do
    end do
    got = -1
  end subroutine

  ! The section `given(1:6:2, 4*size:1:-1)` of a process, one element behind the other.
  function sent_by(process) result(sent)
    integer, intent(in) :: process
    integer :: sent(12*size), row, column, at
    at = 0
    do column = 4*size, 1, -1
      do row = 1, 6, 2
        at = at + 1
        sent(at) = element(process, 6*(column - 1) + row)
      end do
    end do
  end function

  ! Nothing but the expected elements were stored to `got(6:1:-2, :)`, nothing beside it.
  subroutine compare(what)
    character(len=*), intent(in) :: what
    integer :: section(12*size)
    section = reshape(got(6:1:-2, :), [12*size])
    call hold(all(section == expected), what)
    call hold(all(got(1:5:2, :) == -1), what//', beside the section')
  end subroutine

  integer function rounds()
    rounds = merge(2, 1, form == persistent)
  end function

  subroutine finish
    select case (form)
    case (nonblocking)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    case (persistent)
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    end select
  end subroutine

  subroutine done
    if (form == persistent) call MPI_Request_free(request)
  end subroutine

  subroutine broadcast
    integer, allocatable, asynchronous :: values(:, :)
    integer :: root
    root = size - 1
    allocate (values(2, 7))
    if (form == persistent) call MPI_Bcast_init(values(2, 7:1:-1), 6, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do round = 1, rounds()
      values = -1
      if (rank == root) values(2, :) = [(element(i, 2), i=1, 7)]
      if (form == blocking) call MPI_Bcast(values(2, 7:1:-1), 6, MPI_INTEGER, root, MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Ibcast(values(2, 7:1:-1), 6, MPI_INTEGER, root, MPI_COMM_WORLD, request)
      call finish
      call hold(all(values(2, 2:) == [(element(i, 2), i=2, 7)]) .and. all(values(1, :) == -1), 'Bcast')
      call hold(values(2, 1) == merge(element(1, 2), -1, rank == root), 'Bcast of fewer elements')
    end do
    call done
  end subroutine

  ! Blocks of five elements begin in the middle of a column.
  subroutine gather
    if (form == persistent) call MPI_Allgather_init(given(1:6:2, 4*size:1:-1), 5, MPI_INTEGER, got(6:1:-2, :), 5, MPI_INTEGER, &
      MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do round = 1, rounds()
      call fill
      if (form == blocking) call MPI_Allgather(given(1:6:2, 4*size:1:-1), 5, MPI_INTEGER, got(6:1:-2, :), 5, MPI_INTEGER, &
        MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Iallgather(given(1:6:2, 4*size:1:-1), 5, MPI_INTEGER, got(6:1:-2, :), 5, MPI_INTEGER, &
        MPI_COMM_WORLD, request)
      call finish
      expected = spread(-1, 1, 12*size)
      do i = 0, size - 1
        flat = sent_by(i)
        expected(5*i + 1:5*i + 5) = flat(:5)
      end do
      call compare('Allgather')
    end do
    call done
  end subroutine

  ! At displacements with gaps.
  subroutine gather_varying
    integer :: own
    own = counts(rank + 1)
    if (form == persistent) call MPI_Gatherv_init(given(1:6:2, 4*size:1:-1), own, MPI_INTEGER, got(6:1:-2, :), counts, places, &
      MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do round = 1, rounds()
      call fill
      if (form == blocking) call MPI_Gatherv(given(1:6:2, 4*size:1:-1), own, MPI_INTEGER, got(6:1:-2, :), counts, places, &
        MPI_INTEGER, 0, MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Igatherv(given(1:6:2, 4*size:1:-1), own, MPI_INTEGER, got(6:1:-2, :), counts, places, &
        MPI_INTEGER, 0, MPI_COMM_WORLD, request)
      call finish
      expected = spread(-1, 1, 12*size)
      do i = 1, size
        flat = sent_by(i - 1)
        if (rank == 0) expected(places(i) + 1:places(i) + i) = flat(:i)
      end do
      call compare('Gatherv')
    end do
    call done
  end subroutine

  subroutine scatter
    if (form == persistent) call MPI_Scatter_init(given(1:6:2, 4*size:1:-1), 5, MPI_INTEGER, got(6:1:-2, :), 5, MPI_INTEGER, &
      0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do round = 1, rounds()
      call fill
      if (form == blocking) call MPI_Scatter(given(1:6:2, 4*size:1:-1), 5, MPI_INTEGER, got(6:1:-2, :), 5, MPI_INTEGER, &
        0, MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Iscatter(given(1:6:2, 4*size:1:-1), 5, MPI_INTEGER, got(6:1:-2, :), 5, MPI_INTEGER, &
        0, MPI_COMM_WORLD, request)
      call finish
      flat = sent_by(0)
      expected = spread(-1, 1, 12*size)
      expected(:5) = flat(5*rank + 1:5*rank + 5)
      call compare('Scatter')
    end do
    call done
  end subroutine

  subroutine all_to_all
    if (form == persistent) call MPI_Alltoall_init(given(1:6:2, 4*size:1:-1), 7, MPI_INTEGER, got(6:1:-2, :), 7, MPI_INTEGER, &
      MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do round = 1, rounds()
      call fill
      if (form == blocking) call MPI_Alltoall(given(1:6:2, 4*size:1:-1), 7, MPI_INTEGER, got(6:1:-2, :), 7, MPI_INTEGER, &
        MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Ialltoall(given(1:6:2, 4*size:1:-1), 7, MPI_INTEGER, got(6:1:-2, :), 7, MPI_INTEGER, &
        MPI_COMM_WORLD, request)
      call finish
      expected = spread(-1, 1, 12*size)
      do i = 0, size - 1
        flat = sent_by(i)
        expected(7*i + 1:7*i + 7) = flat(7*rank + 1:7*rank + 7)
      end do
      call compare('Alltoall')
    end do
    call done
  end subroutine

  ! By displacements in elements, and in bytes with a datatype for each process.
  subroutine all_to_all_varying
    integer :: own(size), apart(size), apart_bytes(size), mine, kind
    mine = counts(rank + 1)
    own = mine
    ! Blocks do not overlap among up to eleven processes.
    apart = [(11*i - 10, i=1, size)]
    apart_bytes = 4*apart
    do kind = 1, 2
      if (form == persistent .and. kind == 1) call MPI_Alltoallv_init(given(1:6:2, 4*size:1:-1), counts, places, MPI_INTEGER, &
        got(6:1:-2, :), own, apart, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request)
      if (form == persistent .and. kind == 2) call MPI_Alltoallw_init(given(1:6:2, 4*size:1:-1), counts, bytes, types, &
        got(6:1:-2, :), own, apart_bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, request)
      do round = 1, rounds()
        call fill
        select case (10*form + kind)
        case (11)
          call MPI_Alltoallv(given(1:6:2, 4*size:1:-1), counts, places, MPI_INTEGER, got(6:1:-2, :), own, apart, &
            MPI_INTEGER, MPI_COMM_WORLD)
        case (12)
          call MPI_Alltoallw(given(1:6:2, 4*size:1:-1), counts, bytes, types, got(6:1:-2, :), own, apart_bytes, types, &
            MPI_COMM_WORLD)
        case (21)
          call MPI_Ialltoallv(given(1:6:2, 4*size:1:-1), counts, places, MPI_INTEGER, got(6:1:-2, :), own, apart, &
            MPI_INTEGER, MPI_COMM_WORLD, request)
        case (22)
          call MPI_Ialltoallw(given(1:6:2, 4*size:1:-1), counts, bytes, types, got(6:1:-2, :), own, apart_bytes, types, &
            MPI_COMM_WORLD, request)
        end select
        call finish
        expected = spread(-1, 1, 12*size)
        j = places(rank + 1)
        do i = 0, size - 1
          flat = sent_by(i)
          expected(apart(i + 1) + 1:apart(i + 1) + mine) = flat(j + 1:j + mine)
        end do
        call compare('Alltoallv or w')
      end do
      call done
    end do
  end subroutine

  subroutine neighbors
    type(MPI_Comm) :: ring
    integer :: before, next, one(2), to(2)
    integer(kind=MPI_ADDRESS_KIND) :: at(2)
    type(MPI_Datatype) :: two(2)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring)
    call MPI_Cart_shift(ring, 0, 1, before, next)
    ! With one or two processes both neighbors are the same process.
    if (size < 3) then
      call MPI_Comm_free(ring)
      return
    end if
    one = [2, 1]
    to = [1, 2]
    at = [4, 24]
    two = MPI_INTEGER
    if (form == persistent) call MPI_Neighbor_alltoallw_init(given(1:6:2, 4*size:1:-1), to, at, two, got(6:1:-2, :), one, at, &
      two, ring, MPI_INFO_NULL, request)
    do round = 1, rounds()
      call fill
      if (form == blocking) call MPI_Neighbor_alltoallw(given(1:6:2, 4*size:1:-1), to, at, two, got(6:1:-2, :), one, at, &
        two, ring)
      if (form == nonblocking) call MPI_Ineighbor_alltoallw(given(1:6:2, 4*size:1:-1), to, at, two, got(6:1:-2, :), one, at, &
        two, ring, request)
      call finish
      expected = spread(-1, 1, 12*size)
      flat = sent_by(before)
      expected(2:3) = flat(7:8)
      flat = sent_by(next)
      expected(7) = flat(2)
      call compare('Neighbor_alltoallw')
    end do
    call done
    call MPI_Comm_free(ring)
  end subroutine

  ! Predefined and the program's own; in place too.
  subroutine reduce
    type(MPI_Op) :: first_of
    call MPI_Op_create(first, .false., first_of)
    if (form == persistent) call MPI_Reduce_init(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, 0, &
      MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do round = 1, rounds()
      call fill
      if (form == blocking) call MPI_Reduce(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Ireduce(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, 0, &
        MPI_COMM_WORLD, request)
      call finish
      expected = spread(-1, 1, 12*size)
      if (rank == 0) expected(:5) = sum_of(5)
      call compare('Reduce')
    end do
    call done
    got = -1
    if (form == persistent) call MPI_Allreduce_init(MPI_IN_PLACE, got(6:1:-2, :), 4, MPI_INTEGER, first_of, MPI_COMM_WORLD, &
      MPI_INFO_NULL, request)
    do round = 1, rounds()
      got(6:1:-2, :) = rank + 1
      if (form == blocking) call MPI_Allreduce(MPI_IN_PLACE, got(6:1:-2, :), 4, MPI_INTEGER, first_of, MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Iallreduce(MPI_IN_PLACE, got(6:1:-2, :), 4, MPI_INTEGER, first_of, MPI_COMM_WORLD, &
        request)
      ! Elements beyond the count are no one's but the program's.
      if (form == nonblocking) got(2, 4*size) = 99
      call finish
      expected = spread(rank + 1, 1, 12*size)
      if (form == nonblocking) expected(12*size) = 99
      expected(:4) = 1
      call compare('Allreduce in place')
    end do
    call done
    call MPI_Op_free(first_of)
  end subroutine

  ! The sum of all processes' first elements.
  function sum_of(length) result(total)
    integer, intent(in) :: length
    integer :: total(length), process
    total = 0
    do process = 0, size - 1
      flat = sent_by(process)
      total = total + flat(:length)
    end do
  end function

  subroutine reduce_scatter
    integer :: total(12*size), start, kind
    do kind = 1, 2
      if (form == persistent .and. kind == 1) call MPI_Reduce_scatter_init(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), counts, &
        MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
      if (form == persistent .and. kind == 2) call MPI_Reduce_scatter_block_init(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, &
        MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
      do round = 1, rounds()
        call fill
        select case (10*form + kind)
        case (11)
          call MPI_Reduce_scatter(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        case (12)
          call MPI_Reduce_scatter_block(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        case (21)
          call MPI_Ireduce_scatter(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
            request)
        case (22)
          call MPI_Ireduce_scatter_block(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
            request)
        end select
        call finish
        total = sum_of(12*size)
        expected = spread(-1, 1, 12*size)
        if (kind == 1) then
          start = (rank*(rank + 1))/2
          expected(:rank + 1) = total(start + 1:start + rank + 1)
        else
          expected(:5) = total(5*rank + 1:5*rank + 5)
        end if
        call compare('Reduce_scatter')
      end do
      call done
    end do
  end subroutine

  subroutine scan
    integer :: process
    if (form == persistent) call MPI_Scan_init(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, &
      MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do round = 1, rounds()
      call fill
      if (form == blocking) call MPI_Scan(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      if (form == nonblocking) call MPI_Iscan(given(1:6:2, 4*size:1:-1), got(6:1:-2, :), 5, MPI_INTEGER, MPI_SUM, &
        MPI_COMM_WORLD, request)
      call finish
      expected = spread(-1, 1, 12*size)
      expected(:5) = 0
      do process = 0, rank
        flat = sent_by(process)
        expected(:5) = expected(:5) + flat(:5)
      end do
      call compare('Scan')
    end do
    call done
  end subroutine

  subroutine local
    integer :: operands(2, 5)
    operands = reshape([(i, i=1, 10)], [2, 5])
    call MPI_Reduce_local(operands(1, :), operands(2, 5:1:-1), 4, MPI_INTEGER, MPI_SUM)
    call hold(all(operands(1, :) == [1, 3, 5, 7, 9]) .and. all(operands(2, :) == [2, 4 + 7, 6 + 5, 8 + 3, 10 + 1]), 'Reduce_local')
  end subroutine
end program
