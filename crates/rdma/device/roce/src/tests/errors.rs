//! What goes wrong, by the completion and the event that it must give on each side.

use super::pair::{ADDRESSES, Pair, QPNS, Settings, local, pattern, read, send, work, write};
use super::side::{KEY, MEMORY, SHARED};
use crate::host::*;
use crate::packet::{Header, Opcode, PacketOperation, Reth, Route, Service, Syndrome, View};
use crate::{
    Batch, MAX_MESSAGE_BYTES, Operation, Payload, RequesterConfig, ResponderConfig, UDP_PORT, Work,
};

const SECOND: u64 = 1_000_000_000;

fn statuses(pair: &Pair, at: usize) -> Vec<Status> {
    let done = pair.sides[at].sends_done.iter();
    done.map(|done| done.status).collect()
}

/// A WRITE that succeeds, what is tried, and a SEND behind it that must be flushed.
fn attempt(settings: Settings, tried: Work) -> Pair {
    let mut pair = Pair::new(settings);
    pair.sides[1].post_receive(7, 0, 100);
    pair.post(0, work(0, write(SHARED), local(0, 600)));
    pair.post(0, tried);
    pair.post(0, work(2, send(), local(0, 8)));
    pair.run(60 * SECOND);
    pair
}

fn atomic(address: u64, rkey: u32) -> Operation {
    Operation::Atomic {
        address,
        rkey,
        atomic: Atomic::FetchAdd { add: 1 },
    }
}

#[test]
fn wrong_keys_and_ranges_are_remote_access_errors() {
    let wrong_key = KEY ^ 1;
    for operation in [
        Operation::Write {
            address: SHARED,
            rkey: wrong_key,
            immediate: None,
        },
        Operation::Write {
            address: SHARED,
            rkey: wrong_key,
            immediate: Some(1),
        },
        write(MEMORY - 999),
        write(SHARED - 1),
        write(u64::MAX - 2),
        Operation::Read {
            address: SHARED,
            rkey: wrong_key,
        },
        read(MEMORY - 999),
        read(SHARED - 1),
    ] {
        let pair = attempt(Settings::default(), work(1, operation, local(0, 1000)));
        let expected = [Status::Success, Status::RemoteAccess, Status::Flushed];
        assert_eq!(statuses(&pair, 0), expected, "{operation:?}");
        assert_eq!(pair.sides[0].faults, [Fault::Requester]);
        assert_eq!(pair.sides[1].faults, [Fault::Access]);
        assert!(pair.sides[1].receives_done.is_empty());
        assert_eq!(pair.sides[1].bytes(MEMORY - 999, 999), [0xbb; 999]);
    }
    for operation in [atomic(SHARED, wrong_key), atomic(MEMORY, KEY)] {
        let pair = attempt(Settings::default(), work(1, operation, local(0, 8)));
        let expected = [Status::Success, Status::RemoteAccess, Status::Flushed];
        assert_eq!(statuses(&pair, 0), expected, "{operation:?}");
        assert_eq!(pair.sides[1].faults, [Fault::Access]);
    }
}

#[test]
fn empty_requests_need_no_key() {
    for operation in [
        Operation::Write {
            address: 1,
            rkey: 0,
            immediate: None,
        },
        Operation::Read {
            address: 1,
            rkey: 0,
        },
    ] {
        let pair = attempt(Settings::default(), work(1, operation, local(0, 0)));
        assert_eq!(statuses(&pair, 0), [Status::Success; 3], "{operation:?}");
    }
}

#[test]
fn what_the_queue_pair_does_not_allow_is_an_invalid_request() {
    let base = Settings::default();
    let deny = |write, read, atomic| Settings {
        responder: ResponderConfig {
            write,
            read,
            atomic,
            ..base.responder
        },
        ..base
    };
    let first = |settings| {
        let mut pair = Pair::new(settings);
        let operation = match settings.responder {
            ResponderConfig { write: false, .. } => write(SHARED),
            ResponderConfig { read: false, .. } => read(SHARED),
            _ => atomic(SHARED, KEY),
        };
        pair.post(0, work(0, operation, local(0, 8)));
        pair.run(SECOND);
        pair
    };
    for settings in [
        deny(false, true, true),
        deny(true, false, true),
        deny(true, true, false),
    ] {
        let pair = first(settings);
        assert_eq!(statuses(&pair, 0), [Status::RemoteInvalidRequest]);
        assert_eq!(pair.sides[1].faults, [Fault::Request]);
        assert_eq!(pair.sides[1].bytes(SHARED, 8), [0xbb; 8]);
    }
}

#[test]
fn unaligned_atomics_are_invalid_requests() {
    let pair = attempt(
        Settings::default(),
        work(1, atomic(SHARED + 4, KEY), local(0, 8)),
    );
    let expected = [
        Status::Success,
        Status::RemoteInvalidRequest,
        Status::Flushed,
    ];
    assert_eq!(statuses(&pair, 0), expected);
    assert_eq!(pair.sides[1].faults, [Fault::Request]);
}

#[test]
fn a_message_longer_than_its_receive_request() {
    for length in [101, 257, 5000] {
        let pair = attempt(Settings::default(), work(1, send(), local(0, length)));
        let expected = [
            Status::Success,
            Status::RemoteInvalidRequest,
            Status::Flushed,
        ];
        assert_eq!(statuses(&pair, 0), expected, "{length}");
        assert_eq!(pair.sides[1].faults, [Fault::Receive]);
        let (token, done) = pair.sides[1].receives_done[0];
        assert_eq!((token, done.status), (7, Status::LocalLength));
    }
}

#[test]
fn a_receive_request_with_a_wrong_local_key() {
    let mut pair = Pair::new(Settings::default());
    pair.sides[1].post_receive(7, MEMORY - 10, 100);
    pair.post(0, work(1, send(), local(0, 100)));
    pair.run(SECOND);
    assert_eq!(statuses(&pair, 0), [Status::RemoteOperation]);
    let (_, done) = pair.sides[1].receives_done[0];
    assert_eq!(done.status, Status::LocalProtection);
    assert_eq!(pair.sides[1].faults, [Fault::Receive]);
}

#[test]
fn local_errors_end_requests_in_their_turn() {
    let wrong_key = Payload::Gather(vec![Sge {
        address: 0,
        length: 700,
        lkey: 1,
    }]);
    let far = local(MEMORY - 300, 700);
    let too_long = Payload::Gather(vec![
        Sge {
            address: 0,
            length: (MAX_MESSAGE_BYTES / 2 + 1) as u32,
            lkey: KEY,
        };
        2
    ]);
    for (operation, payload, status) in [
        (send(), wrong_key.clone(), Status::LocalProtection),
        (write(SHARED), wrong_key.clone(), Status::LocalProtection),
        (write(SHARED), far.clone(), Status::LocalProtection),
        (read(SHARED), wrong_key, Status::LocalProtection),
        (read(SHARED), far, Status::LocalProtection),
        (read(SHARED), too_long.clone(), Status::LocalLength),
        (send(), too_long, Status::LocalLength),
        (atomic(SHARED, KEY), local(0, 4), Status::LocalLength),
    ] {
        let pair = attempt(Settings::default(), work(1, operation, payload));
        let expected = [Status::Success, status, Status::Flushed];
        assert_eq!(statuses(&pair, 0), expected, "{operation:?}");
        assert_eq!(pair.sides[0].faults, [Fault::Requester]);
        assert!(pair.sides[1].faults.is_empty());
    }
}

#[test]
fn reads_without_resources_are_operation_errors() {
    let base = Settings::default();
    let settings = Settings {
        requester: RequesterConfig {
            max_rd_atomic: 0,
            ..base.requester
        },
        ..base
    };
    let pair = attempt(settings, work(1, read(SHARED), local(0, 8)));
    let expected = [Status::Success, Status::LocalQpOperation, Status::Flushed];
    assert_eq!(statuses(&pair, 0), expected);
}

#[test]
fn more_reads_than_agreed_are_an_invalid_request() {
    let base = Settings::default();
    let settings = Settings {
        requester: RequesterConfig {
            max_rd_atomic: 3,
            ..base.requester
        },
        responder: ResponderConfig {
            max_dest_rd_atomic: 2,
            ..base.responder
        },
        ..base
    };
    let mut pair = Pair::new(settings);
    for token in 0..3 {
        pair.post(0, work(token, read(SHARED), local(0, 100)));
    }
    pair.run(SECOND);
    let expected = [
        Status::Success,
        Status::Success,
        Status::RemoteInvalidRequest,
    ];
    assert_eq!(statuses(&pair, 0), expected);
}

#[test]
fn a_key_that_cannot_be_invalidated() {
    let operation = Operation::Send {
        immediate: Immediate::Invalidated(0),
    };
    let pair = attempt(Settings::default(), work(1, operation, local(0, 8)));
    let expected = [Status::Success, Status::RemoteAccess, Status::Flushed];
    assert_eq!(statuses(&pair, 0), expected);
    assert_eq!(pair.sides[1].faults, [Fault::Access]);
    let (token, done) = pair.sides[1].receives_done[0];
    assert_eq!((token, done.status), (7, Status::Flushed));
}

#[test]
fn memory_that_goes_away_while_it_is_read() {
    let mut pair = Pair::new(Settings::default());
    pattern(&mut pair.sides[1], SHARED, 100_000, 5);
    pair.post(0, work(0, read(SHARED), local(0, 100_000)));
    pair.post(0, work(1, send(), local(0, 8)));
    pair.turn();
    pair.turn();
    pair.sides[1].shared = MEMORY..MEMORY;
    pair.run(SECOND);
    assert_eq!(statuses(&pair, 0), [Status::RemoteAccess, Status::Flushed]);
    assert_eq!(pair.sides[1].faults, [Fault::Access]);
}

#[test]
fn nobody_there_costs_all_retries() {
    let base = Settings::default();
    for retry_count in [0, 1, 7] {
        let settings = Settings {
            requester: RequesterConfig {
                retry_count,
                ..base.requester
            },
            ..base
        };
        let mut pair = Pair::new(settings);
        pair.cut_link(true);
        pair.post(0, work(0, write(SHARED), local(0, 1000)));
        pair.post(0, work(1, send(), local(0, 8)));
        let start = pair.now;
        pair.run(60 * SECOND);
        assert_eq!(statuses(&pair, 0), [Status::RetryExceeded, Status::Flushed]);
        let expected = (u64::from(retry_count) + 1) * (4096 << 14);
        assert_eq!(pair.now - start, expected);
        // Work that comes later is flushed at once.
        pair.post(0, work(2, send(), local(0, 8)));
        assert_eq!(statuses(&pair, 0).last(), Some(&Status::Flushed));
    }
}

#[test]
fn a_link_that_comes_back_in_time() {
    let mut pair = Pair::new(Settings::default());
    pair.cut_link(true);
    pair.post(0, work(0, write(SHARED), local(0, 1000)));
    pair.run(300_000_000);
    assert!(pair.sides[0].sends_done.is_empty());
    pair.cut_link(false);
    pair.run(SECOND);
    assert_eq!(statuses(&pair, 0), [Status::Success]);
}

#[test]
fn without_a_time_out_it_waits_for_ever() {
    let base = Settings::default();
    let settings = Settings {
        requester: RequesterConfig {
            timeout: 0,
            ..base.requester
        },
        ..base
    };
    let mut pair = Pair::new(settings);
    pair.cut_link(true);
    pair.post(0, work(0, write(SHARED), local(0, 1000)));
    pair.run(3600 * SECOND);
    assert!(pair.sides[0].sends_done.is_empty());
    pair.cut_link(false);
    pair.run(10 * SECOND);
    assert_eq!(statuses(&pair, 0), [Status::Success]);
}

/// Gives side 1 a packet that no requester of ours makes; what it answers, and its state.
fn forged(
    kind: PacketOperation,
    payload: usize,
    edit: impl FnOnce(&mut Header),
) -> (Option<Syndrome>, Pair) {
    let mut pair = Pair::new(Settings::default());
    pair.sides[1].post_receive(7, 0, 10_000);
    let opcode = Opcode::new(Service::Reliable, kind).unwrap();
    let psn = Settings::default().psn[0];
    let mut header = Header::new(opcode, 0xffff, QPNS[1], psn);
    header.reth = Reth {
        address: SHARED,
        rkey: KEY,
        length: payload as u32,
    };
    edit(&mut header);
    let answer = deliver(&mut pair, &header, payload);
    (answer, pair)
}

fn deliver(pair: &mut Pair, header: &Header, payload: usize) -> Option<Syndrome> {
    let route = Route {
        source: ADDRESSES[0],
        destination: ADDRESSES[1],
        source_port: UDP_PORT,
        destination_port: UDP_PORT,
    };
    let mut batch = Batch::new();
    let Ok(()) = batch.push(&route, header, payload, |_| {
        Ok::<(), std::convert::Infallible>(())
    });
    let (_, bytes) = batch.iter().next().unwrap();
    let view = View::parse(bytes).unwrap();
    let (connection, side) = (&mut pair.connections[1], &mut pair.sides[1]);
    connection.receive(0, ADDRESSES[0], &view, side);
    let mut answers = Batch::new();
    connection.transmit(0, &mut answers, side);
    let (_, bytes) = answers.iter().next()?;
    let view = View::parse(bytes).unwrap();
    assert_eq!(view.header().opcode.kind(), PacketOperation::Acknowledge);
    Some(Syndrome::from_byte(view.header().aeth.syndrome))
}

#[test]
fn packets_that_break_the_rules_are_invalid_requests() {
    let length = |length| move |header: &mut Header| header.reth.length = length;
    let same = |_: &mut Header| ();
    for (what, (answer, pair)) in [
        (
            "middle without first",
            forged(PacketOperation::SendMiddle, 256, same),
        ),
        (
            "last without first",
            forged(PacketOperation::WriteLast, 256, same),
        ),
        (
            "first that is not full",
            forged(PacketOperation::SendFirst, 255, same),
        ),
        (
            "only that is too long",
            forged(PacketOperation::SendOnly, 257, same),
        ),
        (
            "first shorter than its MTU says",
            forged(PacketOperation::WriteFirst, 256, length(256)),
        ),
        (
            "length that is not the payload's",
            forged(PacketOperation::WriteOnly, 100, length(101)),
        ),
        (
            "length beyond the largest message",
            forged(PacketOperation::ReadRequest, 0, length(u32::MAX)),
        ),
        (
            "read request with a payload",
            forged(PacketOperation::ReadRequest, 4, length(4)),
        ),
    ] {
        assert_eq!(answer, Some(Syndrome::InvalidRequest), "{what}");
        assert_eq!(pair.sides[1].faults, [Fault::Request], "{what}");
        assert!(pair.sides[1].receives_done.is_empty(), "{what}");
    }
}

#[test]
fn a_message_broken_off_gives_its_receive_request_back() {
    let first = |_: &mut Header| ();
    let (answer, mut pair) = forged(PacketOperation::SendFirst, 256, first);
    assert_eq!(answer, None);
    let opcode = Opcode::new(Service::Reliable, PacketOperation::WriteMiddle).unwrap();
    let psn = Settings::default().psn[0] + 1;
    let header = Header::new(opcode, 0xffff, QPNS[1], psn);
    let answer = deliver(&mut pair, &header, 256);
    assert_eq!(answer, Some(Syndrome::InvalidRequest));
    let (token, done) = pair.sides[1].receives_done[0];
    assert_eq!((token, done.status), (7, Status::Flushed));
}

#[test]
fn strangers_are_not_heard() {
    let (answer, pair) = forged(PacketOperation::SendOnly, 4, |header| header.pkey = 0x8001);
    assert_eq!(answer, None);
    assert!(pair.sides[1].receives_done.is_empty());
    let mut pair = Pair::new(Settings::default());
    pair.sides[1].post_receive(7, 0, 100);
    let opcode = Opcode::new(Service::Reliable, PacketOperation::SendOnly).unwrap();
    let header = Header::new(opcode, 0xffff, QPNS[1], Settings::default().psn[0]);
    let route = Route {
        source: ADDRESSES[0],
        destination: ADDRESSES[1],
        source_port: UDP_PORT,
        destination_port: UDP_PORT,
    };
    let mut batch = Batch::new();
    batch.push_bare(&route, &header);
    let (_, bytes) = batch.iter().next().unwrap();
    let view = View::parse(bytes).unwrap();
    let elsewhere = "10.9.9.9".parse().unwrap();
    pair.connections[1].receive(0, elsewhere, &view, &mut pair.sides[1]);
    assert!(pair.sides[1].receives_done.is_empty());
    pair.connections[1].receive(0, ADDRESSES[0], &view, &mut pair.sides[1]);
    assert_eq!(pair.sides[1].receives_done.len(), 1);
}

#[test]
fn flushing_ends_everything_once() {
    let mut pair = Pair::new(Settings::default());
    pair.cut_link(true);
    pair.sides[0].post_receive(3, 0, 10_000);
    for token in 0..5 {
        pair.post(0, work(token, send(), local(0, 1000)));
    }
    pair.run(1000);
    let (connection, side) = (&mut pair.connections[0], &mut pair.sides[0]);
    connection.flush(side);
    connection.flush(side);
    assert!(connection.is_drained());
    assert_eq!(connection.deadline(), None);
    assert_eq!(statuses(&pair, 0), [Status::Flushed; 5]);
}
