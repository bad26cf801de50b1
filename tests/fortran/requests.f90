! Requests as integers: arrays of few and of many, indices from 1 (MPI-5.0 section 3.7.5), types by peer (section 6.8).
program requests
  use check
  implicit none
  integer, parameter :: many = 40
  integer :: ierror, i, at, done, indices(many), got(many), given(many), all_requests(2*many), next, before
  integer :: statuses(MPI_STATUS_SIZE, 2*many), status(MPI_STATUS_SIZE), message
  integer, allocatable :: counts(:), places(:), types(:), from(:), to(:)
  logical :: flag, seen(many)

  call begin
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)

  ! More than stand on the stack.
  given = [(rank*1000 + i, i = 1, many)]
  do i = 1, many
    call MPI_Irecv(got(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, all_requests(i), ierror)
    call MPI_Isend(given(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, all_requests(many + i), ierror)
  end do
  call MPI_Waitall(2*many, all_requests, statuses, ierror)
  call MPI_F_sync_reg(got)
  call hold(all(got == [(before*1000 + i, i = 1, many)]), 'Waitall')
  call hold(all(statuses(MPI_TAG, :many) == [(i, i = 1, many)]), 'tags')
  call hold(all(all_requests == MPI_REQUEST_NULL), 'null')

  ! Waitany and Testsome count from 1.
  do i = 1, 3
    call MPI_Irecv(got(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, all_requests(i), ierror)
  end do
  call MPI_Send(given(2), 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, ierror)
  call MPI_Waitany(3, all_requests, at, status, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call hold(at == 2 .and. status(MPI_TAG) == 2, 'Waitany')
  call hold(all_requests(2) == MPI_REQUEST_NULL .and. all_requests(1) /= MPI_REQUEST_NULL, 'Waitany, handles')
  call MPI_Send(given(3), 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, ierror)
  call MPI_Send(given(1), 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, ierror)
  seen = .false.
  do while (.not. (seen(1) .and. seen(3)))
    call MPI_Testsome(3, all_requests, done, indices, MPI_STATUSES_IGNORE, ierror)
    do i = 1, done
      call hold(indices(i) == 1 .or. indices(i) == 3, 'Testsome')
      seen(indices(i)) = .true.
    end do
  end do
  call MPI_Testany(3, all_requests, at, flag, MPI_STATUS_IGNORE, ierror)
  call hold(flag .and. at == MPI_UNDEFINED, 'Testany, nothing left')
  call MPI_Waitsome(3, all_requests, done, indices, MPI_STATUSES_IGNORE, ierror)
  call hold(done == MPI_UNDEFINED, 'Waitsome, nothing left')

  ! Persistent ones.
  call MPI_Recv_init(got, many, MPI_INTEGER, before, 1, MPI_COMM_WORLD, all_requests(1), ierror)
  call MPI_Send_init(given, many, MPI_INTEGER, next, 1, MPI_COMM_WORLD, all_requests(2), ierror)
  do i = 1, 3
    got = 0
    call MPI_Startall(2, all_requests, ierror)
    call MPI_Waitall(2, all_requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_F_sync_reg(got)
    call hold(all(got == given - rank*1000 + before*1000), 'persistent')
  end do
  call MPI_Request_free(all_requests(1), ierror)
  call MPI_Request_free(all_requests(2), ierror)

  ! A matched probe.
  call MPI_Isend(given, 2, MPI_INTEGER, next, 9, MPI_COMM_WORLD, all_requests(1), ierror)
  call MPI_Mprobe(before, 9, MPI_COMM_WORLD, message, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, done, ierror)
  call hold(done == 2, 'Mprobe')
  call MPI_Mrecv(got, done, MPI_INTEGER, message, status, ierror)
  call hold(message == MPI_MESSAGE_NULL .and. got(2) == before*1000 + 2, 'Mrecv')
  call MPI_Wait(all_requests(1), MPI_STATUS_IGNORE, ierror)

  ! A datatype for each peer.
  allocate (counts(size), places(size), types(size), from(size), to(size))
  counts = 1
  places = [(4*(i - 1), i = 1, size)]
  do i = 1, size
    call MPI_Type_contiguous(1, MPI_INTEGER, types(i), ierror)
    call MPI_Type_commit(types(i), ierror)
  end do
  from = [(rank*100 + i - 1, i = 1, size)]
  to = -1
  call MPI_Alltoallw(from, counts, places, types, to, counts, places, types, MPI_COMM_WORLD, ierror)
  call hold(all(to == [(100*(i - 1) + rank, i = 1, size)]), 'Alltoallw')
  ! In place, the sender's arguments mean nothing and may be short.
  call MPI_Alltoallw(MPI_IN_PLACE, [0], [0], [0], to, counts, places, types, MPI_COMM_WORLD, ierror)
  call hold(all(to == from), 'Alltoallw in place')
  call MPI_Ialltoallw(from, counts, places, types, to, counts, places, types, MPI_COMM_WORLD, all_requests(1), ierror)
  call MPI_Wait(all_requests(1), MPI_STATUS_IGNORE, ierror)
  call MPI_F_sync_reg(to)
  call hold(all(to == [(100*(i - 1) + rank, i = 1, size)]), 'Ialltoallw')
  call neighbors
  do i = 1, size
    call MPI_Type_free(types(i), ierror)
  end do
  call finish('requests')

contains

  subroutine neighbors
    integer :: ring, one(2), two(2)
    integer(kind=MPI_ADDRESS_KIND) :: offsets(2)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring, ierror)
    one = [rank, -rank]
    offsets = [0, 4]
    call MPI_Neighbor_alltoallw(one, [1, 1], offsets, [MPI_INTEGER, MPI_INTEGER], &
      two, [1, 1], offsets, [MPI_INTEGER, MPI_INTEGER], ring, ierror)
    ! With one process, or two, both neighbors are the same process, and messages match in order.
    if (size > 2) call hold(all(two == [-before, next]), 'Neighbor_alltoallw')
    call MPI_Comm_free(ring, ierror)
  end subroutine
end program
