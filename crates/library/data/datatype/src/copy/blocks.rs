//! The innermost loops of packing and unpacking: runs, and blocks of one size.
//!
//! The usual block sizes are known to the compiler, which makes moves of the copies.

use std::ptr::copy_nonoverlapping;

/// Which of the two sides of a copy is written.
pub(super) trait Direction {
    /// What is read, and what is written.
    fn sides(user: *mut u8, packed: *mut u8) -> (*const u8, *mut u8);

    /// Copies a block whose length the compiler knows.
    ///
    /// # Safety
    /// Both sides are valid for `bytes`, the one for reads and the other for writes, and do not overlap.
    #[inline(always)]
    unsafe fn copy(user: *mut u8, packed: *mut u8, bytes: usize) {
        let (from, to) = Self::sides(user, packed);
        // SAFETY: by this function's contract.
        unsafe { copy_nonoverlapping(from, to, bytes) }
    }

    /// Copies bytes of any length.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    #[inline(always)]
    unsafe fn copy_any(user: *mut u8, packed: *mut u8, bytes: usize) {
        let (from, to) = Self::sides(user, packed);
        // SAFETY: by this function's contract.
        unsafe { weft_memory::copy(from, to, bytes) }
    }
}

pub(super) struct Pack;
pub(super) struct Unpack;

impl Direction for Pack {
    #[inline(always)]
    fn sides(user: *mut u8, packed: *mut u8) -> (*const u8, *mut u8) {
        (user, packed)
    }
}

impl Direction for Unpack {
    #[inline(always)]
    fn sides(user: *mut u8, packed: *mut u8) -> (*const u8, *mut u8) {
        (packed, user)
    }
}

/// Calls a function with the block size as its last generic argument, for the usual sizes.
macro_rules! by_block {
    ($block:expr, $function:ident::<$direction:ident>($($argument:expr),*), else $other:expr) => {
        match $block {
            1 => $function::<$direction, 1>($($argument),*),
            2 => $function::<$direction, 2>($($argument),*),
            4 => $function::<$direction, 4>($($argument),*),
            8 => $function::<$direction, 8>($($argument),*),
            12 => $function::<$direction, 12>($($argument),*),
            16 => $function::<$direction, 16>($($argument),*),
            24 => $function::<$direction, 24>($($argument),*),
            32 => $function::<$direction, 32>($($argument),*),
            64 => $function::<$direction, 64>($($argument),*),
            _ => $other,
        }
    };
}

/// Copies `count` blocks of `block` bytes that lie `stride` apart.
///
/// # Safety
/// All the blocks, and `packed` for `count * block` bytes, are valid for `D::copy`.
pub(super) unsafe fn copy_blocks<D: Direction>(
    user: *mut u8,
    packed: *mut u8,
    count: usize,
    stride: isize,
    block: usize,
) {
    // SAFETY: by this function's contract.
    unsafe {
        by_block!(block, strided::<D>(user, packed, count, stride), else {
            for index in 0..count {
                let at = user.wrapping_offset(stride.wrapping_mul(index as isize));
                copy_run::<D>(at, packed.wrapping_add(index * block), block);
            }
        })
    }
}

/// Blocks whose moves are written out one after the other: more would not run faster.
const UNROLLED: usize = 8;

/// # Safety
/// As [`copy_blocks`].
unsafe fn strided<D: Direction, const BLOCK: usize>(
    mut user: *mut u8,
    mut packed: *mut u8,
    count: usize,
    stride: isize,
) {
    for _ in 0..count / UNROLLED {
        for index in 0..UNROLLED {
            let at = user.wrapping_offset(stride.wrapping_mul(index as isize));
            // SAFETY: by this function's contract.
            unsafe { D::copy(at, packed.wrapping_add(index * BLOCK), BLOCK) };
        }
        user = user.wrapping_offset(stride.wrapping_mul(UNROLLED as isize));
        packed = packed.wrapping_add(UNROLLED * BLOCK);
    }
    for _ in 0..count % UNROLLED {
        // SAFETY: by this function's contract.
        unsafe { D::copy(user, packed, BLOCK) };
        user = user.wrapping_offset(stride);
        packed = packed.wrapping_add(BLOCK);
    }
}

/// Copies `count` blocks of `block` bytes that lie `stride` apart in user memory and `packed_stride` apart in packed
/// data.
///
/// # Safety
/// All the blocks on both sides are valid for `D::copy`.
pub(super) unsafe fn copy_grid<D: Direction>(
    user: *mut u8,
    stride: isize,
    packed: *mut u8,
    packed_stride: usize,
    count: usize,
    block: usize,
) {
    // SAFETY: by this function's contract.
    unsafe {
        by_block!(block, grid::<D>(user, stride, packed, packed_stride, count), else {
            for index in 0..count {
                let at = user.wrapping_offset(stride.wrapping_mul(index as isize));
                copy_run::<D>(at, packed.wrapping_add(index * packed_stride), block);
            }
        })
    }
}

/// # Safety
/// As [`copy_grid`].
unsafe fn grid<D: Direction, const BLOCK: usize>(
    mut user: *mut u8,
    stride: isize,
    mut packed: *mut u8,
    packed_stride: usize,
    count: usize,
) {
    for _ in 0..count {
        // SAFETY: by this function's contract.
        unsafe { D::copy(user, packed, BLOCK) };
        user = user.wrapping_offset(stride);
        packed = packed.wrapping_add(packed_stride);
    }
}

/// Copies a block of `block` bytes at each of the displacements.
///
/// # Safety
/// All the blocks, and `packed` for their total size, are valid for `D::copy`.
pub(super) unsafe fn copy_scattered<D: Direction>(
    user: *mut u8,
    packed: *mut u8,
    displacements: &[isize],
    block: usize,
) {
    // SAFETY: by this function's contract.
    unsafe {
        by_block!(block, scattered::<D>(user, packed, displacements), else {
            for (index, &displacement) in displacements.iter().enumerate() {
                let at = user.wrapping_offset(displacement);
                copy_run::<D>(at, packed.wrapping_add(index * block), block);
            }
        })
    }
}

/// # Safety
/// As [`copy_scattered`].
unsafe fn scattered<D: Direction, const BLOCK: usize>(
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

/// Copies a run; a short one by two moves that may overlap instead of a call.
///
/// # Safety
/// Both sides are valid for `D::copy` of `size` bytes.
#[inline(always)]
pub(super) unsafe fn copy_run<D: Direction>(user: *mut u8, packed: *mut u8, size: usize) {
    let ends = |part: usize| {
        let last = size - part;
        (user.wrapping_add(last), packed.wrapping_add(last))
    };
    // SAFETY: by this function's contract: the first and the last bytes of the run, which together are all of it.
    unsafe {
        match size {
            0 => {}
            1 => D::copy(user, packed, 1),
            2..=3 => both::<D, 2>(user, packed, ends(2)),
            4..=7 => both::<D, 4>(user, packed, ends(4)),
            8..=15 => both::<D, 8>(user, packed, ends(8)),
            16..=32 => both::<D, 16>(user, packed, ends(16)),
            _ => D::copy_any(user, packed, size),
        }
    }
}

/// Copies two parts of `PART` bytes.
///
/// # Safety
/// Both parts are valid for `D::copy` on both sides.
#[inline(always)]
unsafe fn both<D: Direction, const PART: usize>(
    user: *mut u8,
    packed: *mut u8,
    last: (*mut u8, *mut u8),
) {
    // SAFETY: by this function's contract.
    unsafe {
        D::copy(user, packed, PART);
        D::copy(last.0, last.1, PART);
    }
}
