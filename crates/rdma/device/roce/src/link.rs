//! The way of a connection: where the peer is, and what every packet to it has in common.

use std::net::Ipv4Addr;

use super::packet::{DEFAULT_PKEY, Header, Opcode, PacketOperation, Route, Service};

/// Where the peer is and what the way to it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The address of this host's port, which the peer knows us by.
    pub local: Ipv4Addr,
    pub remote: Ipv4Addr,
    /// The UDP port at both ends.
    pub port: u16,
    pub remote_qpn: u32,
    /// Payload bytes of a packet: 256, 512, 1024, 2048 or 4096.
    pub mtu: u32,
}

/// What every packet of a connection has in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub service: Service,
    pub route: Route,
    pub remote_qpn: u32,
    pub mtu: u64,
}

impl Link {
    pub fn new(service: Service, path: Path) -> Link {
        Link {
            service,
            route: Route {
                source: path.local,
                destination: path.remote,
                source_port: path.port,
                destination_port: path.port,
            },
            remote_qpn: path.remote_qpn,
            mtu: u64::from(path.mtu),
        }
    }

    /// A header to the peer. Kinds that the service does not have are never asked for: see [`Connection::post`](super::connection::Connection::post).
    pub fn header(&self, kind: PacketOperation, psn: u32) -> Option<Header> {
        let opcode = Opcode::new(self.service, kind)?;
        Some(Header::new(opcode, DEFAULT_PKEY, self.remote_qpn, psn))
    }

    /// How many packets a message of this length takes; an empty one takes one.
    pub fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mtu).max(1)
    }
}
