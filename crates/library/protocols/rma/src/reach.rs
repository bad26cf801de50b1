//! The way to one process's part of a window: directly, by the kernel's copies, or by errands.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use weft_shm::{Mapping, Process, Stretch};

use crate::control::Control;
use crate::errand::{self, Progress};
use crate::stripes::Stripes;
use crate::window::{Fault, Target, Window};

enum Way {
    /// By loads and stores: this process's own memory, or a piece of the other's segment.
    Direct(*mut u8),
    /// By process_vm_readv(2) and process_vm_writev(2).
    Kernel,
    /// By errands.
    Target,
}

/// A way found.
pub struct Link {
    process: Process,
    pub control: Arc<Control>,
    way: Way,
    /// Keeps the piece mapped.
    _mapping: Option<Mapping>,
    /// Where the part begins in the process's own memory, if it is user memory.
    address: u64,
    /// How long it is; none if it is what is attached.
    bytes: Option<u64>,
}

// SAFETY: the pointer is an address of memory that lives as long as the window; what may be done with it does not depend
// on the thread.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

const EFAULT: i32 = 14;

impl Link {
    pub fn direct(process: Process, control: Arc<Control>, base: *mut u8, bytes: u64) -> Link {
        Link {
            process,
            control,
            way: Way::Direct(base),
            _mapping: None,
            address: 0,
            bytes: Some(bytes),
        }
    }

    pub fn mapped(process: Process, control: Arc<Control>, mapping: Mapping, bytes: u64) -> Link {
        let way = Way::Direct(mapping.base());
        Link {
            process,
            control,
            way,
            _mapping: Some(mapping),
            address: 0,
            bytes: Some(bytes),
        }
    }

    /// Memory of the user's that begins at `address` in its process; `bytes` of it, or what is attached.
    pub fn user(
        process: Process,
        control: Arc<Control>,
        own: bool,
        address: u64,
        bytes: Option<u64>,
    ) -> Link {
        let way = if own {
            Way::Direct(std::ptr::with_exposed_provenance_mut(address as usize))
        } else if process.copies_allowed() {
            Way::Kernel
        } else {
            Way::Target
        };
        Link {
            process,
            control,
            way,
            _mapping: None,
            address,
            bytes,
        }
    }

    /// Where the byte at an offset of the part is in this process, if loads and stores reach it.
    #[inline]
    pub fn pointer(&self, offset: i64) -> Option<*mut u8> {
        match &self.way {
            Way::Direct(base) => Some(base.wrapping_offset(offset as isize)),
            _ => None,
        }
    }

    /// Bytes at an offset of the part, by their address in its process.
    pub fn stretch(&self, offset: i64, bytes: usize) -> Stretch {
        Stretch::new(self.address.wrapping_add_signed(offset), bytes)
    }

    /// The locks under which elements are updated in place, if all processes map the part.
    #[inline]
    pub fn stripes(&self) -> Option<&Stripes> {
        let control = &self.control;
        (!control.shape().user_memory).then(|| &control.header().stripes)
    }

    /// Whether `count` elements of the datatype at the target lie in its part.
    #[inline]
    pub fn check(&self, target: &Target) -> Result<(), Fault> {
        let span = target
            .datatype
            .span(target.count)
            .map_err(|_| Fault::Range)?;
        // Elements that overlap may be more bytes than they span.
        target
            .datatype
            .size()
            .checked_mul(target.count)
            .ok_or(Fault::Range)?;
        self.check_span(target.offset, span)
    }

    #[inline]
    pub fn check_span(&self, offset: i64, span: Range<isize>) -> Result<(), Fault> {
        if span.is_empty() {
            return Ok(());
        }
        let Some(bytes) = self.bytes else {
            let address = (offset as u64).wrapping_add_signed(span.start as i64);
            let length = (span.end - span.start) as u64;
            return match self.control.attachments().contains(address, length) {
                true => Ok(()),
                false => Err(Fault::Range),
            };
        };
        let low = offset.checked_add(span.start as i64);
        let high = offset.checked_add(span.end as i64);
        match (low, high) {
            (Some(low), Some(high)) if low >= 0 && high as u64 <= bytes => Ok(()),
            _ => Err(Fault::Range),
        }
    }

    fn failed(&self, error: &io::Error) -> Fault {
        match error.raw_os_error() {
            // The program has taken the memory away before the window.
            Some(EFAULT) => Fault::Range,
            _ => Fault::Lost(
                self.process
                    .lost(&format!("its memory cannot be reached: {error}")),
            ),
        }
    }
}

/// A stretch in parts that errands move, address and bytes of each.
fn parts(stretch: &Stretch) -> impl Iterator<Item = (u64, usize)> + use<> {
    let (address, bytes) = (stretch.address(), stretch.bytes());
    (0..bytes).step_by(errand::BYTES).map(move |at| {
        (
            address.wrapping_add(at as u64),
            (bytes - at).min(errand::BYTES),
        )
    })
}

impl Window {
    /// Copies stretches of a target's part that were checked and are not reached directly, one after the other to `into`.
    ///
    /// # Safety
    /// `into` is valid for writes of as many bytes.
    pub(crate) unsafe fn fetch(
        &self,
        (rank, link): (u32, &Link),
        stretches: &[Stretch],
        into: *mut u8,
    ) -> Result<(), Fault> {
        match &link.way {
            Way::Kernel => {
                // SAFETY: by this function's contract.
                let copied = unsafe { link.process.gather(stretches, into) };
                copied.map_err(|error| link.failed(&error))
            }
            // SAFETY: the parts lie in the stretches, and each errand's bytes in the control area.
            _ => self.run_errands((rank, link), stretches, false, |theirs, at, part| unsafe {
                std::ptr::copy_nonoverlapping(theirs, into.wrapping_add(at), part);
            }),
        }
    }

    /// As [`fetch`](Self::fetch), the other way.
    ///
    /// # Safety
    /// `from` is valid for reads of as many bytes.
    pub(crate) unsafe fn store(
        &self,
        (rank, link): (u32, &Link),
        stretches: &[Stretch],
        from: *const u8,
    ) -> Result<(), Fault> {
        match &link.way {
            Way::Kernel => {
                // SAFETY: by this function's contract.
                let copied = unsafe { link.process.scatter(stretches, from) };
                copied.map_err(|error| link.failed(&error))
            }
            // SAFETY: as in `fetch`.
            _ => self.run_errands((rank, link), stretches, true, |theirs, at, part| unsafe {
                std::ptr::copy_nonoverlapping(from.wrapping_add(at), theirs, part);
            }),
        }
    }

    /// Has the target copy between its memory and the errand's bytes, part by part; `copy` moves each between there and
    /// this process's, where the stretches are one after the other.
    fn run_errands(
        &self,
        (rank, link): (u32, &Link),
        stretches: &[Stretch],
        writes: bool,
        mut copy: impl FnMut(*mut u8, usize, usize),
    ) -> Result<(), Fault> {
        let errand = &link.control.header().errand.0;
        let theirs = link.control.errand_bytes();
        let mut lives = self.watch(rank);
        if self.take_patiently(link, &errand.lock)? {
            self.wait_in_line(link, &mut || errand.clear() || !lives());
        }
        let mut outcome = Ok(());
        let mut at = 0;
        for (address, part) in stretches.iter().flat_map(parts) {
            if writes {
                copy(theirs, at, part);
            }
            errand.ask(writes, address, part);
            link.process.call();
            self.wait_in_line(link, &mut || {
                errand.progress() != Progress::Pending || !lives()
            });
            let progress = errand.progress();
            errand.clear();
            outcome = match progress {
                Progress::Done => Ok(()),
                Progress::Refused => Err(Fault::Range),
                Progress::Pending => Err(self.gone(rank)),
            };
            if outcome.is_err() {
                break;
            }
            if !writes {
                copy(theirs, at, part);
            }
            at += part;
        }
        self.let_go(link, &errand.lock);
        outcome
    }
}
