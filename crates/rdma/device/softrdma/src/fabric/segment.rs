//! A process segment as those who look into it see it, its owner included.

use std::sync::atomic::Ordering;

use super::layout::{PROCESS_MAGIC, ProcessHeader, process};
use super::mailbox::{Mailbox, MailboxRecord};
use super::mapping::{Mapping, Shared};
use super::numbers::{Owner, REGIONS};
use super::record::completion::CqRecord;
use super::record::queue_pair::QpRecord;
use super::record::receive::SrqRecord;
use super::record::region::{MrRecord, VisitRow};

/// Names an object of a process: an index into a table and the generation of what stands there, which is odd while
/// something does. 0 names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ObjectId {
    pub index: u16,
    pub generation: u32,
}

impl ObjectId {
    pub fn word(self) -> u64 {
        u64::from(self.generation) << 16 | u64::from(self.index)
    }

    /// From a word in shared memory; none if it names nothing.
    pub fn from_word(word: u64) -> Option<ObjectId> {
        let generation = (word >> 16) as u32;
        (generation & 1 == 1).then_some(ObjectId {
            index: word as u16,
            generation,
        })
    }
}

/// A process segment, mapped.
pub struct Segment {
    mapping: Mapping,
    owner: Owner,
}

impl Segment {
    /// `mapping` is the segment of `owner` if its key is there.
    pub fn new(mapping: Mapping, owner: Owner, key: u64) -> Option<Segment> {
        let header: &ProcessHeader = mapping.at(0)?;
        let whole = mapping.address_of(0, process::HEAP).is_some();
        let right = header.magic.load(Ordering::Acquire) == PROCESS_MAGIC
            && header.key.load(Ordering::Relaxed) == key;
        (whole && right).then_some(Segment { mapping, owner })
    }

    pub fn owner(&self) -> Owner {
        self.owner
    }

    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    pub fn header(&self) -> &ProcessHeader {
        self.fixed(0)
    }

    /// What lies in the part of fixed layout, which `new` has seen to be there.
    #[inline]
    pub(super) fn fixed<T: Shared>(&self, offset: u64) -> &T {
        self.mapping.at(offset).expect("inside the fixed part")
    }

    #[inline]
    pub fn qp(&self, index: u16) -> &QpRecord {
        self.fixed(process::QPS + u64::from(index) * size_of::<QpRecord>() as u64)
    }

    #[inline]
    pub fn cq_record(&self, index: u16) -> &CqRecord {
        self.fixed(process::CQS + u64::from(index) * size_of::<CqRecord>() as u64)
    }

    #[inline]
    pub fn srq(&self, index: u16) -> &SrqRecord {
        self.fixed(process::SRQS + u64::from(index) * size_of::<SrqRecord>() as u64)
    }

    /// None beyond the table.
    #[inline]
    pub fn region(&self, index: u32) -> Option<&MrRecord> {
        let offset = process::REGIONS + u64::from(index) * size_of::<MrRecord>() as u64;
        (u64::from(index) < REGIONS).then(|| self.fixed(offset))
    }

    #[inline]
    pub fn visits(&self, slot: u8) -> &VisitRow {
        self.fixed(process::VISITS + u64::from(slot) * size_of::<VisitRow>() as u64)
    }

    pub fn mailbox(&self) -> Mailbox<'_> {
        let record: &MailboxRecord = self.fixed(process::MAILBOX);
        Mailbox::new(record)
    }
}
