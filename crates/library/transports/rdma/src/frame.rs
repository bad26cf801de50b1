//! What travels on a link: sends with a kind in their immediate data, two words, and a payload if the kind has one.

/// The longest payload of a packet; as in the other transports, so that nothing is to be asked by peer.
pub const EAGER_BYTES: usize = (16 << 10) + 64;
/// The words before every payload.
pub const HEAD_BYTES: usize = 16;
/// The longest frame.
pub const FRAME_BYTES: usize = HEAD_BYTES + EAGER_BYTES;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A packet of the engine's: its header, its payload.
    Packet = 0,
    /// The first frame of the process that asked for the link: it is ready.
    Ready = 1,
    /// No more eager payload (1), or again (0).
    Throttle = 2,
    /// The process leaves.
    Bye = 3,
    /// The receiver of transfer `[id]` has read it.
    Taken = 4,
    /// The receiver of a transfer asks for its data in frames: `[transfer | its own number << 32, bytes]`.
    Stream = 5,
    /// Such data: `[the receiver's number]`, the bytes.
    Data = 6,
}

/// What a peer has sent and no rule allows, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Kind {
    /// From the immediate data of a frame of so many bytes.
    pub fn of(immediate: u32, bytes: usize) -> Result<Kind, Malformed> {
        let kind = match immediate {
            0 => Kind::Packet,
            1 => Kind::Ready,
            2 => Kind::Throttle,
            3 => Kind::Bye,
            4 => Kind::Taken,
            5 => Kind::Stream,
            6 => Kind::Data,
            _ => return Err(Malformed("a frame of no kind")),
        };
        let longest = match kind {
            Kind::Packet | Kind::Data => FRAME_BYTES,
            _ => HEAD_BYTES,
        };
        match (HEAD_BYTES..=longest).contains(&bytes) {
            true => Ok(kind),
            false => Err(Malformed("a frame of the wrong length")),
        }
    }
}

/// The words of a frame that is as long as its kind says.
pub fn words(frame: &[u8]) -> [u64; 2] {
    let word = |at: usize| u64::from_le_bytes(frame[at..at + 8].try_into().expect("8 bytes"));
    [word(0), word(8)]
}

pub fn put_words(words: [u64; 2], frame: &mut [u8]) {
    for (word, to) in words.iter().zip(frame.chunks_exact_mut(8)) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_lengths() {
        for immediate in 0..7 {
            let kind = Kind::of(immediate, HEAD_BYTES).unwrap();
            assert_eq!(kind as u32, immediate);
            assert!(Kind::of(immediate, HEAD_BYTES - 1).is_err());
            let is_long = matches!(kind, Kind::Packet | Kind::Data);
            assert_eq!(Kind::of(immediate, FRAME_BYTES).is_ok(), is_long);
            assert!(Kind::of(immediate, FRAME_BYTES + 1).is_err());
        }
        assert!(Kind::of(7, HEAD_BYTES).is_err() && Kind::of(u32::MAX, HEAD_BYTES).is_err());
    }

    #[test]
    fn words_round_trip() {
        let mut frame = [0xee; 20];
        put_words([1, u64::MAX - 1], &mut frame);
        assert_eq!(words(&frame), [1, u64::MAX - 1]);
        assert_eq!(frame[16..], [0xee; 4]);
    }
}
