C     A number goes once around all processes, each of which adds one:
C     Fortran with mpif.h.
      program ring
      implicit none
      include 'mpif.h'
      integer rank, size, number, ierror
      integer status(MPI_STATUS_SIZE)

      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
      number = 0
      if (rank .eq. 0) then
          call MPI_SENDRECV(1, 1, MPI_INTEGER, mod(1, size), 0, number,
     &        1, MPI_INTEGER, size - 1, 0, MPI_COMM_WORLD, status,
     &        ierror)
          if (number .ne. size) call MPI_ABORT(MPI_COMM_WORLD, 1,
     &        ierror)
          print '(a, i0, a)', 'the number came back as ', number,
     &        ', as it should'
      else
          call MPI_RECV(number, 1, MPI_INTEGER, rank - 1, 0,
     &        MPI_COMM_WORLD, status, ierror)
          call MPI_SEND(number + 1, 1, MPI_INTEGER, mod(rank + 1, size),
     &        0, MPI_COMM_WORLD, ierror)
      end if
      call MPI_FINALIZE(ierror)
      end
