//! Collective operations (MPI-5.0 chapter 6) as async functions over point-to-point messages, or over
//! memory that all ranks share, one file per algorithm.
//!
//! An operation is a future that starts messages on a [`PointToPoint`] and is pending while it waits for
//! one. A blocking call drives it with [`run_blocking`]; progress can drive it step by step for the
//! nonblocking forms. There is no executor and no waker: whoever drives it polls it again when the request
//! may have completed that [`PointToPoint::poll`] found pending.
//!
//! # Rules
//! 1. A future is driven to completion, not dropped before: messages under way refer to its memory.
//! 2. An error does not stop an operation. It is kept, the rest of the messages goes its way, so that no
//!    other rank is left waiting and no request outlives the call, and the first error is the result. But what a
//!    rank sends from then on is no data: it is a mark, which fails the receive that it meets, and so on. Data leave a
//!    rank only while all that came to it was right. So each rank of an operation in which something goes wrong, the
//!    death of a rank say, has either the whole right result or an error; none waits for ever for one that lives.
//!    On a board there are no marks: a rank whose part failed gives the board up and posts nothing on it ever again,
//!    and who waits there for what does not come has the error (`arena.rs`, `steps.rs`).
//! 3. All ranks of a call choose the same algorithm, from what all of them know: the packed bytes, the
//!    number of ranks, and [`PointToPoint::oversubscribed`], which must be the same on all of them.
//! 4. What travels is the packed bytes: ranks may use different datatypes of the same signature.
//! 5. Between two ranks messages are received in the order they were sent; one tag serves an operation.
//! 6. Reductions combine in rank order, whatever the algorithm, so an operation need not be commutative;
//!    and where several ranks get the result, they get the same bits.

#![deny(unsafe_code)]

/// An operation's algorithms, and what the ranks must share for each.
macro_rules! algorithms {
    ($($name:ident: $needs:ident,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $($name),+
        }

        impl Algorithm {
            pub const ALL: &[Algorithm] = &[$(Algorithm::$name),+];

            pub(crate) fn needs(self) -> crate::Sharing {
                match self {
                    $(Algorithm::$name => crate::Sharing::$needs),+
                }
            }
        }
    };
}

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
mod arena;
pub mod barrier;
pub mod bcast;
mod channel;
pub mod gather;
pub mod inter;
#[allow(unsafe_code)]
mod memory;
pub mod neighborhood;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;
mod select;
mod steps;
mod tree;

pub use allgather::{allgather, allgatherv};
pub use allreduce::allreduce;
pub use alltoall::{alltoall, alltoallv};
pub use arena::Arena;
pub use barrier::barrier;
pub use bcast::bcast;
pub use channel::{Channel, Outcome, PointToPoint, run_blocking};
pub use gather::{gather, gatherv};
pub use memory::{
    Blocks, Combine, Counts, Mixed, MixedBlock, PredefinedOp, Reduction, Uniform, Varying,
};
pub use neighborhood::{Edges, neighbor_allgather, neighbor_alltoall};
pub use reduce::reduce;
pub use reduce_scatter::{Shares, reduce_scatter};
pub use scan::{exscan, scan};
pub use scatter::{scatter, scatterv};
pub use select::{CHOICES, Choice, Sharing};

#[cfg(test)]
#[allow(unsafe_code)]
mod tests;
