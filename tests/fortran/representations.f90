! Data representations whose conversion functions are Fortran's (MPI-5.0 section 14.5.3), by the modules mpi and mpi_f08.
!
! In the file an INTEGER has 8 bytes: its value and the value's complement.
module of_mpi
  use check
  implicit none
  ! No INTEGER holds it.
  integer(kind=MPI_ADDRESS_KIND), parameter :: state = 5000000000_MPI_ADDRESS_KIND
  integer :: reads = 0, writes = 0, extents = 0

contains

  subroutine extent_of(datatype, extent, extra_state, ierror)
    integer :: datatype, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    call hold(extra_state == state, 'extra state of an extent function')
    extents = extents + 1
    extent = 1
    if (datatype == MPI_INTEGER) extent = 8
    ierror = MPI_SUCCESS
  end subroutine

  subroutine from_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: userbuf(*), filebuf(*), datatype, count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: i
    call hold(extra_state == state .and. datatype == MPI_INTEGER .and. position == 0, 'arguments of a reading function')
    reads = reads + 1
    do i = 1, count
      if (filebuf(2*i - 1) /= not(filebuf(2*i))) then
        ierror = MPI_ERR_CONVERSION
        return
      end if
      userbuf(i) = filebuf(2*i - 1)
    end do
    ierror = MPI_SUCCESS
  end subroutine

  subroutine into_file(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: userbuf(*), filebuf(*), datatype, count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: i
    call hold(extra_state == state .and. datatype == MPI_INTEGER .and. position == 0, 'arguments of a writing function')
    writes = writes + 1
    do i = 1, count
      filebuf(2*i - 1) = userbuf(i)
      filebuf(2*i) = not(userbuf(i))
    end do
    ierror = MPI_SUCCESS
  end subroutine

  ! What is as long in the file as in memory needs no function.
  subroutine same_extent(datatype, extent, extra_state, ierror)
    integer :: datatype, ierror, bytes
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    call hold(extra_state == state, 'extra state of the other extent function')
    call MPI_Type_size(datatype, bytes, ierror)
    extent = bytes
  end subroutine
end module

module of_mpi_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use check, only: hold
  implicit none
  integer :: conversions = 0

contains

  subroutine extent_of_typed(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = 1
    if (datatype == MPI_INTEGER) extent = 8
    ierror = MPI_SUCCESS
  end subroutine

  subroutine from_file_typed(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    integer, pointer :: stored(:), user(:)
    call hold(extra_state == 7 .and. datatype == MPI_INTEGER .and. position == 0, 'arguments in mpi_f08')
    call c_f_pointer(filebuf, stored, [2*count])
    call c_f_pointer(userbuf, user, [count])
    user = stored(1::2)
    conversions = conversions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine into_file_large(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_COUNT_KIND) :: count
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    integer, pointer :: stored(:), user(:)
    call hold(extra_state == 7 .and. datatype == MPI_INTEGER .and. position == 0, 'large arguments in mpi_f08')
    call c_f_pointer(filebuf, stored, [2*count])
    call c_f_pointer(userbuf, user, [count])
    stored(1::2) = user
    stored(2::2) = not(user)
    conversions = conversions + 1
    ierror = MPI_SUCCESS
  end subroutine

  ! The file holds what the module mpi's functions wrote.
  subroutine by_mpi_f08(name)
    character(len=*), intent(in) :: name
    integer(kind=MPI_ADDRESS_KIND) :: extra
    type(MPI_File) :: file
    integer :: numbers(3), stored(6), ierror, class
    extra = 7
    call MPI_Register_datarep('reads', from_file_typed, MPI_CONVERSION_FN_NULL, extent_of_typed, extra)
    call MPI_Register_datarep_c('writes', MPI_CONVERSION_FN_NULL_C, into_file_large, extent_of_typed, extra, ierror)
    call hold(ierror == MPI_SUCCESS, 'Register_datarep_c')
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, file)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'reads', MPI_INFO_NULL)
    call MPI_File_read_at(file, 1_MPI_OFFSET_KIND, numbers, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call hold(all(numbers == [20, 30, 40]) .and. conversions == 1, 'read in mpi_f08')
    ! There is no function that writes, and data of another length.
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, numbers, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_Error_class(ierror, class)
    call hold(class == MPI_ERR_CONVERSION .and. conversions == 1, 'MPI_CONVERSION_FN_NULL writes nothing')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'writes', MPI_INFO_NULL)
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, [-1, -2, -3], 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call hold(conversions == 2, 'written in mpi_f08')
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, numbers, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_Error_class(ierror, class)
    call hold(class == MPI_ERR_CONVERSION .and. conversions == 2, 'MPI_CONVERSION_FN_NULL_C reads nothing')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, stored, 6, MPI_INTEGER, MPI_STATUS_IGNORE)
    call hold(all(stored == [-1, 0, -2, 1, -3, 2]), 'what stands in the file')
    call MPI_File_close(file)
  end subroutine
end module

program representations
  use of_mpi
  use of_mpi_f08, only: by_mpi_f08
  implicit none
  integer :: file, ierror, class, numbers(4), stored(8), status(MPI_STATUS_SIZE), elements
  integer(kind=MPI_OFFSET_KIND), parameter :: start = 0
  integer(kind=MPI_ADDRESS_KIND) :: extent
  character(len=500) :: program, name

  call begin
  call get_command_argument(0, program)
  write (name, '(2a, i0)') trim(program), '-', rank
  ! Blanks behind a name are none of it.
  call MPI_Register_datarep('pairs  ', from_file, into_file, extent_of, state, ierror)
  call hold(ierror == MPI_SUCCESS, 'Register_datarep')
  call MPI_Register_datarep('pairs', from_file, into_file, extent_of, state, ierror)
  call MPI_Error_class(ierror, class, ierror)
  call hold(class == MPI_ERR_DUP_DATAREP, 'registered twice')
  call MPI_Register_datarep('same', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, same_extent, state, ierror)
  call hold(ierror == MPI_SUCCESS, 'without functions')

  call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file, ierror)
  call hold(ierror == MPI_SUCCESS, 'File_open')
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'pairs', MPI_INFO_NULL, ierror)
  call hold(ierror == MPI_SUCCESS .and. extents > 0, 'File_set_view')
  call MPI_File_get_type_extent(file, MPI_INTEGER, extent, ierror)
  call hold(extent == 8, 'File_get_type_extent')
  call MPI_File_write_at(file, start, [10, 20, 30, 40], 4, MPI_INTEGER, status, ierror)
  call hold(ierror == MPI_SUCCESS .and. writes == 1, 'written')
  numbers = 0
  call MPI_File_read_at(file, start + 1, numbers, 4, MPI_INTEGER, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, elements, ierror)
  call hold(reads == 1 .and. elements == 3 .and. all(numbers == [20, 30, 40, 0]), 'read up to the end')

  ! A function's error is the call's.
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'same', MPI_INFO_NULL, ierror)
  call MPI_File_read_at(file, start, stored, 8, MPI_INTEGER, status, ierror)
  call hold(all(stored == [10, not(10), 20, not(20), 30, not(30), 40, not(40)]), 'read as it stands')
  call MPI_File_write_at(file, start + 1, [0], 1, MPI_INTEGER, status, ierror)
  call hold(ierror == MPI_SUCCESS, 'written as it stands')
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'pairs', MPI_INFO_NULL, ierror)
  call MPI_File_read_at(file, start, numbers, 4, MPI_INTEGER, status, ierror)
  call MPI_Error_class(ierror, class, ierror)
  call hold(class == MPI_ERR_CONVERSION, 'the error of a function')
  call hold(reads == 2 .and. writes == 1, 'how often functions were called')
  call MPI_File_close(file, ierror)

  call by_mpi_f08(name)
  call MPI_File_delete(name, MPI_INFO_NULL, ierror)
  call hold(ierror == MPI_SUCCESS, 'File_delete')
  call finish('representations')
end program
