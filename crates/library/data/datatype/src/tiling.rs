//! A datatype repeated without end, an extent apart: what a file view shows of a file (MPI-5.0 §14.3).
//!
//! The bytes that it covers are numbered from 0 in type map order; such a number is a *position*. Where that is the order of
//! the displacements ([`Growth::Throughout`]), positions are found by displacement too. Nothing here lists the runs
//! of a shape: each question goes down the shape once, with a division or a binary search per level.

mod runs;
mod words;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::copy::Copier;
use crate::datatype::Datatype;
use crate::shape::{Shape, parts_in, runs_in};
use weft_memory::Layout;

/// A datatype over and over. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Tiling {
    copier: Arc<Copier>,
    size: usize,
    extent: isize,
    /// All is one run without holes and without end.
    dense: bool,
}

impl Datatype {
    pub fn tiling(&self) -> Tiling {
        Tiling::new(self.shared_copier(), self.size(), self.extent())
    }
}

/// How far displacements grow with positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// From 0 on, without end: no byte is covered twice.
    Throughout,
    /// In each tile. But tiles lie among each other: an extent is less than what a tile spans.
    WithinTiles,
    /// Those at which runs begin, in each tile; runs overlap.
    Overlapping,
}

impl Tiling {
    fn new(copier: Arc<Copier>, size: usize, extent: isize) -> Tiling {
        let is_run = matches!(copier.shape(), Shape::Run { .. });
        Tiling {
            copier,
            size,
            extent,
            dense: is_run && extent == size as isize,
        }
    }

    /// Bytes that one tile covers.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether the covered bytes are one run without end.
    pub fn is_dense(&self) -> bool {
        self.dense
    }

    /// How many runs a tile has.
    pub fn runs(&self) -> usize {
        match self.size {
            0 => 0,
            _ => runs(self.copier.shape()),
        }
    }

    /// How long the lists are that say where the runs of a tile lie.
    pub fn listed(&self) -> usize {
        listed(self.copier.shape())
    }

    /// The layout by which packed bytes, from position 0 on, lie at their displacements.
    pub fn layout(&self) -> Arc<dyn Layout> {
        self.copier.clone()
    }

    /// The most bytes that lie between a run and the next, where displacements grow throughout; none where they do not.
    pub fn largest_gap(&self) -> Option<usize> {
        if self.size == 0 {
            return Some(0);
        }
        let one = span(self.copier.shape()).filter(|_| self.copier.origin() >= 0)?;
        repeated(2, self.extent, one).map(|two| two.gap)
    }

    /// How far displacements grow with positions; none if one in the first tile is negative, or less than one before it.
    pub fn growth(&self) -> Option<Growth> {
        if self.largest_gap().is_some() {
            return Some(Growth::Throughout);
        }
        let shape = self.copier.shape();
        match span(shape).filter(|_| self.copier.origin() >= 0) {
            Some(_) => self.bounds().map(|_| Growth::WithinTiles),
            None => starts(shape)
                .and(self.bounds())
                .map(|_| Growth::Overlapping),
        }
    }

    /// From the least displacement of a byte of the first tile to behind the greatest one; none if it is negative.
    pub fn bounds(&self) -> Option<Range<usize>> {
        let (least, end) = bounds(self.copier.shape())?;
        let least = self.copier.origin().checked_add(least)?;
        let end = self.copier.origin().checked_add(end)?;
        Some(usize::try_from(least).ok()?..usize::try_from(end).ok()?)
    }

    /// From one tile to the next.
    pub fn extent(&self) -> isize {
        self.extent
    }

    /// The same first tile, where the next one lies behind all of it.
    pub fn apart(&self) -> Option<Tiling> {
        let extent = isize::try_from(span(self.copier.shape())?.bytes).ok()?;
        let shape = self.copier.shape().clone();
        let copier = Copier::new(self.copier.origin(), self.size, extent, shape);
        Some(Tiling::new(Arc::new(copier), self.size, extent))
    }

    /// The displacement of a position; none if there is no such byte, or it is out of the address space.
    pub fn displacement(&self, position: usize) -> Option<isize> {
        if self.size == 0 {
            return None;
        }
        let tile = isize::try_from(position / self.size).ok()?;
        let start = self.extent.checked_mul(tile)?;
        let inside = displacement(self.copier.shape(), position % self.size);
        start.checked_add(self.copier.origin())?.checked_add(inside)
    }

    /// How many positions have displacements below `end`, where they grow throughout.
    pub fn below(&self, end: isize) -> usize {
        let end = end - self.copier.origin();
        if self.size == 0 || end <= 0 {
            return 0;
        }
        if self.dense {
            return end as usize;
        }
        let (tiles, rest) = (end / self.extent, end % self.extent);
        let whole = (tiles as usize).saturating_mul(self.size);
        whole.saturating_add(below(self.copier.shape(), self.size, rest as usize))
    }

    /// Calls `visit` with displacement and length of each run of the positions `window`, in order, until it breaks off. All
    /// positions of the window have displacements.
    pub fn visit(
        &self,
        window: Range<usize>,
        mut visit: impl FnMut(isize, usize) -> ControlFlow<()>,
    ) {
        let _ = self.visit_tiles(window, &mut visit);
    }

    fn visit_tiles(
        &self,
        window: Range<usize>,
        out: &mut impl FnMut(isize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let origin = self.copier.origin();
        if window.is_empty() || self.size == 0 {
            return ControlFlow::Continue(());
        }
        if self.dense {
            return out(origin + window.start as isize, window.len());
        }
        let (first, last) = (window.start / self.size, (window.end - 1) / self.size);
        for tile in first..=last {
            let start = tile * self.size;
            let part = window.start.max(start) - start..(window.end - start).min(self.size);
            let at = origin + self.extent * tile as isize;
            visit(self.copier.shape(), at, part, out)?;
        }
        ControlFlow::Continue(())
    }
}

/// How many runs a shape has.
fn runs(shape: &Shape) -> usize {
    match shape {
        Shape::Run { .. } => 1,
        Shape::Strided { count, .. } => *count,
        Shape::Blocks { displacements, .. } => displacements.len(),
        Shape::Runs { runs } => runs.len() - 1,
        Shape::Loop { count, child, .. } => count.saturating_mul(runs(child)),
        Shape::Sequence { parts, .. } => parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(runs(&part.shape))),
    }
}

/// How long the lists of a shape are.
fn listed(shape: &Shape) -> usize {
    match shape {
        Shape::Run { .. } | Shape::Strided { .. } => 1,
        Shape::Blocks { displacements, .. } => displacements.len(),
        Shape::Runs { runs } => runs.len() - 1,
        Shape::Loop { child, .. } => listed(child),
        Shape::Sequence { parts, .. } => parts.iter().map(|part| listed(&part.shape)).sum(),
    }
}

/// Where the bytes of a shape lie whose displacements grow all the way.
#[derive(Clone, Copy)]
struct Span {
    /// From the first byte to behind the last one.
    bytes: usize,
    /// The most bytes between a run and the next.
    gap: usize,
}

impl Span {
    fn run(bytes: usize) -> Span {
        Span { bytes, gap: 0 }
    }
}

/// The span of a shape, if it has one.
fn span(shape: &Shape) -> Option<Span> {
    match shape {
        Shape::Run { size } => Some(Span::run(*size)),
        Shape::Strided {
            count,
            stride,
            block,
        } => repeated(*count, *stride, Span::run(*block)),
        Shape::Blocks {
            block,
            displacements,
        } => {
            let block = Span::run(*block);
            growing(displacements.iter().map(|&at| (at, Some(block))))
        }
        Shape::Runs { runs } => growing(runs.windows(2).map(|pair| {
            let size = pair[1].packed - pair[0].packed;
            (pair[0].displacement, Some(Span::run(size)))
        })),
        Shape::Loop {
            count,
            stride,
            child,
            ..
        } => repeated(*count, *stride, span(child)?),
        Shape::Sequence { parts, .. } => growing(
            parts
                .iter()
                .map(|part| (part.displacement, span(&part.shape))),
        ),
    }
}

/// The span of `count` copies of something of this span, a stride apart.
fn repeated(count: usize, stride: isize, one: Span) -> Option<Span> {
    if count == 1 {
        return Some(one);
    }
    let stride = usize::try_from(stride).ok()?;
    let between = stride.checked_sub(one.bytes)?;
    let before = count.checked_sub(1)?.checked_mul(stride)?;
    Some(Span {
        bytes: before.checked_add(one.bytes)?,
        gap: one.gap.max(between),
    })
}

/// The span of pieces, each with its displacement and span.
fn growing(pieces: impl Iterator<Item = (isize, Option<Span>)>) -> Option<Span> {
    let mut all = Span::run(0);
    for (displacement, piece) in pieces {
        let (start, piece) = (usize::try_from(displacement).ok()?, piece?);
        let between = start.checked_sub(all.bytes)?;
        all.gap = all.gap.max(between).max(piece.gap);
        all.bytes = start.checked_add(piece.bytes)?;
    }
    Some(all)
}

/// Where the first and the last run of a shape begin; none if one begins before the one that stands before it.
fn starts(shape: &Shape) -> Option<(isize, isize)> {
    match shape {
        Shape::Run { .. } => Some((0, 0)),
        Shape::Strided { count, stride, .. } => repeated_starts((0, 0), *count, *stride),
        Shape::Blocks { displacements, .. } => {
            following(displacements.iter().map(|&at| Some((at, at))))
        }
        Shape::Runs { runs } => following(
            runs[..runs.len() - 1]
                .iter()
                .map(|run| Some((run.displacement, run.displacement))),
        ),
        Shape::Loop {
            count,
            stride,
            child,
            ..
        } => repeated_starts(starts(child)?, *count, *stride),
        Shape::Sequence { parts, .. } => following(
            parts
                .iter()
                .map(|part| shifted(starts(&part.shape)?, part.displacement)),
        ),
    }
}

/// The starts of `count` copies of something of these starts, a stride apart.
fn repeated_starts(one: (isize, isize), count: usize, stride: isize) -> Option<(isize, isize)> {
    let last = isize::try_from(count.checked_sub(1)?).ok()?;
    let grows = last == 0 || stride >= one.1.checked_sub(one.0)?;
    let end = shifted(one, stride.checked_mul(last)?)?;
    grows.then_some((one.0, end.1))
}

/// The starts of pieces one after the other.
fn following(mut pieces: impl Iterator<Item = Option<(isize, isize)>>) -> Option<(isize, isize)> {
    let first = pieces.next()??;
    pieces.try_fold(first, |all, piece| {
        let (start, end) = piece?;
        (start >= all.1).then_some((all.0, end))
    })
}

/// From a shape's first byte in type map order to its least one, and to behind its greatest one; none if those are out of the address space.
fn bounds(shape: &Shape) -> Option<(isize, isize)> {
    match shape {
        Shape::Run { size } => Some((0, isize::try_from(*size).ok()?)),
        Shape::Strided {
            count,
            stride,
            block,
        } => copies((0, isize::try_from(*block).ok()?), *count, *stride),
        Shape::Blocks {
            block,
            displacements,
        } => {
            let block = isize::try_from(*block).ok()?;
            joined(displacements.iter().map(|&at| shifted((0, block), at)))
        }
        Shape::Runs { runs } => joined(runs.windows(2).map(|pair| {
            let size = isize::try_from(pair[1].packed - pair[0].packed).ok()?;
            shifted((0, size), pair[0].displacement)
        })),
        Shape::Loop {
            count,
            stride,
            child,
            ..
        } => copies(bounds(child)?, *count, *stride),
        Shape::Sequence { parts, .. } => joined(
            parts
                .iter()
                .map(|part| shifted(bounds(&part.shape)?, part.displacement)),
        ),
    }
}

fn shifted((least, end): (isize, isize), by: isize) -> Option<(isize, isize)> {
    Some((least.checked_add(by)?, end.checked_add(by)?))
}

/// The bounds of `count` copies of something of these bounds, a stride apart.
fn copies(bounds: (isize, isize), count: usize, stride: isize) -> Option<(isize, isize)> {
    let last = isize::try_from(count.checked_sub(1)?).ok()?;
    joined([Some(bounds), shifted(bounds, stride.checked_mul(last)?)].into_iter())
}

/// The bounds of all pieces together.
fn joined(mut pieces: impl Iterator<Item = Option<(isize, isize)>>) -> Option<(isize, isize)> {
    let first = pieces.next()??;
    pieces.try_fold(first, |all, piece| {
        let piece = piece?;
        Some((all.0.min(piece.0), all.1.max(piece.1)))
    })
}

/// Where packed byte `position` of a shape lies.
fn displacement(shape: &Shape, position: usize) -> isize {
    match shape {
        Shape::Run { .. } => position as isize,
        Shape::Strided { stride, block, .. } => {
            stride * (position / block) as isize + (position % block) as isize
        }
        Shape::Blocks {
            block,
            displacements,
        } => displacements[position / block] + (position % block) as isize,
        Shape::Runs { runs } => {
            let run = &runs[runs.partition_point(|run| run.packed <= position) - 1];
            run.displacement + (position - run.packed) as isize
        }
        Shape::Loop {
            stride,
            size,
            child,
            ..
        } => stride * (position / size) as isize + displacement(child, position % size),
        Shape::Sequence { parts, .. } => {
            let part = &parts[parts.partition_point(|part| part.packed <= position) - 1];
            part.displacement + displacement(&part.shape, position - part.packed)
        }
    }
}

/// How many of the `total` bytes of a shape whose displacements grow lie before displacement `end`.
fn below(shape: &Shape, total: usize, end: usize) -> usize {
    match shape {
        Shape::Run { size } => end.min(*size),
        Shape::Strided {
            count,
            stride,
            block,
        } => {
            let (index, rest) = divided(*count, *stride, end);
            index * block + rest.min(*block)
        }
        Shape::Blocks {
            block,
            displacements,
        } => {
            let after = displacements.partition_point(|&at| (at as usize) < end);
            match after.checked_sub(1) {
                None => 0,
                Some(last) => last * block + (end - displacements[last] as usize).min(*block),
            }
        }
        Shape::Runs { runs } => {
            let real = &runs[..runs.len() - 1];
            let after = real.partition_point(|run| (run.displacement as usize) < end);
            match after.checked_sub(1) {
                None => 0,
                Some(last) => {
                    let size = runs[last + 1].packed - runs[last].packed;
                    runs[last].packed + (end - runs[last].displacement as usize).min(size)
                }
            }
        }
        Shape::Loop {
            count,
            stride,
            size,
            child,
        } => {
            let (index, rest) = divided(*count, *stride, end);
            index * size + below(child, *size, rest)
        }
        Shape::Sequence { parts, .. } => {
            let after = parts.partition_point(|part| (part.displacement as usize) < end);
            match after.checked_sub(1).map(|last| &parts[last]) {
                None => 0,
                Some(part) => {
                    let rest = end - part.displacement as usize;
                    part.packed + below(&part.shape, part.size, rest)
                }
            }
        }
    }
    .min(total)
}

/// Which of `count` copies, a stride apart, `end` lies in, and how far.
fn divided(count: usize, stride: isize, end: usize) -> (usize, usize) {
    if count == 1 {
        return (0, end);
    }
    let index = (end / stride as usize).min(count - 1);
    (index, end - index * stride as usize)
}

/// Visits the runs of packed bytes `window` of a shape that lies at `at`. Sums wrap: what another process tells may lead beyond the
/// addresses on the way to a byte that lies among them.
fn visit(
    shape: &Shape,
    at: isize,
    window: Range<usize>,
    out: &mut impl FnMut(isize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if window.is_empty() {
        return ControlFlow::Continue(());
    }
    match shape {
        Shape::Run { .. } => return out(at.wrapping_add(window.start as isize), window.len()),
        Shape::Strided { stride, block, .. } => {
            for (index, part) in pieces(window, *block) {
                let step = stride.wrapping_mul(index as isize);
                let start = part.start as isize;
                out(at.wrapping_add(step).wrapping_add(start), part.len())?;
            }
        }
        Shape::Blocks {
            block,
            displacements,
        } => {
            for (index, part) in pieces(window, *block) {
                let start = displacements[index].wrapping_add(part.start as isize);
                out(at.wrapping_add(start), part.len())?;
            }
        }
        Shape::Runs { runs } => {
            for (displacement, bytes) in runs_in(runs, window) {
                out(at.wrapping_add(displacement), bytes)?;
            }
        }
        Shape::Loop {
            stride,
            size,
            child,
            ..
        } => {
            for (index, part) in pieces(window, *size) {
                let step = stride.wrapping_mul(index as isize);
                visit(child, at.wrapping_add(step), part, out)?;
            }
        }
        Shape::Sequence { parts, .. } => {
            for (part, inside) in parts_in(parts, window) {
                let at = at.wrapping_add(part.displacement);
                visit(&part.shape, at, inside, out)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// The pieces of `size` bytes that a window that is not empty touches, and the part of each that is in it.
fn pieces(window: Range<usize>, size: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let (first, last) = (window.start / size, (window.end - 1) / size);
    (first..=last).map(move |index| {
        let start = index * size;
        let part = window.start.max(start) - start..(window.end - start).min(size);
        (index, part)
    })
}
