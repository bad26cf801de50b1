//! What a target does for an origin of another host: accesses to its own part.

use weft_datatype::{Datatype, Predefined};
use weft_engine::RequestId;
use weft_error::{Class, Result};
use weft_memory::Memory;
use weft_messages::start::{start_failure, start_receive, start_send};
use weft_objects::comm::Traffic;
use weft_rma::far::{Access, Unit, Updating};
use weft_rma::{Fault, Operation, Target};

use super::path::{NOTHING, under_way};
use super::waited::{Transfer, Waited};
use crate::object::Window;

/// The class that an origin is told.
pub fn class_of(fault: &Fault) -> Class {
    match fault {
        Fault::Range => Class::RmaRange,
        Fault::Lost(_) => Class::ProcAborted,
        Fault::NoMemory => Class::NoMem,
    }
}

/// The data of an access, as they are said to the window.
struct AccessData {
    datatype: Datatype,
    count: usize,
    offset: i64,
}

impl AccessData {
    fn of(access: &Access, basic: Predefined) -> std::result::Result<AccessData, Fault> {
        let (datatype, count, offset) = access.datatype(basic).map_err(|_| Fault::Range)?;
        Ok(AccessData {
            datatype,
            count,
            offset,
        })
    }

    fn target(&self, window: &Window) -> Target<'_> {
        Target {
            rank: window.rma.me(),
            offset: self.offset,
            datatype: &self.datatype,
            count: self.count,
        }
    }
}

impl Window {
    pub(super) fn put_here(&self, access: &Access, data: &[u8]) -> std::result::Result<(), Fault> {
        let described = AccessData::of(access, Predefined::Byte)?;
        let data = Memory::contiguous(data.as_ptr().cast_mut(), data.len());
        // SAFETY: the data are a slice, of which is only read.
        unsafe { self.rma.put(&described.target(self), &data) }
    }

    /// The memory of an access to this process's part.
    pub(super) fn memory_here(&self, access: &Access) -> std::result::Result<Memory, Fault> {
        let described = AccessData::of(access, Predefined::Byte)?;
        self.rma.own_memory(&described.target(self))
    }

    /// Updates elements, whose operands are as many unless there are none. What they were before, if it `fetches`.
    pub(super) fn update_here(
        &self,
        access: &Access,
        Updating { op, basic }: Updating,
        operands: &[u8],
        fetches: bool,
    ) -> std::result::Result<Vec<u8>, Fault> {
        let described = AccessData::of(access, basic)?;
        let operation = Operation::new(op, basic).ok_or(Fault::Range)?;
        let mut results = Vec::new();
        let mut into = std::ptr::null_mut();
        if fetches {
            results = weft_reserve::zeroed(described.datatype.size() * described.count)?;
            into = results.as_mut_ptr();
        }
        // SAFETY: operands and results are as long as the elements, as the command was read, and `MPI_NO_OP` needs no operands.
        unsafe {
            self.rma
                .update(&described.target(self), operation, operands.as_ptr(), into)?;
        }
        Ok(results)
    }

    pub(super) fn swap_here(
        &self,
        (offset, basic): (i64, Predefined),
        [compare, value]: [&[u8]; 2],
    ) -> std::result::Result<Vec<u8>, Fault> {
        let Unit { packed, step } = Unit::of(basic);
        if packed != step {
            return Err(Fault::Range);
        }
        let mut result = vec![0; packed];
        let values = [compare.as_ptr(), value.as_ptr()];
        let at = (self.rma.me(), offset);
        // SAFETY: the three hold an element each, which is dense.
        unsafe {
            self.rma
                .compare_and_swap(at, basic, values, result.as_mut_ptr())?;
        }
        Ok(result)
    }

    /// Answers an origin with memory of the window, or the library's.
    pub fn answer(
        &self,
        origin: u32,
        reply: u32,
        found: std::result::Result<Memory, Class>,
        data: Vec<u8>,
    ) -> Result<Option<Transfer>> {
        let (comm, traffic) = (&self.comm, Traffic::OneSided);
        let sent = match found {
            Ok(memory) => start_send(comm, traffic, memory, origin, reply),
            Err(class) => start_failure(comm, traffic, origin, reply, class.mark()),
        };
        let id = under_way(sent?).map(Waited::new);
        Ok(id.map(|id| Transfer { id, data }))
    }

    /// Receives the data of an announced put, to nowhere if they have no place.
    pub(super) fn receive_here(
        &self,
        origin: u32,
        tag: u32,
        into: Option<Memory>,
    ) -> Result<RequestId> {
        let (from, number) = (origin as i32, tag as i32);
        let into = into.unwrap_or(NOTHING);
        let posted = start_receive(&self.comm, Traffic::OneSided, into, from, number)?;
        Ok(posted.as_engine().expect("a receive has a request"))
    }
}
