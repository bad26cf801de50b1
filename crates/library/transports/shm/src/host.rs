//! The ranks of a host. What lies in shared memory and in tables is found by a rank's *position* among them, so that a process
//! pays for the ranks of its host, however many others the job has.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

use fnv::FnvHasher;
use weft_transport::Peer;

/// The ranks of a host, in ascending order.
#[derive(Clone)]
pub enum Host {
    /// They follow each other: a position is a difference.
    Run(Range<Peer>),
    /// Each is so far behind the one before, as where ranks are dealt out to hosts in turn.
    Dealt {
        first: Peer,
        distance: u32,
        ranks: u32,
    },
    Scattered(Arc<[Peer]>),
}

impl Host {
    /// None unless the ranks ascend and there is one at least.
    pub fn new(ranks: &[Peer]) -> Option<Host> {
        let (&first, &last) = (ranks.first()?, ranks.last()?);
        if !ranks.is_sorted_by(|one, next| one < next) {
            return None;
        }
        let is_run = (last - first) as usize == ranks.len() - 1;
        let distance = ranks.get(1).map_or(1, |second| second - first);
        let is_dealt = ranks.windows(2).all(|two| two[1] - two[0] == distance);
        Some(match last.checked_add(1) {
            Some(end) if is_run => Host::Run(first..end),
            _ if is_dealt => Host::Dealt {
                first,
                distance,
                ranks: ranks.len() as u32,
            },
            _ => Host::Scattered(ranks.into()),
        })
    }

    pub fn ranks(&self) -> u32 {
        match self {
            Host::Run(run) => run.end - run.start,
            Host::Dealt { ranks, .. } => *ranks,
            Host::Scattered(ranks) => ranks.len() as u32,
        }
    }

    /// None for a rank on another host.
    pub fn position(&self, peer: Peer) -> Option<u32> {
        match self {
            Host::Run(run) => run.contains(&peer).then(|| peer - run.start),
            Host::Dealt {
                first,
                distance,
                ranks,
            } => {
                let behind = peer.checked_sub(*first)?;
                let position = behind / distance;
                (behind % distance == 0 && position < *ranks).then_some(position)
            }
            Host::Scattered(ranks) => ranks.binary_search(&peer).ok().map(|at| at as u32),
        }
    }

    pub fn rank(&self, position: u32) -> Option<Peer> {
        match self {
            Host::Run(run) => run.clone().nth(position as usize),
            Host::Dealt {
                first,
                distance,
                ranks,
            } => (position < *ranks).then(|| first + position * distance),
            Host::Scattered(ranks) => ranks.get(position as usize).copied(),
        }
    }

    /// Differs, but for a chance of one in 2^64, where two processes were told of different ranks: they would number them
    /// differently.
    pub fn digest(&self) -> u64 {
        let mut hasher = FnvHasher::default();
        let ranks = (0..self.ranks()).filter_map(|position| self.rank(position));
        ranks.for_each(|rank| hasher.write(&rank.to_le_bytes()));
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_places_in_the_list() {
        let lists: [&[Peer]; 9] = [
            &[0],
            &[6, 69, 132],
            &[0, 100_002],
            &[1, 3, 4, 9],
            &[0, 1, 2],
            &[64, 65, 66, 67],
            &[3, 17, 100_004],
            &[Peer::MAX],
            &[1, Peer::MAX - 1, Peer::MAX],
        ];
        for ranks in lists {
            let host = Host::new(ranks).unwrap();
            assert_eq!(host.ranks() as usize, ranks.len());
            for (position, &rank) in ranks.iter().enumerate() {
                assert_eq!(host.position(rank), Some(position as u32));
                assert_eq!(host.rank(position as u32), Some(rank));
            }
            assert_eq!(host.rank(ranks.len() as u32), None);
            for stranger in [5, 63, 68, 100_003] {
                assert_eq!(host.position(stranger), None, "{ranks:?}");
            }
        }
    }

    #[test]
    fn what_is_no_list_of_ranks_is_refused() {
        for ranks in [&[][..], &[1, 1], &[2, 1], &[0, 5, 5, 9]] {
            assert!(Host::new(ranks).is_none(), "{ranks:?}");
        }
    }

    #[test]
    fn other_ranks_have_another_digest() {
        let lists: [&[Peer]; 5] = [&[0, 1, 2], &[0, 1, 3], &[0, 1], &[1, 2, 3], &[0, 2, 256]];
        let digests = lists.map(|ranks| Host::new(ranks).unwrap().digest());
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest), "{:?}", lists[index]);
        }
    }
}
