//! Packets that leave as one datagram and arrive as one.

use std::net::Ipv4Addr;
use std::thread::sleep;
use std::time::Duration;

use super::own_address;
use crate::packet::{DEFAULT_PKEY, Header, Opcode, PacketOperation, Route, Service, View};
use crate::port::{Port, PortConfig};
use crate::{Batch, Inbox, Injection, UDP_PORT};

fn open(address: Ipv4Addr) -> Port {
    Port::open(&PortConfig {
        address,
        slot: 0,
        port: crate::UDP_PORT,
        injection: Injection::default(),
    })
    .expect("a port")
}

/// A batch of packets with these payloads, numbered by PSN.
fn batch(source: Ipv4Addr, destination: Ipv4Addr, payloads: &[usize]) -> Batch {
    let route = Route {
        source,
        destination,
        source_port: UDP_PORT,
        destination_port: UDP_PORT,
    };
    let opcode = Opcode::new(Service::Reliable, PacketOperation::SendMiddle).unwrap();
    let mut batch = Batch::new();
    for (psn, &bytes) in payloads.iter().enumerate() {
        let header = Header::new(opcode, DEFAULT_PKEY, 7, psn as u32);
        let fill = |out: &mut [u8]| {
            out.fill(psn as u8);
            Ok::<(), ()>(())
        };
        batch.push(&route, &header, bytes, fill).unwrap();
    }
    batch
}

/// What arrives until this many packets have: PSN and payload bytes of each; and the datagrams that they came in.
fn collect(port: &Port, packets: usize) -> (Vec<(u32, usize)>, usize) {
    let (mut arrived, mut datagrams) = (Vec::new(), 0);
    let mut inbox = Inbox::new();
    for _ in 0..2000 {
        port.receive(&mut inbox);
        datagrams += inbox.packets.iter().filter(|p| p.place == 0).count();
        for (_, bytes) in inbox.iter() {
            let view = View::parse(bytes).unwrap();
            let psn = view.header().psn;
            assert!(view.payload().iter().all(|&byte| byte == psn as u8));
            arrived.push((psn, view.payload().len()));
        }
        if arrived.len() >= packets {
            break;
        }
        sleep(Duration::from_millis(1));
    }
    (arrived, datagrams)
}

/// Two messages of 64 packets and a bit, and single ones between them.
fn payloads() -> Vec<usize> {
    let mut payloads = vec![1024; 64];
    payloads.push(100);
    payloads.extend([8, 16, 8]);
    payloads.extend([1024; 70]);
    payloads
}

fn expected(payloads: &[usize]) -> Vec<(u32, usize)> {
    let numbered = payloads.iter().enumerate();
    numbered.map(|(psn, &bytes)| (psn as u32, bytes)).collect()
}

#[test]
fn packets_arrive_in_order_and_few_datagrams() {
    let (here, there) = (own_address(), own_address());
    let (sender, receiver) = (open(here), open(there));
    assert!(sender.socket.segments(), "Linux 4.18 or later");
    let payloads = payloads();
    sender.send(0, &mut batch(here, there, &payloads));
    assert!(sender.socket.segments(), "nothing was refused");
    let (arrived, datagrams) = collect(&receiver, payloads.len());
    assert_eq!(arrived, expected(&payloads));
    // 62 | 2 and the shorter one | 8 bytes | 16 and 8 | 62 | 8.
    assert_eq!(datagrams, 6);
}

#[test]
fn a_kernel_that_refuses_trains_gets_single_packets() {
    let (here, there) = (own_address(), own_address());
    let (sender, receiver) = (open(here), open(there));
    sender.socket.without_checksums().unwrap();
    let payloads = payloads();
    sender.send(0, &mut batch(here, there, &payloads));
    assert!(!sender.socket.segments(), "it was found out");
    let (arrived, datagrams) = collect(&receiver, payloads.len());
    assert_eq!(arrived, expected(&payloads));
    assert_eq!(datagrams, payloads.len());
}
