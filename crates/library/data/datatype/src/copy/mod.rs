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

use crate::shape::{Shape, parts_in, runs_in};
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

/// Some of the equal pieces that a window of packed bytes covers.
enum Piece {
    /// A part of the piece of this number.
    Part(usize, Range<usize>),
    /// All of the pieces of these numbers, of which there may be none.
    Whole(Range<usize>),
}

/// Gives `copy` the pieces of `size` packed bytes that a window covers, in order, and where their packed bytes are: a cut one, whole
/// ones, a cut one.
#[inline(always)]
fn copy_pieces(window: Range<usize>, size: usize, packed: *mut u8, copy: impl Fn(Piece, *mut u8)) {
    let (mut first, begin) = (window.start / size, window.start % size);
    let (last, end) = (window.end / size, window.end % size);
    if first == last {
        return copy(Piece::Part(first, begin..end), packed);
    }
    let mut packed = packed;
    if begin > 0 {
        copy(Piece::Part(first, begin..size), packed);
        packed = packed.wrapping_add(size - begin);
        first += 1;
    }
    copy(Piece::Whole(first..last), packed);
    if end > 0 {
        let packed = packed.wrapping_add((last - first) * size);
        copy(Piece::Part(last, 0..end), packed);
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
    packed: *mut u8,
    window: Range<usize>,
) {
    if window.is_empty() {
        return;
    }
    // SAFETY of all arms: the parts of the window that they copy partition it, and what they copy of each lies where they say.
    match shape {
        Shape::Run { .. } => {
            // SAFETY: a run's packed bytes lie at the same displacements; by this function's contract.
            unsafe { D::copy_any(user.wrapping_add(window.start), packed, window.len()) }
        }
        Shape::Strided { stride, block, .. } => {
            let at = |index: usize| user.wrapping_offset(stride.wrapping_mul(index as isize));
            copy_pieces(window, *block, packed, |piece, packed| match piece {
                // SAFETY: block `index` lies at `at(index)`.
                Piece::Part(index, part) => unsafe {
                    D::copy_any(at(index).wrapping_add(part.start), packed, part.len());
                },
                // SAFETY: as above.
                Piece::Whole(range) => unsafe {
                    copy_blocks::<D>(at(range.start), packed, range.len(), *stride, *block);
                },
            });
        }
        Shape::Blocks {
            block,
            displacements,
        } => copy_pieces(window, *block, packed, |piece, packed| match piece {
            // SAFETY: block `index` lies at its displacement.
            Piece::Part(index, part) => unsafe {
                let at = user.wrapping_offset(displacements[index]);
                D::copy_any(at.wrapping_add(part.start), packed, part.len());
            },
            // SAFETY: as above.
            Piece::Whole(range) => unsafe {
                copy_scattered::<D>(user, packed, &displacements[range], *block);
            },
        }),
        Shape::Runs { runs } => {
            let mut packed = packed;
            for (at, bytes) in runs_in(runs, window) {
                // SAFETY: each run lies at its displacement.
                unsafe { copy_run::<D>(user.wrapping_offset(at), packed, bytes) };
                packed = packed.wrapping_add(bytes);
            }
        }
        Shape::Loop {
            stride,
            size,
            child,
            ..
        } => {
            let at = |index: usize| user.wrapping_offset(stride.wrapping_mul(index as isize));
            copy_pieces(window, *size, packed, |piece, packed| match piece {
                // SAFETY: copy `index` of the child lies at `at(index)`.
                Piece::Part(index, part) => unsafe {
                    copy_window::<D>(child, at(index), packed, part);
                },
                // SAFETY: as above.
                Piece::Whole(range) => unsafe {
                    copy_loop::<D>(child, at(range.start), packed, range.len(), *stride, *size);
                },
            });
        }
        Shape::Sequence { parts, .. } => {
            let mut packed = packed;
            for (part, inside) in parts_in(parts, window) {
                let at = user.wrapping_offset(part.displacement);
                let bytes = inside.len();
                // SAFETY: each part lies at its displacement.
                unsafe { copy_window::<D>(&part.shape, at, packed, inside) };
                packed = packed.wrapping_add(bytes);
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
