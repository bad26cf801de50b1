//! Sends under way to a shared pool.

use crate::Pool;

/// How many sends one process has under way to one pool of one peer. Nobody promises a sender a buffer of a shared pool; the window keeps
/// a single one from emptying it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendWindow {
    most: u32,
    under_way: u32,
}

impl SendWindow {
    pub fn new(pool: &Pool) -> SendWindow {
        SendWindow {
            most: pool.credits,
            under_way: 0,
        }
    }

    /// Takes a place for a send; false if there is none, so that the message waits.
    #[must_use]
    pub fn start(&mut self) -> bool {
        let has_room = self.under_way < self.most;
        self.under_way += u32::from(has_room);
        has_room
    }

    /// Whether a send has a place.
    pub fn has_room(&self) -> bool {
        self.under_way < self.most
    }

    /// Whether as many sends have a place as are under way, so that a sender who was refused does well to begin again.
    pub fn is_half_free(&self) -> bool {
        self.under_way <= self.most / 2
    }

    /// How many may be under way.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// So many sends are complete.
    ///
    /// # Panics
    /// If these are more than were under way.
    pub fn completed(&mut self, sends: u32) {
        assert!(sends <= self.under_way, "more than were under way");
        self.under_way -= sends;
    }

    pub fn under_way(&self) -> u32 {
        self.under_way
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PoolKind;

    fn window(credits: u32) -> SendWindow {
        SendWindow::new(&Pool {
            kind: PoolKind::Xrc,
            bytes: 64,
            count: 8,
            low: 4,
            credits,
        })
    }

    #[test]
    fn no_more_are_under_way_than_the_pool_allows_a_sender() {
        let mut sends = window(2);
        assert!(sends.start() && sends.is_half_free() && sends.start() && !sends.start());
        assert!(!sends.has_room() && !sends.is_half_free());
        sends.completed(1);
        assert!(sends.has_room() && sends.is_half_free());
        assert!(sends.start() && !sends.start());
        sends.completed(2);
        assert_eq!(sends.under_way(), 0);
    }

    #[test]
    #[should_panic(expected = "more than were under way")]
    fn what_was_not_sent_does_not_complete() {
        window(2).completed(1);
    }
}
