//! How a long message's sender names it to its receiver.

use weft_transport::BulkDescriptor;

use crate::frame::Malformed;
use crate::keys::Keys;
use crate::selection::MOST_RAILS;

/// Four words: the number, with the paths above it and of the length what has room; the address; the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The transfer's, at its sender.
    pub number: u32,
    /// The paths by which it can be read, a bit each.
    pub readable: u32,
    pub address: u64,
    pub keys: Keys,
}

const READABLE_SHIFT: u32 = 32;
const LENGTH_SHIFT: u32 = READABLE_SHIFT + MOST_RAILS as u32;

fn length(bytes: usize) -> u64 {
    (bytes as u64) << LENGTH_SHIFT
}

impl Descriptor {
    /// Of a message of so many bytes.
    pub fn put(&self, bytes: usize) -> BulkDescriptor {
        let readable = u64::from(self.readable) << READABLE_SHIFT;
        let [first, second] = self.keys.words();
        let number = length(bytes) | readable | u64::from(self.number);
        BulkDescriptor([number, self.address, first, second])
    }

    pub fn read(descriptor: BulkDescriptor, bytes: usize) -> Result<Descriptor, Malformed> {
        let [number, address, first, second] = descriptor.0;
        if number >> LENGTH_SHIFT != length(bytes) >> LENGTH_SHIFT {
            return Err(Malformed("a descriptor that does not go with its message"));
        }
        Ok(Descriptor {
            number: number as u32,
            readable: (number >> READABLE_SHIFT) as u32 % (1 << MOST_RAILS),
            address,
            keys: Keys::of([first, second]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let mut keys = Keys::default();
        keys.set(3, 77);
        for (readable, bytes) in [(0, 0), (1, 1 << 40), (15, (1 << 28) - 1)] {
            let descriptor = Descriptor {
                number: u32::MAX,
                readable,
                address: u64::MAX,
                keys,
            };
            let words = descriptor.put(bytes);
            assert_eq!(Descriptor::read(words, bytes), Ok(descriptor));
            assert!(Descriptor::read(words, bytes + 1).is_err());
        }
    }
}
