//! Collective operations (MPI-5.0 chapter 6) as async functions over point-to-point messages, or over
//! memory that all ranks share, one file per algorithm. Those that take the ranks to be alike are in `flat`; the others know
//! which rank is on which host, and are composed of them.
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
//!    On a board a rank posts marks likewise; but one that finds a rank of the board gone gives the board up and posts nothing
//!    on it ever again, and who waits there for what does not come has the error (`arena.rs`, `steps.rs`).
//! 3. All ranks of a call choose the same algorithm, from what all of them know: the packed bytes, the
//!    number of ranks, [`PointToPoint::oversubscribed`], [`PointToPoint::hosts`] and [`PointToPoint::leader_before`], which must be the same on all
//!    of them.
//! 4. What travels is the packed bytes: ranks may use different datatypes of the same signature.
//! 5. Between two ranks messages are received in the order they were sent; one tag serves an operation.
//! 6. Reductions combine as one tree of the ranks in order (`order.rs`), whatever the algorithm: an operation need be neither commutative
//!    nor associative, and the same operands give the same bits. Where an operation is composed (rule 7) the hosts are a tree of such trees.
//! 7. On several hosts most operations are composed of others: within each host, over its board or by messages, and between one
//!    rank of each host, which for a rooted operation is the root on its own (`Channel::within_host`, `across`). All parts have
//!    one tag and one outcome, so that rule 2 holds for the whole; and no rank leaves a part out.

#![deny(unsafe_code)]

/// An operation's algorithms among ranks that are alike: the file of each, and what it asks of them.
macro_rules! algorithms {
    ($($name:ident = $module:ident: $needs:ident,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $($name),+
        }

        impl Algorithm {
            pub const ALL: &[Algorithm] = &[$(Algorithm::$name),+];

            pub(crate) fn needs(self) -> crate::select::Needs {
                match self {
                    $(Algorithm::$name => crate::select::Needs::$needs),+
                }
            }

            /// What the ranks do for a message, or block, of so many bytes; for a vector of so many where one is scattered.
            pub(crate) fn work(self, ranks: usize, bytes: f64) -> crate::cost::Work {
                match self {
                    $(Algorithm::$name => $module::work(ranks, bytes)),+
                }
            }
        }
    };
}

/// All of an operation's algorithms: those among ranks that are alike, and those that are composed of them where the ranks are on
/// several hosts, with what each of these asks of the ranks.
macro_rules! algorithms_with_hosts {
    ($operation:ident; $($name:ident: $needs:ident,)+) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum Algorithm {
            Flat(crate::flat::$operation::Algorithm),
            $($name),+
        }

        impl Algorithm {
            pub fn all() -> Vec<Algorithm> {
                let flat = crate::flat::$operation::Algorithm::ALL.iter();
                let mut all: Vec<_> = flat.map(|&flat| Algorithm::Flat(flat)).collect();
                all.extend([$(Algorithm::$name),+]);
                all
            }

            pub(crate) fn needs(self) -> crate::select::Needs {
                match self {
                    Algorithm::Flat(flat) => flat.needs(),
                    $(Algorithm::$name => crate::select::Needs::$needs),+
                }
            }
        }

        impl std::fmt::Debug for Algorithm {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    Algorithm::Flat(flat) => flat.fmt(f),
                    $(Algorithm::$name => f.write_str(stringify!($name))),+
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
mod cost;
pub mod flat;
pub mod gather;
mod host_order;
mod hosts;
pub mod inter;
#[allow(unsafe_code)]
mod memory;
pub mod neighborhood;
mod order;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;
mod segments;
mod select;
mod short;
mod steps;
mod tree;

pub use allgather::{allgather, allgatherv};
pub use allreduce::allreduce;
pub use alltoall::{alltoall, alltoallv};
pub use arena::{Arena, Doing, MOST_RANKS};
pub use barrier::barrier;
pub use bcast::bcast;
pub use channel::{Boxed, Channel, Outcome, PointToPoint, boxed, run_blocking};
pub use gather::{gather, gatherv};
pub use hosts::Hosts;
pub use memory::{
    Blocks, Combine, Counts, Mixed, MixedBlock, PlainReduction, PredefinedOp, Reduction, Uniform,
    Varying, copy, prepare_thread,
};
pub use neighborhood::{Edges, neighbor_allgather, neighbor_alltoall};
pub use reduce::reduce;
pub use reduce_scatter::{Shares, reduce_scatter};
pub use scan::{exscan, scan};
pub use scatter::{scatter, scatterv};
pub use select::{CHOICES, Choice, Operation, Placement, Sharing, set_prices};
pub use short::{Short, ShortLimits};

#[cfg(test)]
#[allow(unsafe_code)]
mod tests;
