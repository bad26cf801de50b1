//! The invariant CRC of RoCEv2 over IPv4 (annex A17.3.3): CRC-32 over eight 0xff, the IP header with type of service,
//! time to live and checksum set to ones, the UDP header with its checksum set to ones, and the packet from the BTH to its
//! padding with the BTH's byte 4 set to ones.
//!
//! The IP identification is covered. We send "don't fragment" with identification 0, which is what Linux does
//! on an unconnected socket with path MTU discovery; other senders count. A UDP socket is not told the
//! identification, so a receiver asks whether there is one that makes the CRC right ([`icrc_matches`]): of the 32 bits,
//! 16 then protect the packet.

use std::net::Ipv4Addr;

/// The UDP port of RoCEv2, at both ends of what we send.
pub const UDP_PORT: u16 = 4791;

pub const ICRC_BYTES: usize = 4;

/// Where a packet comes from and goes to. The destination port is [`UDP_PORT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub source_port: u16,
}

const LRH_BYTES: usize = 8;
const IP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
/// The pseudo headers and the BTH up to and with its masked byte.
const MASKED_BYTES: usize = LRH_BYTES + IP_BYTES + UDP_BYTES + 5;
/// Where the IP identification stands among what is covered.
const IDENTIFICATION_AT: usize = LRH_BYTES + 4;

/// The ICRC of `packet` (without it; at least a BTH), sent with IP identification 0.
pub fn icrc(route: &Route, packet: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&masked_headers(route, packet));
    hasher.update(&packet[5..]);
    hasher.finalize()
}

/// Whether `received` is the ICRC of `packet` (without it; at least a BTH) for some IP identification.
pub fn icrc_matches(route: &Route, packet: &[u8], received: u32) -> bool {
    let mut difference = icrc(route, packet) ^ received;
    if difference == 0 {
        return true;
    }
    // A CRC is linear: an identification that is not 0 changes the register as two bytes fed into an empty one
    // would, and each byte behind it moves that on by one step. Undo the steps.
    let covered = LRH_BYTES + IP_BYTES + UDP_BYTES + packet.len();
    for _ in IDENTIFICATION_AT..covered {
        difference = step_back(difference);
    }
    difference >> 16 == 0
}

fn masked_headers(route: &Route, packet: &[u8]) -> [u8; MASKED_BYTES] {
    let udp_bytes = (UDP_BYTES + packet.len() + ICRC_BYTES) as u16;
    let mut masked = [0xff; MASKED_BYTES];
    let (ip, rest) = masked[LRH_BYTES..].split_at_mut(IP_BYTES);
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&(IP_BYTES as u16 + udp_bytes).to_be_bytes());
    ip[4..8].copy_from_slice(&[0, 0, 0x40, 0]);
    ip[9] = 17;
    ip[12..16].copy_from_slice(&route.source.octets());
    ip[16..20].copy_from_slice(&route.destination.octets());
    let (udp, bth) = rest.split_at_mut(UDP_BYTES);
    udp[0..2].copy_from_slice(&route.source_port.to_be_bytes());
    udp[2..4].copy_from_slice(&UDP_PORT.to_be_bytes());
    udp[4..6].copy_from_slice(&udp_bytes.to_be_bytes());
    bth[..4].copy_from_slice(&packet[..4]);
    masked
}

const POLYNOMIAL: u32 = 0xedb8_8320;

/// The register before it took in a zero byte.
fn step_back(mut register: u32) -> u32 {
    for _ in 0..8 {
        register = if register >> 31 == 1 {
            (register ^ POLYNOMIAL) << 1 | 1
        } else {
            register << 1
        };
    }
    register
}
