//! Cells by index, allocated and given back by chunks.
//!
//! Each chunk has a map of its free cells. Chunks with a free cell stand in a list; allocation takes the first free cell
//! of the chunk at its head. So a burst of allocations runs through memory in order, whatever the order in which the
//! cells were freed, and no allocation waits for a cell to learn where the next one is.
//!
//! A chunk is given back in three stages: it is empty and leaves the list; its cells are dropped, a few at each turn of
//! upkeep; its memory is freed and its number goes to the vacant list, to be used again. No cell ever moves, and the
//! directories are the only thing that is ever copied.

use std::num::NonZeroU64;
use std::ops::{Index, IndexMut};

use crate::cell::{Cell, Stamped};
use crate::key::Key;
use crate::low_water::{LowWater, Upkeep};
use crate::{FOLLOWER, NIL};

/// Cells of one chunk. Few in unit tests, so that short sequences grow and shrink.
const CHUNK: usize = if cfg!(test) { 128 } else { 256 };
const CHUNK_CELLS: u32 = CHUNK as u32;
const WORD_BITS: usize = u64::BITS as usize;
/// Cells dropped, or chunks looked at, by one turn of upkeep.
const UPKEEP_STEPS: usize = 16;

/// Bookkeeping of one chunk, apart from the cells so that finding a cell takes one look at a dense directory.
struct Room {
    /// A bit for each cell: whether it is free.
    free: [u64; CHUNK / WORD_BITS],
    live: u32,
    /// Neighbours in the list of chunks with room, or in the vacant list (`next` only).
    next: u32,
    prev: u32,
}

impl Room {
    const EMPTY: Room = Room {
        free: [u64::MAX; CHUNK / WORD_BITS],
        live: 0,
        next: NIL,
        prev: NIL,
    };

    /// Takes the first free cell. There is one.
    #[inline(always)]
    fn take_first(&mut self) -> u32 {
        self.live += 1;
        for (word, first) in self.free.iter_mut().zip((0..).step_by(WORD_BITS)) {
            if *word != 0 {
                let cell = first + word.trailing_zeros();
                *word &= *word - 1;
                return cell;
            }
        }
        unreachable!("a chunk in the list has room")
    }

    #[inline(always)]
    fn give_back(&mut self, cell: usize) {
        self.live -= 1;
        self.free[cell / WORD_BITS] |= 1 << (cell % WORD_BITS);
    }
}

pub(crate) struct Arena<T, const TABLES: usize> {
    /// `None` where a chunk was given back.
    chunks: Vec<Option<Box<[Cell<T, TABLES>; CHUNK]>>>,
    rooms: Vec<Room>,
    /// Head of the list of chunks that have memory and are not full.
    roomy: u32,
    /// Head of the list of chunks without memory.
    vacant: u32,
    live: u32,
    /// Cells of the chunks that have memory.
    capacity: u32,
    low_water: LowWater,
    /// Capacity to come down to; `u32::MAX` when none is to be given back.
    target: u32,
    /// The chunk that is being given back, and what is left of it.
    retiring: Option<(u32, Vec<Cell<T, TABLES>>)>,
    /// Where the search for an empty chunk goes on.
    search: u32,
}

impl<T, const TABLES: usize> Arena<T, TABLES> {
    pub fn new() -> Self {
        Arena {
            chunks: Vec::new(),
            rooms: Vec::new(),
            roomy: NIL,
            vacant: NIL,
            live: 0,
            capacity: 0,
            low_water: LowWater::new(),
            target: u32::MAX,
            retiring: None,
            search: 0,
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
            + self.rooms.capacity() * size_of::<Room>()
    }

    #[inline(always)]
    pub fn get(&self, cell: u32) -> Option<&Cell<T, TABLES>> {
        Some(&self.chunks.get(cell as usize / CHUNK)?.as_ref()?[cell as usize % CHUNK])
    }

    /// Has the cell and the map that it is in fetched, for later, if there is one.
    #[inline(always)]
    pub fn fetch(&self, cell: u32) {
        if let Some(content) = self.get(cell) {
            weft_sync::fetch(content);
            weft_sync::fetch(&self.rooms[cell as usize / CHUNK]);
        }
    }

    pub fn get_mut(&mut self, cell: u32) -> Option<&mut Cell<T, TABLES>> {
        Some(&mut self.chunks.get_mut(cell as usize / CHUNK)?.as_mut()?[cell as usize % CHUNK])
    }

    /// A new cell, which stands in no table yet.
    #[inline(always)]
    pub fn insert(&mut self, key: Key, stamp: NonZeroU64, value: T) -> u32 {
        if self.roomy == NIL {
            self.open_chunk();
        }
        let number = self.roomy;
        let room = &mut self.rooms[number as usize];
        let index = number * CHUNK_CELLS + room.take_first();
        if room.live == CHUNK_CELLS {
            self.unlist(number);
        }
        self.live += 1;
        self[index].fill(key, stamp, value);
        index
    }

    /// Frees a live cell, which stands in no table any more.
    #[inline(always)]
    pub fn remove(&mut self, index: u32) -> T {
        let content = self[index].content.take().expect(LIVE);
        let number = index / CHUNK_CELLS;
        let room = &mut self.rooms[number as usize];
        room.give_back(index as usize % CHUNK);
        if room.live == CHUNK_CELLS - 1 {
            self.list(number);
        }
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

    #[cold]
    #[inline(never)]
    fn open_chunk(&mut self) {
        let number = if self.vacant != NIL {
            let number = self.vacant;
            self.vacant = self.rooms[number as usize].next;
            number
        } else {
            let number = self.chunks.len() as u32;
            assert!(number < FOLLOWER / CHUNK_CELLS, "an arena holds 2^32 cells");
            self.chunks.push(None);
            self.rooms.push(Room::EMPTY);
            number
        };
        let cells: Vec<_> = std::iter::repeat_with(Cell::free).take(CHUNK).collect();
        // The length is right, so this is never `None`.
        self.chunks[number as usize] = cells.into_boxed_slice().try_into().ok();
        self.capacity += CHUNK_CELLS;
        self.target = u32::MAX;
        self.list(number);
    }

    /// Puts a chunk at the head of the list of those with room.
    #[inline(never)]
    fn list(&mut self, number: u32) {
        let next = self.roomy;
        let room = &mut self.rooms[number as usize];
        (room.prev, room.next) = (NIL, next);
        if next != NIL {
            self.rooms[next as usize].prev = number;
        }
        self.roomy = number;
    }

    #[inline(never)]
    fn unlist(&mut self, number: u32) {
        let Room { next, prev, .. } = self.rooms[number as usize];
        if next != NIL {
            self.rooms[next as usize].prev = prev;
        }
        match prev {
            NIL => self.roomy = next,
            prev => self.rooms[prev as usize].next = next,
        }
    }

    /// Takes a sample of the population, or does a bounded part of the work of giving back.
    pub fn upkeep(&mut self) -> Upkeep {
        if self.retiring.is_some() {
            return self.retire();
        }
        if self.target != u32::MAX {
            return self.find_empty();
        }
        if let Some(peak) = self.low_water.sample(self.live, self.capacity) {
            let room = (2 * u64::from(peak)).max(u64::from(CHUNK_CELLS));
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
            if self.capacity < self.target + CHUNK_CELLS || self.search as usize == self.rooms.len()
            {
                self.target = u32::MAX;
                self.trim_directories();
                return Upkeep {
                    steps,
                    unfinished: false,
                };
            }
            let number = self.search;
            self.search += 1;
            if self.rooms[number as usize].live == 0
                && let Some(cells) = self.chunks[number as usize].take()
            {
                self.unlist(number);
                self.capacity -= CHUNK_CELLS;
                let cells: Box<[Cell<T, TABLES>]> = cells;
                self.retiring = Some((number, cells.into_vec()));
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

    /// Drops a few cells of the chunk being given back, and its memory with the last of them.
    fn retire(&mut self) -> Upkeep {
        let Some((number, cells)) = &mut self.retiring else {
            return Upkeep::NOTHING;
        };
        let keep = cells.len().saturating_sub(UPKEEP_STEPS);
        let steps = (cells.len() - keep) as u32;
        cells.truncate(keep);
        if keep == 0 {
            self.rooms[*number as usize].next = self.vacant;
            self.vacant = *number;
            self.retiring = None;
        }
        Upkeep {
            steps,
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
        self.chunks.shrink_to_fit();
        self.rooms.truncate(used);
        self.rooms.shrink_to_fit();
        self.vacant = NIL;
        for ((number, room), chunk) in (0..).zip(&mut self.rooms).zip(&self.chunks) {
            if chunk.is_none() {
                room.next = self.vacant;
                self.vacant = number;
            }
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
