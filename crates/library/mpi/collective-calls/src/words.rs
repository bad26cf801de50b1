//! Words of the library's own that the processes of a call tell each other: the largest, or those of each.

use weft_collective::inter::{self, Sides};
use weft_collective::{Boxed, Channel, Outcome, Reduction, Uniform, boxed, run_blocking};
use weft_datatype::{Datatype, Op, Predefined};
use weft_error::Result;
use weft_error::told::Check;
use weft_memory::Memory;
use weft_objects::comm::Comm;
use weft_objects::op::Operator;
use weft_objects::types::TypeId;

use super::peers::Peers;

/// The element-wise maximum of some numbers over some processes, which has to be such as `check` finds right.
pub fn largest<const N: usize>(
    peers: &Peers<'_>,
    tag: u32,
    words: [i64; N],
    check: Check,
) -> Result<[i64; N]> {
    let outcome = Outcome::default();
    let channel = Channel::new(peers, tag, &outcome);
    let largest = boxed(|| largest_over(&channel, words, check));
    run_blocking(largest, || peers.wait())
}

/// The same, in an operation.
pub async fn largest_over<const N: usize>(
    channel: &Channel<'_, Peers<'_>>,
    words: [i64; N],
    check: Check,
) -> Result<[i64; N]> {
    let predefined = Predefined::Int64;
    let datatype = Datatype::from(predefined);
    let op = Operator::predefined(Op::Max, TypeId::predefined(predefined))?;
    let mut result = words;
    let output = result.as_mut_ptr().cast();
    // SAFETY: `result` holds N elements of the type and outlives the operation.
    let reduction = unsafe { Reduction::new(&op, &datatype, N, None, output)? };
    allreduce(channel, reduction).await?;
    channel.peers().checked(result, check)
}

/// The same over both groups of an inter-communicator.
pub async fn largest_of_both<const N: usize>(
    sides: &Sides<'_, Peers<'_>>,
    words: [i64; N],
    check: Check,
) -> Result<[i64; N]> {
    let predefined = Predefined::Int64;
    let datatype = Datatype::from(predefined);
    let op = Operator::predefined(Op::Max, TypeId::predefined(predefined))?;
    let mut theirs = [0; N];
    let (input, output) = (words.as_ptr().cast(), theirs.as_mut_ptr().cast());
    // SAFETY: both hold N elements of the type and outlive the operation.
    let reduction = unsafe { Reduction::new(&op, &datatype, N, Some(input), output)? };
    allreduce_of_both(sides, reduction).await?;
    let (local, remote) = (sides.local.peers(), sides.remote.peers());
    let own = largest_over(&sides.local, words, check).await;
    let own = own.inspect_err(|error| remote.disconnect(error))?;
    let theirs = remote.checked(theirs, check);
    let theirs = theirs.inspect_err(|error| local.disconnect(error))?;
    Ok(std::array::from_fn(|place| own[place].max(theirs[place])))
}

/// What is made of words (`i64`) alone.
///
/// # Safety
/// It has no padding, and each of its words may have any value.
pub unsafe trait Words: Copy {}

// SAFETY: such are arrays of words.
unsafe impl<const N: usize> Words for [i64; N] {}

/// Everyone's `mine`, in rank order.
pub fn gather_words<T: Words>(comm: &Comm, mine: T) -> Result<Vec<T>> {
    let (peers, outcome) = (Peers::all(comm), Outcome::default());
    let channel = Channel::new(&peers, comm.next_operation(), &outcome);
    run_blocking(boxed(|| gather_words_over(&channel, mine)), || peers.wait())
}

/// The same, in an operation.
pub async fn gather_words_over<T: Words>(
    channel: &Channel<'_, Peers<'_>>,
    mine: T,
) -> Result<Vec<T>> {
    let mut all = vec![mine; channel.size()];
    let words = size_of::<T>() / size_of::<i64>();
    let datatype = Datatype::from(Predefined::Int64);
    let blocks = Uniform::new(&datatype, all.as_mut_ptr().cast(), words, all.len())?;
    let memory = Memory::contiguous((&raw const mine).cast_mut().cast(), size_of::<T>());
    allgather(channel, memory, &blocks).await?;
    // It may have come back by others.
    all[channel.rank()] = mine;
    Ok(all)
}

// The algorithms that these functions use, for no number of words in particular: they are compiled in this crate, and
// not again in each that tells words.

fn allreduce<'f>(
    channel: &'f Channel<'_, Peers<'_>>,
    reduction: Reduction<'f>,
) -> Boxed<'f, Result<()>> {
    boxed(move || weft_collective::allreduce(channel, reduction))
}

fn allreduce_of_both<'f>(
    sides: &'f Sides<'_, Peers<'_>>,
    reduction: Reduction<'f>,
) -> Boxed<'f, Result<()>> {
    boxed(move || inter::allreduce(sides, reduction))
}

fn allgather<'f>(
    channel: &'f Channel<'_, Peers<'_>>,
    mine: Memory,
    blocks: &'f Uniform,
) -> Boxed<'f, Result<()>> {
    boxed(move || weft_collective::allgather(channel, Some(mine), blocks))
}
