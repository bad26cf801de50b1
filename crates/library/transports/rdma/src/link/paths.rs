//! A link's paths, and which of them frames go by.

use std::ops::Range;

use weft_pools::xrc::SharedQueue;

use super::Link;
use crate::frame::Malformed;
use crate::path::Path;
use crate::send_queue::{SendQueues, at_mut};

impl Link {
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.path).chain(&self.others)
    }

    pub(super) fn paths_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        std::iter::once(&mut self.path).chain(&mut self.others)
    }

    /// The path by a rail, if one leads there by it.
    pub(super) fn by_rail(&mut self, rail: usize) -> Option<&mut Path> {
        self.paths_mut().find(|path| path.rail == rail)
    }

    /// The paths that have not failed, a bit each.
    pub fn alive(&self) -> u32 {
        let alive = self.paths().filter(|path| !path.is_down);
        alive.fold(0, |bits, path| bits | 1 << path.place)
    }

    /// Whether there is a path that has not failed beside that of a rail.
    pub fn has_beside(&self, rail: usize) -> bool {
        let mut others = self.paths().filter(|path| path.rail != rail);
        others.any(|path| !path.is_down)
    }

    /// The queue pairs (RC) of a path, which have these numbers, stand. Its place; none if it has failed meanwhile.
    pub fn connect(
        &mut self,
        rail: usize,
        pairs: Range<usize>,
        is_ready: bool,
        queues: &mut SendQueues,
    ) -> Option<usize> {
        let path = self.by_rail(rail).filter(|path| !path.is_down)?;
        let ways = path.ways.iter_mut().filter(|way| !way.is_over_xrc());
        for (way, queue) in ways.zip(pairs.clone()) {
            way.queue = Some(queue);
            at_mut(queues, queue).leads_to(way.window());
        }
        path.pairs = pairs;
        path.is_ready |= is_ready;
        let place = path.place;
        self.look();
        Some(place)
    }

    /// The peer has said that the path of that place is ready.
    pub fn ready(&mut self, place: u64) -> Result<(), Malformed> {
        let path = self.paths_mut().find(|path| path.place as u64 == place);
        path.ok_or(Malformed("that a path is ready which there is not"))?
            .is_ready = true;
        self.look();
        Ok(())
    }

    /// The queue pair to the peer's host by a rail is that of this number, and leads to these queues of the peer's.
    pub fn connect_over_xrc(
        &mut self,
        rail: usize,
        queue: usize,
        theirs: &[SharedQueue],
        queues: &mut SendQueues,
    ) -> Result<(), Malformed> {
        let Some(path) = self.by_rail(rail).filter(|path| !path.is_down) else {
            return Ok(());
        };
        for way in path.ways.iter_mut().filter(|way| way.is_over_xrc()) {
            let its = theirs.iter().find(|its| its.bytes as usize == way.bytes);
            let its = its.ok_or(Malformed("queues that are not those of its card"))?;
            (way.queue, way.srq) = (Some(queue), its.number);
            at_mut(queues, queue).leads_to(way.window());
        }
        self.look();
        Ok(())
    }

    /// The queue pair to the peer's host is no more. Whether it was in use.
    pub fn disconnect(&mut self, queue: usize) -> bool {
        let Some(path) = self.paths_mut().find(|path| path.has_queue(queue)) else {
            return false;
        };
        let its = path.ways.iter_mut().filter(|way| way.queue == Some(queue));
        its.for_each(|way| way.queue = None);
        path.is_asked = false;
        self.is_open = self.path.is_open();
        true
    }

    /// The path by a rail is to be asked for again.
    pub fn asks_again(&mut self, rail: usize) {
        if let Some(path) = self.by_rail(rail) {
            path.is_asked = false;
        }
    }

    pub fn look(&mut self) {
        self.is_open = self.path.is_open();
        if self.is_open {
            self.waits = None;
        }
    }

    /// A path has failed, and nothing is under way by it any more. If it was the first, another is now, one that stands if there is such.
    /// Whether there is any.
    pub fn fail_path(&mut self, rail: usize) -> bool {
        if let Some(path) = self.by_rail(rail) {
            path.fail();
        }
        if self.path.is_down && !self.change_path() {
            return false;
        }
        for stream in self.receiving.without(self.alive()) {
            self.follow(stream);
        }
        true
    }

    /// Frames go by another path from here on, if one has not failed.
    pub fn change_path(&mut self) -> bool {
        let left = |path: &Path| !path.is_down;
        let standing = self.others.iter().position(|p| left(p) && p.is_open());
        let Some(next) = standing.or_else(|| self.others.iter().position(left)) else {
            return false;
        };
        std::mem::swap(&mut self.path, &mut self.others[next]);
        self.look();
        true
    }

    /// Whether another path than the first can be sent on.
    pub fn has_open_beside(&self) -> bool {
        self.others
            .iter()
            .any(|path| !path.is_down && path.is_open())
    }

    /// Whether all ways of the first path stand.
    pub fn stands(&self) -> bool {
        self.path.stands()
    }

    /// The queue pair of a way of the first path, by number; none if there are not so many ways, or it does not stand.
    #[inline]
    pub fn queue(&self, way: usize) -> Option<usize> {
        self.path.ways.get(way)?.queue
    }

    pub fn is_over_xrc(&self) -> bool {
        self.path.is_over_xrc()
    }

    /// How many ways the first path has.
    pub fn ways(&self) -> usize {
        self.path.ways.len()
    }

    /// Whether it has the queue pair of that number.
    pub fn has_queue(&self, queue: usize) -> bool {
        self.paths().any(|path| path.has_queue(queue))
    }

    /// Its queue pairs (RC) of all paths, by number.
    pub fn pairs(&self) -> impl Iterator<Item = usize> + use<> {
        let paths: Vec<Range<usize>> = self.others.iter().map(|path| path.pairs.clone()).collect();
        self.path.pairs.clone().chain(paths.into_iter().flatten())
    }
}
