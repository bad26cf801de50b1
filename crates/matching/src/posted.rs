//! Posted receives: each in one of the four tables.

use std::num::NonZeroU64;

use crate::Pattern;
use crate::arena::Arena;
use crate::key::{Key, Kind};
use crate::low_water::Upkeep;
use crate::table::{Found, Table};

/// A posted receive that waits. Never names another one, even after this one is gone. Ordered by time of posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PostedId {
    stamp: NonZeroU64,
    cell: u32,
}

pub(crate) struct Posted<P> {
    pub cells: Arena<P, 1>,
    tables: [Table; 4],
    /// How many are not fully specified. Without any, an arrival looks at one table.
    partial: u32,
}

impl<P> Posted<P> {
    pub fn new() -> Self {
        Posted {
            cells: Arena::new(),
            tables: [const { Table::new() }; 4],
            partial: 0,
        }
    }

    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.tables.iter().map(Table::bytes).sum::<usize>()
    }

    /// `key` is of `kind`.
    #[inline(always)]
    pub fn push(&mut self, kind: Kind, key: Key, value: P, steps: &mut u32) -> PostedId {
        let (cell, stamp) = self.cells.insert(key, value);
        if kind != Kind::Full {
            self.partial += 1;
        }
        self.tables[kind as usize].push(&mut self.cells, kind, key, cell, steps);
        PostedId { stamp, cell }
    }

    /// Takes the oldest that accepts a message of the full key `key`.
    #[inline(always)]
    pub fn take(&mut self, key: Key, steps: &mut u32) -> Option<P> {
        if self.partial != 0 {
            return self.take_of_four(key, steps);
        }
        let found = self.tables[Kind::Full as usize].find(&self.cells, Kind::Full, key, steps)?;
        Some(self.remove(Kind::Full, found, steps))
    }

    fn take_of_four(&mut self, key: Key, steps: &mut u32) -> Option<P> {
        let mut oldest: Option<(Option<NonZeroU64>, Kind, Found)> = None;
        for kind in Kind::ALL {
            let table = &self.tables[kind as usize];
            if let Some(found) = table.find(&self.cells, kind, key.project(kind), steps) {
                let stamp = self.cells[found.cell].stamp();
                if oldest.is_none_or(|(oldest, ..)| stamp < oldest) {
                    oldest = Some((stamp, kind, found));
                }
            }
        }
        let (_, kind, found) = oldest?;
        Some(self.remove(kind, found, steps))
    }

    #[inline(always)]
    fn remove(&mut self, kind: Kind, found: Found, steps: &mut u32) -> P {
        if kind != Kind::Full {
            self.partial -= 1;
        }
        self.tables[kind as usize].remove(&mut self.cells, kind, found, steps);
        self.cells.remove(found.cell)
    }

    pub fn cancel(&mut self, id: PostedId, steps: &mut u32) -> Option<P> {
        *steps += 1;
        let cell = self.cells.get(id.cell)?;
        if cell.stamp() != Some(id.stamp) {
            return None;
        }
        let kind = cell.key().kind();
        if kind != Kind::Full {
            self.partial -= 1;
        }
        self.tables[kind as usize].unlink(&mut self.cells, kind, id.cell, steps);
        Some(self.cells.remove(id.cell))
    }

    /// The first cell that an arrival of `key` would look at in each table, or `NIL`.
    #[inline(always)]
    pub fn first_looks(&self, key: Key) -> [u32; 4] {
        let look = |kind: Kind| self.tables[kind as usize].first_look(kind, key.project(kind));
        if self.partial == 0 {
            return [look(Kind::Full), crate::NIL, crate::NIL, crate::NIL];
        }
        Kind::ALL.map(look)
    }

    pub fn iter(&self) -> impl Iterator<Item = (PostedId, Pattern, &P)> {
        self.cells.iter().map(|(cell, key, content)| {
            (
                PostedId {
                    stamp: content.stamp,
                    cell,
                },
                key.pattern(),
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
        let partial = self
            .cells
            .iter()
            .filter(|(_, key, _)| key.kind() != Kind::Full)
            .count();
        assert_eq!(partial, self.partial as usize);
    }
}
