//! What the port's interface says of itself.

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{c_int, c_void, sockaddr_in};

use super::check;

/// The MTU of the interface that has this address.
pub fn interface_mtu(socket: &OwnedFd, address: Ipv4Addr) -> io::Result<u32> {
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
