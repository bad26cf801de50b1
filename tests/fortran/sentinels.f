C     The special addresses, told by where they stand (MPI-5.0 section
C     2.5.4), in fixed source form and with implicit interfaces.
      program sentinels
      implicit none
      include 'mpif.h'
      integer rank, size, next, before, ierror, i, graph, weighted
      integer given(1), got(1), sum(2), statuses(MPI_STATUS_SIZE, 2)
      integer requests(2), status(MPI_STATUS_SIZE), many(20), all(20)
      integer degrees_in, degrees_out, newtype
      integer(kind=MPI_ADDRESS_KIND) place, from, to
      integer zero(1)
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
      next = mod(rank + 1, size)
      before = mod(rank + size - 1, size)

C     MPI_IN_PLACE: a copy of the variable would be a buffer of its own.
      sum(1) = rank
      sum(2) = 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, sum, 2, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, ierror)
      call hold(sum(1) .eq. size*(size - 1)/2, 'IN_PLACE')
      call hold(sum(2) .eq. size, 'IN_PLACE, second')

C     MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: a status that is
C     stored would go over the variables behind them.
      given(1) = 100 + rank
      call MPI_SENDRECV(given, 1, MPI_INTEGER, next, 3, got, 1,
     &    MPI_INTEGER, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE,
     &    ierror)
      call hold(got(1) .eq. 100 + before, 'STATUS_IGNORE')
      call MPI_IRECV(got, 1, MPI_INTEGER, before, 4, MPI_COMM_WORLD,
     &    requests(1), ierror)
      call MPI_ISEND(given, 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD,
     &    requests(2), ierror)
      call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierror)
      call MPI_F_SYNC_REG(got)
      call hold(got(1) .eq. 100 + before, 'STATUSES_IGNORE')
      call hold(requests(1) .eq. MPI_REQUEST_NULL, 'null again')
      call MPI_ALLREDUCE(MPI_IN_PLACE, sum, 2, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, ierror)
      call hold(sum(2) .eq. size*size, 'IN_PLACE after STATUSES_IGNORE')

C     A status of each form.
      call MPI_IRECV(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG,
     &    MPI_COMM_WORLD, requests(1), ierror)
      call MPI_ISEND(given, 1, MPI_INTEGER, next, 5, MPI_COMM_WORLD,
     &    requests(2), ierror)
      call MPI_WAITALL(2, requests, statuses, ierror)
      call hold(statuses(MPI_SOURCE, 1) .eq. before, 'source')
      call hold(statuses(MPI_TAG, 1) .eq. 5, 'tag')
      call MPI_GET_COUNT(statuses, MPI_INTEGER, i, ierror)
      call hold(i .eq. 1, 'count')
      call MPI_RECV(got, 1, MPI_INTEGER, MPI_PROC_NULL, 5,
     &    MPI_COMM_WORLD, status, ierror)
      call hold(status(MPI_SOURCE) .eq. MPI_PROC_NULL, 'PROC_NULL')

C     MPI_BOTTOM, with a type of absolute addresses.
      do i = 1, 20
          many(i) = rank*100 + i
          all(i) = -1
      end do
      call MPI_GET_ADDRESS(many, place, ierror)
      call MPI_GET_ADDRESS(many(2), to, ierror)
      from = MPI_AINT_DIFF(to, place)
      call hold(from .eq. 4, 'AINT_DIFF')
      to = MPI_AINT_ADD(place, from)
      call MPI_TYPE_CREATE_HINDEXED(1, 19, to, MPI_INTEGER, newtype,
     &    ierror)
      call MPI_TYPE_COMMIT(newtype, ierror)
      call MPI_SENDRECV(MPI_BOTTOM, 1, newtype, next, 6, all, 19,
     &    MPI_INTEGER, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE,
     &    ierror)
      call hold(all(1) .eq. before*100 + 2, 'BOTTOM')
      call hold(all(19) .eq. before*100 + 20, 'BOTTOM, last')
      call hold(all(20) .eq. -1, 'BOTTOM, behind')
      call MPI_TYPE_FREE(newtype, ierror)
      call hold(newtype .eq. MPI_DATATYPE_NULL, 'DATATYPE_NULL')

C     MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY.
      call MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, before,
     &    MPI_UNWEIGHTED, 1, next, MPI_UNWEIGHTED, MPI_INFO_NULL,
     &    .false., graph, ierror)
      call neighbors(graph, 1, .false.)
      call MPI_COMM_FREE(graph, ierror)
      zero(1) = 0
      call MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 0, zero,
     &    MPI_WEIGHTS_EMPTY, 0, zero, MPI_WEIGHTS_EMPTY,
     &    MPI_INFO_NULL, .false., graph, ierror)
      call neighbors(graph, 0, .true.)
      call MPI_COMM_FREE(graph, ierror)

C     MPI_BUFFER_AUTOMATIC.
      call MPI_COMM_ATTACH_BUFFER(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC,
     &    0, ierror)
      call MPI_BSEND(given, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF,
     &    ierror)
      call MPI_RECV(got, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, status,
     &    ierror)
      call hold(got(1) .eq. given(1), 'BUFFER_AUTOMATIC')
      call MPI_COMM_DETACH_BUFFER(MPI_COMM_SELF, got, i, ierror)
      call hold(got(1) .eq. given(1), 'detached address unused')

      call MPI_BARRIER(MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) print '(a)', 'ok sentinels'
      call MPI_FINALIZE(ierror)
      end

      subroutine neighbors(graph, number, is_weighted)
      implicit none
      include 'mpif.h'
      integer graph, number, ins, outs, ierror
      logical is_weighted, weighted
      call MPI_DIST_GRAPH_NEIGHBORS_COUNT(graph, ins, outs, weighted,
     &    ierror)
      call hold(ins .eq. number .and. outs .eq. number, 'degrees')
      call hold(weighted .eqv. is_weighted, 'weighted')
      end

      subroutine hold(condition, what)
      implicit none
      include 'mpif.h'
      logical condition
      character*(*) what
      integer ierror
      if (condition) return
      write (0, '(2a)') 'not so: ', what
      flush (0)
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)
      end
