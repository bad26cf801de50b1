//! The objects of a context as far as the adapter's resources go: what each has of them, its locks and its figures.
//!
//! Which lock is taken where (mlx5): posting to a queue pair takes its send lock and then, where its uUAR is shared, the
//! uUAR's; posting receives takes the receive lock; polling takes the completion queue's. A thread domain turns off all
//! locks of its queue pairs and shared receive queues, not those of completion queues. `MLX5_SINGLE_THREADED` turns off all.

use std::sync::Arc;

use super::adapter::{BUFFER_BYTES, WorkRequest};
use super::error::Error;
use super::lock::{Discipline, Held, Lock};
use super::record::{Record, context_word, word};
use super::register::Uuar;
use super::share::{Share, ThreadDomain};

/// An object that is only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    ProtectionDomain,
    MemoryRegion,
    /// A queue pair without a send queue (`IBV_QPT_XRC_RECV`): it needs no uUAR.
    XrcReceiveQueuePair,
}

impl Object {
    fn word(self) -> usize {
        match self {
            Object::ProtectionDomain => context_word::PDS,
            Object::MemoryRegion => context_word::MRS,
            Object::XrcReceiveQueuePair => context_word::QPS,
        }
    }
}

/// Counts one in a context while it lives.
pub struct Counted {
    context: Arc<Share>,
    word: usize,
}

impl Counted {
    pub(super) fn new(context: &Arc<Share>, object: Object) -> Counted {
        Counted::word(context, object.word())
    }

    fn word(context: &Arc<Share>, word: usize) -> Counted {
        context.count(word, 1);
        Counted {
            context: context.clone(),
            word,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.context.count(self.word, -1);
    }
}

/// An object's record. Its figures outlive it in the context's.
struct Figures {
    context: Arc<Share>,
    record: &'static Record,
}

impl Figures {
    fn new(context: &Arc<Share>) -> Result<Figures, Error> {
        Ok(Figures {
            record: context.object_record()?,
            context: context.clone(),
        })
    }
}

impl Drop for Figures {
    fn drop(&mut self) {
        self.context.retire(self.record);
    }
}

/// How work was made known to the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    Doorbell,
    BlueFlame,
}

/// A queue pair with a send queue.
pub struct QueuePair {
    send: Lock,
    receive: Lock,
    record: &'static Record,
    /// The largest work request that BlueFlame writes, and that only where the data are in it unless `prefer_blueflame`; 0
    /// where there is no BlueFlame.
    blueflame_bytes: usize,
    prefer_blueflame: bool,
    assignment: UuarAssignment,
    _figures: Figures,
    _counted: Counted,
}

/// Where a queue pair stands.
struct UuarAssignment {
    context: Arc<Share>,
    uuar: Arc<Uuar>,
    domain: Option<ThreadDomain>,
}

impl UuarAssignment {
    fn new(context: &Arc<Share>, domain: Option<&ThreadDomain>) -> Result<UuarAssignment, Error> {
        Ok(UuarAssignment {
            context: context.clone(),
            uuar: match domain {
                Some(domain) => context.stand_on(domain),
                None => context.assign()?,
            },
            domain: domain.cloned(),
        })
    }
}

impl Drop for UuarAssignment {
    fn drop(&mut self) {
        self.context.leave(&self.uuar, self.domain.is_some());
    }
}

impl QueuePair {
    pub(super) fn new(
        context: &Arc<Share>,
        domain: Option<&ThreadDomain>,
    ) -> Result<QueuePair, Error> {
        let settings = &context.settings;
        let discipline = taken_unless(settings.single_threaded || domain.is_some());
        let figures = Figures::new(context)?;
        let assignment = UuarAssignment::new(context, domain)?;
        let has_blueflame = settings.blueflame && assignment.uuar.takes_blueflame;
        Ok(QueuePair {
            send: Lock::new(discipline),
            receive: Lock::new(discipline),
            record: figures.record,
            blueflame_bytes: if has_blueflame { BUFFER_BYTES } else { 0 },
            prefer_blueflame: settings.prefer_blueflame,
            assignment,
            _figures: figures,
            _counted: Counted::word(context, context_word::QPS),
        })
    }

    /// The number of its uUAR in its context.
    pub fn uuar(&self) -> u32 {
        self.assignment.uuar.number
    }

    /// The page of the device that its uUAR is on.
    pub fn page(&self) -> u32 {
        self.assignment.uuar.page
    }

    /// What posting to its send queue does with the queue pair's lock and with the uUAR's.
    pub fn disciplines(&self) -> (Discipline, Discipline) {
        (
            self.send.discipline(),
            self.assignment.uuar.lock.discipline(),
        )
    }

    /// Goes to the send queue, to post.
    #[inline]
    pub fn enter_send(&self) -> Sending<'_> {
        Sending {
            _held: self.send.enter(self.record.tally(word::SEND_LOCK)),
            queue_pair: self,
        }
    }

    /// Goes to the receive queue, to post.
    #[inline]
    pub fn enter_receive(&self) -> Held<'_> {
        self.receive.enter(self.record.tally(word::RECEIVE_LOCK))
    }

    /// Whether a call that posted `requests`, the last of them `last`, writes it by BlueFlame. mlx5 does for one that is
    /// alone and fits, and not for one of a single segment.
    #[inline]
    fn is_for_blueflame(&self, requests: u32, last: &WorkRequest) -> bool {
        let bytes = last.bytes();
        requests == 1
            && bytes > SEGMENT_BYTES
            && bytes <= self.blueflame_bytes
            && (self.prefer_blueflame || last.is_inline())
    }
}

const SEGMENT_BYTES: usize = 16;

/// Being at the send queue of a queue pair: others are shut out, or were promised not to come.
#[must_use]
pub struct Sending<'a> {
    _held: Held<'a>,
    queue_pair: &'a QueuePair,
}

impl Sending<'_> {
    /// Makes known to the adapter what one call has posted: so many requests, the last of them `last`. Nothing, if none.
    #[inline]
    pub fn ring(&self, requests: u32, last: &WorkRequest) -> Option<Rung> {
        if requests == 0 {
            return None;
        }
        let queue_pair = self.queue_pair;
        let record = queue_pair.record;
        record.add(word::REQUESTS, u64::from(requests));
        record.add(word::POSTS, 1);
        let control = record.word(word::REQUESTS);
        let uuar = &*queue_pair.assignment.uuar;
        let _held = uuar.lock.enter(record.tally(word::UUAR_LOCK));
        if queue_pair.is_for_blueflame(requests, last) {
            let written = uuar.write_blueflame(control, last.bytes());
            record.add(word::BLUEFLAME_WRITES, 1);
            record.add(word::BLUEFLAME_BYTES, written as u64);
            Some(Rung::BlueFlame)
        } else {
            uuar.ring_doorbell(control);
            record.add(word::DOORBELLS, 1);
            Some(Rung::Doorbell)
        }
    }
}

/// A completion queue.
pub struct CompletionQueue {
    lock: Lock,
    figures: Figures,
    _counted: Counted,
}

impl CompletionQueue {
    pub(super) fn new(
        context: &Arc<Share>,
        single_threaded: bool,
    ) -> Result<CompletionQueue, Error> {
        Ok(CompletionQueue {
            lock: Lock::new(taken_unless(
                single_threaded || context.settings.single_threaded,
            )),
            figures: Figures::new(context)?,
            _counted: Counted::word(context, context_word::CQS),
        })
    }

    pub fn discipline(&self) -> Discipline {
        self.lock.discipline()
    }

    /// Goes to the queue, to poll.
    #[inline]
    pub fn enter(&self) -> Held<'_> {
        self.lock.enter(self.figures.record.tally(word::CQ_LOCK))
    }
}

/// A shared receive queue.
pub struct SharedReceiveQueue {
    lock: Lock,
    figures: Figures,
    _counted: Counted,
}

impl SharedReceiveQueue {
    pub(super) fn new(
        context: &Arc<Share>,
        domain: Option<&ThreadDomain>,
    ) -> Result<SharedReceiveQueue, Error> {
        Ok(SharedReceiveQueue {
            lock: Lock::new(taken_unless(
                domain.is_some() || context.settings.single_threaded,
            )),
            figures: Figures::new(context)?,
            _counted: Counted::word(context, context_word::SRQS),
        })
    }

    pub fn discipline(&self) -> Discipline {
        self.lock.discipline()
    }

    /// Goes to the queue, to post.
    #[inline]
    pub fn enter(&self) -> Held<'_> {
        self.lock.enter(self.figures.record.tally(word::SRQ_LOCK))
    }
}

fn taken_unless(promised: bool) -> Discipline {
    if promised {
        Discipline::Promised
    } else {
        Discipline::Taken
    }
}
