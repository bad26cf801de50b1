//! The engine: requests, matching, eager and rendezvous transfers, lanes and their progress.
//!
//! It knows contexts, ranks in a communicator, tags and peers, but no communicator; buffers, but no datatype;
//! a transport, but not which. See the modules for the protocols: [`slot`] (a request's life), [`lane`] (who
//! does what), [`send`] and [`arrival`] (the wire), [`wait`] (sleeping), [`lost`] (peers that die or lie), [`operation`] (what is made of
//! several requests).
//!
//! All of it is generic, and compiled for a fabric in each crate that calls it, but for what is `#[inline(never)]`: that is
//! compiled once, in the first crate that needs it. So what is long and is never part of its caller is marked so.

mod access;
mod arrival;
mod asking;
mod background;
mod by_peer;
mod cancel;
mod condition;
mod core;
mod counts;
mod deferred;
mod engine;
mod enquiring;
mod enquiry;
mod external;
mod finish;
mod lane;
mod lanes;
mod leave;
mod lost;
mod make_way;
mod notice;
mod notifying;
mod once;
mod operation;
mod operations;
mod outbound;
mod packet_text;
mod peers;
mod pending;
mod post;
mod posted;
mod probe;
mod receive;
mod report;
mod request_id;
mod revoke;
mod send;
mod slot;
mod slots;
mod state;
mod status;
mod strategy;
mod tally;
#[cfg(test)]
mod tests;
mod throttle;
mod to_self;
mod unexpected;
mod wait;
mod waiter;
mod waiting;
mod wake;
mod watch;

pub use access::AccessTarget;
pub use background::Background;
pub use counts::Counts;
pub use engine::{Engine, Exhausted};
pub use enquiry::{Answer, Enquiry};
pub use lanes::LANES;
pub use notice::{Listener, NOTICE_LANE, Notice};
pub use operation::Awaited;
pub use packet_text::describe_packet;
pub use peers::Members;
pub use post::{ANYBODY, Incoming, Outgoing, Route, Span};
pub use probe::{NotExtracted, Wanted};
pub use request_id::RequestId;
pub use send::longest_eager;
pub use status::{Failure, Status};
pub use tally::Tally;
pub use throttle::{UNEXPECTED_BYTES, UNEXPECTED_MESSAGES};
pub use waiting::{LOOK_EVERY, Pace, Patience, awake_ns};
