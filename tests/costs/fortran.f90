! The calls of fortran.c, so many of each: with the module mpi, whose buffers come by address, and with mpi_f08, whose buffers come
! by descriptors that the program fills in for each call.
module with_mpi
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none

contains

  subroutine rank_module(count) bind(C)
    integer(c_int), value :: count
    integer :: found, ierror, i
    do i = 1, count
      call MPI_Comm_rank(MPI_COMM_WORLD, found, ierror)
    end do
  end subroutine

  subroutine isend_module(count) bind(C)
    integer(c_int), value :: count
    integer :: request, ierror, i
    integer(kind=8), save :: number = 0
    do i = 1, count
      call MPI_Isend(number, 1, MPI_INTEGER8, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request, ierror)
    end do
  end subroutine
end module

module with_mpi_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer(kind=8), asynchronous, save :: matrix(4, 4) = 0

contains

  subroutine isend_element(count) bind(C)
    integer(c_int), value :: count
    type(MPI_Request) :: request
    integer :: i
    do i = 1, count
      call MPI_Isend(matrix(1, 1), 1, MPI_INTEGER8, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request)
    end do
  end subroutine

  subroutine isend_matrix(count) bind(C)
    integer(c_int), value :: count
    type(MPI_Request) :: request
    integer :: i
    do i = 1, count
      call MPI_Isend(matrix, 16, MPI_INTEGER8, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request)
    end do
  end subroutine

  subroutine isend_section(count) bind(C)
    integer(c_int), value :: count
    type(MPI_Request) :: request
    integer :: i
    do i = 1, count
      call MPI_Isend(matrix(1:4:2, :), 8, MPI_INTEGER8, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request)
    end do
  end subroutine
end module
