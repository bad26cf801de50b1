//! Receives that have not looked for their message yet.
//!
//! Among very many unexpected messages, to find one is several cache misses, each of which waits for the one before. So
//! while there are many, a receive has only the first of them started and is put off; some are posted together, and
//! their misses overlap. They are posted, in their order, before anybody but another receive enters the lane: nothing
//! else sees the lane without them.

use weft_matching::{POSTED_TOGETHER, Pattern};
use weft_transport::Endpoint;

use crate::lane::{Core, State};

#[derive(Default)]
pub(crate) struct PutOff {
    slots: Vec<u32>,
    patterns: Vec<Pattern>,
}

impl PutOff {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

impl Core {
    /// Puts a receive off, or posts it with those that were put off before.
    #[inline(never)]
    pub fn put_off(&mut self, slot: u32) {
        let pattern = self.cells(slot).pattern();
        self.matching.prepare_post(&pattern);
        self.put_off.slots.push(slot);
        self.put_off.patterns.push(pattern);
        if self.put_off.slots.len() == POSTED_TOGETHER {
            self.post_put_off();
        }
    }

    fn post_put_off(&mut self) {
        let mut put_off = std::mem::take(&mut self.put_off);
        self.matching.prefetch_posts(&put_off.patterns);
        put_off.patterns.clear();
        put_off.slots.drain(..).for_each(|slot| self.post(slot));
        // Its room is used again.
        self.put_off = put_off;
    }
}

impl<E: Endpoint> State<E> {
    /// Posts the receives that were put off, if there are any.
    #[inline(always)]
    pub fn post_put_off(&mut self) {
        if !self.core.put_off.is_empty() {
            self.post_all_put_off();
        }
    }

    #[cold]
    #[inline(never)]
    fn post_all_put_off(&mut self) {
        self.core.post_put_off();
        self.act();
    }
}
