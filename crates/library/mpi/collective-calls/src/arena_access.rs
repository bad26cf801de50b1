//! A blocking operation's way to the arena of its communicator.

use std::cell::Cell;
use std::num::NonZeroU8;
use std::task::Poll;
use std::time::Instant;

use weft_collective::Arena;
use weft_engine::{LOOK_EVERY, Patience};
use weft_error::{Class, Error, Object, Result, argument};
use weft_memory::Memory;
use weft_messages::start::route_from;
use weft_objects::comm::arena::SharedArena;
use weft_objects::comm::{Comm, Traffic, number_of};
use weft_process::engine::engine;
use weft_sync::board::{Board, Need};

use super::enquiries;

/// An operation's way to the arena.
pub(super) struct ArenaAccess<'a> {
    shared: &'a SharedArena,
    comm: &'a Comm,
    /// The operation's.
    tag: u32,
    /// What was found pending last.
    pending: Cell<Option<Need>>,
}

impl<'a> ArenaAccess<'a> {
    pub fn new(shared: &'a SharedArena, comm: &'a Comm, tag: u32) -> ArenaAccess<'a> {
        ArenaAccess {
            shared,
            comm,
            tag,
            pending: Cell::new(None),
        }
    }
}

impl ArenaAccess<'_> {
    /// The communicator's rank of one that shares the arena.
    fn rank_of(&self, position: usize) -> usize {
        let hosts = self.comm.hosts();
        hosts.map_or(position, |hosts| hosts.rank_at(hosts.own(), position))
    }

    /// The others' lengths are not this process's: it may be in another step than they.
    #[cold]
    pub fn part(&self) {
        self.shared.give_up_apart();
        self.shared.board.end();
    }

    /// Asks the one that is waited for whether it comes still.
    #[cold]
    fn enquire(&self, need: Need) {
        let rank = self.rank_of(need.rank) as i32;
        let traffic = Traffic::Collective;
        let peer = self.comm.peer(rank as u32);
        let Ok(route) = route_from(self.comm, traffic, peer, rank, self.tag as i32) else {
            return;
        };
        let words = enquiries::words(self.comm.operations(), self.tag, Some(need));
        engine().enquire(&route, words);
    }

    /// The error on a board that was given up, if it was. What was given up for another reason may have been revoked since.
    fn given_up(&self) -> Result<()> {
        self.shared
            .given_up()
            .map_err(|error| self.comm.check_revoked().err().unwrap_or(error))
    }

    /// Waits for what was found pending last, if anything was.
    pub fn wait(&self) {
        let Some(need) = self.pending.take() else {
            return;
        };
        let (board, processes) = (&self.shared.board, &self.shared.processes);
        let (mut look, mut patience) = (None, Patience::default());
        let met = || board.is_met(need) || board.broken().is_some();
        let sleeps = || {
            board.sleeps(need);
            let now = Instant::now();
            if patience.is_over(now) {
                self.enquire(need);
            }
            if now < *look.get_or_insert(now + LOOK_EVERY) {
                return;
            }
            look = Some(now + LOOK_EVERY);
            if !processes[need.rank].is_alive() && !board.is_met(need) {
                self.shared.give_up(need.rank);
            } else if board.is_in_vain(need) {
                self.shared.give_up_apart();
            }
        };
        let context = self.comm.context(Traffic::Collective);
        let note = || {
            let (rank, what) = (self.rank_of(need.rank), need.what);
            format!("collective operation, context {context}: rank {rank} has not come ({what:?})")
        };
        let engine = engine();
        engine.block_on_others(self.comm.lane(), met, sleeps, note);
        if board.wakes() {
            self.shared.help_to_wake();
        }
    }
}

impl Arena<Error> for ArenaAccess<'_> {
    fn board(&self) -> &Board {
        &self.shared.board
    }

    fn copies(&self) -> bool {
        self.shared.copies
    }

    fn is_near(&self) -> bool {
        self.shared.nearness.is_near(&self.shared.board) == Some(true)
    }

    fn look(&self, need: Need) -> Poll<Result<()>> {
        let board = &self.shared.board;
        for _ in 0..self.shared.looks {
            if board.is_met(need) {
                return Poll::Ready(Ok(()));
            }
            std::hint::spin_loop();
        }
        if let Err(error) = self.given_up() {
            return Poll::Ready(Err(error));
        }
        self.pending.set(Some(need));
        Poll::Pending
    }

    #[cold]
    fn wake(&self) {
        self.shared.wake();
    }

    #[cold]
    fn differs(&self, rank: usize, bytes: Option<[usize; 2]>) -> Error {
        let why = match bytes {
            Some([theirs, own]) => format!("{theirs} bytes where this process has room for {own}"),
            None => "another length than this process".to_string(),
        };
        let rank = self.rank_of(rank);
        let what = format_args!("rank {rank} passed to a collective operation {why}");
        argument(Class::Truncate, "count", what)
    }

    #[cold]
    fn failure_of(&self, rank: usize, mark: NonZeroU8) -> Error {
        let class = Class::of_mark(mark.get()).unwrap_or(Class::Other);
        let number = self.comm.context(Traffic::Collective);
        let rank = self.rank_of(rank);
        let why = format!("rank {rank}'s part of a collective operation failed");
        Error::new(class, why).on(Object::CommNumbered(number_of(number)))
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
        self.given_up()
    }
}
