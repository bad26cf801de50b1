//! The locks under which elements of mapped memory are updated.
//!
//! A part is cut into stripes of [`BYTES`] by offset, and each stripe has one of [`COUNT`] locks in the control area of the
//! process whose part it is. All updates of an element (accumulate, get-accumulate, fetch-and-op, compare-and-swap, of one
//! element or of many, of whatever type and operation) are made under the lock of the stripe in which its first byte lies, so
//! that they exclude one another (MPI-5.0 §12.7.1); long ones go stripe by stripe, as atomicity is by element. Elements of one
//! type that begin at different bytes do not concern each other, and elements of unlike types may not be updated concurrently.
//! Pairs with holes alone have another lock; see `update`.
//! A lock whose holder has died is taken over: what the dead process left half done is its own data.

use weft_sync::RobustSpinLock;

/// Longer: an update of many elements takes fewer locks. Shorter: updates of unlike elements meet less often.
pub const BYTES: usize = 512;
pub const COUNT: usize = 128;

#[derive(Default)]
#[repr(C, align(64))]
struct Line(RobustSpinLock);

/// The locks of one part; all zeros are free ones.
#[repr(C)]
pub struct Stripes([Line; COUNT]);

impl Default for Stripes {
    fn default() -> Stripes {
        Stripes(std::array::from_fn(|_| Line::default()))
    }
}

impl Stripes {
    /// The lock of the element that begins at an offset of the part.
    #[inline(always)]
    pub fn lock(&self, offset: u64) -> &RobustSpinLock {
        &self.0[(offset / BYTES as u64) as usize % COUNT].0
    }
}

/// How many elements of `1 << log_size` bytes, the first of which begins at `offset`, begin in the same stripe.
#[inline(always)]
pub fn elements_in_stripe(offset: u64, log_size: u32) -> usize {
    let begins_after = BYTES - 1 - offset as usize % BYTES;
    (begins_after >> log_size) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a look at each byte.
    #[test]
    fn elements_belong_to_the_stripe_of_their_first_byte() {
        for log_size in 0..6 {
            let size = 1u64 << log_size;
            for offset in 0..2 * BYTES as u64 + 7 {
                let stripe = |offset| offset / BYTES as u64;
                let begins = |index| offset + index * size;
                let wanted = (0..).take_while(|&index| stripe(begins(index)) == stripe(offset));
                assert_eq!(
                    elements_in_stripe(offset, log_size),
                    wanted.count(),
                    "{size} at {offset}"
                );
            }
        }
    }
}
