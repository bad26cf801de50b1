//! Between mpiexec and its agents on other hosts.
//!
//! An agent is this same program, started on each host by ssh, srun or a plain fork; it starts and supervises the ranks
//! there. Agents form a tree under mpiexec: each node starts its children and passes frames on between them and its own
//! parent. The way from node to node is the standard input and output of what has started the child, so nothing listens
//! and ssh encrypts. Frames that carry output are counted by credits, and every question has one answer, so a slow reader
//! holds bounded memory and never keeps a frame of control waiting.

mod child;
mod children;
mod codec;
mod down;
mod frame;
mod launcher;
mod link;
mod up;

pub use children::{Children, Event, Settings, share};
pub use codec::{decode, frame};
pub use down::{Down, Part, Start, WINDOW_BYTES};
pub use frame::{ALL_HOSTS, Decoder, Frame, encode as encode_frame};
pub use launcher::{AGENT_OPTION, AgentCommand};
pub use link::{Arrived, Link};
pub use up::{Described, Failure, Origin, Up};
