! mpi_f08: array sections that are not contiguous in calls on files, blocking, nonblocking and split, individual, collective and
! by shared file pointers, beside the same elements written and read as ordinary arrays (MPI-5.0 §14.4 and §19.1.12).
program file_sections
  use mpi_f08
  use check, only: begin, finish, hold, rank
  implicit none
  integer, parameter :: elements = 12, rows = 6, columns = 8
  ! Every second row, every second column, columns backwards.
  integer, asynchronous :: given(rows, columns), got(rows, columns)
  integer :: round = 0
  ! Of all processes, and of one alone.
  type(MPI_File) :: file, own
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  ! Where this process's elements begin in the file.
  integer(MPI_OFFSET_KIND) :: place

  call begin
  place = elements*rank
  file = opened(MPI_COMM_WORLD, 'all')
  own = opened(MPI_COMM_SELF, 'own')
  call by_offsets
  call by_offsets_together
  call by_pointers
  call by_pointers_together
  call split
  call by_shared_pointer
  call in_order
  call of_other_types
  call MPI_File_close(file)
  call MPI_File_close(own)
  call finish('file_sections')

contains

  ! A new file of INTEGERs beside the program, where processes on all hosts find it, that is gone once it is closed. An error
  ! ends the job.
  function opened(comm, kind) result(made)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: kind
    type(MPI_File) :: made
    character(len=500) :: program, name
    integer :: clock
    call get_command_argument(0, program)
    call system_clock(clock)
    write (name, '(4a, i0, a, i0)') trim(program), '-', kind, '-', clock, '-', rank
    if (comm == MPI_COMM_WORLD) call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, comm)
    call MPI_File_open(comm, name, MPI_MODE_CREATE + MPI_MODE_EXCL + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, made)
    call MPI_File_set_errhandler(made, MPI_ERRORS_ARE_FATAL)
    call MPI_File_set_view(made, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  end function

  ! Elements that no earlier round and no other process had.
  subroutine fill
    integer :: row, column
    round = round + 1
    do column = 1, columns
      do row = 1, rows
        given(row, column) = 100000*round + 100*rank + rows*(column - 1) + row
      end do
    end do
    got = -1
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  ! The elements of the section `given(1:6:2, 8:1:-2)`, one behind the other.
  function sent() result(flat)
    integer :: flat(elements), at, row, column
    at = 0
    do column = columns, 1, -2
      do row = 1, rows, 2
        at = at + 1
        flat(at) = given(row, column)
      end do
    end do
  end function

  ! What was written stands in the file.
  subroutine written(to, at, what)
    type(MPI_File), intent(in) :: to
    integer(MPI_OFFSET_KIND), intent(in) :: at
    character(len=*), intent(in) :: what
    integer :: flat(elements)
    call MPI_Barrier(MPI_COMM_WORLD)
    flat = -1
    call MPI_File_read_at(to, at, flat, elements, MPI_INTEGER, status)
    call hold(all(flat == sent()), what)
  end subroutine

  ! What was read stands in `got(2:6:2, 7:1:-2)`, and nothing beside it.
  subroutine has_read(what)
    character(len=*), intent(in) :: what
    integer :: count
    call MPI_Get_count(status, MPI_INTEGER, count)
    call hold(count == elements, what//', the count')
    call hold(all(reshape(got(2:6:2, 7:1:-2), [elements]) == sent()), what)
    call hold(all(got(1:5:2, :) == -1) .and. all(got(:, 2:8:2) == -1), what//', beside the section')
    got = -1
  end subroutine

  subroutine by_offsets
    call fill
    call MPI_File_write_at(file, place, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, status)
    call written(file, place, 'File_write_at')
    call MPI_File_read_at(file, place, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, status)
    call has_read('File_read_at')
    call fill
    call MPI_File_iwrite_at(file, place, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call written(file, place, 'File_iwrite_at')
    call MPI_File_iread_at(file, place, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call has_read('File_iread_at')
  end subroutine

  subroutine by_offsets_together
    call fill
    call MPI_File_write_at_all(file, place, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, status)
    call written(file, place, 'File_write_at_all')
    call MPI_File_read_at_all(file, place, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, status)
    call has_read('File_read_at_all')
    call fill
    call MPI_File_iwrite_at_all(file, place, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call written(file, place, 'File_iwrite_at_all')
    call MPI_File_iread_at_all(file, place, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call has_read('File_iread_at_all')
  end subroutine

  subroutine back_to_place
    call MPI_File_seek(file, place, MPI_SEEK_SET)
  end subroutine

  subroutine by_pointers
    call fill
    call back_to_place
    call MPI_File_write(file, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, status)
    call written(file, place, 'File_write')
    call back_to_place
    call MPI_File_read(file, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, status)
    call has_read('File_read')
    call fill
    call back_to_place
    call MPI_File_iwrite(file, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call written(file, place, 'File_iwrite')
    call back_to_place
    call MPI_File_iread(file, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call has_read('File_iread')
  end subroutine

  subroutine by_pointers_together
    call fill
    call back_to_place
    call MPI_File_write_all(file, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, status)
    call written(file, place, 'File_write_all')
    call back_to_place
    call MPI_File_read_all(file, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, status)
    call has_read('File_read_all')
    call fill
    call back_to_place
    call MPI_File_iwrite_all(file, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call written(file, place, 'File_iwrite_all')
    call back_to_place
    call MPI_File_iread_all(file, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call has_read('File_iread_all')
  end subroutine

  subroutine split
    call fill
    call MPI_File_write_at_all_begin(file, place, given(1:6:2, 8:1:-2), elements, MPI_INTEGER)
    call MPI_File_write_at_all_end(file, given(1:6:2, 8:1:-2), status)
    call written(file, place, 'File_write_at_all_begin')
    call MPI_File_read_at_all_begin(file, place, got(2:6:2, 7:1:-2), elements, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, got(2:6:2, 7:1:-2), status)
    call has_read('File_read_at_all_begin')
    call fill
    call back_to_place
    call MPI_File_write_all_begin(file, given(1:6:2, 8:1:-2), elements, MPI_INTEGER)
    call MPI_File_write_all_end(file, given(1:6:2, 8:1:-2), status)
    call written(file, place, 'File_write_all_begin')
    call back_to_place
    call MPI_File_read_all_begin(file, got(2:6:2, 7:1:-2), elements, MPI_INTEGER)
    call MPI_File_read_all_end(file, got(2:6:2, 7:1:-2), status)
    call has_read('File_read_all_begin')
  end subroutine

  subroutine by_shared_pointer
    integer(MPI_OFFSET_KIND), parameter :: start = 0
    call fill
    call MPI_File_write_shared(own, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, status)
    call written(own, start, 'File_write_shared')
    call MPI_File_seek_shared(own, start, MPI_SEEK_SET)
    call MPI_File_read_shared(own, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, status)
    call has_read('File_read_shared')
    call fill
    call MPI_File_seek_shared(own, start, MPI_SEEK_SET)
    call MPI_File_iwrite_shared(own, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call written(own, start, 'File_iwrite_shared')
    call MPI_File_seek_shared(own, start, MPI_SEEK_SET)
    call MPI_File_iread_shared(own, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call has_read('File_iread_shared')
  end subroutine

  subroutine back_to_start
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  end subroutine

  subroutine in_order
    call fill
    call back_to_start
    call MPI_File_write_ordered(file, given(1:6:2, 8:1:-2), elements, MPI_INTEGER, status)
    call written(file, place, 'File_write_ordered')
    call back_to_start
    call MPI_File_read_ordered(file, got(2:6:2, 7:1:-2), elements, MPI_INTEGER, status)
    call has_read('File_read_ordered')
    call fill
    call back_to_start
    call MPI_File_write_ordered_begin(file, given(1:6:2, 8:1:-2), elements, MPI_INTEGER)
    call MPI_File_write_ordered_end(file, given(1:6:2, 8:1:-2), status)
    call written(file, place, 'File_write_ordered_begin')
    call back_to_start
    call MPI_File_read_ordered_begin(file, got(2:6:2, 7:1:-2), elements, MPI_INTEGER)
    call MPI_File_read_ordered_end(file, got(2:6:2, 7:1:-2), status)
    call has_read('File_read_ordered_begin')
  end subroutine

  ! The datatype, with gaps, is about the section's elements; it may be freed while an access is under way.
  subroutine of_other_types
    type(MPI_Datatype) :: every_other
    integer :: flat(elements/2), expected(elements)
    call fill
    call MPI_Type_vector(elements/2, 1, 2, MPI_INTEGER, every_other)
    call MPI_Type_commit(every_other)
    call MPI_File_iwrite_at_all(file, place, given(1:6:2, 8:1:-2), 1, every_other, request)
    call MPI_Type_free(every_other)
    call MPI_Wait(request, status)
    call MPI_Barrier(MPI_COMM_WORLD)
    expected = sent()
    call MPI_File_read_at(file, place, flat, elements/2, MPI_INTEGER, status)
    call hold(all(flat == expected(1::2)), 'File_iwrite_at_all of a vector')
    call MPI_Type_vector(elements/2, 1, 2, MPI_INTEGER, every_other)
    call MPI_Type_commit(every_other)
    call MPI_File_read_at_all_begin(file, place, got(2:6:2, 7:1:-2), 1, every_other)
    call MPI_Type_free(every_other)
    call MPI_File_read_at_all_end(file, got(2:6:2, 7:1:-2), status)
    expected(2::2) = -1
    call hold(all(reshape(got(2:6:2, 7:1:-2), [elements]) == expected), 'File_read_at_all_begin of a vector')
  end subroutine
end program
