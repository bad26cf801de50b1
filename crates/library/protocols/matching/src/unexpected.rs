//! Unexpected messages: each in all four tables, by one cell.

use std::num::NonZeroU64;

use crate::arena::Arena;
use crate::cell::Stamps;
use crate::key::{Key, Wildcards, with_kind};
use crate::low_water::Upkeep;
use crate::pending::{FETCHED_FROM, Pending, ROOM};
use crate::table::Table;
use crate::{Envelope, NIL};

/// Receives that are worth posting together: enough to overlap all misses that a core can have under way.
pub const POSTED_TOGETHER: usize = 32;

/// While none stands in the tables, and no more than this many wait, none is linked for a search that finds nothing.
const FEW: u32 = 8;

/// An unexpected message that waits. Never names another one, even after this one is gone. Ordered by time of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnexpectedId {
    stamp: NonZeroU64,
    cell: u32,
}

pub(crate) struct Unexpected<U> {
    pub cells: Arena<U, 4>,
    tables: [Table; 4],
    /// Cells on their way to the tables.
    pending: Pending,
    stamps: Stamps,
}

impl<U> Unexpected<U> {
    pub fn new() -> Self {
        Unexpected {
            cells: Arena::new(),
            tables: [const { Table::new() }; 4],
            pending: Pending::new(),
            stamps: Stamps::new(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.tables.iter().map(Table::bytes).sum::<usize>()
    }

    /// `key` is full.
    #[inline(never)]
    pub fn push(&mut self, key: Key, value: U, steps: &mut u32) -> UnexpectedId {
        let stamp = self.stamps.next();
        let cell = self.cells.insert(key, stamp, value);
        if self.cells.len() >= FETCHED_FROM {
            for kind in Wildcards::ALL {
                with_kind!(kind, KIND => self.tables[KIND as usize].fetch(KIND, key.project(KIND)));
            }
        }
        if self.pending.push(cell) {
            self.settle(steps);
        }
        UnexpectedId { stamp, cell }
    }

    /// Links the pending cells.
    #[inline(never)]
    fn settle(&mut self, steps: &mut u32) {
        let pending = self.pending.take_all();
        if self.cells.len() >= FETCHED_FROM {
            self.fetch_heads(&pending);
        }
        for cell in pending {
            if cell != NIL {
                let key = self.cells[cell].key();
                for kind in Wildcards::ALL {
                    with_kind!(kind, KIND => {
                        self.tables[KIND as usize].push(&mut self.cells, KIND, key.project(KIND), cell, steps);
                    });
                }
            }
        }
    }

    /// Has fetched what the buckets of these cells name; the buckets were fetched before.
    fn fetch_heads(&self, cells: &[u32; ROOM]) {
        for &cell in cells {
            if cell != NIL {
                let key = self.cells[cell].key();
                for kind in Wildcards::ALL {
                    let head = self.tables[kind as usize].first_look(kind, key.project(kind));
                    self.cells.fetch(head);
                }
            }
        }
    }

    /// First stage of looking for a message: has the bucket fetched that a receive of `key` will look in.
    #[inline]
    pub fn fetch_bucket(&self, key: Key) {
        let kind = key.kind();
        self.tables[kind as usize].fetch(kind, key);
    }

    /// Second stage, for at most [`POSTED_TOGETHER`] receives whose buckets have been fetched: has fetched what taking their messages will touch,
    /// step by step, so that the cache misses of a step overlap. What it finds is a hint.
    #[inline(never)]
    pub fn fetch_messages(&self, keys: &[Key]) {
        let mut found = [NIL; POSTED_TOGETHER];
        for (cell, &key) in found.iter_mut().zip(keys) {
            let kind = key.kind();
            *cell = self.tables[kind as usize].first_look(kind, key);
            self.fetch_whole(*cell);
        }
        // A chain has mostly one leader, and seldom more than two.
        for (cell, &key) in found.iter_mut().zip(keys) {
            let kind = key.kind();
            if let Some(leader) = self.cells.get(*cell)
                && leader.key().project(kind) != key
            {
                *cell = leader.links(kind).chain;
                self.fetch_whole(*cell);
            }
        }
        for cell in found {
            self.fetch_neighbours(cell);
        }
        for cell in found {
            self.fetch_heads_of(cell);
        }
    }

    /// Has fetched the cell's buckets, where it leads, and the cells beside it in its groups.
    #[inline]
    fn fetch_neighbours(&self, cell: u32) {
        let Some(message) = self.cells.get(cell) else {
            return;
        };
        for kind in Wildcards::ALL {
            let links = message.links(kind);
            if links.is_leader() {
                self.tables[kind as usize].fetch(kind, message.key().project(kind));
            }
            for beside in [links.next, links.prev] {
                if beside != cell {
                    self.cells.fetch(beside);
                }
            }
        }
    }

    /// Has fetched what the buckets of a cell name where it leads.
    #[inline]
    fn fetch_heads_of(&self, cell: u32) {
        let Some(message) = self.cells.get(cell) else {
            return;
        };
        for kind in Wildcards::ALL {
            if message.links(kind).is_leader() {
                let head = self.tables[kind as usize].first_look(kind, message.key().project(kind));
                if head != cell {
                    self.cells.fetch(head);
                }
            }
        }
    }

    /// Has the cell fetched with its content.
    #[inline]
    fn fetch_whole(&self, cell: u32) {
        self.cells.fetch(cell);
        if let Some(message) = self.cells.get(cell) {
            weft_sync::fetch(&message.content);
        }
    }

    #[inline(always)]
    fn any_linked(&self) -> bool {
        self.cells.len() != self.pending.len()
    }

    #[inline(always)]
    fn find_pending(&self, key: Key, steps: &mut u32) -> Option<u32> {
        let kind = key.kind();
        self.pending.iter().find(|&cell| {
            *steps += 1;
            self.cells[cell].key().project(kind) == key
        })
    }

    /// The oldest that a receive of `key` accepts.
    pub fn peek(&self, key: Key) -> Option<(UnexpectedId, Envelope, &U)> {
        let kind = key.kind();
        let linked = self.tables[kind as usize].find(&self.cells, kind, key, &mut 0);
        let index = match linked {
            Some(found) => found.cell,
            None => self.find_pending(key, &mut 0)?,
        };
        let cell = &self.cells[index];
        let content = cell.content.as_ref()?;
        Some((
            UnexpectedId {
                stamp: content.stamp,
                cell: index,
            },
            cell.key().envelope(),
            &content.value,
        ))
    }

    pub fn take(&mut self, key: Key, steps: &mut u32) -> Option<(Envelope, U)> {
        if self.any_linked() {
            let taken = self.take_linked(key, steps);
            if taken.is_some() || self.pending.len() == 0 {
                return taken;
            }
        } else if let Some(cell) = self.find_pending(key, steps) {
            self.pending.strike(cell);
            return Some(self.free(cell));
        } else if self.pending.len() <= FEW {
            return None;
        }
        self.settle(steps);
        self.take_linked(key, steps)
    }

    #[inline(never)]
    fn take_linked(&mut self, key: Key, steps: &mut u32) -> Option<(Envelope, U)> {
        with_kind!(key.kind(), KIND => self.take_kind(KIND, key, steps))
    }

    #[inline(always)]
    fn take_kind(&mut self, kind: Wildcards, key: Key, steps: &mut u32) -> Option<(Envelope, U)> {
        let found = self.tables[kind as usize].find(&self.cells, kind, key, steps)?;
        self.tables[kind as usize].remove(&mut self.cells, kind, found, steps);
        for other in Wildcards::ALL {
            if other != kind {
                self.tables[other as usize].unlink(&mut self.cells, other, found.cell, steps);
            }
        }
        Some(self.free(found.cell))
    }

    pub fn remove(&mut self, id: UnexpectedId, steps: &mut u32) -> Option<(Envelope, U)> {
        *steps += 1;
        self.get(id)?;
        if !self.pending.strike(id.cell) {
            for kind in Wildcards::ALL {
                self.tables[kind as usize].unlink(&mut self.cells, kind, id.cell, steps);
            }
        }
        Some(self.free(id.cell))
    }

    /// Frees a cell that stands nowhere any more.
    #[inline(always)]
    fn free(&mut self, cell: u32) -> (Envelope, U) {
        let envelope = self.cells[cell].key().envelope();
        (envelope, self.cells.remove(cell))
    }

    pub fn get(&self, id: UnexpectedId) -> Option<&U> {
        let content = self.cells.get(id.cell)?.content.as_ref()?;
        (content.stamp == id.stamp).then_some(&content.value)
    }

    pub fn get_mut(&mut self, id: UnexpectedId) -> Option<&mut U> {
        let content = self.cells.get_mut(id.cell)?.content.as_mut()?;
        (content.stamp == id.stamp).then_some(&mut content.value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (UnexpectedId, Envelope, &U)> {
        self.cells.iter().map(|(cell, key, content)| {
            (
                UnexpectedId {
                    stamp: content.stamp,
                    cell,
                },
                key.envelope(),
                &content.value,
            )
        })
    }

    pub fn upkeep_table(&mut self, kind: Wildcards) -> Upkeep {
        self.tables[kind as usize].upkeep(&mut self.cells, kind)
    }

    #[cfg(test)]
    pub fn audit(&self) {
        for kind in Wildcards::ALL {
            self.tables[kind as usize].audit(&self.cells, kind, &self.pending);
        }
    }
}
