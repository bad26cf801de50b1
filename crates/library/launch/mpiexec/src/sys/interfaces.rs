//! The addresses of this machine's network interfaces.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Those of every interface, up or not; none where the kernel does not say.
pub fn interface_addresses() -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: on success the list is a chain of valid entries until it is freed, which happens once, after the last use. An
    // address is read as what its family says, which is how the kernel has filled it.
    unsafe {
        if libc::getifaddrs(&mut list) != 0 {
            return addresses;
        }
        let mut entry = list;
        while let Some(interface) = entry.as_ref() {
            addresses.extend(address(interface.ifa_addr));
            entry = interface.ifa_next;
        }
        libc::freeifaddrs(list);
    }
    addresses
}

/// # Safety
/// The pointer is null or to a socket address of its family's size.
unsafe fn address(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller's.
    unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let address = address.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let address = address.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}
