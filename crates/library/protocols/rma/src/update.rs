//! Accumulates: elements of one predefined type at a target, each updated atomically (MPI-5.0 §12.3.4, §12.7.1).
//!
//! An element goes one of two ways, and which, all processes of a window say alike from the window and the type: in place,
//! under the lock of its stripe (`stripes`), in memory that all of them map; else under the one lock of updates in the
//! target's control area. The second way is for memory of the user's and for pairs with holes, which do not lie in memory as
//! they are packed. An update is over when its call returns, so updates of one process are in order (§12.7.2).

use weft_datatype::{Datatype, Op, Predefined};
use weft_memory::Memory;
use weft_sync::RobustSpinLock;

use crate::direct::{Direct, Word};
use crate::link::Link;
use crate::operation::Operation;
use crate::runs::described;
use crate::short_access::{Access, What};
use crate::stripes::{Elements, Stripes};
use crate::target::{Fault, Target};
use crate::window::Window;
use crate::word::Update;

/// Bytes of the user's memory that are fetched, combined and stored at once: few enough for the second cache, and so many that the
/// kernel's calls cost little beside the copies. Small in tests, so that those of some lengths take several.
const CHUNK: usize = if cfg!(test) { 1 << 10 } else { 128 << 10 };
/// Bytes for which no memory is allocated.
const SHORT: usize = 512;

/// The places of an element's operand and result so many bytes further on.
fn further((operand, result): (*const u8, *mut u8), by: usize) -> (*const u8, *mut u8) {
    let result = match result.is_null() {
        true => result,
        false => result.wrapping_add(by),
    };
    (operand.wrapping_add(by), result)
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
        let buffers = (operand, result);
        // SAFETY: by this function's contract.
        unsafe {
            match link.pointer(target.offset) {
                _ if !operation.is_dense() => {
                    self.update_with_holes(link, target, operation, operand, result)
                }
                Some(base) => self.update_in_place((link, base), target, operation, buffers),
                None => self.update_by_copies(link, target, operation, buffers),
            }
        }
    }

    /// The same for `count` dense elements, one after the other, at a place that was found.
    /// False if they are not updated in place.
    ///
    /// # Safety
    /// As [`update`](Self::update), and `direct` has room for the elements.
    #[inline]
    pub unsafe fn update_direct(
        &self,
        direct: Direct,
        operation: Operation,
        count: usize,
        buffers: (*const u8, *mut u8),
    ) -> bool {
        let Some(stripes) = direct.stripes.filter(|_| operation.is_dense()) else {
            return false;
        };
        let row = operation.row(direct.offset, count);
        if let Some(lock) = stripes.only_lock(row) {
            lock.take(self.owner(), |owner| self.is_dead(owner));
            // SAFETY: the lock of all the elements is held; by this function's contract.
            unsafe { operation.apply(direct.place, count, buffers) };
            lock.release();
            return true;
        }
        // SAFETY: by this function's contract.
        unsafe { self.update_stripes(stripes, (direct.place, row), operation, buffers) };
        true
    }

    /// Updates a word; what it was before goes to `result`, unless that is null.
    ///
    /// # Safety
    /// `operand` is valid for reads, unless the update only fetches, and `result` for writes of the integer.
    #[inline(always)]
    pub unsafe fn update_word(
        &self,
        word: Word,
        update: Update,
        operand: *const u8,
        result: *mut u8,
    ) {
        if update == Update::Fetch {
            // SAFETY: by this function's contract.
            return unsafe { word.update(update, operand, result) };
        }
        word.lock.take(self.owner(), |owner| self.is_dead(owner));
        // SAFETY: the lock is held; by this function's contract.
        unsafe { word.update(update, operand, result) };
        word.lock.release();
    }

    /// Writes what is at `origin` to a word if that equals what is at `compare`; what it was before goes to `result`.
    ///
    /// # Safety
    /// `compare` and `origin` are valid for reads and `result` for writes of the integer.
    #[inline(always)]
    pub unsafe fn compare_and_swap_word(
        &self,
        word: Word,
        values: [*const u8; 2],
        result: *mut u8,
    ) {
        word.lock.take(self.owner(), |owner| self.is_dead(owner));
        // SAFETY: the lock is held; by this function's contract.
        unsafe { word.compare_and_swap(values, result) };
        word.lock.release();
    }

    /// Updates dense elements at a place, block by block.
    ///
    /// # Safety
    /// As [`update_direct`](Self::update_direct).
    unsafe fn update_stripes(
        &self,
        stripes: &Stripes,
        (mut place, mut elements): (*mut u8, Elements),
        operation: Operation,
        mut buffers: (*const u8, *mut u8),
    ) {
        let log_size = elements.log_size;
        while elements.count > 0 {
            let block = elements.in_block();
            let take = |lock: &RobustSpinLock| lock.take(self.owner(), |owner| self.is_dead(owner));
            // SAFETY: the elements' locks are held; by this function's contract.
            let act = || unsafe { operation.apply(place, block.count, buffers) };
            stripes.with_locks(block, take, act);
            let bytes = block.count << log_size;
            elements.count -= block.count;
            elements.offset += bytes as u64;
            place = place.wrapping_add(bytes);
            buffers = further(buffers, bytes);
        }
    }

    /// # Safety
    /// As [`update`](Self::update); the target was checked, is at `base`, and of dense elements.
    unsafe fn update_in_place(
        &self,
        (link, base): (&Link, *mut u8),
        target: &Target,
        operation: Operation,
        buffers: (*const u8, *mut u8),
    ) -> Result<(), Fault> {
        let stripes = link.stripes();
        let _updating = match stripes {
            Some(_) => None,
            None => Some(self.lock_updates(link)?),
        };
        let size = operation.basic.size();
        let mut packed = 0;
        target.datatype.visit_runs(target.count, &mut |at, run| {
            let place = base.wrapping_offset(at);
            let buffers = further(buffers, packed);
            packed += run;
            // SAFETY: a run consists of whole elements, all within the target, whose update excludes others by the locks of
            // stripes or by the lock of updates; by this function's contract.
            unsafe {
                match stripes {
                    Some(stripes) => {
                        let offset = (target.offset + at as i64) as u64;
                        let at = (place, operation.row(offset, run / size));
                        self.update_stripes(stripes, at, operation, buffers);
                    }
                    None => operation.apply(place, run / size, buffers),
                }
            }
        });
        Ok(())
    }

    /// # Safety
    /// As [`update`](Self::update); the target was checked, is not reached directly, and of dense elements.
    unsafe fn update_by_copies(
        &self,
        link: &Link,
        target: &Target,
        operation: Operation,
        (operand, result): (*const u8, *mut u8),
    ) -> Result<(), Fault> {
        let bytes = target.bytes();
        let size = operation.basic.size();
        // SAFETY: by this function's contract.
        if unsafe { self.ask_update(link, target, operation, (operand, result))? } {
            return Ok(());
        }
        let _updating = self.lock_updates(link)?;
        // SAFETY: by this function's contract.
        unsafe {
            match operation.op {
                Op::NoOp if result.is_null() => return Ok(()),
                Op::NoOp => return self.read_runs(link, target, result, bytes),
                Op::Replace if result.is_null() => {
                    return self.write_runs(link, target, operand, bytes);
                }
                _ => {}
            }
        }
        let mut short = [0u64; SHORT / 8];
        let mut long = Vec::<u8>::new();
        let chunk = match bytes <= SHORT {
            true => short.as_mut_ptr().cast::<u8>(),
            false => {
                long.reserve_exact(bytes.min(CHUNK));
                long.as_mut_ptr()
            }
        };
        let to = (target.rank, link);
        target.for_some_runs(link, bytes, CHUNK, |runs, packed| {
            let length = runs.iter().map(|run| run.bytes()).sum::<usize>();
            let (operand, result) = further((operand, result), packed);
            // SAFETY: the runs are elements from `packed` on, at most a chunk of them, which both buffers have; they are
            // updated under the lock.
            unsafe {
                self.fetch(to, runs, chunk)?;
                operation.apply(chunk, length / size, (operand, result));
                self.store(to, runs, chunk)
            }
        })
    }

    /// Has the target update its elements, if they are short and in a row and it is at hand. Whether it has.
    ///
    /// # Safety
    /// As [`update`](Self::update).
    unsafe fn ask_update(
        &self,
        link: &Link,
        target: &Target,
        operation: Operation,
        (operand, result): (*const u8, *mut u8),
    ) -> Result<bool, Fault> {
        let what = What::Update {
            operation,
            fetches: !result.is_null(),
        };
        let Some(access) = target.short_access(link, target.bytes(), what) else {
            return Ok(false);
        };
        // SAFETY: the data have room for the access; by this function's contract.
        let fill = |data| unsafe {
            if operation.op != Op::NoOp {
                std::ptr::copy_nonoverlapping(operand, data, access.bytes);
            }
        };
        // SAFETY: as above.
        let take = |data| unsafe {
            if !result.is_null() {
                std::ptr::copy_nonoverlapping(data, result, access.bytes);
            }
        };
        self.ask((target.rank, link), access, fill, take)
    }

    /// Has the target compare and swap its element, if it is at hand. Whether it has.
    ///
    /// # Safety
    /// As [`compare_and_swap`](Self::compare_and_swap).
    unsafe fn ask_swap(
        &self,
        to: (u32, &Link),
        (offset, predefined): (i64, Predefined),
        values: [*const u8; 2],
        result: *mut u8,
    ) -> Result<bool, Fault> {
        let bytes = predefined.size();
        let access = Access {
            what: What::Swap(predefined),
            address: to.1.stretch(offset, bytes).address(),
            bytes,
        };
        // SAFETY: the data have room for two elements; by this function's contract.
        let fill = |data: *mut u8| unsafe {
            for (value, at) in values.into_iter().zip([0, bytes]) {
                std::ptr::copy_nonoverlapping(value, data.wrapping_add(at), bytes);
            }
        };
        // SAFETY: by this function's contract.
        let take = |data| unsafe { std::ptr::copy_nonoverlapping(data, result, bytes) };
        self.ask(to, access, fill, take)
    }

    /// # Safety
    /// As [`update`](Self::update); the target was checked.
    unsafe fn update_with_holes(
        &self,
        link: &Link,
        target: &Target,
        operation: Operation,
        operand: *const u8,
        result: *mut u8,
    ) -> Result<(), Fault> {
        let bytes = target.bytes();
        let mut packed: Vec<u8> = weft_reserve::zeroed(bytes)?;
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
        operation.combine_with_holes(operand, &mut packed);
        self.write_packed(link, target, &packed)
    }

    /// Writes the element at `origin` to the target's one element if that equals the one at `compare`; what it was
    /// before goes to `result` (`MPI_Compare_and_swap`).
    ///
    /// # Safety
    /// `origin` and `compare` are valid for reads and `result` for writes of one element of the predefined type, which is
    /// dense.
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
        let datatype = Datatype::from(predefined);
        let target = Target {
            rank,
            offset,
            datatype: &datatype,
            count: 1,
        };
        if link.pointer(offset).is_none() {
            // SAFETY: by this function's contract.
            let made = unsafe {
                self.ask_swap(
                    (rank, link),
                    (offset, predefined),
                    [compare, origin],
                    result,
                )
            };
            if made? {
                return Ok(());
            }
        }
        let mut old = vec![0; size];
        let lock = link.stripes().map(|stripes| stripes.lock(offset as u64));
        let _updating = match lock {
            Some(lock) => {
                lock.take(self.owner(), |owner| self.is_dead(owner));
                None
            }
            None => Some(self.lock_updates(link)?),
        };
        // SAFETY: by this function's contract. The result may be where the others are, so it is written last.
        let swapped = unsafe {
            self.read_packed(link, &target, &mut old).and_then(|()| {
                let equal = std::slice::from_raw_parts(compare, size) == old;
                let swapped = match equal {
                    true => {
                        let origin = std::slice::from_raw_parts(origin, size);
                        self.write_packed(link, &target, origin)
                    }
                    false => Ok(()),
                };
                std::ptr::copy(old.as_ptr(), result, size);
                swapped
            })
        };
        if let Some(lock) = lock {
            lock.release();
        }
        swapped
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

/// Elements that are spread at once, as an array has them: they take no more than 64 KiB.
const SPREAD_ELEMENTS: usize = 1024;

impl Operation {
    /// Dense elements, as they are found their locks.
    #[inline]
    fn row(&self, offset: u64, count: usize) -> Elements {
        Elements {
            offset,
            count,
            log_size: self.basic.size().trailing_zeros(),
        }
    }

    /// `packed[i] = operand[i] op packed[i]`, for packed elements whose holes packed data do not have.
    fn combine_with_holes(&self, operand: &[u8], packed: &mut [u8]) {
        let piece = SPREAD_ELEMENTS * self.basic.size();
        for (operand, packed) in operand.chunks(piece).zip(packed.chunks_mut(piece)) {
            self.combine_spread(operand, packed);
        }
    }

    /// The same, of a piece.
    fn combine_spread(&self, operand: &[u8], packed: &mut [u8]) {
        let count = packed.len() / self.basic.size();
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
