//! How two processes agree on a queue pair each, in datagrams, which may be lost, doubled or anybody's. Takes bytes.
//!
//! 1. The process that wants a link sends a *request*: who it is and whom it means, the lane, its queue pair, a nonce. It signs that with
//!    the key of the process that it means, and repeats it until it is answered.
//! 2. That process, which connects a queue pair of its own to the one that it was told, *answers* with that, or *refuses* and says why.
//!    It signs the answer, with the nonce in it, with its key: so it is the one that was meant, and the answer is to this request.
//!
//! What the protocol for XRC says travels in the same envelope, its requests signed with the key of the process that is asked, its answers
//! with that of the one that answers; its own numbers keep what comes again from being done again.
//!
//! So do questions whether a third process is still there, and the word that it has ended (`presence`).
//!
//! A request that comes again is answered by the same words, and changes nothing: who has recorded one has nothing of it. What is not
//! signed is not answered: strangers do not learn that anybody is there. What keys are, and who
//! knows them, `weft-credentials` says.

use std::fmt;

use weft_credentials::{JobHash, Key, Nonce, SIGNATURE_BYTES};
use weft_pools::{MOST_POOLS, xrc};
use weft_transport::Peer;

const MAGIC: [u8; 8] = *b"weftrdma";
/// The version of the handshake and of what follows it.
const VERSION: u32 = 4;

/// What every datagram begins with.
const HEAD_BYTES: usize = 52;
/// What is signed says this too.
const SIGNED_AS: &str = "weft-rdma link";
/// The longest datagram.
pub const MOST_BYTES: usize = HEAD_BYTES + 8 + xrc::Message::MOST_BYTES + SIGNATURE_BYTES;
const _: () = assert!(4 + 4 * MOST_POOLS < 8 + xrc::Message::MOST_BYTES);
/// Packet numbers have so many bits.
const PSN_MASK: u32 = (1 << 24) - 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkStep {
    Request(End),
    Answer(End),
    Refused(Refusal),
    /// A request of the protocol for XRC, to a process that is taken for one of this host.
    XrcRequest(u64, Vec<u8>),
    /// An answer of that protocol.
    XrcAnswer(Vec<u8>),
    XrcRefused(Refusal),
    /// Whether this process of the host of the one that is asked has ended.
    HasEnded(Peer),
    /// It has.
    Ended(Peer),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The process has given up the one that asks, or is about to leave.
    Ended,
    /// Its adapter has no queue pair for it.
    Full,
    /// It shares no XRC domain with the other processes of its host.
    Apart,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Ended => "it has given up the connection to this process",
            Refusal::Full => "its adapter has no queue pair for this process",
            Refusal::Apart => "it shares no XRC domain with others",
        })
    }
}

/// One end of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    pub psn: u32,
    /// As many at either end, at least one: those of one place go with each other.
    pub queue_pairs: Vec<u32>,
}

/// A datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub step: LinkStep,
    pub from: u32,
    pub to: u32,
    pub lane: u32,
    pub job: JobHash,
    pub nonce: Nonce,
}

/// Packet numbers that follow from a nonce, so that packets of an earlier link are not taken for this one's.
pub fn psn(nonce: &Nonce) -> u32 {
    u32::from_le_bytes([nonce[0], nonce[1], nonce[2], 0])
}

impl LinkStep {
    fn number(&self) -> u32 {
        match self {
            LinkStep::Request(_) => 1,
            LinkStep::Answer(_) => 2,
            LinkStep::XrcRequest(..) => 3,
            LinkStep::XrcAnswer(_) => 4,
            LinkStep::HasEnded(_) => 5,
            LinkStep::Ended(_) => 6,
            LinkStep::Refused(why) => 16 + *why as u32,
            LinkStep::XrcRefused(why) => 32 + *why as u32,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            LinkStep::Request(end) | LinkStep::Answer(end) => end.put(out),
            LinkStep::XrcRequest(host, message) => {
                out.extend(host.to_le_bytes());
                out.extend(message);
            }
            LinkStep::XrcAnswer(message) => out.extend(message),
            LinkStep::HasEnded(peer) | LinkStep::Ended(peer) => out.extend(peer.to_le_bytes()),
            LinkStep::Refused(_) | LinkStep::XrcRefused(_) => {}
        }
    }

    fn read(number: u32, bytes: &[u8]) -> Option<LinkStep> {
        Some(match number {
            1 => LinkStep::Request(End::read(bytes)?),
            2 => LinkStep::Answer(End::read(bytes)?),
            3 => {
                let (host, message) = bytes.split_first_chunk::<8>()?;
                LinkStep::XrcRequest(u64::from_le_bytes(*host), message.to_vec())
            }
            4 => LinkStep::XrcAnswer(bytes.to_vec()),
            5 => LinkStep::HasEnded(Peer::from_le_bytes(bytes.try_into().ok()?)),
            6 => LinkStep::Ended(Peer::from_le_bytes(bytes.try_into().ok()?)),
            16..32 if bytes.is_empty() => LinkStep::Refused(Refusal::of(number - 16)?),
            32..48 if bytes.is_empty() => LinkStep::XrcRefused(Refusal::of(number - 32)?),
            _ => return None,
        })
    }
}

impl Refusal {
    fn of(number: u32) -> Option<Refusal> {
        let all = [Refusal::Ended, Refusal::Full, Refusal::Apart];
        all.into_iter().find(|&why| why as u32 == number)
    }
}

impl End {
    fn put(&self, out: &mut Vec<u8>) {
        let numbers = [self.psn]
            .into_iter()
            .chain(self.queue_pairs.iter().copied());
        numbers.for_each(|number| out.extend(number.to_le_bytes()));
    }

    fn read(bytes: &[u8]) -> Option<End> {
        let (numbers, []) = bytes.as_chunks::<4>() else {
            return None;
        };
        let numbers: Vec<u32> = numbers.iter().map(|n| u32::from_le_bytes(*n)).collect();
        let (&psn, queue_pairs) = numbers.split_first()?;
        let is_usable = (1..=MOST_POOLS).contains(&queue_pairs.len());
        let is_number = numbers.iter().all(|&number| number <= PSN_MASK);
        (is_usable && is_number).then(|| End {
            psn,
            queue_pairs: queue_pairs.to_vec(),
        })
    }
}

impl Message {
    /// Signed with the key of the process that is asked.
    pub fn put(&self, key: &Key) -> Vec<u8> {
        let mut out = Vec::with_capacity(MOST_BYTES);
        out.extend(MAGIC);
        let words = [VERSION, self.step.number(), self.from, self.to, self.lane];
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(self.job.0);
        out.extend(self.nonce);
        self.step.put(&mut out);
        out.extend(key.sign(SIGNED_AS, &[&out]));
        out
    }

    /// Reads a datagram, which may be anything. Whose it is [`is_signed`] says.
    pub fn parse(bytes: &[u8]) -> Option<Message> {
        let (signed, _) = bytes.split_last_chunk::<SIGNATURE_BYTES>()?;
        let (head, body) = signed.split_first_chunk::<HEAD_BYTES>()?;
        let word = |index: usize| {
            let at = 8 + 4 * index;
            u32::from_le_bytes(head[at..at + 4].try_into().expect("4 bytes"))
        };
        if head[..8] != MAGIC || word(0) != VERSION {
            return None;
        }
        Some(Message {
            step: LinkStep::read(word(1), body)?,
            from: word(2),
            to: word(3),
            lane: word(4),
            job: JobHash(head[28..36].try_into().expect("8 bytes")),
            nonce: head[36..52].try_into().expect("16 bytes"),
        })
    }
}

/// Whether who wrote a datagram has the key.
pub fn is_signed(bytes: &[u8], key: &Key) -> bool {
    let parts = bytes.split_last_chunk::<SIGNATURE_BYTES>();
    parts.is_some_and(|(signed, signature)| key.has_signed(SIGNED_AS, &[signed], signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::new([7; 16]);
    const OTHER: Key = Key::new([8; 16]);

    fn end(queue_pairs: usize) -> End {
        End {
            psn: psn(&[9; 16]),
            queue_pairs: vec![0x123456; queue_pairs],
        }
    }

    fn message(step: LinkStep) -> Message {
        Message {
            step,
            from: 3,
            to: 5,
            lane: 7,
            job: JobHash::of("job"),
            nonce: [9; 16],
        }
    }

    fn steps() -> Vec<LinkStep> {
        let all = [Refusal::Ended, Refusal::Full, Refusal::Apart];
        let refused = all.map(LinkStep::Refused).into_iter();
        let refused = refused.chain(all.map(LinkStep::XrcRefused));
        let bytes = vec![5; xrc::Message::MOST_BYTES];
        let over_xrc = [
            LinkStep::XrcRequest(1 << 40, bytes),
            LinkStep::XrcAnswer(vec![]),
        ];
        let ended = [LinkStep::HasEnded(7), LinkStep::Ended(u32::MAX)];
        let refused = refused.chain(over_xrc).chain(ended);
        let ends = [1, 2, MOST_POOLS].map(end);
        let [one, two, most] = ends;
        let ends = [
            LinkStep::Request(one),
            LinkStep::Answer(two),
            LinkStep::Request(most),
        ];
        ends.into_iter().chain(refused).collect()
    }

    #[test]
    fn messages_round_trip_signed() {
        for step in steps() {
            let bytes = message(step.clone()).put(&KEY);
            assert!(bytes.len() <= MOST_BYTES);
            assert_eq!(Message::parse(&bytes), Some(message(step)));
            assert!(is_signed(&bytes, &KEY) && !is_signed(&bytes, &OTHER));
        }
    }

    #[test]
    fn whatever_is_changed_is_not_signed() {
        let good = message(LinkStep::Request(end(3))).put(&KEY);
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            assert!(!is_signed(&bytes, &KEY), "byte {at}");
            if (0..12).contains(&at) {
                assert_eq!(Message::parse(&bytes), None, "byte {at}");
            }
            let bytes = &good[..at];
            assert!(!is_signed(bytes, &KEY), "{at} bytes");
        }
    }

    #[test]
    fn ends_that_cannot_be_are_refused() {
        let with = |change: fn(&mut End)| {
            let mut end = end(2);
            change(&mut end);
            message(LinkStep::Answer(end)).put(&KEY)
        };
        for bytes in [
            with(|end| end.queue_pairs.clear()),
            with(|end| end.queue_pairs = vec![1; MOST_POOLS + 1]),
            with(|end| end.queue_pairs[1] = 1 << 24),
            with(|end| end.psn = 1 << 24),
        ] {
            assert_eq!(Message::parse(&bytes), None);
        }
        assert_eq!(Message::parse(&[0; MOST_BYTES]), None);
        assert_eq!(Message::parse(&[255; MOST_BYTES]), None);
        assert_eq!(Message::parse(&[]), None);
    }
}
