//! Posted receives: all in one small array, or each in one of the four tables.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;

use crate::arena::Arena;
use crate::cell::Stamps;
use crate::few::{Few, Moving};
use crate::key::{Key, Wildcards, with_kind};
use crate::low_water::Upkeep;
use crate::pending::{FETCHED_FROM, Pending, ROOM};
use crate::table::{Found, Table};
use crate::{NIL, Pattern};

/// A posted receive that waits. Never names another one, even after this one is gone. Ordered by time of posting.
#[derive(Clone, Copy, Debug)]
pub struct PostedId {
    stamp: NonZeroU64,
    /// Where it was put; `NIL` for the array.
    pub(crate) cell: u32,
}

pub(crate) struct Posted<P> {
    pub cells: Arena<P, 1>,
    tables: [Table; 4],
    /// Cells on their way to the tables.
    pending: Pending,
    /// How many cells are not of fully specified receives. Without any, an arrival looks at one table.
    partial: u32,
    stamps: Stamps,
    /// Empty while there are receives in the tables.
    pub few: Few<P>,
}

impl<P> Posted<P> {
    pub fn new() -> Self {
        Posted {
            cells: Arena::new(),
            tables: [const { Table::new() }; 4],
            pending: Pending::new(),
            partial: 0,
            stamps: Stamps::new(),
            few: Few::new(),
        }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        // Without the second count where there is none: it is dear.
        match self.cells.len() {
            0 => self.few.len() as usize,
            cells => cells as usize,
        }
    }

    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.tables.iter().map(Table::bytes).sum::<usize>()
    }

    /// Puts down a receive in the array. If that returns `true`, [`Posted::stay_few`] comes next, and if that
    /// cannot, [`Posted::leave_few`].
    #[inline(always)]
    pub fn push(&mut self, pattern: Pattern, value: P) -> (PostedId, bool) {
        let stamp = self.stamps.next();
        let checks = self.few.push(pattern, stamp, value);
        (PostedId { stamp, cell: NIL }, checks)
    }

    /// Keeps all in the array, if it can.
    #[inline(always)]
    pub fn stay_few(&mut self, steps: &mut u32) -> bool {
        self.cells.len() == 0 && self.few.compact(steps)
    }

    /// Moves all from the array to cells. Returns the cell of the youngest.
    #[inline(always)]
    pub fn leave_few(&mut self, steps: &mut u32) -> u32 {
        let mut youngest = NIL;
        while let Some(moving) = self.few.take_oldest() {
            let Moving {
                place,
                pattern,
                stamp,
                value,
            } = moving;
            youngest = self.push_tables(&pattern, stamp, value, steps);
            self.few.moved(place, youngest);
        }
        self.few.close();
        youngest
    }

    #[inline(always)]
    fn push_tables(
        &mut self,
        pattern: &Pattern,
        stamp: NonZeroU64,
        value: P,
        steps: &mut u32,
    ) -> u32 {
        let key = Key::of_pattern(pattern);
        if key.kind() != Wildcards::Full {
            self.partial += 1;
        }
        let cell = self.cells.insert(key, stamp, value);
        if self.cells.len() >= FETCHED_FROM {
            with_kind!(key.kind(), KIND => self.tables[KIND as usize].fetch(KIND, key));
        }
        if self.pending.push(cell) {
            self.settle(steps);
        }
        cell
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
                with_kind!(key.kind(), KIND => {
                    self.tables[KIND as usize].push(&mut self.cells, KIND, key, cell, steps);
                });
            }
        }
    }

    /// Has fetched what the buckets of these cells name; the buckets were fetched before.
    fn fetch_heads(&self, cells: &[u32; ROOM]) {
        for &cell in cells {
            if cell != NIL {
                let key = self.cells[cell].key();
                let head = with_kind!(key.kind(), KIND => self.tables[KIND as usize].first_look(KIND, key));
                self.cells.fetch(head);
            }
        }
    }

    /// Takes the oldest of the cells that accepts a message of the full key `key`.
    #[inline(always)]
    pub fn take(&mut self, key: Key, steps: &mut u32) -> Option<P> {
        let cell = match self.unlink_oldest(key, steps) {
            Some(cell) => cell,
            None if self.pending.len() == 0 => return None,
            None => {
                self.settle(steps);
                self.unlink_oldest(key, steps)?
            }
        };
        Some(self.cells.remove(cell))
    }

    #[inline(always)]
    fn unlink_oldest(&mut self, key: Key, steps: &mut u32) -> Option<u32> {
        if self.partial != 0 {
            return self.unlink_oldest_of_four(key, steps);
        }
        let table = &mut self.tables[Wildcards::Full as usize];
        let found = table.find(&self.cells, Wildcards::Full, key, steps)?;
        table.remove(&mut self.cells, Wildcards::Full, found, steps);
        Some(found.cell)
    }

    #[inline(never)]
    fn unlink_oldest_of_four(&mut self, key: Key, steps: &mut u32) -> Option<u32> {
        let mut oldest: Option<(Option<NonZeroU64>, Wildcards, Found)> = None;
        for kind in Wildcards::ALL {
            if self.tables[kind as usize].is_empty() {
                continue;
            }
            if let Some(found) = self.find(kind, key, steps) {
                let stamp = self.cells[found.cell].stamp();
                if oldest.is_none_or(|(oldest, ..)| stamp < oldest) {
                    oldest = Some((stamp, kind, found));
                }
            }
        }
        let (_, kind, found) = oldest?;
        if kind != Wildcards::Full {
            self.partial -= 1;
        }
        self.tables[kind as usize].remove(&mut self.cells, kind, found, steps);
        Some(found.cell)
    }

    #[inline(never)]
    fn find(&self, kind: Wildcards, key: Key, steps: &mut u32) -> Option<Found> {
        with_kind!(kind, KIND => self.tables[KIND as usize].find(&self.cells, KIND, key.project(KIND), steps))
    }

    pub fn cancel(&mut self, id: PostedId, steps: &mut u32) -> Option<P> {
        *steps += 1;
        let mut index = id.cell;
        if index == NIL {
            match self.few.cancel(id.stamp, steps) {
                Ok(value) => return Some(value),
                Err(cell) => index = cell,
            }
        }
        let cell = self.cells.get(index)?;
        if cell.stamp() != Some(id.stamp) {
            return None;
        }
        let kind = cell.key().kind();
        if kind != Wildcards::Full {
            self.partial -= 1;
        }
        if !self.pending.strike(index) {
            self.tables[kind as usize].unlink(&mut self.cells, kind, index, steps);
        }
        Some(self.cells.remove(index))
    }

    /// The first cell that an arrival of `key` would look at in each table, or `NIL`.
    #[inline(always)]
    pub fn first_looks(&self, key: Key) -> [u32; 4] {
        let look = |kind: Wildcards| self.tables[kind as usize].first_look(kind, key.project(kind));
        if self.partial == 0 {
            return [look(Wildcards::Full), NIL, NIL, NIL];
        }
        Wildcards::ALL.map(look)
    }

    pub fn iter(&self) -> impl Iterator<Item = (PostedId, Pattern, &P)> {
        let few = self.few.iter().map(|(stamp, pattern, value)| {
            let id = PostedId { stamp, cell: NIL };
            (id, Key::of_pattern(pattern).pattern(), value)
        });
        few.chain(self.cells.iter().map(|(cell, key, content)| {
            let stamp = content.stamp;
            (PostedId { stamp, cell }, key.pattern(), &content.value)
        }))
    }

    pub fn upkeep_table(&mut self, kind: Wildcards) -> Upkeep {
        self.tables[kind as usize].upkeep(&mut self.cells, kind)
    }

    #[cfg(test)]
    pub fn audit(&self) {
        for kind in Wildcards::ALL {
            self.tables[kind as usize].audit(&self.cells, kind, &self.pending);
        }
        let partial = self
            .cells
            .iter()
            .filter(|(_, key, _)| key.kind() != Wildcards::Full)
            .count();
        assert_eq!(partial, self.partial as usize);
        assert!(self.few.len() == 0 || self.cells.len() == 0);
        self.few.audit();
    }
}

// The stamp is the identity; the cell only says where to look first.
impl PartialEq for PostedId {
    fn eq(&self, other: &Self) -> bool {
        self.stamp == other.stamp
    }
}

impl Eq for PostedId {}

impl PartialOrd for PostedId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PostedId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.stamp.cmp(&other.stamp)
    }
}

impl Hash for PostedId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.stamp.hash(state);
    }
}
