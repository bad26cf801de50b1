//! Who decides which algorithm an operation runs by.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

use weft_prices::ITEMS;

use super::{Call, Needs, Placement, Sharing, memo};

/// Who decides which algorithm an operation runs by: what they cost, or whoever measures them.
pub struct Choice {
    pub operation: &'static str,
    pub(super) algorithms: fn() -> Vec<Described>,
    /// The number of the one that is chosen while none is forced.
    pub(super) chosen: fn(Call) -> usize,
    /// What each algorithm among ranks that are alike takes of each item, by its number.
    pub(super) counts: fn(Call) -> Vec<(u8, [f64; ITEMS])>,
    /// The number of the algorithm that goes by the board.
    pub(super) shared: usize,
    /// One more than the number of an algorithm; 0 while none is forced.
    pub(super) forced: AtomicUsize,
}

/// An algorithm, for those who measure it.
pub(super) struct Described {
    name: String,
    pub(super) needs: Needs,
}

impl Described {
    pub fn new(algorithm: impl Debug, needs: Needs) -> Described {
        let name = name_of(algorithm);
        Described { name, needs }
    }
}

impl Choice {
    /// The names of the algorithms, by number.
    pub fn algorithms(&self) -> Vec<String> {
        let all = (self.algorithms)().into_iter();
        all.map(|one| one.name).collect()
    }

    /// The numbers of the algorithms that can run among ranks that are so placed and share so much; none is one host.
    pub fn possible(&self, placement: Option<Placement>, sharing: Sharing) -> Vec<usize> {
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
        can_run.map(|(number, _)| number).collect()
    }

    /// The algorithm that all calls from now on run by, or none to take the cheapest again. The same on all ranks, and no
    /// call under way. Where it needs more than the ranks share, the cheapest is taken.
    pub fn force(&self, algorithm: Option<usize>) {
        let number = algorithm.map_or(0, |number| number + 1);
        self.forced.store(number, Ordering::Relaxed);
    }

    /// What each algorithm takes of each item for a message, or block, of that many bytes, among so many ranks of one host, by
    /// its number; what is chosen is that whose items cost least.
    pub fn counts(
        &self,
        bytes: usize,
        ranks: usize,
        oversubscribed: bool,
    ) -> Vec<(usize, [f64; ITEMS])> {
        let call = Call {
            bytes: memo::shortest_alike(bytes),
            ranks,
            oversubscribed,
            sharing: Sharing::Everything,
            are_near: false,
            placement: None,
        };
        let all = (self.counts)(call).into_iter();
        all.map(|(number, counts)| (number.into(), counts))
            .collect()
    }

    /// Up to which length, `longest` at most, ranks on one host go by the board, if they do at all; the call's own does not count.
    pub(crate) fn shared_up_to(&self, call: Call, longest: usize) -> Option<usize> {
        let mut up_to = None;
        let mut bytes = 0;
        while bytes <= longest && (self.chosen)(Call { bytes, ..call }) == self.shared {
            let last = memo::longest_alike(bytes).min(longest);
            up_to = Some(last);
            bytes = last.saturating_add(1);
        }
        up_to
    }

    /// What is chosen among so many ranks of one host while none is forced: up to which length each, and its name.
    pub fn ranges(
        &self,
        ranks: usize,
        oversubscribed: bool,
        are_near: bool,
    ) -> Vec<(usize, String)> {
        let names = self.algorithms();
        let mut ranges: Vec<(usize, String)> = Vec::new();
        let mut bytes = 0;
        loop {
            let call = Call {
                bytes,
                ranks,
                oversubscribed,
                sharing: Sharing::Everything,
                are_near,
                placement: None,
            };
            let name = &names[(self.chosen)(call)];
            let longest = memo::longest_alike(bytes);
            match ranges.last_mut() {
                Some((up_to, last)) if last == name => *up_to = longest,
                _ => ranges.push((longest, name.clone())),
            }
            let Some(next) = longest.checked_add(1) else {
                return ranges;
            };
            bytes = next;
        }
    }

    /// Whether it is the algorithm by the board that is forced; none while none is forced.
    #[inline(always)]
    pub(crate) fn is_shared_forced(&self) -> Option<bool> {
        self.forced().map(|number| number == self.shared)
    }

    #[inline(always)]
    pub fn forced(&self) -> Option<usize> {
        self.forced.load(Ordering::Relaxed).checked_sub(1)
    }

    /// The number of the algorithm that is chosen for a message, or block, of that many bytes while none is forced.
    pub fn chosen(
        &self,
        bytes: usize,
        ranks: usize,
        oversubscribed: bool,
        sharing: Sharing,
        placement: Option<Placement>,
    ) -> usize {
        (self.chosen)(Call {
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
