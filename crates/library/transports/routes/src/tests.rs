//! Each call goes the peer's way, on two networks inside this process.

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_transport::loopback::{Loopback, LoopbackEndpoint, Network};
use weft_transport::tracer::{Recent, Trace};
use weft_transport::{Endpoint, Fabric, Header, Lost, Near, NearEndpoint, Peer, Refused, Sink};

use crate::{Routes, RoutesEndpoint};

type End = RoutesEndpoint<LoopbackEndpoint, Loopback>;

/// What a lane was told.
#[derive(Debug, Default, PartialEq)]
struct Log {
    packets: Vec<(Peer, u64, Vec<u8>)>,
    writable: Vec<Peer>,
    lost: Vec<Peer>,
}

impl Sink for Log {
    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]) {
        self.packets.push((from, header.0[0], payload.to_vec()));
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

/// Processes 0 and 1 share a host, 2 is on another.
struct World {
    near: Arc<Network>,
    far: Arc<Network>,
}

impl World {
    fn new() -> World {
        World {
            near: Network::on_demand(1, 8, 100),
            far: Network::on_demand(2, 8, 300),
        }
    }

    fn routes(&self, me: Peer) -> Routes<Loopback, Loopback> {
        let (here, there): (BTreeSet<Peer>, BTreeSet<Peer>) =
            (0..3).partition(|&peer| (peer < 2) == (me < 2));
        Routes::new(self.near.part(me, here), Some(self.far.part(me, there)))
    }
}

fn turns(endpoint: &mut End) -> Log {
    let mut log = Log::default();
    for _ in 0..500 {
        endpoint.poll(&mut log);
    }
    log
}

fn send(endpoint: &mut End, peer: Peer, bytes: usize) -> Result<(), Refused> {
    endpoint.send(peer, Header([peer.into(), 0]), &vec![7; bytes], false)
}

#[test]
fn a_link_is_made_and_used_on_the_way_to_the_peer() {
    let world = World::new();
    let fabrics = [0, 1, 2].map(|me| world.routes(me));
    let mut lanes = fabrics.each_ref().map(|fabric| fabric.endpoint(0));
    for peer in [1, 2] {
        assert_eq!(send(&mut lanes[0], peer, 10), Err(Refused::Connecting));
        fabrics[0].connect(peer);
        assert_eq!(turns(&mut lanes[0]).writable, [peer]);
        send(&mut lanes[0], peer, 10).unwrap();
        assert_eq!(fabrics[peer as usize].signalled(), 1);
        let came = turns(&mut lanes[peer as usize]).packets;
        assert_eq!(came, [(0, peer.into(), vec![7; 10])]);
    }
}

#[test]
fn limits_are_the_way_s() {
    let world = World::new();
    let fabric = world.routes(0);
    let mut lane = fabric.endpoint(0);
    assert_eq!((lane.eager_limit(1), lane.eager_limit(2)), (100, 300));
    const { assert!(End::EAGER_TO_ALL == LoopbackEndpoint::EAGER_TO_ALL) };
    fabric.connect(2);
    send(&mut lane, 2, 300).unwrap();
}

#[test]
fn what_is_written_in_place_is_written_once_the_way_is_known() {
    let world = World::new();
    let (own, other) = (world.routes(0), world.routes(2));
    let mut lane = own.endpoint(0);
    own.connect(2);
    let mut calls = 0;
    let filled = lane.send_with(2, Header([0; 2]), 3, false, |out| {
        calls += 1;
        out.fill(9);
    });
    assert_eq!((filled, calls), (Ok(()), 1));
    assert_eq!(turns(&mut other.endpoint(0)).packets[0].2, [9; 3]);
}

#[test]
fn a_loss_is_told_by_the_way_to_the_peer() {
    let world = World::new();
    let fabric = world.routes(0);
    let mut lane = fabric.endpoint(0);
    for peer in [1, 2] {
        lane.expect(peer, false).unwrap();
    }
    world.far.kill(2);
    assert_eq!(turns(&mut lane).lost, [2]);
    assert_eq!(send(&mut lane, 2, 1), Err(Refused::Lost));
    lane.end(1, &Lost("given up".into()));
    assert_eq!(turns(&mut lane).lost, [1]);
    assert_eq!(send(&mut lane, 1, 1), Err(Refused::Lost));
}

#[test]
fn a_throttle_reaches_the_peer() {
    let world = World::new();
    let (own, other) = (world.routes(0), world.routes(2));
    let (mut lane, mut other) = (own.endpoint(0), other.endpoint(0));
    own.connect(2);
    for (on, expected) in [(true, Err(Refused::Throttled)), (false, Ok(()))] {
        other.throttle(0, on);
        assert_eq!(lane.send(2, Header([0; 2]), &[], true), expected);
    }
}

#[test]
fn without_others_there_is_no_far_part() {
    let network = Network::new(1, 8, 100);
    let both = [0, 1].map(|me| Routes::<_, Loopback>::new(network.fabric(me, 2), None));
    let mut lanes = both.each_ref().map(|routes| routes.endpoint(0));
    assert!(both[0].far().is_none() && both[0].near().reaches(1));
    send(&mut lanes[0], 1, 5).unwrap();
    assert_eq!(turns(&mut lanes[1]).packets.len(), 1);
    assert_eq!(lanes[0].eager_limit(1), 100);
}

/// By both ways, and neither the messages nor what the fabric itself answers are others.
#[test]
fn a_traced_process_tells_what_it_does() {
    let world = World::new();
    let lines = Recent::new(20);
    let trace = Trace::new(
        0,
        |header, payload| vec![format!("{} {}", header.0[0], payload.len())],
        lines.clone(),
    );
    let nobody = Network::new(3, 8, 100).part(0, BTreeSet::from([0]));
    let fabric = world.routes(0).traced(nobody, trace);
    let others = [1, 2].map(|me| world.routes(me));
    let mut lane = fabric.endpoint(0);
    for (peer, other) in [(1, &others[0]), (2, &others[1])] {
        assert_eq!(send(&mut lane, peer, 10), Err(Refused::Connecting));
        fabric.connect(peer);
        assert_eq!(turns(&mut lane).writable, [peer]);
        send(&mut lane, peer, 10).unwrap();
        let came = turns(&mut other.endpoint(0)).packets;
        assert_eq!(came, [(0, peer.into(), vec![7; 10])]);
    }
    assert!(fabric.near().reaches(1) && lane.near().reaches(1));
    assert_eq!((lane.eager_limit(1), lane.eager_limit(2)), (100, 300));
    let told: Vec<String> = lines
        .lines()
        .iter()
        .map(|line| line.splitn(5, ' ').nth(4).unwrap().to_owned())
        .collect();
    let of_peer = |peer: Peer| {
        [
            format!("lane=0 -- {peer} waits for a link"),
            format!("lane=- -- {peer} connect"),
            format!("lane=0 -- {peer} writable"),
            format!("lane=0 -> {peer} {peer} 10"),
        ]
    };
    assert_eq!(told, [of_peer(1), of_peer(2)].concat());
}
