use weft_transport::{Endpoint, Fabric, Refused};

use crate::world::{Log, Process, linked_pair, turn, world};

/// Turns one lane more, of a process that is alone by now.
fn turn_lane(process: &mut Process, endpoint: &mut impl Endpoint, log: &mut Log) {
    turn(&mut [process], |_| {
        endpoint.poll(log);
        endpoint.flush();
        !log.lost.is_empty()
    });
}

#[test]
fn one_connection_watches_a_peer_for_all_lanes() {
    let (mut a, mut b) = linked_pair();
    let (mut second, mut log) = (a.fabric.endpoint(1), Log::default());
    assert_eq!(second.expect(1, false), Ok(()));
    a.fabric.connect(1);
    assert_eq!(a.fabric.pending(), 0, "a connection is being made");
    b.endpoint.die();
    turn_lane(&mut a, &mut second, &mut log);
    assert_eq!(log.lost[&1], "rank 1 is lost: its process has ended");
}

#[test]
fn two_lanes_that_expect_a_peer_have_one_connection_made() {
    let mut all = world(2);
    let mut b = all.pop().unwrap();
    let mut a = all.pop().unwrap();
    let (mut second, mut log) = (a.fabric.endpoint(1), Log::default());
    let first = a.try_to(1, |lane| lane.expect(1, false));
    assert_eq!(first, Err(Refused::Connecting));
    assert_eq!(second.expect(1, true), Ok(()));
    turn(&mut [&mut a, &mut b], |all| all[0].log.writable == [1]);
    second.poll(&mut log);
    assert_eq!((a.fabric.counters().links, a.fabric.pending()), (1, 0));
    // What a lane has to send goes over one of its own.
    let sent = second.send(1, Default::default(), &[], true);
    assert_eq!(sent, Err(Refused::Connecting));
}

#[test]
fn who_has_left_is_lost_to_a_lane_without_a_connection() {
    let (mut a, b) = linked_pair();
    let (mut second, mut log) = (a.fabric.endpoint(1), Log::default());
    drop(b);
    turn(&mut [&mut a], |_| {
        let _ = second.expect(1, false);
        second.poll(&mut log);
        !log.lost.is_empty()
    });
    assert_eq!(log.lost[&1], "rank 1 is lost: its process has finished");
    assert_eq!(second.expect(1, false), Err(Refused::Lost));
}

#[test]
fn what_one_lane_was_sent_comes_though_another_finds_that_its_sender_has_left() {
    let (mut a, mut b) = linked_pair();
    let (mut second, mut log) = (a.fabric.endpoint(1), Log::default());
    let mut sender = b.fabric.endpoint(1);
    let mut its_log = Log::default();
    assert_eq!(
        sender.send(0, Default::default(), b"last", true),
        Err(Refused::Connecting)
    );
    b.fabric.connect(0);
    // The second lane of `a` does not look meanwhile.
    turn(&mut [&mut a, &mut b], |_| {
        sender.poll(&mut its_log);
        its_log.writable == [0]
    });
    sender
        .send(0, Default::default(), b"last", true)
        .expect("a connection");
    sender.flush();
    drop((sender, b));
    // The first hears the goodbye.
    for _ in 0..200 {
        a.poll();
    }
    assert_eq!(a.endpoint.expect(1, false), Err(Refused::Lost));
    turn_lane(&mut a, &mut second, &mut log);
    assert_eq!(log.packets.pop_front().expect("a packet").2, b"last");
}
