//! Which bytes of a process segment's heap are free. Known to the owner alone; others see offsets.

use std::collections::BTreeMap;

/// What blocks begin at and are multiples of: a cache line.
pub const LINE: u64 = 64;

/// From here on a block has pages of its own, which can be given back to the system.
pub const OWN_PAGES: u64 = 64 << 10;

const PAGE: u64 = 4096;

/// First fit over free blocks by offset; neighbours are joined when they are freed.
pub struct Heap {
    /// Offset to length.
    free: BTreeMap<u64, u64>,
}

impl Heap {
    pub fn new(begin: u64, end: u64) -> Heap {
        let mut heap = Heap {
            free: BTreeMap::new(),
        };
        if begin < end {
            heap.free.insert(begin, end - begin);
        }
        heap
    }

    /// The bytes that a request for `bytes` takes; none if that is beyond any memory.
    pub fn block_bytes(bytes: u64) -> Option<u64> {
        let unit = if bytes < OWN_PAGES { LINE } else { PAGE };
        bytes.max(1).checked_next_multiple_of(unit)
    }

    /// A block of `bytes` (from [`block_bytes`](Self::block_bytes)), by offset.
    pub fn take(&mut self, bytes: u64) -> Option<u64> {
        let unit = if bytes < OWN_PAGES { LINE } else { PAGE };
        let (offset, length, begin) = self.free.iter().find_map(|(&offset, &length)| {
            let begin = offset.next_multiple_of(unit);
            let fits = begin - offset <= length && length - (begin - offset) >= bytes;
            fits.then_some((offset, length, begin))
        })?;
        self.free.remove(&offset);
        if offset < begin {
            self.free.insert(offset, begin - offset);
        }
        if begin + bytes < offset + length {
            self.free
                .insert(begin + bytes, offset + length - begin - bytes);
        }
        Some(begin)
    }

    /// Gives back what [`take`](Self::take) gave.
    pub fn give_back(&mut self, mut offset: u64, mut bytes: u64) {
        if let Some(after) = self.free.remove(&(offset + bytes)) {
            bytes += after;
        }
        if let Some((&before, &length)) = self.free.range(..offset).next_back()
            && before + length == offset
        {
            offset = before;
            bytes += length;
        }
        self.free.insert(offset, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let mut heap = Heap::new(4096, 1 << 24);
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut seed = 1u64;
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            if seed >> 63 == 0 || taken.is_empty() {
                let bytes = Heap::block_bytes((seed >> 33) % (200 << 10)).unwrap();
                if let Some(offset) = heap.take(bytes) {
                    let unit = if bytes < OWN_PAGES { LINE } else { PAGE };
                    assert!(offset.is_multiple_of(unit));
                    assert!(offset >= 4096 && offset + bytes <= 1 << 24);
                    for &(other, length) in &taken {
                        assert!(offset + bytes <= other || other + length <= offset);
                    }
                    taken.push((offset, bytes));
                }
            } else {
                let (offset, bytes) = taken.swap_remove((seed >> 40) as usize % taken.len());
                heap.give_back(offset, bytes);
            }
        }
        for (offset, bytes) in taken {
            heap.give_back(offset, bytes);
        }
        let whole = BTreeMap::from([(4096, (1 << 24) - 4096)]);
        assert_eq!(heap.free, whole);
    }

    #[test]
    fn too_much_is_refused() {
        let mut heap = Heap::new(0, 1 << 20);
        assert_eq!(heap.take(2 << 20), None);
        assert_eq!(Heap::block_bytes(u64::MAX), None);
    }
}
