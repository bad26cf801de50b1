//! The objects of libibverbs as owned Rust values.
//!
//! What an object is made from it keeps: a queue pair holds its domain and its completion queues, a region its protection domain
//! and its memory, everything its context. So whatever a program drops first, objects are destroyed in the order that the library
//! asks for, and `EBUSY` cannot come up. An error names the call, the object it was about and the error number.
//!
//! # Threads
//! libibverbs' objects may be used by all threads, but for two promises that a program can make to be rid of locks: that the
//! queue pairs of a *thread domain* are used by one thread at a time, and that a *single-threaded* completion queue is polled by
//! one. Here the type says which promise was made, and the compiler keeps it:
//!
//! | value | `Send` | `Sync` | lock |
//! |---|---|---|---|
//! | [`CompletionQueue`] | yes | yes | its own |
//! | [`SoleCompletionQueue`] | yes | no | none |
//! | [`QueuePair`] in a [`ProtectionDomain`] | yes | yes | its own |
//! | [`QueuePair`] in a [`ParentDomain`], which has a [`ThreadDomain`] | yes | no | none |
//! | several queue pairs in an `Rc<ParentDomain>` or `&ParentDomain` | no | no | none |
//! | [`QueuePair`] in a [`SerialDomain`], whose maker promised | yes | yes | none |
//! | [`SoleQueues`]: queue pairs with their [`SoleCompletionQueue`] | yes | no | that of each queue pair |
//!
//! # Cost
//! Posting and polling are the calls of the library and nothing else: no allocation, lock, check or count. Work requests are built
//! once, in a [`SendList`], and posted as often as wanted.

mod address_handle;
mod completion;
mod connection;
mod context;
mod device;
mod domain;
mod error;
mod event;
mod memory;
mod queue_pair;
mod request;
mod shared_receive;
mod sole;
mod state;
mod xrc;

#[cfg(test)]
mod tests;

pub use address_handle::AddressHandle;
pub use completion::{Channel, Completion, CompletionQueue, Completions, SoleCompletionQueue};
pub use connection::{Connection, Path};
pub use context::Context;
pub use device::{Device, devices, library, library_at};
pub use domain::{Domain, ParentDomain, ProtectionDomain, SerialDomain, ThreadDomain};
pub use error::{Error, PostError};
pub use event::{Event, Subject};
pub use memory::{Buffer, MemoryRegion, Part, Remote};
pub use queue_pair::{QpType, QueuePair, QueuePairAttributes};
pub use request::{Operation, ReceiveList, Request, SendList};
pub use shared_receive::SharedReceiveQueue;
pub use sole::SoleQueues;
pub use weft_verbs_abi as abi;
pub use xrc::{XrcDomain, XrcReceiveQueuePair};
