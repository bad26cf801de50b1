//! Yields in vain: nobody else wanted the core.
//!
//! Where ranks share cores a thread that waits yields, so that those at work run. While the others sleep, though, each has a core, and a yield is but a
//! system call in which the thread does not look at what comes: two of four ranks on two cores, the others in a barrier, took 1.2 us for a ping-pong
//! that takes 0.2 us without. So a thread that yields in vain keeps its core for some turns before it yields again, and from one wait to the next.

/// A yield that takes up to twice as long as the shortest was in vain: a switch to somebody and back takes four times as long and more.
const TIMES: u64 = 2;
/// And no longer than this: a thread may have seen no yield in vain. These take 0.2 to 0.9 us on Linux machines; a switch and back, 1.2 to 5 us, with
/// what the other does on its core.
const LONGEST_NS: u64 = 2000;
/// So many turns, some 2 us, are what the core is kept for at most: if somebody wants it meanwhile it is as late as by a switch.
const MOST: u32 = 32;

/// What a thread knows of its yields.
#[derive(Clone, Copy)]
pub(crate) struct InVain {
    /// Turns for which it keeps its core.
    turns: u32,
    shortest_ns: u64,
}

impl InVain {
    pub const NONE: InVain = InVain {
        turns: 0,
        shortest_ns: LONGEST_NS / TIMES,
    };

    /// For how many turns the thread keeps its core until it yields.
    #[inline]
    pub fn keeps(self) -> u32 {
        self.turns
    }

    /// A yield took so long.
    pub fn yielded(&mut self, ns: u64) {
        self.shortest_ns = self.shortest_ns.min(ns);
        let is_in_vain = ns <= TIMES * self.shortest_ns;
        self.turns = match is_in_vain {
            true => (2 * self.turns).clamp(1, MOST),
            false => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(yields: &[u64]) -> u32 {
        let mut in_vain = InVain::NONE;
        yields.iter().for_each(|&ns| in_vain.yielded(ns));
        in_vain.keeps()
    }

    #[test]
    fn yields_in_vain_become_rare_and_one_that_was_taken_makes_them_frequent_again() {
        assert_eq!(after(&[]), 0);
        assert_eq!(
            [1, 2, 3].map(|yields| after(&[300; 3][..yields])),
            [1, 2, 4]
        );
        assert_eq!(after(&[300; 100]), MOST);
        assert_eq!(after(&[300, 300, 1300]), 0);
        assert_eq!(after(&[300, 300, 1300, 300]), 1);
    }

    #[test]
    fn a_switch_is_no_yield_in_vain_whatever_yields_take_here() {
        for (in_vain, switch) in [(150, 1200), (300, 1500), (900, 4800)] {
            assert_eq!(after(&[switch, in_vain, switch]), 0);
            assert!(after(&[switch, in_vain]) > 0);
        }
        assert_eq!(after(&[LONGEST_NS + 1]), 0);
    }
}
