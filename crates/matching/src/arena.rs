//! Cells by index, allocated and given back by chunks.
//!
//! Free cells stand in one list, the spare cells; allocation and freeing touch nothing else. Only when memory is to be
//! given back are spare cells returned to their chunks, a few at each turn of upkeep; a chunk to which all its cells
//! have been returned is dropped, again a few cells at each turn, and its number goes to the vacant list, to be used
//! again. When the spare cells run out, they are refilled from a chunk that has some, or from a new one.
//!
//! No cell ever moves, and the directory of chunks is the only thing that is ever copied.

use std::num::NonZeroU64;
use std::ops::{Index, IndexMut};

use crate::cell::{Cell, Stamped};
use crate::key::{Key, Kind};
use crate::low_water::{LowWater, Upkeep};
use crate::{FOLLOWER, NIL};

/// Cells of one chunk. Few in unit tests, so that short sequences grow and shrink.
const CHUNK: usize = if cfg!(test) { 8 } else { 256 };
const CHUNK_CELLS: u32 = CHUNK as u32;
/// Cells returned, or dropped, by one turn of upkeep.
const UPKEEP_CELLS: usize = 16;

/// The links that hold the lists of free cells.
const FREE: Kind = Kind::Full;

/// The cells that were returned to a chunk.
struct Returned {
    /// Head of their list.
    free: u32,
    count: u32,
    /// Neighbours in the list of chunks with returned cells, or in the vacant list (`next` only).
    next: u32,
    prev: u32,
}

impl Returned {
    const NONE: Returned = Returned {
        free: NIL,
        count: 0,
        next: NIL,
        prev: NIL,
    };
}

pub(crate) struct Arena<T, const TABLES: usize> {
    /// `None` where a chunk was given back.
    chunks: Vec<Option<Box<[Cell<T, TABLES>; CHUNK]>>>,
    /// Head of the list of spare cells.
    spare: u32,
    live: u32,
    /// Of each chunk.
    returned: Vec<Returned>,
    /// Head of the list of chunks with returned cells.
    partly_returned: u32,
    /// Head of the list of chunks without memory.
    vacant: u32,
    /// Cells of the chunks that have memory.
    capacity: u32,
    low_water: LowWater,
    /// Capacity to come down to; `u32::MAX` when none is to be given back.
    target: u32,
    /// The chunk that is being given back, and what is left of it.
    retiring: Option<(u32, Vec<Cell<T, TABLES>>)>,
}

impl<T, const TABLES: usize> Arena<T, TABLES> {
    pub fn new() -> Self {
        Arena {
            chunks: Vec::new(),
            spare: NIL,
            live: 0,
            returned: Vec::new(),
            partly_returned: NIL,
            vacant: NIL,
            capacity: 0,
            low_water: LowWater::new(),
            target: u32::MAX,
            retiring: None,
        }
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.live
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let retiring = self
            .retiring
            .as_ref()
            .map_or(0, |(_, cells)| cells.capacity());
        (self.capacity as usize + retiring) * size_of::<Cell<T, TABLES>>()
            + self.chunks.capacity() * size_of::<usize>()
            + self.returned.capacity() * size_of::<Returned>()
    }

    #[inline(always)]
    pub fn get(&self, cell: u32) -> Option<&Cell<T, TABLES>> {
        Some(&self.chunks.get(cell as usize / CHUNK)?.as_ref()?[cell as usize % CHUNK])
    }

    pub fn get_mut(&mut self, cell: u32) -> Option<&mut Cell<T, TABLES>> {
        Some(&mut self.chunks.get_mut(cell as usize / CHUNK)?.as_mut()?[cell as usize % CHUNK])
    }

    /// A new cell, which stands in no table yet.
    #[inline(always)]
    pub fn insert(&mut self, key: Key, stamp: NonZeroU64, value: T) -> u32 {
        if self.spare == NIL {
            self.refill();
        }
        let index = self.spare;
        let cell = &mut self[index];
        let next = cell.links(FREE).next;
        cell.fill(key, stamp, value);
        self.spare = next;
        self.live += 1;
        index
    }

    /// Frees a live cell, which stands in no table any more.
    #[inline(always)]
    pub fn remove(&mut self, index: u32) -> T {
        let spare = self.spare;
        let cell = &mut self[index];
        let content = cell.content.take().expect(LIVE);
        cell.links_mut(FREE).next = spare;
        self.spare = index;
        self.live -= 1;
        content.value
    }

    /// All live cells, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Key, &Stamped<T>)> {
        self.chunks
            .iter()
            .zip((0u32..).step_by(CHUNK))
            .flat_map(|(chunk, first)| {
                let cells = chunk.iter().flat_map(|cells| cells.iter());
                cells
                    .zip(first..)
                    .filter_map(|(cell, index)| Some((index, cell.key(), cell.content.as_ref()?)))
            })
    }

    /// Gets spare cells, of which there are none.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        self.target = u32::MAX;
        let number = self.partly_returned;
        if number == NIL {
            return self.open_chunk();
        }
        self.unlist(number);
        let returned = &mut self.returned[number as usize];
        self.spare = std::mem::replace(&mut returned.free, NIL);
        returned.count = 0;
    }

    fn open_chunk(&mut self) {
        let number = if self.vacant != NIL {
            let number = self.vacant;
            self.vacant = self.returned[number as usize].next;
            number
        } else {
            let number = self.chunks.len() as u32;
            assert!(number < FOLLOWER / CHUNK_CELLS, "an arena holds 2^32 cells");
            self.chunks.push(None);
            self.returned.push(Returned::NONE);
            number
        };
        let first = number * CHUNK_CELLS;
        let last = first + CHUNK_CELLS - 1;
        let cells: Vec<_> = (first..=last)
            .map(|cell| Cell::free(FREE, if cell == last { NIL } else { cell + 1 }))
            .collect();
        // The length is right, so this is never `None`.
        self.chunks[number as usize] = cells.into_boxed_slice().try_into().ok();
        self.spare = first;
        self.capacity += CHUNK_CELLS;
    }

    /// Puts a chunk at the head of the list of those with returned cells.
    fn list(&mut self, number: u32) {
        let next = self.partly_returned;
        let returned = &mut self.returned[number as usize];
        (returned.prev, returned.next) = (NIL, next);
        if next != NIL {
            self.returned[next as usize].prev = number;
        }
        self.partly_returned = number;
    }

    fn unlist(&mut self, number: u32) {
        let Returned { next, prev, .. } = self.returned[number as usize];
        if next != NIL {
            self.returned[next as usize].prev = prev;
        }
        match prev {
            NIL => self.partly_returned = next,
            prev => self.returned[prev as usize].next = next,
        }
    }

    /// Takes a sample of the population, or does a bounded part of the work of giving back.
    pub fn upkeep(&mut self) -> Upkeep {
        if self.retiring.is_some() {
            return self.retire();
        }
        if self.target != u32::MAX {
            return self.return_spare();
        }
        if let Some(peak) = self.low_water.sample(self.live, self.capacity) {
            let room = (2 * u64::from(peak)).max(u64::from(CHUNK_CELLS));
            if 2 * room <= u64::from(self.capacity) {
                self.target = room as u32;
                return Upkeep {
                    steps: 1,
                    unfinished: true,
                };
            }
        }
        Upkeep::NOTHING
    }

    /// Returns a few spare cells to their chunks, until one chunk is whole. When none is left, what is still out is live.
    fn return_spare(&mut self) -> Upkeep {
        for steps in 1..=UPKEEP_CELLS as u32 {
            let cell = self.spare;
            if cell == NIL || self.capacity < self.target + CHUNK_CELLS {
                self.target = u32::MAX;
                self.trim_directories();
                return Upkeep {
                    steps,
                    unfinished: false,
                };
            }
            let number = cell / CHUNK_CELLS;
            let returned = &mut self.returned[number as usize];
            let free = std::mem::replace(&mut returned.free, cell);
            returned.count += 1;
            let count = returned.count;
            self.spare = std::mem::replace(&mut self[cell].links_mut(FREE).next, free);
            if count == 1 {
                self.list(number);
            }
            if count == CHUNK_CELLS {
                self.unlist(number);
                self.retiring = self.chunks[number as usize].take().map(|cells| {
                    let cells: Box<[Cell<T, TABLES>]> = cells;
                    (number, cells.into_vec())
                });
                self.capacity -= CHUNK_CELLS;
                return Upkeep {
                    steps,
                    unfinished: true,
                };
            }
        }
        Upkeep {
            steps: UPKEEP_CELLS as u32,
            unfinished: true,
        }
    }

    /// Forgets the numbers after the last chunk that has memory. Like the growth of a directory this looks at all of it,
    /// one entry for each chunk.
    fn trim_directories(&mut self) {
        let used = self
            .chunks
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |last| last + 1);
        self.chunks.truncate(used);
        self.returned.truncate(used);
        self.chunks.shrink_to_fit();
        self.returned.shrink_to_fit();
        self.vacant = NIL;
        for (number, returned) in (0..).zip(&mut self.returned) {
            if self.chunks[number as usize].is_none() {
                returned.next = self.vacant;
                self.vacant = number;
            }
        }
    }

    /// Drops a few cells of the chunk being given back, and its memory with the last of them.
    fn retire(&mut self) -> Upkeep {
        let Some((number, cells)) = &mut self.retiring else {
            return Upkeep::NOTHING;
        };
        let keep = cells.len().saturating_sub(UPKEEP_CELLS);
        let steps = (cells.len() - keep) as u32;
        cells.truncate(keep);
        if keep == 0 {
            self.returned[*number as usize] = Returned {
                next: self.vacant,
                ..Returned::NONE
            };
            self.vacant = *number;
            self.retiring = None;
        }
        Upkeep {
            steps,
            unfinished: true,
        }
    }
}

const LIVE: &str = "a cell in a table is live";

impl<T, const TABLES: usize> Index<u32> for Arena<T, TABLES> {
    type Output = Cell<T, TABLES>;

    #[inline(always)]
    fn index(&self, cell: u32) -> &Self::Output {
        &self.chunks[cell as usize / CHUNK].as_ref().expect(LIVE)[cell as usize % CHUNK]
    }
}

impl<T, const TABLES: usize> IndexMut<u32> for Arena<T, TABLES> {
    #[inline(always)]
    fn index_mut(&mut self, cell: u32) -> &mut Self::Output {
        &mut self.chunks[cell as usize / CHUNK].as_mut().expect(LIVE)[cell as usize % CHUNK]
    }
}
