//! Receive pools: what a process posts of receive buffers, in which sizes, and how peers reach them.
//!
//! Shipman, Poole, Shamis, Rabinovitz, *X-SRQ: Improving Scalability and Performance of Multi-Core InfiniBand Clusters* (EuroPVM/MPI
//! 2008), below "the paper". A sender puts each message into the smallest buffer that holds it, so a receiver has a pool for each of
//! several sizes. A pool is of one of three kinds ([`PoolKind`]): posted for each peer, shared behind a queue pair of its own for each peer
//! (the paper's B-SRQ), or shared and reached over XRC (its X-SRQ), by one queue pair to a host whatever the pools and processes there.
//!
//! All here is data: nothing opens a device, reads a clock or sends anything.
//!
//! ```
//! use weft_pools::{PoolKind, Pools, Reach};
//!
//! let pools: Pools = "P,128,64:S,2k,256:X,2k,256:X,16k,64".parse().unwrap();
//! let near = pools.toward(Reach::Xrc);
//! let chosen = near.smallest(1500).unwrap();
//! assert_eq!((chosen.kind, chosen.bytes), (PoolKind::Xrc, 2048));
//! // A host whose adapter has no XRC gets the shared pool of that size.
//! let far = pools.toward(Reach::Connected);
//! assert_eq!(far.smallest(1500).unwrap().kind, PoolKind::Shared);
//! assert_eq!(far.smallest(20_000), None);
//! ```

#![forbid(unsafe_code)]

mod account;
mod credits;
mod mix;
mod pool;
mod pools;
mod refill;
mod selection;
mod specification;
mod window;
pub mod xrc;

#[cfg(test)]
mod tests;

pub use account::{Account, Job};
pub use credits::{OwedCredits, SendCredits, Violation};
pub use mix::{Mix, MixUse, PoolUse};
pub use pool::{
    LEAST_BYTES, MOST_BYTES, MOST_COUNT, MOST_POOLS, Pool, PoolKind, default_credits, default_low,
    most_credits,
};
pub use pools::Pools;
pub use refill::Refill;
pub use selection::{Chosen, Reach, Selection};
pub use specification::SpecificationError;
pub use window::SendWindow;
