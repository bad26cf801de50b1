//! The user's memory of bulk transfers, as the bytes that the kernel is to read or write. Memory that does not lie together is told to the
//! kernel run by run where the runs are long, and packed where they are short.
//!
//! Unsafe code makes slices of it, and has the kernel write it: what a [`Memory`] describes belongs to the library from the call that brings it until the transfer
//! has been told complete or its peer lost, and no longer is it kept here.

use std::io::{self, IoSlice, Read};
use std::os::fd::AsRawFd;

use socket2::Socket;
use weft_memory::{Layout, Memory};

/// Runs that are shorter on average are cheaper packed: each costs the kernel some steps of its own.
const LEAST_RUN_BYTES: usize = 512;
/// Runs that one system call is told; the kernel takes 1,024.
const MOST_RUNS: usize = 512;

/// Bytes that are sent.
pub struct Source(Memory);

/// Bytes that are received.
pub struct Target(Memory);

impl Source {
    /// # Safety
    /// The memory stays valid, and is not written, as long as this value lives.
    pub unsafe fn new(memory: Memory) -> Source {
        Source(memory)
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// The bytes from `offset` to `end`, if they lie together.
    pub fn stretch(&self, offset: usize, end: usize) -> Option<&[u8]> {
        assert!(offset < end && end <= self.0.bytes);
        if self.0.layout.is_some() {
            return None;
        }
        // SAFETY: within the memory, which is valid (`new`).
        Some(unsafe { std::slice::from_raw_parts(self.0.base.add(offset), end - offset) })
    }

    /// Whether the bytes lie in runs that are worth telling the kernel.
    pub fn has_long_runs(&self) -> bool {
        long_runs(&self.0).is_some()
    }

    /// Appends the runs of the bytes from `offset` to `end`, as far as one system call takes them.
    pub fn runs<'a>(&'a self, offset: usize, end: usize, slices: &mut Vec<IoSlice<'a>>) {
        assert!(offset < end && end <= self.0.bytes);
        let layout = long_runs(&self.0).expect("asked before");
        let room = slices.len() + MOST_RUNS;
        layout.runs(offset..end, &mut |at, bytes| {
            let begin = self.0.base.wrapping_offset(at);
            // SAFETY: of the memory by its layout, and the memory is valid (`new`).
            slices.push(IoSlice::new(unsafe {
                std::slice::from_raw_parts(begin, bytes)
            }));
            slices.len() < room
        });
    }

    /// Packs the bytes from `offset` on into all of `out`.
    pub fn pack(&self, offset: usize, out: &mut [u8]) {
        assert!(offset + out.len() <= self.0.bytes);
        // SAFETY: within the memory, which is valid (`new`).
        unsafe { self.0.read(offset, out) };
    }

    pub fn copy(&self, offset: usize, end: usize) -> Vec<u8> {
        assert!(offset <= end && end <= self.0.bytes);
        let mut copy = vec![0; end - offset];
        // SAFETY: within the memory, which is valid (`new`).
        unsafe { self.0.read(offset, &mut copy) };
        copy
    }
}

impl Target {
    /// # Safety
    /// The memory stays valid, and nobody else reads or writes it, as long as this value lives.
    pub unsafe fn new(memory: Memory) -> Target {
        Target(memory)
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Whether bytes can be read to where they belong.
    pub fn has_places(&self) -> bool {
        self.0.layout.is_none() || long_runs(&self.0).is_some()
    }

    /// Reads the bytes from `offset` to `end`, or the first of them, from a socket to where they belong, by one system call: how many
    /// came, and how many it had asked for.
    pub fn read(
        &mut self,
        offset: usize,
        end: usize,
        mut socket: &Socket,
    ) -> io::Result<(usize, usize)> {
        assert!(offset < end && end <= self.0.bytes);
        let bytes = end - offset;
        match long_runs(&self.0) {
            None => {
                assert!(self.0.layout.is_none(), "bytes without places");
                let begin = self.0.base.wrapping_add(offset);
                // SAFETY: within the memory, which is this value's alone (`new`).
                let place = unsafe { std::slice::from_raw_parts_mut(begin, bytes) };
                Ok((socket.read(place)?, bytes))
            }
            Some(layout) => {
                let (mut places, mut asked) = (Vec::with_capacity(MOST_RUNS), 0);
                layout.runs(offset..end, &mut |at, bytes| {
                    places.push(libc::iovec {
                        iov_base: self.0.base.wrapping_offset(at).cast(),
                        iov_len: bytes,
                    });
                    asked += bytes;
                    places.len() < MOST_RUNS
                });
                // SAFETY: the kernel writes to places of the memory by its layout; the memory is this value's alone (`new`).
                let came = unsafe {
                    libc::readv(socket.as_raw_fd(), places.as_ptr(), places.len() as i32)
                };
                match usize::try_from(came) {
                    Ok(came) => Ok((came, asked)),
                    Err(_) => Err(io::Error::last_os_error()),
                }
            }
        }
    }

    /// Writes the bytes from `offset` on; what lies behind the memory's end is dropped.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        let room = self.0.bytes.saturating_sub(offset);
        let bytes = &bytes[..bytes.len().min(room)];
        if !bytes.is_empty() {
            // SAFETY: within the memory, which is this value's alone (`new`).
            unsafe { self.0.write(offset, bytes) };
        }
    }
}

fn long_runs(memory: &Memory) -> Option<&dyn Layout> {
    let layout = memory.layout.as_deref()?;
    (layout.run_bytes() >= LEAST_RUN_BYTES).then_some(layout)
}
