//! Completion queues: a ring in the segment of the queue's owner, filled by any process, emptied by the owner.
//!
//! # Protocol
//! 1. `tail` and `head` count completions pushed and polled, modulo 2^32. The completion of position `p` is in slot
//!    `p mod slots`, and is whole before `tail` passes it (SeqCst store, acquire load).
//! 2. Producers hold `lock`; only they write `tail`. The one consumer at a time, a thread of the owner, needs no lock that
//!    others know of; only it writes `head`. A stopped owner thus never holds up who pushes.
//! 3. A push is one store, that of `tail`. One that uses up a receive request at the same time is two stores, so it has
//!    an intent: the word at offset `settle_offset` of the segment becomes `settle_to`, and then, the completion being
//!    whole already, `tail` passes `settle_position`. In this order: who polls the completion finds room for the next
//!    request. Nobody can push between the death and the mending, so the mender can tell.
//! 4. Events: the consumer stores `armed` and then loads `tail`; a producer stores `tail` and then loads `armed` (all SeqCst),
//!    so either the consumer sees the completion or the producer sees that an event is wanted. Whoever swaps `armed`
//!    to 0 sends the event.
//! 5. A short message may travel behind its completion, and be put into the receive request's memory by who polls it, as mlx5
//!    does ("scatter to CQE"). Who pushes has seen that the request's key allows it; who polls looks again.
//! 6. The owner changes ring and generation holding `lock`; producers look at both after they have it. `slots` is checked
//!    against the mapping each time, so nonsense there is an error and not a fault. A completion that finds no place, whatever
//!    the reason, is an overrun, of which the owner hears: none is lost in silence.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::lock::{Busy, Held, SharedLock};
use super::mapping::Shared;
use super::processes::Processes;
use super::segment::{ObjectId, Segment};

const WORDS: usize = 8;

/// Bytes of a completion in the ring, and of what it carries.
pub const ENTRY_BYTES: u64 = 128;

/// A completion in a ring: a line of its own, and one that is only touched if it carries a message.
#[repr(C, align(64))]
pub struct CqEntry {
    completion: [AtomicU64; WORDS],
    carried: [AtomicU64; WORDS],
}

// A ring lies where the heap has room for it.
const _: () = assert!(align_of::<CqEntry>() as u64 <= super::heap::LINE);

/// Both lines of an entry.
pub(super) type Entry = [[u64; WORDS]; 2];

/// The longest message that a completion carries.
pub const CARRIED_BYTES: usize = (WORDS - 2) * 8;

/// A message that travels with its completion, and where it is to be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    pub address: u64,
    pub lkey: u32,
    pub length: u32,
    pub bytes: [u8; CARRIED_BYTES],
}

impl Carried {
    fn words(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[0] = self.address;
        words[1] = u64::from(self.lkey) | u64::from(self.length) << 32;
        for (word, bytes) in words[2..].iter_mut().zip(self.bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        }
        words
    }

    fn from_words(words: &[u64; WORDS]) -> Carried {
        let mut bytes = [0; CARRIED_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(&words[2..]) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        Carried {
            address: words[0],
            lkey: words[1] as u32,
            length: ((words[1] >> 32) as u32).min(CARRIED_BYTES as u32),
            bytes,
        }
    }
}

/// What is pushed.
#[derive(Clone, Copy)]
pub struct Parcel<'a> {
    pub completion: &'a Completion,
    pub carried: Option<&'a Carried>,
    /// It answers a solicited event, or has an error.
    pub solicited: bool,
}

#[repr(C, align(64))]
struct Producers {
    lock: SharedLock,
    generation: AtomicU32,
    tail: AtomicU32,
    /// A head that was seen; the true one is not behind it. Spares producers the consumer's line.
    seen_head: AtomicU32,
    /// Offset of the slots.
    ring: AtomicU64,
    /// How many there are, a power of two.
    slots: AtomicU32,
    /// Completions that the user asked room for.
    capacity: AtomicU32,
    /// 0 while there is no intent.
    settle_offset: AtomicU64,
    settle_to: AtomicU32,
    settle_position: AtomicU32,
    /// Completions were lost.
    overrun: AtomicU32,
    /// Which of the owner's completion channels, plus one; 0 for none.
    channel: AtomicU32,
    /// Not 0 if completions carry the time.
    stamped: AtomicU32,
}

#[repr(C, align(64))]
struct Consumer {
    head: AtomicU32,
    armed: AtomicU32,
    /// An event did not fit into the channel's socket (`notify`).
    event_waits: AtomicU32,
}

/// A completion queue in its owner's segment.
#[repr(C, align(128))]
pub struct CqRecord {
    producers: Producers,
    consumer: Consumer,
}

// SAFETY: atomic integers only.
unsafe impl Shared for CqEntry {}
// SAFETY: as above.
unsafe impl Shared for CqRecord {}

const _: () = assert!(size_of::<CqEntry>() as u64 == ENTRY_BYTES && size_of::<CqRecord>() == 128);

/// A completion, as `ibv_wc` and the extended completion queue's readers give it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub wr_id: u64,
    pub status: u16,
    pub opcode: u16,
    pub wc_flags: u32,
    pub byte_len: u32,
    /// Immediate data in network order, or the key that was invalidated.
    pub immediate: u32,
    pub qp_num: u32,
    pub src_qp: u32,
    pub vendor_err: u32,
    pub slid: u16,
    pub sl: u8,
    pub dlid_path_bits: u8,
    pub pkey_index: u16,
    /// Of a send: the place in the send queue up to which it frees.
    pub send_index: u32,
    /// CLOCK_REALTIME in nanoseconds, where the queue keeps it.
    pub timestamp_ns: u64,
    /// Whether a message comes with it ([`Cq::carried`]).
    pub carries: bool,
}

impl Completion {
    fn words(&self) -> [u64; WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let status = u32::from(self.status) | u32::from(self.opcode) << 16;
        let path =
            u32::from(self.slid) | u32::from(self.sl) << 16 | u32::from(self.dlid_path_bits) << 24;
        [
            self.wr_id,
            pair(status, self.wc_flags),
            pair(self.byte_len, self.immediate),
            pair(self.qp_num, self.src_qp),
            pair(self.vendor_err, path),
            pair(u32::from(self.pkey_index), self.send_index),
            self.timestamp_ns,
            u64::from(self.carries),
        ]
    }

    fn from_words(words: [u64; WORDS]) -> Completion {
        let high = |word: u64| (word >> 32) as u32;
        Completion {
            wr_id: words[0],
            status: words[1] as u16,
            opcode: (words[1] >> 16) as u16,
            wc_flags: high(words[1]),
            byte_len: words[2] as u32,
            immediate: high(words[2]),
            qp_num: words[3] as u32,
            src_qp: high(words[3]),
            vendor_err: words[4] as u32,
            slid: high(words[4]) as u16,
            sl: (words[4] >> 48) as u8,
            dlid_path_bits: (words[4] >> 56) as u8,
            pkey_index: words[5] as u16,
            send_index: high(words[5]),
            timestamp_ns: words[6],
            carries: words[7] != 0,
        }
    }
}

/// When a completion queue wants an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Arm {
    /// At the next completion of a solicited message, or with an error.
    Solicited = 1,
    /// At the next completion.
    Any = 2,
}

/// A completion stands in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Pushed {
    /// An event was wanted: send one to this channel of the owner's (`notify`).
    pub notify: Option<u32>,
}

/// Why a completion could not be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushError {
    Busy,
    /// The queue is full, or there is no ring where its record says: the completion is lost. `first` is set for the first that
    /// finds it so: it tells the owner.
    Overrun {
        first: bool,
    },
    /// The queue was destroyed.
    Gone,
    /// Who pushes had a condition, which was not met.
    Refused,
}

impl From<Busy> for PushError {
    fn from(_: Busy) -> PushError {
        PushError::Busy
    }
}

#[inline]
fn store(line: &[AtomicU64; WORDS], words: &[u64; WORDS]) {
    for (word, value) in line.iter().zip(words) {
        word.store(*value, Ordering::Relaxed);
    }
}

#[inline]
fn load(line: &[AtomicU64; WORDS]) -> [u64; WORDS] {
    std::array::from_fn(|word| line[word].load(Ordering::Relaxed))
}

/// A completion queue, by name.
#[derive(Clone, Copy)]
pub struct Cq<'a> {
    segment: &'a Segment,
    record: &'a CqRecord,
    id: ObjectId,
}

/// The store that goes along with a push: of a word in the same segment, which others change only along with pushes to
/// the same queue, or never at the same time.
pub(super) struct Settlement<'a> {
    pub offset: u64,
    pub word: &'a AtomicU32,
    pub from: u32,
    pub to: u32,
}

impl<'a> Cq<'a> {
    pub(super) fn new(segment: &'a Segment, record: &'a CqRecord, id: ObjectId) -> Cq<'a> {
        Cq {
            segment,
            record,
            id,
        }
    }

    pub fn id(&self) -> ObjectId {
        self.id
    }

    /// Pushes `completion`. `solicited`: it answers a solicited event, or has an error.
    #[inline]
    pub fn push(
        &self,
        processes: &Processes,
        completion: &Completion,
        solicited: bool,
        patience: Duration,
    ) -> Result<Pushed, PushError> {
        let held = self.lock(processes, patience)?;
        let parcel = Parcel {
            completion,
            carried: None,
            solicited,
        };
        let position = self.write(&held, &parcel)?;
        self.publish(position);
        drop(held);
        Ok(self.pushed(solicited))
    }

    /// As [`push`](Self::push), and settles a receive request: both or neither, whatever happens to this process. None if
    /// it is settled already. `consent` is asked once nothing else can prevent it.
    #[inline]
    pub(super) fn push_and_settle(
        &self,
        processes: &Processes,
        parcel: &Parcel<'_>,
        settlement: &Settlement<'_>,
        patience: Duration,
        consent: impl FnOnce() -> bool,
    ) -> Result<Option<Pushed>, PushError> {
        let held = self.lock(processes, patience)?;
        if settlement.word.load(Ordering::Relaxed) != settlement.from {
            return Ok(None);
        }
        let position = self.write(&held, parcel)?;
        if !consent() {
            return Err(PushError::Refused);
        }
        let producers = &self.record.producers;
        producers.settle_position.store(position, Ordering::Relaxed);
        producers.settle_to.store(settlement.to, Ordering::Relaxed);
        producers
            .settle_offset
            .store(settlement.offset, Ordering::Release);
        settlement.word.store(settlement.to, Ordering::Release);
        self.publish(position);
        producers.settle_offset.store(0, Ordering::Release);
        drop(held);
        Ok(Some(self.pushed(parcel.solicited)))
    }

    /// Takes the producers' lock and mends what a dead holder left.
    #[inline]
    pub(super) fn lock(
        &self,
        processes: &Processes,
        patience: Duration,
    ) -> Result<Held<'a>, PushError> {
        let producers = &self.record.producers;
        let held = producers.lock.take(processes, patience)?;
        if producers.settle_offset.load(Ordering::Relaxed) != 0 {
            self.mend();
        }
        if producers.generation.load(Ordering::Relaxed) != self.id.generation {
            return Err(PushError::Gone);
        }
        Ok(held)
    }

    #[cold]
    fn mend(&self) {
        let producers = &self.record.producers;
        let position = producers.settle_position.load(Ordering::Relaxed);
        let unpublished = producers.tail.load(Ordering::Relaxed) == position;
        let offset = producers.settle_offset.load(Ordering::Relaxed);
        let word = self.segment.mapping().at::<AtomicU32>(offset);
        let settled = word.is_some_and(|word| {
            word.load(Ordering::Relaxed) == producers.settle_to.load(Ordering::Relaxed)
        });
        if unpublished && settled {
            self.publish(position);
        }
        producers.settle_offset.store(0, Ordering::Release);
    }

    /// Writes the completion where the next goes and gives its position; it is not there before it is published.
    #[inline]
    fn write(&self, _held: &Held<'_>, parcel: &Parcel<'_>) -> Result<u32, PushError> {
        let producers = &self.record.producers;
        let tail = producers.tail.load(Ordering::Relaxed);
        let capacity = producers.capacity.load(Ordering::Relaxed);
        if tail.wrapping_sub(producers.seen_head.load(Ordering::Relaxed)) >= capacity {
            let head = self.record.consumer.head.load(Ordering::Acquire);
            producers.seen_head.store(head, Ordering::Relaxed);
            if tail.wrapping_sub(head) >= capacity {
                return Err(self.lost());
            }
        }
        let entry = self.entry(tail).ok_or_else(|| self.lost())?;
        store(&entry.completion, &parcel.completion.words());
        if let Some(carried) = parcel.carried {
            store(&entry.carried, &carried.words());
        }
        Ok(tail)
    }

    #[cold]
    fn lost(&self) -> PushError {
        let first = self.record.producers.overrun.swap(1, Ordering::Relaxed) == 0;
        PushError::Overrun { first }
    }

    #[inline]
    fn entry(&self, position: u32) -> Option<&'a CqEntry> {
        let producers = &self.record.producers;
        let slots = producers.slots.load(Ordering::Relaxed);
        let slot = u64::from(position & slots.wrapping_sub(1));
        let ring = producers.ring.load(Ordering::Relaxed);
        let offset = ring.checked_add(slot * ENTRY_BYTES)?;
        self.segment.mapping().at(offset)
    }

    #[inline]
    fn publish(&self, position: u32) {
        let tail = &self.record.producers.tail;
        tail.store(position.wrapping_add(1), Ordering::SeqCst);
    }

    #[inline]
    fn pushed(&self, solicited: bool) -> Pushed {
        let armed = &self.record.consumer.armed;
        let wanted = match armed.load(Ordering::SeqCst) {
            0 => false,
            1 => solicited,
            _ => true,
        };
        let notify = if wanted && armed.swap(0, Ordering::SeqCst) != 0 {
            self.channel()
        } else {
            None
        };
        Pushed { notify }
    }

    /// Whether completions carry the time.
    #[inline]
    pub fn is_stamped(&self) -> bool {
        self.record.producers.stamped.load(Ordering::Relaxed) != 0
    }

    /// The owner's channel that its events go to.
    pub fn channel(&self) -> Option<u32> {
        self.record
            .producers
            .channel
            .load(Ordering::Relaxed)
            .checked_sub(1)
    }

    pub(super) fn event_waits(&self) -> &AtomicU32 {
        &self.record.consumer.event_waits
    }
}

/// What only the owner does, one thread at a time.
impl Cq<'_> {
    /// How many completions can be polled.
    #[inline]
    pub fn pending(&self) -> u32 {
        let tail = self.record.producers.tail.load(Ordering::SeqCst);
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let slots = self.record.producers.slots.load(Ordering::Relaxed);
        tail.wrapping_sub(head).min(slots)
    }

    /// The completion that is `ahead` behind the oldest, which stays; none if there are not so many.
    #[inline]
    pub fn peek(&self, ahead: u32) -> Option<Completion> {
        if ahead >= self.pending() {
            return None;
        }
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let entry = self.entry(head.wrapping_add(ahead))?;
        Some(Completion::from_words(load(&entry.completion)))
    }

    /// What the completion that is `ahead` behind the oldest carries, if it does.
    #[cold]
    pub fn carried(&self, ahead: u32) -> Option<Carried> {
        self.whole(ahead)
            .map(|[_, carried]| Carried::from_words(&carried))
    }

    /// As [`peek`](Self::peek), with all that is there.
    pub(super) fn whole(&self, ahead: u32) -> Option<Entry> {
        if ahead >= self.pending() {
            return None;
        }
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let entry = self.entry(head.wrapping_add(ahead))?;
        Some([load(&entry.completion), load(&entry.carried)])
    }

    /// Gives the oldest `count` back, which were peeked at.
    #[inline]
    pub fn consume(&self, count: u32) {
        let head = &self.record.consumer.head;
        let value = head.load(Ordering::Relaxed).wrapping_add(count);
        head.store(value, Ordering::Release);
    }

    /// Takes the oldest, without what it carries.
    #[inline]
    pub fn poll(&self) -> Option<Completion> {
        let completion = self.peek(0)?;
        self.consume(1);
        Some(completion)
    }

    /// Wants one event. Look at the queue again before you wait for it. A wish for any completion is not weakened.
    pub fn arm(&self, arm: Arm) {
        self.record
            .consumer
            .armed
            .fetch_max(arm as u32, Ordering::SeqCst);
    }

    /// Completions were lost: the queue is of no more use.
    pub fn overrun(&self) -> bool {
        self.record.producers.overrun.load(Ordering::Relaxed) != 0
    }

    pub fn capacity(&self) -> u32 {
        self.record.producers.capacity.load(Ordering::Relaxed)
    }

    /// Offset and slots of the ring.
    pub(super) fn ring(&self) -> (u64, u32) {
        let producers = &self.record.producers;
        (
            producers.ring.load(Ordering::Relaxed),
            producers.slots.load(Ordering::Relaxed),
        )
    }

    /// Drops the completions for which `doomed` holds, as the destruction of a queue pair does with its own.
    pub fn sweep(
        &self,
        processes: &Processes,
        doomed: impl Fn(&Completion) -> bool,
    ) -> Result<(), PushError> {
        let held = self.lock(processes, super::lock::PATIENT)?;
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let mut kept = head.wrapping_add(self.pending());
        // From the youngest to the oldest, what stays moves up; then the head does. Producers are shut out.
        for ahead in (0..self.pending()).rev() {
            let stays = |entry: &Entry| !doomed(&Completion::from_words(entry[0]));
            if let Some(entry) = self.whole(ahead).filter(stays) {
                kept = kept.wrapping_sub(1);
                self.write_at(kept, &entry);
            }
        }
        self.record.consumer.head.store(kept, Ordering::Release);
        drop(held);
        Ok(())
    }

    /// Writes the completions that wait, oldest first, where the ring is now. Producers are shut out.
    pub(super) fn rewrite(&self, waiting: &[Entry]) {
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        for (ahead, entry) in waiting.iter().enumerate() {
            self.write_at(head.wrapping_add(ahead as u32), entry);
        }
    }

    fn write_at(&self, position: u32, whole: &Entry) {
        if let Some(entry) = self.entry(position) {
            store(&entry.completion, &whole[0]);
            store(&entry.carried, &whole[1]);
        }
    }
}

impl CqRecord {
    /// The owner, before anyone else knows the queue: completions carry the time.
    pub fn stamp(&self, stamped: bool) {
        self.producers
            .stamped
            .store(u32::from(stamped), Ordering::Relaxed);
    }

    pub(super) fn generation(&self) -> &AtomicU32 {
        &self.producers.generation
    }

    /// Lays an empty queue out. Nobody else knows its name yet.
    pub(super) fn found(&self, ring: u64, slots: u32, capacity: u32, channel: Option<u32>) {
        let producers = &self.producers;
        for word in [
            &producers.tail,
            &producers.seen_head,
            &producers.overrun,
            &producers.settle_to,
            &producers.settle_position,
            &self.consumer.head,
            &self.consumer.armed,
            &self.consumer.event_waits,
        ] {
            word.store(0, Ordering::Relaxed);
        }
        producers.settle_offset.store(0, Ordering::Relaxed);
        self.lay(ring, slots, capacity);
        producers
            .channel
            .store(channel.map_or(0, |channel| channel + 1), Ordering::Relaxed);
    }

    /// Says where the slots are. The caller holds the lock or is alone.
    pub(super) fn lay(&self, ring: u64, slots: u32, capacity: u32) {
        self.producers.ring.store(ring, Ordering::Relaxed);
        self.producers.slots.store(slots, Ordering::Relaxed);
        self.producers.capacity.store(capacity, Ordering::Relaxed);
    }
}
