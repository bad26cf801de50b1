//! A pool's buffers, and the shared receive queue that they are posted to.

use weft_pools::{Pool, Refill};
use weft_verbs::{PostError, ProtectionDomain, SharedReceiveQueue};

use crate::adapter::{Unusable, unusable};
use crate::buffers::Receives;

/// The number of a completion is a received piece's, with this bit, or counts the requests of its send queue.
const RECEIVED: u64 = 1 << 63;
/// It is a piece of the queue pair's own, and no number of a queue stands beside it.
const OWN: u64 = 1 << 62;
const QUEUE_SHIFT: u32 = 32;

/// A received piece, by its number among those of its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Of a shared receive queue, by its number among the lane's.
    Shared { queue: usize, piece: usize },
    /// Of the queue pair that the completion names.
    Own { piece: usize },
}

impl Received {
    pub fn id(self) -> u64 {
        match self {
            Received::Shared { queue, piece } => {
                RECEIVED | (queue as u64) << QUEUE_SHIFT | piece as u64
            }
            Received::Own { piece } => RECEIVED | OWN | piece as u64,
        }
    }

    /// From the number of a completion, unless that is of a request.
    #[inline]
    pub fn of(id: u64) -> Option<Received> {
        if id & RECEIVED == 0 {
            return None;
        }
        let piece = id as u32 as usize;
        Some(match id & OWN {
            0 => Received::Shared {
                queue: (id & !RECEIVED) as usize >> QUEUE_SHIFT,
                piece,
            },
            _ => Received::Own { piece },
        })
    }
}

pub struct ReceiveQueue {
    queue: SharedReceiveQueue,
    number: usize,
    receives: Receives,
    refill: Refill,
}

impl ReceiveQueue {
    /// With all its buffers posted. It is the lane's of this number.
    pub fn new(
        queue: SharedReceiveQueue,
        number: usize,
        pool: &Pool,
        domain: &ProtectionDomain,
    ) -> Result<ReceiveQueue, Unusable> {
        let (bytes, count) = (pool.bytes as usize, pool.count as usize);
        let mut made = ReceiveQueue {
            queue,
            number,
            receives: Receives::new(domain, bytes, count).map_err(unusable)?,
            refill: Refill::new(pool),
        };
        made.refill().map_err(unusable)?;
        Ok(made)
    }

    /// The bytes of a frame, which the adapter says to be so many.
    pub fn bytes(&self, piece: usize, bytes: usize) -> &[u8] {
        self.receives.bytes(piece, bytes)
    }

    /// Buffers that it holds.
    pub fn count(&self) -> usize {
        self.receives.count()
    }

    /// Bytes of its buffers.
    pub fn buffer_bytes(&self) -> usize {
        self.receives.buffer_bytes()
    }

    /// A frame has come. False if the adapter cannot have had a buffer for it.
    #[must_use]
    pub fn taken(&mut self) -> bool {
        self.refill.taken()
    }

    /// What was in a piece is done with.
    pub fn give_back(&mut self, piece: usize) {
        self.receives.give_back(piece);
    }

    /// Posts used buffers again, once few are left, in one list.
    #[inline]
    pub fn refill(&mut self) -> Result<(), PostError> {
        match (self.refill.needed() as usize).min(self.receives.free()) {
            0 => Ok(()),
            count => self.post(count),
        }
    }

    fn post(&mut self, count: usize) -> Result<(), PostError> {
        let queue = self.number;
        let id = |piece| Received::Shared { queue, piece }.id();
        self.queue.post(self.receives.list(count, id))?;
        self.refill.filled(count as u32);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_pieces_round_trip() {
        for (queue, piece) in [(0, 0), (31, 32_767), (1, 0), (0, 1)] {
            for received in [Received::Shared { queue, piece }, Received::Own { piece }] {
                assert_eq!(Received::of(received.id()), Some(received));
            }
        }
        assert_eq!(Received::of(u64::MAX >> 1), None);
    }
}
