//! Parts of a file that are mapped, and stay so from one access to the next. What goes into them is the affair of `writer`.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use parking_lot::Mutex;

/// Bytes of the file that are mapped at a time, at multiples of that: a large page.
pub const WINDOW_BYTES: u64 = 2 << 20;
/// Windows of a file that stay mapped.
const MOST_KEPT: usize = 64;

/// The windows of a file that are mapped and not in use, the oldest first.
#[derive(Debug, Default)]
pub struct Windows(Mutex<VecDeque<Window>>);

impl Windows {
    /// The window that begins at an offset, mapped before or now.
    pub fn take(&self, file: &File, start: u64) -> io::Result<Window> {
        let mut kept = self.0.lock();
        let place = kept.iter().position(|window| window.start == start);
        let found = place.and_then(|place| kept.remove(place));
        drop(kept);
        found.map_or_else(|| Window::new(file, start), Ok)
    }

    pub fn put_back(&self, window: Window) {
        let mut kept = self.0.lock();
        kept.push_back(window);
        let oldest = (kept.len() > MOST_KEPT).then(|| kept.pop_front()).flatten();
        drop(kept);
        drop(oldest);
    }
}

/// A window of a file, as addresses.
#[derive(Debug)]
pub struct Window {
    start: u64,
    base: *mut u8,
}

// SAFETY: addresses of a mapping, which belongs to no thread.
unsafe impl Send for Window {}

impl Window {
    fn new(file: &File, start: u64) -> io::Result<Window> {
        // SAFETY: a new mapping, where the kernel likes, of an open file.
        let base = unsafe {
            libc::mmap64(
                std::ptr::null_mut(),
                WINDOW_BYTES as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                start as i64,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = base.cast();
        Ok(Window { start, base })
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    /// Where it is in this process; nobody stores to it.
    pub fn base(&self) -> *mut u8 {
        self.base
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, to which nothing points any more.
        unsafe { libc::munmap(self.base.cast(), WINDOW_BYTES as usize) };
    }
}
