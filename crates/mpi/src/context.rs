//! Numbers of communicators: agreed among the processes of a new one, given back when it is freed.
//!
//! Every process holds the set of numbers in use by its communicators. To agree, each proposes the lowest one
//! it could take and reserves it; if the largest and the smallest proposal are the same, all have it. If not,
//! the next round starts at the largest. A number stays reserved only by a process that may yet agree on it,
//! so communicators made by several threads at once get different numbers.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};

use crate::comm::CommId;
use crate::error::handler::argument;
use crate::error::{Class, Result};

/// Numbers that are agreed on are below this: 2^22 with those that are not, so that a context with its traffic bits fits.
const NUMBERS: u32 = (1 << 22) - 2;

/// The number of what all processes of the job have from the start, without a handle.
pub(crate) const EVERYONE: u32 = NUMBERS;
/// The number of a communicator whose processes have not agreed on one yet: nothing is sent under it.
pub(crate) const UNAGREED: u32 = NUMBERS + 1;

/// Numbers in use by this process.
pub(crate) struct Contexts(Mutex<Used>);

struct Used {
    /// Free numbers below `fresh`.
    freed: BTreeSet<u32>,
    fresh: u32,
    comms: HashMap<u32, CommId>,
}

impl Contexts {
    pub fn new() -> Contexts {
        let comms = HashMap::from([(0, CommId::WORLD), (1, CommId::SELF)]);
        Contexts(Mutex::new(Used {
            freed: BTreeSet::new(),
            fresh: 2,
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
        while used.fresh > 2 && used.freed.last() == Some(&(used.fresh - 1)) {
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
            floor: 2,
            proposal: None,
        }
    }
}

/// An agreement under way. What it has reserved is free again if it is given up.
pub(crate) struct Agreement<'a> {
    contexts: &'a Contexts,
    floor: u32,
    proposal: Option<u32>,
}

impl Agreement<'_> {
    /// This process's words of the next round, of which the element-wise maximum is to be found.
    pub fn propose(&mut self) -> [i64; 2] {
        self.proposal = self.contexts.reserve(self.floor);
        // A process that has none left proposes the end, which all then see.
        let number = i64::from(self.proposal.unwrap_or(NUMBERS));
        [number, -number]
    }

    /// The number, if a round with that maximum has found it.
    pub fn settle(&mut self, [high, low]: [i64; 2]) -> Result<Option<u32>> {
        if high == -low && self.proposal.is_some() {
            return Ok(self.proposal.take());
        }
        self.give_up();
        if high >= i64::from(NUMBERS) {
            let what =
                format_args!("no number is free: {NUMBERS} communicators at once are the limit");
            return Err(argument(Class::Other, "newcomm", what));
        }
        self.floor = high as u32;
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

    #[test]
    fn two_processes_agree_on_a_number_free_at_both() {
        let (mine, other) = (Contexts::new(), Contexts::new());
        for _ in 0..3 {
            mine.agree(Ok).unwrap();
        }
        other.reserve(7);
        // The other side of the agreement, step by step.
        let mut floor = 2;
        let agreed = mine.agree(|[high, low]| {
            let proposal = i64::from(other.reserve(floor).unwrap());
            let result = [high.max(proposal), low.max(-proposal)];
            if result[0] != -result[1] {
                other.release(proposal as u32);
                floor = result[0] as u32;
            }
            Ok(result)
        });
        assert_eq!(agreed.unwrap(), 5);
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
