//! Cells by index, allocated and given back by chunks.
//!
//! A chunk is filled from its front, then from its own list of free cells. Chunks with room stand in a list; allocation
//! takes from its head. No allocation touches more than one cell of a chunk, and the directory of chunks is the only
//! thing that is ever copied.
//!
//! A chunk is given back in three stages: it is empty and leaves the list; its cells are dropped, a few at each turn of
//! upkeep; its memory is freed and its number goes to the vacant list, to be used again.

use std::num::NonZeroU64;
use std::ops::{Index, IndexMut};

use crate::cell::{Cell, Stamped};
use crate::key::{Key, Kind};
use crate::low_water::{LowWater, Upkeep};
use crate::{FOLLOWER, NIL};

/// Below the size from which allocators ask the kernel for each block. Small in unit tests, so that short sequences
/// grow and shrink.
const CHUNK_BYTES: usize = if cfg!(test) { 1 << 9 } else { 64 << 10 };
/// Cells dropped, or chunks looked at, by one turn of upkeep.
const UPKEEP_STEPS: usize = 16;

/// The links that hold the list of free cells.
const FREE: Kind = Kind::Full;

struct Chunk<T, const TABLES: usize> {
    cells: Vec<Cell<T, TABLES>>,
    /// Head of the list of free cells.
    free: u32,
    live: u32,
    /// Neighbours in the list of chunks with room, or in the vacant list (`next` only).
    next: u32,
    prev: u32,
}

pub(crate) struct Arena<T, const TABLES: usize> {
    chunks: Vec<Chunk<T, TABLES>>,
    /// Head of the list of chunks that have memory and are not full.
    roomy: u32,
    /// Head of the list of chunks without memory.
    vacant: u32,
    live: u32,
    last_stamp: u64,
    /// Cells of the chunks that have memory, but for the one being given back.
    capacity: u32,
    low_water: LowWater,
    /// Capacity to come down to; `u32::MAX` when none is to be given back.
    target: u32,
    /// The empty chunk that is being given back, or `NIL`.
    retiring: u32,
    /// Where the search for an empty chunk goes on.
    search: u32,
}

impl<T, const TABLES: usize> Arena<T, TABLES> {
    const SHIFT: u32 = {
        let cells = CHUNK_BYTES / size_of::<Cell<T, TABLES>>();
        if cells == 0 { 0 } else { cells.ilog2() }
    };
    const CHUNK: u32 = 1 << Self::SHIFT;

    pub fn new() -> Self {
        Arena {
            chunks: Vec::new(),
            roomy: NIL,
            vacant: NIL,
            live: 0,
            last_stamp: 0,
            capacity: 0,
            low_water: LowWater::new(),
            target: u32::MAX,
            retiring: NIL,
            search: 0,
        }
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.live
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let cells: usize = self.chunks.iter().map(|chunk| chunk.cells.capacity()).sum();
        cells * size_of::<Cell<T, TABLES>>()
            + self.chunks.capacity() * size_of::<Chunk<T, TABLES>>()
    }

    #[inline(always)]
    pub fn get(&self, cell: u32) -> Option<&Cell<T, TABLES>> {
        self.chunks
            .get((cell >> Self::SHIFT) as usize)?
            .cells
            .get((cell & (Self::CHUNK - 1)) as usize)
    }

    pub fn get_mut(&mut self, cell: u32) -> Option<&mut Cell<T, TABLES>> {
        self.chunks
            .get_mut((cell >> Self::SHIFT) as usize)?
            .cells
            .get_mut((cell & (Self::CHUNK - 1)) as usize)
    }

    /// A new cell, which stands in no table yet, and its stamp.
    #[inline(always)]
    pub fn insert(&mut self, key: Key, value: T) -> (u32, NonZeroU64) {
        if self.roomy == NIL {
            self.open_chunk();
        }
        let number = self.roomy;
        let stamp = NonZeroU64::MIN.saturating_add(self.last_stamp);
        self.last_stamp = stamp.get();
        let fresh = Cell::new(key, Stamped { stamp, value });
        let chunk = &mut self.chunks[number as usize];
        let cell = if chunk.free != NIL {
            let cell = chunk.free;
            let slot = &mut chunk.cells[(cell & (Self::CHUNK - 1)) as usize];
            chunk.free = slot.links(FREE).next;
            *slot = fresh;
            cell
        } else {
            let cell = (number << Self::SHIFT) | chunk.cells.len() as u32;
            chunk.cells.push(fresh);
            cell
        };
        chunk.live += 1;
        self.live += 1;
        if chunk.live == Self::CHUNK {
            self.unlist(number);
        }
        (cell, stamp)
    }

    /// Frees a live cell, which stands in no table any more.
    #[inline(always)]
    pub fn remove(&mut self, cell: u32) -> T {
        let number = cell >> Self::SHIFT;
        let chunk = &mut self.chunks[number as usize];
        let slot = &mut chunk.cells[(cell & (Self::CHUNK - 1)) as usize];
        let content = slot.content.take().expect("a cell in a table is live");
        slot.links_mut(FREE).next = chunk.free;
        chunk.free = cell;
        chunk.live -= 1;
        self.live -= 1;
        if chunk.live == Self::CHUNK - 1 {
            self.list(number);
        }
        content.value
    }

    /// All live cells, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Key, &Stamped<T>)> {
        self.chunks.iter().zip(0u32..).flat_map(|(chunk, number)| {
            let first = number << Self::SHIFT;
            chunk
                .cells
                .iter()
                .zip(first..)
                .filter_map(|(cell, index)| Some((index, cell.key(), cell.content.as_ref()?)))
        })
    }

    #[cold]
    #[inline(never)]
    fn open_chunk(&mut self) {
        let number = if self.vacant != NIL {
            let number = self.vacant;
            self.vacant = self.chunks[number as usize].next;
            number
        } else {
            let number = self.chunks.len() as u32;
            assert!(
                number < FOLLOWER >> Self::SHIFT,
                "matching holds 2^32 cells"
            );
            self.chunks.push(Chunk {
                cells: Vec::new(),
                free: NIL,
                live: 0,
                next: NIL,
                prev: NIL,
            });
            number
        };
        self.chunks[number as usize].cells = Vec::with_capacity(Self::CHUNK as usize);
        self.capacity += Self::CHUNK;
        self.target = u32::MAX;
        self.list(number);
    }

    /// Puts a chunk at the head of the list of those with room.
    #[inline(never)]
    fn list(&mut self, number: u32) {
        let next = self.roomy;
        let chunk = &mut self.chunks[number as usize];
        (chunk.prev, chunk.next) = (NIL, next);
        if next != NIL {
            self.chunks[next as usize].prev = number;
        }
        self.roomy = number;
    }

    #[inline(never)]
    fn unlist(&mut self, number: u32) {
        let chunk = &self.chunks[number as usize];
        let (prev, next) = (chunk.prev, chunk.next);
        if next != NIL {
            self.chunks[next as usize].prev = prev;
        }
        match prev {
            NIL => self.roomy = next,
            prev => self.chunks[prev as usize].next = next,
        }
    }

    /// Takes a sample of the population, or does a bounded part of the work of giving back.
    pub fn upkeep(&mut self) -> Upkeep {
        if self.retiring != NIL {
            return self.retire();
        }
        if self.target != u32::MAX {
            return self.find_empty();
        }
        if let Some(peak) = self.low_water.sample(self.live, self.capacity) {
            let room = (2 * u64::from(peak)).max(u64::from(Self::CHUNK));
            if 2 * room <= u64::from(self.capacity) {
                self.target = room as u32;
                self.search = 0;
                return Upkeep {
                    steps: 1,
                    unfinished: true,
                };
            }
        }
        Upkeep::NOTHING
    }

    /// Looks at a few chunks for an empty one. At the end of the directory the matter rests until the next low water.
    fn find_empty(&mut self) -> Upkeep {
        for steps in 1..=UPKEEP_STEPS as u32 {
            if self.capacity < self.target + Self::CHUNK
                || self.search as usize == self.chunks.len()
            {
                self.target = u32::MAX;
                return Upkeep {
                    steps,
                    unfinished: false,
                };
            }
            let number = self.search;
            self.search += 1;
            let chunk = &self.chunks[number as usize];
            if chunk.live == 0 && chunk.cells.capacity() != 0 {
                self.unlist(number);
                self.capacity -= Self::CHUNK;
                self.retiring = number;
                return Upkeep {
                    steps,
                    unfinished: true,
                };
            }
        }
        Upkeep {
            steps: UPKEEP_STEPS as u32,
            unfinished: true,
        }
    }

    /// Drops a few cells of the chunk being given back, and the chunk with the last of them.
    fn retire(&mut self) -> Upkeep {
        let number = self.retiring;
        let chunk = &mut self.chunks[number as usize];
        let keep = chunk.cells.len().saturating_sub(UPKEEP_STEPS);
        let steps = (chunk.cells.len() - keep) as u32;
        chunk.cells.truncate(keep);
        if keep == 0 {
            chunk.cells = Vec::new();
            chunk.free = NIL;
            chunk.next = self.vacant;
            self.vacant = number;
            self.retiring = NIL;
        }
        Upkeep {
            steps,
            unfinished: true,
        }
    }
}

impl<T, const TABLES: usize> Index<u32> for Arena<T, TABLES> {
    type Output = Cell<T, TABLES>;

    #[inline(always)]
    fn index(&self, cell: u32) -> &Self::Output {
        &self.chunks[(cell >> Self::SHIFT) as usize].cells[(cell & (Self::CHUNK - 1)) as usize]
    }
}

impl<T, const TABLES: usize> IndexMut<u32> for Arena<T, TABLES> {
    #[inline(always)]
    fn index_mut(&mut self, cell: u32) -> &mut Self::Output {
        &mut self.chunks[(cell >> Self::SHIFT) as usize].cells[(cell & (Self::CHUNK - 1)) as usize]
    }
}
