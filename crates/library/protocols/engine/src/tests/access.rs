//! Accesses to exposed memory, against a copy of it.

use weft_transport::loopback::Network;
use weft_transport::{Direction, Fabric};

use super::{CONTEXT, engines, memory, settle};
use crate::{AccessTarget, Failure};

const BYTES: usize = 5000;

/// As a generator of numbers below `bound`.
fn below(random: &mut u64, bound: usize) -> usize {
    *random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
    (*random >> 33) as usize % bound
}

#[test]
fn what_is_written_is_there_and_what_is_read_is_here_without_a_turn_of_the_owner() {
    let network = Network::on_demand(3, 4, 200);
    let engines = engines(&network, 2);
    let mut window = vec![0; BYTES];
    let mut expected = window.clone();
    let exposure = engines[1].fabric().expose(0, memory(&mut window)).unwrap();
    assert!(engines[0].fabric().reaches_exposed(1));
    let mut random = 9;
    for round in 0..200 {
        let bytes = 1 + below(&mut random, 300);
        let offset = below(&mut random, BYTES - bytes);
        let direction = match round % 2 {
            0 => Direction::Write,
            _ => Direction::Read,
        };
        let mut data = vec![round as u8; bytes];
        let place = AccessTarget {
            lane: 0,
            peer: 1,
            context: CONTEXT,
            exposed: exposure.exposed,
            offset: offset as u64,
        };
        let id = engines[0]
            .access(place, direction, memory(&mut data))
            .unwrap();
        // The owner does nothing.
        let status = settle(&engines[..1], 0, id);
        assert_eq!(status.failure, None);
        let there = offset..offset + bytes;
        match direction {
            Direction::Write => expected[there].copy_from_slice(&data),
            Direction::Read => assert_eq!(data, expected[there], "{bytes} bytes at {offset}"),
        }
    }
    drop(exposure);
    assert_eq!(window, expected);
}

#[test]
fn what_is_not_exposed_any_more_loses_the_peer() {
    let network = Network::new(3, 4, 200);
    let engines = engines(&network, 2);
    let mut window = vec![0; 100];
    let exposure = engines[1].fabric().expose(0, memory(&mut window)).unwrap();
    let place = AccessTarget {
        lane: 0,
        peer: 1,
        context: CONTEXT,
        exposed: exposure.exposed,
        offset: 0,
    };
    drop(exposure);
    let mut data = [1; 8];
    let id = engines[0]
        .access(place, Direction::Write, memory(&mut data))
        .unwrap();
    assert_eq!(settle(&engines, 0, id).failure, Some(Failure::PeerLost));
}
