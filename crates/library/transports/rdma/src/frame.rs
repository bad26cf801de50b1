//! What travels on a link: sends with a kind and a number in their immediate data, two words, and a payload if the kind has one.
//!
//! A link's frames go by several queue pairs, between which adapters keep no order. They are numbered one after the other, modulo 2^16,
//! and the receiver has them in that order (`order`). A frame that is longer than all of the peer's buffers goes in parts, which
//! are nothing until the rest has come. Beside its number a frame carries credits of the queue pair that it goes by (`per_peer`); where
//! no frame does, credits go alone, without a number: they are counted as they come.

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
    /// Of the process that asked for the path of place `[place]`: it is ready.
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
    /// The path of place `[place]` has failed: nothing goes by it any more.
    Down = 8,
}

/// Numbers of frames are below this: many times what may be under way on all queue pairs of a link.
pub const SEQUENCE_END: u32 = 1 << 16;
/// Credits that a frame has room for.
pub const MOST_CREDITS: u32 = (1 << 12) - 1;

const CREDITS_SHIFT: u32 = 16;
const KIND_SHIFT: u32 = 28;
/// In place of a frame's kind.
const CREDITS_ALONE: u32 = 15;

/// The immediate data of a send: 4 bits of kind; then 12 of credits and 16 of the frame's number, or all 28 of credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    Frame {
        kind: Kind,
        sequence: u32,
        credits: u32,
    },
    Credits(u32),
}

/// What a peer has sent and no rule allows, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Kind {
    fn of(number: u32) -> Option<Kind> {
        Some(match number {
            0 => Kind::Packet,
            1 => Kind::Ready,
            2 => Kind::Throttle,
            3 => Kind::Bye,
            4 => Kind::Taken,
            5 => Kind::Stream,
            6 => Kind::Data,
            7 => Kind::Part,
            8 => Kind::Down,
            _ => return None,
        })
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

impl Immediate {
    pub fn of(number: u32) -> Result<Immediate, Malformed> {
        match number >> KIND_SHIFT {
            CREDITS_ALONE => Ok(Immediate::Credits(number % (1 << KIND_SHIFT))),
            kind => Ok(Immediate::Frame {
                kind: Kind::of(kind).ok_or(Malformed("a frame of no kind"))?,
                sequence: number % SEQUENCE_END,
                credits: number >> CREDITS_SHIFT & MOST_CREDITS,
            }),
        }
    }

    pub fn number(self) -> u32 {
        match self {
            Immediate::Frame {
                kind,
                sequence,
                credits,
            } => (kind as u32) << KIND_SHIFT | credits << CREDITS_SHIFT | sequence,
            Immediate::Credits(credits) => CREDITS_ALONE << KIND_SHIFT | credits,
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
        for number in 0..9 {
            let kind = Kind::of(number).unwrap();
            assert_eq!(kind as u32, number);
            let shortest = if kind == Kind::Part { 1 } else { HEAD_BYTES };
            assert!(kind.check(shortest).is_ok() && kind.check(shortest - 1).is_err());
            let is_long = matches!(kind, Kind::Packet | Kind::Data | Kind::Part);
            assert_eq!(kind.check(FRAME_BYTES).is_ok(), is_long);
            assert!(kind.check(FRAME_BYTES + 1).is_err());
        }
    }

    #[test]
    fn immediate_data_round_trip() {
        for number in 0..9 {
            let kind = Kind::of(number).unwrap();
            for (sequence, credits) in [(0, 0), (77, 1), (SEQUENCE_END - 1, MOST_CREDITS)] {
                let frame = Immediate::Frame {
                    kind,
                    sequence,
                    credits,
                };
                assert_eq!(Immediate::of(frame.number()), Ok(frame));
            }
        }
        for credits in [1, weft_pools::MOST_COUNT, (1 << 28) - 1] {
            let alone = Immediate::Credits(credits);
            assert_eq!(Immediate::of(alone.number()), Ok(alone));
        }
        for kind in 9..15 {
            assert!(Immediate::of(kind << 28 | 5).is_err());
        }
    }

    #[test]
    fn words_round_trip() {
        let mut frame = [0xee; 20];
        put_words([1, u64::MAX - 1], &mut frame);
        assert_eq!(words(&frame), [1, u64::MAX - 1]);
        assert_eq!(frame[16..], [0xee; 4]);
    }
}
