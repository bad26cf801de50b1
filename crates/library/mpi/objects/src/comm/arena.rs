//! The memory that all processes of a communicator on one host share, for its blocking collective operations: what it is. It is made, and
//! used, in `collective/arena.rs`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weft_collective::ShortLimits;
use weft_error::{Class, Error, Result, argument};
use weft_process::engine::engine;
use weft_shm::{Mapping, Process};
use weft_sync::board::{Board, Broken};

use super::nearness::Nearness;

/// What a process counts.
pub struct Counts {
    pub live: AtomicU32,
    pub made: AtomicU64,
    pub refused: AtomicU64,
}

pub static COUNTS: Counts = Counts {
    live: AtomicU32::new(0),
    made: AtomicU64::new(0),
    refused: AtomicU64::new(0),
};

impl Counts {
    /// Arenas made, and communicators that could not have one.
    pub fn read(&self) -> (u64, u64) {
        let [made, refused] = [&self.made, &self.refused].map(|word| word.load(Ordering::Relaxed));
        (made, refused)
    }
}

/// A communicator's arena, as far as it has come.
#[derive(Default)]
pub struct ArenaCell(OnceLock<Option<Box<SharedArena>>>);

/// The memory, and whom it is shared with: processes by their positions on this host.
pub struct SharedArena {
    pub board: Board,
    pub mapping: Mapping,
    pub processes: Box<[Process]>,
    /// Whether each of them may copy from the others' memory.
    pub copies: bool,
    pub nearness: Nearness,
    /// How often an operation looks for what another process posts before it waits.
    pub looks: u32,
    /// Which operations are short, if the communicator's processes are all here.
    pub short: Option<ShortLimits>,
}

impl std::fmt::Debug for ArenaCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.0.get().map(Option::is_some);
        f.debug_tuple("ArenaCell").field(&state).finish()
    }
}

impl ArenaCell {
    /// The arena, or that there is none for good; none of both while no operation has asked for it.
    #[inline]
    pub fn get(&self) -> Option<Option<&SharedArena>> {
        self.0.get().map(Option::as_deref)
    }

    /// Sets what was found out, once.
    pub fn set(&self, shared: Option<Box<SharedArena>>) -> Option<&SharedArena> {
        self.0.get_or_init(|| shared).as_deref()
    }

    /// The communicator is freed: no operation of this process's comes any more.
    pub fn leave(&self) {
        if let Some(Some(shared)) = self.0.get() {
            COUNTS.live.fetch_sub(1, Ordering::Relaxed);
            if shared.board.leave() {
                shared.mapping.empty();
            }
        }
    }
}

impl SharedArena {
    /// A process of the communicator that is gone, if one is.
    pub fn dead(&self) -> Option<usize> {
        (0..self.processes.len()).find(|&rank| !self.processes[rank].is_alive())
    }

    /// Ends all waits on the board, for a rank that is gone; who is the first to find out tells the user.
    #[cold]
    pub fn give_up(&self, rank: usize) {
        let process = &self.processes[rank];
        if !process.is_alive() {
            engine().tell_lost(process.rank(), &process.lost("its process has ended"));
        }
        self.give_up_because(Broken::Gone(rank));
    }

    fn give_up_because(&self, why: Broken) {
        self.board.give_up(why);
        self.wake();
    }

    /// Wakes the ranks that sleep and have what they sleep for.
    #[cold]
    pub fn wake(&self) {
        let sleepers = self.board.sleepers();
        sleepers.for_each(|rank| self.processes[rank].wake());
    }

    /// The same, for a rank that was woken so.
    #[cold]
    pub fn help_to_wake(&self) {
        let sleepers = self.board.sleepers().rev();
        sleepers.for_each(|rank| self.processes[rank].wake());
    }

    /// Ends all waits on the board, as the processes' lengths differ.
    #[cold]
    pub fn give_up_apart(&self) {
        self.give_up_because(Broken::Apart);
    }

    /// Ends all waits on the board, as its communicator is revoked.
    #[cold]
    pub fn give_up_revoked(&self) {
        self.give_up_because(Broken::Revoked);
    }

    /// The error on a board that was given up, if it was.
    pub fn given_up(&self) -> Result<()> {
        match self.board.broken() {
            None => Ok(()),
            Some(Broken::Gone(rank)) => Err(self.lost(rank)),
            Some(Broken::Apart) => Err(apart()),
            Some(Broken::Revoked) => Err(Error::new(Class::Revoked, "the communicator is revoked")),
            Some(Broken::NoMemory) => {
                let why = "a process had no memory for a collective operation: no more can be had on this communicator";
                Err(Error::new(Class::NoMem, why))
            }
        }
    }

    #[cold]
    fn lost(&self, rank: usize) -> Error {
        let why = "a collective operation waits for it, or for one that did";
        let lost = self.processes[rank].lost(why);
        engine().hear_lost(self.processes[rank].rank());
        Error::new(Class::ProcAborted, lost.to_string())
    }
}

/// The error of an operation in which the processes' lengths differ.
#[cold]
pub fn apart() -> Error {
    let why = "the processes passed unlike lengths to a collective operation, or one had no memory for it: \
               they can have no more on this communicator";
    argument(Class::Truncate, "count", why)
}
