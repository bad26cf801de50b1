//! When a receive queue is filled up again.
//!
//! The process counts what it takes, and fills the queue up in the turn in which it finds it low. An adapter would tell the same by an event
//! (`IBV_EVENT_SRQ_LIMIT_REACHED`), which is not asked for: who polls knows already, and who sleeps in the library has the completion queue
//! wake it with the first message, before any buffer is short. A process that is outside the library answers no event either, and its
//! senders wait.

use crate::Pool;

/// The buffers of one receive queue: how many are posted, and when more are to be. A queue is filled up in one list of requests once it
/// is low, not buffer by buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refill {
    count: u32,
    low: u32,
    posted: u32,
}

impl Refill {
    /// Of an empty queue; its first [`needed`](Refill::needed) are all.
    pub fn new(pool: &Pool) -> Refill {
        Refill {
            count: pool.count,
            low: pool.low,
            posted: 0,
        }
    }

    pub fn posted(&self) -> u32 {
        self.posted
    }

    /// A message has taken a buffer; false if none was posted, so that the completion cannot be one of this queue's.
    #[must_use]
    pub fn taken(&mut self) -> bool {
        let before = self.posted;
        self.posted = before.saturating_sub(1);
        before > 0
    }

    /// How many buffers to post now: none while more than `low` are left.
    pub fn needed(&self) -> u32 {
        if self.posted > self.low {
            return 0;
        }
        self.count - self.posted
    }

    /// So many of those needed have been posted: as many as there were buffers for.
    ///
    /// # Panics
    /// If these are more than the queue holds.
    pub fn filled(&mut self, buffers: u32) {
        assert!(
            buffers <= self.count - self.posted,
            "more than the queue holds"
        );
        self.posted += buffers;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PoolKind;

    fn refill(count: u32, low: u32) -> Refill {
        Refill::new(&Pool {
            kind: PoolKind::Shared,
            bytes: 64,
            count,
            low,
            credits: 1,
        })
    }

    #[test]
    fn an_empty_queue_wants_all_and_a_low_one_the_rest() {
        let mut queue = refill(8, 3);
        assert_eq!(queue.needed(), 8);
        queue.filled(8);
        for left in (4..8).rev() {
            assert!(queue.taken());
            assert_eq!((queue.posted(), queue.needed()), (left, 0));
        }
        assert!(queue.taken());
        assert_eq!(queue.needed(), 5);
        // There were buffers for two only.
        queue.filled(2);
        assert_eq!((queue.posted(), queue.needed()), (5, 0));
    }

    #[test]
    fn no_message_takes_from_an_empty_queue() {
        let mut queue = refill(1, 0);
        assert!(!queue.taken());
        queue.filled(1);
        assert!(queue.taken() && !queue.taken());
        assert_eq!(queue.needed(), 1);
    }

    #[test]
    #[should_panic(expected = "more than the queue holds")]
    fn a_queue_is_not_filled_over_its_count() {
        let mut queue = refill(4, 1);
        queue.filled(5);
    }
}
