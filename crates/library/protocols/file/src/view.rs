//! A process's view of a file (MPI-5.0 §14.3): a pattern of bytes, repeated from a displacement on.

use std::ops::{ControlFlow, Range};

use weft_datatype::{Datatype, Predefined, Tiling};
use weft_memory::Memory;

/// The largest offset that a byte may have, and one: offsets are `MPI_Offset`s.
const END: u64 = i64::MAX as u64;

/// Which bytes of a file are seen. They are numbered from 0; such a number is a *position*.
#[derive(Clone, Debug)]
pub struct View {
    displacement: u64,
    tiling: Tiling,
    /// The most bytes that lie between two runs.
    largest_gap: u64,
}

/// Bytes that lie together in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// In the file.
    pub offset: u64,
    /// From the first position that was asked for.
    pub at: usize,
    pub bytes: usize,
}

impl View {
    /// A view of the bytes of `filetype`, again and again; none if its displacements do not grow (MPI-5.0 §14.3).
    pub fn new(displacement: u64, filetype: &Datatype) -> Option<View> {
        View::of(displacement, filetype.tiling())
    }

    /// The same, of a tiling.
    pub fn of(displacement: u64, tiling: Tiling) -> Option<View> {
        let largest_gap = tiling.largest_gap()? as u64;
        (displacement <= END).then_some(View {
            displacement,
            tiling,
            largest_gap,
        })
    }

    /// A view of every byte from a displacement on.
    pub fn bytes(displacement: u64) -> View {
        let tiling = Datatype::from(Predefined::Byte).tiling();
        View {
            displacement,
            tiling,
            largest_gap: 0,
        }
    }

    pub fn displacement(&self) -> u64 {
        self.displacement
    }

    pub fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// From the beginning of a run to that of the next, on average.
    pub fn spacing(&self) -> usize {
        self.tiling.extent() / self.tiling.runs().max(1)
    }

    pub fn largest_gap(&self) -> u64 {
        self.largest_gap
    }

    /// Where a position lies in the file; none if it is no offset.
    pub fn offset(&self, position: u64) -> Option<u64> {
        let position = usize::try_from(position).ok()?;
        let inside = u64::try_from(self.tiling.displacement(position)?).ok()?;
        let offset = self.displacement.checked_add(inside)?;
        (offset < END).then_some(offset)
    }

    /// How many positions lie before an offset.
    pub fn below(&self, offset: u64) -> u64 {
        match offset.min(END).checked_sub(self.displacement) {
            None => 0,
            Some(inside) => self.tiling.below(inside as isize) as u64,
        }
    }

    /// From the first to behind the last byte of some positions; none if not all of them have offsets.
    pub fn hull(&self, positions: &Range<u64>) -> Option<Range<u64>> {
        if positions.is_empty() {
            return Some(0..0);
        }
        Some(self.offset(positions.start)?..self.offset(positions.end - 1)? + 1)
    }

    /// Calls `visit` with each run of some positions, which have offsets, in order, until it breaks off. Runs that touch
    /// come as one.
    pub fn visit(&self, positions: Range<u64>, mut visit: impl FnMut(Run) -> ControlFlow<()>) {
        let mut last: Option<Run> = None;
        let mut at = 0;
        let mut over = false;
        self.visit_apart(positions, |offset, bytes| {
            let run = Run { offset, at, bytes };
            at += bytes;
            match &mut last {
                Some(last) if last.offset + last.bytes as u64 == offset => last.bytes += bytes,
                Some(before) => {
                    let before = std::mem::replace(before, run);
                    let flow = visit(before);
                    over = flow.is_break();
                    return flow;
                }
                None => last = Some(run),
            }
            ControlFlow::Continue(())
        });
        if let Some(last) = last.filter(|_| !over) {
            let _ = visit(last);
        }
    }

    /// The same, by offset and length, but runs that touch may come apart.
    pub(crate) fn visit_apart(
        &self,
        positions: Range<u64>,
        mut visit: impl FnMut(u64, usize) -> ControlFlow<()>,
    ) {
        let window = positions.start as usize..positions.end as usize;
        self.tiling.visit(window, |displacement, bytes| {
            visit(self.displacement + displacement as u64, bytes)
        });
    }

    /// The memory of some positions in a buffer that holds the file from offset `start` on, as far as their hull.
    pub fn memory(&self, buffer: *mut u8, start: u64, positions: &Range<u64>) -> Memory {
        let bytes = (positions.end - positions.start) as usize;
        let Some(hull) = self.hull(positions) else {
            return Memory::contiguous(buffer, 0);
        };
        if hull.end - hull.start == bytes as u64 {
            let inside = hull.start.wrapping_sub(start) as usize;
            return Memory::contiguous(buffer.wrapping_add(inside), bytes);
        }
        let origin = self.displacement as isize - start as isize;
        let whole = Memory {
            base: buffer.wrapping_offset(origin),
            bytes: positions.end as usize,
            layout: Some(self.tiling.layout()),
        };
        whole.part(positions.start as usize, bytes)
    }
}
