//! What the lanes of a process share.

use std::sync::Arc;

use weft_sync::Section;
use weft_transport::Peer;

use crate::base::{Base, Shape};
use crate::card::Card;
use crate::peers::Peers;
use crate::segment::Segment;

/// Choices that tests make; the default is right for users.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Never copy from process to process, as if the kernel did not allow it.
    pub deny_copies: bool,
    /// Copy from process to process from this size on.
    pub copies_from_bytes: Option<usize>,
}

/// What a process does for peers that the kernel does not let into its memory, in a turn of progress of its own.
pub trait Errands: Send + Sync {
    fn run(&self);
}

/// What the lanes of a process share.
pub struct Shared {
    pub rank: Peer,
    pub shape: Shape,
    pub options: Options,
    pub card: Card,
    pub base: Base,
    pub segment: Segment,
    pub peers: Peers,
    pub errands: Section<Vec<Arc<dyn Errands>>>,
}
