//! The receiving side of a ring.

use std::num::NonZeroU8;

use super::{Cell, DATA_ALIGN, INLINE_BYTES, Malformed, PLACE_AND_LENGTH, Parts, control, lap};
use crate::lines;
use crate::primitive::{Ordering, latest, latest64};

/// The consumer leaves the lines of shorter messages alone: taking them over costs as much as it saves.
const TAKEN_OVER_FROM: usize = 256;

/// A message in the ring. The payload stays where it is until the consumer advances past it.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub kind: u8,
    pub header: [u64; 2],
    /// Where the message lies, if not here.
    pub elsewhere: Option<Elsewhere>,
    payload: *const u8,
    bytes: u32,
    /// The end of its piece of the data ring; zero if the message lies in its cell or elsewhere.
    data_end: u32,
}

/// A message that lies elsewhere (rule 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub place: NonZeroU8,
    pub bytes: u32,
}

impl Arrival {
    /// A message of this control word as if it lay in its cell.
    #[inline(always)]
    fn in_cell(cell: &Cell, control: u64) -> Arrival {
        Arrival {
            kind: (control >> 40) as u8,
            header: [cell.header[0].read(), cell.header[1].read()],
            elsewhere: None,
            payload: cell.inline.get().cast::<u8>(),
            bytes: control as u32,
            data_end: 0,
        }
    }

    /// The message's bytes; none if they lie elsewhere.
    ///
    /// # Safety
    /// The consumer has not advanced past this message. A hostile producer can change the bytes meanwhile:
    /// look at them once.
    #[inline]
    pub unsafe fn payload<'a>(&self) -> &'a [u8] {
        // SAFETY: `look` checked that the bytes lie in the ring.
        unsafe { std::slice::from_raw_parts(self.payload, self.bytes as usize) }
    }

    /// Whether the message lies in the data ring.
    #[inline]
    pub fn lies_in_ring(&self) -> bool {
        self.data_end != 0
    }

    /// Takes the lines over in which the message lies ([`lines`]), if that is worth it.
    ///
    /// # Safety
    /// The consumer has not advanced past this message, and no slice of its bytes is held.
    #[inline]
    pub unsafe fn take_over(&self) {
        if self.bytes as usize >= TAKEN_OVER_FROM && lines::are_better_taken_over() {
            // SAFETY: `look` checked that the bytes lie in the ring; until the consumer advances they are its own (rule 1).
            unsafe { lines::take_over(self.payload.cast_mut(), self.bytes as usize) };
        }
    }
}

/// The one consumer of a ring.
pub struct Consumer {
    parts: Parts,
    /// The next cell, and the one before which more is to be done than to go on: each quarter of the ring.
    cell: *const Cell,
    stop: *const Cell,
    /// The running number of this lap's first cell.
    base: u32,
    /// The next cell's lap, at its place in the control word.
    lap: u64,
    /// `consumed` as last written.
    returned: u32,
    /// The end of the last message in the data ring, and of the last one whose room was returned.
    data_end: u32,
    data_returned: u32,
}

// SAFETY: the pointers are to memory shared by protocol (rule 1), of which this is the only consumer.
unsafe impl Send for Consumer {}

impl Consumer {
    /// Attaches to a ring, without watching it yet.
    ///
    /// # Safety
    /// The parts lie in valid memory which outlives the consumer; there is no other consumer.
    pub unsafe fn new(parts: Parts) -> Consumer {
        // SAFETY: the heads are valid.
        unsafe { &(*parts.heads).reader.attached }.store(1, Ordering::Release);
        Consumer {
            parts,
            cell: parts.cells,
            stop: parts.cells.wrapping_add(parts.quarter() as usize),
            base: 0,
            lap: control(lap(0, parts.count), 0, 0, 0),
            returned: 0,
            data_end: 0,
            data_returned: 0,
        }
    }

    fn cell(&self) -> &Cell {
        // SAFETY: `cell` is always one of the ring's cells.
        unsafe { &*self.cell }
    }

    /// Whether the next message is there. One load.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.cell().control.load(Ordering::Acquire) >> 48 == self.lap >> 48
    }

    /// The next message, if it is there, is of kind 0 and lies in its cell: then its control word is the lap and a
    /// length, and one comparison tells all of this.
    #[inline]
    pub fn look_short(&self) -> Option<Arrival> {
        let cell = self.cell();
        let length = cell.control.load(Ordering::Acquire).wrapping_sub(self.lap);
        (length <= INLINE_BYTES as u64).then(|| Arrival::in_cell(cell, length))
    }

    /// The next message, if it is there.
    #[inline]
    pub fn look(&self) -> Result<Option<Arrival>, Malformed> {
        self.read(self.cell())
    }

    /// The message `ahead` places, less than a lap, after the next one, if it is there and of the same lap.
    #[inline]
    pub fn look_ahead(&self, ahead: usize) -> Result<Option<Arrival>, Malformed> {
        let cell = self.cell.wrapping_add(ahead);
        if cell >= self.end() {
            return Ok(None);
        }
        // SAFETY: `ahead` is at most a lap, so a place before the end is that of one of the ring's cells.
        self.read(unsafe { &*cell })
    }

    #[inline]
    fn read(&self, cell: &Cell) -> Result<Option<Arrival>, Malformed> {
        let control = cell.control.load(Ordering::Acquire);
        if control >> 48 != self.lap >> 48 {
            return Ok(None);
        }
        let mut arrival = Arrival::in_cell(cell, control);
        // A place makes this more than any length.
        if control & PLACE_AND_LENGTH > INLINE_BYTES as u64 {
            self.find_payload(&mut arrival, (control >> 32) as u8)?;
        }
        Ok(Some(arrival))
    }

    /// Finds a long message's bytes: elsewhere, or in the data ring by what stands in its cell.
    #[inline]
    fn find_payload(&self, arrival: &mut Arrival, place: u8) -> Result<(), Malformed> {
        if let Some(place) = NonZeroU8::new(place) {
            let bytes = std::mem::take(&mut arrival.bytes);
            arrival.elsewhere = Some(Elsewhere { place, bytes });
            return Ok(());
        }
        // SAFETY: the payload part of the cell, which is the consumer's (rule 1), begins 8-aligned.
        let at = unsafe { arrival.payload.cast::<u32>().read_volatile() };
        match at.checked_add(arrival.bytes) {
            Some(end) if end <= self.parts.data_bytes => arrival.data_end = end,
            _ => return Err(Malformed("a message outside the data ring")),
        }
        // SAFETY: the place is inside the data ring.
        arrival.payload = unsafe { self.parts.data.add(at as usize) };
        Ok(())
    }

    /// Gives the next message's room back, some time. True if the producer waits for room and got some: ring
    /// its doorbell.
    #[inline]
    pub fn advance(&mut self, arrival: &Arrival) -> bool {
        self.cell = self.cell.wrapping_add(1);
        let mut due = self.cell == self.stop;
        if due {
            self.pass_stop();
        }
        if arrival.data_end != 0 {
            due |= self.owes_data(arrival.data_end);
        }
        due && self.return_room()
    }

    /// At a stop: on to the next, and at the end of the cells to the first.
    #[cold]
    fn pass_stop(&mut self) {
        if self.cell == self.end() {
            self.cell = self.parts.cells;
            self.base = self.base.wrapping_add(self.parts.count);
            self.lap = control(lap(self.base, self.parts.count), 0, 0, 0);
        }
        self.stop = self.cell.wrapping_add(self.parts.quarter() as usize);
    }

    /// Where the cells end.
    fn end(&self) -> *const Cell {
        self.parts.cells.wrapping_add(self.parts.count as usize)
    }

    /// Cells consumed, modulo 2^32.
    fn consumed(&self) -> u32 {
        let bytes = self.cell.addr() - self.parts.cells.addr();
        self.base.wrapping_add((bytes / size_of::<Cell>()) as u32)
    }

    /// Counts data up to `end` as consumed; whether a quarter of the data ring is to be given back.
    #[inline]
    fn owes_data(&mut self, end: u32) -> bool {
        let size = self.parts.data_bytes;
        self.data_end = end.next_multiple_of(DATA_ALIGN as u32);
        // There is never a whole lap between two returns.
        let wrapped = if self.data_end < self.data_returned {
            size
        } else {
            0
        };
        self.data_end + wrapped - self.data_returned >= size / 4
    }

    /// Gives back all room; true if the producer waits for it.
    #[cold]
    fn return_room(&mut self) -> bool {
        self.returned = self.consumed();
        self.data_returned = self.data_end;
        // SAFETY: the heads are valid.
        let heads = unsafe { &*self.parts.heads };
        heads.reader.consumed.swap(self.returned, Ordering::SeqCst);
        latest(&heads.writer.waits) != 0
    }

    /// Gives back all room if any is held back; true if the producer waits for it. For when the ring falls
    /// idle.
    pub fn return_all_room(&mut self) -> bool {
        self.returned != self.consumed() && self.return_room()
    }

    /// Says that nobody watches the ring from here on, so that the producer rings the doorbell. True if a
    /// message is there already.
    pub fn unwatch(&self) -> bool {
        // SAFETY: the heads are valid.
        unsafe { &(*self.parts.heads).reader.notify }.swap(1, Ordering::SeqCst);
        latest64(&self.cell().control) >> 48 == self.lap >> 48
    }

    /// Says that the ring is watched again.
    pub fn watch(&self) {
        // SAFETY: the heads are valid.
        unsafe { &(*self.parts.heads).reader.notify }.store(0, Ordering::Relaxed);
    }

    /// Asks the producer for no more unexpected payload, or for it again.
    pub fn throttle(&self, on: bool) {
        // SAFETY: the heads are valid.
        unsafe { &(*self.parts.heads).reader.throttle }.store(u32::from(on), Ordering::Relaxed);
    }
}
