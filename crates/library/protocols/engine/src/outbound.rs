//! What waits for room on the way to a peer.
//!
//! Messages wait in the order in which they were started; answers of the protocol, which have no order among
//! them, go before. A queue exists only while something waits in it.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use weft_transport::{BulkDescriptor, Cookie, Header, Peer};

use crate::slot::NIL;
use crate::slots::Slots;

/// What a request or an arrival asks for that has no order among messages. A slot that is named is pending until this is
/// done, or dropped because the peer is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Control {
    Words {
        header: Header,
        body: [u64; 2],
        words: u8,
    },
    /// A receive asks for the payload that its message's sender, of this cookie, has kept.
    Cts { slot: u32, cookie: Cookie },
    /// The payload of a send that the receiver asked for.
    Data { slot: u32 },
    /// For the transport: a receive takes up the bulk transfer that is its message.
    Accept {
        slot: u32,
        offer: BulkDescriptor,
        bytes: u64,
    },
}

pub(crate) struct Queue {
    head: u32,
    tail: u32,
    messages: usize,
    pub controls: VecDeque<Control>,
}

impl Queue {
    fn new() -> Queue {
        Queue {
            head: NIL,
            tail: NIL,
            messages: 0,
            controls: VecDeque::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.head == NIL && self.controls.is_empty()
    }

    pub fn head(&self) -> Option<u32> {
        (self.head != NIL).then_some(self.head)
    }

    fn push(&mut self, slot: u32, slots: &Slots) {
        slots.at(slot).link.store(NIL, Ordering::Relaxed);
        match self.tail {
            NIL => self.head = slot,
            tail => slots.at(tail).link.store(slot, Ordering::Relaxed),
        }
        self.tail = slot;
        self.messages += 1;
    }

    /// Puts back what `pop` took.
    fn push_front(&mut self, slot: u32, slots: &Slots) {
        slots.at(slot).link.store(self.head, Ordering::Relaxed);
        if self.head == NIL {
            self.tail = slot;
        }
        self.head = slot;
        self.messages += 1;
    }

    /// The message behind `slot`.
    pub fn after(&self, slot: u32, slots: &Slots) -> Option<u32> {
        let next = slots.at(slot).link.load(Ordering::Relaxed);
        (next != NIL).then_some(next)
    }

    /// Takes the oldest message.
    pub fn pop(&mut self, slots: &Slots) -> Option<u32> {
        let slot = self.head()?;
        self.head = slots.at(slot).link.load(Ordering::Relaxed);
        if self.head == NIL {
            self.tail = NIL;
        }
        self.messages -= 1;
        Some(slot)
    }

    /// Takes `slot` from wherever it stands. Linear; for cancelling.
    pub fn remove(&mut self, slot: u32, slots: &Slots) -> bool {
        let waiting: Vec<u32> = std::iter::from_fn(|| self.pop(slots)).collect();
        let found = waiting.contains(&slot);
        for other in waiting.into_iter().filter(|&other| other != slot) {
            self.push(other, slots);
        }
        found
    }

    /// All messages, oldest first.
    pub fn iter<'a>(&'a self, slots: &'a Slots) -> impl Iterator<Item = u32> + 'a {
        std::iter::successors(self.head(), |&slot| self.after(slot, slots))
    }
}

/// One lane's queues.
pub(crate) struct Outbound {
    queues: Vec<Option<Box<Queue>>>,
    spare: Option<Box<Queue>>,
    waiting: usize,
}

impl Outbound {
    pub fn new(peers: u32) -> Outbound {
        Outbound {
            queues: (0..peers).map(|_| None).collect(),
            spare: None,
            waiting: 0,
        }
    }

    /// Whether something waits for `peer`: then a new message must wait behind it.
    #[inline]
    pub fn waits(&self, peer: Peer) -> bool {
        self.waiting != 0 && self.queues[peer as usize].is_some()
    }

    /// Whether nothing waits for any peer.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    #[inline]
    pub fn queue(&mut self, peer: Peer) -> Option<&mut Queue> {
        self.queues[peer as usize].as_deref_mut()
    }

    fn make(&mut self, peer: Peer) -> &mut Queue {
        let queue = &mut self.queues[peer as usize];
        if queue.is_none() {
            self.waiting += 1;
        }
        queue.get_or_insert_with(|| self.spare.take().unwrap_or_else(|| Box::new(Queue::new())))
    }

    /// Queues a message; the number of messages that now wait for `peer` is returned.
    pub fn push(&mut self, peer: Peer, slot: u32, slots: &Slots) -> usize {
        let queue = self.make(peer);
        queue.push(slot, slots);
        queue.messages
    }

    /// Puts a message back at the head of its peer's queue.
    pub fn push_front(&mut self, peer: Peer, slot: u32, slots: &Slots) {
        self.make(peer).push_front(slot, slots);
    }

    pub fn push_control(&mut self, peer: Peer, control: Control) {
        self.make(peer).controls.push_back(control);
    }

    /// Drops `peer`'s queue if nothing waits in it.
    pub fn tidy(&mut self, peer: Peer) {
        let queue = &mut self.queues[peer as usize];
        if queue.as_ref().is_some_and(|queue| queue.is_empty()) {
            self.spare = queue.take();
            self.waiting -= 1;
        }
    }

    /// Takes all that waits for `peer`.
    pub fn take(&mut self, peer: Peer) -> Option<Box<Queue>> {
        let queue = self.queues[peer as usize].take();
        self.waiting -= usize::from(queue.is_some());
        queue
    }

    /// Peers for whom something waits.
    pub fn peers(&self) -> impl Iterator<Item = (Peer, &Queue)> {
        let queues = self.queues.iter().enumerate();
        queues.filter_map(|(peer, queue)| Some((peer as Peer, queue.as_deref()?)))
    }
}
