//! What a target does for the others in a turn of progress of its own: short accesses ([`short_access`](crate::short_access)), and
//! copies where the kernel lets no other process into its memory.
//!
//! A control area has one active message ([`ActiveMessage`](weft_sync::ActiveMessage)), with room for [`MESSAGE_BYTES`]. Its lock is
//! taken with patience, for the target may be long in coming. The target copies if the bytes lie in its part of the window by what
//! it knows itself: what a message says may come from a hostile peer.

use std::sync::Arc;

use parking_lot::Mutex;
use weft_shm::{Served, Service};
use weft_sync::Ask;

use crate::control::{Control, MESSAGE_BYTES};
use crate::short_access::{Ends, ShortAccess};
use crate::watched::Watched;

/// The target's side of one window.
pub struct Server {
    control: Arc<Control>,
    /// The number by which it takes locks.
    owner: u32,
    watched: Watched,
    /// What it lets others into: begin and length.
    open: Mutex<Vec<(u64, u64)>>,
    /// Ends the sleep of the process that waits, whichever it is.
    answer: Box<dyn Fn(&Control) + Send + Sync>,
}

impl Server {
    pub fn new(
        control: Arc<Control>,
        owner: u32,
        answer: Box<dyn Fn(&Control) + Send + Sync>,
    ) -> Server {
        Server {
            control,
            owner,
            watched: Watched::default(),
            open: Mutex::default(),
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

    fn copy(&self, ask: Ask) -> bool {
        if ask.bytes > MESSAGE_BYTES as u64 || !self.is_open(ask.address, ask.bytes) {
            return false;
        }
        let theirs = self.control.message_bytes();
        let mine = std::ptr::with_exposed_provenance_mut::<u8>(ask.address as usize);
        let bytes = ask.bytes as usize;
        // SAFETY: the bytes lie in memory that the program has put into the window, which it keeps valid until it takes
        // it out (MPI-5.0 §12.2.2, §12.2.4); the message has room for MESSAGE_BYTES.
        unsafe {
            match ask.writes {
                false => weft_memory::copy(mine, theirs, bytes),
                true => weft_memory::copy(theirs, mine, bytes),
            }
        }
        true
    }
}

impl Server {
    /// Makes a short access, if one is asked for and no other process updates elements meanwhile.
    fn access(&self, short: &ShortAccess) -> bool {
        short.run(|access| {
            if !self.is_open(access.address, access.bytes as u64) {
                return false;
            }
            let ends = Ends {
                place: std::ptr::with_exposed_provenance_mut(access.address as usize),
                data: short.data(),
                bytes: access.bytes,
            };
            if !access.what.is_update() {
                // SAFETY: the bytes lie in memory that the program has put into the window, as in `copy`; the data are
                // this process's while it makes the access, and as long.
                unsafe { ends.make(access.what) };
                return true;
            }
            let lock = &self.control.header().updates.0;
            let taken = lock.try_take(self.owner);
            if taken {
                // SAFETY: as above; the lock of updates is held.
                unsafe { ends.make(access.what) };
                lock.release(self.owner);
                (self.answer)(&self.control);
            }
            taken
        })
    }
}

impl Service for Server {
    fn run(&self, called: bool) -> Served {
        let (mut moved, watches) = self
            .watched
            .turn(&self.control, called, |short| self.access(short));
        if called {
            let message = &self.control.header().message.0;
            if message.run(|ask| self.copy(ask)) {
                (self.answer)(&self.control);
                moved = true;
            }
        }
        Served { moved, watches }
    }
}
