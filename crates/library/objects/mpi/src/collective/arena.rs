//! The memory that all processes of a communicator share, for its blocking collective operations: made by all of them
//! together, when the communicator has had some, so that one that has none costs nothing.
//!
//! 1. Rank 0 lends a piece of its segment, all map it, and all agree whether all could. If one could not, or the communicator
//!    has more than [`MOST_RANKS`], its operations go on by messages, on all processes alike.
//! 2. Calls on one communicator come one after the other (MPI-5.0 §6.14), so blocking operations are at most one at a
//!    time. Nonblocking and persistent ones are not, and go by messages, which do not mix with what is on the board.
//! 3. A process that waits for one that is gone gives the board up for all: their waits end with an error. So does one that
//!    cannot copy from another's memory. Each has then either all that it came for, or an error; from the next on, every
//!    operation that goes through the arena fails.
//! 4. Who frees the communicator last gives the memory back; a process may still read what others posted before they freed it.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use weft_collective::Arena;
use weft_shm::{Mapping, Process};
use weft_sync::board::{self, Board, Broken, Need};
use weft_transport::Memory;

use super::peers::{Peers, largest};
use crate::comm::{Comm, Traffic};
use crate::error::{Class, Error, Result};
use crate::process::process;

/// Blocking operations of a communicator before it gets an arena.
const AFTER: u32 = 8;
/// Every rank reads what every other posts: with more, rounds of messages are better.
const MOST_RANKS: u32 = 64;
/// Arenas of a process at once: each is a mapping, of which a process may have 2^16.
const MOST_ARENAS: u32 = 1024;
/// Between two looks whether a process that is waited for lives.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Looks before other things are looked after, where the one that is waited for has a core of its own.
const SPINS: u32 = 64;

/// What a process counts.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    live: AtomicU32,
    made: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    /// Arenas made, and communicators that could not have one.
    pub fn read(&self) -> (u64, u64) {
        let [made, refused] = [&self.made, &self.refused].map(|word| word.load(Ordering::Relaxed));
        (made, refused)
    }
}

/// A communicator's arena, as far as it has come.
#[derive(Default)]
pub(crate) struct Place(OnceLock<Option<Box<Shared>>>);

/// The memory, and whom it is shared with.
struct Shared {
    board: Board,
    mapping: Mapping,
    processes: Box<[Process]>,
    copies: bool,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.0.get().map(Option::is_some);
        f.debug_tuple("Place").field(&state).finish()
    }
}

impl Place {
    /// The way to the arena for blocking operation `number` of an intra-communicator; it is made now if it is time.
    #[inline]
    pub(super) fn reach<'a>(&'a self, comm: &'a Comm, number: u32) -> Option<Reach<'a>> {
        let shared = match self.0.get() {
            Some(shared) => shared.as_deref(),
            None if number < AFTER => None,
            None => self.make(comm),
        }?;
        Some(Reach {
            shared,
            comm,
            pending: Cell::new(None),
        })
    }

    #[cold]
    fn make(&self, comm: &Comm) -> Option<&Shared> {
        let shared = match comm.size() {
            2..=MOST_RANKS => Shared::agreed(comm).map(Box::new),
            _ => None,
        };
        self.0.get_or_init(|| shared).as_deref()
    }

    /// The communicator is freed: no operation of this process's comes any more.
    pub fn leave(&self) {
        if let Some(Some(shared)) = self.0.get() {
            process().arenas.live.fetch_sub(1, Ordering::Relaxed);
            if shared.board.leave() {
                shared.mapping.empty();
            }
        }
    }
}

impl Shared {
    /// The arena, if all processes of the communicator can have it.
    fn agreed(comm: &Comm) -> Option<Shared> {
        let counts = &process().arenas;
        let bytes = board::bytes(comm.size() as usize);
        let fits = counts.live.load(Ordering::Relaxed) < MOST_ARENAS;
        let fabric = process().engine.fabric();
        let lent = match comm.rank() {
            0 if fits => fabric.lend(bytes).ok(),
            _ => None,
        };
        // A process whose agreement failed takes part in the other, so that it fails for all.
        let peers = Peers::all(comm);
        let offset = lent.as_ref().map_or(-1, |(offset, _)| *offset as i64);
        let offset = largest(&peers, comm.next_operation(), [offset, 0]);
        let offset = offset
            .ok()
            .and_then(|[offset, _]| u64::try_from(offset).ok());
        let shared = offset.filter(|_| fits).and_then(|offset| {
            let mapping = lent.map(|(_, mapping)| mapping);
            Shared::mapped(comm, mapping, offset, bytes)
        });
        let own = shared.as_ref();
        let wants = [own.is_none(), own.is_none_or(|shared| !shared.copies)];
        let found = largest(&peers, comm.next_operation(), wants.map(i64::from));
        // Where a process died, some may have agreed and others not know it. What they then use, the board itself says. Who
        // could not map it knows that nobody agreed.
        let wanted = matches!(found, Ok([0, _]));
        let agreed =
            shared.filter(|shared| (wanted || found.is_err()) && shared.board.decide(wanted));
        let Some(mut shared) = agreed else {
            counts.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        if !wanted {
            shared.give_up(shared.dead().unwrap_or(comm.rank() as usize));
        }
        shared.copies = matches!(found, Ok([_, 0]));
        counts.live.fetch_add(1, Ordering::Relaxed);
        counts.made.fetch_add(1, Ordering::Relaxed);
        Some(shared)
    }

    fn mapped(comm: &Comm, own: Option<Mapping>, offset: u64, bytes: usize) -> Option<Shared> {
        let fabric = process().engine.fabric();
        let processes = (0..comm.size()).map(|rank| fabric.process(comm.peer(rank)).ok());
        let processes: Box<[Process]> = processes.collect::<Option<_>>()?;
        let mapping = match own {
            Some(mapping) => mapping,
            None => processes[0].map(offset, bytes).ok()?,
        };
        let (rank, ranks) = (comm.rank() as usize, comm.size() as usize);
        // SAFETY: the memory is a fresh piece of rank 0's segment, as long as asked for, told to this communicator's
        // processes alone, and mapped as long as the board is there.
        let board = unsafe { Board::new(mapping.base(), rank, ranks) };
        let copies = (0..ranks).all(|other| other == rank || processes[other].copies_allowed());
        Some(Shared {
            board,
            mapping,
            processes,
            copies,
        })
    }

    /// A process of the communicator that is gone, if one is.
    fn dead(&self) -> Option<usize> {
        (0..self.processes.len()).find(|&rank| !self.processes[rank].is_alive())
    }

    /// Ends all waits on the board, for a rank that is gone.
    #[cold]
    fn give_up(&self, rank: usize) {
        self.board.give_up(Broken::Gone(rank));
        let sleepers = self.board.sleepers();
        sleepers.for_each(|rank| self.processes[rank].wake());
    }

    /// The error on a board that was given up, if it was.
    fn given_up(&self) -> Result<()> {
        match self.board.broken() {
            None => Ok(()),
            Some(Broken::Gone(rank)) => Err(self.lost(rank)),
            Some(Broken::Apart) => Err(apart()),
        }
    }

    #[cold]
    fn lost(&self, rank: usize) -> Error {
        let why = "a collective operation waits for it, or for one that did";
        let lost = self.processes[rank].lost(why);
        Error::new(Class::ProcAborted, lost.to_string())
    }
}

#[cold]
fn apart() -> Error {
    let why = "count: the processes passed unlike lengths to a collective operation, and can have no more on this communicator";
    Error::new(Class::Truncate, why.to_string())
}

/// An operation's way to the arena.
pub(super) struct Reach<'a> {
    shared: &'a Shared,
    comm: &'a Comm,
    /// What was found pending last.
    pending: Cell<Option<Need>>,
}

impl Reach<'_> {
    /// Waits for what was found pending last, if anything was.
    pub fn wait(&self) {
        let Some(need) = self.pending.take() else {
            return;
        };
        let (board, processes) = (&self.shared.board, &self.shared.processes);
        let mut look = None;
        let met = || board.is_met(need) || board.broken().is_some();
        let sleeps = || {
            board.sleeps();
            let now = Instant::now();
            if now < *look.get_or_insert(now + LOOK_EVERY) {
                return;
            }
            look = Some(now + LOOK_EVERY);
            if !processes[need.rank].is_alive() && !board.is_met(need) {
                self.shared.give_up(need.rank);
            }
        };
        let context = self.comm.context(Traffic::Collective);
        let note = || {
            let (rank, what) = (need.rank, need.what);
            format!("collective operation, context {context}: rank {rank} has not come ({what:?})")
        };
        let engine = &process().engine;
        engine.block_on_others(self.comm.lane(), met, sleeps, note);
        board.wakes();
    }
}

impl Arena<Error> for Reach<'_> {
    fn board(&self) -> &Board {
        &self.shared.board
    }

    fn copies(&self) -> bool {
        self.shared.copies
    }

    fn look(&self, need: Need) -> Poll<Result<()>> {
        let board = &self.shared.board;
        let spins = match process().oversubscribed() {
            true => 1,
            false => SPINS,
        };
        for _ in 0..spins {
            if board.is_met(need) {
                return Poll::Ready(Ok(()));
            }
            std::hint::spin_loop();
        }
        if let Err(error) = self.shared.given_up() {
            return Poll::Ready(Err(error));
        }
        self.pending.set(Some(need));
        Poll::Pending
    }

    #[cold]
    fn wake(&self) {
        let sleepers = self.shared.board.sleepers();
        sleepers.for_each(|rank| self.shared.processes[rank].wake());
    }

    #[cold]
    fn differs(&self, rank: usize, bytes: Option<[usize; 2]>) -> Error {
        let why = match bytes {
            Some([theirs, own]) => format!("{theirs} bytes where this process has room for {own}"),
            None => "another length than this process".to_string(),
        };
        let why = format!("count: rank {rank} passed to a collective operation {why}");
        Error::new(Class::Truncate, why)
    }

    fn read(&self, rank: usize, address: u64, into: &Memory) -> Result<()> {
        let process = &self.shared.processes[rank];
        // SAFETY: a memory of contiguous bytes is valid for writes by the promise that it is.
        let read = unsafe { process.read(address, into.base, into.bytes) };
        if let Err(error) = read {
            self.shared.give_up(rank);
            let lost = process.lost(&format!("its memory could not be copied: {error}"));
            return Err(Error::new(Class::ProcAborted, lost.to_string()));
        }
        self.shared.given_up()
    }
}
