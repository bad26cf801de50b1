//! Memory for calls of the library for which the system has none: such a call ends with `MPI_ERR_NO_MEM`, and the
//! process goes on.
//!
//! Rust ends a process in which an allocation fails. So:
//! 1. Memory whose length a program or a peer chooses is asked of the system alone, by [`with_capacity`], [`zeroed`],
//!    [`collected`] or [`lengthen`], and its lack is an error of the call.
//! 2. What else the library allocates is short: an entry of a table, a boxed future, the text of an error. Where the
//!    system has no memory for it, it comes from the *reserve*, a part of the library's own data of which no page is
//!    there before it is used. [`Reserving`], the library's allocator, does so.
//! 3. While something of the reserve is in use and the system has still no memory, what would make the library keep
//!    more is refused ([`check`]): a new object, a further chunk of requests. So the reserve serves what is under way,
//!    and is given back as that ends.
//! 4. For mappings of a connection [`addresses`] are set aside, of which the same holds.
//! 5. Where the reserve is used up, the process says so in a line and ends, and with it the job.
//!
//! # The reserve
//! It is made of units of [`UNIT`] bytes. A map has a bit for each, and a lock protects it: a thread that comes here has
//! failed to get memory from the system, so how long the lock takes does not matter. A piece of the reserve is known by
//! its address, to which the system's allocator gives nothing else.

mod addresses;
mod lists;
mod no_memory;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes of the reserve: as many as a chunk of requests and what tables grow by until the next chunk is refused, on 16
/// lanes, and beside them the notes of some 40,000 messages that come before their receive and cannot be kept, 100 bytes
/// each.
const BYTES: usize = 8 << 20;
/// Bytes of a piece, at least: what Rust's small boxes are, and a cache line.
const UNIT: usize = 64;
const UNITS: usize = BYTES / UNIT;
/// The longest piece: the list of the chunks of a table of a million. Longer ones are taken by rule 1.
const MOST_BYTES: usize = 512 << 10;
/// The system has memory again if it gives so much.
const PROBE_BYTES: usize = 1 << 20;

/// For so many milliseconds the system is asked again before the process ends: other threads may be about to give
/// memory back.
const PATIENCE_MS: u64 = 20;

pub use addresses::{probe_addresses, set_aside, with_addresses};
pub use lists::{Zero, collected, lengthen, probe, with_capacity, zeroed};
pub use no_memory::NoMemory;

/// Whether the library may keep more than it does.
#[inline]
pub fn check() -> Result<(), NoMemory> {
    match RESERVE.used.load(Ordering::Relaxed) == 0 && addresses::are_set_aside() {
        true => Ok(()),
        false => has_memory(),
    }
}

#[cold]
fn has_memory() -> Result<(), NoMemory> {
    let layout = Layout::from_size_align(PROBE_BYTES, UNIT).map_err(|_| NoMemory)?;
    // SAFETY: the layout is of some bytes.
    let memory = unsafe { System.alloc(layout) };
    if memory.is_null() {
        return Err(NoMemory);
    }
    // SAFETY: it was just given for this layout.
    unsafe { System.dealloc(memory, layout) };
    set_aside();
    Ok(())
}

/// The system's allocator, with the reserve behind it.
pub struct Reserving;

// SAFETY: the system's, or pieces of the reserve, which nobody else has (`Reserve`).
unsafe impl GlobalAlloc for Reserving {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by this function's contract.
        let memory = unsafe { System.alloc(layout) };
        match memory.is_null() {
            false => memory,
            true => instead(layout),
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by this function's contract.
        let memory = unsafe { System.alloc_zeroed(layout) };
        match memory.is_null() {
            false => memory,
            true => {
                let memory = instead(layout);
                // SAFETY: the piece is as long and belongs to this thread.
                unsafe { memory.write_bytes(0, layout.size()) };
                memory
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match RESERVE.has(memory) {
            // SAFETY: by this function's contract.
            false => unsafe { System.dealloc(memory, layout) },
            true => RESERVE.give_back(memory, layout),
        }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if !RESERVE.has(memory) {
            // SAFETY: by this function's contract.
            let moved = unsafe { System.realloc(memory, layout, bytes) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: by this function's contract.
        unsafe { self.moved(memory, layout, bytes) }
    }
}

impl Reserving {
    /// As `realloc`, to another place.
    ///
    /// # Safety
    /// As `realloc`.
    #[cold]
    unsafe fn moved(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: by this function's contract.
        let moved = unsafe {
            let layout = Layout::from_size_align_unchecked(bytes, layout.align());
            self.alloc(layout)
        };
        // SAFETY: both are as long, and two; the old one is this allocator's.
        unsafe {
            std::ptr::copy_nonoverlapping(memory, moved, layout.size().min(bytes));
            self.dealloc(memory, layout);
        }
        moved
    }
}

/// Memory of the reserve, or of the system after all, which had none at first: other threads give some back. Never
/// null.
#[cold]
fn instead(layout: Layout) -> *mut u8 {
    for pause in 0..PATIENCE_MS {
        let memory = RESERVE.take(layout);
        if !memory.is_null() {
            return memory;
        }
        std::thread::sleep(Duration::from_millis(pause.min(1)));
        // SAFETY: the layout is of some bytes, as this allocator's are.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            return memory;
        }
    }
    end(layout.size())
}

/// Ends the process, in a way that needs no memory: what started it ends the job.
fn end(bytes: usize) -> ! {
    let mut line = [0; 160];
    let mut rest = &mut line[..];
    // What does not fit is cut off.
    let _ = writeln!(
        rest,
        "weft: out of memory: the system has not {bytes} bytes, nor has what was set aside; the process ends"
    );
    let left = rest.len();
    // SAFETY: the line is so long, and neither call takes memory.
    unsafe {
        libc::write(2, line.as_ptr().cast(), line.len() - left);
        libc::_exit(1)
    }
}

static RESERVE: Reserve = Reserve {
    lock: AtomicBool::new(false),
    map: UnsafeCell::new([0; UNITS / 64]),
    used: AtomicUsize::new(0),
    area: Area(UnsafeCell::new([0; BYTES])),
};

#[repr(align(4096))]
struct Area(UnsafeCell<[u8; BYTES]>);

/// `map` is read and written under `lock` alone. A piece of `area` belongs to the thread that took it until it is given
/// back. `used`, the number of units taken, is written under the lock and read without it: a stale value refuses one
/// call too many, or too few.
struct Reserve {
    lock: AtomicBool,
    map: UnsafeCell<[u64; UNITS / 64]>,
    used: AtomicUsize,
    area: Area,
}

// SAFETY: by the rules above.
unsafe impl Sync for Reserve {}

impl Reserve {
    fn base(&self) -> *mut u8 {
        self.area.0.get().cast()
    }

    #[inline]
    fn has(&self, memory: *mut u8) -> bool {
        memory.addr().wrapping_sub(self.base().addr()) < BYTES
    }

    fn with_map<T>(&self, work: impl FnOnce(&mut [u64; UNITS / 64]) -> T) -> T {
        while self.lock.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: this thread holds the lock.
        let value = work(unsafe { &mut *self.map.get() });
        self.lock.store(false, Ordering::Release);
        value
    }

    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        let (units, step) = (units(layout), layout.align().div_ceil(UNIT));
        if layout.size() > MOST_BYTES || layout.align() > 4096 {
            return std::ptr::null_mut();
        }
        let first = self.with_map(|map| {
            let is_free = |unit: usize| map[unit / 64] >> (unit % 64) & 1 == 0;
            let mut starts = (0..=UNITS - units).step_by(step);
            let first = starts.find(|&first| (first..first + units).all(is_free))?;
            (first..first + units).for_each(|unit| map[unit / 64] |= 1 << (unit % 64));
            self.used.fetch_add(units, Ordering::Relaxed);
            Some(first)
        });
        first.map_or(std::ptr::null_mut(), |first| {
            self.base().wrapping_add(first * UNIT)
        })
    }

    #[cold]
    fn give_back(&self, memory: *mut u8, layout: Layout) {
        let first = (memory.addr() - self.base().addr()) / UNIT;
        let units = units(layout);
        self.with_map(|map| {
            (first..first + units).for_each(|unit| map[unit / 64] &= !(1 << (unit % 64)));
            self.used.fetch_sub(units, Ordering::Relaxed);
        });
    }
}

fn units(layout: Layout) -> usize {
    layout.size().div_ceil(UNIT).max(1)
}

#[cfg(test)]
mod tests;
