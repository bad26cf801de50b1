//! Memory that all ranks of a communicator on one host share, and how a rank waits for others there. An operation's way through
//! it is in `steps.rs`.

use std::num::NonZeroU8;
use std::task::Poll;

use weft_memory::Memory;
use weft_sync::board::{BUFFER_BYTES, Board, Need};

/// The memory, of one rank. Ranks are numbered among those that share it.
pub trait Arena<E> {
    fn board(&self) -> &Board;

    /// Whether every rank may copy from every other's memory.
    fn copies(&self) -> bool;

    /// Whether the ranks' cores share caches, so that messages through memory are faster than such copies.
    fn is_near(&self) -> bool;

    /// Ready when the need is met, or when it never will be: then an error, and the board is given up. While it is pending the operation waits for
    /// it, and whoever drives the operation learns it here.
    fn look(&self, need: Need) -> Poll<Result<(), E>>;

    /// Wakes the ranks that sleep.
    fn wake(&self);

    /// The error that rank `rank` has passed another length than this one: so many bytes, and room for so many, if that
    /// is known.
    fn differs(&self, rank: usize, bytes: Option<[usize; 2]>) -> E;

    /// The error that rank `rank` has posted this mark.
    fn failure_of(&self, rank: usize, mark: NonZeroU8) -> E;

    /// Copies from an address in a rank's memory. An error also if the board was given up before the copy was made: that
    /// rank may be out of its call, and its memory something else. After an error the board is given up.
    fn read(&self, rank: usize, address: u64, into: &Memory) -> Result<(), E>;
}

/// What a rank does beside messages and calls of [`Arena`], for whoever simulates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Enters the step.
    Enter { step: u64 },
    /// Has posted so many bytes in the step.
    Post { step: u64, bytes: usize },
    /// Waits until the rank has posted in the step.
    Await { rank: usize, step: u64 },
    /// Copies so many bytes of what the rank has posted.
    Take { rank: usize, bytes: usize },
    /// Combines so many bytes from where the rank has posted them; the operation tells of that, too.
    Fold { rank: usize, bytes: usize },
    /// Copies so many bytes of its own.
    Copy { bytes: usize },
}

/// The largest element, in bytes, of a reduction that goes by the board: the largest predefined one has 32.
pub(crate) const LARGEST_ELEMENT: usize = 256;

/// The most ranks that share an arena: in a step a rank posts a piece for each of them, of one element at least.
pub const MOST_RANKS: usize = BUFFER_BYTES / LARGEST_ELEMENT;
