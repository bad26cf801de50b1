//! Writing short runs through a mapping of the file (`writer`). That changes the bytes that it is for and no others, as a system call for each
//! run does; but where pages have many runs it costs a small part of that, also when other processes write the bytes between.
//!
//! It is done only on file systems that keep one cache of a file for all who can open it ([`Descriptor::can_be_mapped`]): elsewhere
//! whole pages go back to a server, and with them what others have written there meanwhile. The file reaches to the end of what is written
//! before anything is mapped, by a call that writes the last byte.

use std::io;
use std::ops::{ControlFlow, Range};

use weft_memory::Memory;

use crate::coverage::Coverage;
use crate::descriptor::Descriptor;
use crate::runs::{Stage, write_runs};
use crate::view::View;
use crate::windows::{WINDOW_BYTES, Window};
use crate::writer::Writer;

/// Runs up to so long, on average, cost less by the page than by the call.
const RUN_BYTES: usize = 4 << 10;
/// Runs farther apart are written by a call each: they would cost a page each that has little else in it.
const LARGEST_GAP_BYTES: u64 = 16 << 10;
/// Fewer runs are written by as many calls.
const FEWEST_RUNS: usize = 32;

/// Whether so many positions of a view are worth a mapping.
pub fn is_worth(view: &View, bytes: usize) -> bool {
    let tiling = view.tiling();
    let run = tiling.size().div_ceil(tiling.runs().max(1)).max(1);
    !tiling.is_dense()
        && run <= RUN_BYTES
        && bytes / run >= FEWEST_RUNS
        && view
            .largest_gap()
            .is_some_and(|gap| gap <= LARGEST_GAP_BYTES)
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
        match descriptor.window(start) {
            Err(_) => write_runs(descriptor, view, at..end, data)?,
            Ok(window) => {
                write_window(descriptor, &window, view, at..end, data)?;
                descriptor.put_back(window);
            }
        }
        at = end;
    }
    Ok(())
}

/// Writes positions that lie in a window.
fn write_window(
    descriptor: &Descriptor,
    window: &Window,
    view: &View,
    positions: Range<u64>,
    data: &[u8],
) -> io::Result<()> {
    let mut writer = Writer::new(descriptor, window, data);
    let mut outcome = Ok(());
    view.visit_apart(positions, |offset, bytes| {
        outcome = writer.add(offset, bytes);
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    outcome?;
    writer.flush()
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
    let by_calls = |run: Range<usize>| descriptor.write_at(start + run.start as u64, &buffer[run]);
    let hull = coverage.hull_of_short(FEWEST_RUNS, RUN_BYTES, LARGEST_GAP_BYTES as usize);
    let Some(hull) = hull.filter(|_| may_map && descriptor.can_be_mapped()) else {
        return coverage.runs(0..usize::MAX).try_for_each(by_calls);
    };
    by_calls(hull.end - 1..hull.end)?;
    let mut packed = Vec::new();
    let mut at = hull.start;
    while at < hull.end {
        let offset = start + at as u64;
        let first = offset - offset % WINDOW_BYTES;
        let end = hull.end.min((first + WINDOW_BYTES - start) as usize);
        match descriptor.window(first) {
            Err(_) => coverage.runs(at..end).try_for_each(by_calls)?,
            Ok(window) => {
                // The kernel finds data that lie together at once, and others run by run.
                packed.clear();
                coverage
                    .runs(at..end)
                    .for_each(|run| packed.extend_from_slice(&buffer[run]));
                let mut writer = Writer::new(descriptor, &window, &packed);
                coverage
                    .runs(at..end)
                    .try_for_each(|run| writer.add(start + run.start as u64, run.len()))?;
                writer.flush()?;
                descriptor.put_back(window);
            }
        }
        at = end;
    }
    Ok(())
}

#[cold]
fn no_offset() -> io::Error {
    io::Error::from_raw_os_error(libc::EFBIG)
}
