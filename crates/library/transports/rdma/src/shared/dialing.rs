//! How links are asked for, and what they are made of.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_kernel::Interest;
use weft_pools::PoolKind;
use weft_transport::Peer;
use weft_transport::endings::lost;

use super::{Descriptor, RAIL_SHIFT, Shared};
use crate::adapter::{Unusable, unusable};
use crate::address::Contact;
use crate::card::Card;
use crate::handshake::Refusal;
use crate::left::{Left, Name};
use crate::parts::{MadePair, Making};
use crate::place::PortAddress;
use crate::pool_pair::selected;
use crate::receive_queue::ReceiveQueue;
use crate::routes::{Known, Route, pairs};
use crate::setup::pool_pairs;

impl Shared {
    /// A lane needs a link: [`connect`](Self::connect) asks for it.
    pub fn want(&self, peer: Peer, lane: u32) {
        self.watching.connects(peer);
        self.wants.enter().push((peer, lane));
    }

    /// Asks for the links to `peer` that lanes wait for. Asks the launcher, and waits for nobody else.
    pub fn connect(&self, peer: Peer) {
        let _making = self.making.enter();
        (0..self.rails.len()).for_each(|rail| self.serve_xrc(rail));
        let wants: Vec<Name> = self
            .wants
            .enter()
            .extract_if(.., |name| name.0 == peer)
            .collect();
        for name in wants {
            if self.endings.find(peer).is_some() {
                return;
            }
            if let Err(why) = self.dial(name) {
                self.lose(peer, lost(peer, why), true);
            }
        }
    }

    /// Asks for a link by all rails that lead to the peer.
    fn dial(&self, name: Name) -> Result<(), Unusable> {
        let routes = self.known(name.0)?.routes;
        for route in &*routes {
            let on = &self.rails[route.rail];
            let dialed = match routes.len() > 1 && on.is_down.load(Ordering::Acquire) {
                true => Err(unusable(format_args!("{} is down", on.adapter.name()))),
                false => self.dial_by(route.rail, name),
            };
            if let Err(why) = dialed {
                self.no_way(route.rail, name, why.to_string());
            }
        }
        Ok(())
    }

    fn dial_by(&self, rail: usize, name: Name) -> Result<(), Unusable> {
        let on = &self.rails[rail];
        let way = self.way(rail, name.0)?;
        let pools = selected(&way.card.pools, on.adapter.reach(&way.card, way.port));
        if pools.iter().any(|pool| pool.kind == PoolKind::Xrc) {
            self.dial_over_xrc(rail, name, &way.card)?;
        }
        let is_connected = pools.iter().any(|pool| pool.kind != PoolKind::Xrc);
        if !is_connected || on.setup.enter().knows(name) {
            return Ok(());
        }
        let pairs = self.queue_pairs(rail, name.1, &way)?;
        let mut setup = on.setup.enter();
        setup.dial(name, pairs, way, &self.identity)
    }

    /// A peer's card, and the rails that lead to it; found once. Inside `making`.
    pub(super) fn known(&self, peer: Peer) -> Result<Known, Unusable> {
        if let Some(known) = self.known.enter().get(&peer) {
            return Ok(known.clone());
        }
        let line = self.directory.card(peer).map_err(unusable)?;
        let card = Card::parse(&line)
            .ok_or_else(|| unusable(format_args!("its card is none of rdma: {line}")))?;
        let routes = self.routes(peer, &card);
        if routes.is_empty() {
            let what = "its adapter is on another kind of network than this process's";
            return Err(unusable(what));
        }
        let (card, routes) = (Arc::new(card), routes.into());
        let known = Known { card, routes };
        self.known.enter().insert(peer, known.clone());
        Ok(known)
    }

    /// The rails that lead to a peer, in an order that both ends find.
    fn routes(&self, peer: Peer, card: &Card) -> Vec<Route> {
        let own: Vec<PortAddress> = self.rails.iter().map(|rail| rail.adapter.place).collect();
        let theirs = card.places();
        let pairs = match self.identity.rank < peer {
            true => pairs(&own, &theirs),
            false => pairs(&theirs, &own)
                .into_iter()
                .map(|(port, rail)| (rail, port))
                .collect(),
        };
        let route = |(rail, port): (usize, usize)| Route {
            rail,
            port,
            pools: selected(&card.pools, self.rails[rail].adapter.reach(card, port)),
        };
        pairs.into_iter().map(route).collect()
    }

    /// The way to a peer by a rail; found once. Inside `making`.
    pub(super) fn way(&self, rail: usize, peer: Peer) -> Result<Contact, Unusable> {
        let on = &self.rails[rail];
        if let Some(way) = on.ways.enter().get(&peer) {
            return Ok(way.clone());
        }
        let known = self.known(peer)?;
        let route = known.routes.iter().find(|route| route.rail == rail);
        let port = route.map(|route| route.port);
        let port = port.ok_or_else(|| unusable("this adapter does not lead there"))?;
        // All rails one after the other take no longer than the time that the user gives.
        let timeout = self.identity.timeout;
        let timeout = timeout.map(|timeout| timeout / known.routes.len() as u32);
        let way = on.setup.enter().way(&on.adapter, &known, port, timeout)?;
        on.ways.enter().insert(peer, way.clone());
        Ok(way)
    }

    /// The way to a peer that asks by a rail; none if that does not lead there, or the peer has no card, which loses it.
    pub(super) fn way_of_asker(&self, rail: usize, peer: Peer) -> Option<Contact> {
        match self.known(peer) {
            Ok(_) => self.way(rail, peer).ok(),
            Err(why) => {
                self.lose(peer, lost(peer, why), true);
                None
            }
        }
    }

    /// A link is not to be had by a rail. Where that is the only one, the peer is lost.
    pub(super) fn no_way(&self, rail: usize, name: Name, why: String) {
        let known = self.known.enter().get(&name.0).cloned();
        match known {
            Some(known) if known.routes.len() > 1 => {
                let (peer, routes) = (name.0, known.routes);
                self.leave(name.1, rail, Left::NoWay { peer, routes, why });
            }
            _ => drop(self.lose(name.0, lost(name.0, why), true)),
        }
    }

    pub(super) fn refused(&self, rail: usize, name: Name, why: Refusal) {
        match why {
            Refusal::Ended => drop(self.lose(name.0, lost(name.0, why), true)),
            why => self.no_way(rail, name, why.to_string()),
        }
    }

    /// Queue pairs of a lane's to a peer. The lane's parts, and its receive queues, are made with the first that need them. Inside
    /// `making`. Out of line, as other steps of connecting need stack too.
    #[inline(never)]
    pub(super) fn queue_pairs(
        &self,
        rail: usize,
        lane: u32,
        way: &Contact,
    ) -> Result<Vec<MadePair>, Unusable> {
        let making = self.parts(rail, lane)?;
        let mut made = Vec::new();
        let pools = pool_pairs(way, &self.rails[rail].adapter);
        let pairs = making.queue_pairs(&pools, &mut made);
        self.leave_queues(rail, lane, made);
        pairs
    }

    pub(super) fn leave_queues(&self, rail: usize, lane: u32, made: Vec<ReceiveQueue>) {
        let queues = made.into_iter().map(Left::Queue);
        queues.for_each(|queue| self.leave(lane, rail, queue));
    }

    /// The parts that a lane's links by a rail are made in; they are made with the first link. Inside `making`.
    pub(super) fn parts(&self, rail: usize, lane: u32) -> Result<Arc<Making>, Unusable> {
        let known = self.lanes[lane as usize].making.enter()[rail].clone();
        match known {
            Some(making) => Ok(making),
            None => self.make(rail, lane),
        }
    }

    fn make(&self, rail: usize, lane: u32) -> Result<Arc<Making>, Unusable> {
        let (making, memory) = Making::new(&self.rails[rail].adapter, lane)?;
        let making = Arc::new(making);
        let channel = Descriptor(making.channel.descriptor());
        let poller = &self.identity.poller;
        let token = u64::from(lane) | (rail as u64) << RAIL_SHIFT;
        poller
            .add(&channel, token, Interest::Reading)
            .map_err(unusable)?;
        self.lanes[lane as usize].making.enter()[rail] = Some(making.clone());
        self.leave(lane, rail, Left::Parts(making.clone(), memory));
        Ok(making)
    }
}
