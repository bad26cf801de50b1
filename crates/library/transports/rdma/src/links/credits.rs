//! Credits that come to a lane's links, and frames in buffers that peers have credits for.

use super::completions::Came;
use super::{Links, name};
use crate::frame::Malformed;
use crate::send_queue::SendQueue;

impl Links {
    /// A frame has taken a buffer, for which the peer has to have had a credit if it is a queue pair's own.
    #[inline]
    pub(super) fn taken(&mut self, came: Came<'_>) -> Result<(), Malformed> {
        let Came::Own(queue, ..) = came else {
            return Ok(());
        };
        let queue = self.queues[queue].as_mut();
        let own = queue.filter(|queue| !queue.is_retired);
        let own = own.and_then(|queue| queue.own.as_mut());
        own.map_or(Ok(()), |own| own.taken())
    }

    /// A frame is done with: its buffer is posted again, if few are left.
    #[inline]
    pub(super) fn frame_done(&mut self, came: Came<'_>) {
        let Came::Own(queue, piece, _) = came else {
            return;
        };
        // The frame may have lost the peer.
        let there = self.queues[queue].as_mut();
        let Some(SendQueue { pair, own, .. }) = there.filter(|there| !there.is_retired) else {
            return;
        };
        let Some(own) = own else {
            return;
        };
        let posted = own.give_back(piece, pair);
        let owes = own.owes();
        if let Err(refused) = posted {
            self.refused_to_post(queue, &refused);
        } else if owes {
            self.owes(queue);
        }
    }

    /// Credits of a queue pair are to go alone, if no frame takes them along in this turn.
    fn owes(&mut self, queue: usize) {
        let queue = self.queues[queue].as_ref();
        let number = queue.map(|queue| name(queue.rail, queue.pair.number()));
        let link = number.and_then(|number| self.by_receive.get(&number).copied());
        if let Some(link) = link {
            self.at(link).owes = true;
            self.activate(link);
        }
    }

    /// Credits have come by the queue pair of that number.
    #[inline]
    pub(super) fn given(&mut self, link: usize, credits: u32, pair: u64) -> Result<(), Malformed> {
        match credits {
            0 => Ok(()),
            _ => self.some_given(link, credits, pair),
        }
    }

    fn some_given(&mut self, link: usize, credits: u32, pair: u64) -> Result<(), Malformed> {
        let queue = self.by_send.get(&pair).copied();
        let queue = queue.ok_or(Malformed("credits by a queue pair that has none"))?;
        // One that has failed is sent to no more.
        if self.queues[queue]
            .as_ref()
            .is_some_and(|queue| queue.is_retired)
        {
            return Ok(());
        }
        let there = self.at(link);
        there.given(queue, credits)?;
        if there.has_more() {
            self.activate(link);
        }
        Ok(())
    }

    #[cfg(test)]
    pub fn give(&mut self, link: usize, credits: u32) {
        let there = self.links[link].as_mut().expect("a link of the lane's");
        there.give(credits, &mut self.queues);
        self.post_pairs(link);
    }

    /// Credits have come alone.
    pub(super) fn credits_alone(
        &mut self,
        link: usize,
        credits: u32,
        came: Came<'_>,
        pair: u64,
    ) -> Result<(), Malformed> {
        if let Came::Own(queue, piece, _) = came
            && let Some(there) = &mut self.queues[queue]
            && !there.is_retired
            && let SendQueue { pair, own, .. } = there
            && let Some(own) = own
            && let Err(refused) = own.post_again(piece, pair)
        {
            self.refused_to_post(queue, &refused);
            return Ok(());
        }
        self.given(link, credits, pair)
    }
}
