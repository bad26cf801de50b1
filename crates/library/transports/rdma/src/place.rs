//! Ports of adapters, and what two of them have in common.

use std::net::{IpAddr, Ipv6Addr};

use weft_verbs::abi::{IBV_LINK_LAYER_ETHERNET, ibv_link_layer};

/// Where a port is, as peers reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortAddress {
    pub link_layer: ibv_link_layer,
    pub lid: u16,
    pub gid: [u8; 16],
    /// On Ethernet, bits that the addresses of its network share; 0 if that is not known.
    pub prefix: u8,
}

/// What two ports have in common, as far as their cards tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// A subnet of InfiniBand.
    Subnet,
    /// Both are on Ethernet: there is a way if that network leads from here to this address.
    Ethernet(IpAddr),
    Nothing,
}

impl PortAddress {
    pub fn common_with(&self, other: &PortAddress) -> Common {
        match (self.may_reach(other), self.link_layer) {
            (false, _) => Common::Nothing,
            (true, IBV_LINK_LAYER_ETHERNET) => {
                Common::Ethernet(Ipv6Addr::from(other.gid).to_canonical())
            }
            (true, _) if self.gid[..8] == other.gid[..8] => Common::Subnet,
            (true, _) => Common::Nothing,
        }
    }

    /// Whether both are on one network, as far as their cards tell.
    pub fn is_near(&self, other: &PortAddress) -> bool {
        match self.common_with(other) {
            Common::Nothing => false,
            Common::Subnet => true,
            Common::Ethernet(_) => {
                let [own, there] = [self, other].map(|place| Ipv6Addr::from(place.gid));
                let shared = (own.to_bits() ^ there.to_bits()).leading_zeros();
                let bits = u32::from(self.prefix.max(other.prefix));
                let of = match own.to_canonical() {
                    IpAddr::V4(_) => 96 + bits,
                    IpAddr::V6(_) => bits,
                };
                bits > 0 && shared >= of
            }
        }
    }

    /// Whether there may be a way from one port to the other: both are of one kind of network. Only trying shows more.
    pub fn may_reach(&self, other: &PortAddress) -> bool {
        self.link_layer == other.link_layer
    }
}

#[cfg(test)]
mod tests {
    use weft_verbs::abi::IBV_LINK_LAYER_INFINIBAND;

    use super::*;

    #[test]
    fn kinds_of_network_do_not_mix() {
        let infiniband = PortAddress {
            link_layer: IBV_LINK_LAYER_INFINIBAND,
            lid: 7,
            gid: [0xfe; 16],
            prefix: 0,
        };
        let ethernet = PortAddress {
            link_layer: IBV_LINK_LAYER_ETHERNET,
            ..infiniband
        };
        assert!(infiniband.may_reach(&infiniband) && !infiniband.may_reach(&ethernet));
        assert_eq!(infiniband.common_with(&infiniband), Common::Subnet);
        assert_eq!(infiniband.common_with(&ethernet), Common::Nothing);
        let other_subnet = PortAddress {
            gid: [0xfd; 16],
            ..infiniband
        };
        assert_eq!(infiniband.common_with(&other_subnet), Common::Nothing);
        let mapped = Ipv6Addr::from_bits(0xffff_0a4d_0001);
        let there = PortAddress {
            gid: mapped.octets(),
            ..ethernet
        };
        let address = "10.77.0.1".parse().unwrap();
        assert_eq!(ethernet.common_with(&there), Common::Ethernet(address));
    }
}
