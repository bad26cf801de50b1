//! A ring of 64-byte cells from one producer to one consumer, over memory that the caller gives, so that the
//! two may be in different processes.
//!
//! A message up to [`INLINE_BYTES`] lies in its cell, so that exactly one cache line moves; a longer one lies
//! contiguous in the data ring beside the cells, and its cell says where.
//!
//! 1. A cell belongs to the producer until it publishes the control word of the current lap; from then on to
//!    the consumer, until `consumed` counts past it. A piece of the data ring belongs to whom its cell belongs.
//!    Control words are never overlaid by payload, so nothing a message contains can look like one.
//! 2. The control word holds the lap. The consumer polls the control word of its next cell and nothing else;
//!    fresh memory is zero and the first lap is 1, so an unpublished cell always shows another lap.
//! 3. `consumed` is written by the consumer each quarter of a ring (of cells or of data bytes), and read by
//!    the producer only when it has used up what it knew: the line moves four times a lap.
//! 4. Going to sleep, and any other looking away, is Dekker's protocol: the consumer writes `notify`, then
//!    looks at its next cell once more; the producer publishes, then reads `notify`. All four are SeqCst
//!    (publishing is the one read-modify-write of a message), so at least one of them sees the other.
//! 5. The other direction likewise: a producer that lacks room writes `waits`, then looks at `consumed` once
//!    more; the consumer writes `consumed`, then reads `waits`.
//! 6. The other side may be hostile. Each word of its is read once, then checked: a count that is not
//!    possible, or a place outside the ring, is [`Malformed`] and never followed.
//! 7. A message's bytes may lie elsewhere, in memory that both sides know by a small number and that belongs to the
//!    producer's side. Publishing the cell passes that memory to the consumer's side, for good: no word says whose it
//!    is, and it comes back, if ever, with a message of another ring.

mod consumer;
mod producer;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

pub use consumer::{Arrival, Consumer, Elsewhere};
pub use producer::{Producer, Pushed};

use crate::primitive::{AtomicU32, AtomicU64, Plain};
use std::cell::UnsafeCell;
use std::fmt;

/// Payload that fits in a cell.
pub const INLINE_BYTES: usize = 40;
/// Pieces of the data ring begin at multiples of this, so that two messages share no cache line.
pub const DATA_ALIGN: usize = 64;

/// One cell: control word, the caller's two header words, payload.
#[repr(C, align(64))]
pub struct Cell {
    /// Written by the producer (SeqCst swap), read by the consumer (Acquire).
    control: AtomicU64,
    header: [Plain; 2],
    inline: UnsafeCell<[u8; INLINE_BYTES]>,
}

/// The ring's words, by writer: each line is written by one side and read by the other.
#[repr(C)]
pub struct Heads {
    reader: ReaderLine,
    writer: WriterLine,
}

/// Written by the consumer.
#[repr(C, align(64))]
struct ReaderLine {
    /// Cells consumed, modulo 2^32.
    consumed: AtomicU32,
    /// The consumer does not watch the ring: ring its doorbell.
    notify: AtomicU32,
    /// The consumer asks for no more unexpected payload.
    throttle: AtomicU32,
    /// The consumer has the ring in its address space.
    attached: AtomicU32,
}

/// Written by the producer.
#[repr(C, align(64))]
struct WriterLine {
    /// The producer sleeps until there is room: ring its doorbell.
    waits: AtomicU32,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == 64 && size_of::<Heads>() == 128);

// SAFETY: who may touch header and payload when is rule 1; the rest are atomics.
unsafe impl Sync for Cell {}
// SAFETY: as above.
unsafe impl Send for Cell {}

#[cfg(all(test, loom))]
impl Cell {
    fn new() -> Cell {
        Cell {
            control: AtomicU64::new(0),
            header: [Plain::new(0), Plain::new(0)],
            inline: UnsafeCell::new([0; INLINE_BYTES]),
        }
    }
}

#[cfg(all(test, loom))]
impl Heads {
    fn new() -> Heads {
        Heads {
            reader: ReaderLine {
                consumed: AtomicU32::new(0),
                notify: AtomicU32::new(0),
                throttle: AtomicU32::new(0),
                attached: AtomicU32::new(0),
            },
            writer: WriterLine {
                waits: AtomicU32::new(0),
            },
        }
    }
}

/// Where a ring lies.
#[derive(Clone, Copy)]
pub struct Parts {
    pub heads: *const Heads,
    pub cells: *const Cell,
    /// A power of two.
    pub count: u32,
    pub data: *mut u8,
    pub data_bytes: u32,
}

impl Parts {
    /// Lays a ring of `count` cells out in `bytes` bytes from `base` on, which is aligned to 64: heads, cells,
    /// and the rest for data.
    pub const fn at(base: *mut u8, bytes: usize, count: u32) -> Parts {
        let cells = size_of::<Heads>();
        let data = cells + count as usize * size_of::<Cell>();
        assert!(count.is_power_of_two() && data < bytes);
        Parts {
            heads: base.cast(),
            cells: base.wrapping_add(cells).cast(),
            count,
            data: base.wrapping_add(data),
            data_bytes: ((bytes - data) / DATA_ALIGN * DATA_ALIGN) as u32,
        }
    }

    /// Cells after which the consumer gives room back.
    const fn quarter(&self) -> u32 {
        if self.count < 4 { 1 } else { self.count / 4 }
    }

    /// The longest message that is certain to find room once all before it are consumed: a consumer may
    /// keep a quarter of the data ring back (rule 3), and as much as the message may be lost at its end.
    pub const fn longest(&self) -> usize {
        (self.data_bytes as usize * 3 / 8) / DATA_ALIGN * DATA_ALIGN
    }
}

/// The other side has written what it never would: the ring is to be given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

/// A control word: lap 16 | kind 8 | place 8 | length 32. The place is zero unless the message lies elsewhere.
const fn control(lap: u16, kind: u8, place: u8, length: u32) -> u64 {
    (lap as u64) << 48 | (kind as u64) << 40 | (place as u64) << 32 | length as u64
}

/// The control word's lower part.
const PLACE_AND_LENGTH: u64 = (1 << 40) - 1;

/// The lap of the cell with running number `index`, from 1.
#[inline]
fn lap(index: u32, count: u32) -> u16 {
    (index >> count.trailing_zeros()).wrapping_add(1) as u16
}
