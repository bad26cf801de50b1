//! What a trace tells of each protocol: the lines that people read, whose form `docs/finding-faults.md` promises.

use weft_transport::loopback::Network;
use weft_transport::tracer::Recent;
use weft_transport::{Header, Peer};
use weft_wire::{Packet, PacketKind};

use super::{Traced, engines_telling, settle};
use crate::{Engine, describe_packet};

const LIMIT: usize = 1000;
const LONG: usize = 5000;

/// The lines of what `exchange` does, without what differs from run to run: the time, and which numbers requests have.
fn lines_of(
    network_of: impl Fn() -> std::sync::Arc<Network>,
    exchange: impl Fn(&[Engine<Traced>]),
) -> Vec<String> {
    let lines = Recent::new(100);
    exchange(&engines_telling(&network_of(), 2, &lines));
    lines.lines().iter().map(|line| plain(line)).collect()
}

fn plain(line: &str) -> String {
    let words = line.strip_prefix("weft: trace ").expect("of a trace");
    let (seconds, words) = words.split_once(' ').expect("a time and more");
    assert!(seconds.parse::<f64>().is_ok() && seconds.split('.').nth(1).unwrap().len() == 6);
    let word = |word: &str| match word.split_once("=0x") {
        Some((name, number)) => {
            assert!(u64::from_str_radix(number, 16).is_ok());
            name.to_owned()
        }
        None => word.to_owned(),
    };
    let words: Vec<String> = words.split(' ').map(word).collect();
    words.join(" ")
}

fn at_once() -> std::sync::Arc<Network> {
    Network::new(1, 64, LIMIT)
}

fn exchange(bytes: usize, synchronous: bool) -> impl Fn(&[Engine<Traced>]) {
    move |pair| {
        let (mut data, mut got) = (vec![1; bytes], vec![0; LONG]);
        let receive = pair[1].receive_from(0, 5, &mut got);
        let send = pair[0].send_to(1, 5, &mut data, synchronous);
        settle(pair, 1, receive);
        settle(pair, 0, send);
    }
}

#[test]
fn each_protocol_has_its_lines() {
    assert_eq!(
        lines_of(at_once, exchange(8, false)),
        [
            "rank=0 lane=0 -> 1 eager context=8 source=0 tag=5 bytes=8",
            "rank=1 lane=0 <- 0 eager context=8 source=0 tag=5 bytes=8",
        ]
    );
    assert_eq!(
        lines_of(at_once, exchange(8, true)),
        [
            "rank=0 lane=0 -> 1 eager context=8 source=0 tag=5 bytes=8 sender synchronous",
            "rank=1 lane=0 <- 0 eager context=8 source=0 tag=5 bytes=8 sender synchronous",
            "rank=1 lane=0 -> 0 Ack sender",
            "rank=0 lane=0 <- 1 Ack sender",
        ]
    );
    assert_eq!(
        lines_of(at_once, exchange(LONG, false)),
        [
            "rank=0 lane=0 -> 1 bulk-open sender bytes=5000",
            "rank=0 lane=0 -> 1 RTS context=8 source=0 tag=5 bytes=5000 sender",
            "rank=1 lane=0 <- 0 RTS context=8 source=0 tag=5 bytes=5000 sender",
            "rank=1 lane=0 <- 0 bulk-take receiver bytes=5000 room=5000",
            "rank=1 lane=0 <- 0 bulk-received receiver",
            "rank=0 lane=0 -> 1 bulk-sent sender",
        ]
    );
}

#[test]
fn a_link_that_is_made_and_a_peer_that_is_lost_have_theirs() {
    let on_demand = || Network::on_demand(1, 64, LIMIT);
    assert_eq!(
        lines_of(on_demand, exchange(8, false))[..4],
        [
            "rank=0 lane=0 -- 1 waits for a link",
            "rank=0 lane=- -- 1 connect",
            "rank=0 lane=0 -- 1 writable",
            "rank=0 lane=0 -> 1 eager context=8 source=0 tag=5 bytes=8",
        ]
    );
    let network = at_once();
    let lines = lines_of(
        || network.clone(),
        |pair| {
            let receive = pair[1].receive_from(0, 5, &mut [0; 8]);
            network.kill(0);
            settle(pair, 1, receive);
        },
    );
    let [line] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(
        line.starts_with("rank=1 lane=0 -- 0 lost: rank 0 "),
        "{line}"
    );
}

/// What was not taken has no line but one, and what then goes in one packet has a line for each message too.
#[test]
fn an_aggregate_tells_what_it_holds() {
    let network = || Network::new(1, 1, LIMIT);
    let lines = lines_of(network, |pair| {
        let mut data = [1; 8];
        let sends: Vec<_> = (0..4)
            .map(|tag| pair[0].send_to(1, tag, &mut data, false))
            .collect();
        for tag in 0..4 {
            let receive = pair[1].receive_from(0, tag, &mut [0; 8]);
            settle(pair, 1, receive);
        }
        for send in sends {
            settle(pair, 0, send);
        }
    });
    let of_sender: Vec<_> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("rank=0 lane=0 "))
        .collect();
    assert_eq!(
        of_sender,
        [
            "-> 1 eager context=8 source=0 tag=0 bytes=8",
            "-- 1 waits for room",
            "-- 1 writable",
            "-> 1 aggregate messages=3 bytes=96",
            "-> 1 eager context=8 source=0 tag=1 bytes=8 aggregated",
            "-> 1 eager context=8 source=0 tag=2 bytes=8 aggregated",
            "-> 1 eager context=8 source=0 tag=3 bytes=8 aggregated",
        ]
    );
}

#[test]
fn a_cancelled_send_tells_whether_it_was_in_time() {
    let lines = lines_of(at_once, |pair| {
        let mut data = [1; LONG];
        let send = pair[0].send_to(1, 5, &mut data, false);
        for _ in 0..10 {
            pair[1].progress();
        }
        pair[0].cancel(send);
        settle(pair, 0, send);
    });
    assert_eq!(
        lines[3..],
        [
            "rank=0 lane=0 -> 1 cancel sender",
            "rank=1 lane=0 <- 0 cancel sender",
            "rank=1 lane=0 -> 0 cancelled sender forgotten",
            "rank=0 lane=0 <- 1 cancelled sender forgotten",
            "rank=0 lane=0 -> 1 bulk-cancel sender",
        ]
    );
}

/// A packet that comes from a peer that lies, of any kind, too short or of no kind.
#[test]
fn nonsense_is_told_as_such() {
    let packet = |kind| Header(Packet::control(kind).words());
    for kind in [
        PacketKind::Rts,
        PacketKind::RtsOnly,
        PacketKind::Cts,
        PacketKind::Data,
        PacketKind::Ack,
        PacketKind::Cancel,
        PacketKind::Cancelled,
        PacketKind::Aggregate,
        PacketKind::Failed,
        PacketKind::Enquiry,
        PacketKind::Answer,
    ] {
        let texts = describe_packet(packet(kind), &[1; 7]);
        assert!(
            texts.len() == 1 && texts[0].starts_with("nonsense header=0x"),
            "{kind:?}: {texts:?}"
        );
        assert!(texts[0].ends_with(" bytes=7"));
    }
    let none = Header([u64::MAX, 0]);
    assert!(describe_packet(none, &[])[0].starts_with("nonsense header=0xffffffffffffffff,"));
}

/// Whoever reads lines may rely on what follows the peer: a kind, then words of the form `name=value`.
#[test]
fn every_line_of_a_message_names_its_peer() {
    let peers: Vec<Peer> = lines_of(at_once, exchange(LONG, true))
        .iter()
        .map(|line| line.split(' ').nth(3).unwrap().parse().unwrap())
        .collect();
    assert_eq!(peers.len(), 8);
}
