! Heat in a rod, divided among all processes: Fortran with the module mpi. Each step exchanges the points at the borders, and
! at the end the sum of all is compared with what it was, for nothing flows out.
program heat
  use mpi
  implicit none
  integer, parameter :: points = 1000, steps = 500
  integer :: rank, size, left, right, step, ierror, cart
  integer :: requests(4)
  double precision :: rod(0:points + 1), next(points), before, after

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .true., cart, ierror)
  call MPI_Comm_rank(cart, rank, ierror)
  call MPI_Cart_shift(cart, 0, 1, left, right, ierror)

  rod = 0
  if (rank == 0) rod(1:points/2) = 100
  before = total()
  do step = 1, steps
    call MPI_Irecv(rod(0), 1, MPI_DOUBLE_PRECISION, left, 0, cart, requests(1), ierror)
    call MPI_Irecv(rod(points + 1), 1, MPI_DOUBLE_PRECISION, right, 1, cart, requests(2), ierror)
    call MPI_Isend(rod(points), 1, MPI_DOUBLE_PRECISION, right, 0, cart, requests(3), ierror)
    call MPI_Isend(rod(1), 1, MPI_DOUBLE_PRECISION, left, 1, cart, requests(4), ierror)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    ! The compiler must not keep the borders in registers over the calls above.
    call MPI_F_sync_reg(rod)
    next = rod(1:points) + 0.25d0*(rod(0:points - 1) - 2*rod(1:points) + rod(2:points + 1))
    rod(1:points) = next
  end do
  after = total()
  if (rank == 0) print '(a, f12.4, a, f12.4)', 'heat before ', before, ', after ', after
  if (abs(after - before) > 1d-6*before) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)

contains

  double precision function total()
    total = sum(rod(1:points))
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, cart, ierror)
  end function
end program
