//! An event that is sent only if it is wanted: the completion queue of an adapter, of which one side arms an event before it sleeps.
//!
//! # Protocol
//! 1. The producer [`publish`]es a position and then [`take`]s the wish, if there is one that its entry fulfils: it sends one event.
//! 2. The consumer [`arm`]s and then looks at the position again ([`published`]) before it sleeps. Both sides write one word and then
//!    look at the other (SeqCst): the consumer sees the entry, or a producer sees the wish.
//! 3. A wish is taken by a swap, so that one producer sends the event.

use crate::primitive::{AtomicU32, Ordering, latest};

/// For the consumer: wants an event of `level` or above. A stronger wish that stands stays.
pub fn arm(armed: &AtomicU32, level: u32) {
    armed.fetch_max(level, Ordering::SeqCst);
}

/// For the consumer, after [`arm`]: the position up to which entries are there.
#[inline]
pub fn published(tail: &AtomicU32) -> u32 {
    latest(tail)
}

/// For the producer, which holds the queue's lock: entries up to `position` are there.
#[inline]
pub fn publish(tail: &AtomicU32, position: u32) {
    tail.store(position, Ordering::SeqCst);
}

/// For the producer, after [`publish`]: whether an event is to be sent, where `fulfils` says so of the level that is wanted.
#[inline]
pub fn take(armed: &AtomicU32, fulfils: impl FnOnce(u32) -> bool) -> bool {
    match latest(armed) {
        0 => false,
        level => fulfils(level) && armed.swap(0, Ordering::SeqCst) != 0,
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;

    /// Two producers, one after the other in the queue, and a consumer that goes to sleep.
    #[test]
    fn an_entry_is_seen_or_one_event_is_sent() {
        crate::primitive::bounded(|| {
            let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)));
            let producer = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let (tail, armed, events) = &*shared;
                    for position in 1..=2 {
                        publish(tail, position);
                        if take(armed, |_| true) {
                            events.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                })
            };
            let (tail, armed, events) = &*shared;
            arm(armed, 2);
            let seen = published(tail);
            producer.join().unwrap();
            let events = latest(events);
            assert!(events <= 1);
            assert!(seen > 0 || events == 1, "seen {seen}, events {events}");
        });
    }
}
