//! How two processes come to know each other before anything else is said on a connection. Takes bytes.
//!
//! 1. The process that has connected says hello: the protocol's version, the job, who it is and whom it means, the lane and what the
//!    connection is for, a nonce. It signs that with the key of the process that it means.
//! 2. That process answers by a nonce of its own, signed likewise: it has the key, so it is the one that was meant. Or it
//!    refuses and says why.
//! 3. The first signs both, which nobody can do who has only listened to an earlier handshake.
//! 4. The second accepts, or refuses.
//!
//! What keys are, and who knows them, `weft-credentials` says.

use std::fmt;

use weft_credentials::{JobHash, Key, Nonce, SIGNATURE_BYTES, Signature};

const MAGIC: [u8; 8] = *b"weft-tcp";
/// The version of the handshake and of what follows it.
pub const VERSION: u32 = 2;

pub const HELLO_BYTES: usize = 80;
pub const REPLY_BYTES: usize = 56;
pub const PROOF_BYTES: usize = SIGNATURE_BYTES;

/// Where the signature of a hello begins.
const SIGNED_BYTES: usize = HELLO_BYTES - SIGNATURE_BYTES;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// A lane's packets, and short bulk data.
    Packets,
    /// Long bulk data.
    Bulk,
    /// Parts of long bulk data, by another interface. Its number, from 0 to [`MOST_STRIPES`]: none is used twice.
    Stripe(u8),
}

/// Stripes that a lane and a peer may have had.
pub const MOST_STRIPES: u8 = u8::MAX - 2;

impl Purpose {
    pub fn code(self) -> u8 {
        match self {
            Purpose::Packets => 0,
            Purpose::Bulk => 1,
            Purpose::Stripe(number) => 2 + number.min(MOST_STRIPES),
        }
    }

    pub fn of_code(code: u8) -> Purpose {
        match code {
            0 => Purpose::Packets,
            1 => Purpose::Bulk,
            stripe => Purpose::Stripe(stripe - 2),
        }
    }

    pub fn is_stripe(self) -> bool {
        matches!(self, Purpose::Stripe(_))
    }
}

/// What the process that has connected says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub from: u32,
    pub to: u32,
    pub lane: u32,
    pub purpose: Purpose,
    pub job: JobHash,
    pub nonce: Nonce,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It speaks another version: this one.
    Version(u32),
    Job,
    /// Another rank is meant than this one.
    Rank(u32),
    /// Whoever has connected does not know the key.
    Key,
    /// There is such a connection already, or its other end makes one.
    Known,
    /// The process has given up the one that connects, or is about to leave.
    Ended,
    Malformed,
    /// The process has no descriptor for another connection.
    Full,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Version(version) => write!(
                f,
                "it speaks version {version} of the protocol, this process version {VERSION}"
            ),
            Refusal::Job => f.write_str("a process of another job answers there"),
            Refusal::Rank(rank) => write!(f, "rank {rank} answers there"),
            Refusal::Key => f.write_str("it does not take this process for one of its job"),
            Refusal::Known => f.write_str("it has such a connection already"),
            Refusal::Ended => f.write_str("it has given up the connection to this process"),
            Refusal::Malformed => f.write_str("it cannot read what this process says"),
            Refusal::Full => {
                f.write_str("it has as many files and connections open as it may (ulimit -n there)")
            }
        }
    }
}

/// What the process that was connected to says, in steps 2 and 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Challenge { nonce: Nonce, signature: Signature },
    Accepted,
    Refused(Refusal),
}

impl Hello {
    /// Step 1, for the process that has this key.
    pub fn put(&self, key: &Key) -> [u8; HELLO_BYTES] {
        let mut out = [0; HELLO_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&self.from.to_le_bytes());
        out[16..20].copy_from_slice(&self.to.to_le_bytes());
        out[20..22].copy_from_slice(&(self.lane as u16).to_le_bytes());
        out[22] = self.purpose.code();
        out[24..32].copy_from_slice(&self.job.0);
        out[32..48].copy_from_slice(&self.nonce);
        let signature = key.sign("hello", &[&out[..SIGNED_BYTES]]);
        out[SIGNED_BYTES..].copy_from_slice(&signature);
        out
    }

    /// Reads a hello, which may be anything, by a process of this job, rank and key.
    pub fn parse(
        bytes: &[u8; HELLO_BYTES],
        job: JobHash,
        rank: u32,
        key: &Key,
    ) -> Result<Hello, Refusal> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        if bytes[..8] != MAGIC {
            return Err(Refusal::Malformed);
        }
        if word(8) != VERSION {
            return Err(Refusal::Version(VERSION));
        }
        if bytes[24..32] != job.0 {
            return Err(Refusal::Job);
        }
        if word(16) != rank {
            return Err(Refusal::Rank(rank));
        }
        let (signed, signature) = bytes.split_last_chunk().expect("a hello is longer");
        if !key.has_signed("hello", &[signed], signature) {
            return Err(Refusal::Key);
        }
        if bytes[23] != 0 {
            return Err(Refusal::Malformed);
        }
        Ok(Hello {
            from: word(12),
            to: rank,
            lane: u32::from(u16::from_le_bytes([bytes[20], bytes[21]])),
            purpose: Purpose::of_code(bytes[22]),
            job,
            nonce: bytes[32..48].try_into().expect("16 bytes"),
        })
    }
}

impl Reply {
    /// Step 2, to a hello.
    pub fn challenge(key: &Key, hello: &[u8; HELLO_BYTES], nonce: Nonce) -> Reply {
        let signature = key.sign("challenge", &[hello, &nonce]);
        Reply::Challenge { nonce, signature }
    }

    pub fn put(&self) -> [u8; REPLY_BYTES] {
        let mut out = [0; REPLY_BYTES];
        let (tag, word) = match *self {
            Reply::Challenge { nonce, signature } => {
                out[8..24].copy_from_slice(&nonce);
                out[24..].copy_from_slice(&signature);
                (1, 0)
            }
            Reply::Accepted => (2, 0),
            Reply::Refused(refusal) => match refusal {
                Refusal::Version(version) => (16, version),
                Refusal::Job => (17, 0),
                Refusal::Rank(rank) => (18, rank),
                Refusal::Key => (19, 0),
                Refusal::Known => (20, 0),
                Refusal::Ended => (21, 0),
                Refusal::Malformed => (22, 0),
                Refusal::Full => (23, 0),
            },
        };
        out[..4].copy_from_slice(&u32::to_le_bytes(tag));
        out[4..8].copy_from_slice(&u32::to_le_bytes(word));
        out
    }

    /// Reads a reply, which may be anything; `None` if it is none.
    pub fn parse(bytes: &[u8; REPLY_BYTES]) -> Option<Reply> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        Some(match word(0) {
            1 => Reply::Challenge {
                nonce: bytes[8..24].try_into().expect("16 bytes"),
                signature: bytes[24..].try_into().expect("32 bytes"),
            },
            2 => Reply::Accepted,
            16 => Reply::Refused(Refusal::Version(word(4))),
            17 => Reply::Refused(Refusal::Job),
            18 => Reply::Refused(Refusal::Rank(word(4))),
            19 => Reply::Refused(Refusal::Key),
            20 => Reply::Refused(Refusal::Known),
            21 => Reply::Refused(Refusal::Ended),
            22 => Reply::Refused(Refusal::Malformed),
            23 => Reply::Refused(Refusal::Full),
            _ => return None,
        })
    }
}

/// Step 3: the answer to a challenge, if that comes from the process that has the key.
pub fn prove(
    key: &Key,
    hello: &[u8; HELLO_BYTES],
    nonce: &Nonce,
    challenge: &Signature,
) -> Option<[u8; PROOF_BYTES]> {
    let is_genuine = key.has_signed("challenge", &[hello, nonce], challenge);
    is_genuine.then(|| key.sign("proof", &[hello, nonce]))
}

/// Whether a proof is one.
pub fn is_proof(
    key: &Key,
    hello: &[u8; HELLO_BYTES],
    nonce: &Nonce,
    proof: &[u8; PROOF_BYTES],
) -> bool {
    key.has_signed("proof", &[hello, nonce], proof)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::new([7; 16]);
    const OTHER: Key = Key::new([8; 16]);

    fn hello() -> Hello {
        Hello {
            from: 3,
            to: 5,
            lane: 7,
            purpose: Purpose::Bulk,
            job: JobHash::of("job"),
            nonce: [9; 16],
        }
    }

    fn read(bytes: &[u8; HELLO_BYTES]) -> Result<Hello, Refusal> {
        Hello::parse(bytes, JobHash::of("job"), 5, &KEY)
    }

    #[test]
    fn both_prove_that_they_know_the_key() {
        let bytes = hello().put(&KEY);
        assert_eq!(read(&bytes), Ok(hello()));
        let challenge = Reply::challenge(&KEY, &bytes, [1; 16]);
        let Some(Reply::Challenge { nonce, signature }) = Reply::parse(&challenge.put()) else {
            panic!("a challenge")
        };
        let proof = prove(&KEY, &bytes, &nonce, &signature).unwrap();
        assert!(is_proof(&KEY, &bytes, &nonce, &proof));
        // An earlier proof, another key, another challenge are of no use.
        assert!(!is_proof(&KEY, &bytes, &[2; 16], &proof));
        assert!(!is_proof(&OTHER, &bytes, &nonce, &proof));
        assert!(prove(&OTHER, &bytes, &nonce, &signature).is_none());
        assert!(prove(&KEY, &bytes, &[2; 16], &signature).is_none());
        assert!(
            !is_proof(&KEY, &bytes, &nonce, &signature),
            "it says its step"
        );
    }

    #[test]
    fn every_purpose_has_a_code_of_its_own() {
        for code in 0..=u8::MAX {
            assert_eq!(Purpose::of_code(code).code(), code);
        }
    }

    #[test]
    fn the_wrong_ones_are_refused_by_name() {
        let good = hello().put(&KEY);
        for at in 0..HELLO_BYTES {
            let mut bytes = good;
            bytes[at] ^= 1;
            let expected = match at {
                0..8 => Refusal::Malformed,
                8..12 => Refusal::Version(VERSION),
                16..20 => Refusal::Rank(5),
                24..32 => Refusal::Job,
                _ => Refusal::Key,
            };
            assert_eq!(read(&bytes), Err(expected), "byte {at}");
        }
        assert_eq!(read(&hello().put(&OTHER)), Err(Refusal::Key));
    }

    #[test]
    fn replies_round_trip() {
        let refusals = [
            Refusal::Version(9),
            Refusal::Job,
            Refusal::Rank(70_000),
            Refusal::Key,
            Refusal::Known,
            Refusal::Ended,
            Refusal::Malformed,
            Refusal::Full,
        ];
        let replies = refusals.map(Reply::Refused);
        for reply in replies.into_iter().chain([Reply::Accepted]) {
            assert_eq!(Reply::parse(&reply.put()), Some(reply));
        }
        assert_eq!(Reply::parse(&[0; REPLY_BYTES]), None);
        assert_eq!(Reply::parse(&[255; REPLY_BYTES]), None);
    }
}
