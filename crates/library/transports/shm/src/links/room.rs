//! Peers that packets were refused for, until there is room or a link: what the engine is told of them.

use weft_sync::cells::Malformed;
use weft_transport::{Peer, Refused, Sink};

use super::{Blocked, Links};
use crate::peers::lost;

impl Links {
    #[cold]
    pub(super) fn block(&mut self, peer: Peer, bytes: usize) -> Refused {
        match self.blocked.iter_mut().find(|blocked| blocked.peer == peer) {
            Some(blocked) => blocked.bytes = blocked.bytes.max(bytes),
            None => self.blocked.push(Blocked { peer, bytes }),
        }
        self.has_news = true;
        self.wake_sleeper();
        Refused::Busy
    }

    /// Whether there is something to tell the engine, or to look at for that: refused packets, links, losses.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    /// All of it was told that could be.
    pub fn told_news(&mut self) {
        self.has_news = self.has_lost()
            || self.has_to_connect()
            || !self.blocked.is_empty()
            || !self.connected.is_empty();
    }

    /// Tells the engine of peers that have made room.
    #[cold]
    pub fn unblock(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        self.connected.sort_unstable();
        self.connected.dedup();
        for peer in std::mem::take(&mut self.connected) {
            if !self.is_lost(peer) {
                moved = true;
                sink.writable(peer);
            }
        }
        let mut index = 0;
        while let Some(&Blocked { peer, bytes }) = self.blocked.get(index) {
            match self.has_room(peer, bytes) {
                Ok(false) => index += 1,
                Ok(true) => {
                    self.blocked.swap_remove(index);
                    moved = true;
                    sink.writable(peer);
                }
                Err(Malformed(why)) => {
                    self.blocked.swap_remove(index);
                    self.lose(lost(peer, why), peer);
                }
            }
        }
        moved
    }

    fn has_room(&mut self, peer: Peer, bytes: usize) -> Result<bool, Malformed> {
        self.open
            .get_mut(peer)
            .map_or(Ok(false), |link| link.producer.has_room(bytes))
    }

    /// Has peers ring when they make room. True if one has already.
    pub fn wait_for_room(&mut self) -> bool {
        let mut room = !self.connected.is_empty() || self.has_to_connect();
        for index in 0..self.blocked.len() {
            let Blocked { peer, bytes } = self.blocked[index];
            if let Some(link) = self.open.get(peer) {
                link.producer.wait_for_room(true);
            }
            // A malformed count is told by the next turn.
            room |= self.has_room(peer, bytes) != Ok(false);
        }
        room
    }

    pub fn end_wait(&mut self) {
        for blocked in &self.blocked {
            if let Some(link) = self.open.get(blocked.peer) {
                link.producer.wait_for_room(false);
            }
        }
    }
}
