//! The payloads of envelopes and answers: a few little-endian words each.

/// Bytes of a cookie in front of a payload.
pub const COOKIE_BYTES: usize = 8;
/// Bytes of an `RtsOnly` payload: cookie, length.
pub const RTS_ONLY_BYTES: usize = 16;
/// Bytes of a `Cts` payload: the sender's cookie, the receiver's.
pub const CTS_BYTES: usize = 16;
/// Bytes of a `Failed` payload: the number.
pub const FAILED_BYTES: usize = 8;
/// Bytes of an `Enquiry` payload: the two words.
pub const ENQUIRY_BYTES: usize = 16;
/// Bytes of an `Rts` payload: cookie, length, the transport's four words.
pub const RTS_BYTES: usize = 48;

/// `N` words as they lie in a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body<const N: usize>(pub [u64; N]);

impl<const N: usize> Body<N> {
    /// Reads the first `N` words; what follows them is returned too. `None` if the payload is too short.
    #[inline]
    pub fn split(payload: &[u8]) -> Option<(Body<N>, &[u8])> {
        let (head, rest) = payload.split_at_checked(N * 8)?;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(head.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        Some((Body(words), rest))
    }

    /// Reads a payload of exactly `N` words.
    #[inline]
    pub fn whole(payload: &[u8]) -> Option<Body<N>> {
        match Self::split(payload)? {
            (body, []) => Some(body),
            _ => None,
        }
    }

    /// Writes the words to the front of `out`, which is long enough.
    #[inline]
    pub fn put(&self, out: &mut [u8]) {
        for (bytes, word) in out.chunks_exact_mut(8).zip(self.0) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
}
