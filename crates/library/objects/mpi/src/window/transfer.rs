//! Put and get (MPI-5.0 §12.3.1, §12.3.2), and where an access goes.

use weft_memory::Memory;
use weft_rma::Target;

use super::errors::unreached;
use super::figures::Flavor;
use super::object::{Window, find};
use crate::constants::PROC_NULL;
use crate::error::{Class, Error, OfBuffer, Result, argument};
use crate::handle::WindowId;
use crate::objects::types::{self, Buffer, Found, TypeId};

/// The target arguments of an access.
#[derive(Clone, Copy, Debug)]
pub struct TargetBuffer {
    pub rank: i32,
    pub displacement: i64,
    pub count: i64,
    pub datatype: TypeId,
}

/// In which epochs an access is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    Any,
    /// While the target is locked: what returns a request (MPI-5.0 §12.3.5).
    Passive,
}

/// A target whose arguments were checked.
pub(super) struct Checked {
    rank: u32,
    offset: i64,
    count: usize,
    pub datatype: Found,
}

impl Checked {
    pub fn target(&self) -> Target<'_> {
        Target {
            rank: self.rank,
            offset: self.offset,
            datatype: &self.datatype,
            count: self.count,
        }
    }

    /// Packed bytes; if that is no number, the access is found to be out of range.
    pub fn bytes(&self) -> usize {
        self.datatype.size().saturating_mul(self.count)
    }
}

impl Window {
    /// Checks the arguments that say where an access goes; none for `MPI_PROC_NULL`.
    #[inline]
    pub(super) fn checked(&self, target: TargetBuffer, epoch: Epoch) -> Result<Option<Checked>> {
        if target.rank == PROC_NULL {
            return Ok(None);
        }
        let rank = self.check_rank("target_rank", target.rank)?;
        let Ok(count) = usize::try_from(target.count) else {
            return Err(negative("target_count", target.count, Class::Count));
        };
        let datatype = types::find_committed(target.datatype).of_buffer("target")?;
        let offset = self.offset(rank, target.displacement)?;
        match epoch {
            Epoch::Any => self.epochs.check_access(rank)?,
            Epoch::Passive => self.epochs.check_passive(rank)?,
        }
        Ok(Some(Checked {
            rank,
            offset,
            count,
            datatype,
        }))
    }

    /// Bytes from the beginning of a target's part; in a dynamic window displacements are addresses.
    #[inline]
    fn offset(&self, rank: u32, displacement: i64) -> Result<i64> {
        if self.flavor == Flavor::Dynamic {
            return Ok(displacement);
        }
        if displacement < 0 {
            return Err(negative("target_disp", displacement, Class::Disp));
        }
        displacement
            .checked_mul(self.rma.member(rank).unit)
            .ok_or_else(|| unreached(weft_rma::Fault::Range))
    }
}

#[cold]
fn negative(name: &str, number: i64, class: Class) -> Error {
    argument(class, name, format_args!("{number} is negative"))
}

/// The data must fit the target without truncation (MPI-5.0 §12.3.1).
#[inline]
pub(super) fn check_fits(origin: &Memory, target: &Checked) -> Result<()> {
    if origin.bytes > target.bytes() {
        return Err(too_long(origin.bytes, target.bytes()));
    }
    Ok(())
}

#[cold]
fn too_long(origin: usize, target: usize) -> Error {
    let what = format_args!("{origin} bytes of origin data do not fit {target} at the target");
    argument(Class::Truncate, "target_count", what)
}

/// `MPI_Put` and `MPI_Rput`.
#[inline(always)]
pub fn put(id: WindowId, origin: Buffer, target: TargetBuffer, epoch: Epoch) -> Result<()> {
    let window = find(id)?;
    if let Some((direct, bytes)) = window.direct(&origin, &target, epoch) {
        // SAFETY: the caller's buffer is valid for reads of what it says during the call.
        unsafe { direct.put(origin.address, bytes) };
        return Ok(());
    }
    window.put(&origin, target, epoch)
}

/// `MPI_Get` and `MPI_Rget`.
#[inline(always)]
pub fn get(id: WindowId, origin: Buffer, target: TargetBuffer, epoch: Epoch) -> Result<()> {
    let window = find(id)?;
    if let Some((direct, bytes)) = window.direct(&origin, &target, epoch) {
        // SAFETY: the caller's buffer is valid for writes of what it says during the call.
        unsafe { direct.get(origin.address, bytes) };
        return Ok(());
    }
    window.get(&origin, target, epoch)
}

impl Window {
    #[inline(never)]
    fn put(&self, origin: &Buffer, target: TargetBuffer, epoch: Epoch) -> Result<()> {
        let Some(checked) = self.checked(target, epoch)? else {
            return Ok(());
        };
        let memory = origin.memory().of_buffer("origin")?;
        check_fits(&memory, &checked)?;
        // SAFETY: the caller's buffer, checked by `memory`, is valid for reads during the call.
        unsafe { self.rma.put(&checked.target(), &memory) }.map_err(unreached)
    }

    #[inline(never)]
    fn get(&self, origin: &Buffer, target: TargetBuffer, epoch: Epoch) -> Result<()> {
        let Some(checked) = self.checked(target, epoch)? else {
            return Ok(());
        };
        let memory = origin.memory().of_buffer("origin")?;
        check_fits(&memory, &checked)?;
        // SAFETY: the caller's buffer, checked by `memory`, is valid for writes during the call.
        unsafe { self.rma.get(&checked.target(), &memory) }.map_err(unreached)
    }
}
