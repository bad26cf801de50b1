//! Packets on their way out, and datagrams that came in: many for each system call.

use std::net::Ipv4Addr;

use super::packet::{Header, ICRC_BYTES, Route, icrc, padding};

/// Packets ready to be sent, one behind the other in one buffer that is used again and again.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    packets: Vec<Outgoing>,
}

#[derive(Clone, Copy, Debug)]
struct Outgoing {
    destination: Ipv4Addr,
    end: usize,
}

/// After so many packets a batch is full.
const BATCH_PACKETS: usize = 64;

impl Batch {
    pub fn new() -> Batch {
        Batch::default()
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.packets.len() >= BATCH_PACKETS
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.packets.clear();
    }

    /// Takes away the first packets.
    pub(super) fn drop_first(&mut self, count: usize) {
        let bytes = count.checked_sub(1).map_or(0, |i| self.packets[i].end);
        self.bytes.drain(..bytes);
        self.packets.drain(..count);
        for packet in &mut self.packets {
            packet.end -= bytes;
        }
    }

    /// Each packet's destination and bytes, BTH to ICRC.
    pub fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &[u8])> {
        (0..self.packets.len()).map(|index| {
            let start = index.checked_sub(1).map_or(0, |i| self.packets[i].end);
            let packet = &self.packets[index];
            (packet.destination, &self.bytes[start..packet.end])
        })
    }

    /// Appends a finished packet.
    pub fn push_raw(&mut self, destination: Ipv4Addr, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.packets.push(Outgoing {
            destination,
            end: self.bytes.len(),
        });
    }

    /// Appends a packet whose payload `fill` writes in position; when that fails, nothing is appended.
    pub fn push<E>(
        &mut self,
        route: &Route,
        header: &Header,
        payload_bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        header.emit(payload_bytes, &mut self.bytes);
        let payload = self.bytes.len();
        let padded = payload_bytes + usize::from(padding(payload_bytes));
        self.bytes.reserve(padded + ICRC_BYTES);
        self.bytes.resize(payload + padded, 0);
        if let Err(error) = fill(&mut self.bytes[payload..payload + payload_bytes]) {
            self.bytes.truncate(start);
            return Err(error);
        }
        let icrc = icrc(route, &self.bytes[start..]);
        self.bytes.extend_from_slice(&icrc.to_le_bytes());
        self.packets.push(Outgoing {
            destination: route.destination,
            end: self.bytes.len(),
        });
        Ok(())
    }

    /// Appends a packet without payload.
    pub fn push_bare(&mut self, route: &Route, header: &Header) {
        let Ok(()) = self.push(route, header, 0, |_| Ok::<(), std::convert::Infallible>(()));
    }
}

/// What an IP header told of a datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub route: Route,
    pub type_of_service: u8,
    pub time_to_live: u8,
}

/// Room for the largest packet: a payload of 4096 bytes and every header.
pub(super) const SLOT_BYTES: usize = 4096 + 256;
/// Datagrams that are received by one system call.
pub(super) const INBOX_SLOTS: usize = 32;

/// Datagrams that arrived and whose ICRC is right. The buffers are used again and again.
#[derive(Debug)]
pub struct Inbox {
    pub(super) slots: Box<[[u8; SLOT_BYTES]]>,
    pub(super) packets: Vec<Received>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub arrival: Arrival,
    pub slot: usize,
    pub start: usize,
    pub bytes: usize,
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox::new()
    }
}

impl Inbox {
    pub fn new() -> Inbox {
        Inbox {
            slots: vec![[0; SLOT_BYTES]; INBOX_SLOTS].into_boxed_slice(),
            packets: Vec::with_capacity(INBOX_SLOTS),
        }
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Each datagram's origin and bytes, BTH to ICRC.
    pub fn iter(&self) -> impl Iterator<Item = (&Arrival, &[u8])> {
        self.packets.iter().map(|received| {
            let slot = &self.slots[received.slot];
            let end = received.start + received.bytes;
            (&received.arrival, &slot[received.start..end])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_keep_their_bytes_when_the_first_are_dropped() {
        let there = Ipv4Addr::LOCALHOST;
        let mut batch = Batch::new();
        for bytes in [&[1, 2, 3][..], &[4], &[5, 6], &[7]] {
            batch.push_raw(there, bytes);
        }
        batch.drop_first(0);
        batch.drop_first(2);
        let left: Vec<&[u8]> = batch.iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(left, [&[5, 6][..], &[7]]);
        batch.push_raw(there, &[8]);
        assert_eq!(batch.iter().last(), Some((there, &[8][..])));
        batch.drop_first(3);
        assert!(batch.is_empty());
    }
}
