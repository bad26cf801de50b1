//! Put and get: copies between memory of this process and a target's part of a window.

use weft_memory::Memory;
use weft_shm::Stretch;

use crate::link::Link;
use crate::short_access::{Access, What};
use crate::target::{Fault, Target};
use crate::window::Window;

/// Bytes that go through a bounce buffer at once where neither side is contiguous.
const BOUNCE: usize = 4096;
/// Runs that the kernel copies in one call: so many that the call costs little beside them.
pub(crate) const RUNS: usize = 64;
/// Bytes up to which a target that is at hand is asked. It copies them once more than the kernel does, which costs as much as a call
/// of the kernel from here on; an update costs two calls and a lock.
const LONGEST_COPY_ASKED: usize = 4 << 10;
const LONGEST_UPDATE_ASKED: usize = 16 << 10;

impl Window {
    /// Copies `origin` to the target, as many bytes as both have.
    ///
    /// # Safety
    /// `origin` is valid for reads.
    #[inline]
    pub unsafe fn put(&self, target: &Target, origin: &Memory) -> Result<(), Fault> {
        let link = self.link(target.rank)?;
        link.check(target)?;
        match link.pointer(target.offset) {
            Some(base) => {
                // SAFETY: the target lies in the window; by this function's contract.
                unsafe { copy(origin, &described(target, base)) };
                Ok(())
            }
            // SAFETY: by this function's contract.
            None => unsafe { self.put_by_runs(link, target, origin) },
        }
    }

    /// Copies from the target to `origin`, as many bytes as both have.
    ///
    /// # Safety
    /// `origin` is valid for writes.
    #[inline]
    pub unsafe fn get(&self, target: &Target, origin: &Memory) -> Result<(), Fault> {
        let link = self.link(target.rank)?;
        link.check(target)?;
        match link.pointer(target.offset) {
            Some(base) => {
                // SAFETY: the target lies in the window; by this function's contract.
                unsafe { copy(&described(target, base), origin) };
                Ok(())
            }
            // SAFETY: by this function's contract.
            None => unsafe { self.get_by_runs(link, target, origin) },
        }
    }

    /// Data of this process's own part, as others see them.
    pub fn own_memory(&self, target: &Target) -> Result<Memory, Fault> {
        let link = self.link(self.me)?;
        link.check(target)?;
        // What a process reaches of its own, it reaches directly.
        let base = link.pointer(target.offset).ok_or(Fault::Range)?;
        Ok(described(target, base))
    }

    /// # Safety
    /// `origin` is valid for reads.
    unsafe fn put_by_runs(
        &self,
        link: &Link,
        target: &Target,
        origin: &Memory,
    ) -> Result<(), Fault> {
        let bytes = origin.bytes.min(target.bytes());
        if let Some(access) = target.short_access(link, bytes, What::Put) {
            // SAFETY: the data have room for the access; by this function's contract.
            let fill = |data| unsafe { copy(origin, &Memory::contiguous(data, bytes)) };
            if self.ask((target.rank, link), access, fill, |_| ())? {
                return Ok(());
            }
        }
        let mut packed: Vec<u8>;
        let from = match origin.layout {
            None => origin.base.cast_const(),
            Some(_) => {
                packed = weft_reserve::zeroed(bytes)?;
                // SAFETY: by this function's contract.
                unsafe { origin.read(0, &mut packed) };
                packed.as_ptr()
            }
        };
        // SAFETY: `from` has as many bytes as are written.
        unsafe { self.write_runs(link, target, from, bytes) }
    }

    /// # Safety
    /// `origin` is valid for writes.
    unsafe fn get_by_runs(
        &self,
        link: &Link,
        target: &Target,
        origin: &Memory,
    ) -> Result<(), Fault> {
        let bytes = origin.bytes.min(target.bytes());
        if let Some(access) = target.short_access(link, bytes, What::Get) {
            // SAFETY: the data are as long as the access; by this function's contract.
            let take = |data: *const u8| unsafe {
                copy(&Memory::contiguous(data.cast_mut(), bytes), origin);
            };
            if self.ask((target.rank, link), access, |_| (), take)? {
                return Ok(());
            }
        }
        if origin.layout.is_none() {
            // SAFETY: by this function's contract.
            return unsafe { self.read_runs(link, target, origin.base, bytes) };
        }
        let mut packed: Vec<u8> = weft_reserve::zeroed(bytes)?;
        // SAFETY: by this function's contract, and the vector is as long.
        unsafe {
            self.read_runs(link, target, packed.as_mut_ptr(), bytes)?;
            origin.write(0, &packed);
        }
        Ok(())
    }

    /// Writes the first `bytes` packed bytes of a target that was checked.
    ///
    /// # Safety
    /// `from` is valid for reads of `bytes`.
    pub(crate) unsafe fn write_runs(
        &self,
        link: &Link,
        target: &Target,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), Fault> {
        let to = (target.rank, link);
        target.for_some_runs(link, bytes, usize::MAX, |runs, packed| {
            // SAFETY: the runs are the packed bytes one after the other; by this function's contract.
            unsafe { self.store(to, runs, from.wrapping_add(packed)) }
        })
    }

    /// Reads the first `bytes` packed bytes of a target that was checked.
    ///
    /// # Safety
    /// `into` is valid for writes of `bytes`.
    pub(crate) unsafe fn read_runs(
        &self,
        link: &Link,
        target: &Target,
        into: *mut u8,
        bytes: usize,
    ) -> Result<(), Fault> {
        let from = (target.rank, link);
        target.for_some_runs(link, bytes, usize::MAX, |runs, packed| {
            // SAFETY: as in `write_runs`.
            unsafe { self.fetch(from, runs, into.wrapping_add(packed)) }
        })
    }
}

impl Target<'_> {
    /// Packed bytes; checked to be a number before.
    pub(crate) fn bytes(&self) -> usize {
        self.datatype.size().saturating_mul(self.count)
    }

    /// An access to its first `bytes` packed bytes, if they lie in a row and it is short enough to be asked of the target.
    pub(crate) fn short_access(&self, link: &Link, bytes: usize, what: What) -> Option<Access> {
        let longest = match what.is_update() {
            true => LONGEST_UPDATE_ASKED,
            false => LONGEST_COPY_ASKED,
        };
        if bytes > longest || bytes == 0 || !self.datatype.is_contiguous(self.count) {
            return None;
        }
        let begin = described(self, std::ptr::without_provenance_mut(0))
            .base
            .addr();
        let address = link
            .stretch(self.offset.wrapping_add(begin as i64), bytes)
            .address();
        Some(Access {
            what,
            address,
            bytes,
        })
    }

    /// Calls `act` with the runs of the first `bytes` packed bytes, those that touch as one, up to [`RUNS`] and up to `chunk`
    /// bytes at a time, and the place of the first of them in the packed data, until it fails.
    pub(crate) fn for_some_runs(
        &self,
        link: &Link,
        bytes: usize,
        chunk: usize,
        mut act: impl FnMut(&[Stretch], usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut runs = [Stretch::new(0, 0); RUNS];
        let (mut held, mut first, mut room) = (0, 0, chunk);
        let mut outcome = Ok(());
        self.for_each_run(bytes, |mut offset, mut packed, mut length| {
            while length > 0 && outcome.is_ok() {
                if held == RUNS || room == 0 {
                    outcome = act(&runs[..held], first);
                    (held, first, room) = (0, packed, chunk);
                    continue;
                }
                let part = length.min(room);
                runs[held] = link.stretch(offset, part);
                held += 1;
                room -= part;
                (offset, packed, length) = (offset + part as i64, packed + part, length - part);
            }
        });
        match outcome {
            Ok(()) if held > 0 => act(&runs[..held], first),
            outcome => outcome,
        }
    }

    /// Calls `act` with offset in the part, place in the packed data and length of each run up to `bytes`, those that
    /// touch as one.
    fn for_each_run(&self, bytes: usize, mut act: impl FnMut(i64, usize, usize)) {
        let (mut begin, mut packed, mut length) = (0, 0, 0);
        let mut flush = |begin: isize, packed: usize, length: usize| {
            let length = length.min(bytes - packed.min(bytes));
            if length > 0 {
                act(self.offset + begin as i64, packed, length);
            }
        };
        self.datatype.visit_runs(self.count, &mut |at, run| {
            if at == begin + length as isize {
                length += run;
                return;
            }
            flush(begin, packed, length);
            packed += length;
            (begin, length) = (at, run);
        });
        flush(begin, packed, length);
    }
}

/// The memory of a target that is reached directly.
pub(crate) fn described(target: &Target, base: *mut u8) -> Memory {
    target
        .datatype
        .memory(base, target.count)
        .expect("the length was checked with the span")
}

/// Copies packed bytes from one place to another, as many as both have. Contiguous ones may overlap.
///
/// # Safety
/// `from` is valid for reads and `to` for writes.
#[inline]
pub(crate) unsafe fn copy(from: &Memory, to: &Memory) {
    let bytes = from.bytes.min(to.bytes);
    if bytes == 0 {
        return;
    }
    if from.layout.is_none() && to.layout.is_none() {
        // SAFETY: by this function's contract.
        return unsafe { weft_memory::copy(from.base, to.base, bytes) };
    }
    // Not on the stack, which may be small.
    let mut bounce = vec![0; bytes.min(BOUNCE)];
    for at in (0..bytes).step_by(BOUNCE) {
        let part = &mut bounce[..(bytes - at).min(BOUNCE)];
        // SAFETY: by this function's contract, and the parts lie within both lengths.
        unsafe {
            from.read(at, part);
            to.write(at, part);
        }
    }
}
