//! Cells that are live and stand in no table yet: the youngest of their side, in order of time.
//!
//! To link a cell is to read its bucket, at a random place of a table that may be larger than any cache, and then what
//! the bucket names. One after the other, these misses are most of what a receive costs when a million wait. So a new cell
//! has its bucket fetched and waits here, and some are linked together: by then the buckets are there, and the misses on
//! what they name overlap.
//!
//! All cells in the tables are older than those here, so a search looks at the tables first, and has the others linked
//! only when it finds nothing there.

use crate::NIL;

/// Cells linked together at most: enough to overlap all misses that a core can have under way.
pub(crate) const ROOM: usize = 64;

/// While a side has fewer cells, it stands in the cache, and nothing is fetched ahead. Few in unit tests.
pub(crate) const FETCHED_FROM: u32 = if cfg!(test) { 16 } else { 2048 };

pub(crate) struct Pending {
    /// `NIL` where a cell was taken out.
    cells: [u32; ROOM],
    /// None is before this place.
    first: usize,
    /// The next place to use.
    next: usize,
    live: u32,
}

impl Pending {
    pub const fn new() -> Pending {
        Pending {
            cells: [NIL; ROOM],
            first: 0,
            next: 0,
            live: 0,
        }
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.live
    }

    /// Puts down a cell. If that returns `true`, there is no room for another: [`Pending::take_all`] comes next.
    #[inline(always)]
    pub fn push(&mut self, cell: u32) -> bool {
        self.cells[self.next % ROOM] = cell;
        self.next += 1;
        self.live += 1;
        self.next == ROOM && !self.compact()
    }

    /// Moves the cells to the front, if that frees half of the room.
    #[cold]
    fn compact(&mut self) -> bool {
        if self.live as usize > ROOM / 2 {
            return false;
        }
        let mut to = 0;
        for from in 0..ROOM {
            let cell = std::mem::replace(&mut self.cells[from], NIL);
            if cell != NIL {
                self.cells[to] = cell;
                to += 1;
            }
        }
        (self.first, self.next) = (0, to);
        true
    }

    /// Takes out a cell, if it is here.
    #[inline(always)]
    pub fn strike(&mut self, cell: u32) -> bool {
        let mut cells = self.cells[self.first..self.next].iter();
        let Some(place) = cells.position(|&one| one == cell) else {
            return false;
        };
        self.cells[self.first + place] = NIL;
        self.live -= 1;
        if self.live == 0 {
            (self.first, self.next) = (0, 0);
        } else if place == 0 {
            self.first += 1;
        }
        true
    }

    /// Oldest first.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let cells = self.cells[self.first..self.next].iter();
        cells.copied().filter(|&cell| cell != NIL)
    }

    /// Takes out all, oldest first, `NIL` between them and after them.
    #[inline(always)]
    pub fn take_all(&mut self) -> [u32; ROOM] {
        (self.first, self.next, self.live) = (0, 0, 0);
        std::mem::replace(&mut self.cells, [NIL; ROOM])
    }
}
