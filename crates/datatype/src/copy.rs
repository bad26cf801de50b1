//! Pack and unpack: copying between user memory and packed bytes along a shape.
//!
//! A window of the packed bytes may begin and end anywhere, inside a basic type too. Finding its beginning
//! costs one division or binary search per level of the shape; the whole elements in it then are copied by
//! loops over blocks, specialised by the usual block sizes, with no work per byte.

use crate::shape::Shape;
use std::ptr::copy_nonoverlapping;
use weft_transport::Layout;

/// A datatype's pack and unpack, for any number of elements.
#[derive(Debug)]
pub(crate) struct Copier {
    /// Displacement of one element's first byte in type map order.
    origin: isize,
    shape: Shape,
    /// The shape over and over, an extent apart: how long, the caller's windows say.
    repeated: Shape,
}

impl Copier {
    pub fn new(origin: isize, size: usize, extent: isize, shape: Shape) -> Copier {
        let repeated = shape.clone().repeat(size, usize::MAX, extent);
        Copier {
            origin,
            shape,
            repeated,
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
}

/// Which of the two sides of a copy is written.
trait Direction {
    /// # Safety
    /// Both sides are valid for `bytes`, the one for reads and the other for writes, and do not overlap.
    unsafe fn copy(user: *mut u8, packed: *mut u8, bytes: usize);
}

struct Pack;
struct Unpack;

impl Direction for Pack {
    #[inline(always)]
    unsafe fn copy(user: *mut u8, packed: *mut u8, bytes: usize) {
        // SAFETY: by this function's contract.
        unsafe { copy_nonoverlapping(user, packed, bytes) }
    }
}

impl Direction for Unpack {
    #[inline(always)]
    unsafe fn copy(user: *mut u8, packed: *mut u8, bytes: usize) {
        // SAFETY: by this function's contract.
        unsafe { copy_nonoverlapping(packed, user, bytes) }
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
                copy_strided::<D>(at(whole.start), packed, whole.len(), *stride, *block);
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
                for index in whole {
                    copy_whole::<D>(child, at(index), packed);
                    packed = packed.wrapping_add(*size);
                }
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
                copy_strided::<D>(user, packed, *count, *stride, *block);
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
            } => {
                for index in 0..*count {
                    let at = user.wrapping_offset(stride.wrapping_mul(index as isize));
                    copy_whole::<D>(child, at, packed.wrapping_add(index * size));
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

/// Copies `count` whole blocks of `block` bytes that lie `stride` apart.
///
/// # Safety
/// All the blocks, and `packed` for `count * block` bytes, are valid for `D::copy`.
unsafe fn copy_strided<D: Direction>(
    user: *mut u8,
    packed: *mut u8,
    count: usize,
    stride: isize,
    block: usize,
) {
    // SAFETY: by this function's contract; each arm copies the same blocks.
    unsafe {
        match block {
            1 => copy_blocks::<D, 1>(user, packed, count, stride),
            2 => copy_blocks::<D, 2>(user, packed, count, stride),
            4 => copy_blocks::<D, 4>(user, packed, count, stride),
            8 => copy_blocks::<D, 8>(user, packed, count, stride),
            12 => copy_blocks::<D, 12>(user, packed, count, stride),
            16 => copy_blocks::<D, 16>(user, packed, count, stride),
            24 => copy_blocks::<D, 24>(user, packed, count, stride),
            32 => copy_blocks::<D, 32>(user, packed, count, stride),
            64 => copy_blocks::<D, 64>(user, packed, count, stride),
            _ => {
                for index in 0..count {
                    let at = user.wrapping_offset(stride.wrapping_mul(index as isize));
                    D::copy(at, packed.wrapping_add(index * block), block);
                }
            }
        }
    }
}

/// [`copy_strided`] for a block size known to the compiler, which makes moves of the copies.
///
/// # Safety
/// As [`copy_strided`].
unsafe fn copy_blocks<D: Direction, const BLOCK: usize>(
    mut user: *mut u8,
    mut packed: *mut u8,
    count: usize,
    stride: isize,
) {
    for _ in 0..count {
        // SAFETY: by this function's contract.
        unsafe { D::copy(user, packed, BLOCK) };
        user = user.wrapping_offset(stride);
        packed = packed.wrapping_add(BLOCK);
    }
}

/// Copies a block of `block` bytes at each of the displacements.
///
/// # Safety
/// All the blocks, and `packed` for their total size, are valid for `D::copy`.
unsafe fn copy_scattered<D: Direction>(
    user: *mut u8,
    packed: *mut u8,
    displacements: &[isize],
    block: usize,
) {
    // SAFETY: by this function's contract; each arm copies the same blocks.
    unsafe {
        match block {
            4 => copy_listed::<D, 4>(user, packed, displacements),
            8 => copy_listed::<D, 8>(user, packed, displacements),
            16 => copy_listed::<D, 16>(user, packed, displacements),
            24 => copy_listed::<D, 24>(user, packed, displacements),
            32 => copy_listed::<D, 32>(user, packed, displacements),
            _ => {
                for (index, &displacement) in displacements.iter().enumerate() {
                    let at = user.wrapping_offset(displacement);
                    D::copy(at, packed.wrapping_add(index * block), block);
                }
            }
        }
    }
}

/// [`copy_scattered`] for a block size known to the compiler.
///
/// # Safety
/// As [`copy_scattered`].
unsafe fn copy_listed<D: Direction, const BLOCK: usize>(
    user: *mut u8,
    mut packed: *mut u8,
    displacements: &[isize],
) {
    for &displacement in displacements {
        // SAFETY: by this function's contract.
        unsafe { D::copy(user.wrapping_offset(displacement), packed, BLOCK) };
        packed = packed.wrapping_add(BLOCK);
    }
}

/// Copies a run; the sizes of single numbers by moves instead of a call.
///
/// # Safety
/// Both sides are valid for `D::copy` of `size` bytes.
#[inline(always)]
unsafe fn copy_run<D: Direction>(user: *mut u8, packed: *mut u8, size: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        match size {
            1 => D::copy(user, packed, 1),
            2 => D::copy(user, packed, 2),
            4 => D::copy(user, packed, 4),
            8 => D::copy(user, packed, 8),
            12 => D::copy(user, packed, 12),
            16 => D::copy(user, packed, 16),
            24 => D::copy(user, packed, 24),
            32 => D::copy(user, packed, 32),
            _ => D::copy(user, packed, size),
        }
    }
}
