//! A board: memory that a group's ranks share, on which each posts what the others read.
//!
//! The ranks go through *steps*, numbered from 1 alike on all of them. In a step a rank may post once, and read what others
//! post in it. What rank r posts in step s lies in its cell `s % CELLS`, up to [`INLINE_BYTES`], or in its buffer `s % BUFFERS`.
//! 1. A cell and its buffer are their rank's alone until it publishes the step in the cell's control word; from then on
//!    everyone may read them, and nobody writes them, until all ranks have *entered* a later step and so read no more of
//!    this one; but the only reader of two ranks may write the same bytes again ([`lines`]). Fresh memory is zero, and no step is 0.
//! 2. `entered` is the step that its rank is in. A rank enters step s only after its last look at what was posted in steps
//!    before s, and writes a cell again only when all have entered a step after the one that the cell held: it asks once in a
//!    ring's length, as it remembers how far the last one was.
//! 3. Control words and `entered` are written by their rank alone, and releasing; the reader acquires.
//! 4. Going to sleep is Dekker's protocol (`sleeping.rs`): a rank counts itself in `sleepers` and says what it waits
//!    for, then looks once more;
//!    a rank that publishes, or enters a step in which it posts nothing, reads `sleepers` after that. All are SeqCst, so at least one
//!    of them sees the other. A rank that waits for room has told all steps before this one in that way, and nobody whose
//!    own step is older waits for this one. Short operations publish and enter *quietly*, and read `sleepers` behind one fence for all of that, once
//!    they have found what they waited for or have waited a moment; who goes to sleep has a fence of its own. So a rank need not wait until its line is its own before it looks at others'.
//! 5. `broken` says why the board is given up, if it is: a rank is gone and was still waited for, or lengths differ. It is
//!    written once, by whoever finds that out; from then on nothing is waited for. A rank that finds it written *ends* its use of the
//!    board: its steps go on far beyond those of any other, so that it has room for nothing, posts nothing, and is waited for
//!    by nobody. What is posted is therefore of the step that its readers are in, also when ranks come out of an operation at
//!    different places.
//! 6. A control word holds the step and how long the post is, so that a rank that expects another length finds out. A length beyond a
//!    buffer's is none: nothing is posted but a mark, that something has failed.
//! 7. Other ranks may be hostile: a control word is compared; a length read from it is at most a buffer's, or a mark, and places
//!    are each rank's own.
//! 8. A control word also holds the low bits of the number of the operation that it was posted in. Ranks of an erroneous program, of which some
//!    went through an operation without the board, are in one step in different operations; a reader finds that out.
//! 9. An operation may be *begun*: this rank has entered its first step, and posted in it if it posts there, and goes on in another way.
//! 10. `used` decides, where ranks could not agree, whether the board is used: the first to say makes it so for all.

#[cfg(all(test, loom))]
mod models;
mod sleeping;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::lines;
use crate::primitive::{AtomicU32, AtomicU64, Ordering, full_fence, latest, tell};
use std::cell::UnsafeCell;
use std::num::NonZeroU8;
use std::ops::Range;

/// Cells of a rank: how many steps it can be ahead of the last one.
pub const CELLS: usize = if cfg!(loom) { 2 } else { 32 };
/// Buffers of a rank: how many steps that use them it can be ahead.
pub const BUFFERS: usize = if cfg!(loom) { 1 } else { 4 };
/// What fits in a cell beside its control word.
pub const INLINE_BYTES: usize = 112;
/// Length of a buffer.
pub const BUFFER_BYTES: usize = 32 << 10;

/// A reader leaves the lines of fewer bytes alone: taking them over costs as much as it saves.
const TAKEN_OVER_FROM: usize = 2 << 10;

#[cfg(not(loom))]
const PAGE: usize = 4096;

/// A control word, big end first: the step, of less than 2^45, the operation, whether more follows, the bytes.
const STEP_SHIFT: u32 = OPERATION_SHIFT + OPERATION_BITS;
const OPERATION_SHIFT: u32 = 17;
const OPERATION_BITS: u32 = 2;
const MORE: u64 = 1 << (OPERATION_SHIFT - 1);

/// A word that names a step and a rank has room for as many, beside two bits.
const MOST_RANKS: usize = 1 << (STEP_SHIFT - 2);

/// What is posted beyond the length of a buffer is a mark: so many bytes more.
const MARKS: usize = u8::MAX as usize;

const _: () = assert!(((BUFFER_BYTES + MARKS) as u64) < MORE);

/// In `broken`: the ranks' lengths differ, and with them their steps.
const APART: u32 = u32::MAX;
/// In `broken`: a rank has left its operation, for which it had no memory.
const NO_MEMORY: u32 = u32::MAX - 1;
/// In `broken`: what the board is for is revoked.
const REVOKED: u32 = u32::MAX - 2;

/// Two lines, which the processor fetches together.
#[repr(C, align(128))]
struct Cell {
    /// What is posted: its step, and below [`STEP_SHIFT`] its [`Piece`]. Written by the owner, read by all.
    control: AtomicU64,
    inline: Inline,
}

#[repr(C, align(16))]
struct Inline(UnsafeCell<[u8; INLINE_BYTES]>);

/// A rank's words and cells.
#[repr(C, align(128))]
pub struct Place {
    /// Written by the owner, read by all.
    entered: AtomicU64,
    /// What the owner sleeps for, or is about to (`sleeping.rs`). Written by the owner, and by the one that rings it.
    awaited: AtomicU64,
    cells: [Cell; CELLS],
}

/// What belongs to no rank.
#[repr(C, align(128))]
pub struct Head {
    /// At least as many as are asleep and not rung (`sleeping.rs`). Written by sleepers and those that ring them,
    /// read by all.
    sleepers: AtomicU32,
    /// 0, or a rank that is gone, plus one, or [`APART`], or [`NO_MEMORY`], or [`REVOKED`].
    broken: AtomicU32,
    /// Ranks that use the board no more.
    left: AtomicU32,
    /// 0 until it is decided, then [`USED`] or [`UNUSED`]. Written once, by any.
    used: AtomicU32,
}

const USED: u32 = 1;
const UNUSED: u32 = 2;

/// The step of a rank that has ended its use of the board.
const ENDED: u64 = 1 << 63;
/// What a rank has entered that has left: later than any step.
const LEFT: u64 = u64::MAX;

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == 128 && size_of::<Head>() == 128);

// SAFETY: who may touch the payload when is rule 1; the rest are atomics.
unsafe impl Sync for Cell {}

/// Something that another rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub rank: usize,
    pub what: What,
    pub step: u64,
}

/// How long what is posted is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// At most [`BUFFER_BYTES`], or a mark beyond.
    pub bytes: usize,
    /// Whether more of the same message follows, in the next step.
    pub more: bool,
}

impl Piece {
    pub const NOTHING: Piece = Piece::whole(0);

    /// A message of one piece.
    pub const fn whole(bytes: usize) -> Piece {
        Piece { bytes, more: false }
    }

    /// In place of data: that something has failed.
    pub const fn failed(mark: NonZeroU8, more: bool) -> Piece {
        let bytes = BUFFER_BYTES + mark.get() as usize;
        Piece { bytes, more }
    }

    /// What has failed, if there are no data.
    pub fn mark(self) -> Option<NonZeroU8> {
        let beyond = self.bytes.checked_sub(BUFFER_BYTES)?;
        NonZeroU8::new(beyond.min(MARKS) as u8)
    }
}

/// Why nothing is waited for on a board any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// This rank is gone.
    Gone(usize),
    /// The ranks' messages were of different lengths, so that some are in other steps than others.
    Apart,
    /// A rank had no memory for an operation, and has left it.
    NoMemory,
    /// A rank has revoked what the board is for.
    Revoked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Post in the step.
    Posted,
    /// Enter it, or a later one.
    Entered,
}

/// A board as one rank sees it. One thread uses it at a time: calls on one communicator do not overlap (MPI-5.0 §6.14).
/// If they do all the same, what they read is undefined, and nothing else.
pub struct Board {
    head: *const Head,
    places: *const Place,
    buffers: *mut u8,
    ranks: usize,
    rank: usize,
    /// The step that this rank is in, and that all have entered as far as it knows. Atomic only so that threads may
    /// follow each other.
    step: AtomicU64,
    all_entered: AtomicU64,
    /// The operation that this rank is in, as control words hold it.
    operation: AtomicU64,
    /// The step in which an operation was begun that goes on in another way, or 0; and that operation's number.
    begun: AtomicU64,
    begun_operation: AtomicU32,
}

// SAFETY: addresses of memory that is shared by the rules above.
unsafe impl Send for Board {}
// SAFETY: as above.
unsafe impl Sync for Board {}

/// Bytes of a board's memory.
#[cfg(not(loom))]
pub const fn bytes(ranks: usize) -> usize {
    buffers_at(ranks) + ranks * BUFFERS * BUFFER_BYTES
}

#[cfg(not(loom))]
const fn buffers_at(ranks: usize) -> usize {
    (size_of::<Head>() + ranks * size_of::<Place>()).next_multiple_of(PAGE)
}

impl Board {
    /// Rank `rank` of `ranks` on a board of zeros at `base`.
    ///
    /// # Safety
    /// [`bytes`] from `base` on, aligned to a page, stay valid for reads and writes while the board is used, and are
    /// written by boards of the same group only.
    #[cfg(not(loom))]
    pub unsafe fn new(base: *mut u8, rank: usize, ranks: usize) -> Board {
        assert!(rank < ranks && ranks <= MOST_RANKS);
        Board {
            head: base.cast(),
            places: base.wrapping_add(size_of::<Head>()).cast(),
            buffers: base.wrapping_add(buffers_at(ranks)),
            ranks,
            rank,
            step: AtomicU64::new(0),
            all_entered: AtomicU64::new(0),
            operation: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            begun_operation: AtomicU32::new(0),
        }
    }

    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    #[inline]
    fn head(&self) -> &Head {
        // SAFETY: valid by the contract of `new`; all its words are atomics.
        unsafe { &*self.head }
    }

    #[inline]
    fn place(&self, rank: usize) -> &Place {
        assert!(rank < self.ranks);
        // SAFETY: as in `head`; payload is in cells.
        unsafe { &*self.places.add(rank) }
    }

    /// The step that this rank is in.
    #[inline]
    pub fn step(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// The steps from here on are of the operation of this number, alike on all ranks.
    #[inline]
    pub fn begin(&self, operation: u32) {
        let low = u64::from(operation) & ((1 << OPERATION_BITS) - 1);
        self.operation
            .store(low << OPERATION_SHIFT, Ordering::Relaxed);
    }

    /// The step that this rank enters next.
    #[inline]
    fn next(&self) -> u64 {
        self.step() + 1
    }

    /// Enters the next step, in which this rank posts. Nothing of earlier steps is read any more.
    #[inline]
    pub fn enter(&self) -> u64 {
        let step = self.next();
        self.step.store(step, Ordering::Relaxed);
        self.place(self.rank).entered.store(step, Ordering::Release);
        step
    }

    /// Enters the next step, in which this rank does not post. True if somebody sleeps.
    #[inline]
    pub fn enter_silently(&self) -> (u64, bool) {
        let step = self.next();
        self.step.store(step, Ordering::Relaxed);
        tell(&self.place(self.rank).entered, step);
        (step, latest(&self.head().sleepers) != 0)
    }

    /// Enters the next step to post in it, if it may be written at once.
    #[inline]
    pub fn enter_with_room(&self, in_buffer: bool) -> Option<u64> {
        self.room(self.next(), in_buffer).ok()?;
        Some(self.enter())
    }

    /// The operation of that number was begun in its first step, which [`take_begun`](Self::take_begun) gives once.
    #[cold]
    pub fn set_begun(&self, operation: u32, step: u64) {
        self.begun.store(step, Ordering::Relaxed);
        self.begun_operation.store(operation, Ordering::Relaxed);
    }

    /// The step in which the operation of that number was begun, if it was. One before it that was begun, and then ended by an error, is forgotten.
    #[inline]
    pub fn take_begun(&self, operation: u32) -> Option<u64> {
        match self.begun.load(Ordering::Relaxed) {
            0 => None,
            step => {
                self.begun.store(0, Ordering::Relaxed);
                let is_this = self.begun_operation.load(Ordering::Relaxed) == operation;
                is_this.then_some(step)
            }
        }
    }

    /// Whether this rank may write what it posts in `step`, or what it waits for.
    #[inline]
    pub fn room(&self, step: u64, in_buffer: bool) -> Result<(), Need> {
        let ahead = if in_buffer { BUFFERS } else { CELLS } as u64;
        if self.all_entered.load(Ordering::Relaxed) + ahead > step {
            return Ok(());
        }
        self.find_room(step, (step + 1).saturating_sub(ahead))
    }

    #[cold]
    fn find_room(&self, step: u64, needed: u64) -> Result<(), Need> {
        if step >= ENDED {
            return Err(Need {
                rank: self.rank,
                what: What::Entered,
                step: u64::MAX,
            });
        }
        let mut least = step;
        for rank in 0..self.ranks {
            let entered = self.place(rank).entered.load(Ordering::Acquire);
            if entered < needed {
                return Err(Need {
                    rank,
                    what: What::Entered,
                    step: needed,
                });
            }
            least = least.min(entered);
        }
        self.all_entered.store(least, Ordering::Relaxed);
        Ok(())
    }

    /// Where a rank's bytes of a step lie: in its cell, or in its buffer.
    #[inline]
    pub fn payload(&self, rank: usize, step: u64, in_buffer: bool) -> *mut u8 {
        match in_buffer {
            false => self.cell(rank, step).inline.0.get().cast(),
            true => {
                assert!(rank < self.ranks);
                let buffer = rank * BUFFERS + step as usize % BUFFERS;
                self.buffers.wrapping_add(buffer * BUFFER_BYTES)
            }
        }
    }

    /// Takes over the lines ([`lines`]) of a part of what the other of two ranks has posted in this rank's step, `posted` bytes, after it was read here, if that is worth
    /// it. Among more ranks others read it too, and nothing happens.
    #[inline(always)]
    pub fn take_over(&self, posted: usize, read: Range<usize>) {
        if read.len() >= TAKEN_OVER_FROM {
            self.take_over_lines(posted, read);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_over_lines(&self, posted: usize, read: Range<usize>) {
        if self.ranks != 2 || !lines::are_better_taken_over() {
            return;
        }
        assert!(read.end <= posted && posted <= BUFFER_BYTES);
        let payload = self.payload(1 - self.rank, self.step(), posted > INLINE_BYTES);
        // SAFETY: they lie in the buffer. Their rank does not touch them until this one has entered a later step (rule 1); there is no third.
        unsafe { lines::take_over(payload.wrapping_add(read.start), read.len()) };
    }

    #[inline]
    fn cell(&self, rank: usize, step: u64) -> &Cell {
        &self.place(rank).cells[step as usize % CELLS]
    }

    /// Publishes what this rank has written. True if somebody sleeps.
    #[inline]
    pub fn publish(&self, step: u64, piece: Piece) -> bool {
        let cell = self.cell(self.rank, step);
        tell(&cell.control, self.control(step, piece));
        latest(&self.head().sleepers) != 0
    }

    /// The same without a look at who sleeps, which [`sleepers_behind`](Self::sleepers_behind) makes up for.
    #[inline]
    pub fn publish_quietly(&self, step: u64, piece: Piece) {
        let control = self.control(step, piece);
        self.cell(self.rank, step)
            .control
            .store(control, Ordering::Release);
    }

    /// Whether anybody sleeps, looked at behind all that this rank has published and entered.
    #[inline]
    pub fn sleepers_behind(&self) -> bool {
        full_fence();
        self.head().sleepers.load(Ordering::Relaxed) != 0
    }

    #[inline]
    fn control(&self, step: u64, Piece { bytes, more }: Piece) -> u64 {
        let more = if more { MORE } else { 0 };
        let operation = self.operation.load(Ordering::Relaxed);
        step << STEP_SHIFT | operation | more | bytes as u64
    }

    /// Whether what a rank has posted in the step is this piece, of the operation that this rank is in. Then its bytes may be read.
    #[inline]
    pub fn is_posted(&self, rank: usize, step: u64, piece: Piece) -> bool {
        let control = self.cell(rank, step).control.load(Ordering::Acquire);
        control == self.control(step, piece)
    }

    /// Whether what a rank has posted in the step is of the operation that this rank is in.
    pub fn is_of_this_operation(&self, rank: usize, step: u64) -> bool {
        let control = self.cell(rank, step).control.load(Ordering::Relaxed);
        let operation = control & ((1 << STEP_SHIFT) - (1 << OPERATION_SHIFT));
        operation == self.operation.load(Ordering::Relaxed)
    }

    /// Whether what is needed never comes: its rank, of a wrong program, has gone on from that step without a post, or has left.
    pub fn is_in_vain(&self, need: Need) -> bool {
        self.entered(need.rank) > need.step && !self.is_met(need)
    }

    /// The step that a rank is in.
    pub fn entered(&self, rank: usize) -> u64 {
        self.place(rank).entered.load(Ordering::SeqCst)
    }

    /// How long what a rank has posted in the step is: what it says, as far as a buffer goes, or its mark.
    #[inline]
    pub fn piece(&self, rank: usize, step: u64) -> Piece {
        let control = self.cell(rank, step).control.load(Ordering::Relaxed);
        Piece {
            bytes: ((control & (MORE - 1)) as usize).min(BUFFER_BYTES + MARKS),
            more: control & MORE != 0,
        }
    }

    /// The look of rule 4, which is SeqCst.
    #[inline]
    pub fn is_met(&self, need: Need) -> bool {
        match need.what {
            What::Posted => {
                let cell = self.cell(need.rank, need.step);
                cell.control.load(Ordering::SeqCst) >> STEP_SHIFT == need.step
            }
            What::Entered => self.entered(need.rank) >= need.step,
        }
    }

    /// Why the board is given up, if it is.
    pub fn broken(&self) -> Option<Broken> {
        match latest(&self.head().broken) {
            0 => None,
            APART => Some(Broken::Apart),
            NO_MEMORY => Some(Broken::NoMemory),
            REVOKED => Some(Broken::Revoked),
            number => Some(Broken::Gone((number as usize - 1).min(self.ranks - 1))),
        }
    }

    /// Gives the board up, unless it is already.
    pub fn give_up(&self, why: Broken) {
        let number = match why {
            Broken::Gone(rank) => rank as u32 + 1,
            Broken::Apart => APART,
            Broken::NoMemory => NO_MEMORY,
            Broken::Revoked => REVOKED,
        };
        let broken = &self.head().broken;
        let _ = broken.compare_exchange(0, number, Ordering::SeqCst, Ordering::Relaxed);
    }

    /// Ends this rank's use of a board that is given up: whatever it does there from now on fails.
    #[cold]
    pub fn end(&self) {
        self.step.fetch_or(ENDED, Ordering::Relaxed);
    }

    /// Whether the board is used, as the first to call this wants it.
    pub fn decide(&self, wanted: bool) -> bool {
        let (used, word) = (&self.head().used, if wanted { USED } else { UNUSED });
        match used.compare_exchange(0, word, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => wanted,
            Err(decided) => decided == USED,
        }
    }

    /// This rank uses the board no more. True if it is the last.
    pub fn leave(&self) -> bool {
        let entered = &self.place(self.rank).entered;
        entered.store(LEFT, Ordering::Release);
        self.head().left.fetch_add(1, Ordering::AcqRel) as usize + 1 == self.ranks
    }
}
