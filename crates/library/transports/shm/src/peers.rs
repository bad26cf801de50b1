//! The processes this one has to do with, shared by its lanes.

use std::sync::Arc;

use weft_sync::{Section, process};
use weft_transport::{Directory, Lost, Peer};

use crate::base::{Base, KEY_AT, Shape};
use crate::card::Card;
use crate::cma;
use crate::host::Host;
use crate::segment::{Foreign, Mapping};

/// A process whose base is mapped.
pub struct Neighbour {
    pub rank: Peer,
    /// Among the host's ranks.
    pub position: u32,
    pub card: Card,
    pub base: Base,
    /// Whether the kernel copies between its memory and this process's.
    pub copies_allowed: bool,
}

impl Neighbour {
    pub fn new(rank: Peer, position: u32, card: Card, base: Base) -> Neighbour {
        let (address, key) = base.probe();
        Neighbour {
            rank,
            position,
            card,
            base,
            copies_allowed: cma::reads(card.pid, address, key),
        }
    }

    /// Maps a piece of its segment.
    pub fn map(&self, offset: u64, bytes: usize) -> Result<Mapping, Lost> {
        open(&self.card)
            .and_then(|segment| segment.map(offset, bytes))
            .map_err(|why| lost(self.rank, &why))
    }

    /// Whether a process of its number is there; cheaper to find out.
    pub fn is_there(&self) -> bool {
        process::is_there(self.card.pid)
    }

    /// Whether the process still runs. One that is there and of which no more can be found out does.
    pub fn is_alive(&self) -> bool {
        process::runs(self.card.pid, self.card.start)
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
        let mapping = open(&card)?.map(0, bytes)?;
        let base = Base::open(mapping, self.shape, peer, &card)?;
        Ok(Neighbour::new(peer, position, card, base))
    }
}

/// Opens the segment that a card tells of. The process may have ended, and both numbers be others' by now: the key tells.
fn open(card: &Card) -> Result<Foreign, String> {
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
