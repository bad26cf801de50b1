//! Unexpected messages: each in all four tables, by one cell.

use std::num::NonZeroU64;

use crate::Envelope;
use crate::arena::Arena;
use crate::cell::Stamps;
use crate::key::{Key, Kind, with_kind};
use crate::low_water::Upkeep;
use crate::table::Table;

/// An unexpected message that waits. Never names another one, even after this one is gone. Ordered by time of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnexpectedId {
    stamp: NonZeroU64,
    cell: u32,
}

pub(crate) struct Unexpected<U> {
    pub cells: Arena<U, 4>,
    tables: [Table; 4],
    stamps: Stamps,
}

impl<U> Unexpected<U> {
    pub fn new() -> Self {
        Unexpected {
            cells: Arena::new(),
            tables: [const { Table::new() }; 4],
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
        for kind in Kind::ALL {
            with_kind!(kind, KIND => {
                self.tables[KIND as usize].push(&mut self.cells, KIND, key.project(KIND), cell, steps);
            });
        }
        UnexpectedId { stamp, cell }
    }

    /// The oldest that a receive of `key` accepts.
    pub fn peek(&self, key: Key) -> Option<(UnexpectedId, Envelope, &U)> {
        let kind = key.kind();
        let index = self.tables[kind as usize]
            .find(&self.cells, kind, key, &mut 0)?
            .cell;
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
        with_kind!(key.kind(), KIND => self.take_kind(KIND, key, steps))
    }

    #[inline(always)]
    fn take_kind(&mut self, kind: Kind, key: Key, steps: &mut u32) -> Option<(Envelope, U)> {
        let found = self.tables[kind as usize].find(&self.cells, kind, key, steps)?;
        self.tables[kind as usize].remove(&mut self.cells, kind, found, steps);
        for other in Kind::ALL {
            if other != kind {
                self.tables[other as usize].unlink(&mut self.cells, other, found.cell, steps);
            }
        }
        let envelope = self.cells[found.cell].key().envelope();
        Some((envelope, self.cells.remove(found.cell)))
    }

    pub fn remove(&mut self, id: UnexpectedId, steps: &mut u32) -> Option<(Envelope, U)> {
        *steps += 1;
        self.get(id)?;
        for kind in Kind::ALL {
            self.tables[kind as usize].unlink(&mut self.cells, kind, id.cell, steps);
        }
        let envelope = self.cells[id.cell].key().envelope();
        Some((envelope, self.cells.remove(id.cell)))
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

    pub fn upkeep_table(&mut self, kind: Kind) -> Upkeep {
        self.tables[kind as usize].upkeep(&mut self.cells, kind)
    }

    #[cfg(test)]
    pub fn audit(&self) {
        for kind in Kind::ALL {
            self.tables[kind as usize].audit(&self.cells, kind);
        }
    }
}
