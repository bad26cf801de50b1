//! The locks under which elements of mapped memory are updated.
//!
//! A part is cut into pieces of [`PIECE`] bytes by offset, and the pieces of a block of [`BLOCK`] bytes have [`IN_BLOCK`] locks
//! in turn, in the control area of the process whose part it is. All updates of an element (accumulate, get-accumulate,
//! fetch-and-op, compare-and-swap, of one element or of many, of whatever type and operation) are made under the lock of the piece
//! in which its first byte lies, so that they exclude one another (MPI-5.0 §12.7.1). A long update goes block by block, as
//! atomicity is by element, and takes the locks of a block's pieces in the order in which they stand, so that two never wait
//! for each other. It takes few locks in this way, while short updates of neighbouring pieces take unlike ones.
//! Elements of one type that begin at different bytes do not concern each other, and elements of unlike types may not be updated
//! concurrently. Pairs with holes alone have another lock; see `update`.
//! A lock whose holder has died is taken over: what the dead process left half done is its own data.

use weft_sync::RobustSpinLock;

const PIECE: u64 = 512;
const BLOCK: u64 = 32 << 10;
/// As many as a byte has bits.
const IN_BLOCK: usize = 8;
const BLOCKS: usize = 16;

#[derive(Default)]
#[repr(C, align(64))]
struct Line(RobustSpinLock);

/// The locks of one part; all zeros are free ones.
#[repr(C)]
pub struct Stripes([Line; IN_BLOCK * BLOCKS]);

impl Default for Stripes {
    fn default() -> Stripes {
        Stripes(std::array::from_fn(|_| Line::default()))
    }
}

impl Stripes {
    /// The lock of the element that begins at an offset of the part.
    #[inline(always)]
    pub fn lock(&self, offset: u64) -> &RobustSpinLock {
        let block = (offset / BLOCK) as usize % BLOCKS;
        &self.0[block * IN_BLOCK + piece(offset) % IN_BLOCK].0
    }

    /// The one lock of elements that all begin in one piece.
    #[inline(always)]
    pub fn only_lock(&self, elements: Elements) -> Option<&RobustSpinLock> {
        let last = elements.last()?;
        (piece(elements.offset) == piece(last)).then(|| self.lock(elements.offset))
    }

    /// Calls `act` while the locks of some elements of one block are held; `take` takes one.
    #[inline]
    pub fn with_locks(
        &self,
        elements: Elements,
        take: impl Fn(&RobustSpinLock),
        act: impl FnOnce(),
    ) {
        let first = (elements.offset / BLOCK) as usize % BLOCKS * IN_BLOCK;
        let set = elements.locks();
        let each = |act: &dyn Fn(&RobustSpinLock)| {
            let mut left = set;
            while left != 0 {
                act(&self.0[first + left.trailing_zeros() as usize].0);
                left &= left - 1;
            }
        };
        each(&take);
        act();
        each(&RobustSpinLock::release);
    }
}

/// Which piece of the part an offset lies in.
#[inline(always)]
fn piece(offset: u64) -> usize {
    (offset / PIECE) as usize
}

/// Elements of `1 << log_size` bytes, one after the other, the first at an offset of the part.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    pub offset: u64,
    pub count: usize,
    pub log_size: u32,
}

impl Elements {
    /// Those that begin in the first one's block.
    #[inline]
    pub fn in_block(self) -> Elements {
        let bytes = BLOCK - self.offset % BLOCK;
        let begin = ((bytes - 1) >> self.log_size) as usize + 1;
        let count = self.count.min(begin);
        Elements { count, ..self }
    }

    /// Where the last one begins, if there is any.
    #[inline(always)]
    fn last(&self) -> Option<u64> {
        let others = self.count.checked_sub(1)?;
        Some(self.offset + ((others as u64) << self.log_size))
    }

    /// The locks of elements of one block, a bit each.
    #[inline]
    fn locks(&self) -> u8 {
        let Some(last) = self.last() else {
            return 0;
        };
        let (first, last) = (piece(self.offset), piece(last));
        match last - first + 1 {
            pieces @ ..IN_BLOCK => ((1u8 << pieces) - 1).rotate_left((first % IN_BLOCK) as u32),
            _ => u8::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Every element comes once, while its lock is held; locks are taken in order and none is left.
    #[test]
    fn elements_come_once_under_their_lock() {
        let stripes = Stripes::default();
        for log_size in 0..6 {
            for offset in [
                0,
                1,
                500,
                511,
                512,
                4095,
                BLOCK - 513,
                BLOCK - 5,
                3 * BLOCK + 9,
            ] {
                for count in [0, 1, 2, 15, 130, 700, 5000, 40_000] {
                    let mut elements = Elements {
                        offset,
                        count,
                        log_size,
                    };
                    while elements.count > 0 {
                        let block = elements.in_block();
                        check_block(&stripes, block);
                        assert!(block.count > 0);
                        elements.offset += (block.count as u64) << log_size;
                        elements.count -= block.count;
                    }
                    assert_eq!(elements.offset, offset + ((count as u64) << log_size));
                }
            }
        }
    }

    fn check_block(stripes: &Stripes, block: Elements) {
        let taken = RefCell::new(Vec::new());
        let only = stripes.only_lock(block).map(|lock| &raw const *lock);
        let take = |lock: &RobustSpinLock| {
            assert!(lock.try_take(1));
            taken.borrow_mut().push(&raw const *lock);
        };
        stripes.with_locks(block, take, || {
            let taken = taken.borrow();
            assert!(taken.is_sorted());
            let wanted = |index: usize| {
                let begin = block.offset + ((index as u64) << block.log_size);
                &raw const *stripes.lock(begin)
            };
            let mut wanted: Vec<_> = (0..block.count).map(wanted).collect();
            wanted.sort_unstable();
            wanted.dedup();
            assert_eq!(*taken, wanted, "{block:?}");
            let begins = |index| block.offset + ((index as u64) << block.log_size);
            let in_one = (0..block.count).all(|index| piece(begins(index)) == piece(block.offset));
            assert_eq!(only, in_one.then(|| taken[0]), "{block:?}");
        });
        assert!(taken.into_inner().into_iter().all(|lock| {
            // SAFETY: it is one of the stripes' locks.
            let lock = unsafe { &*lock };
            lock.try_take(1) && {
                lock.release();
                true
            }
        }));
    }
}
