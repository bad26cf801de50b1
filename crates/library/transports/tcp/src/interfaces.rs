//! The addresses of this host: which are told to peers, and in which order a peer's are tried.
//!
//! Unsafe code reads the list that the C library makes.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::card::{MOST_ADDRESSES, can_be_reached};

/// An address of an interface that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub address: IpAddr,
    /// Bits that the addresses of its network share.
    pub prefix: u32,
    pub is_loopback: bool,
}

/// All addresses of interfaces that are up, in the system's order.
pub fn up() -> io::Result<Vec<Interface>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: writes the list's head into `first`, to be freed below.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
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
    if flags & libc::IFF_UP == 0 || flags & libc::IFF_RUNNING == 0 {
        return None;
    }
    // SAFETY: by this function's contract the pointers are null or valid.
    let (address, mask) = unsafe { (address(element.ifa_addr)?, address(element.ifa_netmask)?) };
    let prefix = match mask {
        IpAddr::V4(mask) => mask.to_bits().leading_ones(),
        IpAddr::V6(mask) => mask.to_bits().leading_ones(),
    };
    // SAFETY: the name is a C string.
    let name = unsafe { CStr::from_ptr(element.ifa_name) };
    can_be_reached(&address).then(|| Interface {
        name: name.to_string_lossy().into_owned(),
        address,
        prefix,
        is_loopback: flags & libc::IFF_LOOPBACK != 0 || address.is_loopback(),
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

/// The addresses to tell peers: of the interfaces that are named, else of all but the loopback one, else of that. An error
/// says what there is instead.
pub fn choose(all: &[Interface], named: &[String]) -> Result<Vec<IpAddr>, String> {
    let mut chosen: Vec<&Interface> = Vec::new();
    for name in named {
        let before = chosen.len();
        chosen.extend(all.iter().filter(|one| one.name == *name));
        if chosen.len() == before {
            let mut names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            names.dedup();
            let names = names.join(", ");
            return Err(format!(
                "no interface {name} is up with an address; there are: {names}"
            ));
        }
    }
    if named.is_empty() {
        chosen.extend(all.iter().filter(|one| !one.is_loopback));
        if chosen.is_empty() {
            chosen.extend(all);
        }
    }
    if chosen.is_empty() {
        return Err("no interface is up with an address, not even the loopback one".to_owned());
    }
    let addresses = chosen.iter().map(|one| one.address);
    Ok(addresses.take(MOST_ADDRESSES).collect())
}

/// The addresses that a process of this host would tell its peers, by the interfaces named for it, if any.
pub fn addresses(named: &[String]) -> io::Result<Vec<IpAddr>> {
    choose(&up()?, named).map_err(io::Error::other)
}

/// Whether an address is of a network that an interface of this host is on.
pub fn is_on_common_network(address: IpAddr) -> bool {
    let is_near = |one: &Interface| !one.is_loopback && one.has(&address);
    up().is_ok_and(|all| all.iter().any(is_near))
}

/// A peer's addresses in the order to try them: those on a network of this host's first, then others, and last those that
/// this host has itself, as every host has a loopback address and many have a container bridge's.
pub fn order(theirs: &[IpAddr], own: &[Interface]) -> Vec<IpAddr> {
    let rank = |address: &IpAddr| {
        if own.iter().any(|one| one.address == *address) {
            return 3;
        }
        let near = |one: &&Interface| !one.is_loopback && one.has(address);
        if own.iter().any(|one| near(&one)) {
            return 0;
        }
        let family =
            |one: &&Interface| !one.is_loopback && one.address.is_ipv4() == address.is_ipv4();
        if own.iter().any(|one| family(&one)) {
            1
        } else {
            2
        }
    };
    let mut ordered = theirs.to_vec();
    ordered.sort_by_key(rank);
    ordered
}

impl Interface {
    /// Whether an address is of this one's network.
    fn has(&self, address: &IpAddr) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, address: &str, prefix: u32) -> Interface {
        let address: IpAddr = address.parse().unwrap();
        Interface {
            name: name.to_owned(),
            address,
            prefix,
            is_loopback: address.is_loopback(),
        }
    }

    fn host() -> Vec<Interface> {
        vec![
            interface("lo", "127.0.0.1", 8),
            interface("lo", "::1", 128),
            interface("docker0", "172.17.0.1", 16),
            interface("eth0", "10.77.0.1", 24),
            interface("eth0", "fd77::1", 64),
        ]
    }

    fn texts(addresses: &[IpAddr]) -> Vec<String> {
        addresses
            .iter()
            .map(|address| address.to_string())
            .collect()
    }

    #[test]
    fn this_host_has_a_loopback_address() {
        assert!(up().unwrap().iter().any(|one| one.is_loopback));
    }

    #[test]
    fn all_but_loopback_are_told() {
        let chosen = choose(&host(), &[]).unwrap();
        assert_eq!(texts(&chosen), ["172.17.0.1", "10.77.0.1", "fd77::1"]);
        let chosen = choose(&host()[..2], &[]).unwrap();
        assert_eq!(texts(&chosen), ["127.0.0.1", "::1"]);
        assert!(choose(&[], &[]).is_err());
    }

    #[test]
    fn named_ones_are_told_and_no_other() {
        let named = ["eth0".to_owned(), "lo".to_owned()];
        let chosen = choose(&host(), &named).unwrap();
        assert_eq!(texts(&chosen), ["10.77.0.1", "fd77::1", "127.0.0.1", "::1"]);
        let error = choose(&host(), &["eth1".to_owned()]).unwrap_err();
        assert!(
            error.contains("eth1") && error.contains("lo, docker0, eth0"),
            "{error}"
        );
    }

    #[test]
    fn common_networks_come_first_and_own_addresses_last() {
        let theirs = [
            "172.17.0.1",
            "192.168.7.7",
            "fd88::1",
            "10.77.0.9",
            "fd77::9",
        ];
        let theirs: Vec<IpAddr> = theirs.iter().map(|text| text.parse().unwrap()).collect();
        let ordered = texts(&order(&theirs, &host()));
        assert_eq!(
            ordered,
            [
                "10.77.0.9",
                "fd77::9",
                "192.168.7.7",
                "fd88::1",
                "172.17.0.1"
            ]
        );
        let ordered = texts(&order(&theirs, &host()[..4]));
        assert_eq!(
            ordered,
            [
                "10.77.0.9",
                "192.168.7.7",
                "fd88::1",
                "fd77::9",
                "172.17.0.1"
            ]
        );
    }
}
