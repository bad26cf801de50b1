//! The invariant CRC of RoCEv2 over IPv4 (annex A17.3.3): CRC-32 over eight 0xff, the IP header with type of service,
//! time to live and checksum set to ones, the UDP header with its checksum set to ones, and the packet from the BTH to its
//! padding with the BTH's byte 4 set to ones.
//!
//! The IP identification is covered. We send "don't fragment" with identification 0, which is what Linux does
//! on an unconnected socket with path MTU discovery. Of a train of packets that the kernel makes of one datagram (UDP_SEGMENT) it
//! numbers the packets from there: the i-th has identification i ([`Identified`]). Other senders count. A UDP socket is not told the
//! identification, so a receiver asks whether there is one that makes the CRC right ([`icrc_matches`]): of the 32 bits,
//! 16 then protect the packet.

use std::net::Ipv4Addr;

/// The UDP port of RoCEv2 (annex A17.3.2).
pub const UDP_PORT: u16 = 4791;

pub const ICRC_BYTES: usize = 4;

/// Where a packet comes from and goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub source_port: u16,
    /// [`UDP_PORT`], unless both hosts agreed on another.
    pub destination_port: u16,
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

/// Whether `received` is the ICRC of `packet` (without it; at least a BTH) for some IP identification. One that is likely
/// is tried first: `likely` is what it changes.
pub fn icrc_matches(route: &Route, packet: &[u8], received: u32, likely: u32) -> bool {
    let difference = icrc(route, packet) ^ received;
    if difference == 0 || difference == likely {
        return true;
    }
    multiply(difference, power(&BACKWARD, steps(packet.len()))) >> 16 == 0
}

/// What IP identifications that are not 0 change of the ICRC of packets of one length.
///
/// A CRC is linear: the identification changes the register as two bytes fed into an empty one would, and each bit behind it
/// multiplies that by x, modulo the polynomial.
#[derive(Clone, Copy, Debug)]
pub struct Identified {
    packet_bytes: usize,
    /// What each bit of the two bytes changes, the lowest bit of the first byte first.
    bits: [u32; 16],
}

impl Identified {
    /// Of packets that have this many bytes before their ICRC.
    pub fn new(packet_bytes: usize) -> Identified {
        let mut change = multiply(1, power(&FORWARD, steps(packet_bytes)));
        let bits = [(); 16].map(|()| {
            let this = change;
            change = step_back(change);
            this
        });
        Identified { packet_bytes, bits }
    }

    /// To be added (exclusive or) to the ICRC that the packet has with identification 0.
    pub fn change(&self, identification: u16) -> u32 {
        let mut left = identification.swap_bytes();
        let mut change = 0;
        while left != 0 {
            change ^= self.bits[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        change
    }
}

/// The packets of a train have one length but for the last: what was last asked for is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdentifiedCache(Option<Identified>);

impl IdentifiedCache {
    /// See [`Identified`].
    pub fn change(&mut self, packet_bytes: usize, identification: u16) -> u32 {
        if identification == 0 {
            return 0;
        }
        let known = self.0.take_if(|known| known.packet_bytes == packet_bytes);
        let known = known.unwrap_or_else(|| Identified::new(packet_bytes));
        self.0.insert(known).change(identification)
    }
}

/// Bits from the identification to the end of what is covered.
fn steps(packet_bytes: usize) -> usize {
    8 * (LRH_BYTES + IP_BYTES + UDP_BYTES + packet_bytes - IDENTIFICATION_AT)
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
    udp[2..4].copy_from_slice(&route.destination_port.to_be_bytes());
    udp[4..6].copy_from_slice(&udp_bytes.to_be_bytes());
    bth[..4].copy_from_slice(&packet[..4]);
    masked
}

const POLYNOMIAL: u32 = 0xedb8_8320;

// Polynomials modulo CRC-32's, as its register holds them: the upper bit is 1, the one below it x.
const ONE: u32 = 1 << 31;

/// x, x^2, x^4 and so on: enough for the bits of any packet.
const FORWARD: [u32; 20] = squares(ONE >> 1);
/// The same of 1/x.
const BACKWARD: [u32; 20] = squares(step_back(ONE));

const fn squares(of: u32) -> [u32; 20] {
    let mut table = [of; 20];
    let mut index = 1;
    while index < table.len() {
        table[index] = multiply(table[index - 1], table[index - 1]);
        index += 1;
    }
    table
}

/// The power whose squares the table has.
fn power(table: &[u32; 20], exponent: usize) -> u32 {
    let bits = table.iter().enumerate();
    bits.filter(|(bit, _)| exponent >> bit & 1 == 1)
        .fold(ONE, |product, (_, square)| multiply(product, *square))
}

const fn multiply(mut a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    while a != 0 {
        if a & ONE != 0 {
            product ^= b;
        }
        a <<= 1;
        b = if b & 1 == 1 {
            b >> 1 ^ POLYNOMIAL
        } else {
            b >> 1
        };
    }
    product
}

/// Divides by x.
const fn step_back(register: u32) -> u32 {
    if register >> 31 == 1 {
        (register ^ POLYNOMIAL) << 1 | 1
    } else {
        register << 1
    }
}
