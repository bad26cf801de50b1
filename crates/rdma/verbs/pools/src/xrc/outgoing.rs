//! As sender: the send queue pair to each host, and what is known of each peer.

use std::collections::{BTreeMap, BTreeSet};

use super::adapter::{Adapter, Host, Process, SendQueuePair, SharedQueue};
use super::event::{Event, Failure};
use super::message::{Answer, Request};
use super::requests::{Pending, Requests};

#[derive(Debug)]
enum Stage {
    /// Another process of the host is asked to make the receive queue pair.
    Waiting,
    Asking(Pending),
    Connected,
    /// `again`: it is to be connected as soon as it is closed.
    Closing {
        pending: Pending,
        again: bool,
    },
}

#[derive(Debug)]
struct Peer {
    host: Host,
    stage: Stage,
}

/// The send queue pair to a host.
#[derive(Debug)]
struct Way {
    send: SendQueuePair,
    /// What it is connected to.
    receive: Option<u32>,
    /// Who is asked to make that.
    maker: Option<Process>,
}

#[derive(Default)]
pub struct Outgoing {
    peers: BTreeMap<Process, Peer>,
    ways: BTreeMap<Host, Way>,
    /// Of each host, the peers that wait, are asked or are connected: those that the way there is for.
    users: BTreeMap<Host, BTreeSet<Process>>,
    events: Vec<Event>,
}

/// What a step of the protocol works with.
pub struct With<'a, A> {
    pub adapter: &'a mut A,
    pub requests: &'a mut Requests,
    pub now_ns: u64,
}

impl Outgoing {
    pub fn connect<A: Adapter>(&mut self, peer: Process, host: Host, with: &mut With<'_, A>) {
        match self.peers.get_mut(&peer).map(|peer| &mut peer.stage) {
            Some(Stage::Closing { again, .. }) => *again = true,
            Some(_) => {}
            None => {
                self.wait(peer, host);
                self.advance(host, None, with);
            }
        }
    }

    fn wait(&mut self, peer: Process, host: Host) {
        let stage = Stage::Waiting;
        self.peers.insert(peer, Peer { host, stage });
        self.users.entry(host).or_default().insert(peer);
    }

    /// Asks those that wait, as far as the way to their host allows. `maker` is asked first, if somebody has to be.
    fn advance<A: Adapter>(&mut self, host: Host, maker: Option<Process>, with: &mut With<'_, A>) {
        let waiting = self.waiting(host);
        if waiting.is_empty() || !self.has_way(host, &waiting, with) {
            return;
        }
        let Some(way) = self.ways.get_mut(&host) else {
            return;
        };
        let send = way.send;
        let asked = match (way.receive, way.maker) {
            (Some(receive), _) => {
                let send = send.number;
                waiting
                    .into_iter()
                    .map(|peer| (peer, Request::Open { send, receive }))
                    .collect()
            }
            (None, Some(_)) => Vec::new(),
            (None, None) => {
                let peer = maker
                    .filter(|peer| waiting.contains(peer))
                    .unwrap_or(waiting[0]);
                way.maker = Some(peer);
                vec![(peer, Request::Make(send))]
            }
        };
        for (peer, request) in asked {
            let pending = with.requests.ask(peer, request, with.now_ns);
            self.set_stage(peer, Stage::Asking(pending));
        }
    }

    fn waiting(&self, host: Host) -> Vec<Process> {
        let users = self.users.get(&host).into_iter().flatten().copied();
        let is_waiting = |peer: &Process| {
            let peer = self.peers.get(peer);
            peer.is_some_and(|peer| matches!(peer.stage, Stage::Waiting))
        };
        users.filter(is_waiting).collect()
    }

    /// Makes the send queue pair, if there is none. If it cannot be made, those that wait for it fail.
    fn has_way<A: Adapter>(
        &mut self,
        host: Host,
        waiting: &[Process],
        with: &mut With<'_, A>,
    ) -> bool {
        if self.ways.contains_key(&host) {
            return true;
        }
        match with.adapter.create_send(host) {
            Ok(send) => {
                let way = Way {
                    send,
                    receive: None,
                    maker: None,
                };
                self.ways.insert(host, way);
                true
            }
            Err(_) => {
                for &peer in waiting {
                    self.forget(peer, with);
                    let why = Failure::NoResources;
                    self.events.push(Event::Failed { peer, why });
                }
                false
            }
        }
    }

    fn set_stage(&mut self, peer: Process, stage: Stage) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.stage = stage;
        }
    }

    /// An answer, if it is one to the request that is under way.
    pub fn answer<A: Adapter>(
        &mut self,
        (from, serial): (Process, u64),
        answer: Answer,
        with: &mut With<'_, A>,
    ) {
        let Some(peer) = self.peers.get(&from) else {
            return;
        };
        let host = peer.host;
        let (Stage::Asking(pending) | Stage::Closing { pending, .. }) = &peer.stage else {
            return;
        };
        if pending.serial != serial {
            return;
        }
        with.requests.end(from, pending);
        match (pending.request, answer) {
            // Whatever it says: it has heard the request, and has no reference any more.
            (Request::Close, _) => self.closed(from, with),
            (Request::Make(send), Answer::Made { receive, queues }) => {
                self.made(from, host, (send.number, receive, queues), with);
            }
            (Request::Open { send, .. }, Answer::Opened { queues }) => {
                self.connected(from, send, queues);
            }
            (Request::Open { .. }, Answer::Gone) => {
                self.set_stage(from, Stage::Waiting);
                self.break_way(host, Some(from), with);
            }
            (_, Answer::Refused(reason)) => self.fail(from, Failure::Refused(reason), with),
            _ => self.fail(from, Failure::Nonsense, with),
        }
    }

    fn connected(&mut self, peer: Process, send: u32, queues: Vec<SharedQueue>) {
        self.set_stage(peer, Stage::Connected);
        self.events.push(Event::Connected { peer, send, queues });
    }

    fn made<A: Adapter>(
        &mut self,
        peer: Process,
        host: Host,
        (send, receive, queues): (u32, u32, Vec<SharedQueue>),
        with: &mut With<'_, A>,
    ) {
        if with.adapter.connect_send(send, peer, receive).is_err() {
            self.destroy_way(host, with.adapter);
            self.fail(peer, Failure::NoResources, with);
            return self.advance(host, None, with);
        }
        if let Some(way) = self.ways.get_mut(&host) {
            way.maker = None;
            way.receive = Some(receive);
        }
        self.connected(peer, send, queues);
        self.advance(host, None, with);
    }

    /// Gives a peer up, and asks it to close all the same (rule 5).
    fn fail<A: Adapter>(&mut self, peer: Process, why: Failure, with: &mut With<'_, A>) {
        self.events.push(Event::Failed { peer, why });
        self.close(peer, with);
    }

    pub fn disconnect<A: Adapter>(&mut self, peer: Process, with: &mut With<'_, A>) {
        match self.peers.get_mut(&peer).map(|peer| &mut peer.stage) {
            None => {}
            Some(Stage::Waiting) => self.forget(peer, with),
            Some(Stage::Closing { again, .. }) => *again = false,
            Some(Stage::Asking(_) | Stage::Connected) => self.close(peer, with),
        }
    }

    /// Asks a peer to close that was asked for something before.
    fn close<A: Adapter>(&mut self, peer: Process, with: &mut With<'_, A>) {
        let Some(host) = self.peers.get(&peer).map(|peer| peer.host) else {
            return;
        };
        self.forget(peer, with);
        let pending = with.requests.ask(peer, Request::Close, with.now_ns);
        let again = false;
        let stage = Stage::Closing { pending, again };
        self.peers.insert(peer, Peer { host, stage });
    }

    fn closed<A: Adapter>(&mut self, peer: Process, with: &mut With<'_, A>) {
        let Some(Peer { host, stage }) = self.peers.remove(&peer) else {
            return;
        };
        if matches!(stage, Stage::Closing { again: true, .. }) {
            self.connect(peer, host, with);
        }
    }

    /// The peer has ended, or is nobody to send to any more. If it was the maker, the next one is asked; the last user of a way ends that.
    pub fn forget<A: Adapter>(&mut self, peer: Process, with: &mut With<'_, A>) {
        let Some(Peer { host, stage }) = self.peers.remove(&peer) else {
            return;
        };
        if let Stage::Asking(pending) | Stage::Closing { pending, .. } = &stage {
            with.requests.end(peer, pending);
        }
        let users = self.users.entry(host).or_default();
        let was_user = users.remove(&peer);
        if users.is_empty() {
            self.users.remove(&host);
            self.destroy_way(host, with.adapter);
        } else if was_user
            && let Some(way) = self.ways.get_mut(&host)
            && way.maker == Some(peer)
        {
            way.maker = None;
            self.advance(host, None, with);
        }
    }

    fn destroy_way<A: Adapter>(&mut self, host: Host, adapter: &mut A) {
        if let Some(way) = self.ways.remove(&host) {
            adapter.destroy_send(way.send.number);
        }
    }

    /// Nobody receives through the way to a host any more: those that were connected are down, those that were asked are asked anew.
    pub fn break_way<A: Adapter>(
        &mut self,
        host: Host,
        maker: Option<Process>,
        with: &mut With<'_, A>,
    ) {
        self.destroy_way(host, with.adapter);
        for peer in self.users.remove(&host).unwrap_or_default() {
            match self.peers.remove(&peer).map(|peer| peer.stage) {
                Some(Stage::Connected) => self.events.push(Event::Down { peer }),
                Some(Stage::Asking(pending)) => {
                    with.requests.end(peer, &pending);
                    self.wait(peer, host);
                }
                _ => self.wait(peer, host),
            }
        }
        self.advance(host, maker, with);
    }

    /// A request's time has come.
    pub fn due<A: Adapter>(&mut self, peer: Process, with: &mut With<'_, A>) {
        let Some(stage) = self.peers.get_mut(&peer).map(|peer| &mut peer.stage) else {
            return;
        };
        let (Stage::Asking(pending) | Stage::Closing { pending, .. }) = stage else {
            return;
        };
        if with.requests.try_again(peer, pending, with.now_ns) {
            return;
        }
        match stage {
            Stage::Closing { .. } => self.closed(peer, with),
            _ => self.fail(peer, Failure::Silent, with),
        }
    }

    /// All that is connected is closed, and what is not so far is not to be.
    pub fn leave<A: Adapter>(&mut self, with: &mut With<'_, A>) {
        let peers: Vec<Process> = self.peers.keys().copied().collect();
        for peer in peers {
            self.disconnect(peer, with);
        }
    }

    /// Peers that are not closed.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    pub fn is_connected(&self, peer: Process) -> bool {
        let peer = self.peers.get(&peer);
        peer.is_some_and(|peer| matches!(peer.stage, Stage::Connected))
    }

    /// Peers that wait, are asked, or are to be connected again.
    pub fn unanswered(&self) -> impl Iterator<Item = Process> {
        let is_one = |stage: &Stage| match stage {
            Stage::Waiting | Stage::Asking(_) => true,
            Stage::Connected => false,
            Stage::Closing { again, .. } => *again,
        };
        let peers = self.peers.iter();
        peers
            .filter(move |(_, peer)| is_one(&peer.stage))
            .map(|(&peer, _)| peer)
    }

    /// How many send queue pairs this process has.
    pub fn ways(&self) -> usize {
        self.ways.len()
    }

    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
