//! A lane's link to one peer: a queue pair, and what is posted to it.

use std::collections::VecDeque;
use std::fmt;

use weft_transport::{Cookie, Peer};
use weft_verbs::{Operation, PostError, Remote, SendList};

use crate::buffers::{Piece, Sends};
use crate::bulk::receiving::{Next, Read, Receiving};
use crate::bulk::sending::Sending;
use crate::frame::{HEAD_BYTES, Kind, put_words};
use crate::parts::{DEPTH, LanePair, MOST_UNDER_WAY};

/// Requests that are posted together.
pub const LIST: usize = 32;
/// A completion is asked for with each request of this number.
const SIGNAL_EVERY: usize = 16;
/// Places of the queue that packets leave to what is the transport's own.
const KEPT: usize = 32;

/// A request to be posted.
enum Request {
    Frame {
        kind: Kind,
        piece: Piece,
        bytes: usize,
    },
    Read(Read),
    /// Writes nothing: is only there for its completion.
    Probe,
}

/// What waits for a place in the queue, in order.
enum Queued {
    Control(Kind, [u64; 2]),
    Read(Read),
}

/// A request under way.
enum Posted {
    /// Its data were copied when it was posted, or it had none.
    Nothing,
    Piece(Piece),
    Read {
        transfer: u32,
        bytes: usize,
    },
}

/// What links of a lane post from and with.
pub struct Posting {
    pub sends: Sends,
    pub list: SendList,
    /// Requests under way from the lane.
    pub under_way: usize,
    /// Until now: lists, requests in them, bytes read.
    pub posts: u64,
    pub requests: u64,
    pub read_bytes: u64,
}

impl Posting {
    /// The adapter is to say soon what it has done.
    fn is_low(&self) -> bool {
        self.sends.is_low() || self.under_way > MOST_UNDER_WAY / 2
    }

    /// There is room for more packets, whatever their length.
    pub fn has_room(&self) -> bool {
        self.sends.has_room() && self.under_way + DEPTH < MOST_UNDER_WAY
    }
}

/// Its queue pair goes first, before regions that requests on it name.
pub struct Link {
    pub pair: LanePair,
    pub peer: Peer,
    /// This process asked for it, or the one that did has said that it is ready.
    pub is_open: bool,
    /// The peer has said goodbye.
    pub has_left: bool,
    /// The peer wants no eager payload.
    pub is_throttled: bool,
    /// The engine was told that there is no room.
    pub is_refused: bool,
    /// It is among those that have something to post, or to say.
    pub is_active: bool,
    waiting: Vec<Request>,
    queue: VecDeque<Queued>,
    under_way: VecDeque<Posted>,
    /// The number of the next request.
    next: u64,
    /// Posted since a completion was asked for.
    unsignalled: usize,
    pub sending: Sending,
    pub receiving: Receiving,
}

impl Link {
    pub fn new(pair: LanePair, peer: Peer, is_open: bool, most_bytes: usize) -> Link {
        Link {
            pair,
            peer,
            is_open,
            has_left: false,
            is_throttled: false,
            is_refused: false,
            is_active: false,
            waiting: Vec::new(),
            queue: VecDeque::new(),
            under_way: VecDeque::new(),
            next: 0,
            unsignalled: 0,
            sending: Sending::default(),
            receiving: Receiving::new(most_bytes),
        }
    }

    /// Places of the queue that are taken.
    fn taken(&self) -> usize {
        self.under_way.len() + self.waiting.len()
    }

    /// Whether a packet has a place: what waits already goes first.
    pub fn has_place(&self) -> bool {
        self.taken() < DEPTH - KEPT
    }

    /// Whether a peer that was busy is so no more.
    pub fn has_room(&self) -> bool {
        self.taken() < DEPTH / 2
    }

    /// Whether something was posted whose completion has not come.
    pub fn is_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Whether something waits to be posted.
    pub fn has_queued(&self) -> bool {
        !self.queue.is_empty() || self.sending.has_streams()
    }

    /// A frame whose bytes are in `piece`, to be posted by the next [`post`](Self::post). Whether that ought to be now.
    pub fn push(&mut self, kind: Kind, piece: Piece, bytes: usize) -> bool {
        self.waiting.push(Request::Frame { kind, piece, bytes });
        self.waiting.len() == LIST
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

    /// Has the adapter say what it has done, if it was not asked to.
    pub fn probe_rest(&mut self) {
        if self.unsignalled > 0 {
            self.probe();
        }
    }

    /// Asks whether the peer is there, unless something is under way that will tell.
    pub fn probe(&mut self) {
        let tells = self.under_way.len() != self.unsignalled || !self.waiting.is_empty();
        if !tells && self.taken() < DEPTH {
            self.waiting.push(Request::Probe);
        }
    }

    /// Posts what waits and has room. Cookies of transfers whose source is free go to `sent`.
    pub fn pump(
        &mut self,
        posting: &mut Posting,
        mut sent: impl FnMut(Cookie),
    ) -> Result<(), PostError> {
        loop {
            let full = self.taken() >= DEPTH || posting.under_way + LIST >= MOST_UNDER_WAY;
            if full || !(self.take_queued(posting) || self.take_data(posting, &mut sent)) {
                break;
            }
            if self.waiting.len() >= LIST {
                self.post(posting)?;
            }
        }
        self.post(posting)
    }

    fn take_queued(&mut self, posting: &mut Posting) -> bool {
        match self.queue.front() {
            None => return false,
            Some(Queued::Control(kind, words)) => {
                let Some(piece) = posting.sends.take(HEAD_BYTES) else {
                    return false;
                };
                put_words(*words, posting.sends.bytes(piece, HEAD_BYTES));
                let kind = *kind;
                self.push(kind, piece, HEAD_BYTES);
                self.queue.pop_front();
            }
            Some(Queued::Read(_)) => {
                if let Some(Queued::Read(read)) = self.queue.pop_front() {
                    self.waiting.push(Request::Read(read));
                }
            }
        }
        true
    }

    fn take_data(&mut self, posting: &mut Posting, sent: &mut impl FnMut(Cookie)) -> bool {
        let Some(bytes) = self.sending.next_bytes().filter(|_| self.has_place()) else {
            return false;
        };
        let Some(piece) = posting.sends.take_for_bulk() else {
            return false;
        };
        if let Some(cookie) = self.sending.fill(posting.sends.bytes(piece, bytes)) {
            sent(cookie);
        }
        self.push(Kind::Data, piece, bytes);
        true
    }

    /// Posts what was pushed, as one list.
    pub fn post(&mut self, posting: &mut Posting) -> Result<(), PostError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let inline_bytes = self.pair.inline_bytes() as usize;
        let mut copied = [None; LIST];
        posting.list.clear();
        let is_low = posting.is_low();
        for (request, copied) in self.waiting.drain(..).zip(&mut copied) {
            let list = &mut posting.list;
            let (added, posted, is_asked) = match request {
                Request::Frame { kind, piece, bytes } => {
                    let is_inline = bytes <= inline_bytes;
                    let operation = Operation::SendWithImmediate(kind as u32);
                    let added = list.push(operation, posting.sends.part(piece, bytes));
                    let posted = match is_inline {
                        true => {
                            *copied = Some(piece);
                            Posted::Nothing
                        }
                        false => Posted::Piece(piece),
                    };
                    (added.inlined(is_inline), posted, piece.is_long() || is_low)
                }
                Request::Read(read) => {
                    let (transfer, bytes) = (read.transfer, read.bytes);
                    let part = read.region.part(read.offset, bytes);
                    let added = list.push(Operation::Read(read.from), part);
                    (added, Posted::Read { transfer, bytes }, true)
                }
                Request::Probe => {
                    let nowhere = Remote { address: 0, key: 0 };
                    let added = list.push(Operation::Write(nowhere), posting.sends.nothing());
                    (added, Posted::Nothing, true)
                }
            };
            self.unsignalled += 1;
            let signals = is_asked || self.unsignalled >= SIGNAL_EVERY;
            added.id(self.next).signalled(signals);
            if signals {
                self.unsignalled = 0;
            }
            self.next += 1;
            self.under_way.push_back(posted);
            posting.under_way += 1;
            posting.requests += 1;
        }
        posting.posts += 1;
        let posted = self.pair.post_send(&mut posting.list);
        copied
            .into_iter()
            .flatten()
            .for_each(|piece| posting.sends.give_back(piece));
        posted
    }

    /// The request of that number is done, and so are those before it.
    pub fn completed(&mut self, number: u64, posting: &mut Posting) -> Option<Cookie> {
        let mut received = None;
        while self.next - (self.under_way.len() as u64) <= number {
            let posted = self.under_way.pop_front()?;
            posting.under_way -= 1;
            match posted {
                Posted::Nothing => {}
                Posted::Piece(piece) => posting.sends.give_back(piece),
                Posted::Read { transfer, bytes } => {
                    posting.read_bytes += bytes as u64;
                    let next = self.receiving.has_read(transfer, bytes);
                    received = self.follow(next);
                }
            }
        }
        received
    }

    /// Gives back what is under way on a queue pair that does nothing more.
    pub fn abandon(&mut self, posting: &mut Posting) {
        posting.under_way -= self.under_way.len();
        for posted in self.under_way.drain(..) {
            if let Posted::Piece(piece) = posted {
                posting.sends.give_back(piece);
            }
        }
        for request in self.waiting.drain(..) {
            if let Request::Frame { piece, .. } = request {
                posting.sends.give_back(piece);
            }
        }
    }

    /// One line if something is pending.
    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let (to, from) = (self.sending.count(), self.receiving.count());
        if to + from + self.taken() == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "  rank {}: {to} bulk transfers to it, {from} from it; {} requests under way",
            self.peer,
            self.taken()
        )
    }
}
