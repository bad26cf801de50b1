//! What a peer may ask about a message that it waits for (`enquiring.rs`).

use weft_transport::Peer;

/// What a peer asks: whether a message of this envelope is still to come to it, or still to be received from it. Nothing in it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enquiry {
    /// The process that asks.
    pub peer: Peer,
    pub context: u32,
    /// The rank of the message's sender.
    pub source: u32,
    pub tag: u32,
    /// Whether the one that asks is the sender.
    pub is_of_sender: bool,
    /// What the one that asks says of itself.
    pub words: [u64; 2],
}

/// The number of the failure by which the one that asks ends, if the message comes, or is received, no more. Called
/// by any thread, outside all sections.
pub type Answer = fn(&Enquiry) -> Option<u8>;
