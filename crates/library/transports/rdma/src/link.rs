//! A lane's link to one peer: the ways to its pools, and what waits for them.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::time::Instant;

use weft_pools::xrc::SharedQueue;
use weft_transport::{Cookie, Direction, Peer};
use weft_verbs::ProtectionDomain;

use crate::access::{Accesses, By, Over};
use crate::buffers::Piece;
use crate::bulk::receiving::{Next, Read, Reader, Receiving};
use crate::bulk::sending::Sending;
use crate::frame::{HEAD_BYTES, Immediate, Kind, MOST_CREDITS, Malformed, SEQUENCE_END, put_words};
use crate::order::Order;
use crate::path::Path;
use crate::routes::Route;
use crate::send_queue::{Posting, Request, SendQueue, What};
use crate::way::Way;

/// The lane's queue pairs, by number.
pub type SendQueues = [Option<SendQueue>];

/// Stripes of long messages that are under way by one path.
const STRIPES_A_PATH: usize = 2;

/// What waits for a place, in order.
enum Queued {
    Control(Kind, [u64; 2]),
    /// A frame that was pushed to a queue pair that then failed, with its number.
    Again {
        kind: Kind,
        sequence: u32,
        frame: Vec<u8>,
    },
    /// A part of a packet that is longer than the peer's buffers.
    Part {
        kind: Kind,
        piece: Piece,
        offset: usize,
        bytes: usize,
        is_last: bool,
    },
    /// Such a part, whose piece was of a rail that has failed.
    Copied {
        kind: Kind,
        frame: Vec<u8>,
    },
}

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
    /// The engine was told that there is no room.
    pub is_refused: bool,
    /// It is among those that have something to post, or to say.
    pub is_active: bool,
    /// Since when its first path does not stand although others may.
    pub waits_since: Option<Instant>,
    queue: VecDeque<Queued>,
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
            is_refused: false,
            is_active: false,
            waits_since: None,
            queue: VecDeque::new(),
            parts: 0,
            under_way: 0,
            sequence: 0,
            order: Order::default(),
            assembled: Vec::new(),
            sending: Sending::default(),
            receiving: Receiving::new(most_bytes),
            accesses: Accesses::new(most_bytes),
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

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.path).chain(&self.others)
    }

    fn paths_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        std::iter::once(&mut self.path).chain(&mut self.others)
    }

    /// The path by a rail, if one leads there by it.
    fn by_rail(&mut self, rail: usize) -> Option<&mut Path> {
        self.paths_mut().find(|path| path.rail == rail)
    }

    /// The paths that have not failed, a bit each.
    pub fn alive(&self) -> u32 {
        let alive = self.paths().filter(|path| !path.is_down);
        alive.fold(0, |bits, path| bits | 1 << path.place)
    }

    /// Whether there is a path that has not failed beside that of a rail.
    pub fn has_beside(&self, rail: usize) -> bool {
        let mut others = self.paths().filter(|path| path.rail != rail);
        others.any(|path| !path.is_down)
    }

    /// The queue pairs (RC) of a path, which have these numbers, stand. Its place; none if it has failed meanwhile.
    pub fn connect(
        &mut self,
        rail: usize,
        pairs: Range<usize>,
        is_ready: bool,
        queues: &mut SendQueues,
    ) -> Option<usize> {
        let path = self.by_rail(rail).filter(|path| !path.is_down)?;
        let ways = path.ways.iter_mut().filter(|way| !way.is_over_xrc());
        for (way, queue) in ways.zip(pairs.clone()) {
            way.queue = Some(queue);
            at_mut(queues, queue).leads_to(way.window());
        }
        path.pairs = pairs;
        path.is_ready |= is_ready;
        let place = path.place;
        self.look();
        Some(place)
    }

    /// The peer has said that the path of that place is ready.
    pub fn ready(&mut self, place: u64) -> Result<(), Malformed> {
        let path = self.paths_mut().find(|path| path.place as u64 == place);
        path.ok_or(Malformed("that a path is ready which there is not"))?
            .is_ready = true;
        self.look();
        Ok(())
    }

    /// The queue pair to the peer's host by a rail is that of this number, and leads to these queues of the peer's.
    pub fn connect_over_xrc(
        &mut self,
        rail: usize,
        queue: usize,
        theirs: &[SharedQueue],
        queues: &mut SendQueues,
    ) -> Result<(), Malformed> {
        let Some(path) = self.by_rail(rail).filter(|path| !path.is_down) else {
            return Ok(());
        };
        for way in path.ways.iter_mut().filter(|way| way.is_over_xrc()) {
            let its = theirs.iter().find(|its| its.bytes as usize == way.bytes);
            let its = its.ok_or(Malformed("queues that are not those of its card"))?;
            (way.queue, way.srq) = (Some(queue), its.number);
            at_mut(queues, queue).leads_to(way.window());
        }
        self.look();
        Ok(())
    }

    /// The queue pair to the peer's host is no more. Whether it was in use.
    pub fn disconnect(&mut self, queue: usize) -> bool {
        let Some(path) = self.paths_mut().find(|path| path.has_queue(queue)) else {
            return false;
        };
        let its = path.ways.iter_mut().filter(|way| way.queue == Some(queue));
        its.for_each(|way| way.queue = None);
        path.is_asked = false;
        self.is_open = self.path.is_open();
        true
    }

    /// The path by a rail is to be asked for again.
    pub fn asks_again(&mut self, rail: usize) {
        if let Some(path) = self.by_rail(rail) {
            path.is_asked = false;
        }
    }

    pub fn look(&mut self) {
        self.is_open = self.path.is_open();
        if self.is_open {
            self.waits_since = None;
        }
    }

    /// A path has failed, and nothing is under way by it any more. If it was the first, another is now, one that stands if there is such.
    /// Whether there is any.
    pub fn fail_path(&mut self, rail: usize) -> bool {
        if let Some(path) = self.by_rail(rail) {
            path.fail();
        }
        if self.path.is_down && !self.change_path() {
            return false;
        }
        for stream in self.receiving.without(self.alive()) {
            self.follow(stream);
        }
        true
    }

    /// Frames go by another path from here on, if one has not failed.
    pub fn change_path(&mut self) -> bool {
        let left = |path: &Path| !path.is_down;
        let standing = self.others.iter().position(|p| left(p) && p.is_open());
        let Some(next) = standing.or_else(|| self.others.iter().position(left)) else {
            return false;
        };
        std::mem::swap(&mut self.path, &mut self.others[next]);
        self.look();
        true
    }

    /// Whether another path than the first can be sent on.
    pub fn has_open_beside(&self) -> bool {
        self.others
            .iter()
            .any(|path| !path.is_down && path.is_open())
    }

    /// Copies parts that wait in pieces of a rail that is to carry frames no more.
    pub fn copy_parts(&mut self, posting: &mut Posting) {
        for queued in &mut self.queue {
            if let &mut Queued::Part {
                kind,
                piece,
                offset,
                bytes,
                is_last,
            } = queued
            {
                let frame = posting.sends.bytes(piece, offset + bytes)[offset..].to_vec();
                if is_last {
                    posting.sends.give_back(piece);
                }
                *queued = Queued::Copied { kind, frame };
            }
        }
    }

    /// Whether all ways of the first path stand.
    pub fn stands(&self) -> bool {
        self.path.stands()
    }

    /// The queue pair of a way of the first path, by number; none if there are not so many ways, or it does not stand.
    #[inline]
    pub fn queue(&self, way: usize) -> Option<usize> {
        self.path.ways.get(way)?.queue
    }

    pub fn is_over_xrc(&self) -> bool {
        self.path.is_over_xrc()
    }

    /// Among the lane's.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Of the first path.
    pub fn ways(&self) -> usize {
        self.path.ways.len()
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

    /// Whether it has the queue pair of that number.
    pub fn has_queue(&self, queue: usize) -> bool {
        self.paths().any(|path| path.has_queue(queue))
    }

    /// Its queue pairs (RC) of all paths, by number.
    pub fn pairs(&self) -> impl Iterator<Item = usize> + use<> {
        let paths: Vec<Range<usize>> = self.others.iter().map(|path| path.pairs.clone()).collect();
        self.path.pairs.clone().chain(paths.into_iter().flatten())
    }

    /// Whether what reads or writes this process's memory is under way, or waits.
    pub fn has_memory(&self) -> bool {
        self.receiving.count() + self.accesses.count() > 0
    }

    /// Whether a packet whose frame is so long has a place: what waits already goes first.
    pub fn has_place(&self, bytes: usize, queues: &SendQueues) -> bool {
        if self.parts > 0 {
            return false;
        }
        let Some(way) = self.path.smallest(bytes).map(|way| &self.path.ways[way]) else {
            return true;
        };
        way.has_room() && way.queue.is_some_and(|queue| at(queues, queue).has_place())
    }

    /// Whether a peer that was busy is so no more.
    pub fn has_room(&self, queues: &SendQueues) -> bool {
        let is_free = |way: &Way| {
            let has_room = |queue| at(queues, queue).has_room();
            way.has_room_again() && way.queue.is_some_and(has_room)
        };
        self.parts == 0 && self.path.ways.iter().all(is_free)
    }

    /// Whether something was posted whose completion has not come.
    pub fn is_under_way(&self) -> bool {
        self.under_way > 0
    }

    /// Whether something waits to be posted.
    pub fn has_queued(&self) -> bool {
        !self.queue.is_empty()
            || self.sending.has_streams()
            || self.accesses.has_waiting()
            || self.receiving.has_waiting()
    }

    /// A packet's frame, whose bytes are in `piece`. The queue pair that ought to be posted to now, if any.
    pub fn push_packet(
        &mut self,
        piece: Piece,
        bytes: usize,
        queues: &mut SendQueues,
    ) -> Option<usize> {
        match self.path.smallest(bytes) {
            Some(way) => self.push_frame(way, Kind::Packet, None, (piece, 0, bytes, true), queues),
            None => {
                self.split(piece, bytes);
                None
            }
        }
    }

    #[cold]
    fn split(&mut self, piece: Piece, bytes: usize) {
        let longest = self.path.longest();
        for offset in (0..bytes).step_by(longest) {
            let is_last = offset + longest >= bytes;
            self.queue.push_back(Queued::Part {
                kind: if is_last { Kind::Packet } else { Kind::Part },
                piece,
                offset,
                bytes: longest.min(bytes - offset),
                is_last,
            });
            self.parts += 1;
        }
    }

    /// Pushes a frame, for which there is room: the next one, or that of this number again. The queue pair, if it ought to be posted to
    /// now.
    fn push_frame(
        &mut self,
        way: usize,
        kind: Kind,
        sequence: Option<u32>,
        (piece, offset, bytes, is_last): (Piece, usize, usize, bool),
        queues: &mut SendQueues,
    ) -> Option<usize> {
        let to = self.path.ways[way].to();
        let credits = to.map_or(0, |(queue, _)| {
            at_mut(queues, queue).take_credits(MOST_CREDITS)
        });
        let sequence = sequence.unwrap_or_else(|| self.next_number());
        let immediate = Immediate::Frame {
            kind,
            sequence,
            credits,
        };
        let immediate = immediate.number();
        let what = What::Frame {
            immediate,
            piece,
            offset,
            bytes,
            is_last,
        };
        self.path.ways[way].start();
        self.push(to, Some(way as u8), what, queues)
    }

    #[inline]
    fn next_number(&mut self) -> u32 {
        let next = self.sequence;
        self.sequence = (next + 1) % SEQUENCE_END;
        next
    }

    fn push(
        &mut self,
        to: Option<(usize, u32)>,
        way: Option<u8>,
        what: What,
        queues: &mut SendQueues,
    ) -> Option<usize> {
        let (queue, srq) = to.expect("what is pushed has a way");
        self.under_way += 1;
        let link = self.number;
        let request = Request {
            link,
            way,
            srq,
            what,
        };
        at_mut(queues, queue).push(request).then_some(queue)
    }

    /// Takes back what was pushed to a queue pair of a rail's that has failed: it goes again, before all else, once there is another.
    /// What the peer has had already it knows by its number.
    pub fn take_back(&mut self, request: Request, rail: usize, posting: &mut Posting) {
        self.under_way -= 1;
        if let Some(way) = request.way {
            self.path.ways[way as usize].completed();
        }
        match &request.what {
            &What::Frame {
                immediate,
                piece,
                offset,
                bytes,
                ..
            } if request.is_needed() => {
                if let Ok(Immediate::Frame { kind, sequence, .. }) = Immediate::of(immediate) {
                    let frame = posting.sends.bytes(piece, offset + bytes)[offset..].to_vec();
                    self.queue.push_front(Queued::Again {
                        kind,
                        sequence,
                        frame,
                    });
                }
            }
            What::Read(read) => {
                self.receiving.again(read);
                self.has_read_by(rail, read);
            }
            What::Access(step) => self.accesses.again(step),
            _ => {}
        }
        request.give_back(posting);
    }

    /// A read by a rail is over.
    fn has_read_by(&mut self, rail: usize, read: &Read) {
        if read.is_stripe
            && let Some(path) = self.by_rail(rail)
        {
            path.stripes = path.stripes.saturating_sub(1);
        }
    }

    pub fn say(&mut self, kind: Kind, words: [u64; 2]) {
        self.queue.push_back(Queued::Control(kind, words));
    }

    /// Does what follows in a transfer. Its cookie, if it is complete.
    pub fn follow(&mut self, next: Next) -> Option<Cookie> {
        match next {
            Next::Read => {}
            Next::Stream { numbers, bytes } => self.say(Kind::Stream, [numbers, bytes]),
            Next::Taken { theirs, cookie } => {
                self.say(Kind::Taken, [theirs.into(), 0]);
                return Some(cookie);
            }
        }
        None
    }

    /// Asks whether the peer is there, unless something is under way that will tell. The queue pair to be posted to.
    pub fn probe(&mut self, queues: &mut SendQueues) -> Option<usize> {
        let (queue, srq) = self.path.last()?;
        self.under_way += at_mut(queues, queue).probe(self.number, srq);
        Some(queue)
    }

    /// Has the adapter say what it has done, if it was not asked to.
    pub fn probe_rest(&mut self, queues: &mut SendQueues) {
        let of_path = |path: &Path| {
            let over_xrc = path.ways.iter().filter(|way| way.is_over_xrc());
            let over_xrc: Vec<(usize, u32)> = over_xrc.filter_map(Way::to).collect();
            path.pairs.clone().map(|queue| (queue, 0)).chain(over_xrc)
        };
        let all: Vec<(usize, u32)> = self.paths().flat_map(of_path).collect();
        for (queue, srq) in all {
            self.under_way += at_mut(queues, queue).probe_rest(self.number, srq);
        }
    }

    /// Pushes what waits and has room, and what is there of data. Cookies of transfers whose source is free go to `sent`. The queue pair
    /// that is to be posted to before more is pushed; none if there is no more.
    pub fn pump(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        domain: &ProtectionDomain,
        mut sent: impl FnMut(Cookie),
    ) -> Option<usize> {
        while self.stands() && posting.has_own_room() {
            let pushed = self.take_queued(queues, posting);
            let pushed = pushed.or_else(|()| self.take_access(queues, posting, domain));
            let pushed = pushed.or_else(|()| self.take_read(None, queues, domain));
            let pushed = pushed.or_else(|()| self.take_data(queues, posting, &mut sent));
            match pushed {
                Ok(None) => {}
                Ok(full) => return full,
                Err(()) => break,
            }
        }
        None
    }

    /// Pushes reads by the path of number `other` of those that are not the first, as far as there are any for it. The queue pair that is
    /// to be posted to before more is pushed; none if there is no more.
    pub fn pump_reads(
        &mut self,
        other: usize,
        queues: &mut SendQueues,
        posting: &Posting,
        domain: &ProtectionDomain,
    ) -> Option<usize> {
        while posting.has_own_room() {
            match self.take_read(Some(other), queues, domain) {
                Ok(None) => {}
                Ok(full) => return full,
                Err(()) => break,
            }
        }
        None
    }

    /// Pushes a read of a long message, by the first path or another, if there is one for it and it has a place.
    fn take_read(
        &mut self,
        other: Option<usize>,
        queues: &mut SendQueues,
        domain: &ProtectionDomain,
    ) -> Result<Option<usize>, ()> {
        if !self.receiving.has_waiting() {
            return Err(());
        }
        let shares = self
            .others
            .iter()
            .any(|path| path.stands() && !path.is_down);
        let path = match other {
            None => &self.path,
            Some(other) => &self.others[other],
        };
        let to = path.last().ok_or(())?;
        if !at(queues, to.0).has_own_place() {
            return Err(());
        }
        let reader = Reader {
            place: path.place,
            home: self.path.place,
            shares,
            takes_stripes: path.stripes < STRIPES_A_PATH,
            domain,
        };
        let read = self.receiving.next(&reader).ok_or(())?;
        let path = match other {
            None => &mut self.path,
            Some(other) => &mut self.others[other],
        };
        path.stripes += usize::from(read.is_stripe);
        Ok(self.push(Some(to), None, What::Read(read), queues))
    }

    /// Pushes the credits that are to go alone. They wait for no way of the link's: the peer has credits to come as soon as it sends.
    /// What finds no place stays owed.
    pub fn pump_credits(&mut self, queues: &mut SendQueues, posting: &Posting) {
        let mut owes = false;
        for queue in self.pairs() {
            let due = match posting.has_own_room() {
                true => at_mut(queues, queue).take_due(),
                false => None,
            };
            if let Some(credits) = due {
                self.push_credits(queue, credits, queues);
            }
            owes |= at(queues, queue).owes();
        }
        self.owes = owes;
    }

    fn push_credits(&mut self, queue: usize, credits: u32, queues: &mut SendQueues) {
        self.push(Some((queue, 0)), None, What::Credits(credits), queues);
    }

    #[cfg(test)]
    pub fn give(&mut self, credits: u32, queues: &mut SendQueues) {
        self.push_credits(self.path.pairs.start, credits, queues);
    }

    /// The peer has given credits back, by a queue pair of that number.
    pub fn given(&mut self, queue: usize, credits: u32) -> Result<(), Malformed> {
        let mut ways = self.paths_mut().flat_map(|path| &mut path.ways);
        let way = ways.find(|way| way.queue == Some(queue));
        let way = way.ok_or(Malformed("credits for no pool of its"))?;
        way.given(credits)
    }

    fn has_own_place(&self, way: usize, queues: &SendQueues) -> bool {
        let way = &self.path.ways[way];
        let has_place = |queue| at(queues, queue).has_own_place();
        way.has_room() && way.queue.is_some_and(has_place)
    }

    /// Pushes the first of what waits, if it has a place.
    fn take_queued(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
    ) -> Result<Option<usize>, ()> {
        match self.queue.front().ok_or(())? {
            &Queued::Control(kind, words) => {
                if !self.has_own_place(0, queues) {
                    return Err(());
                }
                let piece = posting.sends.take(HEAD_BYTES).ok_or(())?;
                put_words(words, posting.sends.bytes(piece, HEAD_BYTES));
                self.queue.pop_front();
                Ok(self.push_frame(0, kind, None, (piece, 0, HEAD_BYTES, true), queues))
            }
            &Queued::Part {
                kind,
                piece,
                offset,
                bytes,
                is_last,
            } => {
                // All by one queue pair: the piece is free once its last part has left.
                let way = self.path.ways.len() - 1;
                if !self.has_own_place(way, queues) {
                    return Err(());
                }
                self.queue.pop_front();
                self.parts -= 1;
                Ok(self.push_frame(way, kind, None, (piece, offset, bytes, is_last), queues))
            }
            Queued::Again { frame, .. } | Queued::Copied { frame, .. } => {
                let bytes = frame.len();
                let way = self.path.smallest(bytes).ok_or(())?;
                if !self.has_own_place(way, queues) {
                    return Err(());
                }
                let piece = posting.sends.take(bytes).ok_or(())?;
                posting.sends.bytes(piece, bytes).copy_from_slice(frame);
                let (kind, sequence) = match self.queue.pop_front() {
                    Some(Queued::Again { kind, sequence, .. }) => (kind, Some(sequence)),
                    Some(Queued::Copied { kind, .. }) => {
                        self.parts -= 1;
                        (kind, None)
                    }
                    _ => unreachable!("the first of what waits"),
                };
                Ok(self.push_frame(way, kind, sequence, (piece, 0, bytes, true), queues))
            }
        }
    }

    /// Pushes the next request of an access, if it has a place.
    fn take_access(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        domain: &ProtectionDomain,
    ) -> Result<Option<usize>, ()> {
        if !self.accesses.has_waiting() {
            return Err(());
        }
        let to = self.path.last().ok_or(())?;
        if !at(queues, to.0).has_own_place() {
            return Err(());
        }
        let by = By {
            place: self.path.place,
            port: self.path.port,
            domain,
        };
        let step = self.accesses.next(&mut posting.sends, &by).ok_or(())?;
        Ok(self.push(Some(to), None, What::Access(step), queues))
    }

    fn take_data(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        sent: &mut impl FnMut(Cookie),
    ) -> Result<Option<usize>, ()> {
        let bytes = self.sending.next_bytes(self.path.longest()).ok_or(())?;
        let way = self
            .path
            .smallest(bytes)
            .expect("data are cut to the buffers");
        if !self.has_place(bytes, queues) {
            return Err(());
        }
        let piece = posting.sends.take_for_bulk().ok_or(())?;
        if let Some(cookie) = self.sending.fill(posting.sends.bytes(piece, bytes)) {
            sent(cookie);
        }
        Ok(self.push_frame(way, Kind::Data, None, (piece, 0, bytes, true), queues))
    }

    /// A request of the link's by a rail is done, whose piece is still to be given back. The transfer or access that is complete with it.
    pub fn completed(
        &mut self,
        request: &Request,
        rail: usize,
        posting: &mut Posting,
    ) -> Option<Over> {
        self.under_way -= 1;
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

    /// Gives back the pieces of what waits and will not be posted.
    pub fn abandon(&mut self, posting: &mut Posting) {
        for queued in self.queue.drain(..) {
            if let Queued::Part {
                piece,
                is_last: true,
                ..
            } = queued
            {
                posting.sends.give_back(piece);
            }
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

fn at(queues: &SendQueues, queue: usize) -> &SendQueue {
    queues[queue].as_ref().expect("a queue pair of the lane's")
}

fn at_mut(queues: &mut SendQueues, queue: usize) -> &mut SendQueue {
    queues[queue].as_mut().expect("a queue pair of the lane's")
}
