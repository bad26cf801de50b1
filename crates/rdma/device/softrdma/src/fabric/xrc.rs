//! XRC domains that processes share, and the receive queue pairs that live in them.
//!
//! # Protocol
//! 1. Changes of the table are made under `lock`. A domain exists exactly while it has members, a queue pair exactly while it
//!    has openers: bits of slots. So making one is the store of its first bit, after all its fields, and its end is the
//!    store that clears the last; who dies holding the lock leaves nothing half-made.
//! 2. A process has one bit however often it opens the thing; how often, it counts by itself.
//! 3. When a process dies its bits are cleared (`reap`). A bit may be set by a process that is dead and whose slot is not taken
//!    back yet; its slot is not given to another before.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layout;
use super::lock::{Busy, PATIENT};
use super::mapping::Mapping;
use super::numbers::{FABRIC_QPS, FABRIC_SLOT, Number, Owner};
use super::processes::Processes;
use super::record::queue_pair::QpRecord;
use super::record::xrc::{DomainId, DomainTable, Slots, clear, contains, is_empty, set};
use super::target::TargetRecord;

/// Whether a domain that is not there is made, and one that is there is an error: O_CREAT and O_EXCL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    pub create: bool,
    pub exclusive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// There is none, and it was not to be made.
    Absent,
    /// There is one already.
    Exists,
    Full,
    Busy,
}

impl From<Busy> for OpenError {
    fn from(_: Busy) -> OpenError {
        OpenError::Busy
    }
}

/// The domains, and how often this process has opened what.
pub struct Domains {
    opened: Mutex<HashMap<SharedObject, u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SharedObject {
    Domain(DomainId),
    QueuePair(Number),
}

fn table(fabric: &Mapping) -> &DomainTable {
    let table = fabric.at(layout::fabric::DOMAINS);
    table.expect("inside the fabric segment")
}

/// The record of queue pair `index` of the fabric.
pub fn qp(fabric: &Mapping, index: u16) -> &QpRecord {
    let index = u64::from(index) % FABRIC_QPS;
    let record = fabric.at(layout::fabric::QPS + index * size_of::<QpRecord>() as u64);
    record.expect("inside the fabric segment")
}

/// What queue pair `index` of the fabric is to peers on other hosts.
pub fn target(fabric: &Mapping, index: u16) -> &TargetRecord {
    let index = u64::from(index) % FABRIC_QPS;
    let record = fabric.at(layout::fabric::TARGETS + index * size_of::<TargetRecord>() as u64);
    record.expect("inside the fabric segment")
}

/// Whether some process has the queue pair open.
pub fn is_open(record: &QpRecord) -> bool {
    !is_empty(&record.openers)
}

impl Domains {
    pub(super) fn new() -> Domains {
        Domains {
            opened: Mutex::default(),
        }
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<SharedObject, u32>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the domain of `file` (device and inode) on `device`, or a fresh one that nobody else can find.
    pub fn open(
        &self,
        processes: &Processes,
        device: u32,
        file: Option<[u64; 2]>,
        opening: Opening,
    ) -> Result<DomainId, OpenError> {
        let mut opened = self.opened();
        let table = table(processes.fabric());
        let held = table.lock.take(processes, PATIENT)?;
        let found = file.and_then(|file| table.find(device, file));
        let id = match (found, file) {
            (Some(_), _) if opening.exclusive => return Err(OpenError::Exists),
            (Some(id), _) => id,
            (None, Some(_)) if !opening.create => return Err(OpenError::Absent),
            (None, _) => table
                .free_domain(device, file.unwrap_or_default())
                .ok_or(OpenError::Full)?,
        };
        set(&table.domains[id.index()].members, processes.me().slot());
        drop(held);
        *opened.entry(SharedObject::Domain(id)).or_insert(0) += 1;
        Ok(id)
    }

    /// Undoes one [`open`](Self::open).
    pub fn close(&self, processes: &Processes, id: DomainId) -> Result<(), Busy> {
        let table = table(processes.fabric());
        self.leave(
            processes,
            SharedObject::Domain(id),
            &table.domains[id.index()].members,
        )
    }

    /// Makes a receive queue pair, which `fill` describes before anyone can see it.
    pub fn create_qp(
        &self,
        processes: &Processes,
        fill: impl FnOnce(Number, &QpRecord),
    ) -> Result<Number, OpenError> {
        let mut opened = self.opened();
        let table = table(processes.fabric());
        let held = table.lock.take(processes, PATIENT)?;
        let start = table.next_qp.load(Ordering::Relaxed);
        let index = (0..FABRIC_QPS as u32)
            .map(|step| (start.wrapping_add(step) % FABRIC_QPS as u32) as u16)
            .find(|&index| is_empty(&qp(processes.fabric(), index).openers))
            .ok_or(OpenError::Full)?;
        table.next_qp.store(u32::from(index) + 1, Ordering::Relaxed);
        let record = qp(processes.fabric(), index);
        let number = Number::new(FABRIC_SLOT, index);
        let generation = record.generation.load(Ordering::Relaxed);
        record
            .generation
            .store((generation | 1).wrapping_add(2), Ordering::Release);
        fill(number, record);
        set(&record.openers, processes.me().slot());
        drop(held);
        opened.insert(SharedObject::QueuePair(number), 1);
        Ok(number)
    }

    /// Opens a queue pair that `fits` accepts.
    pub fn open_qp(
        &self,
        processes: &Processes,
        number: Number,
        fits: impl FnOnce(&QpRecord) -> bool,
    ) -> Result<(), OpenError> {
        let mut opened = self.opened();
        let held = table(processes.fabric()).lock.take(processes, PATIENT)?;
        let record = qp(processes.fabric(), number.index());
        let there = number.slot() == FABRIC_SLOT
            && u64::from(number.index()) < FABRIC_QPS
            && !is_empty(&record.openers);
        if !there || !fits(record) {
            return Err(OpenError::Absent);
        }
        set(&record.openers, processes.me().slot());
        drop(held);
        *opened.entry(SharedObject::QueuePair(number)).or_insert(0) += 1;
        Ok(())
    }

    /// Undoes one [`create_qp`](Self::create_qp) or [`open_qp`](Self::open_qp). The last one destroys it.
    pub fn close_qp(&self, processes: &Processes, number: Number) -> Result<(), Busy> {
        let openers = &qp(processes.fabric(), number.index()).openers;
        self.leave(processes, SharedObject::QueuePair(number), openers)
    }

    fn leave(&self, processes: &Processes, thing: SharedObject, slots: &Slots) -> Result<(), Busy> {
        let mut opened = self.opened();
        let Some(count) = opened.get_mut(&thing) else {
            return Ok(());
        };
        if *count > 1 {
            *count -= 1;
            return Ok(());
        }
        let held = table(processes.fabric()).lock.take(processes, PATIENT)?;
        clear(slots, processes.me().slot());
        drop(held);
        opened.remove(&thing);
        Ok(())
    }
}

/// Clears the bits of a dead process. Single stores, each of a bit that only its process would set again: no lock is needed.
pub(super) fn take_back(fabric: &Mapping, dead: Owner) {
    for domain in &table(fabric).domains {
        clear(&domain.members, dead.slot());
    }
    for index in 0..FABRIC_QPS as u16 {
        let openers = &qp(fabric, index).openers;
        if contains(openers, dead.slot()) {
            clear(openers, dead.slot());
        }
    }
}
