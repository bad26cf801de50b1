//! What is sent again after a loss.

use super::pair::{Pair, Settings, local, pattern, send, work, write};
use super::side::SHARED;
use crate::host::Status;
use crate::packet::{Header, Opcode, PacketOperation, Service, Syndrome, View};
use crate::{Batch, Connection, Injection, Path, RequesterConfig, ResponderConfig, UDP_PORT};

const SECOND: u64 = 1_000_000_000;
const BYTES: usize = 900_000;

/// Packets that it takes to write [`BYTES`] bytes in packets of 256 over a wire that loses some.
fn packets_to_write(loss: f64, selective: bool) -> usize {
    let base = Settings::default();
    let mut pair = Pair::new(Settings {
        requester: RequesterConfig {
            selective,
            ..base.requester
        },
        injection: Injection {
            loss,
            delay_us: 50,
            seed: 11,
            ..Injection::default()
        },
        ..base
    });
    pattern(&mut pair.sides[0], 0, BYTES, 3);
    pair.post(0, work(0, write(SHARED), local(0, BYTES as u32)));
    pair.run(60 * SECOND);
    assert_eq!(pair.sides[0].sends_done.len(), 1);
    assert!(pair.sides[1].bytes(SHARED, BYTES) == pair.sides[0].bytes(0, BYTES));
    pair.sent[0]
}

#[test]
fn what_arrived_is_not_sent_again() {
    let needed = BYTES.div_ceil(256);
    assert_eq!(packets_to_write(0.0, true), needed);
    for loss in [0.01, 0.05] {
        let sent = packets_to_write(loss, true);
        // Each lost packet again, and of those the lost ones; now and then the end of a burst.
        let least = needed as f64 / (1.0 - loss);
        assert!((sent as f64) < least * 1.05, "{sent}, not {least}");
        let everything = packets_to_write(loss, false);
        assert!(everything > sent * 11 / 10, "{everything} beside {sent}");
    }
}

/// A responder that got these PSNs: what it answers.
fn answers(service: Service, selective: bool, psns: &[u32]) -> Vec<(u32, Syndrome, Vec<u8>)> {
    let packets: Vec<_> = psns.iter().map(|&psn| (psn, 0)).collect();
    answers_of(service, selective, 256, &packets)
}

/// The same of packets with so many bytes of payload, by a responder with this window.
fn answers_of(
    service: Service,
    selective: bool,
    window: u64,
    packets: &[(u32, usize)],
) -> Vec<(u32, Syndrome, Vec<u8>)> {
    let path = Path {
        local: super::pair::ADDRESSES[0],
        remote: super::pair::ADDRESSES[1],
        port: UDP_PORT,
        remote_qpn: 9,
        mtu: 256,
    };
    let base = Settings::default();
    let responder = ResponderConfig {
        psn: 100,
        window,
        ..base.responder
    };
    let mut connection = Connection::new(service, path, Some(responder));
    let mut side = super::side::Side::new(0);
    for token in 0..10 {
        side.post_receive(token, 0, 256);
    }
    let mut batch = Batch::new();
    let mut answers = Vec::new();
    for &(psn, payload) in packets {
        let opcode = Opcode::new(service, PacketOperation::SendOnly).unwrap();
        let mut header = Header::new(opcode, 0xffff, 1, psn);
        header.ack_request = true;
        header.selective = selective;
        let mut bytes = Vec::new();
        header.emit(payload, &mut bytes);
        bytes.resize(bytes.len() + payload + 4, 0);
        let view = View::parse(&bytes).unwrap();
        connection.receive(0, path.remote, &view, &mut side);
        connection.transmit(0, &mut batch, &mut side);
        for (_, bytes) in batch.iter() {
            let view = View::parse(bytes).unwrap();
            let header = view.header();
            let syndrome = Syndrome::from_byte(header.aeth.syndrome);
            answers.push((header.psn, syndrome, view.payload().to_vec()));
        }
        batch.clear();
    }
    answers
}

#[test]
fn a_responder_tells_what_it_holds() {
    let said = answers(Service::Reliable, true, &[100, 102, 104, 101, 103]);
    let expected = [
        (100, Syndrome::Ack, vec![]),
        (101, Syndrome::SequenceError, vec![0b001, 0, 0, 0]),
        (101, Syndrome::SequenceError, vec![0b101, 0, 0, 0]),
        (102, Syndrome::Ack, vec![]),
        (104, Syndrome::Ack, vec![]),
    ];
    assert_eq!(said, expected);
}

#[test]
fn no_more_is_held_than_a_window() {
    // Beyond the window while nothing is held, held, too long, at the window's end, beyond it, and what was missing.
    let packets = [
        (104, 0),
        (102, 256),
        (101, 260),
        (103, 0),
        (104, 0),
        (100, 0),
        (101, 0),
    ];
    let said = answers_of(Service::Reliable, true, 3, &packets);
    let expected = [
        (100, Syndrome::SequenceError, vec![]),
        (100, Syndrome::SequenceError, vec![0b10, 0, 0, 0]),
        (100, Syndrome::SequenceError, vec![0b110, 0, 0, 0]),
        (100, Syndrome::Ack, vec![]),
        (103, Syndrome::Ack, vec![]),
    ];
    assert_eq!(said, expected);
}

#[test]
fn peers_of_another_kind_hear_of_the_first_loss_only() {
    let expected = [
        (100, Syndrome::Ack, vec![]),
        (101, Syndrome::SequenceError, vec![]),
        (101, Syndrome::Ack, vec![]),
        (102, Syndrome::SequenceError, vec![]),
    ];
    let psns = [100, 102, 104, 101, 104];
    assert_eq!(answers(Service::Reliable, false, &psns), expected);
    // A target that goes from process to process keeps nothing.
    assert_eq!(answers(Service::ExtendedReliable, true, &psns), expected);
}

#[test]
fn requests_behind_one_that_finds_no_receiver_are_held() {
    let mut pair = Pair::new(Settings::default());
    for token in 0..3 {
        pair.post(0, work(token, send(), local(0, 10)));
    }
    pair.run(1_000_000);
    for token in 0..3 {
        pair.sides[1].post_receive(token, 0, 10);
    }
    pair.run(SECOND);
    let done: Vec<_> = pair.sides[0].sends_done.iter().map(|d| d.status).collect();
    assert_eq!(done, [Status::Success; 3]);
    let tokens: Vec<_> = pair.sides[1].receives_done.iter().map(|r| r.0).collect();
    assert_eq!(tokens, [0, 1, 2]);
}
