//! A queue pair of a lane's, what is posted to it, and its own buffers.

use std::collections::VecDeque;

use weft_verbs::{Operation, PostError, Remote, SendList};

use crate::access::{AccessRequest, Local};
use crate::adapter::MOST_UNDER_WAY;
use crate::buffers::{BufferId, Sends};
use crate::bulk::receiving::Read;
use crate::frame::{FrameKind, Immediate};
use crate::parts::{DEPTH, LanePair};
use crate::per_peer::PerPeer;

/// The lane's queue pairs, by number.
pub type SendQueues = [Option<SendQueue>];

/// Requests that are posted together.
pub const LIST: usize = 32;
/// A completion is asked for with each request of this number.
const SIGNAL_EVERY: usize = 16;
/// Places of the queue that packets leave to what is the transport's own.
const KEPT: usize = 32;

/// What a request does.
pub enum What {
    /// Sends so many bytes of a piece, from `offset` on.
    Frame {
        immediate: u32,
        piece: BufferId,
        offset: usize,
        bytes: usize,
        /// Nothing else of the piece is to be sent.
        is_last: bool,
    },
    Read(Read),
    Access(AccessRequest),
    /// Sends credits alone.
    Credits(u32),
    /// Writes nothing: is only there for its completion.
    Probe,
    /// A frame of so many bytes that was copied when it was posted.
    Copied {
        bytes: usize,
    },
}

/// A request of a link's.
pub struct Request {
    /// By number.
    pub link: usize,
    /// The one of the link's ways in whose window it is, if in any.
    pub way: Option<u8>,
    /// The peer's shared receive queue, over XRC.
    pub srq: u32,
    pub what: What,
}

/// What links of a lane post from and with.
pub struct Posting {
    pub sends: Sends,
    pub list: SendList,
    /// Requests under way from the lane.
    pub under_way: usize,
    /// Until now: lists, requests in them.
    pub posts: u64,
    pub requests: u64,
}

impl Posting {
    pub fn new(sends: Sends) -> Posting {
        Posting {
            sends,
            list: SendList::with_room(LIST),
            under_way: 0,
            posts: 0,
            requests: 0,
        }
    }

    /// The adapter is to say soon what it has done.
    fn is_low(&self) -> bool {
        self.sends.is_low() || self.under_way > MOST_UNDER_WAY / 2
    }

    /// There is room for more packets, whatever their length.
    pub fn has_room(&self) -> bool {
        self.sends.has_room() && self.under_way + DEPTH < MOST_UNDER_WAY
    }

    /// There is room for what is the transport's own.
    pub fn has_own_room(&self) -> bool {
        self.under_way + LIST < MOST_UNDER_WAY
    }
}

pub struct SendQueue {
    pub pair: LanePair,
    /// Among the process's.
    pub rail: usize,
    /// It has failed, and goes once what had come by it is taken.
    pub is_retired: bool,
    /// What is posted to it may have to go again by another queue pair.
    keeps: bool,
    /// It leads to all processes of this host (XRC). Else it is one link's (RC).
    pub host: Option<u64>,
    /// What it receives into, if that is not shared. Goes after it.
    pub own: Option<PerPeer>,
    waiting: Vec<Request>,
    under_way: VecDeque<Request>,
    /// The number of the next request.
    next: u64,
    /// Posted since a completion was asked for, and whether accesses are among those: the engine waits for these.
    unsignalled: usize,
    has_accesses: bool,
    /// At the latest every so many requests a completion is asked for, so that no window is full without one to come.
    signal_every: usize,
}

impl SendQueue {
    /// To one peer, maybe with others beside it to which its requests may have to go.
    pub fn to_peer(rail: usize, pair: LanePair, own: Option<PerPeer>, is_alone: bool) -> SendQueue {
        SendQueue {
            own,
            keeps: !is_alone,
            ..SendQueue::new(rail, pair, None)
        }
    }

    /// To a host.
    pub fn to_host(rail: usize, pair: LanePair, host: u64) -> SendQueue {
        SendQueue::new(rail, pair, Some(host))
    }

    fn new(rail: usize, pair: LanePair, host: Option<u64>) -> SendQueue {
        SendQueue {
            pair,
            rail,
            is_retired: false,
            keeps: true,
            host,
            own: None,
            waiting: Vec::new(),
            under_way: VecDeque::new(),
            next: 0,
            unsignalled: 0,
            has_accesses: false,
            signal_every: SIGNAL_EVERY,
        }
    }

    /// It leads to a pool whose window, if it has one, has so many places.
    pub fn leads_to(&mut self, window: Option<u32>) {
        let signal_every = window.map(|window| (window as usize / 2).max(1));
        self.signal_every = self.signal_every.min(signal_every.unwrap_or(SIGNAL_EVERY));
    }

    /// Places that are taken.
    fn taken(&self) -> usize {
        self.under_way.len() + self.waiting.len()
    }

    /// Whether a packet has a place: what waits already goes first.
    pub fn has_place(&self) -> bool {
        self.taken() < DEPTH - KEPT
    }

    /// Whether what is the transport's own has a place.
    pub fn has_own_place(&self) -> bool {
        self.taken() < DEPTH
    }

    /// Whether a queue that was full is so no more.
    pub fn has_room(&self) -> bool {
        self.taken() < DEPTH / 2
    }

    /// Whether credits are to go alone.
    pub fn owes(&self) -> bool {
        !self.is_retired && self.own.as_ref().is_some_and(PerPeer::owes)
    }

    /// Credits that are to go alone, if that is due and they have a place.
    pub fn take_due(&mut self) -> Option<u32> {
        match self.has_own_place() {
            true => self.own.as_mut()?.take_due(),
            false => None,
        }
    }

    /// The credits that a frame carries which has room for so many.
    #[inline]
    pub fn take_credits(&mut self, most: u32) -> u32 {
        self.own.as_mut().map_or(0, |own| own.take_credits(most))
    }

    /// A request, to be posted by the next [`post`](Self::post). Whether that ought to be now.
    pub fn push(&mut self, request: Request) -> bool {
        self.waiting.push(request);
        self.waiting.len() >= LIST
    }

    /// Has the adapter say what it has done, if it was not asked to. How many requests that takes.
    pub fn probe_rest(&mut self, link: usize, srq: u32) -> usize {
        match self.unsignalled {
            0 => 0,
            _ => self.probe(link, srq),
        }
    }

    /// Asks whether the peer is there, unless something is under way that will tell. How many requests that takes.
    pub fn probe(&mut self, link: usize, srq: u32) -> usize {
        // What is under way to others of the host tells nothing of this one.
        let is_alone = self.host.is_none();
        let tells = self.under_way.len() != self.unsignalled || !self.waiting.is_empty();
        if is_alone && tells || !self.has_own_place() || self.waiting.len() >= LIST {
            return 0;
        }
        self.push(Request {
            link,
            way: None,
            srq,
            what: What::Probe,
        });
        1
    }

    /// Whether something was pushed that is not posted.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Posts what was pushed, as one list.
    pub fn post(&mut self, posting: &mut Posting) -> Result<(), PostError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut copied = [None; LIST];
        posting.list.clear();
        let is_low = posting.is_low();
        let requests = self.waiting.len();
        let is_shared = self.host.is_some();
        assert!(requests <= LIST, "{requests} requests in a list");
        let waiting = self.waiting.drain(..).zip(&mut copied);
        for (index, (mut request, copied)) in waiting.enumerate() {
            let inline_bytes = self.pair.inline_bytes() as usize;
            let is_asked = add(&request, inline_bytes, posting);
            if !self.keeps {
                *copied = request.take_copied(inline_bytes);
            }
            self.unsignalled += 1;
            self.has_accesses |= matches!(request.what, What::Access(_));
            let is_last = index + 1 == requests;
            let is_due = is_low || self.unsignalled >= self.signal_every;
            let signals = is_asked || is_due || is_last && self.has_accesses;
            let added = posting.list.at(posting.list.len() - 1);
            let added = added.id(self.next).signalled(signals);
            if is_shared {
                added.xrc(request.srq);
            }
            if signals {
                self.unsignalled = 0;
                self.has_accesses = false;
            }
            self.next += 1;
            self.under_way.push_back(request);
        }
        posting.under_way += requests;
        posting.requests += requests as u64;
        posting.posts += 1;
        let posted = self.pair.post_send(&mut posting.list);
        copied
            .into_iter()
            .flatten()
            .for_each(|piece| posting.sends.give_back(piece));
        posted
    }

    /// The requests that are done once that of `number` is: it, and those before it. What they have is to be given back.
    pub fn take_done(&mut self, number: u64, posting: &mut Posting) -> Option<Request> {
        let first = self.next - self.under_way.len() as u64;
        if first > number {
            return None;
        }
        let request = self.under_way.pop_front()?;
        posting.under_way -= 1;
        Some(request)
    }

    /// The link of the first request that is not done.
    pub fn first(&self) -> Option<usize> {
        self.under_way.front().map(|request| request.link)
    }

    /// What is under way, and what waits, on a queue pair that does nothing more.
    pub fn take_rest(&mut self, posting: &mut Posting) -> Vec<Request> {
        posting.under_way -= self.under_way.len();
        self.under_way
            .drain(..)
            .chain(self.waiting.drain(..))
            .collect()
    }

    /// Gives back what is under way on a queue pair that does nothing more.
    pub fn abandon(&mut self, posting: &mut Posting) {
        posting.under_way -= self.under_way.len();
        let all = self.under_way.drain(..).chain(self.waiting.drain(..));
        all.for_each(|request| request.give_back(posting));
    }
}

/// The one of that number, which there is.
pub fn at(queues: &SendQueues, queue: usize) -> &SendQueue {
    queues[queue].as_ref().expect("a queue pair of the lane's")
}

/// The same one, to be changed.
pub fn at_mut(queues: &mut SendQueues, queue: usize) -> &mut SendQueue {
    queues[queue].as_mut().expect("a queue pair of the lane's")
}

/// Adds a request to the list. Whether a completion is to be asked for.
fn add(request: &Request, inline_bytes: usize, posting: &mut Posting) -> bool {
    let list = &mut posting.list;
    match &request.what {
        &What::Frame {
            immediate,
            piece,
            offset,
            bytes,
            ..
        } => {
            let part = posting.sends.part(piece, offset, bytes);
            let added = list.push(Operation::SendWithImmediate(immediate), part);
            added.inlined(is_inline(offset, bytes, inline_bytes));
            piece.is_long()
        }
        What::Read(read) => {
            let part = read.region.part(read.offset, read.bytes);
            list.push(Operation::Read(read.from), part);
            true
        }
        What::Access(step) => {
            let part = match &step.local {
                &Local::BufferId(piece) => posting.sends.part(piece, 0, step.bytes),
                Local::Region(region) => region.part(step.begin(), step.bytes),
            };
            let is_inline = step.is_write() && step.piece().is_some() && step.bytes <= inline_bytes;
            list.push(step.operation, part).inlined(is_inline);
            false
        }
        &What::Credits(credits) => {
            let immediate = Immediate::Credits(credits).number();
            list.push(
                Operation::SendWithImmediate(immediate),
                posting.sends.nothing(),
            );
            false
        }
        What::Probe => {
            let nowhere = Remote { address: 0, key: 0 };
            list.push(Operation::Write(nowhere), posting.sends.nothing());
            true
        }
        What::Copied { .. } => unreachable!("a request that was posted"),
    }
}

/// Whether a frame is copied when it is posted. The parts of a piece are not: it is given back once all have left it.
fn is_inline(offset: usize, bytes: usize, inline_bytes: usize) -> bool {
    bytes <= inline_bytes && offset == 0
}

impl Request {
    /// Whether it has to be done, if it was not. A goodbye is a courtesy: the peer may have gone first.
    pub fn is_needed(&self) -> bool {
        match self.what {
            What::Frame { immediate, .. } => {
                let frame = Immediate::of(immediate);
                !matches!(
                    frame,
                    Ok(Immediate::Frame {
                        kind: FrameKind::Bye,
                        ..
                    })
                )
            }
            What::Read(_) | What::Access(_) => true,
            What::Credits(_) | What::Probe | What::Copied { .. } => false,
        }
    }

    /// The piece of a frame that was copied when it was posted.
    fn take_copied(&mut self, inline_bytes: usize) -> Option<BufferId> {
        match self.what {
            What::Frame {
                piece,
                offset,
                bytes,
                is_last: true,
                ..
            } if is_inline(offset, bytes, inline_bytes) => {
                self.what = What::Copied { bytes };
                Some(piece)
            }
            _ => None,
        }
    }

    pub fn give_back(&self, posting: &mut Posting) {
        let piece = match &self.what {
            What::Frame {
                piece,
                is_last: true,
                ..
            } => Some(*piece),
            What::Access(step) => step.piece(),
            _ => None,
        };
        piece
            .into_iter()
            .for_each(|piece| posting.sends.give_back(piece));
    }
}
