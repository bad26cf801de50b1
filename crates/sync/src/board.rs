//! A board: memory that a group's ranks share, on which each posts what the others read.
//!
//! The ranks go through *steps*, numbered from 1 alike on all of them. In a step a rank may post once, and read what others
//! post in it. What rank r posts in step s lies in its cell `s % CELLS`, up to [`INLINE_BYTES`], or in its buffer `s % BUFFERS`.
//! 1. A cell and its buffer are their rank's alone until it publishes the step in the cell's control word; from then on
//!    everyone may read them, and nobody writes them, until all ranks have *entered* a later step and so read no more of
//!    this one. Fresh memory is zero, and no step is 0.
//! 2. `entered` is the step that its rank is in. A rank enters step s only after its last look at what was posted in steps
//!    before s, and writes a cell again only when all have entered a step after the one that the cell held: it asks once in a
//!    ring's length, as it remembers how far the last one was.
//! 3. Control words and `entered` are written by their rank alone, and releasing; who reads them acquires.
//! 4. Going to sleep is Dekker's protocol: a rank writes `asleep` and counts itself in `sleepers`, then looks once more;
//!    who publishes, or enters a step in which it posts nothing, reads `sleepers` after that. All are SeqCst, so at least one
//!    of them sees the other. A rank that waits for room has told all steps before this one in that way, and nobody whose
//!    own step is older waits for this one.
//! 5. `broken` says why the board is given up, if it is: a rank is gone and was still waited for, or lengths differ. It is
//!    written once, by whoever finds that out; from then on nothing is waited for. Who finds it written *ends* its use of the
//!    board: its steps go on far beyond those of any other, so that it has room for nothing, posts nothing, and is waited for
//!    by nobody. What is posted is therefore of the step that its readers are in, also when ranks come out of an operation at
//!    different places.
//! 6. A control word holds the step and how long the post is, so that who expects another length finds out.
//! 7. Other ranks may be hostile: a control word is compared; a length read from it is at most a buffer's, and places are each
//!    rank's own.
//! 8. `used` decides, where ranks could not agree, whether the board is used: the first to say makes it so for all.

use crate::primitive::{AtomicU32, AtomicU64, Ordering, latest, latest64};
use std::cell::UnsafeCell;

/// Cells of a rank: how many steps it can be ahead of the last one.
pub const CELLS: usize = if cfg!(loom) { 2 } else { 32 };
/// Buffers of a rank: how many steps that use them it can be ahead.
pub const BUFFERS: usize = if cfg!(loom) { 1 } else { 4 };
/// What fits in a cell beside its control word.
pub const INLINE_BYTES: usize = 112;
/// How much of that lies in the control word's own cache line.
pub const LINE_BYTES: usize = 48;
/// Length of a buffer.
pub const BUFFER_BYTES: usize = 32 << 10;

#[cfg(not(loom))]
const PAGE: usize = 4096;

/// Where the step begins in a control word; below it are the bytes and, above those, whether more follows.
const STEP_SHIFT: u32 = 17;
const MORE: u64 = 1 << (STEP_SHIFT - 1);

const _: () = assert!((BUFFER_BYTES as u64) < MORE);

/// In `broken`: the ranks' lengths differ, and with them their steps.
const APART: u32 = u32::MAX;

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
    /// Not 0 while the owner sleeps or is about to. Written by the owner, read by all.
    asleep: AtomicU32,
    cells: [Cell; CELLS],
}

/// What belongs to no rank.
#[repr(C, align(128))]
pub struct Head {
    /// How many are asleep.
    sleepers: AtomicU32,
    /// 0, or a rank that is gone, plus one, or [`APART`].
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

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == 128 && size_of::<Head>() == 128);
const _: () = assert!(std::mem::offset_of!(Cell, inline) + LINE_BYTES == 64);

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
    /// At most [`BUFFER_BYTES`].
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
}

/// Why nothing is waited for on a board any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// This rank is gone.
    Gone(usize),
    /// The ranks' messages were of different lengths, so that some are in other steps than others.
    Apart,
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
        assert!(rank < ranks);
        Board {
            head: base.cast(),
            places: base.wrapping_add(size_of::<Head>()).cast(),
            buffers: base.wrapping_add(buffers_at(ranks)),
            ranks,
            rank,
            step: AtomicU64::new(0),
            all_entered: AtomicU64::new(0),
        }
    }

    pub fn ranks(&self) -> usize {
        self.ranks
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

    /// Enters the next step, in which this rank posts. Nothing of earlier steps is read any more.
    #[inline]
    pub fn enter(&self) -> u64 {
        let step = self.step.load(Ordering::Relaxed) + 1;
        self.step.store(step, Ordering::Relaxed);
        self.place(self.rank).entered.store(step, Ordering::Release);
        step
    }

    /// Enters the next step, in which this rank does not post. True if somebody sleeps.
    #[inline]
    pub fn enter_silently(&self) -> (u64, bool) {
        let step = self.step.load(Ordering::Relaxed) + 1;
        self.step.store(step, Ordering::Relaxed);
        self.place(self.rank).entered.swap(step, Ordering::SeqCst);
        (step, latest(&self.head().sleepers) != 0)
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

    #[inline]
    fn cell(&self, rank: usize, step: u64) -> &Cell {
        &self.place(rank).cells[step as usize % CELLS]
    }

    /// Publishes what this rank has written. True if somebody sleeps.
    #[inline]
    pub fn publish(&self, step: u64, piece: Piece) -> bool {
        let cell = self.cell(self.rank, step);
        let more = if piece.more { MORE } else { 0 };
        let control = step << STEP_SHIFT | more | piece.bytes as u64;
        cell.control.swap(control, Ordering::SeqCst);
        latest(&self.head().sleepers) != 0
    }

    /// How long what a rank has posted in the step is: what it says, as far as a buffer goes.
    #[inline]
    pub fn piece(&self, rank: usize, step: u64) -> Piece {
        let control = self.cell(rank, step).control.load(Ordering::Relaxed);
        Piece {
            bytes: ((control & (MORE - 1)) as usize).min(BUFFER_BYTES),
            more: control & MORE != 0,
        }
    }

    /// The look of rule 4, which is SeqCst.
    #[inline]
    pub fn is_met(&self, need: Need) -> bool {
        match need.what {
            What::Posted => {
                let cell = self.cell(need.rank, need.step);
                latest64(&cell.control) >> STEP_SHIFT == need.step
            }
            What::Entered => latest64(&self.place(need.rank).entered) >= need.step,
        }
    }

    /// Before a sleep, after which needs are to be looked at once more (rule 4).
    pub fn sleeps(&self) {
        let asleep = &self.place(self.rank).asleep;
        if asleep.swap(1, Ordering::SeqCst) == 0 {
            self.head().sleepers.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// After a sleep, or what may have been one.
    pub fn wakes(&self) {
        let asleep = &self.place(self.rank).asleep;
        if asleep.swap(0, Ordering::SeqCst) != 0 {
            self.head().sleepers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Who sleeps, this rank left out.
    pub fn sleepers(&self) -> impl Iterator<Item = usize> {
        (0..self.ranks).filter(|&rank| rank != self.rank && latest(&self.place(rank).asleep) != 0)
    }

    /// Why the board is given up, if it is.
    pub fn broken(&self) -> Option<Broken> {
        match latest(&self.head().broken) {
            0 => None,
            APART => Some(Broken::Apart),
            number => Some(Broken::Gone((number as usize - 1).min(self.ranks - 1))),
        }
    }

    /// Gives the board up, unless it is already.
    pub fn give_up(&self, why: Broken) {
        let number = match why {
            Broken::Gone(rank) => rank as u32 + 1,
            Broken::Apart => APART,
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
        self.head().left.fetch_add(1, Ordering::AcqRel) as usize + 1 == self.ranks
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[repr(align(4096))]
    struct Page(#[expect(dead_code, reason = "memory")] [u8; PAGE]);

    fn memory(ranks: usize) -> Vec<Page> {
        let pages = bytes(ranks).div_ceil(PAGE);
        (0..pages).map(|_| Page([0; PAGE])).collect()
    }

    /// Ranks in threads post as they like and read all, in cells and in buffers by turns.
    #[test]
    fn every_rank_reads_what_every_rank_posts() {
        const RANKS: usize = 3;
        const STEPS: u64 = 5 * CELLS as u64;
        let mut memory = memory(RANKS);
        let base = memory.as_mut_ptr().cast::<u8>().expose_provenance();
        std::thread::scope(|scope| {
            for rank in 0..RANKS {
                scope.spawn(move || {
                    let base = std::ptr::with_exposed_provenance_mut(base);
                    // SAFETY: the memory is long enough, and outlives the threads.
                    let board = unsafe { Board::new(base, rank, RANKS) };
                    for number in 1..=STEPS {
                        let step = board.enter();
                        assert_eq!(step, number);
                        let in_buffer = number % 3 == 0;
                        while board.room(step, in_buffer).is_err() {
                            std::thread::yield_now();
                        }
                        let value = |rank: usize| number * 10 + rank as u64;
                        let payload = board.payload(rank, step, in_buffer).cast::<u64>();
                        // SAFETY: this rank's until it is published.
                        unsafe { payload.write(value(rank)) };
                        board.publish(step, Piece::whole(8));
                        for other in 0..RANKS {
                            let what = What::Posted;
                            while !board.is_met(Need {
                                rank: other,
                                what,
                                step,
                            }) {
                                std::thread::yield_now();
                            }
                            let payload = board.payload(other, step, in_buffer).cast::<u64>();
                            // SAFETY: published, and not written again before this rank enters the next step.
                            assert_eq!(unsafe { payload.read() }, value(other));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_gets_further_ahead_than_there_is_room() {
        let mut memory = memory(2);
        let base = memory.as_mut_ptr().cast();
        // SAFETY: the memory is long enough, and outlives the boards.
        let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
        for _ in 1..CELLS {
            let step = first.enter();
            first.room(step, false).unwrap();
            assert_eq!(first.room(step, true).is_ok(), step < BUFFERS as u64);
            first.publish(step, Piece::NOTHING);
        }
        let step = first.enter();
        let need = Need {
            rank: 1,
            what: What::Entered,
            step: 1,
        };
        assert_eq!(first.room(step, false), Err(need));
        assert!(!first.is_met(need));
        assert_eq!(second.enter_silently(), (1, false));
        assert!(first.is_met(need));
        first.room(step, false).unwrap();
    }

    #[test]
    fn what_is_posted_says_how_long_it_is() {
        let mut memory = memory(2);
        let base = memory.as_mut_ptr().cast();
        // SAFETY: the memory is long enough, and outlives the boards.
        let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
        for (bytes, more) in [(0, false), (BUFFER_BYTES, true), (7, true), (100, false)] {
            let step = first.enter();
            first.publish(step, Piece { bytes, more });
            assert_eq!(second.piece(0, step), Piece { bytes, more });
            let what = What::Posted;
            let posted = |step| {
                let rank = 0;
                second.is_met(Need { rank, what, step })
            };
            assert!(posted(step) && !posted(step + 1) && !posted(step + CELLS as u64));
        }
        // A word that no rank writes reaches no further than a buffer.
        first.cell(0, 9).control.store(!0, Ordering::Relaxed);
        assert_eq!(second.piece(0, 9).bytes, BUFFER_BYTES);
    }

    #[test]
    fn who_sleeps_is_told_of_and_who_is_gone_is_named_once() {
        let mut memory = memory(2);
        let base = memory.as_mut_ptr().cast();
        // SAFETY: the memory is long enough, and outlives the boards.
        let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
        second.sleeps();
        second.sleeps();
        assert!(first.enter_silently().1 && first.publish(1, Piece::NOTHING));
        assert!(first.sleepers().eq([1]));
        second.wakes();
        assert!(!first.enter_silently().1 && first.sleepers().next().is_none());
        assert_eq!(first.broken(), None);
        first.give_up(Broken::Gone(1));
        second.give_up(Broken::Apart);
        let gone = Some(Broken::Gone(1));
        assert_eq!((first.broken(), second.broken()), (gone, gone));
        assert!(!first.leave());
        assert!(second.leave());
    }

    /// Also when all have ended, at different steps.
    #[test]
    fn who_has_ended_has_no_room_and_is_not_waited_for() {
        let mut memory = memory(2);
        let base = memory.as_mut_ptr().cast();
        // SAFETY: the memory is long enough, and outlives the boards.
        let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
        let step = first.enter();
        first.publish(step, Piece::NOTHING);
        first.give_up(Broken::Gone(1));
        first.end();
        for _ in 0..3 * CELLS {
            let need = first.room(first.enter(), false).unwrap_err();
            assert!(!first.is_met(need) && !second.is_met(need));
        }
        for _ in 0..3 * CELLS {
            second.room(second.enter(), false).unwrap();
        }
        second.end();
        for board in [&first, &second] {
            let need = board.room(board.enter(), true).unwrap_err();
            assert!(!first.is_met(need) && !second.is_met(need));
        }
    }

    #[test]
    fn the_first_decides_whether_the_board_is_used() {
        for wanted in [false, true] {
            let mut memory = memory(2);
            let base = memory.as_mut_ptr().cast();
            // SAFETY: the memory is long enough, and outlives the boards.
            let (first, second) = unsafe { (Board::new(base, 0, 2), Board::new(base, 1, 2)) };
            assert_eq!(second.decide(wanted), wanted);
            assert_eq!(first.decide(!wanted), wanted);
            assert_eq!(second.decide(wanted), wanted);
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::Parker;
    use crate::primitive::{Plain, bounded, yield_now};
    use loom::sync::Arc;
    use loom::thread;

    /// The memory of two ranks; payload is in words of its own, which loom watches.
    struct Memory {
        head: Head,
        places: Vec<Place>,
        payload: Vec<Plain>,
        parkers: [Parker; 2],
    }

    impl Memory {
        fn new() -> Arc<Memory> {
            let cell = |_| Cell {
                control: AtomicU64::new(0),
                inline: Inline(UnsafeCell::new([0; INLINE_BYTES])),
            };
            let place = |_| Place {
                entered: AtomicU64::new(0),
                asleep: AtomicU32::new(0),
                cells: std::array::from_fn(cell),
            };
            Arc::new(Memory {
                head: Head {
                    sleepers: AtomicU32::new(0),
                    broken: AtomicU32::new(0),
                    left: AtomicU32::new(0),
                    used: AtomicU32::new(0),
                },
                places: (0..2).map(place).collect(),
                payload: (0..2 * CELLS).map(|_| Plain::new(0)).collect(),
                parkers: [Parker::new(), Parker::new()],
            })
        }

        fn board(&self, rank: usize) -> Board {
            Board {
                head: &self.head,
                places: self.places.as_ptr(),
                buffers: std::ptr::null_mut(),
                ranks: 2,
                rank,
                step: AtomicU64::new(0),
                all_entered: AtomicU64::new(0),
            }
        }

        fn payload(&self, rank: usize, step: u64) -> &Plain {
            &self.payload[rank * CELLS + step as usize % CELLS]
        }

        fn wake(&self, board: &Board, any: bool) {
            if any {
                board
                    .sleepers()
                    .for_each(|rank| self.parkers[rank].unpark());
            }
        }
    }

    fn wait(memory: &Memory, board: &Board, need: Need) {
        while !board.is_met(need) {
            board.sleeps();
            if !board.is_met(need) {
                memory.parkers[board.rank].park(None);
            }
            board.wakes();
        }
    }

    /// Posts `steps` values, sleeping when there is no room.
    fn post(memory: &Memory, board: &Board, steps: u64) {
        for _ in 0..steps {
            let step = board.enter();
            while let Err(need) = board.room(step, false) {
                wait(memory, board, need);
            }
            memory.payload(board.rank, step).write(step);
            memory.wake(board, board.publish(step, Piece::NOTHING));
        }
    }

    /// Reads what `from` posts, sleeping when there is none.
    fn read(memory: &Memory, board: &Board, from: usize, steps: u64) {
        for _ in 0..steps {
            let (step, sleepers) = board.enter_silently();
            memory.wake(board, sleepers);
            let what = What::Posted;
            wait(
                memory,
                board,
                Need {
                    rank: from,
                    what,
                    step,
                },
            );
            assert_eq!(memory.payload(from, step).read(), step);
        }
        let (_, sleepers) = board.enter_silently();
        memory.wake(board, sleepers);
    }

    /// More steps than cells: the one who posts waits for room, the other for posts; no wake-up is lost, and no cell is
    /// written while it is read.
    #[test]
    fn posts_arrive_and_cells_are_used_again() {
        bounded(|| {
            let memory = Memory::new();
            let other = {
                let memory = memory.clone();
                thread::spawn(move || read(&memory, &memory.board(1), 0, 3))
            };
            post(&memory, &memory.board(0), 3);
            other.join().unwrap();
        });
    }

    /// Both post and read: the step of a barrier, or of an exchange.
    #[test]
    fn both_read_what_both_post() {
        fn exchange(memory: &Memory, rank: usize) {
            let board = memory.board(rank);
            let step = board.enter();
            board.room(step, false).unwrap();
            memory.payload(rank, step).write(step + 10 * rank as u64);
            memory.wake(&board, board.publish(step, Piece::NOTHING));
            let (what, other) = (What::Posted, 1 - rank);
            wait(
                memory,
                &board,
                Need {
                    rank: other,
                    what,
                    step,
                },
            );
            assert_eq!(memory.payload(other, step).read(), step + 10 * other as u64);
        }
        bounded(|| {
            let memory = Memory::new();
            let other = {
                let memory = memory.clone();
                thread::spawn(move || exchange(&memory, 1))
            };
            exchange(&memory, 0);
            other.join().unwrap();
        });
    }

    /// The last to leave is one, and it sees what the other did before.
    #[test]
    fn one_is_the_last_to_leave() {
        loom::model(|| {
            let memory = Memory::new();
            let leave = |memory: &Memory, rank: usize| {
                memory.payload(rank, 0).write(1);
                let last = memory.board(rank).leave();
                if last {
                    assert_eq!(memory.payload(1 - rank, 0).read(), 1);
                }
                last
            };
            let other = {
                let memory = memory.clone();
                thread::spawn(move || leave(&memory, 1))
            };
            let mine = leave(&memory, 0);
            yield_now();
            assert!(mine != other.join().unwrap());
        });
    }
}
