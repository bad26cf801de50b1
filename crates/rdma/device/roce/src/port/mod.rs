//! The UDP socket of one address, shared by the processes of one user.
//!
//! Each process binds its own socket to the same address and port (`SO_REUSEPORT`); a BPF program
//! sends each datagram to the socket whose index is byte 5 of the BTH: the upper 8 bits of the destination QPN, which are the
//! process's slot. Sockets are numbered in the order of their binding, and a number that becomes free is taken by the last: so after
//! processes have come and gone, datagrams also arrive at the wrong one. It *relays* them, through an abstract unix
//! socket named by the slot, to the right one, all that one turn finds for it together. Both ends of a relay are the same user's, which the kernel attests. Queue pairs
//! of [`SHARED_SLOT`] belong to no process and no socket has that number, so the kernel chooses one, the same for all that comes
//! from one host while no socket comes or goes.
//!
//! Rules:
//! 1. Sending never waits. What the socket does not take goes into the backlog, and once that is not empty everything
//!    goes there, so that nothing overtakes. The agent thread calls [`Port::flush`] when the socket is writable
//!    ([`Port::wants_writable`]) and when [`Port::deadline`] has passed.
//! 2. `detour` is true while there is a backlog or an injector; it is written under the lock of `pending`, and
//!    read without it: a sender that reads it late sends in line, which at worst reorders.
//! 3. Whatever else goes wrong with a packet is a loss, and counted.

mod relay;
mod sys;
#[cfg(test)]
mod tests;

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::relay::Bundles;
use self::relay::Relay;
use self::sys::UdpSocket;
use crate::batch::{Arrival, Batch, INBOX_SLOTS, Inbox};
use crate::injector::{Injection, Injector};
use crate::packet::{ICRC_BYTES, IdentifiedCache, View, icrc_matches};

/// Upper 8 bits of the numbers of queue pairs that belong to no process: the process that gets a packet for one executes it.
pub const SHARED_SLOT: u8 = 255;

#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Of an interface of this host.
    pub address: Ipv4Addr,
    /// This process's slot: the upper 8 bits of its QPNs.
    pub slot: u8,
    /// UDP port at both ends. One fabric has it: processes of another would get the same slots.
    pub port: u16,
    pub injection: Injection,
}

/// Packets that were lost at this end, by why.
#[derive(Debug, Default)]
pub struct Losses {
    /// The kernel did not take it: no route, too long, no memory.
    pub unsendable: AtomicU64,
    /// The backlog was full.
    pub backlog: AtomicU64,
    /// Not a packet, or its ICRC is wrong.
    pub malformed: AtomicU64,
    /// For a process that is not there.
    pub astray: AtomicU64,
}

#[derive(Debug)]
pub struct Port {
    socket: UdpSocket,
    relay: Relay,
    address: Ipv4Addr,
    port: u16,
    slot: u8,
    pending: Mutex<Pending>,
    detour: AtomicBool,
    pub losses: Losses,
}

#[derive(Debug)]
struct Pending {
    injector: Injector,
    backlog: Batch,
}

/// Packets of the backlog; beyond, they are lost as in a switch.
const BACKLOG_PACKETS: usize = 4096;

/// Asked for; the kernel gives what `net.core.rmem_max` and `wmem_max` allow.
const SOCKET_BUFFER_BYTES: i32 = 4 << 20;

impl Port {
    pub fn open(config: &PortConfig) -> io::Result<Port> {
        // First the name: a socket of another fabric would take datagrams from the one that has the port.
        let relay = Relay::open(
            config.address,
            config.port,
            config.slot,
            SOCKET_BUFFER_BYTES,
        )?;
        let socket = sys::udp_socket(config.address, config.port, SOCKET_BUFFER_BYTES)?;
        // Two hosts with one seed must not lose in step.
        let injector = Injector::new(Injection {
            seed: config.injection.seed ^ u64::from(u32::from(config.address)) << 32,
            ..config.injection
        });
        Ok(Port {
            relay,
            socket,
            address: config.address,
            port: config.port,
            slot: config.slot,
            detour: AtomicBool::new(!injector.is_idle()),
            pending: Mutex::new(Pending {
                injector,
                backlog: Batch::new(),
            }),
            losses: Losses::default(),
        })
    }

    /// Readable when [`receive`](Self::receive) has something: the network's socket and the relay's.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.socket.as_fd(), self.relay.descriptor()]
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the batch and empties it.
    pub fn send(&self, now: u64, batch: &mut Batch) {
        if self.detour.load(Ordering::Relaxed) {
            let mut pending = self.pending();
            let pending = &mut *pending;
            if pending.injector.is_idle() {
                self.append(&mut pending.backlog, batch, 0);
            } else {
                let mut out = Batch::new();
                pending.injector.pass(now, batch, &mut out);
                self.append(&mut pending.backlog, &out, 0);
            }
            self.push_backlog(pending);
        } else {
            let taken = self.push_socket(batch);
            if taken < batch.len() {
                let mut pending = self.pending();
                self.append(&mut pending.backlog, batch, taken);
                self.detour.store(true, Ordering::Relaxed);
            }
        }
        batch.clear();
    }

    /// Sends what was kept back, as far as it is due and the socket takes it.
    pub fn flush(&self, now: u64) {
        let mut pending = self.pending();
        let pending = &mut *pending;
        let mut due = Batch::new();
        pending.injector.release(now, &mut due);
        self.append(&mut pending.backlog, &due, 0);
        self.push_backlog(pending);
    }

    /// When [`flush`](Self::flush) is to be called.
    pub fn deadline(&self) -> Option<u64> {
        if !self.detour.load(Ordering::Relaxed) {
            return None;
        }
        self.pending().injector.deadline()
    }

    /// When the last packet that is kept back now will have left.
    pub fn last_deadline(&self) -> Option<u64> {
        if !self.detour.load(Ordering::Relaxed) {
            return None;
        }
        self.pending().injector.last_deadline()
    }

    /// Should somebody wait for the socket to become writable, and then flush?
    pub fn wants_writable(&self) -> bool {
        self.detour.load(Ordering::Relaxed) && !self.pending().backlog.is_empty()
    }

    /// Cuts the link, or mends it.
    pub fn set_link_down(&self, down: bool) {
        let mut pending = self.pending();
        pending.injector.set_link_down(down);
        self.detour.store(true, Ordering::Relaxed);
        self.push_backlog(&mut pending);
    }

    fn append(&self, backlog: &mut Batch, packets: &Batch, first: usize) {
        for (destination, bytes) in packets.iter().skip(first) {
            if backlog.len() < BACKLOG_PACKETS {
                backlog.push_raw(destination, bytes);
            } else {
                self.losses.backlog.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn push_backlog(&self, pending: &mut Pending) {
        let taken = self.push_socket(&mut pending.backlog);
        pending.backlog.drop_first(taken);
        let idle = pending.backlog.is_empty() && pending.injector.is_idle();
        self.detour.store(!idle, Ordering::Relaxed);
    }

    /// Gives the batch to the socket; how many are done with, sent or lost.
    fn push_socket(&self, batch: &mut Batch) -> usize {
        let mut done = 0;
        while done < batch.len() {
            match sys::send_many(&self.socket, self.port, batch, done) {
                Ok(sent) => done += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(_) => {
                    done += 1;
                    self.losses.unsendable.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        done
    }

    /// Fills the inbox with what is there; nothing is not an error. True if there may be more.
    pub fn receive(&self, inbox: &mut Inbox) -> bool {
        let more_from_network = self.receive_from_network(inbox);
        let first = inbox.datagrams;
        inbox.datagrams += self.relay.receive((self.address, self.port), inbox, first);
        self.keep_ours(inbox);
        more_from_network || inbox.datagrams == INBOX_SLOTS
    }

    /// The same, but what other processes relayed stays where it is.
    pub fn receive_direct(&self, inbox: &mut Inbox) -> bool {
        let more = self.receive_from_network(inbox);
        self.keep_ours(inbox);
        more
    }

    fn receive_from_network(&self, inbox: &mut Inbox) -> bool {
        inbox.packets.clear();
        inbox.datagrams = sys::receive_many(&self.socket, (self.address, self.port), inbox);
        inbox.datagrams == INBOX_SLOTS
    }

    fn keep_ours(&self, inbox: &mut Inbox) {
        let mut identified = IdentifiedCache::default();
        let mut others = Bundles::default();
        inbox.packets.retain(|received| {
            let bytes = &inbox.slots[received.slot][received.start..][..received.bytes];
            let covered = received.bytes.saturating_sub(ICRC_BYTES);
            let likely = identified.change(covered, received.place);
            match self.slot_of(&received.arrival, bytes, likely) {
                Some(slot) if slot == self.slot || slot == SHARED_SLOT => true,
                // It cannot go round: the name that it is passed on to is that of its own slot.
                Some(slot) => {
                    others.push(slot, &received.arrival, received.place, bytes);
                    false
                }
                None => false,
            }
        });
        self.pass_on(&mut others);
        debug_assert!(inbox.datagrams <= INBOX_SLOTS);
    }

    /// Gives packets to other processes of this user, and empties the bundles.
    pub fn pass_on(&self, bundles: &mut Bundles) {
        let lost = self.relay.pass_on(bundles);
        self.losses.astray.fetch_add(lost, Ordering::Relaxed);
    }

    /// Whom the packet is for, if it is whole.
    /// `likely` is what its place in a train changes of its ICRC.
    fn slot_of(&self, arrival: &Arrival, bytes: &[u8], likely: u32) -> Option<u8> {
        let valid = View::parse(bytes)
            .ok()
            .filter(|view| icrc_matches(&arrival.route, view.covered(), view.icrc(), likely));
        let Some(view) = valid else {
            self.losses.malformed.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        Some((view.header().destination_qpn >> 16) as u8)
    }

    /// Packets of this many payload bytes that a connection may have in flight. The peer's socket has to hold them while its
    /// process sleeps; it is taken to have as much room as this one. Beyond a megabyte nothing is gained, only caches are left.
    pub fn window(&self, mtu: u32) -> u64 {
        const MOST_BYTES: u32 = 1 << 20;
        // The kernel counts its own structures, too.
        let held = self.socket.receive_bytes / 2;
        u64::from((held.min(MOST_BYTES) / mtu.max(1)).max(32))
    }

    /// Payload bytes that a packet may have on this port's interface: its active MTU.
    pub fn active_mtu(&self) -> io::Result<u32> {
        Ok(path_mtu(sys::interface_mtu(
            &self.socket.descriptor,
            self.address,
        )?))
    }
}

/// The largest MTU of InfiniBand whose packets fit into those of an interface, with the longest headers a payload has:
/// IP, UDP, BTH, XRCETH, RETH, immediate data and ICRC.
pub fn path_mtu(interface_mtu: u32) -> u32 {
    const HEADERS: u32 = 20 + 8 + 12 + 4 + 16 + 4 + 4;
    [4096, 2048, 1024, 512]
        .into_iter()
        .find(|mtu| mtu + HEADERS <= interface_mtu)
        .unwrap_or(256)
}
