//! Packets on their way out, and datagrams that came in: many for each system call.

use std::net::Ipv4Addr;
use std::ops::Range;

use super::packet::{Header, ICRC_BYTES, IdentifiedCache, Route, icrc, padding};

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

/// Packets that one datagram holds for the kernel to divide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Train {
    pub destination: Ipv4Addr,
    pub first: usize,
    pub packets: usize,
    /// Of all but the last, which may be shorter.
    pub packet_bytes: usize,
    /// Where they lie in the batch.
    pub bytes: Range<usize>,
}

/// What a UDP datagram holds at most.
const MOST_DATAGRAM_BYTES: usize = 65535 - 20 - 8;

/// After so many packets a batch is full.
const BATCH_PACKETS: usize = 128;

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

    /// Where a packet's bytes are.
    fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |i| self.packets[i].end);
        start..self.packets[index].end
    }

    /// The longest train that begins with this packet and has at most so many: packets one behind the other to one
    /// process (the receiver's kernel looks at the first only), as long as the first, only the last may be shorter.
    pub(super) fn train(&self, first: usize, most: usize) -> Train {
        let destination = self.packets[first].destination;
        let whole = self.range(first);
        let mut train = Train {
            destination,
            first,
            packets: 1,
            packet_bytes: whole.len(),
            bytes: whole,
        };
        for index in first + 1..self.packets.len().min(first + most) {
            let next = self.range(index);
            let fits = next.len() <= train.packet_bytes
                && next.end - train.bytes.start <= MOST_DATAGRAM_BYTES;
            if !fits
                || self.packets[index].destination != destination
                || self.slot(&next) != self.slot(&train.bytes)
            {
                break;
            }
            train.packets += 1;
            train.bytes.end = next.end;
            if next.len() < train.packet_bytes {
                break;
            }
        }
        train
    }

    /// The byte by which the receiver's kernel chooses a process.
    fn slot(&self, packet: &Range<usize>) -> Option<&u8> {
        self.bytes(packet).get(5)
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }

    /// Makes the ICRCs of a train those of the identifications 0, 1, 2 and so on; done again, undoes it.
    pub(super) fn identify(&mut self, train: &Train, identified: &mut IdentifiedCache) {
        for identification in 1..train.packets {
            let range = self.range(train.first + identification);
            let at = range.end - ICRC_BYTES;
            let change = identified.change(range.len() - ICRC_BYTES, identification as u16);
            for (byte, change) in self.bytes[at..range.end]
                .iter_mut()
                .zip(change.to_le_bytes())
            {
                *byte ^= change;
            }
        }
    }

    /// Each packet's destination and bytes, BTH to ICRC.
    pub fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &[u8])> {
        (0..self.packets.len()).map(|index| {
            (
                self.packets[index].destination,
                &self.bytes[self.range(index)],
            )
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

/// Room for the longest datagram, that is the longest train; only what arrives is ever touched of it.
pub(super) const SLOT_BYTES: usize = 1 << 16;
/// Datagrams that are received by one system call.
pub(super) const INBOX_SLOTS: usize = 16;

/// Datagrams that arrived and whose ICRC is right. The buffers are used again and again.
#[derive(Debug)]
pub struct Inbox {
    pub(super) slots: Box<[[u8; SLOT_BYTES]]>,
    pub(super) packets: Vec<Received>,
    /// Slots in use.
    pub(super) datagrams: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub arrival: Arrival,
    pub slot: usize,
    pub start: usize,
    pub bytes: usize,
    /// Which packet of its train it is, from 0.
    pub place: u16,
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
            datagrams: 0,
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

    /// A batch of packets by destination, slot and length.
    fn packets(of: &[(Ipv4Addr, u8, usize)]) -> Batch {
        let mut batch = Batch::new();
        for &(destination, slot, bytes) in of {
            let mut packet = vec![0; bytes];
            packet[5] = slot;
            batch.push_raw(destination, &packet);
        }
        batch
    }

    /// Lengths of the trains that a batch leaves in.
    fn trains(batch: &Batch, most: usize) -> Vec<usize> {
        let mut trains = Vec::new();
        let mut first = 0;
        while first < batch.len() {
            let train = batch.train(first, most);
            assert_eq!(train.first, first);
            trains.push(train.packets);
            first += train.packets;
        }
        trains
    }

    #[test]
    fn a_train_has_one_destination_and_one_length_but_for_its_end() {
        let (here, there) = (Ipv4Addr::LOCALHOST, Ipv4Addr::new(10, 0, 0, 1));
        let of = |slots_and_lengths: &[(u8, usize)]| {
            let to_here = slots_and_lengths.iter().map(|&(slot, n)| (here, slot, n));
            packets(&to_here.collect::<Vec<_>>())
        };
        assert_eq!(trains(&of(&[(0, 40); 7]), 64), [7]);
        assert_eq!(trains(&of(&[(0, 40); 7]), 3), [3, 3, 1]);
        assert_eq!(trains(&of(&[(0, 40); 7]), 1), [1; 7]);
        // A shorter one ends a train, a longer one begins another.
        let lengths = [(0, 40), (0, 40), (0, 20), (0, 20), (0, 40), (0, 16)];
        assert_eq!(trains(&of(&lengths), 64), [3, 1, 2]);
        assert_eq!(trains(&of(&[(0, 40), (1, 40), (1, 40)]), 64), [1, 2]);
        let batch = packets(&[(here, 0, 40), (there, 0, 40), (there, 0, 40)]);
        assert_eq!(trains(&batch, 64), [1, 2]);
        // 65507 bytes are the most that a datagram holds.
        assert_eq!(trains(&of(&[(0, 1040); 70]), 64), [62, 8]);
        assert_eq!(trains(&of(&[(0, 4112); 20]), 64), [15, 5]);
    }

    #[test]
    fn identified_twice_a_train_is_as_before() {
        let mut batch = packets(&[(Ipv4Addr::LOCALHOST, 0, 64); 5]);
        let train = batch.train(0, 64);
        let before = batch.bytes.clone();
        let mut identified = IdentifiedCache::default();
        batch.identify(&train, &mut identified);
        let changed: Vec<bool> = (0..5)
            .map(|index| {
                let range = batch.range(index);
                batch.bytes[range.clone()] != before[range]
            })
            .collect();
        assert_eq!(changed, [false, true, true, true, true]);
        batch.identify(&train, &mut identified);
        assert_eq!(batch.bytes, before);
    }
}
