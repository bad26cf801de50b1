//! A lane's connections over XRC: what the protocol of `weft_pools::xrc` asks of the adapter, done. Processes are named by their ranks.
//!
//! Queue pairs to hosts are the lane's once they are connected, those that receive stay here: nobody posts to them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_kernel::random;
use weft_pools::xrc::{
    Adapter as Hands, Connections, Event, Host, NoResources, OpenError, Process, SendQueuePair,
    SharedQueue, Timing,
};
use weft_transport::Peer;
use weft_verbs::abi::{IBV_QPS_RTR, IBV_QPS_RTS};
use weft_verbs::{XrcDomain, XrcReceiveQueuePair};

use crate::adapter::Adapter;
use crate::address::Contact;
use crate::handshake::psn;
use crate::left::Left;
use crate::parts::{LanePair, Making};

/// A process that computes answers nobody: the protocol asks another one of its host then, and `shared` begins again with it.
const TIMING: Timing = Timing {
    first_ns: 4_000_000,
    most_ns: 500_000_000,
    tries: 8,
};

/// A queue pair that is to be connected.
struct Send {
    pair: LanePair,
    host: Host,
    first_packet: u32,
}

/// What the lane has of queue pairs that it does not post to.
struct Ends {
    making: Arc<Making>,
    domain: XrcDomain,
    sends: BTreeMap<u32, Send>,
    receives: BTreeMap<u32, XrcReceiveQueuePair>,
}

/// Whoever acts for a lane.
pub struct Actor<'a> {
    pub adapter: &'a Adapter,
    pub ways: &'a dyn Fn(Peer) -> Option<Contact>,
}

/// What has become of an action: first the lane is told, then datagrams are sent.
#[derive(Default)]
pub struct Done {
    pub left: Vec<Left>,
    pub datagrams: Vec<(Process, Vec<u8>)>,
    pub events: Vec<Event>,
}

pub struct LaneXrc {
    connections: Connections,
    ends: Ends,
    /// Times are counted from here.
    begin: Instant,
}

impl LaneXrc {
    /// Of process `me`, with those receive queues in that domain.
    pub fn new(
        me: Peer,
        making: Arc<Making>,
        domain: XrcDomain,
        queues: Vec<SharedQueue>,
    ) -> LaneXrc {
        LaneXrc {
            connections: Connections::new(Process(me.into()), queues, TIMING),
            ends: Ends {
                making,
                domain,
                sends: BTreeMap::new(),
                receives: BTreeMap::new(),
            },
            begin: Instant::now(),
        }
    }

    /// Does something at this time.
    pub fn act(
        &mut self,
        actor: &Actor<'_>,
        action: impl FnOnce(&mut Connections, u64, &mut LaneHands<'_>),
    ) -> Done {
        let mut left = Vec::new();
        let mut hands = LaneHands {
            ends: &mut self.ends,
            actor,
            left: &mut left,
        };
        let now = self.begin.elapsed().as_nanos() as u64;
        action(&mut self.connections, now, &mut hands);
        Done {
            left,
            datagrams: self.connections.take_outbox(),
            events: self.connections.take_events(),
        }
    }

    /// When it is to act next.
    pub fn due(&self) -> Option<Instant> {
        let deadline = self.connections.deadline_ns()?;
        Some(self.begin + Duration::from_nanos(deadline))
    }

    /// Peers that are to be connected and have not answered.
    pub fn unanswered(&self) -> impl Iterator<Item = Peer> {
        self.connections.unanswered().map(|peer| peer.0 as Peer)
    }

    /// Receive queue pairs that this process refers to.
    pub fn receive_queue_pairs(&self) -> usize {
        self.ends.receives.len()
    }
}

/// The adapter, as the protocol asks it.
pub struct LaneHands<'a> {
    ends: &'a mut Ends,
    actor: &'a Actor<'a>,
    left: &'a mut Vec<Left>,
}

impl LaneHands<'_> {
    fn way(&self, process: Process) -> Result<Contact, NoResources> {
        (self.actor.ways)(process.0 as Peer).ok_or(NoResources)
    }
}

impl Hands for LaneHands<'_> {
    fn create_send(&mut self, host: Host) -> Result<SendQueuePair, NoResources> {
        let pair = self.ends.making.send_pair().map_err(|_| NoResources)?;
        let first_packet = psn(&random().map_err(|_| NoResources)?);
        let number = pair.number();
        let send = Send {
            pair,
            host,
            first_packet,
        };
        self.ends.sends.insert(number, send);
        Ok(SendQueuePair {
            number,
            first_packet,
        })
    }

    fn connect_send(&mut self, send: u32, peer: Process, receive: u32) -> Result<(), NoResources> {
        let way = self.way(peer)?;
        let send = self.ends.sends.remove(&send).ok_or(NoResources)?;
        let to = (receive, 0);
        let Actor { adapter, .. } = self.actor;
        let to = adapter.connection(way.to(), send.first_packet, to, way.timeout);
        send.pair.connect(&to).map_err(|_| NoResources)?;
        self.left.push(Left::Send {
            pair: send.pair,
            host: send.host.0,
        });
        Ok(())
    }

    fn destroy_send(&mut self, send: u32) {
        if self.ends.sends.remove(&send).is_none() {
            self.left.push(Left::Gone(send));
        }
    }

    fn create_receive(&mut self, sender: Process, send: SendQueuePair) -> Result<u32, NoResources> {
        let way = self.way(sender)?;
        let pair = XrcReceiveQueuePair::new(&self.ends.domain).map_err(|_| NoResources)?;
        let Actor { adapter, .. } = self.actor;
        let from = (send.number, send.first_packet);
        let connection = adapter.connection(way.to(), 0, from, way.timeout);
        pair.connect(&connection).map_err(|_| NoResources)?;
        Ok(self.keep(sender, &way, pair))
    }

    fn open_receive(&mut self, sender: Process, send: u32, receive: u32) -> Result<(), OpenError> {
        let way = self.way(sender).map_err(|_| OpenError::NoResources)?;
        let pair = XrcReceiveQueuePair::open(&self.ends.domain, receive);
        let pair = pair.map_err(|_| OpenError::Gone)?;
        let attributes = pair.query().map_err(|_| OpenError::NoResources)?;
        let is_ready = [IBV_QPS_RTR, IBV_QPS_RTS].contains(&attributes.qp_state);
        if !is_ready || attributes.dest_qp_num != send {
            return Err(OpenError::Gone);
        }
        self.keep(sender, &way, pair);
        Ok(())
    }

    fn close_receive(&mut self, receive: u32) {
        self.ends.receives.remove(&receive);
    }
}

impl LaneHands<'_> {
    /// Keeps a queue pair by which frames of `sender` come, and has the lane know before the sender does.
    fn keep(&mut self, sender: Process, way: &Contact, pair: XrcReceiveQueuePair) -> u32 {
        let receive = pair.number();
        self.ends.receives.insert(receive, pair);
        self.left.push(Left::Comes {
            peer: sender.0 as Peer,
            routes: way.routes.clone(),
            receive,
        });
        receive
    }
}
