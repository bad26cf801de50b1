//! Pack and unpack: copying between user memory and packed bytes along a shape.
//!
//! A window of the packed bytes may begin and end anywhere, inside a basic type too. Finding its beginning
//! costs one division or binary search per level of the shape; the whole elements in it then are copied by
//! loops over blocks, specialised by the usual block sizes, with no work per byte.

mod blocks;
mod runs;
mod section;

use std::ops::Range;

pub(crate) use section::InSection;
pub use section::{Dimension, Section};

use crate::shape::Shape;
use blocks::{Direction, Pack, Unpack, copy_blocks, copy_grid, copy_run, copy_scattered};
use weft_memory::Layout;

/// A loop whose body has up to so many runs is done run by run: all iterations of the first one, then all of the next.
const FEW: usize = 16;
/// So many iterations at a time, so that what they touch stays in the cache.
const BATCH: usize = 64;

/// A datatype's pack and unpack, for any number of elements.
#[derive(Debug)]
pub(crate) struct Copier {
    /// Displacement of one element's first byte in type map order.
    origin: isize,
    shape: Shape,
    /// The shape over and over, an extent apart: how long, the caller's windows say.
    repeated: Shape,
    /// Of the shape's runs, on average.
    run_bytes: usize,
}

impl Copier {
    pub fn new(origin: isize, size: usize, extent: isize, shape: Shape) -> Copier {
        let run_bytes = size / shape.count_runs().max(1);
        let repeated = shape.clone().repeat(size, usize::MAX, extent);
        Copier {
            origin,
            shape,
            repeated,
            run_bytes,
        }
    }

    pub fn origin(&self) -> isize {
        self.origin
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

// SAFETY: `window` touches the bytes of the shape at `base + origin` that belong to the packed bytes asked
// for, and those are the type map's.
unsafe impl Layout for Copier {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        let user = base.cast_mut().wrapping_offset(self.origin);
        let window = offset..offset + out.len();
        // SAFETY: `base` is valid for reads by the caller's contract, `Pack` only reads through it, and
        // `out` holds as many bytes as the window.
        unsafe { copy_window::<Pack>(&self.repeated, user, out.as_mut_ptr(), window) }
    }

    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        let user = base.wrapping_offset(self.origin);
        let window = offset..offset + data.len();
        // SAFETY: `base` is valid for writes by the caller's contract, `Unpack` only reads through `data`,
        // which holds as many bytes as the window.
        unsafe { copy_window::<Unpack>(&self.repeated, user, data.as_ptr().cast_mut(), window) }
    }

    fn run_bytes(&self) -> usize {
        self.run_bytes
    }

    fn runs(&self, window: Range<usize>, visit: &mut dyn FnMut(isize, usize) -> bool) -> bool {
        match &self.repeated {
            // Elements that touch are one run.
            Shape::Strided { stride, block, .. } if *stride == *block as isize => {
                let at = self.origin.wrapping_add(window.start as isize);
                window.is_empty() || visit(at, window.len())
            }
            repeated => runs::visit_window(repeated, self.origin, window, visit),
        }
    }
}

/// A window over equal pieces of `size` packed bytes: a cut piece, whole ones, a cut piece.
struct Split {
    /// The piece the window begins in, and the part of it that is in the window if that is not all of it.
    head: Option<(usize, std::ops::Range<usize>)>,
    whole: std::ops::Range<usize>,
    tail: Option<(usize, std::ops::Range<usize>)>,
}

impl Split {
    fn new(window: std::ops::Range<usize>, size: usize) -> Split {
        let (first, begin) = (window.start / size, window.start % size);
        let (last, end) = (window.end / size, window.end % size);
        if begin == 0 {
            let tail = (end > 0).then_some((last, 0..end));
            return Split {
                head: None,
                whole: first..last,
                tail,
            };
        }
        if first == last {
            return Split {
                head: Some((first, begin..end)),
                whole: 0..0,
                tail: None,
            };
        }
        let tail = (end > 0).then_some((last, 0..end));
        Split {
            head: Some((first, begin..size)),
            whole: first + 1..last,
            tail,
        }
    }
}

/// Copies the packed bytes `window` of `shape`, which lies at `user`; `packed` is where the window's first
/// byte is.
///
/// # Safety
/// The shape's bytes at `user` that the window covers, and `packed` for the window's length, are valid for
/// `D::copy`.
unsafe fn copy_window<D: Direction>(
    shape: &Shape,
    user: *mut u8,
    mut packed: *mut u8,
    window: std::ops::Range<usize>,
) {
    if window.is_empty() {
        return;
    }
    match shape {
        Shape::Run { .. } => {
            // SAFETY: a run's packed bytes lie at the same displacements; by this function's contract.
            unsafe { D::copy(user.wrapping_add(window.start), packed, window.len()) }
        }
        Shape::Strided { stride, block, .. } => {
            let at = |index: usize| user.wrapping_offset(stride.wrapping_mul(index as isize));
            let Split { head, whole, tail } = Split::new(window, *block);
            // SAFETY: the three ranges partition the window, and block `index` lies at `at(index)`.
            unsafe {
                if let Some((index, part)) = head {
                    D::copy(at(index).wrapping_add(part.start), packed, part.len());
                    packed = packed.wrapping_add(part.len());
                }
                copy_blocks::<D>(at(whole.start), packed, whole.len(), *stride, *block);
                packed = packed.wrapping_add(whole.len() * block);
                if let Some((index, part)) = tail {
                    D::copy(at(index), packed, part.len());
                }
            }
        }
        Shape::Blocks {
            block,
            displacements,
        } => {
            let at = |index: usize| user.wrapping_offset(displacements[index]);
            let Split { head, whole, tail } = Split::new(window, *block);
            // SAFETY: the three ranges partition the window, and block `index` lies at `at(index)`.
            unsafe {
                if let Some((index, part)) = head {
                    D::copy(at(index).wrapping_add(part.start), packed, part.len());
                    packed = packed.wrapping_add(part.len());
                }
                copy_scattered::<D>(user, packed, &displacements[whole.clone()], *block);
                packed = packed.wrapping_add(whole.len() * block);
                if let Some((index, part)) = tail {
                    D::copy(at(index), packed, part.len());
                }
            }
        }
        Shape::Runs { runs } => {
            let first = runs.partition_point(|run| run.packed <= window.start) - 1;
            for pair in runs[first..].windows(2) {
                if pair[0].packed >= window.end {
                    break;
                }
                let start = window.start.max(pair[0].packed);
                let part = window.end.min(pair[1].packed) - start;
                let at = user.wrapping_offset(pair[0].displacement);
                // SAFETY: the runs partition the packed bytes, and each lies at its displacement.
                unsafe { copy_run::<D>(at.wrapping_add(start - pair[0].packed), packed, part) };
                packed = packed.wrapping_add(part);
            }
        }
        Shape::Loop {
            stride,
            size,
            child,
            ..
        } => {
            let at = |index: usize| user.wrapping_offset(stride.wrapping_mul(index as isize));
            let Split { head, whole, tail } = Split::new(window, *size);
            // SAFETY: the three ranges partition the window, and copy `index` of the child lies at
            // `at(index)`.
            unsafe {
                if let Some((index, part)) = head {
                    let bytes = part.len();
                    copy_window::<D>(child, at(index), packed, part);
                    packed = packed.wrapping_add(bytes);
                }
                copy_loop::<D>(child, at(whole.start), packed, whole.len(), *stride, *size);
                packed = packed.wrapping_add(whole.len() * size);
                if let Some((index, part)) = tail {
                    copy_window::<D>(child, at(index), packed, part);
                }
            }
        }
        Shape::Sequence { parts, .. } => {
            let first = parts.partition_point(|part| part.packed + part.size <= window.start);
            for part in &parts[first..] {
                if part.packed >= window.end {
                    break;
                }
                let start = window.start.max(part.packed) - part.packed;
                let end = window.end.min(part.packed + part.size) - part.packed;
                // SAFETY: the parts partition the packed bytes, and each lies at its displacement.
                unsafe {
                    copy_window::<D>(
                        &part.shape,
                        user.wrapping_offset(part.displacement),
                        packed,
                        start..end,
                    );
                }
                packed = packed.wrapping_add(end - start);
            }
        }
    }
}

/// Copies all of `shape`.
///
/// # Safety
/// The shape's bytes at `user`, and `packed` for its size, are valid for `D::copy`.
unsafe fn copy_whole<D: Direction>(shape: &Shape, user: *mut u8, packed: *mut u8) {
    // SAFETY: each arm covers exactly the shape's bytes; by this function's contract.
    unsafe {
        match shape {
            Shape::Run { size } => copy_run::<D>(user, packed, *size),
            Shape::Strided {
                count,
                stride,
                block,
            } => {
                copy_blocks::<D>(user, packed, *count, *stride, *block);
            }
            Shape::Blocks {
                block,
                displacements,
            } => copy_scattered::<D>(user, packed, displacements, *block),
            Shape::Loop {
                count,
                stride,
                size,
                child,
            } => copy_loop::<D>(child, user, packed, *count, *stride, *size),
            Shape::Runs { runs } => {
                for pair in runs.windows(2) {
                    let at = user.wrapping_offset(pair[0].displacement);
                    let size = pair[1].packed - pair[0].packed;
                    copy_run::<D>(at, packed.wrapping_add(pair[0].packed), size);
                }
            }
            Shape::Sequence { parts, .. } => {
                for part in parts.iter() {
                    let at = user.wrapping_offset(part.displacement);
                    copy_whole::<D>(&part.shape, at, packed.wrapping_add(part.packed));
                }
            }
        }
    }
}

/// Copies `count` copies of `child` of `size` packed bytes that lie `stride` apart.
///
/// # Safety
/// All the copies' bytes, and `packed` for `count * size` bytes, are valid for `D::copy`.
unsafe fn copy_loop<D: Direction>(
    child: &Shape,
    user: *mut u8,
    packed: *mut u8,
    count: usize,
    stride: isize,
    size: usize,
) {
    let few = match child {
        Shape::Runs { runs } => runs.len() - 1 <= FEW,
        Shape::Strided { count, .. } => *count <= FEW,
        Shape::Blocks { displacements, .. } => displacements.len() <= FEW,
        Shape::Run { .. } | Shape::Loop { .. } | Shape::Sequence { .. } => false,
    };
    let step = if few { BATCH } else { 1 };
    for first in (0..count).step_by(step) {
        let at = user.wrapping_offset(stride.wrapping_mul(first as isize));
        let packed = packed.wrapping_add(first * size);
        let iterations = step.min(count - first);
        // SAFETY: `iterations` copies from `first` on; by this function's contract.
        unsafe {
            match few {
                true => copy_batch::<D>(child, at, packed, iterations, stride, size),
                false => copy_whole::<D>(child, at, packed),
            }
        }
    }
}

/// [`copy_loop`], run by run, for a child with few runs.
///
/// # Safety
/// As [`copy_loop`].
unsafe fn copy_batch<D: Direction>(
    child: &Shape,
    user: *mut u8,
    packed: *mut u8,
    count: usize,
    stride: isize,
    size: usize,
) {
    // SAFETY: a run of the child at `displacement` and `offset` lies there in each of the copies, which are a stride
    // and a child's packed size apart; by this function's contract.
    let run = |displacement: isize, offset: usize, block: usize| unsafe {
        let user = user.wrapping_offset(displacement);
        copy_grid::<D>(
            user,
            stride,
            packed.wrapping_add(offset),
            size,
            count,
            block,
        );
    };
    match child {
        Shape::Runs { runs } => {
            for pair in runs.windows(2) {
                run(
                    pair[0].displacement,
                    pair[0].packed,
                    pair[1].packed - pair[0].packed,
                );
            }
        }
        Shape::Strided {
            count,
            stride,
            block,
        } => {
            for index in 0..*count {
                run(stride.wrapping_mul(index as isize), index * block, *block);
            }
        }
        Shape::Blocks {
            block,
            displacements,
        } => {
            for (index, &displacement) in displacements.iter().enumerate() {
                run(displacement, index * block, *block);
            }
        }
        Shape::Run { .. } | Shape::Loop { .. } | Shape::Sequence { .. } => {
            unreachable!("copy_loop looked")
        }
    }
}
