//! The words that the two sides of a bulk transfer share, for its two ways: through a ring of bytes ([`StreamCounts`]), and by
//! copies from process to process ([`ChunkClaims`]). They lie in memory that the two processes share, either of which may be
//! hostile: what is read is checked, and what cannot be is [`Malformed`].

use crate::cells::Malformed;
use crate::primitive::{AtomicU32, AtomicU64, Ordering, latest, latest64};

/// One side of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Receiver,
    Sender,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::Receiver => Side::Sender,
            Side::Sender => Side::Receiver,
        }
    }
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
///    A receiver that has bytes by another way counts them as consumed, and the sender goes on behind them: `consumed` may be past `produced`, where
///    the two have agreed so.
/// 4. A side that goes to sleep sets its `waits` and then looks at the other's count again; the other counts, then reads that
///    `waits` (SeqCst all four).
/// 5. The ring's next user makes the counts new before the message that tells the other side of the transfer is published. That message may say that all is
///    produced: then `produced` stays zero. A receiver counts as consumed only what its sender waits for.
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

const FAILED_RECEIVER: u32 = 1;
const FAILED_SENDER: u32 = 2;

fn failed_bit(side: Side) -> u32 {
    match side {
        Side::Receiver => FAILED_RECEIVER,
        Side::Sender => FAILED_SENDER,
    }
}

/// The words of one message that both sides copy in chunks, the receiver from the front and the sender from the back.
///
/// `claim` holds the first chunk not claimed from the front (lower half) and the first of those claimed from the back. Only
/// the receiver moves the front and only the sender the back, one chunk at a time, so each can take its last step back.
/// 1. A side copies what it has claimed and then counts it in `done`. All are done: the transfer is complete.
/// 2. The sender's last touch is `released`; after it the receiver may use the words for another copy.
/// 3. A side that cannot copy takes its claim back, sets its `failed` bit and leaves the rest to the other.
/// 4. A side that goes to sleep sets its `waits` and then looks at `claim` and `done` again; the other changes those, then
///    reads that `waits` (SeqCst all four).
/// 5. A receiver that ends the transfer stores [`CLOSED`] in `claim`, in which nothing is left to claim. The sender may be at
///    one chunk then, its last: it is over when the sender has counted it or has failed.
#[repr(C, align(64))]
pub struct ChunkClaims {
    claim: AtomicU64,
    done: AtomicU32,
    failed: AtomicU32,
    released: AtomicU32,
    waits: [AtomicU32; 2],
}

/// What stands in `claim` after the end (rule 5), the sender's step back apart.
const CLOSED: u32 = u32::MAX;

/// What one side of a copy knows, apart from what stands in the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimant {
    pub side: Side,
    /// In all.
    pub chunks: u32,
    /// Claimed by this side, and not taken back.
    claimed: u32,
    /// Counted by this side.
    counted: u32,
}

impl Claimant {
    pub fn new(side: Side, chunks: u32) -> Claimant {
        Claimant {
            side,
            chunks,
            claimed: 0,
            counted: 0,
        }
    }
}

/// Front and back.
fn halves(claim: u64) -> (u32, u32) {
    (claim as u32, (claim >> 32) as u32)
}

impl ChunkClaims {
    /// Makes the words new, for `chunks` chunks.
    pub fn reset(&self, chunks: u32) {
        self.claim.store(u64::from(chunks) << 32, Ordering::SeqCst);
        let [sender, receiver] = &self.waits;
        for word in [&self.done, &self.failed, &self.released, sender, receiver] {
            word.store(0, Ordering::SeqCst);
        }
    }

    fn waits_of(&self, side: Side) -> &AtomicU32 {
        &self.waits[side as usize]
    }

    /// Claims a chunk; none if all are claimed or the transfer was ended.
    pub fn claim(&self, claimant: &mut Claimant) -> Result<Option<u32>, Malformed> {
        let mut now = self.claim.load(Ordering::SeqCst);
        loop {
            let Some((front, back)) = claimant.check(now)? else {
                return Ok(None);
            };
            if front == back {
                return Ok(None);
            }
            let (next, chunk) = match claimant.side {
                Side::Receiver => (now + 1, front),
                Side::Sender => (now - (1 << 32), back - 1),
            };
            let claimed =
                self.claim
                    .compare_exchange_weak(now, next, Ordering::SeqCst, Ordering::SeqCst);
            match claimed {
                Ok(_) => {
                    claimant.claimed += 1;
                    return Ok(Some(chunk));
                }
                Err(other) => now = other,
            }
        }
    }

    /// Takes back the last claim of a side that cannot copy, and leaves the rest to the other.
    pub fn fail(&self, claimant: &mut Claimant) {
        claimant.claimed -= 1;
        match claimant.side {
            Side::Receiver => self.claim.fetch_sub(1, Ordering::SeqCst),
            Side::Sender => self.claim.fetch_add(1 << 32, Ordering::SeqCst),
        };
        self.failed
            .fetch_or(failed_bit(claimant.side), Ordering::SeqCst);
    }

    pub fn has_failed(&self, side: Side) -> bool {
        latest(&self.failed) & failed_bit(side) != 0
    }

    /// Counts the claimed chunk as copied. True if the other side waits: ring its doorbell.
    pub fn count(&self, claimant: &mut Claimant) -> bool {
        claimant.counted += 1;
        self.done.fetch_add(1, Ordering::SeqCst);
        self.other_waits(claimant.side)
    }

    /// Whether the side that is not `side` sleeps.
    pub fn other_waits(&self, side: Side) -> bool {
        latest(self.waits_of(side.other())) != 0
    }

    /// Chunks copied by both sides, for a report.
    pub fn done(&self) -> u32 {
        self.done.load(Ordering::Relaxed)
    }

    /// Whether every chunk is copied.
    pub fn is_complete(&self, claimant: &Claimant) -> Result<bool, Malformed> {
        let done = latest(&self.done);
        if done < claimant.counted || done > claimant.chunks {
            return Err(Malformed("counts chunks as copied that are not"));
        }
        Ok(done == claimant.chunks)
    }

    /// Whether nothing is left to claim.
    pub fn is_claimed(&self) -> bool {
        let (front, back) = halves(latest64(&self.claim));
        front >= back
    }

    /// Rule 4: look at `is_claimed` and `is_complete` again afterwards.
    pub fn set_waits(&self, side: Side, waits: bool) {
        self.waits_of(side).swap(u32::from(waits), Ordering::SeqCst);
    }

    /// The sender's last touch (rule 2).
    pub fn release(&self) {
        self.released.store(1, Ordering::SeqCst);
    }

    pub fn is_released(&self) -> bool {
        latest(&self.released) != 0
    }

    /// The receiver ends the transfer (rule 5): the chunks that the sender has claimed.
    pub fn close(&self) -> Closed {
        let (_, back) = halves(self.claim.swap(u64::from(CLOSED), Ordering::SeqCst));
        Closed { back }
    }

    /// Whether the sender copies no more after the receiver has ended the transfer. It may lie: do not wait for ever.
    pub fn is_over(&self, claimant: &Claimant, closed: Closed) -> bool {
        let by_sender = claimant.chunks.saturating_sub(closed.back);
        let counted = latest(&self.done).wrapping_sub(claimant.counted);
        counted >= by_sender || self.has_failed(Side::Sender)
    }
}

/// A transfer that its receiver has ended, and where the sender was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    back: u32,
}

impl Claimant {
    /// Front and back of `claim`, whose own half is as this side left it; none if the transfer was ended.
    fn check(&self, claim: u64) -> Result<Option<(u32, u32)>, Malformed> {
        let (front, back) = halves(claim);
        if self.side == Side::Sender && front == CLOSED {
            return Ok(None);
        }
        let own = match self.side {
            Side::Receiver => front == self.claimed,
            Side::Sender => back == self.chunks - self.claimed,
        };
        if !own || front > back || back > self.chunks {
            return Err(Malformed("claims chunks of a message that it cannot"));
        }
        Ok(Some((front, back)))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn claims(chunks: u32) -> ChunkClaims {
        // SAFETY: atomics, of which all zeros are valid.
        let claims: ChunkClaims = unsafe { std::mem::zeroed() };
        claims.reset(chunks);
        claims
    }

    fn both(chunks: u32) -> (Claimant, Claimant) {
        (
            Claimant::new(Side::Receiver, chunks),
            Claimant::new(Side::Sender, chunks),
        )
    }

    #[test]
    fn two_sides_meet() {
        let claims = claims(3);
        let (mut receiver, mut sender) = both(3);
        assert_eq!(claims.claim(&mut receiver), Ok(Some(0)));
        assert_eq!(claims.claim(&mut sender), Ok(Some(2)));
        assert_eq!(claims.claim(&mut sender), Ok(Some(1)));
        assert_eq!(claims.claim(&mut receiver), Ok(None));
        claims.count(&mut receiver);
        claims.count(&mut sender);
        assert_eq!(claims.is_complete(&receiver), Ok(false));
        claims.count(&mut sender);
        assert_eq!(claims.is_complete(&receiver), Ok(true));
        assert_eq!(claims.is_complete(&sender), Ok(true));
    }

    #[test]
    fn a_side_that_fails_leaves_its_chunk_to_the_other() {
        let claims = claims(2);
        let (mut receiver, mut sender) = both(2);
        assert_eq!(claims.claim(&mut sender), Ok(Some(1)));
        claims.fail(&mut sender);
        assert!(claims.has_failed(Side::Sender) && !claims.has_failed(Side::Receiver));
        for chunk in 0..2 {
            assert_eq!(claims.claim(&mut receiver), Ok(Some(chunk)));
            claims.count(&mut receiver);
        }
        assert_eq!(claims.is_complete(&sender), Ok(true));
    }

    #[test]
    fn after_the_end_there_is_one_chunk_to_wait_for() {
        for fails in [false, true] {
            let claims = claims(5);
            let (mut receiver, mut sender) = both(5);
            claims.claim(&mut receiver).unwrap();
            claims.count(&mut receiver);
            claims.claim(&mut sender).unwrap();
            claims.count(&mut sender);
            claims.claim(&mut sender).unwrap();
            let closed = claims.close();
            assert!(!claims.is_over(&receiver, closed));
            match fails {
                true => claims.fail(&mut sender),
                false => drop(claims.count(&mut sender)),
            }
            assert!(claims.is_over(&receiver, closed));
            assert_eq!(claims.claim(&mut sender), Ok(None));
            assert!(claims.is_claimed());
        }
    }

    /// Whatever stands in the words, a chunk that is given out is one of the message's, and the other side's half is all that
    /// may change.
    #[test]
    fn what_cannot_be_is_malformed() {
        let claims = claims(4);
        let (mut receiver, mut sender) = both(4);
        claims.claim(&mut receiver).unwrap();
        claims.claim(&mut sender).unwrap();
        let claim =
            |front: u64, back: u64| claims.claim.store(back << 32 | front, Ordering::SeqCst);
        for (front, back, receivers, senders) in [
            (2, 3, false, true),
            (1, 2, true, false),
            (1, 4, true, false),
            (1, 5, false, false),
            (3, 1, false, false),
            (0, 3, false, true),
        ] {
            for (claimant, good) in [(&mut receiver, receivers), (&mut sender, senders)] {
                claim(front, back);
                let mut claimant = *claimant;
                let claimed = claims.claim(&mut claimant);
                assert_eq!(claimed.is_ok(), good, "{front} {back} {claimant:?}");
            }
        }
        claims.done.store(5, Ordering::SeqCst);
        assert!(claims.is_complete(&sender).is_err());
        claim(1, 3);
        claims.done.store(1, Ordering::SeqCst);
        claims.count(&mut sender);
        claims.done.store(0, Ordering::SeqCst);
        assert!(claims.is_complete(&sender).is_err());
        assert!(claims.is_complete(&receiver).is_ok());
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

    struct Copy {
        claims: ChunkClaims,
        chunks: Vec<Plain>,
        parkers: [Parker; 2],
    }

    fn copy(chunks: u32) -> Arc<Copy> {
        let copy = Copy {
            claims: ChunkClaims {
                claim: AtomicU64::new(0),
                done: AtomicU32::new(0),
                failed: AtomicU32::new(0),
                released: AtomicU32::new(0),
                waits: waits(),
            },
            chunks: (0..chunks).map(|_| Plain::new(0)).collect(),
            parkers: [Parker::new(), Parker::new()],
        };
        copy.claims.reset(chunks);
        Arc::new(copy)
    }

    /// Copies until all is done, sleeping while nothing is left but the other's chunks.
    fn copy_all(copy: &Copy, side: Side) {
        let mut claimant = Claimant::new(side, copy.chunks.len() as u32);
        while !copy.claims.is_complete(&claimant).unwrap() {
            match copy.claims.claim(&mut claimant).unwrap() {
                Some(chunk) => {
                    let chunk = &copy.chunks[chunk as usize];
                    chunk.write(chunk.read() + 1);
                    if copy.claims.count(&mut claimant) {
                        copy.parkers[side.other() as usize].unpark();
                    }
                }
                None => {
                    copy.claims.set_waits(side, true);
                    if !copy.claims.is_complete(&claimant).unwrap() && copy.claims.is_claimed() {
                        copy.parkers[side as usize].park(None);
                    }
                    copy.claims.set_waits(side, false);
                }
            }
        }
        if side == Side::Sender {
            copy.claims.release();
        }
    }

    #[test]
    fn every_chunk_is_copied_once() {
        bounded(|| {
            let copy = copy(2);
            let sender = {
                let copy = copy.clone();
                thread::spawn(move || copy_all(&copy, Side::Sender))
            };
            copy_all(&copy, Side::Receiver);
            for chunk in &copy.chunks {
                assert_eq!(chunk.read(), 1);
            }
            // Once they are released the words are the receiver's again: a later touch by the sender would be seen.
            let released = copy.claims.is_released();
            if released {
                copy.claims.reset(1);
            }
            sender.join().unwrap();
            if released {
                assert_eq!(halves(copy.claims.claim.load(Ordering::Relaxed)), (0, 1));
                assert_eq!(copy.claims.done(), 0);
                assert!(!copy.claims.is_released());
            }
        });
    }

    /// Rule 5: once an ended transfer is over, the memory is the receiver's alone.
    #[test]
    fn nothing_is_copied_after_the_end() {
        bounded(|| {
            let copy = copy(2);
            let sender = {
                let copy = copy.clone();
                thread::spawn(move || {
                    let mut claimant = Claimant::new(Side::Sender, 2);
                    while let Some(chunk) = copy.claims.claim(&mut claimant).unwrap() {
                        copy.chunks[chunk as usize].write(1);
                        copy.claims.count(&mut claimant);
                    }
                })
            };
            let receiver = Claimant::new(Side::Receiver, 2);
            let closed = copy.claims.close();
            while !copy.claims.is_over(&receiver, closed) {
                thread::yield_now();
            }
            // Loom sees a sender that still writes.
            for chunk in &copy.chunks {
                chunk.write(7);
            }
            sender.join().unwrap();
        });
    }

    /// As above, of a sender that cannot copy.
    #[test]
    fn a_failure_is_an_end_too() {
        bounded(|| {
            let copy = copy(2);
            let sender = {
                let copy = copy.clone();
                thread::spawn(move || {
                    let mut claimant = Claimant::new(Side::Sender, 2);
                    if let Some(chunk) = copy.claims.claim(&mut claimant).unwrap() {
                        copy.chunks[chunk as usize].write(1);
                        copy.claims.fail(&mut claimant);
                    }
                })
            };
            let receiver = Claimant::new(Side::Receiver, 2);
            let closed = copy.claims.close();
            while !copy.claims.is_over(&receiver, closed) {
                thread::yield_now();
            }
            for chunk in &copy.chunks {
                chunk.write(7);
            }
            sender.join().unwrap();
        });
    }
}
