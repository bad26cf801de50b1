//! What waits for room on the way to a peer.
//!
//! Messages wait in the order in which they were started; answers of the protocol, which have no order among
//! them, go before; so do notices, in their order; the answer to an enquiry goes behind. A queue exists only while something waits in it.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use weft_transport::{BulkDescriptor, Cookie, Header, Peer};

use crate::by_peer::ByPeer;
use crate::notice::Notice;
use crate::pending::Pending;
use crate::slot::NIL;
use crate::slots::Slots;

/// What a request or an arrival asks for that has no order among messages. A slot that is named is pending until this is
/// done, or dropped because the peer is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Control {
    Words {
        header: Header,
        body: [u64; 3],
        words: u8,
    },
    /// A receive asks for the payload that its message's sender, of this cookie, has kept.
    Cts { slot: Pending, cookie: Cookie },
    /// The payload of a send that the receiver asked for.
    Data { slot: Pending },
    /// For the transport: an access to what the peer has exposed.
    Access { slot: Pending },
    /// For the transport: a receive takes up the bulk transfer that is its message.
    BulkReceive {
        slot: Pending,
        descriptor: BulkDescriptor,
        bytes: u64,
    },
}

pub(crate) struct Queue {
    head: u32,
    tail: u32,
    messages: usize,
    pub controls: VecDeque<Control>,
    pub notices: VecDeque<Notice>,
    /// What leaves once no message waits: one answer to an enquiry (`enquiring.rs`), whatever else the peer asks
    /// meanwhile.
    pub answer: Option<Control>,
}

impl Queue {
    fn new() -> Queue {
        Queue {
            head: NIL,
            tail: NIL,
            messages: 0,
            controls: VecDeque::new(),
            notices: VecDeque::new(),
            answer: None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.head == NIL
            && self.controls.is_empty()
            && self.notices.is_empty()
            && self.answer.is_none()
    }

    pub fn head(&self) -> Option<Pending> {
        queued(self.head)
    }

    fn push(&mut self, slot: Pending, slots: &Slots) {
        let index = slot.index();
        slots.at(index).link.store(NIL, Ordering::Relaxed);
        match self.tail {
            NIL => self.head = index,
            tail => slots.at(tail).link.store(index, Ordering::Relaxed),
        }
        self.tail = index;
        self.messages += 1;
    }

    /// Puts back what `pop` took.
    fn push_front(&mut self, slot: Pending, slots: &Slots) {
        let index = slot.index();
        slots.at(index).link.store(self.head, Ordering::Relaxed);
        if self.head == NIL {
            self.tail = index;
        }
        self.head = index;
        self.messages += 1;
    }

    /// The message behind `slot`.
    pub fn after(&self, slot: Pending, slots: &Slots) -> Option<Pending> {
        queued(slots.at(slot.index()).link.load(Ordering::Relaxed))
    }

    /// Takes the oldest message.
    pub fn pop(&mut self, slots: &Slots) -> Option<Pending> {
        let slot = self.head()?;
        self.head = slots.at(slot.index()).link.load(Ordering::Relaxed);
        if self.head == NIL {
            self.tail = NIL;
        }
        self.messages -= 1;
        Some(slot)
    }

    /// Takes `slot` from wherever it stands. Linear; for cancelling.
    pub fn remove(&mut self, slot: Pending, slots: &Slots) -> bool {
        let waiting: Vec<Pending> = std::iter::from_fn(|| self.pop(slots)).collect();
        let found = waiting.contains(&slot);
        for other in waiting.into_iter().filter(|&other| other != slot) {
            self.push(other, slots);
        }
        found
    }

    /// All messages, oldest first.
    pub fn iter<'a>(&'a self, slots: &'a Slots) -> impl Iterator<Item = Pending> + 'a {
        std::iter::successors(self.head(), |&slot| self.after(slot, slots))
    }
}

/// What stands in a queue's head or in a link.
fn queued(link: u32) -> Option<Pending> {
    // SAFETY: only what is pending is queued, and it is taken out before it is over.
    (link != NIL).then(|| unsafe { Pending::new(link) })
}

/// One lane's queues.
#[derive(Default)]
pub(crate) struct Outbound {
    queues: ByPeer<Option<Box<Queue>>>,
    spare: Option<Box<Queue>>,
    waiting: usize,
}

impl Outbound {
    /// Whether something waits for `peer`: then a new message must wait behind it.
    #[inline]
    pub fn waits(&self, peer: Peer) -> bool {
        self.waiting != 0 && matches!(self.queues.get(peer), Some(Some(_)))
    }

    /// Whether nothing waits for any peer.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    #[inline]
    pub fn queue(&mut self, peer: Peer) -> Option<&mut Queue> {
        self.queues.get_mut(peer)?.as_deref_mut()
    }

    fn make(&mut self, peer: Peer) -> &mut Queue {
        let queue = self.queues.entry(peer);
        if queue.is_none() {
            self.waiting += 1;
        }
        queue.get_or_insert_with(|| self.spare.take().unwrap_or_else(|| Box::new(Queue::new())))
    }

    /// Queues a message; the number of messages that now wait for `peer` is returned.
    pub fn push(&mut self, peer: Peer, slot: Pending, slots: &Slots) -> usize {
        let queue = self.make(peer);
        queue.push(slot, slots);
        queue.messages
    }

    /// Puts a message back at the head of its peer's queue.
    pub fn push_front(&mut self, peer: Peer, slot: Pending, slots: &Slots) {
        self.make(peer).push_front(slot, slots);
    }

    pub fn push_control(&mut self, peer: Peer, control: Control) {
        self.make(peer).controls.push_back(control);
    }

    /// Queues a notice behind those that wait.
    pub fn push_notice(&mut self, notice: Notice) {
        self.make(notice.peer).notices.push_back(notice);
    }

    /// Queues an answer behind the messages, unless there is one.
    pub fn push_answer(&mut self, peer: Peer, answer: Control) {
        self.make(peer).answer.get_or_insert(answer);
    }

    /// Drops `peer`'s queue if nothing waits in it.
    pub fn tidy(&mut self, peer: Peer) {
        if let Some(queue) = self.queues.get_mut(peer)
            && queue.as_ref().is_some_and(|queue| queue.is_empty())
        {
            self.spare = queue.take();
            self.waiting -= 1;
        }
    }

    /// Takes all that waits for `peer`.
    pub fn take(&mut self, peer: Peer) -> Option<Box<Queue>> {
        let queue = self.queues.get_mut(peer)?.take();
        self.waiting -= usize::from(queue.is_some());
        queue
    }

    /// Peers for whom something waits.
    pub fn peers(&self) -> impl Iterator<Item = (Peer, &Queue)> {
        let queues = self.queues.iter();
        queues.filter_map(|(peer, queue)| Some((peer, queue.as_deref()?)))
    }
}
