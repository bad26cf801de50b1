//! UC and UD: what arrives is right, what is lost is lost quietly.

use super::pair::{ADDRESSES, Pair, QPNS, Settings, local, pattern, read, send, work, write};
use super::side::{KEY, MEMORY, SHARED, Side};
use crate::batch::Arrival;
use crate::datagram::{self, Address, Sender};
use crate::host::*;
use crate::packet::{Route, Service, View};
use crate::{Batch, Injection, Operation};

const SECOND: u64 = 1_000_000_000;

fn uc() -> Settings {
    Settings {
        service: Service::Unreliable,
        ..Settings::default()
    }
}

#[test]
fn uc_on_a_perfect_wire() {
    let mut pair = Pair::new(uc());
    pattern(&mut pair.sides[0], 0, 5000, 3);
    pair.sides[1].post_receive(1, 7000, 5000);
    pair.sides[1].post_receive(2, 0, 0);
    pair.post(0, work(0, send(), local(0, 5000)));
    let operation = Operation::Write {
        address: SHARED,
        rkey: KEY,
        immediate: Some(9),
    };
    pair.post(0, work(1, operation, local(0, 5000)));
    pair.post(0, work(2, write(SHARED + 5000), local(0, 0)));
    pair.run(SECOND);
    assert_eq!(pair.sides[0].sends_done.len(), 3);
    assert_eq!(pair.sent[1], 0);
    assert_eq!(
        pair.sides[1].bytes(7000, 5000),
        pair.sides[0].bytes(0, 5000)
    );
    assert_eq!(
        pair.sides[1].bytes(SHARED, 5000),
        pair.sides[0].bytes(0, 5000)
    );
    let tokens: Vec<u64> = pair.sides[1].receives_done.iter().map(|r| r.0).collect();
    assert_eq!(tokens, [1, 2]);
}

#[test]
fn uc_delivers_whole_messages_in_order_or_not_at_all() {
    let mut lost = 0;
    for seed in 0..40 {
        let mut pair = Pair::new(Settings {
            injection: Injection {
                loss: 0.05,
                duplicate: 0.05,
                reorder: 0.05,
                seed,
                ..Injection::default()
            },
            ..uc()
        });
        for token in 0..50u64 {
            let address = token * 2000;
            pattern(&mut pair.sides[0], address, 2000, token + 1);
            pair.sides[1].post_receive(token, 200_000 + token * 2000, 2000);
            // The length tells which one it is.
            pair.post(0, work(token, send(), local(address, 1000 + token as u32)));
        }
        pair.run(SECOND);
        assert_eq!(pair.sides[0].sends_done.len(), 50);
        let mut before = None;
        for (index, (token, done)) in pair.sides[1].receives_done.iter().enumerate() {
            assert_eq!(*token, index as u64, "receive requests are used in order");
            assert_eq!(done.status, Status::Success);
            let number = u64::from(done.bytes) - 1000;
            assert!(before.is_none_or(|before| before < number), "seed {seed}");
            before = Some(number);
            let length = done.bytes as usize;
            assert_eq!(
                pair.sides[1].bytes(200_000 + token * 2000, length),
                pair.sides[0].bytes(number * 2000, length)
            );
        }
        lost += 50 - pair.sides[1].receives_done.len();
        assert!(pair.sides[1].faults.is_empty());
    }
    assert!((100..1500).contains(&lost), "{lost} of 2000 lost");
}

#[test]
fn uc_drops_what_may_not_be_written_and_cannot_read() {
    let mut pair = Pair::new(uc());
    pair.post(0, work(0, write(MEMORY - 10), local(0, 1000)));
    pair.post(0, work(1, write(SHARED), local(0, 1000)));
    pair.post(0, work(2, read(SHARED), local(0, 1000)));
    pair.run(SECOND);
    let done: Vec<_> = pair.sides[0].sends_done.iter().map(|d| d.status).collect();
    assert_eq!(
        done,
        [Status::Success, Status::Success, Status::LocalQpOperation]
    );
    assert!(pair.sides[1].faults.is_empty());
    assert_eq!(pair.sides[1].bytes(MEMORY - 10, 10), [0xbb; 10]);
    assert_eq!(pair.sides[1].bytes(SHARED, 1000), [0xaa; 1000]);
}

/// Sends one datagram from a side to the other, whose queue pair has this Q_Key.
fn datagram(
    length: u32,
    immediate: Option<u32>,
    receiver_qkey: u32,
    sides: &mut [Side; 2],
) -> Status {
    let mut batch = Batch::new();
    let address = Address {
        local: ADDRESSES[0],
        remote: ADDRESSES[1],
        port: crate::UDP_PORT,
        remote_qpn: QPNS[1],
        qkey: 0x1111_1111,
    };
    let mut sender = Sender::new(QPNS[0], 0xff_ffff, 1024);
    let [from, to] = sides;
    let status = sender.send(
        &address,
        &local(0, length),
        immediate,
        true,
        &mut batch,
        from,
    );
    for (_, bytes) in batch.iter() {
        let view = View::parse(bytes).unwrap();
        let arrival = Arrival {
            route: Route {
                source: ADDRESSES[0],
                destination: ADDRESSES[1],
                source_port: 4791,
                destination_port: 4791,
            },
            type_of_service: 4,
            time_to_live: 63,
        };
        datagram::receive(receiver_qkey, &arrival, &view, to);
    }
    status
}

#[test]
fn ud_brings_payload_sender_and_header() {
    let mut sides = [Side::new(1), Side::new(2)];
    pattern(&mut sides[0], 0, 1024, 8);
    for (length, immediate) in [(1024, Some(3)), (0, None), (13, None)] {
        let [_, to] = &mut sides;
        to.receives_done.clear();
        to.post_receive(9, 5000, 1064);
        let status = datagram(length, immediate, 0x1111_1111, &mut sides);
        assert_eq!(status, Status::Success);
        let to = &sides[1];
        let (token, done) = to.receives_done[0];
        assert_eq!((token, done.status), (9, Status::Success));
        assert_eq!(done.bytes, length + 40);
        assert_eq!(done.source_qpn, QPNS[0]);
        assert!(done.solicited);
        let expected = immediate.map_or(Immediate::None, Immediate::Data);
        assert_eq!(done.immediate, expected);
        assert_eq!(
            to.bytes(5040, length as usize),
            sides[0].bytes(0, length as usize)
        );
        let ip = &to.bytes(5000, 40)[20..];
        assert_eq!(to.bytes(5000, 20), [0; 20]);
        assert_eq!((ip[0], ip[1], ip[8], ip[9]), (0x45, 4, 63, 17));
        assert_eq!(ip[12..16], ADDRESSES[0].octets());
        assert_eq!(ip[16..20], ADDRESSES[1].octets());
        let words = ip.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
        let sum: u32 = words.sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "header checksum");
    }
}

#[test]
fn ud_drops_other_keys_and_what_finds_no_receive_request() {
    let mut sides = [Side::new(1), Side::new(2)];
    sides[1].post_receive(9, 0, 1064);
    let status = datagram(100, None, 0x2222_2222, &mut sides);
    assert_eq!(status, Status::Success);
    assert!(sides[1].receives_done.is_empty());
    assert_eq!(sides[1].receives.len(), 1);
    sides[1].receives.clear();
    datagram(100, None, 0x1111_1111, &mut sides);
    assert!(sides[1].receives_done.is_empty());
    assert!(sides[1].faults.is_empty());
}

#[test]
fn ud_messages_have_one_packet_and_fit_into_their_receive_request() {
    let mut sides = [Side::new(1), Side::new(2)];
    let status = datagram(1025, None, 0x1111_1111, &mut sides);
    assert_eq!(status, Status::LocalLength);
    sides[1].post_receive(9, 0, 139);
    datagram(100, None, 0x1111_1111, &mut sides);
    assert_eq!(sides[1].receives_done[0].1.status, Status::LocalLength);
    assert_eq!(sides[1].faults, [Fault::Receive]);
}
