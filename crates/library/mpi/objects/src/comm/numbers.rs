//! Numbers of communicators: agreed among the processes of a new one, a new one each time.
//!
//! A number is a *serial* and a lane: `serial % SERIALS << 4 | lane`. Serials only grow, so that no communicator has the
//! number of an earlier one, be there messages under way or receives that are posted in that one (MPI-5.0 §7.4.3: what is
//! pending when a communicator is freed completes). To agree, each process proposes the lowest serial that is above all it
//! has seen, and reserves it. If the largest and the smallest proposal are the same, all have it; else the next round
//! starts at the largest, which none of them has seen. Two rounds at most, whatever the processes did before.
//!
//! - After `SERIALS` communicators, a *lap*, numbers come again. A process passes over those that it uses: of its
//!   communicators, freed ones among them that a request refers to ([`CommReference`](super::CommReference)), and, as it begins the lap, of
//!   receives that wait and messages that nobody received. One that is freed in front of where the lap has come to is free
//!   from the next lap on, so that a look at what waits once a lap suffices.
//! - Agreements of several threads under way at once take each other's serials, in one order here and in another there, round
//!   after round. So one that has failed twice *insists*, with the largest proposal of that round as its key, which all its
//!   processes know. While others insist in a process, only the one of the lowest key takes serials there; the rest *abstain*, which
//!   ends their round without a number. Keys are serials, which only grow: of those under way one has the lowest key in all its
//!   processes, and nobody overtakes it.
//! - One that insists may be nonblocking (`MPI_Comm_idup`), and one of its processes may compute for as long as it likes. Nobody
//!   else may wait for that (MPI-5.0 §2.9), nor for who waits for it: who has abstained for the same nonblocking one in `PATIENCE`
//!   rounds *overrules* those of that form that insist in its process. One that goes on insists again when a round of its own fails.
//! - A process that is to have a communicator alone takes a serial at once, whoever insists: it has nobody to wait for, and rounds
//!   of its own would keep it from the messages of the agreement that goes first. It may cost those that insist a round; they start
//!   higher each time.
//! - From its third round on an agreement starts higher by a number drawn at random, from twice as many each time: one of the
//!   processes draws it, and the maximum tells it to all. That leaves behind what is in use here and not there.
//! - The lane is the one that the fewest communicators of a process have, the highest of the processes that propose the
//!   serial. Processes whose threads do not call at once spread their communicators over a part of the lanes.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_engine::LANES;
use weft_error::{Class, Result, argument};
use weft_handle::{CommId, FileId, WindowId};
use weft_process::engine::engine;

use super::traffic::number_of;

/// Bits of a number that say its lane.
const LANE_BITS: u32 = LANES.trailing_zeros();
const _: () = assert!(1 << LANE_BITS == LANES);

/// Lanes of the communicators of a process whose program has not asked for `MPI_THREAD_MULTIPLE`. A lane has memory and connections
/// of its own, and a thread works on one at a time.
const LANES_WITHOUT_THREADS: u32 = 8;

/// Serials that are told apart: a context has 29 bits for the number.
const SERIALS: u32 = (1 << (29 - LANE_BITS)) - 1;

/// The number of what all processes of the job have from the start, without a handle.
pub(crate) const WHOLE_JOB: u32 = SERIALS << LANE_BITS;
/// The number of a communicator whose processes have not agreed on one yet: nothing is sent under it.
pub const UNAGREED: u32 = WHOLE_JOB + 1;

/// The first serial that is agreed on: the predefined communicators have the one before.
const FIRST: u64 = 1;

pub mod agreement;

/// Numbers in use by this process.
pub struct Contexts {
    used: Mutex<Used>,
    /// The numbers under which receives wait here, or messages that nobody has received.
    waiting: fn() -> Vec<u32>,
    serials: u32,
    /// Lanes that this process proposes: those below. Any process may propose others, so nothing relies on it.
    proposed_lanes: AtomicU32,
}

struct Used {
    /// Above all serials that this process has proposed or heard of.
    next: u64,
    /// Of the serial proposed last, in which the numbers that wait have been looked up.
    lap: u64,
    /// By serial, modulo their number.
    uses: BTreeMap<u32, Use>,
    insisting: Vec<Insistence>,
    /// Communicators by lane.
    lanes: [u32; LANES as usize],
}

/// Whether the processes of an agreement, all alike, do nothing else until it has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Blocking,
    Nonblocking,
}

/// What the number of another process's communicator, of which this process is one, stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Comm(CommId),
    /// It was agreed on here too, and the communicator is freed.
    Freed,
    Unknown,
}

/// An agreement that insists.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Insistence {
    key: i64,
    form: Form,
}

/// What uses a serial.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// An agreement, or a communicator without a handle.
    Taken,
    Comm(CommId),
    /// The communicator of a window's own.
    Window(WindowId),
    /// The communicator of a file's own.
    File(FileId),
    /// Nothing but messages and receives of a freed communicator, perhaps: not to be taken in this lap.
    Spent,
}

/// What [`Contexts::reserve`] has come to.
enum Reserved {
    /// A serial, and the lane that its number is to have.
    Serial(u64, u32),
    /// Another agreement goes first; the serial that would have been looked at.
    Abstained(u64, Insistence),
    NoneLeft,
}

/// In place of the smallest proposal, with its sign changed as in every round: greater than all serials', and each than
/// the one before it.
const ABSTAINED: i64 = 0;
const NONE_LEFT: i64 = 1;
const NO_MEMORY: i64 = 2;

static CONTEXTS: LazyLock<Contexts> = LazyLock::new(|| Contexts::new(waiting_numbers));

/// Numbers of communicators in which receives wait, or messages that nobody has received.
fn waiting_numbers() -> Vec<u32> {
    let contexts = engine().waiting_contexts();
    contexts.into_iter().map(number_of).collect()
}

/// The numbers in use by this process.
pub fn contexts() -> &'static Contexts {
    &CONTEXTS
}

impl Contexts {
    /// `waiting` tells the numbers under which receives wait here, or messages that nobody has received.
    pub fn new(waiting: fn() -> Vec<u32>) -> Contexts {
        Contexts::of_serials(SERIALS, waiting)
    }

    fn of_serials(serials: u32, waiting: fn() -> Vec<u32>) -> Contexts {
        let mut lanes = [0; LANES as usize];
        for number in 0..predefined::NUMBERS {
            lanes[lane(number)] += 1;
        }
        let used = Used {
            next: FIRST,
            lap: 0,
            uses: BTreeMap::from([(0, Use::Taken)]),
            insisting: Vec::new(),
            lanes,
        };
        Contexts {
            used: Mutex::new(used),
            waiting,
            serials,
            proposed_lanes: AtomicU32::new(LANES_WITHOUT_THREADS),
        }
    }

    /// Threads of this process will call at once: communicators made from here on have all lanes.
    pub fn expect_threads(&self) {
        self.proposed_lanes.store(LANES, Ordering::Relaxed);
    }

    /// Reserves the lowest serial that is at least `floor` and not used here, and says which lane its number is to have; for the
    /// agreement that insists so, if it does.
    fn reserve(&self, floor: u64, own: Option<Insistence>) -> Reserved {
        let mut used = self.used.lock();
        let first = used.insisting.iter().min_by_key(|other| other.key).copied();
        let goes_before = |first: &Insistence| own.is_none_or(|own| first.key < own.key);
        match first.filter(goes_before) {
            Some(first) => Reserved::Abstained(used.next.max(floor), first),
            None => self.reserve_next(&mut used, floor),
        }
    }

    /// As [`reserve`](Self::reserve), whoever insists.
    fn reserve_next(&self, used: &mut Used, floor: u64) -> Reserved {
        let first = used.next.max(floor);
        let serials = u64::from(self.serials);
        for serial in first..first + serials {
            if serial / serials != used.lap {
                self.begin_lap(used, serial / serials);
            }
            if let Entry::Vacant(place) = used.uses.entry((serial % serials) as u32) {
                place.insert(Use::Taken);
                used.next = serial + 1;
                let lanes = self.proposed_lanes.load(Ordering::Relaxed);
                return Reserved::Serial(serial, used.emptiest_lane(lanes));
            }
        }
        Reserved::NoneLeft
    }

    /// Again if it is overruled since it has said so.
    fn insist(&self, insistence: Insistence) {
        let mut used = self.used.lock();
        if !used.insisting.contains(&insistence) {
            used.insisting.push(insistence);
        }
    }

    /// The agreement has ended; it may be overruled.
    fn insist_no_more(&self, insistence: Insistence) {
        let mut used = self.used.lock();
        let mut all = used.insisting.iter();
        if let Some(at) = all.position(|other| *other == insistence) {
            used.insisting.swap_remove(at);
        }
    }

    /// Those that may stand still for as long as a program likes go first no more.
    fn overrule_nonblocking(&self) {
        let mut used = self.used.lock();
        used.insisting.retain(|one| one.form == Form::Blocking);
    }

    /// Numbers come again: what still waits under one passes it over. The look enters lanes, in which nobody asks for
    /// numbers, under the lock, once in `serials` communicators.
    #[cold]
    fn begin_lap(&self, used: &mut Used, lap: u64) {
        used.lap = lap;
        used.uses.retain(|_, by| *by != Use::Spent);
        for number in (self.waiting)() {
            used.uses.entry(place(number)).or_insert(Use::Spent);
        }
    }

    /// A reservation is not made use of: nothing was sent under its number.
    fn give_up(&self, serial: u64) {
        let place = (serial % u64::from(self.serials)) as u32;
        self.used.lock().uses.remove(&place);
    }

    fn conclude(&self, number: u32) -> u32 {
        self.used.lock().lanes[lane(number)] += 1;
        number
    }

    /// The number of a serial in a lane.
    fn number(&self, serial: u64, lane: u32) -> u32 {
        ((serial % u64::from(self.serials)) as u32) << LANE_BITS | lane
    }

    /// A communicator is freed, and no request refers to it.
    pub fn release(&self, number: u32) {
        let mut used = self.used.lock();
        used.lanes[lane(number)] -= 1;
        // In front of where the lap has come to: messages may wait under it that were not there as the lap began.
        let is_ahead = u64::from(place(number)) >= used.next % u64::from(self.serials);
        match is_ahead {
            true => used.uses.insert(place(number), Use::Spent),
            false => used.uses.remove(&place(number)),
        };
    }

    /// The handle of a number's communicator, if it has one here still.
    pub fn comm(&self, number: u32) -> Option<CommId> {
        if let Some(comm) = predefined::comm(number) {
            return Some(comm);
        }
        match self.used.lock().uses.get(&place(number)) {
            Some(Use::Comm(comm)) => Some(*comm),
            _ => None,
        }
    }

    /// What a number stands for here, as far as is known at once: not while this thread, or another, looks at the numbers.
    pub fn standing(&self, number: u32) -> Standing {
        if let Some(comm) = predefined::comm(number) {
            return Standing::Comm(comm);
        }
        let Some(used) = self.used.try_lock() else {
            return Standing::Unknown;
        };
        match used.uses.get(&place(number)) {
            Some(Use::Comm(comm)) => Standing::Comm(*comm),
            None | Some(Use::Spent) => Standing::Freed,
            Some(_) => Standing::Unknown,
        }
    }

    /// The handle of the window whose own communicator a number's is, if it has requests.
    pub fn window(&self, number: u32) -> Option<WindowId> {
        match self.used.lock().uses.get(&place(number)) {
            Some(Use::Window(window)) => Some(*window),
            _ => None,
        }
    }

    /// The handle of the file whose own communicator a number's is.
    pub fn file(&self, number: u32) -> Option<FileId> {
        match self.used.lock().uses.get(&place(number)) {
            Some(Use::File(file)) => Some(*file),
            _ => None,
        }
    }

    pub fn bind_file(&self, number: u32, file: FileId) {
        let mut used = self.used.lock();
        used.uses.insert(place(number), Use::File(file));
    }

    pub fn bind_window(&self, number: u32, window: WindowId) {
        let mut used = self.used.lock();
        used.uses.insert(place(number), Use::Window(window));
    }

    pub fn bind(&self, number: u32, comm: CommId) {
        let mut used = self.used.lock();
        used.uses.insert(place(number), Use::Comm(comm));
    }

    /// The number of a communicator that this process has alone.
    pub fn alone(&self) -> Result<u32> {
        weft_reserve::check()?;
        let reserved = self.reserve_next(&mut self.used.lock(), FIRST);
        match reserved {
            Reserved::Serial(serial, lane) => Ok(self.conclude(self.number(serial, lane))),
            _ => Err(self.none_is_free()),
        }
    }

    #[cold]
    fn none_is_free(&self) -> weft_error::Error {
        let serials = self.serials;
        let what = format_args!("no number is free: {serials} communicators at once are the limit");
        argument(Class::Other, "newcomm", what)
    }
}

fn place(number: u32) -> u32 {
    number >> LANE_BITS
}

fn lane(number: u32) -> usize {
    (number % LANES) as usize
}

impl Used {
    /// Of so many, from the first on.
    fn emptiest_lane(&self, lanes: u32) -> u32 {
        let lanes = (0..lanes).zip(self.lanes);
        let emptiest = lanes.min_by_key(|(_, comms)| *comms);
        emptiest.map_or(0, |(lane, _)| lane)
    }
}

/// The communicators that are there from the start: all of one serial.
mod predefined {
    use super::CommId;

    pub const NUMBERS: u32 = 2;

    pub fn comm(number: u32) -> Option<CommId> {
        match number {
            0 => Some(CommId::WORLD),
            1 => Some(CommId::SELF),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
