//! A lane's link to one peer: the ways to its pools, and what waits for them.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use weft_pools::Pool;
use weft_pools::xrc::SharedQueue;
use weft_transport::{Cookie, Direction, Peer};

use crate::access::{Accesses, Over};
use crate::buffers::Piece;
use crate::bulk::receiving::{Next, Read, Receiving};
use crate::bulk::sending::Sending;
use crate::frame::{HEAD_BYTES, Immediate, Kind, MOST_CREDITS, Malformed, SEQUENCE_END, put_words};
use crate::order::Order;
use crate::send_queue::{Posting, Request, SendQueue, What};
use crate::way::Way;

/// The lane's queue pairs, by number.
pub type SendQueues = [Option<SendQueue>];

/// What waits for a place, in order.
enum Queued {
    Control(Kind, [u64; 2]),
    Read(Read),
    /// What was pushed to a queue pair that then failed.
    Again(Request),
    /// A part of a packet that is longer than the peer's buffers.
    Part {
        kind: Kind,
        piece: Piece,
        offset: usize,
        bytes: usize,
        is_last: bool,
    },
}

pub struct Link {
    pub peer: Peer,
    /// Among the lane's.
    number: usize,
    /// By ascending size.
    ways: Vec<Way>,
    /// Its queue pairs (RC), by number, once they stand: those of its ways that are not over XRC, and those by which only the peer sends.
    pairs: Range<usize>,
    /// Credits are to go alone.
    pub owes: bool,
    /// This process asked for its queue pairs (RC), or the one that did has said that it is ready; or it has none.
    is_ready: bool,
    /// It can be sent on: it is ready, and all ways stand.
    pub is_open: bool,
    /// The ways that are missing were asked for.
    pub is_asked: bool,
    /// The peer has said goodbye.
    pub has_left: bool,
    /// The peer wants no eager payload.
    pub is_throttled: bool,
    /// The engine was told that there is no room.
    pub is_refused: bool,
    /// It is among those that have something to post, or to say.
    pub is_active: bool,
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
    /// To a peer with those pools, to which no way stands so far.
    pub fn new(number: usize, peer: Peer, pools: &[Pool], most_bytes: usize) -> Link {
        let ways: Vec<Way> = pools.iter().map(Way::new).collect();
        Link {
            peer,
            number,
            is_ready: ways.iter().all(Way::is_over_xrc),
            ways,
            pairs: 0..0,
            owes: false,
            is_open: false,
            is_asked: false,
            has_left: false,
            is_throttled: false,
            is_refused: false,
            is_active: false,
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

    /// The queue pairs (RC) of the link, which have these numbers, stand.
    pub fn connect(&mut self, pairs: Range<usize>, is_ready: bool, queues: &mut SendQueues) {
        let ways = self.ways.iter_mut().filter(|way| !way.is_over_xrc());
        for (way, queue) in ways.zip(pairs.clone()) {
            way.queue = Some(queue);
            at_mut(queues, queue).leads_to(way.window());
        }
        self.pairs = pairs;
        self.is_ready |= is_ready;
        self.look();
    }

    /// The peer has said that it is ready.
    pub fn ready(&mut self) {
        self.is_ready = true;
        self.look();
    }

    /// The queue pair to the peer's host is that of this number, and leads to these queues of the peer's.
    pub fn connect_over_xrc(
        &mut self,
        queue: usize,
        theirs: &[SharedQueue],
        queues: &mut SendQueues,
    ) -> Result<(), Malformed> {
        for way in self.ways.iter_mut().filter(|way| way.is_over_xrc()) {
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
        let its = self.ways.iter_mut().filter(|way| way.queue == Some(queue));
        let is_its = its.map(|way| way.queue = None).count() > 0;
        if is_its {
            (self.is_asked, self.is_open) = (false, false);
        }
        is_its
    }

    fn look(&mut self) {
        self.is_open = self.is_ready && self.stands();
    }

    /// Whether all ways stand.
    pub fn stands(&self) -> bool {
        self.ways.iter().all(|way| way.queue.is_some())
    }

    /// The queue pair of a way, by number; none if there are not so many ways, or it does not stand.
    #[inline]
    pub fn queue(&self, way: usize) -> Option<usize> {
        self.ways.get(way)?.queue
    }

    pub fn is_over_xrc(&self) -> bool {
        self.ways.iter().any(Way::is_over_xrc)
    }

    /// Among the lane's.
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn ways(&self) -> usize {
        self.ways.len()
    }

    /// Whether the link is to be pumped: something waits and the ways stand, or credits are to go alone.
    pub fn has_more(&self) -> bool {
        self.owes || self.has_queued() && self.stands()
    }

    /// Whether something is to go by a way that stands, or is to stand again.
    pub fn is_leaving(&self) -> bool {
        let is_reached = self.stands() || self.is_asked;
        !self.has_left && is_reached && (self.is_under_way() || self.has_queued())
    }

    /// Whether it has the queue pair of that number.
    pub fn has_queue(&self, queue: usize) -> bool {
        self.pairs.contains(&queue) || self.ways.iter().any(|way| way.queue == Some(queue))
    }

    /// Its queue pairs (RC), by number.
    pub fn pairs(&self) -> Range<usize> {
        self.pairs.clone()
    }

    /// Whether what reads or writes this process's memory is under way, or waits.
    pub fn has_memory(&self) -> bool {
        self.receiving.count() + self.accesses.count() > 0
    }

    /// By which the peer is asked for what is no frame: data of long messages, and whether it is there. The queue pair, and the
    /// peer's receive queue.
    fn last(&self) -> Option<(usize, u32)> {
        self.ways.last()?.to()
    }

    /// The way to the smallest buffers that hold so many bytes.
    fn smallest(&self, bytes: usize) -> Option<usize> {
        self.ways.iter().position(|way| way.bytes >= bytes)
    }

    /// The longest frame that the peer's buffers hold.
    fn longest(&self) -> usize {
        self.ways.last().map_or(0, |way| way.bytes)
    }

    /// Whether a packet whose frame is so long has a place: what waits already goes first.
    pub fn has_place(&self, bytes: usize, queues: &SendQueues) -> bool {
        if self.parts > 0 {
            return false;
        }
        let Some(way) = self.smallest(bytes).map(|way| &self.ways[way]) else {
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
        self.parts == 0 && self.ways.iter().all(is_free)
    }

    /// Whether something was posted whose completion has not come.
    pub fn is_under_way(&self) -> bool {
        self.under_way > 0
    }

    /// Whether something waits to be posted.
    pub fn has_queued(&self) -> bool {
        !self.queue.is_empty() || self.sending.has_streams() || self.accesses.has_waiting()
    }

    /// A packet's frame, whose bytes are in `piece`. The queue pair that ought to be posted to now, if any.
    pub fn push_packet(
        &mut self,
        piece: Piece,
        bytes: usize,
        queues: &mut SendQueues,
    ) -> Option<usize> {
        match self.smallest(bytes) {
            Some(way) => self.push_frame(way, Kind::Packet, (piece, 0, bytes, true), queues),
            None => {
                self.split(piece, bytes);
                None
            }
        }
    }

    #[cold]
    fn split(&mut self, piece: Piece, bytes: usize) {
        let longest = self.longest();
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

    /// Pushes a frame, for which there is room. The queue pair, if it ought to be posted to now.
    fn push_frame(
        &mut self,
        way: usize,
        kind: Kind,
        (piece, offset, bytes, is_last): (Piece, usize, usize, bool),
        queues: &mut SendQueues,
    ) -> Option<usize> {
        let to = self.ways[way].to();
        let credits = to.map_or(0, |(queue, _)| {
            at_mut(queues, queue).take_credits(MOST_CREDITS)
        });
        let immediate = Immediate::Frame {
            kind,
            sequence: self.sequence,
            credits,
        };
        let immediate = immediate.number();
        self.sequence = (self.sequence + 1) % SEQUENCE_END;
        let what = What::Frame {
            immediate,
            piece,
            offset,
            bytes,
            is_last,
        };
        self.ways[way].start();
        self.push(to, Some(way as u8), what, queues)
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

    /// Takes back what was pushed to a queue pair that has failed: it goes again, before all else, once there is another. What the peer has
    /// had already it knows by its number.
    pub fn take_back(&mut self, request: Request, posting: &mut Posting) {
        self.under_way -= 1;
        if let Some(way) = request.way {
            self.ways[way as usize].completed();
        }
        match request.is_needed() {
            true => self.queue.push_front(Queued::Again(request)),
            false => request.give_back(posting),
        }
    }

    pub fn say(&mut self, kind: Kind, words: [u64; 2]) {
        self.queue.push_back(Queued::Control(kind, words));
    }

    /// Does what follows in a transfer. Its cookie, if it is complete.
    pub fn follow(&mut self, next: Next) -> Option<Cookie> {
        match next {
            Next::Read(read) => self.queue.push_back(Queued::Read(read)),
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
        let (queue, srq) = self.last()?;
        self.under_way += at_mut(queues, queue).probe(self.number, srq);
        Some(queue)
    }

    /// Has the adapter say what it has done, if it was not asked to.
    pub fn probe_rest(&mut self, queues: &mut SendQueues) {
        let over_xrc = self.ways.iter().filter(|way| way.is_over_xrc());
        let pairs = self.pairs.clone().map(|queue| (queue, 0));
        for (queue, srq) in pairs.chain(over_xrc.filter_map(Way::to)) {
            self.under_way += at_mut(queues, queue).probe_rest(self.number, srq);
        }
    }

    /// Pushes what waits and has room, and what is there of data. Cookies of transfers whose source is free go to `sent`. The queue pair
    /// that is to be posted to before more is pushed; none if there is no more.
    pub fn pump(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        mut sent: impl FnMut(Cookie),
    ) -> Option<usize> {
        while self.stands() && posting.has_own_room() {
            let pushed = self.take_queued(queues, posting);
            let pushed = pushed.or_else(|()| self.take_access(queues, posting));
            let pushed = pushed.or_else(|()| self.take_data(queues, posting, &mut sent));
            match pushed {
                Ok(None) => {}
                Ok(full) => return full,
                Err(()) => break,
            }
        }
        None
    }

    /// Pushes the credits that are to go alone. They wait for no way of the link's: the peer has credits to come as soon as it sends.
    /// What finds no place stays owed.
    pub fn pump_credits(&mut self, queues: &mut SendQueues, posting: &Posting) {
        let mut owes = false;
        for queue in self.pairs.clone() {
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
        self.push_credits(self.pairs.start, credits, queues);
    }

    /// The peer has given credits back, by a queue pair of that number.
    pub fn given(&mut self, queue: usize, credits: u32) -> Result<(), Malformed> {
        let way = self.ways.iter_mut().find(|way| way.queue == Some(queue));
        let way = way.ok_or(Malformed("credits for no pool of its"))?;
        way.given(credits)
    }

    fn has_own_place(&self, way: usize, queues: &SendQueues) -> bool {
        let way = &self.ways[way];
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
                Ok(self.push_frame(0, kind, (piece, 0, HEAD_BYTES, true), queues))
            }
            &Queued::Part {
                kind,
                piece,
                offset,
                bytes,
                is_last,
            } => {
                // All by one queue pair: the piece is free once its last part has left.
                let way = self.ways.len() - 1;
                if !self.has_own_place(way, queues) {
                    return Err(());
                }
                self.queue.pop_front();
                self.parts -= 1;
                Ok(self.push_frame(way, kind, (piece, offset, bytes, is_last), queues))
            }
            Queued::Read(_) => {
                let to = self.last().ok_or(())?;
                if !at(queues, to.0).has_own_place() {
                    return Err(());
                }
                let Some(Queued::Read(read)) = self.queue.pop_front() else {
                    return Err(());
                };
                Ok(self.push(Some(to), None, What::Read(read), queues))
            }
            Queued::Again(request) => {
                let way = request.way.map(usize::from);
                if !self.has_own_place(way.unwrap_or(self.ways.len() - 1), queues) {
                    return Err(());
                }
                let Some(Queued::Again(request)) = self.queue.pop_front() else {
                    return Err(());
                };
                let to = match way {
                    None => self.last(),
                    Some(way) => {
                        self.ways[way].start();
                        self.ways[way].to()
                    }
                };
                Ok(self.push(to, request.way, request.what, queues))
            }
        }
    }

    /// Pushes the next request of an access, if it has a place.
    fn take_access(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
    ) -> Result<Option<usize>, ()> {
        let to = self.last().ok_or(())?;
        if !at(queues, to.0).has_own_place() {
            return Err(());
        }
        let step = self.accesses.next(&mut posting.sends).ok_or(())?;
        Ok(self.push(Some(to), None, What::Access(step), queues))
    }

    fn take_data(
        &mut self,
        queues: &mut SendQueues,
        posting: &mut Posting,
        sent: &mut impl FnMut(Cookie),
    ) -> Result<Option<usize>, ()> {
        let bytes = self.sending.next_bytes(self.longest()).ok_or(())?;
        let way = self.smallest(bytes).expect("data are cut to the buffers");
        if !self.has_place(bytes, queues) {
            return Err(());
        }
        let piece = posting.sends.take_for_bulk().ok_or(())?;
        if let Some(cookie) = self.sending.fill(posting.sends.bytes(piece, bytes)) {
            sent(cookie);
        }
        Ok(self.push_frame(way, Kind::Data, (piece, 0, bytes, true), queues))
    }

    /// A request of the link's is done, whose piece is still to be given back. The transfer or access that is complete with it.
    pub fn completed(&mut self, request: &Request, posting: &mut Posting) -> Option<Over> {
        self.under_way -= 1;
        if let Some(way) = request.way {
            self.ways[way as usize].completed();
        }
        match &request.what {
            What::Read(read) => {
                let next = self.receiving.has_read(read.transfer, read.bytes);
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
            match queued {
                Queued::Part {
                    piece,
                    is_last: true,
                    ..
                } => posting.sends.give_back(piece),
                Queued::Again(request) => request.give_back(posting),
                _ => {}
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
