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
/// A packet's length, where it is one of several.
const LENGTH_BYTES: usize = 8;
/// The longest frame.
pub const FRAME_BYTES: usize = HEAD_BYTES + EAGER_BYTES;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FrameKind {
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
    /// Packets of the engine's that left together: of each its payload's length, its header, its payload, up to the next multiple of 8.
    Packets = 9,
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
        kind: FrameKind,
        sequence: u32,
        credits: u32,
    },
    Credits(u32),
}

/// What a peer has sent and no rule allows, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl FrameKind {
    fn of(number: u32) -> Option<FrameKind> {
        Some(match number {
            0 => FrameKind::Packet,
            1 => FrameKind::Ready,
            2 => FrameKind::Throttle,
            3 => FrameKind::Bye,
            4 => FrameKind::Taken,
            5 => FrameKind::Stream,
            6 => FrameKind::Data,
            7 => FrameKind::Part,
            8 => FrameKind::Down,
            9 => FrameKind::Packets,
            _ => return None,
        })
    }

    /// Whether a frame that is whole has a length of its kind's.
    pub fn check(self, bytes: usize) -> Result<(), Malformed> {
        let lengths = match self {
            FrameKind::Packet | FrameKind::Data => HEAD_BYTES..=FRAME_BYTES,
            FrameKind::Part => 1..=FRAME_BYTES,
            FrameKind::Packets => LENGTH_BYTES + HEAD_BYTES..=FRAME_BYTES,
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
                kind: FrameKind::of(kind).ok_or(Malformed("a frame of no kind"))?,
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

/// How many bytes of a frame of several packets one takes whose payload has `bytes`.
pub fn gathered_bytes(bytes: usize) -> usize {
    LENGTH_BYTES + HEAD_BYTES + bytes.next_multiple_of(LENGTH_BYTES)
}

/// Writes the length and the header of one of several packets. The place for its payload is returned.
pub fn put_gathered(words: [u64; 2], bytes: usize, frame: &mut [u8]) -> &mut [u8] {
    let (length, rest) = frame.split_at_mut(LENGTH_BYTES);
    length.copy_from_slice(&(bytes as u64).to_le_bytes());
    let (head, payload) = rest.split_at_mut(HEAD_BYTES);
    put_words(words, head);
    let (payload, padding) = payload.split_at_mut(bytes);
    padding.fill(0);
    payload
}

/// The packets of a frame of several: the words and the payload of each, and an error for the first that is none.
pub struct Packets<'a>(pub &'a [u8]);

impl<'a> Packets<'a> {
    fn first(&self) -> Option<([u64; 2], &'a [u8], &'a [u8])> {
        let (length, rest) = self.0.split_first_chunk()?;
        let bytes = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (head, rest) = rest.split_at_checked(HEAD_BYTES)?;
        let padded = bytes.checked_next_multiple_of(LENGTH_BYTES)?;
        let (payload, rest) = rest.split_at_checked(padded)?;
        Some((words(head), &payload[..bytes], rest))
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<([u64; 2], &'a [u8]), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((words, payload, rest)) = self.first() else {
            self.0 = &[];
            return Some(Err(Malformed("a packet that its frame does not hold")));
        };
        self.0 = rest;
        Some(Ok((words, payload)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_lengths() {
        for number in 0..10 {
            let kind = FrameKind::of(number).unwrap();
            assert_eq!(kind as u32, number);
            let shortest = match kind {
                FrameKind::Part => 1,
                FrameKind::Packets => LENGTH_BYTES + HEAD_BYTES,
                _ => HEAD_BYTES,
            };
            assert!(kind.check(shortest).is_ok() && kind.check(shortest - 1).is_err());
            let is_long = matches!(
                kind,
                FrameKind::Packet | FrameKind::Data | FrameKind::Part | FrameKind::Packets
            );
            assert_eq!(kind.check(FRAME_BYTES).is_ok(), is_long);
            assert!(kind.check(FRAME_BYTES + 1).is_err());
        }
    }

    #[test]
    fn immediate_data_round_trip() {
        for number in 0..10 {
            let kind = FrameKind::of(number).unwrap();
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
        for kind in 10..15 {
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

    #[test]
    fn several_packets_come_out_as_they_went_in() {
        let lengths = [0, 8, 1, 15, 200];
        let mut frame = vec![0xee; lengths.iter().map(|&bytes| gathered_bytes(bytes)).sum()];
        let mut at = 0;
        for (number, bytes) in lengths.into_iter().enumerate() {
            let end = at + gathered_bytes(bytes);
            let place = put_gathered([number as u64, 7], bytes, &mut frame[at..end]);
            assert_eq!(place.len(), bytes);
            place.fill(number as u8);
            at = end;
        }
        let packets: Vec<_> = Packets(&frame).map(Result::unwrap).collect();
        assert_eq!(packets.len(), lengths.len());
        for (number, (words, payload)) in packets.into_iter().enumerate() {
            assert_eq!(words, [number as u64, 7]);
            assert_eq!(payload, vec![number as u8; lengths[number]]);
        }
    }

    /// Whatever a peer sends, only its bytes are looked at, and each once.
    #[test]
    fn frames_of_nonsense_end() {
        let mut random = crate::world::Random(5);
        for _ in 0..20_000 {
            let mut frame: Vec<u8> = (0..random.below(200))
                .map(|_| random.below(256) as u8)
                .collect();
            if let Some(length) = frame.first_chunk_mut()
                && random.below(4) > 0
            {
                *length = random.below(250).to_le_bytes();
            }
            let taken: usize = Packets(&frame)
                .map_while(Result::ok)
                .map(|(_, payload)| gathered_bytes(payload.len()))
                .sum();
            assert!(taken <= frame.len());
            let bad = Packets(&frame).filter(Result::is_err).count();
            assert_eq!(bad, usize::from(taken < frame.len()));
        }
    }
}
