//! A process's own access: positions of its view, from or to user memory.
//!
//! Memory that is not contiguous goes through a stage, by the datatype's own loops. Each run of the file is one system call;
//! where runs to be read are near each other, so are the gaps between them read (*sieving*): a call costs as much as many bytes.

use std::io;
use std::ops::{ControlFlow, Range};

use weft_memory::Memory;

use crate::descriptor::Descriptor;
use crate::view::{Run, View};

/// Packed bytes of memory that is not contiguous that are moved at a time.
const STAGE_BYTES: usize = 4 << 20;
/// A gap up to so long is read along.
const GAP_BYTES: u64 = 16 << 10;

/// Writes `memory` to as many positions of a view.
///
/// # Safety
/// The memory is valid for reads and nobody writes it meanwhile.
pub unsafe fn write(
    descriptor: &Descriptor,
    view: &View,
    positions: Range<u64>,
    memory: &Memory,
) -> io::Result<()> {
    let (mut at, mut stage) = (0, Vec::new());
    while at < memory.bytes {
        let piece;
        let data: &[u8] = match memory.layout {
            None => {
                piece = memory.bytes;
                // SAFETY: contiguous memory, by this function's contract.
                unsafe { std::slice::from_raw_parts(memory.base, piece) }
            }
            Some(_) => {
                piece = STAGE_BYTES.min(memory.bytes - at);
                stage.resize(piece, 0);
                // SAFETY: within the packed bytes; by this function's contract.
                unsafe { memory.read(at, &mut stage) };
                &stage
            }
        };
        let start = positions.start + at as u64;
        write_runs(descriptor, view, start..start + piece as u64, data)?;
        at += piece;
    }
    Ok(())
}

/// Writes data to as many positions of a view.
pub fn write_runs(
    descriptor: &Descriptor,
    view: &View,
    positions: Range<u64>,
    data: &[u8],
) -> io::Result<()> {
    let mut outcome = Ok(());
    view.visit(positions, |run| {
        outcome = descriptor.write_at(run.offset, &data[run.at..run.at + run.bytes]);
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    outcome
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
        stage.resize(piece, 0);
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
}

/// Runs that are read by one call.
struct Group {
    runs: usize,
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
            let there = match group.runs {
                1 => self.descriptor.read_at(group.span.start, part)?,
                _ => self.sift(left.start, &group.span, part)?,
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
        let mut group: Option<Group> = None;
        self.view.visit(positions, |run: Run| {
            let end = run.offset + run.bytes as u64;
            match &mut group {
                None => {
                    group = Some(Group {
                        runs: 1,
                        span: run.offset..end,
                        bytes: run.bytes,
                    });
                }
                Some(group)
                    if self.sieve_bytes > 0
                        && run.offset - group.span.end <= GAP_BYTES
                        && end - group.span.start <= self.sieve_bytes as u64 =>
                {
                    group.runs += 1;
                    group.span.end = end;
                    group.bytes += run.bytes;
                }
                Some(_) => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
        group.expect("there are positions, and they have runs")
    }

    /// Reads a span of the file, and takes from it what is to go to `out`, from position `start` on.
    fn sift(&mut self, start: u64, span: &Range<u64>, out: &mut [u8]) -> io::Result<usize> {
        let bytes = (span.end - span.start) as usize;
        self.sieve.resize(bytes, 0);
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
