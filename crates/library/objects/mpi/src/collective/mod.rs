//! Collective operations (MPI-5.0 chapter 6): arguments checked, then an algorithm of `weft_collective` driven over
//! the communicator's collective context.
//!
//! Each function here checks the arguments of one operation and gives a [`Call`], which can be run in the call that made
//! it, begun (the nonblocking form), or prepared for being started again and again (the persistent form).

mod all;
mod arena;
mod arena_access;
mod arguments;
mod blocks;
mod call;
mod duplicate;
mod enquiries;
mod linear;
mod neighbor;
mod peers;
mod reduce;
mod root;
mod rooted;
mod short;
mod void;

pub use all::{allgather, allgatherv, alltoall, alltoallv, alltoallw};
pub use arguments::Reduce;
pub use blocks::{Types, Vectors};
pub use call::{Call, Form};
pub use duplicate::idup;
pub(crate) use enquiries::answer;
pub use neighbor::{
    neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv,
    neighbor_alltoallw,
};
pub use reduce::{
    allreduce, exscan, reduce, reduce_local, reduce_scatter, reduce_scatter_block, scan,
};
pub use rooted::{barrier, bcast, gather, gatherv, scatter, scatterv};

pub(crate) use peers::{
    Peers, drive, gather_words, gather_words_over, largest, largest_over, synchronize,
};

use weft_memory::Memory;

use crate::error::{Class, Error, Result, argument};
use crate::handle::CommId;
use crate::objects::types::Buffer;

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

/// As [`check_aliased`], for two buffers of blocks.
fn check_distinct(send: Option<Buffer>, receive: *const u8) -> Result<()> {
    match send {
        Some(send) => check_aliased(send.address.cast_const() == receive, send.count > 0),
        None => Ok(()),
    }
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
