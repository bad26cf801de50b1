! mpi_f08: array sections that are not contiguous in messages of every kind, against explicit copies (MPI-5.0 section 19.1.12).
module arrays
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: rank, size, next, before

contains

  subroutine begin
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    next = mod(rank + 1, size)
    before = mod(rank + size - 1, size)
  end subroutine

  subroutine hold(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': not so: ', what
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! The matrix of a process, no two elements the same.
  pure function matrix_of(process) result(matrix)
    integer, intent(in) :: process
    integer :: matrix(6, 7, 4), i
    matrix = reshape([(1000*process + i, i=1, 168)], [6, 7, 4])
  end function
end module

program sections
  use arrays
  implicit none

  call begin
  call hold(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'the properties')
  call messages
  call counts
  call datatypes
  call kinds_of_sends
  call persistent
  call partitioned
  call shapes
  call characters
  call pieces(matrix_of(rank), 168)
  call packing
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'ok sections'
  call MPI_Finalize()

contains

  ! Steps of both signs in three dimensions: what is received, and what stands beside it.
  subroutine messages
    integer, asynchronous :: given(6, 7, 4), got(6, 7, 4)
    integer :: wanted(6, 7, 4), sent(6, 7, 4)
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    integer :: count
    given = matrix_of(rank)
    sent = matrix_of(before)
    got = -1
    call MPI_Irecv(got(6:1:-2, 2:7:2, 4:1:-1), 36, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(given(1:5:2, 7:1:-3, :), 36, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call MPI_Get_count(statuses(1), MPI_INTEGER, count)
    wanted = -1
    wanted(6:1:-2, 2:7:2, 4:1:-1) = sent(1:5:2, 7:1:-3, :)
    call hold(all(got == wanted) .and. count == 36, 'Isend and Irecv')
  end subroutine

  ! A count smaller than the section touches nothing else, which others may receive to meanwhile.
  subroutine counts
    integer, asynchronous :: row(2, 9)
    integer :: one, two
    type(MPI_Request) :: requests(3)
    row = -1
    one = 10*rank + 1
    two = 10*rank + 2
    call MPI_Irecv(row(1, 5), 1, MPI_INTEGER, before, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(row(1, 9:1:-1), 1, MPI_INTEGER, before, 4, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(one, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(3))
    call MPI_Sendrecv([7, 8], 2, MPI_INTEGER, rank, 5, row(1, 1:9:2), 2, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Send(two, 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call hold(all(row(1, :) == [7, -1, 8, -1, 10*before + 1, -1, -1, -1, 10*before + 2]), 'counts below the number of elements')
    call hold(all(row(2, :) == -1), 'the other row')
  end subroutine

  ! A datatype is about the elements of the section, and may be freed when the call has begun.
  subroutine datatypes
    integer, asynchronous :: given(6, 7, 4), got(6, 7, 4)
    integer :: wanted(6, 7, 4), sent(6, 7, 4), flat(84), taken(9)
    type(MPI_Datatype) :: vector, backwards, pair
    type(MPI_Request) :: requests(2)
    given = matrix_of(rank)
    sent = matrix_of(before)
    ! Elements 1, 2, 4, 5, 7, 8 and, an extent further, 9, 10, 12, 13, ...
    call MPI_Type_vector(3, 2, 3, MPI_INTEGER, vector)
    call MPI_Type_create_hvector(3, 1, -8_MPI_ADDRESS_KIND, MPI_INTEGER, backwards)
    call MPI_Type_commit(vector)
    call MPI_Type_commit(backwards)
    got = -1
    call MPI_Irecv(got(:, 7:1:-2, 1), 12, MPI_INTEGER, before, 6, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(given(1:6:2, :, 4:1:-1), 2, vector, next, 6, MPI_COMM_WORLD, requests(2))
    call MPI_Type_free(vector)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    flat = reshape(sent(1:6:2, :, 4:1:-1), [84])
    wanted = -1
    wanted(:, 7:5:-2, 1) = reshape(flat([1, 2, 4, 5, 7, 8, 9, 10, 12, 13, 15, 16]), [6, 2])
    call hold(all(got == wanted), 'a vector of a section')

    ! Displacements below the address, which is that of an element further in.
    got = -1
    call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, rank, 7, got(2, :, 1), 1, backwards_from(backwards), rank, 7, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call hold(all(got(2, :, 1) == [3, -1, 2, -1, 1, -1, -1]), 'negative strides in a datatype')
    call MPI_Type_free(backwards)

    ! Bytes: the element before the last one is cut.
    got = -1
    call MPI_Sendrecv(given(1, :, 1), 10, MPI_BYTE, rank, 8, got(3, 7:1:-1, 2), 10, MPI_BYTE, rank, 8, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    wanted(3, :, 2) = given(1, 7:1:-1, 1)
    call hold(all(got(3, 6:7, 2) == wanted(3, 6:7, 2)) .and. all(got(3, :4, 2) == -1), 'bytes of a section')
    call hold(iand(got(3, 5, 2), 65535) == iand(wanted(3, 5, 2), 65535) .and. got(3, 5, 2) /= wanted(3, 5, 2), &
      'an element that is cut')

    ! One value of the datatype is two elements.
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    taken = 0
    call MPI_Sendrecv(given(::2, 1, 1:4:3), 3, pair, rank, 9, taken, 9, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call hold(all(taken(:6) == reshape(given(::2, 1, 1:4:3), [6])) .and. all(taken(7:) == 0), 'pairs')
    call MPI_Type_free(pair)
  end subroutine

  ! The same with the lowest byte at displacement 0.
  function backwards_from(old) result(made)
    type(MPI_Datatype), intent(in) :: old
    type(MPI_Datatype) :: made
    type(MPI_Datatype), save :: kept = MPI_DATATYPE_NULL
    if (kept == MPI_DATATYPE_NULL) then
      call MPI_Type_create_hindexed_block(1, 1, [16_MPI_ADDRESS_KIND], old, kept)
      call MPI_Type_commit(kept)
    end if
    made = kept
  end function

  subroutine kinds_of_sends
    integer, asynchronous :: given(3, 8), got(3, 8)
    integer :: expected(8), attached(1000), i, kind
    type(MPI_Request) :: requests(2)
    type(MPI_Message) :: message
    integer(kind=MPI_ADDRESS_KIND) :: of_section, of_element
    call MPI_Buffer_attach(attached, 4000)
    do kind = 1, 8
      given = reshape([(100*rank + i + kind, i=1, 24)], [3, 8])
      expected = [(100*before + 3*i - 1 + kind, i=8, 1, -1)]
      got = -1
      requests = MPI_REQUEST_NULL
      if (kind < 5) call MPI_Irecv(got(1, 8:1:-1), 8, MPI_INTEGER, before, kind, MPI_COMM_WORLD, requests(1))
      select case (kind)
      case (1)
        call MPI_Issend(given(2, :), 8, MPI_INTEGER, next, kind, MPI_COMM_WORLD, requests(2))
      case (2)
        call MPI_Ibsend(given(2, :), 8, MPI_INTEGER, next, kind, MPI_COMM_WORLD, requests(2))
      case (3)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Irsend(given(2, :), 8, MPI_INTEGER, next, kind, MPI_COMM_WORLD, requests(2))
      case (4)
        call MPI_Bsend(given(2, :), 8, MPI_INTEGER, next, kind, MPI_COMM_WORLD)
        given = 0
      case (5)
        call MPI_Isendrecv(given(2, :), 8, MPI_INTEGER, next, kind, got(1, 8:1:-1), 8, MPI_INTEGER, before, kind, &
          MPI_COMM_WORLD, requests(1))
      case (6)
        got(1, 8:1:-1) = given(2, :)
        call MPI_Isendrecv_replace(got(1, 8:1:-1), 8, MPI_INTEGER, next, kind, before, kind, MPI_COMM_WORLD, requests(1))
      case (7)
        got(1, 8:1:-1) = given(2, :)
        call MPI_Sendrecv_replace(got(1, 8:1:-1), 8, MPI_INTEGER, next, kind, before, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      case (8)
        call MPI_Isend(given(2, :), 8, MPI_INTEGER, next, kind, MPI_COMM_WORLD, requests(2))
        call MPI_Mprobe(before, kind, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE)
        call MPI_Imrecv(got(1, 8:1:-1), 8, MPI_INTEGER, message, requests(1))
      end select
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call hold(all(got(1, 8:1:-1) == expected(8:1:-1)) .and. all(got(2:, :) == -1), 'a kind of send: '//achar(48 + kind))
    end do
    call detach
    call MPI_Get_address(given(3, 8:1:-2), of_section)
    call MPI_Get_address(given(3, 8), of_element)
    call hold(of_section == of_element, 'Get_address')
  end subroutine

  subroutine detach
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr) :: detached
    integer :: length
    call MPI_Buffer_detach(detached, length)
    call hold(length == 4000, 'Buffer_detach')
  end subroutine

  subroutine persistent
    integer, asynchronous :: given(4, 5), got(4, 5)
    integer :: i, round
    type(MPI_Request) :: requests(2)
    call MPI_Recv_init(got(4:1:-3, 5:1:-1), 10, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Send_init(given(1:2, ::1), 10, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    do round = 1, 3
      given = reshape([(1000*rank + 100*round + i, i=1, 20)], [4, 5])
      got = -1
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call hold(all(got(4:1:-3, 5:1:-1) == given(1:2, :) - 1000*rank + 1000*before) .and. all(got(2:3, :) == -1), 'persistent')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  ! Partitions of 4 elements, which begin in the middle of rows of 6.
  subroutine partitioned
    integer, asynchronous :: given(12, 4), got(4, 12)
    integer :: i, round
    type(MPI_Request) :: requests(2)
    call MPI_Psend_init(given(1:12:2, :), 6, 4_MPI_COUNT_KIND, MPI_INTEGER, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(got(4:1:-2, :), 3, 8_MPI_COUNT_KIND, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    do round = 1, 2
      given = reshape([(1000*rank + 100*round + i, i=1, 48)], [12, 4])
      got = -1
      call MPI_Startall(2, requests)
      do i = 5, 0, -1
        call MPI_Pready(i, requests(1))
      end do
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call hold(all(reshape(got(4:1:-2, :), [24]) == reshape(given(1:12:2, :), [24]) - 1000*rank + 1000*before), 'partitioned')
      call hold(all(got(1:3:2, :) == -1), 'what stands beside partitions')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  ! No elements, one element, as many dimensions as there can be, components.
  subroutine shapes
    type :: particle
      double precision :: place(3)
      integer :: charge
    end type
    type(particle), asynchronous :: given(5), got(5)
    integer, asynchronous :: many(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 3), other(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 3)
    integer, asynchronous :: scalar, array(4, 4)
    integer :: i, none
    type(MPI_Request) :: requests(2)
    none = 0
    array = -1
    call MPI_Irecv(array(1:none, ::2), 0, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(array(::2, 3:2), 0, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Irecv(array(4:1:-3, 2:3), 0, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(array(::2, 1), 0, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call hold(all(array == -1), 'no elements')
    scalar = rank
    call MPI_Irecv(array(3:3, 2:2), 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(scalar, 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call hold(array(3, 2) == before .and. count(array == -1) == 15, 'a scalar to a section of one element')

    many = reshape([(1000*rank + i, i=1, 384)], shape(many))
    other = -1
    call MPI_Irecv(other(2:1:-1, :, :, :, 2:1:-1, :, :, :, :, :, :, :, 2:1:-1, :, 3:1:-2), 256, MPI_INTEGER, before, 3, &
      MPI_COMM_WORLD, requests(1))
    call MPI_Isend(many(:, :, 2:1:-1, :, :, :, :, :, 2:1:-1, :, :, :, :, :, 1:2), 256, MPI_INTEGER, next, 3, MPI_COMM_WORLD, &
      requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    many = reshape([(1000*before + i, i=1, 384)], shape(many))
    call hold(all(other(2:1:-1, :, :, :, 2:1:-1, :, :, :, :, :, :, :, 2:1:-1, :, 3:1:-2) == &
      many(:, :, 2:1:-1, :, :, :, :, :, 2:1:-1, :, :, :, :, :, 1:2)), '15 dimensions')
    call hold(all(other(:, :, :, :, :, :, :, :, :, :, :, :, :, :, 2) == -1), 'beside 15 dimensions')

    given = [(particle([1d0, 2d0, 3d0]*(rank + 1)*i, 10*rank + i), i=1, 5)]
    got = particle([0d0, 0d0, 0d0], 0)
    call MPI_Irecv(got(5:1:-1)%place(2), 5, MPI_DOUBLE_PRECISION, before, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(given%place(3), 5, MPI_DOUBLE_PRECISION, next, 4, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call hold(all(got%place(2) == [(3d0*(before + 1)*i, i=5, 1, -1)]) .and. all(got%charge == 0) .and. all(got%place(1) == 0), &
      'components')
  end subroutine

  subroutine characters
    character(len=5), asynchronous :: given(4), got(4)
    integer :: i
    type(MPI_Request) :: requests(2)
    given = [(achar(65 + mod(rank, 20))//'bcd'//achar(48 + i), i=1, 4)]
    got = '.....'
    call MPI_Irecv(got(4:1:-1), 20, MPI_CHARACTER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(given(1:4), 20, MPI_CHARACTER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call hold(all(got == [(achar(65 + mod(before, 20))//'bcd'//achar(48 + i), i=4, 1, -1)]), 'strings')
    got = '.....'
    call MPI_Irecv(got(1:4:2)(2:3), 4, MPI_CHARACTER, before, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(given(::3)(4:5), 4, MPI_CHARACTER, next, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call hold(all(got == ['.d1..', '.....', '.d4..', '.....']), 'parts of strings')
  end subroutine

  ! An array of assumed size, and a section of one whose leading dimension is longer.
  subroutine pieces(flat, length)
    integer, intent(in) :: length
    integer, asynchronous :: flat(6, *)
    integer, asynchronous :: got(12)
    type(MPI_Request) :: requests(2)
    integer :: sent(6, 28)
    sent = reshape(matrix_of(before), [6, length/6])
    call MPI_Irecv(got, 12, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(flat, 12, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call hold(all(got == reshape(sent(:, :2), [12])), 'assumed size')
    call MPI_Irecv(got, 12, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(flat(2:5, 28:1:-10), 12, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call hold(all(got == reshape(sent(2:5, 28:1:-10), [12])), 'a section of assumed size')
  end subroutine

  subroutine packing
    integer :: given(6, 7, 4), got(6, 7, 4), place
    integer(kind=MPI_ADDRESS_KIND) :: large
    character(len=1) :: packed(2, 200)
    given = matrix_of(rank)
    got = -1
    packed = '.'
    place = 0
    call MPI_Pack(given(::2, 3, :), 12, MPI_INTEGER, packed(2, :), 200, place, MPI_COMM_WORLD)
    call MPI_Pack(given(1, 1, 4:1:-1), 4, MPI_INTEGER, packed(2, :), 200, place, MPI_COMM_WORLD)
    call hold(place == 64 .and. all(packed(1, :) == '.') .and. all(packed(2, 65:) == '.'), 'Pack')
    place = 0
    call MPI_Unpack(packed(2, :), 200, place, got(5:1:-2, 1, :), 12, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Unpack(packed(2, :), 200, place, got(6, 6:3:-1, 2), 4, MPI_INTEGER, MPI_COMM_WORLD)
    call hold(all(got(5:1:-2, 1, :) == given(::2, 3, :)) .and. all(got(6, 6:3:-1, 2) == given(1, 1, 4:1:-1)), 'Unpack')
    call hold(count(got == -1) == 168 - 16, 'what stands beside it')
    large = 0
    call MPI_Pack_external('external32', given(2, :, 1), 7, MPI_INTEGER, packed(1, :), 200_MPI_ADDRESS_KIND, large)
    large = 0
    call MPI_Unpack_external('external32', packed(1, :), 200_MPI_ADDRESS_KIND, large, got(2, 7:1:-1, 4), 7, MPI_INTEGER)
    call hold(large == 28 .and. all(got(2, 7:1:-1, 4) == given(2, :, 1)), 'external32')
  end subroutine
end program
