//! Memory of this process that others reach, and of others that this one reaches: what one-sided communication stands on.
//!
//! A process *exposes* pieces of its segment; a peer that is told the offset maps them, and both touch the same memory.
//! Other memory of a peer is copied by the kernel (process_vm_readv(2), process_vm_writev(2)) where that is allowed.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use weft_transport::{Lost, Peer};

use crate::base::Base;
use crate::cma::{Direction, Stretch};
use crate::fabric::Shm;
use crate::pair;
use crate::peers::{Neighbour, lost};
use crate::segment::Mapping;
use crate::shared::Shared;

/// A piece of this process's segment, given back when it is dropped.
pub struct Exposed {
    shared: Arc<Shared>,
    offset: u64,
    mapping: Mapping,
}

impl Exposed {
    /// Where it lies in the segment: what peers map it by.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Gives the memory back already; from here on it reads as zeros.
    pub fn empty(&self) {
        // A kernel that cannot do it keeps the memory until the process ends. The offsets are not used again: there are
        // 2^63 of them.
        let _ = self.shared.segment.empty(self.offset, self.mapping.bytes());
    }
}

impl Deref for Exposed {
    type Target = Mapping;
    fn deref(&self) -> &Mapping {
        &self.mapping
    }
}

impl Drop for Exposed {
    fn drop(&mut self) {
        self.empty();
    }
}

/// A process of the job on this host, this one included, as its memory is reached.
#[derive(Clone)]
pub struct Process {
    neighbour: Arc<Neighbour>,
    shared: Arc<Shared>,
}

impl Process {
    /// Maps a piece that it has exposed.
    pub fn map(&self, offset: u64, bytes: usize) -> Result<Mapping, Lost> {
        self.neighbour.map(offset, bytes)
    }

    /// As [`map`](Self::map), at an address here that is a multiple of `alignment`, a power of two.
    pub fn map_aligned(
        &self,
        offset: u64,
        bytes: usize,
        alignment: usize,
    ) -> Result<Mapping, Lost> {
        let mut mapping = self.map(offset, bytes)?;
        let aligned = mapping.align(alignment);
        aligned.map_err(|error| self.lost(&format!("a mapping of {bytes} bytes: {error}")))?;
        Ok(mapping)
    }

    pub fn is_alive(&self) -> bool {
        self.neighbour.is_alive()
    }

    pub fn rank(&self) -> Peer {
        self.neighbour.rank
    }

    /// What is said of it when it is not.
    pub fn lost(&self, why: &str) -> Lost {
        lost(self.neighbour.rank, why)
    }

    /// Ends its sleep, so that it looks again at what it waits for.
    pub fn wake(&self) {
        self.neighbour.base.wake();
    }

    /// Whether it sleeps in a call of MPI.
    pub fn is_sleeping(&self) -> bool {
        self.neighbour.base.is_sleeping()
    }

    /// As [`wake`](Self::wake), and it will serve it in its next turn of progress.
    pub fn call(&self) {
        self.neighbour.base.call();
    }

    /// Whether the kernel copies between its memory and this process's.
    pub fn copies_allowed(&self) -> bool {
        !self.shared.options.deny_copies && self.neighbour.copies_allowed
    }

    /// Whether it and this process are near each other, as was found when they linked or is found now by what it has
    /// [shown](pair::show) here.
    ///
    /// # Safety
    /// As for [`pair::find`].
    pub unsafe fn is_near(&self, shown: *const u8) -> bool {
        let own = self.shared.base.distance(self.neighbour.position);
        let theirs = self.neighbour.base.distance(self.shared.position);
        if !pair::is_known([own, theirs]) {
            // SAFETY: by this function's contract.
            unsafe { pair::find(shown, own) };
        }
        pair::is_near([own, theirs])
    }

    /// Copies `bytes` from an address in the process, any address: if nothing is there it is an error.
    ///
    /// # Safety
    /// `into` is valid for writes of `bytes`.
    pub unsafe fn read(&self, address: u64, into: *mut u8, bytes: usize) -> io::Result<()> {
        // SAFETY: by this function's contract.
        unsafe { self.neighbour.copy(Direction::Read, into, address, bytes) }
    }

    /// Copies `bytes` to an address in the process.
    ///
    /// # Safety
    /// `from` is valid for reads of `bytes`.
    pub unsafe fn write(&self, address: u64, from: *const u8, bytes: usize) -> io::Result<()> {
        let from = from.cast_mut();
        // SAFETY: by this function's contract; a write reads the own side only.
        unsafe { self.neighbour.copy(Direction::Write, from, address, bytes) }
    }

    /// Copies from stretches of the process's memory, one after the other to `into`; at most 1024.
    ///
    /// # Safety
    /// `into` is valid for writes of as many bytes as they have.
    pub unsafe fn gather(&self, stretches: &[Stretch], into: *mut u8) -> io::Result<()> {
        // SAFETY: by this function's contract.
        unsafe {
            self.neighbour
                .copy_stretches(Direction::Read, into, stretches)
        }
    }

    /// Copies to stretches of the process's memory, one after the other from `from`; at most 1024.
    ///
    /// # Safety
    /// `from` is valid for reads of as many bytes as they have.
    pub unsafe fn scatter(&self, stretches: &[Stretch], from: *const u8) -> io::Result<()> {
        let from = from.cast_mut();
        // SAFETY: by this function's contract; a write reads the own side only.
        unsafe {
            self.neighbour
                .copy_stretches(Direction::Write, from, stretches)
        }
    }
}

impl Shm {
    /// Exposes `bytes` of zeros, which cost memory where they are written. More than there is are refused.
    pub fn expose(&self, bytes: usize) -> io::Result<Exposed> {
        let (offset, mapping) = self.shared().segment.carve_untouched(bytes)?;
        Ok(Exposed {
            shared: self.shared().clone(),
            offset,
            mapping,
        })
    }

    /// As [`expose`](Self::expose), at an address here that is a multiple of `alignment`, a power of two.
    pub fn expose_aligned(&self, bytes: usize, alignment: usize) -> io::Result<Exposed> {
        let mut exposed = self.expose(bytes)?;
        exposed.mapping.align(alignment)?;
        Ok(exposed)
    }

    /// As [`expose`](Self::expose), for memory that is given back by the process that uses it last ([`Mapping::empty`]). Where it lies
    /// in the segment, too.
    pub fn lend(&self, bytes: usize) -> io::Result<(u64, Mapping)> {
        self.shared().segment.carve_untouched(bytes)
    }

    /// A process of the job on this host.
    pub fn process(&self, peer: Peer) -> Result<Process, Lost> {
        let shared = self.shared();
        let neighbour = match peer == shared.rank {
            true => own(shared).map_err(|error| lost(peer, &error.to_string()))?,
            false => shared.peers.find(peer)?,
        };
        Ok(Process {
            neighbour,
            shared: shared.clone(),
        })
    }
}

/// This process, as its own peer.
fn own(shared: &Shared) -> io::Result<Arc<Neighbour>> {
    if let Some(own) = shared.own.get() {
        return Ok(own.clone());
    }
    let Shared { rank, shape, .. } = *shared;
    let mapping = shared.segment.map(shape.base_bytes())?;
    let base = Base::open(mapping, shape, rank, &shared.card).map_err(io::Error::other)?;
    let own = Neighbour::own(rank, shared.position, shared.card, base);
    Ok(shared.own.get_or_init(|| Arc::new(own)).clone())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use weft_transport::Fabric;

    use crate::base::SERVICES;
    use crate::segment::{PAGE, Segment};
    use crate::shared::{Options, Served, Service};
    use crate::world::pair;

    /// Watches for some turns after a call.
    #[derive(Default)]
    struct Watcher {
        turns: AtomicU32,
        left: AtomicU32,
    }

    impl Service for Watcher {
        fn run(&self, called: bool) -> Served {
            self.turns.fetch_add(1, Ordering::Relaxed);
            let left = match called {
                true => 3,
                false => self.left.load(Ordering::Relaxed) - 1,
            };
            self.left.store(left, Ordering::Relaxed);
            Served {
                moved: called,
                watches: left > 0,
            }
        }
    }

    /// A call asks for a turn, and each turn in which a service watches asks for the next.
    #[test]
    fn a_service_is_run_while_it_watches() {
        let (a, b) = pair(Options::default());
        let watcher = Arc::new(Watcher::default());
        b.fabric.add_service(watcher.clone());
        assert_eq!(b.fabric.signalled() >> SERVICES, 0);
        a.fabric.process(1).unwrap().call();
        let mut moved = Vec::new();
        while b.fabric.signalled() >> SERVICES != 0 {
            moved.push(b.fabric.serve());
        }
        assert_eq!(moved, [true, false, false, false]);
        assert_eq!(watcher.turns.load(Ordering::Relaxed), 4);
    }

    /// A process may end and another get its number, with a segment of its own under the number of the first one's.
    #[test]
    fn another_segment_under_a_peers_numbers_is_not_mapped() {
        let (a, b) = pair(Options::default());
        let there = a.fabric.process(1).unwrap();
        let piece = b.fabric.expose(PAGE).unwrap();
        assert!(there.map(piece.offset(), PAGE).is_ok());
        let stranger = Segment::create(piece.offset() as usize + PAGE).unwrap();
        let number = b.fabric.shared().segment.memfd() as i32;
        // SAFETY: takes numbers; nobody in this test uses the descriptor that is replaced but to close it.
        let replaced = unsafe { libc::dup2(stranger.memfd() as i32, number) };
        assert_eq!(replaced, number);
        let lost = there.map(piece.offset(), PAGE).map(drop).unwrap_err();
        assert!(
            lost.to_string().contains("not the one its card tells of"),
            "{lost}"
        );
    }
}
