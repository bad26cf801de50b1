//! The sending side of a ring.

use std::num::NonZeroU8;

use super::{Cell, DATA_ALIGN, INLINE_BYTES, Malformed, Parts, control, lap};
use crate::primitive::{Ordering, latest, prefetch_to_write};

/// How many cells ahead a line is fetched for writing.
const AHEAD: u32 = 8;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// Published; the consumer watches.
    Watched,
    /// Published; the consumer does not watch: ring its doorbell.
    Unwatched,
    /// No room. Nothing happened.
    Full,
    /// The consumer's count is not possible. Nothing happened.
    Malformed,
}

/// The one producer of a ring.
pub struct Producer {
    parts: Parts,
    /// Running number of the next cell, its place, where it is, and where the cells end.
    next: u32,
    index: u32,
    cell: *const Cell,
    end: *const Cell,
    /// The next cell's lap, at its place in the control word.
    lap: u64,
    /// `consumed` as last read, and the cells that were free by it and are still.
    consumed: u32,
    free: u32,
    /// Where in the data ring the next piece may begin.
    data_at: u32,
    /// Data bytes used up, unusable ends included, modulo 2^32: now, and at the last consumed cell.
    data_used: u32,
    data_freed: u32,
    /// For each cell, `data_used` after it.
    data_after: Box<[u32]>,
}

// SAFETY: the pointers are to memory shared by protocol (rule 1), of which this is the only producer.
unsafe impl Send for Producer {}

impl Producer {
    /// Begins a ring that nobody watches yet.
    ///
    /// # Safety
    /// The parts lie in valid memory, zero at first, which outlives the producer; there is no other producer
    /// and not yet a consumer.
    pub unsafe fn new(parts: Parts) -> Producer {
        // SAFETY: the heads are valid.
        unsafe { &(*parts.heads).reader.notify }.store(1, Ordering::Relaxed);
        Producer {
            parts,
            next: 0,
            index: 0,
            cell: parts.cells,
            end: parts.cells.wrapping_add(parts.count as usize),
            free: parts.count,
            lap: control(lap(0, parts.count), 0, 0, 0),
            consumed: 0,
            data_at: 0,
            data_used: 0,
            data_freed: 0,
            data_after: vec![0; parts.count as usize].into_boxed_slice(),
        }
    }

    /// Sends `bytes` bytes, written by `fill`, under `header`. Room for any message up to
    /// [`Parts::longest`] comes by itself when the consumer consumes.
    #[inline]
    pub fn push(
        &mut self,
        kind: u8,
        header: [u64; 2],
        bytes: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Pushed {
        let at = match self.free_cell() {
            Ok(at) => at,
            Err(refused) => return refused,
        };
        if bytes <= INLINE_BYTES {
            // SAFETY: the cell is the producer's (rule 1).
            fill(unsafe { std::slice::from_raw_parts_mut((*at).inline.get().cast(), bytes) });
        } else {
            match self.reserve(bytes) {
                Ok(Some(begin)) => self.place(at, begin, bytes, fill),
                Ok(None) => return Pushed::Full,
                Err(Malformed(_)) => return Pushed::Malformed,
            }
        }
        self.publish(at, control(0, kind, 0, bytes as u32), header)
    }

    /// As [`push`](Self::push), of a message that lies in its cell: at most [`INLINE_BYTES`]. It finds the ring full without asking
    /// what the consumer has consumed since, and so calls nothing.
    #[inline(always)]
    pub fn push_short(&mut self, kind: u8, header: [u64; 2], data: &[u8]) -> Pushed {
        if self.free == 0 {
            return Pushed::Full;
        }
        let at = self.cell;
        // SAFETY: the cell is the producer's (rule 1).
        let inline = unsafe { &mut *(*at).inline.get() };
        copy_short(&mut inline[..data.len()], data);
        self.publish(at, control(0, kind, 0, data.len() as u32), header)
    }

    /// Sends a message of `bytes` bytes that lies at `place`, into which `fill` writes it (rule 7).
    #[inline]
    pub fn push_elsewhere(
        &mut self,
        kind: u8,
        header: [u64; 2],
        place: NonZeroU8,
        bytes: usize,
        fill: impl FnOnce(),
    ) -> Pushed {
        let at = match self.free_cell() {
            Ok(at) => at,
            Err(refused) => return refused,
        };
        fill();
        self.publish(at, control(0, kind, place.get(), bytes as u32), header)
    }

    /// Whether a cell is free, so that a message that needs no more finds room; else what its push would be told.
    #[inline]
    pub fn ready(&mut self) -> Result<(), Pushed> {
        self.free_cell().map(|_| ())
    }

    /// The next cell, or what a push that finds none free is told.
    #[inline(always)]
    fn free_cell(&mut self) -> Result<*const Cell, Pushed> {
        if self.free == 0 {
            match self.refresh() {
                Ok(0) => return Err(Pushed::Full),
                Ok(_) => {}
                Err(Malformed(_)) => return Err(Pushed::Malformed),
            }
        }
        Ok(self.cell)
    }

    #[inline(always)]
    fn publish(&mut self, at: *const Cell, word: u64, header: [u64; 2]) -> Pushed {
        // SAFETY: `free_cell` gave it out, one of the ring's cells, which outlive the producer.
        let cell = unsafe { &*at };
        cell.header[0].write(header[0]);
        cell.header[1].write(header[1]);
        // SAFETY: there is one of these for each cell.
        unsafe { *self.data_after.get_unchecked_mut(self.index as usize) = self.data_used };
        cell.control.swap(self.lap | word, Ordering::SeqCst);
        // Not a cell that is still the consumer's. Past the end this fetches from the data ring, which does
        // no harm.
        if self.free > AHEAD {
            prefetch_to_write(at.wrapping_add(AHEAD as usize));
        }
        self.free -= 1;
        self.next = self.next.wrapping_add(1);
        self.index += 1;
        self.cell = at.wrapping_add(1);
        if self.cell == self.end {
            self.index = 0;
            self.cell = self.parts.cells;
            self.lap = control(lap(self.next, self.parts.count), 0, 0, 0);
        }
        // SAFETY: the heads are valid.
        match latest(unsafe { &(*self.parts.heads).reader.notify }) {
            0 => Pushed::Watched,
            _ => Pushed::Unwatched,
        }
    }

    /// Writes a message of the data ring at `begin`, and into its cell where it lies.
    #[inline]
    fn place(&mut self, at: *const Cell, begin: u32, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        // SAFETY: `reserve` gave this piece to the producer, and the cell is the producer's (rule 1).
        unsafe {
            (*at).inline.get().cast::<u32>().write(begin);
            fill(std::slice::from_raw_parts_mut(
                self.parts.data.add(begin as usize),
                bytes,
            ));
        }
    }

    /// Takes `bytes` of the data ring, in one piece.
    fn reserve(&mut self, bytes: usize) -> Result<Option<u32>, Malformed> {
        debug_assert!(bytes <= self.parts.longest());
        let (at, taken) = self.fit(bytes);
        if self.data_free() < taken {
            self.refresh()?;
            if self.data_free() < taken {
                return Ok(None);
            }
        }
        self.data_at = at + bytes.next_multiple_of(DATA_ALIGN) as u32;
        self.data_used = self.data_used.wrapping_add(taken);
        Ok(Some(at))
    }

    /// Where a message of `bytes` would begin in the data ring, and how much of the ring it takes, the end
    /// that it does not fit into included.
    #[inline]
    fn fit(&self, bytes: usize) -> (u32, u32) {
        let piece = bytes.next_multiple_of(DATA_ALIGN) as u32;
        let end = self.parts.data_bytes - self.data_at;
        if piece <= end {
            (self.data_at, piece)
        } else {
            (0, end + piece)
        }
    }

    #[inline]
    fn data_free(&self) -> u32 {
        self.parts.data_bytes - self.data_used.wrapping_sub(self.data_freed)
    }

    /// Reads the consumer's count; the free cells.
    #[cold]
    fn refresh(&mut self) -> Result<u32, Malformed> {
        // SAFETY: the heads are valid.
        let consumed = latest(unsafe { &(*self.parts.heads).reader.consumed });
        let in_flight = self.next.wrapping_sub(consumed);
        if in_flight > self.next.wrapping_sub(self.consumed) {
            return Err(Malformed("counts cells as consumed that were never sent"));
        }
        if consumed != self.consumed {
            self.consumed = consumed;
            let last = consumed.wrapping_sub(1) & (self.parts.count - 1);
            self.data_freed = self.data_after[last as usize];
        }
        self.free = self.parts.count - in_flight;
        Ok(self.free)
    }

    /// Whether a message of `bytes` would find room now.
    pub fn has_room(&mut self, bytes: usize) -> Result<bool, Malformed> {
        if self.refresh()? == 0 {
            return Ok(false);
        }
        Ok(bytes <= INLINE_BYTES || self.data_free() >= self.fit(bytes).1)
    }

    /// Whether the consumer asked for no more unexpected payload.
    #[inline]
    pub fn throttled(&self) -> bool {
        // SAFETY: the heads are valid.
        unsafe { &(*self.parts.heads).reader.throttle }.load(Ordering::Relaxed) != 0
    }

    /// Says whether the consumer is to ring this side's doorbell when it has made room. After saying yes,
    /// look once more with [`has_room`](Self::has_room) (rule 5).
    pub fn wait_for_room(&self, waits: bool) {
        // SAFETY: the heads are valid.
        unsafe { &(*self.parts.heads).writer.waits }.swap(u32::from(waits), Ordering::SeqCst);
    }

    /// Whether the consumer has the ring in its address space, so that what is in it outlives this process.
    pub fn attached(&self) -> bool {
        // SAFETY: the heads are valid.
        unsafe { &(*self.parts.heads).reader.attached }.load(Ordering::Acquire) != 0
    }

    /// How many messages the consumer has not counted as consumed. It counts late (rule 3).
    pub fn in_flight(&mut self) -> Result<u32, Malformed> {
        Ok(self.parts.count - self.refresh()?)
    }
}

/// Copies a short message by words that may overlap, without a call.
#[inline(always)]
pub(super) fn copy_short(out: &mut [u8], data: &[u8]) {
    let bytes = data.len();
    if bytes >= 8 {
        let mut at = 0;
        while at + 8 < bytes {
            out[at..at + 8].copy_from_slice(&data[at..at + 8]);
            at += 8;
        }
        out[bytes - 8..].copy_from_slice(&data[bytes - 8..]);
    } else if bytes >= 4 {
        out[..4].copy_from_slice(&data[..4]);
        out[bytes - 4..].copy_from_slice(&data[bytes - 4..]);
    } else {
        for (to, from) in out.iter_mut().zip(data) {
            *to = *from;
        }
    }
}
