! Attributes are integers in Fortran, and each language reads the other's (MPI-5.0 section 7.7, section 19.3.7).
module attribute_functions
  use mpi
  implicit none
  integer(kind=MPI_ADDRESS_KIND) :: last_state = 0, last_deleted = 0
  integer :: last_comm = MPI_COMM_NULL, old_deleted = 0

contains

  subroutine double(comm, key, state, given, out, flag, ierror)
    integer :: comm, key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: state, given, out
    logical :: flag
    last_comm = comm
    last_state = state
    out = 2*given
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, key, given, state, ierror)
    integer :: comm, key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: state, given
    last_deleted = given
    ierror = MPI_SUCCESS
    if (given == -99) ierror = MPI_ERR_OTHER
  end subroutine

  ! Of the deprecated interface.
  subroutine old_delete(comm, key, given, state, ierror)
    integer :: comm, key, ierror, state, given
    old_deleted = given + state
    ierror = MPI_SUCCESS
  end subroutine
end module

program attributes
  use check
  use attribute_functions
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    ! The value of an attribute as C sees it: what stands at the address.
    integer(c_long) function c_reads(comm, key) bind(c)
      import
      integer(c_int), value :: comm, key
    end function
    integer(c_int) function c_reads_int(comm, key) bind(c)
      import
      integer(c_int), value :: comm, key
    end function
    ! Sets the attribute to a pointer of C's.
    subroutine c_sets(comm, key, word) bind(c)
      import
      integer(c_int), value :: comm, key
      integer(c_intptr_t), value :: word
    end subroutine
    ! A key of C's that copies the pointer.
    integer(c_int) function c_key() bind(c)
      import
    end function
  end interface
  integer :: key, dup_key, old_key, c_created, comm, ierror, old_value, win, memory(4), type_key, newtype, size_key
  integer(kind=MPI_ADDRESS_KIND) :: value, large
  logical :: flag

  call begin
  large = 5000000000_MPI_ADDRESS_KIND
  call MPI_Comm_create_keyval(double, delete, key, large, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, large, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierror)
  call hold(.not. flag, 'none yet')
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, large, ierror)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, -3_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierror)
  call hold(flag .and. value == large, 'value')
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call hold(last_state == large .and. last_comm == MPI_COMM_WORLD, 'the copy function''s arguments')
  call MPI_Comm_get_attr(comm, key, value, flag, ierror)
  call hold(flag .and. value == 2*large, 'copied')
  call MPI_Comm_get_attr(comm, dup_key, value, flag, ierror)
  call hold(flag .and. value == -3, 'MPI_COMM_DUP_FN')

  ! C gets the address of the integer.
  call hold(c_reads(MPI_COMM_WORLD, key) == large .and. c_reads(comm, key) == 2*large, 'C reads')
  call hold(c_reads(comm, dup_key) == -3, 'C reads the duplicate')
  ! Fortran gets the bits of C's pointer.
  call c_sets(comm, dup_key, 4242_c_intptr_t)
  call MPI_Comm_get_attr(comm, dup_key, value, flag, ierror)
  call hold(flag .and. value == 4242, 'C''s pointer')
  ! A key of C's, whose copy function hands the pointer on.
  c_created = c_key()
  call MPI_Comm_set_attr(comm, c_created, 77_MPI_ADDRESS_KIND, ierror)
  call copy_of_a_copy(comm, c_created)

  call MPI_Comm_delete_attr(comm, key, ierror)
  call hold(last_deleted == 2*large, 'deleted')
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_set_attr(comm, key, -99_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_delete_attr(comm, key, ierror)
  call hold(ierror /= MPI_SUCCESS, 'a delete function that refuses')
  call MPI_Comm_get_attr(comm, key, value, flag, ierror)
  call hold(flag .and. value == -99, 'stays')

  ! The deprecated interface has INTEGERs.
  call MPI_Keyval_create(MPI_DUP_FN, old_delete, old_key, 1000, ierror)
  call MPI_Attr_put(MPI_COMM_SELF, old_key, -5, ierror)
  call MPI_Attr_get(MPI_COMM_SELF, old_key, old_value, flag, ierror)
  call hold(flag .and. old_value == -5, 'Attr_get')
  call hold(c_reads_int(MPI_COMM_SELF, old_key) == -5, 'C reads an INTEGER')
  call MPI_Comm_get_attr(MPI_COMM_SELF, old_key, value, flag, ierror)
  call hold(flag .and. value == -5, 'sign')
  call MPI_Attr_delete(MPI_COMM_SELF, old_key, ierror)
  call hold(old_deleted == 995, 'old delete function')
  call MPI_Keyval_free(old_key, ierror)
  call hold(old_key == MPI_KEYVAL_INVALID, 'KEYVAL_INVALID')

  ! Predefined attributes are values, where C has their addresses.
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call hold(flag .and. value >= 32767, 'TAG_UB')
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, old_value, flag, ierror)
  call hold(flag .and. old_value == value, 'TAG_UB, deprecated')
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierror)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
  call hold(flag .and. value == 16, 'WIN_SIZE')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
  call hold(flag .and. value == 4, 'WIN_DISP_UNIT')
  call MPI_Get_address(memory, large, ierror)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
  call hold(flag .and. value == large, 'WIN_BASE')
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, size_key, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Win_set_attr(win, size_key, 9_MPI_ADDRESS_KIND, ierror)
  call MPI_Win_get_attr(win, size_key, value, flag, ierror)
  call hold(flag .and. value == 9, 'own attribute of a window')
  call MPI_Win_free(win, ierror)

  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete, type_key, large, ierror)
  call MPI_Type_contiguous(3, MPI_INTEGER, newtype, ierror)
  call MPI_Type_set_attr(newtype, type_key, 31_MPI_ADDRESS_KIND, ierror)
  call MPI_Type_get_attr(newtype, type_key, value, flag, ierror)
  call hold(flag .and. value == 31, 'of a type')
  call MPI_Type_free(newtype, ierror)
  call hold(last_deleted == 31, 'deleted with its type')
  call MPI_Comm_set_attr(comm, key, 0_MPI_ADDRESS_KIND, ierror)
  call finish('attributes')

contains

  ! The first copy's integer is gone when the second is read.
  subroutine copy_of_a_copy(comm, key)
    integer, intent(in) :: comm, key
    integer :: first, second
    call MPI_Comm_dup(comm, first, ierror)
    call MPI_Comm_dup(first, second, ierror)
    call MPI_Comm_free(first, ierror)
    call MPI_Comm_get_attr(second, key, value, flag, ierror)
    call hold(flag .and. value == 77, 'copied by C twice')
    call hold(c_reads(second, key) == 77, 'and read by C')
    call MPI_Comm_free(second, ierror)
  end subroutine
end program
