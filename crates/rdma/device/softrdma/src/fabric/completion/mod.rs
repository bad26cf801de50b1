//! Completion queues: a ring in the segment of the queue's owner, filled by any process, emptied by the owner.
//!
//! # Protocol
//! 1. `tail` and `head` count completions pushed and polled, modulo 2^32. The completion of position `p` is in slot
//!    `p mod slots`, and is whole before `tail` passes it (SeqCst store, acquire load).
//! 2. Producers hold `lock`; only they write `tail`. The one consumer at a time, a thread of the owner, needs no lock that
//!    others know of; only it writes `head`. A stopped owner thus never holds up producers.
//! 3. A push is one store, that of `tail`. One that uses up a receive request at the same time is two stores, so it has
//!    an intent: the word at offset `coupled_offset` of the segment becomes `coupled_value`, and then, the completion being
//!    whole already, `tail` passes `coupled_position`. In this order: a consumer that polls the completion finds room for the next
//!    request. Nobody can push between the death and the mending, so the mender can tell.
//! 4. Events: the consumer stores `armed` and then loads `tail`; a producer stores `tail` and then loads `armed` (all SeqCst),
//!    so either the consumer sees the completion or the producer sees that an event is wanted. The one that swaps `armed`
//!    to 0 sends the event.
//! 5. A short message may travel behind its completion, and be put into the receive request's memory by who polls it, as mlx5
//!    does ("scatter to CQE"). The producer has seen that the request's key allows it; the consumer looks again.
//! 6. The owner changes ring and generation holding `lock`; producers look at both after they have it. `slots` is checked
//!    against the mapping each time, so nonsense there is an error and not a fault. A completion that finds no place, whatever
//!    the reason, is an overrun, of which the owner hears: none is lost in silence.

pub(in crate::fabric) mod entry;
pub(in crate::fabric) mod poll;
pub(in crate::fabric) mod push;
pub(in crate::fabric) mod queue;

pub use entry::{CARRIED_BYTES, Carried, Completion, ENTRY_BYTES};
pub use push::{Cqe, PushError, Pushed};
pub use queue::{Arm, Cq};
