//! Accesses of a link's to memory that its peer has exposed: RDMA writes and reads.
//!
//! A long access whose memory lies together goes from there, or comes there, if the adapter registers it; the registration ends with the
//! access. Any other goes through registered pieces, in steps as long as those.

use std::collections::{BTreeMap, VecDeque};

use weft_memory::Memory;
use weft_transport::{Cookie, Direction};
use weft_verbs::{MemoryRegion, Operation, ProtectionDomain, Remote};

use crate::buffers::{BufferId, Sends};
use crate::frame::EAGER_BYTES;
use crate::keys::Keys;
use crate::user_memory::{Source, Target};

/// One request of an access.
pub struct AccessRequest {
    access: u32,
    pub operation: Operation,
    pub local: Local,
    /// In the access's memory.
    offset: usize,
    pub bytes: usize,
}

/// What the adapter reads or writes here.
pub enum Local {
    BufferId(BufferId),
    /// The access's memory.
    Region(MemoryRegion),
}

impl AccessRequest {
    /// Where it begins in what is registered.
    pub fn begin(&self) -> usize {
        match self.local {
            Local::BufferId(_) => 0,
            Local::Region(_) => self.offset,
        }
    }

    pub fn is_write(&self) -> bool {
        matches!(self.operation, Operation::Write(_))
    }

    pub fn piece(&self) -> Option<BufferId> {
        match self.local {
            Local::BufferId(piece) => Some(piece),
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
    /// Of the memory, by the path's adapter. Goes before it.
    region: Option<(usize, MemoryRegion)>,
    user: User,
    bytes: usize,
    to: Far,
    /// Bytes for which there were requests, but for those that have failed, by offset and length; and bytes that have moved.
    begun: usize,
    again: Vec<(usize, usize)>,
    done: usize,
}

/// Memory of the peer's.
#[derive(Clone, Copy)]
pub struct Far {
    pub address: u64,
    /// By the peer's ports.
    pub keys: Keys,
}

/// The path by which accesses go: its place, the port of the peer's that it leads to, its adapter's domain.
pub struct By<'a> {
    pub place: usize,
    pub port: usize,
    pub domain: &'a ProtectionDomain,
}

impl UnderWay {
    fn is_all_begun(&self) -> bool {
        self.begun == self.bytes && self.again.is_empty()
    }

    /// Has a region of what is registered, if anything is, be one of that path's adapter. Whether there is one.
    fn register(&mut self, by: &By<'_>) -> bool {
        if self.bytes <= EAGER_BYTES {
            return false;
        }
        if self
            .region
            .as_ref()
            .is_none_or(|(place, _)| *place != by.place)
        {
            let region = match &self.user {
                User::Source(source) => source.register_to_write(by.domain),
                User::Target(target) => target.register(by.domain),
            };
            self.region = region.map(|region| (by.place, region));
        }
        self.region.is_some()
    }

    /// The next piece that there is to be moved.
    fn piece(&self) -> (usize, usize) {
        let rest = (self.begun, self.bytes - self.begun);
        self.again.last().copied().unwrap_or(rest)
    }

    /// Of that piece so many bytes are moved.
    fn begin(&mut self, bytes: usize) {
        match self.again.last_mut() {
            None => self.begun += bytes,
            Some(last) => {
                *last = (last.0 + bytes, last.1 - bytes);
                self.again.retain(|piece| piece.1 > 0);
            }
        }
    }

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
    pub unsafe fn begin(&mut self, direction: Direction, memory: Memory, to: Far, cookie: Cookie) {
        let bytes = memory.bytes;
        let user = match direction {
            // SAFETY: by this function's contract.
            Direction::Write => User::Source(unsafe { Source::new(memory) }),
            // SAFETY: as above.
            Direction::Read => User::Target(unsafe { Target::new(memory) }),
        };
        while self.under_way.contains_key(&self.last) {
            self.last = self.last.wrapping_add(1);
        }
        let under_way = UnderWay {
            cookie,
            region: None,
            user,
            bytes,
            to,
            begun: 0,
            again: Vec::new(),
            done: 0,
        };
        self.under_way.insert(self.last, under_way);
        self.waiting.push_back(self.last);
    }

    /// The next request, if there is one and a piece for it.
    pub fn next(&mut self, sends: &mut Sends, by: &By<'_>) -> Option<AccessRequest> {
        let &access = self.waiting.front()?;
        let there = self.under_way.get_mut(&access);
        let there = there.expect("an access under way");
        let is_registered = there.register(by);
        let (offset, left) = there.piece();
        let (local, bytes) = match &there.region {
            Some((_, region)) if is_registered => {
                (Local::Region(region.clone()), left.min(self.most_bytes))
            }
            _ => {
                let bytes = left.min(EAGER_BYTES);
                let piece = sends.take_for_access(bytes)?;
                if let User::Source(source) = &there.user {
                    source.pack(offset, sends.bytes(piece, bytes));
                }
                (Local::BufferId(piece), bytes)
            }
        };
        let remote = Remote {
            address: there.to.address,
            key: there.to.keys.get(by.port),
        };
        let remote = remote.at(offset as u64);
        let operation = match there.direction() {
            Direction::Write => Operation::Write(remote),
            Direction::Read => Operation::Read(remote),
        };
        there.begin(bytes);
        if there.is_all_begun() {
            self.waiting.pop_front();
        }
        Some(AccessRequest {
            access,
            operation,
            local,
            offset,
            bytes,
        })
    }

    /// A request was not done: it is to be done again.
    pub fn again(&mut self, step: &AccessRequest) {
        let Some(there) = self.under_way.get_mut(&step.access) else {
            return;
        };
        if there.is_all_begun() {
            self.waiting.push_front(step.access);
        }
        there.again.push((step.offset, step.bytes));
    }

    /// A request is done, whose piece, if it has one, is to be given back after this. The access, if that was its last.
    pub fn done(&mut self, step: &AccessRequest, sends: &mut Sends) -> Option<Over> {
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
