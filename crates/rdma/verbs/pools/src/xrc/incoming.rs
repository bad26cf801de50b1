//! As receiver: the references that a process has, one for each sender at most.

use std::collections::BTreeMap;

use super::adapter::{Adapter, OpenError, Process, SendQueuePair, SharedQueue};
use super::message::{Answer, Reason, Request};

/// What became of a sender's last request.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Made(u32),
    Opened,
    Gone,
    Refused(Reason),
    Closed,
}

/// A reference to a receive queue pair, and whose packets that takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    send: u32,
    receive: u32,
}

#[derive(Debug)]
struct Sender {
    /// Of the last request that was executed.
    serial: u64,
    outcome: Outcome,
    held: Option<Held>,
}

/// All senders that have ever asked for something: what is left of one that has closed keeps its late datagrams from being executed.
pub struct Incoming {
    queues: Vec<SharedQueue>,
    senders: BTreeMap<Process, Sender>,
    is_leaving: bool,
}

impl Incoming {
    pub fn new(queues: Vec<SharedQueue>) -> Incoming {
        Incoming {
            queues,
            senders: BTreeMap::new(),
            is_leaving: false,
        }
    }

    /// The answer to a request; none to one that is older than another (rule 1).
    pub fn request<A: Adapter>(
        &mut self,
        (from, serial): (Process, u64),
        request: Request,
        adapter: &mut A,
    ) -> Option<Answer> {
        let is_leaving = self.is_leaving;
        let sender = self.senders.entry(from).or_insert(Sender {
            serial: 0,
            outcome: Outcome::Closed,
            held: None,
        });
        if serial < sender.serial || serial == 0 {
            return None;
        }
        if serial > sender.serial {
            sender.serial = serial;
            sender.outcome = match request {
                Request::Close => sender.close(adapter),
                _ if is_leaving => Outcome::Refused(Reason::Leaving),
                Request::Make(send) => sender.make(from, send, adapter),
                Request::Open { send, receive } => {
                    sender.open(from, Held { send, receive }, adapter)
                }
            };
        }
        let outcome = sender.outcome;
        Some(self.answer(outcome))
    }

    fn answer(&self, outcome: Outcome) -> Answer {
        let queues = || self.queues.clone();
        match outcome {
            Outcome::Made(receive) => Answer::Made {
                receive,
                queues: queues(),
            },
            Outcome::Opened => Answer::Opened { queues: queues() },
            Outcome::Gone => Answer::Gone,
            Outcome::Refused(reason) => Answer::Refused(reason),
            Outcome::Closed => Answer::Closed,
        }
    }

    /// A sender has ended. What comes of it from now on is late, and is not answered.
    pub fn lost<A: Adapter>(&mut self, process: Process, adapter: &mut A) {
        if let Some(sender) = self.senders.get_mut(&process) {
            sender.drop_reference(adapter);
        }
        let ended = Sender {
            serial: u64::MAX,
            outcome: Outcome::Closed,
            held: None,
        };
        self.senders.insert(process, ended);
    }

    /// Drops all references, and refuses what is asked from now on.
    pub fn leave<A: Adapter>(&mut self, adapter: &mut A) {
        self.is_leaving = true;
        for sender in self.senders.values_mut() {
            if sender.held.is_some() {
                sender.outcome = Outcome::Refused(Reason::Leaving);
            }
            sender.drop_reference(adapter);
        }
    }

    /// How many references this process has.
    pub fn references(&self) -> usize {
        let senders = self.senders.values();
        senders.filter(|sender| sender.held.is_some()).count()
    }
}

impl Sender {
    fn drop_reference<A: Adapter>(&mut self, adapter: &mut A) {
        if let Some(held) = self.held.take() {
            adapter.close_receive(held.receive);
        }
    }

    fn close<A: Adapter>(&mut self, adapter: &mut A) -> Outcome {
        self.drop_reference(adapter);
        Outcome::Closed
    }

    fn make<A: Adapter>(&mut self, from: Process, send: SendQueuePair, adapter: &mut A) -> Outcome {
        self.drop_reference(adapter);
        match adapter.create_receive(from, send) {
            Ok(receive) => {
                let send = send.number;
                self.held = Some(Held { send, receive });
                Outcome::Made(receive)
            }
            Err(_) => Outcome::Refused(Reason::NoResources),
        }
    }

    fn open<A: Adapter>(&mut self, from: Process, asked: Held, adapter: &mut A) -> Outcome {
        if self.held == Some(asked) {
            return Outcome::Opened;
        }
        self.drop_reference(adapter);
        match adapter.open_receive(from, asked.send, asked.receive) {
            Ok(()) => {
                self.held = Some(asked);
                Outcome::Opened
            }
            Err(OpenError::Gone) => Outcome::Gone,
            Err(OpenError::NoResources) => Outcome::Refused(Reason::NoResources),
        }
    }
}
