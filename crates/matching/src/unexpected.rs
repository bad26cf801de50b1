//! Unexpected messages: each in all four tables, by one cell.

use std::num::NonZeroU64;

use crate::Envelope;
use crate::arena::Arena;
use crate::key::{Key, Kind};
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
}

impl<U> Unexpected<U> {
    pub fn new() -> Self {
        Unexpected {
            cells: Arena::new(),
            tables: [const { Table::new() }; 4],
        }
    }

    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.tables.iter().map(Table::bytes).sum::<usize>()
    }

    /// `key` is full.
    #[inline(always)]
    pub fn push(&mut self, key: Key, value: U, steps: &mut u32) -> UnexpectedId {
        let (cell, stamp) = self.cells.insert(key, value);
        for kind in Kind::ALL {
            self.tables[kind as usize].push(&mut self.cells, kind, key.project(kind), cell, steps);
        }
        UnexpectedId { stamp, cell }
    }

    /// The oldest that a receive of `key`, of `kind`, accepts.
    #[inline(always)]
    pub fn oldest(&self, kind: Kind, key: Key, steps: &mut u32) -> Option<u32> {
        Some(
            self.tables[kind as usize]
                .find(&self.cells, kind, key, steps)?
                .cell,
        )
    }

    pub fn peek(&self, kind: Kind, key: Key) -> Option<(UnexpectedId, Envelope, &U)> {
        let index = self.oldest(kind, key, &mut 0)?;
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

    #[inline(always)]
    pub fn take(&mut self, kind: Kind, key: Key, steps: &mut u32) -> Option<(Envelope, U)> {
        let index = self.tables[kind as usize].find(&self.cells, kind, key, steps)?;
        self.tables[kind as usize].remove(&mut self.cells, kind, index, steps);
        for other in Kind::ALL {
            if other != kind {
                self.tables[other as usize].unlink(&mut self.cells, other, index.cell, steps);
            }
        }
        let envelope = self.cells[index.cell].key().envelope();
        Some((envelope, self.cells.remove(index.cell)))
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
