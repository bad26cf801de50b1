//! The short way of an access: elements of a predefined datatype without holes, as many of the same at the target, in a part of
//! the window that loads and stores reach.
//!
//! All that it needs is asked for without a word about what is wrong. Where something is, or is only unusual, there is no
//! short way, and the general one, out of line, does the access or finds the error.

use weft_datatype::{Group, Op, Predefined};
use weft_rma::{How, Near, Word};

use super::object::Window;
use super::transfer::{Epoch, TargetBuffer};
use crate::objects::op::OpId;
use crate::objects::types::{self, Buffer, TypeId};

/// Bytes of an integer type, by place in [`Predefined::ALL`]; 0 for what is none.
static INTEGERS: [u8; Predefined::ALL.len()] = {
    use Group::{CInteger, FortranInteger, MultiLanguage};
    let mut bytes = [0; Predefined::ALL.len()];
    let mut index = 0;
    while index < bytes.len() {
        let predefined = Predefined::ALL[index];
        if matches!(
            predefined.group(),
            CInteger | FortranInteger | MultiLanguage
        ) {
            bytes[index] = predefined.element().size() as u8;
        }
        index += 1;
    }
    bytes
};

/// How an integer is updated; only fetched where the call allows that.
#[inline]
fn how(op: OpId) -> Option<How> {
    match op {
        OpId::Predefined(op) => How::of_integer(op),
        OpId::User(_) => None,
    }
}

impl Window {
    /// Where as much as a buffer holds is at the target, and how many bytes.
    #[inline(always)]
    pub(super) fn near(
        &self,
        origin: &Buffer,
        target: &TargetBuffer,
        epoch: Epoch,
    ) -> Option<(Near, usize)> {
        let bytes = types::plain_bytes(origin.address, origin.count, origin.datatype)?;
        if target.datatype != origin.datatype || target.count != origin.count {
            return None;
        }
        let near = self.rma.near(target.rank, target.displacement, bytes)?;
        self.is_open(target.rank, epoch).then_some((near, bytes))
    }

    /// Where an integer of the target is that the processor updates.
    #[inline(always)]
    fn near_word(
        &self,
        (rank, displacement): (i32, i64),
        datatype: TypeId,
        epoch: Epoch,
    ) -> Option<Word> {
        let bytes = *INTEGERS.get(usize::try_from(datatype.0).ok()?)?;
        let bytes = usize::from(bytes);
        let word = self.rma.near(rank, displacement, bytes)?.word(bytes)?;
        self.is_open(rank, epoch).then_some(word)
    }

    /// Whether the target of a place may be accessed.
    #[inline(always)]
    fn is_open(&self, rank: i32, epoch: Epoch) -> bool {
        match epoch {
            Epoch::Any => self.epochs.is_accessible(rank as u32),
            Epoch::Passive => self.epochs.is_locked(rank as u32),
        }
    }

    /// `MPI_Accumulate` of one integer, if it was done.
    #[inline(always)]
    pub(super) fn accumulate_near(
        &self,
        origin: &Buffer,
        target: &TargetBuffer,
        op: OpId,
        epoch: Epoch,
    ) -> bool {
        let one = origin.count == 1 && target.count == 1 && origin.datatype == target.datatype;
        if !one || op == OpId::Predefined(Op::NoOp) {
            return false;
        }
        let result = std::ptr::null_mut();
        let at = (target.rank, target.displacement);
        self.update_near((origin.address, result), target.datatype, at, op, epoch)
    }

    /// `MPI_Fetch_and_op` of an integer, if it was done.
    #[inline(always)]
    pub(super) fn fetch_and_op_near(
        &self,
        (origin, result): (*const u8, *mut u8),
        datatype: TypeId,
        at: (i32, i64),
        op: OpId,
    ) -> bool {
        types::is_address(result)
            && self.update_near((origin, result), datatype, at, op, Epoch::Any)
    }

    #[inline(always)]
    fn update_near(
        &self,
        (origin, result): (*const u8, *mut u8),
        datatype: TypeId,
        at: (i32, i64),
        op: OpId,
        epoch: Epoch,
    ) -> bool {
        let Some(how) = how(op) else { return false };
        if !types::is_address(origin) && !matches!(how, How::Fetch) {
            return false;
        }
        let Some(word) = self.near_word(at, datatype, epoch) else {
            return false;
        };
        // SAFETY: the caller's buffers hold an integer each; the word is in the window.
        unsafe { word.update(how, origin, result) };
        true
    }

    /// `MPI_Compare_and_swap` of an integer, if it was done.
    #[inline(always)]
    pub(super) fn compare_and_swap_near(
        &self,
        [origin, compare, result]: [*mut u8; 3],
        datatype: TypeId,
        at: (i32, i64),
    ) -> bool {
        if ![origin, compare, result]
            .into_iter()
            .all(|buffer| types::is_address(buffer))
        {
            return false;
        }
        let Some(word) = self.near_word(at, datatype, Epoch::Any) else {
            return false;
        };
        let values = [compare, origin].map(<*mut u8>::cast_const);
        // SAFETY: as in `update_near`.
        unsafe { word.compare_and_swap(values, result) };
        true
    }
}
