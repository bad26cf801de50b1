//! Which pools two processes receive from each other through.

use weft_pools::{Chosen, Pool, PoolKind, Pools, Reach};

/// The pools through which a process receives from a peer that reaches it so, by ascending size: each of the kind that it is then of.
pub fn selected(pools: &Pools, reach: Reach) -> Vec<Pool> {
    let selection = pools.toward(reach);
    let pool = |chosen: &Chosen| Pool {
        kind: chosen.kind,
        ..pools.all()[chosen.pool]
    };
    selection.pools().iter().map(pool).collect()
}

/// The pools at the ends of a queue pair (RC). At one end there may be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolPair {
    pub own: Option<Pool>,
    pub peer: Option<Pool>,
}

impl PoolPair {
    /// Of a link's queue pairs: the pools that are not reached over XRC, the smallest of the one process with the smallest of the other.
    pub fn all(own: &[Pool], peer: &[Pool]) -> Vec<PoolPair> {
        let [own, peer] = [own, peer].map(|pools| {
            let pools = pools.iter().copied();
            pools
                .filter(|pool| pool.kind != PoolKind::Xrc)
                .collect::<Vec<_>>()
        });
        let pair = |place: usize| PoolPair {
            own: own.get(place).copied(),
            peer: peer.get(place).copied(),
        };
        (0..own.len().max(peer.len())).map(pair).collect()
    }

    /// Buffers that the queue pair has of its own: those of a pool of type P, and those for the credits that the peer owes for one.
    pub fn own_buffers(&self) -> u32 {
        match self.own {
            Some(own) if own.kind == PoolKind::Shared => 0,
            own => own.map_or(0, |own| own.count) + self.peer.map_or(0, |peer| peer.reserve()),
        }
    }

    /// Whether all that is sent has a buffer, so that a receiver without one has broken its promise.
    pub fn is_promised(&self) -> bool {
        self.peer.is_none_or(|peer| peer.kind == PoolKind::PerPeer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(own: &str, peer: &str, reach: Reach) -> Vec<(u32, bool)> {
        let [own, peer] = [own, peer].map(|pools| selected(&pools.parse().unwrap(), reach));
        let pairs = PoolPair::all(&own, &peer);
        let told = |pair: &PoolPair| (pair.own_buffers(), pair.is_promised());
        pairs.iter().map(told).collect()
    }

    #[test]
    fn either_end_has_buffers_for_what_comes() {
        let credits = "P,256,32,16,4:P,2k,8,4,2";
        assert_eq!(
            pairs(credits, credits, Reach::Xrc),
            [(32 + 8, true), (8 + 4, true)]
        );
        assert_eq!(
            pairs(credits, "S,1k,8", Reach::Xrc),
            [(32, false), (8, true)]
        );
        assert_eq!(pairs("S,1k,8", credits, Reach::Xrc), [(0, true), (4, true)]);
        assert_eq!(pairs("X,1k,8", credits, Reach::Xrc), [(8, true), (4, true)]);
        assert_eq!(
            pairs("X,1k,8", credits, Reach::Connected),
            [(0, true), (4, true)]
        );
        assert_eq!(pairs("X,1k,8", "X,1k,8", Reach::Xrc), []);
    }
}
