//! Copies that the target makes, where the kernel lets nobody else into its memory.
//!
//! A control area has one errand, with room for [`BYTES`]. A process that needs a copy
//! 1. takes `lock`, with patience, for the target may be long in coming; who takes it over from a dead holder first takes
//!    the dead one's errand back, or waits for its end if it runs;
//! 2. writes what is asked, for a write the bytes too, then ASKED into `state` (Release), and calls the target;
//! 3. waits for DONE or REFUSED, takes the bytes of a read, writes IDLE, and lets the lock go.
//!
//! The target, in a turn of progress, moves ASKED to RUNNING (Acquire), copies if the bytes lie in its part of the window
//! by what it knows itself, and writes DONE or REFUSED (Release). What an errand says may come from a hostile peer.

use std::sync::Arc;

use parking_lot::Mutex;
use weft_shm::Errands;
use weft_sync::OwnedLock;
use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::control::Control;

/// Bytes that one errand moves.
pub const BYTES: usize = 64 << 10;

const IDLE: u32 = 0;
const ASKED: u32 = 1;
const RUNNING: u32 = 2;
const DONE: u32 = 3;
const REFUSED: u32 = 4;

/// What is asked of a target; all zeros is nothing.
#[repr(C)]
pub struct Errand {
    pub lock: OwnedLock,
    state: AtomicU32,
    /// Not 0: into the target's memory.
    writes: AtomicU32,
    address: AtomicU64,
    bytes: AtomicU64,
}

/// How an errand stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Pending,
    Done,
    Refused,
}

impl Errand {
    /// For who has taken the lock over: true once no earlier errand is in the way.
    pub fn clear(&self) -> bool {
        let back = |from| {
            self.state
                .compare_exchange(from, IDLE, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        };
        self.state.load(Ordering::Acquire) == IDLE || [ASKED, DONE, REFUSED].into_iter().any(back)
    }

    pub fn ask(&self, writes: bool, address: u64, bytes: usize) {
        self.writes.store(u32::from(writes), Ordering::Relaxed);
        self.address.store(address, Ordering::Relaxed);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        self.state.store(ASKED, Ordering::Release);
    }

    pub fn progress(&self) -> Progress {
        match self.state.load(Ordering::Acquire) {
            DONE => Progress::Done,
            REFUSED => Progress::Refused,
            _ => Progress::Pending,
        }
    }
}

/// The target's side of one window.
pub struct Server {
    control: Arc<Control>,
    /// What it lets others into: begin and length.
    open: Mutex<Vec<(u64, u64)>>,
    /// Ends the sleep of the process that waits, whichever it is.
    answer: Box<dyn Fn(&Control) + Send + Sync>,
}

impl Server {
    pub fn new(control: Arc<Control>, answer: Box<dyn Fn(&Control) + Send + Sync>) -> Server {
        let open = Mutex::default();
        Server {
            control,
            open,
            answer,
        }
    }

    pub fn open(&self, address: u64, bytes: u64) {
        self.open.lock().push((address, bytes));
    }

    pub fn close(&self, address: u64) {
        self.open.lock().retain(|piece| piece.0 != address);
    }

    fn is_open(&self, address: u64, bytes: u64) -> bool {
        let open = self.open.lock();
        open.iter().any(|&(begin, length)| {
            address >= begin && bytes <= length && address - begin <= length - bytes
        })
    }

    fn copy(&self, errand: &Errand) -> bool {
        let address = errand.address.load(Ordering::Relaxed);
        let bytes = errand.bytes.load(Ordering::Relaxed);
        if bytes > BYTES as u64 || !self.is_open(address, bytes) {
            return false;
        }
        let theirs = self.control.errand_bytes();
        let mine = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        let bytes = bytes as usize;
        // SAFETY: the bytes lie in memory that the program has put into the window, which it keeps valid until it takes
        // it out (MPI-5.0 §12.2.2, §12.2.4); the errand's bytes are BYTES long.
        unsafe {
            match errand.writes.load(Ordering::Relaxed) {
                0 => std::ptr::copy_nonoverlapping(mine, theirs, bytes),
                _ => std::ptr::copy_nonoverlapping(theirs, mine, bytes),
            }
        }
        true
    }
}

impl Errands for Server {
    fn run(&self) {
        let errand = &self.control.header().errand.0;
        let taken =
            errand
                .state
                .compare_exchange(ASKED, RUNNING, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            return;
        }
        let end = if self.copy(errand) { DONE } else { REFUSED };
        errand.state.store(end, Ordering::Release);
        (self.answer)(&self.control);
    }
}
