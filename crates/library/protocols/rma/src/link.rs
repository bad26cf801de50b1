//! The path to one process's part of a window: directly, by the kernel's copies, or by active messages.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use weft_shm::{Mapping, Process, Stretch};

use crate::control::Control;
use crate::short_access::Attention;
use crate::stripes::Stripes;
use crate::target::{Fault, Target, check_within};

#[derive(Clone, Copy)]
pub enum Path {
    /// By loads and stores: this process's own memory, or a piece of the other's segment.
    Direct(*mut u8),
    /// By process_vm_readv(2) and process_vm_writev(2).
    Kernel,
    /// By active messages.
    Target,
}

/// A path that was found.
pub struct Link {
    pub process: Process,
    pub control: Arc<Control>,
    pub path: Path,
    /// Keeps the piece mapped.
    _mapping: Option<Mapping>,
    /// Where the part begins in the process's own memory, if it is user memory.
    address: u64,
    /// How long it is; none if it is what is attached.
    bytes: Option<u64>,
    /// Held by the thread that asks for a short access.
    pub attention: Mutex<Attention>,
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
            path: Path::Direct(base),
            _mapping: None,
            address: 0,
            bytes: Some(bytes),
            attention: Mutex::default(),
        }
    }

    pub fn mapped(process: Process, control: Arc<Control>, mapping: Mapping, bytes: u64) -> Link {
        let path = Path::Direct(mapping.base());
        Link {
            process,
            control,
            path,
            _mapping: Some(mapping),
            address: 0,
            bytes: Some(bytes),
            attention: Mutex::default(),
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
        let path = if own {
            Path::Direct(std::ptr::with_exposed_provenance_mut(address as usize))
        } else if process.copies_allowed() {
            Path::Kernel
        } else {
            Path::Target
        };
        Link {
            process,
            control,
            path,
            _mapping: None,
            address,
            bytes,
            attention: Mutex::default(),
        }
    }

    /// Where the byte at an offset of the part is in this process, if loads and stores reach it.
    #[inline]
    pub fn pointer(&self, offset: i64) -> Option<*mut u8> {
        match &self.path {
            Path::Direct(base) => Some(base.wrapping_offset(offset as isize)),
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
        let span = target.span()?;
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
        check_within(offset, span, bytes)
    }

    pub fn failed(&self, error: &io::Error) -> Fault {
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
