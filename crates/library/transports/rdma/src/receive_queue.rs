//! A pool's buffers, and the shared receive queue that they are posted to.

use weft_pools::{Pool, Refill};
use weft_verbs::{PostError, ProtectionDomain, ReceiveList, SharedReceiveQueue};

use crate::adapter::{Unusable, unusable};
use crate::buffers::Receives;

/// The number of a completion is a received piece's, with this bit and the queue's number, or counts the requests of its send queue.
pub const RECEIVED: u64 = 1 << 63;
const QUEUE_SHIFT: u32 = 32;

/// A received piece: the number of its queue among the lane's, its own in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    pub queue: usize,
    pub piece: usize,
}

impl Received {
    fn id(self) -> u64 {
        RECEIVED | (self.queue as u64) << QUEUE_SHIFT | self.piece as u64
    }

    /// From the number of a completion, unless that is of a request.
    #[inline]
    pub fn of(id: u64) -> Option<Received> {
        (id & RECEIVED != 0).then_some(Received {
            queue: (id & !RECEIVED) as usize >> QUEUE_SHIFT,
            piece: id as u32 as usize,
        })
    }
}

pub struct ReceiveQueue {
    queue: SharedReceiveQueue,
    number: usize,
    receives: Receives,
    refill: Refill,
    /// Pieces whose frames are done with.
    used: Vec<usize>,
    list: ReceiveList,
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
            used: (0..count).collect(),
            list: ReceiveList::with_room(count),
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
        self.receives.count() * self.receives.longest()
    }

    /// A frame has come. False if the adapter cannot have had a buffer for it.
    #[must_use]
    pub fn taken(&mut self) -> bool {
        self.refill.taken()
    }

    /// What was in a piece is done with.
    pub fn give_back(&mut self, piece: usize) {
        self.used.push(piece);
    }

    /// Posts used buffers again, once few are left, in one list.
    #[inline]
    pub fn refill(&mut self) -> Result<(), PostError> {
        match (self.refill.needed() as usize).min(self.used.len()) {
            0 => Ok(()),
            count => self.post(count),
        }
    }

    fn post(&mut self, count: usize) -> Result<(), PostError> {
        self.list.clear();
        let queue = self.number;
        for piece in self.used.drain(self.used.len() - count..) {
            let id = Received { queue, piece }.id();
            self.receives.push(piece, id, &mut self.list);
        }
        self.queue.post(&mut self.list)?;
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
            let received = Received { queue, piece };
            assert_eq!(Received::of(received.id()), Some(received));
        }
        assert_eq!(Received::of(u64::MAX >> 1), None);
    }
}
