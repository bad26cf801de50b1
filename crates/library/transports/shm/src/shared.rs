//! What the lanes of a process share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use weft_sync::Section;
use weft_transport::{Lost, Peer};

use crate::base::{Base, Shape};
use crate::card::Card;
use crate::connecting::{Answer, Connecting, Made, Need, Want};
use crate::endings::{Ending, Endings};
use crate::layout::{LINK_BYTES, SHORT_LINK_BYTES, SHOWN_AT};
use crate::pair;
use crate::peers::{Neighbour, Peers, lost};
use crate::segment::Segment;

/// Choices that tests make; the default is right for users.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Never copy from process to process, as if the kernel did not allow it.
    pub deny_copies: bool,
    /// Copy whatever long message can be, also where a ring costs less.
    pub always_copies: bool,
    /// A sleep lasts at most so long.
    pub longest_sleep_ms: Option<u32>,
}

/// What a process does for peers in its own memory, in a turn of progress of its own.
pub trait Service: Send + Sync {
    /// Does what is asked; `called` says that a peer has called this process, so that there may be something anywhere.
    fn run(&self, called: bool) -> Served;
}

/// What became of a turn of services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Something was done.
    pub moved: bool,
    /// More may be asked soon without a call, so each turn is to look.
    pub watches: bool,
}

/// What the lanes of a process share.
pub struct Shared {
    pub rank: Peer,
    /// Of this process among the host's ranks.
    pub position: u32,
    pub shape: Shape,
    pub options: Options,
    pub card: Card,
    pub base: Base,
    pub segment: Segment,
    pub peers: Peers,
    /// This process as its peers have it, once that is asked for.
    pub own: OnceLock<Arc<Neighbour>>,
    pub connecting: Connecting,
    pub endings: Endings,
    pub services: Section<Vec<Arc<dyn Service>>>,
    /// Whether any of them watches. Written in the section of the services, read by each turn of progress; no other memory
    /// depends on it.
    pub services_watch: AtomicBool,
    /// Whether the host has more processes than cores. Written once, before messages are sent; no other memory depends on it.
    pub shares_cores: AtomicBool,
}

impl Shared {
    /// Fulfils what lanes want of `peer`, however long that takes (`connecting`, rule 2). Not for a thread that holds a lane.
    pub fn connect(&self, peer: Peer) {
        let _under_way = self.connecting.under_way.enter();
        while let Some(want) = self.connecting.next(peer) {
            let made = self.make(&want);
            let lane = want.lane;
            self.connecting.answer(Answer { want, made });
            self.notify(lane, peer);
        }
    }

    /// Notifies an own lane in the name of `peer`.
    fn notify(&self, lane: u32, peer: Peer) {
        if let Some(position) = self.peers.host.position(peer) {
            self.base.notify(lane, position);
        }
    }

    fn make(&self, want: &Want) -> Result<Made, Lost> {
        if let Some(lost) = self.endings.find(want.peer) {
            return Err(lost);
        }
        let neighbour = self.peers.find(want.peer)?;
        Ok(match want.need {
            Need::Base => Made::Base(neighbour),
            Need::Link => self.make_link(neighbour)?,
            Need::Ring { offset } => {
                let mapping = neighbour.map_for_connection(offset, LINK_BYTES)?;
                let word = self.base.distance(neighbour.position);
                // SAFETY: what is shown lies in the link, which is mapped.
                unsafe { pair::find(mapping.base().add(SHOWN_AT), word) };
                Made::Ring { mapping, neighbour }
            }
            Need::Piece { offset, bytes } => Made::Piece {
                offset,
                mapping: neighbour.map_for_connection(offset, bytes)?,
            },
        })
    }

    fn make_link(&self, neighbour: Arc<Neighbour>) -> Result<Made, Lost> {
        let carve = || self.segment.carve(LINK_BYTES, SHORT_LINK_BYTES);
        let carved = weft_reserve::with_addresses(LINK_BYTES, carve);
        let (offset, mapping) = carved.map_err(|error| {
            let why = format!("no memory for a connection to it: {error}");
            lost(neighbour.rank, &why)
        })?;
        // SAFETY: it lies in the link, of which nobody else knows yet.
        unsafe { pair::show(mapping.base().add(SHOWN_AT)) };
        Ok(Made::Link {
            neighbour,
            offset,
            mapping,
        })
    }

    /// Enters a loss that `lane` has found, and notifies the other lanes. The first that was entered.
    pub fn end(&self, ending: Ending, lane: u32) -> Ending {
        let (first, mut lanes) = self.endings.enter(ending);
        lanes &= !(1 << lane);
        while lanes != 0 {
            self.notify(lanes.trailing_zeros(), first.peer);
            lanes &= lanes - 1;
        }
        first
    }
}
