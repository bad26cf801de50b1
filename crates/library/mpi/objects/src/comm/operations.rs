//! Where this process is in the row of a communicator's blocking collective operations, which all its processes make in one order (MPI-5.0 §6.14).
//!
//! Written by the one thread that is in such a call; read by any thread that answers another process's enquiry (`collective-calls/enquiries`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Tags of blocking collective operations are below this.
pub(super) const BLOCKING_TAGS: u32 = 1 << 29;

#[derive(Debug)]
pub struct Operations {
    /// The tag of the one that begins next.
    begun: AtomicU32,
    /// The same as those before it were over last.
    over: AtomicU32,
    /// The tag of the last one whose length was compared with others to choose how it goes, and that length.
    chosen: AtomicU32,
    bytes: AtomicU64,
    /// The tag of the one behind the last that a rank led, and that rank.
    behind_led: AtomicU32,
    leader: AtomicU32,
}

/// The tag of the operation after the one of this tag.
#[inline(always)]
fn after(tag: u32) -> u32 {
    (tag + 1) % BLOCKING_TAGS
}

impl Default for Operations {
    fn default() -> Operations {
        Operations {
            begun: AtomicU32::new(0),
            over: AtomicU32::new(0),
            chosen: AtomicU32::new(u32::MAX),
            bytes: AtomicU64::new(0),
            behind_led: AtomicU32::new(u32::MAX),
            leader: AtomicU32::new(0),
        }
    }
}

impl Operations {
    /// Whether a blocking operation may have this tag.
    pub fn is_tag(tag: u32) -> bool {
        tag < BLOCKING_TAGS
    }

    /// No locked instruction: one thread at a time begins an operation.
    #[inline]
    pub fn begin(&self) -> u32 {
        let tag = self.next();
        self.begun.store(after(tag), Ordering::Relaxed);
        tag
    }

    /// The tag of the operation that begins next.
    #[inline]
    pub fn next(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }

    /// The next operation, which has this tag, was of that length and is over.
    #[inline]
    pub fn pass(&self, tag: u32, bytes: u64) {
        self.begun.store(after(tag), Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.chosen.store(tag, Ordering::Release);
        self.over.store(after(tag), Ordering::Release);
    }

    /// All others wait for this rank in the next operation, which has this tag, and it for none.
    #[inline]
    pub fn lead(&self, tag: u32, rank: usize) {
        self.behind_led.store(after(tag), Ordering::Relaxed);
        self.leader.store(rank as u32, Ordering::Relaxed);
    }

    /// The rank that led the operation before the one of this tag, if one did: alike on all processes.
    #[inline]
    pub fn leader_before(&self, tag: u32) -> Option<usize> {
        let is_behind_it = self.behind_led.load(Ordering::Relaxed) == tag;
        is_behind_it.then(|| self.leader.load(Ordering::Relaxed) as usize)
    }

    /// All that were begun are over: this process sends nothing more in them. Released, so that who reads it sees what was sent before as sent.
    #[inline]
    pub fn end(&self) {
        self.over
            .store(self.begun.load(Ordering::Relaxed), Ordering::Release);
    }

    /// Whether the operation of this tag is over here.
    pub fn is_over(&self, tag: u32) -> bool {
        let ahead = self.over.load(Ordering::Acquire).wrapping_sub(after(tag));
        ahead % BLOCKING_TAGS < BLOCKING_TAGS / 2
    }

    /// The length of the operation of this tag, as this process passed it. The first of an operation counts: what it is composed of has others.
    #[inline]
    pub fn choose(&self, tag: u32, bytes: u64) {
        if self.chosen.load(Ordering::Relaxed) != tag {
            self.bytes.store(bytes, Ordering::Relaxed);
            self.chosen.store(tag, Ordering::Release);
        }
    }

    /// The length of the operation of this tag, if that is the last that had one.
    pub fn bytes_of(&self, tag: u32) -> Option<u64> {
        let is_chosen = || self.chosen.load(Ordering::Acquire) == tag;
        let bytes = is_chosen().then(|| self.bytes.load(Ordering::Acquire));
        // Another thread may have gone on to the next meanwhile.
        bytes.filter(|_| is_chosen())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_over_once_all_that_were_begun_are() {
        let operations = Operations::default();
        assert!(!operations.is_over(0));
        let tag = operations.begin();
        let inner = operations.begin();
        assert!(!operations.is_over(tag) && !operations.is_over(inner));
        operations.end();
        assert!(operations.is_over(tag) && operations.is_over(inner));
        assert!(!operations.is_over(inner + 1));
    }

    #[test]
    fn tags_come_again() {
        let operations = Operations::default();
        operations.begun.store(BLOCKING_TAGS - 1, Ordering::Relaxed);
        operations.end();
        let last = operations.begin();
        let first = operations.begin();
        assert_eq!((last, first), (BLOCKING_TAGS - 1, 0));
        assert!(!operations.is_over(last) && !operations.is_over(first));
        operations.end();
        assert!(operations.is_over(last) && operations.is_over(first) && !operations.is_over(1));
    }

    #[test]
    fn the_leader_of_the_operation_just_before_is_known() {
        let operations = Operations::default();
        assert_eq!(operations.leader_before(0), None);
        for begun in [0, BLOCKING_TAGS - 2, BLOCKING_TAGS - 1] {
            operations.begun.store(begun, Ordering::Relaxed);
            operations.lead(operations.next(), 3);
            let led = operations.begin();
            let [next, further] = [operations.begin(), operations.begin()];
            let leaders = [led, next, further].map(|tag| operations.leader_before(tag));
            assert_eq!(leaders, [None, Some(3), None], "{begun}");
        }
    }

    #[test]
    fn the_first_length_of_an_operation_counts() {
        let operations = Operations::default();
        assert_eq!(operations.bytes_of(0), None);
        operations.choose(0, 40);
        operations.choose(0, 80);
        assert_eq!(operations.bytes_of(0), Some(40));
        operations.choose(1, 8);
        assert_eq!(
            (operations.bytes_of(0), operations.bytes_of(1)),
            (None, Some(8))
        );
    }
}
