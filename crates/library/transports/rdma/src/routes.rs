//! Which of a process's ports lead to which of a peer's.

use std::sync::Arc;

use weft_pools::Pool;

use crate::card::Card;
use crate::place::PortAddress;

/// A rail that leads to a peer.
#[derive(Clone, Debug)]
pub struct Route {
    /// Among this process's.
    pub rail: usize,
    /// Among the peer's.
    pub port: usize,
    /// Of the peer: all through which it receives from this process.
    pub pools: Vec<Pool>,
}

/// All that lead to a peer, in an order that is the same at both ends: a rail's place in it names it in what they tell each other.
pub type Routes = Arc<[Route]>;

/// A peer, as its card tells of it.
#[derive(Clone)]
pub struct Known {
    pub card: Arc<Card>,
    pub routes: Routes,
}

/// Which of a process's ports goes with which of another's: each with the first that is on its network and has none yet; if there is no
/// such pair, the first two of one kind, as only trying shows more. Both processes, told who is first, find the same.
pub fn pairs(first: &[PortAddress], second: &[PortAddress]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (one, place) in first.iter().enumerate() {
        let mut others = second.iter().enumerate();
        let free = |other: &usize| pairs.iter().all(|pair| pair.1 != *other);
        let found = others.find(|(other, there)| free(other) && place.is_near(there));
        pairs.extend(found.map(|(other, _)| (one, other)));
    }
    if pairs.is_empty() {
        let all = first.iter().enumerate();
        let both = |(one, place): (usize, &PortAddress)| {
            let other = second.iter().position(|there| place.may_reach(there));
            other.map(|other| (one, other))
        };
        pairs.extend({ all }.find_map(both));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use weft_verbs::abi::{IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND};

    use super::*;

    fn ethernet(address: [u8; 4]) -> PortAddress {
        PortAddress {
            link_layer: IBV_LINK_LAYER_ETHERNET,
            lid: 0,
            gid: Ipv4Addr::from(address).to_ipv6_mapped().octets(),
            prefix: 24,
        }
    }

    fn infiniband(subnet: u8, lid: u16) -> PortAddress {
        PortAddress {
            link_layer: IBV_LINK_LAYER_INFINIBAND,
            lid,
            gid: [subnet; 16],
            prefix: 0,
        }
    }

    #[test]
    fn ports_of_one_network_go_together() {
        let here = [ethernet([10, 0, 1, 1]), ethernet([10, 0, 2, 1])];
        let there = [ethernet([10, 0, 2, 2]), ethernet([10, 0, 1, 2])];
        assert_eq!(pairs(&here, &there), [(0, 1), (1, 0)]);
        assert_eq!(pairs(&here, &there[..1]), [(1, 0)]);
        // All on one subnet: in their order.
        let here = [infiniband(1, 1), infiniband(1, 2), infiniband(2, 3)];
        let there = [infiniband(1, 4), infiniband(2, 5), infiniband(1, 6)];
        assert_eq!(pairs(&here, &there), [(0, 0), (1, 2), (2, 1)]);
    }

    #[test]
    fn without_a_common_network_one_pair_is_tried() {
        let here = [infiniband(1, 1), ethernet([10, 0, 1, 1])];
        let there = [ethernet([10, 9, 1, 1]), ethernet([10, 9, 2, 1])];
        assert_eq!(pairs(&here, &there), [(1, 0)]);
        assert_eq!(pairs(&here[..1], &there), []);
    }
}
