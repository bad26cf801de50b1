//! Accesses of a link's to memory that its peer has exposed: RDMA writes and reads.
//!
//! A long access whose memory lies together goes from there, or comes there, if the adapter registers it; the registration ends with the
//! access. Any other goes through registered pieces, in steps as long as those.

use std::collections::{BTreeMap, VecDeque};

use weft_memory::Memory;
use weft_transport::{Cookie, Direction};
use weft_verbs::{MemoryRegion, Operation, ProtectionDomain, Remote};

use crate::buffers::{Piece, Sends};
use crate::frame::EAGER_BYTES;
use crate::user_memory::{Source, Target};

/// One request of an access.
pub struct Step {
    access: u32,
    pub operation: Operation,
    pub local: Local,
    /// In the access's memory.
    offset: usize,
    pub bytes: usize,
}

/// What the adapter reads or writes here.
pub enum Local {
    Piece(Piece),
    /// The access's memory.
    Region(MemoryRegion),
}

impl Step {
    /// Where it begins in what is registered.
    pub fn begin(&self) -> usize {
        match self.local {
            Local::Piece(_) => 0,
            Local::Region(_) => self.offset,
        }
    }

    pub fn is_write(&self) -> bool {
        matches!(self.operation, Operation::Write(_))
    }

    pub fn piece(&self) -> Option<Piece> {
        match self.local {
            Local::Piece(piece) => Some(piece),
            Local::Region(_) => None,
        }
    }
}

/// An access that is over.
pub struct Over {
    pub cookie: Cookie,
    pub direction: Direction,
}

enum User {
    Source(Source),
    Target(Target),
}

struct UnderWay {
    cookie: Cookie,
    /// Of the memory. Goes before it.
    region: Option<MemoryRegion>,
    user: User,
    bytes: usize,
    remote: Remote,
    /// Bytes for which there are requests, and those that have moved.
    begun: usize,
    done: usize,
}

impl UnderWay {
    fn direction(&self) -> Direction {
        match self.user {
            User::Source(_) => Direction::Write,
            User::Target(_) => Direction::Read,
        }
    }
}

#[derive(Default)]
pub struct Accesses {
    under_way: BTreeMap<u32, UnderWay>,
    /// Those for which there are to be more requests, the oldest first.
    waiting: VecDeque<u32>,
    last: u32,
    most_bytes: usize,
}

impl Accesses {
    /// By requests of at most so many bytes.
    pub fn new(most_bytes: usize) -> Accesses {
        Accesses {
            most_bytes,
            ..Accesses::default()
        }
    }

    /// Those that are not over.
    pub fn count(&self) -> usize {
        self.under_way.len()
    }

    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Those for which there are to be more requests.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// # Safety
    /// The memory is valid, for reads if it is written to the peer, else for writes and nobody else's, until the access is over or this
    /// value is dropped.
    pub unsafe fn begin(
        &mut self,
        direction: Direction,
        memory: Memory,
        remote: Remote,
        cookie: Cookie,
        domain: &ProtectionDomain,
    ) {
        let bytes = memory.bytes;
        let is_long = bytes > EAGER_BYTES;
        let (user, region) = match direction {
            Direction::Write => {
                // SAFETY: by this function's contract.
                let source = unsafe { Source::new(memory) };
                let region = is_long.then(|| source.register_to_write(domain)).flatten();
                (User::Source(source), region)
            }
            Direction::Read => {
                // SAFETY: as above.
                let target = unsafe { Target::new(memory) };
                let region = is_long.then(|| target.register(domain)).flatten();
                (User::Target(target), region)
            }
        };
        while self.under_way.contains_key(&self.last) {
            self.last = self.last.wrapping_add(1);
        }
        let under_way = UnderWay {
            cookie,
            region,
            user,
            bytes,
            remote,
            begun: 0,
            done: 0,
        };
        self.under_way.insert(self.last, under_way);
        self.waiting.push_back(self.last);
    }

    /// The next request, if there is one and a piece for it.
    pub fn next(&mut self, sends: &mut Sends) -> Option<Step> {
        let &access = self.waiting.front()?;
        let there = self.under_way.get_mut(&access);
        let there = there.expect("an access under way");
        let (offset, left) = (there.begun, there.bytes - there.begun);
        let (local, bytes) = match &there.region {
            Some(region) => (Local::Region(region.clone()), left.min(self.most_bytes)),
            None => {
                let bytes = left.min(EAGER_BYTES);
                let piece = sends.take_for_access(bytes)?;
                if let User::Source(source) = &there.user {
                    source.pack(offset, sends.bytes(piece, bytes));
                }
                (Local::Piece(piece), bytes)
            }
        };
        let remote = there.remote.at(offset as u64);
        let operation = match there.direction() {
            Direction::Write => Operation::Write(remote),
            Direction::Read => Operation::Read(remote),
        };
        there.begun += bytes;
        if there.begun == there.bytes {
            self.waiting.pop_front();
        }
        Some(Step {
            access,
            operation,
            local,
            offset,
            bytes,
        })
    }

    /// A request is done, whose piece, if it has one, is to be given back after this. The access, if that was its last.
    pub fn done(&mut self, step: &Step, sends: &mut Sends) -> Option<Over> {
        let there = self.under_way.get_mut(&step.access);
        let there = there.expect("an access under way");
        if let (User::Target(target), Some(piece)) = (&mut there.user, step.piece()) {
            target.write(step.offset, sends.bytes(piece, step.bytes));
        }
        there.done += step.bytes;
        if there.done < there.bytes {
            return None;
        }
        let over = Over {
            cookie: there.cookie,
            direction: there.direction(),
        };
        self.under_way.remove(&step.access);
        Some(over)
    }
}
