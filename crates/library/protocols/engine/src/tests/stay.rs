//! Staying for who is at work.

use std::sync::Arc;

use weft_transport::Fabric;
use weft_transport::loopback::{Loopback, Network};

use crate::at_work::Told;
use crate::condition::Condition;
use crate::engine::Engine;
use crate::waiter::Waiter;
use crate::waiting::Pace;

/// Is met in its `met_at`-th look, and comes soon until it is asked that for the `left_at`-th time.
struct Awaited {
    looks: u32,
    met_at: u32,
    asked: u32,
    left_at: u32,
}

impl Awaited {
    fn new(met_at: u32, left_at: u32) -> Awaited {
        Awaited {
            looks: 0,
            met_at,
            asked: 0,
            left_at,
        }
    }
}

impl Condition for Awaited {
    fn met(&mut self) -> bool {
        self.looks += 1;
        self.looks >= self.met_at
    }

    fn leave_parker(&mut self, _: &Arc<Waiter>) {
        panic!("nobody sleeps in a stay");
    }

    fn comes_soon(&mut self) -> bool {
        self.asked += 1;
        self.asked < self.left_at
    }
}

const NEVER: u32 = u32::MAX;

fn engines(peers: u32) -> Vec<Engine<Loopback>> {
    let network = Network::new(1, 4, 1000);
    let engine = |me| Engine::new(network.fabric(me, peers), me, peers, Pace::SHARED, 1);
    (0..peers).map(engine).collect()
}

#[test]
fn a_stay_ends_when_it_is_met_or_the_other_waits_too() {
    let engine = &engines(1)[0];
    let stay = |met_at, left_at| {
        let mut awaited = Awaited::new(met_at, left_at);
        let mut told = Told::nothing(engine.fabric());
        let came = engine.stay(0, &mut told, &mut awaited);
        (came, awaited.looks)
    };
    assert_eq!(stay(1, NEVER), (true, 1));
    assert_eq!(stay(7, NEVER), (true, 7));
    assert_eq!(stay(7, 4), (false, 3));
    assert_eq!(stay(7, 1), (false, 0));
}

#[test]
fn after_a_stay_in_vain_some_are_left_out() {
    let engine = &engines(1)[0];
    let looks_of_one = || {
        let mut awaited = Awaited::new(NEVER, NEVER);
        let mut told = Told::nothing(engine.fabric());
        assert!(!engine.stay(0, &mut told, &mut awaited));
        awaited.looks
    };
    let looks = looks_of_one();
    assert!(looks > 1);
    for _ in 0..3 {
        let left_out = (0..100).take_while(|_| looks_of_one() == 0).count();
        assert!((1..100).contains(&left_out));
    }
}

#[test]
fn a_request_comes_soon_while_its_peer_is_at_work() {
    let pair = engines(2);
    let (mut sent, mut received, mut other) = ([3], [0], [0]);
    let id = pair[1].receive_from(0, 5, &mut received);
    assert!(pair[1].comes_soon(id));
    pair[0].fabric().set_waiting(true);
    assert!(!pair[1].comes_soon(id));
    pair[0].fabric().set_waiting(false);
    assert!(pair[1].comes_soon(id));

    let of_anybody = pair[1].receive_from(-1, 6, &mut other);
    assert!(!pair[1].comes_soon(of_anybody));

    pair[0].send_to(1, 5, &mut sent, false);
    while !pair[1].is_complete(id) {
        pair[1].progress();
    }
    pair[0].fabric().set_waiting(true);
    assert!(pair[1].comes_soon(id), "it is complete");
    pair[1].finish(id);
    pair[1].cancel(of_anybody);
    pair[1].wait(of_anybody);
}

#[test]
fn who_waits_says_so_until_it_is_over() {
    let pair = engines(2);
    let mut received = [0];
    let id = pair[1].receive_from(0, 5, &mut received);
    for _ in 0..2 {
        let mut asked = 0;
        pair[0].block_on_outside(|| {
            asked += 1;
            let waits = !pair[1].comes_soon(id);
            assert_eq!(waits, asked > 2, "asked {asked} times");
            asked == 10
        });
        assert!(pair[1].comes_soon(id));
    }
    pair[1].cancel(id);
    pair[1].wait(id);
}
