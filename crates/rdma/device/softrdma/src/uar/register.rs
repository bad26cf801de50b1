//! A uUAR: the register through which a program tells the adapter of work, and the lock that guards it.
//!
//! There is no adapter behind it; the stores and their place are what a program pays for, and they are made as mlx5 makes
//! them. Two buffers are written alternately. A doorbell stores eight bytes; BlueFlame copies the whole work request, in
//! units of 64 bytes. All stores are relaxed: nobody reads them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::adapter::{BLUEFLAME_UNIT_BYTES, BUFFER_BYTES, DOORBELL_BYTES};
use super::lock::{Discipline, Lock};

const WORDS: usize = BUFFER_BYTES / DOORBELL_BYTES;

#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Uuar {
    buffers: [[AtomicU64; WORDS]; 2],
    /// The buffer to write next. Written by whom `lock` lets in; number 0 never moves on, so nobody writes it there.
    next: AtomicU32,
    pub(super) lock: Lock,
    /// Its number in its context.
    pub(super) number: u32,
    /// The page of the device that it is on.
    pub(super) page: u32,
    /// Whether it takes whole work requests: number 0 of the static policy and the uncached page of the dynamic one do not.
    pub(super) takes_blueflame: bool,
}

impl Uuar {
    pub(super) fn new(number: u32, page: u32, takes_blueflame: bool, lock: Discipline) -> Uuar {
        Uuar {
            buffers: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))),
            next: AtomicU32::new(0),
            lock: Lock::new(lock),
            number,
            page,
            takes_blueflame,
        }
    }

    /// Stores `control`, the first eight bytes of the last work request.
    #[inline]
    pub(super) fn ring_doorbell(&self, control: u64) {
        self.buffer()[0].store(control, Ordering::Relaxed);
        self.move_on();
    }

    /// Copies a work request of `bytes`, at most [`BUFFER_BYTES`]; how many bytes were written.
    #[inline]
    pub(super) fn write_blueflame(&self, control: u64, bytes: usize) -> usize {
        let written = bytes
            .next_multiple_of(BLUEFLAME_UNIT_BYTES)
            .min(BUFFER_BYTES);
        for word in &self.buffer()[..written / DOORBELL_BYTES] {
            word.store(control, Ordering::Relaxed);
        }
        self.move_on();
        written
    }

    #[inline]
    fn buffer(&self) -> &[AtomicU64; WORDS] {
        &self.buffers[(self.next.load(Ordering::Relaxed) & 1) as usize]
    }

    #[inline]
    fn move_on(&self) {
        if self.takes_blueflame {
            let next = self.next.load(Ordering::Relaxed);
            self.next.store(next ^ 1, Ordering::Relaxed);
        }
    }
}
