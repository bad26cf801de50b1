//! One of the four tables: groups of cells with equal keys, found by hash.
//!
//! A bucket is the head of a chain of leaders; a group's other cells hang on its leader. There is no entry besides the
//! cells themselves: a group that loses its last cell is gone.
//!
//! While there is only one group, it stands beside the buckets as `lone`, and finding it takes no hash: a window of
//! receives for one peer and tag, or the unexpected messages of one communicator.
//!
//! Growth: a new group adds up to two buckets, so that there are two for each group. Shrinking: see `low_water`.

#[cfg(test)]
mod audit;

use crate::arena::Arena;
use crate::buckets::{self, Buckets, Pair};
use crate::cell::Links;
use crate::key::{Key, Wildcards};
use crate::low_water::{LowWater, Upkeep};
use crate::{FOLLOWER, NIL};

/// Buckets taken away by one turn of upkeep.
const UPKEEP_BUCKETS: u32 = 16;

/// A leader, and what points at it: the leader before it in the chain, or the bucket (or `lone`) where that is `NIL`.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub cell: u32,
    before: u32,
    bucket: u32,
}

pub(crate) struct Table {
    groups: u32,
    /// The leader of the only group, which stands in no bucket; else `NIL`.
    lone: u32,
    buckets: Buckets,
    low_water: LowWater,
    /// Buckets to come down to; `u32::MAX` when none are to be given back.
    target: u32,
}

impl Table {
    pub const fn new() -> Table {
        Table {
            groups: 0,
            lone: NIL,
            buckets: Buckets::new(),
            low_water: LowWater::new(),
            target: u32::MAX,
        }
    }

    pub fn bytes(&self) -> usize {
        self.buckets.bytes()
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// The leader of the group of `key`: its oldest cell.
    #[inline(always)]
    pub fn find<T, const N: usize>(
        &self,
        cells: &Arena<T, N>,
        kind: Wildcards,
        key: Key,
        steps: &mut u32,
    ) -> Option<Found> {
        if self.lone != NIL {
            *steps += 1;
            let found = Found {
                cell: self.lone,
                before: NIL,
                bucket: NIL,
            };
            return (cells[self.lone].key().project(kind) == key).then_some(found);
        }
        if self.groups == 0 {
            return None;
        }
        self.find_in(
            self.buckets.of_hash(key.hash(kind)),
            cells,
            kind,
            key,
            steps,
        )
        .ok()
    }

    /// The leader of the group of `key`, or else the last leader of the chain.
    #[inline(always)]
    fn find_in<T, const N: usize>(
        &self,
        bucket: u32,
        cells: &Arena<T, N>,
        kind: Wildcards,
        key: Key,
        steps: &mut u32,
    ) -> Result<Found, u32> {
        let mut before = NIL;
        let mut cell = self.buckets.head(bucket);
        *steps += 1;
        while cell != NIL {
            *steps += 1;
            let leader = &cells[cell];
            if leader.key().project(kind) == key {
                return Ok(Found {
                    cell,
                    before,
                    bucket,
                });
            }
            before = cell;
            cell = leader.links(kind).chain;
        }
        Err(before)
    }

    /// Where the chain of `bucket` goes on after the leader `before`; where that is `NIL`, its head.
    #[inline(always)]
    fn chain_after<'a, T, const N: usize>(
        &'a mut self,
        cells: &'a mut Arena<T, N>,
        kind: Wildcards,
        bucket: u32,
        before: u32,
    ) -> &'a mut u32 {
        if before == NIL {
            self.buckets.head_mut(bucket)
        } else {
            &mut cells[before].links_mut(kind).chain
        }
    }

    /// What an arrival of `key` would look at first: the head of a chain, or `NIL`.
    #[inline(always)]
    pub fn first_look(&self, kind: Wildcards, key: Key) -> u32 {
        if self.lone != NIL || self.groups == 0 {
            return self.lone;
        }
        self.buckets.head(self.buckets.of_hash(key.hash(kind)))
    }

    /// Has the bucket of `key` fetched, for later.
    #[inline(always)]
    pub fn fetch(&self, kind: Wildcards, key: Key) {
        if self.lone == NIL && self.groups != 0 {
            self.buckets.fetch(self.buckets.of_hash(key.hash(kind)));
        }
    }

    /// Puts `cell`, whose key is `key`, at the end of its group.
    #[inline(always)]
    pub fn push<T, const N: usize>(
        &mut self,
        cells: &mut Arena<T, N>,
        kind: Wildcards,
        key: Key,
        cell: u32,
        steps: &mut u32,
    ) {
        if self.groups == 0 {
            *cells[cell].links_mut(kind) = Links {
                chain: NIL,
                next: cell,
                prev: cell,
            };
            self.lone = cell;
            self.groups = 1;
            return;
        }
        if self.lone != NIL {
            *steps += 1;
            if cells[self.lone].key().project(kind) == key {
                return append(cells, kind, self.lone, cell, steps);
            }
            self.settle_lone(cells, kind);
        }
        let bucket = self.buckets.of_hash(key.hash(kind));
        match self.find_in(bucket, cells, kind, key, steps) {
            Ok(found) => append(cells, kind, found.cell, cell, steps),
            Err(last) => {
                *cells[cell].links_mut(kind) = Links {
                    chain: NIL,
                    next: cell,
                    prev: cell,
                };
                // At the end of the chain: what came first is mostly taken first.
                *self.chain_after(cells, kind, bucket, last) = cell;
                self.groups += 1;
                if 2 * self.groups > self.buckets.count() {
                    self.grow(cells, kind, steps);
                }
            }
        }
    }

    /// Takes a leader out of its group; the next cell leads then.
    #[inline(always)]
    pub fn remove<T, const N: usize>(
        &mut self,
        cells: &mut Arena<T, N>,
        kind: Wildcards,
        found: Found,
        steps: &mut u32,
    ) {
        let Links { chain, next, prev } = *cells[found.cell].links(kind);
        let heir = if next == found.cell {
            self.groups -= 1;
            chain
        } else {
            *steps += 2;
            let heir = cells[next].links_mut(kind);
            (heir.chain, heir.prev) = (chain, prev);
            cells[prev].links_mut(kind).next = next;
            next
        };
        if self.lone != NIL {
            self.lone = heir;
        } else {
            *self.chain_after(cells, kind, found.bucket, found.before) = heir;
        }
    }

    /// Takes any cell out of its group.
    #[inline(always)]
    pub fn unlink<T, const N: usize>(
        &mut self,
        cells: &mut Arena<T, N>,
        kind: Wildcards,
        cell: u32,
        steps: &mut u32,
    ) {
        let links = *cells[cell].links(kind);
        if links.is_leader() {
            let key = cells[cell].key().project(kind);
            let found = self
                .find(cells, kind, key, steps)
                .expect("a cell's group is in its table");
            self.remove(cells, kind, found, steps);
        } else {
            *steps += 2;
            cells[links.prev].links_mut(kind).next = links.next;
            cells[links.next].links_mut(kind).prev = links.prev;
        }
    }

    /// Moves the lone group to its bucket, because a second group comes.
    fn settle_lone<T, const N: usize>(&mut self, cells: &Arena<T, N>, kind: Wildcards) {
        self.buckets.open();
        let key = cells[self.lone].key().project(kind);
        // The buckets are empty: a lone group's chain ends with it.
        *self.buckets.head_mut(self.buckets.of_hash(key.hash(kind))) = self.lone;
        self.lone = NIL;
    }

    /// Adds two buckets.
    #[inline(never)]
    fn grow<T, const N: usize>(
        &mut self,
        cells: &mut Arena<T, N>,
        kind: Wildcards,
        steps: &mut u32,
    ) {
        self.target = u32::MAX;
        for _ in 0..2 {
            let Pair { lower, upper } = self.buckets.extend();
            let mut cell = std::mem::replace(self.buckets.head_mut(lower), NIL);
            let (mut stay, mut go) = (NIL, NIL);
            *steps += 2;
            while cell != NIL {
                *steps += 1;
                let bucket = self
                    .buckets
                    .of_hash(cells[cell].key().project(kind).hash(kind));
                let next = std::mem::replace(&mut cells[cell].links_mut(kind).chain, NIL);
                let last = if bucket == upper { &mut go } else { &mut stay };
                let before = std::mem::replace(last, cell);
                *self.chain_after(cells, kind, bucket, before) = cell;
                cell = next;
            }
        }
    }

    /// Takes a sample of the population, or takes away a few buckets.
    pub fn upkeep<T, const N: usize>(
        &mut self,
        cells: &mut Arena<T, N>,
        kind: Wildcards,
    ) -> Upkeep {
        if self.target == u32::MAX {
            let Some(peak) = self.low_water.sample(self.groups, self.buckets.count()) else {
                return Upkeep::NOTHING;
            };
            let room = (4 * u64::from(peak)).max(u64::from(buckets::MIN));
            if 2 * room > u64::from(self.buckets.count()) {
                return Upkeep::NOTHING;
            }
            self.target = room as u32;
        }
        let mut steps = 0;
        for _ in 0..UPKEEP_BUCKETS {
            if self.buckets.count() <= self.target
                || 4 * u64::from(self.groups) >= u64::from(self.buckets.count())
            {
                self.target = u32::MAX;
                self.buckets.trim_directory();
                return Upkeep {
                    steps,
                    unfinished: false,
                };
            }
            self.shrink(cells, kind, &mut steps);
        }
        Upkeep {
            steps,
            unfinished: true,
        }
    }

    /// Takes away one bucket.
    fn shrink<T, const N: usize>(
        &mut self,
        cells: &mut Arena<T, N>,
        kind: Wildcards,
        steps: &mut u32,
    ) {
        let Pair { lower, upper } = self.buckets.last_pair();
        let moved = self.buckets.head(upper);
        *steps += 1;
        if moved != NIL {
            let mut last = moved;
            *steps += 2;
            while cells[last].links(kind).chain != NIL {
                last = cells[last].links(kind).chain;
                *steps += 1;
            }
            cells[last].links_mut(kind).chain = self.buckets.head(lower);
            *self.buckets.head_mut(lower) = moved;
        }
        self.buckets.retract();
    }
}

/// Puts `cell` at the end of the group of `leader`.
#[inline(always)]
fn append<T, const N: usize>(
    cells: &mut Arena<T, N>,
    kind: Wildcards,
    leader: u32,
    cell: u32,
    steps: &mut u32,
) {
    *steps += 1;
    let last = std::mem::replace(&mut cells[leader].links_mut(kind).prev, cell);
    cells[last].links_mut(kind).next = cell;
    *cells[cell].links_mut(kind) = Links {
        chain: FOLLOWER,
        next: leader,
        prev: last,
    };
}
