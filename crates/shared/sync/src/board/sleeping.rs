//! Who sleeps on a board for what, and who rings whom.
//!
//! 1. A rank that is about to sleep counts itself in `sleepers`, then writes what it needs to `awaited`, then looks
//!    once more (rule 4 of the board). So `sleepers` is never less than the ranks that are asleep and not rung.
//! 2. Whoever has done something that others may sleep for, and sees that somebody sleeps, looks at all of them. A
//!    rank for which what it needs is there, or comes no more, is *rung* by the one that changes its `awaited` to
//!    [`RUNG`] and takes it off `sleepers`: once, however many look.
//! 3. A rank that is rung finds what it needs when it looks: that stays until it has entered a later step. So it may
//!    go on to sleep only for another need.
//! 4. A rank that runs again writes [`AWAKE`], takes itself off `sleepers` unless it was rung, and helps to ring the
//!    others, from the other end. So each that wakes shares the work: ringing many takes as long as a tree's depth,
//!    whatever a ring takes and a wake. Nobody depends on that help.
//!
//! What others write is a hint: a rank that is not rung wakes at the end of its longest sleep.

use super::{Board, MOST_RANKS, Need, STEP_SHIFT, What};
use crate::primitive::{Ordering, full_fence, latest64};

const AWAKE: u64 = 0;
const RUNG: u64 = 1;
/// Of the word of a rank that is asleep. Below it whether it waits for a post, the rank and the step.
const ASLEEP: u64 = 1 << 63;
const POSTED: u64 = 1 << 62;
const STEP_BITS: u32 = u64::BITS - STEP_SHIFT;
const LAST_STEP: u64 = (1 << STEP_BITS) - 1;

impl Need {
    fn word(self) -> u64 {
        let posted = if self.what == What::Posted { POSTED } else { 0 };
        ASLEEP | posted | (self.rank as u64) << STEP_BITS | self.step.min(LAST_STEP)
    }

    /// What a rank of so many that is asleep says.
    fn said(word: u64, ranks: usize) -> Option<Need> {
        let rank = (word >> STEP_BITS) as usize % MOST_RANKS;
        let what = match word & POSTED {
            0 => What::Entered,
            _ => What::Posted,
        };
        let step = word & LAST_STEP;
        (word & ASLEEP != 0 && rank < ranks).then_some(Need { rank, what, step })
    }
}

impl Board {
    /// Before a sleep, after which the need is to be looked at once more: rule 1.
    pub fn sleeps(&self, need: Need) {
        let awaited = &self.place(self.rank).awaited;
        if latest64(awaited) == need.word() {
            return;
        }
        let sleepers = &self.head().sleepers;
        sleepers.fetch_add(1, Ordering::SeqCst);
        if awaited.swap(need.word(), Ordering::SeqCst) & ASLEEP != 0 {
            sleepers.fetch_sub(1, Ordering::SeqCst);
        }
        full_fence();
    }

    /// After a sleep, or what may have been one. Whether it may have been, and others still sleep: those are to be
    /// helped.
    pub fn wakes(&self) -> bool {
        let before = self.place(self.rank).awaited.swap(AWAKE, Ordering::SeqCst);
        if before & ASLEEP != 0 {
            self.head().sleepers.fetch_sub(1, Ordering::SeqCst);
        }
        before != AWAKE && self.head().sleepers.load(Ordering::Relaxed) != 0
    }

    /// Those that are to be rung, by nobody else: rule 2. For one that has slept itself they come the other way round.
    pub fn sleepers(&self) -> impl DoubleEndedIterator<Item = usize> {
        let others = (1..self.ranks).map(|ahead| (self.rank + ahead) % self.ranks);
        others.filter(|&rank| self.claim(rank))
    }

    fn claim(&self, rank: usize) -> bool {
        let awaited = &self.place(rank).awaited;
        let word = latest64(awaited);
        let comes = |need| self.is_met(need) || self.broken().is_some();
        let is_claimed = Need::said(word, self.ranks).is_some_and(comes)
            && awaited
                .compare_exchange(word, RUNG, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok();
        if is_claimed {
            self.head().sleepers.fetch_sub(1, Ordering::SeqCst);
        }
        is_claimed
    }
}
