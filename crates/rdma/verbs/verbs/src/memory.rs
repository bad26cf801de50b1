//! Registered memory (ibv_reg_mr(3)).
//!
//! A region owns its memory, so that an adapter never reaches what was freed. The memory may change at any time, by a peer's
//! write or a read's arrival, so there are no references into it: bytes are copied in and out by atomic accesses, of which two at
//! once are no data race.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Acquire, Ordering::Relaxed};

use weft_verbs_abi::*;

use crate::error::destroyed;
use crate::{Domain, Error, ProtectionDomain};

const PAGE_BYTES: usize = 4096;

/// Zeroed memory that begins on a page. Clones are the same memory.
#[derive(Clone)]
pub struct Buffer {
    inner: Arc<Memory>,
}

struct Memory {
    first: *mut u8,
    bytes: usize,
    origin: Origin,
}

enum Origin {
    Heap,
    /// Somebody else's, who promised to keep it.
    Lent,
    /// `ibv_alloc_buf`.
    Library(*mut ibv_buf, ProtectionDomain),
}

// SAFETY: the memory is accessed by atomic operations, or by who promised to see to it.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Buffer {
    /// # Panics
    /// If there is no memory, or `bytes` is 0.
    pub fn new(bytes: usize) -> Buffer {
        let layout = layout(bytes);
        // SAFETY: not of length 0.
        let first = unsafe { alloc_zeroed(layout) };
        if first.is_null() {
            handle_alloc_error(layout);
        }
        Buffer {
            inner: Arc::new(Memory {
                first,
                bytes,
                origin: Origin::Heap,
            }),
        }
    }

    /// Memory that the library allocates because it reaches such with less work: on the device in software, processes of one host
    /// then move data without a system call. `EOPNOTSUPP` from libraries that have no `ibv_alloc_buf`.
    pub fn from_library(domain: &ProtectionDomain, bytes: usize) -> Result<Buffer, Error> {
        const CALL: &str = "ibv_alloc_buf";
        let context = domain.context();
        let library = context.library();
        let (Some(alloc), Some(_)) = (library.alloc_buf, library.reg_buf_mr) else {
            return Err(Error::new(CALL, context.name(), libc::EOPNOTSUPP));
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: alive, and writable.
        let first = unsafe { alloc(domain.as_abi(), bytes, &mut handle) };
        if first.is_null() {
            return Err(Error::last(CALL, context.name()));
        }
        let first = first.cast::<u8>();
        // SAFETY: just allocated, and nobody else's yet.
        unsafe { first.write_bytes(0, bytes) };
        Ok(Buffer {
            inner: Arc::new(Memory {
                first,
                bytes,
                origin: Origin::Library(handle, domain.clone()),
            }),
        })
    }

    /// Memory that is somebody else's, to be registered where it lies.
    ///
    /// # Safety
    /// The `bytes` bytes from `first` on are valid for reads as long as the buffer, its clones and the regions over it live, and for
    /// writes as far as those are made to write.
    pub unsafe fn lent(first: *mut u8, bytes: usize) -> Buffer {
        Buffer {
            inner: Arc::new(Memory {
                first,
                bytes,
                origin: Origin::Lent,
            }),
        }
    }

    pub fn bytes(&self) -> usize {
        self.inner.bytes
    }

    /// For those who see themselves to it that nobody else writes what they read or write.
    pub fn as_ptr(&self) -> *mut u8 {
        self.inner.first
    }

    /// Copies `bytes` to `offset`.
    ///
    /// # Panics
    /// If they reach beyond the end.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        self.require(offset, bytes.len());
        // SAFETY: so many bytes are there.
        let mut to = unsafe { self.as_ptr().add(offset) };
        let mut rest = bytes;
        while !rest.is_empty() {
            // SAFETY: `to` is in the memory with as many bytes behind it as `rest` has, and aligned where a word is written.
            unsafe {
                match rest.split_first_chunk::<8>() {
                    Some((word, more)) if to.addr() % 8 == 0 => {
                        AtomicU64::from_ptr(to.cast()).store(u64::from_ne_bytes(*word), Relaxed);
                        (to, rest) = (to.add(8), more);
                    }
                    _ => {
                        AtomicU8::from_ptr(to).store(rest[0], Relaxed);
                        (to, rest) = (to.add(1), &rest[1..]);
                    }
                }
            }
        }
    }

    /// Copies from `offset` to `bytes`.
    ///
    /// # Panics
    /// If they reach beyond the end.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        self.require(offset, bytes.len());
        // SAFETY: so many bytes are there.
        let mut from = unsafe { self.as_ptr().add(offset) };
        let mut rest = bytes;
        while !rest.is_empty() {
            // SAFETY: `from` is in the memory with as many bytes behind it as `rest` has, and aligned where a word is read.
            unsafe {
                if rest.len() >= 8 && from.addr() % 8 == 0 {
                    let word = AtomicU64::from_ptr(from.cast()).load(Relaxed);
                    let (now, more) = rest.split_at_mut(8);
                    now.copy_from_slice(&word.to_ne_bytes());
                    (from, rest) = (from.add(8), more);
                } else {
                    let (now, more) = rest.split_at_mut(1);
                    now[0] = AtomicU8::from_ptr(from).load(Relaxed);
                    (from, rest) = (from.add(1), more);
                }
            }
        }
    }

    /// The eight bytes at `offset`, read at once: who sees there what a peer wrote after other data sees these data too.
    ///
    /// # Panics
    /// If they reach beyond the end, or `offset` is no multiple of 8.
    pub fn word(&self, offset: usize) -> u64 {
        self.require(offset, 8);
        assert!(offset.is_multiple_of(8), "a word at {offset}");
        // SAFETY: so many bytes are there, aligned as the buffer is.
        unsafe { AtomicU64::from_ptr(self.as_ptr().add(offset).cast()).load(Acquire) }
    }

    fn require(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes()),
            "{bytes} bytes at {offset} of a buffer of {}",
            self.bytes()
        );
    }
}

fn layout(bytes: usize) -> Layout {
    assert!(bytes > 0, "a buffer of no bytes");
    Layout::from_size_align(bytes, PAGE_BYTES).expect("a buffer fits in the address space")
}

impl Drop for Memory {
    fn drop(&mut self) {
        match &self.origin {
            Origin::Lent => {}
            // SAFETY: allocated so by `new`, and no region of it is left.
            Origin::Heap => unsafe { dealloc(self.first, layout(self.bytes)) },
            Origin::Library(handle, domain) => {
                if let Some(free) = domain.context().library().free_buf {
                    // SAFETY: allocated by the library, and no region of it is left.
                    unsafe { free(*handle) };
                }
            }
        }
    }
}

/// Where a peer's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    pub address: u64,
    pub key: u32,
}

impl Remote {
    /// So many bytes further on.
    pub fn at(self, offset: u64) -> Remote {
        Remote {
            address: self.address.wrapping_add(offset),
            ..self
        }
    }
}

/// Memory that adapters may access. Clones are the same region.
#[derive(Clone)]
pub struct MemoryRegion {
    inner: Arc<Inner>,
}

struct Inner {
    raw: *mut ibv_mr,
    /// Where it begins in the buffer.
    offset: usize,
    bytes: usize,
    buffer: Buffer,
    domain: ProtectionDomain,
}

// SAFETY: the library's structure is only read until the region is deregistered.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        let context = self.domain.context();
        // SAFETY: registered in this context. Requests under way that name it fail from now on.
        let answer = unsafe { (context.library().dereg_mr)(self.raw) };
        destroyed("ibv_dereg_mr", answer, || context.name().into());
    }
}

impl MemoryRegion {
    /// All of a buffer. `access` as in `IBV_ACCESS_LOCAL_WRITE`.
    pub fn new(
        domain: &ProtectionDomain,
        buffer: &Buffer,
        access: ibv_access_flags,
    ) -> Result<MemoryRegion, Error> {
        MemoryRegion::of_part(domain, buffer, 0, buffer.bytes(), access)
    }

    /// `bytes` bytes of a buffer from `offset` on.
    ///
    /// # Panics
    /// If they reach beyond its end.
    pub fn of_part(
        domain: &ProtectionDomain,
        buffer: &Buffer,
        offset: usize,
        bytes: usize,
        access: ibv_access_flags,
    ) -> Result<MemoryRegion, Error> {
        buffer.require(offset, bytes);
        let context = domain.context();
        let library = context.library();
        // SAFETY: the memory is there and stays until the region is gone; all objects are alive.
        let (call, raw) = unsafe {
            let first = buffer.as_ptr().add(offset).cast::<c_void>();
            match (&buffer.inner.origin, library.reg_buf_mr) {
                (Origin::Library(handle, _), Some(register)) => (
                    "ibv_reg_buf_mr",
                    register(domain.as_abi(), *handle, first, bytes, access as i32),
                ),
                _ => (
                    "ibv_reg_mr",
                    library.reg_mr(domain.as_abi(), first, bytes, access),
                ),
            }
        };
        if raw.is_null() {
            return Err(Error::last(
                call,
                format!("{bytes} bytes on {}", context.name()),
            ));
        }
        Ok(MemoryRegion {
            inner: Arc::new(Inner {
                raw,
                offset,
                bytes,
                buffer: buffer.clone(),
                domain: domain.clone(),
            }),
        })
    }

    pub fn buffer(&self) -> &Buffer {
        &self.inner.buffer
    }

    pub fn bytes(&self) -> usize {
        self.inner.bytes
    }

    /// The region's first byte, as peers name it.
    pub fn remote(&self) -> Remote {
        // SAFETY: registered; the fields do not change.
        unsafe {
            Remote {
                address: (*self.inner.raw).addr as u64,
                key: (*self.inner.raw).rkey,
            }
        }
    }

    /// Copies bytes to `offset` of the region.
    ///
    /// # Panics
    /// If they reach beyond its end.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let part = self.part(offset, bytes.len());
        self.inner
            .buffer
            .write(self.inner.offset + part.offset, bytes);
    }

    /// Copies bytes from `offset` of the region.
    ///
    /// # Panics
    /// If they reach beyond its end.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        let part = self.part(offset, bytes.len());
        self.inner
            .buffer
            .read(self.inner.offset + part.offset, bytes);
    }

    /// As [`Buffer::word`], of the region. Regions that begin on a multiple of 8 have such words.
    pub fn word(&self, offset: usize) -> u64 {
        self.part(offset, 8);
        self.inner.buffer.word(self.inner.offset + offset)
    }

    /// `bytes` bytes from `offset` on, as a work request names them.
    ///
    /// # Panics
    /// If they reach beyond its end.
    pub fn part(&self, offset: usize, bytes: usize) -> Part<'_> {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.inner.bytes),
            "{bytes} bytes at {offset} of a region of {}",
            self.inner.bytes
        );
        Part {
            region: self,
            offset,
            bytes,
        }
    }

    pub(crate) fn is(&self, other: &MemoryRegion) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

/// Some bytes of a region.
#[derive(Clone, Copy)]
pub struct Part<'r> {
    pub(crate) region: &'r MemoryRegion,
    offset: usize,
    bytes: usize,
}

impl Part<'_> {
    pub(crate) fn element(&self) -> ibv_sge {
        // SAFETY: registered; the fields do not change.
        let (address, key) = unsafe {
            let raw = self.region.inner.raw;
            ((*raw).addr as u64, (*raw).lkey)
        };
        ibv_sge {
            addr: address + self.offset as u64,
            length: self.bytes as u32,
            lkey: key,
        }
    }
}
