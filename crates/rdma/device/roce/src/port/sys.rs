//! The system calls of the port; the only `unsafe` of `roce`.
//!
//! Every call hands the kernel pointers to values that outlive it, with their lengths; messages point into
//! arrays that are filled before the call and not moved until it has returned. No call blocks.

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, cmsghdr, iovec, mmsghdr, msghdr, sockaddr_in, sockaddr_un, socklen_t};

use crate::batch::{Arrival, Batch, INBOX_SLOTS, Inbox, Received, SLOT_BYTES};
use crate::packet::Route;

/// Messages that one call sends.
const SEND_AT_ONCE: usize = 64;
/// Room for the two integers of control data, or for credentials.
const CONTROL_BYTES: usize = 64;

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn socket(domain: c_int) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers. The descriptor that comes back is ours alone.
    unsafe {
        let raw = check(libc::socket(domain, kind, 0))?;
        Ok(OwnedFd::from_raw_fd(raw))
    }
}

fn set_option<T>(socket: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let length = mem::size_of::<T>() as socklen_t;
    // SAFETY: `value` is `length` bytes, and read during the call only; options that hold a pointer (the BPF program)
    // are set by callers to what outlives the call.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            length,
        )
    })?;
    Ok(())
}

fn inet(address: Ipv4Addr, port: u16) -> sockaddr_in {
    sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(address).to_be(),
        },
        sin_zero: [0; 8],
    }
}

/// A socket bound to the address and port beside others of this user, datagrams chosen by byte 5; sends "don't
/// fragment", and so, unconnected, with IP identification 0.
pub(super) fn udp_socket(address: Ipv4Addr, port: u16, buffer: c_int) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_INET)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEPORT, &1)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &buffer)?;
    let discover = libc::IP_PMTUDISC_DO;
    set_option(&socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, &discover)?;
    set_option(&socket, libc::IPPROTO_IP, libc::IP_RECVTOS, &1)?;
    set_option(&socket, libc::IPPROTO_IP, libc::IP_RECVTTL, &1)?;
    let name = inet(address, port);
    // SAFETY: `name` is a sockaddr_in of the length that is told.
    check(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&name).cast(),
            mem::size_of_val(&name) as socklen_t,
        )
    })?;
    choose_by_byte_5(&socket)?;
    Ok(socket)
}

/// The BPF program: load the byte at 5, return it as the index of a socket.
fn choose_by_byte_5(socket: &OwnedFd) -> io::Result<()> {
    let instruction = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut filter = [
        instruction(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, 5),
        instruction(libc::BPF_RET | 0x10, 0),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    set_option(
        socket,
        libc::SOL_SOCKET,
        libc::SO_ATTACH_REUSEPORT_CBPF,
        &program,
    )
}

/// Sends the packets of the batch from the `first`th on; how many the kernel took, at least one.
pub(super) fn send_many(
    socket: &OwnedFd,
    port: u16,
    batch: &Batch,
    first: usize,
) -> io::Result<usize> {
    // SAFETY: all zeros are a valid value of these plain C structures.
    let mut names: [sockaddr_in; SEND_AT_ONCE] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut vectors: [iovec; SEND_AT_ONCE] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut messages: [mmsghdr; SEND_AT_ONCE] = unsafe { mem::zeroed() };
    let mut count = 0;
    for (destination, bytes) in batch.iter().skip(first).take(SEND_AT_ONCE) {
        names[count] = inet(destination, port);
        vectors[count] = iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let header = &mut messages[count].msg_hdr;
        header.msg_name = std::ptr::from_mut(&mut names[count]).cast();
        header.msg_namelen = mem::size_of::<sockaddr_in>() as socklen_t;
        header.msg_iov = &mut vectors[count];
        header.msg_iovlen = 1;
        count += 1;
    }
    // SAFETY: the first `count` messages are filled with pointers into `names`, `vectors` and `batch`, all borrowed
    // until the end of this function; the kernel only reads through them.
    let sent = check(unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            count as u32,
            libc::MSG_DONTWAIT,
        )
    })?;
    Ok(sent as usize)
}

/// Receives into the slots from `first` on; how many slots were used. `address` is what the socket is bound to.
pub(super) fn receive_many(
    socket: &OwnedFd,
    address: Ipv4Addr,
    inbox: &mut Inbox,
    first: usize,
) -> usize {
    // SAFETY: all zeros are a valid value of these plain C structures.
    let mut names: [sockaddr_in; INBOX_SLOTS] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut vectors: [iovec; INBOX_SLOTS] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut messages: [mmsghdr; INBOX_SLOTS] = unsafe { mem::zeroed() };
    let mut controls = [Control([0; CONTROL_BYTES]); INBOX_SLOTS];
    let mut count = 0;
    for slot in &mut inbox.slots[first..] {
        vectors[count] = iovec {
            iov_base: slot.as_mut_ptr().cast(),
            iov_len: SLOT_BYTES,
        };
        let header = &mut messages[count].msg_hdr;
        header.msg_name = std::ptr::from_mut(&mut names[count]).cast();
        header.msg_namelen = mem::size_of::<sockaddr_in>() as socklen_t;
        header.msg_iov = &mut vectors[count];
        header.msg_iovlen = 1;
        header.msg_control = controls[count].0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL_BYTES;
        count += 1;
    }
    // SAFETY: the first `count` messages point into `names`, `vectors`, `controls` and the slots, all borrowed mutably
    // until the end of this function, with their true lengths.
    let received = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            count as u32,
            libc::MSG_DONTWAIT,
            std::ptr::null_mut(),
        )
    };
    let received = usize::try_from(received).unwrap_or(0);
    for (index, message) in messages[..received].iter().enumerate() {
        if message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0 {
            continue;
        }
        let source = &names[index];
        inbox.packets.push(Received {
            arrival: Arrival {
                route: Route {
                    source: Ipv4Addr::from(u32::from_be(source.sin_addr.s_addr)),
                    destination: address,
                    source_port: u16::from_be(source.sin_port),
                },
                type_of_service: control_byte(&message.msg_hdr, libc::IPPROTO_IP, libc::IP_TOS),
                time_to_live: control_byte(&message.msg_hdr, libc::IPPROTO_IP, libc::IP_TTL),
            },
            slot: first + index,
            start: 0,
            bytes: message.msg_len as usize,
        });
    }
    received
}

/// Control data, aligned as its headers want.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

/// The data of the control message of this kind, which the kernel wrote into the buffer of `header`.
fn control_data(header: &msghdr, level: c_int, kind: c_int) -> Option<*const u8> {
    // SAFETY: the kernel left `msg_control` and `msg_controllen` describing the messages it wrote, in a buffer that the
    // caller still borrows; the macros stay within it.
    unsafe {
        let mut at: *mut cmsghdr = libc::CMSG_FIRSTHDR(header);
        while !at.is_null() {
            if (*at).cmsg_level == level && (*at).cmsg_type == kind {
                return Some(libc::CMSG_DATA(at));
            }
            at = libc::CMSG_NXTHDR(header, at);
        }
    }
    None
}

/// The first byte of an IP control message: a byte for the type of service, an int for the time to live, which
/// little-endian machines begin with the byte in question.
fn control_byte(header: &msghdr, level: c_int, kind: c_int) -> u8 {
    // SAFETY: data of these messages is at least one byte, in the buffer that `header` describes.
    control_data(header, level, kind).map_or(0, |data| unsafe { *data })
}

const _: () = assert!(cfg!(target_endian = "little"));

pub(super) fn user() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getuid() }
}

/// The address of an abstract unix socket and its length.
fn abstract_name(name: &str) -> io::Result<(sockaddr_un, socklen_t)> {
    // SAFETY: all zeros are a valid sockaddr_un.
    let mut address: sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let path = address
        .sun_path
        .get_mut(1..=name.len())
        .ok_or(io::ErrorKind::InvalidInput)?;
    for (to, from) in path.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let length = mem::offset_of!(sockaddr_un, sun_path) + 1 + name.len();
    Ok((address, length as socklen_t))
}

/// A datagram socket with this abstract name, which hears who sends.
pub(super) fn unix_socket(name: &str) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_UNIX)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_PASSCRED, &1)?;
    let (address, length) = abstract_name(name)?;
    // SAFETY: `length` bytes of `address` are initialised.
    check(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&address).cast(),
            length,
        )
    })?;
    Ok(socket)
}

pub(super) fn send_unix(
    socket: &OwnedFd,
    name: &str,
    prefix: &[u8],
    bytes: &[u8],
) -> io::Result<()> {
    let (mut address, length) = abstract_name(name)?;
    let part = |bytes: &[u8]| iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut parts = [part(prefix), part(bytes)];
    // SAFETY: all zeros are a valid msghdr.
    let mut message: msghdr = unsafe { mem::zeroed() };
    message.msg_name = std::ptr::from_mut(&mut address).cast();
    message.msg_namelen = length;
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    // SAFETY: the message points to `address` and to the two slices, all alive; the kernel only reads.
    let sent = unsafe {
        libc::sendmsg(
            socket.as_raw_fd(),
            &message,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A datagram's length and its sender's user, if the kernel told it.
pub(super) fn receive_unix(
    socket: &OwnedFd,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<u32>)> {
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all zeros are a valid msghdr.
    let mut message: msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES;
    // SAFETY: the message points to `buffer` and `control`, borrowed mutably, with their true lengths.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_DONTWAIT) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    let credentials = control_data(&message, libc::SOL_SOCKET, libc::SCM_CREDENTIALS);
    // SAFETY: a message of this kind holds a `ucred`, written by the kernel; it may lie unaligned.
    let user = credentials.map(|data| unsafe { data.cast::<libc::ucred>().read_unaligned().uid });
    Ok((received as usize, user))
}

/// The MTU of the interface that has this address.
pub(super) fn interface_mtu(socket: &OwnedFd, address: Ipv4Addr) -> io::Result<u32> {
    let name = interface_name(address)?;
    // SAFETY: all zeros are a valid ifreq.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    request.ifr_name = name;
    let pointer: *mut c_void = std::ptr::from_mut(&mut request).cast();
    // SAFETY: SIOCGIFMTU reads the name and writes the integer of the union.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU, pointer) })?;
    // SAFETY: written by the call above.
    Ok(unsafe { request.ifr_ifru.ifru_mtu } as u32)
}

fn interface_name(address: Ipv4Addr) -> io::Result<[libc::c_char; libc::IFNAMSIZ]> {
    let mut list = MaybeUninit::<*mut libc::ifaddrs>::uninit();
    // SAFETY: on success the call wrote the list's head.
    let head = unsafe {
        check(libc::getifaddrs(list.as_mut_ptr()))?;
        list.assume_init()
    };
    let mut found = Err(io::ErrorKind::AddrNotAvailable.into());
    let mut at = head;
    // SAFETY: the list is ours until it is freed below; an address of family AF_INET is a sockaddr_in, a name is a C
    // string shorter than IFNAMSIZ.
    unsafe {
        while let Some(entry) = at.as_ref() {
            at = entry.ifa_next;
            let Some(name) = entry.ifa_addr.as_ref() else {
                continue;
            };
            if c_int::from(name.sa_family) != libc::AF_INET {
                continue;
            }
            let inet = entry.ifa_addr.cast::<sockaddr_in>().read_unaligned();
            if u32::from_be(inet.sin_addr.s_addr) == u32::from(address) {
                let mut copy = [0; libc::IFNAMSIZ];
                let length = libc::strlen(entry.ifa_name).min(libc::IFNAMSIZ - 1);
                copy[..length].copy_from_slice(std::slice::from_raw_parts(entry.ifa_name, length));
                found = Ok(copy);
                break;
            }
        }
        libc::freeifaddrs(head);
    }
    found
}
