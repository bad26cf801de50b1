//! The interfaces of this host and their addresses, as the system has them.
//!
//! Unsafe code reads the list that the C library makes.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use weft_kernel::above_standard;

/// Whether an interface carries anything now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceState {
    Up,
    /// Its administrator has not set it up.
    Down,
    /// It is up, and no cable is in it.
    WithoutCarrier,
}

/// An address of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub address: IpAddr,
    /// Bits that the addresses of its network share.
    pub prefix: u32,
    pub is_loopback: bool,
    pub state: InterfaceState,
}

/// All addresses, in the system's order: those of IPv4 come first.
pub fn all() -> io::Result<Vec<Interface>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: writes the list's head into `first`, to be freed below.
    if above_standard(|| unsafe { libc::getifaddrs(&mut first) }) != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut all = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: an element of the list, which is freed after the loop.
        let element = unsafe { &*next };
        // SAFETY: as above.
        all.extend(unsafe { interface(element) });
        next = element.ifa_next;
    }
    // SAFETY: from getifaddrs, and freed once.
    unsafe { libc::freeifaddrs(first) };
    Ok(all)
}

/// # Safety
/// The element is of a list that getifaddrs(3) has made.
unsafe fn interface(element: &libc::ifaddrs) -> Option<Interface> {
    let flags = element.ifa_flags as i32;
    let has = |flag| flags & flag != 0;
    let state = match (has(libc::IFF_UP), has(libc::IFF_RUNNING)) {
        (false, _) => InterfaceState::Down,
        (true, false) => InterfaceState::WithoutCarrier,
        (true, true) => InterfaceState::Up,
    };
    // SAFETY: by this function's contract the pointers are null or valid.
    let (address, mask) = unsafe { (address(element.ifa_addr)?, address(element.ifa_netmask)?) };
    let prefix = match mask {
        IpAddr::V4(mask) => mask.to_bits().leading_ones(),
        IpAddr::V6(mask) => mask.to_bits().leading_ones(),
    };
    // SAFETY: the name is a C string.
    let name = unsafe { CStr::from_ptr(element.ifa_name) };
    Some(Interface {
        name: name.to_string_lossy().into_owned(),
        address,
        prefix,
        is_loopback: has(libc::IFF_LOOPBACK) || address.is_loopback(),
        state,
    })
}

/// # Safety
/// Null, or a socket address of the length that its family has.
unsafe fn address(pointer: *const libc::sockaddr) -> Option<IpAddr> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: by this function's contract, here and below.
    match i32::from(unsafe { (*pointer).sa_family }) {
        libc::AF_INET => {
            // SAFETY: see above.
            let v4 = unsafe { &*pointer.cast::<libc::sockaddr_in>() };
            Some(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: see above.
            let v6 = unsafe { &*pointer.cast::<libc::sockaddr_in6>() };
            Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

/// Whether an address is of a network that an interface of this host is on.
pub fn is_on_common_network(address: IpAddr) -> bool {
    let is_near =
        |one: &Interface| one.state == InterfaceState::Up && !one.is_loopback && one.has(&address);
    all().is_ok_and(|all| all.iter().any(is_near))
}

/// How many bits the addresses of the network share that this host has this address on.
pub fn prefix_of(address: IpAddr) -> Option<u32> {
    let mut all = all().ok()?.into_iter();
    Some(all.find(|one| one.address == address)?.prefix)
}

impl Interface {
    /// Whether an address is of this one's network.
    pub fn has(&self, address: &IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.leading_zeros() >= self.prefix
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.leading_zeros() >= self.prefix
            }
            _ => false,
        }
    }
}

/// What an interface carries in Mbit/s, where its driver tells.
pub fn speed_mbit(name: &str) -> Option<u32> {
    let text = fs::read_to_string(format!("/sys/class/net/{name}/speed")).ok()?;
    // Many virtual ones say -1.
    text.trim().parse().ok().filter(|&speed| speed != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_loopback_address() {
        let all = all().unwrap();
        assert!(
            all.iter()
                .any(|one| one.is_loopback && one.state == InterfaceState::Up)
        );
    }
}
