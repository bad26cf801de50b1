//! Receives that have not looked for their message yet.
//!
//! Among very many unexpected messages, to find one is several cache misses, each of which waits for the one before. So
//! while there are many, a receive has only the first of them started and is deferred; some are posted together, and
//! their misses overlap. They are posted, in their order, before the lane is entered for anything but another receive: nothing
//! else sees the lane without them.

use weft_matching::POSTED_TOGETHER;
use weft_transport::Endpoint;

use crate::pending::Pending;
use crate::state::{Core, State};

impl Core {
    /// Defers a receive, or posts it with those that were deferred before.
    #[inline(never)]
    pub fn defer_post(&mut self, slot: Pending) {
        let pattern = self.cells(slot).pattern();
        self.matching.prepare_post(&pattern);
        self.deferred.slots.push(slot);
        self.deferred.patterns.push(pattern);
        if self.deferred.slots.len() == POSTED_TOGETHER {
            self.post_deferred();
        }
    }

    fn post_deferred(&mut self) {
        let mut deferred = std::mem::take(&mut self.deferred);
        self.matching.prefetch_posts(&deferred.patterns);
        deferred.patterns.clear();
        deferred.slots.drain(..).for_each(|slot| self.post(slot));
        // Its room is used again.
        self.deferred = deferred;
    }
}

impl<E: Endpoint> State<E> {
    /// Posts the receives that were deferred, if there are any.
    #[inline(always)]
    pub fn post_deferred(&mut self) {
        if !self.core.deferred.is_empty() {
            self.post_all_deferred();
        }
    }

    #[cold]
    #[inline(never)]
    fn post_all_deferred(&mut self) {
        self.core.post_deferred();
        self.act();
    }
}
