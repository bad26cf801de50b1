//! Messages under way.

use super::Error;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU8;
use weft_memory::Memory;

pub(super) struct Message {
    pub(super) tag: u32,
    pub(super) payload: Payload,
    /// How many messages between hosts led to it, itself included.
    pub(super) depth: usize,
}

/// Messages between hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub messages: usize,
    pub bytes: usize,
}

impl Traffic {
    fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes;
    }
}

pub(super) enum Payload {
    Eager(Vec<u8>),
    Rendezvous(Memory, usize),
    Failed(NonZeroU8),
}

pub(super) struct Posted {
    pub(super) request: usize,
    pub(super) tag: u32,
    pub(super) memory: Memory,
}

pub(super) enum Status {
    Pending,
    Done(Result<usize, Error>),
    Used,
}

#[derive(Default)]
pub(super) struct Pair {
    pub(super) messages: VecDeque<Message>,
    pub(super) receives: VecDeque<Posted>,
}

pub(super) struct State {
    pub(super) random: u64,
    /// What each rank has sent to ranks on other hosts, and what was sent to it from there.
    pub(super) between: Vec<[Traffic; 2]>,
    /// How many messages between hosts one after the other have led to where each host is, by its name.
    pub(super) depths: BTreeMap<u32, usize>,
    pub(super) requests: Vec<Status>,
    /// Whose each request is.
    pub(super) owners: Vec<usize>,
    pub(super) dead: Option<usize>,
    /// By sender and receiver.
    pub(super) pairs: BTreeMap<(usize, usize), Pair>,
}

impl State {
    /// xorshift64*
    pub(super) fn random(&mut self, below: usize) -> usize {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    }

    pub(super) fn request(&mut self, owner: usize, status: Status) -> usize {
        self.owners.push(owner);
        self.requests.push(status);
        self.requests.len() - 1
    }

    /// A message from one host to another.
    pub(super) fn count(&mut self, from: usize, to: usize, bytes: usize) {
        self.between[from][0].add(bytes);
        self.between[to][1].add(bytes);
    }

    /// A rank does nothing any more. What it has sent is delivered, but not from memory that was still its own.
    pub(super) fn die(&mut self, rank: usize) {
        self.dead = Some(rank);
        for (&(from, to), pair) in &mut self.pairs {
            if to == rank {
                pair.receives.clear();
                for message in pair.messages.drain(..) {
                    if let Payload::Rendezvous(_, request) = message.payload {
                        self.requests[request] = Status::Done(Err(Error::Lost));
                    }
                }
            }
            if from == rank {
                let lent = |message: &Message| matches!(message.payload, Payload::Rendezvous(..));
                let first = pair.messages.iter().position(lent);
                pair.messages.truncate(first.unwrap_or(usize::MAX));
            }
        }
    }

    /// Delivers one message, or that there will be none; false if there is nothing to deliver.
    pub(super) fn deliver(&mut self, names: &[u32]) -> bool {
        let dead = self.dead;
        let candidates: Vec<_> = self
            .pairs
            .iter()
            .filter(|((from, _), pair)| !pair.messages.is_empty() || dead == Some(*from))
            .filter(|(_, pair)| !pair.receives.is_empty())
            .map(|(&key, _)| key)
            .collect();
        if candidates.is_empty() {
            return false;
        }
        let key = candidates[self.random(candidates.len())];
        let pair = self.pairs.get_mut(&key).unwrap();
        let receive = pair.receives.pop_front().unwrap();
        let Some(message) = pair.messages.pop_front() else {
            self.requests[receive.request] = Status::Done(Err(Error::Lost));
            return true;
        };
        assert_eq!(message.tag, receive.tag);
        let depth = self.depths.entry(names[key.1]).or_default();
        *depth = message.depth.max(*depth);
        let data = match message.payload {
            Payload::Eager(data) => data,
            Payload::Rendezvous(memory, request) => {
                self.requests[request] = Status::Done(Ok(memory.bytes));
                read(&memory)
            }
            Payload::Failed(mark) => {
                self.requests[receive.request] = Status::Done(Err(Error::Told(mark)));
                return true;
            }
        };
        let outcome = if data.len() > receive.memory.bytes {
            Err(Error::Truncated)
        } else {
            // SAFETY: the tests' buffers outlive the operation.
            unsafe { receive.memory.write(0, &data) };
            Ok(data.len())
        };
        self.requests[receive.request] = Status::Done(outcome);
        true
    }
}

pub(super) fn read(memory: &Memory) -> Vec<u8> {
    let mut data = vec![0; memory.bytes];
    // SAFETY: the tests' buffers outlive the operation.
    unsafe { memory.read(0, &mut data) };
    data
}
