//! Accumulates: elements of one predefined type at a target, each updated atomically (MPI-5.0 §12.3.4, §12.7.1).
//!
//! An element goes one of two ways, and which, all processes of a window say alike from the window, the type and the
//! address: by the processor, in memory that all of them map, where it is aligned and of the processor's sizes; else under
//! the lock of updates in the target's control area. An update is over when its call returns, so updates of one process
//! are in order (§12.7.2).

use weft_datatype::{Datatype, Kernel, Op, Predefined, kernel};
use weft_transport::Memory;

use crate::atomic::{self, How};
use crate::reach::Link;
use crate::runs::described;
use crate::window::{Fault, Target, Window};

/// An operation on elements of a type that takes it.
#[derive(Clone, Copy)]
pub struct Operation {
    op: Op,
    basic: Predefined,
    kernel: Kernel,
}

impl Operation {
    /// None if the standard does not allow `op` on the type.
    pub fn new(op: Op, basic: Predefined) -> Option<Operation> {
        let kernel = kernel(op, basic)?;
        Some(Operation { op, basic, kernel })
    }
}

impl Window {
    /// Combines the packed elements at `operand` into the target, and puts what it was before to `result`, packed
    /// too, unless that is null. All elements of the target are of the operation's type.
    ///
    /// # Safety
    /// `operand` is valid for reads of as many bytes as the target has, unless the operation is `MPI_NO_OP`, and `result` for
    /// writes.
    pub unsafe fn update(
        &self,
        target: &Target,
        operation: Operation,
        operand: *const u8,
        result: *mut u8,
    ) -> Result<(), Fault> {
        let link = self.link(target.rank)?;
        link.check(target)?;
        // SAFETY: by this function's contract.
        unsafe {
            match link.pointer(target.offset) {
                Some(base) if link.is_shared() && atomic::is_native(operation.basic) => {
                    self.update_natively((link, base), target, operation, (operand, result))
                }
                _ => self.update_locked(link, target, operation, operand, result),
            }
        }
    }

    /// # Safety
    /// As [`update`](Self::update); the target is at `base`.
    unsafe fn update_natively(
        &self,
        (link, base): (&Link, *mut u8),
        target: &Target,
        operation: Operation,
        (operand, result): (*const u8, *mut u8),
    ) -> Result<(), Fault> {
        let update = atomic::update(operation.basic);
        let how = How::new(operation.op, operation.basic, operation.kernel);
        let size = operation.basic.size();
        let mut fault = None;
        let mut packed = 0;
        target.datatype.visit_runs(target.count, &mut |at, run| {
            for begin in (0..run).step_by(size) {
                let place = base.wrapping_offset(at).wrapping_add(begin);
                let offset = target.offset + at as i64 + begin as i64;
                let operand = operand.wrapping_add(packed);
                let result = match result.is_null() {
                    true => result,
                    false => result.wrapping_add(packed),
                };
                packed += size;
                // SAFETY: a run consists of whole elements, all within the target; by this function's contract.
                unsafe {
                    match place.addr().is_multiple_of(size) {
                        true => update(how, place, operand, result),
                        false => {
                            let element = Target {
                                offset,
                                datatype: &Datatype::from(operation.basic),
                                count: 1,
                                ..*target
                            };
                            let updated =
                                self.update_locked(link, &element, operation, operand, result);
                            fault = updated.err().or(fault.take());
                        }
                    }
                }
            }
        });
        fault.map_or(Ok(()), Err)
    }

    /// # Safety
    /// As [`update`](Self::update); the target was checked.
    unsafe fn update_locked(
        &self,
        link: &Link,
        target: &Target,
        operation: Operation,
        operand: *const u8,
        result: *mut u8,
    ) -> Result<(), Fault> {
        let bytes = target.bytes();
        let mut packed = vec![0; bytes];
        let _updating = self.lock_updates(link)?;
        self.read_packed(link, target, &mut packed)?;
        if !result.is_null() {
            // SAFETY: by this function's contract; the vector is the library's own.
            unsafe { std::ptr::copy_nonoverlapping(packed.as_ptr(), result, bytes) };
        }
        if operation.op == Op::NoOp {
            return Ok(());
        }
        // SAFETY: by this function's contract.
        let operand = unsafe { std::slice::from_raw_parts(operand, bytes) };
        operation.combine(operand, &mut packed);
        self.write_packed(link, target, &packed)
    }

    /// Writes the element at `origin` to the target's one element if that equals the one at `compare`; what it was
    /// before goes to `result` (`MPI_Compare_and_swap`).
    ///
    /// # Safety
    /// `origin` and `compare` are valid for reads and `result` for writes of one element of the predefined type.
    pub unsafe fn compare_and_swap(
        &self,
        (rank, offset): (u32, i64),
        predefined: Predefined,
        [compare, origin]: [*const u8; 2],
        result: *mut u8,
    ) -> Result<(), Fault> {
        let link = self.link(rank)?;
        let size = predefined.size();
        link.check_span(offset, 0..size as isize)?;
        if let Some(place) = link.pointer(offset)
            && link.is_shared()
            && atomic::is_native(predefined)
            && place.addr().is_multiple_of(size)
        {
            // SAFETY: checked to be in the window and aligned; by this function's contract.
            unsafe { atomic::compare(predefined)(place, compare, origin, result) };
            return Ok(());
        }
        let datatype = Datatype::from(predefined);
        let target = Target {
            rank,
            offset,
            datatype: &datatype,
            count: 1,
        };
        let mut old = vec![0; size];
        let _updating = self.lock_updates(link)?;
        self.read_packed(link, &target, &mut old)?;
        // SAFETY: by this function's contract. The result may be where the others are, so it is written last.
        unsafe {
            let equal = std::slice::from_raw_parts(compare, size) == old;
            let swapped = match equal {
                true => self.write_packed(link, &target, std::slice::from_raw_parts(origin, size)),
                false => Ok(()),
            };
            std::ptr::copy(old.as_ptr(), result, size);
            swapped
        }
    }

    fn read_packed(&self, link: &Link, target: &Target, packed: &mut [u8]) -> Result<(), Fault> {
        match link.pointer(target.offset) {
            Some(base) => {
                // SAFETY: the target lies in the window.
                unsafe { described(target, base).read(0, packed) };
                Ok(())
            }
            // SAFETY: the slice is as long as said.
            None => unsafe { self.read_runs(link, target, packed.as_mut_ptr(), packed.len()) },
        }
    }

    fn write_packed(&self, link: &Link, target: &Target, packed: &[u8]) -> Result<(), Fault> {
        match link.pointer(target.offset) {
            Some(base) => {
                // SAFETY: the target lies in the window.
                unsafe { described(target, base).write(0, packed) };
                Ok(())
            }
            // SAFETY: the slice is as long as said.
            None => unsafe { self.write_runs(link, target, packed.as_ptr(), packed.len()) },
        }
    }
}

impl Operation {
    /// `packed[i] = operand[i] op packed[i]`, for packed elements.
    fn combine(&self, operand: &[u8], packed: &mut [u8]) {
        let size = self.basic.size();
        let count = packed.len() / size;
        if size == self.basic.extent() {
            // SAFETY: both have `count` elements.
            unsafe { (self.kernel)(operand.as_ptr(), packed.as_mut_ptr(), count) };
            return;
        }
        // A pair with a hole, which packed data do not have.
        let mut input = self.spread(operand, count);
        let mut inout = self.spread(packed, count);
        let (input, inout) = (input.as_mut_ptr().cast(), inout.as_mut_ptr().cast());
        // SAFETY: both have `count` elements, an extent apart, and the packed bytes are as many elements.
        unsafe {
            (self.kernel)(input, inout, count);
            self.elements(inout, count).read(0, packed);
        }
    }

    /// The elements as they lie in an array.
    fn spread(&self, packed: &[u8], count: usize) -> Vec<u128> {
        let words = (self.basic.extent() * count).div_ceil(size_of::<u128>());
        let mut array = vec![0u128; words];
        let memory = self.elements(array.as_mut_ptr().cast(), count);
        // SAFETY: the array has room for as many elements.
        unsafe { memory.write(0, packed) };
        array
    }

    fn elements(&self, array: *mut u8, count: usize) -> Memory {
        let memory = Datatype::from(self.basic).memory(array, count);
        memory.expect("no longer than the packed elements that there are")
    }
}
