//! Sending: a batch leaves as few datagrams as the kernel allows, each a train of packets.

use std::io;
use std::mem;
use std::os::fd::AsRawFd;

use libc::{iovec, mmsghdr, sockaddr_in, socklen_t};

use super::udp::{UdpSocket, inet};
use super::{Control, check};
use crate::batch::{Batch, Train};
use crate::packet::IdentifiedCache;

/// Datagrams that one call sends.
const SEND_AT_ONCE: usize = 16;
/// Packets that any kernel makes of one datagram (UDP_MAX_SEGMENTS was 64 before it was 128).
const TRAIN_PACKETS: usize = 64;

/// Sends the packets of the batch from the `first`th on; how many the kernel took, at least one.
pub fn send_many(
    socket: &UdpSocket,
    port: u16,
    batch: &mut Batch,
    first: usize,
) -> io::Result<usize> {
    let most = if socket.segments() { TRAIN_PACKETS } else { 1 };
    let mut trains: Vec<Train> = Vec::with_capacity(SEND_AT_ONCE);
    let mut next = first;
    while next < batch.len() && trains.len() < SEND_AT_ONCE {
        let train = batch.train(next, most);
        next += train.packets;
        trains.push(train);
    }
    let mut identified = IdentifiedCache::default();
    for train in &trains {
        batch.identify(train, &mut identified);
    }
    let result = send_trains(socket, port, batch, &trains);
    let sent = *result.as_ref().unwrap_or(&0);
    for train in &trains[sent..] {
        batch.identify(train, &mut identified);
    }
    match result {
        Err(error) if trains[0].packets > 1 && is_about_segments(&error) => {
            socket.does_not_segment();
            send_many(socket, port, batch, first)
        }
        Err(error) => Err(error),
        Ok(_) => Ok(trains[..sent].iter().map(|train| train.packets).sum()),
    }
}

/// What udp(7)'s UDP_SEGMENT is refused with: the interface cannot compute checksums (EIO), a packet is longer than the way
/// carries (EINVAL), or a kernel that does not know the control message.
fn is_about_segments(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EIO | libc::EINVAL | libc::EOPNOTSUPP)
    )
}

/// Gives the kernel up to [`SEND_AT_ONCE`] trains; how many it took, at least one.
fn send_trains(
    socket: &UdpSocket,
    port: u16,
    batch: &Batch,
    trains: &[Train],
) -> io::Result<usize> {
    // SAFETY: all zeros are a valid value of these plain C structures.
    let mut names: [sockaddr_in; SEND_AT_ONCE] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut vectors: [iovec; SEND_AT_ONCE] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut messages: [mmsghdr; SEND_AT_ONCE] = unsafe { mem::zeroed() };
    let mut controls = [const { Control::new() }; SEND_AT_ONCE];
    let mut count = 0;
    for train in trains.iter().take(SEND_AT_ONCE) {
        let bytes = batch.bytes(&train.bytes);
        names[count] = inet(train.destination, port);
        vectors[count] = iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let header = &mut messages[count].msg_hdr;
        header.msg_name = std::ptr::from_mut(&mut names[count]).cast();
        header.msg_namelen = mem::size_of::<sockaddr_in>() as socklen_t;
        header.msg_iov = &mut vectors[count];
        header.msg_iovlen = 1;
        if train.packets > 1 {
            controls[count].segment(header, train.packet_bytes as u16);
        }
        count += 1;
    }
    // SAFETY: the first `count` messages are filled with pointers into `names`, `vectors`, `controls` and `batch`, all borrowed
    // until the end of this function; the kernel only reads through them.
    let sent = check(unsafe {
        libc::sendmmsg(
            socket.descriptor.as_raw_fd(),
            messages.as_mut_ptr(),
            count as u32,
            libc::MSG_DONTWAIT,
        )
    })?;
    Ok(sent as usize)
}
