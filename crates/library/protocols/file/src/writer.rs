//! Writing runs to a window of a file, without a store of this process's.
//!
//! 1. The kernel copies (`process_vm_readv`, from this process to itself). What a store would be answered with a signal for is an error of that
//!    call: a file that another program has cut off meanwhile, a file system without room, a device that fails.
//! 2. What it did not copy is written by a call for each run, whose errors are the file's own. So a mapping changes what a write costs,
//!    and nothing else, also where the kernel forbids such copies.
//! 3. No byte of a window is read or written but by rule 1: so it may stay mapped, and what others do to the file meanwhile, cutting it
//!    off too, is nothing to it. What has been written once is written again without a fault.
//! 4. A window is used by one access at a time: who takes it has it until it is put back.

use std::io;

use crate::counters::COUNTS;
use crate::descriptor::Descriptor;
use crate::windows::{WINDOW_BYTES, Window};

/// Runs that the kernel copies by one call (`IOV_MAX`).
const MOST_RUNS: usize = 1024;

/// Writes runs of a file that lie in one window, from data in the same order.
pub struct Writer<'a> {
    descriptor: &'a Descriptor,
    window: &'a Window,
    data: &'a [u8],
    /// Where the next runs go, and how many bytes of the data they take.
    places: Vec<libc::iovec>,
    bytes: usize,
}

impl<'a> Writer<'a> {
    pub fn new(descriptor: &'a Descriptor, window: &'a Window, data: &'a [u8]) -> Writer<'a> {
        Writer {
            descriptor,
            window,
            data,
            places: Vec::with_capacity(MOST_RUNS),
            bytes: 0,
        }
    }

    /// The next bytes of the data go to an offset; all runs together are as long as the data.
    #[inline]
    pub fn add(&mut self, offset: u64, bytes: usize) -> io::Result<()> {
        if self.places.len() == MOST_RUNS {
            self.flush()?;
        }
        let inside = (offset - self.window.start()) as usize;
        debug_assert!(inside + bytes <= WINDOW_BYTES as usize);
        self.places.push(libc::iovec {
            iov_base: self.window.base().wrapping_add(inside).cast(),
            iov_len: bytes,
        });
        self.bytes += bytes;
        Ok(())
    }

    /// Has written all that was added when it returns.
    pub fn flush(&mut self) -> io::Result<()> {
        let (data, rest) = self.data.split_at(self.bytes);
        self.data = rest;
        self.bytes = 0;
        if data.is_empty() {
            return Ok(());
        }
        match self.copied(data) {
            true => {
                COUNTS.writes.add(1);
                COUNTS.written_bytes.add(data.len() as u64);
            }
            false => self.by_calls(data)?,
        }
        self.places.clear();
        Ok(())
    }

    /// Has the kernel copy data to the places, and tells whether all are there.
    fn copied(&self, data: &[u8]) -> bool {
        let from = libc::iovec {
            iov_base: data.as_ptr().cast_mut().cast(),
            iov_len: data.len(),
        };
        let (to, runs) = (self.places.as_ptr(), self.places.len() as libc::c_ulong);
        // SAFETY: the kernel reads the data, which lie as the slice says, and writes to the mapping alone: `add` says where. Other
        // processes may write to the same page, to these bytes only if the program has them write the same bytes at a time
        // (MPI-5.0 §14.6.1); this one refers to them nowhere (rule 3).
        let copied =
            unsafe { libc::process_vm_readv(libc::getpid(), to, runs, &raw const from, 1, 0) };
        usize::try_from(copied).is_ok_and(|copied| copied == data.len())
    }

    fn by_calls(&self, mut data: &[u8]) -> io::Result<()> {
        for place in &self.places {
            let inside = place.iov_base.addr() - self.window.base().addr();
            let (run, rest) = data.split_at(place.iov_len);
            self.descriptor
                .write_at(self.window.start() + inside as u64, run)?;
            data = rest;
        }
        Ok(())
    }
}
