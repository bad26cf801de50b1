//! Blocking operations of few bytes among processes of one host, gone through in the call (`weft_collective::Short`).
//!
//! Tried in the blocking form, where a glance tells that all is right and usual: a communicator whose processes share an arena, datatypes without holes, addresses, a
//! predefined operation. None means that the long way is to be gone, from the first check on: what is wrong is found there. The operation has
//! its tag from there too; one that is over has taken it. Calls of these are out of line, so that those in which nothing is moved do not pay for it.

use std::ops::Range;

use weft_collective::{Counts, Operation, PlainReduction, Short, ShortLimits};
use weft_handle::CommId;
use weft_memory::Memory;
use weft_objects::comm::arena::SharedArena;
use weft_objects::comm::{Comm, find};
use weft_objects::types::{Buffer, is_address, plain_bytes};
use weft_process::engine::engine;

use super::arguments::{Over, Reduce};
use super::blocks::{PlainVectors, Vectors};
use super::root::rank_of;

/// A communicator whose processes share an arena, all of them.
struct OnBoard {
    comm: &'static Comm,
    shared: &'static SharedArena,
    limits: &'static ShortLimits,
}

impl OnBoard {
    #[inline(always)]
    fn find(id: CommId) -> Option<OnBoard> {
        let comm = find(id).ok()?;
        if comm.is_revoked() {
            return None;
        }
        let shared = comm.arena.get()??;
        let limits = shared.short.as_ref()?;
        Some(OnBoard {
            comm,
            shared,
            limits,
        })
    }

    /// Tries an operation of so many bytes, as it is chosen by.
    #[inline(always)]
    fn attempt(
        &self,
        chosen_by: (Operation, usize),
        go: impl FnOnce(&Short<'_>) -> bool,
    ) -> Option<Over> {
        self.attempt_led(chosen_by, None, go)
    }

    /// The same, of one in which all others wait for the leader, and it for none.
    #[inline(always)]
    fn attempt_led(
        &self,
        (operation, bytes): (Operation, usize),
        leader: Option<usize>,
        go: impl FnOnce(&Short<'_>) -> bool,
    ) -> Option<Over> {
        let (board, operations) = (&self.shared.board, self.comm.operations());
        let are_near = self.shared.nearness.is_near(board);
        if !self.limits.admit(operation, bytes, are_near) {
            return None;
        }
        let tag = operations.next();
        if let Some(leader) = leader {
            operations.lead(tag, leader);
        }
        let is_over = go(&Short::new(board, tag, self.shared.looks));
        if board.sleepers_behind() {
            self.shared.wake();
        }
        if !is_over {
            return None;
        }
        operations.pass(tag, bytes as u64);
        engine().waited_outside(tag);
        Some(Over)
    }

    #[inline(always)]
    fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    #[inline(always)]
    fn ranks(&self) -> usize {
        self.comm.size() as usize
    }

    #[inline(always)]
    fn root(&self, root: i32) -> Option<usize> {
        rank_of(self.comm, root)
    }

    /// Memory with a block for each process, of which this is one.
    #[inline(always)]
    fn blocks(&self, block: &Memory) -> Memory {
        Memory::contiguous(block.base, block.bytes * self.ranks())
    }
}

/// The memory of a buffer of elements without gaps, if there are any.
#[inline(always)]
fn plain(buffer: &Buffer) -> Option<Memory> {
    let span = buffer.plain()?;
    (span.bytes > 0).then(|| Memory::contiguous(span.base, span.bytes))
}

/// Where each process has a block in one buffer, and this one its own in another unless it is in place: that one and the first of the others, if
/// both are plain, as long, and not at one address.
#[inline(always)]
fn own_and_first(own: Option<&Buffer>, blocks: &Buffer) -> Option<(Option<Memory>, Memory)> {
    let first = plain(blocks)?;
    let own = match own {
        None => None,
        Some(own) => Some(plain(own)?),
    };
    let fits = |own: &Memory| own.bytes == first.bytes && own.base != first.base;
    own.as_ref().is_none_or(fits).then_some((own, first))
}

/// `MPI_Barrier`.
#[inline(never)]
pub(super) fn barrier(comm: CommId) -> Option<Over> {
    let on = OnBoard::find(comm)?;
    let operations = on.comm.operations();
    let leader = operations.leader_before(operations.next());
    on.attempt((Operation::barrier, 0), |short| match leader {
        None => short.barrier(),
        Some(leader) => short.barrier_behind(leader),
    })
}

/// `MPI_Bcast`.
#[inline(always)]
pub(super) fn bcast(buffer: &Buffer, root: i32, comm: CommId) -> Option<Over> {
    let memory = plain(buffer)?;
    let on = OnBoard::find(comm)?;
    let root = on.root(root)?;
    on.attempt_led((Operation::bcast, memory.bytes), Some(root), |short| {
        short.bcast(&memory, root)
    })
}

/// `MPI_Gather`: `receive` matters at the root.
#[inline(never)]
pub(super) fn gather(
    send: Option<&Buffer>,
    receive: &Buffer,
    root: i32,
    comm: CommId,
) -> Option<Over> {
    let on = OnBoard::find(comm)?;
    if on.root(root)? == on.rank() {
        let (own, first) = own_and_first(send, receive)?;
        return on.attempt((Operation::gather, first.bytes), |short| {
            short.gather_root(own.as_ref(), &on.blocks(&first), first.bytes)
        });
    }
    let own = plain(send?)?;
    on.attempt((Operation::gather, own.bytes), |short| {
        short.gather_leaf(&own)
    })
}

/// `MPI_Scatter`: `send` matters at the root.
#[inline(never)]
pub(super) fn scatter(
    send: &Buffer,
    receive: Option<&Buffer>,
    root: i32,
    comm: CommId,
) -> Option<Over> {
    let on = OnBoard::find(comm)?;
    let root = on.root(root)?;
    if root == on.rank() {
        let (own, first) = own_and_first(receive, send)?;
        return on.attempt_led((Operation::scatter, first.bytes), Some(root), |short| {
            short.scatter_root(&on.blocks(&first), own.as_ref(), first.bytes)
        });
    }
    let own = plain(receive?)?;
    on.attempt_led((Operation::scatter, own.bytes), Some(root), |short| {
        short.scatter_leaf(&own, root)
    })
}

/// `MPI_Allgather`.
#[inline(always)]
pub(super) fn allgather(send: Option<&Buffer>, receive: &Buffer, comm: CommId) -> Option<Over> {
    let (own, first) = own_and_first(send, receive)?;
    let (base, bytes) = (first.base, first.bytes);
    let place = |rank: usize| Memory::contiguous(base.wrapping_add(rank * bytes), bytes);
    OnBoard::find(comm)?.attempt((Operation::allgather, bytes), |short| {
        short.allgather(own.as_ref(), place)
    })
}

/// `MPI_Allgatherv`.
#[inline(always)]
pub(super) fn allgatherv(
    send: Option<&Buffer>,
    receive: &Vectors<'_>,
    comm: CommId,
) -> Option<Over> {
    let on = OnBoard::find(comm)?;
    let blocks = PlainVectors::new(receive, on.ranks())?;
    let place = |rank| blocks.block(rank);
    let longest = (0..on.ranks()).map(|rank| place(rank).bytes).max();
    let longest = longest.filter(|&bytes| bytes > 0)?;
    let own = place(on.rank());
    let send = match send {
        None => None,
        Some(send) => Some(plain(send)?),
    };
    if send.as_ref().is_some_and(|send| {
        send.bytes != own.bytes || send.base == own.base || send.base == receive.address
    }) {
        return None;
    }
    on.attempt((Operation::allgather, longest), |short| {
        short.allgather(send.as_ref(), place)
    })
}

/// `MPI_Alltoall`.
#[inline(always)]
pub(super) fn alltoall(send: Option<&Buffer>, receive: &Buffer, comm: CommId) -> Option<Over> {
    let (send, first) = own_and_first(send, receive)?;
    let on = OnBoard::find(comm)?;
    let receive = on.blocks(&first);
    let send = send.map_or_else(|| receive.clone(), |send| on.blocks(&send));
    on.attempt((Operation::alltoall, first.bytes), |short| {
        short.alltoall(&send, &receive, first.bytes)
    })
}

/// The reduction of so many elements, if it is a predefined one, of buffers that are plain where they count.
#[inline(always)]
fn reduction(arguments: &Reduce, count: i64, has_output: bool) -> Option<PlainReduction> {
    let Reduce {
        input,
        output,
        datatype,
        op,
        ..
    } = *arguments;
    let in_place = input.is_none();
    let input = input.map_or(output, <*const u8>::cast_mut);
    let bytes = plain_bytes(input, count, datatype).filter(|&bytes| bytes > 0)?;
    if has_output && !in_place && (input == output || !is_address(output)) {
        return None;
    }
    let (op, count) = (op.on(datatype)?, count as usize);
    // SAFETY: the buffers are the caller's until the operation is over, the output where it counts; the operation is for the type.
    Some(unsafe { PlainReduction::new(op, (count, bytes / count), input, output) })
}

/// `MPI_Reduce`.
#[inline(never)]
pub(super) fn reduce(arguments: &Reduce, root: i32, comm: CommId) -> Option<Over> {
    let on = OnBoard::find(comm)?;
    let root = on.root(root)?;
    let is_root = root == on.rank();
    if !is_root && arguments.input.is_none() {
        return None;
    }
    let reduction = reduction(arguments, arguments.count, is_root)?;
    on.attempt((Operation::reduce, reduction.bytes()), |short| {
        short.reduce(&reduction, root)
    })
}

/// `MPI_Allreduce`.
#[inline(never)]
pub(super) fn allreduce(arguments: &Reduce, comm: CommId) -> Option<Over> {
    let reduction = reduction(arguments, arguments.count, true)?;
    OnBoard::find(comm)?.attempt((Operation::allreduce, reduction.bytes()), |short| {
        short.allreduce(&reduction)
    })
}

/// `MPI_Reduce_scatter_block`: the count is each process's.
#[inline(never)]
pub(super) fn reduce_scatter_block(arguments: &Reduce, comm: CommId) -> Option<Over> {
    let on = OnBoard::find(comm)?;
    let all = arguments.count.checked_mul(i64::from(on.comm.size()))?;
    let count = usize::try_from(arguments.count).ok()?;
    let start = count * on.rank();
    on.reduce_scatter(arguments, all, start..start + count, count)
}

/// `MPI_Reduce_scatter`: one count for each process.
#[inline(never)]
pub(super) fn reduce_scatter(
    arguments: &Reduce,
    counts: &Counts<'_>,
    comm: CommId,
) -> Option<Over> {
    let on = OnBoard::find(comm)?;
    let (mut all, mut longest, mut own) = (0usize, 0, 0..0);
    for rank in 0..on.ranks() {
        let count = usize::try_from(counts.at(rank)).ok()?;
        let end = all.checked_add(count)?;
        if rank == on.rank() {
            own = all..end;
        }
        longest = count.max(longest);
        all = end;
    }
    on.reduce_scatter(arguments, i64::try_from(all).ok()?, own, longest)
}

impl OnBoard {
    #[inline(always)]
    fn reduce_scatter(
        &self,
        arguments: &Reduce,
        all: i64,
        own: Range<usize>,
        longest: usize,
    ) -> Option<Over> {
        if arguments.input == Some(arguments.output.cast_const()) {
            return None;
        }
        let reduction = reduction(arguments, all, !own.is_empty())?;
        self.attempt((Operation::reduce_scatter, reduction.bytes()), |short| {
            short.reduce_scatter(&reduction, own, longest)
        })
    }
}
