//! A lane's link to one peer: its paths, what it sends by them, and what is under way.

mod gathered;
mod paths;
mod queued;
mod sending;

use std::collections::VecDeque;
use std::fmt;

use weft_transport::bursts::Burst;
use weft_transport::progress_clock::ProgressClock;
use weft_transport::{Cookie, Direction, Peer};

use self::queued::{Gathered, Queued};
use crate::access::{Accesses, Over};
use crate::bulk::receiving::{Next, Read, Receiving};
use crate::bulk::sending::Sending;
use crate::frame::FrameKind;
use crate::order::Order;
use crate::path::Path;
use crate::routes::Route;
use crate::send_queue::{Posting, Request, What};

/// A peer that has never said anything is sent no more payload than this: it may have no way yet to say that it is too much.
pub const UNHEARD_BYTES: usize = 4 << 20;

pub struct Link {
    pub peer: Peer,
    /// Among the lane's.
    number: usize,
    /// By which frames and accesses go.
    pub path: Path,
    /// The others there are: they carry parts of long messages, and take the first one's place if it fails.
    pub others: Vec<Path>,
    /// Credits are to go alone.
    pub owes: bool,
    /// It can be sent on: its first path is ready, and all ways of that stand.
    pub is_open: bool,
    /// The peer has said goodbye.
    pub has_left: bool,
    /// The peer wants no eager payload.
    pub is_throttled: bool,
    /// Payload that was sent before anything came from the peer, which can say nothing before it has a way back: over XRC that is one of its own, and
    /// is made when it is first needed.
    unheard_bytes: usize,
    has_heard: bool,
    /// A request by a queue pair to its host could not be done, and none of its has been done since.
    pub has_been_refused: bool,
    /// The engine was told that there is no room.
    pub is_refused: bool,
    /// It is among those that have something to post, or to say.
    pub is_active: bool,
    /// Its first path does not stand although others may: for how long.
    pub waits: Option<ProgressClock>,
    queue: VecDeque<Queued>,
    gathered: Option<Gathered>,
    /// Parts in `queue`: no packet overtakes them.
    parts: usize,
    /// Requests that were pushed and are not known to be done.
    under_way: usize,
    /// Of the next frame.
    sequence: u32,
    pub order: Order,
    /// The parts of a packet that have come.
    pub assembled: Vec<u8>,
    pub sending: Sending,
    pub receiving: Receiving,
    pub accesses: Accesses,
    pub burst: Burst,
}

impl Link {
    /// A lane's to a peer to which those routes lead, and no way stands so far.
    pub fn new(number: usize, lane: u32, peer: Peer, routes: &[Route], most_bytes: usize) -> Link {
        let paths = routes.iter().enumerate();
        let mut others: Vec<Path> = paths
            .map(|(place, route)| Path::new(place, route))
            .collect();
        let path = others.remove(lane as usize % routes.len());
        Link {
            peer,
            number,
            path,
            others,
            owes: false,
            is_open: false,
            has_left: false,
            is_throttled: false,
            unheard_bytes: 0,
            has_heard: false,
            has_been_refused: false,
            is_refused: false,
            is_active: false,
            waits: None,
            queue: VecDeque::new(),
            gathered: None,
            parts: 0,
            under_way: 0,
            sequence: 0,
            order: Order::default(),
            assembled: Vec::new(),
            sending: Sending::default(),
            receiving: Receiving::new(most_bytes),
            accesses: Accesses::new(most_bytes),
            burst: Burst::default(),
        }
    }

    /// Whether the engine is to keep the next payload.
    pub fn keeps_payload(&self) -> bool {
        let is_unheard = !self.has_heard && self.unheard_bytes >= UNHEARD_BYTES;
        self.is_throttled || is_unheard && self.path.is_over_xrc()
    }

    /// So much payload is sent.
    pub fn count_payload(&mut self, bytes: usize) {
        if !self.has_heard {
            self.unheard_bytes += bytes;
        }
    }

    /// Something has come from the peer.
    pub fn heard(&mut self) {
        self.has_heard = true;
    }

    /// Among the lane's.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Whether the link is to be pumped: something waits and the ways stand, or credits are to go alone.
    pub fn has_more(&self) -> bool {
        self.owes || self.has_queued() && self.stands()
    }

    /// Whether something is to go by a way that stands, or is to stand again.
    pub fn is_leaving(&self) -> bool {
        let is_reached = self.stands() || self.path.is_asked;
        !self.has_left && is_reached && (self.is_under_way() || self.has_queued())
    }

    /// Whether what reads or writes this process's memory is under way, or waits.
    pub fn has_memory(&self) -> bool {
        self.receiving.count() + self.accesses.count() > 0
    }

    /// Whether something was posted whose completion has not come.
    pub fn is_under_way(&self) -> bool {
        self.under_way > 0
    }

    /// Whether something waits to be posted.
    pub fn has_queued(&self) -> bool {
        !self.queue.is_empty()
            || self.gathered.is_some()
            || self.sending.has_streams()
            || self.accesses.has_waiting()
            || self.receiving.has_waiting()
    }

    /// A read by a rail is over.
    fn has_read_by(&mut self, rail: usize, read: &Read) {
        if read.is_stripe
            && let Some(path) = self.by_rail(rail)
        {
            path.stripes = path.stripes.saturating_sub(1);
        }
    }

    pub fn say(&mut self, kind: FrameKind, words: [u64; 2]) {
        self.queue.push_back(Queued::Control(kind, words));
    }

    /// Does what follows in a transfer. Its cookie, if it is complete.
    pub fn follow(&mut self, next: Next) -> Option<Cookie> {
        match next {
            Next::Read => {}
            Next::Stream { numbers, bytes } => self.say(FrameKind::Stream, [numbers, bytes]),
            Next::Taken { theirs, cookie } => {
                self.say(FrameKind::Taken, [theirs.into(), 0]);
                return Some(cookie);
            }
        }
        None
    }

    /// A request of the link's by a rail is done, whose piece is still to be given back. The transfer or access that is complete with it.
    pub fn completed(
        &mut self,
        request: &Request,
        rail: usize,
        posting: &mut Posting,
    ) -> Option<Over> {
        self.under_way -= 1;
        self.has_been_refused = false;
        if let Some(way) = request.way {
            self.path.ways[way as usize].completed();
        }
        match &request.what {
            What::Read(read) => {
                self.has_read_by(rail, read);
                let next = self.receiving.has_read(read.transfer, read.bytes)?;
                let direction = Direction::Read;
                let cookie = self.follow(next);
                cookie.map(|cookie| Over { cookie, direction })
            }
            What::Access(step) => self.accesses.done(step, &mut posting.sends),
            _ => None,
        }
    }

    /// One line if something is pending.
    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let (to, from) = (self.sending.count(), self.receiving.count());
        let accesses = self.accesses.count();
        if to + from + accesses + self.under_way == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "  rank {}: {to} bulk transfers to it, {from} from it, {accesses} accesses to its memory; {} requests under way",
            self.peer, self.under_way
        )
    }
}
