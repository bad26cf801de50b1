//! Packets of a link's that leave as one frame.

use weft_transport::{Header, Refused};

use super::Links;

impl Links {
    /// Puts a packet of so many bytes to others that leave with it in one frame, if that may be. Where its payload goes.
    pub fn gather(
        &mut self,
        link: usize,
        header: Header,
        bytes: usize,
    ) -> Result<Option<&mut [u8]>, Refused> {
        let there = self.at(link);
        if !there.gathers(bytes) {
            return Ok(None);
        }
        if !there.holds(bytes) {
            self.end_gathering(link)?;
            let (there, queues, parts) = self.all(link);
            there.begin_gathering(bytes, queues, &mut parts.posting);
        }
        if !self.at(link).holds(bytes) {
            return Ok(None);
        }
        self.counts().gathered.add(1);
        let (there, _, parts) = self.all(link);
        Ok(there.gather(header.0, bytes, &mut parts.posting))
    }

    /// Pushes what was put together of a link's packets: what is pushed next is to be behind it.
    #[inline]
    pub fn end_gathering(&mut self, link: usize) -> Result<(), Refused> {
        let (there, queues, _) = self.all(link);
        let Some(queue) = there.end_gathering(queues) else {
            return Ok(());
        };
        self.post(queue);
        // The adapter may have refused it, which loses the peer.
        match self.links[link] {
            Some(_) => Ok(()),
            None => Err(Refused::Lost),
        }
    }
}
