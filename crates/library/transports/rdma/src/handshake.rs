//! How two processes agree on a queue pair each, in datagrams, which may be lost, doubled or anybody's. Takes bytes.
//!
//! 1. The process that wants a link sends a *request*: who it is and whom it means, the lane, its queue pair, a nonce. It signs that with
//!    the key of the process that it means, and repeats it until it is answered.
//! 2. That process, which connects a queue pair of its own to the one that it was told, *answers* with that, or *refuses* and says why.
//!    It signs the answer, with the nonce in it, with its key: so it is the one that was meant, and the answer is to this request.
//!
//! A request that comes again is answered by the same words, and changes nothing: who has recorded one has nothing of it. What is not
//! signed is not answered: strangers do not learn that anybody is there. A key stands on its process's card, and cards travel through
//! the launcher alone. Signing is HMAC-SHA256 with a name for each step.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::card::Key;

const MAGIC: [u8; 8] = *b"weftrdma";
/// The version of the handshake and of what follows it.
const VERSION: u32 = 1;

/// Of every datagram.
pub const BYTES: usize = 104;
/// Where the signature begins.
const SIGNED_BYTES: usize = 72;
/// Packet numbers have so many bits.
const PSN_MASK: u32 = (1 << 24) - 1;

pub type Nonce = [u8; 16];
/// Names a job, in a length that is fixed.
pub type JobHash = [u8; 8];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Request,
    Answer,
    Refused(Refusal),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The process has given up the one that asks, or is about to leave.
    Ended,
    /// Its adapter has no queue pair for it.
    Full,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Ended => "it has given up the connection to this process",
            Refusal::Full => "its adapter has no queue pair for this process",
        })
    }
}

/// One end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    pub queue_pair: u32,
    pub psn: u32,
    /// As in `ibv_mtu`.
    pub mtu: u32,
    pub reads: u8,
}

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub step: Step,
    pub from: u32,
    pub to: u32,
    pub lane: u32,
    pub job: JobHash,
    pub nonce: Nonce,
    pub end: End,
}

pub fn hash_job(job: &str) -> JobHash {
    let digest = Sha256::digest(job.as_bytes());
    std::array::from_fn(|index| digest[index])
}

/// Packet numbers that follow from a nonce, so that packets of an earlier link are not taken for this one's.
pub fn psn(nonce: &Nonce) -> u32 {
    u32::from_le_bytes([nonce[0], nonce[1], nonce[2], 0])
}

fn signature(key: &Key, signed: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(b"weft-rdma link");
    mac.update(signed);
    mac
}

impl Step {
    fn number(self) -> u32 {
        match self {
            Step::Request => 1,
            Step::Answer => 2,
            Step::Refused(Refusal::Ended) => 16,
            Step::Refused(Refusal::Full) => 17,
        }
    }

    fn of(number: u32) -> Option<Step> {
        let refused = [Refusal::Ended, Refusal::Full].map(Step::Refused);
        let steps = [Step::Request, Step::Answer].into_iter().chain(refused);
        steps.into_iter().find(|step| step.number() == number)
    }
}

impl Message {
    /// Signed with the key of the process that is asked.
    pub fn put(&self, key: &Key) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        out[..8].copy_from_slice(&MAGIC);
        let words = [
            VERSION,
            self.step.number(),
            self.from,
            self.to,
            self.lane,
            self.end.queue_pair,
            self.end.psn,
            self.end.mtu,
            self.end.reads.into(),
        ];
        for (index, word) in words.into_iter().enumerate() {
            out[8 + 4 * index..][..4].copy_from_slice(&word.to_le_bytes());
        }
        out[44..52].copy_from_slice(&self.job);
        out[52..68].copy_from_slice(&self.nonce);
        let signature = signature(key, &out[..SIGNED_BYTES]).finalize().into_bytes();
        out[SIGNED_BYTES..].copy_from_slice(&signature);
        out
    }

    /// Reads a datagram, which may be anything. Whose it is [`is_signed`] says.
    pub fn parse(bytes: &[u8; BYTES]) -> Option<Message> {
        let word = |index: usize| {
            let at = 8 + 4 * index;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
        };
        if bytes[..8] != MAGIC || word(0) != VERSION || bytes[68..SIGNED_BYTES] != [0; 4] {
            return None;
        }
        let end = End {
            queue_pair: word(5),
            psn: word(6),
            mtu: word(7),
            reads: u8::try_from(word(8)).ok()?,
        };
        let is_request_or_answer = (1..=2).contains(&word(1));
        let is_usable = end.reads > 0 && (1..=5).contains(&end.mtu);
        if end.queue_pair > PSN_MASK || end.psn > PSN_MASK || is_request_or_answer && !is_usable {
            return None;
        }
        Some(Message {
            step: Step::of(word(1))?,
            from: word(2),
            to: word(3),
            lane: word(4),
            job: bytes[44..52].try_into().expect("8 bytes"),
            nonce: bytes[52..68].try_into().expect("16 bytes"),
            end,
        })
    }
}

/// Whether who wrote a datagram has the key.
pub fn is_signed(bytes: &[u8; BYTES], key: &Key) -> bool {
    let (signed, by) = bytes.split_at(SIGNED_BYTES);
    signature(key, signed).verify_slice(by).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = [7; 16];

    fn message(step: Step) -> Message {
        Message {
            step,
            from: 3,
            to: 5,
            lane: 7,
            job: hash_job("job"),
            nonce: [9; 16],
            end: End {
                queue_pair: 0x123456,
                psn: psn(&[9; 16]),
                mtu: 3,
                reads: 16,
            },
        }
    }

    #[test]
    fn messages_round_trip_signed() {
        let refused = [Refusal::Ended, Refusal::Full].map(Step::Refused);
        for step in [Step::Request, Step::Answer].into_iter().chain(refused) {
            let bytes = message(step).put(&KEY);
            assert_eq!(Message::parse(&bytes), Some(message(step)));
            assert!(is_signed(&bytes, &KEY) && !is_signed(&bytes, &[8; 16]));
        }
    }

    #[test]
    fn whatever_is_changed_is_not_signed() {
        let good = message(Step::Request).put(&KEY);
        for at in 0..BYTES {
            let mut bytes = good;
            bytes[at] ^= 1;
            assert!(!is_signed(&bytes, &KEY), "byte {at}");
            if (0..12).contains(&at) {
                assert_eq!(Message::parse(&bytes), None, "byte {at}");
            }
        }
    }

    #[test]
    fn ends_that_cannot_be_are_refused() {
        let with = |end: End| Message {
            end,
            ..message(Step::Answer)
        };
        let good = message(Step::Answer).end;
        for end in [
            End { mtu: 0, ..good },
            End { mtu: 6, ..good },
            End { reads: 0, ..good },
            End {
                queue_pair: 1 << 24,
                ..good
            },
            End {
                psn: 1 << 24,
                ..good
            },
        ] {
            assert_eq!(Message::parse(&with(end).put(&KEY)), None, "{end:?}");
        }
        assert_eq!(Message::parse(&[0; BYTES]), None);
        assert_eq!(Message::parse(&[255; BYTES]), None);
    }
}
