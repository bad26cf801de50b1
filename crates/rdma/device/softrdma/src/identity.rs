//! Names and addresses of devices and hosts: GUIDs, GIDs, LIDs, and which host an address means.
//!
//! A device's GUID holds its host's IPv4 address and its number, so that the link-local GID alone says where a packet
//! must go. GID 0 of a port is the link-local one, GID 1 the IPv4-mapped one of RoCEv2.

use std::net::Ipv4Addr;

use weft_verbs_abi::ibv_ah_attr;

use crate::config::{Config, LinkLayer};

/// First bytes of our GUIDs: a locally administered number, so that no real adapter has one of these.
const GUID_PREFIX: [u8; 3] = [0x02, 0x73, 0x72];

const LINK_LOCAL_PREFIX: [u8; 8] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0];
const MAPPED_PREFIX: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

pub const GIDS: u32 = 2;
pub const PKEYS: u16 = 1;
pub const DEFAULT_PKEY: u16 = 0xffff;

/// Where something is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// This one.
    Own,
    /// The one with this address.
    At(Ipv4Addr),
    /// Nobody answers there.
    Nowhere,
}

/// The GUID of device `index` of the host at `ip`, in network order.
pub fn guid(ip: Ipv4Addr, index: u32) -> [u8; 8] {
    let [a, b, c] = GUID_PREFIX;
    let [w, x, y, z] = ip.octets();
    [a, b, c, index as u8, w, x, y, z]
}

/// Entry `index` of a port's GID table.
pub fn gid(config: &Config, device: u32, index: u32) -> Option<[u8; 16]> {
    let mut gid = [0; 16];
    match index {
        0 => {
            gid[..8].copy_from_slice(&LINK_LOCAL_PREFIX);
            gid[8..].copy_from_slice(&guid(config.ip, device));
        }
        1 => {
            gid[..12].copy_from_slice(&MAPPED_PREFIX);
            gid[12..].copy_from_slice(&config.ip.octets());
        }
        _ => return None,
    }
    Some(gid)
}

/// The host that has `gid`.
pub fn host_of_gid(config: &Config, gid: [u8; 16]) -> Host {
    let [.., a, b, c, d] = gid;
    let named =
        gid[..12] == MAPPED_PREFIX || gid[..8] == LINK_LOCAL_PREFIX && gid[8..11] == GUID_PREFIX;
    let ip = Ipv4Addr::new(a, b, c, d);
    match named {
        true if ip == config.ip => Host::Own,
        true => Host::At(ip),
        false => Host::Nowhere,
    }
}

/// The LID of device `device`.
pub fn lid(config: &Config, device: u32) -> u16 {
    match config.link_layer {
        LinkLayer::Infiniband => config.lid + device as u16,
        LinkLayer::Ethernet => 0,
    }
}

/// The host that an address vector leads to. A LID alone reaches this host only: there is no subnet manager that could
/// say where others are.
pub fn host_of_address(config: &Config, address: &ibv_ah_attr) -> Host {
    if address.is_global != 0 {
        return host_of_gid(config, address.grh.dgid.bytes());
    }
    let own = u32::from(config.lid)..u32::from(config.lid) + config.devices;
    if own.contains(&u32::from(address.dlid)) {
        Host::Own
    } else {
        Host::Nowhere
    }
}

/// The entry of the GID table that goes with a multicast group: groups are IPv6's, or IPv4's mapped as the second entry is. None for
/// what is not a group's.
pub fn index_for_multicast(gid: [u8; 16]) -> Option<u32> {
    let mapped = gid[..12] == MAPPED_PREFIX && gid[12] >> 4 == 0xe;
    match gid[0] {
        0xff => Some(0),
        _ => mapped.then_some(1),
    }
}

pub fn is_multicast(gid: [u8; 16]) -> bool {
    index_for_multicast(gid).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(ip: [u8; 4]) -> Config {
        let variable = |name: &str| (name == "SOFTRDMA_DEVICES").then(|| "2".to_owned());
        Config::from_variables(variable, || Some(Ipv4Addr::from(ip))).unwrap()
    }

    fn address(gid: Option<[u8; 16]>, dlid: u16) -> ibv_ah_attr {
        let mut address = ibv_ah_attr {
            dlid,
            is_global: gid.is_some() as u8,
            ..Default::default()
        };
        address.grh.dgid.raw = gid.unwrap_or_default();
        address
    }

    #[test]
    fn every_gid_leads_to_its_host() {
        let (here, there) = (config([10, 0, 0, 1]), config([10, 0, 0, 2]));
        for device in 0..2 {
            for index in 0..GIDS {
                let gid = gid(&there, device, index).unwrap();
                assert_eq!(host_of_gid(&there, gid), Host::Own);
                assert_eq!(host_of_gid(&here, gid), Host::At(there.ip));
                assert_eq!(
                    host_of_address(&here, &address(Some(gid), 1)),
                    Host::At(there.ip)
                );
            }
        }
        assert_eq!(gid(&here, 0, GIDS), None);
    }

    #[test]
    fn groups_are_those_of_ipv6_and_of_ipv4() {
        let mapped = |first| {
            let mut gid = gid(&config([first, 1, 2, 3]), 0, 1).unwrap();
            gid[15] = 9;
            index_for_multicast(gid)
        };
        assert_eq!(
            [223, 224, 239, 240].map(mapped),
            [None, Some(1), Some(1), None]
        );
        let mut group = [0; 16];
        assert_eq!(index_for_multicast(group), None);
        group[0] = 0xff;
        assert_eq!(index_for_multicast(group), Some(0));
    }

    #[test]
    fn unknown_addresses_lead_nowhere() {
        let here = config([10, 0, 0, 1]);
        let mut foreign = [0; 16];
        foreign[..8].copy_from_slice(&LINK_LOCAL_PREFIX);
        assert_eq!(host_of_gid(&here, foreign), Host::Nowhere);
        assert_eq!(host_of_address(&here, &address(None, 1)), Host::Own);
        assert_eq!(host_of_address(&here, &address(None, 2)), Host::Own);
        assert_eq!(host_of_address(&here, &address(None, 3)), Host::Nowhere);
    }
}
