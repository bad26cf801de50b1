//! The direct path of an access: elements of a predefined datatype without holes, as many of the same at the target, in a part of
//! the window that loads and stores reach.
//!
//! All that it needs is asked for without a word about what is wrong. Where something is, or is only unusual, there is no
//! direct path, and the general one, out of line, does the access or finds the error.

use weft_datatype::{Group, Op, Predefined};
use weft_objects::op::OpId;
use weft_objects::types::{self, Buffer, TypeId};
use weft_rma::{Direct, Operation, Update, Word};

use super::object::Window;
use super::transfer::{Epoch, TargetBuffer};

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

impl Window {
    /// Where as much as a buffer holds is at the target, and how many bytes.
    #[inline(always)]
    pub(super) fn direct(
        &self,
        origin: &Buffer,
        target: &TargetBuffer,
        epoch: Epoch,
    ) -> Option<(Direct<'_>, usize)> {
        let bytes = types::plain_bytes(origin.address, origin.count, origin.datatype)?;
        if target.datatype != origin.datatype || target.count != origin.count {
            return None;
        }
        let direct = self.rma.direct(target.rank, target.displacement, bytes)?;
        self.is_open(target.rank, epoch).then_some((direct, bytes))
    }

    /// Where an integer of the target is that is updated in place.
    #[inline(always)]
    fn direct_word(
        &self,
        (rank, displacement): (i32, i64),
        datatype: TypeId,
        epoch: Epoch,
    ) -> Option<Word<'_>> {
        let bytes = *INTEGERS.get(usize::try_from(datatype.handle()).ok()?)?;
        let bytes = usize::from(bytes);
        let word = self.rma.direct(rank, displacement, bytes)?.word(bytes)?;
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

    /// `MPI_Accumulate`, if it was done.
    #[inline(always)]
    pub(super) fn accumulate_direct(
        &self,
        origin: &Buffer,
        target: &TargetBuffer,
        op: OpId,
        epoch: Epoch,
    ) -> bool {
        let op = match op {
            OpId::Predefined(Op::NoOp) | OpId::User(_) => return false,
            OpId::Predefined(op) => op,
        };
        let result = std::ptr::null_mut();
        let one = origin.count == 1 && target.count == 1 && origin.datatype == target.datatype;
        let at = (target.rank, target.displacement);
        if one && self.update_word_direct((origin.address, result), target.datatype, at, op, epoch)
        {
            return true;
        }
        self.update_elements_direct(origin, result, target, op, epoch)
    }

    /// `MPI_Get_accumulate`, if it was done.
    #[inline]
    pub(super) fn get_accumulate_direct(
        &self,
        origin: &Buffer,
        result: &Buffer,
        target: &TargetBuffer,
        op: OpId,
        epoch: Epoch,
    ) -> bool {
        let OpId::Predefined(op) = op else {
            return false;
        };
        let alike = result.count == target.count && result.datatype == target.datatype;
        if !alike || !types::is_address(result.address) {
            return false;
        }
        let origin = match op {
            // There is no origin then.
            Op::NoOp => result,
            _ => origin,
        };
        let one = origin.count == 1 && target.count == 1 && origin.datatype == target.datatype;
        let (at, buffers) = (
            (target.rank, target.displacement),
            (origin.address.cast_const(), result.address),
        );
        if one && self.update_word_direct(buffers, target.datatype, at, op, epoch) {
            return true;
        }
        self.update_elements_direct(origin, result.address, target, op, epoch)
    }

    /// Updates elements of a predefined datatype, as many as the target has of the same, if they are updated in place.
    #[inline(never)]
    fn update_elements_direct(
        &self,
        origin: &Buffer,
        result: *mut u8,
        target: &TargetBuffer,
        op: Op,
        epoch: Epoch,
    ) -> bool {
        let Some(basic) = types::as_predefined(target.datatype) else {
            return false;
        };
        let Some(operation) = Operation::new(op, basic) else {
            return false;
        };
        let Some((direct, _)) = self.direct(origin, target, epoch) else {
            return false;
        };
        let buffers = (origin.address.cast_const(), result);
        // SAFETY: the caller's buffers hold as many elements as the target, for which there is room.
        unsafe {
            self.rma
                .update_direct(direct, operation, origin.count as usize, buffers)
        }
    }

    /// `MPI_Fetch_and_op` of an integer, if it was done.
    #[inline(always)]
    pub(super) fn fetch_and_op_direct(
        &self,
        (origin, result): (*const u8, *mut u8),
        datatype: TypeId,
        at: (i32, i64),
        op: OpId,
    ) -> bool {
        let OpId::Predefined(op) = op else {
            return false;
        };
        types::is_address(result)
            && self.update_word_direct((origin, result), datatype, at, op, Epoch::Any)
    }

    #[inline(always)]
    fn update_word_direct(
        &self,
        (origin, result): (*const u8, *mut u8),
        datatype: TypeId,
        at: (i32, i64),
        op: Op,
        epoch: Epoch,
    ) -> bool {
        let Some(update) = Update::of(op) else {
            return false;
        };
        if !types::is_address(origin) && update != Update::Fetch {
            return false;
        }
        let Some(word) = self.direct_word(at, datatype, epoch) else {
            return false;
        };
        // SAFETY: the caller's buffers hold an integer each; the word is in the window.
        unsafe { self.rma.update_word(word, update, origin, result) };
        true
    }

    /// `MPI_Compare_and_swap` of an integer, if it was done.
    #[inline(always)]
    pub(super) fn compare_and_swap_direct(
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
        let Some(word) = self.direct_word(at, datatype, Epoch::Any) else {
            return false;
        };
        let values = [compare, origin].map(<*mut u8>::cast_const);
        // SAFETY: as in `update_word_direct`.
        unsafe { self.rma.compare_and_swap_word(word, values, result) };
        true
    }
}
