//! Datagrams between processes of this host, with names of the abstract kind.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{iovec, msghdr, sockaddr_un, socklen_t};

use super::{Control, check, control_data, set_option, socket};

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

/// A datagram socket with this abstract name, which hears who sends. What it has sent and nobody has read is `send_bytes` at most,
/// as far as the kernel allows.
pub fn unix_socket(name: &str, send_bytes: i32) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_UNIX)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &send_bytes)?;
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

pub fn send_unix(socket: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let (mut address, length) = abstract_name(name)?;
    let mut part = iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all zeros are a valid msghdr.
    let mut message: msghdr = unsafe { mem::zeroed() };
    message.msg_name = std::ptr::from_mut(&mut address).cast();
    message.msg_namelen = length;
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    // SAFETY: the message points to `address` and to the slice, both alive; the kernel only reads.
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
pub fn receive_unix(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<(usize, Option<u32>)> {
    let mut control = Control::new();
    let mut part = iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all zeros are a valid msghdr.
    let mut message: msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    control.lend(&mut message);
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
