//! One process's connections over XRC.

use super::adapter::{Adapter, Host, Process, SharedQueue};
use super::event::Event;
use super::incoming::Incoming;
use super::message::{Body, Malformed, Message};
use super::outgoing::{Outgoing, With};
use super::requests::{Requests, Timing};

/// One process's part of the protocol, as sender and as receiver. After each call the transport sends what is in
/// [`take_outbox`](Connections::take_outbox) and looks at [`take_events`](Connections::take_events); it calls [`tick`](Connections::tick)
/// once [`deadline_ns`](Connections::deadline_ns) has passed. Times are in nanoseconds of any clock that does not go back.
pub struct Connections {
    me: Process,
    incoming: Incoming,
    outgoing: Outgoing,
    requests: Requests,
    is_leaving: bool,
}

impl Connections {
    /// Of a process with those shared receive queues, by ascending size.
    pub fn new(me: Process, queues: Vec<SharedQueue>, timing: Timing) -> Connections {
        Connections {
            me,
            incoming: Incoming::new(queues),
            outgoing: Outgoing::default(),
            requests: Requests::new(me, timing),
            is_leaving: false,
        }
    }

    /// Wants to send to a peer. It is told by an event, unless the peer is connected already or this process is leaving.
    pub fn connect<A: Adapter>(&mut self, peer: Process, host: Host, now_ns: u64, adapter: &mut A) {
        if !self.is_leaving {
            let (outgoing, mut with) = self.with(now_ns, adapter);
            outgoing.connect(peer, host, &mut with);
        }
    }

    /// Sends nothing to a peer any more. Nothing must be under way to it.
    pub fn disconnect<A: Adapter>(&mut self, peer: Process, now_ns: u64, adapter: &mut A) {
        let (outgoing, mut with) = self.with(now_ns, adapter);
        outgoing.disconnect(peer, &mut with);
    }

    /// A datagram has come, and the transport has seen that it is from whom it says.
    pub fn datagram<A: Adapter>(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        adapter: &mut A,
    ) -> Result<(), Malformed> {
        let message = Message::read(bytes)?;
        if message.to == self.me {
            self.message(message, now_ns, adapter);
        }
        Ok(())
    }

    fn message<A: Adapter>(&mut self, message: Message, now_ns: u64, adapter: &mut A) {
        let (from, serial) = (message.from, message.serial);
        match message.body {
            Body::Request(request) => {
                let answer = self.incoming.request((from, serial), request, adapter);
                if let Some(answer) = answer {
                    self.requests.send(from, serial, Body::Answer(answer));
                }
            }
            Body::Answer(answer) => {
                let (outgoing, mut with) = self.with(now_ns, adapter);
                outgoing.answer((from, serial), answer, &mut with);
            }
        }
    }

    /// Sends again, or gives up, what has had no answer for long enough.
    pub fn tick<A: Adapter>(&mut self, now_ns: u64, adapter: &mut A) {
        while let Some(peer) = self.requests.due(now_ns) {
            let (outgoing, mut with) = self.with(now_ns, adapter);
            outgoing.due(peer, &mut with);
        }
    }

    /// Sends nothing to a peer any more, which has refused without the protocol's having begun there: nothing is to be closed.
    pub fn forget<A: Adapter>(&mut self, peer: Process, now_ns: u64, adapter: &mut A) {
        let (outgoing, mut with) = self.with(now_ns, adapter);
        outgoing.forget(peer, &mut with);
    }

    /// A process has ended, whatever it was to this one. There is no event for it.
    pub fn lost<A: Adapter>(&mut self, process: Process, now_ns: u64, adapter: &mut A) {
        self.incoming.lost(process, adapter);
        let (outgoing, mut with) = self.with(now_ns, adapter);
        outgoing.forget(process, &mut with);
    }

    /// The send queue pair to a host has failed: the adapter has reported an error of it. Peers that were connected through it are down.
    pub fn send_failed<A: Adapter>(&mut self, host: Host, now_ns: u64, adapter: &mut A) {
        let (outgoing, mut with) = self.with(now_ns, adapter);
        outgoing.break_way(host, None, &mut with);
    }

    /// Receives nothing from now on, and closes all that is connected. Once [`has_left`](Connections::has_left), nothing is left.
    pub fn leave<A: Adapter>(&mut self, now_ns: u64, adapter: &mut A) {
        self.is_leaving = true;
        self.incoming.leave(adapter);
        let (outgoing, mut with) = self.with(now_ns, adapter);
        outgoing.leave(&mut with);
    }

    pub fn has_left(&self) -> bool {
        self.is_leaving && self.outgoing.peers() == 0
    }

    pub fn is_connected(&self, peer: Process) -> bool {
        self.outgoing.is_connected(peer)
    }

    /// Peers that are to be connected, and are not so far.
    pub fn unanswered(&self) -> impl Iterator<Item = Process> {
        self.outgoing.unanswered()
    }

    /// Send queue pairs that this process has: one for each host at most.
    pub fn send_queue_pairs(&self) -> usize {
        self.outgoing.ways()
    }

    /// Receive queue pairs that this process refers to: one for each sender at most.
    pub fn references(&self) -> usize {
        self.incoming.references()
    }

    /// When to call `tick`; none while nothing is waited for.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.requests.deadline_ns()
    }

    /// Datagrams to send, and to whom.
    pub fn take_outbox(&mut self) -> Vec<(Process, Vec<u8>)> {
        self.requests.take_outbox()
    }

    pub fn take_events(&mut self) -> Vec<Event> {
        self.outgoing.take_events()
    }

    fn with<'a, A: Adapter>(
        &'a mut self,
        now_ns: u64,
        adapter: &'a mut A,
    ) -> (&'a mut Outgoing, With<'a, A>) {
        let with = With {
            adapter,
            requests: &mut self.requests,
            now_ns,
        };
        (&mut self.outgoing, with)
    }
}
