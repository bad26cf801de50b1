//! Control messages and offers: what the two sides of a transfer tell each other. No `unsafe`; all of it untrusted
//! when it comes in.

use weft_transport::BulkDescriptor;

use super::byte_ring::{RING_BYTES, RingPosition};

const NEED_RING: u64 = 1;
const RING: u64 = 2;
const COPIED: u64 = 3;

/// Bytes of a control message's payload; it fits in a cell.
const PAYLOAD_BYTES: usize = 32;

/// Names a transfer to the side that it is from: a place in its table, and a number against mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransferId(pub u64);

impl TransferId {
    pub fn new(place: u32, number: u32) -> TransferId {
        TransferId(u64::from(number) << 32 | u64::from(place))
    }

    pub fn place(self) -> u32 {
        self.0 as u32
    }
}

/// A message from one side's bulk to the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// From the receiver: the call is answered, send through a ring.
    NeedRing {
        transfer: TransferId,
        receiver: TransferId,
    },
    /// From the sender: the ring for that, in its segment.
    Ring {
        receiver: TransferId,
        place: RingPosition,
    },
    /// From the receiver: the call is answered, it has copied all that it wants.
    Copied { transfer: TransferId },
}

impl RingPosition {
    fn words(self) -> [u64; 2] {
        [self.offset, u64::from(self.begin)]
    }

    fn of(offset: u64, begin: u64) -> Option<RingPosition> {
        let begin = begin as usize;
        (begin < RING_BYTES).then_some(RingPosition {
            offset,
            begin: begin as u32,
        })
    }
}

impl Control {
    /// What kind of message it is and the transfer that it is about.
    pub fn about(self) -> (u64, TransferId) {
        match self {
            Control::NeedRing { transfer, .. } => (NEED_RING, transfer),
            Control::Ring { receiver, .. } => (RING, receiver),
            Control::Copied { transfer } => (COPIED, transfer),
        }
    }

    pub fn emit(self) -> ([u64; 2], [u8; PAYLOAD_BYTES]) {
        let (kind, id, words) = match self {
            Control::NeedRing { transfer, receiver } => {
                (NEED_RING, transfer, [receiver.0, 0, 0, 0])
            }
            Control::Ring { receiver, place } => {
                let [offset, begin] = place.words();
                (RING, receiver, [offset, begin, 0, 0])
            }
            Control::Copied { transfer } => (COPIED, transfer, [0; 4]),
        };
        let mut payload = [0; PAYLOAD_BYTES];
        for (place, word) in payload.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        ([kind, id.0], payload)
    }

    pub fn parse(header: [u64; 2], payload: &[u8]) -> Option<Control> {
        let payload: &[u8; PAYLOAD_BYTES] = payload.try_into().ok()?;
        let mut words = [0; 4];
        for (word, place) in words.iter_mut().zip(payload.chunks_exact(8)) {
            *word = u64::from_ne_bytes(place.try_into().ok()?);
        }
        let id = TransferId(header[1]);
        match header[0] {
            NEED_RING => Some(Control::NeedRing {
                transfer: id,
                receiver: TransferId(words[0]),
            }),
            RING => Some(Control::Ring {
                receiver: id,
                place: RingPosition::of(words[0], words[1])?,
            }),
            COPIED => Some(Control::Copied { transfer: id }),
            _ => None,
        }
    }
}

/// What becomes of a ring when all was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRing {
    GiveBack,
    /// The receiver may borrow it.
    Borrow,
    /// It is the receiver's own, which the sender had borrowed.
    Return,
}

/// Through this ring of the sender's, which is being filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingTerms {
    pub place: RingPosition,
    pub after: AfterRing,
}

/// To be answered by a control message. The source's address, if the receiver can copy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub transfer: TransferId,
    pub address: Option<u64>,
}

/// The meaning of a [`BulkDescriptor`]'s words here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// Nothing to move.
    Nothing,
    Ring(RingTerms),
    Call(Call),
}

impl Descriptor {
    pub fn emit(self) -> BulkDescriptor {
        BulkDescriptor(match self {
            Descriptor::Nothing => [0; 4],
            Descriptor::Ring(RingTerms { place, after }) => {
                let kind = match after {
                    AfterRing::GiveBack => 1,
                    AfterRing::Borrow => 2,
                    AfterRing::Return => 3,
                };
                let [offset, begin] = place.words();
                [kind, offset, begin, 0]
            }
            Descriptor::Call(Call { transfer, address }) => match address {
                None => [4, transfer.0, 0, 0],
                Some(address) => [5, transfer.0, address, 0],
            },
        })
    }

    pub fn parse(BulkDescriptor(words): BulkDescriptor) -> Option<Descriptor> {
        let call = |transfer, address| {
            let transfer = TransferId(transfer);
            Some(Descriptor::Call(Call { transfer, address }))
        };
        let after = match words {
            [0, ..] => return Some(Descriptor::Nothing),
            [4, transfer, ..] => return call(transfer, None),
            [5, transfer, address, _] => return call(transfer, Some(address)),
            [1, ..] => AfterRing::GiveBack,
            [2, ..] => AfterRing::Borrow,
            [3, ..] => AfterRing::Return,
            _ => return None,
        };
        let place = RingPosition::of(words[1], words[2])?;
        Some(Descriptor::Ring(RingTerms { place, after }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: RingPosition = RingPosition {
        offset: 8192,
        begin: 64,
    };

    #[test]
    fn controls_round_trip() {
        for control in [
            Control::NeedRing {
                transfer: TransferId(7),
                receiver: TransferId(8),
            },
            Control::Ring {
                receiver: TransferId(9),
                place: PLACE,
            },
            Control::Copied {
                transfer: TransferId(11),
            },
        ] {
            let (header, payload) = control.emit();
            assert_eq!(Control::parse(header, &payload), Some(control));
            assert_eq!(Control::parse(header, &payload[1..]), None);
            assert_eq!(Control::parse([77, 0], &payload), None);
        }
    }

    #[test]
    fn offers_round_trip() {
        let transfer = TransferId(5);
        let mut all = vec![Descriptor::Nothing];
        for after in [AfterRing::GiveBack, AfterRing::Borrow, AfterRing::Return] {
            let place = PLACE;
            all.push(Descriptor::Ring(RingTerms { place, after }));
        }
        for address in [None, Some(77)] {
            all.push(Descriptor::Call(Call { transfer, address }));
        }
        for offered in all {
            assert_eq!(Descriptor::parse(offered.emit()), Some(offered));
        }
        assert_eq!(Descriptor::parse(BulkDescriptor([6, 0, 0, 0])), None);
        assert_eq!(
            Descriptor::parse(BulkDescriptor([1, 0, RING_BYTES as u64, 0])),
            None
        );
    }
}
