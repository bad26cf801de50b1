//! What processes tell each other's agents: that something happened to an object of theirs.

use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::process::Process;
use crate::fabric::record::xrc::slots_of;
use crate::fabric::{self, FABRIC_SLOT, Number, ObjectId, POSTING, Peer, QpRecord};

/// Why a peer brought a queue pair into the error state: which event its owner raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Trouble {
    /// A receive request failed; its completion tells.
    Receive = 1,
    /// The peer asked for what the keys do not allow.
    Access = 2,
    /// The peer's request was not valid.
    Request = 3,
    /// Whoever executed a packet for it died over it.
    Abandoned = 4,
}

impl Trouble {
    fn from_word(word: u64) -> Option<Trouble> {
        use Trouble::*;
        [Receive, Access, Request, Abandoned]
            .into_iter()
            .find(|trouble| *trouble as u64 == word)
    }

    pub fn event(self) -> Option<ibv_event_type> {
        match self {
            Trouble::Receive => None,
            Trouble::Access => Some(IBV_EVENT_QP_ACCESS_ERR),
            Trouble::Request => Some(IBV_EVENT_QP_REQ_ERR),
            Trouble::Abandoned => Some(IBV_EVENT_QP_FATAL),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    /// A queue pair is in the error state: flush it.
    Failed {
        number: Number,
        trouble: Trouble,
    },
    /// The first message came before the queue pair was ready to send.
    Established {
        number: Number,
    },
    SrqLimit {
        index: u16,
    },
    CqOverrun {
        id: ObjectId,
    },
}

const FAILED: u64 = 1;
const ESTABLISHED: u64 = 2;
const SRQ_LIMIT: u64 = 3;
const CQ_OVERRUN: u64 = 4;

impl Letter {
    pub fn words(&self) -> fabric::Letter {
        let [kind, what, why] = match *self {
            Letter::Failed { number, trouble } => {
                [FAILED, u64::from(number.bits()), trouble as u64]
            }
            Letter::Established { number } => [ESTABLISHED, u64::from(number.bits()), 0],
            Letter::SrqLimit { index } => [SRQ_LIMIT, u64::from(index), 0],
            Letter::CqOverrun { id } => [CQ_OVERRUN, id.word(), 0],
        };
        [kind, what, why, 0, 0, 0, 0, 0]
    }

    /// None for nonsense.
    pub fn from_words(words: &fabric::Letter) -> Option<Letter> {
        let [kind, what, why, ..] = *words;
        let number = Number::from_bits(what as u32);
        Some(match kind {
            FAILED => Letter::Failed {
                number,
                trouble: Trouble::from_word(why)?,
            },
            ESTABLISHED => Letter::Established { number },
            SRQ_LIMIT => Letter::SrqLimit { index: what as u16 },
            CQ_OVERRUN => Letter::CqOverrun {
                id: ObjectId::from_word(what)?,
            },
            _ => return None,
        })
    }
}

/// Sends a letter. One that finds no room is lost: what it tells of stands in the records too, and its receiver does not
/// read anyway.
pub fn send(process: &Process, peer: &Peer, letter: &Letter) {
    let _ = process.fabric.send(peer, &letter.words(), POSTING);
}

/// Brings a queue pair of `peer`'s into the error state, and has its owner flush it. Of an XRC target all hear that have it open.
#[cold]
pub fn fail(process: &Process, peer: &Peer, record: &QpRecord, number: Number, trouble: Trouble) {
    if number.slot() == FABRIC_SLOT {
        fail_shared(process, record, number, trouble);
    } else if record.fail(IBV_QPS_ERR) {
        record.failure.store(trouble as u32, Ordering::Relaxed);
        send(process, peer, &Letter::Failed { number, trouble });
    }
}

/// As [`fail`], of an XRC target.
#[cold]
pub fn fail_shared(process: &Process, record: &QpRecord, number: Number, trouble: Trouble) {
    if record.fail(IBV_QPS_ERR) {
        record.failure.store(trouble as u32, Ordering::Relaxed);
        for peer in slots_of(&record.openers).filter_map(|slot| process.fabric.peer(slot)) {
            send(process, &peer, &Letter::Failed { number, trouble });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_survive_their_words() {
        let number = Number::new(3, 77);
        let id = ObjectId {
            index: 9,
            generation: 5,
        };
        for letter in [
            Letter::Failed {
                number,
                trouble: Trouble::Access,
            },
            Letter::Established { number },
            Letter::SrqLimit { index: 4 },
            Letter::CqOverrun { id },
        ] {
            assert_eq!(Letter::from_words(&letter.words()), Some(letter));
        }
        assert_eq!(Letter::from_words(&[0; 8]), None);
        assert_eq!(Letter::from_words(&[1, 2, 9, 0, 0, 0, 0, 0]), None);
    }
}
