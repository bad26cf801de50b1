//! Writing short runs through a mapping of the file. A store changes the bytes that it is for and no others, as a system call for each
//! run does; but where pages have many runs it costs a small part of that, also when other processes write the bytes between.
//!
//! 1. Only on file systems that keep one cache of a file for all who can open it ([`Descriptor::can_be_mapped`]): elsewhere whole
//!    pages go back to a server, and with them what others have written there meanwhile.
//! 2. The file reaches to the end of what is written before anything is mapped, by a call that writes the last byte: no store is behind
//!    its end.
//! 3. The pages of a window are made writable by the kernel before they are stored to, which tells of what a store would be answered
//!    with a signal for: no room, a quota, a device that fails. Then the window is written by calls, and theirs is the error.
//! 4. Windows lie at multiples of their size, so that the kernel can map its large pages whole.
//!
//! What is left is a program that cuts the file off within the microseconds between 3 and the last store.

use std::io;
use std::ops::Range;

use weft_memory::Memory;

use crate::counters::COUNTS;
use crate::coverage::Coverage;
use crate::descriptor::Descriptor;
use crate::runs::{Stage, write_runs};
use crate::view::View;

/// Bytes of the file that are mapped at a time: a large page.
const WINDOW_BYTES: u64 = 2 << 20;
/// Runs that come at least so often, on average, are stored: fewer in a page cost more by the page than by the call.
const SPACING_BYTES: usize = 1 << 10;
/// Every page has a run in it.
const LARGEST_GAP_BYTES: u64 = 4 << 10;
/// Fewer runs are written by as many calls.
const FEWEST_RUNS: usize = 32;

/// Whether so many positions of a view are worth a mapping.
pub fn is_worth(view: &View, bytes: usize) -> bool {
    let tiling = view.tiling();
    let (runs, size) = (tiling.runs().max(1), tiling.size().max(1));
    !tiling.is_dense()
        && view
            .largest_gap()
            .is_some_and(|gap| gap < LARGEST_GAP_BYTES)
        && view.spacing() <= SPACING_BYTES
        && bytes / size.div_ceil(runs) >= FEWEST_RUNS
}

/// Writes `memory` to as many positions of a view whose offsets grow throughout, which are not none.
///
/// # Safety
/// The memory is valid for reads and nobody writes it meanwhile.
pub unsafe fn write(
    descriptor: &Descriptor,
    view: &View,
    positions: Range<u64>,
    memory: &Memory,
) -> io::Result<()> {
    let mut stage = Stage::default();
    let last = memory.bytes - 1;
    // SAFETY: within the packed bytes; by this function's contract.
    let data = unsafe { stage.packed(memory, last..memory.bytes) };
    write_runs(descriptor, view, positions.end - 1..positions.end, data)?;
    let mut at = positions.start;
    while at < positions.end {
        let offset = view.offset(at).ok_or_else(no_offset)?;
        let start = offset - offset % WINDOW_BYTES;
        let end = view.below(start + WINDOW_BYTES).min(positions.end);
        let inside = (at - positions.start) as usize..(end - positions.start) as usize;
        // SAFETY: as above.
        let data = unsafe { stage.packed(memory, inside) };
        store(descriptor, view, at..end, start, data)?;
        at = end;
    }
    Ok(())
}

/// Writes what is covered of a buffer that holds the file from offset `start` on: short runs through a mapping, if that `may_map`, others by a
/// call each.
pub fn write_covered(
    descriptor: &Descriptor,
    start: u64,
    buffer: &[u8],
    coverage: &Coverage,
    may_map: bool,
) -> io::Result<()> {
    let mut by_calls =
        |run: Range<usize>| descriptor.write_at(start + run.start as u64, &buffer[run]);
    let hull = coverage.dense_hull(FEWEST_RUNS, SPACING_BYTES, LARGEST_GAP_BYTES as usize);
    let Some(hull) = hull.filter(|_| may_map && descriptor.can_be_mapped()) else {
        return coverage.runs(0..usize::MAX).try_for_each(by_calls);
    };
    by_calls(hull.end - 1..hull.end)?;
    let mut at = hull.start;
    while at < hull.end {
        let offset = start + at as u64;
        let window = offset - offset % WINDOW_BYTES;
        let end = hull.end.min((window + WINDOW_BYTES - start) as usize);
        let inside = (offset - window) as usize;
        match Window::new(descriptor, window, &(inside..inside + end - at)) {
            Err(_) => coverage.runs(at..end).try_for_each(&mut by_calls)?,
            Ok(window) => {
                COUNTS.writes.add(1);
                for run in coverage.runs(at..end) {
                    COUNTS.written_bytes.add(run.len() as u64);
                    let to = window.base.wrapping_add(inside + run.start - at);
                    // SAFETY: as in `store`; the run is in the buffer, which is no mapping of the file.
                    unsafe { to.copy_from_nonoverlapping(buffer[run.clone()].as_ptr(), run.len()) };
                }
            }
        }
        at = end;
    }
    Ok(())
}

/// Writes positions that lie in the window which begins at `start`.
fn store(
    descriptor: &Descriptor,
    view: &View,
    positions: Range<u64>,
    start: u64,
    data: &[u8],
) -> io::Result<()> {
    let hull = view.hull(&positions).ok_or_else(no_offset)?;
    let inside = (hull.start - start) as usize..(hull.end - start) as usize;
    let Ok(window) = Window::new(descriptor, start, &inside) else {
        return write_runs(descriptor, view, positions, data);
    };
    COUNTS.writes.add(1);
    COUNTS.written_bytes.add(data.len() as u64);
    let target = view.memory(window.base, start, &positions);
    // SAFETY: the positions lie in the part of the window that is writable, and in the file (rules 2 and 3). Other processes
    // may store to the same page, to these bytes only if the program has them write the same bytes at a time (MPI-5.0 §14.6.1).
    unsafe { target.write(0, data) };
    Ok(())
}

#[cold]
fn no_offset() -> io::Error {
    io::Error::from_raw_os_error(libc::EFBIG)
}

/// A window of a file, as memory.
struct Window {
    base: *mut u8,
}

impl Window {
    /// `part` of it can be stored to.
    fn new(descriptor: &Descriptor, start: u64, part: &Range<usize>) -> io::Result<Window> {
        // SAFETY: a new mapping, where the kernel likes, of an open descriptor.
        let base = unsafe {
            libc::mmap64(
                std::ptr::null_mut(),
                WINDOW_BYTES as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                descriptor.number(),
                start as i64,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let window = Window { base: base.cast() };
        let first = part.start - part.start % page_bytes();
        let from = window.base.wrapping_add(first).cast();
        // SAFETY: within the mapping, from a page's beginning on; the kernel rounds the length up.
        match unsafe { libc::madvise(from, part.end - first, libc::MADV_POPULATE_WRITE) } {
            0 => Ok(window),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, to which nothing points any more.
        unsafe { libc::munmap(self.base.cast(), WINDOW_BYTES as usize) };
    }
}

fn page_bytes() -> usize {
    // SAFETY: a question about the system.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
