//! How long the far part is left alone while it brings nothing.
//!
//! Looking there costs a system call, as long as many turns of the near part. A pause is a small part of the turns in which nothing
//! has come: a thread that waits for something far loses little of its wait, and one that talks to its own host pays for a look
//! in a few hundred turns.

/// A pause is one turn in so many that have brought nothing.
const SHARE: u32 = 32;
/// Turns of the longest pause.
const LONGEST: u32 = 256;
/// A turn in which the near part has brought something takes as long as so many in which it has not.
const BUSY_TURN: u32 = 16;

/// When the far part is looked at next.
#[derive(Debug, Default)]
pub struct Patience {
    /// Turns since it brought something.
    idle: u32,
    /// Of the pause.
    left: u32,
}

impl Patience {
    /// A turn, in which the near part has brought something or not: whether it is time to look.
    #[inline]
    pub fn is_due(&mut self, near_moved: bool) -> bool {
        let turns = if near_moved { BUSY_TURN } else { 1 };
        self.idle = self.idle.saturating_add(turns);
        if self.left > turns {
            self.left -= turns;
            return false;
        }
        self.left = (self.idle / SHARE).min(LONGEST);
        true
    }

    /// Something is under way: looked at in the next turn, and often from then on.
    #[inline]
    pub fn end(&mut self) {
        *self = Patience::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The turns, of `turns`, in which it is looked.
    fn looks(patience: &mut Patience, turns: u32, near_moved: bool) -> Vec<u32> {
        let due = |_: &u32| patience.is_due(near_moved);
        (0..turns).filter(due).collect()
    }

    #[test]
    fn looks_in_each_turn_at_first_and_more_rarely_later() {
        let mut patience = Patience::default();
        let turns = looks(&mut patience, 100_000, false);
        let first = SHARE as usize;
        assert!(turns[..first].iter().copied().eq(0..SHARE));
        for pair in turns.windows(2) {
            let pause = pair[1] - pair[0];
            assert!(pause <= LONGEST && pause <= 1 + pair[0] / SHARE);
        }
        assert!(turns.len() < 100_000 / LONGEST as usize * 2 + 500);
    }

    #[test]
    fn busy_turns_count_as_more() {
        let mut patience = Patience::default();
        let turns = looks(&mut patience, 10_000, true);
        let longest = turns.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert_eq!(longest, Some(LONGEST / BUSY_TURN));
    }

    #[test]
    fn looks_at_once_when_something_is_under_way() {
        let mut patience = Patience::default();
        looks(&mut patience, 100_000, false);
        patience.end();
        assert_eq!(looks(&mut patience, 4, false), [0, 1, 2, 3]);
    }
}
