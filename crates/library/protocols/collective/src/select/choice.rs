//! Who decides which algorithm an operation runs by.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Call, Needs, Placement, Sharing};

/// Who decides which algorithm an operation runs by: its table, or whoever measures them.
pub struct Choice {
    pub operation: &'static str,
    pub(super) algorithms: fn() -> Vec<Described>,
    pub(super) table: fn(Call) -> usize,
    /// Lengths at which the table's choice may change: the last of each rule.
    pub(super) bounds: fn() -> Vec<usize>,
    /// The number of the algorithm that goes by the board.
    pub(super) shared: usize,
    /// One more than the number of an algorithm; 0 while the table decides.
    pub(super) forced: AtomicUsize,
}

/// An algorithm, for those who measure it.
pub(super) struct Described {
    name: String,
    rule: String,
    needs: Needs,
}

impl Described {
    /// One among ranks that are alike, or one that is composed of such.
    pub fn new(algorithm: impl Debug, needs: Needs, is_flat: bool) -> Described {
        let rule = match is_flat {
            true => format!("Flat({algorithm:?})"),
            false => format!("{algorithm:?}"),
        };
        Described {
            name: name_of(algorithm),
            rule,
            needs,
        }
    }
}

impl Choice {
    /// The names of the algorithms, by number.
    pub fn algorithms(&self) -> Vec<String> {
        let all = (self.algorithms)().into_iter();
        all.map(|one| one.name).collect()
    }

    /// How a rule names each algorithm that can run among ranks that are so placed and share so much, with its number; none is one host.
    pub fn rules_on(&self, placement: Option<Placement>, sharing: Sharing) -> Vec<(usize, String)> {
        let call = Call {
            bytes: 0,
            ranks: placement.map_or(2, |placement| placement.hosts * placement.ranks_a_host),
            oversubscribed: false,
            sharing,
            are_near: false,
            placement,
        };
        let all = (self.algorithms)().into_iter().enumerate();
        let can_run = all.filter(|(_, one)| one.needs.are_met(call));
        can_run.map(|(number, one)| (number, one.rule)).collect()
    }

    /// The algorithm that all calls from now on run by, or none to let the table decide. The same on all ranks, and no
    /// call under way. Where it needs more than the ranks share, the table decides.
    pub fn force(&self, algorithm: Option<usize>) {
        let number = algorithm.map_or(0, |number| number + 1);
        self.forced.store(number, Ordering::Relaxed);
    }

    /// Up to which length the table has ranks on one host go by the board, if it does at all; the call's own does not count.
    pub(crate) fn shared_up_to(&self, call: Call) -> Option<usize> {
        let is_shared = |&bytes: &usize| (self.table)(Call { bytes, ..call }) == self.shared;
        let mut bounds = (self.bounds)();
        bounds.sort_unstable();
        let shared = bounds.into_iter().take_while(is_shared);
        shared.last()
    }

    /// Whether it is the algorithm by the board that is forced; none while the table decides.
    #[inline(always)]
    pub(crate) fn is_shared_forced(&self) -> Option<bool> {
        self.forced().map(|number| number == self.shared)
    }

    #[inline(always)]
    pub fn forced(&self) -> Option<usize> {
        self.forced.load(Ordering::Relaxed).checked_sub(1)
    }

    /// What the table says for a message, or block, of that many bytes.
    pub fn by_table(
        &self,
        bytes: usize,
        ranks: usize,
        oversubscribed: bool,
        sharing: Sharing,
        placement: Option<Placement>,
    ) -> usize {
        (self.table)(Call {
            bytes,
            ranks,
            oversubscribed,
            sharing,
            are_near: false,
            placement,
        })
    }
}

/// `RecursiveDoubling` as `recursive_doubling`.
fn name_of(algorithm: impl Debug) -> String {
    let mut name = String::new();
    for letter in format!("{algorithm:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
