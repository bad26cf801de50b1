! Strings lose blanks by their kind and come back padded (MPI-5.0 section 19.3.9, section 10); LOGICAL both ways.
program strings
  use check
  implicit none
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=4) :: short
  character(len=20) :: text
  character(len=MPI_MAX_ERROR_STRING) :: message
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
  integer :: length, ierror, comm, info, keys, cart, coordinates(2), dims(2), sub, session, sets
  logical :: flag, periods(2), back(2)

  call MPI_Initialized(flag, ierror)
  call hold(.not. flag, 'Initialized before')
  call begin
  call MPI_Initialized(flag, ierror)
  call hold(flag, 'Initialized')

  ! Names keep their leading blanks.
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_name(comm, '  two words  ', ierror)
  name = repeat('x', len(name))
  call MPI_Comm_get_name(comm, name, length, ierror)
  call hold(length == 11 .and. name == '  two words', 'name')
  call MPI_Comm_get_name(comm, short, length, ierror)
  call hold(short == '  tw', 'name in four characters')
  call MPI_Type_get_name(MPI_INTEGER, name, length, ierror)
  call hold(name == 'MPI_INTEGER' .and. length == 11, 'name of a type')

  ! Keys and values lose blanks on both sides.
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, ' key ', '  a value ', ierror)
  length = len(text)
  call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
  call hold(flag .and. text == 'a value', 'value')
  call hold(length == 7, 'length without a null')
  text = 'unchanged'
  length = 0
  call MPI_Info_get_string(info, 'key   ', length, text, flag, ierror)
  call hold(length == 7 .and. text == 'unchanged', 'length alone')
  length = 3
  call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
  call hold(length == 7 .and. text == 'a v', 'three characters of it')
  call MPI_Info_get(info, 'key', 5, text, flag, ierror)
  call hold(flag .and. text == 'a val', 'Info_get')
  call MPI_Info_get_valuelen(info, ' key', length, flag, ierror)
  call hold(flag .and. length == 7, 'Info_get_valuelen')
  text = 'unchanged'
  call MPI_Info_get(info, 'other', 5, text, flag, ierror)
  call hold(.not. flag .and. text == 'unchanged', 'no such key')
  call MPI_Info_get_nkeys(info, keys, ierror)
  call MPI_Info_get_nthkey(info, 0, text, ierror)
  call hold(keys == 1 .and. text == 'key', 'nthkey')
  call MPI_Info_free(info, ierror)
  call hold(info == MPI_INFO_NULL, 'INFO_NULL')

  ! Lengths that the library chooses.
  call MPI_Error_string(MPI_ERR_TAG, message, length, ierror)
  call hold(length > 0 .and. len_trim(message) == length, 'Error_string')
  call MPI_Get_processor_name(processor, length, ierror)
  call hold(length > 0 .and. len_trim(processor) == length, 'Get_processor_name')
  call MPI_Get_library_version(library, length, ierror)
  call hold(library(1:7) == 'WeftMPI' .or. length > 0, 'Get_library_version')
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets, ierror)
  call hold(sets >= 2, 'num_psets')
  length = 0
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, text, ierror)
  call hold(length == len('mpi://WORLD'), 'length of a set''s name')
  length = len(text)
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, text, ierror)
  call hold(text == 'mpi://WORLD', 'name of a set')
  call MPI_Session_finalize(session, ierror)

  ! LOGICAL, in arrays too.
  dims = [size, 1]
  periods = [.true., .false.]
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierror)
  back = [.false., .true.]
  call MPI_Cart_get(cart, 2, dims, back, coordinates, ierror)
  call hold(all(back .eqv. periods), 'periods')
  call hold(all(dims == [size, 1]) .and. all(coordinates == [rank, 0]), 'dims, coords')
  call MPI_Cart_sub(cart, [.false., .true.], sub, ierror)
  call MPI_Comm_size(sub, length, ierror)
  call hold(length == 1, 'Cart_sub')
  call MPI_Comm_test_inter(cart, flag, ierror)
  call hold(.not. flag, 'Comm_test_inter')

  call MPI_Comm_free(sub, ierror)
  call MPI_Comm_free(cart, ierror)
  call MPI_Comm_free(comm, ierror)
  call finish('strings')
end program
