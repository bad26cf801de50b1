//! The side that messages go to: memory, and a queue pair for each of the initiator's. One-sided operations ask nothing more of it.

use serde::{Deserialize, Serialize};
use weft_verbs::abi::{
    IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, ibv_access_flags,
};
use weft_verbs::{
    Buffer, CompletionQueue, Context, Error, MemoryRegion, ProtectionDomain, QueuePair,
    QueuePairAttributes,
};

use crate::device::Choice;
use crate::talk::Talk;
use weft_endpoint::{Card, MemoryAddress, Port, QueuePairAddress};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Of memory.
    pub bytes: usize,
}

const ACCESS: ibv_access_flags =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

/// The library's own memory where there is such: peers then reach it without a system call.
pub fn exposed(domain: &ProtectionDomain, bytes: usize) -> Result<Buffer, Error> {
    const EOPNOTSUPP: i32 = 95;
    match Buffer::from_library(domain, bytes) {
        Err(error) if error.errno == EOPNOTSUPP => Ok(Buffer::new(bytes)),
        made => made,
    }
}

/// Where peers find a queue pair.
pub fn address(queue_pair: &QueuePair) -> QueuePairAddress {
    QueuePairAddress {
        number: queue_pair.number(),
        psn: 0,
    }
}

/// Memory that peers write to and read from.
pub struct Exposed {
    context: Context,
    domain: ProtectionDomain,
    pub region: MemoryRegion,
}

impl Exposed {
    pub fn new(device: &Choice, bytes: usize) -> Result<Exposed, String> {
        let context = device.open()?;
        let text = |error: Error| error.to_string();
        let domain = ProtectionDomain::new(&context).map_err(text)?;
        let buffer = exposed(&domain, bytes).map_err(text)?;
        let region = MemoryRegion::new(&domain, &buffer, ACCESS).map_err(text)?;
        Ok(Exposed {
            context,
            domain,
            region,
        })
    }

    /// A queue pair for each of `peer`'s, in its order, connected to it.
    pub fn answer(&self, peer: &Card) -> Result<Answering, String> {
        let text = |error: Error| error.to_string();
        let completions = CompletionQueue::new(&self.context, 1, None).map_err(text)?;
        let attributes = QueuePairAttributes {
            send_depth: 1,
            ..QueuePairAttributes::default()
        };
        let answer = |&to: &QueuePairAddress| -> Result<QueuePair, Error> {
            let (send, receive) = (completions.clone(), completions.clone());
            let made = QueuePair::new(self.domain.clone(), send, receive, None, &attributes)?;
            made.connect(&peer.port.connection(address(&made), to))?;
            Ok(made)
        };
        let queue_pairs: Result<Vec<QueuePair>, Error> =
            peer.queue_pairs.iter().map(answer).collect();
        Ok(Answering {
            card: Card {
                port: Port::of(&self.context).map_err(|e| e.to_string())?,
                memory: vec![MemoryAddress::of(&self.region)],
                queue_pairs: Vec::new(),
            },
            queue_pairs: queue_pairs.map_err(text)?,
        })
    }
}

/// Connected queue pairs, which must stay while the peer uses its own.
pub struct Answering {
    card: Card,
    queue_pairs: Vec<QueuePair>,
}

impl Answering {
    pub fn card(&self) -> Card {
        Card {
            queue_pairs: self.queue_pairs.iter().map(address).collect(),
            ..self.card.clone()
        }
    }
}

pub fn play(talk: &mut Talk, device: &Choice, job: &Job) -> Result<(), String> {
    let exposed = Exposed::new(device, job.bytes)?;
    let peer: Card = talk.hear()?;
    let answering = exposed.answer(&peer)?;
    talk.say(&answering.card())?;
    talk.hear::<()>()
}
