//! What travels on a connection once it stands: frames, each a head of 24 bytes and what its length says. Takes bytes.

/// A frame's head: its length (of what follows the head), its kind, two words.
pub const HEAD_BYTES: usize = 24;
/// The longest payload of a packet: 16 KiB of a message and what the engine puts before it, no less than shared memory takes.
pub const EAGER_BYTES: usize = (16 << 10) + 64;
/// The longest stretch of a bulk transfer in one frame.
pub const DATA_BYTES: usize = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// One of the engine's: the words are its header, the payload follows.
    Packet = 1,
    /// The next bytes of bulk transfer `words[0]`, from `words[1]` on.
    Data = 2,
    /// Bulk transfer `words[0]` is taken up: the rest of its first `words[1]` bytes is to come.
    Cts = 3,
    /// `words[0]` bytes that came without having been asked for are taken up, or dropped.
    Credit = 4,
    /// Bulk transfer `words[0]` is over, of which `words[1]` bytes come in all.
    Cancel = 5,
    /// Eager payload is to be held back (`words[0]` is 1), or not any more (0).
    Throttle = 6,
    /// The process leaves: nothing comes after this.
    Bye = 7,
    /// The process has given this one up.
    Ended = 8,
    /// Bytes of bulk transfer `words[0]`, from `words[1]` on, of which others may come before or beside them.
    Stripe = 9,
    /// Bulk transfer `words[0]`, which came in stripes, has come.
    Whole = 10,
    /// Connection for stripes number `words[0]` is over.
    StripeOver = 11,
}

/// A valid head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub kind: FrameKind,
    pub bytes: usize,
    pub words: [u64; 2],
}

/// What came is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Head {
    pub fn new(kind: FrameKind, bytes: usize, words: [u64; 2]) -> Head {
        Head { kind, bytes, words }
    }

    #[inline]
    pub fn put(&self) -> [u8; HEAD_BYTES] {
        let mut out = [0; HEAD_BYTES];
        out[..4].copy_from_slice(&(self.bytes as u32).to_le_bytes());
        out[4] = self.kind as u8;
        out[8..16].copy_from_slice(&self.words[0].to_le_bytes());
        out[16..].copy_from_slice(&self.words[1].to_le_bytes());
        out
    }

    /// Reads a head, which may be anything.
    #[inline]
    pub fn parse(bytes: &[u8; HEAD_BYTES]) -> Result<Head, Malformed> {
        let [a, b, c, d, kind, spare @ ..] = *bytes;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        if spare[..3] != [0; 3] {
            return Err(Malformed("a frame of a form that is none"));
        }
        let (kind, most) = match kind {
            1 => (FrameKind::Packet, EAGER_BYTES),
            2 => (FrameKind::Data, DATA_BYTES),
            3 => (FrameKind::Cts, 0),
            4 => (FrameKind::Credit, 0),
            5 => (FrameKind::Cancel, 0),
            6 => (FrameKind::Throttle, 0),
            7 => (FrameKind::Bye, 0),
            8 => (FrameKind::Ended, 0),
            9 => (FrameKind::Stripe, DATA_BYTES),
            10 => (FrameKind::Whole, 0),
            11 => (FrameKind::StripeOver, 0),
            _ => return Err(Malformed("a frame of a kind that is none")),
        };
        if length > most {
            return Err(Malformed("a frame that is longer than its kind may be"));
        }
        Ok(Head::new(kind, length, [word(8), word(16)]))
    }
}

/// What a stretch of a connection's bytes begins with.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// A frame, and what stands behind it.
    Frame(Head, &'a [u8], &'a [u8]),
    /// The head of bulk data, and what stands behind the head: data, as far as it goes.
    Data(Head, &'a [u8]),
    /// Part of a frame, of so many bytes if that is known.
    Part(usize),
}

/// Looks at the bytes that have come, which may be anything.
#[inline]
pub fn next(bytes: &[u8]) -> Result<Next<'_>, Malformed> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
        return Ok(Next::Part(HEAD_BYTES));
    };
    let head = Head::parse(head)?;
    if matches!(head.kind, FrameKind::Data | FrameKind::Stripe) {
        return Ok(Next::Data(head, rest));
    }
    Ok(match rest.split_at_checked(head.bytes) {
        Some((payload, rest)) => Next::Frame(head, payload, rest),
        None => Next::Part(HEAD_BYTES + head.bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_apart_as_they_were_put_together() {
        let mut bytes = Vec::new();
        bytes.extend(Head::new(FrameKind::Packet, 3, [7, u64::MAX]).put());
        bytes.extend(b"abc");
        bytes.extend(Head::new(FrameKind::Data, 1 << 20, [5, 9]).put());
        bytes.extend(b"xy");
        let Ok(Next::Frame(head, payload, rest)) = next(&bytes) else {
            panic!("a packet")
        };
        assert_eq!((head.words, payload), ([7, u64::MAX], &b"abc"[..]));
        let data = Head::new(FrameKind::Data, 1 << 20, [5, 9]);
        assert_eq!(next(rest), Ok(Next::Data(data, b"xy")));
        for end in 0..HEAD_BYTES {
            assert_eq!(next(&bytes[..end]), Ok(Next::Part(HEAD_BYTES)));
        }
        assert_eq!(
            next(&bytes[..HEAD_BYTES + 2]),
            Ok(Next::Part(HEAD_BYTES + 3))
        );
    }

    #[test]
    fn what_is_no_frame_is_found_out() {
        let good = Head::new(FrameKind::Packet, 0, [0, 0]).put();
        let with = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            Head::parse(&bytes)
        };
        assert!(with(4, 1).is_ok());
        for kind in [0, 12, 255] {
            assert!(with(4, kind).is_err());
        }
        assert!(with(5, 1).is_err() && with(7, 1).is_err());
        assert!(with(1, (EAGER_BYTES >> 8) as u8).is_ok() && with(2, 1).is_err());
        assert!(Head::parse(&Head::new(FrameKind::Bye, 1, [0, 0]).put()).is_err());
    }
}
