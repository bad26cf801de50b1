//! The words that the two sides of a bulk transfer through a ring of bytes share. They lie in memory that the two
//! processes share, either of which may be hostile: the side that reads a count checks it.

use crate::primitive::{AtomicU32, AtomicU64, Ordering, latest, latest64};

/// One side of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Receiver,
    Sender,
}

/// A word for each side. Each is written by its side alone, and hardly ever.
#[repr(C, align(64))]
struct Waits {
    sender: AtomicU32,
    receiver: AtomicU32,
}

impl Waits {
    fn of(&self, side: Side) -> &AtomicU32 {
        match side {
            Side::Receiver => &self.receiver,
            Side::Sender => &self.sender,
        }
    }

    fn reset(&self) {
        for word in [&self.sender, &self.receiver] {
            if word.load(Ordering::Relaxed) != 0 {
                word.store(0, Ordering::Relaxed);
            }
        }
    }
}

#[repr(C, align(64))]
struct Count(AtomicU64);

/// The counts of a ring of bytes.
///
/// The sender counts `produced`, the receiver `consumed`, both from zero for each transfer.
/// 1. Bytes from `consumed` to `produced` are the receiver's, the others of the ring the sender's.
/// 2. A receiver that has taken all, `consumed` being the transfer's length, touches the ring no more: it is the sender's
///    again. But a receiver that stores [`BORROWED`](Self::BORROWED) instead borrows it for a transfer back, in which it is the sender.
/// 3. A receiver that wants no more stores [`GIVEN_UP`](Self::GIVEN_UP) and touches the ring no more; the sender may fill it
///    to the end before it notices.
/// 4. A side that goes to sleep sets its `waits` and then looks at the other's count again; the other counts, then reads that
///    `waits` (SeqCst all four).
/// 5. The ring's next user makes the counts new before the message that tells the other side of the transfer is
///    published. A receiver counts as consumed only what its sender waits for.
///
/// Each count is on a line that only one side writes while a transfer goes on; the `waits` are on a third, which both read and
/// hardly anybody writes.
#[repr(C)]
pub struct StreamCounts {
    produced: Count,
    consumed: Count,
    waits: Waits,
}

impl StreamCounts {
    /// See rule 3.
    pub const GIVEN_UP: u64 = u64::MAX;
    /// See rule 2.
    pub const BORROWED: u64 = u64::MAX - 1;

    /// Rule 5.
    pub fn reset(&self) {
        // A count that nobody has changed is zero still. It is not written, so that its line stays where it is.
        for Count(count) in [&self.produced, &self.consumed] {
            if count.load(Ordering::Relaxed) != 0 {
                count.store(0, Ordering::Relaxed);
            }
        }
        self.waits.reset();
    }

    pub fn produced(&self) -> u64 {
        latest64(&self.produced.0)
    }

    pub fn consumed(&self) -> u64 {
        latest64(&self.consumed.0)
    }

    /// True if the receiver waits: ring its doorbell.
    pub fn produce(&self, count: u64) -> bool {
        self.produced.0.swap(count, Ordering::SeqCst);
        latest(&self.waits.receiver) != 0
    }

    /// True if the sender waits: ring its doorbell.
    pub fn consume(&self, count: u64) -> bool {
        self.consumed.0.swap(count, Ordering::SeqCst);
        latest(&self.waits.sender) != 0
    }

    /// Rule 4: look at the other side's count again afterwards.
    pub fn set_waits(&self, side: Side, waits: bool) {
        self.waits.of(side).swap(u32::from(waits), Ordering::SeqCst);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::Parker;
    use crate::primitive::{Plain, bounded};
    use loom::sync::Arc;
    use loom::thread;

    const RING: usize = 2;

    struct Ring {
        counts: StreamCounts,
        bytes: Vec<Plain>,
        sender: Parker,
        receiver: Parker,
    }

    fn waits() -> [AtomicU32; 2] {
        [AtomicU32::new(0), AtomicU32::new(0)]
    }

    fn ring() -> Arc<Ring> {
        let [sender, receiver] = waits();
        Arc::new(Ring {
            counts: StreamCounts {
                produced: Count(AtomicU64::new(0)),
                consumed: Count(AtomicU64::new(0)),
                waits: Waits { sender, receiver },
            },
            bytes: (0..RING).map(|_| Plain::new(0)).collect(),
            sender: Parker::new(),
            receiver: Parker::new(),
        })
    }

    /// Sends `total` bytes, sleeping when there is no room.
    fn fill(ring: &Ring, total: u64) {
        for produced in 0..total {
            while produced - ring.counts.consumed() == RING as u64 {
                ring.counts.set_waits(Side::Sender, true);
                if produced - ring.counts.consumed() == RING as u64 {
                    ring.sender.park(None);
                }
                ring.counts.set_waits(Side::Sender, false);
            }
            ring.bytes[produced as usize % RING].write(produced + 1);
            if ring.counts.produce(produced + 1) {
                ring.receiver.unpark();
            }
        }
    }

    /// Takes `total` bytes, sleeping when there is none; tells `last` in the end in place of the count.
    fn take(ring: &Ring, total: u64, last: u64) {
        for consumed in 0..total {
            while ring.counts.produced() == consumed {
                ring.counts.set_waits(Side::Receiver, true);
                if ring.counts.produced() == consumed {
                    ring.receiver.park(None);
                }
                ring.counts.set_waits(Side::Receiver, false);
            }
            assert_eq!(ring.bytes[consumed as usize % RING].read(), consumed + 1);
            let told = match consumed + 1 == total {
                true => last,
                false => consumed + 1,
            };
            if ring.counts.consume(told) {
                ring.sender.unpark();
            }
        }
    }

    #[test]
    fn bytes_pass_through_the_ring_and_sleepers_are_woken() {
        bounded(|| {
            let ring = ring();
            let sender = {
                let ring = ring.clone();
                thread::spawn(move || fill(&ring, 3))
            };
            take(&ring, 3, 3);
            sender.join().unwrap();
        });
    }

    /// Rules 2 and 5: a ring that was borrowed goes back with a transfer in the other direction, in which the roles change.
    #[test]
    fn a_borrowed_ring_changes_its_sender() {
        bounded(|| {
            let ring = ring();
            let told = Arc::new(AtomicU32::new(0));
            let other = {
                let (ring, told) = (ring.clone(), told.clone());
                thread::spawn(move || {
                    take(&ring, 1, StreamCounts::BORROWED);
                    ring.counts.reset();
                    ring.bytes[0].write(1);
                    ring.counts.produce(1);
                    told.store(1, Ordering::Release);
                })
            };
            fill(&ring, 1);
            while told.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            take(&ring, 1, 1);
            other.join().unwrap();
        });
    }
}
