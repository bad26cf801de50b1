//! Receiving: datagrams, each one packet or a train of them that the kernel left together or put together (UDP_GRO).

use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use libc::{c_int, iovec, mmsghdr, msghdr, sockaddr_in, socklen_t};

use super::udp::UdpSocket;
use super::{Control, control_data};
use crate::batch::{Arrival, INBOX_SLOTS, Inbox, Received, SLOT_BYTES};
use crate::packet::Route;

/// Receives into the slots; how many were used. The socket is bound to `address` and `port`.
pub fn receive_many(
    socket: &UdpSocket,
    (address, port): (Ipv4Addr, u16),
    inbox: &mut Inbox,
) -> usize {
    // SAFETY: all zeros are a valid value of these plain C structures.
    let mut names: [sockaddr_in; INBOX_SLOTS] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut vectors: [iovec; INBOX_SLOTS] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut messages: [mmsghdr; INBOX_SLOTS] = unsafe { mem::zeroed() };
    let mut controls = [const { Control::new() }; INBOX_SLOTS];
    for (index, slot) in inbox.slots.iter_mut().enumerate() {
        vectors[index] = iovec {
            iov_base: slot.as_mut_ptr().cast(),
            iov_len: SLOT_BYTES,
        };
        let header = &mut messages[index].msg_hdr;
        header.msg_name = std::ptr::from_mut(&mut names[index]).cast();
        header.msg_namelen = mem::size_of::<sockaddr_in>() as socklen_t;
        header.msg_iov = &mut vectors[index];
        header.msg_iovlen = 1;
        controls[index].lend(header);
    }
    // SAFETY: the messages point into `names`, `vectors`, `controls` and the slots, all borrowed mutably until the end of this
    // function, with their true lengths.
    let received = unsafe {
        libc::recvmmsg(
            socket.descriptor.as_raw_fd(),
            messages.as_mut_ptr(),
            INBOX_SLOTS as u32,
            libc::MSG_DONTWAIT,
            std::ptr::null_mut(),
        )
    };
    let received = usize::try_from(received).unwrap_or(0);
    for (slot, message) in messages[..received].iter().enumerate() {
        let header = &message.msg_hdr;
        if header.msg_flags & libc::MSG_TRUNC != 0 {
            continue;
        }
        let source = &names[slot];
        let arrival = Arrival {
            route: Route {
                source: Ipv4Addr::from(u32::from_be(source.sin_addr.s_addr)),
                destination: address,
                source_port: u16::from_be(source.sin_port),
                destination_port: port,
            },
            type_of_service: control_byte(header, libc::IPPROTO_IP, libc::IP_TOS),
            time_to_live: control_byte(header, libc::IPPROTO_IP, libc::IP_TTL),
        };
        divide(
            inbox,
            slot,
            arrival,
            message.msg_len as usize,
            packet_bytes(header),
        );
    }
    received
}

/// Enters the packets of a datagram, each as long as is said, but for the last. An empty one counts as one.
fn divide(
    inbox: &mut Inbox,
    slot: usize,
    arrival: Arrival,
    bytes: usize,
    packet_bytes: Option<usize>,
) {
    let step = packet_bytes.unwrap_or(bytes).max(1);
    for (place, start) in (0..bytes.max(1)).step_by(step).enumerate() {
        inbox.packets.push(Received {
            arrival,
            slot,
            start,
            bytes: step.min(bytes - start),
            place: place as u16,
        });
    }
}

/// The length of a train's packets; none of a datagram that is one packet.
fn packet_bytes(header: &msghdr) -> Option<usize> {
    let data = control_data(header, libc::SOL_UDP, libc::UDP_GRO)?;
    // SAFETY: data of this message is an int, in the buffer that `header` describes.
    let bytes = unsafe { data.cast::<c_int>().read_unaligned() };
    usize::try_from(bytes).ok().filter(|bytes| *bytes > 0)
}

/// The first byte of an IP control message: a byte for the type of service, an int for the time to live, which
/// little-endian machines begin with the byte in question.
fn control_byte(header: &msghdr, level: c_int, kind: c_int) -> u8 {
    // SAFETY: data of these messages is at least one byte, in the buffer that `header` describes.
    control_data(header, level, kind).map_or(0, |data| unsafe { *data })
}

const _: () = assert!(cfg!(target_endian = "little"));
