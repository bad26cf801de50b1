//! How requests are named.

/// Names a request: slot index and generation. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(u64);

impl RequestId {
    /// A send that needed no request: it is complete, its outcome empty.
    pub const DONE: RequestId = RequestId(u32::MAX as u64);

    const GENERATION_BITS: u32 = 28;
    pub(crate) const GENERATION_MASK: u32 = (1 << Self::GENERATION_BITS) - 1;

    #[inline]
    pub(crate) fn new(index: u32, generation: u32) -> RequestId {
        RequestId(u64::from(index) | u64::from(generation & Self::GENERATION_MASK) << 32)
    }

    /// The identifier as a number below 2^60.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// From a number, which may come from anywhere: it is checked where it is used.
    #[inline]
    pub fn from_bits(bits: u64) -> RequestId {
        RequestId(bits)
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(crate) fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
