//! The sending side.
//!
//! A partition's word is UNREADY; then STARTING, stored by the one thread that gets to mark it (compare-exchange,
//! acquire); then the request of its message (release). The thread that ends the round reads the words after all of them are
//! counted off `unready` (release; acquire), and makes them UNREADY again before `active` falls.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use weft_engine::RequestId;
use weft_error::{Class, Object, Result, argument};
use weft_memory::Memory;
use weft_objects::comm::{CommReference, Traffic};
use weft_process::engine::engine;

use super::checks::{Stage, inactive_only};
use super::tags::PARTITION_TAGS;
use crate::lingering::linger;
use crate::request::{Request, Status};
use crate::start::{UserMemory, start_send};

const UNREADY: u64 = 0;
/// No request either: those have their kind in the upper bits.
const STARTING: u64 = 1;

pub(crate) struct Sending {
    comm: CommReference,
    /// None for `MPI_PROC_NULL`.
    dest: Option<u32>,
    memory: UserMemory,
    /// Packed length of a partition.
    bytes: usize,
    first_tag: u32,
    words: Box<[AtomicU64]>,
    /// Partitions whose messages are not started in this round.
    unready: AtomicU32,
    /// An external request, complete once `unready` is zero.
    all_ready: AtomicU64,
    /// Leading partitions whose messages were found complete.
    complete: AtomicU32,
    active: AtomicBool,
}

impl Sending {
    /// A send to `dest`, none for `MPI_PROC_NULL`; its receive is told what will come.
    pub fn new(
        comm: CommReference,
        dest: Option<u32>,
        memory: Memory,
        partitions: u32,
        tag: u32,
    ) -> Result<Sending> {
        let first_tag = PARTITION_TAGS.take(partitions).ok_or_else(|| {
            let what = format_args!("{partitions} more are too many at once");
            argument(Class::NoMem, "partitions", what)
        })?;
        let words = (0..partitions as usize).map(|_| AtomicU64::new(UNREADY));
        let words = weft_reserve::collected(words);
        let words = words.inspect_err(|_| PARTITION_TAGS.give_back(first_tag))?;
        let sending = Sending {
            dest,
            bytes: memory.bytes / partitions as usize,
            memory: UserMemory(memory),
            first_tag,
            words: words.into(),
            unready: AtomicU32::new(0),
            all_ready: AtomicU64::new(RequestId::DONE.bits()),
            complete: AtomicU32::new(0),
            active: AtomicBool::new(false),
            comm,
        };
        match sending.tell(tag) {
            Ok(()) => Ok(sending),
            Err(error) => {
                sending.forget();
                Err(error)
            }
        }
    }

    /// What its errors are about.
    pub fn object(&self) -> Object {
        self.comm.object()
    }

    /// Tells the receive what partitions will come.
    fn tell(&self, tag: u32) -> Result<()> {
        let Some(dest) = self.dest else {
            return Ok(());
        };
        let words = [
            u64::from(self.first_tag),
            self.words.len() as u64,
            self.bytes as u64,
        ];
        let mut setup: Box<[u8]> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let memory = Memory::contiguous(setup.as_mut_ptr(), setup.len());
        let sent = start_send(&self.comm, Traffic::PartitionedSetup, memory, dest, tag)?;
        linger(sent, setup);
        Ok(())
    }

    pub fn start(&self) -> Result<()> {
        if self.active.load(Ordering::Acquire) {
            return Err(inactive_only("active already").on(self.comm.object()));
        }
        let all_ready = engine().external(self.comm.lane())?;
        self.all_ready.store(all_ready.bits(), Ordering::Relaxed);
        self.complete.store(0, Ordering::Relaxed);
        self.unready
            .store(self.words.len() as u32, Ordering::Relaxed);
        self.active.store(true, Ordering::Release);
        Ok(())
    }

    /// Starts a partition's message.
    pub fn ready(&self, partition: u32) -> Result<()> {
        if !self.active.load(Ordering::Acquire) {
            return Err(inactive_only("inactive: start it first").on(self.comm.object()));
        }
        let word = &self.words[partition as usize];
        let claimed =
            word.compare_exchange(UNREADY, STARTING, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_err() {
            let what = format_args!("{partition} is marked ready already");
            return Err(argument(Class::Arg, "partition", what).on(self.comm.object()));
        }
        let request = match self.send(partition) {
            Ok(request) => request,
            Err(error) => {
                word.store(UNREADY, Ordering::Relaxed);
                return Err(error.on(self.comm.object()));
            }
        };
        word.store(request.0, Ordering::Release);
        if self.unready.fetch_sub(1, Ordering::AcqRel) == 1 {
            engine().complete_external(self.all_ready());
        }
        Ok(())
    }

    fn send(&self, partition: u32) -> Result<Request> {
        let Some(dest) = self.dest else {
            return Ok(Request::done());
        };
        let whole = self.memory.get();
        let memory = whole.part(partition as usize * self.bytes, self.bytes);
        let tag = self.first_tag + partition;
        start_send(&self.comm, Traffic::Partitioned, memory, dest, tag)
    }

    pub fn check(&self, name: &str, partition: i32) -> Result<u32> {
        match u32::try_from(partition) {
            Ok(partition) if (partition as usize) < self.words.len() => Ok(partition),
            _ => {
                let what = format_args!("{partition} is not one of {}", self.words.len());
                Err(argument(Class::Arg, name, what).on(self.comm.object()))
            }
        }
    }

    fn all_ready(&self) -> RequestId {
        RequestId::from_bits(self.all_ready.load(Ordering::Relaxed))
    }

    fn request(&self, partition: usize) -> RequestId {
        let request = Request(self.words[partition].load(Ordering::Acquire));
        request.as_engine().unwrap_or(RequestId::DONE)
    }

    /// The first partition whose message is not complete, all being ready.
    fn first_pending(&self) -> Option<RequestId> {
        let engine = engine();
        let from = self.complete.load(Ordering::Relaxed) as usize;
        for partition in from..self.words.len() {
            let request = self.request(partition);
            if request != RequestId::DONE && !engine.is_complete(request) {
                self.complete.store(partition as u32, Ordering::Relaxed);
                return Some(request);
            }
        }
        self.complete
            .store(self.words.len() as u32, Ordering::Relaxed);
        None
    }

    pub fn stage(&self) -> Stage {
        if !self.active.load(Ordering::Acquire) {
            Stage::Inactive
        } else if self.part().is_some() {
            Stage::Pending
        } else {
            Stage::Complete
        }
    }

    pub fn part(&self) -> Option<RequestId> {
        if !engine().is_complete(self.all_ready()) {
            return Some(self.all_ready());
        }
        self.first_pending()
    }

    pub fn outcome(&self) -> Status {
        let engine = engine();
        self.sum((0..self.words.len()).map(|partition| engine.status(self.request(partition))))
    }

    pub fn finish(&self) -> Status {
        let engine = engine();
        engine.finish(self.all_ready());
        let status = self.sum((0..self.words.len()).map(|partition| {
            let request = self.request(partition);
            self.words[partition].store(UNREADY, Ordering::Relaxed);
            engine.finish(request)
        }));
        self.active.store(false, Ordering::Release);
        status
    }

    /// Empty, or that of the first message that failed.
    fn sum(&self, statuses: impl Iterator<Item = weft_engine::Status>) -> Status {
        statuses
            .map(Status::from_engine)
            .fold(Status::EMPTY, |sum, status| {
                match sum.class == Class::Success {
                    true => status,
                    false => sum,
                }
            })
    }

    pub fn forget(&self) {
        PARTITION_TAGS.give_back(self.first_tag);
    }
}
