! Kinds, sizes, functions that are no subroutines, memory, and what is known of Fortran (MPI-5.0 section 19.1, section 20.4).
program interface
  use check
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: ierror, bytes, newtype, pieces(1), combiner, counts(4), types(2), integers(8), win
  integer :: array(3, 2), info, length
  integer(kind=MPI_ADDRESS_KIND) :: address, lower, extent, size_of_window, addresses(2)
  integer(kind=MPI_OFFSET_KIND) :: offset
  integer(kind=MPI_COUNT_KIND) :: count
  character(len=12) :: text
  double precision, pointer :: values(:)
  type(c_ptr) :: place
  logical :: flag, true, false
  double precision :: before

  call begin
  call hold(MPI_VERSION == 5 .and. MPI_SUBVERSION == 0, 'version')
  call hold(kind(address) == c_intptr_t .and. kind(count) == c_int64_t .and. kind(offset) == c_int64_t, 'kinds')
  call hold(MPI_STATUS_SIZE == 8 .and. MPI_MAX_OBJECT_NAME == 127, 'sizes')
  call hold(.not. MPI_SUBARRAYS_SUPPORTED .and. .not. MPI_ASYNC_PROTECTS_NONBLOCKING, 'MPI_SUBARRAYS_SUPPORTED')

  call MPI_Sizeof(1.0d0, bytes, ierror)
  call hold(bytes == 8, 'Sizeof a scalar')
  call MPI_Sizeof(array, bytes, ierror)
  call hold(bytes == 4, 'Sizeof an array')
  call MPI_Sizeof((1.0, 2.0), bytes, ierror)
  call hold(bytes == 8, 'Sizeof COMPLEX')
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, newtype, ierror)
  call hold(newtype == MPI_REAL8, 'Type_match_size')

  before = MPI_Wtime()
  call hold(before <= MPI_Wtime() .and. MPI_Wtick() > 0, 'Wtime')
  call hold(PMPI_Aint_add(4_MPI_ADDRESS_KIND, -6_MPI_ADDRESS_KIND) == -2, 'Aint_add')

  ! Memory by its address and as a pointer.
  call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, ierror)
  call hold(address /= 0, 'Alloc_mem')
  place = transfer(address, place)
  call c_f_pointer(place, values, [10])
  call MPI_Free_mem(values, ierror)
  call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, place, ierror)
  call c_f_pointer(place, values, [10])
  values = 1.5d0
  call MPI_Free_mem(values, ierror)
  call MPI_Win_allocate(80_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, place, win, ierror)
  call c_f_pointer(place, values, [10])
  values = rank
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(dble(rank + 100), 1, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 3_MPI_ADDRESS_KIND, 1, &
    MPI_DOUBLE_PRECISION, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call hold(values(4) == 100 + mod(rank + size - 1, size) .and. values(3) == rank, 'Put')
  call MPI_Win_free(win, ierror)
  call hold(win == MPI_WIN_NULL, 'WIN_NULL')

  ! Contents: no more handles are stored than there are.
  call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_REAL8], &
    newtype, ierror)
  call MPI_Type_get_envelope(newtype, counts(1), counts(2), counts(3), combiner, ierror)
  call hold(combiner == MPI_COMBINER_STRUCT .and. all(counts(:3) == [3, 2, 2]), 'envelope')
  call MPI_Type_get_contents(newtype, 8, 2, 2, integers, addresses, types, ierror)
  call hold(all(types == [MPI_INTEGER, MPI_REAL8]) .and. all(addresses == [0, 8]), 'contents')
  call MPI_Type_get_extent(newtype, lower, extent, ierror)
  call hold(lower == 0 .and. extent == 24, 'extent')
  call MPI_Type_free(newtype, ierror)
  call MPI_Type_vector(2, 1, 3, MPI_INTEGER, newtype, ierror)
  types = -77
  call MPI_Type_get_contents(newtype, 8, 2, 2, integers, addresses, types, ierror)
  call hold(types(1) == MPI_INTEGER .and. types(2) == -77, 'contents of a vector')
  call MPI_Type_free(newtype, ierror)

  ! A choice argument takes any rank, a scalar and a string.
  array = reshape([1, 2, 3, 4, 5, 6], [3, 2])
  call MPI_Bcast(array, 6, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  text = 'twelve chars'
  call MPI_Bcast(text, 12, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
  call PMPI_Barrier(MPI_COMM_WORLD, ierror)

  call MPI_Abi_get_fortran_info(info, ierror)
  length = len(text)
  call MPI_Info_get_string(info, 'mpi_integer_size', length, text, flag, ierror)
  call hold(flag .and. text == '4', 'Abi_get_fortran_info')
  call MPI_Info_free(info, ierror)
  call MPI_Abi_get_fortran_booleans(4, true, false, flag, ierror)
  call hold(flag .and. true .and. .not. false, 'Abi_get_fortran_booleans')
  call finish('interface')
end program
