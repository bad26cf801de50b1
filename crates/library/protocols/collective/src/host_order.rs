//! Blocks by host: those of one host's ranks, and all in the order of the hosts, where those of each host follow each other and so
//! go between hosts as one message.

use std::ops::Range;

use crate::memory::{Parts, Scratch, copy, window};
use crate::{Blocks, Hosts};
use weft_memory::Memory;
use weft_reserve::NoMemory;

/// The blocks of a host's ranks, by position.
pub(crate) struct OfHost<'a> {
    pub blocks: &'a dyn Blocks,
    pub hosts: &'a Hosts,
    pub host: usize,
}

impl Blocks for OfHost<'_> {
    fn block(&self, position: usize) -> Memory {
        self.blocks.block(self.hosts.rank_at(self.host, position))
    }

    fn whole(&self) -> Option<Memory> {
        None
    }
}

/// All ranks' blocks, packed: where they are, if they lie so, else in scratch.
pub(crate) struct HostOrder<'a> {
    hosts: &'a Hosts,
    blocks: &'a dyn Blocks,
    in_place: Option<Memory>,
    scratch: Scratch,
    /// Where each block begins, by its rank's place in the order of the hosts, and last where all end.
    bounds: Vec<usize>,
}

impl<'a> HostOrder<'a> {
    pub fn new(
        hosts: &'a Hosts,
        ranks: usize,
        blocks: &'a dyn Blocks,
    ) -> Result<HostOrder<'a>, NoMemory> {
        let mut bounds = vec![0];
        for place in 0..ranks {
            bounds.push(bounds[place] + blocks.block(hosts.rank_in(place)).bytes);
        }
        let whole = blocks.whole().filter(|whole| whole.layout.is_none());
        let in_place = whole.filter(|_| hosts.is_contiguous());
        let scratch = match in_place {
            Some(_) => Scratch::new(0)?,
            None => Scratch::new(bounds[ranks])?,
        };
        Ok(HostOrder {
            hosts,
            blocks,
            in_place,
            scratch,
            bounds,
        })
    }

    /// Whether the blocks are where they belong.
    pub fn is_in_place(&self) -> bool {
        self.in_place.is_some()
    }

    /// All blocks. Holds until this moves, as scratch does.
    pub fn memory(&self) -> Memory {
        match &self.in_place {
            Some(memory) => memory.clone(),
            None => self.scratch.memory(self.bounds[self.bounds.len() - 1]),
        }
    }

    fn bytes_of(&self, places: Range<usize>) -> Range<usize> {
        self.bounds[places.start]..self.bounds[places.end]
    }

    /// A block for each host: all of its ranks'.
    pub fn of_hosts(&self) -> Parts<impl Fn(usize) -> Range<usize>> {
        Parts {
            memory: self.memory(),
            bytes: |host| self.bytes_of(self.hosts.places_on(host)),
        }
    }

    /// The blocks of this host's ranks, by position.
    pub fn of_own_host(&self) -> Parts<impl Fn(usize) -> Range<usize>> {
        let places = self.hosts.places_on(self.hosts.own());
        let all = self.bytes_of(places.clone());
        let start = all.start;
        Parts {
            memory: window(&self.memory(), all),
            bytes: move |position| {
                let place = places.start + position;
                let Range { start: from, end } = self.bytes_of(place..place + 1);
                from - start..end - start
            },
        }
    }

    /// Fills it from the blocks.
    pub fn pack(&self) {
        self.each(copy);
    }

    /// Puts the blocks to where they belong.
    pub fn unpack(&self) {
        self.each(|block, packed| copy(packed, block));
    }

    fn each(&self, move_one: impl Fn(&Memory, &Memory)) {
        if self.is_in_place() {
            return;
        }
        let memory = self.memory();
        for place in 0..self.bounds.len() - 1 {
            let block = self.blocks.block(self.hosts.rank_in(place));
            let packed = window(&memory, self.bytes_of(place..place + 1));
            move_one(&block, &packed);
        }
    }
}
