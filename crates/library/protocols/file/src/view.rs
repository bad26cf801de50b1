//! A process's view of a file (MPI-5.0 §14.3): a pattern of bytes, repeated from a displacement on.
//!
//! Of most views offsets grow with positions, so that what lies in a range of the file is a range of positions. A file type may also
//! have an extent less than what it spans, as one of a column of a matrix does that is resized to an element: then that holds within a
//! tile only, and an access that stays in one tile is made as one of a view of that tile ([`View::in_order`]). Types that
//! overlap are allowed where nothing is written.

use std::ops::{ControlFlow, Range};

use weft_datatype::{Datatype, Growth, Predefined, Tiling};
use weft_memory::Memory;

/// The largest offset that a byte may have, and one: offsets are `MPI_Offset`s.
const END: u64 = i64::MAX as u64;

/// Which bytes of a file are seen. They are numbered from 0; such a number is a *position*.
#[derive(Clone, Debug)]
pub struct View {
    displacement: u64,
    tiling: Tiling,
    growth: Growth,
    /// Of the first tile.
    bounds: Range<usize>,
    /// Where offsets grow in tiles alone, the tiling of one of them.
    alone: Option<Tiling>,
    /// The most bytes that lie between two runs, where offsets grow throughout.
    largest_gap: Option<u64>,
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
    /// A view of the bytes of `filetype`, again and again; none if a displacement is negative or goes back (MPI-5.0 §14.3).
    pub fn new(displacement: u64, filetype: &Datatype) -> Option<View> {
        View::of(displacement, filetype.tiling())
    }

    /// The same, of a tiling.
    pub fn of(displacement: u64, tiling: Tiling) -> Option<View> {
        let largest_gap = tiling.largest_gap().map(|gap| gap as u64);
        let growth = match largest_gap {
            Some(_) => Growth::Throughout,
            None => tiling.growth()?,
        };
        if displacement > END {
            return None;
        }
        let alone = match growth {
            Growth::WithinTiles => Some(tiling.apart()?),
            Growth::Throughout | Growth::Overlapping => None,
        };
        let bounds = match growth {
            // They are asked for where offsets do not grow.
            Growth::Throughout => 0..0,
            Growth::WithinTiles | Growth::Overlapping => tiling.bounds()?,
        };
        Some(View {
            largest_gap,
            displacement,
            tiling,
            growth,
            bounds,
            alone,
        })
    }

    /// A view of every byte from a displacement on.
    pub fn bytes(displacement: u64) -> View {
        View {
            displacement,
            tiling: Datatype::from(Predefined::Byte).tiling(),
            growth: Growth::Throughout,
            bounds: 0..0,
            alone: None,
            largest_gap: Some(0),
        }
    }

    pub fn displacement(&self) -> u64 {
        self.displacement
    }

    pub fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// How far offsets grow with positions.
    pub fn growth(&self) -> Growth {
        self.growth
    }

    /// Some positions as those of a view whose offsets grow with them throughout; none if theirs do not.
    pub fn in_order(&self, positions: &Range<u64>) -> Option<(View, Range<u64>)> {
        if self.growth == Growth::Throughout {
            return Some((self.clone(), positions.clone()));
        }
        if positions.is_empty() {
            return Some((View::bytes(0), 0..0));
        }
        let size = self.tiling.size() as u64;
        let (tile, last) = (positions.start / size, (positions.end - 1) / size);
        let tiling = self.alone.clone().filter(|_| tile == last)?;
        let before = i64::try_from(tile)
            .ok()?
            .checked_mul(self.tiling.extent() as i64)?;
        let view = View::of(self.displacement.checked_add_signed(before)?, tiling)?;
        let inside = positions.start - tile * size..positions.end - tile * size;
        Some((view, inside))
    }

    /// From the beginning of a run to that of the next, on average, where offsets grow throughout.
    pub fn spacing(&self) -> usize {
        self.tiling.extent().unsigned_abs() / self.tiling.runs().max(1)
    }

    /// The most bytes that lie between two runs, where offsets grow throughout; none where they do not.
    pub fn largest_gap(&self) -> Option<u64> {
        self.largest_gap
    }

    /// Where a position lies in the file; none if it is no offset.
    pub fn offset(&self, position: u64) -> Option<u64> {
        let position = usize::try_from(position).ok()?;
        let inside = self.tiling.displacement(position)? as i64;
        let offset = self.displacement.checked_add_signed(inside)?;
        (offset < END).then_some(offset)
    }

    /// How many positions lie before an offset, of a view whose offsets grow throughout.
    pub fn below(&self, offset: u64) -> u64 {
        debug_assert_eq!(self.growth, Growth::Throughout);
        match offset.min(END).checked_sub(self.displacement) {
            None => 0,
            Some(inside) => self.tiling.below(inside as isize) as u64,
        }
    }

    /// The first position that lies at an offset or behind it.
    pub fn first_from(&self, offset: u64) -> u64 {
        if self.growth == Growth::Throughout {
            return self.below(offset);
        }
        let (size, extent) = (self.tiling.size() as u64, self.tiling.extent() as i128);
        let (wanted, end) = (
            i128::from(offset) - i128::from(self.displacement),
            self.bounds.end as i128,
        );
        // The first tile that reaches so far; of those that do not grow it is the first or none.
        let tile = match (wanted < end, extent) {
            (true, _) => 0,
            (false, 1..) => ((wanted - end) / extent + 1) as u64,
            (false, _) => return END,
        };
        let start = tile * size;
        let mut first = start + size;
        self.visit(start..start + size, |run| {
            match run.offset + run.bytes as u64 > offset {
                true => {
                    first = start + run.at as u64 + offset.saturating_sub(run.offset);
                    ControlFlow::Break(())
                }
                false => ControlFlow::Continue(()),
            }
        });
        first
    }

    /// From the first to behind the last byte of some positions; none if not all of them have offsets.
    pub fn hull(&self, positions: &Range<u64>) -> Option<Range<u64>> {
        if positions.is_empty() {
            return Some(0..0);
        }
        match self.in_order(positions) {
            Some((view, inside)) => {
                Some(view.offset(inside.start)?..view.offset(inside.end - 1)? + 1)
            }
            None => self.hull_of_tiles(positions),
        }
    }

    /// The hull of the tiles that some positions lie in, where offsets do not grow: displacements of tiles are greatest and least at the
    /// first or the last one.
    fn hull_of_tiles(&self, positions: &Range<u64>) -> Option<Range<u64>> {
        let size = self.tiling.size() as u64;
        let tiles = [positions.start / size, (positions.end - 1) / size];
        let start = |tile: u64| {
            let before = i64::try_from(tile)
                .ok()?
                .checked_mul(self.tiling.extent() as i64)?;
            i128::from(self.displacement).checked_add(before.into())
        };
        let [first, last] = [start(tiles[0])?, start(tiles[1])?];
        let least = u64::try_from(first.min(last) + self.bounds.start as i128).ok()?;
        let end = u64::try_from(first.max(last) + self.bounds.end as i128).ok()?;
        (end <= END).then_some(least..end)
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
            visit(
                self.displacement.wrapping_add_signed(displacement as i64),
                bytes,
            )
        });
    }

    /// The memory of some positions in a buffer that holds the file from offset `start` on, as far as their hull; of a view whose
    /// offsets grow throughout.
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
