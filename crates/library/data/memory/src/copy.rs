//! Copying bytes.

use weft_reserve::NoMemory;

/// From about this length on glibc copies by `rep movsb` (2.36 does; its bug 30994); shorter copies are made by vectors.
const LONG_BYTES: usize = 2 << 10;
/// Where that instruction is slow, long copies are made in pieces of so many bytes.
const PIECE: usize = LONG_BYTES - 64;
/// The instruction compares where source and target lie within pages of so many bytes.
const PAGE: usize = 4 << 10;
/// On AMD's Zen 3 and Zen 4 it takes 340 ps a byte, thirty times as long as otherwise, where the target lies further behind the start of its page than the source
/// does, by less than so many bytes. Rings begin with a page, and long memory of malloc(3) begins 16 bytes behind one.
const NEXT_BYTES: usize = 32;

/// Copies bytes, between places that may overlap; one word, which is commonest, without a call.
///
/// # Safety
/// As for [`std::ptr::copy`].
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        match bytes {
            8 => to
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            _ => copy_other(to, from, bytes),
        }
    }
}

/// The arguments have the order of memmove(3)'s, so that the call of that is a jump.
///
/// # Safety
/// As for [`std::ptr::copy`].
#[inline(never)]
unsafe fn copy_other(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        match bytes >= LONG_BYTES && is_slow(from, to, bytes) {
            true => copy_by_pieces(to, from, bytes),
            false => std::ptr::copy(from, to, bytes),
        }
    }
}

/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`].
#[cold]
#[inline(never)]
unsafe fn copy_by_pieces(to: *mut u8, from: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(PIECE) {
        // SAFETY: the piece lies in what the caller has promised, and does not overlap with any of the source.
        unsafe { std::ptr::copy_nonoverlapping(from.add(at), to.add(at), PIECE.min(bytes - at)) };
    }
}

/// The bytes, in memory of their own.
pub fn boxed(bytes: &[u8]) -> Result<Box<[u8]>, NoMemory> {
    let mut all = weft_reserve::with_capacity(bytes.len())?;
    // SAFETY: `all` has room for as many, which are initialised then.
    unsafe {
        copy(bytes.as_ptr(), all.as_mut_ptr(), bytes.len());
        all.set_len(bytes.len());
    }
    Ok(all.into_boxed_slice())
}

/// Whether a long copy is better made in pieces, which cost nothing; not where the places overlap.
#[inline(always)]
fn is_slow(from: *const u8, to: *const u8, bytes: usize) -> bool {
    let (from, to) = (from.addr(), to.addr());
    let ahead = to.wrapping_sub(from) % PAGE;
    (1..NEXT_BYTES).contains(&ahead) && from.abs_diff(to) >= bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 6 * PAGE;

    fn content() -> Vec<u8> {
        (0..ROOM).map(|at| (at * 31 + at / 251) as u8).collect()
    }

    fn copied(from: usize, to: usize, bytes: usize) -> [Vec<u8>; 2] {
        let [mut all, mut expected] = [content(), content()];
        expected.copy_within(from..from + bytes, to);
        let base = all.as_mut_ptr();
        // SAFETY: both places lie in `all`, which nothing else uses meanwhile.
        unsafe { copy(base.add(from), base.add(to), bytes) };
        [all, expected]
    }

    #[test]
    fn what_is_copied_is_what_was_there() {
        let lengths = [
            0,
            1,
            8,
            2047,
            2048,
            2049,
            4000,
            PAGE,
            PAGE + 1,
            2 * PAGE - 33,
        ];
        for from in [0, 1, 16, 63] {
            for ahead in [0, 1, 16, 31, 32, 4095] {
                for bytes in lengths {
                    for to in [from + ahead, from + 2 * PAGE + ahead] {
                        let [found, expected] = copied(from, to, bytes);
                        assert!(found == expected, "{bytes} bytes from {from} to {to}");
                        let [found, expected] = copied(to, from, bytes);
                        assert!(found == expected, "{bytes} bytes from {to} to {from}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_boxed_is_what_was_there() {
        for bytes in [0, 1, 8, 100, PAGE, ROOM] {
            assert!(*boxed(&content()[..bytes]).unwrap() == content()[..bytes]);
        }
    }

    #[test]
    fn a_copy_to_a_little_further_behind_a_page_is_made_in_pieces() {
        let place = |at: usize| std::ptr::without_provenance::<u8>(64 * PAGE + at);
        for (from, to, slow) in [
            (0, 16 * PAGE + 1, true),
            (0, 16 * PAGE + 31, true),
            (16 * PAGE, 16, true),
            (PAGE - 8, 16 * PAGE + 8, true),
            (0, 16 * PAGE, false),
            (16, 16 * PAGE, false),
            (0, 16 * PAGE + 32, false),
            // They overlap.
            (0, 16, false),
            (16 * PAGE, 2 * PAGE + 16, true),
            (2 * PAGE, PAGE + 16, false),
        ] {
            assert_eq!(
                is_slow(place(from), place(to), 2 * PAGE),
                slow,
                "{from} {to}"
            );
        }
    }
}
