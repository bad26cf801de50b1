//! Each peer is reached by the route that is decided, on two networks inside this process.

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_transport::loopback::{Loopback, Network};
use weft_transport::{Endpoint, Fabric, Header, Lost, Peer, Refused, Sink};

use super::{Either, EitherEndpoint, Route};

type Fabrics = Either<Loopback, Loopback>;
type End = EitherEndpoint<<Loopback as Fabric>::Endpoint, <Loopback as Fabric>::Endpoint>;

#[derive(Default)]
struct Log {
    packets: Vec<(Peer, u64)>,
    writable: Vec<Peer>,
    lost: Vec<Peer>,
}

impl Sink for Log {
    fn packet(&mut self, from: Peer, header: Header, _: &[u8]) {
        self.packets.push((from, header.0[0]));
    }
    fn sent(&mut self, _: u64) {}
    fn received(&mut self, _: u64) {}
    fn writable(&mut self, peer: Peer) {
        self.writable.push(peer);
    }
    fn connect(&mut self, _: Peer) {}
    fn lost(&mut self, peer: Peer, _: &Lost) {
        self.lost.push(peer);
    }
}

/// Of three processes, 0 and 1 have the first network in common, all have the second.
struct World {
    first: Arc<Network>,
    second: Arc<Network>,
}

impl World {
    fn new() -> World {
        World {
            first: Network::on_demand(1, 8, 300),
            second: Network::on_demand(2, 8, 100),
        }
    }

    fn of(&self, me: Peer) -> Fabrics {
        let all: BTreeSet<Peer> = (0..3).collect();
        let second = self.second.part(me, all.clone());
        if me == 2 {
            return Either::second(second);
        }
        let decide = |peer| {
            if peer == 2 {
                Route::Second
            } else {
                Route::First
            }
        };
        Either::both(self.first.part(me, all), second, Box::new(decide))
    }
}

fn turns(endpoint: &mut End) -> Log {
    let mut log = Log::default();
    for _ in 0..100 {
        endpoint.poll(&mut log);
    }
    log
}

fn send(endpoint: &mut End, peer: Peer, bytes: usize) -> Result<(), Refused> {
    endpoint.send(peer, Header([peer.into(), 0]), &vec![7; bytes], true)
}

#[test]
fn a_way_is_decided_when_it_is_needed_and_used_from_then_on() {
    let world = World::new();
    let fabrics = [0, 1, 2].map(|me| world.of(me));
    let mut lanes = fabrics.each_ref().map(|fabric| fabric.endpoint(0));
    for peer in [1, 2] {
        let mut tries = 0;
        while send(&mut lanes[0], peer, 10) == Err(Refused::Connecting) {
            tries += 1;
            fabrics[0].connect(peer);
            assert!(turns(&mut lanes[0]).writable.contains(&peer));
        }
        // Once to decide, and once for the link where its making has to be asked for.
        assert!((1..=2).contains(&tries));
        let came = turns(&mut lanes[peer as usize]).packets;
        assert_eq!(came, [(0, peer.into())]);
    }
    assert_eq!(
        (lanes[0].eager_limit(1), lanes[0].eager_limit(2)),
        (300, 100)
    );
}

/// Who was sent to has a route back, and its throttle arrives, before anything is decided.
#[test]
fn whoever_is_sent_to_knows_the_way_back() {
    let world = World::new();
    let fabrics = [0, 1].map(|me| world.of(me));
    let mut lanes = fabrics.each_ref().map(|fabric| fabric.endpoint(0));
    for _ in 0..2 {
        let _ = send(&mut lanes[0], 1, 1);
        fabrics[0].connect(1);
        turns(&mut lanes[0]);
    }
    send(&mut lanes[0], 1, 1).unwrap();
    turns(&mut lanes[1]);
    lanes[1].throttle(0, true);
    assert_eq!(send(&mut lanes[0], 1, 1), Err(Refused::Throttled));
}

#[test]
fn a_peer_without_a_way_can_be_ended() {
    let world = World::new();
    let fabric = world.of(0);
    let mut lane = fabric.endpoint(0);
    assert_eq!(send(&mut lane, 1, 1), Err(Refused::Connecting));
    lane.end(1, &Lost("given up".into()));
    let log = turns(&mut lane);
    assert_eq!((log.lost, log.writable), (vec![1], vec![]));
    assert_eq!(send(&mut lane, 1, 1), Err(Refused::Lost));
}
