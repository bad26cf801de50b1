//! What processes tell each other's agents: that something happened to an object of theirs.

use std::sync::atomic::Ordering;

use weft_verbs_abi::*;

use super::process::Process;
use crate::fabric::record::xrc::slots_of;
use crate::fabric::{self, FABRIC_SLOT, Number, ObjectId, POSTING, Peer, QpRecord};

/// Why a peer brought a queue pair into the error state: which event its owner raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum AffiliatedError {
    /// A receive request failed; its completion tells.
    Receive = 1,
    /// The peer asked for what the keys do not allow.
    Access = 2,
    /// The peer's request was not valid.
    Request = 3,
    /// The process that executed a packet for it died over it.
    Abandoned = 4,
}

impl AffiliatedError {
    fn from_word(word: u64) -> Option<AffiliatedError> {
        use AffiliatedError::*;
        [Receive, Access, Request, Abandoned]
            .into_iter()
            .find(|error| *error as u64 == word)
    }

    pub fn event(self) -> Option<ibv_event_type> {
        match self {
            AffiliatedError::Receive => None,
            AffiliatedError::Access => Some(IBV_EVENT_QP_ACCESS_ERR),
            AffiliatedError::Request => Some(IBV_EVENT_QP_REQ_ERR),
            AffiliatedError::Abandoned => Some(IBV_EVENT_QP_FATAL),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentMessage {
    /// A queue pair is in the error state: flush it.
    Failed {
        number: Number,
        error: AffiliatedError,
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

impl AgentMessage {
    pub fn words(&self) -> fabric::MailboxMessage {
        let [kind, what, why] = match *self {
            AgentMessage::Failed { number, error } => {
                [FAILED, u64::from(number.bits()), error as u64]
            }
            AgentMessage::Established { number } => [ESTABLISHED, u64::from(number.bits()), 0],
            AgentMessage::SrqLimit { index } => [SRQ_LIMIT, u64::from(index), 0],
            AgentMessage::CqOverrun { id } => [CQ_OVERRUN, id.word(), 0],
        };
        [kind, what, why, 0, 0, 0, 0, 0]
    }

    /// None for nonsense.
    pub fn from_words(words: &fabric::MailboxMessage) -> Option<AgentMessage> {
        let [kind, what, why, ..] = *words;
        let number = Number::from_bits(what as u32);
        Some(match kind {
            FAILED => AgentMessage::Failed {
                number,
                error: AffiliatedError::from_word(why)?,
            },
            ESTABLISHED => AgentMessage::Established { number },
            SRQ_LIMIT => AgentMessage::SrqLimit { index: what as u16 },
            CQ_OVERRUN => AgentMessage::CqOverrun {
                id: ObjectId::from_word(what)?,
            },
            _ => return None,
        })
    }
}

/// Sends a message. One that finds no room is lost: what it tells of stands in the records too, and its receiver does not
/// read anyway.
pub fn send(process: &Process, peer: &Peer, agent_message: &AgentMessage) {
    let _ = process.fabric.send(peer, &agent_message.words(), POSTING);
}

/// Brings a queue pair of `peer`'s into the error state, and has its owner flush it. Of an XRC target all hear that have it open.
#[cold]
pub fn fail(
    process: &Process,
    peer: &Peer,
    record: &QpRecord,
    number: Number,
    error: AffiliatedError,
) {
    if number.slot() == FABRIC_SLOT {
        fail_shared(process, record, number, error);
    } else if record.fail(IBV_QPS_ERR) {
        record.failure.store(error as u32, Ordering::Relaxed);
        send(process, peer, &AgentMessage::Failed { number, error });
    }
}

/// As [`fail`], of an XRC target.
#[cold]
pub fn fail_shared(process: &Process, record: &QpRecord, number: Number, error: AffiliatedError) {
    if record.fail(IBV_QPS_ERR) {
        record.failure.store(error as u32, Ordering::Relaxed);
        for peer in slots_of(&record.openers).filter_map(|slot| process.fabric.peer(slot)) {
            send(process, &peer, &AgentMessage::Failed { number, error });
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
        for agent_message in [
            AgentMessage::Failed {
                number,
                error: AffiliatedError::Access,
            },
            AgentMessage::Established { number },
            AgentMessage::SrqLimit { index: 4 },
            AgentMessage::CqOverrun { id },
        ] {
            assert_eq!(
                AgentMessage::from_words(&agent_message.words()),
                Some(agent_message)
            );
        }
        assert_eq!(AgentMessage::from_words(&[0; 8]), None);
        assert_eq!(AgentMessage::from_words(&[1, 2, 9, 0, 0, 0, 0, 0]), None);
    }
}
