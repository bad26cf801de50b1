//! What a target owes an origin, which is bounded: an origin that asks for more breaks a rule.
//!
//! An origin that keeps to the rules waits before it has more than this under way to one target. The target counts what it
//! keeps for the origin: accesses whose data have not come, what waits for those, answers that have not left. It stands
//! more than an origin begins, as several threads of one may each begin an access at the same time, and what is over at the
//! origin may not be known to be over at the target.

/// Messages and accesses of memory that an origin has under way to one target, at most.
pub const MOST_UNDER_WAY: usize = 4096;
/// Bytes of results that it has a target store for it, at most but for those of the last access.
pub const RESULT_BYTES: usize = 16 << 20;

/// So many times as much is not too much for a target.
const TIMES: usize = 4;

/// What is owed to one origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    pub messages: usize,
    pub bytes: usize,
}

impl Owed {
    /// Whether an origin that keeps to the rules may be owed this, and ask for more.
    pub fn is_within(self) -> bool {
        self.messages <= TIMES * MOST_UNDER_WAY && self.bytes <= TIMES * RESULT_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far::LONGEST_RESULT;

    /// An origin of some threads, which each begin one more access than it waits for.
    #[test]
    fn an_origin_that_waits_is_within_its_bounds() {
        const THREADS: usize = 32;
        let most = Owed {
            messages: MOST_UNDER_WAY + THREADS,
            bytes: RESULT_BYTES + THREADS * LONGEST_RESULT,
        };
        assert!(most.is_within());
    }

    #[test]
    fn who_asks_without_end_is_not() {
        let mut owed = Owed::default();
        let mut asked = 0;
        while owed.is_within() {
            owed.messages += 1;
            asked += 1;
        }
        assert_eq!(asked, TIMES * MOST_UNDER_WAY + 1);
        let mut owed = Owed::default();
        while owed.is_within() {
            owed.bytes += LONGEST_RESULT;
        }
        assert!(owed.bytes <= TIMES * RESULT_BYTES + LONGEST_RESULT);
    }
}
