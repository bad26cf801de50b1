//! A process's own access: positions of its view, from or to user memory.
//!
//! Memory that is not contiguous goes through a stage, by the datatype's own loops. Each run of the file is one system call.
//! Where runs to be read are near each other, so are the gaps between them read (*sieving*): a call costs as much as several thousand bytes.
//! Where short runs to be written are, they are copied into a mapping of the file (`mapped`).

use std::io;
use std::ops::{ControlFlow, Range};

use weft_memory::Memory;

use crate::descriptor::Descriptor;
use crate::mapped;
use crate::runs::{Stage, write_runs};
use crate::view::{Run, View};

/// Packed bytes of memory that is not contiguous that are moved at a time.
const STAGE_BYTES: usize = 512 << 10;
/// A gap up to so long is read along.
pub const GAP_BYTES: u64 = 16 << 10;

/// Writes `memory` to as many positions of a view; short runs through a mapping of the file, if that `may_map`.
///
/// # Safety
/// The memory is valid for reads and nobody writes it meanwhile.
pub unsafe fn write(
    descriptor: &Descriptor,
    view: &View,
    positions: Range<u64>,
    memory: &Memory,
    may_map: bool,
) -> io::Result<()> {
    let in_order = view.in_order(&positions);
    let (view, positions) = match &in_order {
        Some((view, inside)) => (view, inside.clone()),
        None => (view, positions),
    };
    if may_map && mapped::is_worth(view, memory.bytes) && descriptor.can_be_mapped() {
        // SAFETY: by this function's contract.
        return unsafe { mapped::write(descriptor, view, positions, memory) };
    }
    let (mut at, mut stage) = (0, Stage::default());
    while at < memory.bytes {
        let piece = match memory.layout {
            None => memory.bytes,
            Some(_) => STAGE_BYTES.min(memory.bytes - at),
        };
        // SAFETY: within the packed bytes; by this function's contract.
        let data = unsafe { stage.packed(memory, at..at + piece) };
        let start = positions.start + at as u64;
        write_runs(descriptor, view, start..start + piece as u64, data)?;
        at += piece;
    }
    Ok(())
}

/// Reads as many positions of a view as `memory` has bytes, until the file ends; returns how many there were. At most
/// `sieve_bytes` are read at a time where gaps are read along; with 0 none are.
///
/// # Safety
/// The memory is valid for writes and nobody else touches it meanwhile.
pub unsafe fn read(
    descriptor: &Descriptor,
    view: &View,
    positions: Range<u64>,
    memory: &Memory,
    sieve_bytes: usize,
) -> io::Result<usize> {
    let in_order = view.in_order(&positions);
    let (view, positions, sieve_bytes) = match &in_order {
        Some((view, inside)) => (view, inside.clone(), sieve_bytes),
        None => (view, positions, 0),
    };
    let mut reader = Reader {
        descriptor,
        view,
        sieve_bytes,
        sieve: Vec::new(),
        reads_runs: view.spacing() >= descriptor.spacing_bytes(),
    };
    if memory.layout.is_none() {
        let out: &mut [u8] = match memory.bytes {
            0 => &mut [],
            // SAFETY: contiguous memory, by this function's contract.
            bytes => unsafe { std::slice::from_raw_parts_mut(memory.base, bytes) },
        };
        return reader.fill(positions, out);
    }
    let (mut at, mut stage) = (0, Vec::new());
    while at < memory.bytes {
        let piece = STAGE_BYTES.min(memory.bytes - at);
        lengthen(&mut stage, piece)?;
        let start = positions.start + at as u64;
        let there = reader.fill(start..start + piece as u64, &mut stage)?;
        // SAFETY: within the packed bytes; by this function's contract.
        unsafe { memory.write(at, &stage[..there]) };
        at += there;
        if there < piece {
            break;
        }
    }
    Ok(at)
}

struct Reader<'a> {
    descriptor: &'a Descriptor,
    view: &'a View,
    sieve_bytes: usize,
    sieve: Vec<u8>,
    /// Runs are so far apart that each is read by a call.
    reads_runs: bool,
}

/// Runs that are read by one call.
struct Group {
    /// There is but one.
    is_run: bool,
    span: Range<u64>,
    bytes: usize,
}

impl Reader<'_> {
    /// Fills `out` from as many positions; returns how many there were.
    fn fill(&mut self, positions: Range<u64>, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            let left = positions.start + done as u64..positions.end;
            let group = self.group(left.clone());
            let part = &mut out[done..done + group.bytes];
            let there = match (group.is_run, self.reads_runs) {
                (true, _) => self.descriptor.read_at(group.span.start, part)?,
                (false, true) => self.by_runs(left.start, &group.span, part)?,
                (false, false) => self.sift(left.start, &group.span, part)?,
            };
            done += there;
            if there < group.bytes {
                break;
            }
        }
        Ok(done)
    }

    /// The first runs of positions that are not none, as many as are to be read together.
    fn group(&self, positions: Range<u64>) -> Group {
        let near = self.view.largest_gap().is_some_and(|gap| gap <= GAP_BYTES);
        let all_near = near && self.sieve_bytes > 0;
        all_near
            .then(|| self.group_of_near(&positions))
            .flatten()
            .unwrap_or_else(|| self.group_by_runs(positions))
    }

    /// Where all runs are near each other, how many bytes are read at a time is all that counts.
    fn group_of_near(&self, positions: &Range<u64>) -> Option<Group> {
        let start = self.view.offset(positions.start)?;
        let limit = start.saturating_add(self.sieve_bytes as u64);
        let last = self.view.below(limit).min(positions.end);
        let hull = self.view.hull(&(positions.start..last))?;
        let bytes = (last - positions.start) as usize;
        Some(Group {
            is_run: hull.end - hull.start == bytes as u64,
            span: hull,
            bytes,
        })
    }

    fn group_by_runs(&self, positions: Range<u64>) -> Group {
        let mut group: Option<Group> = None;
        self.view.visit(positions, |run: Run| {
            let end = run.offset + run.bytes as u64;
            match &mut group {
                None => {
                    group = Some(Group {
                        is_run: true,
                        span: run.offset..end,
                        bytes: run.bytes,
                    });
                }
                Some(group)
                    if self.sieve_bytes > 0
                        && run.offset - group.span.end <= GAP_BYTES
                        && end - group.span.start <= self.sieve_bytes as u64 =>
                {
                    group.is_run = false;
                    group.span.end = end;
                    group.bytes += run.bytes;
                }
                Some(_) => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
        group.expect("there are positions, and they have runs")
    }

    /// Reads each run of a span by a call. The file system is told of the span first: what it has to fetch from a device it
    /// fetches at once, as for one call.
    fn by_runs(&self, start: u64, span: &Range<u64>, out: &mut [u8]) -> io::Result<usize> {
        self.descriptor.will_read(span);
        let mut outcome = Ok(0);
        self.view.visit(start..start + out.len() as u64, |run| {
            let there = self
                .descriptor
                .read_at(run.offset, &mut out[run.at..run.at + run.bytes]);
            let whole = there.as_ref().is_ok_and(|&there| there == run.bytes);
            outcome = there.map(|there| run.at + there);
            match whole {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        outcome
    }

    /// Reads a span of the file, and takes from it what is to go to `out`, from position `start` on.
    fn sift(&mut self, start: u64, span: &Range<u64>, out: &mut [u8]) -> io::Result<usize> {
        let bytes = (span.end - span.start) as usize;
        lengthen(&mut self.sieve, bytes)?;
        let there = self.descriptor.read_at(span.start, &mut self.sieve)?;
        let seen = self.view.below(span.start + there as u64);
        let length = (seen.saturating_sub(start) as usize).min(out.len());
        let positions = start..start + length as u64;
        let memory = self
            .view
            .memory(self.sieve.as_mut_ptr(), span.start, &positions);
        // SAFETY: the positions lie in the span, all of which the buffer holds.
        unsafe { memory.read(0, &mut out[..length]) };
        Ok(length)
    }
}

/// A buffer of so many bytes, whose lack is an error as the kernel's would be.
fn lengthen(buffer: &mut Vec<u8>, bytes: usize) -> io::Result<()> {
    let lengthened = weft_reserve::lengthen(buffer, bytes);
    lengthened.map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))
}
