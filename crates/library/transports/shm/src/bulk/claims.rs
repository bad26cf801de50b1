//! The words of copies, where they lie: in pages of the receiver's segment.

use std::ops::Deref;
use std::sync::Arc;

use weft_sync::bulk::ChunkClaims;

use crate::segment::Mapping;

/// Bytes of the words of one copy.
pub const COPY_BYTES: usize = 128;

const _: () = assert!(size_of::<ChunkClaims>() <= COPY_BYTES);

/// The words of one copy, on either side.
#[derive(Clone)]
pub struct Claims {
    mapping: Arc<Mapping>,
    at: usize,
}

impl Claims {
    /// The words at `at` of a mapped page; none if there is no place for such there.
    pub fn new(mapping: Arc<Mapping>, at: usize) -> Option<Claims> {
        let fits = at.is_multiple_of(COPY_BYTES) && at < mapping.bytes();
        fits.then_some(Claims { mapping, at })
    }
}

impl Deref for Claims {
    type Target = ChunkClaims;

    fn deref(&self) -> &ChunkClaims {
        // SAFETY: `new` checked place and alignment (mappings are whole pages); the words are atomics.
        unsafe { &*self.mapping.base().add(self.at).cast::<ChunkClaims>() }
    }
}
