//! The memory of this process that a work request names, as pieces for copying.

use weft_verbs_abi::{IBV_ACCESS_LOCAL_WRITE, ibv_sge};

use super::null;
use crate::fabric::{InlineList, Local, Region, Segment, own_region};

/// One more than any queue takes, for the header of a datagram.
pub const MAX_PIECES: usize = 33;

/// Access right that no user can ask for: the region of `ibv_alloc_null_mr`.
pub const NULL_REGION: u32 = 1 << 31;

/// Whether the region reads as zeros and forgets what is written.
#[inline]
pub fn is_null(region: &Region) -> bool {
    region.access & NULL_REGION != 0
}

/// A key was not valid for the bytes it was given for: local protection error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectionError;

/// Pieces of memory, in order. At most [`MAX_PIECES`]. Large: made where it is used, not moved.
pub struct Pieces {
    list: InlineList<Local, MAX_PIECES>,
    bytes: u64,
}

impl Default for Pieces {
    fn default() -> Pieces {
        Pieces::new()
    }
}

impl Pieces {
    pub fn new() -> Pieces {
        Pieces {
            list: InlineList::new(),
            bytes: 0,
        }
    }

    #[inline]
    pub fn push(&mut self, address: u64, length: u64) {
        if length == 0 || self.list.is_full() {
            return;
        }
        self.list.push(Local { address, length });
        self.bytes += length;
    }

    /// Adds the elements of a work request, each checked against its key.
    #[inline]
    pub fn add_elements(
        &mut self,
        segment: &Segment,
        pd: u32,
        elements: &[ibv_sge],
        written: bool,
    ) -> Result<(), ProtectionError> {
        let access = if written { IBV_ACCESS_LOCAL_WRITE } else { 0 };
        for element in elements {
            if element.length == 0 {
                continue;
            }
            let region = own_region(segment, element.lkey).ok_or(ProtectionError)?;
            let length = u64::from(element.length);
            let span = region
                .span(element.addr, length, pd, access)
                .map_err(|_| ProtectionError)?;
            let address = match is_null(&region) {
                true => null::address(written),
                false => span.address,
            };
            self.push(address, length);
        }
        Ok(())
    }

    /// Adds elements whose addresses need no key, as those of inline requests.
    #[inline]
    pub fn add_unchecked(&mut self, elements: &[ibv_sge]) {
        for element in elements {
            self.push(element.addr, u64::from(element.length));
        }
    }

    #[inline]
    pub fn of_bytes(bytes: &[u8]) -> Pieces {
        let mut pieces = Pieces::new();
        pieces.push(bytes.as_ptr() as u64, bytes.len() as u64);
        pieces
    }

    /// All bytes together.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub fn list(&self) -> &[Local] {
        &self.list
    }

    /// Whether so many more would find room.
    #[inline]
    pub fn has_room(&self, pieces: usize) -> bool {
        self.list.len() + pieces <= MAX_PIECES
    }

    /// Takes away again what was added since there were `pieces` pieces of `bytes` bytes.
    #[inline]
    pub fn truncate(&mut self, pieces: usize, bytes: u64) {
        self.list.truncate(pieces);
        self.bytes = bytes;
    }

    /// Copies all bytes to `out`, as far as it goes.
    ///
    /// # Safety
    /// The pieces are readable.
    pub unsafe fn read(&self, out: &mut [u8]) {
        let mut rest = out;
        for piece in self.list() {
            let (here, behind) = rest.split_at_mut(rest.len().min(piece.length as usize));
            let from = piece.address as *const u8;
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy(from, here.as_mut_ptr(), here.len()) };
            rest = behind;
        }
    }

    /// The `length` bytes from the `offset`th on, as far as there are so many.
    pub fn slice(&self, mut offset: u64, mut length: u64) -> Pieces {
        let mut part = Pieces::new();
        for piece in self.list() {
            if offset >= piece.length {
                offset -= piece.length;
                continue;
            }
            let here = length.min(piece.length - offset);
            part.push(piece.address + offset, here);
            offset = 0;
            length -= here;
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_what_a_flat_list_gives() {
        let mut pieces = Pieces::new();
        for (address, length) in [(100, 3), (200, 0), (300, 5), (400, 1)] {
            pieces.push(address, length);
        }
        assert_eq!(pieces.bytes(), 9);
        let flat: Vec<u64> = (100..103).chain(300..305).chain(400..401).collect();
        for offset in 0..=10 {
            for length in 0..=10 {
                let slice = pieces.slice(offset, length);
                let bytes: Vec<u64> = slice
                    .list()
                    .iter()
                    .flat_map(|piece| piece.address..piece.address + piece.length)
                    .collect();
                let end = (offset + length).min(9) as usize;
                let expected = &flat[(offset as usize).min(end)..end];
                assert_eq!(bytes, expected, "{offset} {length}");
                assert_eq!(slice.bytes(), expected.len() as u64);
            }
        }
    }
}
