//! Whether the cores of the processes that share an arena are so near that bytes are better passed on through shared memory than copied by the kernel.
//!
//! 1. Behind the board each process has a piece that it *shows*, before the processes agree that all have the arena; nobody
//!    writes there afterwards.
//! 2. Once they have agreed, each says in its word here what it is to the process before it (`weft_shm::pair`), before it
//!    enters a step of the board: what was found when they linked, or is found by that piece. The word is written once, by
//!    its process alone.
//! 3. All have to choose the same algorithms. So the words are looked at at the beginning of an operation from a step on that is the
//!    same on all of them, and of which each knows that all have entered a step: that far a process is never ahead (rule 2 of the board).

use std::sync::atomic::{AtomicU32, Ordering};

use weft_shm::Process;
use weft_shm::pair::{self, SHOWN_BYTES};
use weft_sync::board::{Board, CELLS};

const PAGE: usize = 4 << 10;

/// In a word: that its process is near the one before it, or far from it.
const NEAR: u32 = 1;
const FAR: u32 = 2;

/// Of the first operation that looks at the words.
const LOOKED_AT_FROM: u64 = CELLS as u64 + 2;

/// Areas and words, as one process has them.
pub struct Nearness {
    areas: *mut u8,
    own: usize,
    ranks: usize,
    /// What the words say, once they were looked at: 0 before.
    all: AtomicU32,
}

// SAFETY: addresses of memory that is shared by the rules above.
unsafe impl Send for Nearness {}
// SAFETY: as above; what changes after the agreement is atomic.
unsafe impl Sync for Nearness {}

impl Nearness {
    /// Bytes of memory for so many processes.
    pub fn bytes(ranks: usize) -> usize {
        ranks * SHOWN_BYTES + (ranks * size_of::<AtomicU32>()).next_multiple_of(PAGE)
    }

    /// # Safety
    /// [`bytes`](Self::bytes) from `areas` on, zero at first and aligned to a page, stay valid for reads and writes as long as this exists, and are written by the
    /// same of other processes only.
    pub unsafe fn new(areas: *mut u8, own: usize, ranks: usize) -> Nearness {
        assert!(own < ranks);
        Nearness {
            areas,
            own,
            ranks,
            all: AtomicU32::new(0),
        }
    }

    fn area(&self, rank: usize) -> *mut u8 {
        debug_assert!(rank < self.ranks);
        self.areas.wrapping_add(rank * SHOWN_BYTES)
    }

    fn word(&self, rank: usize) -> &AtomicU32 {
        assert!(rank < self.ranks);
        let words = self.areas.wrapping_add(self.ranks * SHOWN_BYTES);
        // SAFETY: within the memory by the contract of `new`; words are atomics.
        unsafe { &*words.cast::<AtomicU32>().add(rank) }
    }

    /// Before the processes agree: shows the own area.
    pub fn show(&self) {
        // SAFETY: the own area is this process's to write (rule 1).
        unsafe { pair::show(self.area(self.own)) };
    }

    /// Once they have agreed: says what this process is to the one before it, of `processes`.
    pub fn find(&self, processes: &[Process]) {
        let before = (self.own + self.ranks - 1) % self.ranks;
        // SAFETY: the area is one that nobody writes any more (rule 1).
        let is_near = unsafe { processes[before].is_near(self.area(before)) };
        self.say(is_near);
    }

    fn say(&self, is_near: bool) {
        let found = if is_near { NEAR } else { FAR };
        self.word(self.own).store(found, Ordering::Release);
    }

    /// Whether all have found that they are near, at the beginning of an operation; none while not all know it (rule 3).
    #[inline]
    pub fn is_near(&self, board: &Board) -> Option<bool> {
        match self.all.load(Ordering::Relaxed) {
            0 => self.look(board),
            all => Some(all == NEAR),
        }
    }

    #[cold]
    fn look(&self, board: &Board) -> Option<bool> {
        if board.step() < LOOKED_AT_FROM {
            return None;
        }
        let near = (0..self.ranks).all(|rank| self.word(rank).load(Ordering::Acquire) == NEAR);
        self.all
            .store(if near { NEAR } else { FAR }, Ordering::Relaxed);
        Some(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_sync::board;

    /// Memory of so many bytes, of zeros, aligned to a page.
    fn memory(bytes: usize) -> Vec<[u64; PAGE / 8]> {
        vec![[0; PAGE / 8]; bytes.div_ceil(PAGE) + 1]
    }

    /// Where the first page of such memory begins.
    fn first_page(memory: &mut [[u64; PAGE / 8]]) -> *mut u8 {
        let base = memory.as_mut_ptr().cast::<u8>();
        base.wrapping_add(base.align_offset(PAGE))
    }

    #[test]
    fn words_are_looked_at_by_all_at_one_step() {
        let ranks = 3;
        let (mut areas, mut places) = (
            memory(Nearness::bytes(ranks)),
            memory(board::bytes(ranks) + PAGE),
        );
        let base = areas.as_mut_ptr().cast::<u8>();
        let board_base = first_page(&mut places);
        // SAFETY: both pieces are long enough and live to the end.
        let all: Vec<(Nearness, Board)> = (0..ranks)
            .map(|rank| unsafe {
                (
                    Nearness::new(base, rank, ranks),
                    Board::new(board_base, rank, ranks),
                )
            })
            .collect();
        all.iter().for_each(|(nearness, _)| nearness.show());
        all.iter().for_each(|(nearness, _)| nearness.say(true));
        for step in 1..=LOOKED_AT_FROM {
            for (nearness, board) in &all {
                assert_eq!(nearness.is_near(board), None, "{step}");
                board.enter();
            }
        }
        let are_near = || {
            let mut all = all.iter();
            all.all(|(nearness, board)| nearness.is_near(board) == Some(true))
        };
        assert!(are_near());
        // What was found stays.
        all[1].0.word(1).store(FAR, Ordering::Relaxed);
        assert!(are_near());
    }

    #[test]
    fn one_that_is_far_is_enough() {
        let mut areas = memory(Nearness::bytes(2));
        let mut places = memory(board::bytes(2) + PAGE);
        let board_base = first_page(&mut places);
        // SAFETY: both pieces are long enough and live to the end.
        let (nearness, board) = unsafe {
            (
                Nearness::new(areas.as_mut_ptr().cast(), 0, 2),
                Board::new(board_base, 0, 2),
            )
        };
        nearness.word(0).store(NEAR, Ordering::Relaxed);
        nearness.word(1).store(FAR, Ordering::Relaxed);
        (0..LOOKED_AT_FROM).for_each(|_| {
            board.enter();
        });
        assert_eq!(nearness.is_near(&board), Some(false));
    }
}
