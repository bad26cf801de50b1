//! Collective operations (MPI-5.0 chapter 6): arguments checked, then an algorithm of `weft_collective` driven over
//! the communicator's collective context.
//!
//! Each function here checks the arguments of one operation and gives a [`Call`], which can be run in the call that made
//! it, begun (the nonblocking form), or prepared for being started again and again (the persistent form).

mod agreement;
mod all;
mod arena;
mod arena_access;
mod arguments;
mod blocks;
mod call;
mod enquiries;
mod linear;
pub mod lists;
mod neighbor;
mod peers;
mod reduce;
mod root;
mod rooted;
mod short;
mod void;
mod words;

pub use agreement::{
    Elsewhere, agree, agree_over, check_verdict, exchange, exchange_last, print_of, settled,
};
pub use all::{allgather, allgatherv, alltoall, alltoallv, alltoallw};
pub use arguments::Reduce;
pub use blocks::{Types, Vectors};
pub use call::Plan;
pub use call::{Call, Form};
pub use enquiries::answer;
pub use neighbor::{
    neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv,
    neighbor_alltoallw,
};
pub use reduce::{
    allreduce, exscan, reduce, reduce_local, reduce_scatter, reduce_scatter_block, scan,
};
pub use rooted::{barrier, bcast, gather, gatherv, scatter, scatterv};
pub use weft_collective::Counts;

pub use peers::{Peers, synchronize};
pub use words::{gather_words, gather_words_over, largest, largest_of_both, largest_over};

use weft_collective::Blocks;
use weft_error::{Class, Error, Result, argument};
use weft_handle::CommId;
use weft_memory::Memory;
use weft_objects::types::Buffer;

/// Makes what a communicator's first collective operation makes, as far as that takes no other process.
pub fn prepare(comm: CommId) -> Result<()> {
    call::comm(comm)?.hosts();
    Ok(())
}

fn checked_count(count: i64, name: &str) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| argument(Class::Count, name, format_args!("{count} is negative")))
}

/// A buffer argument that may be `MPI_IN_PLACE`: none.
fn optional_memory(buffer: Option<Buffer>) -> Result<Option<Memory>> {
    buffer.map(|buffer| buffer.memory()).transpose()
}

/// `MPI_IN_PLACE`, where it is no input but an output's address, which it cannot be.
const IN_PLACE: usize = 1;

/// Send and receive buffer must not be the same memory (MPI-5.0 §2.3).
fn check_aliased(same: bool, used: bool) -> Result<()> {
    if same && used {
        return Err(argument(
            Class::Buffer,
            "sendbuf",
            "the same as recvbuf; use MPI_IN_PLACE",
        ));
    }
    Ok(())
}

/// As [`check_aliased`], for one block and so many others.
fn check_apart(one: Option<&Memory>, blocks: &dyn Blocks, count: usize) -> Result<()> {
    let Some(one) = one.filter(|one| one.bytes > 0) else {
        return Ok(());
    };
    let same = match blocks.whole() {
        Some(whole) => overlap(one, &whole),
        None => (0..count).any(|rank| overlap(one, &blocks.block(rank))),
    };
    check_aliased(same, true)
}

/// As [`check_aliased`], for the blocks that go to each process and those that come from it.
fn check_blocks_apart(send: &dyn Blocks, receive: &dyn Blocks, count: usize) -> Result<()> {
    let same = match (send.whole(), receive.whole()) {
        (Some(send), Some(receive)) => overlap(&send, &receive),
        _ => (0..count).any(|rank| overlap(&send.block(rank), &receive.block(rank))),
    };
    check_aliased(same, true)
}

/// Whether some byte belongs to both: of memory with gaps the first byte is looked at, for the gaps may be the other's.
fn overlap(a: &Memory, b: &Memory) -> bool {
    let (Some(first), Some(second)) = (first_byte(a), first_byte(b)) else {
        return false;
    };
    match (&a.layout, &b.layout) {
        (None, None) => first < second + b.bytes && second < first + a.bytes,
        _ => first == second,
    }
}

/// The address of the first byte that is packed, where that is told.
fn first_byte(memory: &Memory) -> Option<usize> {
    let mut place = None;
    match &memory.layout {
        _ if memory.bytes == 0 => {}
        None => place = Some(0),
        Some(layout) if layout.run_bytes() > 0 => {
            layout.runs(0..1, &mut |start, _| {
                place = Some(start);
                false
            });
        }
        Some(_) => {}
    }
    place.map(|place| memory.base.addr().wrapping_add_signed(place))
}

#[cold]
fn in_place_off_root() -> Error {
    argument(Class::Buffer, "buf", "MPI_IN_PLACE is for the root only")
}

/// The buffer, where `MPI_IN_PLACE` means nothing (MPI-5.0 §6.2.3, §8.6).
fn not_in_place<T>(buffer: Option<T>, name: &str) -> Result<T> {
    let what = "MPI_IN_PLACE is not for inter-communicators and neighbourhoods";
    buffer.ok_or_else(|| argument(Class::Buffer, name, what))
}
