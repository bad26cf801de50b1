//! What travels on a link: sends with a kind and a number in their immediate data, two words, and a payload if the kind has one.
//!
//! A link's frames go by several queue pairs, between which adapters keep no order. They are numbered one after the other, modulo 2^24,
//! and the receiver has them in that order (`order`). A frame that is longer than all of the peer's buffers goes in parts, which
//! are nothing until the rest has come.

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
    /// A part of a packet; its last part is a packet.
    Part = 7,
}

/// Numbers of frames are below this.
pub const SEQUENCE_END: u32 = 1 << 24;

/// What a peer has sent and no rule allows, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Kind {
    /// What the immediate data of a frame say: its kind and its number.
    pub fn of(immediate: u32) -> Result<(Kind, u32), Malformed> {
        let kind = match immediate >> 24 {
            0 => Kind::Packet,
            1 => Kind::Ready,
            2 => Kind::Throttle,
            3 => Kind::Bye,
            4 => Kind::Taken,
            5 => Kind::Stream,
            6 => Kind::Data,
            7 => Kind::Part,
            _ => return Err(Malformed("a frame of no kind")),
        };
        Ok((kind, immediate % SEQUENCE_END))
    }

    pub fn immediate(self, sequence: u32) -> u32 {
        (self as u32) << 24 | sequence
    }

    /// Whether a frame that is whole has a length of its kind's.
    pub fn check(self, bytes: usize) -> Result<(), Malformed> {
        let lengths = match self {
            Kind::Packet | Kind::Data => HEAD_BYTES..=FRAME_BYTES,
            Kind::Part => 1..=FRAME_BYTES,
            _ => HEAD_BYTES..=HEAD_BYTES,
        };
        match lengths.contains(&bytes) {
            true => Ok(()),
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
        for number in 0..8 {
            let (kind, sequence) = Kind::of(number << 24 | 77).unwrap();
            assert_eq!((kind as u32, sequence), (number, 77));
            assert_eq!(kind.immediate(sequence), number << 24 | 77);
            let shortest = if kind == Kind::Part { 1 } else { HEAD_BYTES };
            assert!(kind.check(shortest).is_ok() && kind.check(shortest - 1).is_err());
            let is_long = matches!(kind, Kind::Packet | Kind::Data | Kind::Part);
            assert_eq!(kind.check(FRAME_BYTES).is_ok(), is_long);
            assert!(kind.check(FRAME_BYTES + 1).is_err());
        }
        assert!(Kind::of(8 << 24).is_err() && Kind::of(u32::MAX).is_err());
    }

    #[test]
    fn words_round_trip() {
        let mut frame = [0xee; 20];
        put_words([1, u64::MAX - 1], &mut frame);
        assert_eq!(words(&frame), [1, u64::MAX - 1]);
        assert_eq!(frame[16..], [0xee; 4]);
    }
}
