//! Socket addresses and sockets.

use std::ffi::c_int;
use std::mem::size_of_val;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

use crate::call::{Errno, Outcome, system};

/// Tries of a connect before it is given up: about fifteen seconds.
const SYN_RETRIES: c_int = 3;

/// # Safety
/// `address` points to an address as long as its family says.
pub unsafe fn read(address: *const sockaddr) -> Outcome<SocketAddr> {
    // SAFETY: the caller's promise.
    match c_int::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: an address of this family is so long.
            let address = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            let port = u16::from_be(address.sin_port);
            Ok(SocketAddrV4::new(ip, port).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family is so long.
            let address = unsafe { address.cast::<sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
            let port = u16::from_be(address.sin6_port);
            Ok(SocketAddrV6::new(ip, port, address.sin6_flowinfo, address.sin6_scope_id).into())
        }
        _ => Err(Errno(libc::EAFNOSUPPORT)),
    }
}

/// The address as C has it, and its length.
pub fn write(address: SocketAddr) -> (sockaddr_storage, socklen_t) {
    // SAFETY: an address of zeros is one of no family.
    let mut storage: sockaddr_storage = unsafe { std::mem::zeroed() };
    let target = &raw mut storage;
    // SAFETY: the storage is large enough for every family, and aligned.
    let length = unsafe {
        match address {
            SocketAddr::V4(address) => {
                let to = &mut *target.cast::<sockaddr_in>();
                to.sin_family = libc::AF_INET as _;
                to.sin_port = address.port().to_be();
                to.sin_addr.s_addr = u32::from(*address.ip()).to_be();
                size_of_val(to)
            }
            SocketAddr::V6(address) => {
                let to = &mut *target.cast::<sockaddr_in6>();
                to.sin6_family = libc::AF_INET6 as _;
                to.sin6_port = address.port().to_be();
                to.sin6_addr.s6_addr = address.ip().octets();
                to.sin6_flowinfo = address.flowinfo();
                to.sin6_scope_id = address.scope_id();
                size_of_val(to)
            }
        }
    };
    (storage, length as socklen_t)
}

/// The address from which `target` is reached.
pub fn source_of(target: SocketAddr) -> Outcome<IpAddr> {
    let any: IpAddr = match target {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Nothing is sent: connecting a datagram socket only looks up the route.
    let socket = UdpSocket::bind((any, 0))?;
    let port = if target.port() == 0 { 9 } else { target.port() };
    socket.connect((target.ip(), port))?;
    Ok(socket.local_addr()?.ip())
}

/// Whether this host has the address.
pub fn is_own(ip: IpAddr) -> bool {
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

/// A TCP socket at `address`; port 0 takes a free one.
pub fn bind(address: SocketAddr, reuse: bool) -> Outcome<OwnedFd> {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: a new descriptor, owned from here on.
    let socket = unsafe { OwnedFd::from_raw_fd(system(libc::socket(family, kind, 0))?) };
    set(
        &socket,
        libc::SOL_SOCKET,
        libc::SO_REUSEADDR,
        c_int::from(reuse),
    )?;
    set(&socket, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
    set(&socket, libc::IPPROTO_TCP, libc::TCP_SYNCNT, SYN_RETRIES)?;
    set(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    let (storage, length) = write(address);
    // SAFETY: the address is as long as said.
    system(unsafe { libc::bind(socket.as_raw_fd(), (&raw const storage).cast(), length) })?;
    Ok(socket)
}

fn set(socket: &OwnedFd, level: c_int, option: c_int, value: c_int) -> Outcome {
    let length = size_of_val(&value) as socklen_t;
    // SAFETY: an integer option.
    let answer = unsafe {
        let value = (&raw const value).cast();
        libc::setsockopt(socket.as_raw_fd(), level, option, value, length)
    };
    system(answer).map(|_| ())
}

type Name = unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int;

fn name(socket: &OwnedFd, of: Name) -> Outcome<SocketAddr> {
    // SAFETY: as in `write`; the kernel writes no more than the length says.
    unsafe {
        let mut storage: sockaddr_storage = std::mem::zeroed();
        let mut length = size_of_val(&storage) as socklen_t;
        let target = (&raw mut storage).cast();
        system(of(socket.as_raw_fd(), target, &raw mut length))?;
        read(target)
    }
}

pub fn local(socket: &OwnedFd) -> Outcome<SocketAddr> {
    name(socket, libc::getsockname)
}

pub fn remote(socket: &OwnedFd) -> Outcome<SocketAddr> {
    name(socket, libc::getpeername)
}
