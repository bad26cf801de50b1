//! The payloads of envelopes and answers: a few little-endian words each.

/// Bytes of a cookie in front of a payload.
pub const COOKIE_BYTES: usize = 8;
/// Bytes of an `RtsOnly` payload: cookie, length.
pub const RTS_ONLY_BYTES: usize = 16;
/// Bytes of a `Cts` payload: the sender's cookie, the receiver's.
pub const CTS_BYTES: usize = 16;
/// Bytes of a `Failed` payload: the number.
pub const FAILED_BYTES: usize = 8;
/// Bytes of an `Enquiry` payload: the cookie, the two words.
pub const ENQUIRY_BYTES: usize = 24;
/// Bytes of an `Answer` payload: the receiver's cookie, the number.
pub const ANSWER_BYTES: usize = 16;
/// Bytes of the longest `Rts` payload.
pub const RTS_BYTES: usize = 48;

/// The payload of an `Rts`. Where the last of the transport's words is zero it is left out: what remains fits in a cell of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rts {
    pub cookie: u64,
    /// How long the message is.
    pub bytes: u64,
    pub transport: [u64; 4],
}

impl Rts {
    pub fn parse(payload: &[u8]) -> Option<Rts> {
        let (Body([cookie, bytes, a, b, c]), last) = Body::split(payload)?;
        let d = match last {
            [] => 0,
            last => Body::<1>::whole(last)?.0[0],
        };
        Some(Rts {
            cookie,
            bytes,
            transport: [a, b, c, d],
        })
    }

    /// Calls `send` with the payload.
    pub fn emit<R>(&self, send: impl FnOnce(&[u8]) -> R) -> R {
        let [a, b, c, d] = self.transport;
        let mut payload = [0; RTS_BYTES];
        Body([self.cookie, self.bytes, a, b, c, d]).put(&mut payload);
        let left_out = if d == 0 { size_of_val(&d) } else { 0 };
        send(&payload[..RTS_BYTES - left_out])
    }
}

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
