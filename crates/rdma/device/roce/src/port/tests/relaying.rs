//! The process that gets a datagram.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

use super::own_address;
use crate::packet::{DEFAULT_PKEY, Header, Opcode, PacketOperation, Route, Service, View};
use crate::port::{Port, PortConfig};
use crate::{Batch, Inbox, Injection, UDP_PORT};

fn open(address: Ipv4Addr, slot: u8, injection: Injection) -> Port {
    open_at((address, UDP_PORT), slot, injection).expect("a port")
}

fn open_at((address, port): (Ipv4Addr, u16), slot: u8, injection: Injection) -> io::Result<Port> {
    Port::open(&PortConfig {
        address,
        slot,
        port,
        injection,
    })
}

/// A datagram to index 7 of a slot that carries this number.
fn put(batch: &mut Batch, source: Ipv4Addr, destination: Ipv4Addr, slot: u8, number: u32) {
    put_at(batch, (source, destination), UDP_PORT, slot, number);
}

fn put_at(
    batch: &mut Batch,
    (source, destination): (Ipv4Addr, Ipv4Addr),
    port: u16,
    slot: u8,
    number: u32,
) {
    let route = Route {
        source,
        destination,
        source_port: port,
        destination_port: port,
    };
    let opcode = Opcode::new(Service::Reliable, PacketOperation::SendOnlyImmediate).unwrap();
    let qpn = u32::from(slot) << 16 | 7;
    let mut header = Header::new(opcode, DEFAULT_PKEY, qpn, 0);
    header.immediate = number;
    batch.push_bare(&route, &header);
}

/// Everything that arrives at any of the ports until it is quiet: which port, and the number.
fn collect(ports: &[&Port]) -> Vec<(usize, u32)> {
    let mut arrived = Vec::new();
    let mut inbox = Inbox::new();
    let mut quiet = 0;
    while quiet < 20 {
        quiet += 1;
        for (index, port) in ports.iter().enumerate() {
            port.receive(&mut inbox);
            for (_, bytes) in inbox.iter() {
                let view = View::parse(bytes).unwrap();
                arrived.push((index, view.header().immediate));
                quiet = 0;
            }
        }
        sleep(Duration::from_millis(1));
    }
    arrived.sort_unstable();
    arrived
}

#[test]
fn slots_in_the_order_of_binding_are_met_directly() {
    let (here, there) = (own_address(), own_address());
    let sender = open(here, 0, Injection::default());
    let ports: Vec<Port> = (0..4)
        .map(|slot| open(there, slot, Injection::default()))
        .collect();
    let mut batch = Batch::new();
    for number in 0..40 {
        put(&mut batch, here, there, (number % 4) as u8, number);
    }
    sender.send(0, &mut batch);
    assert!(batch.is_empty());
    // None of them relays: each hears its own even when nobody else listens.
    for (slot, port) in ports.iter().enumerate() {
        let numbers: Vec<u32> = collect(&[port]).iter().map(|arrived| arrived.1).collect();
        let expected: Vec<u32> = (0..10).map(|i| i * 4 + slot as u32).collect();
        assert_eq!(numbers, expected, "slot {slot}");
    }
}

#[test]
fn any_other_order_is_put_right_by_relays() {
    let (here, there) = (own_address(), own_address());
    let sender = open(here, 0, Injection::default());
    let slots = [9, 2, 200, 0];
    let ports: Vec<Port> = slots
        .iter()
        .map(|slot| open(there, *slot, Injection::default()))
        .collect();
    let mut batch = Batch::new();
    for number in 0..40 {
        put(&mut batch, here, there, slots[number as usize % 4], number);
    }
    sender.send(0, &mut batch);
    let ports: Vec<&Port> = ports.iter().collect();
    let arrived = collect(&ports);
    let mut expected: Vec<_> = (0..40)
        .map(|number| (number as usize % 4, number))
        .collect();
    expected.sort_unstable();
    assert_eq!(arrived, expected);
}

#[test]
fn a_relay_takes_more_than_a_unix_socket_holds_datagrams() {
    let (here, there) = (own_address(), own_address());
    let sender = open(here, 0, Injection::default());
    let [relaying, right] = [1, 0].map(|slot| open(there, slot, Injection::default()));
    let mut batch = Batch::new();
    // As many as a connection has under way, which all arrive while the right process sleeps.
    for number in 0..1024 {
        put(&mut batch, here, there, 0, number);
        if batch.is_full() {
            sender.send(0, &mut batch);
        }
    }
    assert_eq!(collect(&[&relaying]), []);
    let expected: Vec<_> = (0..1024).map(|number| (0, number)).collect();
    assert_eq!(collect(&[&right]), expected);
    assert_eq!(relaying.losses.astray.load(Ordering::Relaxed), 0);
}

#[test]
fn packets_for_several_processes_are_relayed_from_one_turn() {
    let (here, there) = (own_address(), own_address());
    let sender = open(here, 0, Injection::default());
    // The second of them has the index of neither of the others.
    let ports = [2, 7, 0, 1].map(|slot| open(there, slot, Injection::default()));
    let mut batch = Batch::new();
    for number in 0..60 {
        put(&mut batch, here, there, (number % 3) as u8, number);
    }
    sender.send(0, &mut batch);
    let arrived = collect(&ports.each_ref());
    let mut expected: Vec<_> = (0..60).map(|n| ([2, 3, 0][n as usize % 3], n)).collect();
    expected.sort_unstable();
    assert_eq!(arrived, expected);
}

#[test]
fn what_is_for_nobody_is_counted_and_does_not_go_round() {
    let (here, there) = (own_address(), own_address());
    let sender = open(here, 0, Injection::default());
    let [one, other] = [3, 4].map(|slot| open(there, slot, Injection::default()));
    let mut batch = Batch::new();
    for number in 0..10 {
        put(&mut batch, here, there, 77, number);
    }
    sender.send(0, &mut batch);
    assert_eq!(collect(&[&one, &other]), []);
    let astray = |port: &Port| port.losses.astray.load(Ordering::Relaxed);
    assert_eq!(astray(&one) + astray(&other), 10);
}

#[test]
fn garbage_and_wrong_checksums_are_dropped() {
    let (here, there) = (own_address(), own_address());
    let port = open(there, 0, Injection::default());
    let socket = UdpSocket::bind((here, 0)).unwrap();
    for garbage in [&[][..], &[1, 2, 3], &[0; 12], &[0; 16], &[0xff; 4000]] {
        socket.send_to(garbage, (there, UDP_PORT)).unwrap();
    }
    let mut batch = Batch::new();
    put(&mut batch, here, there, 0, 5);
    let (_, bytes) = batch.iter().next().unwrap();
    // The right packet, but from another port than its checksum says.
    socket.send_to(bytes, (there, UDP_PORT)).unwrap();
    assert_eq!(collect(&[&port]), []);
    assert_eq!(port.losses.malformed.load(Ordering::Relaxed), 6);
}

#[test]
fn the_kernel_sends_the_header_that_the_checksum_covers() {
    // Byte for byte what a receiver sees of type of service and time to live.
    let (here, there) = (own_address(), own_address());
    let [sender, port] = [here, there].map(|address| open(address, 0, Injection::default()));
    let mut batch = Batch::new();
    put(&mut batch, here, there, 0, 5);
    sender.send(0, &mut batch);
    let mut inbox = Inbox::new();
    while inbox.is_empty() {
        port.receive(&mut inbox);
    }
    let (arrival, _) = inbox.iter().next().unwrap();
    assert_eq!(arrival.route.source, here);
    assert_eq!(arrival.route.destination, there);
    assert_eq!(arrival.route.source_port, UDP_PORT);
    assert_eq!(arrival.type_of_service, 0);
    assert_eq!(arrival.time_to_live, 64);
}

#[test]
fn what_the_socket_cannot_send_is_lost_and_counted() {
    let here = own_address();
    let sender = open(here, 0, Injection::default());
    let mut batch = Batch::new();
    // From a loopback address there is no way out.
    put(&mut batch, here, Ipv4Addr::new(203, 0, 113, 1), 0, 1);
    sender.send(0, &mut batch);
    assert!(batch.is_empty());
    assert_eq!(sender.losses.unsendable.load(Ordering::Relaxed), 1);
    assert!(!sender.wants_writable());
}

#[test]
fn delayed_packets_leave_by_flush() {
    let (here, there) = (own_address(), own_address());
    let delay = Injection {
        delay_us: 100,
        ..Injection::default()
    };
    let sender = open(here, 0, delay);
    let port = open(there, 0, Injection::default());
    let mut batch = Batch::new();
    put(&mut batch, here, there, 0, 5);
    sender.send(1000, &mut batch);
    assert_eq!(collect(&[&port]), []);
    assert_eq!(sender.deadline(), Some(101_000));
    sender.flush(101_000);
    assert_eq!(collect(&[&port]), [(0, 5)]);
    assert_eq!(sender.deadline(), None);
}

#[test]
fn a_link_is_cut_and_mended() {
    let (here, there) = (own_address(), own_address());
    let sender = open(here, 0, Injection::default());
    let port = open(there, 0, Injection::default());
    let mut batch = Batch::new();
    for (number, down) in [(1, false), (2, true), (3, true), (4, false)] {
        sender.set_link_down(down);
        put(&mut batch, here, there, 0, number);
        sender.send(0, &mut batch);
    }
    assert_eq!(collect(&[&port]), [(0, 1), (0, 4)]);
}

#[test]
fn another_fabric_needs_another_port() {
    let (here, there) = (own_address(), own_address());
    let wire = || Injection::default();
    let ports = [UDP_PORT, UDP_PORT + 1];
    let senders = ports.map(|port| open_at((here, port), 3, wire()).unwrap());
    let receivers = ports.map(|port| open_at((there, port), 0, wire()).unwrap());
    let refused = open_at((there, UDP_PORT), 0, wire()).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    let mut batch = Batch::new();
    for (number, (sender, port)) in senders.iter().zip(ports).enumerate() {
        for _ in 0..3 {
            put_at(&mut batch, (here, there), port, 0, number as u32);
        }
        sender.send(0, &mut batch);
    }
    let [first, second] = &receivers;
    let all = [(0, 0), (0, 0), (0, 0), (1, 1), (1, 1), (1, 1)];
    assert_eq!(collect(&[first, second]), all);
}

#[test]
fn loopback_carries_the_largest_mtu() {
    let port = open(own_address(), 0, Injection::default());
    // The address is not the interface's own, but in its network: no interface has it.
    assert!(port.active_mtu().is_err());
    let port = Port::open(&PortConfig {
        address: Ipv4Addr::LOCALHOST,
        slot: 250,
        port: 20000 + (std::process::id() % 20000) as u16,
        injection: Injection::default(),
    })
    .unwrap();
    assert_eq!(port.active_mtu().unwrap(), 4096);
    let path_mtu = crate::path_mtu;
    assert_eq!(path_mtu(1500), 1024);
    assert_eq!(path_mtu(4200), 4096);
    assert_eq!(path_mtu(9000), 4096);
    assert_eq!(path_mtu(580), 512);
    assert_eq!(path_mtu(579), 256);
    assert_eq!(path_mtu(300), 256);
}
