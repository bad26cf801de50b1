//! Datagrams that reached the wrong process of this user, on their way to the right one.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::sys;
use crate::batch::{Arrival, INBOX_SLOTS, Inbox, Received, SLOT_BYTES};
use crate::packet::Route;

/// Before a relayed packet: source address, source port, type of service, time to live, place in its train, bytes. Numbers of two
/// bytes have the big end first.
const PREFIX_BYTES: usize = 12;

/// Packets for other processes of this user, each process's in one datagram: a unix socket that nobody reads holds few datagrams
/// (`net.unix.max_dgram_qlen`, 10 unless somebody has changed it), and a connection has many more packets under way.
#[derive(Debug, Default)]
pub struct Bundles {
    bundles: Vec<Bundle>,
}

#[derive(Debug)]
struct Bundle {
    slot: u8,
    packets: u64,
    bytes: Vec<u8>,
}

impl Bundles {
    /// Appends a packet to what there is for that slot.
    pub fn push(&mut self, slot: u8, arrival: &Arrival, place: u16, packet: &[u8]) {
        let bytes = PREFIX_BYTES + packet.len();
        let last = self.bundles.iter().rposition(|bundle| bundle.slot == slot);
        // Only into the last one, so that nothing overtakes.
        let room = last.filter(|&last| self.bundles[last].bytes.len() + bytes <= SLOT_BYTES);
        let index = room.unwrap_or(self.bundles.len());
        if index == self.bundles.len() {
            self.bundles.push(Bundle {
                slot,
                packets: 0,
                bytes: Vec::new(),
            });
        }
        let bundle = &mut self.bundles[index];
        bundle.packets += 1;
        let to = &mut bundle.bytes;
        to.extend_from_slice(&arrival.route.source.octets());
        to.extend_from_slice(&arrival.route.source_port.to_be_bytes());
        to.extend_from_slice(&[arrival.type_of_service, arrival.time_to_live]);
        to.extend_from_slice(&place.to_be_bytes());
        to.extend_from_slice(&(packet.len() as u16).to_be_bytes());
        to.extend_from_slice(packet);
    }
}

#[derive(Debug)]
pub(super) struct Relay {
    socket: OwnedFd,
    /// The abstract name of each process's socket, without its slot.
    prefix: String,
    user: u32,
}

impl Relay {
    pub fn open(address: Ipv4Addr, port: u16, slot: u8, send_bytes: i32) -> io::Result<Relay> {
        let user = sys::user();
        let prefix = format!("softrdma-roce/{user}/{address}:{port}/");
        let socket = sys::unix_socket(&name(&prefix, slot), send_bytes)?;
        Ok(Relay {
            socket,
            prefix,
            user,
        })
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends the bundles and empties them. Returns how many packets are lost, as their processes are not there, or do not save up.
    pub fn pass_on(&self, bundles: &mut Bundles) -> u64 {
        let mut lost = 0;
        for bundle in bundles.bundles.drain(..) {
            let to = name(&self.prefix, bundle.slot);
            if sys::send_unix(&self.socket, &to, &bundle.bytes).is_err() {
                lost += bundle.packets;
            }
        }
        lost
    }

    /// Takes bundles into the slots from `first` on; how many slots it used.
    pub fn receive(
        &self,
        (address, port): (Ipv4Addr, u16),
        inbox: &mut Inbox,
        first: usize,
    ) -> usize {
        let mut used = 0;
        for slot in first..INBOX_SLOTS {
            let buffer: &mut [u8; SLOT_BYTES] = &mut inbox.slots[slot];
            let Ok((bytes, sender)) = sys::receive_unix(&self.socket, buffer) else {
                break;
            };
            used += 1;
            if sender == Some(self.user) {
                unbundle(inbox, slot, bytes, (address, port));
            }
        }
        used
    }
}

/// Finds the packets in the slot's first `end` bytes. What is not whole is left.
fn unbundle(inbox: &mut Inbox, slot: usize, end: usize, (address, port): (Ipv4Addr, u16)) {
    let buffer = &inbox.slots[slot][..end];
    let mut at = 0;
    while let Some(prefix) = buffer.get(at..).and_then(|rest| rest.first_chunk()) {
        let prefix: &[u8; PREFIX_BYTES] = prefix;
        let number = |at: usize| u16::from_be_bytes([prefix[at], prefix[at + 1]]);
        let (start, bytes) = (at + PREFIX_BYTES, usize::from(number(10)));
        if start + bytes > end {
            return;
        }
        let arrival = Arrival {
            route: Route {
                source: Ipv4Addr::new(prefix[0], prefix[1], prefix[2], prefix[3]),
                destination: address,
                source_port: number(4),
                destination_port: port,
            },
            type_of_service: prefix[6],
            time_to_live: prefix[7],
        };
        inbox.packets.push(Received {
            arrival,
            slot,
            start,
            bytes,
            place: number(8),
        });
        at = start + bytes;
    }
}

fn name(prefix: &str, slot: u8) -> String {
    format!("{prefix}{slot}")
}
