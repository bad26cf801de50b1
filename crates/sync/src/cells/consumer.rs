//! The receiving side of a ring.

use super::{DATA_ALIGN, INLINE_BYTES, Malformed, Parts, lap};
use crate::primitive::{Ordering, latest, latest64};

/// A message in the ring. The payload stays where it is until the consumer advances past it.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub kind: u8,
    pub header: [u64; 2],
    payload: *const u8,
    bytes: u32,
    /// The end of its piece of the data ring; none if the message lies in its cell.
    data_end: Option<u32>,
}

impl Arrival {
    /// # Safety
    /// The consumer has not advanced past this message. A hostile producer can change the bytes meanwhile:
    /// look at them once.
    #[inline]
    pub unsafe fn payload<'a>(&self) -> &'a [u8] {
        // SAFETY: `look` checked that the bytes lie in the ring.
        unsafe { std::slice::from_raw_parts(self.payload, self.bytes as usize) }
    }
}

/// The one consumer of a ring.
pub struct Consumer {
    parts: Parts,
    /// Running number of the next cell.
    next: u32,
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
            next: 0,
            returned: 0,
            data_end: 0,
            data_returned: 0,
        }
    }

    /// Whether the next message is there. One load.
    #[inline]
    pub fn is_ready(&self) -> bool {
        // SAFETY: the index is below the count.
        let cell = unsafe {
            &*self
                .parts
                .cells
                .add((self.next & (self.parts.count - 1)) as usize)
        };
        cell.control.load(Ordering::Acquire) >> 48 == u64::from(lap(self.next, self.parts.count))
    }

    /// The message `ahead` places after the next one, if it is there.
    #[inline]
    pub fn look(&self, ahead: u32) -> Result<Option<Arrival>, Malformed> {
        let running = self.next.wrapping_add(ahead);
        // SAFETY: the index is below the count.
        let cell = unsafe {
            &*self
                .parts
                .cells
                .add((running & (self.parts.count - 1)) as usize)
        };
        let control = cell.control.load(Ordering::Acquire);
        if control >> 48 != u64::from(lap(running, self.parts.count)) {
            return Ok(None);
        }
        let bytes = control as u32;
        let inline = cell.inline.get().cast::<u8>().cast_const();
        let (payload, data_end) = if bytes as usize <= INLINE_BYTES {
            (inline, None)
        } else {
            // SAFETY: the cell is the consumer's (rule 1); the payload part begins 8-aligned.
            let at = unsafe { inline.cast::<u32>().read_volatile() };
            match at.checked_add(bytes) {
                Some(end) if end <= self.parts.data_bytes => {}
                _ => return Err(Malformed("a message outside the data ring")),
            }
            // SAFETY: the place is inside the data ring.
            (
                unsafe { self.parts.data.add(at as usize) }.cast_const(),
                Some(at + bytes),
            )
        };
        Ok(Some(Arrival {
            kind: (control >> 40) as u8,
            header: [cell.header[0].read(), cell.header[1].read()],
            payload,
            bytes,
            data_end,
        }))
    }

    /// Gives the next message's room back, some time. True if the producer waits for room and got some: ring
    /// its doorbell.
    #[inline]
    pub fn advance(&mut self, arrival: &Arrival) -> bool {
        self.next = self.next.wrapping_add(1);
        let mut due = self.next.wrapping_sub(self.returned) >= self.parts.count / 4;
        if let Some(end) = arrival.data_end {
            self.data_end = end.next_multiple_of(DATA_ALIGN as u32);
            let size = self.parts.data_bytes;
            let kept = self.data_end
                + if self.data_end <= self.data_returned {
                    size
                } else {
                    0
                };
            due |= kept - self.data_returned >= size / 4;
        }
        due && self.return_room()
    }

    /// Gives back all room; true if the producer waits for it.
    #[cold]
    fn return_room(&mut self) -> bool {
        self.returned = self.next;
        self.data_returned = self.data_end;
        // SAFETY: the heads are valid.
        let heads = unsafe { &*self.parts.heads };
        heads.reader.consumed.swap(self.next, Ordering::SeqCst);
        latest(&heads.writer.waits) != 0
    }

    /// Gives back all room if any is held back; true if the producer waits for it. For when the ring falls
    /// idle.
    pub fn settle(&mut self) -> bool {
        self.returned != self.next && self.return_room()
    }

    /// Says that nobody watches the ring from here on, so that the producer rings the doorbell. True if a
    /// message is there already.
    pub fn look_away(&self) -> bool {
        // SAFETY: the heads are valid, the index is below the count.
        let (heads, cell) = unsafe {
            let index = self.next & (self.parts.count - 1);
            (&*self.parts.heads, &*self.parts.cells.add(index as usize))
        };
        heads.reader.notify.swap(1, Ordering::SeqCst);
        latest64(&cell.control) >> 48 == u64::from(lap(self.next, self.parts.count))
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
