//! The responder packet by packet: duplicates, gaps, and what is answered to them.

use std::convert::Infallible;

use super::pair::{ADDRESSES, QPNS, Settings};
use super::side::{KEY, SHARED, Side};
use crate::host::{Fault, Status};
use crate::packet::{Header, Opcode, PacketOperation, Reth, Route, Service, Syndrome, View};
use crate::{Batch, Connection, Path, ResponderConfig, UDP_PORT};

const MTU: usize = 256;

struct Target {
    service: Service,
    connection: Connection,
    side: Side,
}

/// PacketOperation, position behind the first, syndrome, and payload bytes of an answer.
type Answer = (PacketOperation, u32, Syndrome, usize);

/// The path of a target to its peer.
fn path() -> Path {
    Path {
        local: ADDRESSES[1],
        remote: ADDRESSES[0],
        port: UDP_PORT,
        remote_qpn: QPNS[0],
        mtu: MTU as u32,
    }
}

fn config() -> ResponderConfig {
    ResponderConfig {
        psn: 0xff_fffe,
        ..Settings::default().responder
    }
}

impl Target {
    fn new() -> Target {
        Target::of(Service::Reliable)
    }

    /// A target over XRC, which one process hands to the next.
    fn resumable() -> Target {
        Target::of(Service::ExtendedReliable)
    }

    fn of(service: Service) -> Target {
        Target {
            service,
            connection: Connection::new(service, path(), Some(config())),
            side: Side::new(0),
        }
    }

    /// Goes to another process.
    fn resume(&mut self) {
        let saved = self.connection.save().unwrap();
        self.connection = Connection::resume(path(), config(), &saved);
    }

    fn receive(
        &mut self,
        kind: PacketOperation,
        position: u32,
        payload: usize,
        edit: impl FnOnce(&mut Header),
    ) {
        let opcode = Opcode::new(self.service, kind).unwrap();
        let psn = position.wrapping_add(0xff_fffe) & 0xff_ffff;
        let mut header = Header::new(opcode, 0xffff, QPNS[1], psn);
        header.ack_request = true;
        header.reth = Reth {
            address: SHARED,
            rkey: KEY,
            length: payload as u32,
        };
        edit(&mut header);
        let route = Route {
            source: ADDRESSES[0],
            destination: ADDRESSES[1],
            source_port: UDP_PORT,
            destination_port: UDP_PORT,
        };
        let mut batch = Batch::new();
        let Ok(()) = batch.push(&route, &header, payload, |_| Ok::<(), Infallible>(()));
        let (_, bytes) = batch.iter().next().unwrap();
        let view = View::parse(bytes).unwrap();
        self.connection
            .receive(0, ADDRESSES[0], &view, &mut self.side);
    }

    fn write(&mut self, position: u32) {
        self.receive(PacketOperation::WriteOnly, position, 4, |_| ());
    }

    /// Of `packets` packets, from a packet of the region on.
    fn read(&mut self, position: u32, from: u64, packets: u32) {
        self.receive(PacketOperation::ReadRequest, position, 0, |header| {
            header.reth.address = SHARED + from * MTU as u64;
            header.reth.length = packets * MTU as u32;
        });
    }

    fn add(&mut self, position: u32) {
        self.receive(PacketOperation::FetchAdd, position, 0, |header| {
            header.atomic.address = SHARED;
            header.atomic.rkey = KEY;
            header.atomic.swap_or_add = 1;
        });
    }

    fn answers(&mut self) -> Vec<Answer> {
        let mut batch = Batch::new();
        self.connection.transmit(0, &mut batch, &mut self.side);
        batch
            .iter()
            .map(|(_, bytes)| {
                let view = View::parse(bytes).unwrap();
                let header = view.header();
                let position = header.psn.wrapping_sub(0xff_fffe) & 0xff_ffff;
                let syndrome = Syndrome::from_byte(header.aeth.syndrome);
                (
                    header.opcode.kind(),
                    position,
                    syndrome,
                    view.payload().len(),
                )
            })
            .collect()
    }
}

fn ack(position: u32) -> Answer {
    (PacketOperation::Acknowledge, position, Syndrome::Ack, 0)
}

#[test]
fn a_gap_is_told_once() {
    let mut target = Target::new();
    target.write(0);
    target.write(2);
    target.write(3);
    let nak = (PacketOperation::Acknowledge, 1, Syndrome::SequenceError, 0);
    assert_eq!(target.answers(), [nak]);
    target.write(4);
    assert_eq!(target.answers(), []);
    target.write(1);
    target.write(2);
    assert_eq!(target.answers(), [ack(2)]);
    target.write(4);
    assert_eq!(
        target.answers(),
        [(PacketOperation::Acknowledge, 3, Syndrome::SequenceError, 0)]
    );
}

/// The next holder of a target does not know which answers were not sent: it acknowledges everything.
#[test]
fn a_responder_that_was_resumed_acknowledges_all_that_was_done() {
    let mut target = Target::resumable();
    target.connection.acknowledge();
    assert_eq!(target.answers(), []);
    target.write(0);
    target.write(1);
    assert!(!target.connection.is_urgent());
    target.resume();
    assert_eq!(target.answers(), []);
    target.connection.acknowledge();
    assert_eq!(target.answers(), [ack(1)]);
    // A gap is no such answer.
    target.write(3);
    assert!(target.connection.is_urgent());
}

/// Its last holder died over packet 1: that is refused, in several copies, and nothing is heard any more.
#[test]
fn a_responder_that_was_abandoned_says_so() {
    let mut target = Target::resumable();
    target.write(0);
    target.resume();
    target.connection.abandon();
    assert!(target.connection.is_urgent());
    let answers = target.answers();
    let refusal = (
        PacketOperation::Acknowledge,
        1,
        Syndrome::RemoteOperation,
        0,
    );
    assert!(answers.len() > 1 && answers.iter().all(|answer| *answer == refusal));
    target.write(1);
    assert_eq!(target.answers(), []);
}

#[test]
fn after_receiver_not_ready_only_the_same_request_is_heard() {
    let mut target = Target::new();
    target.receive(PacketOperation::SendOnly, 0, 4, |_| ());
    target.receive(PacketOperation::SendOnly, 1, 4, |_| ());
    let nak = (
        PacketOperation::Acknowledge,
        0,
        Syndrome::ReceiverNotReady(12),
        0,
    );
    assert_eq!(target.answers(), [nak]);
    target.side.post_receive(5, 0, 100);
    target.receive(PacketOperation::SendOnly, 1, 4, |_| ());
    assert_eq!(target.answers(), []);
    target.receive(PacketOperation::SendOnly, 0, 4, |_| ());
    assert_eq!(target.answers(), [ack(0)]);
}

#[test]
fn duplicates_are_acknowledged_with_all_that_was_done() {
    let mut target = Target::new();
    for position in 0..6 {
        target.write(position);
    }
    assert_eq!(target.answers(), [ack(5)]);
    target.side.memory[SHARED as usize] = 99;
    target.write(2);
    assert_eq!(target.answers(), [ack(5)]);
    assert_eq!(target.side.memory[SHARED as usize], 99, "not written again");
    // Behind a READ whose response may be lost, no more is acknowledged than that.
    target.read(6, 0, 1);
    target.answers();
    target.write(2);
    assert_eq!(target.answers(), [ack(2)]);
}

#[test]
fn an_old_duplicate_does_not_take_back_a_later_acknowledgement() {
    let mut target = Target::new();
    target.write(0);
    target.read(1, 0, 1);
    target.answers();
    target.write(2);
    target.write(0);
    assert_eq!(target.answers(), [ack(2)]);
}

#[test]
fn memory_that_went_away_is_refused_at_the_packet_that_wanted_it() {
    let mut target = Target::new();
    target.read(0, 0, 200);
    let sent = target.answers().len() as u32;
    assert!(sent < 200);
    target.side.shared = 0..0;
    let nak = (
        PacketOperation::Acknowledge,
        sent,
        Syndrome::RemoteAccess,
        0,
    );
    // Several times, as nobody answers a second request.
    assert_eq!(target.answers(), [nak; 4]);
    assert_eq!(target.side.faults, [Fault::Access]);
}

/// A late copy of a request has nobody who waits for its answer: its memory may be gone.
#[test]
fn memory_that_goes_away_while_it_is_read_again_ends_nothing() {
    let mut target = Target::new();
    target.read(0, 0, 200);
    let mut sent = 0;
    while sent < 200 {
        sent += target.answers().len();
    }
    target.read(0, 0, 200);
    let again = target.answers().len();
    assert!(again < 200);
    target.side.shared = 0..0;
    assert_eq!(target.answers(), []);
    assert_eq!(target.side.faults, []);
    target.side.shared = Side::new(0).shared;
    target.write(200);
    assert_eq!(target.answers(), [ack(200)]);
}

#[test]
fn reads_are_answered_again_from_where_they_are_asked_for() {
    let mut target = Target::new();
    target.read(0, 0, 4);
    target.write(4);
    let all = [
        (PacketOperation::ReadResponseFirst, 0, Syndrome::Ack, MTU),
        (PacketOperation::ReadResponseMiddle, 1, Syndrome::Ack, MTU),
        (PacketOperation::ReadResponseMiddle, 2, Syndrome::Ack, MTU),
        (PacketOperation::ReadResponseLast, 3, Syndrome::Ack, MTU),
        ack(4),
    ];
    // A middle packet has no AETH; the harness shows its zeros as an ACK.
    assert_eq!(target.answers(), all);
    target.read(2, 2, 2);
    let end = [
        (PacketOperation::ReadResponseFirst, 2, Syndrome::Ack, MTU),
        (PacketOperation::ReadResponseLast, 3, Syndrome::Ack, MTU),
    ];
    assert_eq!(target.answers(), end);
    target.read(3, 3, 1);
    let last = [(PacketOperation::ReadResponseOnly, 3, Syndrome::Ack, MTU)];
    assert_eq!(target.answers(), last);
    // Asked for twice before it was answered: answered once.
    target.read(2, 2, 2);
    target.read(2, 2, 2);
    assert_eq!(target.answers(), end);
}

#[test]
fn a_read_that_asks_again_for_more_than_was_done_is_not_answered() {
    let mut target = Target::new();
    target.read(0, 0, 2);
    target.answers();
    target.read(0, 0, 3);
    assert_eq!(target.answers(), []);
    target.side.shared = 0..0;
    target.read(0, 0, 2);
    assert_eq!(target.answers(), []);
    assert!(target.side.faults.is_empty());
}

#[test]
fn answers_keep_the_order_of_their_requests() {
    let mut target = Target::new();
    target.read(0, 0, 1);
    target.read(1, 1, 1);
    target.answers();
    target.read(2, 0, 2);
    target.write(4);
    target.read(0, 0, 1);
    target.read(1, 1, 1);
    let positions: Vec<u32> = target.answers().iter().map(|answer| answer.1).collect();
    assert_eq!(positions, [0, 1, 2, 3, 4]);
}

#[test]
fn duplicates_cannot_fill_memory() {
    let mut target = Target::new();
    for position in 0..200 {
        target.read(position, 0, 1);
        target.answers();
    }
    for position in 0..200 {
        target.read(position, 0, 1);
    }
    let allowed = usize::from(Settings::default().responder.max_dest_rd_atomic);
    assert_eq!(target.answers().len(), allowed);
}

#[test]
fn atomics_are_remembered_as_long_as_they_may_be_asked_for() {
    let mut target = Target::new();
    for position in 0..5 {
        target.add(position);
        target.answers();
    }
    // Four are kept; the first was answered long ago.
    target.add(0);
    assert_eq!(target.answers(), []);
    target.add(1);
    target.add(1);
    let again = [(PacketOperation::AtomicAcknowledge, 1, Syndrome::Ack, 0)];
    assert_eq!(target.answers(), again);
    assert_eq!(target.side.bytes(SHARED, 8), 5u64.to_ne_bytes());
}

#[test]
fn after_an_error_nothing_is_executed_but_the_answers_still_go_out() {
    let mut target = Target::new();
    target.read(0, 0, 2);
    target.receive(PacketOperation::WriteOnly, 2, 4, |header| {
        header.reth.rkey = 1
    });
    target.write(3);
    target.connection.flush(&mut target.side);
    let expected = [
        (PacketOperation::ReadResponseFirst, 0, Syndrome::Ack, MTU),
        (PacketOperation::ReadResponseLast, 1, Syndrome::Ack, MTU),
        (PacketOperation::Acknowledge, 2, Syndrome::RemoteAccess, 0),
    ];
    let mut answers = target.answers();
    answers.dedup();
    assert_eq!(answers, expected);
    assert_eq!(target.side.faults, [Fault::Access]);
}

#[test]
fn a_uc_message_with_a_hole_is_dropped_and_its_receive_request_used_again() {
    let path = Path {
        local: ADDRESSES[1],
        remote: ADDRESSES[0],
        port: UDP_PORT,
        remote_qpn: QPNS[0],
        mtu: MTU as u32,
    };
    let mut responder = Settings::default().responder;
    responder.psn = 100;
    let mut connection = Connection::new(Service::Unreliable, path, Some(responder));
    let mut side = Side::new(0);
    side.post_receive(1, 0, 1000);
    side.post_receive(2, 1000, 1000);
    let mut receive = |kind, psn: u32, payload| {
        let opcode = Opcode::new(Service::Unreliable, kind).unwrap();
        let header = Header::new(opcode, 0xffff, QPNS[1], psn);
        let route = Route {
            source: ADDRESSES[0],
            destination: ADDRESSES[1],
            source_port: UDP_PORT,
            destination_port: UDP_PORT,
        };
        let mut batch = Batch::new();
        let Ok(()) = batch.push(&route, &header, payload, |_| Ok::<(), Infallible>(()));
        let (_, bytes) = batch.iter().next().unwrap();
        let view = View::parse(bytes).unwrap();
        connection.receive(0, ADDRESSES[0], &view, &mut side);
    };
    receive(PacketOperation::SendFirst, 100, MTU);
    receive(PacketOperation::SendLast, 102, 4);
    receive(PacketOperation::SendOnly, 103, 8);
    receive(PacketOperation::SendOnly, 103, 8);
    // The peer begins anew, far behind.
    receive(PacketOperation::SendOnly, 0xf0_0000, 12);
    let done: Vec<_> = side
        .receives_done
        .iter()
        .map(|(token, done)| (*token, done.status, done.bytes))
        .collect();
    assert_eq!(done, [(1, Status::Success, 8), (2, Status::Success, 12)]);
}
