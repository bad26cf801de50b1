//! Buffers of a queue pair's own: a pool of type P, posted for one peer, which has credits for them (`weft_pools::OwedCredits`).

use weft_pools::{LEAST_BYTES, OwedCredits};
use weft_verbs::{Domain, PostError, ProtectionDomain, QueuePair};

use crate::adapter::{Unusable, unusable};
use crate::buffers::Receives;
use crate::frame::Malformed;
use crate::pool_pair::PoolPair;
use crate::receive_queue::Received;

pub struct PerPeer {
    receives: Receives,
    /// Of the pool; none if all buffers are for what the peer owes.
    owed: Option<OwedCredits>,
}

impl PerPeer {
    /// For a queue pair between those pools; none if nothing comes to it but into a shared receive queue.
    pub fn new(domain: &ProtectionDomain, pools: &PoolPair) -> Result<Option<PerPeer>, Unusable> {
        let count = pools.own_buffers() as usize;
        if count == 0 {
            return Ok(None);
        }
        let bytes = pools.own.map_or(LEAST_BYTES, |own| own.bytes) as usize;
        Ok(Some(PerPeer {
            receives: Receives::new(domain, bytes, count).map_err(unusable)?,
            owed: pools.own.as_ref().map(OwedCredits::new),
        }))
    }

    /// Posts all buffers, to a queue pair that the peer does not send to yet.
    pub fn post_all(&mut self, pair: &QueuePair<impl Domain>) -> Result<(), PostError> {
        self.post(self.receives.free(), pair)
    }

    fn post(&mut self, count: usize, pair: &QueuePair<impl Domain>) -> Result<(), PostError> {
        let id = |piece| Received::Own { piece }.id();
        pair.post_receive(self.receives.list(count, id))
    }

    /// Buffers that it holds.
    pub fn count(&self) -> usize {
        self.receives.count()
    }

    /// Bytes of its buffers.
    pub fn buffer_bytes(&self) -> usize {
        self.receives.buffer_bytes()
    }

    /// The bytes of a frame, which the adapter says to be so many.
    pub fn bytes(&self, piece: usize, bytes: usize) -> &[u8] {
        self.receives.bytes(piece, bytes)
    }

    /// A frame has come.
    pub fn taken(&mut self) -> Result<(), Malformed> {
        let taken = self.owed.as_mut().map(|owed| owed.data_arrived());
        match taken {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(Malformed("a frame that it has no credit for")),
        }
    }

    /// A frame is done with. Posts used buffers again, once few are left.
    pub fn give_back(
        &mut self,
        piece: usize,
        pair: &QueuePair<impl Domain>,
    ) -> Result<(), PostError> {
        self.receives.give_back(piece);
        let needed = self.owed.map_or(0, |owed| owed.buffers_needed());
        let count = (needed as usize).min(self.receives.free());
        if count > 0 {
            self.post(count, pair)?;
            let owed = self.owed.iter_mut();
            owed.for_each(|owed| owed.buffers_posted(count as u32));
        }
        Ok(())
    }

    /// Credits have come alone: their buffer is posted again, before they are counted.
    pub fn post_again(
        &mut self,
        piece: usize,
        pair: &QueuePair<impl Domain>,
    ) -> Result<(), PostError> {
        self.receives.give_back(piece);
        self.post(1, pair)
    }

    /// The credits that a frame carries which has room for so many.
    #[inline]
    pub fn take_credits(&mut self, most: u32) -> u32 {
        self.owed.as_mut().map_or(0, |owed| owed.take(most))
    }

    /// Whether credits are to go alone.
    pub fn owes(&self) -> bool {
        self.owed.is_some_and(|owed| owed.is_due())
    }

    /// The credits that are to go alone, if that is due.
    pub fn take_due(&mut self) -> Option<u32> {
        self.owed.as_mut()?.message_due()
    }
}
