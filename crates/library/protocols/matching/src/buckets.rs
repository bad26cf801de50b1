//! The buckets of a table: linear hashing (Litwin 1980), so that growth and shrinking move one bucket at a time.
//!
//! With `count` buckets and `mask` the least 2^k - 1 that covers them, a hash belongs to bucket `hash & mask`, or, where
//! there is no such bucket yet, to `hash & (mask >> 1)`. The next bucket therefore takes its entries from one other.

use crate::NIL;

/// Buckets of one chunk: a page. Few in unit tests, so that short sequences grow and shrink.
const CHUNK: usize = if cfg!(test) { 4 } else { 1024 };

/// The fewest buckets of a table that has any.
pub(crate) const MIN: u32 = CHUNK as u32;

pub(crate) struct Buckets {
    /// Boxed one by one, so that no bucket moves when the directory grows.
    #[cfg_attr(
        test,
        expect(clippy::vec_box, reason = "only unit tests have small chunks")
    )]
    chunks: Vec<Box<[u32; CHUNK]>>,
    count: u32,
    mask: u32,
}

/// Two buckets whose entries become one's, or one's entries two's.
pub(crate) struct Pair {
    pub lower: u32,
    pub upper: u32,
}

impl Buckets {
    pub const fn new() -> Buckets {
        Buckets {
            chunks: Vec::new(),
            count: 0,
            mask: 0,
        }
    }

    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn bytes(&self) -> usize {
        self.chunks.len() * size_of::<[u32; CHUNK]>() + self.chunks.capacity() * size_of::<usize>()
    }

    /// The bucket of a hash. There must be buckets.
    #[inline(always)]
    pub fn of_hash(&self, hash: u32) -> u32 {
        let bucket = hash & self.mask;
        if bucket < self.count {
            bucket
        } else {
            hash & (self.mask >> 1)
        }
    }

    /// The first leader of the bucket's chain, or `NIL`.
    #[inline(always)]
    pub fn head(&self, bucket: u32) -> u32 {
        self.chunks[bucket as usize / CHUNK][bucket as usize % CHUNK]
    }

    /// Has the bucket fetched, for later.
    #[inline(always)]
    pub fn fetch(&self, bucket: u32) {
        weft_sync::fetch(&self.chunks[bucket as usize / CHUNK][bucket as usize % CHUNK]);
    }

    #[inline(always)]
    pub fn head_mut(&mut self, bucket: u32) -> &mut u32 {
        &mut self.chunks[bucket as usize / CHUNK][bucket as usize % CHUNK]
    }

    /// Makes the first buckets, if there are none.
    pub fn open(&mut self) {
        if self.count == 0 {
            self.chunks.push(Box::new([NIL; CHUNK]));
            self.count = MIN;
            self.mask = MIN - 1;
        }
    }

    /// Adds the bucket `upper`, empty. The caller moves to it what no longer belongs to `lower`.
    pub fn extend(&mut self) -> Pair {
        let upper = self.count;
        assert!(upper < 1 << 31, "a table has 2^31 buckets");
        if upper > self.mask {
            self.mask = 2 * self.mask + 1;
        }
        if upper.is_multiple_of(MIN) {
            self.chunks.push(Box::new([NIL; CHUNK]));
        }
        self.count += 1;
        Pair {
            lower: upper & (self.mask >> 1),
            upper,
        }
    }

    /// The buckets that [`Buckets::retract`] would make one.
    pub fn last_pair(&self) -> Pair {
        let upper = self.count - 1;
        Pair {
            lower: upper & (self.mask >> 1),
            upper,
        }
    }

    /// Takes away the last bucket, which the caller has emptied.
    pub fn retract(&mut self) {
        self.count -= 1;
        if self.count.is_multiple_of(MIN) {
            self.chunks.pop();
        }
        if self.count == (self.mask >> 1) + 1 {
            self.mask >>= 1;
        }
    }

    /// Gives back the unused part of the directory.
    pub fn trim_directory(&mut self) {
        self.chunks.shrink_to_fit();
    }
}
