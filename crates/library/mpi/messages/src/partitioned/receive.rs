//! The receiving side.
//!
//! `bound` is set once, by the thread that finds the sender's message there and holds `posting`. `posted` says that
//! this round's receives stand in `bound`: stored under `posting` (release), read by any thread that asks (acquire). A round
//! ends under `posting` too, so that a thread that asks late posts nothing for a round that is over. `complete` is
//! for the one thread that completes the request; others only read it, and a stale value costs them some looks.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use weft_engine::RequestId;
use weft_error::{Class, Result, argument};
use weft_memory::Memory;
use weft_objects::comm::{CommReference, Traffic};
use weft_objects::{PROC_NULL, TAG_UB};
use weft_process::engine::engine;

use super::checks::{Stage, inactive_only};
use crate::lingering::linger;
use crate::operation;
use crate::request::{Request, Status};
use crate::start::{UserMemory, start_receive};

pub(crate) struct Receiving {
    comm: CommReference,
    /// None for `MPI_PROC_NULL`.
    source: Option<u32>,
    tag: i32,
    memory: UserMemory,
    partitions: u32,
    /// Packed length of a partition.
    bytes: usize,
    /// What the sender tells, and its receive.
    setup: (Arc<Setup>, Request),
    /// The operation that posts this round's receives once the sender has told, if one had to be begun.
    binding: AtomicU64,
    bound: OnceLock<Bound>,
    /// How many of this round's receives are posted.
    posting: Mutex<usize>,
    posted: AtomicBool,
    active: AtomicBool,
}

/// First tag, partitions, bytes of each. Written by the engine, as a receive's buffer.
#[derive(Default)]
struct Setup([AtomicU64; 3]);

impl Setup {
    fn memory(&self) -> Memory {
        Memory::contiguous(
            std::ptr::from_ref(self).cast_mut().cast(),
            size_of::<Self>(),
        )
    }

    fn words(&self) -> [u64; 3] {
        [0, 1, 2].map(|index: usize| self.0[index].load(Ordering::Relaxed))
    }
}

/// What is known once the sender's message is there.
struct Bound {
    first_tag: u32,
    /// Of a partition of the sender's.
    bytes: usize,
    /// This round's receive of each of them.
    receives: Box<[AtomicU64]>,
    /// Leading ones that were found complete.
    complete: AtomicU32,
    /// Why there is nothing to receive.
    failed: Option<Status>,
}

/// What a sender tells, checked.
struct Told {
    first_tag: u32,
    partitions: usize,
    bytes: usize,
}

/// Partitions without bytes, or beyond those that a receive has bytes for: each has a receive of its own.
const MOST_EMPTY: usize = 1 << 20;

/// None if that is nonsense for a receive of so many bytes.
fn checked([first_tag, partitions, bytes]: [u64; 3], room: usize) -> Option<Told> {
    let ends = first_tag.checked_add(partitions)?;
    let length = partitions.checked_mul(bytes)?;
    let is_sensible = ends <= TAG_UB as u64
        && partitions <= room.max(MOST_EMPTY) as u64
        && isize::try_from(length).is_ok();
    is_sensible.then_some(Told {
        first_tag: first_tag as u32,
        partitions: partitions as usize,
        bytes: bytes as usize,
    })
}

impl Receiving {
    /// A receive from `source`, none for `MPI_PROC_NULL`; it waits for what the sender tells.
    pub fn new(
        comm: CommReference,
        source: Option<u32>,
        memory: Memory,
        partitions: u32,
        tag: i32,
    ) -> Result<Receiving> {
        let setup = Arc::new(Setup::default());
        let request = match source {
            Some(source) => start_receive(
                &comm,
                Traffic::PartitionedSetup,
                setup.memory(),
                source as i32,
                tag,
            )?,
            None => Request::done(),
        };
        Ok(Receiving {
            source,
            tag,
            partitions,
            bytes: memory.bytes / partitions as usize,
            memory: UserMemory(memory),
            setup: (setup, request),
            binding: AtomicU64::new(Request::done().0),
            bound: OnceLock::new(),
            posting: Mutex::new(0),
            posted: AtomicBool::new(false),
            active: AtomicBool::new(false),
            comm,
        })
    }

    /// A partition of the receiver's, as an argument.
    pub fn check(&self, partition: i32) -> Result<u32> {
        match u32::try_from(partition) {
            Ok(partition) if partition < self.partitions => Ok(partition),
            _ => {
                let what = format_args!("{partition} is not one of {}", self.partitions);
                Err(argument(Class::Arg, "partition", what).on(self.comm.object()))
            }
        }
    }

    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    pub fn start(self: &Arc<Self>) -> Result<()> {
        if self.active.swap(true, Ordering::AcqRel) {
            return Err(inactive_only("active already").on(self.comm.object()));
        }
        if !self.post()? {
            let binding = self.post_later()?;
            self.binding.store(binding.0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Posts this round's receives once the sender has told, whatever this process waits for by then.
    fn post_later(self: &Arc<Self>) -> Result<Request> {
        let this = self.clone();
        let context = self.comm.context(Traffic::PartitionedSetup);
        let setup = self.setup.1.as_engine().unwrap_or(RequestId::DONE);
        operation::begin(self.comm.lane(), context, |awaited| async move {
            operation::until_complete(&awaited, setup).await;
            this.post().map(|_| Status::EMPTY)
        })
    }

    fn binding(&self) -> RequestId {
        let binding = Request(self.binding.load(Ordering::Relaxed));
        binding.as_engine().unwrap_or(RequestId::DONE)
    }

    /// Posts this round's receives, if the sender has told what comes. False if it has not.
    pub fn post(&self) -> Result<bool> {
        if self.posted.load(Ordering::Acquire) {
            return Ok(true);
        }
        let mut next = self.posting.lock();
        if self.posted.load(Ordering::Relaxed) || !self.active.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let Some(bound) = self.bind() else {
            return Ok(false);
        };
        while *next < bound.receives.len() {
            let memory = self.memory.get().part(*next * bound.bytes, bound.bytes);
            let source = self.source.map_or(PROC_NULL, |source| source as i32);
            let tag = (bound.first_tag as usize + *next) as i32;
            let receive = start_receive(&self.comm, Traffic::Partitioned, memory, source, tag)?;
            bound.receives[*next].store(receive.0, Ordering::Relaxed);
            *next += 1;
        }
        bound.complete.store(0, Ordering::Relaxed);
        self.posted.store(true, Ordering::Release);
        Ok(true)
    }

    /// What the sender has told, if it has.
    fn bind(&self) -> Option<&Bound> {
        if self.bound.get().is_none() {
            let bound = self.bound_now()?;
            // Under the lock, so no other thread has set it.
            let _ = self.bound.set(bound);
        }
        self.bound.get()
    }

    fn bound_now(&self) -> Option<Bound> {
        let nothing = |failed| Bound {
            first_tag: 0,
            bytes: 0,
            receives: Box::default(),
            complete: AtomicU32::new(0),
            failed,
        };
        if self.source.is_none() {
            return Some(nothing(None));
        }
        let engine = engine();
        let (setup, request) = &self.setup;
        let id = request.as_engine()?;
        if !engine.is_complete(id) {
            return None;
        }
        let status = Status::from_engine(engine.finish(id));
        if status.class != Class::Success {
            return Some(nothing(Some(status)));
        }
        let is_whole = status.bytes as usize == size_of::<Setup>();
        let failed = |class: Class| Status {
            class,
            code: class as i32,
            context: self.comm.context(Traffic::PartitionedSetup),
            ..status
        };
        let Some(told) = checked(setup.words(), self.memory.get().bytes).filter(|_| is_whole)
        else {
            return Some(nothing(Some(failed(Class::Other))));
        };
        let receives = (0..told.partitions).map(|_| AtomicU64::default());
        let Ok(receives) = weft_reserve::collected(receives) else {
            return Some(nothing(Some(failed(Class::NoMem))));
        };
        Some(Bound {
            first_tag: told.first_tag,
            bytes: told.bytes,
            receives: receives.into(),
            complete: AtomicU32::new(0),
            failed: None,
        })
    }

    pub fn stage(&self) -> Result<Stage> {
        if !self.active.load(Ordering::Acquire) {
            return Ok(Stage::Inactive);
        }
        self.post()?;
        Ok(match self.part() {
            Some(_) => Stage::Pending,
            None => Stage::Complete,
        })
    }

    /// None too while it is inactive: a thread that waits for several requests would be told at once, and make no progress.
    pub fn part(&self) -> Option<RequestId> {
        if !self.active.load(Ordering::Acquire) {
            return None;
        }
        if !self.posted.load(Ordering::Acquire) {
            return Some(self.binding());
        }
        self.bound.get().and_then(Bound::first_pending)
    }

    /// Whether all messages that reach into a partition of the receiver's have arrived.
    pub fn arrived(&self, partition: u32) -> bool {
        let Some(bound) = self.bound.get() else {
            return false;
        };
        let start = partition as usize * self.bytes;
        let (first, end) = match bound.bytes {
            0 => (0, bound.receives.len()),
            bytes => (start / bytes, (start + self.bytes).div_ceil(bytes)),
        };
        let first = first.max(bound.complete.load(Ordering::Relaxed) as usize);
        let engine = engine();
        let mut concerned = bound.receives.iter().take(end).skip(first);
        concerned.all(|place| id_of(place).is_none_or(|id| engine.is_complete(id)))
    }

    pub fn outcome(&self) -> Status {
        let engine = engine();
        self.sum(|id| engine.status(id))
    }

    pub fn finish(&self) -> Status {
        let engine = engine();
        // The operation is over or about to be: it had only to post what is complete by now.
        let binding = Request::done().0;
        let binding = Request(self.binding.swap(binding, Ordering::Relaxed));
        engine.wait(binding.as_engine().unwrap_or(RequestId::DONE));
        let mut next = self.posting.lock();
        let status = self.sum(|id| engine.finish(id));
        *next = 0;
        self.posted.store(false, Ordering::Relaxed);
        self.active.store(false, Ordering::Release);
        status
    }

    /// The round's status: the program's tag, all bytes, and the error of the first message that failed.
    fn sum(&self, of: impl Fn(RequestId) -> weft_engine::Status) -> Status {
        let Some(source) = self.source else {
            return Status::FROM_NULL;
        };
        let bound = self.bound.get().expect("complete, so it is bound");
        if let Some(failed) = bound.failed {
            return failed;
        }
        let mut sum = Status {
            source: source as i32,
            tag: self.tag,
            ..Status::EMPTY
        };
        for id in bound.receives.iter().filter_map(id_of) {
            let status = Status::from_engine(of(id));
            sum.bytes += status.bytes;
            if sum.class == Class::Success {
                (sum.class, sum.code, sum.context) = (status.class, status.code, status.context);
            }
        }
        sum
    }

    /// A receive that never met its send takes that send's message still.
    pub fn forget(&self) {
        let (setup, request) = &self.setup;
        if self.bound.get().is_none() {
            linger(*request, setup.clone());
        }
    }
}

impl Bound {
    fn first_pending(&self) -> Option<RequestId> {
        let engine = engine();
        let from = self.complete.load(Ordering::Relaxed) as usize;
        let pending = |place| id_of(place).filter(|&id| !engine.is_complete(id));
        let found = (from..self.receives.len())
            .find_map(|index| pending(&self.receives[index]).map(|id| (index, id)));
        let complete = found.map_or(self.receives.len(), |(index, _)| index);
        self.complete.store(complete as u32, Ordering::Relaxed);
        found.map(|(_, id)| id)
    }
}

fn id_of(place: &AtomicU64) -> Option<RequestId> {
    Request(place.load(Ordering::Relaxed)).as_engine()
}

#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    for told in words.as_chunks().0 {
        if let Some(told) = checked(told.map(|word| word as u64), 4096) {
            assert!(told.partitions <= MOST_EMPTY && told.first_tag <= TAG_UB as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sender_tells_is_bounded() {
        let told = checked([5, 3, 8], 24).unwrap();
        assert_eq!((told.first_tag, told.partitions, told.bytes), (5, 3, 8));
        assert!(checked([0, MOST_EMPTY as u64, 0], 0).is_some());
        let lies = [
            [u64::MAX, 3, 8],
            [5, u64::MAX, 8],
            [5, 3, u64::MAX],
            [TAG_UB as u64, 1, 8],
            [0, 1 << 30, 0],
            [5, 1 << 20, 1 << 60],
        ];
        for lie in lies {
            assert!(checked(lie, 24).is_none(), "{lie:?}");
        }
    }
}
