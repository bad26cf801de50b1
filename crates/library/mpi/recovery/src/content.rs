//! What notices say: which communicator is revoked, or a message of an agreement.

use weft_engine::Notice;
use weft_objects::comm::{Traffic, context_of};
use weft_transport::Peer;

const REVOKED: u8 = 0;
const AGREEMENT: u8 = 1;

pub enum Content {
    Revoked,
    Agreement(Vec<u8>),
}

impl Content {
    /// As it came; none if it is nonsense.
    pub fn of(mut bytes: Vec<u8>) -> Option<Content> {
        match bytes.pop()? {
            REVOKED => Some(Content::Revoked),
            AGREEMENT => Some(Content::Agreement(bytes)),
            _ => None,
        }
    }

    /// To a process of the communicator of this number.
    pub fn notice(self, peer: Peer, number: u32) -> Notice {
        let (mut bytes, kind) = match self {
            Content::Revoked => (Vec::new(), REVOKED),
            Content::Agreement(bytes) => (bytes, AGREEMENT),
        };
        bytes.push(kind);
        let context = context_of(number, Traffic::Internal);
        Notice {
            peer,
            context,
            bytes,
        }
    }
}
