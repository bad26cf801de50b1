//! Posted receives: each in one of the four tables, but for one that waits alone.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;

use crate::arena::Arena;
use crate::cell::{Stamped, Stamps};
use crate::key::{Key, Kind, with_kind};
use crate::low_water::Upkeep;
use crate::table::{Found, Table};
use crate::{NIL, Pattern};

/// A posted receive that waits. Never names another one, even after this one is gone. Ordered by time of posting.
#[derive(Clone, Copy, Debug)]
pub struct PostedId {
    stamp: NonZeroU64,
    /// Where it was put; `NIL` where it was alone then.
    cell: u32,
}

pub(crate) struct Posted<P> {
    pub cells: Arena<P, 1>,
    tables: [Table; 4],
    /// How many in the tables are not fully specified. Without any, an arrival looks at one table.
    partial: u32,
    stamps: Stamps,
    /// A receive that is posted while no other waits. It is in no table as long as it is alone: the commonest case needs
    /// neither hash nor cell.
    alone: Option<Stamped<P>>,
    /// Its key.
    alone_key: Key,
    /// The cell of the last receive that was in `alone` until a second came. There is at most one such receive: nothing
    /// else waits when the next one goes there.
    company: u32,
}

impl<P> Posted<P> {
    pub fn new() -> Self {
        Posted {
            cells: Arena::new(),
            tables: [const { Table::new() }; 4],
            partial: 0,
            stamps: Stamps::new(),
            alone: None,
            alone_key: Key { place: 0, tag: 0 },
            company: NIL,
        }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.cells.len() as usize + usize::from(self.is_alone())
    }

    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.tables.iter().map(Table::bytes).sum::<usize>()
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.cells.len() == 0 && self.alone.is_none()
    }

    /// Puts down a receive while no other waits.
    #[inline(always)]
    pub fn push_alone(&mut self, key: Key, value: P) -> PostedId {
        self.alone_key = key;
        let stamp = self.stamps.next();
        self.alone = Some(Stamped { stamp, value });
        PostedId { stamp, cell: NIL }
    }

    #[inline(always)]
    pub fn push(&mut self, key: Key, value: P, steps: &mut u32) -> PostedId {
        if self.cells.len() == 0 {
            if !self.is_alone() {
                return self.push_alone(key, value);
            }
            self.end_alone(steps);
        }
        let stamp = self.stamps.next();
        let cell = match key.kind() {
            Kind::Full => self.push_kind(Kind::Full, key, stamp, value, steps),
            _ => self.push_partial(key, stamp, value, steps),
        };
        PostedId { stamp, cell }
    }

    /// Moves the receive that waits alone to its table, because a second one comes.
    #[inline(never)]
    fn end_alone(&mut self, steps: &mut u32) {
        if let Some(Stamped { stamp, value }) = self.alone.take() {
            let key = self.alone_key;
            self.company = match key.kind() {
                Kind::Full => self.push_kind(Kind::Full, key, stamp, value, steps),
                _ => self.push_partial(key, stamp, value, steps),
            };
        }
    }

    #[inline(never)]
    fn push_partial(&mut self, key: Key, stamp: NonZeroU64, value: P, steps: &mut u32) -> u32 {
        self.partial += 1;
        with_kind!(key.kind(), KIND => self.push_kind(KIND, key, stamp, value, steps))
    }

    #[inline(always)]
    fn push_kind(
        &mut self,
        kind: Kind,
        key: Key,
        stamp: NonZeroU64,
        value: P,
        steps: &mut u32,
    ) -> u32 {
        let cell = self.cells.insert(key, stamp, value);
        self.tables[kind as usize].push(&mut self.cells, kind, key, cell, steps);
        cell
    }

    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.alone.is_some()
    }

    /// Takes the receive that waits alone, if it accepts a message of the full key `key`.
    #[inline(always)]
    pub fn take_alone(&mut self, key: Key) -> Option<P> {
        if self.alone_key != key && key.project(self.alone_key.kind()) != self.alone_key {
            return None;
        }
        self.alone.take().map(|content| content.value)
    }

    /// Takes the oldest in the tables that accepts a message of the full key `key`.
    #[inline(always)]
    pub fn take(&mut self, key: Key, steps: &mut u32) -> Option<P> {
        if self.cells.len() == 0 {
            return None;
        }
        if self.partial != 0 {
            return self.take_of_four(key, steps);
        }
        self.take_full(key, steps)
    }

    #[inline(always)]
    fn take_full(&mut self, key: Key, steps: &mut u32) -> Option<P> {
        let found = self.tables[Kind::Full as usize].find(&self.cells, Kind::Full, key, steps)?;
        Some(self.remove(Kind::Full, found, steps))
    }

    #[inline(never)]
    fn take_of_four(&mut self, key: Key, steps: &mut u32) -> Option<P> {
        let mut oldest: Option<(Option<NonZeroU64>, Kind, Found)> = None;
        for kind in Kind::ALL {
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
        if kind != Kind::Full {
            self.partial -= 1;
        }
        Some(self.remove(kind, found, steps))
    }

    #[inline(never)]
    fn find(&self, kind: Kind, key: Key, steps: &mut u32) -> Option<Found> {
        with_kind!(kind, KIND => self.tables[KIND as usize].find(&self.cells, KIND, key.project(KIND), steps))
    }

    #[inline(always)]
    fn remove(&mut self, kind: Kind, found: Found, steps: &mut u32) -> P {
        self.tables[kind as usize].remove(&mut self.cells, kind, found, steps);
        self.cells.remove(found.cell)
    }

    pub fn cancel(&mut self, id: PostedId, steps: &mut u32) -> Option<P> {
        *steps += 1;
        if let Some(content) = self.alone.take_if(|content| content.stamp == id.stamp) {
            return Some(content.value);
        }
        let index = if id.cell == NIL {
            self.company
        } else {
            id.cell
        };
        let cell = self.cells.get(index)?;
        if cell.stamp() != Some(id.stamp) {
            return None;
        }
        let kind = cell.key().kind();
        if kind != Kind::Full {
            self.partial -= 1;
        }
        self.tables[kind as usize].unlink(&mut self.cells, kind, index, steps);
        Some(self.cells.remove(index))
    }

    /// The first cell that an arrival of `key` would look at in each table, or `NIL`.
    #[inline(always)]
    pub fn first_looks(&self, key: Key) -> [u32; 4] {
        let look = |kind: Kind| self.tables[kind as usize].first_look(kind, key.project(kind));
        if self.partial == 0 {
            return [look(Kind::Full), NIL, NIL, NIL];
        }
        Kind::ALL.map(look)
    }

    pub fn iter(&self) -> impl Iterator<Item = (PostedId, Pattern, &P)> {
        let alone = self
            .alone
            .iter()
            .map(|content| (NIL, self.alone_key, content));
        alone.chain(self.cells.iter()).map(|(cell, key, content)| {
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
        assert!(self.alone.is_none() || self.cells.len() == 0);
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
