//! The processes this one has to do with, shared by its lanes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_kernel::process;
use weft_sync::Section;
use weft_transport::{Directory, Lost, Peer};

use crate::base::{Base, KEY_AT, Shape};
use crate::card::Card;
use crate::cma::{self, Direction, Stretch};
use crate::host::Host;
use crate::segment::{Foreign, Mapping};

/// A process whose base is mapped.
pub struct Neighbour {
    pub rank: Peer,
    /// Among the host's ranks.
    pub position: u32,
    pub card: Card,
    pub base: Base,
    /// Whether it is this process.
    is_own: bool,
    /// Whether the kernel copies between its memory and this process's.
    pub copies_allowed: bool,
    /// When its number was last known to be its own, in milliseconds of the coarse clock. Any thread writes what it has found; no
    /// other memory depends on it.
    confirmed_ms: AtomicU64,
}

/// The kernel copies by a process's number, which another process may get once this one has ended: whoever copies has found out no
/// longer ago than this that it had not. Numbers are given out in turn (32,768 of them at least), and a kernel makes some 100,000
/// processes a second at most, so that none comes again within 300 ms.
const CONFIRMED_FOR_MS: u64 = 20;

impl Neighbour {
    pub fn new(rank: Peer, position: u32, card: Card, base: Base) -> Neighbour {
        let (address, key) = base.probe();
        Neighbour {
            rank,
            position,
            card,
            base,
            is_own: false,
            copies_allowed: cma::reads(card.pid, address, key),
            confirmed_ms: AtomicU64::new(0),
        }
    }

    /// This process.
    pub fn own(rank: Peer, position: u32, card: Card, base: Base) -> Neighbour {
        Neighbour {
            is_own: true,
            ..Neighbour::new(rank, position, card, base)
        }
    }

    /// Copies `bytes` between `mine` and an address in the process: any, for where nothing is it is an error.
    ///
    /// # Safety
    /// `mine` is valid for reads of so many bytes, and for writes of them if they are read from the process.
    pub unsafe fn copy(
        &self,
        direction: Direction,
        mine: *mut u8,
        address: u64,
        bytes: usize,
    ) -> io::Result<()> {
        self.confirm()?;
        // SAFETY: by this function's contract.
        unsafe { cma::copy(direction, self.card.pid, mine, address, bytes) }
    }

    /// The same with stretches of its memory, at most 1024, which lie one after the other in `mine`.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), for as many bytes as they have.
    pub unsafe fn copy_stretches(
        &self,
        direction: Direction,
        mine: *mut u8,
        stretches: &[Stretch],
    ) -> io::Result<()> {
        self.confirm()?;
        // SAFETY: by this function's contract.
        unsafe { cma::copy_stretches(direction, self.card.pid, mine, stretches) }
    }

    /// An error unless its number is its own.
    fn confirm(&self) -> io::Result<()> {
        let now_ms = process::coarse_ms();
        let confirmed_ms = self.confirmed_ms.load(Ordering::Relaxed);
        match now_ms.saturating_sub(confirmed_ms) < CONFIRMED_FOR_MS {
            true => Ok(()),
            false => self.confirm_anew(now_ms),
        }
    }

    #[cold]
    fn confirm_anew(&self, now_ms: u64) -> io::Result<()> {
        if !self.is_alive() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        self.confirmed_ms.store(now_ms, Ordering::Relaxed);
        Ok(())
    }

    /// Maps a piece of its segment.
    pub fn map(&self, offset: u64, bytes: usize) -> Result<Mapping, Lost> {
        self.map_by(|segment| segment.map(offset, bytes))
    }

    /// As [`map`](Self::map), for a connection.
    pub fn map_for_connection(&self, offset: u64, bytes: usize) -> Result<Mapping, Lost> {
        self.map_by(|segment| segment.map_for_connection(offset, bytes))
    }

    fn map_by(&self, map: impl Fn(&Foreign) -> io::Result<Mapping>) -> Result<Mapping, Lost> {
        let segment = open(&self.card).map_err(|why| lost(self.rank, &why))?;
        map(&segment).map_err(|error| lost(self.rank, &error.to_string()))
    }

    /// Whether a process of its number is there; cheaper to find out.
    pub fn is_there(&self) -> bool {
        process::is_there(self.card.pid)
    }

    /// Whether the process still runs. One that is there and of which no more can be found out does.
    pub fn is_alive(&self) -> bool {
        self.is_own || process::runs(self.card.pid, self.card.start)
    }
}

/// The processes of the job on this host, found when first needed.
pub struct Peers {
    directory: Arc<dyn Directory>,
    shape: Shape,
    pub host: Host,
    /// By position.
    known: Section<Vec<Option<Arc<Neighbour>>>>,
    /// Held while a peer is looked for, which may take long, so that each is looked for once.
    looking: Section<()>,
}

impl Peers {
    pub fn new(directory: Arc<dyn Directory>, shape: Shape, host: Host) -> Peers {
        Peers {
            directory,
            shape,
            known: Section::new(vec![None; host.ranks() as usize]),
            host,
            looking: Section::new(()),
        }
    }

    /// The peer, looked up and mapped if it was not yet. Slow: not for a thread that holds a lane.
    pub fn find(&self, peer: Peer) -> Result<Arc<Neighbour>, Lost> {
        let Some(position) = self.host.position(peer) else {
            return Err(elsewhere(peer));
        };
        if let Some(neighbour) = self.at(position) {
            return Ok(neighbour);
        }
        let _looking = self.looking.enter();
        if let Some(neighbour) = self.at(position) {
            return Ok(neighbour);
        }
        let found = self.look_up(peer, position);
        let neighbour = Arc::new(found.map_err(|why| lost(peer, &why))?);
        self.known.enter()[position as usize] = Some(neighbour.clone());
        Ok(neighbour)
    }

    /// The peer, if it was looked up before.
    pub fn known(&self, peer: Peer) -> Option<Arc<Neighbour>> {
        self.at(self.host.position(peer)?)
    }

    fn at(&self, position: u32) -> Option<Arc<Neighbour>> {
        self.known.enter()[position as usize].clone()
    }

    fn look_up(&self, peer: Peer, position: u32) -> Result<Neighbour, String> {
        let line = self.directory.card(peer)?;
        let card = Card::parse(&line).ok_or_else(|| format!("its card is unreadable: {line:?}"))?;
        let bytes = self.shape.base_bytes();
        let mapping = open(&card)?.map_for_connection(0, bytes);
        let mapping = mapping.map_err(|error| error.to_string())?;
        let base = Base::open(mapping, self.shape, peer, &card)?;
        Ok(Neighbour::new(peer, position, card, base))
    }
}

/// Opens the segment that a card tells of. The process may have ended, and both numbers be others' by now: the key tells.
pub fn open(card: &Card) -> Result<Foreign, String> {
    let segment = Foreign::open(card.pid, card.memfd)?;
    if segment.words(KEY_AT)? != card.key {
        return Err("its segment is not the one its card tells of".to_owned());
    }
    Ok(segment)
}

/// What is said of a peer that shared memory does not reach.
pub fn elsewhere(peer: Peer) -> Lost {
    lost(peer, "it runs on another host")
}

/// What is said of a lost peer.
pub fn lost(peer: Peer, why: &str) -> Lost {
    Lost(format!("rank {peer} is lost (shared memory): {why}").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::pair;

    /// A process that has the number of one that has ended is another one, whatever lies at the address that was told.
    #[test]
    fn nothing_is_copied_from_or_to_another_process_of_the_same_number() {
        let (a, b) = pair(Default::default());
        let there = a.fabric.shared().peers.find(1).unwrap();
        let (theirs, mut mine) = ([7u8; 64], [0u8; 64]);
        let address = theirs.as_ptr() as u64;
        // SAFETY: `mine` is as long as said.
        let copied = unsafe { there.copy(Direction::Read, mine.as_mut_ptr(), address, 64) };
        assert!(copied.is_ok() == there.copies_allowed && b.rank == 1);
        let card = Card {
            start: there.card.start + 1,
            ..there.card
        };
        let mapping = open(&there.card).unwrap();
        let bytes = a.fabric.shared().shape.base_bytes();
        let base = Base::open(
            mapping.map(0, bytes).unwrap(),
            a.fabric.shared().shape,
            1,
            &card,
        );
        let stranger = Neighbour::new(1, 1, card, base.unwrap());
        let mut untouched = [1u8; 64];
        for direction in [Direction::Read, Direction::Write] {
            let stretch = [Stretch::new(address, 64)];
            // SAFETY: `untouched` is as long as said.
            let (copied, gathered) = unsafe {
                (
                    stranger.copy(direction, untouched.as_mut_ptr(), address, 64),
                    stranger.copy_stretches(direction, untouched.as_mut_ptr(), &stretch),
                )
            };
            for error in [copied.unwrap_err(), gathered.unwrap_err()] {
                assert_eq!(error.raw_os_error(), Some(libc::ESRCH));
            }
        }
        assert_eq!((untouched, theirs), ([1; 64], [7; 64]));
    }
}
