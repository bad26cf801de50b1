//! Everything of the device that lies in memory shared between processes.
//!
//! A process [joins](Fabric::join) the fabric of its user, its host (network namespace) and a name, and stays in it until it
//! ends: there is no leaving, since a process that ends and one that is killed must look the same to the others. Nothing
//! is named in any file system; what a process leaves is taken back by the others (`reap`).
//!
//! | module | what |
//! |---|---|
//! | `mapping`, `layout` | memfds, checked access; what lies where |
//! | `numbers`, `identity`, `processes`, `reap` | slots, owners, queue pair numbers; who lives; taking back |
//! | `name_service`, `fabric_segment`, `socket` | finding the fabric by its name |
//! | `look` | looking into it without joining |
//! | `lock` | locks that survive their holders |
//! | `segment`, `own_segment`, `heap`, `peers` | a process's segment: as all see it, as its owner does, as it is found |
//! | `regions` | keys of memory, and the marks of who uses it |
//! | `queue_pair`, `receive`, `receiving`, `completion` | queues that peers execute against |
//! | `memory`, `inline_list`, `atomics` | moving bytes, the short lists for that, changing words |
//! | `proxy` | asking a peer's agent for what the kernel does not let this process do |
//! | `mailbox`, `notify` | messages to agents, events |
//! | `pages`, `xrc`, `target` | UAR pages, XRC domains and their queue pairs, these queue pairs between hosts |
//!
//! # Executing a SEND against a peer
//! ```text
//! let peer = fabric.peer(number.slot())?;                     // once for a connection
//! let qp = peer.segment().qp(number.index());                 // state, dest_qpn, receive_cq: right?
//! let turn = peer.segment().receive_ring(number.index()).lock(fabric.processes(), POSTING)?;
//! let Some(request) = turn.request() else { /* RNR */ };
//! for sge in request.sges() { peer.visit(sge.lkey, hint)?.region().span(..)? }
//! unsafe { peer.copy(Direction::Write, &local, &spans)? };
//! let received = turn.finish(peer.segment().cq(id), &completion, solicited, POSTING)?;
//! if let Some(channel) = received.pushed.notify { fabric.notify(&peer, channel, id) }
//! ```

pub mod atomics;
pub mod completion;
mod fabric_segment;
mod heap;
pub mod identity;
mod inline_list;
pub mod layout;
pub mod lock;
pub mod look;
pub mod mailbox;
pub mod mapping;
mod membership;
pub mod memory;
mod name_service;
pub mod notify;
pub mod numbers;
pub mod own_segment;
pub mod pages;
pub mod peers;
pub mod processes;
pub mod proxy;
mod proxy_buffer;
mod reap;
pub mod receive;
pub mod receiving;
pub mod record;
pub mod regions;
pub mod segment;
mod socket;
pub mod target;
pub mod xrc;

#[cfg(test)]
mod tests;

pub use atomics::{AtomicError, Operation as AtomicOperation};
pub use completion::{Arm, CARRIED_BYTES, Carried, Completion, Cq, Cqe, PushError, Pushed};
pub use fabric_segment::JoinError;
pub use inline_list::InlineList;
pub use lock::{Busy, PATIENT, POSTING};
pub use mailbox::{MailError, MailboxMessage};
pub use membership::Fabric;
pub use memory::{Direction, Local, MemoryError, Reach};
pub use numbers::{FABRIC_SLOT, Number, Owner};
pub use own_segment::OwnSegment;
pub use peers::{KeptVisit, Peer, PeerError};
pub use processes::Processes;
pub use record::queue_pair::QpRecord;
pub use record::region::{KeyError, Region, Span};
pub use regions::{Visit, own_region, visit};
pub use segment::{ObjectId, Segment};
