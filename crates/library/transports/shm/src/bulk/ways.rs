//! The ways of a long message, a file each, behind one interface.

pub mod copy;
pub mod ring;

use weft_memory::Memory;
use weft_transport::{Cookie, Lost, Peer};

use super::byte_ring::RING_BYTES;
use super::common::{Common, Missing};
use super::control::TransferId;
use super::facts::Facts;
use crate::links::Links;
use crate::peers::Neighbour;

/// Bytes that one side moves in one turn, about: a ring's, or one call of the kernel's. They take some 50 to 100 us (an
/// EPYC, Zen 4), so that packets are not kept waiting for long, and a call of the kernel costs nothing beside them.
pub const TURN_BYTES: usize = RING_BYTES;

/// A way of long messages. Its sender offers a message by [`Terms`](LongWay::Terms), its receiver accepts those; each
/// then has a part to do.
pub trait LongWay {
    /// What the receiver is told.
    type Terms;
    /// What the sender does from then on; nothing if it waits for the receiver's answer.
    type Sender;
    type Receiver: Part;

    /// What a message takes so, in nanoseconds; none if it cannot go so.
    fn cost_ns(facts: &Facts) -> Option<u64>;

    /// None if there is nothing now to send it through: the receiver is to ask for a ring.
    fn offer(
        links: &mut Links,
        common: &mut Common,
        message: &Message<'_>,
    ) -> Option<(Self::Sender, Self::Terms)>;

    /// None if the receiver cannot have it so: it asks for a ring.
    fn accept(
        links: &mut Links,
        common: &mut Common,
        request: &Request<'_>,
        terms: Self::Terms,
    ) -> Result<Option<Self::Receiver>, Missing>;
}

/// A message at its sender.
pub struct Message<'a> {
    pub peer: Peer,
    pub cookie: Cookie,
    pub source: &'a Memory,
    pub transfer: TransferId,
}

/// A message at its receiver.
pub struct Request<'a> {
    pub neighbour: &'a Neighbour,
    pub target: &'a Memory,
    /// That are offered; the target has room for the first of them.
    pub offered: u64,
}

/// What one side has to do for a message.
pub trait Part {
    /// Moves up to about `budget` bytes from or to `memory`.
    fn step(
        &mut self,
        memory: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        budget: usize,
    ) -> Step;

    /// Before a sleep. True if there is something to do already.
    fn wait(&mut self) -> bool;

    fn end_wait(&mut self);
}

/// What one step did to a transfer.
pub enum Step {
    Idle,
    Moved(usize),
    Finished,
    /// It cannot go on this way.
    Stuck,
    Lost(Lost),
}

impl Step {
    /// So many bytes.
    fn moved(bytes: usize) -> Step {
        match bytes {
            0 => Step::Idle,
            _ => Step::Moved(bytes),
        }
    }
}
