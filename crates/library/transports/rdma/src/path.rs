//! The ways of a link's by one rail.

use std::ops::Range;

use crate::routes::Route;
use crate::way::PoolWay;

pub struct Path {
    /// Among those to the peer: by it both ends name the path.
    pub place: usize,
    /// Among this process's.
    pub rail: usize,
    /// Among the peer's.
    pub port: usize,
    /// By ascending size.
    pub ways: Vec<PoolWay>,
    /// Its queue pairs (RC), by number, once they stand: those of its ways that are not over XRC, and those by which only the peer sends.
    pub pairs: Range<usize>,
    /// This process asked for its queue pairs (RC), or the one that did has said that it is ready; or it has none.
    pub is_ready: bool,
    /// The ways that are missing were asked for.
    pub is_asked: bool,
    /// It has failed: nothing goes by it any more.
    pub is_down: bool,
    /// Of long messages, under way.
    pub stripes: usize,
}

impl Path {
    /// To a peer to which no way stands so far.
    pub fn new(place: usize, route: &Route) -> Path {
        let ways: Vec<PoolWay> = route.pools.iter().map(PoolWay::new).collect();
        Path {
            place,
            rail: route.rail,
            port: route.port,
            pairs: 0..0,
            is_ready: ways.iter().all(PoolWay::is_over_xrc),
            ways,
            is_asked: false,
            is_down: false,
            stripes: 0,
        }
    }

    /// Whether all ways stand.
    pub fn stands(&self) -> bool {
        self.ways.iter().all(|way| way.queue.is_some())
    }

    /// Whether frames can be sent by it.
    pub fn is_open(&self) -> bool {
        self.is_ready && self.stands()
    }

    /// Whether it has the queue pair of that number.
    pub fn has_queue(&self, queue: usize) -> bool {
        self.pairs.contains(&queue) || self.ways.iter().any(|way| way.queue == Some(queue))
    }

    pub fn is_over_xrc(&self) -> bool {
        self.ways.iter().any(PoolWay::is_over_xrc)
    }

    /// By which the peer is asked for what is no frame: data of long messages, and whether it is there. The queue pair, and the
    /// peer's receive queue.
    pub fn last(&self) -> Option<(usize, u32)> {
        self.ways.last()?.to()
    }

    /// The way to the smallest buffers that hold so many bytes.
    pub fn smallest(&self, bytes: usize) -> Option<usize> {
        self.ways.iter().position(|way| way.bytes >= bytes)
    }

    /// The longest frame of at most so many bytes that fills one of the peer's buffers, if any is so short.
    pub fn longest_within(&self, most: usize) -> usize {
        let lengths = self.ways.iter().map(|way| way.bytes);
        let within = lengths.filter(|&bytes| bytes <= most).max();
        within.unwrap_or(most)
    }

    /// The longest frame that the peer's buffers hold.
    pub fn longest(&self) -> usize {
        self.ways.last().map_or(0, |way| way.bytes)
    }

    /// Nothing goes by it any more.
    pub fn fail(&mut self) {
        self.ways.iter_mut().for_each(|way| way.queue = None);
        (self.is_down, self.stripes, self.pairs) = (true, 0, 0..0);
    }
}
