//! UD: single packets, each with its own address, no state and no answer.

use std::net::Ipv4Addr;

use super::batch::{Arrival, Batch};
use super::host::{Fault, Host, Immediate, ReceiveDone, ReceiveKind, Status};
use super::packet::{
    BTH_BYTES, DEFAULT_PKEY, Deth, Header, ICRC_BYTES, Opcode, PacketOperation, Route, Service,
    View,
};
use super::requester::work::Payload;
use super::sequence::PSN_MASK;

/// Bytes of a receive request before the payload.
pub const GRH_BYTES: usize = 40;

/// Where a datagram goes: an address handle and the fields of the send request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub local: Ipv4Addr,
    pub remote: Ipv4Addr,
    /// The UDP port at both ends.
    pub port: u16,
    pub remote_qpn: u32,
    /// The request's Q_Key, or the queue pair's own where the request's upper bit is set.
    pub qkey: u32,
}

/// The sending side of a UD queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    qpn: u32,
    psn: u32,
    mtu: u32,
}

impl Sender {
    /// `psn` is `sq_psn`, `mtu` the port's active one in bytes.
    pub fn new(qpn: u32, psn: u32, mtu: u32) -> Sender {
        Sender { qpn, psn, mtu }
    }

    /// Puts one datagram into the batch; how its send request ends. Anything but success takes the queue pair to
    /// SQE.
    pub fn send(
        &mut self,
        address: &Address,
        payload: &Payload,
        immediate: Option<u32>,
        solicited: bool,
        batch: &mut Batch,
        host: &mut impl Host,
    ) -> Status {
        let bytes = payload.bytes();
        if bytes > u64::from(self.mtu) {
            return Status::LocalLength;
        }
        let kind = match immediate {
            Some(_) => PacketOperation::SendOnlyImmediate,
            None => PacketOperation::SendOnly,
        };
        let Some(opcode) = Opcode::new(Service::Datagram, kind) else {
            return Status::LocalQpOperation;
        };
        let mut header = Header::new(opcode, DEFAULT_PKEY, address.remote_qpn, self.psn);
        header.solicited = solicited;
        header.immediate = immediate.unwrap_or(0);
        header.deth = Deth {
            qkey: address.qkey,
            source_qpn: self.qpn,
        };
        let route = Route {
            source: address.local,
            destination: address.remote,
            source_port: address.port,
            destination_port: address.port,
        };
        let filled = batch.push(&route, &header, bytes as usize, |out| {
            payload.read(0, out, host)
        });
        if filled.is_err() {
            return Status::LocalProtection;
        }
        self.psn = (self.psn + 1) & PSN_MASK;
        Status::Success
    }
}

/// A datagram for a UD queue pair arrived. One with another Q_Key, or that finds no receive request, is dropped.
/// The first 40 bytes of the receive request are for the header of the network layer.
pub fn receive(qkey: u32, arrival: &Arrival, view: &View<'_>, host: &mut impl Host) {
    let header = view.header();
    if header.opcode.service() != Service::Datagram || header.deth.qkey != qkey {
        return;
    }
    let Ok(Some(receive)) = host.take_receive(None) else {
        return;
    };
    let source_qpn = header.deth.source_qpn;
    let payload = view.payload();
    let bytes = GRH_BYTES + payload.len();
    if bytes as u64 > receive.capacity {
        host.receive_done(
            receive,
            ReceiveDone::failed(Status::LocalLength, source_qpn),
        );
        return host.fail(Fault::Receive);
    }
    let filled = host
        .fill_receive(&receive, 0, &routing_header(arrival, payload.len()))
        .and_then(|()| host.fill_receive(&receive, GRH_BYTES as u64, payload));
    if filled.is_err() {
        let done = ReceiveDone::failed(Status::LocalProtection, source_qpn);
        host.receive_done(receive, done);
        return host.fail(Fault::Receive);
    }
    let immediate = match header.opcode.kind() {
        PacketOperation::SendOnlyImmediate => Immediate::Data(header.immediate),
        _ => Immediate::None,
    };
    let done = ReceiveDone {
        status: Status::Success,
        kind: ReceiveKind::Send,
        bytes: bytes as u32,
        immediate,
        solicited: header.solicited,
        source_qpn,
    };
    host.receive_done(receive, done);
}

/// The 40 bytes before a datagram's payload: over IPv4, twenty zeros and the IP header (annex A17.4.5.1).
fn routing_header(arrival: &Arrival, payload_bytes: usize) -> [u8; GRH_BYTES] {
    let mut header = [0; GRH_BYTES];
    let ip = &mut header[20..];
    ip[0] = 0x45;
    ip[1] = arrival.type_of_service;
    let total = 20 + 8 + BTH_BYTES + 8 + payload_bytes.next_multiple_of(4) + ICRC_BYTES;
    ip[2..4].copy_from_slice(&(total as u16).to_be_bytes());
    ip[6] = 0x40;
    ip[8] = arrival.time_to_live;
    ip[9] = 17;
    ip[12..16].copy_from_slice(&arrival.route.source.octets());
    ip[16..20].copy_from_slice(&arrival.route.destination.octets());
    let sum: u32 = ip
        .chunks_exact(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}
