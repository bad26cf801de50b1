//! Datagrams that reached the wrong process of this user, on their way to the right one.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::sys;
use crate::batch::{Arrival, INBOX_SLOTS, Inbox, Received, SLOT_BYTES};
use crate::packet::Route;

/// Before a relayed packet: source address, source port (big end first), type of service, time to live.
const PREFIX_BYTES: usize = 8;

#[derive(Debug)]
pub(super) struct Relay {
    socket: OwnedFd,
    /// The abstract name of each process's socket, without its slot.
    prefix: String,
    user: u32,
}

impl Relay {
    pub fn open(address: Ipv4Addr, port: u16, slot: u8) -> io::Result<Relay> {
        let user = sys::user();
        let prefix = format!("softrdma-roce/{user}/{address}:{port}/");
        let socket = sys::unix_socket(&name(&prefix, slot))?;
        Ok(Relay {
            socket,
            prefix,
            user,
        })
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// False if that process is not there, or does not save up.
    pub fn pass_on(&self, slot: u8, arrival: &Arrival, bytes: &[u8]) -> bool {
        let mut prefix = [0; PREFIX_BYTES];
        prefix[..4].copy_from_slice(&arrival.route.source.octets());
        prefix[4..6].copy_from_slice(&arrival.route.source_port.to_be_bytes());
        prefix[6] = arrival.type_of_service;
        prefix[7] = arrival.time_to_live;
        sys::send_unix(&self.socket, &name(&self.prefix, slot), &prefix, bytes).is_ok()
    }

    /// Takes relayed packets into the slots from `first` on; how many slots it used.
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
            if sender != Some(self.user) || bytes < PREFIX_BYTES {
                continue;
            }
            let arrival = Arrival {
                route: Route {
                    source: Ipv4Addr::new(buffer[0], buffer[1], buffer[2], buffer[3]),
                    destination: address,
                    source_port: u16::from_be_bytes([buffer[4], buffer[5]]),
                    destination_port: port,
                },
                type_of_service: buffer[6],
                time_to_live: buffer[7],
            };
            inbox.packets.push(Received {
                arrival,
                slot,
                start: PREFIX_BYTES,
                bytes: bytes - PREFIX_BYTES,
                place: 0,
            });
        }
        used
    }
}

fn name(prefix: &str, slot: u8) -> String {
    format!("{prefix}{slot}")
}
