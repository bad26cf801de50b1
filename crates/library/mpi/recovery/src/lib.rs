//! Going on after processes have failed: what the MPI Forum has voted into the standard's next edition (revoke, the failed
//! processes of a communicator and their acknowledgement), and agreement and shrinking, which are still proposals.
//!
//! All stands on one agreement ([`weft_agreement`]) among the processes of a communicator, both sides of an
//! inter-communicator together. Its messages and the news that a communicator is revoked are notices of the engine
//! (`weft_engine::Notice`), which any thread hears that makes progress, whatever it waits for.
//!
//! | file | what |
//! |---|---|
//! | `members` | the processes of a communicator as members of its agreements |
//! | `registry` | the agreements of all communicators; notices and losses come in here |
//! | `content` | what notices say |
//! | `outbox` | notices leave in the order in which they were given |
//! | `revoke` | `MPI_Comm_revoke`, and how the others hear of it |
//! | `failed` | `MPI_Comm_get_failed`, `MPI_Comm_ack_failed` |
//! | `agree`, `shrink` | `MPIX_Comm_agree`, `MPIX_Comm_shrink` |
#![forbid(unsafe_code)]

mod agree;
mod content;
mod failed;
mod members;
mod outbox;
mod registry;
mod revoke;
mod shrink;

pub use agree::{agree, agree_failed, iagree, iagree_failed};
pub use failed::{acknowledge, acknowledge_all, acknowledged, failed};
pub use registry::LISTENER;
pub use revoke::{is_revoked, revoke};
pub use shrink::{ishrink, shrink};
