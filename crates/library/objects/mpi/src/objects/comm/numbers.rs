//! Numbers of communicators: agreed among the processes of a new one, given back when it is freed.
//!
//! Every process holds the set of numbers in use by its communicators. To agree, each proposes the lowest one
//! it could take and reserves it; if the largest and the smallest proposal are the same, all have it. If not,
//! the next round starts at the largest. A number stays reserved only by a process that may yet agree on it,
//! so communicators made by several threads at once get different numbers.
//!
//! Agreements under way at once can take each other's numbers, in one order here and in another there, round after
//! round. So from its third round on an agreement starts higher by a number drawn at random, from twice as many each
//! time: one of the processes draws it, and the maximum tells it to all.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::error::{Class, Result, argument};
use crate::handle::CommId;

/// Numbers that are agreed on are below this: 2^22 with those that are not, so that a context with its traffic bits fits.
const NUMBERS: u32 = (1 << 22) - 2;

/// The number of what all processes of the job have from the start, without a handle.
pub(crate) const EVERYONE: u32 = NUMBERS;
/// The number of a communicator whose processes have not agreed on one yet: nothing is sent under it.
pub(crate) const UNAGREED: u32 = NUMBERS + 1;

/// Numbers that are agreed on are at least this.
const LOWEST: u32 = 2;
/// Rounds of an agreement that nothing is added to: two threads' first round often collides, their second seldom.
const PLAIN_ROUNDS: u32 = 2;
/// A round starts less than 2 to the power of this above the last one's largest number: what is drawn at random has as
/// many bits.
const DRAWN_BITS: u32 = 10;

/// Numbers in use by this process.
pub(crate) struct Contexts(Mutex<Used>);

struct Used {
    /// Free numbers below `fresh`.
    freed: BTreeSet<u32>,
    fresh: u32,
    comms: HashMap<u32, CommId>,
}

static CONTEXTS: LazyLock<Contexts> = LazyLock::new(Contexts::new);

/// The numbers in use by this process.
pub(crate) fn contexts() -> &'static Contexts {
    &CONTEXTS
}

impl Contexts {
    pub fn new() -> Contexts {
        let comms = HashMap::from([(0, CommId::WORLD), (1, CommId::SELF)]);
        Contexts(Mutex::new(Used {
            freed: BTreeSet::new(),
            fresh: LOWEST,
            comms,
        }))
    }

    /// Reserves the lowest free number that is at least `floor`.
    fn reserve(&self, floor: u32) -> Option<u32> {
        let mut used = self.0.lock();
        if let Some(&number) = used.freed.range(floor..).next() {
            used.freed.remove(&number);
            return Some(number);
        }
        let number = used.fresh.max(floor);
        if number >= NUMBERS {
            return None;
        }
        let skipped = used.fresh..number;
        used.freed.extend(skipped);
        used.fresh = number + 1;
        Some(number)
    }

    /// Gives a number back.
    pub fn release(&self, number: u32) {
        let mut used = self.0.lock();
        used.comms.remove(&number);
        used.freed.insert(number);
        // Keep the set small: numbers at the end are simply fresh again.
        while used.fresh > LOWEST && used.freed.last() == Some(&(used.fresh - 1)) {
            used.freed.pop_last();
            used.fresh -= 1;
        }
    }

    /// The handle of a number's communicator, if it has one here still.
    pub fn comm(&self, number: u32) -> Option<CommId> {
        self.0.lock().comms.get(&number).copied()
    }

    pub fn bind(&self, number: u32, comm: CommId) {
        self.0.lock().comms.insert(number, comm);
    }

    /// Agrees on a number: `largest` returns the element-wise maximum over the new communicator's processes.
    pub fn agree(&self, mut largest: impl FnMut([i64; 2]) -> Result<[i64; 2]>) -> Result<u32> {
        let mut agreement = self.begin();
        loop {
            let agreed = largest(agreement.propose())?;
            if let Some(number) = agreement.settle(agreed)? {
                return Ok(number);
            }
        }
    }

    /// The steps of [`agree`](Self::agree), for who waits in another way.
    pub fn begin(&self) -> Agreement<'_> {
        Agreement {
            contexts: self,
            floor: LOWEST,
            proposal: None,
            rounds: 0,
            again: false,
        }
    }
}

/// An agreement under way. What it has reserved is free again if it is given up.
pub(crate) struct Agreement<'a> {
    contexts: &'a Contexts,
    floor: u32,
    proposal: Option<u32>,
    rounds: u32,
    /// It has come to the end once, perhaps past free numbers, and looks at all of them now.
    again: bool,
}

impl Agreement<'_> {
    /// This process's words of the next round, of which the element-wise maximum is to be found.
    pub fn propose(&mut self) -> [i64; 2] {
        self.proposal = self.contexts.reserve(self.floor);
        // A process that has none left proposes the end, which all then see.
        let number = i64::from(self.proposal.unwrap_or(NUMBERS)) << DRAWN_BITS;
        let drawn = RandomState::new().hash_one(()) >> (u64::BITS - DRAWN_BITS);
        [number | drawn as i64, -number]
    }

    /// The number, if a round with that maximum has found it.
    pub fn settle(&mut self, [high, low]: [i64; 2]) -> Result<Option<u32>> {
        let drawn = high as u32 & ((1 << DRAWN_BITS) - 1);
        let (high, low) = ((high >> DRAWN_BITS) as u32, (-low >> DRAWN_BITS) as u32);
        if high == low && self.proposal.is_some() {
            return Ok(self.proposal.take());
        }
        self.give_up();
        self.rounds += 1;
        if high >= NUMBERS {
            return self.start_again();
        }
        self.floor = match self.rounds.saturating_sub(PLAIN_ROUNDS) {
            doublings if !self.again => high + drawn % (1 << doublings.min(DRAWN_BITS)),
            _ => high,
        };
        Ok(None)
    }

    /// No number is free from the floor on.
    #[cold]
    fn start_again(&mut self) -> Result<Option<u32>> {
        if self.again {
            let what =
                format_args!("no number is free: {NUMBERS} communicators at once are the limit");
            return Err(argument(Class::Other, "newcomm", what));
        }
        self.again = true;
        self.floor = LOWEST;
        Ok(None)
    }

    fn give_up(&mut self) {
        if let Some(number) = self.proposal.take() {
            self.contexts.release(number);
        }
    }
}

impl Drop for Agreement<'_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_reused() {
        let contexts = Contexts::new();
        let alone = |pair| Ok(pair);
        let numbers: Vec<u32> = (0..4).map(|_| contexts.agree(alone).unwrap()).collect();
        assert_eq!(numbers, [2, 3, 4, 5]);
        contexts.release(3);
        assert_eq!(contexts.agree(alone).unwrap(), 3);
        for number in [2, 3, 4, 5] {
            contexts.release(number);
        }
        assert_eq!(contexts.0.lock().fresh, 2);
        assert!(contexts.0.lock().freed.is_empty());
    }

    fn element_wise([a, b]: [i64; 2], [c, d]: [i64; 2]) -> [i64; 2] {
        [a.max(c), b.max(d)]
    }

    /// Rounds of one agreement between two processes until it ends.
    fn agree_both(mine: &Contexts, other: &Contexts) -> [Result<u32>; 2] {
        let mut both = [mine, other].map(Contexts::begin);
        loop {
            let [a, b] = both.each_mut().map(Agreement::propose);
            let agreed = element_wise(a, b);
            match both.each_mut().map(|one| one.settle(agreed)) {
                [Ok(None), Ok(None)] => {}
                settled => return settled.map(|number| number.map(Option::unwrap)),
            }
        }
    }

    #[test]
    fn two_processes_agree_on_a_number_free_at_both() {
        let (mine, other) = (Contexts::new(), Contexts::new());
        for _ in 0..3 {
            mine.agree(Ok).unwrap();
        }
        other.reserve(7);
        let agreed = agree_both(&mine, &other).map(Result::unwrap);
        assert_eq!(agreed, [5, 5]);
    }

    #[test]
    fn agreements_that_take_each_others_numbers_end() {
        // Each process has the agreements' turns in its own order, the same in all rounds.
        for count in 2..9 {
            let processes = [Contexts::new(), Contexts::new()];
            let mut agreements: Vec<_> = (0..count)
                .map(|_| processes.each_ref().map(Contexts::begin))
                .collect();
            let mut numbers = vec![None; count];
            for round in 0.. {
                assert!(round < 100, "{count} agreements");
                let open: Vec<usize> = (0..count).filter(|&i| numbers[i].is_none()).collect();
                if open.is_empty() {
                    break;
                }
                let mut proposed = vec![[[0; 2]; 2]; count];
                for &i in &open {
                    proposed[i][0] = agreements[i][0].propose();
                }
                for &i in open.iter().rev() {
                    proposed[i][1] = agreements[i][1].propose();
                }
                for &i in &open {
                    let agreed = element_wise(proposed[i][0], proposed[i][1]);
                    let settled = agreements[i].each_mut().map(|one| one.settle(agreed));
                    let [Ok(mine), Ok(other)] = settled else {
                        panic!("{count} agreements: no number is free");
                    };
                    assert_eq!(mine, other);
                    numbers[i] = mine;
                }
            }
            let different: BTreeSet<u32> = numbers.iter().flatten().copied().collect();
            assert_eq!(different.len(), count);
        }
    }

    #[test]
    fn without_a_number_free_at_both_all_fail() {
        let (mine, other) = (Contexts::new(), Contexts::new());
        // All are taken but a few: odd ones here, even ones there; then one below all that have been looked at as well.
        for (process, free) in [(&mine, [5, 7, 21]), (&other, [6, 8, 20])] {
            let mut used = process.0.lock();
            used.fresh = NUMBERS;
            used.freed = BTreeSet::from(free);
        }
        for result in agree_both(&mine, &other) {
            assert_eq!(result.unwrap_err().class, Class::Other);
        }
        other.release(5);
        let agreed = agree_both(&mine, &other).map(Result::unwrap);
        assert_eq!(agreed, [5, 5]);
    }

    #[test]
    fn a_million_live_ones() {
        let contexts = Contexts::new();
        for _ in 0..1 << 20 {
            contexts.reserve(2).unwrap();
        }
        assert_eq!(contexts.reserve(2), Some((1 << 20) + 2));
    }
}
