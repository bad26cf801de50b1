//! All slots of a process: stable addresses, never unmapped.
//!
//! A free slot waits on the list of the lane that last used it, where allocating is popping; a thread that finds
//! its lane held takes one from the threads' magazines instead, and it goes back there.

use std::alloc::{Layout, alloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use weft_reserve::NoMemory;
use weft_sync::{Links, Magazines};

use crate::request_id::RequestId;
use crate::slot::{Cells, FREE, NIL, PENDING, POOLED, Slot};

/// Small in tests, which make many engines.
const CHUNK: u32 = if cfg!(test) { 64 } else { 2048 };
const CHUNKS: usize = 1 << 17;

pub(crate) struct Slots {
    chunks: Box<[AtomicPtr<Slot>; CHUNKS]>,
    magazines: Magazines,
}

impl Slots {
    pub fn new() -> Slots {
        Slots::with_limit(CHUNKS as u32 * CHUNK)
    }

    /// A table of at most so many.
    pub fn with_limit(limit: u32) -> Slots {
        // SAFETY: a null pointer is all zeroes. Zeroed memory is not touched until a chunk is made.
        let chunks = unsafe { Box::new_zeroed().assume_init() };
        Slots {
            chunks,
            magazines: Magazines::new(limit),
        }
    }

    /// The slot of an index that this table gave out.
    #[inline]
    pub fn at(&self, index: u32) -> &Slot {
        // The remainder says to the compiler that the index is within.
        let chunk = self.chunks[(index / CHUNK) as usize % CHUNKS].load(Ordering::Acquire);
        debug_assert!(!chunk.is_null() && ((index / CHUNK) as usize) < CHUNKS);
        // SAFETY: an index given out lies in a chunk that was stored before (release in `grow`), holds
        // CHUNK initialised slots and is never freed before `self`.
        unsafe { &*chunk.add((index % CHUNK) as usize) }
    }

    /// The slot of an identifier that may be stale or never have been one.
    #[inline]
    pub fn find(&self, id: RequestId) -> Option<&Slot> {
        let slot = self.named(id)?;
        (slot.state.load(Ordering::Acquire) != FREE).then_some(slot)
    }

    /// The slot of an identifier if it is complete: the fast way to finish it.
    #[inline]
    pub fn complete_one(&self, id: RequestId) -> Option<&Slot> {
        self.named(id).filter(|slot| slot.is_complete())
    }

    /// The slot that has an identifier's generation, be it free.
    #[inline]
    pub fn named(&self, id: RequestId) -> Option<&Slot> {
        let slot = self.made(id.index())?;
        let generation = slot.generation.load(Ordering::Relaxed) & RequestId::GENERATION_MASK;
        (generation == id.generation()).then_some(slot)
    }

    /// The slot at an index that may be any, if it was made.
    #[inline]
    fn made(&self, index: u32) -> Option<&Slot> {
        let chunk = self
            .chunks
            .get((index / CHUNK) as usize)?
            .load(Ordering::Acquire);
        if chunk.is_null() {
            return None;
        }
        // SAFETY: as in `at`; a stored chunk has all its slots initialised.
        Some(unsafe { &*chunk.add((index % CHUNK) as usize) })
    }

    #[inline]
    pub fn id(&self, index: u32) -> RequestId {
        RequestId::new(index, self.at(index).generation.load(Ordering::Relaxed))
    }

    /// The identifier of the live slot at an index that may be any.
    pub fn current(&self, index: u32) -> Option<RequestId> {
        let slot = self.made(index)?;
        let id = RequestId::new(index, slot.generation.load(Ordering::Relaxed));
        (slot.state.load(Ordering::Acquire) != FREE).then_some(id)
    }

    /// A free slot for a request of a lane whose list is not to be had.
    pub fn pooled(&self, lane: u32) -> Option<&Slot> {
        let slot = self.at(self.fresh()?);
        // SAFETY: just taken from those that are free, by this thread.
        unsafe { Slots::blank(slot) }.lane = lane as u8 | POOLED;
        Some(slot)
    }

    /// A free slot's index that no lane's list has, for the calling thread alone; `None` when 2^28 requests are
    /// outstanding, or there is no memory for more.
    #[inline(never)]
    pub fn fresh(&self) -> Option<u32> {
        let index = self.magazines.alloc()?;
        let chunk = self.chunks[(index / CHUNK) as usize].load(Ordering::Acquire);
        if chunk.is_null() && self.grow(index).is_err() {
            self.magazines.free(index);
            return None;
        }
        Some(index)
    }

    /// The cells of a free slot that is in this thread's hands, to be filled before [`begin`](Self::begin).
    ///
    /// # Safety
    /// The calling thread has taken the slot from the free ones and has not begun it (slot protocol, rule 1), and no other
    /// reference to the cells lives.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn blank(slot: &Slot) -> &mut Cells {
        // SAFETY: by this function's contract.
        unsafe { &mut *slot.cells.get() }
    }

    /// Makes a request of a free slot that is in this thread's hands and whose cells are filled.
    #[inline(always)]
    pub fn begin(slot: &Slot) -> RequestId {
        slot.state.store(PENDING, Ordering::Release);
        RequestId::new(slot.index, slot.generation.load(Ordering::Relaxed))
    }

    /// The cells of a slot pending on the caller's lane.
    ///
    /// # Safety
    /// The caller holds the section of the slot's lane (rule 2), or the slot is not handed over (rule 1),
    /// or it is complete and being finished by this thread (rule 4); and no other reference to the cells lives.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn cells(&self, index: u32) -> &mut Cells {
        // SAFETY: by this function's contract.
        unsafe { &mut *self.at(index).cells.get() }
    }

    /// Frees a finished or detached slot: rules 4 to 6. The caller gives it back to where it belongs.
    ///
    /// # Safety
    /// As for [`cells`](Self::cells).
    #[inline]
    pub unsafe fn end(slot: &Slot) {
        // SAFETY: by this function's contract.
        let cells = unsafe { &mut *slot.cells.get() };
        if cells.layout.is_some() || cells.extra.is_some() {
            cells.let_go();
        }
        // SAFETY: by this function's contract; what it held is gone.
        unsafe { Slots::end_plain(slot) };
    }

    /// As [`end`](Self::end), of a slot that holds nothing.
    ///
    /// # Safety
    /// As for [`end`](Self::end), and neither `layout` nor `extra` is set.
    #[inline]
    pub unsafe fn end_plain(slot: &Slot) {
        debug_assert_ne!(
            slot.state.load(Ordering::Relaxed),
            FREE,
            "a slot is freed once"
        );
        let generation = slot.generation.load(Ordering::Relaxed);
        slot.generation
            .store(generation.wrapping_add(1), Ordering::Relaxed);
        slot.state.store(FREE, Ordering::Release);
    }

    /// Gives back a free slot that belongs to the magazines.
    pub fn give_back(&self, index: u32) {
        self.magazines.free(index);
    }

    /// Makes the chunk in which `index` lies, unless another thread just did.
    #[cold]
    fn grow(&self, index: u32) -> Result<(), NoMemory> {
        weft_reserve::check()?;
        let place = &self.chunks[(index / CHUNK) as usize];
        let chunk = new_chunk(index / CHUNK * CHUNK)?;
        let lost = place.compare_exchange(
            std::ptr::null_mut(),
            chunk,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if lost.is_err() {
            drop_chunk(chunk);
        }
        Ok(())
    }
}

/// Free slots, linked. The first has been looked up, and fetched, when it became the first.
#[derive(Default)]
pub(crate) struct FreeSlots(Option<NonNull<Slot>>);

// SAFETY: the slots are in the holder's hands alone (slot protocol, rule 1), and may be used from any thread.
unsafe impl Send for FreeSlots {}

impl FreeSlots {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Takes a slot, of those that all are in `slots`.
    #[inline(always)]
    pub fn pop<'a>(&mut self, slots: &'a Slots) -> Option<&'a Slot> {
        // SAFETY: it lies in `slots`, where slots stay.
        let first: &'a Slot = unsafe { self.0?.as_ref() };
        self.begin_at(first.link.load(Ordering::Relaxed), slots);
        Some(first)
    }

    /// The chain from `index` on, in place of what is here.
    #[inline(always)]
    pub fn begin_at(&mut self, index: u32, slots: &Slots) {
        self.0 = (index != NIL).then(|| {
            let slot = slots.at(index);
            slot.fetch();
            NonNull::from(slot)
        });
    }

    pub fn push(&mut self, slot: &Slot) {
        // SAFETY: as in `pop`.
        let next = self.0.map_or(NIL, |next| unsafe { next.as_ref().index });
        slot.link.store(next, Ordering::Relaxed);
        self.0 = Some(NonNull::from(slot));
    }
}

impl Links for Slots {
    #[inline]
    fn link(&self, id: u32) -> &AtomicU32 {
        &self.at(id).link
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        let chunks = self
            .chunks
            .iter()
            .map(|chunk| chunk.load(Ordering::Acquire));
        // In order, as indices that were never used are given out so.
        chunks
            .take_while(|chunk| !chunk.is_null())
            .for_each(drop_chunk);
    }
}

const CHUNK_LAYOUT: Layout = match Layout::array::<Slot>(CHUNK as usize) {
    Ok(layout) => layout,
    Err(_) => panic!("a chunk of slots has a size"),
};

/// A chunk of free slots, with these indices from `first` on.
fn new_chunk(first: u32) -> Result<*mut Slot, NoMemory> {
    // SAFETY: the layout is not empty.
    let chunk = unsafe { alloc(CHUNK_LAYOUT) }.cast::<Slot>();
    if chunk.is_null() {
        return Err(NoMemory);
    }
    for index in 0..CHUNK {
        // SAFETY: within the allocation just made.
        unsafe { chunk.add(index as usize).write(Slot::free(first + index)) };
    }
    Ok(chunk)
}

fn drop_chunk(chunk: *mut Slot) {
    // SAFETY: made by `new_chunk`, all slots initialised, no reference left.
    unsafe {
        std::ptr::drop_in_place(std::ptr::slice_from_raw_parts_mut(chunk, CHUNK as usize));
        std::alloc::dealloc(chunk.cast(), CHUNK_LAYOUT);
    }
}
